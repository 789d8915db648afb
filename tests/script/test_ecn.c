/* SPDX-License-Identifier: MIT */
/* Explicit congestion notification (RFC 3168): which packets have which codepoint, and that every
 * mark is echoed. The handshake is tested in test_handshake, the sender's reaction in
 * test_sending. */
#include "base/bytes.h"
#include "script.h"

static void agree_on_ecn(struct script *t)
{
    t->cfg.ecn = true;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    /* RFC 3168 section 6.1.1: the SYN is Not-ECT. */
    assert_int_equal(t->last.tos & 3, SCPS_ECN_NONE);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
    expect_sent(t, .ack = 1);
    /* RFC 3168 section 6.1.4: pure acknowledgements are Not-ECT. */
    assert_int_equal(t->last.tos & 3, SCPS_ECN_NONE);
    script_forget_events(t);
}

static struct script *with_ecn(void **x)
{
    struct script *t = script_of(x);

    agree_on_ecn(t);
    return t;
}

/* RFC 3168 section 6.1.2: an ECN echo counts once, also in an acknowledgement of all outstanding
 * data. */
static void echo_with_the_last_acknowledgement(void **x)
{
    struct script *t = with_ecn(x);
    uint64_t before = script_info(t).cwnd;

    app_writes(t, MS(200), 4000);
    for (int i = 0; i < 4; i++) {
        expect_sent(t, .from = 1 + 1000 * i, .len = 1000);
        assert_int_equal(t->last.tos & 3, SCPS_ECN_ECT0);
    }
    peer_says(t, MS(300), .ack = 4001, .flags = SCPS_ACK | SCPS_ECE);
    uint64_t after = script_info(t).cwnd;
    assert_true(after < before);
    assert_false(script_info(t).in_recovery);
    peer_says(t, MS(301), .ack = 4001, .flags = SCPS_ACK | SCPS_ECE); /* No data is outstanding. */
    assert_int_equal(script_info(t).cwnd, after);
    app_writes(t, MS(400), 2000);
    /* RFC 3168 section 6.1.2: the first new data segment carries CWR. */
    expect_sent(t, .from = 4001, .len = 1000, .flags = SCPS_ACK | SCPS_CWR);
    expect_sent(t, .from = 5001, .len = 1000);
    peer_says(t, MS(500), .ack = 6001);
    assert_true(script_info(t).cwnd >= after);
    script_free(t);
}

/* RFC 3168 section 6.1.2: "The indication of congestion should be treated just as a congestion loss
 * in non-ECN-Capable TCP". So the sender does not send a segment for each one that arrives, but
 * about one for two (RFC 6937 section 3), until the smaller window is reached: nothing has to be
 * repaired, so no first retransmission is free. */
static void an_echo_slows_the_sender(void **x)
{
    struct script *t = with_ecn(x);

    app_writes(t, MS(200), 40000);
    assert_int_equal(script_forget_sent(t), 10);
    peer_says(t, MS(300), .ack = 1001, .flags = SCPS_ACK | SCPS_ECE);
    assert_int_equal(script_info(t).cwnd, 4500);
    expect_quiet(t, SCPS_HOLD_RECOVERY);
    for (int i = 2; i <= 10; i++)
        peer_says(t, MS(300 + i), .ack = 1 + 1000 * i);
    assert_int_equal(script_forget_sent(t), 4);
    assert_int_equal(script_info(t).inflight, 4000);
    script_free(t);
}

/* RFC 3168 section 6.1.2: an echo reduces the window, but "the value of the congestion window is
 * bounded below by a value of one MSS". RFC 9438 section 4.6: "reduction on ECE, cwnd >= 1 SMSS". A
 * window of one segment stays as it is. */
