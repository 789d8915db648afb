/* SPDX-License-Identifier: MIT */
/* The test cases of draft-ietf-ccwg-bbr-06, appendix "BBR Example Test Cases", in the draft's order
 * and under its headings; the steps are this file's own. Where a case does not name a path, it runs
 * over paths from 64 kbit/s to 10 Gbit/s and from 1 ms to 1 s.
 *
 * BBR is in ProbeRTT every 5 s; a case about another state waits until ProbeRTT is over.
 */
#include "bbr_path.h"

static const struct open_path {
    uint64_t bps;
    scps_dur rtt;
} open_paths[] = {
    {64000, SCPS_SEC(1)},          {UINT64_C(1000000), SCPS_MS(20)},
    {10000000, SCPS_MS(1)},        {10000000, SCPS_MS(300)},
    {100000000, SCPS_MS(100)},     {UINT64_C(1000000000), SCPS_MS(10)},
    {UINT64_C(10000000000), 1000},
};
#define EACH_PATH(i) for (size_t i = 0; i < sizeof open_paths / sizeof *open_paths; i++)

static struct bbr_path path(uint64_t bps, scps_dur rtt)
{
    return (struct bbr_path){.bps = bps, .rtt = rtt, .app = BBR_GREEDY};
}

static scps_dur rounds(const struct bbr_path *p, unsigned n)
{
    return n * (p->rtt + SCPS_MS(1) + 4 * 1500 * 8 * SCPS_SEC(1) / (scps_dur)p->bps);
}

/* If the first segments fill the BDP, BBR leaves Drain at once, and may leave ProbeBW_DOWN, too. */
#define AFTER_STARTUP (BBR_IN(DRAIN) | BBR_IN(DOWN) | BBR_IN(CRUISE) | BBR_IN(REFILL))

#define near(got, want, percent)                                                                   \
    assert_in_range(got, (want) - (want) / 100 * (percent), (want) + (want) / 100 * (percent))

static void exiting_startup_on_bandwidth_plateau(void **state)
{
    (void)state;
    EACH_PATH(i)
    {
        struct bbr_path p = path(open_paths[i].bps, open_paths[i].rtt);
        bbr_open(&p);
        assert_true(bbr_until(&p, AFTER_STARTUP, SCPS_SEC(60)));
        near(seen.b->max_bw, bbr_payload(&p), 2);
        assert_int_equal(seen.b->full_bw_count, 3);
        assert_true(seen.b->full_bw_now && seen.b->full_bw_reached);
        assert_int_equal(seen.lost, 0);
        bbr_close(&p);
    }
}

static void exiting_startup_on_loss_when_application_limited(void **state)
{
    (void)state;
    EACH_PATH(i)
    {
        struct bbr_path p = path(open_paths[i].bps, open_paths[i].rtt);
        /* A queue of a quarter of the BDP must hold six packets or more, so that a round trip has
         * six losses. */
        if (bbr_bdp(&p) < 800 * 1500)
            continue;
        p.app = p.bps / 8 / 4;
        p.more = "loss=0.06";
        bbr_open(&p);
        BBR_GO(&p, DRAIN, SCPS_SEC(4));
        /* BBR left Startup because of losses, not for lack of growth. */
        assert_true(seen.b->full_bw_count < 3);
        assert_true(seen.b->full_bw_now && seen.b->full_bw_reached);
        assert_int_not_equal(seen.b->inflight_longterm, SCPS_BBR_INFINITE);
        bbr_close(&p);
    }
}

