/* SPDX-License-Identifier: MIT */
/* Opening a connection: RFC 9293 sections 3.5 and 3.10.7; which options are offered and agreed: RFC
 * 7323 sections 2.2 and 3.2, RFC 2018 section 2, RFC 3168 section 6.1.1. */
#include "script.h"

/* RFC 9293 figure 6, as TCP Peer A: the active open. */
static void active_open(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_state(t, SCPS_SYN_SENT);
    expect_sent(t, .at = MS(0), .flags = SCPS_SYN, .has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK,
                .hasnt = SCPS_HAS_TS | SCPS_HAS_WSCALE | SCPS_HAS_CAPS);
    assert_int_equal(t->last.mss, 1000);
    assert_int_equal(t->last.ack, 0);
    expect_quiet(t, SCPS_HOLD_HANDSHAKE);
    peer_says(t, MS(70), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .at = MS(70), .from = 1, .ack = 1);
    expect_event(t, SCPS_EV_CONNECTED);
    expect_event(t, SCPS_EV_WRITABLE);
    expect_no_event(t);
    expect_state(t, SCPS_ESTABLISHED);
    struct scps_info i = script_info(t);
    assert_true(i.srtt == MS(70)); /* The round trip of the SYN is measured, too. */
    assert_true(i.sack && !i.timestamps && !i.wscale);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

static void passive_open(void **x)
{
    struct script *t = script_of(x);
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .at = MS(0), .flags = SCPS_SYN | SCPS_ACK, .ack = 1,
                .has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK, .hasnt = SCPS_HAS_TS | SCPS_HAS_WSCALE);
    expect_no_event(t);
    assert_null(scps_accept(t->l));
    peer_says(t, MS(40), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    assert_non_null(t->c);
    expect_state(t, SCPS_ESTABLISHED);
    expect_quiet(t, SCPS_HOLD_APP);
    assert_true(script_info(t).srtt == MS(40));
    struct scps_endpoint e;
    scps_conn_remote(t->c, &e);
    assert_true(scps_addr_equal(&e.addr, &t->them.addr) && e.port == t->them.port);
    scps_conn_local(t->c, &e);
    assert_true(scps_addr_equal(&e.addr, &t->us.addr) && e.port == 80);
    script_free(t);
}

/* The third segment of the handshake may carry data, and data may arrive before the application
 * accepts the connection. */
static void data_with_the_third_segment(void **x)
{
    struct script *t = script_of(x);
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(40), .ack = 1, .len = 1000);
    peer_says(t, MS(40), .len = 1000);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    app_reads(t, MS(50), 2000);
    expect_sent(t, .at = MS(40), .ack = 2001);
    script_free(t);
}

/* The SYN has the options of Linux in Linux's order; the peer offers all three, so all are in
 * force. */
static void every_option(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->cfg.wscale = true;
    t->cfg.rcvbuf = 1 << 20;
    t->peer.ts = true;
    t->peer.wscale = 7;
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN,
                .has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_TS | SCPS_HAS_WSCALE,
                .wnd = 65535);
    /* 65535 << 4 is less than the buffer of more than 2^20 octets. */
    assert_int_equal(t->last.wscale, 5);
    assert_int_equal(t->last.hdr_len, 40);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .ack = 1, .has = SCPS_HAS_TS, .wnd = (1 << 20) >> 5);
    struct scps_info i = script_info(t);
    assert_true(i.timestamps && i.wscale && i.sack);
    assert_int_equal(i.snd_wscale, 7);
    assert_int_equal(i.snd_mss, 1000 - 12);
    script_free(t);
}

/* RFC 7323 section 1.3: an option is in force only if both SYNs had it. */
static void what_the_peer_does_not_offer(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->cfg.wscale = true;
    t->cfg.rcvbuf = 1 << 20;
    /* The peer's SYN has no options, not even an MSS. */
    t->peer = (struct script_syn){.wscale = -1};
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .bare = true);
    expect_sent(t, .ack = 1, .hasnt = SCPS_HAS_TS, .wnd = 65535);
    struct scps_info i = script_info(t);
    assert_true(!i.timestamps && !i.wscale && !i.sack);
    /* RFC 9293 section 3.7.1: without the option the MSS is 536, or 1220 in IPv6; this end's limit
     * is 1000. */
    assert_int_equal(i.snd_mss, t->us.addr.family == 4 ? 536 : 1000);
    script_free(t);
}

static void what_we_do_not_offer(void **x)
{
    struct script *t = script_of(x);
    t->cfg.sack = false;
    t->peer.ts = true;
    t->peer.wscale = 3;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_MSS,
                .hasnt = SCPS_HAS_TS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK);
    t->peer.ts = false;
    peer_says(t, MS(1), .ack = 1, .bare = true);
    script_free(t);
}