static void an_echo_leaves_one_segment(void **x)
{
    static const char *const ccs[] = {"vj", "cubic", "vegas"};

    for (int k = 0; k < 3; k++) {
        struct script *t = script_of(x);
        int64_t una = 1001;
        scps_time at;

        t->cfg.cc = scps_cc_find(ccs[k]);
        t->cfg.init_cwnd_segs = 1;
        agree_on_ecn(t);
        app_writes(t, MS(200), 9000);
        expect_sent(t, .from = 1, .len = 1000);
        peer_says(t, MS(300), .ack = 1001, .flags = SCPS_ACK | SCPS_ECE);
        assert_int_equal(script_info(t).cwnd, 1000);
        expect_sent(t, .from = 1001, .len = 1000, .flags = SCPS_ACK | SCPS_CWR);
        for (at = MS(400); script_info(t).cwnd < 2000 && at < SEC(1); at += MS(100)) {
            peer_says(t, at, .ack = una += 1000);
            script_forget_sent(t);
        }
        assert_int_equal(script_info(t).cwnd, 2000);
        peer_says(t, at, .ack = una + 2000, .flags = SCPS_ACK | SCPS_ECE);
        assert_in_range(script_info(t).cwnd, 1000, 1500);
        expect_sent(t, .from = una + 2000, .len = 1000, .flags = SCPS_ACK | SCPS_CWR);
        expect_quiet(t, ANY_HOLD);
        script_free(t);
    }
}

/* RFC 3168 section 6.1.2: "When an ECN-Capable TCP sender reduces its congestion window for any
 * reason (because of a retransmit timeout, a Fast Retransmit, ...), the TCP sender sets the CWR
 * flag in the TCP header of the first new data packet", and the window "should be reduced only once
 * in response to a series of dropped and/or CE packets from a single window of data". */
static void a_loss_and_a_mark_in_one_window(void **x)
{
    struct script *t = with_ecn(x);
    uint64_t after;

    app_writes(t, MS(200), 40000);
    assert_int_equal(script_forget_sent(t), 10);
    peer_says(t, MS(300), .ack = 1001);
    script_forget_sent(t);
    for (int i = 1; i <= 3; i++)
        peer_says(t, MS(300 + i), .ack = 1001, .sack = {{2001, 2001 + 1000 * i}});
    after = script_info(t).cwnd;
    assert_in_range(after, 5000, 6000);
    script_forget_sent(t);
    for (int i = 4; i <= 8; i++)
        peer_says(t, MS(300 + i), .ack = 1001, .sack = {{2001, 2001 + 1000 * i}},
                  .flags = SCPS_ACK | SCPS_ECE);
    expect_sent(t, .from = 14001, .len = 1000, .flags = SCPS_ACK | SCPS_CWR);
    script_forget_sent(t);
    /* This acknowledgement ends recovery, and was sent before CWR arrived. */
    peer_says(t, MS(404), .ack = 14001, .flags = SCPS_ACK | SCPS_ECE);
    assert_false(script_info(t).in_recovery);
    assert_int_equal(script_info(t).cwnd, after);
    script_forget_sent(t);
    script_free(t);
}

/* Returns a script in which a timeout has resent the first of four segments, the application has
 * written new data, and the peer has acknowledged the first segment with these flags. */
static struct script *acked_after_a_timeout(void **x, unsigned flags)
{
    struct script *t = with_ecn(x);

    app_writes(t, MS(200), 4000);
    script_forget_sent(t);
    expect_sent(t, .from = 1, .len = 1000, .at = MS(500), .slack = SEC(2));
    app_writes(t, script_now(t) + MS(1), 8000);
    peer_says(t, script_now(t) + MS(100), .ack = 1001, .flags = (uint8_t)flags);
    return t;
}

/* The echoes are of marks from before the timeout. RFC 3168 section 6.1.2: "The sending TCP SHOULD
 * NOT increase the congestion window in response to the receipt of an ECN-Echo ACK packet." */
static void echoes_after_a_timeout(void **x)
{
    struct script *t = acked_after_a_timeout(x, SCPS_ACK | SCPS_ECE);

    assert_int_equal(script_info(t).cwnd, 1000);
    expect_sent(t, .from = 4001, .len = 1000, .flags = SCPS_ACK | SCPS_CWR);
    script_free(t);
}

