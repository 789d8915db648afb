/* SPDX-License-Identifier: MIT */
/* base/prng.c: the generator repeats itself and is uniform; SipHash agrees with the test vectors of
 * its authors. */
#include "base/prng.h"

#include "cmocka_all.h"

/* The generator is xoshiro256**, its state made by splitmix64 from the seed 0; splitmix64's first
 * outputs are published. */
static void seeded_state(void **x)
{
    struct scps_prng r;
    (void)x;
    scps_prng_seed(&r, 0);
    assert_int_equal(r.s[0], 0xe220a8397b1dcdafu);
    assert_int_equal(r.s[1], 0x6e789e6aa1b965f4u);
    assert_int_equal(r.s[2], 0x06c45d188009454fu);
    assert_int_equal(r.s[3], 0xf88bb8a8724c81ecu);
}

/* From the state {1,2,3,4} the generator makes the sequence that other implementations publish in
 * their tests. */
static void reference_sequence(void **x)
{
    static const uint64_t want[] = {11520,
                                    0,
                                    1509978240,
                                    1215971899390074240,
                                    1216172134540287360,
                                    607988272756665600,
                                    16172922978634559625u,
                                    8476171486693032832,
                                    10595114339597558777u,
                                    2904607092377533576};
    struct scps_prng r = {{1, 2, 3, 4}};
    (void)x;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(scps_prng_next(&r), want[i]);
}

static void below_is_in_range_and_even(void **x)
{
    struct scps_prng r;
    unsigned seen[6] = {0};
    (void)x;
    scps_prng_seed(&r, 42);
    for (int i = 0; i < 60000; i++) {
        uint64_t v = scps_prng_below(&r, 6);
        assert_true(v < 6);
        seen[v]++;
    }
    for (int i = 0; i < 6; i++)
        /* 10000 values are expected, with a standard deviation of 91. */
        assert_in_range(seen[i], 9600, 10400);
    for (int i = 0; i < 100; i++)
        assert_int_equal(scps_prng_below(&r, 1), 0);
    /* For this bound nearly half of all values have to be discarded. */
    for (int i = 0; i < 100; i++)
        assert_true(scps_prng_below(&r, (1ull << 63) + 1) <= 1ull << 63);
}

/* The key is 00 01 .. 0f, the message of length i is 00 01 02 .., the results are those of
 * SipHash's authors. */
static void siphash_vectors(void **x)
{
    static const struct {
        unsigned len;
        uint64_t hash;
    } want[] = {{0, 0x726fdb47dd0e0e31u},  {1, 0x74f839c593dc67fdu},  {2, 0x0d6c8009d9a94f5au},
                {3, 0x85676696d7fb7e2du},  {4, 0xcf2794e0277187b7u},  {5, 0x18765564cd99a68du},
                {6, 0xcbc9466e58fee3ceu},  {7, 0xab0200f58b01d137u},  {8, 0x93f5f5799a932462u},
                {9, 0x9e0082df0ba9e4b0u},  {10, 0x7a5dbbc594ddb9f3u}, {11, 0xf4b32f46226bada7u},
                {12, 0x751e8fbc860ee5fbu}, {13, 0x14ea5627c0843d90u}, {14, 0xf723ca908e7af2eeu},
                {15, 0xa129ca6149be45e5u}, {63, 0x958a324ceb064572u}};
    const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    uint8_t msg[64];
    (void)x;
    for (unsigned i = 0; i < sizeof msg; i++)
        msg[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(scps_siphash(key, msg, want[i].len), want[i].hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeded_state),
        cmocka_unit_test(reference_sequence),
        cmocka_unit_test(below_is_in_range_and_even),
        cmocka_unit_test(siphash_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
