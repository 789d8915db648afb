/* SPDX-License-Identifier: MIT */
/* Losses that acknowledgements show: RFC 5681 section 3.2, RFC 3042 (limited transmit), RFC 6582
 * (NewReno), RFC 6675 (SACK), RFC 6937 (PRR), RFC 2883 and RFC 3708 (DSACK). */
#include "script.h"

/* Sends ten segments of 1000 octets at 200 ms; more data waits in the send buffer. */
static struct script *ten_out(void **x, bool sack)
{
    struct script *t = script_of(x);
    t->peer.sack = sack;
    script_established(t, MS(100));
    app_writes(t, MS(200), 60000);
    for (int i = 0; i < 10; i++)
        expect_sent(t, .from = 1 + 1000 * i, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    return t;
}

/* RFC 5681 section 3.2, RFC 3042: the first two duplicate ACKs each release a new segment; the
 * third starts fast retransmit. */
static void fast_retransmit(void **x)
{
    struct script *t = ten_out(x, false);
    peer_says(t, MS(300), .ack = 1);
    expect_sent(t, .at = MS(300), .from = 10001, .len = 1000);
    peer_says(t, MS(301), .ack = 1);
    expect_sent(t, .at = MS(301), .from = 11001, .len = 1000);
    peer_says(t, MS(302), .ack = 1);
    expect_sent(t, .at = MS(302), .from = 1, .len = 1000);
    struct scps_info i = script_info(t);
    assert_int_equal(i.recoveries, 1);
    /* RFC 5681 section 3.2 step 2: "additional data sent in limited transmit MUST NOT be included
     * in this calculation". */
    assert_int_equal(i.ssthresh, 5000);
    assert_true(i.in_recovery);
    /* The other segments of the flight were delivered. */
    for (int k = 0; k < 8; k++)
        peer_says(t, MS(303 + k), .ack = 1);
    script_forget_sent(t);
    peer_says(t, MS(402), .ack = 12001);
    i = script_info(t);
    assert_false(i.in_recovery);
    assert_in_range(i.cwnd, 5000, 6000);
    assert_int_equal(i.resent_segs, 1);
    assert_int_equal(i.timeouts, 0);
    script_forget_sent(t);
    script_free(t);
}

static void limited_transmit_off(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    t->cfg.limited_transmit = false;
    script_flight(t, MS(200), 60000, 10);
    peer_says(t, MS(300), .ack = 1);
    peer_says(t, MS(301), .ack = 1);
    expect_quiet(t, SCPS_HOLD_CWND);
    peer_says(t, MS(302), .ack = 1);
    expect_sent(t, .at = MS(302), .from = 1, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5681 section 2: a segment with data, a window update, and an acknowledgement without
 * outstanding data are no duplicate ACKs. */
static void acks_that_are_not_duplicates(void **x)
{
    struct script *t = ten_out(x, false);
    for (int k = 0; k < 5; k++)
        peer_says(t, MS(300 + k), .ack = 1, .len = 10);
    for (int k = 0; k < 5; k++)
        peer_says(t, MS(310 + k), .ack = 1, .wnd = 60000 - k);
    assert_int_equal(script_info(t).dupacks_in, 0);
    assert_int_equal(script_info(t).resent_segs, 0);
    script_forget_sent(t);
    script_free(t);
}

/* Without SACK: the network duplicates two acknowledgements. Each duplicate counts as a segment
 * that has arrived, until the next acknowledgement ends the count: afterwards all that is
 * outstanding is in flight. */
static void duplicates_made_by_the_network(void **x)
{
    struct script *t = ten_out(x, false);
    peer_says(t, MS(300), .ack = 1001);
    peer_says(t, MS(300), .ack = 1001);
    peer_says(t, MS(300), .ack = 1001);
    script_forget_sent(t);
    assert_int_equal(script_info(t).inflight, script_info(t).outstanding - 2000);
    peer_says(t, MS(301), .ack = 2001);
    script_forget_sent(t);
    assert_int_equal(script_info(t).inflight, script_info(t).outstanding);
    assert_int_equal(script_info(t).resent_segs, 0);
    script_free(t);
}

/* RFC 6298 section 5.3 restarts the retransmission timer "[w]hen an ACK is received that
 * acknowledges new data". Duplicate ACKs do not restart it: if the retransmission of fast
 * retransmit is lost, and there is neither SACK nor SNACK, only a timeout resends it. */
static void duplicates_do_not_restart_the_timer(void **x)
{
    struct script *t = ten_out(x, false);
    for (int k = 0; k < 3; k++)
        peer_says(t, MS(300 + k), .ack = 1);
    expect_sent(t, .from = 10001, .len = 1000);
    expect_sent(t, .from = 11001, .len = 1000);
    expect_sent(t, .at = MS(302), .from = 1, .len = 1000);
    const scps_time end = MS(302) + script_info(t).rto;
    for (scps_time at = MS(310); at < end; at += MS(30))
        peer_says(t, at, .ack = 1);
    script_run(t, end - 1);
    assert_int_equal(script_info(t).timeouts, 0);
    script_forget_sent(t);
    script_run(t, end);
    expect_sent(t, .at = end, .from = 1, .len = 1000);
    assert_int_equal(script_info(t).timeouts, 1);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6582 section 3.2: with two losses and no SACK a partial acknowledgement resends the second:
 * one segment per round trip. */
static void partial_acknowledgements(void **x)
{
    struct script *t = ten_out(x, false);
    /* Segments 1 and 5001 are lost. */
    for (int k = 0; k < 8; k++)
        peer_says(t, MS(300 + k), .ack = 1);
    unsigned n = script_sent_count(t);
    bool first = false;
    for (unsigned k = 0; k < n; k++) {
        expect_sent(t, .any_len = true);
        first |= t->last.len == 1000 && script_info(t).resent_segs == 1;
    }
    assert_true(first);
    int64_t end = 10001 + 1000 * (int64_t)(n - 1);
    peer_says(t, MS(400), .ack = 5001);
    expect_sent(t, .at = MS(400), .from = 5001, .len = 1000);
    assert_true(script_info(t).in_recovery);
    script_forget_sent(t);
    peer_says(t, MS(500), .ack = end);
    assert_false(script_info(t).in_recovery);
    assert_int_equal(script_info(t).recoveries, 1); /* The window is halved once. */
    assert_int_equal(script_info(t).resent_segs, 2);
    assert_in_range(script_info(t).cwnd, 5000, 7000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6582 section 3.2 step 3: "For the first partial ACK that arrives during fast recovery, also
 * reset the retransmit timer." With many holes it expires, and slow start repairs the others. */
static void many_partial_acknowledgements(void **x)
{
    struct script *t = ten_out(x, false);
    /* All segments up to 6001 are lost. */
    for (int k = 0; k < 4; k++)
        peer_says(t, MS(300 + k), .ack = 1);
    for (int k = 1; k <= 4; k++) {
        script_forget_sent(t);
        peer_says(t, MS(300 + 95 * k), .ack = 1 + 1000 * k);
        expect_sent(t, .from = 1 + 1000 * k, .len = 1000);
    }
    scps_dur rto = script_info(t).rto;
    assert_in_range(rto, MS(290), MS(320));
    script_run(t, MS(395) + rto - 1);
    assert_int_equal(script_info(t).timeouts, 0);
    script_run(t, MS(395) + rto);
    assert_int_equal(script_info(t).timeouts, 1);
    script_forget_sent(t);
    script_run(t, SEC(1));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6582 section 3.2 step 3: a partial ACK that "acknowledges at least one SMSS of new data" adds
 * SMSS to the window, and the sender is to "send a new segment if permitted by the new value of
 * cwnd". The segment that the partial ACK shows to be lost does not count against that. */
static void a_partial_ack_releases_a_new_segment(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    t->cfg.init_cwnd_segs = 40;
    script_established(t, MS(100));
    app_writes(t, MS(200), 60000);
    assert_int_equal(script_forget_sent(t), 40);
    for (int k = 0; k < 10; k++)
        peer_says(t, MS(300 + k), .ack = 1);
    /* One of them was a retransmission. */
    int64_t next = 40001 + 1000 * ((int64_t)script_forget_sent(t) - 1);
    peer_says(t, MS(380), .ack = 1001);
    expect_sent(t, .at = MS(380), .from = 1001, .len = 1000);
    expect_sent(t, .at = MS(380), .from = next, .len = 1000);
    assert_true(script_info(t).in_recovery);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6675: three segments above a hole are reported, so the segment in the hole is lost, and only
 * that is resent. */
static void sack_shows_one_hole(void **x)
{
    struct script *t = ten_out(x, true);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    expect_sent(t, .at = MS(300), .from = 10001, .len = 1000);
    peer_says(t, MS(301), .ack = 1, .sack = {{1001, 3001}});
    expect_sent(t, .at = MS(301), .from = 11001, .len = 1000);
    peer_says(t, MS(302), .ack = 1, .sack = {{1001, 4001}});
    expect_sent(t, .at = MS(302), .from = 1, .len = 1000);
    for (int k = 4; k < 12; k++)
        peer_says(t, MS(299 + k), .ack = 1, .sack = {{1001, 1 + 1000 * (k + 1)}});
    script_forget_sent(t);
    struct scps_info i = script_info(t);
    assert_int_equal(i.resent_segs, 1);
    peer_says(t, MS(402), .ack = 12001 + 0);
    i = script_info(t);
    assert_false(i.in_recovery);
    assert_int_equal(i.resent_segs, 1);
    script_forget_sent(t);
    script_free(t);
}

/* Many holes in one flight are repaired within a round trip, in order, and the window is reduced
 * once. */
static void sack_shows_several_holes(void **x)
{
    struct script *t = ten_out(x, true);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}, {3001, 4001}, {5001, 6001}});
    script_forget_sent(t);
    /* Only the first segment has three others above it that have arrived. */
    assert_int_equal(script_info(t).resent_segs, 1);
    peer_says(t, MS(301), .ack = 1, .sack = {{7001, 8001}, {1001, 2001}, {3001, 4001}});
    peer_says(t, MS(302), .ack = 1, .sack = {{9001, 10001}, {7001, 8001}, {1001, 2001}});
    peer_says(t, MS(303), .ack = 1, .sack = {{10001, 11001}, {9001, 10001}, {7001, 8001}});
    script_run(t, MS(390));
    int64_t missing[] = {1, 2001, 4001, 6001, 8001};
    unsigned resent = script_info(t).resent_segs;
    assert_true(resent >= 3);
    script_forget_sent(t);
    peer_says(t, MS(400), .ack = 2001,
              .sack = {{3001, 4001}, {5001, 6001}, {7001, 8001}, {9001, 12001}});
    peer_says(t, MS(401), .ack = 4001, .sack = {{5001, 6001}, {7001, 8001}, {9001, 12001}});
    peer_says(t, MS(402), .ack = 6001, .sack = {{7001, 8001}, {9001, 12001}});
    script_run(t, MS(450));
    assert_int_equal(script_info(t).resent_segs, sizeof missing / sizeof *missing);
    assert_int_equal(script_info(t).recoveries, 1);
    assert_int_equal(script_info(t).timeouts, 0);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6937 section 3: while pipe is above ssthresh, one segment leaves for two that arrive, without
 * a burst or a pause. */
static void proportional_rate(void **x)
{
    struct script *t = script_of(x);
    t->cfg.init_cwnd_segs = 20;
    script_flight(t, MS(200), 100000, 20);
    unsigned sent[20] = {0}, total = 0;
    for (int k = 1; k < 20; k++) { /* The first segment is lost, nineteen arrive. */
        peer_says(t, MS(300 + k), .ack = 1, .sack = {{1001, 1 + 1000 * (k + 1)}});
        sent[k] = script_forget_sent(t);
        total += sent[k];
        assert_true(sent[k] <= 2);
    }
    /* 20 segments were in flight and the target is 10: about half of what was delivered is sent,
     * including the retransmission. */
    assert_int_equal(total, 10);
    /* RecoverFS is 22 segments and ssthresh 10; the third report begins the episode and counts in
     * prr_delivered. The second segment leaves when 2 * 22 / 10 = 4.4 segments have been delivered,
     * which the seventh report shows. */
    assert_int_equal(sent[3] + sent[4] + sent[5] + sent[6], 1);
    assert_int_equal(sent[7], 1);
    assert_in_range(script_info(t).cwnd, 10000, 11000);
    /* Two new segments were sent at the first two reports (limited transmit). */
    peer_says(t, MS(403), .ack = 22001);
    script_forget_sent(t);
    assert_false(script_info(t).in_recovery);
    assert_in_range(script_info(t).cwnd, 10000, 11000);
    assert_true(script_info(t).inflight <= 11000);
    script_free(t);
}

/* RFC 6937 section 3: when pipe is not above ssthresh, PRR-SSRB applies: "limit = MAX(prr_delivered
 * - prr_out, DeliveredData) + MSS" and "sndcnt = MIN(ssthresh - pipe, limit)". Of twenty segments
 * four arrive at once: five may leave, then two for one that arrives. */
static void reduction_bound(void **x)
{
    struct script *t = script_of(x);
    t->cfg.init_cwnd_segs = 20;
    script_flight(t, MS(200), 100000, 20);
    peer_says(t, MS(300), .ack = 1, .sack = {{16001, 20001}});
    assert_int_equal(script_forget_sent(t), 5);
    peer_says(t, MS(400), .ack = 1001, .sack = {{16001, 20001}});
    assert_int_equal(script_forget_sent(t), 2);
    script_free(t);
}

/* RFC 6937 section 3 uses the pipe of RFC 6675 section 4, without the segments that are lost. A
 * later acknowledgement of the episode shows that 33 more segments are lost: only "limit =
 * MAX(prr_delivered - prr_out, DeliveredData) + MSS" may leave, not all by which pipe became
 * smaller. */
static void later_losses_reduce_pipe(void **x)
{
    for (int rack = 0; rack < 2; rack++) {
        struct script *t = script_of(x);
        t->cfg.init_cwnd_segs = 40;
        t->cfg.recovery = rack ? SCPS_RECOVERY_RACK : SCPS_RECOVERY_CLASSIC;
        script_flight(t, MS(200), 100000, 40);
        peer_says(t, MS(300), .ack = 1, .sack = {{1001, 4001}});
        expect_sent(t, .at = MS(300), .from = 1, .len = 1000);
        script_forget_sent(t);
        peer_says(t, MS(310), .ack = 1, .sack = {{37001, 40001}, {1001, 4001}});
        expect_sent(t, .at = MS(310), .from = 4001, .len = 1000);
        /* prr_delivered is 6 segments, prr_out 1, or 2 if a new segment was sent beside the
         * retransmission. */
        assert_in_range(script_forget_sent(t), 4, 5);
        script_free(t);
    }
}

/* With loss_cause corruption, a loss is repaired and the window stays. */
static void corruption(void **x)
{
    struct script *t = script_of(x);
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    script_flight(t, MS(200), 60000, 10);
    for (int k = 1; k < 10; k++)
        peer_says(t, MS(300 + k), .ack = 1, .sack = {{1001, 1 + 1000 * (k + 1)}});
    assert_true(script_info(t).cwnd >= 10000);
    assert_int_equal(script_info(t).resent_segs, 1);
    /* The window stays as it was, so the sender can fill it. */
    assert_true(script_forget_sent(t) >= 10);
    peer_says(t, MS(403), .ack = 10001);
    assert_true(script_info(t).cwnd >= 10000);
    script_forget_sent(t);
    script_free(t);
}

/* The loss of a retransmission is detected when segments sent after it are acknowledged, not by the
 * timer. It does not lower the window again: a departure from RFC 5681 section 4.3, by which "the
 * loss of a retransmission, should be taken as two indications of congestion". */
static void lost_again(void **x)
{
    struct script *t = ten_out(x, true);
    uint64_t ssthresh;
    for (int k = 1; k < 10; k++)
        peer_says(t, MS(300 + k), .ack = 1, .sack = {{1001, 1 + 1000 * (k + 1)}});
    assert_int_equal(script_info(t).resent_segs, 1);
    ssthresh = script_info(t).ssthresh;
    for (int round = 0; round < 2; round++) { /* All segments arrive except the retransmission. */
        int64_t end = 1 + (int64_t)script_info(t).outstanding;
        script_forget_sent(t);
        peer_says(t, MS(410 + 100 * round), .ack = 1, .sack = {{1001, end}});
    }
    expect_sent(t, .at = MS(510), .from = 1, .len = 1000);
    assert_int_equal(script_info(t).resent_segs, 2);
    assert_int_equal(script_info(t).timeouts, 0);
    assert_int_equal(script_info(t).ssthresh, ssthresh);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5827 section 3.2: nothing more can be sent, so three reports cannot come: reports of all the
 * other segments suffice. */
static void early_retransmit(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 3000, 3);
    peer_says(t, MS(300), .ack = 1001, .sack = {{2001, 3001}});
    expect_sent(t, .at = MS(300), .from = 1001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_APP);
    peer_says(t, MS(400), .ack = 3001);
    assert_int_equal(script_info(t).timeouts, 0);
    script_free(t);
}

/* RFC 5827 section 3.1: without SACK one duplicate ACK less than the number of outstanding segments
 * suffices. */
static void early_retransmit_without_sack(void **x)
{
    for (int n = 2; n <= 4; n++) {
        struct script *t = script_of(x);
        t->peer.sack = false;
        script_flight(t, MS(200), 1000 * n, n);
        for (int k = 1; k < n - 1; k++) {
            peer_says(t, MS(300 + k), .ack = 1);
            expect_quiet(t, SCPS_HOLD_APP);
        }
        peer_says(t, MS(310), .ack = 1);
        expect_sent(t, .at = MS(310), .from = 1, .len = 1000);
        peer_says(t, MS(410), .ack = 1 + 1000 * n);
        assert_int_equal(script_info(t).timeouts, 0);
        script_free(t);
    }
}

/* RFC 5827 section 3.1: if one segment is outstanding, nothing was sent behind it that could cause
 * a duplicate ACK, so the network has duplicated an acknowledgement: this shows no loss, even if it
 * happens several times. */
static void no_early_retransmit_of_a_single_segment(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    script_flight(t, MS(200), 1000, 1);
    peer_says(t, MS(210), .ack = 1);
    peer_says(t, MS(220), .ack = 1);
    expect_quiet(t, SCPS_HOLD_APP);
    assert_int_equal(script_info(t).dupacks_in, 2);
    peer_says(t, MS(300), .ack = 1001);
    assert_int_equal(script_info(t).resent_segs, 0);
    script_free(t);
}

/* RFC 5827 section 3.2: the same holds where "the advertised receive window does not permit new
 * segments to be transmitted". */
static void early_retransmit_in_a_full_window(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 3000;
    script_flight(t, MS(200), 6000, 3);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}}); /* One of two segments is reported. */
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(301), .ack = 1, .sack = {{1001, 3001}});
    expect_sent(t, .at = MS(301), .from = 1, .len = 1000);
    script_free(t);
}

/* Early retransmit does not apply if more data can be sent, or if four segments are outstanding:
 * three reports are needed. */
static void no_early_retransmit(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 4000;
    script_flight(t, MS(200), 6000, 4);
    /* Two segments are reported, and the window is full. */
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 3001}});
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    script_free(t);
}