/* RFC 3168 section 6.1.2: a sender that reduces its window for any reason sets CWR in the next new
 * data, also after a timeout without a congestion mark. */
static void cwr_after_a_timeout(void **x)
{
    struct script *t = acked_after_a_timeout(x, SCPS_ACK);

    expect_sent(t, .from = 4001, .len = 1000, .flags = SCPS_ACK | SCPS_CWR);
    expect_sent(t, .from = 5001, .len = 1000);
    script_free(t);
}

/* Timeouts alone are no sign of congestion if an outage of the link caused them, so the window from
 * before the first one returns when an outage is inferred; but not if the peer has echoed a mark
 * meanwhile (RFC 3168 section 6.1.2: "The indication of congestion should be treated just as a
 * congestion loss in non-ECN-Capable TCP"). */
static void a_mark_before_an_outage(void **x)
{
    for (int marked = 0; marked < 2; marked++) {
        struct script *t = script_of(x);

        t->cfg.outage_after = 3;
        agree_on_ecn(t);
        app_writes(t, MS(200), 4000);
        script_run(t, SEC(1));
        assert_int_equal(script_info(t).timeouts, 1);
        peer_says(t, SEC(1), .ack = 1, .flags = SCPS_ACK | (marked ? SCPS_ECE : 0));
        script_run(t, SEC(10));
        script_forget_sent(t);
        expect_quiet(t, SCPS_HOLD_LINK_DOWN);
        assert_int_equal(script_info(t).cwnd, marked ? 1000 : 10000);
        script_free(t);
    }
}

/* A loss by corruption does not reduce the window, so nothing carries CWR. */
static void no_cwr_after_a_loss_by_corruption(void **x)
{
    struct script *t = script_of(x);

    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    agree_on_ecn(t);
    app_writes(t, MS(200), 40000);
    assert_int_equal(script_forget_sent(t), 10);
    for (int i = 1; i <= 3; i++)
        peer_says(t, MS(300 + i), .ack = 1, .sack = {{1001, 1001 + 1000 * i}});
    expect_sent(t, .from = 10001, .len = 1000, .flags = SCPS_ACK);
    expect_sent(t, .from = 11001, .len = 1000, .flags = SCPS_ACK);
    expect_sent(t, .from = 1, .len = 1000);
    expect_sent(t, .from = 12001, .len = 1000, .flags = SCPS_ACK);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 3168 section 6.1.5: retransmissions are Not-ECT and do not carry CWR. */
static void resent(void **x)
{
    struct script *t = with_ecn(x);

    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1000);
    expect_sent(t, .from = 1, .len = 1000, .at = MS(500), .slack = SEC(2));
    assert_int_equal(t->last.tos & 3, SCPS_ECN_NONE);
    peer_says(t, script_now(t) + MS(50), .ack = 1001);
    script_free(t);
}

/* RFC 3168 section 6.1.6: window probes are Not-ECT. */
static void window_probe(void **x)
{
    struct script *t = with_ecn(x);

    peer_says(t, MS(150), .wnd = ZERO, .ack = 1);
    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1, .at = MS(300), .slack = SEC(2));
    assert_int_equal(t->last.tos & 3, SCPS_ECN_NONE);
    peer_says(t, script_now(t) + MS(100), .ack = 2, .wnd = 65535);
    expect_sent(t, .from = 2, .len = 999);
    assert_int_equal(t->last.tos & 3, SCPS_ECN_ECT0);
    peer_says(t, script_now(t) + MS(50), .ack = 1001);
    script_free(t);
}

/* RFC 3168 section 6.1.1: a SYN-ACK with neither flag, with both, or with CWR alone does not agree
 * to ECN. */
