/* SPDX-License-Identifier: MIT */
/* Rate limits: the token bucket sends at the right microsecond (docs/SCPS-TP.md sections 4.4 and
 * 4.5), also together with the peer's window and losses. */
#include "script.h"

/* Opens a connection with a rate of 100 octets per ms, IP headers counted, and a token bucket of
 * two packets. */
static struct script *rated(void **x, const char *cc)
{
    struct script *t = script_of(x);
    uint32_t packet = 1000 + (t->us.addr.family == 6 ? 60 : 40);
    assert_int_equal(scps_conn_config_parse_cc(&t->cfg, cc, NULL, 0), 0);
    t->cfg.rate = packet * 100; /* A full segment leaves every 10 ms. */
    t->cfg.burst = 2 * packet;
    return t;
}

/* The full bucket first lets a burst leave, then one packet leaves every 10 ms exactly, whatever is
 * acknowledged. */
static void one_every_ten_milliseconds(void **x)
{
    struct script *t = rated(x, "rate");
    script_established(t, MS(100));
    app_writes(t, MS(200), 30000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(200), .from = 1001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PACE);
    for (int i = 2; i < 30; i++)
        expect_sent(t, .at = MS(200) + MS(10) * (i - 1), .slack = 1, .from = 1 + 1000 * i,
                    .len = 1000);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* RFC 6298 (5.1): the timer starts when a segment is sent. A segment that waits for the rate, far
 * longer than a timeout, has not been sent, so the timer does not expire while it waits. */
static void the_timer_starts_when_a_segment_leaves(void **x)
{
    struct script *t = rated(x, "rate");
    unsigned woken = 0;
    t->cfg.rate = 100; /* A segment takes more than ten seconds. */
    t->cfg.rto_min = MS(10);
    t->cfg.rto_max = MS(100);
    script_established(t, MS(10));
    app_writes(t, SEC(100), 3000);
    script_run(t, SEC(150));
    script_forget_sent(t);
    while (script_now(t) < SEC(200)) {
        scps_time due = scps_stack_deadline(t->st) - scps_stack_now(t->st) + script_now(t);
        script_run(t, due < SEC(200) ? due : SEC(200));
        woken++;
    }
    assert_in_range(woken, script_forget_sent(t), 60);
    script_free(t);
}

/* During a pause the bucket fills up to its size and no further. */
static void the_bucket_size_limits_a_burst(void **x)
{
    struct script *t = rated(x, "rate");
    script_established(t, MS(100));
    app_writes(t, SEC(100), 10000);
    expect_sent(t, .at = SEC(100), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(100), .from = 1001, .len = 1000);
    expect_sent(t, .at = SEC(100) + MS(10), .slack = 1, .from = 2001, .len = 1000);
    script_run(t, SEC(100) + MS(200));
    script_forget_sent(t);
    script_free(t);
}

/* The rate counts the headers of small packets, too. */
static void headers_are_counted(void **x)
{
    struct script *t = rated(x, "rate");
    uint32_t over = t->us.addr.family == 6 ? 60 : 40;
    t->cfg.mss = 100;
    t->cfg.rate = (100 + over) * 1000; /* One packet of 100 octets leaves every millisecond. */
    t->cfg.burst = 100 + over;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    for (int i = 0; i < 10; i++)
        expect_sent(t, .at = MS(200 + i), .slack = 1, .from = 1 + 100 * i, .len = 100);
    script_free(t);
}

/* Pure rate control has no congestion window: the peer's window alone stops it, and a loss does not
 * reduce its rate. */
static void losses_do_not_change_the_rate(void **x)
{
    struct script *t = rated(x, "rate");
    t->peer_wnd = 8000;
    script_established(t, MS(100));
    app_writes(t, MS(200), 30000);
    script_run(t, MS(300));
    assert_int_equal(script_forget_sent(t), 8);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 8001}});
    expect_sent(t, .at = MS(300), .from = 1, .len = 1000);
    peer_says(t, MS(400), .ack = 8001, .wnd = 20000);
    script_run(t, MS(500));
    /* Two segments leave at once, ten more in 100 ms. */
    assert_int_equal(script_forget_sent(t), 12);
    assert_int_equal(script_info(t).rate, t->cfg.rate);
    script_free(t);
}

/* While nothing is acknowledged, each timeout resends no more than an initial window (RFC 6928):
 * four segments at once and the others spread over the timeout. An acknowledgement opens the window
 * again. */
