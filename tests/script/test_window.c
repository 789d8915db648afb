/* SPDX-License-Identifier: MIT */
/* Flow control in both directions: RFC 9293 section 3.8.6 (zero windows, window probes, silly
 * window avoidance), RFC 7323 section 2. */
#include "script.h"

/* Fills the peer's window of 1000 octets with the first of n octets; the window closes at 300 ms.
 * Returns the time at which a probe is due. */
static scps_time fill_and_close(struct script *t, int64_t n)
{
    t->peer_wnd = 1000;
    script_established(t, MS(100));
    app_writes(t, MS(200), n);
    expect_sent(t, .from = 1, .len = 1000);
    peer_says(t, MS(300), .ack = 1001, .wnd = ZERO);
    return MS(300) + script_info(t).rto;
}

/* RFC 9293 section 3.8.6.2.2: the receive window closes while data is unread, and opens by a
 * worthwhile amount or not at all. */
static void our_window_closes_and_opens(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 4000;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001, .wnd = 2000);
    peer_says(t, MS(210), .len = 1000);
    peer_says(t, MS(210), .len = 1000);
    expect_sent(t, .ack = 4001, .wnd = ZERO);
    app_reads(t, MS(300), 100); /* The free space is too small to be advertised. */
    expect_quiet(t, SCPS_HOLD_APP);
    /* RFC 9293 section 3.8.6.2.2: it is not advertised by an acknowledgement that is sent for
     * another reason either: "keep RCV.NXT+RCV.WND fixed until the reduction satisfies: RCV.BUFF -
     * RCV.USER - RCV.WND >= min( Fr * RCV.BUFF, Eff.snd.MSS )". */
    peer_says(t, MS(305), .seq = 4000, .len = 1);
    expect_sent(t, .at = MS(305), .ack = 4001, .wnd = ZERO);
    app_reads(t, MS(310), 800);
    expect_quiet(t, SCPS_HOLD_APP);
    /* At the latest when half of the buffer is free the window is advertised. */
    app_reads(t, MS(320), 1100);
    expect_sent(t, .at = MS(320), .ack = 4001, .wnd = 2000);
    app_reads(t, MS(330), 2000);
    script_forget_sent(t);
    peer_says(t, MS(400), .len = 1000);
    peer_says(t, MS(400), .len = 1000);
    expect_sent(t, .ack = 6001);
    script_free(t);
}

/* RFC 9293 section 3.8.6.1: the peer's probes of a closed window are acknowledged, and their octet
 * is dropped. */
static void the_peer_probes(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 2000;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001, .wnd = ZERO);
    for (int i = 0; i < 5; i++) {
        peer_says(t, SEC(1 + i), .seq = 2001, .len = 1);
        expect_sent(t, .at = SEC(1 + i), .ack = 2001, .wnd = ZERO);
    }
    /* The peer may also probe with an octet that was acknowledged before. */
    peer_says(t, SEC(10), .seq = 2000, .len = 1);
    expect_sent(t, .at = SEC(10), .ack = 2001, .wnd = ZERO);
    /* The acknowledgement number in a probe is processed although its octet is dropped. */
    app_writes(t, SEC(11), 10);
    expect_sent(t, .from = 1, .len = 10);
    peer_says(t, MS(11100), .seq = 2001, .len = 1, .ack = 11);
    expect_sent(t, .at = MS(11100), .ack = 2001, .from = 11);
    assert_int_equal(script_info(t).outstanding, 0);
    script_free(t);
}

/* RFC 9293 sections 3.8.6.1 and 3.10.7.4: while a probe has been sent beyond a closed window, or
 * data beyond a window that the peer took back, other segments have a sequence number that the peer
 * accepts. */
static void acknowledgements_stay_acceptable(void **x)
{
    struct script *t = script_of(x);
    scps_time at = fill_and_close(t, 1500);
    expect_sent(t, .at = at, .slack = MS(20), .from = 1001, .len = 1);
    peer_says(t, at + MS(50), .ack = 1001, .wnd = ZERO);
    peer_says(t, at + MS(60), .len = 100, .ack = 1001, .wnd = ZERO);
    script_run(t, at + MS(300));
    expect_sent(t, .from = 1001, .len = 0, .ack = 101);
    script_forget_sent(t);
    script_free(t);

    t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 3000);
    script_forget_sent(t);
    peer_says(t, MS(300), .ack = 1001, .wnd = 500);
    peer_says(t, MS(310), .len = 1000);
    peer_says(t, MS(310), .len = 1000);
    expect_sent(t, .at = MS(310), .from = 1501, .len = 0, .ack = 2001);
    script_free(t);
}

/* The time for which sending was held up is reported for each reason up to the present, the current
 * reason included. */
