/* SPDX-License-Identifier: MIT */
/* BBR from tables of events: each acknowledgement stands for a round trip. The clauses are those of
 * draft-ietf-ccwg-bbr-06; its own test cases are in tests/sim/test_bbr_draft.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "cc/bbr.h"

#define MSS 1000u
#define RTT SCPS_MS(100)
#define MBS UINT64_C(1000000) /* One megabyte a second, in bytes/s. */

struct bench {
    const struct scps_cc_ops *ops;
    struct scps_bbr b;
    struct scps_cc_view v;
    struct scps_cc_ctl ctl;
};

static void begin(struct bench *t, const char *text)
{
    int64_t param[SCPS_CC_PARAMS];

    memset(t, 0, sizeof *t);
    assert_int_equal(scps_cc_parse(text, &t->ops, param, NULL, 0), 0);
    t->v = (struct scps_cc_view){.now = SCPS_SEC(1),
                                 .mss = MSS,
                                 .init_cwnd = 10 * MSS,
                                 .srtt = RTT,
                                 .min_rtt = RTT,
                                 .random = 7};
    t->ops->start(&t->b, param, &t->v, &t->ctl);
}

/* Returns the acknowledgement of all data in flight, one round trip later, with delivery rate
 * `rate`. */
static struct scps_cc_ack next(struct bench *t, uint64_t rate)
{
    uint64_t bytes = rate / 10;
    struct scps_cc_ack a = {.bytes = bytes,
                            .rtt = RTT + 1,
                            .rate = rate,
                            .interval = RTT,
                            .sample_bytes = bytes,
                            .prior_delivered = t->v.delivered,
                            .tx_in_flight = bytes};

    t->v.now += RTT;
    t->v.delivered += bytes;
    t->v.inflight = bytes;
    return a;
}

static void round_at(struct bench *t, uint64_t rate)
{
    struct scps_cc_ack a = next(t, rate);

    t->ops->ack(&t->b, &t->v, &a, &t->ctl);
}

static void lose(struct bench *t, uint64_t bytes, uint32_t ranges, bool fresh,
                 enum scps_loss_cause cause)
{
    struct scps_cc_loss l = {.bytes = bytes,
                             .cause = cause,
                             .evidence = SCPS_BY_SACK,
                             .new_episode = fresh,
                             .ranges = ranges,
                             .tx_in_flight = t->v.inflight,
                             .lost_since = bytes};

    t->v.lost += bytes;
    t->ops->loss(&t->b, &t->v, &l, &t->ctl);
}

/* Brings BBR to ProbeBW_CRUISE at 10 MB/s and 100 ms, a BDP of 1 MB. */
static void cruise(struct bench *t, const char *text)
{
    begin(t, text);
    for (uint64_t rate = MBS / 4; rate < 10 * MBS; rate *= 2)
        round_at(t, rate);
    for (int i = 0; i < 12 && t->b.state != SCPS_BBR_CRUISE; i++)
        round_at(t, 10 * MBS);
    assert_int_equal(t->b.state, SCPS_BBR_CRUISE);
    assert_in_range(t->b.max_bw, 10 * MBS, 10 * MBS);
}

static void until(struct bench *t, enum scps_bbr_state state)
{
    for (int i = 0; i < 100 && t->b.state != state; i++) {
        if (state != SCPS_BBR_PROBE_RTT)
            /* The minimum round trip is renewed, so that BBR does not enter ProbeRTT before the
             * state wanted. */
            t->b.probe_rtt_min_stamp = t->v.now;
        round_at(t, 10 * MBS);
    }
    assert_int_equal(t->b.state, state);
}

/* ---- Startup ---- */

static void initial_window_and_rate(void **state)
{
    struct bench t;
    (void)state;

    begin(&t, "bbr");
    assert_int_equal(t.ctl.cwnd, 10 * MSS);
    /* Startup_pacing_gain 2.77: the pacing rate is 2.77 initial windows a round trip, in
     * bytes/s. */
    assert_int_equal(t.ctl.rate, 277000);
    assert_int_equal(t.ctl.quantum, 2 * MSS);
    assert_int_equal(t.ctl.ssthresh, UINT64_MAX);
    assert_int_equal(t.b.min_rtt, RTT);
}

static void startup_grows_and_ends_on_a_plateau(void **state)
{
    struct bench t;
    (void)state;

    begin(&t, "bbr");
    for (uint64_t rate = MBS / 10; rate <= 2 * MBS; rate *= 2) {
        round_at(&t, rate);
        assert_int_equal(t.b.state, SCPS_BBR_STARTUP);
        assert_int_equal(t.b.max_bw, rate);
        /* Draft 4.1.2: the pacing rate is 1 % below the gain times max_bw. */
        assert_in_range(t.ctl.rate, rate, rate * 277 / 100);
    }
    round_at(&t, 16 * MBS / 10);
    /* Growth is compared with the rate of the last doubling, so one round trip without growth has
     * passed. */
    assert_int_equal(t.b.full_bw_count, 1);
    round_at(&t, 17 * MBS / 10);
    assert_int_equal(t.b.state, SCPS_BBR_STARTUP);
    assert_int_equal(t.b.full_bw_count, 2);
    round_at(&t, 17 * MBS / 10);
    assert_true(t.b.full_bw_reached);
    assert_int_not_equal(t.b.state, SCPS_BBR_STARTUP);
}

