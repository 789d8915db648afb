/* SPDX-License-Identifier: MIT */
/* Closing a connection: RFC 9293 sections 3.6 and 3.10.4, RFC 1122 section 4.2.2.13, RFC 1337, RFC
 * 6191. */
#include "script.h"

/* RFC 9293 figure 12, as TCP Peer A: the active close. */
static void active_close(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    script_forget_events(t);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = MS(100), .from = 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 1);
    expect_state(t, SCPS_FIN_WAIT_1);
    peer_says(t, MS(200), .ack = 2);
    expect_state(t, SCPS_FIN_WAIT_2);
    expect_event(t, SCPS_EV_DRAINED);
    peer_says(t, MS(300), .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(300), .from = 2, .ack = 2);
    expect_state(t, SCPS_TIME_WAIT);
    script_run(t, SEC(60));
    expect_state(t, SCPS_TIME_WAIT);
    script_run(t, MS(300) + SEC(60));
    expect_state(t, SCPS_CLOSED);
    assert_int_equal(scps_conn_error(t->c), 0);
    app_reads(t, SEC(61), 0);
    script_free(t);
}

/* RFC 9293 figure 12, as TCP Peer B: the passive close, with data sent after the peer's FIN. */
static void passive_close(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    script_forget_events(t);
    peer_says(t, MS(150), .flags = SCPS_FIN | SCPS_ACK, .len = 300);
    expect_sent(t, .at = MS(150), .ack = 302);
    expect_state(t, SCPS_CLOSE_WAIT);
    expect_event(t, SCPS_EV_READABLE);
    expect_event(t, SCPS_EV_PEER_CLOSED);
    app_reads(t, MS(160), 300);
    app_reads(t, MS(160), 0);
    assert_true(scps_conn_eof(t->c));
    app_writes(t, MS(200), 1500); /* This end can still send. */
    expect_sent(t, .from = 1, .len = 1000, .ack = 302);
    expect_sent(t, .from = 1001, .len = 500, .ack = 302);
    peer_says(t, MS(300), .ack = 1501);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_state(t, SCPS_LAST_ACK);
    expect_sent(t, .at = MS(300), .from = 1501, .flags = SCPS_FIN | SCPS_ACK, .ack = 302);
    assert_int_equal(scps_conn_write(t->c, "x", 1, 0), SCPS_ERR_PIPE);
    peer_says(t, MS(400), .ack = 1502);
    expect_state(t, SCPS_CLOSED);
    expect_event(t, SCPS_EV_DRAINED);
    expect_event(t, SCPS_EV_CLOSED);
    expect_no_event(t);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* This end has shut down its sending side, and the peer continues to send. */
static void half_close_by_this_end(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(100), 10);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .from = 1, .len = 10);
    expect_sent(t, .from = 11, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .ack = 12);
    expect_state(t, SCPS_FIN_WAIT_2);
    for (int i = 0; i < 20; i++) {
        peer_says(t, SEC(100 * i + 1), .len = 1000);
        peer_says(t, SEC(100 * i + 1), .len = 1000);
        expect_sent(t, .ack = 1 + 2000 * (i + 1), .from = 12);
        app_reads(t, SEC(100 * i + 1), 2000);
    }
    /* While an application owns the connection, FIN-WAIT-2 has no timeout. */
    expect_state(t, SCPS_FIN_WAIT_2);
    script_free(t);
}

/* RFC 9293 figure 13: simultaneous close. */
static void simultaneous_close(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(150), .flags = SCPS_FIN | SCPS_ACK, .ack = 1);
    expect_state(t, SCPS_CLOSING);
    expect_sent(t, .at = MS(150), .from = 2, .ack = 2);
    peer_says(t, MS(200), .ack = 2);
    expect_state(t, SCPS_TIME_WAIT);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4, eighth step: the peer's FIN acknowledges this end's FIN, so the
 * connection goes from FIN-WAIT-1 to TIME-WAIT. */