/* The loss of the very last segment causes no report, so the retransmission timer repairs it. */
static void tail_loss(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 3000, 3);
    peer_says(t, MS(300), .ack = 2001);
    expect_quiet(t, SCPS_HOLD_APP);
    expect_sent(t, .at = MS(300) + script_info(t).rto, .from = 2001, .len = 1000);
    peer_says(t, MS(700), .ack = 3001);
    script_free(t);
}

/* RFC 6675 section 4, NextSeg (3): with two reports above a hole and nothing more to send, a third
 * report will not come: "If the conditions for rules (1) and (2) fail, but there exists an unSACKed
 * sequence number 'S3'", it is sent again; here when the first retransmission has arrived. */
static void the_last_segments(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 10000, 10);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 6001}});
    expect_sent(t, .at = MS(300), .from = 1, .len = 1000);
    peer_says(t, MS(301), .ack = 1, .sack = {{7001, 8001}, {1001, 6001}});
    peer_says(t, MS(302), .ack = 1, .sack = {{9001, 10001}, {7001, 8001}, {1001, 6001}});
    expect_quiet(t, SCPS_HOLD_APP);
    peer_says(t, MS(400), .ack = 6001, .sack = {{9001, 10001}, {7001, 8001}});
    expect_sent(t, .at = MS(400), .from = 6001, .len = 1000);
    expect_sent(t, .at = MS(400), .from = 8001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_APP);
    peer_says(t, MS(500), .ack = 10001);
    assert_int_equal(script_info(t).timeouts, 0);
    assert_int_equal(script_info(t).recoveries, 1);
    script_free(t);
}