static void a_timeout_resends_an_initial_window(void **x)
{
    struct script *t = rated(x, "rate");
    t->cfg.rate *= 1000; /* The rate is so high that no segment waits for it. */
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION; /* Timeouts do not back off either. */
    script_established(t, MS(100));
    app_writes(t, MS(200), 30000);
    script_run(t, MS(250));
    assert_int_equal(script_forget_sent(t), 30);
    scps_dur rto = script_info(t).rto;
    for (int k = 1; k < 5; k++) {
        script_run(t, MS(200) + k * rto + rto / 4);
        assert_int_equal(script_forget_sent(t), 5);
        script_run(t, MS(199) + (k + 1) * rto);
        assert_int_equal(script_forget_sent(t), 5);
    }
    scps_time now = script_now(t);
    peer_says(t, now, .ack = 1, .sack = {{9001, 10001}});
    script_run(t, now + MS(1) / 2);
    /* The nine segments resent before it have not arrived. */
    assert_int_equal(script_forget_sent(t), 29);
    assert_int_equal(script_info(t).timeouts, 4);
    script_free(t);
}

/* Retransmissions count against the rate like other segments. */
static void repairs_are_paced(void **x)
{
    struct script *t = rated(x, "rate");
    script_established(t, MS(100));
    app_writes(t, MS(200), 10000);
    script_run(t, MS(290));
    assert_int_equal(script_forget_sent(t), 10);
    peer_says(t, MS(310), .ack = 1, .sack = {{4001, 10001}}); /* Four segments are missing. */
    expect_sent(t, .at = MS(310), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(310), .from = 1001, .len = 1000);
    expect_sent(t, .at = MS(320), .slack = MS(1), .from = 2001, .len = 1000);
    expect_sent(t, .at = MS(330), .slack = MS(1), .from = 3001, .len = 1000);
    script_free(t);
}

static void a_rate_is_required(void **x)
{
    struct script *t = rated(x, "rate");
    int err = 0;
    t->cfg.rate = 0;
    script_start(t);
    assert_null(scps_connect(t->st, &t->cfg, NULL, &t->them, &err));
    assert_int_equal(err, SCPS_ERR_NORATE);
    script_free(t);
}

