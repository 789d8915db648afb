/* SPDX-License-Identifier: MIT */
/* An outage that the link has not signalled, but that this end has inferred from timeouts
 * (docs/SCPS-TP.md section 3.5). It is a guess, so it must not make either end wait for ever. */
#include "script.h"

#define WAIT MS(500)

static void tell(struct script *t, scps_time at, enum scps_signal_kind kind)
{
    struct scps_signal s = {.kind = kind, .until = SCPS_NEVER};
    scps_time epoch = scps_stack_now(t->st) - script_now(t);

    scps_stack_signal(t->st, at + epoch, &s);
}

/* With best effort: octets [101, 201) of the peer arrive at 900 ms, behind a hole. At 1100 ms this
 * end infers an outage, because nothing has acknowledged its octets [1, 1001). */
static struct script *a_hole_before_the_outage(void **x)
{
    struct script *t = script_of(x);

    t->cfg.bets = true;
    t->cfg.bets_timeout = WAIT;
    t->cfg.bets_retries = 5;
    t->cfg.outage_after = 1;
    t->peer.caps = SCPS_CAP_BETS;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    peer_says(t, MS(900), .seq = 101, .len = 100, .ack = 1);
    script_run(t, MS(1100));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    assert_int_equal(script_info(t).holes, 0);
    return t;
}

/* docs/SCPS-TP.md section 7: the receiver gives up a hole when its timer expires. That this end's
 * own data is not acknowledged says nothing about the peer's data, so the timer runs on during an
 * inferred outage; otherwise two ends that infer outages from each other's silence would both wait
 * for ever. */
static void the_wait_for_a_hole_runs_on(void **x)
{
    struct script *t = a_hole_before_the_outage(x);
    struct scps_hole h;

    script_run(t, MS(900) + WAIT - 1);
    assert_int_equal(script_info(t).holes, 0);
    script_run(t, MS(900) + WAIT);
    assert_int_equal(script_info(t).holes, 1);
    assert_int_equal(scps_conn_hole(t->c, &h, 0), 1);
    assert_int_equal(h.len, 100);
    script_skip(t, 100);
    app_reads(t, SEC(2), 100);
    /* The acknowledgement leaves with the first probe. */
    expect_sent(t, .at = MS(1100) + SEC(5), .from = ZERO, .ack = 201);
    script_free(t);
}

/* A signal of the link confirms the outage and stops the wait, because no retransmission can
 * arrive. The full wait begins again at the end of the outage. */
static void a_signal_stops_the_wait(void **x)
{
    struct script *t = a_hole_before_the_outage(x);

    script_run(t, MS(1200));
    tell(t, MS(1200), SCPS_SIGNAL_LINK_DOWN);
    script_run(t, SEC(100));
    script_forget_sent(t);
    tell(t, SEC(100), SCPS_SIGNAL_LINK_UP);
    script_run(t, SEC(100) + WAIT - 1);
    assert_int_equal(script_info(t).holes, 0);
    script_run(t, SEC(100) + WAIT);
    assert_int_equal(script_info(t).holes, 1);
    script_forget_sent(t);
    script_free(t);
}

/* docs/SCPS-TP.md section 3.5: a segment that was on its way when the link failed must not end the
 * outage, so after a signal only segments that arrive a round trip (100 ms) later count. The same
 * holds if the signal confirms an outage that was inferred before. */
