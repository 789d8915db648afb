/* SPDX-License-Identifier: MIT */
/* The retransmission timer and the recovery after it expires: RFC 6298, RFC 5681 section 3.1, RFC
 * 5682 (F-RTO), the retry limits of RFC 9293 section 3.8.3 and the user timeout of RFC 5482. */
#include "script.h"

/* RFC 6298 (2.2) and (2.3), with rto_min as a lower bound of the margin: srtt 100 ms, rttvar 50 ms,
 * RTO 300 ms. */
static void estimates(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    struct scps_info i = script_info(t);
    assert_true(i.srtt == MS(100) && i.rttvar == MS(50) && i.rto == MS(300));
    app_writes(t, MS(200), 10);
    expect_sent(t, .from = 1, .len = 10);
    peer_says(t, MS(380), .ack = 11); /* This RTT is 180 ms. */
    i = script_info(t);
    assert_true(i.rttvar == 57500); /* 3/4 of 50 ms and 1/4 of 80 ms. */
    assert_true(i.srtt == MS(110)); /* 7/8 of 100 ms and 1/8 of 180 ms. */
    assert_true(i.rto == 340000);
    assert_true(i.last_rtt == MS(180) && i.min_rtt == MS(100));
    script_free(t);
}

/* RFC 6298 (5.5): a timeout doubles the RTO. Section 3, Karn's algorithm: the acknowledgement of a
 * retransmission is no sample. (5.3): the acknowledgement of new data restarts the timer. */
static void backoff(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(1000), 10);
    expect_sent(t, .at = MS(1000), .from = 1, .len = 10);
    expect_sent(t, .at = MS(1300), .from = 1, .len = 10);
    expect_sent(t, .at = MS(1900), .from = 1, .len = 10);
    expect_sent(t, .at = MS(3100), .from = 1, .len = 10);
    expect_sent(t, .at = MS(5500), .from = 1, .len = 10);
    assert_int_equal(script_info(t).backoff, 4);
    peer_says(t, MS(5600), .ack = 11);
    struct scps_info i = script_info(t);
    assert_true(i.srtt == MS(100) && i.backoff == 0);
    assert_int_equal(i.timeouts, 4);
    assert_int_equal(i.cwnd, 1000 + 10);
    /* A retransmission gives no sample, and RFC 6298 section 3 keeps the backed-off RTO until there
     * is one. */
    app_writes(t, MS(5700), 10);
    expect_sent(t, .at = MS(5700), .from = 11, .len = 10);
    expect_sent(t, .at = MS(5700 + 4800), .from = 11, .len = 10);
    peer_says(t, MS(10600), .ack = 21);
    app_writes(t, MS(10700), 10);
    expect_sent(t, .at = MS(10700), .from = 21, .len = 10);
    peer_says(t, MS(10800), .ack = 31);
    scps_dur rto = script_info(t).rto;
    assert_true(rto <= MS(300));
    app_writes(t, MS(10900), 10);
    expect_sent(t, .at = MS(10900), .from = 31, .len = 10);
    expect_sent(t, .at = MS(10900) + rto, .from = 31, .len = 10);
    script_free(t);
}

/* With time stamps the echo shows which transmission was acknowledged: the RTT is measured and ends
 * the backoff. */
static void backoff_with_timestamps(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    app_writes(t, MS(1000), 10);
    expect_sent(t, .at = MS(1000), .from = 1, .len = 10);
    expect_sent(t, .at = MS(1300), .from = 1, .len = 10);
    expect_sent(t, .at = MS(1900), .from = 1, .len = 10);
    peer_says(t, MS(2000), .ack = 11);
    scps_dur rto = script_info(t).rto;
    assert_true(rto < MS(400));
    app_writes(t, MS(2100), 10);
    expect_sent(t, .at = MS(2100), .from = 11, .len = 10);
    expect_sent(t, .at = MS(2100) + rto, .from = 11, .len = 10);
    script_free(t);
}

/* RFC 6298 (5.3): the acknowledgement of new data restarts the timer for the rest. */
static void progress_restarts_the_timer(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(1000), 2000);
    expect_sent(t, .from = 1, .len = 1000);
    expect_sent(t, .from = 1001, .len = 1000);
    peer_says(t, MS(1200), .ack = 1001);
    scps_dur rto = script_info(t).rto;
    expect_sent(t, .at = MS(1200) + rto, .from = 1001, .len = 1000);
    script_free(t);
}

/* RFC 9293 section 3.8.3: "The value of R2 SHOULD correspond to at least 100 seconds" (SHLD-11). A
 * SACK block gives a sample of 29 s and makes the RTO 46 s one second before the timer, which was
 * set with 30 s, expires. R2, here 106 s, does not begin before the segments were sent at 100 s:
 * the timeout at 190 s resends, and the next one ends the connection. */
static void r2_begins_when_data_is_sent(void **x)
{
    struct script *t = script_of(x);
    t->cfg.data_retries = 1;
    t->cfg.rto_initial = SEC(15);
    script_established(t, SEC(10));
    script_forget_events(t);
    assert_int_equal(script_info(t).rto, SEC(30));
    app_writes(t, SEC(100), 4000);
    for (int k = 0; k < 4; k++)
        expect_sent(t, .at = SEC(100), .from = 1 + 1000 * k, .len = 1000);
    peer_says(t, SEC(129), .ack = 1, .sack = {{1001, 2001}});
    assert_int_equal(script_info(t).rto, MS(46375));
    expect_sent(t, .at = SEC(130), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(190), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(250), .flags = SCPS_RST | SCPS_ACK);
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_free(t);
}

static void rto_is_bounded(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rto_max = SEC(2);
    t->cfg.data_retries = 52; /* The connection ends after 0.3 + 0.6 + 1.2 + 50 x 2 s. */
    script_established(t, MS(100));
    script_forget_events(t);
    app_writes(t, MS(1000), 10);
    expect_sent(t, .at = MS(1000), .from = 1, .len = 10);
    expect_sent(t, .at = MS(1300), .from = 1, .len = 10);
    expect_sent(t, .at = MS(1900), .from = 1, .len = 10);
    expect_sent(t, .at = MS(3100), .from = 1, .len = 10);
    expect_sent(t, .at = MS(5100), .from = 1, .len = 10);
    expect_sent(t, .at = MS(7100), .from = 1, .len = 10);
    expect_sent(t, .at = MS(9100), .from = 1, .len = 10);
    script_run(t, MS(103099));
    expect_state(t, SCPS_ESTABLISHED);
    script_forget_sent(t);
    expect_sent(t, .at = MS(103100), .flags = SCPS_RST | SCPS_ACK);
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_free(t);
}

