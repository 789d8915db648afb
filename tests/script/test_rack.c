/* SPDX-License-Identifier: MIT */
/* RACK-TLP (RFC 8985): the examples of its sections 3.4 and 7, packet by packet, and what happens
 * where it cannot be used. */
#include "script.h"

/* Opens a connection with RACK and a round trip of 100 ms, then sends n segments of 1000 octets
 * from `*at` on. */
static struct script *rack(void **x, scps_time *at, int n)
{
    struct script *t = script_of(x);
    t->cfg.recovery = SCPS_RECOVERY_RACK;
    t->cfg.nodelay = true;
    script_established(t, MS(100));
    *at = MS(200);
    for (int k = 0; k < 10; k++, *at += MS(100)) {
        app_writes(t, *at, 1000);
        expect_sent(t, .at = *at, .from = 1 + 1000 * k, .len = 1000);
        peer_says(t, *at + MS(100), .ack = 1001 + 1000 * k);
    }
    app_writes(t, *at, 1000 * n);
    for (int k = 0; k < n; k++)
        expect_sent(t, .at = *at, .from = 10001 + 1000 * k, .len = 1000);
    return t;
}
/* The first octet of the k-th of these segments, counted from 0. */
#define P(k) (10001 + 1000 * (k))

/* RFC 8985 section 6.2 step 4: P0 is lost and only P1 is reported. P0 counts as lost a quarter of
 * the minimum RTT after the report, without a third duplicate. */
static void one_report_and_the_window(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 2);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(2)}});
    expect_sent(t, .at = at + MS(125), .slack = MS(1), .from = P(0), .len = 1000);
    struct scps_info i = script_info(t);
    assert_int_equal(i.recovery, SCPS_RECOVERY_RACK);
    assert_int_equal(i.recoveries, 1);
    assert_int_equal(i.timeouts, 0);
    peer_says(t, at + MS(225), .ack = P(2));
    assert_false(script_info(t).in_recovery);
    script_free(t);
}

/* RFC 8985 section 6.2 step 4: reordering within a quarter of the minimum RTT causes no
 * retransmission. */
static void late_within_the_window(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 2);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(2)}});
    peer_says(t, at + MS(120), .ack = P(2));
    script_run(t, at + SEC(1));
    struct scps_info i = script_info(t);
    assert_int_equal(i.resent_segs, 0);
    assert_int_equal(i.recoveries, 0);
    assert_int_equal(i.reordered, 1);
    script_free(t);
}

/* RFC 8985 section 6.2 step 4: as long as no reordering has been seen, three reports suffice to
 * count a segment as lost at once. */
static void three_reports(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 5);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(2)}});
    peer_says(t, at + MS(101), .ack = P(0), .sack = {{P(1), P(3)}});
    peer_says(t, at + MS(102), .ack = P(0), .sack = {{P(1), P(4)}});
    expect_sent(t, .at = at + MS(102), .from = P(0), .len = 1000);
    assert_int_equal(script_info(t).resent_segs, 1);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 8985 section 6.2 step 4: after reordering has been seen, three reports do not suffice; the
 * time since sending decides. */
static void three_reports_after_reordering(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 2);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(2)}});
    peer_says(t, at + MS(110), .ack = P(2));
    at += MS(200);
    app_writes(t, at, 5000);
    for (int k = 2; k < 7; k++)
        expect_sent(t, .at = at, .from = P(k), .len = 1000);
    for (int k = 3; k < 7; k++)
        peer_says(t, at + MS(100), .ack = P(2), .sack = {{P(3), P(k + 1)}});
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).reo_wnd, MS(25));
    expect_sent(t, .at = at + MS(125), .slack = MS(1), .from = P(2), .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 8985 section 6.2 step 5: when the reordering timer expires, RACK_detect_loss() marks segments
 * as lost. They are resent by RFC 6937 section 3: "limit = MAX(prr_delivered - prr_out,
 * DeliveredData) + MSS". Here the timer finds 32 segments lost during an episode in which eight
 * segments have been delivered and one was resent. */
