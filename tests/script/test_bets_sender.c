/* SPDX-License-Identifier: MIT */
/* Best effort (BETS, docs/SCPS-TP.md section 7): the sender gives up a segment after a number of
 * retransmissions or a time. */
#include "bets.h"

/* ---- the sender ---- */

/* A segment that was resent bets_retries times and is lost again is given up, and the sender
 * continues. */
static void a_segment_is_given_up(void **x)
{
    struct script *t = bets_of(x);
    struct scps_hole h[4];
    t->cfg.init_cwnd_segs = 10;
    script_established(t, MS(100)); /* The RTO is 300 ms. */
    app_writes(t, MS(200), 1000);
    script_forget_events(t);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(1100), .from = 1, .len = 1000);
    script_run(t, MS(2299));
    assert_int_equal(given_up(t, h), 0);
    script_run(t, MS(2300));
    expect_quiet(t, SCPS_HOLD_APP);
    expect_event(t, SCPS_EV_DRAINED);
    expect_event(t, SCPS_EV_GAVE_UP);
    assert_int_equal(given_up(t, h), 1);
    assert_int_equal(h[0].at, 0);
    assert_int_equal(h[0].len, 1000);
    struct scps_info i = script_info(t);
    assert_int_equal(i.bytes_given_up, 1000);
    assert_int_equal(i.bytes_acked, 0);
    assert_int_equal(i.outstanding, 0);
    app_writes(t, SEC(3), 500);
    expect_sent(t, .at = SEC(3), .from = 1001, .len = 500);
    peer_says(t, SEC(4), .ack = 1501); /* The peer itself has passed the hole. */
    i = script_info(t);
    assert_int_equal(i.bytes_acked, 500);
    assert_int_equal(i.outstanding, 0);
    script_run(t, SEC(100));
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* Adjacent segments that are given up are one range. Octets behind them that the peer has reported
 * by SACK are passed, too, and do not belong to the range. */
static void ranges(void **x)
{
    struct script *t = bets_of(x);
    struct scps_hole h[4];
    script_flight(t, MS(200), 6000, 6);
    peer_says(t, MS(300), .ack = 1, .sack = {{2001, 4001}, {5001, 6001}});
    script_run(t, SEC(60)); /* Octets 1 to 2000 and 4001 to 5000 never reach the peer. */
    script_forget_sent(t);
    script_forget_events(t);
    assert_int_equal(given_up(t, h), 2);
    assert_int_equal(h[0].at, 0);
    assert_int_equal(h[0].len, 2000);
    assert_int_equal(h[1].at, 4000);
    assert_int_equal(h[1].len, 1000);
    struct scps_info i = script_info(t);
    assert_int_equal(i.outstanding, 0);
    assert_int_equal(i.inflight, 0);
    assert_int_equal(i.lost, 0);
    assert_int_equal(i.sacked, 0);
    assert_int_equal(i.bytes_given_up, 3000);
    assert_int_equal(i.bytes_acked, 3000);
    assert_false(i.in_recovery);
    /* The acknowledgement number is below what the sender has given up: it is neither old nor new,
     * and no duplicate. */
    peer_says(t, SEC(61), .ack = 1, .sack = {{2001, 4001}, {5001, 6001}});
    assert_int_equal(script_info(t).dsacks_in, 0);
    app_writes(t, SEC(61), 1000);
    expect_sent(t, .from = 6001, .len = 1000);
    peer_says(t, SEC(61) + MS(100), .ack = 1, .sack = {{5001, 7001}, {2001, 4001}});
    /* Octets that the peer has reported behind SND.UNA are passed as well. */
    assert_int_equal(script_info(t).sacked, 0);
    assert_int_equal(script_info(t).outstanding, 0);
    peer_says(t, SEC(62), .ack = 7001);
    assert_int_equal(script_info(t).bytes_acked, 4000);
    script_free(t);
}

/* The peer's window is counted from its acknowledgement number, below what the sender has given
 * up. */