static void answers(void **x)
{
    static const uint16_t answer[] = {0, SCPS_ECE | SCPS_CWR, SCPS_CWR, SCPS_ECE};

    for (size_t i = 0; i < sizeof answer / sizeof *answer; i++) {
        struct script *t = script_of(x);
        t->cfg.ecn = true;
        script_connect(t, 0);
        expect_sent(t, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
        peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK | answer[i], .ack = 1);
        expect_sent(t, .ack = 1);
        assert_int_equal(script_info(t).ecn, answer[i] == SCPS_ECE);
        script_free(t);
    }
}

/* A SYN with AE, CWR and ECE asks for accurate ECN feedback. A server that has only ECN as in RFC
 * 3168 ignores AE, a reserved bit of RFC 9293 section 3.1, and answers as to a SYN with CWR and ECE
 * (RFC 9768 section 3.1.2). Here all reserved bits are set. */
static void a_syn_with_reserved_bits(void **x)
{
    struct script *t = script_of(x);
    struct scps_seg syn = {.seq = 1000, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR, .wnd = 65535};
    struct scps_ip ip = {.proto = SCPS_IPPROTO_TCP, .ttl = 64};
    uint8_t p[80];
    size_t n;

    t->cfg.ecn = true;
    script_listen(t);
    syn.sport = t->them.port;
    syn.dport = t->us.port;
    ip.src = t->them.addr;
    ip.dst = t->us.addr;
    ip.version = t->us.addr.family;
    n = scps_ip_build(p, &ip, 20);
    scps_tcp_build(p + n, &syn);
    p[n + 12] |= 0x0f;
    scps_put16(p + n + 16, scps_tcp_checksum(&ip.src, &ip.dst, p + n, 20, NULL, 0));
    assert_int_equal(script_input(t, MS(1), p, n + 20), 0);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE);
    assert_int_equal(t->last.ack, 1001);
    script_free(t);
}

