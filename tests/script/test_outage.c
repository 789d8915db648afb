/* SPDX-License-Identifier: MIT */
/* Link outages and the cause of losses (docs/SCPS-TP.md sections 3.4 and 3.5). */
#include "script.h"

static void tell(struct script *t, scps_time at, enum scps_signal_kind kind, scps_time until)
{
    scps_time epoch =
        /* The stack's clock does not begin at 0, unlike the script's. */
        scps_stack_now(t->st) - script_now(t);
    struct scps_signal sig = {.kind = kind,
                              .until = until && until != SCPS_NEVER ? until + epoch : until};

    script_comment(t, "signal %d", (int)kind);
    scps_stack_signal(t->st, at + epoch, &sig);
}

/* During an outage only probes are sent, after 5, 6, 12, 24, 48, 60, 60 ... s; after it, sending
 * continues with the window from before the outage. */
static void signalled(void **x)
{
    static const int gap[] = {5, 6, 12, 24, 48, 60, 60};
    struct script *t = script_of(x);
    scps_time at = SEC(1);

    script_flight(t, MS(200), 5000, 5);
    peer_says(t, MS(300), .ack = 2001);
    script_run(t, MS(350));
    uint64_t cwnd = script_info(t).cwnd;
    tell(t, MS(350), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    app_writes(t, MS(400), 1000); /* The data is accepted from the application, but not sent. */
    at = MS(350);
    for (unsigned i = 0; i < sizeof gap / sizeof *gap; i++) {
        at += SEC(gap[i]);
        expect_sent(t, .at = at, .from = 2000, .ack = 1);
    }
    script_run(t, SEC(3000)); /* The outage is far longer than any limit of retries. */
    script_forget_sent(t);
    expect_state(t, SCPS_ESTABLISHED);
    tell(t, SEC(3000), SCPS_SIGNAL_LINK_UP, 0);
    expect_sent(t, .at = SEC(3000), .from = 2001, .len = 1000);
    expect_sent(t, .at = SEC(3000), .from = 3001, .len = 1000);
    expect_sent(t, .at = SEC(3000), .from = 4001, .len = 1000);
    expect_sent(t, .at = SEC(3000), .from = 5001, .len = 1000);
    assert_int_equal(script_info(t).cwnd, cwnd);
    assert_int_equal(script_info(t).timeouts, 0);
    peer_says(t, SEC(3000) + MS(100), .ack = 6001);
    script_free(t);
}

/* RFC 6298 section 2.5: "A maximum value MAY be placed on RTO". Where it is shorter than the
 * schedule of probes, it bounds their intervals, too: an outage, whether it was signalled or
 * inferred, is not probed more seldom than data would have been resent. */
static void bounded_by_rto_max(void **x)
{
    static const int gap[] = {5, 6, 10, 10, 10};

    for (int inferred = 0; inferred < 2; inferred++) {
        struct script *t = script_of(x);
        scps_time at = MS(350);

        t->cfg.rto_max = SEC(10);
        t->cfg.outage_after = inferred ? 1 : 0;
        script_flight(t, MS(200), 1000, 1);
        if (inferred) {
            expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
            at = MS(1100); /* the second timeout */
        } else {
            tell(t, at, SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
        }
        for (unsigned i = 0; i < sizeof gap / sizeof *gap; i++) {
            at += SEC(gap[i]);
            expect_sent(t, .at = at, .from = ZERO, .ack = 1);
        }
        script_forget_sent(t);
        script_free(t);
    }
}

/* During a handshake the SYN is the probe, with the same schedule, and an answer to it ends the
 * outage. */
static void syns_are_the_probes_of_an_outage(void **x)
{
    struct script *t = script_of(x);

    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN);
    tell(t, MS(10), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, MS(10));
    expect_sent(t, .at = MS(10) + SEC(5), .flags = SCPS_SYN);
    expect_sent(t, .at = MS(10) + SEC(11), .flags = SCPS_SYN);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    peer_says(t, SEC(12), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .at = SEC(12), .from = 1, .ack = 1);
    expect_event(t, SCPS_EV_CONNECTED);
    expect_state(t, SCPS_ESTABLISHED);
    app_writes(t, SEC(13), 500);
    expect_sent(t, .at = SEC(13), .from = 1, .len = 500);
    scps_conn_abort(t->c);
    t->c = NULL;
    script_forget_sent(t);
    script_free(t);
}

/* The outage is shorter than a round trip: segments that were sent less than a round trip before
 * its end may still be acknowledged, so they are not resent. */
static void shorter_than_a_round_trip(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 5000, 5);
    app_writes(t, MS(260), 3000);
    for (int k = 5; k < 8; k++)
        expect_sent(t, .at = MS(260), .from = 1 + 1000 * k, .len = 1000);
    script_run(t, MS(270));
    tell(t, MS(270), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, MS(290));
    tell(t, MS(290), SCPS_SIGNAL_LINK_UP, 0);
    script_run(t, MS(299));
    /* Only the oldest segment is resent at once. */
    expect_sent(t, .at = MS(290), .from = 1, .len = 1000);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(300), .ack = 5001);
    peer_says(t, MS(360), .ack = 8001);
    assert_int_equal(script_info(t).resent_segs, 1);
    script_free(t);
}