static void exiting_drain_based_on_inflight(void **state)
{
    (void)state;
    EACH_PATH(i)
    {
        struct bbr_path p = path(open_paths[i].bps, open_paths[i].rtt);
        bbr_open(&p);
        assert_true(bbr_until(&p, AFTER_STARTUP, SCPS_SEC(60)));
        /* The BDP is four segments, so BBR leaves Drain as soon as it enters it. */
        if (seen.state != SCPS_BBR_DRAIN) {
            assert_true(bbr_bdp(&p) < 6 * 1500);
            bbr_close(&p);
            continue;
        }
        /* The pacing rate is half of the bandwidth, less the margin of 1 %. */
        near(seen.ctl.rate, seen.b->bw / 2, 2);
        uint32_t began = seen.b->round_count;
        assert_true(bbr_until(&p, AFTER_STARTUP | BBR_IN(PROBE_RTT), rounds(&p, 40)));
        /* On a long round trip ProbeRTT may come before Drain has ended. */
        if (seen.state == SCPS_BBR_PROBE_RTT) {
            assert_true(p.rtt >= SCPS_MS(300));
            bbr_close(&p);
            continue;
        }
        struct scps_bbr_ctx x = {.b = seen.b, .v = &seen.v, .ctl = &seen.ctl};
        assert_true(seen.v.inflight <= scps_bbr_inflight(&x, seen.b->bw, 100));
        assert_in_range(seen.b->round_count - began, 0, 3);
        bbr_close(&p);
    }
}

/* With 10 % less bandwidth the draft's gain still empties the queue; with half of it there is
 * nothing to drain. */
static void exiting_drain_based_on_time(void **state)
{
    struct bbr_path p = path(100000000, SCPS_MS(50));
    (void)state;

    bbr_open(&p);
    BBR_GO(&p, DRAIN, SCPS_SEC(60));
    bbr_change(&p, p.bps / 2, 0);
    assert_true(bbr_until(&p, BBR_IN(DOWN), SCPS_SEC(5)));
    struct scps_bbr_ctx x = {.b = seen.b, .v = &seen.v, .ctl = &seen.ctl};
    assert_true(seen.v.inflight > scps_bbr_inflight(&x, seen.b->bw, 100));
    assert_int_equal(seen.b->round_count - seen.b->drain_start_round, 4);
    bbr_close(&p);
}

static void exiting_probe_up_on_bandwidth_plateau(void **state)
{
    (void)state;
    EACH_PATH(i)
    {
        struct bbr_path p = path(open_paths[i].bps, open_paths[i].rtt);
        /* Seconds at 10 Gbit/s take too long to simulate in this test. */
        if (p.bps > 1000000000)
            continue;
        bbr_open(&p);
        BBR_GO(&p, UP, SCPS_SEC(60));
        seen.up_rounds = 0;
        assert_true(bbr_until(&p, BBR_IN(DOWN), SCPS_SEC(60)));
        assert_true(seen.b->full_bw_now);
        assert_int_equal(seen.b->full_bw_count, 3);
        assert_in_range(seen.up_rounds, 2, 3);
        assert_int_equal(seen.lost, 0);
        bbr_close(&p);
    }
}

static void exiting_probe_up_on_loss_when_application_limited(void **state)
{
    struct bbr_path p = path(100000000, SCPS_MS(50));
    (void)state;

    bbr_open(&p);
    BBR_GO(&p, UP, SCPS_SEC(20));
    p.app = p.bps / 8 / 2;
    p.credit = 0;
    bbr_change(&p, p.bps, 0.1);
    assert_true(bbr_until(&p, BBR_IN(DOWN), rounds(&p, 6)));
    assert_false(seen.b->full_bw_now);
    assert_true(seen.b->prev_probe_too_high);
    bbr_close(&p);
}

static void never_exiting_probe_up_or_startup_when_application_limited_with_no_loss(void **state)
{
    (void)state;
    for (int up = 0; up < 2; up++) {
        struct bbr_path p = path(100000000, SCPS_MS(10));
        p.app = p.bps / 8 / 3;
        if (up)
            p.app = BBR_GREEDY;
        bbr_open(&p);
        if (up) {
            BBR_GO(&p, CRUISE, SCPS_SEC(20));
            /* The application writes a third of the bandwidth, so written data is sent in time. */
            p.app = p.bps / 8 / 3;
            BBR_GO(&p, UP, SCPS_SEC(5));
        }
        unsigned others = ~(BBR_IN(STARTUP) | BBR_IN(UP)) & (BBR_IN(NONE) - 1);
        bool left = bbr_until(&p, others, SCPS_MS(900)); /* 90 round trips. */
        assert_false(left);
        assert_int_equal(seen.state, up ? SCPS_BBR_UP : SCPS_BBR_STARTUP);
        bbr_close(&p);
    }
}