/* A controller with a window and a rate limit: both limit what is sent. */
static void a_window_under_a_rate(void **x)
{
    struct script *t = rated(x, "vj");
    t->cfg.init_cwnd_segs = 4;
    script_established(t, MS(100));
    app_writes(t, MS(200), 30000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(200), .from = 1001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PACE);
    expect_sent(t, .at = MS(210), .slack = 1, .from = 2001, .len = 1000);
    expect_sent(t, .at = MS(220), .slack = 1, .from = 3001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    script_free(t);
}

/* A window that is spread over the round trip (twice as fast in slow start) counts payload, as the
 * congestion window does. If headers counted, a window of small segments would take longer than the
 * round trip, would never be full, and would not grow. */
static void small_segments_in_a_round_trip(void **x)
{
    struct script *t = script_of(x);
    t->cfg.pacing = true;
    t->cfg.burst = 100;
    t->cfg.mss = 50;
    t->cfg.init_cwnd_segs = 40;
    script_established(t, MS(100));
    app_writes(t, MS(200), 2000);
    script_run(t, MS(251));
    assert_int_equal(script_forget_sent(t), 40);
    script_free(t);
}

#define app_writes_record(t, at, n) script_app_writes(t, at, n, SCPS_EOR, __FILE__, __LINE__)

/* A window of 2000 octets, which slow start spreads over half a round trip of 100 ms, beside a
 * configured rate, which counts packets. The 200 records of ten octets fill the window: RFC 5681
 * section 3.1 counts it in octets of data. */
static struct script *two_hundred_records(void **x, uint64_t rate)
{
    struct script *t = script_of(x);
    t->cfg.records = t->cfg.pacing = true;
    t->cfg.rate = rate;
    t->cfg.burst = 100;
    t->cfg.mss = 50;
    t->cfg.init_cwnd_segs = 40;
    script_established(t, MS(100));
    for (int i = 0; i < 200; i++)
        app_writes_record(t, MS(200), 10);
    return t;
}

/* The window leaves within the round trip although its segments are smaller than full ones and a
 * rate is configured, too. If the pace counted headers, the window would never be full, so it would
 * not grow (RFC 7661 section 4.1). */
static void records_in_a_round_trip_under_a_rate(void **x)
{
    struct script *t = two_hundred_records(x, 10000000);
    script_run(t, MS(225));
    int half = script_forget_sent(t);
    assert_in_range(half, 100, 112); /* ten of them from the bucket, at once */
    script_run(t, MS(251));
    assert_int_equal(half + script_forget_sent(t), 200);
    script_free(t);
}

/* The configured rate counts the headers of small segments also where it permits full segments at
 * the pace of the window: two records in a millisecond are 100 in 50 ms. */
static void a_spread_window_keeps_the_rate(void **x)
{
    uint32_t packet = 10 + ((uintptr_t)*x == 6 ? 60 : 40);
    struct script *t = two_hundred_records(x, packet * 2000);
    script_run(t, MS(250));
    assert_in_range(script_forget_sent(t), 98, 106);
    script_free(t);
}

/* Over a long round trip the pacing rate is a few bytes a second: 1.2 times 250 octets in 51 s are
 * 5.9. Rounded down to 4, the window would take longer than the round trip, would never be full,
 * and would not grow. */
static void a_few_bytes_a_second(void **x)
{
    struct script *t = script_of(x);
    t->cfg.pacing = true;
    t->cfg.burst = 50;
    t->cfg.mss = 50;
    t->cfg.init_cwnd_segs = 8;
    t->cfg.rto_initial = SEC(60);
    script_established(t, SEC(51));
    app_writes(t, SEC(60), 400);
    script_run(t, SEC(90));
    assert_int_equal(script_forget_sent(t), 8);
    peer_says(t, SEC(111), .ack = 1, .sack = {{51, 201}});
    script_run(t, SEC(162));
    assert_int_equal(script_forget_sent(t), 1);
    peer_says(t, SEC(162), .ack = 401);
    assert_int_equal(script_info(t).cwnd, 250);
    app_writes(t, SEC(163), 250);
    script_run(t, SEC(163) + SEC(40));
    assert_int_equal(script_forget_sent(t), 5);
    script_free(t);
}

/* A window that is spread over the round trip leaves in bursts of two segments, which a queue of
 * two packets holds; the default burst of four belongs to a configured rate. In slow start two
 * windows are sent in a round trip, so four segments in 100 ms are one in 12.5 ms. */
static void a_spread_window_leaves_in_pairs(void **x)
{
    struct script *t = script_of(x);
    t->cfg.pacing = true;
    t->cfg.burst = 0;
    t->cfg.init_cwnd_segs = 4;
    script_established(t, MS(100));
    app_writes(t, MS(200), 4000);
    script_run(t, MS(201));
    assert_int_equal(script_forget_sent(t), 2);
    script_run(t, MS(212));
    assert_int_equal(script_forget_sent(t), 0);
    script_run(t, MS(213));
    assert_int_equal(script_forget_sent(t), 1);
    script_free(t);
}

/* At a high rate a burst is what the rate allows in a millisecond, the resolution of many timers:
 * in slow start two windows are sent in a round trip, so twenty segments in 10 ms are four in a
 * millisecond. */
static void bursts_of_a_millisecond_at_high_rates(void **x)
{
    struct script *t = script_of(x);
    t->cfg.pacing = true;
    t->cfg.burst = 0;
    t->cfg.init_cwnd_segs = 20;
    script_established(t, MS(10));
    app_writes(t, MS(200), 20000);
    script_run(t, MS(200));
    assert_int_equal(script_forget_sent(t), 4);
    script_free(t);
}

/* A burst is at most a quarter of the window: on a round trip of a millisecond, of which the rate
 * yields two windows, a window of eight segments is spread all the same. */
static void a_short_round_trip_is_spread(void **x)
{
    struct script *t = script_of(x);
    t->cfg.pacing = true;
    t->cfg.burst = 0;
    t->cfg.init_cwnd_segs = 8;
    script_established(t, MS(1));
    app_writes(t, MS(200), 8000);
    script_run(t, MS(200));
    assert_int_equal(script_forget_sent(t), 2);
    script_run(t, MS(200) + 130); /* two windows in a millisecond are a segment in 63 us */
    assert_int_equal(script_forget_sent(t), 2);
    script_free(t);
}

/* An acknowledgement without data does not wait for the token bucket. */
static void acknowledgements_do_not_wait(void **x)
{
    struct script *t = rated(x, "rate");
    script_established(t, MS(100));
    app_writes(t, MS(200), 5000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(200), .from = 1001, .len = 1000);
    peer_says(t, MS(203), .len = 1000);
    peer_says(t, MS(203), .len = 1000);
    expect_sent(t, .at = MS(203), .ack = 2001);
    script_run(t, MS(300));
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(one_every_ten_milliseconds),
        SCRIPT_TEST(the_bucket_size_limits_a_burst),
        SCRIPT_TEST(headers_are_counted),
        SCRIPT_TEST(losses_do_not_change_the_rate),
        SCRIPT_TEST(a_timeout_resends_an_initial_window),
        SCRIPT_TEST(repairs_are_paced),
        SCRIPT_TEST(a_rate_is_required),
        SCRIPT_TEST(a_window_under_a_rate),
        SCRIPT_TEST(small_segments_in_a_round_trip),
        SCRIPT_TEST(records_in_a_round_trip_under_a_rate),
        SCRIPT_TEST(a_spread_window_keeps_the_rate),
        SCRIPT_TEST(a_few_bytes_a_second),
        SCRIPT_TEST(a_spread_window_leaves_in_pairs),
        SCRIPT_TEST(bursts_of_a_millisecond_at_high_rates),
        SCRIPT_TEST(a_short_round_trip_is_spread),
        SCRIPT_TEST(acknowledgements_do_not_wait),
        SCRIPT_TEST(the_timer_starts_when_a_segment_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
