/* SPDX-License-Identifier: MIT */
/* cc/cubic.c: RFC 9438 compared with a model in floating point. cc/hystart.c: RFC 9406, from a
 * table of events. */
#include "cc_path.h"

#include <math.h>

/* The window of RFC 9438 in segments, times in seconds, computed from the RFC's formulas in
 * floating point. */
struct model {
    double c, beta, cwnd, w_max, k, w_est, prior, epoch;
    bool running, from_loss, friendly;
};

static void model_loss(struct model *m)
{
    m->prior = m->cwnd;
    m->w_max = m->from_loss && m->cwnd < m->w_max ? m->cwnd * (1 + m->beta) / 2 : m->cwnd;
    m->cwnd = fmax(m->cwnd * m->beta, 2);
    m->from_loss = true;
    m->running = false;
}

static void model_ack(struct model *m, double now, double rtt, double segs)
{
    if (!m->running) {
        m->running = true;
        m->epoch = now;
        m->w_est = m->cwnd;
        m->k = m->w_max > m->cwnd ? cbrt((m->w_max - m->cwnd) / m->c) : 0;
        if (m->k == 0)
            m->w_max = m->cwnd;
    }
    double t = now - m->epoch;
    double cubic = m->c * pow(t - m->k, 3) + m->w_max;
    double target = fmin(fmax(m->c * pow(t + rtt - m->k, 3) + m->w_max, m->cwnd), 1.5 * m->cwnd);
    double alpha = m->w_est >= m->prior ? 1 : 3 * (1 - m->beta) / (1 + m->beta);
    m->w_est += alpha * segs / m->cwnd;
    if (m->friendly && cubic < m->w_est)
        m->cwnd = fmax(m->cwnd, m->w_est);
    else
        m->cwnd += (target - m->cwnd) / m->cwnd * segs;
}

static void follows_the_model(void **state)
{
    (void)state;
    static const scps_dur rtt[] = {SCPS_MS(10), SCPS_MS(100), SCPS_MS(500), SCPS_MS(2560)};
    static const unsigned window[] = {20, 400, 6000, 100000};
    for (size_t i = 0; i < CC_ROWS(rtt); i++)
        for (size_t k = 0; k < CC_ROWS(window); k++) {
            struct cc_table t;
            struct model m = {.c = 0.4, .beta = 717 / 1024.0, .cwnd = window[k], .friendly = true};
            cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 1000, .srtt = rtt[i]);
            t.ctl.cwnd = window[k] * UINT64_C(1000);
            struct cc_row loss = {CC_LOSS, .bytes = 1000, .fresh = true};
            /* The number of round trips before the next loss; 40 lose before the window has
             * regained W_max. */
            unsigned every[] = {150, 40, 300};
            for (size_t cycle = 0; cycle < CC_ROWS(every); cycle++) {
                cc_play_row(&t, &loss);
                model_loss(&m);
                for (unsigned round = 0; round < every[cycle]; round++) {
                    uint64_t bytes = t.ctl.cwnd;
                    for (int a = 0; a < 8; a++) {
                        struct cc_row r = {CC_ACK, .bytes = bytes / 8, .rtt = rtt[i],
                                           .after = rtt[i] / 8};
                        cc_play_row(&t, &r);
                        model_ack(&m, (double)t.v.now / 1e6, (double)rtt[i] / 1e6,
                                  (double)(bytes / 8) / 1000);
                        /* At time 0 W_cubic and W_est are equal, so rounding decides which one is
                         * larger. */
                        double slack = round < 2 ? 0.012 : 0.002;
                        if (fabs((double)t.ctl.cwnd / 1000 - m.cwnd) > slack * m.cwnd + 0.01)
                            fail_msg("rtt %lld, window %u, cycle %zu, round %u: %f, model %f",
                                     (long long)rtt[i], window[k], cycle, round,
                                     (double)t.ctl.cwnd / 1000, m.cwnd);
                    }
                }
            }
        }
}

/* RFC 9438 section 4.2: after K = cbrt(W_max (1-beta)/C) seconds the window is again that before
 * the loss. */
