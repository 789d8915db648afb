/* SPDX-License-Identifier: MIT */
/* JSON strings: RFC 8259 section 7, and what RFC 3629 section 4 counts as UTF-8. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include <scps/analyze.h>

static void becomes(const char *text, const char *want)
{
    char *got;
    size_t len;
    FILE *f = open_memstream(&got, &len);

    assert_non_null(f);
    scps_trace_json_string(f, text);
    fclose(f);
    assert_string_equal(got, want);
    free(got);
}

static void ascii(void **state)
{
    (void)state;
    becomes("", "\"\"");
    becomes("plain 1", "\"plain 1\"");
    becomes("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    becomes("\t\n\x01", "\"\\u0009\\u000a\\u0001\"");
    becomes("\x7f", "\"\x7f\""); /* it need not be escaped */
}

static void utf8_stays(void **state)
{
    (void)state;
    becomes("Gr\xc3\xbc\xc3\x9f", "\"Gr\xc3\xbc\xc3\x9f\"");
    becomes("\xe2\x82\xac \xf0\x9f\x9b\xb0", "\"\xe2\x82\xac \xf0\x9f\x9b\xb0\"");
    becomes("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
            "\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"");
}

static void other_octets_are_replaced(void **state)
{
    (void)state;
    becomes("\xfc", "\"\\ufffd\"");                                    /* Latin-1 */
    becomes("\xc3", "\"\\ufffd\"");                                    /* cut off */
    becomes("\xe2\x82", "\"\\ufffd\\ufffd\"");                         /* cut off */
    becomes("\xc0\xaf", "\"\\ufffd\\ufffd\"");                         /* overlong */
    becomes("\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"");              /* overlong */
    becomes("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");              /* a surrogate */
    becomes("\xf4\x90\x80\x80z", "\"\\ufffd\\ufffd\\ufffd\\ufffdz\""); /* beyond U+10FFFF */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ascii), cmocka_unit_test(utf8_stays),
                                       cmocka_unit_test(other_octets_are_replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