static void times_of_each_hold_reason(void **x)
{
    struct script *t = script_of(x);
    scps_time at = fill_and_close(t, 1500);
    struct scps_info before, then, later;

    before = script_info(t);
    script_run(t, MS(350));
    then = script_info(t);
    assert_int_equal(then.holds[then.hold] - before.holds[then.hold], MS(50));
    script_run(t, MS(400));
    later = script_info(t);
    assert_int_equal(later.hold, then.hold);
    assert_int_equal(later.holds[then.hold] - then.holds[then.hold], MS(50));
    assert_true(MS(400) < at);
    script_free(t);
}

/* The receive window is full of data beyond a hole, or closed and probed: the peer's
 * acknowledgements from its right edge, and from one octet behind it, are processed. */
static void acknowledgements_from_the_right_edge(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 2000;
    script_established(t, MS(100));
    app_writes(t, MS(150), 2000);
    script_forget_sent(t);
    peer_says(t, MS(200), .seq = 1001, .len = 1000);
    expect_sent(t, .at = MS(200), .ack = 1, .sack = {{1001, 2001}});
    peer_says(t, MS(250), .seq = 2001, .ack = 1001);
    assert_int_equal(script_info(t).outstanding, 1000);
    peer_says(t, MS(260), .seq = 1, .len = 1000, .ack = 1001);
    expect_sent(t, .at = MS(260), .ack = 2001, .wnd = ZERO);
    peer_says(t, MS(300), .seq = 2002, .ack = 2001);
    assert_int_equal(script_info(t).outstanding, 0);
    /* This sequence number lies too far beyond the window. */
    peer_says(t, MS(400), .seq = 2003, .ack = 2001);
    expect_sent(t, .at = MS(400), .ack = 2001);
    peer_says(t, MS(500), .seq = 2002, .flags = SCPS_RST);
    expect_state(t, SCPS_ESTABLISHED);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* Data beyond the receive window is dropped; the rest of the segment is accepted. */
static void beyond_our_window(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 1500;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 2000);
    expect_sent(t, .at = MS(200), .ack = 1501, .wnd = ZERO);
    assert_int_equal(scps_conn_readable(t->c), 1500);
    app_reads(t, MS(300), 1500);
    expect_sent(t, .at = MS(300), .ack = 1501, .wnd = 1500);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4: segments are tailored to the idealized one "by trimming off any
 * portions that lie outside the window (including SYN and FIN)", so a FIN beyond the window has to
 * be sent again. */
static void a_fin_beyond_our_window(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 1500;
    script_established(t, MS(100));
    script_forget_events(t);
    peer_says(t, MS(200), .len = 2000, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(200), .ack = 1501, .wnd = ZERO);
    app_reads(t, MS(300), 1500);
    expect_sent(t, .at = MS(300), .ack = 1501, .wnd = 1500);
    peer_says(t, MS(400), .seq = 1501, .len = 500);
    expect_state(t, SCPS_ESTABLISHED);
    peer_says(t, MS(410), .seq = 2001, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(410), .ack = 2002);
    expect_state(t, SCPS_CLOSE_WAIT);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4, first check: "After sending the acknowledgment, drop the unacceptable
 * segment and return". Of a segment whose data begins at the right edge of the window, or ends at
 * RCV.NXT, the acknowledgement is not processed. */
static void an_unacceptable_segment_acknowledges_nothing(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 1500;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 900);
    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1000, .ack = 901, .wnd = 600);
    peer_says(t, MS(210), .seq = 1501, .len = 100, .ack = 1001);
    expect_sent(t, .at = MS(210), .from = 1001, .ack = 901);
    assert_int_equal(scps_conn_unacked(t->c), 1000);
    peer_says(t, MS(220), .seq = 1, .len = 900, .ack = 1001);
    expect_sent(t, .at = MS(220), .from = 1001, .ack = 901);
    assert_int_equal(scps_conn_unacked(t->c), 1000);
    peer_says(t, MS(230), .seq = 901, .ack = 1001);
    assert_int_equal(scps_conn_unacked(t->c), 0);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4, fifth check: the window of a segment with data that is in order counts
 * although the segment acknowledges nothing new. */
static void a_window_beside_data(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000, .wnd = 1000);
    expect_sent(t, .ack = 2001);
    app_writes(t, MS(300), 3000);
    expect_sent(t, .from = 1, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(400), .ack = 1001, .wnd = 65535);
    expect_sent(t, .from = 1001, .len = 1000);
    expect_sent(t, .from = 2001, .len = 1000);
    script_free(t);
}

/* RFC 9293 section 3.8.6.2.2: in FIN-WAIT-2 the peer sends data, so a window that the application
 * opens is announced. After the FIN of the peer it is not: there is nothing more to receive. */