static void app_limited_samples_do_not_end_startup(void **state)
{
    struct bench t;
    (void)state;

    begin(&t, "bbr");
    round_at(&t, MBS);
    for (int i = 0; i < 20; i++) {
        struct scps_cc_ack a = next(&t, MBS / 2);
        a.app_limited = true;
        t.ops->ack(&t.b, &t.v, &a, &t.ctl);
    }
    assert_int_equal(t.b.state, SCPS_BBR_STARTUP);
    assert_int_equal(t.b.max_bw, MBS);
    /* The delivery rate is above max_bw, so the sample counts although the sender was limited by
     * the application. */
    struct scps_cc_ack a = next(&t, 2 * MBS);
    a.app_limited = true;
    t.ops->ack(&t.b, &t.v, &a, &t.ctl);
    assert_int_equal(t.b.max_bw, 2 * MBS);
}

/* Draft 5.3.1.3: Startup ends when a round trip in recovery has six ranges of losses and loses more
 * than 2 %; one of these conditions alone does not end it. */
static void startup_ends_on_loss(void **state)
{
    static const struct {
        uint32_t ranges;
        unsigned percent;
        bool ends;
    } rows[] = {{5, 5, false}, {6, 1, false}, {6, 5, true}};
    struct bench t;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(&t, "bbr");
        round_at(&t, MBS);
        round_at(&t, 2 * MBS);
        lose(&t, 2000 * rows[i].percent, rows[i].ranges, true, SCPS_LOSS_CONGESTION);
        round_at(&t, 4 * MBS);
        struct scps_cc_ack a = next(&t, 8 * MBS);
        a.lost_since = a.tx_in_flight * rows[i].percent / 100;
        t.ops->ack(&t.b, &t.v, &a, &t.ctl);
        /* The six ranges were lost in an earlier round trip, so Startup goes on. */
        assert_int_equal(t.b.full_bw_reached, false);
        begin(&t, "bbr");
        round_at(&t, MBS);
        round_at(&t, 2 * MBS);
        lose(&t, 2000 * rows[i].percent, rows[i].ranges, true, SCPS_LOSS_CONGESTION);
        t.b.recovery_round--; /* Recovery began a round trip ago, which the rule demands. */
        a = next(&t, 4 * MBS);
        a.lost_since = a.tx_in_flight * rows[i].percent / 100;
        t.ops->ack(&t.b, &t.v, &a, &t.ctl);
        assert_int_equal(t.b.full_bw_reached, rows[i].ends);
        assert_int_equal(t.b.inflight_longterm != SCPS_BBR_INFINITE, rows[i].ends);
    }
}

/* ---- Drain and ProbeBW ---- */

static void drain_ends_on_inflight(void **state)
{
    struct bench t;
    (void)state;

    begin(&t, "bbr");
    for (uint64_t rate = MBS; rate <= 8 * MBS; rate *= 2)
        round_at(&t, rate);
    for (int i = 0; i < 3; i++) {
        struct scps_cc_ack a = next(&t, 8 * MBS);
        t.v.inflight = 1600000; /* Two BDPs are in flight, so Drain goes on. */
        t.ops->ack(&t.b, &t.v, &a, &t.ctl);
    }
    assert_int_equal(t.b.state, SCPS_BBR_DRAIN);
    assert_in_range(t.ctl.rate, 8 * MBS * 49 / 100, 8 * MBS / 2);
    round_at(&t, 8 * MBS); /* One BDP is in flight, so Drain ends. */
    assert_true(t.b.state == SCPS_BBR_DOWN || t.b.state == SCPS_BBR_CRUISE);
}

static void drain_ends_after_three_rounds(void **state)
{
    struct bench t;
    int rounds = 0;
    (void)state;

    begin(&t, "bbr");
    for (uint64_t rate = MBS; rate <= 8 * MBS; rate *= 2)
        round_at(&t, rate);
    while (t.b.state != SCPS_BBR_DOWN) {
        struct scps_cc_ack a = next(&t, 8 * MBS);
        t.v.inflight = 1600000;
        t.ops->ack(&t.b, &t.v, &a, &t.ctl);
        rounds += t.b.state == SCPS_BBR_DRAIN;
        assert_true(rounds < 10);
    }
    /* The first round trip in Drain is followed by three more, then BBR leaves it in any case. */
    assert_int_equal(rounds, 4);
}

static void probe_bw_cycle(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    assert_in_range(t.ctl.rate, 9900000, 9900000); /* ProbeBW_CRUISE paces at 99 % of max_bw. */
    scps_time began = t.b.cycle_stamp;
    assert_in_range(t.b.bw_probe_wait, SCPS_SEC(2), SCPS_SEC(3));
    until(&t, SCPS_BBR_REFILL);
    assert_in_range(t.v.now - began, t.b.bw_probe_wait, t.b.bw_probe_wait + RTT);
    assert_in_range(t.ctl.rate, 9900000, 9900000);
    round_at(&t, 10 * MBS);
    assert_int_equal(t.b.state, SCPS_BBR_UP);
    /* ProbeBW_UP paces at 125 % of 99 % of max_bw. */
    assert_in_range(t.ctl.rate, 12375000, 12375000);
    for (int i = 0; i < 2; i++) {
        round_at(&t, 10 * MBS);
        assert_int_equal(t.b.state, SCPS_BBR_UP);
    }
    /* This is the third round trip in ProbeBW_UP in which the rate does not grow. */
    round_at(&t, 10 * MBS);
    assert_int_equal(t.b.state, SCPS_BBR_DOWN);
    /* ProbeBW_DOWN paces at 90 % of 99 % of max_bw. */
    assert_in_range(t.ctl.rate, 8910000, 8910000);
}