static void exiting_probe_down_on_inflight(void **state)
{
    (void)state;
    EACH_PATH(i)
    {
        struct bbr_path p = path(open_paths[i].bps, open_paths[i].rtt);
        if (p.bps > 1000000000)
            continue;
        bbr_open(&p);
        BBR_GO(&p, UP, SCPS_SEC(60));
        assert_true(bbr_until(&p, BBR_IN(DOWN), SCPS_SEC(60)));
        near(seen.ctl.rate, seen.b->bw * 9 / 10, 2);
        assert_true(bbr_until(&p, BBR_IN(CRUISE) | BBR_IN(REFILL), SCPS_SEC(60)));
        struct scps_bbr_ctx x = {.b = seen.b, .v = &seen.v, .ctl = &seen.ctl};
        /* Otherwise the small BDP makes the time come first after which Reno would have filled the
         * path. */
        if (seen.state == SCPS_BBR_CRUISE) {
            assert_true(seen.v.inflight <= scps_bbr_inflight(&x, seen.b->max_bw, 100));
            assert_true(seen.v.inflight <= scps_bbr_with_headroom(&x));
        } else {
            assert_true(bbr_bdp(&p) < 63 * 1500);
        }
        bbr_close(&p);
    }
}

static void exiting_probe_down_after_max_time(void **state)
{
    struct bbr_path p = path(20000000, SCPS_MS(100));
    (void)state;

    bbr_open(&p);
    BBR_GO(&p, PROBE_RTT, SCPS_SEC(20));
    BBR_GO(&p, UP, SCPS_SEC(20));
    assert_true(bbr_until(&p, BBR_IN(DOWN), SCPS_SEC(20)));
    scps_time began = seen.v.now;
    scps_dur wait = seen.b->bw_probe_wait;
    /* The minimum RTT is renewed, so that ProbeRTT does not come during the test. */
    seen.b->probe_rtt_min_stamp = began;
    /* With less than 0.9 x 0.99 of the former rate the queue stays. */
    bbr_change(&p, p.bps * 85 / 100, 0);
    unsigned cruised = seen.entered[SCPS_BBR_CRUISE];
    assert_true(bbr_until(&p, BBR_IN(REFILL), SCPS_SEC(5)));
    assert_in_range(seen.v.now - began, wait, wait + SCPS_MS(20));
    assert_int_equal(seen.entered[SCPS_BBR_CRUISE], cruised);
    bbr_close(&p);
}

static void entering_and_exiting_probe_rtt(void **state)
{
    (void)state;
    EACH_PATH(i)
    {
        struct bbr_path p = path(open_paths[i].bps, open_paths[i].rtt);
        /* With a round trip of 1 s Startup takes longer than 5 s. */
        if (p.bps > 100000000 || p.rtt > SCPS_MS(500))
            continue;
        bbr_open(&p);
        BBR_GO(&p, CRUISE, SCPS_SEC(20));
        BBR_GO(&p, PROBE_RTT, SCPS_SEC(20));
        struct scps_bbr_ctx x = {.b = seen.b, .v = &seen.v, .ctl = &seen.ctl};
        /* The window is half a BDP, or four segments if that is more. */
        assert_true(seen.ctl.cwnd <= scps_bbr_probe_rtt_cwnd(&x));
        scps_time began = seen.v.now;
        assert_true(bbr_until(&p, BBR_IN(CRUISE), SCPS_SEC(5)));
        assert_in_range(seen.v.now - began, SCPS_MS(200), SCPS_MS(250) + rounds(&p, 3));
        uint64_t had = p.to.received;
        bbr_until(&p, 0, SCPS_SEC(1) + rounds(&p, 3));
        assert_true(p.to.received > had + bbr_payload(&p) / 2);
        bbr_close(&p);
    }
}