static void our_window_after_a_fin(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 1500;
    script_established(t, MS(100));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .ack = 2);
    expect_state(t, SCPS_FIN_WAIT_2);
    peer_says(t, MS(210), .len = 1000);
    peer_says(t, MS(210), .len = 500);
    expect_sent(t, .at = MS(210), .from = 2, .ack = 1501, .wnd = ZERO);
    app_reads(t, MS(300), 1500);
    expect_sent(t, .at = MS(300), .from = 2, .ack = 1501, .wnd = 1500);
    peer_says(t, MS(310), .len = 1000);
    peer_says(t, MS(310), .len = 500, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(310), .from = 2, .ack = 3002, .wnd = ZERO);
    app_reads(t, MS(400), 1500);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* A receive window of more than 64 KiB is advertised in units of the agreed shift. */
static void our_window_scaled(void **x)
{
    struct script *t = script_of(x);
    t->cfg.wscale = true;
    t->cfg.rcvbuf = 1 << 20;
    t->peer.wscale = 0;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001);
    assert_in_range((uint32_t)t->last.wnd << 5, (1 << 20) - 2000 - 32, 1 << 20);
    script_free(t);
}

/* RFC 7323 section 2.2: only the window of a segment with SYN is not scaled, whether the connection
 * is half-open or not. */
static void our_window_scaled_while_half_open(void **x)
{
    struct script *t = script_of(x);
    t->cfg.wscale = true;
    t->cfg.rcvbuf = 1 << 20;
    t->peer.wscale = 0;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .wnd = 65535);
    peer_says(t, MS(10), .seq = 900000, .ack = 1, .len = 10);
    expect_sent(t, .at = MS(10), .from = 1, .ack = 1);
    assert_in_range(t->last.wnd, 65535 >> 5, (1 << 20) >> 5);
    script_free(t);
}

/* RFC 9293 section 3.8.6.1, RFC 1122 section 4.2.2.17: the first window probe is sent after the
 * RTO, then at growing intervals, without end. */
static void zero_window_probes(void **x)
{
    struct script *t = script_of(x);
    t->cfg.data_retries = 4;
    t->cfg.persist_max = SEC(2);
    t->peer_wnd = 2000;
    script_established(t, MS(100)); /* The RTO is 300 ms. */
    app_writes(t, MS(200), 3500);
    expect_sent(t, .from = 1, .len = 1000);
    expect_sent(t, .from = 1001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(300), .ack = 2001, .wnd = ZERO);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    scps_time at = MS(300) + script_info(t).rto, gap = script_info(t).rto;
    for (int i = 0; i < 30; i++) {
        expect_sent(t, .at = at, .from = 2001, .len = 1);
        peer_says(t, at + MS(50), .ack = 2001, .wnd = ZERO);
        gap = gap * 2 > SEC(2) ? SEC(2) : gap * 2;
        at += gap;
    }
    expect_state(t, SCPS_ESTABLISHED);
    scps_time opens = script_now(t) + MS(10);
    peer_says(t, opens, .ack = 2001, .wnd = 20000);
    /* The octet of the probe was never accepted, so it is sent first. */
    expect_sent(t, .at = opens, .from = 2001, .len = 1);
    expect_sent(t, .at = opens, .from = 2002, .len = 1000);
    peer_says(t, opens + MS(100), .ack = 3002);
    expect_sent(t, .at = opens + MS(100), .from = 3002, .len = 499);
    peer_says(t, opens + MS(200), .ack = 3501);
    expect_quiet(t, SCPS_HOLD_APP);
    /* A probe does not count as a timeout, and the congestion window stays. */
    assert_int_equal(script_info(t).timeouts, 0);
    assert_true(script_info(t).cwnd >= 10000);
    script_free(t);
}

/* The peer may accept the octet of a probe; it is then acknowledged and not sent again. */
static void a_window_probe_is_accepted(void **x)
{
    struct script *t = script_of(x);
    scps_time at = fill_and_close(t, 1500);
    expect_sent(t, .at = at, .from = 1001, .len = 1);
    peer_says(t, at + MS(1), .ack = 1002, .wnd = 1000);
    expect_sent(t, .at = at + MS(1), .from = 1002, .len = 499);
    script_free(t);
}

/* Begins a conversation whose last octet is sent as a window probe. The peer accepts the octet, and
 * its window stays closed. */
static void accept_the_last_probe(struct script *t)
{
    const scps_time at = fill_and_close(t, 1001);

    expect_sent(t, .at = at, .from = 1001, .len = 1);
    peer_says(t, at + MS(100), .ack = 1002, .wnd = ZERO);
}

/* The peer accepts the last octet of the data as a window probe, and its window stays closed. Data
 * that is written later waits for the window, and RFC 9293 section 3.8.6.1 probes it: "Probing of
 * zero (offered) windows MUST be supported". */
static void data_after_the_last_probe(void **x)
{
    struct script *t = script_of(x);
    scps_time at;

    accept_the_last_probe(t);
    script_run(t, SEC(100)); /* The send state is freed meanwhile. */
    app_writes(t, SEC(100), 1);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    at = SEC(100) + script_info(t).rto;
    expect_sent(t, .at = at, .from = 1002, .len = 1);
    script_free(t);
}

