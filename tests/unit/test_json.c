/* SPDX-License-Identifier: MIT */
/* The JSON writer: strings as RFC 8259 section 7 requires, and which octets are UTF-8 by RFC 3629
 * section 4. */
#define _POSIX_C_SOURCE 200809L /* declares open_memstream() */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <scps/json.h>

static void becomes(const char *text, const char *want)
{
    char *got;
    size_t len;
    FILE *f = open_memstream(&got, &len);

    assert_non_null(f);
    scps_json_string(&(struct scps_json){.f = f, .indent = ""}, NULL, text);
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
    becomes("\x7f", "\"\x7f\""); /* RFC 8259 does not demand that U+007F is escaped. */
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
    becomes("\xfc", "\"\\ufffd\"");            /* Latin-1 is not UTF-8. */
    becomes("\xc3", "\"\\ufffd\"");            /* The sequence lacks an octet. */
    becomes("\xe2\x82", "\"\\ufffd\\ufffd\""); /* The sequence lacks an octet. */
    becomes("\xc0\xaf", "\"\\ufffd\\ufffd\""); /* The encoding is longer than necessary. */
    /* The encoding is longer than necessary. */
    becomes("\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"");
    becomes("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* The code point is a surrogate. */
    /* The code point is beyond U+10FFFF. */
    becomes("\xf4\x90\x80\x80z", "\"\\ufffd\\ufffd\\ufffd\\ufffdz\"");
}

/* The text that the writer makes of a document with every kind of value: commas, lines, keys. */
static void document(void **state)
{
    char *got;
    size_t len;
    FILE *f = open_memstream(&got, &len);
    struct scps_json j = {.f = f, .indent = " "};

    (void)state;
    scps_json_open(&j, NULL, '{');
    scps_json_string(&j, "na\"me", "x");
    scps_json_string(&j, "none", NULL);
    scps_json_open(&j, "empty", '[');
    scps_json_close(&j, ']');
    scps_json_open(&j, "numbers", '[');
    scps_json_uint(&j, NULL, UINT64_MAX);
    scps_json_int(&j, NULL, INT64_MIN);
    scps_json_real(&j, NULL, 1e-6);
    scps_json_real(&j, NULL, (double)INFINITY);
    scps_json_fixed(&j, NULL, 2.0 / 3, 3);
    scps_json_fixed(&j, NULL, (double)NAN, 3);
    scps_json_us(&j, NULL, 7);
    scps_json_us(&j, NULL, -1);
    scps_json_seconds(&j, NULL, 12000034);
    scps_json_close(&j, ']');
    scps_json_bool(&j, "yes", true);
    scps_json_close(&j, '}');
    fclose(f);
    assert_string_equal(got, "{\n \"na\\\"me\": \"x\",\n \"none\": null,\n \"empty\": [],\n"
                             " \"numbers\": [\n  18446744073709551615,\n"
                             "  -9223372036854775808,\n  1e-06,\n  null,\n  0.667,\n  null,\n"
                             "  7,\n  null,\n  12.000034\n ],\n \"yes\": true\n}\n");
    free(got);
}

/* Without `indent` a document is one line, and it is the same with memory for text of any size: the
 * text is complete in the file at the end of each document, whichever call ends it. */
static void one_line(void **state)
{
    (void)state;
    for (size_t size = 0; size < 64; size++) {
        char *got, room[64];
        size_t len;
        FILE *f = open_memstream(&got, &len);
        struct scps_json j = {.f = f, .room = size ? room : NULL, .size = size};

        scps_json_open(&j, NULL, '{');
        scps_json_string(&j, "na\"me", "a\tb\xc3\xbc\xfc");
        scps_json_open(&j, "ms", '[');
        scps_json_milliseconds(&j, NULL, 12345067);
        scps_json_milliseconds(&j, NULL, -1);
        scps_json_seconds(&j, NULL, INT64_MAX);
        scps_json_fixed(&j, NULL, 0.5, 2);
        scps_json_close(&j, ']');
        scps_json_bool(&j, "no", false);
        scps_json_close(&j, '}');
        fflush(f);
        assert_string_equal(got,
                            "{\"na\\\"me\":\"a\\u0009b\xc3\xbc\\ufffd\",\"ms\":[12345.067,0.000,"
                            "9223372036854.775807,0.50],\"no\":false}\n");
        rewind(f);
        j.comma = false;
        scps_json_int(&j, NULL, -7);
        fputc('\n', f);
        fclose(f);
        assert_memory_equal(got, "-7\n", 3);
        free(got);
    }
}

/* Closing a bracket that was not opened has no effect, and a text of NULL is written as null. */
static void surplus_brackets_and_null(void **state)
{
    char *got;
    size_t len;
    FILE *f = open_memstream(&got, &len);
    struct scps_json j = {.f = f, .indent = " "};

    (void)state;
    scps_json_open(&j, NULL, '[');
    scps_json_raw(&j, NULL, NULL);
    scps_json_close(&j, ']');
    scps_json_close(&j, ']');
    fclose(f);
    assert_string_equal(got, "[\n null\n]\n");
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ascii),
                                       cmocka_unit_test(utf8_stays),
                                       cmocka_unit_test(other_octets_are_replaced),
                                       cmocka_unit_test(document),
                                       cmocka_unit_test(one_line),
                                       cmocka_unit_test(surplus_brackets_and_null)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