static void fin_with_the_ack(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(200), .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
    expect_sent(t, .from = 2, .ack = 2);
    expect_state(t, SCPS_TIME_WAIT);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4, eighth check: after the FIN the stream is over. Data beyond it, which
 * a faulty peer has sent before, is discarded: SACK does not report it any more. */
static void a_fin_below_data_beyond_a_hole(void **x)
{
    struct script *t = script_of(x);

    t->peer.sack = true;
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 101, .len = 100);
    expect_sent(t, .at = MS(200), .ack = 1, .sack = {{101, 201}});
    peer_says(t, MS(210), .seq = 1, .len = 50, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(210), .ack = 52, .hasnt = SCPS_HAS_SACK);
    expect_state(t, SCPS_CLOSE_WAIT);
    app_reads(t, MS(220), 50);
    app_reads(t, MS(220), 0);
    script_free(t);
}

/* The last data segment carries the FIN if the application closes before the segment is sent. */
static void fin_with_the_data(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    scps_conn_cork(t->c, true);
    app_writes(t, MS(110), 700);
    expect_quiet(t, SCPS_HOLD_CORK);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = MS(110), .from = 1, .len = 700, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .ack = 702);
    expect_state(t, SCPS_FIN_WAIT_2);
    script_free(t);
}

/* A lost FIN is retransmitted with backoff, and after data_retries timeouts the connection ends. */
static void fin_is_repeated(void **x)
{
    struct script *t = script_of(x);
    t->cfg.data_retries = 2;
    script_established(t, MS(100));
    script_forget_events(t);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = MS(100), .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(400), .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(1000), .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(2200), .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    script_run(t, SEC(100));
    expect_no_event(t);
    script_run(t, SEC(200));
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_forget_sent(t);
    script_free(t);
}

/* Closes at both ends by 200 ms, at this end first, which leads to TIME-WAIT. */
static void to_time_wait(struct script *t)
{
    script_established(t, MS(100));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
    expect_sent(t, .ack = 2);
}

/* RFC 9293 section 3.10.7.4: a repeated FIN in TIME-WAIT is acknowledged and restarts the timer of
 * 2 MSL. */