/* As before, but no data is written. Then the timer of window probes does not run, so that R2 (RFC
 * 9293 section 3.8.3) does not end a connection that has nothing to send. With fixed memory the
 * send state is not freed. */
static void nothing_after_the_last_probe(void **x)
{
    struct script *t = script_of(x);

    t->stack_cfg.fixed_memory = &t->cfg;
    t->stack_cfg.max_conns = 2;
    accept_the_last_probe(t);
    script_run(t, SEC(10000));
    expect_quiet(t, ANY_HOLD);
    expect_state(t, SCPS_ESTABLISHED);
    script_free(t);
}

/* The peer, whose window is closed, acknowledges each segment with data for 3000 s, far longer than
 * R2 of RFC 9293 section 3.8.3, and accepts none. Then its window opens, and it accepts all. */
static void answer_for_long(struct script *t, int64_t una, int64_t end)
{
    const scps_time until = script_now(t) + SEC(3000);
    unsigned probes = 0;

    while (script_now(t) < until) {
        scps_time at = script_now(t) + MS(100);
        script_run(t, at);
        if (script_forget_sent(t)) {
            peer_says(t, at, .ack = una, .wnd = ZERO);
            probes++;
        }
    }
    expect_state(t, SCPS_ESTABLISHED);
    assert_in_range(probes, 3000 / 60, 3000 / 60 + 15);
    assert_int_equal(script_info(t).timeouts, 0);
    peer_says(t, until + 1, .ack = una, .wnd = 20000);
    script_run(t, until + MS(100));
    script_forget_sent(t);
    peer_says(t, until + MS(100), .ack = end, .wnd = 20000);
    script_run(t, until + MS(200));
    script_forget_sent(t);
    assert_int_equal(script_info(t).outstanding, 0);
}

/* RFC 9293 section 3.8.6: "If the window shrinks to zero, the TCP implementation MUST probe it in
 * the standard way". The sender "SHOULD NOT time out the connection if data beyond the right window
 * edge is not acknowledged". */
static void a_window_that_shrinks_to_zero(void **x)
{
    struct script *t = script_of(x);

    script_flight(t, MS(200), 3000, 3);
    peer_says(t, MS(300), .ack = 1001, .wnd = ZERO);
    expect_quiet(t, ANY_HOLD);
    expect_sent(t, .at = MS(300) + script_info(t).rto, .from = 1001, .len = 1000);
    answer_for_long(t, 1001, 3001);
    script_free(t);
}

/* When the window opens again, all data within it is resent that has been outstanding for a round
 * trip, not only the probe: the peer has dropped what lay beyond its window, and RFC 9293 section
 * 3.8.6 wants it retransmitted "normally", for which the timer had expired. */
static void a_window_that_shrinks_and_opens(void **x)
{
    for (int sack = 0; sack < 2; sack++) {
        struct script *t = script_of(x);
        scps_time at;

        script_flight(t, MS(200), 5000, 5);
        peer_says(t, MS(300), .ack = 1001, .wnd = ZERO);
        at = MS(300) + script_info(t).rto;
        expect_sent(t, .at = at, .from = 1001, .len = 1000);
        if (sack)
            peer_says(t, at + MS(100), .ack = 1001, .wnd = 5000, .sack = {{3001, 4001}});
        else
            peer_says(t, at + MS(100), .ack = 1001, .wnd = 5000);
        for (int i = 1; i < 5; i++)
            if (!sack || i != 3)
                expect_sent(t, .at = at + MS(100), .from = 1 + 1000 * i, .len = 1000);
        expect_quiet(t, ANY_HOLD);
        script_free(t);
    }
}

/* As before, when an outage of the link begins while the window is probed. RFC 9293 section
 * 3.8.6.1: "As long as the receiving TCP peer continues to send acknowledgments in response to the
 * probe segments, the sending TCP peer MUST allow the connection to stay open". */
static void an_outage_while_the_window_is_closed(void **x)
{
    struct script *t = script_of(x);
    struct scps_signal sig = {.kind = SCPS_SIGNAL_LINK_DOWN, .until = SCPS_NEVER};
    const scps_time at = fill_and_close(t, 2001);

    expect_sent(t, .at = at, .from = 1001, .len = 1);
    peer_says(t, at + MS(100), .ack = 1001, .wnd = ZERO);
    assert_int_equal(scps_stack_signal(t->st, scps_stack_now(t->st), &sig), 0);
    script_run(t, SEC(20));
    script_forget_sent(t);
    sig.kind = SCPS_SIGNAL_LINK_UP;
    assert_int_equal(scps_stack_signal(t->st, scps_stack_now(t->st), &sig), 0);
    answer_for_long(t, 1001, 2002);
    script_free(t);
}