static void skipping_probe_rtt_due_to_application_limited_sending(void **state)
{
    struct bbr_path p = path(20000000, SCPS_MS(40));
    (void)state;

    bbr_open(&p);
    BBR_GO(&p, CRUISE, SCPS_SEC(20));
    unsigned before = seen.entered[SCPS_BBR_PROBE_RTT];
    p.app = p.credit = 0;
    bbr_until(&p, 0, SCPS_SEC(8));
    assert_int_equal(seen.v.inflight, 0);
    seen.restarts = 0;
    p.app = BBR_GREEDY;
    bbr_until(&p, 0, SCPS_SEC(2));
    assert_int_equal(seen.restarts, 1);
    assert_int_equal(seen.entered[SCPS_BBR_PROBE_RTT], before);
    bbr_close(&p);
}

static void achieving_expected_startup_bandwidth_on_a_link_with_aggregation(void **state)
{
    struct bbr_path p = path(20000000, SCPS_MS(40));
    (void)state;

    p.ack_delay = SCPS_MS(60); /* There is one acknowledgement in one and a half round trips. */
    bbr_open(&p);
    BBR_GO(&p, DRAIN, SCPS_SEC(20));
    near(seen.b->max_bw, bbr_payload(&p), 10);
    assert_true(seen.b->extra_acked > 0);
    assert_true(seen.ctl.cwnd > 2 * bbr_bdp(&p));
    bbr_close(&p);
}

static void achieving_expected_cruise_bandwidth_on_a_link_with_aggregation(void **state)
{
    struct bbr_path p = path(20000000, SCPS_MS(40));
    (void)state;

    p.ack_delay = SCPS_MS(60);
    bbr_open(&p);
    BBR_GO(&p, CRUISE, SCPS_SEC(20));
    struct scps_bbr_ctx x = {.b = seen.b, .v = &seen.v, .ctl = &seen.ctl};
    uint64_t bdp = scps_bbr_bdp(&x, seen.b->bw, 100), had = p.to.received;
    scps_time began = scps_world_now(p.w);
    bbr_until(&p, BBR_IN(REFILL) | BBR_IN(PROBE_RTT), SCPS_SEC(3));
    assert_true(seen.b->extra_acked > 0);
    assert_true(seen.ctl.cwnd > bdp);
    uint64_t rate = (p.to.received - had) * 1000000 / (uint64_t)(scps_world_now(p.w) - began);
    assert_in_range(rate, bbr_payload(&p) * 90 / 100, bbr_payload(&p) * 110 / 100);
    bbr_close(&p);
}

static void correctly_managing_sub_packet_bdps(void **state)
{
    static const struct open_path rows[] = {
        {64000, SCPS_MS(1)}, {64000, SCPS_MS(100)}, {1000000, SCPS_MS(1)}};
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bbr_path p = path(rows[i].bps, rows[i].rtt);
        bbr_open(&p);
        /* If the BDP is less than a segment, ProbeBW_CRUISE ends at once. */
        BBR_GO(&p, UP, SCPS_SEC(60));
        seen.least_cwnd = 0;
        uint64_t had = p.to.received;
        bbr_until(&p, 0, SCPS_SEC(20));
        assert_in_range(seen.least_cwnd, 4 * seen.v.mss, 6 * seen.v.mss);
        near(seen.b->max_bw, bbr_payload(&p), 3);
        assert_in_range((p.to.received - had) / 20, bbr_payload(&p) * 95 / 100, bbr_payload(&p));
        bbr_close(&p);
    }
}

static void increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached(void **state)
{
    struct bbr_path p = path(10000000, SCPS_MS(40));
    scps_time began;
    (void)state;

    p.more = "queue=20p"; /* Losses end Startup, so that inflight_longterm is set. */
    bbr_open(&p);
    BBR_GO(&p, CRUISE, SCPS_SEC(20));
    bbr_until(&p, BBR_IN(UP), SCPS_SEC(20));
    p.fwd.queue_packets = 400;
    bbr_change(&p, 100000000, 0);
    began = scps_world_now(p.w);
    unsigned steepest = 0;
    while (seen.b->max_bw < 90 * UINT64_C(1000000) / 8) {
        bbr_until(&p, 0, SCPS_MS(20));
        if (seen.b->bw_probe_up_rounds > steepest)
            steepest = seen.b->bw_probe_up_rounds;
        assert_true(scps_world_now(p.w) - began < SCPS_SEC(15));
    }
    /* The window grows by 1, 2, 4 ... segments in successive round trips. */
    assert_in_range(steepest, 3, 30);
    bbr_close(&p);
}

