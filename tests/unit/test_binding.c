/* SPDX-License-Identifier: MIT */
/* Parsing and building of binding spaces (CCSDS 714.0-B-2 section 3.2.5; docs/SCPS-TP.md section
 * 1.3). */
#include <scps/binding.h>

#include <string.h>

#include "cmocka_all.h"

static void encoded_and_decoded(void **x)
{
    uint8_t p[80];

    (void)x;
    for (unsigned len = 1; len <= SCPS_BINDING_MAX; len++) {
        struct scps_binding b[2] = {{.id = 1, .len = (uint8_t)len},
                                    {.id = 254, .len = 2, .data = {0xab, 0xcd}}},
                            got;
        for (unsigned i = 0; i < len; i++)
            b[0].data[i] = (uint8_t)(i + 1);
        size_t n = scps_binding_build(p, b, 2), first;
        assert_int_equal(n, scps_binding_size(b, 2));
        assert_int_equal(n, 2 * ((len + 1) / 2 + 1) + 4);
        assert_true(n > 2); /* The option is longer than the two octets of its kind and length. */
        first = scps_binding_parse(p, n, &got);
        assert_int_equal(first, n - 4);
        assert_int_equal(got.id, 1);
        assert_int_equal(got.len, (len + 1) / 2 * 2);
        /* An odd length is padded with one octet 0. */
        assert_memory_equal(got.data, b[0].data, got.len);
        assert_int_equal(scps_binding_parse(p + first, n - first, &got), 4);
        assert_int_equal(got.id, 254);
        assert_memory_equal(got.data, "\xab\xcd", 2);
    }
    assert_int_equal(scps_binding_size((struct scps_binding[2]){{0}}, 2), 0);
}

/* The low four bits of an id octet are kept; long ids are read; scps_binding_parse() reads nothing
 * beyond the end of the option. */
static void long_ids_and_reserved_bits(void **x)
{
    struct scps_binding b;
    uint8_t p[32];

    (void)x;
    assert_int_equal(scps_binding_parse((const uint8_t[]){7, 0x1c, 5, 6}, 4, &b), 4);
    assert_int_equal(b.low, 12);
    assert_int_equal(scps_binding_parse((const uint8_t[]){7, 0x05}, 2, &b), 2);
    assert_int_equal(b.len, 0);
    assert_int_equal(scps_binding_parse((const uint8_t[]){255, 0x10, 3, 9}, 4, &b), 4);
    assert_int_equal(b.id, 259);
    assert_int_equal(b.len, 1);
    assert_int_equal(scps_binding_parse((const uint8_t[]){255, 0x00}, 2, &b), 0);
    memset(p, 0xff, sizeof p);
    for (size_t len = 0; len < 32; len++)
        for (unsigned n = 0; n < 16; n++) {
            p[0] = 1;
            p[1] = (uint8_t)(n << 4);
            assert_int_equal(scps_binding_parse(p, len, &b), len >= 2 * (n + 1) ? 2 * (n + 1) : 0);
        }
}

static void in_common(void **x)
{
    struct scps_binding a = {.id = 3, .len = 4, .data = {0xff, 0x0f, 1, 2}},
                        b = {.id = 3, .len = 2, .data = {0x5a, 0xf5}}, c = scps_binding_and(&a, &b);

    (void)x;
    assert_int_equal(c.id, 3);
    assert_int_equal(c.len, 2);
    assert_memory_equal(c.data, "\x5a\x05", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded_and_decoded),
        cmocka_unit_test(long_ids_and_reserved_bits),
        cmocka_unit_test(in_common),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