/* RFC 7323 section 2.3: a shift above 14 is taken for 14. */
static void window_shift_is_clamped(void **x)
{
    struct script *t = script_of(x);
    t->cfg.wscale = true;
    t->peer.wscale = 200;
    script_established(t, MS(10));
    assert_int_equal(script_info(t).snd_wscale, 14);
    script_free(t);
}

/* RFC 7323 section 2.3: the shift is the smallest that can express the whole buffer; for the
 * largest buffer it is 14, the maximum. */
static void window_shift_fits_the_buffer(void **x)
{
    static const struct {
        uint32_t rcvbuf;
        uint8_t shift;
    } of[] = {{65535, 0}, {65536, 1}, {65535u << 13, 13}, {(65535u << 13) + 1, 14}, {1u << 30, 14}};

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct script *t = script_of(x);
        t->cfg.wscale = true;
        t->cfg.rcvbuf = of[i].rcvbuf;
        script_connect(t, MS(0));
        expect_sent(t, .from = ZERO, .flags = SCPS_SYN, .has = SCPS_HAS_WSCALE);
        assert_int_equal(t->last.wscale, of[i].shift);
        script_free(t);
    }
}

/* RFC 7323 section 2.2: the window in a SYN is never scaled. */
static void windows_of_syns_are_not_scaled(void **x)
{
    struct script *t = script_of(x);
    t->cfg.wscale = true;
    t->peer.wscale = 4;
    t->peer_wnd = 3000;
    script_established(t, MS(10));
    assert_int_equal(script_info(t).snd_wnd, 3000);
    peer_says(t, MS(20), .ack = 1, .wnd = 1000);
    assert_int_equal(script_info(t).snd_wnd, 16000);
    script_free(t);
    /* This end's SYN, too: RFC 7323 section 2.2, "The window field in a segment where the SYN bit
     * is set (i.e., a <SYN> or <SYN,ACK>) MUST NOT be scaled." */
    t = script_of(x);
    t->cfg.wscale = true;
    t->cfg.rcvbuf = 100000;
    t->peer.wscale = 4;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .wnd = 65535);
    script_free(t);
}

/* RFC 6298 (2.1) and (5.5): the SYN is sent again after 1 s, 2 s, 4 s and so on; after syn_retries
 * the connection ends. */