static void window_reaches_w_max_after_k(void **state)
{
    (void)state;
    for (unsigned w = 100; w <= 1000000; w *= 10) {
        struct cc_table t;
        cc_open(&t, "cubic,friendly=0", .mss = 1000, .init_cwnd = 1000, .srtt = SCPS_MS(20));
        t.ctl.cwnd = w * UINT64_C(1000);
        struct cc_row loss = {CC_LOSS, .bytes = 1000, .fresh = true};
        cc_play_row(&t, &loss);
        scps_time from = t.v.now;
        double k = cbrt(w * (1 - 717 / 1024.0) / 0.4);
        while ((double)(t.v.now - from) / 1e6 < k)
            cc_round_trip(&t, 4, SCPS_MS(20));
        assert_true(fabs((double)t.ctl.cwnd / 1000 / w - 1) < 0.005);
    }
}

static void fast_convergence(void **state)
{
    (void)state;
    uint64_t after[2];
    static const char *const rule[] = {"cubic", "cubic,fast=0"};
    for (int i = 0; i < 2; i++) {
        struct cc_table t;
        cc_open(&t, rule[i], .mss = 1000, .init_cwnd = 1000);
        t.ctl.cwnd = 1000000;
        struct cc_row loss = {CC_LOSS, .bytes = 1000, .fresh = true};
        cc_play_row(&t, &loss);
        for (int k = 0; k < 3; k++)
            cc_round_trip(&t, 4, SCPS_MS(100));
        /* RFC 9438 section 4.7 (fast convergence): the loss comes below the last W_max, so W_max is
         * reduced further. */
        cc_play_row(&t, &loss);
        for (int k = 0; k < 80; k++)
            cc_round_trip(&t, 4, SCPS_MS(100));
        after[i] = t.ctl.cwnd;
    }
    assert_true(after[0] + 50000 < after[1]);
}

/* RFC 9438 section 5.8: the window does not grow for a minute in which nothing was sent. */
static void idle_time_does_not_count(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 1000);
    t.ctl.cwnd = 1000000;
    static const struct cc_row rows[] = {
        {CC_LOSS, .bytes = 1000, .fresh = true},
        {CC_ACK, .bytes = 100000, .after = SCPS_MS(100), .round = true},
        {CC_ACK, .bytes = 1000, .app = true, .after = SCPS_SEC(30), .round = true},
        {CC_ACK, .bytes = 1000, .app = true, .after = SCPS_SEC(30), .round = true},
        {CC_ACK, .bytes = 1000, .app = true, .after = SCPS_SEC(30), .round = true},
    };
    cc_play(&t, rows, CC_ROWS(rows));
    uint64_t before = t.ctl.cwnd;
    cc_round_trip(&t, 4, SCPS_MS(100));
    assert_in_range(t.ctl.cwnd, before, before + 40000);
}

/* Grows the window of `t` to ssthresh by slow start. */
static void slow_start_to_ssthresh(struct cc_table *t)
{
    while (t->ctl.cwnd < t->ctl.ssthresh)
        cc_round_trip(t, 4, SCPS_MS(100));
}

/* RFC 9438 section 4.8 sets K = 0 and W_max = cwnd for "the first congestion avoidance stage after
 * a timeout" only. When slow start from the restart window (RFC 5681 section 4.1) has reached
 * ssthresh, the window grows on the concave curve to the W_max of the last loss. */
static void idle_time_keeps_w_max(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct cc_table t;
        cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 10000);
        t.ctl.cwnd = 1000000;
        struct cc_row loss = {CC_LOSS, .bytes = 1000, .fresh = true};
        cc_play_row(&t, &loss);
        cc_round_trip(&t, 4, SCPS_MS(100));
        struct cc_row quiet = {CC_CHANGE, .what = i ? SCPS_CC_PATH : SCPS_CC_IDLE, .cwnd = 10000};
        cc_play_row(&t, &quiet);
        slow_start_to_ssthresh(&t);
        assert_in_range(t.ctl.cwnd, 700000, 720000);
        /* K is 9.1 s, and after 5 s W_cubic is 0.4 (5 - 9.1)^3 + 1000 segments. */
        for (int k = 0; k < 50; k++)
            cc_round_trip(&t, 4, SCPS_MS(100));
        if (i)
            assert_in_range(t.ctl.cwnd, 730000, 780000);
        else
            assert_in_range(t.ctl.cwnd, 950000, 985000);
    }
}

