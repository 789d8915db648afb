/* SPDX-License-Identifier: MIT */
/* cc/highspeed.c compared with the formulas of RFC 3649 in floating point and with rows of its
 * appendix B. */
#include "cc_path.h"

#include <math.h>

/* Computes b(w) of RFC 3649 section 5, as the program in appendix B does. */
static double model_b(double w)
{
    return (0.1 - 0.5) * (log(w) - log(38)) / (log(83000) - log(38)) + 0.5;
}

static double model_a(double w)
{
    double b = model_b(w);
    return w * w * 2 * b / ((2 - b) * pow(w, 1.2) * 12.8);
}

/* Measures at a window of w segments how much it grows in a round trip and what part of it a loss
 * leaves. */
static void probe(unsigned w, double *grow, double *cut)
{
    struct cc_table t;
    cc_open(&t, "highspeed,ssthresh=1", .mss = 1000, .init_cwnd = 1000);
    t.ctl.cwnd = t.ctl.ssthresh = w * UINT64_C(1000);
    struct cc_row all = {CC_ACK, .bytes = t.ctl.cwnd, .round = true};
    cc_play_row(&t, &all);
    *grow = (double)(t.ctl.cwnd - w * UINT64_C(1000)) / 1000;
    t.ctl.cwnd = t.ctl.ssthresh = w * UINT64_C(1000);
    struct cc_row loss = {CC_LOSS, .bytes = 1000, .fresh = true};
    cc_play_row(&t, &loss);
    *cut = 1 - (double)t.ctl.cwnd / 1000 / w;
}

static void rows_of_the_rfc(void **state)
{
    (void)state;
    static const struct {
        unsigned w, a;
        double b;
    } rfc[] = {{38, 1, 0.50},     {118, 2, 0.44},   {221, 3, 0.41},    {347, 4, 0.38},
               {495, 5, 0.37},    {663, 6, 0.35},   {851, 7, 0.34},    {1058, 8, 0.33},
               {1284, 9, 0.32},   {1529, 10, 0.31}, {1793, 11, 0.30},  {2076, 12, 0.29},
               {2378, 13, 0.28},  {4177, 18, 0.26}, {10661, 30, 0.21}, {53677, 62, 0.12},
               {84035, 71, 0.10}, {94717, 73, 0.09}};
    for (size_t i = 0; i < CC_ROWS(rfc); i++) {
        double grow, cut;
        probe(rfc[i].w, &grow, &cut);
        assert_true(grow == rfc[i].a);
        assert_true(fabs(cut - rfc[i].b) < 0.006);
        if (i) {
            probe(rfc[i].w - 1, &grow, &cut);
            assert_true(grow == rfc[i].a - 1);
        }
    }
}

/* At every window a(w) is within 1 of the formula (the table has whole numbers), and b(w) is that
 * of its row. */
static void table_follows_the_formula(void **state)
{
    (void)state;
    for (unsigned w = 39; w < 95000; w += 1 + w / 50) {
        double grow, cut;
        probe(w, &grow, &cut);
        if (grow > model_a(w) + 0.1 || grow < model_a(w) - 1.4)
            fail_msg("a(%u) = %f, formula %f", w, grow, model_a(w));
        if (cut < model_b(w) - 0.001 || cut > model_b(w) + (w < 400 ? 0.06 : 0.02))
            fail_msg("b(%u) = %f, formula %f", w, cut, model_b(w));
    }
}

static void reno_below_38_segments(void **state)
{
    (void)state;
    for (unsigned w = 4; w <= 38; w++) {
        double grow, cut;
        probe(w, &grow, &cut);
        assert_true(grow == 1);
        assert_true(fabs(cut - 0.5) < 1e-9);
    }
}

/* RFC 3649 section 5: w = 0.12 / p^0.835. The table has whole numbers, so the window stays a little
 * below it. */
static void response_function(void **state)
{
    (void)state;
    for (double p = 1e-4; p > 0.9e-7; p /= 10) {
        double w = cc_response("highspeed", (uint64_t)(1 / p), SCPS_MS(100), 10, 40);
        double rfc = 0.12 / pow(p, 0.835);
        assert_true(w > (p > 5e-5 ? 0.75 : 0.88) * rfc && w < 1.05 * rfc);
    }
    assert_true(fabs(cc_response("highspeed", 100, SCPS_MS(100), 10, 40) -
                     cc_response("vj", 100, SCPS_MS(100), 10, 40)) < 0.01);
}

static void limited_slow_start(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "highspeed,lss=100", .mss = 1000, .init_cwnd = 50000);
    for (int i = 0; i < 20; i++) {
        uint64_t before = t.ctl.cwnd;
        cc_round_trip(&t, 50, SCPS_MS(100));
        /* RFC 3742: up to max_ssthresh slow start doubles the window in a round trip; above it slow
         * start adds about max_ssthresh / 2. */
        if (before <= 50000)
            assert_int_equal(t.ctl.cwnd, 2 * before);
        else
            assert_in_range(t.ctl.cwnd - before, 45000, 78000);
    }
}

static void causes(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "highspeed", .mss = 1000, .init_cwnd = 1058000);
    static const struct cc_row rows[] = {
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 1058000},
        {CC_LOSS, .fresh = true, .cwnd = 1058000 * (1024 - 335) / 1024},
        {CC_LOSS, .cwnd = 1058000 * (1024 - 335) / 1024},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cwnd = 1000},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_rfc),        cmocka_unit_test(table_follows_the_formula),
        cmocka_unit_test(reno_below_38_segments), cmocka_unit_test(response_function),
        cmocka_unit_test(limited_slow_start),     cmocka_unit_test(causes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