static void the_window_of_a_peer_that_lags(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 3000;
    script_flight(t, MS(200), 6000, 3);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 3001}});
    script_run(t, SEC(2)); /* The first segment is given up; the window ends at 3001. */
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, SEC(2), .ack = 1, .wnd = 4500);
    expect_sent(t, .from = 3001, .len = 1000);
    peer_says(t, SEC(2) + MS(100), .ack = 4001, .wnd = 3000);
    expect_sent(t, .at = SEC(2) + MS(100), .from = 4001, .len = 1000);
    expect_sent(t, .at = SEC(2) + MS(100), .from = 5001, .len = 1000);
    peer_says(t, SEC(2) + MS(200), .ack = 6001);
    script_free(t);
}

/* The peer's application has not passed the hole and its window is closed: the window is probed as
 * usual. */
static void probes_of_a_peer_that_lags(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 2000;
    t->cfg.persist_max = SEC(1);
    script_flight(t, MS(200), 3000, 2);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    script_run(t, MS(2300));
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    script_forget_sent(t);
    for (int i = 0; i < 50; i++) { /* The probes go on without end. */
        scps_time at = script_now(t) + SEC(2);
        script_run(t, at);
        expect_that(t, script_sent_count(t) >= 1);
        script_forget_sent(t);
        peer_says(t, at, .ack = 1, .wnd = 2000);
        script_forget_sent(t);
    }
    expect_state(t, SCPS_ESTABLISHED);
    peer_says(t, script_now(t) + MS(10), .ack = 2001, .wnd = 2000);
    expect_sent(t, .from = 2001, .len = 1); /* This octet was sent in probes only. */
    peer_says(t, script_now(t) + MS(10), .ack = 2002, .wnd = 2000);
    expect_sent(t, .from = 2002, .len = 999, .push = true);
    peer_says(t, script_now(t) + MS(10), .ack = 3001, .wnd = 2000);
    assert_int_equal(script_info(t).outstanding, 0);
    script_free(t);
}

/* If the whole window is lost again and again, the segment at its right edge is not given up:
 * behind the window nothing is acceptable, so no acceptable segment would show the hole to the
 * peer, and the window would never move. */
static void the_edge_of_the_window_is_kept(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 3000;
    t->cfg.persist_max = t->cfg.rto_max = SEC(1);
    script_flight(t, MS(200), 6000, 3);
    script_run(t, SEC(30));
    assert_int_equal(script_info(t).bytes_given_up, 2000);
    assert_int_equal(script_info(t).outstanding, 1000);
    assert_in_range(script_forget_sent(t), 20, 60);
    peer_says(t, SEC(30), .ack = 1, .sack = {{2001, 3001}});
    script_forget_sent(t);
    /* The peer's timer has expired and it has passed the hole. */
    peer_says(t, SEC(30) + MS(500), .ack = 3001);
    expect_sent(t, .at = SEC(30) + MS(500), .from = 3001, .len = 1000);
    peer_says(t, SEC(31), .ack = 4001);
    script_forget_sent(t);
    peer_says(t, SEC(31) + MS(100), .ack = 6001);
    assert_int_equal(script_info(t).outstanding, 0);
    script_free(t);
}

/* RFC 9293 section 3.8.3 (c): if the peer is silent, R2 ends the connection, even if the segment at
 * the window's edge could be given up. */
static void r2_at_the_edge_of_the_window(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 1000;
    script_flight(t, MS(200), 2000, 1);
    script_run(t, SEC(90));
    script_forget_sent(t);
    expect_state(t, SCPS_ESTABLISHED);
    script_run(t, SEC(2000));
    script_forget_sent(t);
    script_forget_events(t);
    assert_int_equal(scps_conn_error(t->c), SCPS_ERR_TIMEDOUT);
    script_free(t);
}

/* RFC 5961 section 5.2: SND.UNA - MAX.SND.WND =< SEG.ACK. For a peer that has not yet passed what
 * this end gave up, SND.UNA is what the peer has acknowledged: a delayed segment of it is accepted
 * with its data. */
static void the_ack_of_a_peer_that_lags(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 4000;
    t->cfg.rto_max = SEC(1);
    script_flight(t, MS(200), 8000, 4);
    peer_says(t, MS(300), .ack = 4001);
    script_run(t, SEC(10));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 3000);
    peer_says(t, SEC(10), .ack = 1001, .len = 100);
    assert_int_equal(scps_conn_readable(t->c), 100);
    script_run(t, SEC(11));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.8.6.1: the octet of a window probe lies beyond the window, so the peer refuses
 * it. When the window opens, the probes and their time do not count as retransmissions of that
 * octet; otherwise best effort would give up octets on a path that loses none. */