/* A queue grows, and the latest RTT sample is longer than SRTT: segments that were sent less than
 * that sample before the end of the outage may still be acknowledged, so they are not resent. */
static void shorter_than_the_latest_round_trip(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 1000, 1);
    peer_says(t, MS(480), .ack = 1001);
    assert_in_range(script_info(t).srtt, MS(120), MS(125));
    app_writes(t, MS(500), 3000);
    assert_int_equal(script_forget_sent(t), 3);
    script_run(t, MS(510));
    tell(t, MS(510), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, MS(700));
    tell(t, MS(700), SCPS_SIGNAL_LINK_UP, 0);
    expect_sent(t, .at = MS(700), .from = 1001, .len = 1000);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(780), .ack = 4001);
    assert_int_equal(script_info(t).resent_segs, 1);
    script_free(t);
}

/* The outage is shorter than a round trip, and the peer sends neither SACK nor SNACK: segments that
 * may still be acknowledged are not resent. Each needless copy would cause a duplicate ACK, and
 * three of these would be taken for a loss. */
static void no_resend_after_a_short_outage_without_sack(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    script_flight(t, MS(200), 5000, 5);
    app_writes(t, MS(260), 3000);
    assert_int_equal(script_forget_sent(t), 3);
    script_run(t, MS(270));
    tell(t, MS(270), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, MS(290));
    tell(t, MS(290), SCPS_SIGNAL_LINK_UP, 0);
    script_run(t, MS(299));
    expect_sent(t, .at = MS(290), .from = 1, .len = 1000);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(300), .ack = 5001);
    peer_says(t, MS(360), .ack = 8001);
    assert_int_equal(script_info(t).resent_segs, 1);
    script_free(t);
}

/* Segments that were on the way when a signalled outage began are reported lost by SACK after it.
 * Such a loss is no sign of congestion, so the window is not reduced. A segment that was sent after
 * the outage and is lost reduces it, also during the same episode of loss recovery. */
static void losses_by_an_outage_are_no_congestion(void **x)
{
    struct script *t = script_of(x);
    t->cfg.init_cwnd_segs = 20;
    t->peer.sack = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 10000);
    script_run(t, MS(210));
    tell(t, MS(210), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, MS(230));
    tell(t, MS(230), SCPS_SIGNAL_LINK_UP, 0);
    script_run(t, MS(240));
    script_forget_sent(t);
    uint64_t before = script_info(t).cwnd;
    peer_says(t, MS(300), .ack = 1001, .sack = {{2001, 5001}});
    expect_sent(t, .at = MS(300), .from = 1001, .len = 1000);
    assert_int_equal(script_info(t).recoveries, 1);
    assert_true(script_info(t).cwnd >= before);
    app_writes(t, MS(310), 5000);
    assert_int_equal(script_forget_sent(t), 5);
    peer_says(t, MS(390), .ack = 1001, .sack = {{2001, 10001}});
    assert_true(script_info(t).cwnd >= before);
    peer_says(t, MS(410), .ack = 1001, .sack = {{11001, 15001}, {2001, 10001}});
    assert_true(script_info(t).cwnd < before);
    assert_int_equal(script_info(t).recoveries, 1);
    script_forget_sent(t);
    peer_says(t, MS(500), .ack = 15001);
    script_free(t);
}