static void a_segment_in_flight_before_the_signal(void **x)
{
    struct script *t = a_hole_before_the_outage(x);

    tell(t, MS(1200), SCPS_SIGNAL_LINK_DOWN);
    peer_says(t, MS(1250), .seq = ZERO, .ack = 1);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    peer_says(t, MS(1350), .seq = ZERO, .ack = 1);
    expect_sent(t, .at = MS(1350), .from = 1, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* A signal reports an outage and its end within one round trip (100 ms), and another one that the
 * path has become shorter, so that a timeout comes before the round trip is over. The outage that
 * is inferred from it ends with the next segment of the peer: only during the outage of the signal
 * are segments ignored. A fuzzed run of two stacks probed a peer that had gone, for ever. */
static void a_segment_after_the_end_of_a_signalled_outage(void **x)
{
    struct script *t = script_of(x);
    struct scps_signal path = {.kind = SCPS_SIGNAL_PATH, .rtt = MS(5)};

    t->cfg.outage_after = 1;
    t->cfg.rto_min = MS(1);
    script_established(t, MS(100));
    script_run(t, MS(300));
    tell(t, MS(300), SCPS_SIGNAL_LINK_DOWN);
    tell(t, MS(301), SCPS_SIGNAL_LINK_UP);
    scps_stack_signal(t->st, scps_stack_now(t->st), &path);
    app_writes(t, MS(301), 1000);
    script_run(t, MS(370));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    peer_says(t, MS(380), .seq = ZERO, .ack = 1);
    expect_sent(t, .at = MS(380), .from = 1, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* Opens a connection with a receive window of 2000 octets that infers an outage at 2300 ms. */
static struct script *out_of_reach(void **x)
{
    struct script *t = script_of(x);

    t->cfg.outage_after = 2;
    t->cfg.rcvbuf = 2000;
    script_established(t, MS(100));
    return t;
}

static void until_the_outage(struct script *t)
{
    app_writes(t, MS(200), 1000);
    script_run(t, SEC(3));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
}

/* Octets [1001, 2001) lie behind a hole and fill the window up to its right edge. The peer has sent
 * the octet of a window probe, too, so its acknowledgement has the sequence number 2002, which is
 * unacceptable (RFC 9293 section 3.10.7.4, first check). Such a segment shows that the link is up
 * if its acknowledgement number is plausible (RFC 5961 section 5.2). A segment further ahead, where
 * the peer may not send, shows nothing. */
static void a_segment_beyond_a_full_window_ends_the_outage(void **x)
{
    struct script *t = out_of_reach(x);

    peer_says(t, MS(150), .seq = 1001, .len = 1000, .ack = 1);
    until_the_outage(t);
    peer_says(t, MS(3100), .seq = 2003, .ack = 1);
    peer_says(t, MS(3200), .seq = 2002, .ack = -70000);
    peer_says(t, MS(3300), .seq = 2002, .ack = 1002);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    peer_says(t, SEC(4), .seq = 2002, .ack = 1);
    expect_sent(t, .at = SEC(4), .from = 1, .len = 1000, .ack = 1);
    script_forget_sent(t); /* This answers the unacceptable segment. */
    peer_says(t, SEC(4) + MS(100), .seq = 1, .len = 1000, .ack = 1001);
    script_forget_sent(t);
    app_reads(t, SEC(5), 2000);
    script_forget_sent(t);
    script_free(t);
}

/* A whole window and the octet of a window probe have arrived, but none of their acknowledgements
 * has reached the peer, so the peer's probe lies one octet below the window. */
static void a_window_and_a_probe_behind(void **x)
{
    struct script *t = out_of_reach(x);

    peer_says(t, MS(110), .len = 2000);
    app_reads(t, MS(120), 2000);
    peer_says(t, MS(150), .len = 1);
    app_reads(t, MS(160), 1);
    until_the_outage(t);
    peer_says(t, MS(3100), .seq = -1, .ack = 1);
    peer_says(t, MS(3200), .seq = ZERO, .ack = -70000);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    peer_says(t, SEC(4), .seq = ZERO, .ack = 1);
    expect_sent(t, .at = SEC(4), .from = 1, .len = 1000, .ack = 2002);
    peer_says(t, SEC(4) + MS(100), .ack = 1001);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6298 (5.5): "The host MUST set RTO <- RTO * 2 ("back off the timer")"; (5.7) and section 3
 * (Karn's algorithm) keep it until a round trip is measured. The first inferred outage ends the
 * backoff, because its timeouts belong to the outage. If another outage follows and nothing was
 * acknowledged in between, the segments of the peer show that there was no outage, and the backoff
 * stays. */
static void the_backoff_outlasts_outages(void **x)
{
    struct script *t = script_of(x);

    t->cfg.outage_after = 2;
    script_flight(t, MS(200), 1000, 1);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(1100), .from = 1, .len = 1000);
    script_run(t, SEC(3)); /* The outage began at 2300 ms. */
    peer_says(t, SEC(3), .seq = ZERO, .ack = 1);
    expect_sent(t, .at = MS(3000), .from = 1, .len = 1000);
    script_forget_sent(t); /* This answers the peer's probe. */
    expect_sent(t, .at = MS(3300), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(3900), .from = 1, .len = 1000);
    script_run(t, SEC(6)); /* The second outage began at 5100 ms. */
    peer_says(t, SEC(6), .seq = ZERO, .ack = 1);
    expect_sent(t, .at = MS(6000), .from = 1, .len = 1000);
    script_forget_sent(t);
    expect_sent(t, .at = MS(7200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(9600), .from = 1, .len = 1000);
    script_run(t, SEC(15)); /* The third outage began at 14 400 ms. */
    peer_says(t, SEC(15), .seq = ZERO, .ack = 1);
    expect_sent(t, .at = SEC(15), .from = 1, .len = 1000);
    script_forget_sent(t);
    expect_sent(t, .at = MS(19800), .from = 1, .len = 1000);
    /* A round trip is measured, which ends the backoff. */
    peer_says(t, SEC(20), .ack = 1001);
    app_writes(t, SEC(21), 1000);
    expect_sent(t, .at = SEC(21), .from = 1001, .len = 1000);
    peer_says(t, SEC(21) + MS(100), .ack = 2001);
    app_writes(t, SEC(22), 1000);
    expect_sent(t, .at = SEC(22), .from = 2001, .len = 1000);
    script_run(t, SEC(22) + script_info(t).rto - 1);
    expect_quiet(t, ANY_HOLD);
    expect_sent(t, .at = SEC(22) + script_info(t).rto, .from = 2001, .len = 1000);
    peer_says(t, SEC(23), .ack = 3001);
    script_forget_sent(t);
    script_free(t);
}

/* docs/SCPS-TP.md section 3.4: timeouts attributed to corruption do not back off, except in a
 * silence of more than eight timeouts, up to one second. Outages inferred after fewer timeouts must
 * not divide such a silence into shorter ones. */
static void corruption_and_more_than_eight_timeouts(void **x)
{
    struct script *t = script_of(x);
    unsigned resends = 0;

    t->cfg.outage_after = 2;
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    script_flight(t, MS(200), 1000, 1);
    for (scps_time at = SEC(1); at < SEC(61); at += MS(100)) {
        peer_says(t, at, .seq = ZERO, .ack = 1);
        resends += script_forget_sent(t);
    }
    resends = (unsigned)script_info(t).resent_segs;
    assert_in_range(resends, 55, 90);
    peer_says(t, SEC(62), .ack = 1001);
    script_forget_sent(t);
    script_free(t);
}

/* 16 segments are sent at 200 ms. The peer does not answer before 4 s, when a segment of it ends an
 * outage that was inferred at 2300 ms. */
static struct script *sixteen_segments(void **x)
{
    struct script *t = script_of(x);

    t->cfg.outage_after = 2;
    t->cfg.init_cwnd_segs = 16;
    t->peer.sack = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 16000);
    script_run(t, SEC(3));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    peer_says(t, SEC(4), .ack = 1);
    script_run(t, SEC(4) + MS(110));
    return t;
}

/* docs/SCPS-TP.md section 3.5: after an outage the sender "continues at once with the window from
 * before the outage". A sender that has not heard from the peer in two timeouts sends at most ten
 * segments, but the end of the outage shows that the peer is there, so all 16 are sent again within
 * a round trip of 100 ms. */
static void the_whole_window_after_the_outage(void **x)
{
    struct script *t = sixteen_segments(x);

    assert_int_equal(script_forget_sent(t), 16);
    peer_says(t, SEC(4) + MS(120), .ack = 16001);
    script_forget_sent(t);
    script_free(t);
}

/* If a second outage is inferred before a round trip is measured, there may be no outage, and the
 * RTO is too short (RFC 6298 section 5.5). Then at most ten segments are sent. */
static void ten_segments_after_the_second_outage(void **x)
{
    struct script *t = sixteen_segments(x);

    script_run(t, SEC(9));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    peer_says(t, SEC(9), .ack = 1);
    script_run(t, SEC(9) + MS(110));
    assert_int_equal(script_forget_sent(t), 10);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(the_wait_for_a_hole_runs_on),
        SCRIPT_TEST(a_signal_stops_the_wait),
        SCRIPT_TEST(a_segment_in_flight_before_the_signal),
        SCRIPT_TEST(a_segment_after_the_end_of_a_signalled_outage),
        SCRIPT_TEST(a_segment_beyond_a_full_window_ends_the_outage),
        SCRIPT_TEST(a_window_and_a_probe_behind),
        SCRIPT_TEST(the_backoff_outlasts_outages),
        SCRIPT_TEST(corruption_and_more_than_eight_timeouts),
        SCRIPT_TEST(the_whole_window_after_the_outage),
        SCRIPT_TEST(ten_segments_after_the_second_outage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