static void a_probed_octet_is_not_given_up(void **x)
{
    for (int life = 0; life < 2; life++) {
        struct script *t = bets_of(x);
        t->peer_wnd = 1000;
        t->cfg.persist_max = SEC(1);
        t->cfg.bets_lifetime = life ? MS(800) : 0;
        script_flight(t, MS(200), 2000, 1);
        for (int i = 0; i < 10; i++) {
            peer_says(t, MS(300) + SEC(2 * i), .ack = 1001, .wnd = ZERO);
            script_run(t, SEC(2 * i + 2));
            expect_that(t, script_sent_count(t) >= 1);
            script_forget_sent(t);
        }
        peer_says(t, SEC(20) + MS(100), .ack = 1001, .wnd = 2000);
        assert_int_equal(script_info(t).bytes_given_up, 0);
        expect_sent(t, .at = SEC(20) + MS(100), .from = 1001, .len = 1);
        peer_says(t, SEC(20) + MS(200), .ack = 1002);
        expect_sent(t, .at = SEC(20) + MS(200), .from = 1002, .len = 999, .push = true);
        peer_says(t, SEC(20) + MS(300), .ack = 2001);
        assert_int_equal(script_info(t).bytes_given_up, 0);
        assert_int_equal(script_info(t).outstanding, 0);
        script_free(t);
    }
}

/* As before, when the peer has shrunk its window, and the window probe is a whole segment that was
 * sent before. */
static void data_in_a_shrunk_window_is_not_given_up(void **x)
{
    for (int life = 0; life < 2; life++) {
        struct script *t = bets_of(x);
        t->cfg.persist_max = SEC(1);
        t->cfg.bets_lifetime = life ? MS(800) : 0;
        script_flight(t, MS(200), 3000, 3);
        for (int i = 0; i < 10; i++) {
            peer_says(t, MS(300) + SEC(2 * i), .ack = 1001, .wnd = ZERO);
            script_run(t, SEC(2 * i + 2));
            expect_that(t, script_sent_count(t) >= 1);
            script_forget_sent(t);
        }
        peer_says(t, SEC(20) + MS(100), .ack = 1001, .wnd = 5000);
        assert_int_equal(script_info(t).bytes_given_up, 0);
        expect_sent(t, .at = SEC(20) + MS(100), .from = 1001, .len = 1000);
        expect_sent(t, .at = SEC(20) + MS(100), .from = 2001, .len = 1000);
        peer_says(t, SEC(20) + MS(200), .ack = 3001);
        assert_int_equal(script_info(t).bytes_given_up, 0);
        script_free(t);
    }
}

/* All data was given up, and the peer, which acknowledges none of it, has closed its window. The
 * last octet written is the window probe: it is resent as soon as the window opens, because window
 * probing (RFC 9293 section 3.8.6.1) and its timer end then. */
static void the_last_octet_is_the_window_probe(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 3000;
    script_flight(t, MS(200), 2000, 2);
    script_run(t, SEC(10));
    assert_int_equal(script_info(t).bytes_given_up, 2000);
    script_forget_sent(t);
    peer_says(t, SEC(10), .ack = 1, .wnd = ZERO);
    app_writes(t, SEC(10), 1);
    script_run(t, SEC(20));
    expect_sent(t, .from = 2001, .len = 1);
    script_forget_sent(t);
    peer_says(t, SEC(20), .ack = 1, .wnd = 5000);
    expect_sent(t, .at = SEC(20), .from = 2001, .len = 1);
    script_free(t);
}

/* All data was given up, the FIN is the window probe, and the acknowledgement that opens the window
 * reports the FIN as arrived. The acknowledgement of the FIN may be lost, so a timer runs while the
 * FIN is outstanding (RFC 6298 section 5.1). */