/* Without SACK and SNACK RFC 6582 section 3.2 resends one segment per round trip (partial
 * acknowledgements). An outage may leave hundreds of holes, so the first hole that is found makes
 * the sender resend everything that was sent before the end of the outage. */
static void holes_of_an_outage(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    script_flight(t, MS(200), 8000, 8);
    script_run(t, MS(210));
    tell(t, MS(210), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, MS(230));
    tell(t, MS(230), SCPS_SIGNAL_LINK_UP, 0);
    expect_sent(t, .at = MS(230), .from = 1, .len = 1000);
    /* Segments 2, 6, 7 and 8 have arrived; 1, 3, 4 and 5 are not acknowledged. */
    for (int k = 0; k < 4; k++)
        peer_says(t, MS(300), .ack = 1);
    script_forget_sent(t);
    peer_says(t, MS(330), .ack = 2001);
    expect_sent(t, .at = MS(330), .from = 2001, .len = 1000);
    expect_sent(t, .at = MS(330), .from = 3001, .len = 1000);
    expect_sent(t, .at = MS(330), .from = 4001, .len = 1000);
    script_run(t, MS(340));
    script_forget_sent(t);
    peer_says(t, MS(430), .ack = 8001);
    script_free(t);
}

/* The end of the outage is known: no probe is sent, and sending continues at that time. */
static void until_known(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 2000, 2);
    script_run(t, MS(250));
    tell(t, MS(250), SCPS_SIGNAL_LINK_DOWN, SEC(600));
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    expect_sent(t, .at = SEC(600), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(600), .from = 1001, .len = 1000);
    peer_says(t, SEC(600) + MS(100), .ack = 2001);
    script_free(t);
}

/* A segment from the peer ends the outage, whatever the link has signalled. */
static void any_segment_ends_the_outage(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 1000, 1);
    script_run(t, MS(250));
    tell(t, MS(250), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    peer_says(t, MS(351), .ack = 1001);
    app_writes(t, MS(400), 1000);
    expect_sent(t, .at = MS(400), .from = 1001, .len = 1000);
    peer_says(t, MS(500), .ack = 2001);
    script_free(t);
}

/* Segments that the peer sent before the outage are accepted, but do not end it, and change neither
 * its timer nor its known end. */
static void segments_sent_before_the_outage(void **x)
{
    for (int k = 0; k < 2; k++) {
        struct script *t = script_of(x);
        script_flight(t, MS(200), 3000, 3);
        script_run(t, MS(250));
        tell(t, MS(250), SCPS_SIGNAL_LINK_DOWN, k ? SEC(100) : SCPS_NEVER);
        peer_says(t, MS(300), .ack = 2001, .len = 100);
        peer_says(t, MS(310), .ack = k ? 3001 : 2001);
        app_reads(t, MS(320), 100);
        expect_quiet(t, SCPS_HOLD_LINK_DOWN);
        if (k) {
            /* The acknowledgement is not sent before the end of the outage. */
            expect_sent(t, .at = SEC(100), .ack = 101);
        } else {
            expect_sent(t, .at = MS(250) + SEC(5), .from = 2000, .ack = 101);
            script_run(t, SEC(10));
            tell(t, SEC(10), SCPS_SIGNAL_LINK_UP, 0);
            expect_sent(t, .at = SEC(10), .from = 2001, .len = 1000, .ack = 101);
            peer_says(t, SEC(10) + MS(100), .ack = 3001);
        }
        assert_int_equal(script_info(t).timeouts, 0);
        script_free(t);
    }
}

/* The peer does not accept the sequence number of a probe, so a probe does not count as an
 * acknowledgement: one that is due is sent after the outage. */
static void a_probe_acknowledges_nothing(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    tell(t, MS(200), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    peer_says(t, MS(210), .len = 100);
    expect_sent(t, .at = MS(200) + SEC(5), .from = ZERO, .ack = 101);
    script_run(t, SEC(6));
    tell(t, SEC(6), SCPS_SIGNAL_LINK_UP, 0);
    expect_sent(t, .at = SEC(6), .from = 1, .ack = 101);
    script_free(t);
}

/* outage_after: after this many timeouts in a row the connection infers an outage instead of
 * ending. */
static void inferred(void **x)
{
    struct script *t = script_of(x);
    t->cfg.outage_after = 2;
    t->cfg.data_retries = 4;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(1100), .from = 1, .len = 1000);
    /* This is a probe: the outage was inferred at the third timeout. */
    expect_sent(t, .at = MS(2300) + SEC(5), .from = ZERO, .ack = 1);
    script_run(t, SEC(10000));
    script_forget_sent(t);
    expect_state(t, SCPS_ESTABLISHED);
    peer_says(t, SEC(10000), .ack = 1);
    expect_sent(t, .at = SEC(10000), .from = 1, .len = 1000);
    peer_says(t, SEC(10000) + MS(100), .ack = 1001);
    script_free(t);
}