static void time_wait_acknowledges_again(void **x)
{
    struct script *t = script_of(x);
    to_time_wait(t);
    for (int i = 0; i < 4; i++) { /* each time, however often the acknowledgement is lost */
        scps_time at = SEC(30) - MS(10 * (3 - i));
        peer_says(t, at, .seq = 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
        expect_sent(t, .at = at, .from = 2, .ack = 2);
    }
    script_run(t, SEC(89));
    expect_state(t, SCPS_TIME_WAIT);
    script_run(t, SEC(90));
    expect_state(t, SCPS_CLOSED);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4: the timer restarts as well when the FIN comes again with the data
 * before it, because the acknowledgement of both was lost. */
static void time_wait_and_a_fin_with_data(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .flags = SCPS_FIN | SCPS_ACK, .len = 100, .ack = 2);
    expect_sent(t, .ack = 102);
    expect_state(t, SCPS_TIME_WAIT);
    peer_says(t, SEC(30), .seq = 1, .len = 100, .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
    expect_sent(t, .at = SEC(30), .from = 2, .ack = 102);
    script_run(t, SEC(89));
    expect_state(t, SCPS_TIME_WAIT);
    script_run(t, SEC(90));
    expect_state(t, SCPS_CLOSED);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4: the wait begins anew for "a retransmission of the remote FIN". A FIN
 * with numbers that the peer does not use is none, and must not hold the connection for ever. */
static void time_wait_ignores_a_forged_fin(void **x)
{
    struct script *t = script_of(x);
    to_time_wait(t);
    for (int i = 1; i < 6; i++) {
        peer_says(t, SEC(10 * i), .seq = 100000, .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
        peer_says(t, SEC(10 * i), .seq = 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 100000);
    }
    script_run(t, SEC(61));
    expect_state(t, SCPS_CLOSED);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4: no data can follow the peer's FIN, so a segment beyond the FIN is
 * answered with an ACK. */
static void time_wait_acks_a_segment_beyond_the_fin(void **x)
{
    struct script *t = script_of(x);
    to_time_wait(t);
    peer_says(t, MS(300), .seq = 2, .ack = 2);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(400), .seq = 3, .ack = 2);
    expect_sent(t, .at = MS(400), .from = 2, .ack = 2);
    /* The answers to such segments are limited in rate. */
    peer_says(t, MS(500), .seq = 3, .ack = 2);
    expect_quiet(t, ANY_HOLD);
    expect_state(t, SCPS_TIME_WAIT);
    script_free(t);
}

/* RFC 1337: a reset does not end TIME-WAIT. */
static void time_wait_survives_a_reset(void **x)
{
    struct script *t = script_of(x);
    to_time_wait(t);
    peer_says(t, MS(300), .flags = SCPS_RST);
    expect_state(t, SCPS_TIME_WAIT);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* RFC 1122 section 4.2.2.13: in TIME-WAIT a SYN with a sequence number above the old ones opens a
 * new connection; one within them is only acknowledged. */
static void time_wait_gives_way(void **x)
{
    struct script *t = script_of(x);
    script_accepted(t, MS(100));
    scps_conn_close(t->c);
    t->c = NULL;
    expect_sent(t, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
    expect_sent(t, .ack = 2);
    peer_says(t, SEC(1), .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .at = SEC(1), .from = 2, .ack = 2);
    peer_says(t, SEC(2), .seq = 50000, .flags = SCPS_SYN);
    expect_sent(t, .at = SEC(2), .flags = SCPS_SYN | SCPS_ACK, .ack = 50001);
    script_free(t);
}

/* RFC 9293 section 3.6.1: the initial sequence number of the new connection is larger than all
 * numbers of the old one. The old one has sent 100 kB in 0.1 s, in which the clock of initial
 * sequence numbers advances by 25000 only. */
static void time_wait_gives_way_to_a_larger_number(void **x)
{
    struct script *t = script_of(x);
    script_accepted(t, MS(100));
    for (int i = 1; i <= 10; i++) {
        app_writes(t, MS(100) + i, 10000);
        script_forget_sent(t);
        peer_says(t, MS(100) + i, .ack = 1 + 10000 * i);
    }
    scps_conn_close(t->c);
    t->c = NULL;
    expect_sent(t, .from = 100001, .flags = SCPS_FIN | SCPS_ACK);
    const uint32_t fin = t->last.seq;
    peer_says(t, MS(110), .flags = SCPS_FIN | SCPS_ACK, .ack = 100002);
    expect_sent(t, .ack = 2);
    peer_says(t, MS(120), .seq = 50000, .flags = SCPS_SYN);
    expect_sent(t, .at = MS(120), .flags = SCPS_SYN | SCPS_ACK, .ack = 50001);
    assert_true((int32_t)(t->last.seq - fin) > 0);
    script_free(t);
}

/* A listener opens no connection for a SYN with FIN, so such a segment does not end TIME-WAIT: it
 * is answered like any other segment that is not acceptable, and the FIN of the peer is still
 * acknowledged when it comes again. */
static void time_wait_survives_a_syn_with_fin(void **x)
{
    struct script *t = script_of(x);
    script_accepted(t, MS(100));
    scps_conn_close(t->c);
    t->c = NULL;
    expect_sent(t, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
    expect_sent(t, .ack = 2);
    peer_says(t, SEC(1), .seq = 50000, .flags = SCPS_SYN | SCPS_FIN);
    expect_sent(t, .at = SEC(1), .from = 2, .ack = 2);
    peer_says(t, SEC(2), .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
    expect_sent(t, .at = SEC(2), .from = 2, .ack = 2);
    script_free(t);
}

/* RFC 9293 section 3.3.2: CLOSED means that there is no connection. An ended connection that its
 * owner has not yet closed does not keep the peer, or the owner, from opening one with the same
 * addresses and ports, and segments that arrive belong to the new one. */
static void an_ended_connection_frees_its_ports(void **x)
{
    for (int how = 0; how < 3; how++) {
        struct script *t = script_of(x);
        script_accepted(t, MS(100));
        struct scps_conn *old = t->c;
        peer_says(t, MS(200), .flags = SCPS_RST);
        assert_int_equal(scps_conn_state(old), SCPS_CLOSED);
        if (how == 2) { /* In these runs this end opens the new connection. */
            int err;
            struct scps_conn *c = scps_connect(t->st, &t->cfg, &t->us, &t->them, &err);
            assert_non_null(c);
            expect_sent(t, .flags = SCPS_SYN, .any_len = true);
            scps_conn_abort(c);
        } else {
            peer_says(t, MS(300), .seq = 50000, .flags = SCPS_SYN);
            expect_sent(t, .at = MS(300), .flags = SCPS_SYN | SCPS_ACK, .ack = 50001);
            if (how)
                /* The old connection is closed before the new one opens, or after. */
                scps_conn_close(old);
            peer_says(t, MS(400), .seq = 50001, .ack = 1, .len = 10);
            script_run(t, MS(700));
            expect_sent(t, .from = 1, .ack = 50011);
        }
        script_forget_events(t);
        script_free(t);
    }
}

/* RFC 6191 section 2 accepts a SYN with time stamps whatever its sequence number, if the connection
 * in TIME-WAIT had none: old segments would fail PAWS. But segments without time stamps are
 * accepted (RFC 7323 section 3.2 would drop them), so the sequence number decides here, too. */
static void time_wait_and_the_first_time_stamp(void **x)
{
    for (int newer = 0; newer < 2; newer++) {
        struct script *t = script_of(x);

        t->cfg.timestamps = true;
        script_accepted(t, MS(100));
        scps_conn_close(t->c);
        t->c = NULL;
        expect_sent(t, .flags = SCPS_FIN | SCPS_ACK, .hasnt = SCPS_HAS_TS);
        peer_says(t, MS(200), .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
        expect_sent(t, .ack = 2);
        t->peer.ts = true;
        peer_says(t, SEC(1), .seq = newer ? 50000 : -50000, .flags = SCPS_SYN, .tsval = 5000000);
        if (newer)
            expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 50001, .has = SCPS_HAS_TS);
        else
            expect_sent(t, .from = 2, .ack = 2);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 6191 section 2, with time stamps: if "the timestamp contained in the incoming SYN segment is
 * greater than the last timestamp seen on the previous incarnation of the connection", then "honor
 * the connection request"; if it is equal, the sequence number must be greater than the last one
 * seen; otherwise the connection stays (and the SYN is challenged, RFC 5961 section 4.2). */
static void time_wait_gives_way_to_a_time_stamp(void **x)
{
    static const struct {
        int64_t seq, tsval;
        bool opens;
    } syn[] = {
        {50000, 4999999, false}, /* The sequence number is greater, but the time stamp is older. */
        {1, 5000000, false},     /* The time stamp is equal and the sequence number is older. */
        {50000, 5000000, true},  /* The time stamp is equal and the sequence number is greater. */
        {1, 5000001, true}, /* The time stamp is newer, so the sequence number does not matter. */
    };

    for (size_t i = 0; i < sizeof syn / sizeof *syn; i++) {
        struct script *t = script_of(x);
        t->cfg.timestamps = t->peer.ts = true;
        script_accepted(t, MS(100));
        scps_conn_close(t->c);
        t->c = NULL;
        expect_sent(t, .flags = SCPS_FIN | SCPS_ACK);
        peer_says(t, MS(200), .flags = SCPS_FIN | SCPS_ACK, .ack = 2, .tsval = 5000000);
        expect_sent(t, .ack = 2);
        peer_says(t, SEC(1), .seq = syn[i].seq, .flags = SCPS_SYN, .tsval = syn[i].tsval);
        expect_sent(t, .at = SEC(1), .any_len = true,
                    .flags = syn[i].opens ? SCPS_SYN | SCPS_ACK : SCPS_ACK);
        script_forget_sent(t);
        script_free(t);
    }
}

/* The application closes after it has read everything: the close continues in order in the
 * background. */
static void close_goes_on_alone(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    script_established(t, MS(100));
    app_writes(t, MS(100), 2500);
    scps_conn_close(t->c);
    t->c = NULL;
    expect_sent(t, .from = 1, .len = 1000);
    expect_sent(t, .from = 1001, .len = 1000);
    expect_sent(t, .from = 2001, .len = 500, .push = true);
    expect_sent(t, .from = 2501, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .ack = 2502);
    peer_says(t, MS(300), .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .from = 2502, .ack = 2);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 1);
    script_run(t, SEC(61));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 0);
    /* The connection no longer exists, so the segment is answered with a reset. */
    peer_says(t, SEC(62), .seq = 2, .ack = 2502);
    expect_sent(t, .from = 2502, .flags = SCPS_RST);
    script_free(t);
}

/* RFC 9293 section 3.6.1: the application closes with data unread, so a reset is sent. */
static void close_with_data_unread(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(150), .len = 100);
    scps_conn_close(t->c);
    t->c = NULL;
    expect_sent(t, .from = 1, .flags = SCPS_RST | SCPS_ACK, .ack = 101);
    script_run(t, SEC(100));
    script_free(t);
}

/* RFC 7323 section 3.2: a reset on a connection with time stamps has them, too. */
static void a_reset_is_stamped(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    peer_says(t, MS(150), .len = 100);
    scps_conn_abort(t->c);
    t->c = NULL;
    expect_sent(t, .from = 1, .flags = SCPS_RST | SCPS_ACK, .ack = 101, .has = SCPS_HAS_TS);
    assert_int_not_equal(t->last.tsecr, 0);
    script_free(t);
}

/* RFC 1122 section 4.2.2.13: data for an application that has closed is answered with a reset. RFC
 * 9293 section 3.10.7.1: its sequence number is SEG.ACK, which the peer accepts (RFC 5961 section
 * 3.2). At SND.NXT the peer would challenge it as long as data is in flight. */
static void data_after_close(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    script_established(t, MS(100));
    scps_conn_close(t->c);
    t->c = NULL;
    expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .ack = 2);
    peer_says(t, MS(300), .len = 100);
    script_run(t, MS(300));
    assert_int_equal(script_sent_count(t), 1);
    expect_sent(t, .from = 2, .flags = SCPS_RST);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 0);
    assert_int_equal(s.drops[SCPS_DROP_AFTER_CLOSE], 1);
    script_free(t);

    t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 1500);
    scps_conn_close(t->c);
    t->c = NULL;
    script_run(t, MS(250));
    script_forget_sent(t);
    peer_says(t, MS(300), .ack = 1001, .len = 100);
    expect_sent(t, .at = MS(300), .from = 1001, .flags = SCPS_RST);
    script_free(t);
}

/* A connection that the application has closed leaves FIN-WAIT-2 after the time fin_wait2. */
static void fin_wait_2_has_a_timeout(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->cfg.fin_wait2 = SEC(5);
    script_established(t, MS(100));
    scps_conn_close(t->c);
    t->c = NULL;
    expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .ack = 2);
    script_run(t, MS(5199));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 1);
    script_run(t, MS(5201));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 0);
    script_free(t);
}

/* RFC 9293 section 3.10.4, CLOSE call in FIN-WAIT-2: "An "ok" response would be acceptable, too, as
 * long as a second FIN is not emitted (the first FIN may be retransmitted, though)". From then on
 * nobody owns the connection, and it ends after fin_wait2 as one that was closed before. */
static void closed_in_fin_wait_2(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->cfg.fin_wait2 = SEC(5);
    script_established(t, MS(100));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .ack = 2);
    expect_state(t, SCPS_FIN_WAIT_2);
    script_run(t, SEC(100));
    expect_state(t, SCPS_FIN_WAIT_2);
    scps_conn_close(t->c);
    t->c = NULL;
    script_run(t, SEC(105) - MS(1));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 1);
    script_run(t, SEC(105) + MS(1));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 0);
    script_free(t);
}