static void the_fin_is_the_window_probe(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 3000;
    script_flight(t, MS(200), 2000, 2);
    script_run(t, SEC(10));
    assert_int_equal(script_info(t).bytes_given_up, 2000);
    peer_says(t, SEC(10), .ack = 1, .wnd = ZERO);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    script_run(t, SEC(20));
    script_forget_sent(t);
    peer_says(t, SEC(20), .ack = 1, .wnd = 5000, .sack = {{2001, 2002}});
    script_run(t, SEC(30));
    expect_sent(t, .from = 2001, .flags = SCPS_FIN | SCPS_ACK);
    script_free(t);
}

/* A SACK that reports the octet of a window probe, which lies beyond the window, is false: RFC 9293
 * section 3.10.7.4, first step, makes the peer refuse that octet. SND.UNA stays within the window,
 * because otherwise the peer would refuse each acknowledgement that follows. */
static void a_report_beyond_the_window(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 2000;
    t->cfg.persist_max = SEC(1);
    script_flight(t, MS(200), 3000, 2);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    script_run(t, SEC(5));
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    expect_that(t, script_sent_count(t) >= 2); /* One of these is a window probe. */
    script_forget_sent(t);
    peer_says(t, SEC(5), .ack = 1, .sack = {{1001, 2002}}, .wnd = 2000);
    script_forget_sent(t);
    peer_says(t, SEC(5) + MS(10), .ack = 1, .len = 1000);
    peer_says(t, SEC(5) + MS(10), .ack = 1, .len = 1000);
    expect_sent(t, .at = SEC(5) + MS(10), .from = 2001, .ack = 2001);
    script_forget_sent(t);
    script_free(t);
}

/* SEG.ACK is "the next sequence number the sender of the segment is expecting" (RFC 9293 section
 * 3.1). A peer that acknowledges all that this end gave up, and reports the octets at SND.UNA as
 * arrived, contradicts itself, as with SNACK units that differ: the acknowledgement counts. SND.UNA
 * stays, and the window ends SND.WND octets after SEG.ACK. */
static void a_report_of_what_the_peer_expects(void **x)
{
    struct script *t = bets_of(x);
    t->peer_wnd = 4000;
    script_flight(t, MS(200), 8000, 4);
    peer_says(t, MS(300), .ack = 1, .sack = {{2001, 3001}});
    script_run(t, SEC(30));
    assert_int_equal(script_info(t).bytes_given_up, 2000);
    script_forget_sent(t);
    peer_says(t, SEC(30), .ack = 3001, .wnd = 4000, .sack = {{3001, 4001}});
    script_run(t, SEC(30) + MS(1));
    assert_int_equal(script_info(t).outstanding + script_info(t).unsent, 8000 - 3000);
    script_forget_sent(t);
    script_free(t);
}

/* With bets_lifetime, data that has been at SND.UNA for that time is given up before the
 * retransmission timer expires. */
static void lifetime(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = MS(800);
    t->cfg.bets_retries = 200;
    script_flight(t, MS(200), 2000, 2);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    script_run(t, MS(999));
    assert_int_equal(script_info(t).bytes_given_up, 0);
    script_run(t, MS(1000));
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    assert_int_equal(script_info(t).outstanding, 0);
    assert_int_equal(script_info(t).bytes_acked, 1000);
    script_forget_sent(t);
    script_free(t);
}

/* All data that had been sent when SND.UNA last moved is given up together; data sent after that
 * has the full lifetime. */
static void lifetimes_run_together(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = MS(800);
    t->cfg.bets_retries = 200;
    script_flight(t, MS(200), 5000, 5);
    peer_says(t, MS(300), .ack = 1001);
    app_writes(t, MS(400), 1000);
    script_run(t, MS(1099));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 0);
    script_run(t, MS(1100));
    assert_int_equal(script_info(t).bytes_given_up, 4000);
    assert_int_equal(script_info(t).outstanding, 1000);
    script_run(t, MS(1899));
    assert_int_equal(script_info(t).bytes_given_up, 4000);
    script_run(t, MS(1900));
    assert_int_equal(script_info(t).bytes_given_up, 5000);
    assert_int_equal(script_info(t).inflight, 0);
    assert_int_equal(script_info(t).lost, 0);
    script_forget_sent(t);
    script_free(t);
}