/* RFC 6675 section 4, NextSeg (4): "there exists outstanding unSACKed data, we provide the
 * opportunity for a single 'rescue' retransmission per entry into loss recovery." */
static void the_very_last_segment(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 10000, 10);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 9001}});
    expect_sent(t, .at = MS(300), .from = 1, .len = 1000);
    expect_quiet(t, SCPS_HOLD_APP);
    peer_says(t, MS(400), .ack = 9001);
    expect_sent(t, .at = MS(400), .from = 9001, .len = 1000);
    peer_says(t, MS(500), .ack = 10001);
    assert_int_equal(script_info(t).timeouts, 0);
    script_free(t);
}

/* RFC 2883, RFC 3708: DSACK reports every retransmission as a duplicate, so there was no loss but
 * reordering, and the window is restored. */
static void dsack_undo(void **x)
{
    struct script *t = ten_out(x, true);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 4001}});
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 1);
    assert_true(script_info(t).cwnd <= 6000);
    peer_says(t, MS(305), .ack = 4001); /* The first segment was only late. */
    peer_says(t, MS(400), .ack = 4001, .sack = {{1, 1001}});
    struct scps_info i = script_info(t);
    assert_int_equal(i.spurious, 1);
    assert_int_equal(i.dsacks_in, 1);
    assert_true(i.cwnd >= 10000);
    script_forget_sent(t);
    script_free(t);
}