/* RFC 3168 section 6.1.1.1: a SYN that was not answered is sent again without asking for ECN. */
static void a_lost_syn_goes_again_without(void **x)
{
    struct script *t = script_of(x);
    t->cfg.ecn = true;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    expect_sent(t, .at = SEC(1), .flags = SCPS_SYN);
    peer_says(t, MS(1100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .ack = 1);
    script_free(t);
}

/* RFC 3168 section 6.1.1: "A host MUST NOT set ECT on data packets unless it" meets conditions, the
 * last of which is that it "has sent no non-ECN-setup SYN or non-ECN-setup SYN-ACK packet". Here
 * the SYN-ACK answers the first SYN, which asked for ECN, so marks of the peer's data are
 * echoed. */
static void no_ect_after_a_syn_without(void **x)
{
    struct script *t = script_of(x);

    t->cfg.ecn = true;
    script_connect(t, 0);
    script_run(t, SEC(1));
    script_forget_sent(t);
    peer_says(t, MS(1100), .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
    expect_sent(t, .ack = 1);
    app_writes(t, MS(1200), 10);
    expect_sent(t, .from = 1, .len = 10);
    assert_int_equal(t->last.tos & 3, SCPS_ECN_NONE);
    peer_says(t, MS(1300), .len = 1000, .ack = 11, .tos = SCPS_ECN_CE);
    peer_says(t, MS(1300), .len = 1000, .ack = 11, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 2001, .flags = SCPS_ACK | SCPS_ECE);
    script_free(t);
}

/* RFC 3168 section 6.1.1: "If a host has received at least one non-ECN-setup SYN or non-ECN-setup
 * SYN-ACK packet, then it SHOULD NOT set ECT on data packets." Here the peer repeats its SYN
 * without ECN, or with ECE alone. */
static void no_ect_after_the_peers_syn_without(void **x)
{
    static const uint16_t again[] = {SCPS_ECE | SCPS_CWR, 0, SCPS_ECE};

    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        struct script *t = script_of(x);

        t->cfg.ecn = true;
        script_listen(t);
        peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
        expect_sent(t, .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
        peer_says(t, MS(700), .flags = SCPS_SYN | again[i], .seq = ZERO);
        expect_sent(t, .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
        peer_says(t, MS(800), .ack = 1);
        expect_event(t, SCPS_EV_ACCEPT);
        t->c = scps_accept(t->l);
        app_writes(t, MS(900), 10);
        expect_sent(t, .from = 1, .len = 10);
        assert_int_equal(t->last.tos & 3, i ? SCPS_ECN_NONE : SCPS_ECN_ECT0);
        script_free(t);
    }
}

/* Simultaneous open: ECE in the peer's SYN-ACK agrees on ECN and is no echo of a mark; a SYN-ACK
 * without it refuses ECN (RFC 3168 section 6.1.1). */
static void simultaneous_open(void **x)
{
    for (int refused = 0; refused < 2; refused++) {
        struct script *t = script_of(x);
        uint64_t cwnd;

        t->cfg.ecn = true;
        script_connect(t, 0);
        expect_sent(t, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
        peer_says(t, MS(50), .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
        expect_sent(t, .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
        cwnd = script_info(t).cwnd;
        peer_says(t, MS(100), .seq = ZERO, .ack = 1,
                  .flags = SCPS_SYN | SCPS_ACK | (refused ? 0 : SCPS_ECE));
        script_forget_sent(t);
        assert_true(script_info(t).cwnd >= cwnd);
        assert_int_equal(script_info(t).ecn, !refused);
        app_writes(t, MS(200), 10);
        expect_sent(t, .from = 1, .len = 10, .flags = SCPS_ACK | SCPS_PSH);
        assert_int_equal(t->last.tos & 3, refused ? SCPS_ECN_NONE : SCPS_ECN_ECT0);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 3168 sections 5 and 6.1.3: only the codepoint CE of a segment with data is echoed, and only
 * on a connection that agreed on ECN. */
static void no_mark(void **x)
{
    struct script *t = with_ecn(x);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_ECT1);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_NONE);
    expect_sent(t, .ack = 2001, .flags = SCPS_ACK);
    peer_says(t, MS(201), .tos = SCPS_ECN_CE, .wnd = 60000); /* an acknowledgement without data */
    peer_says(t, MS(202), .len = 1000, .tos = SCPS_ECN_ECT0);
    peer_says(t, MS(202), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 4001, .flags = SCPS_ACK);
    script_free(t);

    t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_CE);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_CE);
    expect_sent(t, .ack = 2001, .flags = SCPS_ACK);
    script_free(t);
}

/* RFC 3168 section 6.1.5: "the TCP data receiver SHOULD ignore the CE codepoint on out-of-window
 * packets", so that a forged packet does not reduce the window of the sender. */
static void a_mark_outside_the_window(void **x)
{
    struct script *t = with_ecn(x);

    peer_says(t, MS(200), .seq = 100000, .len = 1000, .tos = SCPS_ECN_CE);
    expect_sent(t, .ack = 1);
    peer_says(t, MS(300), .seq = -2000, .len = 1000, .tos = SCPS_ECN_CE);
    script_forget_sent(t);
    peer_says(t, SEC(1), .seq = 1, .len = 2000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .at = MS(1200), .ack = 2001);
    script_free(t);
}

/* RFC 3168 section 6.1.3: CWR ends the echo; a mark on the same segment begins the next one. */
static void a_mark_beside_cwr(void **x)
{
    struct script *t = with_ecn(x);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_CE);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 2001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(201), .len = 1000, .tos = SCPS_ECN_CE, .flags = SCPS_ACK | SCPS_CWR);
    peer_says(t, MS(201), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 4001, .flags = SCPS_ACK | SCPS_ECE);
    script_free(t);
}

/* RFC 3168 section 6.1.3: "if any of the received data packets are CE packets, then the returning
 * ACK has the ECN-Echo flag set": CWR after a mark that no acknowledgement has echoed yet does not
 * end the echo. */
static void a_mark_before_cwr(void **x)
{
    struct script *t = with_ecn(x);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_CE);
    peer_says(t, MS(201), .len = 1000, .tos = SCPS_ECN_ECT0, .flags = SCPS_ACK | SCPS_CWR);
    expect_sent(t, .at = MS(201), .ack = 2001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(300), .len = 1000, .tos = SCPS_ECN_ECT0, .flags = SCPS_ACK | SCPS_CWR);
    peer_says(t, MS(300), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .at = MS(300), .ack = 4001, .flags = SCPS_ACK);
    script_free(t);
}

/* RFC 6040 section 4.2: a mark on the outer header of a tunnel is echoed like one on the packet
 * itself; if the inner packet is Not-ECT it is dropped, so the peer resends it. */
static void a_mark_on_the_header_of_a_tunnel(void **x)
{
    struct script *t = with_ecn(x);
    struct scps_stack_stats s;
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_ECT0, .outer_ecn = SCPS_ECN_ECT0);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 2001, .flags = SCPS_ACK);
    peer_says(t, MS(201), .len = 1000, .tos = SCPS_ECN_ECT0, .outer_ecn = SCPS_ECN_CE);
    peer_says(t, MS(201), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 4001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(202), .len = 1000, .tos = SCPS_ECN_NONE, .outer_ecn = SCPS_ECN_CE);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_NOT_ECT], 1);
    script_free(t);
}

