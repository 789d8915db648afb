/* SPDX-License-Identifier: MIT */
/* trace/rtt.c: percentiles compared with sorting, deviation compared with its definition, and RTTs
 * from time stamps. */
#include "cmocka_all.h"

#include "base/prng.h"
#include "trace/flow.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const scps_dur x = *(const scps_dur *)a, y = *(const scps_dur *)b;
    return (x > y) - (x < y);
}

static void percentiles_against_sorting(void **state)
{
    (void)state;
    static scps_dur v[5000];
    const unsigned n = sizeof v / sizeof *v;
    struct scps_prng r;
    scps_prng_seed(&r, 7);
    for (int shape = 0; shape < 4; shape++) {
        struct scps_trace *t = scps_trace_new(NULL);
        struct hist h = {0};
        struct dist d = {0};
        double mean = 0, var = 0;
        for (unsigned i = 0; i < n; i++) {
            uint64_t x = scps_prng_next(&r);
            v[i] = shape == 0   ? (scps_dur)(x % 30)             /* short times, in exact steps */
                   : shape == 1 ? 500000 + (scps_dur)(x % 20000) /* a path of 0.5 s */
                   : shape == 2 ? (scps_dur)(x >> (30 + x % 30)) /* times of all lengths */
                                /* a path to Mars */
                                : (scps_dur)2640000000 + (scps_dur)(x % 1000000);
            scps_tr_hist_add(t, &h, v[i]);
            scps_tr_dist_add(&d, v[i]);
            mean += (double)v[i] / n;
        }
        for (unsigned i = 0; i < n; i++)
            var += ((double)v[i] - mean) * ((double)v[i] - mean) / (n - 1);
        qsort(v, n, sizeof *v, by_value);
        const double q[] = {.01, .5, .9, .99, 1};
        for (unsigned i = 0; i < 5; i++) {
            double want = (double)v[(unsigned)ceil(q[i] * n) - 1],
                   got = scps_tr_hist_at(&h, &d, q[i]);
            if (!(fabs(got - want) <= want / 60 + 1))
                fail_msg("shape %d, q %g: %g, sorting says %g", shape, q[i], got, want);
        }
        assert_true(fabs(scps_tr_dist_avg(&d) - mean) <= mean * 1e-9);
        assert_true(fabs(scps_tr_dist_sd(&d) - sqrt(var)) <= sqrt(var) * 1e-3);
        scps_tr_hist_free(t, &h);
        assert_int_equal(scps_trace_memory(t, NULL), 0);
        scps_trace_free(t);
    }
}

static void timestamps(void **state)
{
    (void)state;
    struct scps_trace *t = scps_trace_new(NULL);
    struct conn_dir *h = calloc(1, sizeof *h);
    uint32_t v = UINT32_MAX - 2; /* The time stamps wrap to 0. */
    for (int i = 0; i < 6; i++)  /* Only four time stamps are kept, so the last two are not. */
        scps_tr_ts_sent(h, v + (uint32_t)i, 1000 * (i + 1));
    assert_int_equal(h->ts_n, 4);
    scps_tr_ts_sent(h, v, 9000); /* An older time stamp is sent again; it is not timed. */
    scps_tr_ts_echoed(t, h, v + 1, 52000);
    assert_int_equal(h->tsrtt.n, 1); /* The older entry was removed without a sample. */
    assert_int_equal(h->tsrtt.max, 50000);
    scps_tr_ts_echoed(t, h, v + 1, 60000); /* A second echo of the same value is not used. */
    assert_int_equal(h->tsrtt.n, 1);
    scps_tr_ts_sent(h, v + 5, 6000);
    scps_tr_ts_echoed(t, h, v + 5, 61000);
    assert_int_equal(h->tsrtt.n, 2);
    assert_int_equal(h->tsrtt.min, 50000);
    assert_int_equal(h->tsrtt.max, 55000);
    scps_tr_ts_echoed(t, h, v + 77, 70000); /* This time stamp was never sent. */
    assert_int_equal(h->tsrtt.n, 2);
    scps_tr_hist_free(t, &h->tsrtt_hist);
    free(h);
    scps_trace_free(t);
}

/* A program compiled with headers of another version passes a structure of another size. */
static void sizes(void **state)
{
    struct scps_trace_config cfg = {.max_memory = 1 << 20};
    const size_t wrong[] = {0, 4, sizeof cfg + 8, SIZE_MAX};
    struct scps_trace *t = scps_trace_new_sized(&cfg, offsetof(struct scps_trace_config, ctx));

    (void)state;
    assert_non_null(t);
    scps_trace_free(t);
    for (unsigned i = 0; i < 4; i++)
        assert_null(scps_trace_new_sized(&cfg, wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_against_sorting),
        cmocka_unit_test(timestamps),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
