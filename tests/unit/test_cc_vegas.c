/* SPDX-License-Identifier: MIT */
/* cc/vegas.c: its decisions compared with the formula of the Vegas papers in floating point, and
 * the window at which it settles on a simulated path. */
#include "cc/train.h"
#include "cc/vegas_path.h"
#include "cc_path.h"

#include <math.h>

#define SEG 1000

/* Plays round trips with the RTT `base` until Vegas knows its base RTT (it discards the first
 * sample). */
static void open_with_base(struct cc_table *t, const char *text, scps_dur base, uint64_t cwnd)
{
    cc_open(t, text, .mss = SEG, .init_cwnd = (uint32_t)cwnd);
    struct cc_row a = {CC_ACK, .bytes = 1, .rtt = base, .app = true};
    cc_play_row(t, &a);
    cc_play_row(t, &a);
    assert_int_equal(t->ctl.cwnd, cwnd);
}

static void doubles_every_round_trip(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vegas", .mss = SEG, .init_cwnd = 2 * SEG);
    for (unsigned w = 2; w <= 4096; w *= 2) {
        assert_int_equal(t.ctl.cwnd, w * SEG);
        cc_round_trip(&t, w / 2, SCPS_MS(500));
    }
    /* The window also doubles by bytes when few acknowledgements arrive. */
    cc_open(&t, "vegas", .mss = SEG, .init_cwnd = 2 * SEG);
    for (unsigned w = 2; w <= 4096; w *= 2) {
        assert_int_equal(t.ctl.cwnd, w * SEG);
        cc_round_trip(&t, 1, SCPS_MS(500));
    }
}

static void doubles_every_other_round_trip(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vegas,ss=1", .mss = SEG, .init_cwnd = 2 * SEG);
    uint64_t before = t.ctl.cwnd;
    unsigned grew = 0;
    for (int i = 0; i < 16; i++) {
        cc_round_trip(&t, 2, SCPS_MS(500));
        assert_true(t.ctl.cwnd == before || t.ctl.cwnd == 2 * before);
        grew += t.ctl.cwnd != before;
        before = t.ctl.cwnd;
    }
    assert_int_equal(grew, 8);
}

static void slow_start_with_a_factor_of_32(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vegas,ss=2", .mss = SEG, .init_cwnd = 10 * SEG);
    static const struct cc_row rows[] = {
        {CC_ACK, .bytes = 100, .cwnd = 10 * SEG + 3100},
        {CC_ACK, .bytes = 10 * SEG, .cwnd = 2 * (10 * SEG + 3100)},
    };
    cc_play(&t, rows, CC_ROWS(rows));
    /* On a simulated path, with and without a set rate: the path is full after three round trips
     * without a loss, and a queue of a quarter BDP suffices. */
    for (int paced = 0; paced < 2; paced++) {
        struct cc_path p = {.bps = 100000000,
                            .delay = SCPS_MS(500),
                            .queue = 1500,
                            .ack_every = 2,
                            .ack_delay = SCPS_MS(200),
                            .pace_bps = paced ? 101700000 : 0};
        cc_path_open(&p, "vegas,ss=2", (struct scps_cc_view){.mss = 1082, .init_cwnd = 10820});
        cc_path_run(&p, SCPS_MS(2000));
        cc_path_mark(&p);
        cc_path_run(&p, SCPS_SEC(10));
        assert_int_equal(p.drops, 0);
        assert_true(cc_path_goodput(&p) > 99000000);
        assert_int_equal(p.t.ctl.rate, 0);
        cc_path_close(&p);
    }
}

/* Plays one round trip of `w` segments at `rtt` in slow start, then the first ACK of the next
 * one. */
static void slow_start_ends_above_gamma(void **state)
{
    (void)state;
    static const unsigned w[] = {8, 16, 64, 300, 2000};
    for (size_t i = 0; i < CC_ROWS(w); i++)
        for (unsigned rtt = 100; rtt <= 200; rtt += 2)
            for (unsigned gamma = 1; gamma < 8; gamma += 3) {
                struct cc_table t;
                char text[40];
                snprintf(text, sizeof text, "vegas,gamma=%u", gamma);
                open_with_base(&t, text, SCPS_MS(100), w[i] * SEG);
                const struct cc_row round[] = {
                    {CC_ACK, .after = SCPS_MS(rtt), .round = true, .rtt = SCPS_MS(rtt), .bytes = 1},
                    {CC_ACK, .after = SCPS_MS(rtt), .round = true, .rtt = SCPS_MS(rtt),
                     .bytes = w[i] * SEG},
                };
                cc_play(&t, round, 2);
                double diff = w[i] - w[i] * 100.0 / rtt;
                double carried = w[i] * 100.0 / rtt;
                if (fabs(diff - gamma) < 0.01)
                    continue;
                if (diff < gamma) {
                    assert_int_equal(t.ctl.cwnd, 2 * w[i] * SEG + 1);
                    assert_int_equal(t.ctl.ssthresh, UINT64_MAX);
                } else {
                    double want = fmin(carried + (3 + 5) / 2.0, w[i]) * SEG;
                    assert_true(fabs((double)t.ctl.cwnd - want) < 10);
                    assert_int_equal(t.ctl.ssthresh, t.ctl.cwnd);
                }
            }
}