/* Both ends have probed a closed window. The windows have opened and each octet was accepted, but
 * neither end has got the acknowledgement: the acknowledgements of each end have a sequence number
 * one octet below the other's RCV.NXT, which is unacceptable (RFC 9293 section 3.10.7.4, first
 * check). The answer to such a segment has the sequence number SND.NXT that its acknowledgement
 * number shows, and the other end accepts it. */
static void probes_that_cross(void **x)
{
    for (int k = 0; k < 2; k++) {
        struct script *t = script_of(x);
        scps_time at;

        t->cfg.rcvbuf = 2000;
        at = fill_and_close(t, 1500);
        peer_says(t, at - MS(50), .len = 2000, .ack = 1001, .wnd = ZERO);
        app_reads(t, at - MS(40), 2000);
        script_forget_sent(t);
        expect_sent(t, .at = at, .slack = MS(60), .from = 1001, .len = 1, .ack = 2001);
        at = script_now(t) + MS(10);
        peer_says(t, at, .seq = 2001, .len = 1, .ack = 1001, .wnd = ZERO);
        script_run(t, at + MS(200));
        script_forget_sent(t);
        /* If the segment lies far away, or acknowledges octets that were never sent, its
         * acknowledgement number is not used. */
        if (k) {
            peer_says(t, at + MS(210), .seq = 9000, .ack = 1002, .wnd = ZERO);
            expect_sent(t, .at = at + MS(210), .from = 1001, .ack = 2002);
            at += MS(500); /* Such segments are answered twice a second. */
            script_run(t, at + MS(220));
            script_forget_sent(t);
            peer_says(t, at + MS(220), .seq = 2001, .ack = 1003, .wnd = ZERO);
            expect_sent(t, .at = at + MS(220), .from = 1001, .ack = 2002);
        } else {
            peer_says(t, at + MS(210), .seq = 2001, .ack = 1002, .wnd = ZERO);
            expect_sent(t, .at = at + MS(210), .from = 1002, .ack = 2002);
        }
        peer_says(t, at + MS(230), .seq = 2002, .ack = 1002, .wnd = 2000);
        script_run(t, at + MS(230));
        script_forget_sent(t);
        peer_says(t, at + MS(330), .ack = 1501);
        script_forget_sent(t);
        script_free(t);
    }
}

/* The octet of a probe is reported as arrived, beyond the window, and is not acknowledged when the
 * window opens. It is outstanding, so the retransmission timer runs (RFC 6298 section 5.1) and
 * resends it: after a timeout RFC 2018 section 5 has the sender "turn off all of the SACKed bits".
 */
static void a_probe_that_was_reported_falsely(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 1000;
    script_flight(t, MS(200), 1001, 1);
    peer_says(t, MS(300), .ack = 1001, .wnd = ZERO);
    const scps_time at = MS(300) + script_info(t).rto;
    expect_sent(t, .at = at, .from = 1001, .len = 1, .push = true);
    peer_says(t, at, .ack = 1001, .wnd = ZERO, .sack = {{1001, 1002}});
    peer_says(t, at + 1, .ack = 1001, .wnd = 2000, .sack = {{1001, 1002}});
    expect_quiet(t, ANY_HOLD);
    expect_sent(t, .at = at + 1 + script_info(t).rto, .from = 1001, .len = 1, .push = true);
    peer_says(t, at + MS(400), .ack = 1002);
    assert_int_equal(script_info(t).outstanding, 0);
    script_free(t);
}

static void probes_unanswered(void **x)
{
    struct script *t = script_of(x);
    /* RFC 9293 SHLD-30: window probes back off, whatever losses are attributed to. */
    for (int k = 0; k < 2; k++) {
        t->cfg.data_retries = 3;
        t->cfg.loss_cause = k ? SCPS_LOSS_CORRUPTION : SCPS_LOSS_CONGESTION;
        fill_and_close(t, 1500);
        script_forget_events(t);
        script_run(t, SEC(100));
        expect_state(t, SCPS_ESTABLISHED);
        script_run(t, SEC(200));
        expect_error(t, SCPS_ERR_TIMEDOUT);
        assert_in_range(script_forget_sent(t), 9, 10);
        script_free(t);
        t = k ? NULL : script_of(x);
    }
}

/* The application has closed, and the peer answers each probe but never accepts data: the
 * connection ends in the end. */
static void a_closed_connection_ends_at_a_zero_window(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    scps_time ended = 0;
    t->cfg.data_retries = 5;
    fill_and_close(t, 1500);
    scps_conn_close(t->c);
    t->c = NULL;
    for (scps_time at = MS(400); at < SEC(600); at += MS(100)) {
        script_run(t, at);
        if (!script_sent_count(t))
            continue;
        script_forget_sent(t);
        scps_stack_get_stats(t->st, &s);
        if (!s.conns) {
            ended = at;
            break; /* This is the reset. */
        }
        peer_says(t, at, .ack = 1001, .wnd = ZERO);
    }
    assert_in_range(ended, SEC(100), SEC(200));
    script_run(t, SEC(600));
    assert_int_equal(script_sent_count(t), 0);
    script_free(t);
}

