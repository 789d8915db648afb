/* SPDX-License-Identifier: MIT */
/* Opening a connection: RFC 9293 sections 3.5 and 3.10.7; what is offered and settled: RFC 7323
 * sections 2.2 and 3.2, RFC 2018 section 2, RFC 3168 section 6.1.1. */
#include "script.h"

/* RFC 9293 figure 6, seen from TCP Peer A */
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
    assert_true(i.srtt == MS(70)); /* the SYN is timed too */
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

/* The third segment may carry data, and the first data may come before the connection is accepted.
 * */
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

/* Options in the order and number Linux sends them, all three in force afterwards */
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
    assert_int_equal(t->last.wscale, 5); /* 65535 << 4 is one octet short of 2^20 and more */
    assert_int_equal(t->last.hdr_len, 40);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .ack = 1, .has = SCPS_HAS_TS, .wnd = (1 << 20) >> 5);
    struct scps_info i = script_info(t);
    assert_true(i.timestamps && i.wscale && i.sack);
    assert_int_equal(i.snd_wscale, 7);
    assert_int_equal(i.snd_mss, 1000 - 12);
    script_free(t);
}

/* RFC 7323 1.3: an option is in force only when both SYNs carried it */
static void what_the_peer_does_not_offer(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->cfg.wscale = true;
    t->cfg.rcvbuf = 1 << 20;
    t->peer = (struct script_syn){.wscale = -1}; /* nothing at all, not even an MSS */
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .bare = true);
    expect_sent(t, .ack = 1, .hasnt = SCPS_HAS_TS, .wnd = 65535);
    struct scps_info i = script_info(t);
    assert_true(!i.timestamps && !i.wscale && !i.sack);
    /* RFC 9293 3.7.1: 536 when none is given, 1220 in IPv6; ours is 1000 */
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

/* RFC 7323 2.3: a shift above 14 is taken as 14 */
static void window_shift_is_clamped(void **x)
{
    struct script *t = script_of(x);
    t->cfg.wscale = true;
    t->peer.wscale = 200;
    script_established(t, MS(10));
    assert_int_equal(script_info(t).snd_wscale, 14);
    script_free(t);
}

/* RFC 7323 2.3: the least shift that offers the whole buffer; for the largest buffer, and at most,
 * 14 */
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

/* RFC 7323 2.2: the window field of a SYN is never scaled */
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
    /* ours: RFC 7323 section 2.2, "The window field in a <SYN> segment ... is never scaled" */
    t = script_of(x);
    t->cfg.wscale = true;
    t->cfg.rcvbuf = 100000;
    t->peer.wscale = 4;
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .wnd = 65535);
    script_free(t);
}

/* RFC 6298 2.1 and 5.5: the SYN is repeated after 1 s, 2 s, 4 s ... and given up */
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

/* RFC 9293 3.8.3: of its own accord for three minutes at least */
static void three_minutes_of_syns(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    script_run(t, SEC(180));
    expect_state(t, SCPS_SYN_SENT);
    assert_int_equal(script_forget_sent(t), 8);
    script_run(t, SEC(300));
    expect_error(t, SCPS_ERR_TIMEDOUT);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* MUST-23 of the same: whatever round trip is expected and however long the timer may get. Neither
 * a first timeout that is short nor its limit makes it less */
static void three_minutes_on_a_short_path(void **x)
{
    for (int k = 0; k < 3; k++) {
        struct script *t = script_of(x);
        t->cfg.expected_rtt = k < 2 ? MS(k ? 560 : 1) : 0;
        t->cfg.rto_max = k < 2 ? 0 : SEC(2);
        script_connect(t, MS(0));
        script_run(t, SEC(180));
        expect_state(t, SCPS_SYN_SENT);
        script_run(t, SEC(300));
        expect_error(t, SCPS_ERR_TIMEDOUT);
        script_forget_sent(t);
        script_free(t);
    }
}

/* As many retries as a counter of 8 bits holds, one more, and as many as can be set:
 * 1 + 2 + ... + 32 + (n - 5) x 60 s */
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

/* RFC 6298 5.7: after a lost SYN the timeout is 3 s again at least for data; RFC 5681 3.1: window
 * of one segment */
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
        assert_int_equal(script_info(t).rto, SEC(3)); /* RFC 6298 section 5.7 */
        for (int i = 0; i < 10; i++)
            expect_sent(t, .at = MS(1600), .from = 1 + 988 * i, .len = 988);
        expect_quiet(t, SCPS_HOLD_CWND);
        script_free(t);
    }
}

/* The echo of the second SYN says nothing about the first, which may be lost: RFC 5681 section 3.1:
 * "the initial window used by a sender after a correctly transmitted SYN MUST be one segment". So
 * it is for the second of three SYNs, although its timestamp is older than that of the third. */
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