static void rto_min_of_a_short_path(void **x)
{
    struct script *t = script_of(x);
    t->cfg.expected_rtt = 20; /* The expected RTT is 20 µs, as on a bus. */
    t->cfg.rto_min = t->cfg.ack_delay = 0;
    script_established(t, 20);
    assert_in_range(script_info(t).rto, 20, 200);
    app_writes(t, 1000, 10);
    expect_sent(t, .at = 1000, .from = 1, .len = 10);
    expect_sent(t, .at = 1000 + script_info(t).rto, .from = 1, .len = 10);
    script_free(t);
}

/* The expected RTT is 40 minutes, as to Mars: the SYN must not time out before its answer can
 * arrive. */
static void rto_of_a_long_path(void **x)
{
    struct script *t = script_of(x);
    t->cfg.expected_rtt = SEC(2400);
    t->cfg.rto_min = t->cfg.ack_delay = 0;
    script_established(t, SEC(2400));
    assert_true(script_info(t).rto > SEC(2400));
    app_writes(t, SEC(3000), 1000);
    expect_sent(t, .at = SEC(3000), .from = 1, .len = 1000);
    peer_says(t, SEC(5400), .ack = 1001);
    assert_int_equal(script_info(t).timeouts, 0);
    script_free(t);
}

/* A slow line takes five seconds for a full segment and a few hundred milliseconds for a SYN: the
 * expected RTT holds until a full segment has been measured. */
static void rto_of_a_slow_line(void **x)
{
    struct script *t = script_of(x);
    t->cfg.expected_rtt = SEC(5);
    t->cfg.rto_min = t->cfg.ack_delay = 0;
    script_established(t, MS(400));
    assert_true(script_info(t).srtt == MS(400));
    app_writes(t, SEC(1), 2000);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(1), .from = 1001, .len = 1000);
    peer_says(t, SEC(6), .ack = 1001);
    peer_says(t, SEC(11), .ack = 2001);
    assert_int_equal(script_info(t).timeouts, 0);
    app_writes(t, SEC(12), 1000);
    expect_sent(t, .at = SEC(12), .from = 2001, .len = 1000);
    peer_says(t, SEC(17), .ack = 3001);
    script_free(t);
}

/* The path has a queue of minutes: even the largest RTO, backed off or not, does not expire before
 * the acknowledgement can arrive. */
static void rto_behind_a_deep_queue(void **x)
{
    struct script *t = script_of(x);
    scps_time at = SEC(100);

    t->cfg.rto_max = SEC(2);
    t->cfg.spurious_undo = false;
    script_established(t, MS(900));
    for (int k = 0; k < 20; k++, at += SEC(10)) {
        app_writes(t, at, 10);
        script_run(t, at);
        peer_says(t, at + MS(1000) + MS(200) * k, .ack = 11 + 10 * k);
        script_forget_sent(t);
    }
    struct scps_info i = script_info(t);
    assert_int_equal(i.timeouts, 0);
    assert_true(i.rto > i.last_rtt && i.srtt > SEC(2));
    app_writes(t, at, 10);
    expect_sent(t, .at = at, .from = 201, .len = 10);
    expect_sent(t, .at = at + i.rto, .from = 201, .len = 10);
    expect_sent(t, .at = at + 2 * i.rto, .from = 201, .len = 10);
    peer_says(t, at + 2 * i.rto + MS(1), .ack = 211);
    script_free(t);
}

/* A retransmission that waits for the rate has not been sent, so it cannot time out: there is one
 * timeout and one backoff. */
static void a_resend_that_waits(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rate = 500; /* A segment takes two seconds. */
    t->cfg.burst = 1060;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .at = MS(200), .slack = MS(200), .from = 1, .len = 1000);
    scps_time at = script_now(t);
    expect_sent(t, .at = at + MS(1600), .slack = MS(600), .from = 1, .len = 1000);
    assert_int_equal(script_info(t).timeouts, 1);
    assert_int_equal(script_info(t).backoff, 1);
    peer_says(t, at + MS(2300), .ack = 1001);
    script_free(t);
}

/* An expected RTT is not a sample, so half of it is not the RTO's margin: the SYN is resent after
 * the expected RTT and the least margin, a quarter of it plus the peer's delayed-ACK time. */