/* Draft 5.3.3.5.3: with a small window BBR probes after as many round trips as the window has
 * segments, because Reno would have added a segment in each. */
static void probes_with_reno(void **state)
{
    struct bench t;
    int rounds = 0;
    (void)state;

    cruise(&t, "bbr");
    t.b.bw_filter[0] = t.b.bw_filter[1] = t.b.max_bw = 0;
    t.b.bw_filter[1] = t.b.max_bw = MBS / 10; /* The BDP is 10000 bytes: ten segments. */
    t.b.rounds_since_probe_up = 0;
    for (t.b.cycle_stamp = t.v.now; t.b.state != SCPS_BBR_REFILL; rounds++) {
        t.b.cycle_stamp = t.v.now;
        round_at(&t, MBS / 10);
        assert_true(rounds < 20);
    }
    assert_in_range(rounds, 9, 11);
}

static void max_bw_forgets_after_two_cycles(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    uint64_t before = t.b.max_bw;
    int cycles = 0;
    while (t.b.max_bw == before && cycles < 9) {
        enum scps_bbr_state was = (enum scps_bbr_state)t.b.state;
        round_at(&t, 5 * MBS);
        cycles += t.b.state == SCPS_BBR_DOWN && was != SCPS_BBR_DOWN;
    }
    assert_in_range(cycles, 1, 2);
    assert_int_equal(t.b.max_bw, 5 * MBS);
}

/* ---- losses ---- */

static void loss_while_cruising_bounds_the_short_term(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    lose(&t, 5000, 5, true, SCPS_LOSS_CONGESTION);
    /* The short-term bound is set at the end of the round trip, not with each loss. */
    assert_int_equal(t.b.bw_shortterm, SCPS_BBR_INFINITE);
    t.b.bw_latest = t.b.inflight_latest = 0;
    round_at(&t, 6 * MBS);
    /* BBRBeta: bw_shortterm falls to 70 % of its last value, although less (6 MB/s) was
     * delivered. */
    assert_int_equal(t.b.bw_shortterm, 7 * MBS);
    assert_int_equal(t.b.bw, 7 * MBS);
    assert_true(t.ctl.cwnd <= t.b.inflight_shortterm);
    lose(&t, 5000, 5, false, SCPS_LOSS_CONGESTION);
    t.b.bw_latest = t.b.inflight_latest = 0;
    round_at(&t, 6 * MBS);
    /* The delivered rate is above 70 % of bw_shortterm, so it becomes the bound. */
    assert_int_equal(t.b.bw_shortterm, 6 * MBS);
    until(&t, SCPS_BBR_REFILL);
    assert_int_equal(t.b.bw_shortterm, SCPS_BBR_INFINITE);
    assert_int_equal(t.b.bw, 10 * MBS);
}

static void loss_while_probing_bounds_the_long_term(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    until(&t, SCPS_BBR_UP);
    t.v.inflight = 1250000;
    lose(&t, 20000, 20, true, SCPS_LOSS_CONGESTION); /* 20000 of 1250000 bytes are lost: 1.6 %. */
    assert_int_equal(t.b.state, SCPS_BBR_UP);
    /* 30000 of 1250000 bytes are lost: 2.4 %, more than the limit of 2 %. */
    lose(&t, 30000, 20, false, SCPS_LOSS_CONGESTION);
    assert_int_equal(t.b.state, SCPS_BBR_DOWN);
    assert_true(t.b.prev_probe_too_high);
    /* inflight_longterm becomes the flight of which 2 % would be lost: 1220000 of 1250000 bytes
     * were not lost, which is 98 % of 1244897. */
    assert_in_range(t.b.inflight_longterm, 1244000, 1246000);
    round_at(&t, 10 * MBS);
    assert_true(t.ctl.cwnd <= t.b.inflight_longterm);
    until(&t, SCPS_BBR_CRUISE);
    round_at(&t, 10 * MBS);
    /* In ProbeBW_CRUISE the window leaves 15 % of inflight_longterm free (headroom). */
    assert_true(t.ctl.cwnd <= t.b.inflight_longterm * 85 / 100 + 1);
}

/* After a probe that caused losses, the next probe ends when it reaches inflight_longterm; if it
 * caused no losses, another probe follows at once. */
static void precautionary_probing(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    until(&t, SCPS_BBR_UP);
    t.v.inflight = 1250000;
    lose(&t, 40000, 20, true, SCPS_LOSS_CONGESTION);
    t.ops->change(&t.b, &t.v, SCPS_CC_RECOVERED, &t.ctl);
    assert_int_equal(t.b.state, SCPS_BBR_DOWN);
    until(&t, SCPS_BBR_UP);
    struct scps_cc_ack a = next(&t, 10 * MBS);
    t.v.inflight = t.b.inflight_longterm;
    t.ops->ack(&t.b, &t.v, &a, &t.ctl);
    assert_int_equal(t.b.state, SCPS_BBR_DOWN);
    assert_true(t.b.prev_probe_precautionary);
    round_at(&t, 10 * MBS);
    assert_int_equal(t.b.state, SCPS_BBR_REFILL);
}