/* RFC 6298 section 2.5: "A maximum value MAY be placed on RTO". It bounds what section 5.7 makes of
 * a long initial timeout, too: 3 * 40 s are more than rto_max. But the 3 s of that section stay
 * where rto_max is less. */
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
    peer_says(t, MS(1500), .flags = SCPS_SYN, .seq = ZERO); /* so was the SYN */
    expect_sent(t, .at = MS(1500), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    peer_says(t, MS(1600), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    script_run(t, SEC(20));
    script_free(t);
}

/* A half-open connection is forgotten after its retries; the listener lives on. */
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
    script_forget_sent(t); /* a farewell is allowed */
    peer_says(t, SEC(9), .flags = SCPS_SYN, .seq = ZERO);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    script_free(t);
}

/* RFC 9293 section 3.8.3, MUST-23: "R2 for a SYN segment MUST be set large enough to provide
 * retransmission of the segment for at least 3 minutes", be it that of a SYN-ACK, however short the
 * path and the limit of the backoff are. */
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

/* The peer's SYN again, just before the half-open connection would end, is answered, and the answer
 * has its time. */
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

/* RFC 9293 figure 7 */
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
    script_forget_sent(t); /* an ACK of its SYN-ACK or none: both are in order */
    app_writes(t, MS(200), 10);
    expect_sent(t, .from = 1, .len = 10, .ack = 1);
    peer_says(t, MS(250), .ack = 11, .len = 20);
    app_reads(t, MS(250), 20);
    expect_sent(t, .ack = 21, .at = MS(450));
    script_free(t);
}

/* RFC 5961 section 5.2: MAX.SND.WND is the largest window the peer has offered, its SYN's included.
 * A segment that was delayed and acknowledges less than the newest one is heard: its octets are not
 * lost */
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

/* The same when the peer's ACK is a bare one */
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

/* RFC 9293 3.5.2 group 1: nobody is there */
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

/* RFC 9293 3.10.7.3: a reset that does not acknowledge our SYN is ignored; an ACK that does not is
 * answered */
static void wrong_answers_to_a_syn(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(10), .seq = ZERO, .flags = SCPS_RST);
    peer_says(t, MS(11), .seq = ZERO, .flags = SCPS_RST | SCPS_ACK, .ack = 2);
    peer_says(t, MS(12), .seq = ZERO, .flags = SCPS_RST | SCPS_ACK, .ack = ZERO);
    expect_quiet(t, SCPS_HOLD_HANDSHAKE);
    /* the peer's connection is half-open: RFC 9293 figure 9 */
    peer_says(t, MS(13), .seq = 77, .ack = 500);
    expect_sent(t, .at = MS(13), .from = 500, .flags = SCPS_RST);
    peer_says(t, MS(14), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 2);
    expect_sent(t, .at = MS(14), .from = 2, .flags = SCPS_RST);
    peer_says(t, MS(15), .seq = ZERO, .flags = SCPS_ACK, .ack = 1); /* no SYN, no reset: ignored */
    expect_state(t, SCPS_SYN_SENT);
    expect_quiet(t, SCPS_HOLD_HANDSHAKE);
    peer_says(t, MS(20), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .ack = 1);
    expect_event(t, SCPS_EV_CONNECTED);
    script_free(t);
}

/* RFC 9293 3.10.7.1: whatever comes for nobody is answered with a reset it will accept */
static void nobody_home(void **x)
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
    peer_says(t, MS(3), .raw = true, .seq = 1000,
              .flags = SCPS_RST); /* never a reset for a reset */
    peer_says(t, MS(3), .raw = true, .seq = 1000, .flags = SCPS_RST | SCPS_ACK, .ack = 1);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* RFC 9293 3.10.7.2 */
static void a_listener_and_odd_segments(void **x)
{
    struct script *t = script_of(x);
    script_listen(t);
    peer_says(t, MS(0), .raw = true, .seq = 5, .flags = SCPS_RST);
    peer_says(t, MS(0), .raw = true, .seq = 5, .flags = NO_FLAG);
    peer_says(t, MS(0), .raw = true, .seq = 5, .flags = SCPS_FIN);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(1), .raw = true, .seq = 5, .ack = 99);
    expect_sent(t, .flags = SCPS_RST);
    assert_int_equal(t->last.seq, 99);
    peer_says(t, MS(2), .raw = true, .seq = 5, .flags = SCPS_SYN | SCPS_ACK, .ack = 98);
    expect_sent(t, .flags = SCPS_RST);
    assert_int_equal(t->last.seq, 98);
    script_free(t);
}

/* A reset while half-open returns to LISTEN (RFC 9293 3.10.7.4); a wrong ACK is answered with one.
 * */
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

/* RFC 6528: the next connection on the same ports begins elsewhere; another stack, another number
 * */
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

/* RFC 3168 6.1.1: asked for with ECE and CWR, agreed with ECE alone */
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
        SCRIPT_TEST(simultaneous_open),
        SCRIPT_TEST(simultaneous_open_bare_ack),
        SCRIPT_TEST(simultaneous_open_delayed_data),
        SCRIPT_TEST(refused),
        SCRIPT_TEST(wrong_answers_to_a_syn),
        SCRIPT_TEST(nobody_home),
        SCRIPT_TEST(a_listener_and_odd_segments),
        SCRIPT_TEST(syn_received_and_odd_segments),
        SCRIPT_TEST(initial_sequence_numbers),
        SCRIPT_TEST(ecn_is_agreed),
        SCRIPT_TEST(data_written_before_the_handshake_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
