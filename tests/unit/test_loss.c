/* SPDX-License-Identifier: MIT */
/* base/loss.c: random events computed with integers, compared with libm; their distributions
 * compared by chi-squared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/loss.h"

static void thresholds_are_exact(void **state)
{
    struct scps_prng r;
    (void)state;

    assert_true(scps_chance(0) == 0);
    assert_true(scps_chance(0.5) == UINT64_C(1) << 63);
    assert_true(scps_chance(0.75) == UINT64_C(3) << 62);
    assert_true(scps_chance(0x1p-64) == 1);
    assert_true(scps_chance(0x1p-65) == 0);
    assert_true(scps_chance(1) == UINT64_MAX);

    scps_prng_seed(&r, 1);
    for (int i = 0; i < 1000; i++) {
        assert_true(scps_chance_hit(UINT64_MAX, &r)); /* The probability 1 always hits. */
        assert_false(scps_chance_hit(0, &r));         /* The probability 0 never hits. */
    }
}

static void probability_zero_draws_no_number(void **state)
{
    struct scps_prng a, b;
    (void)state;

    scps_prng_seed(&a, 7);
    b = a;
    assert_false(scps_chance_hit(0, &a));
    assert_true(scps_prng_next(&a) == scps_prng_next(&b));
}

/* Returns 1-(1-ber)^bits as libm computes it. */
static double lost(double ber, uint32_t bits)
{
    return -expm1(bits * log1p(-ber));
}

static void survival_agrees_with_libm(void **state)
{
    static const double bers[] = {1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.3};
    static const uint32_t bytes[] = {1, 40, 58, 64, 1023, 1064, 1082, 9000, 65553, 1u << 20};
    (void)state;

    for (size_t i = 0; i < sizeof bers / sizeof bers[0]; i++) {
        struct scps_ber b;
        scps_ber_init(&b, bers[i]);
        assert_true(b.on);
        for (size_t k = 0; k < sizeof bytes / sizeof bytes[0]; k++) {
            uint32_t bits = 8 * bytes[k];
            double want = lost(bers[i], bits);
            double got = 1 - (double)scps_ber_survive(&b, bits) * 0x1p-64;
            /* The tolerance is 2 bits of rounding in 2^-64 for each bit of the frame, and the
             * rounding of doubles. */
            double room = 2 * bits * 0x1p-64 + 4e-16;
            if (!(fabs(got - want) <= room))
                fail_msg("ber %g, %u bits: %.17g, want %.17g", bers[i], bits, got, want);
        }
    }
}

static void no_errors_without_a_rate(void **state)
{
    struct scps_ber b;
    (void)state;

    scps_ber_init(&b, 0);
    assert_false(b.on);
    assert_true(scps_ber_survive(&b, 8000) == UINT64_MAX);
    assert_int_equal(scps_ber_run(&b, UINT64_MAX, 8000), 8000);
    scps_ber_init(&b, 0.25);
    /* With no bit at risk the frame always survives. */
    assert_true(scps_ber_survive(&b, 0) == UINT64_MAX);
}

/* For random numbers next to each edge: the run of good bits is shorter than n exactly if the
 * number is not below q^n. */
static void runs_agree_with_survival(void **state)
{
    static const double bers[] = {1e-7, 1e-4, 0.02, 0.5};
    struct scps_prng r;
    (void)state;

    scps_prng_seed(&r, 3);
    for (size_t i = 0; i < 4; i++) {
        struct scps_ber b;
        scps_ber_init(&b, bers[i]);
        for (int k = 0; k < 20000; k++) {
            uint32_t n = 1 + (uint32_t)scps_prng_below(&r, 12000), run;
            uint64_t edge = scps_ber_survive(&b, n);
            for (uint64_t d = edge < 2 ? 0 : edge - 2; d < edge + 2 && edge < UINT64_MAX - 2; d++) {
                run = scps_ber_run(&b, d, n);
                assert_int_equal(d >= edge, run < n);
            }
            uint64_t draw = scps_prng_next(&r);
            run = scps_ber_run(&b, draw, n);
            assert_true(run <= n);
            assert_int_equal(draw >= edge, run < n);
            /* q^(run+1) <= draw < q^run holds up to the last two bits of the powers. */
            if (run < n && run > 0) {
                assert_true(draw < scps_ber_survive(&b, run) + 2 * n);
                assert_true(draw + 2 * n >= scps_ber_survive(&b, run + 1));
            }
        }
    }
}

static void runs_are_geometric(void **state)
{
    enum { CELLS = 20, N = 200000 };
    unsigned cell[CELLS + 1] = {0};
    struct scps_ber b;
    struct scps_prng r;
    double chi = 0, ber = 0.01;
    (void)state;

    scps_ber_init(&b, ber);
    scps_prng_seed(&r, 2026);
    for (int i = 0; i < N; i++) {
        uint32_t run = scps_ber_run(&b, scps_prng_next(&r), 20 * CELLS);
        cell[run / 20]++; /* A run as long as the limit is counted in the last cell. */
    }
    for (int k = 0; k <= CELLS; k++) {
        double from = pow(1 - ber, 20 * k), to = k < CELLS ? pow(1 - ber, 20 * (k + 1)) : 0;
        double want = N * (from - to);
        chi += (cell[k] - want) * (cell[k] - want) / want;
    }
    /* With 20 degrees of freedom 45.3 is exceeded once in a thousand seeds. */
    if (chi > 45.3)
        fail_msg("chi squared %.1f", chi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_are_exact),
        cmocka_unit_test(probability_zero_draws_no_number),
        cmocka_unit_test(survival_agrees_with_libm),
        cmocka_unit_test(no_errors_without_a_rate),
        cmocka_unit_test(runs_agree_with_survival),
        cmocka_unit_test(runs_are_geometric),
    };
    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
