/* SPDX-License-Identifier: MIT */
/* cc/hybla.c: at any round trip it reaches the rate of Reno at 25 ms, and its slow start is
 * bounded. */
#include "cc_path.h"

#include <math.h>

/* Congestion avoidance adds rho^2 segments in a round trip, as the formula of Hybla's paper
 * does. */
static void avoidance_gain(void **state)
{
    (void)state;
    static const scps_dur rtt[] = {SCPS_MS(5),   SCPS_MS(25),  SCPS_MS(40),
                                   SCPS_MS(100), SCPS_MS(500), SCPS_MS(2560)};
    for (size_t i = 0; i < CC_ROWS(rtt); i++) {
        struct cc_table t;
        cc_open(&t, "hybla,ssthresh=1000", .mss = 1000, .init_cwnd = 1000, .srtt = rtt[i]);
        t.ctl.cwnd = 20000000;
        uint64_t before = t.ctl.cwnd;
        struct cc_row all = {CC_ACK, .bytes = before, .rtt = rtt[i], .round = true};
        cc_play_row(&t, &all);
        double rho = fmax(1, (double)rtt[i] / 25000);
        double grew = (double)(t.ctl.cwnd - before) / 1000;
        assert_true(fabs(grew - rho * rho) <= 1 + 0.01 * rho * rho);
    }
}

/* With the largest rho that the parameters permit, the growth for an ACK of 32 MiB is limited:
 * rho^2 times these bytes is more than 64 bits hold. */
static void avoidance_gain_has_a_limit(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "hybla,ssthresh=1000,max_rho=65535,rtt0=1", .mss = 1000, .init_cwnd = 1000,
            .srtt = SCPS_SEC(1));
    t.ctl.cwnd = UINT64_C(1) << 25;
    struct cc_row all = {CC_ACK, .bytes = t.ctl.cwnd, .rtt = SCPS_SEC(1), .round = true};
    uint64_t before = t.ctl.cwnd;
    cc_play_row(&t, &all);
    assert_in_range((t.ctl.cwnd - before) / 1000, (UINT64_C(1) << 24) - 1, UINT64_C(1) << 24);
}

/* Below its bound slow start multiplies the window by 2^rho in a round trip, as Reno does in rho
 * round trips of 25 ms. */
static void slow_start_gain(void **state)
{
    (void)state;
    for (int rho = 1; rho <= 5; rho++) {
        struct cc_table t;
        cc_open(&t, "hybla,ss_gain=1000", .mss = 1000, .init_cwnd = 1000000,
                .srtt = SCPS_MS(25) * rho);
        uint64_t start = t.ctl.cwnd;
        /* The acknowledgements are small and many, so that the limit of growth for one ACK has no
         * effect. */
        for (int i = 0; i < 1000; i++) {
            struct cc_row r = {CC_ACK, .bytes = start / 1000, .rtt = SCPS_MS(25) * rho};
            cc_play_row(&t, &r);
        }
        assert_int_equal(t.ctl.cwnd, start << rho);
    }
}

static void growth_per_ack_is_limited(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "hybla", .mss = 1000, .init_cwnd = 10000, .srtt = SCPS_MS(500));
    static const struct cc_row rows[] = {
        /* An ACK of 100 bytes adds 31 times its bytes, not the factor 2^20 of the formula. */
        {CC_ACK, .bytes = 100, .cwnd = 13100},
        {CC_ACK, .bytes = 10000, .cwnd = 26200}, /* One ACK at most doubles the window. */
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

/* The window is sqrt(1.5/p) rho segments: at any round trip the rate in bit/s is that of Reno at 25
 * ms. */
static void response_function(void **state)
{
    (void)state;
    for (double p = 1e-4; p > 0.9e-6; p /= 10)
        for (int rho = 1; rho <= 20; rho += 6) {
            double w = cc_response("hybla", (uint64_t)(1 / p), SCPS_MS(25) * rho, 20, 60);
            double want = rho * sqrt(1.5 / p);
            assert_true(w > 0.85 * want && w < 1.05 * want);
        }
}

static void short_paths_grow_like_reno(void **state)
{
    (void)state;
    struct cc_table t, v;
    cc_open(&t, "hybla,ssthresh=200000,estimate=0", .mss = 1000, .srtt = SCPS_MS(20));
    cc_open(&v, "vj,ssthresh=200000", .mss = 1000, .srtt = SCPS_MS(20));
    for (int i = 0; i < 40; i++) {
        cc_round_trip(&t, 7, SCPS_MS(20));
        cc_round_trip(&v, 7, SCPS_MS(20));
        assert_int_equal(t.ctl.cwnd, v.ctl.cwnd);
    }
}

/* From a cold start on 100 Mbit/s and 500 ms the path is full within a few round trips, and a queue
 * of a quarter BDP suffices. */
static void fills_a_long_path_quickly(void **state)
{
    (void)state;
    struct cc_path p = {.bps = 100000000,
                        .delay = SCPS_MS(500),
                        .queue = 1500,
                        .ack_every = 2,
                        .ack_delay = SCPS_MS(200)};
    cc_path_open(&p, "hybla", (struct scps_cc_view){.mss = 1082, .init_cwnd = 10820});
    cc_path_run(&p, SCPS_MS(2000));
    assert_int_equal(p.drops, 0);
    cc_path_mark(&p);
    cc_path_run(&p, SCPS_SEC(2));
    assert_true(cc_path_goodput(&p) > 97000000);
    cc_path_close(&p);
}

static void losses(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "hybla", .mss = 1000, .init_cwnd = 64000);
    static const struct cc_row rows[] = {
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 64000},
        {CC_LOSS, .fresh = true, .cwnd = 32000, .ssthresh = 32000},
        {CC_LOSS, .cwnd = 32000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 64000, .cwnd = 1000, .ssthresh = 32000},
        {CC_ACK, .bytes = 1000, .cwnd = 2000},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(avoidance_gain),
        cmocka_unit_test(avoidance_gain_has_a_limit),
        cmocka_unit_test(slow_start_gain),
        cmocka_unit_test(growth_per_ack_is_limited),
        cmocka_unit_test(response_function),
        cmocka_unit_test(short_paths_grow_like_reno),
        cmocka_unit_test(fills_a_long_path_quickly),
        cmocka_unit_test(losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