static void an_ecn_echo_counts_as_one_loss(void **state)
{
    struct bench t;
    struct scps_cc_loss l = {.evidence = SCPS_BY_ECN, .new_episode = true};
    (void)state;

    begin(&t, "bbr");
    round_at(&t, MBS);
    t.ops->loss(&t.b, &t.v, &l, &t.ctl);
    round_at(&t, 2 * MBS);
    assert_true(t.b.full_bw_reached);
    cruise(&t, "bbr");
    struct scps_cc_ack a = next(&t, 6 * MBS);
    a.marked = a.bytes;
    t.ops->ack(&t.b, &t.v, &a, &t.ctl);
    t.b.bw_latest = 0;
    round_at(&t, 6 * MBS);
    assert_true(t.b.bw_shortterm < 10 * MBS);
    until(&t, SCPS_BBR_UP);
    t.ops->loss(&t.b, &t.v, &l, &t.ctl);
    assert_int_equal(t.b.state, SCPS_BBR_DOWN);
}

static void a_timeout_and_its_end(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    uint64_t before = t.ctl.cwnd;
    t.v.inflight = 0;
    t.ops->change(&t.b, &t.v, SCPS_CC_RTO, &t.ctl);
    assert_int_equal(t.ctl.cwnd, MSS);
    t.ops->change(&t.b, &t.v, SCPS_CC_RECOVERED, &t.ctl);
    assert_int_equal(t.ctl.cwnd, before);
}

static void a_spurious_loss_is_undone(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    until(&t, SCPS_BBR_UP);
    uint64_t before = t.ctl.cwnd;
    t.v.inflight = 1250000;
    lose(&t, 40000, 20, true, SCPS_LOSS_CONGESTION);
    assert_int_equal(t.b.state, SCPS_BBR_DOWN);
    assert_int_not_equal(t.b.inflight_longterm, SCPS_BBR_INFINITE);
    t.ops->change(&t.b, &t.v, SCPS_CC_SPURIOUS, &t.ctl);
    assert_int_equal(t.b.state, SCPS_BBR_REFILL);
    assert_int_equal(t.b.inflight_longterm, SCPS_BBR_INFINITE);
    assert_int_equal(t.ctl.cwnd, before);
}

/* ---- ProbeRTT and idle time ---- */

static void probe_rtt(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    until(&t, SCPS_BBR_PROBE_RTT);
    /* The measurement of a new minimum round trip begins with ProbeRTT. */
    assert_in_range(t.v.now - t.b.probe_rtt_min_stamp, 0, SCPS_MS(1));
    uint64_t prior = t.b.prior_cwnd;
    /* ProbeRTT: the window is half a BDP, or four segments more. */
    assert_true(t.ctl.cwnd <= 500000 + 4 * MSS);
    struct scps_cc_ack a = next(&t, 5 * MBS);
    t.v.inflight = 400000;
    t.ops->ack(&t.b, &t.v, &a, &t.ctl);
    scps_time low = t.v.now;
    while (t.b.state == SCPS_BBR_PROBE_RTT)
        round_at(&t, 4 * MBS);
    assert_in_range(t.v.now - low, SCPS_MS(200), SCPS_MS(200) + RTT);
    assert_int_equal(t.b.state, SCPS_BBR_CRUISE);
    assert_true(t.ctl.cwnd >= SCPS_SEC(1) && t.ctl.cwnd <= prior + 400000);
    /* The low rates that ProbeRTT causes do not lower max_bw. */
    assert_int_equal(t.b.max_bw, 10 * MBS);
}

static void restart_from_idle(void **state)
{
    struct bench t;
    struct scps_cc_sent p = {.bytes = MSS};
    (void)state;

    cruise(&t, "bbr");
    t.v.now += SCPS_SEC(30);
    t.v.inflight = 0;
    t.v.app_limited = true;
    t.ops->on_sent(&t.b, &t.v, &p, &t.ctl);
    assert_true(t.b.idle_restart);
    assert_int_equal(t.ctl.rate, 9900000);
    round_at(&t, 10 * MBS);
    /* Time without data in flight serves as ProbeRTT, so BBR does not enter that state. */
    assert_int_not_equal(t.b.state, SCPS_BBR_PROBE_RTT);
    assert_false(t.b.idle_restart);
}

/* ---- Signals of SCPS-TP: corruption, outages, changes of path ---- */

static void corruption_does_not_change_the_model(void **state)
{
    struct bench t;
    (void)state;

    for (int heed = 0; heed < 2; heed++) {
        cruise(&t, heed ? "bbr" : "bbr,corruption=0");
        until(&t, SCPS_BBR_UP);
        t.v.inflight = 1250000;
        lose(&t, 100000, 50, true, SCPS_LOSS_CORRUPTION);
        struct scps_cc_ack a = next(&t, 10 * MBS);
        a.lost_since = 100000;
        t.ops->ack(&t.b, &t.v, &a, &t.ctl);
        assert_int_equal(t.b.state == SCPS_BBR_UP, heed);
        assert_int_equal(t.b.inflight_longterm == SCPS_BBR_INFINITE, heed);
    }
}