static void syn_is_repeated_and_given_up(void **x)
{
    struct script *t = script_of(x);
    t->cfg.syn_retries = 3;
    script_connect(t, MS(0));
    for (int i = 0; i < 4; i++)
        expect_sent(t, .at = SEC((1 << i) - 1), .from = ZERO, .flags = SCPS_SYN);
    script_run(t, SEC(14));
    expect_no_event(t);
    script_run(t, SEC(15));
    expect_error(t, SCPS_ERR_TIMEDOUT);
    expect_state(t, SCPS_CLOSED);
    assert_int_equal(scps_conn_error(t->c), SCPS_ERR_TIMEDOUT);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* RFC 9293 section 3.8.3, MUST-23: by default there is "retransmission of the segment for at least
 * 3 minutes": the last SYN leaves after 183 s, and the attempt ends a minute later. */
static void three_minutes_of_syns(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    script_run(t, SEC(180));
    expect_state(t, SCPS_SYN_SENT);
    assert_int_equal(script_forget_sent(t), 8);
    expect_sent(t, .at = SEC(183), .from = ZERO, .flags = SCPS_SYN);
    script_run(t, SEC(242));
    expect_state(t, SCPS_SYN_SENT);
    script_run(t, SEC(243));
    expect_error(t, SCPS_ERR_TIMEDOUT);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* RFC 9293 section 3.8.3, MUST-23: the three minutes hold for any expected round trip and any limit
 * of the timer; a short first timeout or a low limit does not shorten them. */
static void three_minutes_on_a_short_path(void **x)
{
    for (int k = 0; k < 3; k++) {
        struct script *t = script_of(x);
        t->cfg.expected_rtt = k < 2 ? MS(k ? 560 : 1) : 0;
        t->cfg.rto_max = k < 2 ? 0 : SEC(2);
        script_connect(t, MS(0));
        script_run(t, SEC(180));
        expect_state(t, SCPS_SYN_SENT);
        script_forget_sent(t);
        script_run(t, SEC(400));
        expect_error(t, SCPS_ERR_TIMEDOUT);
        assert_true(script_forget_sent(t) > 0); /* a SYN was sent after three minutes */
        script_free(t);
    }
}

/* The number of retries is 255, 256 (more than 8 bits hold), or the largest: the attempt ends after
 * 1 + 2 + ... + 32 + (n - 5) x 60 s. */
static void many_syns(void **x)
{
    static const uint16_t retries[] = {255, 256, 300, UINT16_MAX};

    for (unsigned i = 0; i < sizeof retries / sizeof *retries; i++) {
        struct script *t = script_of(x);
        int64_t end = 63 + (retries[i] - INT64_C(5)) * 60;
        t->cfg.syn_retries = retries[i];
        script_connect(t, MS(0));
        for (int64_t at = 0; at < end - 6000; at += 6000) {
            script_run(t, SEC(at));
            script_forget_sent(t);
        }
        script_run(t, SEC(end - 1));
        expect_state(t, SCPS_SYN_SENT);
        script_run(t, SEC(end));
        expect_error(t, SCPS_ERR_TIMEDOUT);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 6298 (5.7): after a lost SYN the RTO for data is at least 3 s; RFC 5681 section 3.1: the
 * window is one segment. */
static void after_a_lost_syn(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    expect_sent(t, .at = SEC(1), .flags = SCPS_SYN);
    peer_says(t, MS(1100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .ack = 1);
    app_writes(t, MS(1200), 5000);
    expect_sent(t, .at = MS(1200), .from = 1, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    expect_sent(t, .at = MS(4200), .from = 1, .len = 1000);
    script_free(t);
}

/* RFC 3522 section 3.2: "If the value of the Timestamp Echo Reply field of the acceptable ACK's
 * Timestamps option is smaller than" the timestamp of the retransmission, the original arrived: the
 * SYN was not lost, so RFC 5681 section 3.1 leaves the initial window as it is. A round trip of
 * 1.5 s is longer than the initial timeout of 1 s. The same holds for a SYN-ACK. */
static void the_first_of_two_syns_arrived(void **x)
{
    for (int passive = 0; passive < 2; passive++) {
        struct script *t = script_of(x);
        uint32_t first;

        t->cfg.timestamps = t->peer.ts = true;
        if (passive) {
            script_listen(t);
            peer_says(t, MS(0), .flags = SCPS_SYN);
            expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
        } else {
            script_connect(t, MS(0));
            expect_sent(t, .flags = SCPS_SYN);
        }
        first = t->last.tsval;
        script_run(t, SEC(1));
        if (passive) {
            expect_sent(t, .at = SEC(1), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
            peer_says(t, MS(1500), .ack = 1, .tsecr = first);
            expect_event(t, SCPS_EV_ACCEPT);
            t->c = scps_accept(t->l);
        } else {
            expect_sent(t, .at = SEC(1), .flags = SCPS_SYN);
            peer_says(t, MS(1500), .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .tsecr = first);
            expect_sent(t, .ack = 1);
        }
        app_writes(t, MS(1600), 20000);
        assert_int_equal(script_info(t).rto, SEC(3)); /* RFC 6298 (5.7): the RTO is 3 s for data. */
        for (int i = 0; i < 10; i++)
            expect_sent(t, .at = MS(1600), .from = 1 + 988 * i, .len = 988);
        expect_quiet(t, SCPS_HOLD_CWND);
        script_free(t);
    }
}

/* The echo of the second SYN does not show that the first arrived, so that may be lost. RFC 5681
 * section 3.1: "the initial window used by a sender after a correctly transmitted SYN MUST be one
 * segment". The same holds for the echo of the second of three SYNs, although its time stamp is
 * older than that of the third. */
static void the_first_syn_did_not_arrive(void **x)
{
    for (int64_t answer = 1500; answer <= 4500; answer += 3000) {
        struct script *t = script_of(x);
        uint32_t second;

        t->cfg.timestamps = t->peer.ts = true;
        script_connect(t, MS(0));
        expect_sent(t, .flags = SCPS_SYN);
        script_run(t, SEC(1));
        expect_sent(t, .at = SEC(1), .flags = SCPS_SYN);
        second = t->last.tsval;
        if (answer > 3000) {
            script_run(t, SEC(3));
            expect_sent(t, .at = SEC(3), .flags = SCPS_SYN);
        }
        peer_says(t, MS(answer), .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .tsecr = second);
        expect_sent(t, .ack = 1);
        app_writes(t, MS(answer + 100), 5000);
        expect_sent(t, .at = MS(answer + 100), .from = 1, .len = 988);
        expect_quiet(t, SCPS_HOLD_CWND);
        script_free(t);
    }
}

/* RFC 6298 (2.5): "A maximum value MAY be placed on RTO". It also limits what (5.7) makes of a
 * long initial timeout: 3 * 40 s are more than rto_max. The 3 s of (5.7) hold even if rto_max is
 * less. */
static void rto_max_after_a_lost_syn(void **x)
{
    static const struct {
        scps_dur initial, max, then;
    } c[] = {{SEC(40), SEC(60), SEC(60)}, {SEC(1), SEC(2), SEC(3)}, {SEC(10), SEC(60), SEC(30)}};

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct script *t = script_of(x);
        t->cfg.rto_initial = c[i].initial;
        t->cfg.rto_max = c[i].max;
        script_connect(t, MS(0));
        expect_sent(t, .flags = SCPS_SYN);
        expect_sent(t, .at = c[i].initial, .flags = SCPS_SYN);
        peer_says(t, c[i].initial + MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
        expect_sent(t, .ack = 1);
        assert_int_equal(script_info(t).rto, c[i].then);
        app_writes(t, c[i].initial + MS(200), 500);
        expect_sent(t, .at = c[i].initial + MS(200), .from = 1, .len = 500);
        expect_sent(t, .at = c[i].initial + MS(200) + c[i].then, .from = 1, .len = 500);
        script_free(t);
    }
}

static void syn_ack_is_repeated(void **x)
{
    struct script *t = script_of(x);
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .at = MS(0), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    expect_sent(t, .at = SEC(1), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    /* The SYN arrives again, so the SYN-ACK may have been lost. */
    peer_says(t, MS(1500), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .at = MS(1500), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    peer_says(t, MS(1600), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    script_run(t, SEC(20));
    script_free(t);
}

/* A half-open connection ends after its retries; the listener stays. */
static void half_open_is_given_up(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->cfg.syn_retries = 2;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    script_run(t, SEC(6));
    assert_int_equal(script_forget_sent(t), 3);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 1);
    script_run(t, SEC(8));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 0);
    assert_int_equal(s.conns, 0);
    script_forget_sent(t); /* A reset may be sent at the end. */
    peer_says(t, SEC(9), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    script_free(t);
}

/* RFC 9293 section 3.8.3, MUST-23: "R2 for a SYN segment MUST be set large enough to provide
 * retransmission of the segment for at least 3 minutes". This holds for a SYN-ACK as well, however
 * short the path and the limit of the backoff are. */
static void three_minutes_of_syn_acks(void **x)
{
    for (int k = 0; k < 3; k++) {
        struct script *t = script_of(x);
        struct scps_stack_stats s;
        t->cfg.expected_rtt = k < 2 ? MS(k ? 560 : 1) : 0;
        t->cfg.rto_max = k < 2 ? 0 : SEC(2);
        script_listen(t);
        peer_says(t, MS(0), .flags = SCPS_SYN);
        script_run(t, SEC(180));
        scps_stack_get_stats(t->st, &s);
        assert_int_equal(s.half_open, 1);
        script_forget_sent(t);
        script_run(t, SEC(300));
        scps_stack_get_stats(t->st, &s);
        assert_int_equal(s.half_open, 0);
        script_forget_sent(t);
        script_free(t);
    }
}

/* The peer's SYN arrives again just before the half-open connection would end: it is answered, and
 * the connection waits for the answer to that. */
static void repeated_syn_keeps_half_open(void **x)
{
    struct script *t = script_of(x);
    t->cfg.syn_retries = 2;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    script_run(t, MS(6900));
    assert_int_equal(script_forget_sent(t), 3);
    peer_says(t, MS(6950), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .at = MS(6950), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    peer_says(t, MS(7950), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    script_run(t, SEC(20));
    script_free(t);
}

/* RFC 5961 section 7 ("ACK throttling"), applied to SYN-RECEIVED: whoever repeats a SYN gets the
 * SYN-ACK again twice a second, so that nobody makes a listener send as much as he does to an
 * address that he forges. A repeated SYN that comes alone is answered at once. */
static void repeated_syns_are_limited(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .at = MS(0), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    peer_says(t, MS(300), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .at = MS(300), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    for (int i = 1; i < 50; i++)
        peer_says(t, MS(300 + 10 * i), .flags = SCPS_SYN, .seq = ZERO);
    expect_quiet(t, ANY_HOLD);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_RATE_LIMITED], 49);
    peer_says(t, MS(800), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .at = MS(800), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    peer_says(t, MS(900), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    script_free(t);
}

/* RFC 9293 figure 7: simultaneous open. */
static void simultaneous_open(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(50), .flags = SCPS_SYN);
    expect_state(t, SCPS_SYN_RECEIVED);
    expect_sent(t, .at = MS(50), .from = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1,
                .has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK);
    expect_no_event(t);
    peer_says(t, MS(100), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    expect_event(t, SCPS_EV_CONNECTED);
    script_forget_sent(t); /* Whether an ACK of the peer's SYN-ACK is sent does not matter. */
    app_writes(t, MS(200), 10);
    expect_sent(t, .from = 1, .len = 10, .ack = 1);
    peer_says(t, MS(250), .ack = 11, .len = 20);
    app_reads(t, MS(250), 20);
    expect_sent(t, .ack = 21, .at = MS(450));
    script_free(t);
}

/* RFC 5961 section 3.2: in SYN-RECEIVED, too, a reset must have the number RCV.NXT. The number of
 * the peer's SYN is one below, also where the segment has both flags. */
static void simultaneous_open_and_a_syn_with_reset(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(5), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, MS(10), .flags = SCPS_SYN | SCPS_RST | SCPS_ACK, .seq = ZERO, .ack = 1);
    expect_state(t, SCPS_SYN_RECEIVED);
    peer_says(t, MS(20), .flags = SCPS_RST, .seq = 1);
    expect_state(t, SCPS_CLOSED);
    script_free(t);
}

/* RFC 9293 section 3.10.7.3: a SYN without ACK leads from SYN-SENT to SYN-RECEIVED, and anybody can
 * send one who knows the addresses and guesses the ports. The peer's own SYN-ACK acknowledges this
 * end's SYN, and takes its place, with the peer's options, window and data. */
static void a_forged_syn_and_the_peers_syn_ack(void **x)
{
    for (int again = 0; again < 2; again++) {
        struct script *t = script_of(x);
        t->cfg.timestamps = false;
        script_connect(t, MS(0));
        expect_sent(t, .flags = SCPS_SYN);
        peer_says(t, MS(50), .seq = 70000, .flags = SCPS_SYN, .wnd = 1);
        expect_state(t, SCPS_SYN_RECEIVED);
        expect_sent(t, .from = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 70001);
        if (again) { /* The same segment with RST has no effect. */
            peer_says(t, MS(70), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK | SCPS_RST, .ack = 1);
            expect_state(t, SCPS_SYN_RECEIVED);
        }
        peer_says(t, MS(100), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .wnd = 9000);
        expect_state(t, SCPS_ESTABLISHED);
        expect_event(t, SCPS_EV_CONNECTED);
        expect_sent(t, .from = 1, .ack = 1);
        /* RFC 9293 figure 8: the peer's reset for the acknowledgement of the stranger's SYN. */
        peer_says(t, MS(110), .seq = 70001, .flags = SCPS_RST);
        expect_state(t, SCPS_ESTABLISHED);
        script_forget_sent(t);
        app_writes(t, MS(200), 10);
        expect_sent(t, .from = 1, .len = 10, .ack = 1);
        peer_says(t, MS(250), .seq = 1, .ack = 11, .len = 20);
        app_reads(t, MS(250), 20);
        script_forget_sent(t);
        script_free(t);
    }
}

/* The options of the SYN of a third party end with it: timestamps (their TSval would let PAWS drop
 * what the peer sends), the window scale and SACK are those of the peer's SYN-ACK. */
static void the_options_of_a_forged_syn(void **x)
{
    for (int forged = 0; forged < 2; forged++) {
        struct script *t = script_of(x);
        t->cfg.wscale = t->cfg.timestamps = t->peer.ts = true;
        script_connect(t, MS(0));
        expect_sent(t, .flags = SCPS_SYN);
        t->peer.ts = t->peer.sack = forged;
        t->peer.wscale = forged ? 7 : -1;
        peer_says(t, MS(50), .seq = 70000, .flags = SCPS_SYN, .tsval = 0x60000000, .tsecr = ZERO);
        expect_sent(t, .from = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 70001);
        t->peer.ts = t->peer.sack = !forged;
        t->peer.wscale = forged ? -1 : 7;
        peer_says(t, MS(100), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
        expect_event(t, SCPS_EV_CONNECTED);
        script_forget_sent(t);
        assert_int_equal(script_info(t).timestamps, !forged);
        assert_int_equal(script_info(t).sack, !forged);
        assert_int_equal(script_info(t).snd_wscale, forged ? 0 : 7);
        peer_says(t, MS(200), .seq = 1, .ack = 1, .len = 20);
        app_reads(t, MS(250), 20);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 5961 section 5.2: MAX.SND.WND is the largest window that the peer has offered, in its SYN,
 * too. A delayed segment with an older acknowledgement number is accepted, so its data is not
 * lost. */
static void simultaneous_open_delayed_data(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(50), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(100), .ack = 1);
    expect_event(t, SCPS_EV_CONNECTED);
    app_writes(t, MS(200), 10);
    expect_sent(t, .from = 1, .len = 10, .ack = 1);
    peer_says(t, MS(250), .ack = 11, .wnd = 65535 - 10, .seq = 21);
    peer_says(t, MS(260), .ack = 1, .wnd = 65535, .seq = 1, .len = 20);
    assert_int_equal(scps_conn_readable(t->c), 20);
    script_run(t, SEC(1));
    script_forget_sent(t);
    script_free(t);
}

/* Simultaneous open (RFC 9293 section 3.5): the peer's ACK of the SYN-ACK has no data and leads to
 * ESTABLISHED. */
/* RFC 7323 section 2.2: "The window field in a segment where the SYN bit is set (i.e., a <SYN> or
 * <SYN,ACK>) MUST NOT be scaled", also in a simultaneous open. RFC 9293 section 3.10.7.4, second
 * check: a reset in SYN-RECEIVED after an active open means that the connection is refused. */
static void simultaneous_open_with_a_scaled_window(void **x)
{
    struct script *t = script_of(x);
    t->cfg.wscale = true;
    t->peer.wscale = 7;
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(50), .flags = SCPS_SYN);
    expect_sent(t, .from = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(100), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .wnd = 1024);
    expect_event(t, SCPS_EV_CONNECTED);
    script_forget_sent(t);
    app_writes(t, MS(200), 3000);
    expect_sent(t, .from = 1, .len = 1000);
    expect_quiet(t, SCPS_HOLD_PEER_WINDOW);
    peer_says(t, MS(250), .ack = 1001, .wnd = 1000);
    expect_sent(t, .from = 1001, .len = 1000);
    expect_sent(t, .from = 2001, .len = 1000);
    peer_says(t, MS(300), .ack = 3001, .wnd = 1000);
    script_free(t);

    t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(50), .flags = SCPS_SYN);
    expect_sent(t, .from = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(60), .flags = SCPS_RST | SCPS_ACK, .ack = 1);
    expect_error(t, SCPS_ERR_REFUSED);
    script_free(t);
}

static void simultaneous_open_bare_ack(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(50), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(100), .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    expect_event(t, SCPS_EV_CONNECTED);
    script_free(t);
}

/* RFC 9293 section 3.10.7.3, fourth step: "If there are other controls or text in the segment, then
 * continue processing at the sixth step": data and a FIN in the SYN-ACK count. */
static void a_syn_ack_with_data_and_fin(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(100), .seq = ZERO, .ack = 1, .flags = SCPS_SYN | SCPS_ACK | SCPS_FIN,
              .len = 100);
    expect_sent(t, .at = MS(100), .from = 1, .ack = 102);
    expect_state(t, SCPS_CLOSE_WAIT);
    app_reads(t, MS(200), 100);
    app_reads(t, MS(200), 0);
    script_forget_events(t);
    script_free(t);
}

/* RFC 9293 section 3.5.2, group 1: the peer has no such connection and answers the SYN with a
 * reset. */
static void refused(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(10), .seq = ZERO, .flags = SCPS_RST | SCPS_ACK, .ack = 1);
    expect_error(t, SCPS_ERR_REFUSED);
    expect_state(t, SCPS_CLOSED);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* RFC 9293 section 3.10.7.3: in SYN-SENT a reset that does not acknowledge the SYN is ignored; an
 * ACK that does not is answered with a reset. */
static void wrong_answers_to_a_syn(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(10), .seq = ZERO, .flags = SCPS_RST);
    peer_says(t, MS(11), .seq = ZERO, .flags = SCPS_RST | SCPS_ACK, .ack = 2);
    peer_says(t, MS(12), .seq = ZERO, .flags = SCPS_RST | SCPS_ACK, .ack = ZERO);
    expect_quiet(t, SCPS_HOLD_HANDSHAKE);
    /* RFC 9293 figure 9: the peer has a half-open connection. */
    peer_says(t, MS(13), .seq = 77, .ack = 500);
    expect_sent(t, .at = MS(13), .from = 500, .flags = SCPS_RST);
    peer_says(t, MS(14), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 2);
    expect_sent(t, .at = MS(14), .from = 2, .flags = SCPS_RST);
    /* The segment has neither SYN nor RST, so it is ignored. */
    peer_says(t, MS(15), .seq = ZERO, .flags = SCPS_ACK, .ack = 1);
    expect_state(t, SCPS_SYN_SENT);
    expect_quiet(t, SCPS_HOLD_HANDSHAKE);
    peer_says(t, MS(20), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .ack = 1);
    expect_event(t, SCPS_EV_CONNECTED);
    script_free(t);
}

/* RFC 9293 section 3.10.7.1: a segment for no connection is answered with a reset that its sender
 * accepts. */
static void a_segment_for_no_connection_is_reset(void **x)
{
    struct script *t = script_of(x);
    t->us.port = 81;
    script_start(t);
    peer_says(t, MS(0), .raw = true, .seq = 1000, .flags = SCPS_SYN, .bare = true);
    expect_sent(t, .flags = SCPS_RST | SCPS_ACK);
    assert_int_equal(t->last.seq, 0);
    assert_int_equal(t->last.ack, 1001);
    peer_says(t, MS(1), .raw = true, .seq = 1000, .ack = 4242, .len = 10);
    expect_sent(t, .flags = SCPS_RST);
    assert_int_equal(t->last.seq, 4242);
    peer_says(t, MS(2), .raw = true, .seq = 1000, .flags = SCPS_FIN, .len = 10);
    expect_sent(t, .flags = SCPS_RST | SCPS_ACK);
    assert_int_equal(t->last.ack, 1011);
    /* A reset is never answered with a reset. */
    peer_says(t, MS(3), .raw = true, .seq = 1000, .flags = SCPS_RST);
    peer_says(t, MS(3), .raw = true, .seq = 1000, .flags = SCPS_RST | SCPS_ACK, .ack = 1);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* RFC 9293 section 3.10.7.2: what a listener does with segments that are no SYN. */
static void a_listener_and_odd_segments(void **x)
{
    struct script *t = script_of(x);
    script_listen(t);
    peer_says(t, MS(0), .raw = true, .seq = 5, .flags = SCPS_RST);
    peer_says(t, MS(0), .raw = true, .seq = 5, .flags = NO_FLAG);
    peer_says(t, MS(0), .raw = true, .seq = 5, .flags = SCPS_FIN);
    peer_says(t, MS(0), .raw = true, .seq = 5, .flags = SCPS_SYN | SCPS_FIN);
    peer_says(t, MS(0), .raw = true, .seq = 5, .flags = SCPS_SYN | SCPS_RST);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(1), .raw = true, .seq = 5, .ack = 99);
    expect_sent(t, .flags = SCPS_RST);
    assert_int_equal(t->last.seq, 99);
    peer_says(t, MS(2), .raw = true, .seq = 5, .flags = SCPS_SYN | SCPS_ACK, .ack = 98);
    expect_sent(t, .flags = SCPS_RST);
    assert_int_equal(t->last.seq, 98);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4 has a SYN in the window of a half-open connection return it to LISTEN.
 * Anybody who knows the addresses and ports could send one, so it is challenged as on an
 * established connection (RFC 5961 section 4.2). The reset of a peer that has begun anew frees the
 * connection, and the next SYN opens another. */
static void another_syn_in_syn_received(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;

    script_listen(t);
    peer_says(t, MS(0), .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(10), .seq = 1000, .flags = SCPS_SYN);
    expect_sent(t, .from = 1, .flags = SCPS_ACK, .ack = 1);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 1);
    peer_says(t, MS(20), .seq = 1, .flags = SCPS_RST);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 0);
    peer_says(t, MS(30), .seq = 1000, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1001);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4: a reset in SYN-RECEIVED returns to LISTEN; a wrong acknowledgement
 * number is answered with a reset. */
static void syn_received_and_odd_segments(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(5), .ack = 2);
    expect_sent(t, .from = 2, .flags = SCPS_RST);
    peer_says(t, MS(6), .ack = ZERO);
    expect_sent(t, .from = ZERO, .flags = SCPS_RST);
    peer_says(t, MS(10), .flags = SCPS_RST);
    expect_quiet(t, ANY_HOLD);
    expect_no_event(t);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 0);
    peer_says(t, MS(20), .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(30), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    script_free(t);
}

/* RFC 6528: the next connection with the same addresses and ports has another ISN, and so has one
 * on a stack with another secret. */
static void initial_sequence_numbers(void **x)
{
    uint32_t iss[2];
    uint16_t port[2];
    for (int i = 0; i < 2; i++) {
        struct script *t = script_of(x);
        t->stack_cfg.seed[0] += (unsigned)i;
        script_connect(t, MS(0));
        expect_sent(t, .flags = SCPS_SYN);
        iss[i] = t->last.seq;
        port[i] = t->last.sport;
        assert_true(port[i] >= 49152);
        script_free(t);
    }
    assert_int_not_equal(iss[0], iss[1]);
    assert_int_not_equal(port[0], port[1]);
}

/* RFC 3168 section 6.1.1: a SYN asks for ECN with ECE and CWR; a SYN-ACK agrees with ECE alone. */
static void ecn_is_agreed(void **x)
{
    struct script *t = script_of(x);
    t->cfg.ecn = true;
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    peer_says(t, MS(10), .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
    expect_sent(t, .ack = 1);
    assert_true(script_info(t).ecn);
    app_writes(t, MS(20), 10);
    expect_sent(t, .from = 1, .len = 10);
    assert_int_equal(t->last.tos & 3, SCPS_ECN_ECT0);
    script_free(t);

    t = script_of(x);
    t->cfg.ecn = true;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
    peer_says(t, MS(5), .flags = SCPS_RST);
    peer_says(t, MS(10), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    script_free(t);
}

static void data_written_before_the_handshake_ends(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    app_writes(t, MS(1), 1500);
    expect_quiet(t, SCPS_HOLD_HANDSHAKE);
    peer_says(t, MS(10), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .at = MS(10), .from = 1, .len = 1000, .ack = 1);
    expect_sent(t, .at = MS(10), .from = 1001, .len = 500, .push = true);
    script_free(t);
}

/* The counters of a connection begin at its first write or when the handshake ends, whichever comes
 * first. The time that the handshake took is the same in all cases. */
static void the_handshake_is_a_hold_from_its_beginning(void **x)
{
    for (int i = 0; i < 3; i++) {
        struct script *t = script_of(x);
        script_connect(t, MS(5));
        expect_sent(t, .at = MS(5), .flags = SCPS_SYN);
        if (i == 1) {
            app_writes(t, MS(30), 500);
            assert_true(script_info(t).holds[SCPS_HOLD_HANDSHAKE] == MS(25));
        }
        if (i == 2)
            expect_sent(t, .at = MS(1005), .flags = SCPS_SYN);
        peer_says(t, MS(i == 2 ? 1105 : 105), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
        script_run(t, MS(1150));
        assert_true(script_info(t).holds[SCPS_HOLD_HANDSHAKE] == MS(i == 2 ? 1100 : 100));
        script_forget_sent(t);
        script_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(active_open),
        SCRIPT_TEST(passive_open),
        SCRIPT_TEST(data_with_the_third_segment),
        SCRIPT_TEST(every_option),
        SCRIPT_TEST(what_the_peer_does_not_offer),
        SCRIPT_TEST(what_we_do_not_offer),
        SCRIPT_TEST(window_shift_is_clamped),
        SCRIPT_TEST(window_shift_fits_the_buffer),
        SCRIPT_TEST(windows_of_syns_are_not_scaled),
        SCRIPT_TEST(syn_is_repeated_and_given_up),
        SCRIPT_TEST(three_minutes_of_syns),
        SCRIPT_TEST(three_minutes_on_a_short_path),
        SCRIPT_TEST(many_syns),
        SCRIPT_TEST(after_a_lost_syn),
        SCRIPT_TEST(the_first_of_two_syns_arrived),
        SCRIPT_TEST(the_first_syn_did_not_arrive),
        SCRIPT_TEST(rto_max_after_a_lost_syn),
        SCRIPT_TEST(syn_ack_is_repeated),
        SCRIPT_TEST(half_open_is_given_up),
        SCRIPT_TEST(three_minutes_of_syn_acks),
        SCRIPT_TEST(repeated_syn_keeps_half_open),
        SCRIPT_TEST(repeated_syns_are_limited),
        SCRIPT_TEST(simultaneous_open),
        SCRIPT_TEST(simultaneous_open_with_a_scaled_window),
        SCRIPT_TEST(simultaneous_open_and_a_syn_with_reset),
        SCRIPT_TEST(a_forged_syn_and_the_peers_syn_ack),
        SCRIPT_TEST(the_options_of_a_forged_syn),
        SCRIPT_TEST(simultaneous_open_bare_ack),
        SCRIPT_TEST(simultaneous_open_delayed_data),
        SCRIPT_TEST(refused),
        SCRIPT_TEST(a_syn_ack_with_data_and_fin),
        SCRIPT_TEST(wrong_answers_to_a_syn),
        SCRIPT_TEST(a_segment_for_no_connection_is_reset),
        SCRIPT_TEST(a_listener_and_odd_segments),
        SCRIPT_TEST(another_syn_in_syn_received),
        SCRIPT_TEST(syn_received_and_odd_segments),
        SCRIPT_TEST(initial_sequence_numbers),
        SCRIPT_TEST(ecn_is_agreed),
        SCRIPT_TEST(data_written_before_the_handshake_ends),
        SCRIPT_TEST(the_handshake_is_a_hold_from_its_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