static void the_timer_finds_a_flight(void **x)
{
    scps_time at;
    struct script *t = script_of(x);
    t->cfg.recovery = SCPS_RECOVERY_RACK;
    t->cfg.nodelay = true;
    t->cfg.init_cwnd_segs = 50;
    script_established(t, at = MS(100));
    app_writes(t, at += MS(100), 2000);
    /* This report shows reordering. */
    peer_says(t, at + MS(100), .ack = 1, .sack = {{1001, 2001}});
    peer_says(t, at + MS(110), .ack = 2001);
    app_writes(t, at += MS(200), 1000);
    app_writes(t, at + MS(50), 40000);
    script_forget_sent(t);
    peer_says(t, at + MS(150), .ack = 2001, .sack = {{3001, 7001}});
    expect_sent(t, .at = at + MS(150), .from = 2001, .len = 1000);
    peer_says(t, at + MS(151), .ack = 2001, .sack = {{39001, 43001}, {3001, 7001}});
    script_forget_sent(t);
    script_run(t, at + MS(200));
    expect_sent(t, .at = at + MS(176), .slack = MS(3), .from = 7001, .len = 1000);
    assert_int_equal(script_forget_sent(t), 7);
    assert_int_equal(script_info(t).timeouts, 0);
    script_free(t);
}

/* RFC 8985 section 6.2 step 5: a segment that was sent after the retransmission has arrived, so the
 * retransmission is lost: it is resent without a timeout. */
static void lost_retransmission(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 6);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(2)}});
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(6)}});
    expect_sent(t, .at = at + MS(100), .from = P(0), .len = 1000);
    app_writes(t, at + MS(101), 1000);
    expect_sent(t, .at = at + MS(101), .from = P(6), .len = 1000);
    peer_says(t, at + MS(201), .ack = P(0), .sack = {{P(1), P(7)}});
    expect_sent(t, .at = at + MS(201), .from = P(0), .len = 1000);
    peer_says(t, at + MS(301), .ack = P(7));
    assert_int_equal(script_info(t).resent_segs, 2);
    assert_int_equal(script_info(t).timeouts, 0);
    script_free(t);
}

/* RFC 8985 section 6.2 step 4: a DSACK widens the reordering window by a quarter of the minimum
 * RTT, at most once per round trip. */
static void dsack_widens_the_reordering_window(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 2);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(2)}});
    expect_sent(t, .at = at + MS(125), .slack = MS(1), .from = P(0), .len = 1000);
    peer_says(t, at + MS(130), .ack = P(2)); /* P0 was only late. */
    at += MS(300);
    app_writes(t, at, 2000);
    expect_sent(t, .from = P(2), .len = 1000);
    expect_sent(t, .from = P(3), .len = 1000);
    peer_says(t, at + MS(100), .ack = P(2), .sack = {{P(0), P(1)}, {P(3), P(4)}});
    assert_int_equal(script_info(t).reo_wnd, MS(50));
    expect_sent(t, .at = at + MS(150), .slack = MS(1), .from = P(2), .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* Section 6.2 step 4: of several DSACKs in one round trip only the first widens the reordering
 * window. */
static void dsacks_of_one_round_trip(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 2);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(2)}});
    expect_sent(t, .at = at + MS(125), .slack = MS(1), .from = P(0), .len = 1000);
    peer_says(t, at + MS(130), .ack = P(2)); /* P0 was only late. */
    at += MS(300);
    app_writes(t, at, 2000);
    assert_int_equal(script_forget_sent(t), 2);
    peer_says(t, at + MS(100), .ack = P(3), .sack = {{P(0), P(1)}});
    assert_int_equal(script_info(t).reo_wnd, MS(50));
    peer_says(t, at + MS(101), .ack = P(3), .sack = {{P(1), P(2)}});
    assert_int_equal(script_info(t).reo_wnd, MS(50));
    peer_says(t, at + MS(102), .ack = P(4)); /* A round trip ends here. */
    at += MS(300);
    app_writes(t, at, 2000);
    assert_int_equal(script_forget_sent(t), 2);
    peer_says(t, at + MS(100), .ack = P(5), .sack = {{P(0), P(1)}});
    assert_int_equal(script_info(t).reo_wnd, MS(75));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 8985 section 6.2 step 4: the wider window stays for 16 recoveries without a DSACK, and is
 * then a quarter of the minimum RTT again. another: an acknowledgement arrives between the start
 * and the end of each recovery. */