/* The DSACK arrives when everything of the episode has been acknowledged: the episode is over, but
 * its reduction of the window is undone. */
static void dsack_undo_after_the_episode(void **x)
{
    struct script *t = ten_out(x, true);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 4001}});
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 1);
    peer_says(t, MS(305), .ack = 10001);
    script_run(t, MS(390));
    script_forget_sent(t);
    assert_true(script_info(t).cwnd <= 7000);
    peer_says(t, MS(400), .ack = 10001, .sack = {{1, 1001}});
    assert_int_equal(script_info(t).spurious, 1);
    assert_true(script_info(t).cwnd >= 10000);
    script_forget_sent(t);
    /* The window is restored once only. */
    peer_says(t, MS(405), .ack = 10001, .sack = {{1, 1001}});
    assert_int_equal(script_info(t).spurious, 1);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 3708: the DSACK arrives when nothing is outstanding, with an acknowledgement of all data. */
static void dsack_undo_while_idle(void **x)
{
    struct script *t = script_of(x);

    t->peer.sack = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 10000);
    script_run(t, MS(290));
    script_forget_sent(t);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 5001}});
    expect_sent(t, .from = 1, .len = 1000);
    peer_says(t, MS(305), .ack = 10001);
    assert_int_equal(script_info(t).resent_segs, 1);
    assert_true(script_info(t).cwnd <= 7000);
    peer_says(t, MS(400), .ack = 10001, .sack = {{1, 1001}});
    assert_int_equal(script_info(t).spurious, 1);
    assert_true(script_info(t).cwnd >= 10000);
    script_free(t);
}

/* RFC 3708: a DSACK for a segment that was sent once shows a duplicate made by the network, not a
 * needless retransmission, so the window is not restored. */
static void network_duplicate(void **x)
{
    struct script *t = ten_out(x, true);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 4001}});
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 1);
    uint64_t cwnd = script_info(t).cwnd;
    peer_says(t, MS(301), .ack = 1, .sack = {{2001, 3001}, {1001, 5001}});
    struct scps_info i = script_info(t);
    assert_int_equal(i.dsacks_in, 1);
    assert_int_equal(i.spurious, 0);
    assert_true(i.cwnd <= cwnd);
    script_forget_sent(t);
    peer_says(t, MS(400), .ack = 4001, .sack = {{1, 1001}}); /* This segment was sent twice. */
    assert_int_equal(script_info(t).spurious, 1);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 2883 section 5.1: DSACKs of segments that were sent once show that the network duplicates
 * segments. It duplicates retransmissions as well, so a DSACK of a retransmission does not show
 * that the loss was spurious (RFC 3708): the congestion window stays reduced. */