/* The application closes in an inferred outage. Returns the time at which the connection ended; 0:
 * not before 10 000 s. */
static scps_time orphan(struct script *t, bool signalled, unsigned *probes)
{
    struct scps_stack_stats s;

    t->cfg.outage_after = 2;
    t->cfg.data_retries = 4;
    script_flight(t, MS(200), 1000, 1);
    script_run(t, SEC(3));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    if (signalled)
        tell(t, SEC(3), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    scps_conn_close(t->c);
    t->c = NULL;
    *probes = 0;
    for (scps_time at = SEC(4); at < SEC(10000); at += SEC(1)) {
        script_run(t, at);
        *probes += script_sent_count(t);
        script_forget_sent(t);
        scps_stack_get_stats(t->st, &s);
        if (!s.conns)
            return at;
    }
    return 0;
}

/* RFC 6429 section 3 lets a connection in the persist state end whose application has gone. The
 * same holds here: after the application has closed, the connection sends 32 probes, as the
 * reference implementation does, the last 1715 s after the outage was inferred, then a reset. */
static void a_closed_connection_sends_32_probes(void **x)
{
    struct script *t = script_of(x);
    unsigned probes;

    assert_in_range(orphan(t, false, &probes), SEC(1775), SEC(1780));
    assert_int_equal(probes, 32 + 1);
    script_run(t, SEC(10000));
    assert_int_equal(script_sent_count(t), 0);
    script_free(t);
}

/* Keep-alive probes are counted separately, so the count of the outage's probes goes on. */
static void keepalive_probes_do_not_count_as_outage_probes(void **x)
{
    struct script *t = script_of(x);
    unsigned probes;

    t->cfg.keepalive = true;
    t->cfg.keep_idle = SEC(13);
    assert_in_range(orphan(t, false, &probes), SEC(1775), SEC(1780));
    assert_int_equal(probes, 32 + 1);
    script_free(t);
}

/* The link has signalled an outage and no data is outstanding: only the outage's probes leave, at
 * most one in each longest timeout, and keep-alive does not count the silence. Keep-alive goes on
 * when the link is up. */
static void keepalive_waits_for_the_link(void **x)
{
    struct script *t = script_of(x);

    t->cfg.keepalive = true;
    t->cfg.keep_idle = SEC(13);
    t->cfg.keep_interval = SEC(5);
    t->cfg.keep_count = 3;
    script_established(t, MS(100));
    tell(t, SEC(2), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, SEC(1000));
    assert_in_range(script_forget_sent(t), 1, 1000 / 45);
    assert_int_equal(script_info(t).state, SCPS_ESTABLISHED);
    tell(t, SEC(1000), SCPS_SIGNAL_LINK_UP, 0);
    script_run(t, SEC(1020));
    assert_in_range(script_forget_sent(t), 1, 4);
    script_free(t);
}

/* After the link has signalled the outage it will also signal its end, so the connection keeps the
 * written data until then. */
static void a_closed_connection_waits_for_the_signal(void **x)
{
    struct script *t = script_of(x);
    unsigned probes;

    assert_int_equal(orphan(t, true, &probes), 0);
    script_run(t, SEC(10000));
    tell(t, SEC(10000), SCPS_SIGNAL_LINK_UP, 0);
    expect_sent(t, .at = SEC(10000), .from = 1, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* Opens a connection and closes it. At 1 s, in FIN-WAIT-2, the link signals an outage. */
static void fin_wait_2_in_an_outage(struct script *t)
{
    script_established(t, MS(100));
    scps_conn_close(t->c);
    t->c = NULL;
    expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, MS(200), .ack = 2);
    tell(t, SEC(1), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
}

/* As before, when only the peer's FIN is missing: it cannot arrive during the outage, so FIN-WAIT-2
 * does not end before the outage does, and then begins anew. During the outage its timer does not
 * wake the host; only the probes do, of which the intervals are 60 s in the end. */
static void fin_wait_2_does_not_end_in_an_outage(void **x)
{
    for (unsigned fin = 0; fin < 2; fin++) {
        struct script *t = script_of(x);
        struct scps_stack_stats s;

        t->cfg.fin_wait2 = SEC(2);
        fin_wait_2_in_an_outage(t);
        script_run(t, SEC(1000));
        script_forget_sent(t);
        expect_that(t, scps_stack_deadline(t->st) - scps_stack_now(t->st) > SEC(10));
        tell(t, SEC(1000), SCPS_SIGNAL_LINK_UP, 0);
        script_run(t, SEC(1002) - 1);
        if (fin) {
            peer_says(t, SEC(1002) - 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
            expect_sent(t, .at = SEC(1002) - 1, .from = 2, .ack = 2);
        }
        script_run(t, SEC(1002));
        scps_stack_get_stats(t->st, &s);
        assert_int_equal(s.conns, fin); /* With the FIN, TIME-WAIT has begun. */
        script_free(t);
    }
}

/* The peer's FIN was on its way when the outage began, so TIME-WAIT begins during the outage. It
 * lasts 2 MSL (RFC 9293 section 3.6.1) whatever becomes of the link. */
static void time_wait_ends_in_an_outage(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;

    fin_wait_2_in_an_outage(t);
    peer_says(t, SEC(1) + MS(10), .flags = SCPS_FIN | SCPS_ACK, .ack = 2);
    script_run(t, SEC(1000));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 0);
    script_free(t);
}

/* Opens a connection that infers an outage at 2300 ms, with 2000 octets outstanding. */
static struct script *out_of_reach(void **x)
{
    struct script *t = script_of(x);
    t->cfg.outage_after = 2;
    script_flight(t, MS(200), 2000, 2);
    script_run(t, SEC(3));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    return t;
}

/* The peer also has data outstanding and sends only its own probe. The probe's sequence number is
 * unacceptable (RFC 9293 section 3.10.7.4, first check), but a segment of the peer shows that the
 * link is up, so this end answers. */
static void both_ends_wait(void **x)
{
    struct script *t = out_of_reach(x);
    peer_says(t, SEC(4), .seq = ZERO, .ack = 1);
    expect_sent(t, .at = SEC(4), .from = 1, .len = 1000, .ack = 1);
    peer_says(t, SEC(4) + MS(100), .ack = 2001);
    script_forget_sent(t);
    script_free(t);
}

/* A peer that is not in an outage resends data that has already arrived, which also shows that the
 * link is up. */
static void the_peer_resends(void **x)
{
    struct script *t = script_of(x);
    t->cfg.outage_after = 2;
    script_established(t, MS(100));
    peer_says(t, MS(150), .len = 500);
    app_writes(t, MS(200), 1000);
    script_run(t, SEC(3));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    peer_says(t, SEC(4), .seq = 1, .len = 500, .ack = 1);
    expect_sent(t, .at = SEC(4), .from = 1, .len = 1000, .ack = 501);
    peer_says(t, SEC(4) + MS(100), .seq = 501, .ack = 1001);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5961 sections 4 and 5.2: an attacker has to guess both the sequence and the acknowledgement
 * number. A segment further behind than a window, one whose acknowledgement is, one that
 * acknowledges octets never sent, or one without ACK does not end the outage. */
static void guessed_numbers_do_not_end_the_outage(void **x)
{
    struct script *t = out_of_reach(x);
    peer_says(t, MS(3100), .seq = -70000, .ack = 1);
    peer_says(t, MS(3200), .seq = ZERO, .ack = -70000);
    peer_says(t, MS(3300), .seq = ZERO, .ack = 2002);
    peer_says(t, MS(3400), .seq = ZERO, .ack = 1, .flags = SCPS_PSH);
    peer_says(t, MS(3500), .seq = ZERO, .ack = 1, .flags = SCPS_RST | SCPS_ACK);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    script_free(t);
}

/* RFC 6069 section 1: timeouts from which an outage is inferred say nothing about the load of the
 * path, so the window becomes the one before the first of them. A reduction that had begun before,
 * for example for a loss that the peer reported, stays. */
static void inferred_costs_no_window(void **x)
{
    for (unsigned lost = 0; lost < 2; lost++) {
        struct script *t = script_of(x);
        t->cfg.outage_after = 2;
        t->cfg.init_cwnd_segs = 8;
        t->peer.sack = true;
        script_established(t, MS(100));
        app_writes(t, MS(200), 8000);
        script_run(t, MS(300));
        assert_int_equal(script_forget_sent(t), 8);
        if (lost)
            peer_says(t, MS(300), .ack = 1, .sack = {{1001, 8001}});
        uint64_t before = script_info(t).cwnd;
        script_run(t, SEC(3) + MS(500));
        script_forget_sent(t);
        expect_quiet(t, SCPS_HOLD_LINK_DOWN);
        if (lost)
            assert_true(script_info(t).cwnd < before);
        else
            assert_int_equal(script_info(t).cwnd, before);
        script_free(t);
    }
}

/* The acknowledgement of data that was sent before the outage does not measure a round trip; and
 * the arrival of its first transmission does not show that later segments arrived. */
static void an_outage_is_no_round_trip(void **x)
{
    struct script *t = script_of(x);
    t->cfg.outage_after = 2;
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1976);
    expect_sent(t, .from = 1, .len = 988);
    uint32_t first = t->last.tsval;
    script_run(t, SEC(3));
    script_forget_sent(t);
    peer_says(t, SEC(4), .seq = ZERO, .ack = 1);
    expect_sent(t, .at = SEC(4), .from = 1, .len = 988);
    expect_sent(t, .at = SEC(4), .from = 989, .len = 988);
    /* RFC 9293 section 3.10.7.4: the probe is not acceptable, so the peer answers it with an
     * ACK. */
    expect_sent(t, .at = SEC(4), .from = 1977, .len = 0);
    peer_says(t, SEC(4) + MS(100), .ack = 989, .tsecr = first);
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).srtt, MS(100));
    assert_int_equal(script_info(t).spurious, 0);
    peer_says(t, SEC(4) + MS(100), .ack = 1977);
    assert_int_equal(script_info(t).srtt, MS(100));
    script_free(t);
}

/* In SYN-RECEIVED the connection sends no probe: the peer's repeated SYN shows that the link is
 * up. */
static void the_peer_asks_again(void **x)
{
    struct script *t = script_of(x);

    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    tell(t, MS(500), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, SEC(60));
    expect_quiet(t, ANY_HOLD);
    peer_says(t, SEC(61), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .at = SEC(61), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    peer_says(t, SEC(61) + MS(100), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    script_free(t);
}

/* The link signals each contact of a contact plan: nothing is sent between contacts, not even a
 * probe, and each contact begins with the data that is due. */
static void contacts(void **x)
{
    struct script *t = script_of(x);

    script_established(t, MS(100));
    tell(t, MS(150), SCPS_SIGNAL_LINK_DOWN, SEC(100));
    app_writes(t, MS(200), 2000);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    for (int pass = 1; pass < 5; pass++) {
        scps_time up = SEC(100 * pass), down = up + SEC(10);
        expect_sent(t, .at = up, .from = 2000 * pass - 1999, .len = 1000);
        expect_sent(t, .at = up, .from = 2000 * pass - 999, .len = 1000);
        peer_says(t, up + MS(100), .ack = 1 + 2000 * pass);
        script_run(t, down);
        tell(t, down, SCPS_SIGNAL_LINK_DOWN, SEC(100 * (pass + 1)));
        app_writes(t, down, 2000);
        expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    }
    assert_int_equal(script_info(t).timeouts, 0);
    script_run(t, SEC(501));
    script_forget_sent(t);
    script_free(t);
}

/* The link signals the end of the outage later, and then a later end. */
static void end_becomes_known(void **x)
{
    struct script *t = script_of(x);

    script_flight(t, MS(200), 1000, 1);
    tell(t, SEC(1) - MS(750), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    expect_sent(t, .at = MS(250) + SEC(5), .from = ZERO, .ack = 1); /* This is the first probe. */
    tell(t, SEC(6), SCPS_SIGNAL_LINK_DOWN, SEC(50));
    script_run(t, SEC(40));
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    tell(t, SEC(40), SCPS_SIGNAL_LINK_DOWN, SEC(80));
    expect_sent(t, .at = SEC(80), .from = 1, .len = 1000);
    peer_says(t, SEC(80) + MS(100), .ack = 1001);
    script_free(t);
}

/* During an outage no limit of time or retries applies: user_timeout, data_retries, syn_retries. */
static void nothing_is_given_up(void **x)
{
    struct script *t = script_of(x);

    t->cfg.user_timeout = SEC(10);
    t->cfg.data_retries = 1;
    script_flight(t, MS(200), 1000, 1);
    tell(t, MS(250), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, SEC(100000));
    script_forget_sent(t);
    expect_state(t, SCPS_ESTABLISHED);
    tell(t, SEC(100000), SCPS_SIGNAL_LINK_UP, 0);
    expect_sent(t, .at = SEC(100000), .from = 1, .len = 1000);
    peer_says(t, SEC(100000) + MS(100), .ack = 1001);
    script_free(t);
}

static void a_handshake_waits(void **x)
{
    struct script *t = script_of(x);

    t->cfg.syn_retries = 1;
    script_connect(t, 0);
    expect_sent(t, .at = 0, .flags = SCPS_SYN, .from = 0);
    tell(t, MS(500), SCPS_SIGNAL_LINK_DOWN, SCPS_NEVER);
    script_run(t, SEC(1000));
    /* More probes are sent than syn_retries allows SYNs. */
    assert_in_range(script_forget_sent(t), 18, 21);
    expect_state(t, SCPS_SYN_SENT);
    tell(t, SEC(1000), SCPS_SIGNAL_LINK_UP, 0);
    expect_sent(t, .at = SEC(1000), .flags = SCPS_SYN, .from = 0);
    peer_says(t, SEC(1000) + MS(100), .flags = SCPS_SYN | SCPS_ACK, .seq = ZERO, .ack = 1);
    expect_sent(t, .at = SEC(1000) + MS(100), .from = 1, .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    script_forget_events(t);
    script_free(t);
}

/* SCPS_SIGNAL_PATH reports a longer round trip before a packet shows it: the running retransmission
 * timer changes at once. */
static void delay_announced(void **x)
{
    struct script *t = script_of(x);

    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    script_run(t, MS(250));
    struct scps_signal sig = {.kind = SCPS_SIGNAL_PATH, .rtt = SEC(2)};
    scps_stack_signal(t->st, scps_stack_now(t->st), &sig);
    assert_int_equal(script_info(t).srtt, SEC(2));
    /* The RTO is srtt + 4 * (srtt / 2), as after a first sample. */
    assert_int_equal(script_info(t).rto, SEC(6));
    script_run(t, MS(250) + SEC(5));
    expect_quiet(t, SCPS_HOLD_APP);
    expect_sent(t, .at = MS(250) + SEC(6), .from = 1, .len = 1000);
    peer_says(t, SEC(7), .ack = 1001);
    script_free(t);
}

/* The process was stopped until long after the retransmission timer was due, and the driver reports
 * a new rate before it hands over the packets that wait: the signal causes no timeout. */
static void a_signal_runs_no_overdue_timer(void **x)
{
    struct script *t = script_of(x);
    struct scps_signal sig = {.kind = SCPS_SIGNAL_PATH, .rate = 1000000};

    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1000);
    assert_int_equal(scps_stack_signal(t->st, scps_stack_now(t->st) + SEC(10), &sig), 0);
    assert_int_equal(script_info(t).timeouts, 0);
    script_run(t, SEC(11));
    script_forget_sent(t);
    assert_in_range(script_info(t).timeouts, 1, 10);
    script_free(t);
}

/* SCPS_SIGNAL_PATH reports another rate: it applies from the next segment on, also to segments that
 * wait. */
static void rate_announced(void **x)
{
    struct script *t = script_of(x);
    uint32_t packet = t->us.addr.family == 6 ? 1060 : 1040;

    scps_conn_config_set_cc(&t->cfg, scps_cc_find("rate"), NULL);
    t->cfg.rate = packet * 10;
    t->cfg.burst = packet;
    script_established(t, MS(100));
    app_writes(t, SEC(1), 4000);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 1000);
    peer_says(t, SEC(1) + MS(50), .ack = 1001);
    struct scps_signal sig = {.kind = SCPS_SIGNAL_PATH, .rate = packet * 50};
    scps_stack_signal(t->st, scps_stack_now(t->st), &sig);
    expect_sent(t, .at = SEC(1) + MS(60), .from = 1001, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(80), .from = 2001, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(100), .from = 3001, .len = 1000);
    peer_says(t, SEC(1) + MS(150), .ack = 4001);
    script_free(t);
}

/* After SCPS_SIGNAL_CORRUPTION a loss keeps the window and a timeout does not back off; after
 * SCPS_SIGNAL_CONGESTION they do as usual. */
static void corruption(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 10000, 10);
    script_run(t, MS(250));
    tell(t, MS(250), SCPS_SIGNAL_CORRUPTION, SEC(2));
    uint64_t cwnd = script_info(t).cwnd;
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 4001}});
    expect_sent(t, .at = MS(300), .from = 1, .len = 1000);
    expect_that(t, script_info(t).cwnd >= cwnd);
    peer_says(t, MS(400), .ack = 10001);
    script_run(t, SEC(3));
    app_writes(t, SEC(3), 10000);
    script_forget_sent(t);
    peer_says(t, SEC(3) + MS(100), .ack = 10001, .sack = {{11001, 14001}});
    expect_sent(t, .at = SEC(3) + MS(100), .from = 10001, .len = 1000);
    expect_that(t, script_info(t).cwnd < cwnd);
    script_forget_sent(t);
    peer_says(t, SEC(3) + MS(200), .ack = 20001);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.8.6.3: "the delay MUST be less than 0.5 seconds". An acknowledgement that is
 * delayed when the outage begins cannot be sent, and leaves when the outage is over. Otherwise the
 * peer, which may not know of the outage, would have to send the data again. */