static void forgets_the_wider_window(void **x, bool another)
{
    scps_time at;
    struct script *t = rack(x, &at, 2);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(1), P(2)}});
    expect_sent(t, .at = at + MS(125), .slack = MS(1), .from = P(0), .len = 1000);
    peer_says(t, at + MS(130), .ack = P(2)); /* P0 was only late. */
    at += MS(300);
    app_writes(t, at, 2000);
    expect_sent(t, .from = P(2), .len = 1000);
    expect_sent(t, .from = P(3), .len = 1000);
    /* The DSACK shows that the retransmission was needless. */
    peer_says(t, at + MS(100), .ack = P(4), .sack = {{P(0), P(1)}});
    for (int k = 4; k < 4 + 2 * 16; k += 2) {
        at += MS(300); /* The time is shorter than that after which unused memory is freed. */
        app_writes(t, at, 2000);
        expect_sent(t, .at = at, .from = P(k), .len = 1000);
        expect_sent(t, .at = at, .from = P(k + 1), .len = 1000);
        peer_says(t, at + MS(100), .ack = P(k), .sack = {{P(k + 1), P(k + 2)}});
        assert_int_equal(script_info(t).reo_wnd, MS(50));
        expect_sent(t, .at = at + MS(150), .slack = MS(1), .from = P(k), .len = 1000);
        if (another)
            peer_says(t, at + MS(160), .ack = P(k), .sack = {{P(k + 1), P(k + 2)}});
        peer_says(t, at + MS(250), .ack = P(k + 2));
    }
    assert_int_equal(script_info(t).reo_wnd, MS(25));
    script_free(t);
}

static void the_wider_window_is_forgotten(void **x)
{
    forgets_the_wider_window(x, true);
}

/* Section 6.2 step 4: "Else if exiting Fast or RTO recovery: RACK.reo_wnd_persist -= 1". */
static void a_recovery_of_one_acknowledgement_counts(void **x)
{
    forgets_the_wider_window(x, false);
}

/* RFC 8985 section 7: if the last segments are not acknowledged, the last one is resent as a probe;
 * its acknowledgement shows the other losses. */
static void tail_probe(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 5);
    peer_says(t, at + MS(100), .ack = P(2)); /* The other three segments are lost. */
    expect_sent(t, .at = at + MS(300), .slack = MS(20), .from = P(4), .len = 1000);
    assert_int_equal(script_info(t).tlp_probes, 1);
    assert_int_equal(script_info(t).timeouts, 0);
    peer_says(t, at + MS(400), .ack = P(2), .sack = {{P(4), P(5)}});
    script_run(t, at + MS(430));
    expect_sent(t, .from = P(2), .len = 1000);
    expect_sent(t, .from = P(3), .len = 1000);
    peer_says(t, at + MS(530), .ack = P(5));
    assert_int_equal(script_info(t).timeouts, 0);
    assert_int_equal(script_info(t).resent_segs, 3);
    script_free(t);
}

/* RFC 8985 section 7.2: a FIN is probed like data: the wait begins when it is sent, and is longer
 * because it is alone in flight. */
static void a_fin_gets_a_tail_loss_probe(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 5);
    peer_says(t, at + MS(100), .ack = P(5));
    script_run(t, at + SEC(5));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = at + SEC(5), .from = P(5), .flags = SCPS_FIN | SCPS_ACK);
    script_run(t, at + SEC(5) + MS(290));
    expect_quiet(t, ANY_HOLD);
    expect_sent(t, .at = at + SEC(5) + MS(300), .slack = MS(20), .from = P(5),
                .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, at + SEC(5) + MS(400), .ack = P(5) + 1);
    expect_state(t, SCPS_FIN_WAIT_2);
    script_free(t);
}