static void an_outage_freezes_the_model(void **state)
{
    struct bench t;
    (void)state;

    for (int heed = 0; heed < 2; heed++) {
        cruise(&t, heed ? "bbr" : "bbr,outage=0");
        uint64_t cwnd = t.ctl.cwnd;
        t.v.inflight = 0;
        t.v.outstanding = 1000000;
        t.v.now += SCPS_SEC(1);
        t.ops->change(&t.b, &t.v, SCPS_CC_RTO, &t.ctl);
        t.v.now += SCPS_SEC(60);
        t.ops->change(&t.b, &t.v, SCPS_CC_LINK_UP, &t.ctl);
        assert_int_equal(t.ctl.cwnd, heed ? cwnd : MSS);
        struct scps_cc_ack a = next(&t, 10 * MBS);
        a.lost_since = 1000000;
        t.ops->ack(&t.b, &t.v, &a, &t.ctl);
        assert_int_equal(t.b.state == SCPS_BBR_PROBE_RTT, !heed);
        assert_int_equal(t.b.bw, 10 * MBS);
    }
}

static void a_path_change_restarts_the_model(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr,rtt-refresh=1");
    t.ops->change(&t.b, &t.v, SCPS_CC_PATH, &t.ctl);
    assert_int_equal(t.b.state, SCPS_BBR_STARTUP);
    assert_int_equal(t.b.max_bw, 0);
    assert_int_equal(t.ctl.cwnd, 10 * MSS);
    assert_true(t.b.rtt_refresh); /* The parameters of the controller stay when the path changes. */
}

/* ---- Options beyond the draft ---- */

/* Ten segments leave at once on a path of 600 ms; the last one is acknowledged 600 µs after the
 * first, so the path delivers 16.7 MB/s. */
static void long_rtt_start_uses_the_rate_of_an_ack_train(void **state)
{
    struct bench t;
    (void)state;

    for (int on = 0; on < 2; on++) {
        begin(&t, on ? "bbr,long-rtt-start=1" : "bbr");
        assert_int_equal(t.ctl.quantum, on ? 10 * MSS : 2 * MSS);
        t.b.min_rtt = SCPS_MS(600);
        for (int half = 0; half < 2; half++) {
            struct scps_cc_ack a = {.bytes = 5 * MSS,
                                    .rtt = SCPS_MS(600) + 300 * (1 + half),
                                    .sample_bytes = 5 * MSS,
                                    .tx_in_flight = 10 * MSS};
            t.v.now += 300;
            t.v.delivered += a.bytes;
            t.ops->ack(&t.b, &t.v, &a, &t.ctl);
        }
        /* With long-rtt-start=1 the start rate is three quarters of 16.7 MB/s; without it there is
         * none. */
        assert_int_equal(t.b.start_bw, on ? 12500000 : 0);
        assert_in_range(t.ctl.cwnd, on ? 7500000 : 15 * MSS, on ? 7510000 : 15 * MSS);
    }
}

static void train(struct bench *t, scps_dur pause, scps_dur rtt)
{
    struct scps_cc_ack a = {
        .bytes = 2500, .rtt = rtt, .sample_bytes = 2500, .tx_in_flight = 10 * MSS};

    t->v.now += pause;
    t->v.delivered += a.bytes;
    t->ops->ack(&t->b, &t->v, &a, &t->ctl);
}

/* long-rtt-start=1: the rate at which a train of acknowledgements (acknowledgements that follow
 * each other closely) arrives bounds the rate that BBR starts with. An acknowledgement that
 * measures no round trip does not set that rate, one after a pause begins another train, and on a
 * short path there is no such rate. */
static void rate_of_an_ack_train_bounds_the_start(void **state)
{
    struct bench t;
    (void)state;

    begin(&t, "bbr,long-rtt-start=1");
    t.b.min_rtt = SCPS_MS(600);
    train(&t, 1000, SCPS_MS(600) + 100);
    /* The train has acknowledged less than half of the initial window so far. */
    assert_int_equal(t.b.start_bw, 0);
    train(&t, 1000, -1);
    assert_int_equal(t.b.start_bw, 0);
    train(&t, 1000, SCPS_MS(600) + 100);
    /* The train acknowledged 5000 bytes in 2 ms; three quarters of that rate count. */
    assert_int_equal(t.b.start_bw, 5000 * 3 / 4 * 500);
    train(&t, SCPS_MS(600) / 16 + 1, SCPS_MS(600) + 100);
    assert_int_equal(t.b.train_acks, 1);
    assert_int_equal(t.b.start_bw, 5000 * 3 / 4 * 500);
    train(&t, 1000, SCPS_MS(600) + 100);
    /* The train acknowledged 5000 bytes in 500 µs, which is the shortest train that counts. */
    assert_int_equal(t.b.start_bw, 5000 * 3 / 4 * 2000);

    begin(&t, "bbr,long-rtt-start=1");
    t.b.min_rtt = SCPS_MS(200) - 1;
    for (int i = 0; i < 4; i++)
        train(&t, 1000, SCPS_MS(201));
    assert_int_equal(t.b.start_bw, 0);
}

/* base-loss=1: losses of a round trip in which a queue stood are not taken for losses of the path
 * itself. Round trips in which few segments were sent are counted together until they have
 * twenty. */