static void decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down(void **state)
{
    struct bbr_path p = path(100000000, SCPS_MS(40));
    (void)state;

    p.more = "queue=60p";
    bbr_open(&p);
    BBR_GO(&p, CRUISE, SCPS_SEC(20));
    bbr_change(&p, 10000000, 0);
    scps_time began = scps_world_now(p.w);
    unsigned cycles = seen.entered[SCPS_BBR_UP];
    while (seen.b->bw_shortterm > 20 * UINT64_C(1000000) / 8) {
        bbr_until(&p, 0, SCPS_MS(40));
        assert_true(scps_world_now(p.w) - began < SCPS_SEC(3));
    }
    while (seen.entered[SCPS_BBR_UP] < cycles + 5)
        assert_true(bbr_until(&p, BBR_IN(UP), SCPS_SEC(20)));
    near(seen.b->max_bw, bbr_payload(&p), 12);
    bbr_close(&p);
}

/* A token bucket policer is simulated by a queue of as many packets as the bucket has tokens: it
 * drops the same packets, but also delays the others. */
static void handling_token_bucket_policers(void **state)
{
    struct bbr_path p = path(10000000, SCPS_MS(40));
    (void)state;

    p.more = "queue=8p";
    bbr_open(&p);
    BBR_GO(&p, CRUISE, SCPS_SEC(20));
    bbr_until(&p, 0, SCPS_SEC(5));
    uint64_t had = p.to.received, lost = seen.lost;
    bbr_until(&p, 0, SCPS_SEC(20));
    had = p.to.received - had;
    lost = seen.lost - lost;
    assert_in_range(had / 20, bbr_payload(&p) * 80 / 100, bbr_payload(&p));
    assert_true(lost * 100 < 3 * had);
    assert_int_not_equal(seen.b->inflight_longterm, SCPS_BBR_INFINITE);
    bbr_close(&p);
}

/* The sender measures its reordering window (RFC 8985 section 6.2 step 4) and does not resend
 * segments that are late by less. So that recoveries are spurious throughout the test, the time by
 * which segments are late grows by a third every 2 s, from 3 ms to 40 ms. */
static void handling_spurious_fast_recovery(void **state)
{
    struct bbr_path p = path(20000000, SCPS_MS(40));
    (void)state;

    p.more = "queue=1000p,reorder=0.005,reorder-delay=3ms";
    bbr_open(&p);
    for (int i = 0; i < 10; i++) {
        bbr_until(&p, 0, SCPS_SEC(2));
        p.fwd.reorder_delay += p.fwd.reorder_delay / 3;
        bbr_change(&p, p.bps, 0);
    }
    assert_true(seen.spurious > 10);
    assert_true(seen.undone); /* Every spurious recovery was undone. */
    bbr_close(&p);
}

static void handling_spurious_rto_recovery(void **state)
{
    struct bbr_path p = path(20000000, SCPS_MS(40));
    (void)state;

    bbr_open(&p);
    BBR_GO(&p, UP, SCPS_SEC(20));
    uint64_t bw = seen.b->max_bw;
    p.fwd.delay += SCPS_SEC(2);
    bbr_change(&p, p.bps, 0);
    bbr_until(&p, 0, SCPS_MS(1800));
    p.fwd.delay -= SCPS_SEC(2);
    bbr_change(&p, p.bps, 0);
    bbr_until(&p, 0, SCPS_SEC(4));
    assert_true(seen.spurious > 0);
    assert_true(seen.undone);
    assert_true(seen.b->max_bw >= bw * 9 / 10);
    bbr_close(&p);
}