static void network_that_duplicates(void **x)
{
    for (int copies = 1; copies <= 2; copies++) {
        struct script *t = ten_out(x, true);
        for (int i = 0; i < copies; i++)
            peer_says(t, MS(300), .ack = 1001, .sack = {{1, 1001}});
        peer_says(t, MS(300), .ack = 1001, .sack = {{2001, 5001}});
        assert_int_equal(script_info(t).resent_segs, 1);
        script_forget_sent(t);
        peer_says(t, MS(400), .ack = 5001);
        peer_says(t, MS(400), .ack = 5001,
                  .sack = {{1001, 2001}}); /* This segment was sent twice. */
        assert_int_equal(script_info(t).dsacks_in, copies + 1);
        assert_int_equal(script_info(t).spurious, copies == 1);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 5681 section 3.2 step 4: a duplicate ACK stands for "the additional segment that has left the
 * network". Twenty segments of 100 octets are outstanding: three duplicates stand for 300 octets,
 * not for the 3000 of three full segments. */
static void small_segments_leave(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    t->cfg.nodelay = true;
    script_established(t, MS(100));
    for (int k = 0; k < 20; k++)
        app_writes(t, MS(200), 100);
    assert_int_equal(script_forget_sent(t), 20);
    app_writes_more(t, MS(210), 900); /* Less than a full segment waits to be sent. */
    app_writes(t, MS(290), 49100);
    script_forget_sent(t);
    uint64_t sent = script_info(t).bytes_sent;
    for (int k = 0; k < 3; k++)
        peer_says(t, MS(300), .ack = 1);
    script_run(t, MS(310));
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 1);
    assert_int_equal(script_info(t).bytes_sent - sent, 100); /* Only the retransmission was sent. */
    script_free(t);
}

/* RFC 5681 section 3.2 inflates the window only in fast recovery: in slow start after a timeout
 * duplicate ACKs release nothing; otherwise they would keep the queue full in which the oldest
 * segment was lost. */
static void duplicates_after_a_timeout(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    script_established(t, MS(100));
    app_writes(t, MS(200), 20000);
    assert_int_equal(script_forget_sent(t), 10);
    script_run(t, MS(600));
    script_forget_sent(t);
    assert_int_equal(script_info(t).timeouts, 1);
    peer_says(t, MS(620), .ack = 1001); /* This acknowledgement ends the first step of F-RTO. */
    script_run(t, MS(621));
    peer_says(t, MS(640), .ack = 1001);
    script_run(t, MS(641));
    script_forget_sent(t);
    unsigned resent = script_info(t).resent_segs;
    for (int k = 0; k < 6; k++)
        peer_says(t, MS(660), .ack = 1001);
    script_run(t, MS(670));
    assert_int_equal(script_info(t).resent_segs, resent);
    script_forget_sent(t);
    script_free(t);
}

/* A spurious recovery with time stamps: the first echo shows that the original segment arrived (RFC
 * 3522). */
static void timestamp_undo(void **x)
{
    struct script *t = script_of(x);
    uint32_t echo = script_timed_flight(t, 60000, 10);
    peer_says(t, MS(300), .ack = 1, .sack = {{989, 3953}}, .tsecr = echo);
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 1);
    peer_says(t, MS(305), .ack = 3953, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 1);
    assert_true(script_info(t).cwnd >= 9880);
    script_forget_sent(t);
    script_free(t);
}

/* Ten segments leave at a rate of one every 10 ms. At 295 ms SACK reports three of them, so that
 * the first one is lost; its retransmission would leave at 300 ms. bets: how long each end waits
 * for a hole before it gives the hole up; 0: without best effort. */
static struct script *loss_waits_for_the_rate(void **x, scps_dur bets)
{
    struct script *t = script_of(x);
    t->peer.sack = true;
    t->cfg.bets = bets > 0;
    t->cfg.bets_timeout = bets;
    t->peer.caps = bets ? SCPS_CAP_BETS : 0;
    t->cfg.rate = 100 * (t->us.addr.family == 6 ? 1060 : 1040);
    t->cfg.burst = t->cfg.rate / 100;
    script_established(t, MS(90));
    app_writes(t, MS(200), 60000);
    script_run(t, MS(294));
    assert_int_equal(script_forget_sent(t), 10);
    peer_says(t, MS(295), .ack = 1, .sack = {{1001, 4001}});
    assert_int_equal(script_info(t).recoveries, 1);
    assert_true(script_info(t).cwnd <= 6000);
    return t;
}

/* A fast retransmit is spurious if the segment was only late (RFC 3522). If all segments
 * that were declared lost arrive before any of them was resent, no acknowledgement can be that of
 * a retransmission, so neither time stamps nor DSACK are needed to show that. The window is
 * restored (RFC 4015 section 3). A best-effort peer also acknowledges data that it gave up, but not
 * sooner than its wait for a hole and a round trip, 65 ms, after the segment left at 200 ms. */
static void late_before_it_was_resent(void **x)
{
    static const scps_dur waits[] = {0, MS(40), MS(20)};

    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct script *t = loss_waits_for_the_rate(x, waits[i]);
        bool proof = waits[i] != MS(20);
        peer_says(t, MS(297), .ack = 4001);
        assert_int_equal(script_info(t).resent_segs, 0);
        assert_int_equal(script_info(t).spurious, proof);
        assert_int_equal(script_info(t).cwnd >= 10000, proof);
        script_forget_sent(t);
        script_free(t);
    }
}

/* Of two segments that were declared lost only one has arrived, then both have, the second of them
 * after its retransmission was sent: the loss was not spurious, so the window stays reduced (RFC
 * 3522). */