/* Only the FIN is left to send and the window is closed: the FIN serves as the probe. */
static void fin_into_a_closed_window(void **x)
{
    struct script *t = script_of(x);
    scps_time at = fill_and_close(t, 1000);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    expect_sent(t, .at = at, .from = 1001, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, at + MS(1), .ack = 1002, .wnd = ZERO);
    expect_state(t, SCPS_FIN_WAIT_2);
    script_run(t, SEC(100));
    script_free(t);
}

/* Only the FIN is left to send and the window is closed, and the send buffer is about to be freed,
 * two RTOs after the last octet was acknowledged: the FIN serves as the probe. */
static void fin_into_a_window_closed_long_ago(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1000);
    peer_says(t, MS(300), .ack = 1001, .wnd = ZERO);
    scps_dur rto = script_info(t).rto;
    script_run(t, MS(300) + 2 * rto - MS(10));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = MS(290) + 3 * rto, .from = 1001, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(300) + 3 * rto, .ack = 1002, .wnd = ZERO);
    expect_state(t, SCPS_FIN_WAIT_2);
    script_free(t);
}

/* RFC 9293 section 3.8.6.2.1: the sender does not fill small parts of a window that opens. */
static void silly_window_of_the_peer(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 4000;
    script_established(t, MS(100));
    app_writes(t, MS(200), 20000);
    for (int i = 0; i < 4; i++)
        expect_sent(t, .from = 1 + 1000 * i, .len = 1000);
    peer_says(t, MS(300), .ack = 2001, .wnd = 2300); /* The window has room for 300 octets. */
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    /* No data is outstanding, so the override timeout sends the segment. */
    peer_says(t, MS(310), .ack = 4001, .wnd = 900);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    expect_sent(t, .at = MS(310) + script_info(t).rto, .from = 4001, .len = 900);
    peer_says(t, MS(700), .ack = 4901, .wnd = 2000); /* The window has half of its largest size. */
    expect_sent(t, .at = MS(700), .from = 4901, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.8.6.2.1 (4): "The override timeout should be in the range 0.1 - 1.0 seconds",
 * also where the RTO is longer or probes have backed off. A peer that opens its window by an octet
 * now and then does not delay it. */
static void the_override_timeout(void **x)
{
    struct script *t = script_of(x);
    t->cfg.expected_rtt = SEC(2);
    script_established(t, SEC(2));
    app_writes(t, SEC(3), 3000);
    script_forget_sent(t);
    peer_says(t, SEC(5), .ack = 3001, .wnd = ZERO);
    app_writes(t, SEC(5), 3000);
    script_run(t, SEC(40));
    unsigned probes = script_forget_sent(t);
    expect_that(t, probes >= 2 && probes <= 4);
    peer_says(t, SEC(40), .ack = 3002, .wnd = 1);
    for (int i = 1; i < 10; i++)
        peer_says(t, SEC(40) + i * MS(100), .ack = 3002, .wnd = 1 + i);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    expect_sent(t, .at = SEC(41), .from = 3002, .len = 10);
    /* After that the retransmission timer runs as before. */
    peer_says(t, SEC(43), .ack = 3012, .wnd = 1000);
    expect_sent(t, .at = SEC(43), .from = 3012, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    script_free(t);
}

/* Half of a window of three octets counts as two. */
static void half_of_a_tiny_window(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 3;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 3);
    peer_says(t, MS(300), .ack = 4, .wnd = 1);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(310), .ack = 4, .wnd = 2);
    expect_sent(t, .at = MS(310), .from = 4, .len = 2);
    script_free(t);
}

/* RFC 9293 section 3.8.6.2.2: the window is advertised anew when "RCV.BUFF - RCV.USER - RCV.WND >=
 * min( Fr * RCV.BUFF, Eff.snd.MSS )" with Fr = 1/2: after a segment if the buffer holds several,
 * otherwise after half of the buffer. */
static void threshold_of_a_window_update(void **x)
{
    static const struct {
        uint32_t buffer, enough;
    } cases[] = {{4000, 1000}, {1500, 750}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct script *t = script_of(x);
        t->cfg.rcvbuf = cases[i].buffer;
        script_established(t, MS(100));
        for (uint32_t n = 0; n < cases[i].buffer; n += 1000)
            peer_says(t, MS(200), .len = cases[i].buffer - n < 1000 ? 500 : 1000);
        script_run(t, SEC(1));
        script_forget_sent(t);
        app_reads(t, SEC(2), (int64_t)cases[i].enough - 1);
        expect_quiet(t, SCPS_HOLD_APP);
        app_reads(t, SEC(3), 1);
        expect_sent(t, .at = SEC(3), .ack = 1 + cases[i].buffer, .wnd = (int32_t)cases[i].enough);
        script_free(t);
    }
}

/* If the window is half open, its growth waits for the next acknowledgement unless it can double:
 * RFC 9293 section 3.8.6.2.2 keeps the window fixed "until" that much is free, and does not ask for
 * a segment of its own. */
static void a_window_that_is_half_open(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 4000;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001, .wnd = 2000);
    app_reads(t, MS(300), 1999);
    expect_quiet(t, SCPS_HOLD_APP);
    app_reads(t, MS(310), 1);
    expect_sent(t, .at = MS(310), .ack = 2001, .wnd = 4000);
    script_free(t);
}