static void base_loss_of_rounds_without_a_queue(void **state)
{
    static const struct {
        uint64_t rate;
        scps_dur queued;
        int rounds;
        bool measured;
    } t[] = {{10 * MBS, 0, 3, true},
             {10 * MBS, RTT / 4, 3, false},
             {4 * MSS * 10, 0, 5, false},
             {4 * MSS * 10, 0, 9, true},
             {4 * MSS * 10, RTT / 4, 9, false}};
    (void)state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct bench b;
        cruise(&b, "bbr,base-loss=1");
        b.b.base_loss = 0;
        b.b.base_sent = b.b.base_lost = 0;
        for (int k = 0; k < t[i].rounds; k++) {
            struct scps_cc_ack a = next(&b, t[i].rate);
            a.lost_since = a.tx_in_flight / 20;
            a.rtt += t[i].queued;
            b.ops->ack(&b.b, &b.v, &a, &b.ctl);
        }
        assert_in_range(b.b.base_loss, t[i].measured ? 49800 : 0, t[i].measured ? 50200 : 0);
    }
}

/* base-loss=1: the first RTT sample is the smallest one, so no queue stands, whatever the
 * handshake has measured. */
static void no_queue_at_the_first_sample(void **state)
{
    struct bench b;
    (void)state;

    begin(&b, "bbr,base-loss=1");
    b.b.min_rtt = SCPS_NEVER;
    struct scps_bbr_ctx x = {.b = &b.b, .v = &b.v, .ctl = &b.ctl, .rs = {.rtt = RTT}};
    assert_true(scps_bbr_no_queue(&x));
    b.b.min_rtt = RTT - RTT / 64 - SCPS_MS(1);
    assert_false(scps_bbr_no_queue(&x));
}

/* base-loss=1: each round trip has its own least RTT. A round trip with a queue and few segments
 * must not make the next one, which had no queue, look queued. */
static void each_round_has_its_own_least_round_trip(void **state)
{
    struct bench b;
    (void)state;

    cruise(&b, "bbr,base-loss=1");
    b.b.base_loss = 0;
    b.b.base_sent = b.b.base_lost = 0;
    round_at(&b, 4 * MSS * 10); /* No queue stands in this round trip, and few segments are sent. */
    for (int k = 0; k < 3; k++) {
        struct scps_cc_ack a = next(&b, 10 * MBS);
        a.lost_since = a.tx_in_flight / 20;
        a.rtt += RTT / 4;
        b.ops->ack(&b.b, &b.v, &a, &b.ctl);
    }
    assert_int_equal(b.b.base_loss, 0);
}

/* base-loss=1: losses of 10 % in six ranges end Startup if a queue stood in the round trip, not if
 * none did. */
static void losses_without_a_queue_do_not_end_startup(void **state)
{
    (void)state;

    for (int on = 0; on < 2; on++)
        for (int queued = 0; queued < 2; queued++) {
            struct bench b;
            begin(&b, on ? "bbr,base-loss=1" : "bbr");
            b.b.min_rtt = RTT;
            for (uint64_t rate = MBS / 4, i = 0; i < 3; i++, rate *= 2) {
                lose(&b, b.v.inflight / 10, 6, !i, SCPS_LOSS_CONGESTION);
                struct scps_cc_ack a = next(&b, rate);
                a.lost_since = a.tx_in_flight / 10;
                a.rtt += queued ? RTT / 4 : 0;
                b.ops->ack(&b.b, &b.v, &a, &b.ctl);
            }
            assert_int_equal(b.b.state == SCPS_BBR_STARTUP, on && !queued);
        }
}

/* base-loss=1: 5 % of 70 segments are 3.5. Nine lost segments are within three standard deviations
 * of that, so BBR stays in ProbeBW_UP; ten are not. */
static void base_loss_within_three_standard_deviations(void **state)
{
    (void)state;

    for (int on = 0; on < 2; on++)
        for (uint64_t lost = 9; lost <= 10; lost++) {
            struct bench b;
            cruise(&b, on ? "bbr,base-loss=1" : "bbr");
            b.b.base_loss = on ? 50000 : 0;
            until(&b, SCPS_BBR_UP);
            b.b.base_loss = on ? 50000 : 0;
            b.v.inflight = 70 * MSS;
            lose(&b, lost * MSS, (uint32_t)lost, true, SCPS_LOSS_CONGESTION);
            assert_int_equal(b.b.state == SCPS_BBR_UP, on && lost == 9);
        }
}

/* base-loss=1: losses of 5 % in round trips without a queue are taken for losses of the path, and
 * losses of 4 % do not end ProbeBW_UP. */
static void losses_without_a_queue_may_be_allowed(void **state)
{
    struct bench t;
    (void)state;

    for (int on = 0; on < 2; on++) {
        cruise(&t, on ? "bbr,base-loss=1" : "bbr");
        for (int i = 0; i < 20; i++) {
            struct scps_cc_ack a = next(&t, 10 * MBS);
            a.lost_since = a.tx_in_flight / 20;
            t.ops->ack(&t.b, &t.v, &a, &t.ctl);
        }
        until(&t, SCPS_BBR_UP);
        t.v.inflight = 1250000;
        lose(&t, 50000, 40, true, SCPS_LOSS_CONGESTION); /* 50000 of 1250000 bytes are lost: 4 %. */
        assert_int_equal(t.b.state == SCPS_BBR_UP, on);
    }
}

static void rtt_refresh_skips_probe_rtt(void **state)
{
    struct bench t;
    (void)state;

    for (int on = 0; on < 2; on++) {
        bool was = false;
        cruise(&t, on ? "bbr,rtt-refresh=1" : "bbr");
        for (int i = 0; i < 200; i++) {
            round_at(&t, 10 * MBS);
            was |= t.b.state == SCPS_BBR_PROBE_RTT;
        }
        assert_int_equal(was, !on);
    }
}