/* A FIN is never given up: the data of its segment is, and the FIN alone is resent until R2 ends
 * the connection. */
static void a_fin_is_reliable(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.data_retries = 5;
    script_established(t, MS(100));
    scps_conn_cork(t->c, true);
    app_writes(t, MS(200), 500);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    scps_conn_cork(t->c, false);
    expect_sent(t, .at = MS(200), .from = 1, .len = 500, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(500), .from = 1, .len = 500, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(1100), .from = 1, .len = 500, .flags = SCPS_FIN | SCPS_ACK);
    script_run(t, MS(2300));
    assert_int_equal(script_info(t).bytes_given_up, 500);
    for (int i = 0; i < 5; i++) {
        script_run(t, script_now(t) + SEC(60));
        if (i == 0) {
            expect_sent(t, .at = MS(2300), .from = 501, .flags = SCPS_FIN | SCPS_ACK);
            script_forget_events(t);
        }
    }
    assert_int_equal(script_forget_sent(t), 6); /* The FIN is sent five more times, then a reset. */
    expect_state(t, SCPS_CLOSED);
    assert_int_equal(scps_conn_error(t->c), SCPS_ERR_TIMEDOUT);
    script_free(t);
}

/* RFC 9293 section 3.8.3: R2 counts from the first timeout of a silence. Data that was given up
 * earlier does not count, however long ago, so a FIN that remains has the full time. */
static void a_fin_after_a_pause(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.data_retries = 5; /* R2 is 100 s. */
    script_established(t, MS(100));
    app_writes(t, MS(200), 500);
    script_run(t, SEC(99));
    assert_int_equal(script_forget_sent(t), 3);
    assert_int_equal(script_info(t).bytes_given_up, 500);
    script_forget_events(t);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = SEC(99), .from = 501, .flags = SCPS_FIN | SCPS_ACK);
    script_run(t, SEC(99) + SEC(90));
    expect_state(t, SCPS_FIN_WAIT_1);
    assert_true(script_forget_sent(t) > 3);
    script_free(t);
}

/* The time spent on data before it was given up does not count towards R2 of the FIN. */
static void a_fin_has_its_own_time(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.data_retries = 5; /* R2 is 100 s. */
    t->cfg.bets_retries = 9;
    script_established(t, MS(100));
    scps_conn_cork(t->c, true);
    app_writes(t, MS(200), 500);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    scps_conn_cork(t->c, false);
    script_run(t, SEC(196));
    assert_int_equal(script_info(t).bytes_given_up, 0);
    script_run(t, SEC(197));
    assert_int_equal(script_info(t).bytes_given_up, 500);
    script_run(t, SEC(296));
    expect_state(t, SCPS_FIN_WAIT_1);
    script_run(t, SEC(400));
    expect_state(t, SCPS_CLOSED);
    script_forget_sent(t);
    script_forget_events(t);
    script_free(t);
}

/* If the peer answers, the connection ends in order although a hole was given up. */
static void a_fin_behind_a_hole(void **x)
{
    struct script *t = bets_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1500);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    assert_int_equal(script_forget_sent(t), 2);
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 1502}});
    script_run(t, SEC(5));
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    script_forget_sent(t);
    /* SACK reports that the FIN has arrived; only a cumulative acknowledgement makes that sure. */
    script_run(t, SEC(30));
    script_forget_sent(t);
    expect_state(t, SCPS_FIN_WAIT_1);
    peer_says(t, SEC(30), .ack = 1502);
    expect_state(t, SCPS_FIN_WAIT_2);
    assert_int_equal(script_info(t).bytes_acked, 500);
    script_free(t);
}

/* SACK and SNACK about data that was given up have no effect. */
static void reports_of_what_is_gone(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.snack = true;
    t->peer.caps |= SCPS_CAP_SNACK1;
    script_flight(t, MS(200), 3000, 3);
    scps_time at = MS(300);
    for (int i = 0; i < 3; i++, at += SEC(1)) { /* The first segment is missing each time. */
        peer_says(t, at, .ack = 1, .sack = {{1001, 3001}}, .snack = {{0, 1}});
        script_forget_sent(t);
    }
    script_run(t, SEC(10));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    peer_says(t, SEC(10), .ack = 1, .sack = {{1001, 3001}}, .snack = {{0, 1}});
    expect_quiet(t, SCPS_HOLD_APP);
    app_writes(t, SEC(11), 1000);
    expect_sent(t, .from = 3001, .len = 1000);
    peer_says(t, SEC(11) + MS(100), .ack = 1, .sack = {{1001, 3001}}, .snack = {{0, 1}});
    peer_says(t, SEC(11) + MS(200), .ack = 4001);
    assert_int_equal(script_info(t).outstanding, 0);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    script_free(t);
}