static void a_lost_syn_with_a_hint(void **x)
{
    struct script *t = script_of(x);
    t->cfg.expected_rtt = MS(500);
    t->cfg.rto_min = t->cfg.ack_delay = 0;
    script_connect(t, 0);
    expect_sent(t, .at = 0, .flags = SCPS_SYN);
    expect_sent(t, .at = MS(500 + 125 + 200), .flags = SCPS_SYN);
    expect_sent(t, .at = 3 * MS(825), .flags = SCPS_SYN);
    peer_says(t, 3 * MS(825) + MS(500), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    script_free(t);
}

/* RFC 5681 section 3.1: after a timeout the window is one segment, ssthresh half of FlightSize, and
 * slow start resends what was lost. */
static void window_after_a_timeout(void **x)
{
    struct script *t = script_of(x);
    t->cfg.spurious_undo = false;
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    struct scps_info i = script_info(t);
    assert_int_equal(i.cwnd, 1000);
    assert_int_equal(i.ssthresh, 5000);
    expect_quiet(t, SCPS_HOLD_CWND);
    peer_says(t, MS(600), .ack = 1001);
    expect_sent(t, .at = MS(600), .from = 1001, .len = 1000);
    expect_sent(t, .at = MS(600), .from = 2001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    peer_says(t, MS(700), .ack = 3001);
    for (int k = 3; k < 7; k++)
        expect_sent(t, .at = MS(700), .from = 1 + 1000 * k, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    script_free(t);
}

/* Where losses count as corruption, a timeout leaves the window as it is (docs/SCPS-TP.md section
 * 3.4), and no acknowledgement clocks what is resent. What the token bucket holds leaves at once,
 * four segments; the others are spread over the round trip, since RFC 6582 section 3.2 step 3
 * recommends measures against bursts: at a rate a sixteenth above the window of ten segments in 100
 * ms one leaves every 9.8 ms. */
static void a_window_kept_at_a_timeout_is_spread(void **x)
{
    struct script *t = script_of(x);
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    t->cfg.burst = 4240;
    script_flight(t, MS(200), 8000, 8);
    for (int k = 0; k < 4; k++)
        expect_sent(t, .at = MS(500), .from = 1 + 1000 * k, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PACE);
    expect_sent(t, .at = MS(509), .slack = MS(2), .from = 4001, .len = 1000);
    expect_sent(t, .at = MS(518), .slack = MS(2), .from = 5001, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5681 section 3.1: the retransmission fills the window of one segment, so its acknowledgement
 * enlarges the window, even if the application had nothing more to send. */
static void cwnd_after_a_timeout_of_one_segment(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    scps_time at = MS(200) + script_info(t).rto;
    expect_sent(t, .at = at, .from = 1, .len = 1000);
    peer_says(t, at + MS(100), .ack = 1001);
    assert_int_equal(script_info(t).cwnd, 2000);
    app_writes(t, at + MS(110), 5000);
    expect_sent(t, .from = 1001, .len = 1000);
    expect_sent(t, .from = 2001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    script_free(t);
}

/* After a timeout, data reported by SACK is not resent. */
static void a_timeout_with_sack(void **x)
{
    struct script *t = script_of(x);
    t->cfg.spurious_undo = false;
    script_flight(t, MS(200), 4000, 4);
    peer_says(t, MS(300), .ack = 1, .sack = {{2001, 3001}});
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(600), .ack = 1001, .sack = {{2001, 3001}});
    expect_sent(t, .at = MS(600), .from = 1001, .len = 1000);
    expect_sent(t, .at = MS(600), .from = 3001, .len = 1000);
    peer_says(t, MS(700), .ack = 4001);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* RFC 2018 sections 8 and 5: the receiver may discard data that it reported by SACK; after a
 * timeout the sender ignores the reports. */
static void reneging(void **x)
{
    struct script *t = script_of(x);
    t->cfg.spurious_undo = false;
    script_flight(t, MS(200), 3000, 3);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    uint32_t iss = t->last.seq - 1;
    /* The hole is filled, but the acknowledgement number shows that 1001 is missing. */
    peer_says(t, MS(600), .ack = 1001);
    script_run(t, MS(2000));
    bool seen = false;
    while (script_sent_count(t)) {
        expect_sent(t, .any_len = true);
        seen |= t->last.len == 1000 && t->last.seq - iss == 1001;
    }
    assert_true(seen); /* The data that the peer had reported and discarded is resent. */
    peer_says(t, MS(2100), .ack = 3001);
    script_free(t);
}

/* RFC 2018 section 5: the reports before a timeout are ignored after it, but not the same blocks
 * when they are reported again: that data has arrived since, or was not discarded. */
static void reported_again_after_reneging(void **x)
{
    struct script *t = script_of(x);
    t->cfg.spurious_undo = false;
    script_flight(t, MS(200), 5000, 5);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(600), .ack = 1001, .sack = {{4001, 5001}, {3001, 4001}});
    expect_sent(t, .at = MS(600), .from = 2001, .len = 1000);
    expect_sent(t, .at = MS(900), .slack = MS(700), .from = 1001, .len = 1000);
    scps_time at = script_now(t) + MS(100);
    peer_says(t, at, .ack = 2001, .sack = {{4001, 5001}, {3001, 4001}});
    script_run(t, at + MS(50));
    script_forget_sent(t);
    assert_int_equal(script_info(t).inflight, 1000); /* the segment from 2001 on alone */
    peer_says(t, at + MS(100), .ack = 5001);
    script_free(t);
}

/* RFC 2018 section 5: the segment at SND.UNA was reported by SACK but has not arrived, so the
 * report is false. Data that arrives behind it does not restart the timer; otherwise the timer
 * would never expire. */
static void a_false_report_at_the_left_edge(void **x)
{
    struct script *t = script_of(x);
    t->cfg.init_cwnd_segs = 10;
    script_flight(t, MS(200), 10000, 10);
    for (int i = 0; i < 4; i++) {
        peer_says(t, MS(300 + 50 * i), .ack = 1, .sack = {{1, 1001}, {4001, 7001 + 1000 * i}});
        script_forget_sent(t);
    }
    script_run(t, MS(600));
    assert_int_equal(script_info(t).timeouts, 1);
    script_forget_sent(t);
    peer_says(t, MS(700), .ack = 10001);
    script_run(t, SEC(2));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5682 section 2.1: the first acknowledgement after a timeout releases two new segments instead
 * of retransmissions. If the next one advances SND.UNA, too, the timeout was spurious and the
 * window is restored. */
static void frto_without_sack(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    /* The original is acknowledged, 400 ms after it was sent. */
    peer_says(t, MS(600), .ack = 1001);
    expect_sent(t, .at = MS(600), .from = 10001, .len = 1000);
    expect_sent(t, .at = MS(600), .from = 11001, .len = 1000);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(610), .ack = 2001);
    struct scps_info i = script_info(t);
    assert_int_equal(i.spurious, 1);
    assert_true(i.cwnd >= 10000);
    assert_true(i.ssthresh > 100000);
    while (script_sent_count(t)) {
        expect_sent(t, .any_len = true);
    }
    assert_int_equal(script_info(t).resent_segs, 1);
    script_free(t);
}

/* F-RTO after a timeout for a segment that was lost: the second acknowledgement is a duplicate, so
 * the timeout was not spurious (RFC 5682 section 2.1). */
static void frto_second_ack_is_a_duplicate(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(600), .ack = 1001);
    expect_sent(t, .at = MS(600), .from = 10001, .len = 1000);
    expect_sent(t, .at = MS(600), .from = 11001, .len = 1000);
    peer_says(t, MS(700), .ack = 1001);
    expect_sent(t, .at = MS(700), .from = 1001, .len = 1000);
    assert_int_equal(script_info(t).spurious, 0);
    assert_true(script_info(t).cwnd <= 5000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5682 section 3.1 step 2b: "if the Cumulative Acknowledgment field does not cover
 * RecoveryPoint but is larger than SND.UNA, transmit up to two new (previously unsent) segments and
 * proceed to step 3", whatever else the first acknowledgement covers. Step 3b: the second covers
 * data that was not resent, so the timeout was spurious. */
static void frto_with_sack(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(520), .ack = 2001); /* The acknowledgement covers more than was resent. */
    assert_int_equal(script_info(t).spurious, 0);
    expect_sent(t, .at = MS(520), .from = 10001, .len = 1000);
    expect_sent(t, .at = MS(520), .from = 11001, .len = 1000);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(530), .ack = 3001);
    assert_int_equal(script_info(t).spurious, 1);
    assert_true(script_info(t).cwnd >= 10000);
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 1);
    script_free(t);
}

/* RFC 5682 section 3.1 step 3a: "If the Cumulative Acknowledgment field or the SACK information
 * covers more than RecoveryPoint", conventional recovery follows, even if SND.UNA advances. */
static void frto_sack_beyond_recovery_point(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(600), .ack = 1001);
    expect_sent(t, .at = MS(600), .from = 10001, .len = 1000);
    expect_sent(t, .at = MS(600), .from = 11001, .len = 1000);
    peer_says(t, MS(700), .ack = 2001, .sack = {{10001, 11001}});
    expect_sent(t, .at = MS(700), .from = 2001, .len = 1000);
    assert_int_equal(script_info(t).spurious, 0);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5682 2.1 step 2a: "the acknowledgment does not acknowledge all of the data that was
 * retransmitted in step 1, revert to the conventional RTO recovery" */
static void frto_and_a_partial_ack(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(600), .ack = 501);
    expect_sent(t, .at = MS(600), .from = 1001, .len = 1000);
    assert_int_equal(script_info(t).spurious, 0);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5682 sections 2.1 and 3.1 step 2b: "If the TCP sender does not have any new data to send, or
 * the advertised window prohibits new transmissions, the recommended action is to skip step 3 of
 * this algorithm and continue with slow-start retransmissions, following the conventional RTO
 * recovery algorithm". Here a receiver without time stamps lacks the last five segments of the
 * flight and gets them within three round trips after the timeout. */
static void frto_without_new_data(void **x)
{
    for (int how = 0; how < 4; how++) {
        bool window = how & 1;
        struct script *t = script_of(x);
        t->peer.sack = how & 2;
        t->peer_wnd = window ? 10000 : 65535;
        script_established(t, MS(100));
        app_writes(t, MS(200), window ? 20000 : 10000);
        for (int k = 0; k < 10; k++)
            expect_sent(t, .at = MS(200), .from = 1 + 1000 * k, .len = 1000);
        peer_says(t, MS(300), .ack = 5001, .wnd = window ? 5000 : 65535);
        scps_time at = MS(300) + script_info(t).rto;
        expect_sent(t, .at = at, .from = 5001, .len = 1000);
        peer_says(t, at + MS(100), .ack = 6001, .wnd = window ? 4000 : 65535);
        expect_sent(t, .at = at + MS(100), .from = 6001, .len = 1000);
        expect_sent(t, .at = at + MS(100), .from = 7001, .len = 1000);
        peer_says(t, at + MS(200), .ack = 8001, .wnd = window ? 2000 : 65535);
        expect_sent(t, .at = at + MS(200), .from = 8001, .len = 1000);
        expect_sent(t, .at = at + MS(200), .from = 9001, .len = 1000);
        peer_says(t, at + MS(300), .ack = 10001, .wnd = 65535);
        assert_int_equal(script_info(t).timeouts, 1);
        assert_int_equal(script_info(t).spurious, 0);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 5682 section 2.1 step 1: "If the TCP sender is already in RTO recovery AND "recover" is
 * larger than or equal to SND.UNA [...], do not enter step 2 of this algorithm". After the second
 * timeout lost segments are resent before new data is sent, even if SND.UNA advanced between the
 * two. */
static void frto_once_a_recovery(void **x)
{
    for (int sack = 0; sack < 2; sack++) {
        struct script *t = script_of(x);
        t->peer.sack = sack;
        script_flight(t, MS(200), 20000, 10);
        expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
        peer_says(t, MS(600), .ack = 1001);
        expect_sent(t, .at = MS(600), .from = 10001, .len = 1000);
        expect_sent(t, .at = MS(600), .from = 11001, .len = 1000);
        /* The RTO is 300 ms, backed off until an RTT is measured. */
        expect_sent(t, .at = MS(1200), .from = 1001, .len = 1000);
        peer_says(t, MS(1300), .ack = 2001);
        expect_sent(t, .at = MS(1300), .from = 2001, .len = 1000);
        expect_sent(t, .at = MS(1300), .from = 3001, .len = 1000);
        assert_int_equal(script_info(t).spurious, 0);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 4015 section 3.4: after a spurious timeout "cwnd <- FlightSize + min (bytes_acked, IW)", so
 * that no more than an initial window leaves at once. Here the window of before the timeout is
 * restored, and what it lets out is spread over a round trip, whether an echo or a DSACK has shown
 * that the timeout was spurious. */
static void an_undone_timeout_causes_no_burst(void **x)
{
    for (int dsack = 0; dsack < 2; dsack++) {
        struct script *t = script_of(x);
        uint32_t echo = 0;
        int mss = dsack ? 1000 : 988;

        t->cfg.init_cwnd_segs = 40;
        if (dsack)
            script_flight(t, MS(200), 120 * mss, 40);
        else
            echo = script_timed_flight(t, 120 * mss, 40);
        expect_sent(t, .at = MS(500), .from = 1, .len = mss);
        if (dsack)
            peer_says(t, MS(1400), .ack = 40 * mss + 1, .sack = {{1, 1 + mss}});
        else
            peer_says(t, MS(1400), .ack = 39 * mss + 1, .tsecr = echo);
        assert_int_equal(script_info(t).spurious, 1);
        assert_true(script_info(t).cwnd >= 40u * (unsigned)mss);
        assert_in_range(script_forget_sent(t), 1, 10);
        script_run(t, MS(1400) + script_info(t).srtt);
        assert_true(script_forget_sent(t) >= 25);
        script_free(t);
    }
}

/* RFC 3522 (Eifel): the acknowledgement echoes the time stamp of the original, so the timeout was
 * spurious. */
static void eifel(void **x)
{
    struct script *t = script_of(x);
    uint32_t echo = script_timed_flight(t, 9880, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 988);
    peer_says(t, MS(520), .ack = 989, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 1);
    assert_true(script_info(t).cwnd >= 9880);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* RFC 3522: the acknowledgement echoes the time stamp of the retransmission, so the segment was
 * lost. */
static void eifel_echo_of_the_retransmission(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_flight(t, MS(200), 9880, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 988);
    peer_says(t, MS(600), .ack = 989);
    assert_int_equal(script_info(t).spurious, 0);
    expect_sent(t, .at = MS(600), .from = 989, .len = 988);
    expect_sent(t, .at = MS(600), .from = 1977, .len = 988);
    script_free(t);
}

/* RFC 3522 section 3.2 steps 3 and 4: the first acceptable acknowledgement after the retransmission
 * decides. That of a later segment, which came late and has an older time stamp, does not. */
static void eifel_is_decided_by_the_first(void **x)
{
    struct script *t = script_of(x);
    uint32_t echo = script_timed_flight(t, 9880, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 988);
    peer_says(t, MS(600), .ack = 989); /* It echoes the retransmission. */
    script_forget_sent(t);
    peer_says(t, MS(610), .ack = 1977, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 0);
    script_forget_sent(t);
    script_free(t);
}

/* Sends ten segments with time stamps and lets the timer resend the first at 500 ms. Returns the
 * time stamp of the last segment. */
static uint32_t resent_after(struct script *t)
{
    uint32_t echo;

    echo = script_timed_flight(t, 9880, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 988);
    return echo;
}

/* RFC 3522 section 3.2 step 5: "If the acceptable ACK carries a DSACK option, then proceed to step
 * (DONE)". All acknowledgements were lost, and the retransmission is a duplicate, which is answered
 * with the time stamp of earlier data (RFC 7323 section 4.3): nothing was late (section 3.3). By
 * RFC 3708 the window is restored, but later segments may be lost, so they are resent at once. The
 * RTT is that of the retransmission. */
static void eifel_and_a_duplicate(void **x)
{
    struct script *t = script_of(x);
    uint32_t echo = resent_after(t);
    peer_says(t, MS(600), .ack = 1 + 4 * 988, .sack = {{1, 989}}, .tsecr = echo);
    struct scps_info i = script_info(t);
    assert_int_equal(i.last_rtt, MS(100));
    assert_true(i.cwnd >= 9880);
    for (int k = 4; k < 10; k++)
        expect_sent(t, .at = MS(600), .from = 1 + k * 988, .len = 988);
    script_free(t);
}

/* A DSACK that arrives sooner than the minimum RTT after the last retransmission is not its answer,
 * and gives no sample. */
static void a_duplicate_too_soon(void **x)
{
    struct script *t = script_of(x);
    uint32_t echo = resent_after(t);
    peer_says(t, MS(550), .ack = 1 + 4 * 988, .sack = {{1, 989}}, .tsecr = echo);
    assert_int_equal(script_info(t).srtt, MS(100)); /* The RTT is still that of the handshake. */
    script_forget_sent(t);
    script_free(t);
}

/* A DSACK of an older duplicate says nothing about the data that is acknowledged now. */
static void eifel_and_an_older_duplicate(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    app_writes(t, MS(150), 988);
    expect_sent(t, .at = MS(150), .from = 1, .len = 988);
    peer_says(t, MS(250), .ack = 989);
    app_writes(t, MS(300), 9880);
    for (int k = 1; k < 11; k++)
        expect_sent(t, .from = 1 + 988 * k, .len = 988);
    uint32_t echo = t->last.tsval;
    scps_time at = MS(300) + script_info(t).rto;
    expect_sent(t, .at = at, .from = 989, .len = 988);
    peer_says(t, at + MS(20), .ack = 1 + 2 * 988, .sack = {{1, 989}}, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 1);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 3522 section 3.2: "The Eifel detection algorithm MUST NOT be reinitiated after loss recovery
 * has already started": a later timeout of the same recovery cannot be found spurious, and its
 * earlier losses stay. */
static void eifel_begins_once(void **x)
{
    struct script *t = script_of(x);
    uint32_t echo = script_timed_flight(t, 60000, 10);
    peer_says(t, MS(300), .ack = 1, .sack = {{989, 3953}}, .tsecr = echo);
    expect_sent(t, .at = MS(300), .from = 1, .len = 988);
    script_forget_sent(t);
    peer_says(t, MS(400), .ack = 3953, .tsecr = t->last.tsval);
    script_forget_sent(t);
    scps_time at = MS(400) + script_info(t).rto;
    expect_sent(t, .at = at, .from = 3953, .len = 988);
    peer_says(t, at + MS(20), .ack = 3953 + 988, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 0);
    script_forget_sent(t);
    script_free(t);
}

/* Sends twenty segments of 988 octets, of which the fifth is resent in a spurious recovery, and
 * then the tenth in another recovery. *echo becomes the TSval of the first transmissions, *again
 * that of the tenth segment's retransmission. */
static struct script *tenth_after_spurious_fifth(void **x, int64_t *echo, int64_t *again)
{
    struct script *t = script_of(x);

    t->cfg.init_cwnd_segs = 20;
    *echo = script_timed_flight(t, 20 * 988, 20);
    peer_says(t, MS(300), .ack = 1, .sack = {{989, 3953}}, .tsecr = *echo);
    expect_sent(t, .at = MS(300), .from = 1, .len = 988);
    peer_says(t, MS(301), .ack = 1, .sack = {{4941, 7905}, {989, 3953}}, .tsecr = *echo);
    expect_sent(t, .at = MS(301), .from = 3953, .len = 988);
    peer_says(t, MS(310), .ack = 3953, .sack = {{4941, 7905}}, .tsecr = *echo);
    assert_int_equal(script_info(t).spurious, 1);
    peer_says(t, MS(311), .ack = 3953, .sack = {{9881, 12845}, {4941, 8893}}, .tsecr = *echo);
    /* Only one segment was late, so there is no reordering window yet. */
    expect_sent(t, .at = MS(311), .from = 8893, .len = 988);
    *again = t->last.tsval;
    return t;
}

/* RFC 3522 section 3.2 step 2: what counts is the time stamp "in the retransmit sent when loss
 * recovery is initiated", which need not be that of the oldest segment. The acknowledgement of the
 * tenth decides. */
static void eifel_beyond_the_edge(void **x)
{
    for (int late = 0; late < 2; late++) {
        int64_t echo, again;
        struct script *t = tenth_after_spurious_fifth(x, &echo, &again);
        peer_says(t, MS(320), .ack = 8893, .sack = {{9881, 12845}}, .tsecr = echo);
        assert_int_equal(script_info(t).spurious, 1);
        peer_says(t, MS(411), .ack = 12845, .tsecr = late ? echo : again);
        assert_int_equal(script_info(t).spurious, 1 + late);
        assert_true((script_info(t).cwnd >= 20 * 988) == late);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 3522 section 3.2 step 3: the first acknowledgement of the retransmission decides. It also
 * passes a lower hole, because acknowledgements between were lost. After less than the least round
 * trip it is not the answer to the retransmission. Later it may be: the retransmission arrived
 * beyond the lower hole, and the receiver did not note its timestamp (RFC 7323 section 4.3). */
static void eifel_passes_two_holes(void **x)
{
    for (int late = 0; late < 2; late++) {
        int64_t echo, again;
        struct script *t = tenth_after_spurious_fifth(x, &echo, &again);
        script_forget_sent(t);
        peer_says(t, late ? MS(413) : MS(410), .ack = 12845, .tsecr = echo);
        assert_int_equal(script_info(t).spurious, 2 - late);
        script_forget_sent(t);
        script_free(t);
    }
}

/* A spurious timeout without time stamps: the receiver had the data that the timer resent, so by
 * RFC 3708 the window is restored. Its acknowledgement was lost, not late, and later segments may
 * be lost, so they are resent at once. */
static void frto_and_a_duplicate(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(600), .ack = 4001, .sack = {{1, 1001}});
    for (int k = 4; k < 10; k++)
        expect_sent(t, .at = MS(600), .from = 1 + 1000 * k, .len = 1000);
    assert_int_equal(script_info(t).last_rtt, MS(100));
    script_forget_sent(t);
    script_free(t);
}

/* The peer is not known to send DSACK: an echo from before the last retransmission gives no
 * sample. */
static void an_old_echo(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    uint32_t echo = resent_after(t);
    peer_says(t, MS(600), .ack = 1 + 10 * 988, .tsecr = echo);
    assert_int_equal(script_info(t).srtt, MS(100)); /* The RTT is still that of the handshake. */
    script_free(t);
}

/* A SYN-ACK was lost, and the one that answers the repeated SYN echoes the first SYN: this gives no
 * sample, and by RFC 6298 (5.7) the RTO for data is 3 s. An echo of the last SYN gives a sample. */
static void a_lost_syn_ack(void **x)
{
    for (int last = 0; last < 2; last++) {
        struct script *t = script_of(x);
        t->cfg.timestamps = t->peer.ts = true;
        script_connect(t, 0);
        expect_sent(t, .at = 0, .flags = SCPS_SYN);
        uint32_t echo = t->last.tsval;
        expect_sent(t, .at = SEC(1), .flags = SCPS_SYN);
        expect_sent(t, .at = SEC(3), .flags = SCPS_SYN);
        peer_says(t, SEC(3) + MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1,
                  .tsecr = last ? t->last.tsval : echo);
        expect_sent(t, .from = 1, .ack = 1);
        assert_int_equal(script_info(t).srtt, last ? MS(100) : 0);
        assert_int_equal(script_info(t).rto, last ? MS(300) : SEC(3));
        script_free(t);
    }
}

static void undo_is_optional(void **x)
{
    struct script *t = script_of(x);
    t->cfg.spurious_undo = false;
    script_flight(t, MS(200), 10000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    peer_says(t, MS(520), .ack = 2001);
    assert_int_equal(script_info(t).spurious, 0);
    assert_true(script_info(t).cwnd <= 5000);
    script_forget_sent(t);
    script_free(t);
}

/* Each segment is acknowledged 700 ms after it was sent, as with an ACK budget. The RTO of 300 ms
 * comes from the handshake: each segment is resent, and losses attributed to corruption do not
 * back off. The acknowledgement echoes the original (RFC 7323 section 4.3) or nothing, and Karn's
 * algorithm (RFC 6298 section 3) takes no sample: the RTO has to learn the longer RTT all the
 * same. */
static void late_answers(void **x, bool ts, bool sack)
{
    struct script *t = script_of(x);

    t->cfg.timestamps = t->peer.ts = ts;
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    t->peer.sack = sack;
    script_established(t, MS(100));
    for (uint32_t k = 0; k < 10; k++) {
        scps_time at = SEC(1) + MS(700) * k;
        uint32_t from = 1 + 500 * k, echo, resent;
        app_writes(t, at, 500);
        expect_sent(t, .at = at, .from = from, .len = 500);
        echo = t->last.tsval;
        script_run(t, at + MS(700));
        resent = script_forget_sent(t);
        if (k < 4)
            assert_in_range(resent, 1, 3);
        else
            assert_int_equal(resent, 0);
        if (sack && resent)
            peer_says(t, at + MS(700), .ack = from + 500, .sack = {{from, from + 500}},
                      .tsecr = echo);
        else
            peer_says(t, at + MS(700), .ack = from + 500, .tsecr = echo);
        assert_in_range(script_info(t).rto, MS(200), MS(3000));
        /* RFC 6298 section 2.2: the first certain RTT after a guess counts as the first one. */
        if (!ts && !sack && k >= 4)
            assert_int_equal(script_info(t).srtt, MS(700));
    }
    script_free(t);
}

static void late_answers_with_echo(void **x)
{
    late_answers(x, true, false);
}

static void late_answers_without_echo(void **x)
{
    late_answers(x, false, false);
}

static void late_answers_with_dsack(void **x)
{
    late_answers(x, true, true);
    late_answers(x, false, true);
}

/* RFC 9293 section 3.8.3: R2 is at least 100 s. Timeouts attributed to corruption do not back off,
 * but data_retries stands for the time that they would take with backoff: 0.3 + 0.6 + ... + 38.4 +
 * 8 x 60 s. An acknowledgement starts it anew. */
static void corruption_does_not_shorten_the_limit(void **x)
{
    for (int few = 0; few < 2; few++) {
        struct script *t = script_of(x);
        scps_dur limit = few ? SEC(100) : MS(556500);
        t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
        if (few)
            t->cfg.data_retries = 2;
        script_established(t, MS(100));
        script_forget_events(t);
        app_writes(t, SEC(1), 20);
        script_run(t, SEC(1) + limit - MS(500));
        expect_state(t, SCPS_ESTABLISHED);
        script_forget_sent(t);
        peer_says(t, SEC(1) + limit - MS(500), .ack = 11);
        script_run(t, SEC(1) + 2 * limit - MS(600));
        expect_state(t, SCPS_ESTABLISHED);
        script_run(t, SEC(1) + 2 * limit + SEC(1));
        script_forget_events(t);
        expect_state(t, SCPS_CLOSED);
        assert_int_equal(scps_conn_error(t->c), SCPS_ERR_TIMEDOUT);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 6298 (5.5) and (2.4): up to eight timeouts in a row attributed to corruption do not back off.
 * In a longer silence the RTO backs off up to a second: otherwise, on a path of 1 ms with an RTO of
 * 3 ms, 33 000 timeouts would fit into the time until the connection ends. After a round
 * trip has been measured that backoff is over. */
static void corruption_does_not_last(void **x)
{
    struct script *t = script_of(x);
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    t->cfg.rto_min = MS(1);
    script_established(t, MS(1));
    script_forget_events(t);
    assert_in_range(script_info(t).rto, MS(2), MS(4));
    for (int i = 0; i < 2; i++) {
        scps_time at = SEC(1 + 200 * i);
        uint32_t before = script_info(t).timeouts, rto = (uint32_t)script_info(t).rto;
        app_writes(t, at, 20);
        script_run(t, at + 8 * rto);
        assert_int_equal(script_info(t).timeouts - before, 8);
        script_run(t, at + SEC(95));
        assert_in_range(script_info(t).timeouts - before, 100, 115);
        peer_says(t, at + SEC(95), .ack = 21 + 40 * i);
        /* A round trip is measured, which ends the backoff. */
        app_writes(t, at + SEC(96), 20);
        peer_says(t, at + SEC(96) + MS(1), .ack = 41 + 40 * i);
        script_forget_sent(t);
        script_forget_events(t);
    }
    script_free(t);
}

/* RFC 6298 section 5: after a backoff the timer returns to what SRTT and RTTVAR give when a round
 * trip has been measured, "which can only happen when new data has been sent and acknowledged". So
 * after eight timeouts without a sample the RTO backs off, although losses are attributed to
 * corruption and the peer acknowledges each retransmission, `after` µs after it was sent. Returns
 * the longest timeout, which `most` bounds, µs. */
static scps_dur acknowledged_after(struct script *t, scps_dur after, scps_dur most)
{
    scps_time at = SEC(1);
    scps_dur rto = 0, longest = 0;

    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    t->cfg.rto_min = MS(1);
    script_established(t, MS(1));
    script_forget_events(t);
    app_writes(t, at, 40);
    for (uint32_t i = 0; i < 28; i++) {
        /* The first four answers show that the timer is too short, and end the backoff. */
        uint32_t unmeasured = i < 4 ? 0 : i - 4;
        scps_dur wait;
        if (!unmeasured)
            rto = script_info(t).rto;
        wait = rto << (unmeasured > 8 ? unmeasured - 8 : 0);
        wait = wait < most ? wait : most;
        longest = wait > longest ? wait : longest;
        script_run(t, at + wait - 1);
        assert_int_equal(script_info(t).timeouts, i);
        at += wait + after;
        peer_says(t, at, .ack = 2 + i);
        assert_int_equal(script_info(t).timeouts, i + 1);
        script_forget_sent(t);
    }
    script_forget_events(t);
    return longest;
}

/* Each acknowledgement comes half of the minimum RTT after a retransmission, so the timer is
 * shorter than the round trip, and one second may be too short, too: the backoff goes beyond the
 * second that bounds it towards a silent peer. */
static void corruption_and_no_round_trip(void **x)
{
    struct script *t = script_of(x);

    assert_true(acknowledged_after(t, 500, SEC(60)) > SEC(2));
    script_free(t);
}

/* Each acknowledgement comes one round trip after a retransmission, so the timer is long enough,
 * and each flight was lost again: the backoff is bounded by one second, however many timeouts
 * follow each other without an RTT sample. */
static void corruption_of_each_flight(void **x)
{
    struct script *t = script_of(x);

    assert_int_equal(acknowledged_after(t, MS(1), SEC(1)), SEC(1));
    script_free(t);
}

/* The number of retries is 255, 256 (more than 8 bits hold), or the largest: the connection ends
 * after 0.3 + 0.6 + ... + 38.4 + (n - 7) x 60 s; and with a timer that doubles for a hundred
 * years. */
static void many_retries(void **x)
{
    static const uint16_t retries[] = {255, 256, 300, UINT16_MAX};
    struct script *t;

    for (unsigned i = 0; i < sizeof retries / sizeof *retries; i++) {
        int64_t end = 77 + (retries[i] - INT64_C(7)) * 60;
        t = script_of(x);
        t->cfg.data_retries = retries[i];
        script_established(t, MS(100));
        app_writes(t, SEC(1), 10);
        for (int64_t at = 2; at < end - 6000; at += 6000) {
            script_run(t, SEC(at));
            script_forget_sent(t);
        }
        script_run(t, SEC(end - 7));
        expect_state(t, SCPS_ESTABLISHED);
        script_run(t, SEC(end + 3));
        expect_state(t, SCPS_CLOSED);
        script_forget_sent(t);
        script_forget_events(t);
        script_free(t);
    }

    t = script_of(x);
    t->cfg.data_retries = UINT16_MAX;
    t->cfg.rto_max = SEC(INT64_C(100) * 365 * 86400);
    script_established(t, MS(100));
    app_writes(t, SEC(1), 10);
    script_run(t, SEC(30000000));
    expect_state(t, SCPS_ESTABLISHED);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5482: the connection ends when data has not been acknowledged for the user timeout, whatever
 * the number of retries. */
static void user_timeout(void **x)
{
    struct script *t = script_of(x);
    t->cfg.user_timeout = SEC(5);
    t->cfg.data_retries = 2;
    script_established(t, MS(100));
    script_forget_events(t);
    app_writes(t, SEC(1), 10);
    script_run(t, MS(5999));
    expect_state(t, SCPS_ESTABLISHED);
    script_run(t, SEC(6));
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.9.1.1: the user timeout is "for all data submitted to TCP", so it also ends a
 * connection whose data waits for the peer's window. It is counted from that data, and not from the
 * last acknowledgement, which may have arrived long before. */
static void user_timeout_of_a_closed_window(void **x)
{
    struct script *t = script_of(x);
    for (int k = 0; k < 2; k++) {
        t->cfg.user_timeout = SEC(5);
        script_established(t, MS(100));
        script_forget_events(t);
        app_writes(t, MS(200), 1000);
        expect_sent(t, .from = 1, .len = 1000);
        /* The window is closed, or has room for a silly segment, which the override timeout of
         * section 3.8.6.2.1 sends. */
        peer_says(t, MS(300), .ack = 1001, .wnd = k ? 10 : ZERO);
        script_forget_events(t);
        app_writes(t, SEC(60), 2000);
        scps_time first = SEC(60) + script_info(t).rto;
        expect_sent(t, .at = first, .from = 1001, .len = k ? 10 : 1);
        script_run(t, first + MS(4999));
        expect_state(t, SCPS_ESTABLISHED);
        script_run(t, first + SEC(5));
        expect_error(t, SCPS_ERR_TIMEDOUT);
        script_forget_sent(t);
        script_free(t);
        t = k ? NULL : script_of(x);
    }
}

/* RFC 6298 (5.6): an RTO that was raised is computed anew from SRTT when a new sample comes. */
static void a_growing_path(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    /* A needless retransmission that the peer reports shows that the peer can report them. */
    app_writes(t, MS(200), 10);
    expect_sent(t, .at = MS(200), .from = 1, .len = 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 10);
    peer_says(t, MS(600), .ack = 11, .sack = {{1, 11}});
    app_writes(t, MS(1000), 10);
    expect_sent(t, .at = MS(1000), .from = 11, .len = 10);
    scps_dur rto = script_info(t).rto;
    expect_sent(t, .at = MS(1000) + rto, .from = 11, .len = 10);
    uint32_t echo = t->last.tsval;
    /* This acknowledges the original: 800 ms. */
    peer_says(t, MS(1800), .ack = 21, .tsecr = echo - (uint32_t)(rto / 1000));
    struct scps_info i = script_info(t);
    assert_true(i.srtt > MS(150) && i.rto > MS(800));
    script_free(t);
}

/* The SYN was lost and no RTT is known: the report of a segment resent after the timeout may belong
 * to its original, so it says nothing about segments resent before it. */
static void no_round_trip_yet(void **x)
{
    struct script *t = script_of(x);
    t->cfg.init_cwnd_segs = 10;
    scps_conn_config_set_cc(&t->cfg, scps_cc_find("rate"), NULL);
    t->cfg.rate = 1000000000;
    t->cfg.spurious_undo = false;
    t->peer.sack = true;
    script_connect(t, 0);
    script_run(t, SEC(1) + MS(50));
    script_forget_sent(t);
    peer_says(t, SEC(1) + MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    app_writes(t, SEC(1) + MS(100), 6000);
    script_run(t, SEC(4) + MS(50)); /* RFC 6298 (5.7): the RTO is 3 s. */
    script_forget_sent(t);
    script_run(t, SEC(4) + MS(150));
    for (int k = 0; k < 6; k++)
        expect_sent(t, .at = SEC(4) + MS(100), .slack = 1, .from = 1 + 1000 * k, .len = 1000);
    peer_says(t, SEC(4) + MS(160), .ack = 1, .sack = {{5001, 6001}});
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).resent_segs, 7); /* The count includes the SYN. */
    script_free(t);
}

/* RFC 6298 section 5: the backoff ends "once a new RTT measurement is obtained (which can only
 * happen when new data has been sent and acknowledged)". The time in which the connection is idle,
 * and its send state is freed, is no measurement: over a path whose round trip has become longer
 * than the RTO each segment would be resent needlessly, for ever. */
static void the_backoff_outlasts_an_idle_time(void **x)
{
    struct script *t = script_of(x);
    scps_dur rto;

    script_established(t, MS(100));
    rto = script_info(t).rto;
    app_writes(t, SEC(1), 100);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 100);
    expect_sent(t, .at = SEC(1) + rto, .from = 1, .len = 100);
    peer_says(t, SEC(1) + MS(500), .ack = 101);
    app_writes(t, SEC(100), 100);
    expect_sent(t, .at = SEC(100), .from = 101, .len = 100);
    peer_says(t, SEC(100) + MS(500), .ack = 201);
    expect_quiet(t, ANY_HOLD);
    assert_in_range(script_info(t).rto, MS(500), SEC(3));
    script_free(t);
}

/* RFC 9293 section 3.8.3, R2: the peer answers each retransmission of one segment by a SACK block
 * that reports just this segment as a duplicate, and acknowledges nothing. A receiver that has the
 * octet at SEG.ACK acknowledges it, so the report is false; the connection ends as without it. */
static void a_false_dsack_of_the_oldest_segment(void **x)
{
    struct script *t = script_of(x);

    script_established(t, MS(100));
    app_writes(t, SEC(1), 4000);
    peer_says(t, MS(1200), .ack = 1001);
    for (int s = 3; s <= 3600 && script_info(t).state != SCPS_CLOSED; s += 3) {
        script_run(t, SEC(s));
        if (script_info(t).state != SCPS_CLOSED)
            peer_says(t, SEC(s), .ack = 1001, .sack = {{1001, 2001}, {1001, 4001}});
        script_forget_sent(t);
    }
    expect_state(t, SCPS_CLOSED);
    assert_int_equal(script_info(t).dsacks_in, 0);
    script_forget_events(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(the_backoff_outlasts_an_idle_time),
        SCRIPT_TEST(no_round_trip_yet),
        SCRIPT_TEST(estimates),
        SCRIPT_TEST(backoff),
        SCRIPT_TEST(backoff_with_timestamps),
        SCRIPT_TEST(progress_restarts_the_timer),
        SCRIPT_TEST(r2_begins_when_data_is_sent),
        SCRIPT_TEST(rto_is_bounded),
        SCRIPT_TEST(rto_min_of_a_short_path),
        SCRIPT_TEST(rto_of_a_long_path),
        SCRIPT_TEST(rto_of_a_slow_line),
        SCRIPT_TEST(a_resend_that_waits),
        SCRIPT_TEST(rto_behind_a_deep_queue),
        SCRIPT_TEST(a_lost_syn_with_a_hint),
        SCRIPT_TEST(window_after_a_timeout),
        SCRIPT_TEST(a_window_kept_at_a_timeout_is_spread),
        SCRIPT_TEST(cwnd_after_a_timeout_of_one_segment),
        SCRIPT_TEST(a_timeout_with_sack),
        SCRIPT_TEST(reneging),
        SCRIPT_TEST(reported_again_after_reneging),
        SCRIPT_TEST(a_false_report_at_the_left_edge),
        SCRIPT_TEST(frto_without_sack),
        SCRIPT_TEST(frto_second_ack_is_a_duplicate),
        SCRIPT_TEST(frto_with_sack),
        SCRIPT_TEST(frto_sack_beyond_recovery_point),
        SCRIPT_TEST(frto_and_a_partial_ack),
        SCRIPT_TEST(frto_without_new_data),
        SCRIPT_TEST(frto_once_a_recovery),
        SCRIPT_TEST(an_undone_timeout_causes_no_burst),
        SCRIPT_TEST(eifel),
        SCRIPT_TEST(eifel_echo_of_the_retransmission),
        SCRIPT_TEST(eifel_is_decided_by_the_first),
        SCRIPT_TEST(eifel_and_a_duplicate),
        SCRIPT_TEST(a_duplicate_too_soon),
        SCRIPT_TEST(eifel_and_an_older_duplicate),
        SCRIPT_TEST(eifel_begins_once),
        SCRIPT_TEST(eifel_beyond_the_edge),
        SCRIPT_TEST(eifel_passes_two_holes),
        SCRIPT_TEST(frto_and_a_duplicate),
        SCRIPT_TEST(an_old_echo),
        SCRIPT_TEST(a_lost_syn_ack),
        SCRIPT_TEST(undo_is_optional),
        SCRIPT_TEST(late_answers_with_echo),
        SCRIPT_TEST(late_answers_without_echo),
        SCRIPT_TEST(late_answers_with_dsack),
        SCRIPT_TEST(corruption_does_not_shorten_the_limit),
        SCRIPT_TEST(corruption_does_not_last),
        SCRIPT_TEST(corruption_and_no_round_trip),
        SCRIPT_TEST(corruption_of_each_flight),
        SCRIPT_TEST(many_retries),
        SCRIPT_TEST(user_timeout),
        SCRIPT_TEST(user_timeout_of_a_closed_window),
        SCRIPT_TEST(a_growing_path),
        SCRIPT_TEST(a_false_dsack_of_the_oldest_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