/* RFC 9438 section 4.3: alpha is 3 (1 - beta) / (1 + beta) = 0.53 until W_est reaches cwnd_prior,
 * the window before the timeout, or before a loss in the same window of data, and then 1. */
static void alpha_after_a_timeout(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct cc_table t;
        cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 10000);
        t.ctl.cwnd = 100000;
        struct cc_row loss = {CC_LOSS, .outstanding = 100000, .fresh = true};
        struct cc_row timeout = {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 100000,
                                 .cwnd = 1000};
        if (i)
            cc_play_row(&t, &loss);
        cc_play_row(&t, &timeout);
        cc_play_row(&t, &timeout);
        slow_start_to_ssthresh(&t);
        uint64_t before = t.ctl.cwnd;
        assert_in_range(before, 70000, 71000);
        for (int k = 0; k < 20; k++)
            cc_round_trip(&t, 4, SCPS_MS(10));
        assert_in_range(t.ctl.cwnd - before, 10000, 11000);
        for (int k = 0; k < 40; k++)
            cc_round_trip(&t, 4, SCPS_MS(10));
        before = t.ctl.cwnd;
        assert_true(before > 100000);
        for (int k = 0; k < 20; k++)
            cc_round_trip(&t, 4, SCPS_MS(10));
        assert_in_range(t.ctl.cwnd - before, 19000, 21000);
    }
}

static void causes_and_timeouts(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 102400);
    static const struct cc_row rows[] = {
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 102400},
        {CC_LOSS, .fresh = true, .cwnd = 71700, .ssthresh = 71700},
        {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 102400, .cwnd = 1000, .ssthresh = 71700},
        {CC_ACK, .bytes = 1000, .cwnd = 2000},
        {CC_ACK, .bytes = 64000, .times = 2, .cwnd = 8000},
        {CC_ACK, .bytes = 63700, .cwnd = 71700},
        /* After a timeout K is 0: the curve starts at its plateau, the present window. */
        {CC_ACK, .bytes = 70000, .after = SCPS_MS(100)},
    };
    cc_play(&t, rows, CC_ROWS(rows));
    assert_in_range(t.ctl.cwnd, 71700, 73000);
}

/* RFC 9438 section 5: AVG_W = (C (3+beta) / (4 (1-beta)))^(1/4) RTT^(3/4) / p^(3/4). At long round
 * trips the clamp to 1.5 windows and the round trip for which a loss stops growth, both absent from
 * the formula, cost some of it. */
static void response_function(void **state)
{
    (void)state;
    for (double p = 1e-4; p > 0.9e-7; p /= 10) {
        double w = cc_response("cubic", (uint64_t)(1 / p), SCPS_MS(100), 20, 60);
        double rfc = pow(0.4 * 3.7 / (4 * 0.3), 0.25) * pow(0.1 / p, 0.75);
        double reno = sqrt(1.5 / p);
        double want = fmax(rfc, reno);
        assert_true(w > 0.90 * want && w < 1.12 * want);
    }
}

/* ---- HyStart++ ---- */

/* Plays a round trip of 16 ACKs with the given RTT (µs). Returns by which factor the window
 * grew. */
static double round_at(struct cc_table *t, scps_dur rtt)
{
    uint64_t before = t->ctl.cwnd;
    cc_round_trip(t, 16, rtt);
    return (double)t->ctl.cwnd / (double)before;
}