static void late_beside_one_that_was_resent(void **x)
{
    struct script *t = loss_waits_for_the_rate(x, 0);
    peer_says(t, MS(297), .ack = 1, .sack = {{5001, 8001}, {1001, 4001}});
    assert_int_equal(script_info(t).lost, 2000);
    peer_says(t, MS(298), .ack = 4001, .sack = {{5001, 8001}});
    assert_int_equal(script_info(t).spurious, 0);
    expect_sent(t, .at = MS(300), .slack = 1, .from = 4001, .len = 1000);
    peer_says(t, MS(302), .ack = 10001);
    assert_int_equal(script_info(t).resent_segs, 1);
    assert_int_equal(script_info(t).spurious, 0);
    assert_true(script_info(t).cwnd <= 6000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 8985 section 6.2 step 4, applied to RFC 6675 IsLost, with a DupThresh of 1: after two
 * segments that were declared lost have arrived at least 8 ms late, a reported segment is no
 * loss of the one below it before that one is older than the round trip and 9 ms. Then the
 * timer declares it lost. */
static void reordering_window(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = true;
    t->cfg.dupthresh = 1;
    script_established(t, MS(100));
    app_writes(t, MS(200), 10000);
    script_forget_sent(t);
    for (int k = 0; k < 2; k++) {
        uint32_t from = 1 + 2000 * k;
        peer_says(t, MS(300 + 10 * k), .ack = from, .sack = {{from + 1000, from + 2000}});
        expect_sent(t, .at = MS(300 + 10 * k), .from = from, .len = 1000);
        peer_says(t, MS(308 + 10 * k), .ack = from, .sack = {{from + 1000, from + 2000}});
        peer_says(t, MS(309 + 10 * k), .ack = from + 2000);
    }
    assert_int_equal(script_info(t).resent_segs, 2);
    peer_says(t, MS(320), .ack = 4001, .sack = {{5001, 6001}});
    script_run(t, MS(328));
    assert_int_equal(script_info(t).resent_segs, 2);
    script_run(t, MS(330));
    expect_sent(t, .from = 4001, .len = 1000);
    assert_int_equal(script_info(t).resent_segs, 3);
    script_free(t);
}

/* Undoing a spurious loss also undoes the real one: three more reports find that again, without a
 * timeout. */
static void lost_after_undo(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    t->cfg.rate = 100000; /* A segment leaves every 10 ms. */
    t->cfg.burst = 1052;
    script_established(t, MS(100));
    app_writes(t, MS(200), 9880);
    script_run(t, MS(399));
    for (int k = 0; k < 10; k++)
        expect_sent(t, .from = 1 + 988 * k, .len = 988);
    uint32_t echo = t->last.tsval;
    /* The first segment is late, the fifth is lost; the pacer lets the first retransmission
     * leave. */
    peer_says(t, MS(400), .ack = 1, .sack = {{989, 3953}, {4941, 7905}}, .tsecr = echo);
    expect_sent(t, .at = MS(400), .from = 1, .len = 988);
    peer_says(t, MS(405), .ack = 3953, .sack = {{4941, 7905}}, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 1);
    assert_int_equal(script_info(t).lost, 0);
    app_writes(t, MS(406), 9880);
    script_run(t, MS(450)); /* New data is sent; reports from before the undo do not count. */
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 1);
    peer_says(t, MS(500), .ack = 3953, .sack = {{4941, 9881}}, .tsecr = echo);
    peer_says(t, MS(506), .ack = 3953, .sack = {{4941, 10869}}, .tsecr = echo);
    script_run(t, MS(530));
    assert_int_equal(script_info(t).resent_segs, 2);
    assert_int_equal(script_info(t).timeouts, 0);
    script_forget_sent(t);
    script_free(t);
}

/* Invalid SACK blocks have no effect: beyond SND.NXT, empty, with exchanged edges, or below
 * SEG.ACK. */
static void invalid_sack_blocks(void **x)
{
    struct script *t = ten_out(x, true);
    peer_says(t, MS(300), .ack = 1, .sack = {{20001, 30001}, {5001, 5001}, {6001, 4001}});
    peer_says(t, MS(301), .ack = 1, .sack = {{-5000, 1}, {-2000000000, 2000000000}});
    peer_says(t, MS(302), .ack = 1, .sack = {{10001, 10002}});
    struct scps_info i = script_info(t);
    assert_int_equal(i.sacked, 0);
    assert_int_equal(i.resent_segs, 0);
    peer_says(t, MS(400), .ack = 10001);
    assert_int_equal(script_info(t).outstanding, script_forget_sent(t) * 1000);
    script_free(t);
}

/* A SACK block covers a part of a segment that the network has cut: the segment counts as arrived
 * when all of it has been reported. */
static void partial_blocks(void **x)
{
    struct script *t = ten_out(x, true);
    peer_says(t, MS(300), .ack = 1, .sack = {{1501, 2501}});
    assert_int_equal(script_info(t).sacked, 0);
    peer_says(t, MS(301), .ack = 1, .sack = {{1001, 2501}});
    assert_int_equal(script_info(t).sacked, 1000);
    /* The acknowledgement number lies inside a segment. */
    peer_says(t, MS(302), .ack = 500, .sack = {{1001, 2501}});
    assert_int_equal(script_info(t).outstanding + 0, 10000 + 1000 * script_forget_sent(t) - 499);
    peer_says(t, MS(350), .ack = 10001);
    script_forget_sent(t);
    script_free(t);
}

/* A loss of data that was sent after an episode began starts a second episode, and the window is
 * reduced again. */
static void second_episode(void **x)
{
    struct script *t = ten_out(x, true);
    for (int k = 1; k < 10; k++)
        peer_says(t, MS(300 + k), .ack = 1, .sack = {{1001, 1 + 1000 * (k + 1)}});
    /* All data that was outstanding when the episode began is acknowledged. */
    peer_says(t, MS(403), .ack = 12001);
    script_forget_sent(t);
    assert_false(script_info(t).in_recovery);
    uint64_t cwnd = script_info(t).cwnd;
    int64_t end = 12001 + (int64_t)script_info(t).outstanding;
    assert_true(end >= 16001);
    peer_says(t, MS(510), .ack = 12001, .sack = {{13001, end}});
    expect_sent(t, .at = MS(510), .from = 12001, .len = 1000);
    assert_int_equal(script_info(t).recoveries, 2);
    assert_true(script_info(t).cwnd < cwnd);
    assert_int_equal(script_info(t).resent_segs, 2);
    script_forget_sent(t);
    script_free(t);
}

/* The fine-grained check of Vegas: the first duplicate ACK suffices if the oldest segment is older
 * than srtt + 4 rttvar, and acknowledgements after a retransmission check the age of the next
 * segment. A younger segment, or another controller, needs three duplicate ACKs. */
static void by_age(void **x)
{
    for (int vegas = 0; vegas < 2; vegas++) {
        struct script *t = script_of(x);
        scps_time at = MS(200);
        assert_int_equal(scps_conn_config_parse_cc(&t->cfg, vegas ? "vegas" : "vj", NULL, 0), 0);
        t->peer.sack = false;
        script_established(t, MS(100));
        /* The RTT does not vary, so rttvar falls to 0. */
        for (int k = 0; k < 12; k++, at += MS(100)) {
            app_writes(t, at, 1000);
            expect_sent(t, .at = at, .from = 1 + 1000 * k, .len = 1000);
            peer_says(t, at + MS(100), .ack = 1001 + 1000 * k);
        }
        app_writes(t, at, 6000);
        for (int k = 0; k < 6; k++)
            expect_sent(t, .from = 12001 + 1000 * k, .len = 1000);
        peer_says(t, at + MS(100), .ack = 12001);
        expect_quiet(t, ANY_HOLD);
        /* The segment is younger than that, so it may only be late. */
        assert_int_equal(script_info(t).resent_segs, 0);
        peer_says(t, at + MS(101), .ack = 13001);
        peer_says(t, at + MS(150), .ack = 13001);
        if (vegas) {
            expect_sent(t, .at = at + MS(150), .from = 13001, .len = 1000);
            peer_says(t, at + MS(250), .ack = 15001);
            expect_sent(t, .at = at + MS(250), .from = 15001, .len = 1000);
            assert_int_equal(script_info(t).recoveries, 1);
        } else {
            expect_quiet(t, ANY_HOLD);
        }
        script_forget_sent(t);
        script_free(t);
    }
}

/* Brakmo and Peterson section 3.1: the age of the oldest segment is checked "when a non-duplicate
 * ACK is received, if it is the first or second one after a retransmission". */
static void by_age_at_the_second_acknowledgement(void **x)
{
    struct script *t = script_of(x);
    scps_time at = MS(200);
    assert_int_equal(scps_conn_config_parse_cc(&t->cfg, "vegas", NULL, 0), 0);
    t->peer.sack = false;
    script_established(t, MS(100));
    for (int k = 0; k < 12; k++, at += MS(100)) {
        app_writes(t, at, 1000);
        script_forget_sent(t);
        peer_says(t, at + MS(100), .ack = 1001 + 1000 * k);
    }
    app_writes(t, at, 3000);
    script_forget_sent(t);
    peer_says(t, at + MS(100), .ack = 13001);
    peer_says(t, at + MS(150), .ack = 13001);
    expect_sent(t, .at = at + MS(150), .from = 13001, .len = 1000);
    peer_says(t, at + MS(160), .ack = 15001); /* Recovery ends, and nothing is outstanding. */
    app_writes(t, at + MS(160), 2000);
    expect_sent(t, .at = at + MS(160), .from = 15001, .len = 1000);
    expect_sent(t, .at = at + MS(160), .from = 16001, .len = 1000);
    peer_says(t, at + MS(290), .ack = 15501); /* The rest of the segment is 130 ms old. */
    expect_sent(t, .at = at + MS(290), .from = 15501, .len = 500);
    script_forget_sent(t);
    script_free(t);
}

/* An acknowledgement that reports a duplicate by DSACK, and nothing else, is no duplicate ACK (RFC
 * 6675 section 2): a needless retransmission has caused it, so it starts no other one, however old
 * the oldest segment is. */
static void a_dsack_is_no_duplicate_ack(void **x)
{
    struct script *t = script_of(x);
    scps_time at = MS(200);
    assert_int_equal(scps_conn_config_parse_cc(&t->cfg, "vegas", NULL, 0), 0);
    script_established(t, MS(100));
    for (int k = 0; k < 12; k++, at += MS(100)) {
        app_writes(t, at, 1000);
        script_forget_sent(t);
        peer_says(t, at + MS(100), .ack = 1001 + 1000 * k);
    }
    app_writes(t, at, 2000);
    script_forget_sent(t);
    peer_says(t, at + MS(150), .ack = 12001, .sack = {{11001, 12001}});
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).dsacks_in, 1);
    assert_int_equal(script_info(t).resent_segs, 0);
    peer_says(t, at + MS(160), .ack = 12001, .sack = {{13001, 14001}}); /* data beyond a hole */
    expect_sent(t, .at = at + MS(160), .from = 12001, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* Vegas, Brakmo and Peterson (1995) section 3.1, after a spurious timeout: the time stamp of the
 * acknowledgement shows that the retransmission was needless (RFC 3522 section 3.2 step 5), and so
 * that the timeout is too short. The age of the next segment, which exceeds that timeout, too,
 * does not show a loss. */
static void no_age_check_after_undo(void **x)
{
    struct script *t = script_of(x);
    uint32_t echo;

    assert_int_equal(scps_conn_config_parse_cc(&t->cfg, "vegas", NULL, 0), 0);
    echo = script_timed_flight(t, 9880, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 988);
    peer_says(t, MS(580), .ack = 989, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 1);
    peer_says(t, MS(590), .ack = 1977, .tsecr = echo);
    assert_int_equal(script_info(t).resent_segs, 1);
    script_forget_sent(t);
    script_free(t);
}

/* As before, but a check of the oldest segment's age has caused the needless retransmission: no
 * further checks follow. */
static void no_age_check_after_undo_of_one(void **x)
{
    struct script *t = script_of(x);
    scps_time at = MS(200);
    uint32_t echo;

    assert_int_equal(scps_conn_config_parse_cc(&t->cfg, "vegas", NULL, 0), 0);
    t->cfg.timestamps = t->peer.ts = true;
    t->peer.sack = false;
    script_established(t, MS(100));
    for (int k = 0; k < 12; k++, at += MS(100)) {
        app_writes(t, at, 900);
        expect_sent(t, .at = at, .from = 1 + 900 * k, .len = 900);
        peer_says(t, at + MS(100), .ack = 901 + 900 * k, .tsecr = t->last.tsval);
    }
    app_writes(t, at, 6 * 988);
    expect_sent(t, .at = at, .from = 10801, .len = 988);
    echo = t->last.tsval;
    script_forget_sent(t);
    peer_says(t, at + MS(101), .ack = 10801 + 988, .tsecr = echo);
    peer_says(t, at + MS(150), .ack = 10801 + 988, .tsecr = echo);
    expect_sent(t, .at = at + MS(150), .from = 10801 + 988, .len = 988);
    peer_says(t, at + MS(250), .ack = 10801 + 2 * 988, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 1);
    peer_says(t, at + MS(260), .ack = 10801 + 3 * 988, .tsecr = echo);
    assert_int_equal(script_info(t).resent_segs, 1);
    script_forget_sent(t);
    script_free(t);
}

/* Vegas without time stamps, after a timeout: the acknowledgement of a retransmission is no RTT
 * sample (Karn's algorithm, RFC 6298 section 3), so the estimate, 100 ms + 4 * 50 ms, may be too
 * short for the path. It proves no loss of the next segment, which was resent 400 ms ago. When new
 * data has given a sample, the age of a segment counts again. */
static void no_age_check_before_an_rtt_sample(void **x)
{
    struct script *t = script_of(x);

    assert_int_equal(scps_conn_config_parse_cc(&t->cfg, "vegas", NULL, 0), 0);
    t->cfg.rto_min = SEC(1);
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    t->peer.sack = false;
    script_established(t, MS(100));
    app_writes(t, MS(200), 3000);
    script_run(t, MS(1300));
    assert_int_equal(script_info(t).resent_segs, 3);
    script_forget_sent(t);
    peer_says(t, MS(1700), .ack = 1001);
    assert_int_equal(script_info(t).resent_segs, 3);
    peer_says(t, MS(1710), .ack = 3001);
    app_writes(t, MS(1800), 1000);
    peer_says(t, MS(1900), .ack = 4001);
    app_writes(t, MS(2000), 3000);
    script_forget_sent(t);
    peer_says(t, MS(2900), .ack = 4001);
    expect_sent(t, .at = MS(2900), .from = 4001, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* 1000 segments are in flight, and one per millisecond is reported, in random order. A report of a
 * segment that was resent may be caused by its original, however late. If it were taken for the
 * retransmission's, each report would resend everything resent before, 17 to 28 times each. */
static void reported_in_random_order(void **x)
{
    enum { N = 1000 };
    static const char *const ccs[] = {"vj", "cubic", "vegas-corruption"};
    for (unsigned run = 0; run < 6; run++) {
        int64_t order[N];
        uint32_t r = 1;
        struct script *t = script_of(x);
        t->peer.wscale = 7;
        t->cfg.wscale = true;
        t->cfg.sndbuf = 2 << 20;
        t->cfg.init_cwnd_segs = N;
        t->cfg.recovery = run % 2 ? SCPS_RECOVERY_RACK : SCPS_RECOVERY_CLASSIC;
        scps_conn_config_set_cc(&t->cfg, scps_cc_find(ccs[run / 2]), NULL);
        script_established(t, MS(14));
        peer_says(t, MS(150), .ack = 1, .wnd = 65535);
        app_writes(t, MS(200), N * 1000);
        assert_int_equal(script_forget_sent(t), N);
        /* The segment takes a random place among those before it. */
        for (uint32_t i = 0; i < N; i++) {
            r = r * 1664525 + 1013904223;
            uint32_t k = (r >> 8) % (i + 1);
            order[i] = order[k];
            order[k] = 1 + 1000 * (int64_t)i;
        }
        for (int i = 0; i < N; i++) {
            peer_says(t, MS(214 + i), .ack = 1, .sack = {{order[i], order[i] + 1000}});
            script_forget_sent(t);
        }
        print_message("%s: %u resent\n", ccs[run / 2], (unsigned)script_info(t).resent_segs);
        expect_that(t, script_info(t).resent_segs <= 4 * N);
        /* The report of SND.UNA is false, as SEG.ACK shows, so only a timeout resends that
         * segment. */
        expect_that(t, script_info(t).timeouts <= 1);
        script_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(fast_retransmit),
        SCRIPT_TEST(limited_transmit_off),
        SCRIPT_TEST(acks_that_are_not_duplicates),
        SCRIPT_TEST(duplicates_made_by_the_network),
        SCRIPT_TEST(duplicates_do_not_restart_the_timer),
        SCRIPT_TEST(partial_acknowledgements),
        SCRIPT_TEST(a_partial_ack_releases_a_new_segment),
        SCRIPT_TEST(many_partial_acknowledgements),
        SCRIPT_TEST(sack_shows_one_hole),
        SCRIPT_TEST(sack_shows_several_holes),
        SCRIPT_TEST(proportional_rate),
        SCRIPT_TEST(reduction_bound),
        SCRIPT_TEST(later_losses_reduce_pipe),
        SCRIPT_TEST(corruption),
        SCRIPT_TEST(lost_again),
        SCRIPT_TEST(early_retransmit),
        SCRIPT_TEST(early_retransmit_in_a_full_window),
        SCRIPT_TEST(early_retransmit_without_sack),
        SCRIPT_TEST(no_early_retransmit_of_a_single_segment),
        SCRIPT_TEST(no_early_retransmit),
        SCRIPT_TEST(tail_loss),
        SCRIPT_TEST(the_last_segments),
        SCRIPT_TEST(the_very_last_segment),
        SCRIPT_TEST(dsack_undo),
        SCRIPT_TEST(dsack_undo_after_the_episode),
        SCRIPT_TEST(dsack_undo_while_idle),
        SCRIPT_TEST(network_duplicate),
        SCRIPT_TEST(network_that_duplicates),
        SCRIPT_TEST(small_segments_leave),
        SCRIPT_TEST(duplicates_after_a_timeout),
        SCRIPT_TEST(timestamp_undo),
        SCRIPT_TEST(invalid_sack_blocks),
        SCRIPT_TEST(partial_blocks),
        SCRIPT_TEST(second_episode),
        SCRIPT_TEST(by_age),
        SCRIPT_TEST(by_age_at_the_second_acknowledgement),
        SCRIPT_TEST(no_age_check_after_undo),
        SCRIPT_TEST(no_age_check_after_undo_of_one),
        SCRIPT_TEST(no_age_check_before_an_rtt_sample),
        SCRIPT_TEST(a_dsack_is_no_duplicate_ack),
        SCRIPT_TEST(late_before_it_was_resent),
        SCRIPT_TEST(late_beside_one_that_was_resent),
        SCRIPT_TEST(reordering_window),
        SCRIPT_TEST(lost_after_undo),
        SCRIPT_TEST(reported_in_random_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