static void entering_and_exiting_probe_rtt_during_startup(void **state)
{
    struct bbr_path p = path(20000000, SCPS_MS(40));
    (void)state;

    p.app = p.bps / 8 / 5; /* While the application limits the sender, Startup goes on. */
    bbr_open(&p);
    BBR_GO(&p, PROBE_RTT, SCPS_SEC(8));
    assert_false(seen.b->full_bw_reached);
    assert_true(bbr_until(&p, BBR_IN(STARTUP) | BBR_IN(DOWN) | BBR_IN(CRUISE), SCPS_SEC(3)));
    assert_int_equal(seen.state, SCPS_BBR_STARTUP);
    p.app = BBR_GREEDY;
    BBR_GO(&p, CRUISE, SCPS_SEC(10));
    near(seen.b->max_bw, bbr_payload(&p), 3);
    bbr_close(&p);
}

static void handling_loss_during_probe_up_after_inflight_longterm_is_set(void **state)
{
    struct bbr_path p = path(50000000, SCPS_MS(100));
    (void)state;

    p.more = "queue=100p";
    bbr_open(&p);
    BBR_GO(&p, CRUISE, SCPS_SEC(20));
    do
        assert_true(bbr_until(&p, BBR_IN(UP), SCPS_SEC(20)));
    while (seen.b->inflight_longterm == SCPS_BBR_INFINITE || seen.b->prev_probe_too_high);
    uint64_t before = seen.b->inflight_longterm;
    bbr_change(&p, p.bps, 0.08);
    assert_true(bbr_until(&p, BBR_IN(DOWN), rounds(&p, 3)));
    assert_true(seen.b->prev_probe_too_high && !seen.b->full_bw_now);
    assert_true(seen.b->inflight_longterm < before);
    bbr_close(&p);
}

static void handling_application_limited_sending_during_probe_refill(void **state)
{
    struct bbr_path p = path(50000000, SCPS_MS(100));
    (void)state;

    bbr_open(&p);
    BBR_GO(&p, REFILL, SCPS_SEC(20));
    uint64_t bw = seen.b->max_bw;
    p.app = p.bps / 8 / 20;
    p.credit = 0;
    assert_true(bbr_until(&p, BBR_IN(UP), SCPS_SEC(3)));
    bbr_until(&p, 0, SCPS_MS(200));
    assert_int_equal(seen.b->max_bw, bw);
    p.app = BBR_GREEDY;
    BBR_GO(&p, DOWN, SCPS_SEC(5));
    near(seen.b->max_bw, bbr_payload(&p), 2);
    bbr_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exiting_startup_on_bandwidth_plateau),
        cmocka_unit_test(exiting_startup_on_loss_when_application_limited),
        cmocka_unit_test(exiting_drain_based_on_inflight),
        cmocka_unit_test(exiting_drain_based_on_time),
        cmocka_unit_test(exiting_probe_up_on_bandwidth_plateau),
        cmocka_unit_test(exiting_probe_up_on_loss_when_application_limited),
        cmocka_unit_test(never_exiting_probe_up_or_startup_when_application_limited_with_no_loss),
        cmocka_unit_test(exiting_probe_down_on_inflight),
        cmocka_unit_test(exiting_probe_down_after_max_time),
        cmocka_unit_test(entering_and_exiting_probe_rtt),
        cmocka_unit_test(skipping_probe_rtt_due_to_application_limited_sending),
        cmocka_unit_test(achieving_expected_startup_bandwidth_on_a_link_with_aggregation),
        cmocka_unit_test(achieving_expected_cruise_bandwidth_on_a_link_with_aggregation),
        cmocka_unit_test(correctly_managing_sub_packet_bdps),
        cmocka_unit_test(increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached),
        cmocka_unit_test(decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down),
        cmocka_unit_test(handling_token_bucket_policers),
        cmocka_unit_test(handling_spurious_fast_recovery),
        cmocka_unit_test(handling_spurious_rto_recovery),
        cmocka_unit_test(entering_and_exiting_probe_rtt_during_startup),
        cmocka_unit_test(handling_loss_during_probe_up_after_inflight_longterm_is_set),
        cmocka_unit_test(handling_application_limited_sending_during_probe_refill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