static void abort_sends_a_reset(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(100), 100);
    expect_sent(t, .from = 1, .len = 100);
    scps_conn_abort(t->c);
    t->c = NULL;
    expect_sent(t, .from = 101, .flags = SCPS_RST | SCPS_ACK, .ack = 1);
    script_run(t, SEC(100));
    script_free(t);
}

/* RFC 9293 section 3.10.4: a close in SYN-SENT deletes the connection. */
static void close_while_opening(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    scps_conn_close(t->c);
    t->c = NULL;
    script_run(t, SEC(100));
    expect_quiet(t, ANY_HOLD);
    peer_says(t, SEC(101), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .flags = SCPS_RST);
    script_free(t);
}

/* Data and then a FIN arrive out of order: the FIN has an effect only after the data before it. */
static void fin_out_of_order(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    script_forget_events(t);
    peer_says(t, MS(200), .seq = 1001, .len = 500, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(200), .ack = 1, .sack = {{1001, 1502}});
    expect_state(t, SCPS_ESTABLISHED);
    expect_no_event(t);
    peer_says(t, MS(210), .seq = 1, .len = 1000);
    expect_sent(t, .at = MS(210), .ack = 1502, .no_sack = true);
    expect_state(t, SCPS_CLOSE_WAIT);
    app_reads(t, MS(220), 1500);
    app_reads(t, MS(220), 0);
    script_free(t);
}