/* Linear mode follows diff = W - W base/rtt of the Vegas papers, computed here in floating point,
 * over a grid of windows and queues. */
static void linear_mode_follows_the_formula(void **state)
{
    (void)state;
    static const char *const rule[] = {"vegas", "vegas,alpha=1,beta=3,decrease=1",
                                       "vegas,alpha=2,beta=2", "vegas,alpha=7,beta=5"};
    static const double alpha[] = {3, 1, 2, 7}, beta[] = {5, 3, 2, 7};
    for (size_t k = 0; k < CC_ROWS(rule); k++)
        for (unsigned w = 4; w < 9000; w = w * 3 / 2)
            for (double queued = 0.25; queued < w * 0.9; queued *= 1.7) {
                struct cc_table t;
                const double base = 400000, rtt = base / (1 - queued / w);
                open_with_base(&t, rule[k], SCPS_MS(400), 2 * w * SEG);
                /* A loss halves the window and begins linear mode. */
                const struct cc_row rows[] = {
                    {CC_LOSS, .bytes = SEG, .fresh = true, .cwnd = w * SEG},
                    {CC_CHANGE, .what = SCPS_CC_RECOVERED, .cwnd = w * SEG},
                    {CC_ACK, .round = true, .rtt = -1, .bytes = 1},
                    {CC_ACK, .rtt = (scps_dur)rtt, .after = (scps_dur)rtt / 2,
                     .bytes = (uint64_t)w * SEG / 2},
                    {CC_ACK, .round = true, .rtt = (scps_dur)rtt, .after = (scps_dur)rtt / 2,
                     .bytes = (uint64_t)w * SEG / 2},
                };
                cc_play(&t, rows, CC_ROWS(rows));
                double diff = w - w * base / rtt, want = w;
                if (fabs(diff - alpha[k]) < 0.05 || fabs(diff - beta[k]) < 0.05)
                    continue;
                if (diff < alpha[k])
                    want = w + 1;
                else if (diff > beta[k])
                    want = k == 1 ? w - 1 : w - fmin(w / 2.0, (diff - beta[k]) / 2);
                if (want < 2)
                    want = 2;
                if (fabs((double)t.ctl.cwnd / SEG - want) > 0.02 + 1e-4 * w)
                    fail_msg("%s: W %u, %f queued: cwnd %f, wanted %f", rule[k], w, diff,
                             (double)t.ctl.cwnd / SEG, want);
            }
}

static void growth_needs_a_window_that_limits(void **state)
{
    (void)state;
    struct cc_table t;
    open_with_base(&t, "vegas", SCPS_MS(100), 40 * SEG);
    static const struct cc_row rows[] = {
        {CC_LOSS, .fresh = true, .cwnd = 20 * SEG},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED},
        {CC_ACK, .bytes = 5 * SEG, .after = SCPS_MS(100), .round = true, .app = true},
        {CC_ACK, .bytes = 5 * SEG, .after = SCPS_MS(100), .round = true, .app = true, .times = 9,
         .cwnd = 20 * SEG},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

/* Vegas makes no decision about a round trip at whose end loss recovery is still going on; it
 * decides about the one in which recovery ends. */
static void no_decision_during_recovery(void **state)
{
    (void)state;
    struct cc_table t;
    static const struct cc_row rows[] = {
        {CC_LOSS, .fresh = true, .cwnd = 32 * SEG},
        {CC_ACK, .after = SCPS_MS(100), .round = true, .in_recovery = true, .bytes = 1},
        {CC_ACK, .after = SCPS_MS(50), .in_recovery = true, .bytes = 16 * SEG, .cwnd = 32 * SEG},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED, .cwnd = 32 * SEG},
        {CC_ACK, .after = SCPS_MS(50), .round = true, .bytes = 16 * SEG, .cwnd = 33 * SEG},
        {CC_ACK, .after = SCPS_MS(100), .round = true, .bytes = 33 * SEG, .cwnd = 34 * SEG},
    };
    open_with_base(&t, "vegas", SCPS_MS(100), 64 * SEG);
    cc_play(&t, rows, CC_ROWS(rows));
}

static void losses_by_cause(void **state)
{
    (void)state;
    struct cc_table t;
    static const struct cc_row told[] = {
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 64 * SEG},
        /* A loss taken for corruption does not end slow start: the window grows by the bytes
         * acknowledged. */
        {CC_ACK, .bytes = 6 * SEG, .in_recovery = true, .cwnd = 70 * SEG},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED, .cwnd = 70 * SEG},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 70 * SEG},
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_OUTAGE, .cwnd = 70 * SEG},
        {CC_LOSS, .fresh = true, .cwnd = 35 * SEG, .ssthresh = 35 * SEG},
        {CC_LOSS, .cwnd = 35 * SEG},
        {CC_ACK, .bytes = 35 * SEG, .in_recovery = true, .cwnd = 35 * SEG},
        {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 70 * SEG, .cwnd = SEG,
         .ssthresh = 35 * SEG},
        /* After the timeout Vegas is in slow start again. */
        {CC_ACK, .bytes = SEG, .cwnd = 2 * SEG},
    };
    open_with_base(&t, "vegas", SCPS_MS(100), 64 * SEG);
    cc_play(&t, told, CC_ROWS(told));

    static const struct cc_row all[] = {
        {CC_LOSS, .fresh = true, .cwnd = 64 * SEG},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cwnd = 64 * SEG},
        {CC_LOSS, .fresh = true, .evidence = SCPS_BY_ECN, .cwnd = 32 * SEG},
    };
    open_with_base(&t, "vegas-corruption", SCPS_MS(100), 64 * SEG);
    cc_play(&t, all, CC_ROWS(all));
    open_with_base(&t, "vegas,corruption=2", SCPS_MS(100), 64 * SEG);
    cc_play(&t, all, CC_ROWS(all));

    static const struct cc_row none[] = {
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 48 * SEG},
    };
    open_with_base(&t, "vegas,corruption=0,keep=768", SCPS_MS(100), 64 * SEG);
    cc_play(&t, none, CC_ROWS(none));
}