static void hystart_leaves_after_five_conservative_rounds(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 16000);
    assert_true(round_at(&t, SCPS_MS(100)) == 2);
    assert_true(round_at(&t, SCPS_MS(100)) == 2);
    /* RFC 9406: RttThresh is an eighth of 100 ms, so 110 ms does not end slow start. */
    assert_true(round_at(&t, SCPS_MS(110)) == 2);
    /* The threshold is 110 + 110/8 = 123.75 ms; growth slows from the eighth sample on. */
    double g = round_at(&t, SCPS_MS(124));
    assert_true(g > 1.5 && g < 1.75);
    for (int i = 0; i < 4; i++) {
        g = round_at(&t, SCPS_MS(130));
        assert_true(g > 1.24 && g < 1.26);
        assert_int_equal(t.ctl.ssthresh, UINT64_MAX);
    }
    round_at(&t, SCPS_MS(130));
    assert_true(t.ctl.ssthresh != UINT64_MAX);
    assert_true(round_at(&t, SCPS_MS(130)) < 1.05);
}

/* RFC 9406 section 4.3: N_RTT_SAMPLE is 8, so a round trip with seven acknowledgements never ends
 * slow start. */
static void hystart_needs_eight_rtt_samples(void **state)
{
    (void)state;
    for (unsigned acks = 7; acks <= 8; acks++) {
        struct cc_table t;
        cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 16000);
        for (int i = 0; i < 4; i++)
            cc_round_trip(&t, acks, SCPS_MS(100) << i);
        double before = (double)t.ctl.cwnd;
        cc_round_trip(&t, acks, SCPS_MS(1000));
        assert_int_equal((double)t.ctl.cwnd / before > 1.9, acks < 8);
    }
}

static void hystart_resumes_slow_start_after_a_lower_rtt(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 16000);
    round_at(&t, SCPS_MS(100));
    round_at(&t, SCPS_MS(120));
    assert_true(round_at(&t, SCPS_MS(121)) < 1.26);
    round_at(&t, SCPS_MS(101));
    assert_true(round_at(&t, SCPS_MS(101)) == 2);
    assert_int_equal(t.ctl.ssthresh, UINT64_MAX);
    /* With hystart=0 a longer round trip never ends slow start, nor do fewer than eight samples
     * with it. */
    cc_open(&t, "cubic,hystart=0", .mss = 1000, .init_cwnd = 16000);
    for (int i = 0; i < 8; i++)
        assert_true(round_at(&t, SCPS_MS(100 + 30 * i)) == 2);
    cc_open(&t, "cubic", .mss = 1000, .init_cwnd = 16000);
    for (int i = 0; i < 8; i++) {
        uint64_t before = t.ctl.cwnd;
        cc_round_trip(&t, 3, SCPS_MS(100 + 30 * i));
        assert_int_equal(t.ctl.cwnd, 2 * before);
    }
}

static void fills_a_path(void **state)
{
    (void)state;
    struct cc_path p = {.bps = 100000000,
                        .delay = SCPS_MS(250),
                        .queue = 1500,
                        .ack_every = 2,
                        .ack_delay = SCPS_MS(200)};
    cc_path_open(&p, "cubic", (struct scps_cc_view){.mss = 1082, .init_cwnd = 10820});
    cc_path_run(&p, SCPS_SEC(60));
    cc_path_mark(&p);
    cc_path_run(&p, SCPS_SEC(120));
    assert_true(cc_path_goodput(&p) > 95000000);
    cc_path_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_model),
        cmocka_unit_test(window_reaches_w_max_after_k),
        cmocka_unit_test(fast_convergence),
        cmocka_unit_test(idle_time_does_not_count),
        cmocka_unit_test(idle_time_keeps_w_max),
        cmocka_unit_test(alpha_after_a_timeout),
        cmocka_unit_test(causes_and_timeouts),
        cmocka_unit_test(response_function),
        cmocka_unit_test(hystart_leaves_after_five_conservative_rounds),
        cmocka_unit_test(hystart_needs_eight_rtt_samples),
        cmocka_unit_test(hystart_resumes_slow_start_after_a_lower_rtt),
        cmocka_unit_test(fills_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