/* Nothing follows the peer's FIN. Beyond a hole it is acknowledged at once (RFC 5681 section 4.2),
 * the first FIN fixes the end of the stream, and octets beyond that end are ignored (RFC 9293
 * section 3.10.7.4, seventh check). */
static void nothing_follows_the_first_fin(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    script_established(t, MS(100));
    script_forget_events(t);
    peer_says(t, MS(200), .seq = 2001, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(200), .ack = 1);
    peer_says(t, MS(210), .seq = 1501, .len = 100, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(210), .ack = 1, .sack = {{1501, 1601}});
    peer_says(t, MS(220), .seq = 1, .len = 1500);
    expect_sent(t, .at = MS(220), .ack = 1601);
    expect_state(t, SCPS_ESTABLISHED);
    peer_says(t, MS(230), .seq = 1601, .len = 1000);
    expect_sent(t, .at = MS(230), .ack = 2002);
    expect_state(t, SCPS_CLOSE_WAIT);
    app_reads(t, MS(240), 2000);
    app_reads(t, MS(240), 0);
    /* The application closes: data beyond the FIN is no data after its close (RFC 9293 section
     * 3.6.1), so no reset answers it. */
    scps_conn_close(t->c);
    expect_sent(t, .at = MS(240), .from = 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 2002);
    peer_says(t, MS(250), .seq = 2002, .len = 100, .ack = 1);
    expect_sent(t, .at = MS(250), .from = 2, .ack = 2002);
    expect_state(t, SCPS_LAST_ACK);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_NOT_ACCEPTABLE], 2); /* both segments behind the FIN */
    t->c = NULL;
    peer_says(t, MS(300), .seq = 2002, .ack = 2);
    script_free(t);
}

