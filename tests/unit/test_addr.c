/* SPDX-License-Identifier: MIT */
/* Text of addresses: which texts scps_addr_parse() accepts and refuses, and the canonical form of
 * RFC 5952. */
#include <scps/error.h>
#include <scps/types.h>
#include <string.h>

#include "cmocka_all.h"

static void round_trips(void **x)
{
    static const char *const pair[][2] = {
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"10.0.0.1", "10.0.0.1"},
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"2001:db8::1", "2001:db8::1"},
        {"2001:0DB8:0000:0000:0000:0000:0002:0001", "2001:db8::2:1"},
        /* RFC 5952 section 4.2.2: a single group of zeros is not shortened to "::". */
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        /* RFC 5952 section 4.2.3: "::" stands for the longest run of zeros. */
        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
        /* RFC 5952 section 4.2.3: of two equal runs "::" stands for the first. */
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
        {"0:0:3:4:5:6:7:8", "::3:4:5:6:7:8"},
        {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
        {"::ffff:c000:201", "::ffff:192.0.2.1"},
        {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
        {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    };
    (void)x;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        struct scps_addr a, b;
        char buf[SCPS_ADDR_STRLEN];
        assert_int_equal(scps_addr_parse(pair[i][0], &a), 0);
        assert_string_equal(scps_addr_format(&a, buf), pair[i][1]);
        assert_int_equal(scps_addr_parse(buf, &b), 0);
        assert_true(scps_addr_equal(&a, &b));
    }
}

static void refused(void **x)
{
    static const char *const bad[] = {"",
                                      "1",
                                      "1.2.3",
                                      "1.2.3.4.5",
                                      "1.2.3.256",
                                      "01.2.3.4",
                                      "1..3.4",
                                      "1.2.3.4 ",
                                      " 1.2.3.4",
                                      "a.b.c.d",
                                      "1.2.3.-4",
                                      ":",
                                      ":::",
                                      "1:2:3:4:5:6:7",
                                      "1:2:3:4:5:6:7:8:9",
                                      "1::2::3",
                                      "12345::",
                                      "g::",
                                      "1:2:3:4:5:6:7:",
                                      ":1:2:3:4:5:6:7:8",
                                      "::1.2.3",
                                      "::1.2.3.4.5",
                                      "1.2.3.4::",
                                      "::1:",
                                      "fe80::1%eth0",
                                      "::1.2.3.4:5",
                                      "1:2:3:4:5:6:7:1.2.3.4",
                                      "1:2:3:4:5:6:7::8",
                                      "0x1.2.3.4",
                                      "::00001"};
    (void)x;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct scps_addr a = {.family = 99}, was = a;
        if (scps_addr_parse(bad[i], &a) != SCPS_ERR_INVAL)
            fail_msg("\"%s\" was taken for an address", bad[i]);
        assert_memory_equal(&a, &was, sizeof a);
    }
    assert_int_equal(scps_addr_parse(NULL, NULL), SCPS_ERR_INVAL);
}

static struct scps_addr addr(const char *s)
{
    struct scps_addr a;
    assert_int_equal(scps_addr_parse(s, &a), 0);
    return a;
}

static void matching(void **x)
{
    struct scps_addr a = addr("10.1.2.3"), b = addr("10.1.3.3"), c = addr("2001:db8::1"),
                     d = addr("2001:db9::1");
    (void)x;
    assert_true(scps_addr_match(&a, &b, 0));
    assert_true(scps_addr_match(&a, &b, 23));
    assert_false(scps_addr_match(&a, &b, 24));
    assert_true(scps_addr_match(&a, &a, 32));
    assert_true(scps_addr_match(&a, &a, 999));
    assert_false(scps_addr_match(&a, &c, 0));
    assert_true(scps_addr_match(&c, &d, 31));
    assert_false(scps_addr_match(&c, &d, 32));
    assert_false(scps_addr_match(&c, &d, 128));
    assert_true(scps_addr_match(&c, &c, 128));
    assert_false(scps_addr_equal(&a, &b));
}

static void no_family(void **x)
{
    struct scps_addr a = {0};
    char buf[SCPS_ADDR_STRLEN];
    (void)x;
    assert_string_equal(scps_addr_format(&a, buf), "*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(refused),
        cmocka_unit_test(matching),
        cmocka_unit_test(no_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