static void idle_and_path(void **state)
{
    (void)state;
    struct cc_table t;
    open_with_base(&t, "vegas", SCPS_MS(100), 10 * SEG);
    static const struct cc_row rows[] = {
        {CC_ACK, .bytes = 90 * SEG, .cwnd = 100 * SEG},
        {CC_CHANGE, .what = SCPS_CC_LINK_UP, .cwnd = 100 * SEG},
        {CC_CHANGE, .what = SCPS_CC_SPURIOUS, .cwnd = 100 * SEG},
        {CC_CHANGE, .what = SCPS_CC_IDLE, .cwnd = 10 * SEG},
        {CC_ACK, .bytes = 90 * SEG, .cwnd = 100 * SEG},
        /* After SCPS_CC_PATH a longer RTT is taken for a longer path, not for a queue, so the
         * window does not shrink. */
        {CC_CHANGE, .what = SCPS_CC_PATH, .cwnd = 10 * SEG},
        {CC_ACK, .rtt = SCPS_MS(300), .after = SCPS_MS(300), .round = true, .bytes = 1},
        {CC_ACK, .rtt = SCPS_MS(300), .after = SCPS_MS(300), .round = true, .bytes = 10 * SEG,
         .cwnd = 20 * SEG + 1},
        {CC_ACK, .rtt = SCPS_MS(300), .after = SCPS_MS(300), .round = true, .bytes = 20 * SEG,
         .cwnd = 40 * SEG + 1},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

/* ---- on a simulated path ---- */

#define MSS 1082

static struct scps_cc_view view(unsigned iw)
{
    return (struct scps_cc_view){.mss = MSS, .init_cwnd = iw * MSS};
}

/* Alone on a path, with a queue of one BDP and no pacing, Vegas fills the path from slow start on;
 * three to five segments wait in the queue and none is lost. */
static void settles_with_a_few_segments_queued(void **state)
{
    (void)state;
    static const struct {
        uint64_t bps;
        scps_dur delay;
    } path[] = {{100000000, SCPS_MS(500)}, {100000000, SCPS_MS(250)}, {100000000, SCPS_MS(10)},
                {10000000, SCPS_MS(560)},  {1000000, SCPS_MS(2560)},  {2000000, SCPS_MS(40)}};
    for (size_t i = 0; i < CC_ROWS(path); i++)
        for (unsigned every = 1; every <= 2; every++) {
            uint64_t bdp = path[i].bps / 8 * (uint64_t)path[i].delay / 1000000 / MSS;
            struct cc_path p = {.bps = path[i].bps,
                                .delay = path[i].delay,
                                .queue = bdp + 20,
                                .ack_every = every,
                                .ack_delay = SCPS_MS(200)};
            cc_path_open(&p, "vegas", view(2));
            cc_path_run(&p, 40 * path[i].delay);
            cc_path_mark(&p);
            cc_path_run(&p, 40 * path[i].delay);
            assert_int_equal(p.drops, 0);
            assert_in_range(cc_path_goodput(&p), path[i].bps * 995 / 1000,
                            path[i].bps * 1005 / 1000);
            assert_in_range(p.max_queue, 3, 5 + 2 + every);
            cc_path_close(&p);
        }
}

/* Acknowledgement mode F0: the receiver acknowledges only when its timer of 200 ms expires. F0
 * makes sense with a set rate, and Vegas reaches that rate; after a loss has halved the window,
 * Vegas does not take the timer's delay for a queue. */
static void strictly_delayed_acks(void **state)
{
    (void)state;
    static const scps_dur delay[] = {SCPS_MS(500), SCPS_MS(250), SCPS_MS(10)};
    for (size_t i = 0; i < CC_ROWS(delay); i++) {
        struct cc_path p = {.bps = 100000000,
                            .delay = delay[i],
                            .queue = 6000,
                            .ack_delay = SCPS_MS(200),
                            .pace_bps = 80000000};
        cc_path_open(&p, "vegas", view(2));
        cc_path_run(&p, SCPS_SEC(20));
        cc_path_mark(&p);
        cc_path_run(&p, SCPS_SEC(20));
        assert_in_range(cc_path_goodput(&p), 79500000, 80500000);
        assert_int_equal(p.drops, 0);

        /* Losses reduce the window to a tenth: the segments leave in a short burst, and the last of
         * them wait long for the timer. */
        for (int k = 0; k < 5; k++) {
            struct cc_row r = {CC_LOSS, .fresh = true};
            cc_play_row(&p.t, &r);
            p.t.ops->change(p.t.u.state, &p.t.v, SCPS_CC_RECOVERED, &p.t.ctl);
        }
        uint64_t low = p.t.ctl.cwnd;
        cc_path_run(&p, SCPS_SEC(60));
        /* The window grows by a segment in each round trip. */
        assert_true(p.t.ctl.cwnd > low + 60 * MSS);
        cc_path_close(&p);
    }
}

/* Mode F0 on a path without delay: the round trip is the receiver's timer, and a timer that fires
 * late is not a queue. When a round trip begins, no segment is in flight that could have waited in
 * a queue. */
static void a_late_timer_is_no_queue(void **state)
{
    (void)state;
    static const scps_dur late[] = {0, 100, SCPS_MS(1), SCPS_MS(5), SCPS_MS(20)};
    for (size_t i = 0; i < CC_ROWS(late); i++) {
        struct cc_path p = {.bps = 1000000000,
                            .delay = 50,
                            .ack_delay = SCPS_MS(200),
                            .late = late[i],
                            .pace_bps = 400000000};
        cc_path_open(&p, "vegas", view(10));
        cc_path_run(&p, SCPS_SEC(4));
        cc_path_mark(&p);
        cc_path_run(&p, SCPS_SEC(20));
        assert_in_range(cc_path_goodput(&p), 350000000, 400500000);
        cc_path_close(&p);
    }
}

/* Mode F0, a loss: what is halved is the number of segments sent in a round trip, not the number
 * sent since the receiver's timer expired. On a path longer than the timer, with no queue, it is
 * the number outstanding. */
static void a_loss_halves_the_segments_of_a_round_trip(void **state)
{
    (void)state;
    static const struct {
        scps_dur path;
        unsigned keeps; /* The segments that the window keeps of 100. */
    } run[] = {{SCPS_MS(1), 50}, {SCPS_MS(90), 50}, {SCPS_MS(110), 5}, {SCPS_MS(200), 5}};
    for (size_t i = 0; i < CC_ROWS(run); i++) {
        struct cc_table t;
        cc_open(&t, "vegas", .mss = SEG, .init_cwnd = 100 * SEG, .srtt = run[i].path,
                .min_rtt = run[i].path);
        const struct cc_row rows[] = {
            {CC_ACK, .times = 4, .after = SCPS_MS(200), .round = true, .app = true,
             .bytes = 100 * SEG, .rtt = SCPS_MS(200), .rtt_old = SCPS_MS(200)},
            {CC_LOSS, .fresh = true, .bytes = SEG, .outstanding = 10 * SEG,
             .cwnd = run[i].keeps * SEG},
        };
        cc_play(&t, rows, CC_ROWS(rows));
    }
}

/* Shows why the RTT of the oldest segment is used in mode F0: with that of the newest the rate
 * falls on the same path. */
static void newest_rtt_lowers_the_rate_in_f0(void **state)
{
    (void)state;
    uint64_t cwnd[2];
    for (int newest = 0; newest < 2; newest++) {
        struct cc_path p = {.bps = 100000000,
                            .delay = SCPS_MS(500),
                            .queue = 6000,
                            .ack_delay = SCPS_MS(200),
                            .pace_bps = 80000000,
                            .newest_only = newest};
        cc_path_open(&p, "vegas,rounds=0", view(2));
        cc_path_run(&p, SCPS_SEC(20));
        for (int k = 0; k < 4; k++) {
            struct cc_row r = {CC_LOSS, .fresh = true};
            cc_play_row(&p.t, &r);
            p.t.ops->change(p.t.u.state, &p.t.v, SCPS_CC_RECOVERED, &p.t.ctl);
        }
        cc_path_run(&p, SCPS_SEC(100));
        cwnd[newest] = p.t.ctl.cwnd;
        cc_path_close(&p);
    }
    assert_true(cwnd[0] > 5 * cwnd[1]);
}

/* Mode F0: an ACK that did not wait for the receiver's timer does not show a shorter path; eight
 * round trips of such ACKs do. */
static void early_acks_leave_base_alone(void **state)
{
    (void)state;
    struct cc_table t;
    const scps_dur timer = SCPS_MS(210);
    const struct cc_row round = {
        CC_ACK,          .after = timer, .round = true, .bytes = 400 * SEG, .rtt = SCPS_MS(110),
        .rtt_old = timer};
    const struct cc_row hasty = {CC_ACK,
                                 .after = SCPS_MS(30),
                                 .round = true,
                                 .bytes = 100 * SEG,
                                 .rtt = SCPS_MS(12),
                                 .rtt_old = SCPS_MS(30)};

    cc_open(&t, "vegas", .mss = SEG, .init_cwnd = 800 * SEG, .srtt = SCPS_MS(10));
    const struct cc_row linear[] = {
        round, round, {CC_LOSS, .fresh = true}, {CC_CHANGE, .what = SCPS_CC_RECOVERED}};
    cc_play(&t, linear, CC_ROWS(linear));
    cc_play_row(&t, &round);
    cc_play_row(&t, &hasty);
    uint64_t low = t.ctl.cwnd;
    for (int i = 0; i < 20; i++)
        cc_play_row(&t, &round);
    assert_in_range(t.ctl.cwnd, low + 18 * SEG, low + 20 * SEG);
    /* An RTT that is shorter only by the granularity of a clock does not change the base RTT
     * either. */
    struct cc_row noisy = hasty;
    noisy.rtt = SCPS_MS(10) - 100;
    cc_play_row(&t, &noisy);
    low = t.ctl.cwnd;
    for (int i = 0; i < 20; i++)
        cc_play_row(&t, &round);
    assert_in_range(t.ctl.cwnd, low + 18 * SEG, low + 20 * SEG);
    /* The path becomes shorter by 100 ms: its first ACKs look as if they had not waited for the
     * timer, later the base RTT follows. */
    struct cc_row shorter = round, queued = round;
    shorter.rtt = SCPS_MS(50), shorter.rtt_old = SCPS_MS(110);
    for (int i = 0; i < 10; i++)
        cc_play_row(&t, &shorter);
    shorter.rtt_old = SCPS_MS(100); /* The RTT becomes shorter by a little more. */
    for (int i = 0; i < 10; i++)
        cc_play_row(&t, &shorter);
    uint64_t before = t.ctl.cwnd;
    queued.rtt_old = SCPS_MS(180);
    for (int i = 0; i < 6; i++)
        cc_play_row(&t, &queued);
    assert_true(t.ctl.cwnd < before - 100 * SEG);
    /* The ACKs are as late as before again: the early ones came from a window update, not from a
     * shorter path, and the base RTT returns to its old value. */
    cc_play_row(&t, &round); /* This row ends the round trip that the row before began. */
    cc_play_row(&t, &round);
    assert_in_range(t.ctl.cwnd, before - 20 * SEG, before + SEG);
    before = t.ctl.cwnd;
    for (int i = 0; i < 3; i++)
        cc_play_row(&t, &round);
    assert_in_range(t.ctl.cwnd, before, before + 3 * SEG);
}

/* In a train without a queue one ACK has waited for the receiver's timer, which is no queue; a
 * second late ACK shows one. */
static void a_late_ack_is_no_queue(void **state)
{
    (void)state;
    struct scps_ack_train tr = {0};
    scps_time now = SCPS_SEC(1);
    uint64_t carried = 0;
    for (int i = 0; i < 20; i++)
        assert_false(scps_train_on_ack(&tr, now += SCPS_MS(65), 1048, SCPS_MS(967), SCPS_MS(967),
                                       2000, &carried));
    assert_false(scps_train_on_ack(&tr, now += SCPS_MS(200), 4, SCPS_MS(1167), SCPS_MS(967), 2000,
                                   &carried));
    assert_true(scps_train_on_ack(&tr, now + SCPS_MS(65), 1048, SCPS_MS(1167), SCPS_MS(967), 2000,
                                  &carried));
}

/* After an outage of the link the window is spread over a round trip, so that ACKs come without a
 * gap between the rounds. The rate of the path is measured from the ACKs of one round: 64 segments
 * in 100 ms. The slower ACKs of the round before, 16 segments in 100 ms, are no part of the train,
 * or slow start would end with a window of about 40 segments. */
static void an_ack_train_is_within_a_round(void **state)
{
    (void)state;
    struct cc_table t;
    const struct cc_row rows[] = {
        {CC_ACK, .round = true, .after = SCPS_MS(10), .bytes = 2 * SEG},
        {CC_ACK, .times = 7, .after = 12500, .bytes = 2 * SEG},
        {CC_ACK, .round = true, .after = 12500, .bytes = 2 * SEG},
        {CC_ACK, .times = 31, .after = 3125, .bytes = 2 * SEG},
        {CC_ACK, .times = 2, .after = 3125, .rtt = SCPS_MS(115), .bytes = 2 * SEG},
    };

    open_with_base(&t, "vegas", SCPS_MS(100), 64 * SEG);
    cc_play(&t, rows, CC_ROWS(rows));
    assert_in_range(t.ctl.ssthresh, 64 * SEG, 76 * SEG);
}

/* A delayed ACK that comes a long time before the next train is not used for the rate of that
 * train. */
static void a_delayed_ack_is_no_ack_train(void **state)
{
    (void)state;
    static const scps_dur lone[] = {SCPS_MS(116), SCPS_MS(139), SCPS_MS(30)};

    for (size_t i = 0; i < CC_ROWS(lone); i++)
        for (int ahead = 1; ahead <= 2; ahead++) {
            struct scps_ack_train tr = {0};
            scps_time now = SCPS_SEC(1);
            uint64_t carried = 0;
            bool told = false;

            for (int k = 0; k < ahead; k++)
                assert_false(scps_train_on_ack(&tr, now += 2400, 2896, SCPS_MS(570), SCPS_MS(560),
                                               5000, &carried));
            now += lone[i];
            for (int k = 0; k < 40 && !told; k++, now += 2400)
                told =
                    scps_train_on_ack(&tr, now, 2896, SCPS_MS(600), SCPS_MS(560), 5000, &carried);
            assert_true(told);
            assert_in_range(carried, 560000 / 2400 * 2896, 560000 / 2400 * 2896 * 5 / 4);
        }
}

static void a_longer_base_rtt_is_not_a_queue(void **state)
{
    (void)state;
    uint64_t goodput[2];
    static const char *const rule[] = {"vegas", "vegas,rounds=0"};
    for (int k = 0; k < 2; k++) {
        struct cc_path p = {.bps = 20000000,
                            .delay = SCPS_MS(250),
                            .queue = 600,
                            .ack_every = 2,
                            .ack_delay = SCPS_MS(200)};
        cc_path_open(&p, rule[k], view(2));
        cc_path_run(&p, SCPS_SEC(20));
        /* The path is handed over to another relay, which has a longer delay. */
        p.delay = SCPS_MS(300);
        cc_path_run(&p, SCPS_SEC(30));
        cc_path_mark(&p);
        cc_path_run(&p, SCPS_SEC(30));
        goodput[k] = cc_path_goodput(&p);
        /* A shorter delay is noticed at once. */
        p.delay = SCPS_MS(200);
        cc_path_run(&p, SCPS_SEC(1));
        if (!k) {
            cc_path_run(&p, SCPS_SEC(10));
            cc_path_mark(&p);
            cc_path_run(&p, SCPS_SEC(10));
            assert_in_range(p.max_queue, 1, 9);
            assert_true(cc_path_goodput(&p) > 19000000);
        }
        assert_int_equal(p.drops, 0);
        cc_path_close(&p);
    }
    assert_true(goodput[0] > 19000000);
    assert_true(goodput[1] < 5000000);
}

/* The RTT becomes ten times as long while the window is a few segments, all of which might be in a
 * queue: halving the window shows that they are not. */
static void a_path_ten_times_as_long(void **state)
{
    (void)state;
    uint64_t goodput[2];
    static const char *const rule[] = {"vegas", "vegas,rounds=0"};
    for (int k = 0; k < 2; k++) {
        struct cc_path p = {
            .bps = 10000000, .delay = SCPS_MS(20), .queue = 200, .ack_every = 1, .ack_delay = 1};
        cc_path_open(&p, rule[k], view(2));
        cc_path_run(&p, SCPS_SEC(5));
        p.delay = SCPS_MS(200);
        cc_path_run(&p, SCPS_SEC(30));
        cc_path_mark(&p);
        cc_path_run(&p, SCPS_SEC(30));
        goodput[k] = cc_path_goodput(&p);
        cc_path_close(&p);
    }
    assert_true(goodput[0] > 9500000);
    assert_true(goodput[1] < 500000);
}

/* The same with a peer that acknowledges every other segment, and a path that becomes a hundred
 * times as long during slow start. */
static void a_longer_path_with_delayed_acks(void **state)
{
    (void)state;
    struct cc_path p = {.bps = 10000000,
                        .delay = SCPS_MS(5),
                        .queue = 200,
                        .ack_every = 2,
                        .ack_delay = SCPS_MS(200)};
    cc_path_open(&p, "vegas", view(2));
    cc_path_run(&p, SCPS_MS(40));
    p.delay = SCPS_MS(500);
    cc_path_run(&p, SCPS_SEC(60));
    cc_path_mark(&p);
    cc_path_run(&p, SCPS_SEC(30));
    assert_true(cc_path_goodput(&p) > 6000000);
    cc_path_close(&p);
}

/* A timeout in the middle of a test ends it: the window from before the test does not come back. */
static void a_timeout_during_a_test(void **state)
{
    struct cc_table t;
    struct cc_row rto = {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 6 * SEG};
    (void)state;

    open_with_base(&t, "vegas", SCPS_MS(100), 12 * SEG);
    t.ctl.ssthresh = 12 * SEG;
    for (int i = 0; i < 12 && t.ctl.cwnd > 8 * SEG; i++)
        cc_round_trip(&t, (unsigned)(t.ctl.cwnd / SEG), SCPS_MS(250));
    assert_true(t.ctl.cwnd <= 8 * SEG);
    cc_play_row(&t, &rto);
    assert_int_equal(t.ctl.cwnd, SEG);
    for (int i = 0; i < 4; i++) {
        uint64_t before = t.ctl.cwnd;
        cc_round_trip(&t, (unsigned)(before / SEG), SCPS_MS(250));
        assert_true(t.ctl.cwnd <= 2 * before);
    }
}

/* On a slow line the RTT is many times the base RTT because of the connection's own queue. The base
 * RTT stays, so that the queue does not become longer with each test. */
static void a_long_queue_of_its_own(void **state)
{
    (void)state;
    struct cc_path p = {
        .bps = 64000, .delay = SCPS_MS(6), .queue = 200, .ack_every = 1, .ack_delay = 1};
    cc_path_open(&p, "vegas", view(2));
    cc_path_run(&p, SCPS_SEC(60));
    cc_path_mark(&p);
    cc_path_run(&p, SCPS_SEC(600));
    assert_in_range(p.max_queue, 3, 8);
    assert_true(cc_path_goodput(&p) > 60000);
    cc_path_close(&p);
}

/* The test of the path without a controller: after four rounds with more than twice the base RTT
 * the window is halved for two rounds; the excess of the second decides. Each test that finds an
 * own queue doubles the number of rounds before the next. */
static void test_of_the_path(void **state)
{
    struct scps_vegas_path path = {0};
    (void)state;

    for (unsigned wait = 4; wait <= 64; wait *= 2) {
        for (unsigned i = 1; i < wait; i++)
            assert_int_equal(scps_vegas_path_round(&path, 201, 100, 8000), SCPS_VEGAS_PATH_KEEP);
        assert_int_equal(scps_vegas_path_round(&path, 300, 100, 8000), SCPS_VEGAS_PATH_HALVE);
        assert_int_equal(path.cwnd, 8000);
        assert_int_equal(scps_vegas_path_round(&path, 300, 100, 4000), SCPS_VEGAS_PATH_TEST);
        assert_int_equal(scps_vegas_path_round(&path, 250, 100, 4000), SCPS_VEGAS_PATH_OWN);
    }
    /* An RTT of twice the base RTT begins the count anew. */
    path = (struct scps_vegas_path){0};
    for (unsigned i = 1; i <= 3; i++)
        scps_vegas_path_round(&path, 201, 100, 8000);
    scps_vegas_path_round(&path, 200, 100, 8000);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(scps_vegas_path_round(&path, 201, 100, 8000), SCPS_VEGAS_PATH_KEEP);
    assert_int_equal(scps_vegas_path_round(&path, 300, 100, 8000), SCPS_VEGAS_PATH_HALVE);
    scps_vegas_path_round(&path, 300, 100, 4000);
    assert_int_equal(scps_vegas_path_round(&path, 251, 100, 4000), SCPS_VEGAS_PATH_LONGER);
    /* A loss ends a test. */
    for (unsigned i = 1; i <= 4; i++)
        scps_vegas_path_round(&path, 300, 100, 8000);
    scps_vegas_path_end_test(&path);
    assert_int_equal(scps_vegas_path_round(&path, 300, 100, 4000), SCPS_VEGAS_PATH_KEEP);
}

/* Random loss: if Vegas takes it for congestion, its goodput falls to c/sqrt(p) as Reno's does; if
 * it takes it for corruption, the goodput stays. */
static void corruption_keeps_the_window(void **state)
{
    (void)state;
    uint64_t goodput[2];
    static const char *const rule[] = {"vegas", "vegas-corruption"};
    for (int k = 0; k < 2; k++) {
        struct cc_path p = {.bps = 100000000,
                            .delay = SCPS_MS(250),
                            .queue = 3000,
                            .ack_every = 2,
                            .ack_delay = SCPS_MS(200),
                            .per = 1e-3};
        cc_path_open(&p, rule[k], view(4));
        cc_path_run(&p, SCPS_SEC(100));
        cc_path_mark(&p);
        cc_path_run(&p, SCPS_SEC(200));
        goodput[k] = cc_path_goodput(&p);
        cc_path_close(&p);
    }
    /* The formula of Reno with every segment acknowledged, in bit/s. */
    double reno = 1.22 * MSS * 8 / 0.25 / sqrt(1e-3);
    assert_in_range(goodput[0], reno * 0.6, reno * 1.4);
    assert_true(goodput[1] > 98000000);
}

/* Plays a round trip in which `lost` of the window's 64 segments are lost, reported as corruption,
 * and the others acknowledged, then the first ACK of the next round trip, with which Vegas
 * decides. */
static void lossy_round(struct cc_table *t, unsigned lost, scps_dur took)
{
    const struct cc_row rows[] = {
        {CC_LOSS, .bytes = lost * SEG, .cause = SCPS_LOSS_CORRUPTION, .fresh = true},
        {CC_ACK, .bytes = (64 - lost) * SEG, .rtt = -1, .after = took, .app = true},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED},
        {CC_ACK, .rtt = -1, .round = true, .app = true},
    };

    cc_play(t, rows, CC_ROWS(rows));
}

/* The brake of vegas-corruption halves the window after a round trip that loses a quarter of 64
 * segments, although losses are taken for corruption; fewer losses, or fewer than 16, do not. Four
 * round trips later it looks whether the losses depend on the window: if fewer were lost, or as
 * much was delivered, the window stays halved; if not, it comes back, and the next 16 round trips
 * are not checked. */
static void a_brake_by_share_of_loss(void **state)
{
    (void)state;
    struct cc_table t;
    open_with_base(&t, "vegas-corruption", SCPS_MS(100), 64 * SEG);
    const struct cc_row first = {CC_ACK, .rtt = -1, .round = true, .app = true};
    cc_play_row(&t, &first);
    uint64_t whole = t.ctl.cwnd;
    assert_true(whole >= 64 * SEG);
    lossy_round(&t, 15, SCPS_MS(100));
    assert_true(t.ctl.cwnd >= whole);
    assert_int_equal(t.ctl.phase, SCPS_PHASE_NONE);
    whole = t.ctl.cwnd;
    lossy_round(&t, 16, SCPS_MS(100));
    assert_int_equal(t.ctl.cwnd, whole / 2);
    assert_int_equal(t.ctl.phase, SCPS_PHASE_BRAKE);
    for (int i = 0; i < 4; i++) { /* Fewer segments are lost with the smaller window. */
        assert_int_equal(t.ctl.phase, SCPS_PHASE_BRAKE);
        lossy_round(&t, 1, SCPS_MS(100));
    }
    assert_true(t.ctl.cwnd < whole);
    assert_int_equal(t.ctl.phase, SCPS_PHASE_BRAKED);

    whole = t.ctl.cwnd;
    lossy_round(&t, 20, SCPS_MS(100));
    assert_true(t.ctl.cwnd < whole);
    /* As many segments are lost, and fewer bytes are delivered in a second. */
    for (int i = 0; i < 4; i++)
        lossy_round(&t, 20, SCPS_MS(200));
    assert_true(t.ctl.cwnd >= whole);
    whole = t.ctl.cwnd;
    for (int i = 0; i < 16; i++)
        lossy_round(&t, 20, SCPS_MS(100));
    assert_true(t.ctl.cwnd >= whole);
    lossy_round(&t, 20, SCPS_MS(100));
    assert_true(t.ctl.cwnd < whole);

    open_with_base(&t, "vegas-corruption,brake=0", SCPS_MS(100), 64 * SEG);
    cc_play_row(&t, &first);
    whole = t.ctl.cwnd;
    lossy_round(&t, 40, SCPS_MS(100));
    assert_true(t.ctl.cwnd >= whole);
    assert_int_equal(t.ctl.phase, SCPS_PHASE_NONE);
}

/* An outage of the link loses a large part of a window, whatever its size. Without SACK these
 * losses are detected in the four round trips after it, and reported with the cause that is in
 * force for all losses. The brake of vegas-corruption does not count them. */
static void no_brake_after_an_outage(void **state)
{
    (void)state;
    struct cc_table t;
    const struct cc_row before[] = {
        {CC_ACK, .rtt = -1, .round = true, .app = true},
        {CC_CHANGE, .what = SCPS_CC_LINK_UP},
    };
    open_with_base(&t, "vegas-corruption", SCPS_MS(100), 64 * SEG);
    cc_play(&t, before, CC_ROWS(before));
    uint64_t whole = t.ctl.cwnd;
    for (int i = 0; i < 4; i++)
        lossy_round(&t, 20, SCPS_MS(100));
    assert_true(t.ctl.cwnd >= whole);
    whole = t.ctl.cwnd;
    lossy_round(&t, 20, SCPS_MS(100));
    assert_int_equal(t.ctl.cwnd, whole / 2);
    assert_int_equal(t.ctl.phase, SCPS_PHASE_BRAKE);
}

/* The rules of the Vegas paper, set by parameters, leave slow start early and are slower, but
 * settle at the same window. */
static void rules_of_the_vegas_paper(void **state)
{
    (void)state;
    struct cc_path p = {.bps = 2000000,
                        .delay = SCPS_MS(100),
                        .queue = 60,
                        .ack_every = 1,
                        .ack_delay = SCPS_MS(200)};
    cc_path_open(&p,
                 "vegas,alpha=1,beta=3,gamma=1,ss=1,decrease=1,first=0,rounds=0,timeouts=0,train=0",
                 view(2));
    cc_path_run(&p, SCPS_SEC(20));
    cc_path_mark(&p);
    cc_path_run(&p, SCPS_SEC(20));
    assert_int_equal(p.drops, 0);
    assert_in_range(p.max_queue, 1, 5);
    assert_true(cc_path_goodput(&p) > 1980000);
    cc_path_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_every_round_trip),
        cmocka_unit_test(doubles_every_other_round_trip),
        cmocka_unit_test(slow_start_with_a_factor_of_32),
        cmocka_unit_test(slow_start_ends_above_gamma),
        cmocka_unit_test(linear_mode_follows_the_formula),
        cmocka_unit_test(growth_needs_a_window_that_limits),
        cmocka_unit_test(no_decision_during_recovery),
        cmocka_unit_test(losses_by_cause),
        cmocka_unit_test(idle_and_path),
        cmocka_unit_test(settles_with_a_few_segments_queued),
        cmocka_unit_test(strictly_delayed_acks),
        cmocka_unit_test(a_late_timer_is_no_queue),
        cmocka_unit_test(a_loss_halves_the_segments_of_a_round_trip),
        cmocka_unit_test(newest_rtt_lowers_the_rate_in_f0),
        cmocka_unit_test(early_acks_leave_base_alone),
        cmocka_unit_test(a_late_ack_is_no_queue),
        cmocka_unit_test(an_ack_train_is_within_a_round),
        cmocka_unit_test(a_delayed_ack_is_no_ack_train),
        cmocka_unit_test(a_longer_base_rtt_is_not_a_queue),
        cmocka_unit_test(a_path_ten_times_as_long),
        cmocka_unit_test(a_longer_path_with_delayed_acks),
        cmocka_unit_test(a_timeout_during_a_test),
        cmocka_unit_test(a_long_queue_of_its_own),
        cmocka_unit_test(test_of_the_path),
        cmocka_unit_test(corruption_keeps_the_window),
        cmocka_unit_test(a_brake_by_share_of_loss),
        cmocka_unit_test(no_brake_after_an_outage),
        cmocka_unit_test(rules_of_the_vegas_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