/* The receiver's whole window is smaller than a segment: the sender sends when half of it is
 * open. */
static void a_tiny_receiver(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 300;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 300);
    peer_says(t, MS(300), .ack = 301, .wnd = 300);
    expect_sent(t, .at = MS(300), .from = 301, .len = 300);
    peer_says(t, MS(400), .ack = 601, .wnd = 150);
    expect_sent(t, .at = MS(400), .from = 601, .len = 150);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4: only a newer segment may change the window (SND.WL1, SND.WL2). */
static void old_segments_do_not_move_the_window(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    /* The segment is newer, although it arrives out of order. */
    peer_says(t, MS(200), .seq = 101, .len = 100, .wnd = 5000);
    assert_int_equal(script_info(t).snd_wnd, 5000);
    /* The segment is older by its sequence number. */
    peer_says(t, MS(201), .seq = 1, .len = 100, .wnd = 100);
    assert_int_equal(script_info(t).snd_wnd, 5000);
    peer_says(t, MS(202), .seq = 201, .wnd = 7000);
    assert_int_equal(script_info(t).snd_wnd, 7000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4: the window is updated if SND.UNA =< SEG.ACK =< SND.NXT. An old
 * acknowledgement that arrives late neither closes an open window nor opens a closed one, even if
 * it has SACK blocks and no data is outstanding. */
static void an_old_acknowledgement(void **x)
{
    for (int k = 0; k < 2; k++) {
        struct script *t = script_of(x);
        script_established(t, MS(100));
        app_writes(t, MS(200), 2000);
        expect_sent(t, .from = 1, .len = 1000);
        expect_sent(t, .from = 1001, .len = 1000);
        peer_says(t, MS(300), .ack = 2001, .wnd = k ? ZERO : 3000);
        peer_says(t, MS(310), .ack = 1, .wnd = k ? 3000 : ZERO, .sack = {{1001, 2001}});
        assert_int_equal(script_info(t).snd_wnd, k ? 0 : 3000);
        peer_says(t, MS(320), .len = 10, .ack = 1, .wnd = k ? 3000 : ZERO, .sack = {{1001, 2001}});
        assert_int_equal(script_info(t).snd_wnd, k ? 0 : 3000);
        app_writes(t, MS(330), 1000);
        if (k)
            expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
        else
            expect_sent(t, .at = MS(330), .from = 2001, .len = 1000);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 9293 section 3.8.6: the sender must be prepared for a peer that shrinks its window. */
static void a_shrinking_window(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 5000;
    script_established(t, MS(100));
    app_writes(t, MS(200), 8000);
    for (int i = 0; i < 5; i++)
        expect_sent(t, .from = 1 + 1000 * i, .len = 1000);
    peer_says(t, MS(300), .ack = 1001, .wnd = 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    /* The peer had accepted the data all the same. */
    peer_says(t, MS(310), .ack = 5001, .wnd = 1000);
    expect_sent(t, .at = MS(310), .from = 5001, .len = 1000);
    script_free(t);
}

/* RFC 9293 section 3.1, MUST-1: the window is unsigned, "or else large window sizes will appear
 * like negative windows". */
static void the_highest_bit_of_the_window(void **x)
{
    struct script *t = script_of(x);

    t->cfg.sndbuf = 1 << 20;
    t->cfg.init_cwnd_segs = 100;
    script_established(t, MS(100));
    peer_says(t, MS(150), .ack = 1, .wnd = 65535);
    app_writes(t, MS(200), 100000);
    assert_int_equal(script_forget_sent(t), 65);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    script_free(t);
}

/* RFC 7323 section 2.3: windows of more than 64 KiB are used. */
static void large_windows_of_the_peer(void **x)
{
    struct script *t = script_of(x);
    t->cfg.wscale = true;
    t->cfg.sndbuf = 1 << 20;
    t->cfg.init_cwnd_segs = 200;
    t->peer.wscale = 3;
    script_established(t, MS(100));
    peer_says(t, MS(150), .ack = 1, .wnd = 25000); /* 25000 units of 8 octets are 200000 octets. */
    app_writes(t, MS(200), 250000);
    assert_int_equal(script_forget_sent(t), 200);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    script_free(t);
}

/* Sets first_window for a peer that offers 90 000 octets from the beginning. */
static void configured_alike(struct script *t)
{
    t->cfg.first_window = 90000;
    t->cfg.sndbuf = 200000;
    t->cfg.init_cwnd_segs = 200;
    t->cfg.wscale = true;
}

/* first_window: both ends are configured alike. A SYN cannot offer more than 65535 octets, so until
 * the first scaled window arrives the configured window is used; from then on the peer's. */
static void first_window(void **x)
{
    struct script *t = script_of(x);

    configured_alike(t);
    t->peer.wscale = 7;
    script_flight(t, MS(200), 150000, 90);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(300), .ack = 90001, .wnd = 80); /* 80 units of 128 octets are 10240 octets. */
    assert_int_equal(script_forget_sent(t), 10);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(400), .ack = 100001, .wnd = 1000);
    script_run(t, MS(450));
    script_forget_sent(t);
    peer_says(t, MS(500), .ack = 150001);
    script_free(t);
}

/* Without window scaling the window of the peer's SYN holds, whatever the value of first_window. */
static void first_window_needs_a_scale(void **x)
{
    struct script *t = script_of(x);

    configured_alike(t);
    script_flight(t, MS(200), 150000, 65);
    peer_says(t, MS(300), .ack = 65001, .wnd = 65535);
    script_run(t, MS(310));
    script_forget_sent(t);
    peer_says(t, MS(320), .ack = 130001, .wnd = 65535);
    script_run(t, MS(330));
    script_forget_sent(t);
    peer_says(t, MS(340), .ack = 150001);
    script_free(t);
}

/* The peer has shrunk its window below data that was lost: only the segment at SND.UNA is resent,
 * the rest when the window opens. */
static void repair_under_a_shrunken_window(void **x)
{
    struct script *t = script_of(x);

    script_flight(t, MS(200), 8000, 8);
    peer_says(t, MS(300), .ack = 1, .sack = {{4001, 8001}}, .wnd = 1000);
    expect_sent(t, .at = MS(300), .from = 1, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(400), .ack = 1001, .sack = {{4001, 8001}}, .wnd = 1000);
    expect_sent(t, .at = MS(400), .from = 1001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(500), .ack = 2001, .sack = {{4001, 8001}}, .wnd = 20000);
    expect_sent(t, .at = MS(500), .from = 2001, .len = 1000);
    expect_sent(t, .at = MS(500), .from = 3001, .len = 1000);
    peer_says(t, MS(600), .ack = 8001);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(first_window),
        SCRIPT_TEST(first_window_needs_a_scale),
        SCRIPT_TEST(repair_under_a_shrunken_window),
        SCRIPT_TEST(our_window_closes_and_opens),
        SCRIPT_TEST(times_of_each_hold_reason),
        SCRIPT_TEST(the_peer_probes),
        SCRIPT_TEST(acknowledgements_stay_acceptable),
        SCRIPT_TEST(acknowledgements_from_the_right_edge),
        SCRIPT_TEST(beyond_our_window),
        SCRIPT_TEST(a_fin_beyond_our_window),
        SCRIPT_TEST(an_unacceptable_segment_acknowledges_nothing),
        SCRIPT_TEST(a_window_beside_data),
        SCRIPT_TEST(our_window_after_a_fin),
        SCRIPT_TEST(our_window_scaled),
        SCRIPT_TEST(our_window_scaled_while_half_open),
        SCRIPT_TEST(probes_that_cross),
        SCRIPT_TEST(zero_window_probes),
        SCRIPT_TEST(a_window_probe_is_accepted),
        SCRIPT_TEST(a_window_that_shrinks_to_zero),
        SCRIPT_TEST(a_window_that_shrinks_and_opens),
        SCRIPT_TEST(an_outage_while_the_window_is_closed),
        SCRIPT_TEST(data_after_the_last_probe),
        SCRIPT_TEST(nothing_after_the_last_probe),
        SCRIPT_TEST(a_probe_that_was_reported_falsely),
        SCRIPT_TEST(probes_unanswered),
        SCRIPT_TEST(a_closed_connection_ends_at_a_zero_window),
        SCRIPT_TEST(fin_into_a_closed_window),
        SCRIPT_TEST(fin_into_a_window_closed_long_ago),
        SCRIPT_TEST(silly_window_of_the_peer),
        SCRIPT_TEST(the_override_timeout),
        SCRIPT_TEST(half_of_a_tiny_window),
        SCRIPT_TEST(threshold_of_a_window_update),
        SCRIPT_TEST(a_window_that_is_half_open),
        SCRIPT_TEST(a_tiny_receiver),
        SCRIPT_TEST(old_segments_do_not_move_the_window),
        SCRIPT_TEST(an_old_acknowledgement),
        SCRIPT_TEST(a_shrinking_window),
        SCRIPT_TEST(the_highest_bit_of_the_window),
        SCRIPT_TEST(large_windows_of_the_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
