/* SPDX-License-Identifier: MIT */
/* The data pattern that ttcp sends: its bytes at any position and of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <scps/traffic.h>

static void begins_with_space_and_repeats_after_tilde(void **state)
{
    char b[98];
    (void)state;

    scps_pattern_fill(b, sizeof b, 0);
    assert_memory_equal(b, " !\"#$%&'()*+,-./0123456789:;<=>?@ABC", 36);
    assert_memory_equal(b + 92, "|}~ !\"", 6);
}

static void a_position_decides(void **state)
{
    uint8_t whole[1200], piece[600];
    (void)state;

    for (size_t i = 0; i < sizeof whole; i++)
        whole[i] = (uint8_t)(0x20 + i % 95);
    for (size_t pos = 0; pos < 300; pos++)
        for (size_t len = 0; len < 600; len += 1 + len / 3) {
            memset(piece, 0, sizeof piece);
            scps_pattern_fill(piece, len, pos + 95 * UINT64_C(10000000000));
            assert_memory_equal(piece, whole + pos, len);
            assert_int_equal(piece[len], 0);
        }
}

static void one_wrong_byte_is_seen(void **state)
{
    uint8_t b[1000];
    (void)state;

    scps_pattern_fill(b, sizeof b, 77);
    assert_true(scps_pattern_check(b, sizeof b, 77));
    assert_true(scps_pattern_check(b, 0, 3));
    assert_false(scps_pattern_check(b, sizeof b, 78));
    for (size_t i = 0; i < sizeof b; i++) {
        b[i] ^= 1;
        assert_false(scps_pattern_check(b, sizeof b, 77));
        assert_true(scps_pattern_check(b, i, 77));
        b[i] ^= 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_space_and_repeats_after_tilde),
        cmocka_unit_test(a_position_decides),
        cmocka_unit_test(one_wrong_byte_is_seen),
    };
    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