/* During an outage of the link no tries are counted. */
static void an_outage_counts_no_tries(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = SEC(3);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    script_run(t, MS(300));
    signal_link(t, MS(300), SCPS_SIGNAL_LINK_DOWN);
    script_run(t, SEC(1000));
    script_forget_sent(t);
    signal_link(t, SEC(1000), SCPS_SIGNAL_LINK_UP);
    expect_sent(t, .at = SEC(1000), .from = 1, .len = 1000);
    assert_int_equal(script_info(t).bytes_given_up, 0);
    peer_says(t, SEC(1000) + MS(100), .ack = 1001);
    assert_int_equal(script_info(t).bytes_acked, 1000);
    script_free(t);
}

/* The sequence number of a probe is below the data that the peer has, not only below what was given
 * up: otherwise it could lie in the peer's window, and the peer need not answer. */
static void a_probe_is_behind_the_peer(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = SEC(3);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    app_writes(t, MS(300), 1000);
    script_run(t, MS(3250));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    signal_link(t, MS(3250), SCPS_SIGNAL_LINK_DOWN);
    expect_sent(t, .at = MS(8250), .from = ZERO, .ack = 1);
    script_free(t);
}

/* The peer's acknowledgement number is remembered although everything was given up and the send
 * buffer was freed: two timeouts later new data leaves, the link goes down, and the probe is still
 * below what the peer has acknowledged. */
static void peers_ack_is_kept_after_all_is_given_up(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.bets_lifetime = SEC(3);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    script_run(t, SEC(30));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 1000);
    app_writes(t, SEC(30), 1000);
    expect_sent(t, .at = SEC(30), .from = 1001, .len = 1000);
    peer_says(t, SEC(30) + MS(100), .ack = 1, .sack = {{1001, 2001}});
    /* The segment is accepted, and the data that it reports is passed. */
    assert_int_equal(script_info(t).outstanding, 0);
    signal_link(t, SEC(30) + MS(200), SCPS_SIGNAL_LINK_DOWN);
    expect_sent(t, .at = SEC(35) + MS(200), .from = ZERO, .ack = 1);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(a_segment_is_given_up),
        SCRIPT_TEST(ranges),
        SCRIPT_TEST(the_window_of_a_peer_that_lags),
        SCRIPT_TEST(probes_of_a_peer_that_lags),
        SCRIPT_TEST(the_edge_of_the_window_is_kept),
        SCRIPT_TEST(r2_at_the_edge_of_the_window),
        SCRIPT_TEST(the_ack_of_a_peer_that_lags),
        SCRIPT_TEST(a_probed_octet_is_not_given_up),
        SCRIPT_TEST(data_in_a_shrunk_window_is_not_given_up),
        SCRIPT_TEST(the_last_octet_is_the_window_probe),
        SCRIPT_TEST(the_fin_is_the_window_probe),
        SCRIPT_TEST(a_report_beyond_the_window),
        SCRIPT_TEST(a_report_of_what_the_peer_expects),
        SCRIPT_TEST(lifetime),
        SCRIPT_TEST(lifetimes_run_together),
        SCRIPT_TEST(a_fin_is_reliable),
        SCRIPT_TEST(a_fin_after_a_pause),
        SCRIPT_TEST(a_fin_has_its_own_time),
        SCRIPT_TEST(a_fin_behind_a_hole),
        SCRIPT_TEST(reports_of_what_is_gone),
        SCRIPT_TEST(an_outage_counts_no_tries),
        SCRIPT_TEST(a_probe_is_behind_the_peer),
        SCRIPT_TEST(peers_ack_is_kept_after_all_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
