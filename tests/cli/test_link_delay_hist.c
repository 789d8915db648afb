/* SPDX-License-Identifier: MIT */
/* apps/scps_link/delay_hist.c: quantiles of a histogram are those of the samples, within 1 %. */
#include "cmocka_all.h"

#include "scps_link/delay_hist.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    scps_dur x = *(const scps_dur *)a, y = *(const scps_dur *)b;

    return (x > y) - (x < y);
}

static void none(void **state)
{
    struct late *l = calloc(1, sizeof *l);
    (void)state;

    assert_int_equal(late_quantile(l, 990000), 0);
    late_add(l, -5); /* A packet cannot be early: a negative delay counts as 0. */
    assert_int_equal(late_quantile(l, 990000), 0);
    assert_int_equal(l->n, 1);
    assert_int_equal(l->sum, 0);
    free(l);
}

static void exact_below_a_millisecond(void **state)
{
    struct late *l = calloc(1, sizeof *l);
    (void)state;

    for (int i = 1; i <= 1000; i++)
        late_add(l, i);
    assert_int_equal(late_quantile(l, 1), 1);
    assert_int_equal(late_quantile(l, 500000), 500);
    assert_int_equal(late_quantile(l, 990000), 990);
    assert_int_equal(late_quantile(l, 1000000), 1000);
    assert_int_equal(l->sum, 500500);
    free(l);
}

static void near_above(void **state)
{
    static const uint32_t ppm[] = {1, 10000, 250000, 500000, 900000, 990000, 999000, 1000000};
    enum { N = 20000 };
    struct late *l = calloc(1, sizeof *l);
    scps_dur *v = calloc(N, sizeof *v);
    uint64_t x = 1;
    (void)state;

    for (int i = 0; i < N; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        v[i] = (scps_dur)(x >> (30 + (x >> 33) % 30)); /* random delays from 0 to hours */
        late_add(l, v[i]);
    }
    qsort(v, N, sizeof *v, by_size);
    for (size_t i = 0; i < sizeof ppm / sizeof ppm[0]; i++) {
        scps_dur want = v[((uint64_t)N * ppm[i] + 999999) / 1000000 - 1];
        scps_dur got = late_quantile(l, ppm[i]);
        if (got < want || (double)got > (double)want * 1.01 + 1)
            fail_msg("%u ppm: %lld, of the samples %lld", ppm[i], (long long)got, (long long)want);
    }
    late_add(l, INT64_MAX);
    assert_true(late_quantile(l, 1000000) > v[N - 1]);
    free(v);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none),
        cmocka_unit_test(exact_below_a_millisecond),
        cmocka_unit_test(near_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