/* Draft 5.3.4.2: ProbeRTT comes after 5 s ("5 secs"), which are 2.5 round trips of 2 s: BBR would
 * be in ProbeRTT half of the time. With probe-rtt-rounds=8 BBR waits for eight times the least RTT
 * seen, even when the RTT grows with the connection's own queue. The default is the draft's. */
static void probe_rtt_waits_for_round_trips(void **state)
{
    static const struct {
        const char *text;
        scps_dur rtt, later, after;
    } t[] = {{"bbr", SCPS_SEC(2), SCPS_SEC(2), SCPS_SEC(5)},
             {"bbr,probe-rtt-rounds=0", SCPS_SEC(2), SCPS_SEC(2), SCPS_SEC(5)},
             {"bbr,long-rtt-start=1", SCPS_SEC(2), SCPS_SEC(2), SCPS_SEC(5)},
             {"bbr,probe-rtt-rounds=8", SCPS_MS(620), SCPS_MS(620), SCPS_SEC(5)},
             {"bbr,probe-rtt-rounds=8", SCPS_SEC(2), SCPS_SEC(2), SCPS_SEC(16)},
             {"bbr,probe-rtt-rounds=8", SCPS_SEC(2), SCPS_SEC(30), SCPS_SEC(16)},
             {"bbr,probe-rtt-rounds=3", SCPS_SEC(2), SCPS_SEC(2), SCPS_SEC(6)}};
    (void)state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct bench b;
        scps_time began;
        begin(&b, t[i].text);
        b.b.min_rtt = SCPS_NEVER;
        struct scps_cc_ack a = next(&b, MBS);
        a.rtt = t[i].rtt;
        b.ops->ack(&b.b, &b.v, &a, &b.ctl);
        began = b.v.now;
        assert_int_equal(b.b.min_rtt, t[i].rtt);
        for (int k = 0; k < 1000 && b.b.state != SCPS_BBR_PROBE_RTT; k++) {
            a = next(&b, MBS);
            /* This RTT is above the minimum, and each is longer than the last, so none renews the
             * minimum. */
            a.rtt = t[i].later + k;
            b.ops->ack(&b.b, &b.v, &a, &b.ctl);
        }
        assert_in_range(b.v.now - began, t[i].after, t[i].after + RTT);
    }
}

/* Draft 5.3.3.5.3: BBR waits 2 to 3 s before it probes. With probe-bw-rounds=20 it waits up to 20
 * round trips longer where these are longer than that. */
static void probe_wait_in_round_trips(void **state)
{
    static const struct {
        const char *text;
        scps_dur rtt, most;
    } t[] = {{"bbr", SCPS_MS(500), SCPS_SEC(3)},
             {"bbr,probe-bw-rounds=20", SCPS_MS(40), SCPS_SEC(3)},
             {"bbr,probe-bw-rounds=20", SCPS_MS(500), SCPS_SEC(12)}};
    (void)state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        scps_dur least = SCPS_NEVER, most = 0;
        for (uint32_t seed = 1; seed <= 200; seed++) {
            struct bench b;
            cruise(&b, t[i].text);
            b.b.random = (uint64_t)seed << 32 | 0x9e3779b9;
            until(&b, SCPS_BBR_UP);
            b.b.least_rtt = t[i].rtt;
            /* Losses of 10 % bring BBR to ProbeBW_DOWN, where it draws a new wait. */
            lose(&b, b.v.inflight / 10, 8, true, SCPS_LOSS_CONGESTION);
            least = SCPS_MIN(least, b.b.bw_probe_wait);
            most = SCPS_MAX(most, b.b.bw_probe_wait);
        }
        assert_in_range(least, SCPS_SEC(2), SCPS_SEC(2) + t[i].most / 10);
        assert_in_range(most, t[i].most - t[i].most / 10, t[i].most);
    }
}

/* ---- the maximum filter of extra_acked ---- */

/* Draft 5.5.9: the filter returns the maximum of the last ten round trips. Here several values come
 * in one round trip, some round trips have none, and smaller values follow the largest for longer
 * than the window. */
static void max_filter_of_ten_rounds(void **state)
{
    struct scps_bbr_max m = {.max = 0};
    uint64_t v[300] = {0};
    uint32_t rnd = 1, round = 0, last = 0;
    (void)state;

    for (int i = 0; i < 600; i++) {
        rnd = rnd * 1103515245 + 12345;
        uint64_t value = 1 + (rnd >> 16 & 1023) / (1 + round % 12);
        last = round;
        v[round] = value > v[round] ? value : v[round];
        scps_bbr_max_update(&m, value, round, 10);
        uint64_t best = 0;
        for (uint32_t k = round >= 9 ? round - 9 : 0; k <= round; k++)
            best = v[k] > best ? v[k] : best;
        assert_int_equal(m.max, best);
        round += (rnd >> 8) % 5 ? (rnd >> 9) & 1 : 3;
        if (round >= 290)
            break;
    }
    /* All earlier values are older than the window of ten round trips. */
    scps_bbr_max_update(&m, 7, last + 1000, 10);
    assert_int_equal(m.max, 7);
    scps_bbr_max_update(&m, 3, last + 1001, 1); /* In Startup the window is one round trip. */
    assert_int_equal(m.max, 3);
    /* A maximum that has left the window of one round trip does not come back when the window has
     * ten round trips again. */
    scps_bbr_max_update(&m, 2, last + 1002, 10);
    assert_int_equal(m.max, 3);
}