/* RFC 3168 section 6.1.2: an echo is a sign of congestion, so it does not raise the congestion
 * window. A window of one segment, as after a lost SYN (RFC 5681 section 3.1), is below the least
 * ssthresh, which is two segments. */
static void an_echo_at_a_window_of_one_segment(void **x)
{
    static const char *const name[] = {"vj", "cubic", "hybla", "highspeed", "scalable", "vegas"};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct script *t = script_of(x);
        scps_conn_config_set_cc(&t->cfg, scps_cc_find(name[i]), NULL);
        t->cfg.ecn = true;
        t->cfg.init_cwnd_segs = 1;
        script_connect(t, 0);
        peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
        assert_int_equal(script_forget_sent(t), 2);
        app_writes(t, MS(200), 5000);
        expect_sent(t, .from = 1, .len = 1000);
        peer_says(t, MS(300), .ack = 501, .flags = SCPS_ACK | SCPS_ECE);
        assert_int_equal(script_info(t).cwnd, 1000);
        expect_quiet(t, ANY_HOLD);
        peer_says(t, MS(400), .ack = 1001, .flags = SCPS_ACK | SCPS_ECE);
        expect_sent(t, .from = 1001, .len = 1000, .flags = SCPS_ACK | SCPS_CWR);
        script_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(echo_with_the_last_acknowledgement),
        SCRIPT_TEST(an_echo_slows_the_sender),
        SCRIPT_TEST(an_echo_leaves_one_segment),
        SCRIPT_TEST(a_loss_and_a_mark_in_one_window),
        SCRIPT_TEST(echoes_after_a_timeout),
        SCRIPT_TEST(cwr_after_a_timeout),
        SCRIPT_TEST(a_mark_before_an_outage),
        SCRIPT_TEST(no_cwr_after_a_loss_by_corruption),
        SCRIPT_TEST(resent),
        SCRIPT_TEST(window_probe),
        SCRIPT_TEST(answers),
        SCRIPT_TEST(a_lost_syn_goes_again_without),
        SCRIPT_TEST(no_ect_after_a_syn_without),
        SCRIPT_TEST(no_ect_after_the_peers_syn_without),
        SCRIPT_TEST(simultaneous_open),
        SCRIPT_TEST(a_syn_with_reserved_bits),
        SCRIPT_TEST(no_mark),
        SCRIPT_TEST(a_mark_outside_the_window),
        SCRIPT_TEST(a_mark_beside_cwr),
        SCRIPT_TEST(a_mark_before_cwr),
        SCRIPT_TEST(a_mark_on_the_header_of_a_tunnel),
        SCRIPT_TEST(an_echo_at_a_window_of_one_segment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