/* A FIN far below RCV.NXT is an old duplicate: it does not end the stream, and later data is
 * accepted. */
static void an_old_fin_is_ignored(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    app_reads(t, MS(200), 1000);
    peer_says(t, MS(300), .seq = 401, .len = 100, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(300), .seq = -5000, .len = 100, .flags = SCPS_FIN | SCPS_ACK);
    assert_int_equal(script_info(t).bytes_duplicate, 100);
    peer_says(t, MS(400), .seq = 1001, .len = 1000);
    peer_says(t, MS(400), .seq = 2001, .len = 1000);
    app_reads(t, MS(500), 2000);
    peer_says(t, MS(600), .seq = 3001, .flags = SCPS_FIN | SCPS_ACK);
    expect_state(t, SCPS_CLOSE_WAIT);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(an_old_fin_is_ignored),
        SCRIPT_TEST(a_fin_below_data_beyond_a_hole),
        SCRIPT_TEST(active_close),
        SCRIPT_TEST(passive_close),
        SCRIPT_TEST(half_close_by_this_end),
        SCRIPT_TEST(simultaneous_close),
        SCRIPT_TEST(fin_with_the_ack),
        SCRIPT_TEST(fin_with_the_data),
        SCRIPT_TEST(fin_is_repeated),
        SCRIPT_TEST(time_wait_acknowledges_again),
        SCRIPT_TEST(time_wait_and_a_fin_with_data),
        SCRIPT_TEST(time_wait_ignores_a_forged_fin),
        SCRIPT_TEST(time_wait_acks_a_segment_beyond_the_fin),
        SCRIPT_TEST(time_wait_survives_a_reset),
        SCRIPT_TEST(time_wait_gives_way),
        SCRIPT_TEST(time_wait_gives_way_to_a_larger_number),
        SCRIPT_TEST(time_wait_survives_a_syn_with_fin),
        SCRIPT_TEST(time_wait_gives_way_to_a_time_stamp),
        SCRIPT_TEST(time_wait_and_the_first_time_stamp),
        SCRIPT_TEST(close_goes_on_alone),
        SCRIPT_TEST(close_with_data_unread),
        SCRIPT_TEST(a_reset_is_stamped),
        SCRIPT_TEST(an_ended_connection_frees_its_ports),
        SCRIPT_TEST(data_after_close),
        SCRIPT_TEST(fin_wait_2_has_a_timeout),
        SCRIPT_TEST(closed_in_fin_wait_2),
        SCRIPT_TEST(abort_sends_a_reset),
        SCRIPT_TEST(close_while_opening),
        SCRIPT_TEST(fin_out_of_order),
        SCRIPT_TEST(nothing_follows_the_first_fin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