/* RFC 8985 section 7.3: the probe sends new data if there is any, even if the congestion window is
 * full. */
static void probe_with_new_data(void **x)
{
    struct script *t = script_of(x);
    t->cfg.recovery = SCPS_RECOVERY_RACK;
    t->cfg.init_cwnd_segs = 2;
    script_established(t, MS(100));
    app_writes(t, MS(200), 10000);
    expect_sent(t, .at = MS(200), .from = 1, .len = 1000);
    expect_sent(t, .at = MS(200), .from = 1001, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    expect_sent(t, .at = MS(400), .slack = MS(1), .from = 2001, .len = 1000);
    assert_int_equal(script_info(t).tlp_probes, 1);
    /* It is reported to the observer once, and not as a window probe, too. */
    assert_int_equal(t->notes[SCPS_NOTE_PROBE], 1);
    peer_says(t, MS(500), .ack = 1, .sack = {{2001, 3001}});
    /* The first segment is old enough to count as lost now. */
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    assert_int_equal(script_info(t).timeouts, 0);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 8985 section 7.4.2: if the probe repaired the only loss, the congestion controller is
 * informed of a loss; if the receiver already had the data of the probe, it is not. */
static void tail_loss_probe_that_repairs_a_loss(void **x)
{
    for (int needless = 0; needless < 2; needless++) {
        scps_time at;
        struct script *t = rack(x, &at, 1);
        uint64_t cwnd = script_info(t).cwnd;
        /* The probe is sent when the retransmission timer would expire. */
        expect_sent(t, .at = at + MS(300), .from = P(0), .len = 1000);
        scps_time sent = script_now(t);
        app_writes(t, sent + MS(1), 1000);
        expect_sent(t, .from = P(1), .len = 1000);
        if (needless) {
            peer_says(t, sent + MS(101), .ack = P(1), .sack = {{P(0), P(1)}});
            peer_says(t, sent + MS(102), .ack = P(2));
            assert_true(script_info(t).cwnd >= cwnd);
            assert_int_equal(script_info(t).recoveries, 0);
        } else {
            peer_says(t, sent + MS(102), .ack = P(2));
            assert_int_equal(script_info(t).recoveries, 1);
            assert_true(script_info(t).cwnd < cwnd);
        }
        assert_false(script_info(t).in_recovery);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 8985 section 7.4.2, case 1: the DSACK of a needless tail loss probe arrives when nothing is
 * outstanding. Data that is written soon after must not take the probe for the repair of
 * a loss. */
static void the_dsack_of_a_probe_comes_last(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 2);
    uint64_t cwnd = script_info(t).cwnd;

    expect_sent(t, .at = at + MS(200), .slack = MS(20), .from = P(1), .len = 1000);
    peer_says(t, at + MS(230), .ack = P(2)); /* The original transmissions were late. */
    peer_says(t, at + MS(330), .ack = P(2), .sack = {{P(1), P(2)}});
    app_writes(t, at + MS(340), 1000);
    expect_sent(t, .at = at + MS(340), .from = P(2), .len = 1000);
    peer_says(t, at + MS(440), .ack = P(3));
    assert_int_equal(script_info(t).recoveries, 0);
    assert_true(script_info(t).cwnd >= cwnd);
    script_free(t);
}

/* RFC 8985 section 3.4, figure 1: of four segments the last three are lost, and then the
 * retransmission of P1. The tail loss probe has P1 and P2 found lost, and the arrival of P2 the
 * retransmission of P1; no timer expires. */
static void figure_1(void **x)
{
    scps_time at, probe;
    struct script *t = rack(x, &at, 4);

    peer_says(t, at + MS(100), .ack = P(1));
    expect_sent(t, .at = at + MS(300), .slack = MS(1), .from = P(3), .len = 1000);
    probe = script_now(t);
    peer_says(t, probe + MS(100), .ack = P(1), .sack = {{P(3), P(4)}});
    expect_sent(t, .at = probe + MS(100), .from = P(1), .len = 1000);
    expect_sent(t, .at = probe + MS(100), .from = P(2), .len = 1000);
    peer_says(t, probe + MS(200), .ack = P(1), .sack = {{P(2), P(4)}});
    expect_sent(t, .at = probe + MS(200), .from = P(1), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, probe + MS(300), .ack = P(4));
    struct scps_info i = script_info(t);
    assert_int_equal(i.tlp_probes, 1);
    assert_int_equal(i.resent_segs, 4);
    assert_int_equal(i.recoveries, 1);
    assert_int_equal(i.timeouts, 0);
    assert_false(i.in_recovery);
    script_free(t);
}

/* RFC 8985 section 7.1: TLP.end_seq and TLP.is_retrans are reset "when initiating a connection,
 * fast recovery, or RTO recovery". The report of the probe shows that the segments before it are
 * lost. Their recovery has reduced the window, so the probe must not reduce it again when the data
 * behind it is acknowledged. */
static void recovery_ends_the_probe(void **x)
{
    for (int timeout = 0; timeout < 2; timeout++) {
        scps_time at;
        struct script *t = rack(x, &at, 4);
        uint64_t cwnd;

        expect_sent(t, .at = at + MS(200), .slack = MS(20), .from = P(3), .len = 1000);
        if (timeout) {
            script_run(t, SEC(3));
        } else {
            peer_says(t, at + MS(320), .ack = P(0), .sack = {{P(3), P(4)}});
            assert_int_equal(script_info(t).recoveries, 1);
        }
        script_forget_sent(t);
        at = script_now(t) + MS(100);
        peer_says(t, at, .ack = P(4));
        assert_false(script_info(t).in_recovery);
        script_forget_sent(t);
        cwnd = script_info(t).cwnd;
        app_writes(t, at + MS(10), 1000);
        expect_sent(t, .from = P(4), .len = 1000);
        peer_says(t, at + MS(110), .ack = P(5));
        assert_int_equal(script_info(t).recoveries, !timeout);
        assert_true(script_info(t).cwnd >= cwnd);
        script_free(t);
    }
}

/* After a probe only the retransmission timer runs, and only one probe is outstanding at a time. */
static void one_probe_then_the_timer(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 3);
    script_run(t, at + MS(350));
    assert_int_equal(script_info(t).tlp_probes, 1);
    script_run(t, at + SEC(2));
    assert_int_equal(script_info(t).tlp_probes, 1);
    assert_true(script_info(t).timeouts >= 1);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 8985 section 7.3: a probe is sent only if "the sender has obtained an RTT measurement since
 * the last loss probe transmission". The acknowledgement of a retransmission without timestamps is
 * no measurement (RFC 6298 section 3), so the retransmission timer decides about the next flight,
 * unless a flight between was answered. */
static void a_probe_needs_a_round_trip(void **x)
{
    for (int measured = 0; measured < 2; measured++) {
        scps_time at;
        struct script *t = rack(x, &at, 2);
        int sent = 2;
        expect_sent(t, .at = at + MS(200), .from = P(1), .len = 1000);
        peer_says(t, at + MS(300), .ack = P(2));
        if (measured) {
            app_writes(t, at + MS(310), 1000);
            expect_sent(t, .at = at + MS(310), .from = P(2), .len = 1000);
            peer_says(t, at + MS(410), .ack = P(3));
            sent = 3;
        }
        at += MS(500);
        app_writes(t, at, 2000);
        expect_sent(t, .at = at, .from = P(sent), .len = 1000);
        expect_sent(t, .at = at, .from = P(sent + 1), .len = 1000);
        scps_dur rto = script_info(t).rto;
        assert_true(rto > MS(210));
        if (measured)
            expect_sent(t, .at = at + MS(200), .slack = MS(5), .from = P(sent + 1), .len = 1000);
        else
            expect_sent(t, .at = at + rto, .from = P(sent), .len = 1000);
        assert_int_equal(script_info(t).tlp_probes, 1 + measured);
        assert_int_equal(script_info(t).timeouts, !measured);
        script_forget_sent(t);
        script_free(t);
    }
}

/* A spurious timeout: the original is acknowledged late because of a queue, longer than the
 * minimum RTT after the retransmission. A time stamp shows that; without it the order of
 * acknowledgements does: RFC 5682 section 3.1 step 2b, "transmit up to two new (previously unsent)
 * segments", and step 3b. The arrival of the retransmission does not mean that segments sent
 * before it are lost. */
static void a_spurious_timeout(void **x)
{
    for (int ts = 0; ts < 2; ts++) {
        struct script *t = script_of(x);
        int32_t len = ts ? 988 : 1000;
        t->cfg.recovery = SCPS_RECOVERY_RACK;
        t->cfg.timestamps = t->peer.ts = ts;
        script_established(t, MS(100));
        app_writes(t, MS(200), (ts ? 11 : 13) * len);
        for (int k = 0; k < 10; k++)
            expect_sent(t, .from = 1 + len * k, .len = len);
        uint32_t echo = t->last.tsval;
        /* This is the tail loss probe. */
        expect_sent(t, .at = MS(400), .from = 1 + len * 10, .len = len);
        expect_sent(t, .at = MS(700), .slack = MS(20), .from = 1, .len = len);
        peer_says(t, MS(900), .ack = 1 + len, .tsecr = echo);
        if (!ts) {
            expect_sent(t, .at = MS(900), .from = 1 + len * 11, .len = len);
            expect_sent(t, .at = MS(900), .from = 1 + len * 12, .len = len);
        }
        peer_says(t, MS(1100), .ack = 1 + 2 * len, .tsecr = echo);
        script_run(t, MS(1200));
        assert_int_equal(script_info(t).spurious, 1);
        assert_int_equal(script_info(t).recoveries, 0);
        assert_int_equal(script_info(t).resent_segs, 1);
        peer_says(t, MS(1300), .ack = 1 + (ts ? 11 : 13) * len, .tsecr = echo);
        script_free(t);
    }
}

/* A spurious timeout without new data to send and without time stamps: RFC 5682 section 3.1 step
 * 2b, "the recommended action is to refrain from entering step 3 of this algorithm. Rather,
 * continue with slow-start retransmissions", because there is no segment whose acknowledgement
 * could be awaited. */
static void a_timeout_at_the_end(void **x)
{
    struct script *t = script_of(x);
    t->cfg.recovery = SCPS_RECOVERY_RACK;
    script_established(t, MS(100));
    app_writes(t, MS(200), 11000);
    for (int k = 0; k < 10; k++)
        expect_sent(t, .from = 1 + 1000 * k, .len = 1000);
    expect_sent(t, .at = MS(400), .from = 10001, .len = 1000); /* This is the tail loss probe. */
    expect_sent(t, .at = MS(700), .slack = MS(20), .from = 1, .len = 1000);
    peer_says(t, MS(900), .ack = 1001);
    expect_sent(t, .at = MS(900), .from = 1001, .len = 1000);
    expect_sent(t, .at = MS(900), .from = 2001, .len = 1000);
    peer_says(t, MS(1000), .ack = 11001);
    assert_int_equal(script_info(t).timeouts, 1);
    assert_int_equal(script_info(t).spurious, 0);
    script_free(t);
}

/* RFC 8985 section 6.2 step 2 ignores a retransmission if "ACK.ts_option.echo_reply <
 * Segment.xmit_ts" or "rtt < RACK.min_rtt". SND.UNA advances, but not because the retransmission of
 * P0 has arrived, so nothing sent before it is lost. Either the original was late, or a best-effort
 * peer has given up the hole (docs/SCPS-TP.md section 7), which without time stamps cannot be told
 * from an arrival. */
static void the_left_edge_moves_without_the_resend(void **x)
{
    static const struct {
        bool ts, bets;
    } cases[] = {{true, false}, {true, true}, {false, true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct script *t = script_of(x);
        int32_t len = cases[i].ts ? 988 : 1000;
        t->cfg.recovery = SCPS_RECOVERY_RACK;
        t->cfg.timestamps = t->peer.ts = cases[i].ts;
        t->cfg.bets = cases[i].bets;
        t->peer.caps = cases[i].bets ? SCPS_CAP_BETS : 0;
        script_established(t, MS(100));
        app_writes(t, MS(200), 6 * len);
        for (int k = 0; k < 6; k++)
            expect_sent(t, .from = 1 + len * k, .len = len);
        uint32_t echo = t->last.tsval;
        peer_says(t, MS(300), .ack = 1, .tsecr = echo, .sack = {{1 + len, 1 + 4 * len}});
        expect_sent(t, .at = MS(300), .from = 1, .len = len);
        peer_says(t, MS(450), .ack = 1 + 4 * len, .tsecr = echo);
        expect_quiet(t, ANY_HOLD);
        peer_says(t, MS(470), .ack = 1 + 6 * len, .tsecr = echo);
        assert_int_equal(script_info(t).resent_segs, 1);
        script_free(t);
    }
}

/* Without SACK RACK is not in force, and scps_info.recovery shows the other rule. */
static void without_sack(void **x)
{
    struct script *t = script_of(x);
    t->cfg.recovery = SCPS_RECOVERY_RACK;
    t->peer.sack = false;
    script_established(t, MS(100));
    assert_int_equal(script_info(t).recovery, SCPS_RECOVERY_CLASSIC);
    app_writes(t, MS(200), 5000);
    script_forget_sent(t);
    for (int k = 0; k < 3; k++)
        peer_says(t, MS(300 + k), .ack = 1);
    expect_sent(t, .at = MS(302), .from = 1, .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 2018 section 5: the segment at SND.UNA was reported by SACK, but is not acknowledged, so only
 * the retransmission timer resends it. Segments above it that RACK declares lost, and that are
 * resent, do not restart that timer. */
static void a_false_report_at_the_left_edge(void **x)
{
    scps_time at;
    struct script *t = rack(x, &at, 10);
    peer_says(t, at + MS(100), .ack = P(0), .sack = {{P(0), P(1)}, {P(5), P(6)}});
    expect_sent(t, .at = at + MS(125), .slack = MS(1), .from = P(1), .len = 1000);
    script_run(t, at + MS(299));
    assert_int_equal(script_info(t).timeouts, 0);
    script_run(t, at + MS(301));
    assert_int_equal(script_info(t).timeouts, 1);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(one_report_and_the_window),
        SCRIPT_TEST(late_within_the_window),
        SCRIPT_TEST(three_reports),
        SCRIPT_TEST(three_reports_after_reordering),
        SCRIPT_TEST(the_timer_finds_a_flight),
        SCRIPT_TEST(lost_retransmission),
        SCRIPT_TEST(dsack_widens_the_reordering_window),
        SCRIPT_TEST(dsacks_of_one_round_trip),
        SCRIPT_TEST(the_wider_window_is_forgotten),
        SCRIPT_TEST(a_recovery_of_one_acknowledgement_counts),
        SCRIPT_TEST(tail_probe),
        SCRIPT_TEST(a_fin_gets_a_tail_loss_probe),
        SCRIPT_TEST(probe_with_new_data),
        SCRIPT_TEST(tail_loss_probe_that_repairs_a_loss),
        SCRIPT_TEST(the_dsack_of_a_probe_comes_last),
        SCRIPT_TEST(figure_1),
        SCRIPT_TEST(recovery_ends_the_probe),
        SCRIPT_TEST(one_probe_then_the_timer),
        SCRIPT_TEST(a_probe_needs_a_round_trip),
        SCRIPT_TEST(a_spurious_timeout),
        SCRIPT_TEST(a_timeout_at_the_end),
        SCRIPT_TEST(the_left_edge_moves_without_the_resend),
        SCRIPT_TEST(without_sack),
        SCRIPT_TEST(a_false_report_at_the_left_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