static void a_delayed_acknowledgement(void **x)
{
    struct script *t = script_of(x);
    struct scps_signal sig = {.kind = SCPS_SIGNAL_LINK_DOWN, .until = SCPS_NEVER};

    script_established(t, MS(100));
    peer_says(t, SEC(1), .len = 500);
    assert_int_equal(scps_stack_signal(t->st, scps_stack_now(t->st), &sig), 0);
    script_run(t, SEC(2));
    expect_quiet(t, ANY_HOLD);
    sig.kind = SCPS_SIGNAL_LINK_UP;
    assert_int_equal(scps_stack_signal(t->st, scps_stack_now(t->st), &sig), 0);
    script_run(t, SEC(2));
    expect_sent(t, .at = SEC(2), .ack = 501);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(a_delayed_acknowledgement),
        SCRIPT_TEST(contacts),
        SCRIPT_TEST(end_becomes_known),
        SCRIPT_TEST(nothing_is_given_up),
        SCRIPT_TEST(a_handshake_waits),
        SCRIPT_TEST(delay_announced),
        SCRIPT_TEST(rate_announced),
        SCRIPT_TEST(signalled),
        SCRIPT_TEST(bounded_by_rto_max),
        SCRIPT_TEST(syns_are_the_probes_of_an_outage),
        SCRIPT_TEST(shorter_than_a_round_trip),
        SCRIPT_TEST(shorter_than_the_latest_round_trip),
        SCRIPT_TEST(no_resend_after_a_short_outage_without_sack),
        SCRIPT_TEST(losses_by_an_outage_are_no_congestion),
        SCRIPT_TEST(holes_of_an_outage),
        SCRIPT_TEST(until_known),
        SCRIPT_TEST(any_segment_ends_the_outage),
        SCRIPT_TEST(a_probe_acknowledges_nothing),
        SCRIPT_TEST(inferred),
        SCRIPT_TEST(a_closed_connection_sends_32_probes),
        SCRIPT_TEST(keepalive_probes_do_not_count_as_outage_probes),
        SCRIPT_TEST(keepalive_waits_for_the_link),
        SCRIPT_TEST(a_closed_connection_waits_for_the_signal),
        SCRIPT_TEST(fin_wait_2_does_not_end_in_an_outage),
        SCRIPT_TEST(time_wait_ends_in_an_outage),
        SCRIPT_TEST(both_ends_wait),
        SCRIPT_TEST(the_peer_resends),
        SCRIPT_TEST(guessed_numbers_do_not_end_the_outage),
        SCRIPT_TEST(inferred_costs_no_window),
        SCRIPT_TEST(an_outage_is_no_round_trip),
        SCRIPT_TEST(the_peer_asks_again),
        SCRIPT_TEST(a_signal_runs_no_overdue_timer),
        SCRIPT_TEST(corruption),
        SCRIPT_TEST(segments_sent_before_the_outage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