/* ---- the lowest rate ---- */

/* Without SACK the second loss of an episode ends Startup. If this happens before a delivery rate
 * has been measured, the rate of the initial window stays. */
static void no_rate_was_measured_when_startup_ends(void **state)
{
    struct scps_cc_loss l = {
        .bytes = MSS, .evidence = SCPS_BY_DUPACK, .new_episode = true, .ranges = 1};
    struct scps_cc_ack a = {.bytes = MSS, .rtt = -1, .in_recovery = true};
    struct bench t;
    (void)state;

    begin(&t, "bbr");
    t.v.inflight = 8 * MSS;
    t.ops->loss(&t.b, &t.v, &l, &t.ctl);
    l.evidence = SCPS_BY_PARTIAL;
    l.new_episode = false;
    t.ops->loss(&t.b, &t.v, &l, &t.ctl);
    /* The segment was resent, so its acknowledgement gives no rate sample. */
    t.ops->ack(&t.b, &t.v, &a, &t.ctl);
    assert_true(t.b.full_bw_reached);
    assert_int_equal(t.b.max_bw, 0);
    assert_int_equal(t.ctl.rate, 277000);
    round_at(&t, MBS / 10); /* The first rate sample sets max_bw, as it does in Startup. */
    assert_in_range(t.ctl.rate, MBS / 100, MBS / 10);
}

/* Acknowledges one segment after the time that it takes at `rate`, but at least a round trip. */
static void segment_at(struct bench *t, uint64_t rate)
{
    struct scps_cc_ack a = {.bytes = MSS,
                            .rtt = RTT + 1,
                            .rate = rate,
                            .interval = RTT,
                            .sample_bytes = MSS,
                            .prior_delivered = t->v.delivered,
                            .tx_in_flight = MSS};

    t->v.now += RTT;
    t->v.delivered += MSS;
    t->v.inflight = 0;
    t->ops->ack(&t->b, &t->v, &a, &t->ctl);
}

/* Rate samples of 100 bytes/s leave a window of one segment. From there the rate rises again as far
 * as the path delivers what is sent. */
static void a_segment_in_a_round_trip_may_always_be_sent(void **state)
{
    struct bench t;
    (void)state;

    cruise(&t, "bbr");
    for (int i = 0; i < 300; i++) {
        segment_at(&t, 100);
        assert_in_range(t.ctl.rate, 10 * MSS, UINT64_MAX);
    }
    assert_int_equal(t.b.max_bw, 100);
    assert_int_equal(t.ctl.rate, 10 * MSS);
    t.v.srtt = SCPS_SEC(2); /* At this rate a queue forms, and the RTT grows to 2 s. */
    segment_at(&t, 100);
    assert_int_equal(t.ctl.rate, MSS / 2);
    t.v.srtt = RTT;
    for (int i = 0; i < 300; i++)
        segment_at(&t, SCPS_MIN(t.ctl.rate, MBS));
    assert_in_range(t.b.max_bw, 100 * MSS, MBS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_window_and_rate),
        cmocka_unit_test(startup_grows_and_ends_on_a_plateau),
        cmocka_unit_test(app_limited_samples_do_not_end_startup),
        cmocka_unit_test(startup_ends_on_loss),
        cmocka_unit_test(drain_ends_on_inflight),
        cmocka_unit_test(drain_ends_after_three_rounds),
        cmocka_unit_test(probe_bw_cycle),
        cmocka_unit_test(probes_with_reno),
        cmocka_unit_test(max_bw_forgets_after_two_cycles),
        cmocka_unit_test(loss_while_cruising_bounds_the_short_term),
        cmocka_unit_test(loss_while_probing_bounds_the_long_term),
        cmocka_unit_test(precautionary_probing),
        cmocka_unit_test(an_ecn_echo_counts_as_one_loss),
        cmocka_unit_test(a_timeout_and_its_end),
        cmocka_unit_test(a_spurious_loss_is_undone),
        cmocka_unit_test(probe_rtt),
        cmocka_unit_test(restart_from_idle),
        cmocka_unit_test(corruption_does_not_change_the_model),
        cmocka_unit_test(an_outage_freezes_the_model),
        cmocka_unit_test(a_path_change_restarts_the_model),
        cmocka_unit_test(long_rtt_start_uses_the_rate_of_an_ack_train),
        cmocka_unit_test(rate_of_an_ack_train_bounds_the_start),
        cmocka_unit_test(no_queue_at_the_first_sample),
        cmocka_unit_test(base_loss_of_rounds_without_a_queue),
        cmocka_unit_test(each_round_has_its_own_least_round_trip),
        cmocka_unit_test(losses_without_a_queue_do_not_end_startup),
        cmocka_unit_test(base_loss_within_three_standard_deviations),
        cmocka_unit_test(losses_without_a_queue_may_be_allowed),
        cmocka_unit_test(rtt_refresh_skips_probe_rtt),
        cmocka_unit_test(probe_rtt_waits_for_round_trips),
        cmocka_unit_test(probe_wait_in_round_trips),
        cmocka_unit_test(max_filter_of_ten_rounds),
        cmocka_unit_test(no_rate_was_measured_when_startup_ends),
        cmocka_unit_test(a_segment_in_a_round_trip_may_always_be_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
