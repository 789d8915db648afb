/* SPDX-License-Identifier: MIT */
/* Floods of SYNs: SYN cookies when too many connections are half-open (RFC 4987 section 3.6), the
 * backlog, and limits for replies. */
#include "script.h"

/* Hands in a segment of the peer, without calling for output. */
static void peer_sends_at(struct script *t, scps_time at, const struct scps_seg *seg)
{
    bool six = t->us.addr.family == 6;
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = six ? 6 : 4,
                         .proto = SCPS_IPPROTO_TCP,
                         .ttl = 64};
    uint8_t p[100];
    size_t hdr = six ? 40 : 20, n = scps_tcp_build(p + hdr, seg);

    scps_ip_build(p, &ip, n);
    scps_stack_input(t->st, &t->nif,
                     &(struct scps_pkt){.data = p, .len = hdr + n, .csum_ok = true, .at = at});
}

static void peer_sends(struct script *t, const struct scps_seg *seg)
{
    peer_sends_at(t, scps_stack_now(t->st), seg);
}

/* The peer sends an acknowledgement from `port` to a port without a connection. */
static void peer_strange(struct script *t, uint16_t port)
{
    peer_sends(
        t, &(struct scps_seg){.sport = port, .dport = 9, .flags = SCPS_ACK, .seq = 1, .ack = 77});
}

/* Ends the test by aborting its connection. */
static void abort_and_free(struct script *t)
{
    scps_conn_abort(t->c);
    t->c = NULL;
    script_forget_sent(t);
    script_free(t);
}

/* Fills the half-open queue with SYNs from ports 1000 up, and takes the SYN-ACKs from the
 * output. */
static struct script *flooded(void **x)
{
    struct script *t = script_of(x);
    t->stack_cfg.max_half_open = 4;
    script_listen(t);
    for (uint16_t i = 0; i < 4; i++) {
        peer_says(t, MS(1), .port = 1000 + i, .seq = 100 + i, .flags = SCPS_SYN);
        expect_sent(t, .port = 1000 + i, .flags = SCPS_SYN | SCPS_ACK);
    }
    return t;
}

static void a_valid_cookie_opens_a_connection(void **x)
{
    struct script *t = flooded(x);
    struct scps_stack_stats s;
    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_sent(t, .at = MS(10), .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1,
                .has = SCPS_HAS_MSS, .hasnt = SCPS_HAS_SACK_OK | SCPS_HAS_TS | SCPS_HAS_WSCALE);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_out, 1);
    assert_int_equal(s.half_open, 4); /* The SYN that is answered with a cookie keeps no state. */
    peer_says(t, MS(50), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    assert_non_null(t->c);
    expect_state(t, SCPS_ESTABLISHED);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_ok, 1);
    assert_int_equal(s.half_open, 4);
    /* 536 is the largest value below 1000 in the cookie's table of MSS values. */
    assert_int_equal(script_info(t).snd_mss, 536);
    assert_false(script_info(t).sack);
    app_writes(t, MS(60), 700);
    expect_sent(t, .from = 1, .len = 536);
    expect_sent(t, .from = 537, .len = 164);
    peer_says(t, MS(100), .ack = 701, .len = 100);
    app_reads(t, MS(100), 100);
    abort_and_free(t);
}

/* With timestamps a cookie preserves window scale and SACK: the peer echoes them in TSecr. */
static void options_survive_in_timestamps(void **x)
{
    struct script *t = script_of(x);
    t->stack_cfg.max_half_open = 1;
    t->cfg.timestamps = t->peer.ts = true;
    t->cfg.wscale = true;
    t->cfg.rcvbuf = 300000;
    t->peer.wscale = 6;
    script_listen(t);
    peer_says(t, MS(1), .port = 1000, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK,
                .has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_TS | SCPS_HAS_WSCALE);
    peer_says(t, MS(50), .ack = 1, .wnd = 2000);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    struct scps_info i = script_info(t);
    assert_true(i.sack && i.timestamps && i.wscale);
    assert_int_equal(i.snd_wscale, 6);
    assert_int_equal(i.snd_wnd, 2000 << 6);
    script_run(t, MS(60));
    peer_says(t, MS(70), .len = 988);
    peer_says(t, MS(70), .len = 988);
    expect_sent(t, .ack = 1977, .has = SCPS_HAS_TS);
    abort_and_free(t);
}

/* SCPS capabilities survive in the cookie, and ECN in its time stamp (RFC 4987 section 3.6);
 * scps_info.why shows which features were lost. */
static void capabilities_survive(void **x, bool stamps)
{
    const uint8_t all = SCPS_CAP_BETS | SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2;
    for (unsigned ask = 0; ask < 16; ask++) {
        /* The lowest bits of the clock take every value. */
        for (unsigned late = 0; late < 1200; late += 97) {
            struct script *t = script_of(x);
            uint8_t caps = (uint8_t)(ask << 5) & all;
            struct scps_stack_stats s;
            t->stack_cfg.max_half_open = 1;
            t->cfg.timestamps = t->peer.ts = stamps;
            t->cfg.bets = t->cfg.snack = t->cfg.snack_long = t->cfg.compress = t->cfg.ecn = true;
            t->peer.caps = caps | (ask & 8 ? SCPS_CAP_COM : 0);
            t->peer.conn_id = 7;
            script_listen(t);
            peer_says(t, MS(1 + late), .port = 1000, .seq = 100, .flags = SCPS_SYN);
            expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
            uint16_t ecn = stamps && ask & 1 ? SCPS_ECE | SCPS_CWR : 0;
            peer_says(t, MS(10 + late), .flags = SCPS_SYN | ecn);
            if (caps)
                expect_sent(t, .flags = (uint16_t)(SCPS_SYN | SCPS_ACK | (ecn ? SCPS_ECE : 0)),
                            .has = SCPS_HAS_CAPS);
            else
                expect_sent(t, .flags = (uint16_t)(SCPS_SYN | SCPS_ACK | (ecn ? SCPS_ECE : 0)),
                            .hasnt = SCPS_HAS_CAPS);
            scps_stack_get_stats(t->st, &s);
            assert_int_equal(s.cookies_out, 1);
            assert_int_equal(s.cookies_reduced, ask & 8 || !stamps ? 1 : 0);
            peer_says(t, MS(50 + late), .ack = 1);
            expect_event(t, SCPS_EV_ACCEPT);
            t->c = scps_accept(t->l);
            struct scps_info i = script_info(t);
            assert_int_equal(i.caps, caps);
            assert_int_equal(i.ecn, ecn != 0);
            assert_int_equal(i.why[SCPS_FEATURE_COMPRESSION], SCPS_WHY_COOKIE);
            assert_int_equal(i.why[SCPS_FEATURE_BETS],
                             caps & SCPS_CAP_BETS ? SCPS_WHY_IN_FORCE : SCPS_WHY_NOT_OFFERED);
            abort_and_free(t);
        }
    }
}

static void capabilities_survive_with_timestamps(void **x)
{
    capabilities_survive(x, true);
}

static void capabilities_survive_without_timestamps(void **x)
{
    capabilities_survive(x, false);
}

/* Without timestamps a cookie does not preserve window scale and SACK, and scps_info.why shows this
 * to the application. */
static void lost_options_appear_in_scps_info(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->stack_cfg.max_half_open = 1;
    t->cfg.bets = t->cfg.wscale = true;
    t->peer.caps = SCPS_CAP_BETS;
    t->peer.wscale = 3;
    script_listen(t);
    peer_says(t, MS(1), .port = 1000, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS, .hasnt = SCPS_HAS_WSCALE);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_reduced, 1);
    peer_says(t, MS(50), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    assert_int_equal(script_info(t).why[SCPS_FEATURE_BETS], SCPS_WHY_IN_FORCE);
    assert_int_equal(script_info(t).why[SCPS_FEATURE_WSCALE], SCPS_WHY_COOKIE);
    assert_int_equal(script_info(t).why[SCPS_FEATURE_SACK], SCPS_WHY_COOKIE);
    abort_and_free(t);
}

/* A flood of 1.4 SYNs a second from forged addresses: half-open connections neither keep their
 * places for the 188 s for which SYN-ACKs are repeated, nor get more than four SYN-ACKs each while
 * a quarter of the places is taken. */
static void a_slow_syn_flood_holds_no_places(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    unsigned sent = 0;
    t->cfg.bets = true;
    t->peer.caps = SCPS_CAP_BETS;
    t->stack_cfg.max_half_open = 64;
    script_listen(t);
    for (uint16_t i = 0; i < 200; i++) {
        peer_says(t, SEC(1) + i * MS(714), .port = 2000 + i, .seq = 100, .flags = SCPS_SYN);
        sent += script_forget_sent(t);
    }
    assert_true(sent <= 200 * 4);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_out, 0);
    assert_in_range(s.half_open, 16, 32);
    assert_int_equal(s.half_open_evicted, 200 - s.half_open);
    script_run(t, SEC(150) - 1);
    script_forget_sent(t); /* SYN-ACKs of other connections are repeated. */
    peer_says(t, SEC(150), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS);
    script_forget_sent(t);
    peer_says(t, SEC(150) + MS(50), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    assert_int_equal(script_info(t).caps, SCPS_CAP_BETS);
    abort_and_free(t);
}

/* RFC 4987 section 3.3: the more places are taken, the sooner the oldest half-open connection gives
 * its place up to another SYN: never below a quarter of the places, after 14 s from a quarter on,
 * after 6 s from a half on, and after 3 s when all are taken. */
static void the_more_places_are_taken_the_shorter_they_are_kept(void **x)
{
    static const struct {
        unsigned taken; /* of 64 places */
        scps_dur kept;  /* µs */
    } steps[] = {{15, SEC(170)}, {16, SEC(14)}, {31, SEC(14)},
                 {32, SEC(6)},   {63, SEC(6)},  {64, SEC(3)}};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct script *t = script_of(x);
        struct scps_stack_stats s;
        t->stack_cfg.max_half_open = 64;
        script_listen(t);
        for (unsigned k = 0; k < steps[i].taken; k++)
            peer_says(t, SEC(1) + MS(10) * k, .port = (uint16_t)(2000 + k), .seq = 100,
                      .flags = SCPS_SYN);
        scps_stack_get_stats(t->st, &s);
        assert_int_equal(s.half_open, steps[i].taken);
        assert_int_equal(s.half_open_evicted, 0);
        /* Another SYN comes while the oldest one is younger than that, and its sender resets. */
        peer_says(t, SEC(1) + steps[i].kept - 1, .port = 3000, .seq = 100, .flags = SCPS_SYN);
        peer_says(t, SEC(1) + steps[i].kept - 1, .port = 3000, .seq = 101, .flags = SCPS_RST);
        scps_stack_get_stats(t->st, &s);
        assert_int_equal(s.half_open, steps[i].taken);
        assert_int_equal(s.half_open_evicted, 0);
        peer_says(t, SEC(1) + steps[i].kept, .port = 3001, .seq = 100, .flags = SCPS_SYN);
        scps_stack_get_stats(t->st, &s);
        assert_int_equal(s.half_open_evicted > 0, steps[i].taken >= 16);
        script_forget_sent(t);
        script_free(t);
    }
}

/* The third segment of the handshake carries data, and all of it is delivered. */
static void data_with_the_cookie(void **x)
{
    struct script *t = flooded(x);
    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(50), .ack = 1, .len = 300);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    app_reads(t, MS(50), 300);
    expect_sent(t, .ack = 301, .at = MS(250));
    script_forget_events(t);
    script_free(t);
}

/* Data and a FIN arrive, but not the segment before them, which alone has the sequence number for
 * which the cookie was made. RFC 4987 section 3.6: SYN cookies "allocate no state at all for
 * connections in SYN-RECEIVED", so the listener cannot tell these segments from old ones. By RFC
 * 9293 section 3.10.7.2 it would reset the sender, whose connection is established. Data and FINs
 * are retransmitted, so the listener drops them and waits for the missing segment. */
static void data_before_the_cookie(void **x)
{
    struct script *t = flooded(x);
    struct scps_stack_stats s;
    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(50), .seq = 301, .ack = 1, .len = 100);
    expect_quiet(t, SCPS_HOLD_NONE);
    peer_says(t, MS(51), .flags = SCPS_FIN | SCPS_ACK, .seq = 401, .ack = 1);
    expect_quiet(t, SCPS_HOLD_NONE);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_BAD_COOKIE], 2);
    peer_says(t, MS(60), .seq = 1, .ack = 1, .len = 300);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    app_reads(t, MS(60), 300);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_ok, 1);
    script_forget_events(t);
    script_forget_sent(t);
    script_free(t);
}

/* Sends a SYN that is answered by a cookie, then, when older half-open connections may be dropped,
 * the same SYN again, which creates a half-open connection. Both answers are late. Returns the
 * offset of the cookie from the number of the second SYN-ACK. */
static int64_t cookie_and_half_open(struct script *t)
{
    uint32_t cookie;
    struct scps_stack_stats s;

    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    cookie = t->last.seq;
    script_run(t, SEC(4)); /* The other SYN-ACKs are repeated. */
    script_forget_sent(t);
    peer_says(t, SEC(4), .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    assert_int_not_equal(t->last.seq, cookie);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_out, 1);
    assert_int_equal(s.half_open_evicted, 1);
    assert_int_equal(s.half_open, 4);
    return (int32_t)(cookie - t->last.seq);
}

/* Where the round trip is longer than the peer's timer, a SYN that was answered by a cookie comes
 * again, and finds room for a half-open connection. The peer acknowledges the SYN-ACK that arrives
 * first, which is the cookie (RFC 4987 section 3.6), and its connection is not reset for the number
 * of the second one (RFC 9293 section 3.10.7.4, fifth check). */
static void a_cookie_instead_of_a_half_open_connection(void **x)
{
    struct script *t = flooded(x);
    struct scps_stack_stats s;
    int64_t cookie = cookie_and_half_open(t);

    /* Data whose predecessor was lost does not show which number the peer has taken. */
    peer_says(t, SEC(4) + MS(1), .seq = 301, .ack = cookie + 1, .len = 100);
    expect_quiet(t, SCPS_HOLD_NONE);
    peer_says(t, SEC(4) + MS(2), .seq = 1, .ack = cookie + 1, .len = 300);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    app_reads(t, SEC(4) + MS(2), 300);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_ok, 1);
    assert_int_equal(s.resets_out, 0);
    assert_int_equal(s.half_open, 3);
    assert_int_equal(s.drops[SCPS_DROP_BAD_ACK], 1);
    script_forget_events(t);
    abort_and_free(t);
}

/* An acknowledgement of neither number is answered by a reset, and the half-open connection
 * stays. */
static void neither_cookie_nor_half_open(void **x)
{
    struct script *t = flooded(x);
    struct scps_stack_stats s;
    int64_t cookie = cookie_and_half_open(t);

    peer_says(t, SEC(4) + MS(1), .seq = 1, .ack = cookie + 2);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.resets_out, 1);
    assert_int_equal(s.half_open, 4);
    assert_int_equal(s.drops[SCPS_DROP_BAD_ACK], 1);
    script_forget_sent(t);
    peer_says(t, SEC(4) + MS(2), .seq = 1, .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    expect_state(t, SCPS_ESTABLISHED);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_ok, 0);
    abort_and_free(t);
}

static void wrong_and_old_cookies(void **x)
{
    struct script *t = flooded(x);
    struct scps_stack_stats s;
    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    for (int64_t guess = 2; guess < 40; guess++) {
        peer_says(t, MS(20), .ack = guess);
        expect_sent(t, .flags = SCPS_RST, .from = guess);
    }
    peer_says(t, MS(20), .seq = 2, .ack = 1); /* The acknowledgement belongs to another SYN. */
    expect_sent(t, .flags = SCPS_RST, .from = 1);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_ok, 0);
    assert_int_equal(s.drops[SCPS_DROP_BAD_COOKIE], 39);
    script_run(t, SEC(200)); /* A cookie is valid for two units of 64 s at most. */
    script_forget_sent(t);
    peer_says(t, SEC(200), .seq = 1, .ack = 1);
    expect_sent(t, .flags = SCPS_RST, .from = 1);
    script_free(t);
}

/* A cookie is valid for one peer and port, in the unit of 64 s in which it was sent and the next.
 * The listener has just sent another one, so that it still checks cookies. */
static void a_cookie_is_for_one_flow_and_time(void **x)
{
    static const struct {
        scps_time at;
        bool good;
    } when[] = {{SEC(63), true}, {SEC(129), false}, {SEC(4 * 64 + 1), false}};
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        struct script *t = flooded(x);
        struct scps_stack_stats s;
        peer_says(t, MS(10), .flags = SCPS_SYN);
        expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
        uint32_t ack = t->last.seq + 1;
        peer_says(t, MS(20), .port = 2000, .seq = (int64_t)t->peer_isn + 1, .ack = ack);
        expect_sent(t, .port = 2000, .flags = SCPS_RST, .from = 1);
        script_run(t, when[i].at - MS(10));
        script_forget_sent(t);
        /* The places for half-open connections are free again; the test opens one more than there
         * are. */
        for (uint16_t k = 0; k < 5; k++)
            peer_says(t, when[i].at - MS(5), .port = 3000 + k, .seq = 100, .flags = SCPS_SYN);
        script_forget_sent(t);
        peer_says(t, when[i].at, .seq = 1, .ack = 1);
        scps_stack_get_stats(t->st, &s);
        expect_that(t, s.cookies_ok == when[i].good);
        expect_that(t, s.drops[SCPS_DROP_BAD_COOKIE] == 1u + !when[i].good);
        script_forget_sent(t);
        script_forget_events(t);
        script_free(t);
    }
}

/* A cookie encodes the largest MSS of a small table that is not above the peer's, so that no
 * segment is longer than the peer accepts (RFC 9293 section 3.7.1, MUST-16); the SYN-ACK announces
 * this end's own MSS as usual. */
static void a_cookie_keeps_the_mss(void **x)
{
    static const struct {
        uint16_t peer;
        uint32_t mss;
        uint16_t largest; /* The MSS that is configured; 0: that of the MTU. */
    } of[] = {{536, 536, 1000},   {535, 216, 0},   {1023, 536, 0},     {100, 48, 0},
              {1024, 1024, 8000}, {1439, 1360, 0}, {9000, 1460, 9000}, {215, 48, 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct script *t = script_of(x);
        t->stack_cfg.max_half_open = 1;
        t->cfg.mss = of[i].largest;
        t->mtu = 9000;
        t->peer.mss = of[i].peer;
        script_listen(t);
        peer_says(t, MS(1), .port = 1000, .seq = 100, .flags = SCPS_SYN);
        peer_says(t, MS(10), .flags = SCPS_SYN);
        expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
        const uint16_t here = t->last.mss; /* This MSS was announced without a cookie. */
        expect_sent(t, .flags = SCPS_SYN | SCPS_ACK);
        expect_that(t, t->last.mss == here);
        peer_says(t, MS(50), .ack = 1);
        expect_event(t, SCPS_EV_ACCEPT);
        t->c = scps_accept(t->l);
        assert_non_null(t->c);
        expect_that(t, script_info(t).snd_mss == of[i].mss);
        abort_and_free(t);
    }
}

static void without_cookies(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->stack_cfg.max_half_open = 1;
    t->stack_cfg.syn_cookies = false;
    script_listen(t);
    peer_says(t, MS(1), .port = 1000, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_quiet(t, ANY_HOLD);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_SYN_LIMIT], 1);
    script_free(t);
}

/* Connections that are established but not accepted count towards the backlog: beyond it SYNs are
 * not answered, so that the peer tries again. */
static void backlog(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->backlog = 2;
    script_listen(t);
    for (uint16_t i = 0; i < 2; i++) {
        peer_says(t, MS(1 + i), .port = 1000 + i, .seq = 100, .flags = SCPS_SYN);
        expect_sent(t, .port = 1000 + i, .flags = SCPS_SYN | SCPS_ACK);
        peer_says(t, MS(1 + i), .port = 1000 + i, .seq = 101, .ack = t->last.seq + 1, .raw = true);
    }
    peer_says(t, MS(10), .flags = SCPS_SYN);
    expect_quiet(t, ANY_HOLD);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_BACKLOG_FULL], 1);
    t->c = scps_accept(t->l);
    assert_non_null(t->c);
    peer_says(t, SEC(1), .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    script_free(t);
}

/* Three handshakes overlap, and the backlog is one: the second connection is established only when
 * the first one was accepted. Its peer has sent data meanwhile, which was dropped, and repeats it;
 * the third peer answers the repeated SYN-ACK. */
static void handshakes_beyond_the_backlog(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    uint32_t own[3];
    t->backlog = 1;
    script_listen(t);
    for (uint16_t i = 0; i < 3; i++) {
        peer_says(t, MS(1 + i), .port = 1000 + i, .seq = 100, .flags = SCPS_SYN);
        expect_sent(t, .port = 1000 + i, .flags = SCPS_SYN | SCPS_ACK);
        own[i] = t->last.seq + 1;
    }
    for (uint16_t i = 0; i < 3; i++)
        peer_says(t, MS(10), .port = 1000 + i, .seq = 101, .ack = own[i], .len = i == 1 ? 50 : 0,
                  .raw = true);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_BACKLOG_FULL], 2);
    assert_int_equal(scps_listener_pending(t->l), 1);
    struct scps_conn *first = scps_accept(t->l);
    assert_non_null(first);
    assert_null(scps_accept(t->l));
    peer_says(t, MS(500), .port = 1001, .seq = 101, .ack = own[1], .len = 50, .raw = true);
    struct scps_conn *second = scps_accept(t->l);
    assert_non_null(second);
    assert_int_equal(scps_conn_readable(second), 50);
    script_run(t, MS(900));
    script_forget_sent(t);
    script_run(t, SEC(2));
    expect_sent(t, .port = 1002, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, SEC(2), .port = 1002, .seq = 101, .ack = own[2], .raw = true);
    struct scps_conn *third = scps_accept(t->l);
    assert_non_null(third);
    scps_conn_abort(first);
    scps_conn_abort(second);
    scps_conn_abort(third);
    script_free(t);
}

/* A larger backlog is in force at once, for connections from then on. */
static void a_larger_backlog(void **x)
{
    struct script *t = script_of(x);
    t->backlog = 1;
    script_listen(t);
    peer_says(t, MS(1), .port = 1000, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, MS(1), .port = 1000, .seq = 101, .ack = t->last.seq + 1, .raw = true);
    peer_says(t, MS(10), .port = 1001, .flags = SCPS_SYN);
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(scps_listener_set(t->l, NULL, 2), 0);
    peer_says(t, SEC(1), .port = 1001, .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .port = 1001, .flags = SCPS_SYN | SCPS_ACK);
    script_free(t);
}

/* The backlog is full when the acknowledgement of a cookie arrives: it is dropped as
 * SCPS_DROP_BACKLOG_FULL, not answered with a reset, and the peer's next segment opens the
 * connection when there is room. */
static void a_cookie_arrives_at_a_full_backlog(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->stack_cfg.max_half_open = 1;
    t->backlog = 1;
    script_listen(t);
    peer_says(t, MS(1), .port = 1000, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
    uint32_t iss = t->last.seq;
    peer_says(t, MS(2), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .from = ZERO, .ack = 1);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_out, 1);
    peer_says(t, MS(3), .port = 1000, .seq = 101, .ack = iss + 1, .raw = true);
    expect_event(t, SCPS_EV_ACCEPT);
    peer_says(t, MS(4), .ack = 1);
    expect_quiet(t, ANY_HOLD);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_BACKLOG_FULL], 1);
    assert_int_equal(s.cookies_ok, 0);
    scps_conn_abort(scps_accept(t->l));
    script_run(t, MS(50));
    script_forget_sent(t);
    peer_says(t, MS(50), .ack = 1, .len = 100);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    app_reads(t, MS(50), 100);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_ok, 1);
    script_forget_sent(t);
    script_forget_events(t);
    script_free(t);
}

/* A limit applies to resets for packets that belong to no connection. */
static void resets_are_limited(void **x)
{
    struct script *t = script_of(x);
    t->stack_cfg.resets = 10;
    t->us.port = 99;
    script_start(t);
    for (uint16_t i = 0; i < 100; i++)
        peer_says(t, MS(100) + i, .port = 2000 + i, .seq = 1, .flags = SCPS_SYN);
    assert_in_range(script_forget_sent(t), 5, 10);
    for (uint16_t i = 0; i < 100; i++)
        peer_says(t, SEC(2) + i, .port = 2000 + i, .seq = 1, .flags = SCPS_SYN);
    assert_in_range(script_forget_sent(t), 5, 10);
    script_free(t);
}

/* Datagrams to ports without an endpoint use up none of the resets: after a flood of them a
 * connection request is refused at once, and the other way round. */
static void each_kind_has_a_limit(void **x)
{
    struct script *t = script_of(x);
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = t->us.addr.family,
                         .proto = SCPS_IPPROTO_UDP,
                         .ttl = 64};
    struct scps_udp u = {.sport = 5000, .dport = 99};
    struct scps_stack_stats s;
    uint8_t p[48];
    size_t hdr, len;

    t->stack_cfg.resets = 10;
    t->us.port = 99;
    script_start(t);
    hdr = scps_ip_build(p, &ip, 8);
    len = hdr + scps_udp_build(p + hdr, &ip.src, &ip.dst, &u);
    for (uint16_t i = 0; i < 100; i++)
        assert_int_equal(script_input(t, SEC(2) + i, p, len), SCPS_DROP_NO_UDP_PORT);
    assert_in_range(script_forget_sent(t), 5, 10);
    for (uint16_t i = 0; i < 100; i++)
        peer_says(t, MS(2100) + i, .port = 2000 + i, .seq = 1, .flags = SCPS_SYN);
    assert_in_range(script_forget_sent(t), 5, 10);
    assert_int_equal(script_input(t, MS(3050), p, len), SCPS_DROP_NO_UDP_PORT);
    assert_int_equal(script_forget_sent(t), 1);
    scps_stack_get_stats(t->st, &s);
    assert_in_range(s.resets_out, 5, 10);
    assert_in_range(s.icmp_out, 6, 11);
    script_free(t);
}

/* When the listener is closed, connections that wait for it are reset. */
static void closing_the_listener(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    script_listen(t);
    peer_says(t, MS(1), .port = 1000, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, MS(1), .port = 1001, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = 1001, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, MS(2), .port = 1001, .seq = 101, .ack = t->last.seq + 1, .raw = true);
    scps_listener_close(t->l);
    script_run(t, MS(3));
    assert_int_equal(script_sent_count(t), 2);
    for (int i = 0; i < 2; i++) {
        uint16_t port = i ? 1000 : 1001;
        expect_sent(t, .port = port, .flags = SCPS_RST | SCPS_ACK);
    }
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.conns, 0);
    assert_int_equal(s.listeners, 0);
    assert_int_equal(s.half_open, 0);
    script_run(t, SEC(100));
    script_free(t);
}

/* Replies (packets for no connection) take turns with connections: at most one packet in
 * SCPS_ANSWER_SHARE is a reply. */
static void replies_and_connections_take_turns(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    uint8_t room[2048];
    unsigned resets = 0, between = 0, data = 0;

    t->cfg.sndbuf = 100000;
    t->cfg.init_cwnd_segs = 60;
    script_established(t, MS(100));
    script_run(t, MS(200));
    t->nif.rate = 125000000; /* At this rate the share for replies suffices for all of them. */
    for (uint16_t i = 0; i < 100; i++) /* The segments are handed in without a call for output. */
        peer_strange(t, (uint16_t)(2000 + i));
    assert_int_equal(scps_conn_write(t->c, NULL, 60000, 0), 60000);
    for (;;) {
        struct scps_pkt out = {.data = room, .cap = sizeof room};
        if (scps_stack_output(t->st, &t->nif, scps_stack_now(t->st), &out) != 1)
            break;
        if (out.payload_len) {
            data++;
            between++;
            continue;
        }
        if (resets++ && data < 60)
            assert_true(between >= SCPS_ANSWER_SHARE - 1);
        between = 0;
    }
    assert_int_equal(data, 60);
    /* The remaining replies are sent when nothing else is waiting. */
    assert_int_equal(resets, 100);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.resets_out, 100);
    abort_and_free(t);
}

/* If the rate of the link is known, replies get their share of it and no more, whoever caused them;
 * those dropped are counted. */
static void replies_are_limited_to_their_share(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    unsigned each = t->us.addr.family == 6 ? 60 : 40;

    t->stack_cfg.resets = 100000;
    script_established(t, MS(100));
    script_run(t, MS(200));
    /* The share is ten replies a second, and as many at once as leave 240 octets to SYN-ACKs. */
    unsigned first = (each * 10 - 240) / each + 1;
    t->nif.rate = each * 10 * SCPS_ANSWER_SHARE;
    for (uint16_t i = 0; i < 100; i++)
        peer_strange(t, (uint16_t)(2000 + i));
    script_run(t, MS(201));
    assert_int_equal(script_forget_sent(t), first);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.resets_out, first);
    assert_int_equal(s.drops[SCPS_DROP_RATE_LIMITED], 100 - first);
    script_run(t, MS(702));
    for (uint16_t i = 0; i < 100; i++)
        peer_strange(t, (uint16_t)(3000 + i));
    script_run(t, MS(703));
    assert_int_equal(script_forget_sent(t), 5);
    abort_and_free(t);
}

/* While connections fill the link, few replies are sent. No more of them wait than are permitted in
 * two seconds, because nobody waits for older ones any more. */
static void old_replies_do_not_wait(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    unsigned each = t->us.addr.family == 6 ? 60 : 40;

    t->stack_cfg.resets = 100000;
    script_established(t, MS(100));
    t->nif.rate = each * 10 * SCPS_ANSWER_SHARE;
    for (int i = 0; i < 2000; i++) /* 20 s in which the stack is not asked for packets */
        peer_sends_at(
            t, scps_stack_now(t->st) + MS(10),
            &(struct scps_seg){.sport = 2000, .dport = 9, .flags = SCPS_ACK, .seq = 1, .ack = 77});
    script_run(t, SEC(22));
    scps_stack_get_stats(t->st, &s);
    assert_in_range(s.resets_out, 10, 20);
    assert_int_equal(s.drops[SCPS_DROP_RATE_LIMITED], 2000 - s.resets_out);
    script_forget_sent(t);
    abort_and_free(t);
}

/* Without a connection replies may take 7/8 of the known rate of an idle link, but no more than
 * answer_rate. */
static void replies_on_an_idle_link(void **x)
{
    for (int limited = 0; limited < 2; limited++) {
        struct script *t = script_of(x);
        unsigned each = t->us.addr.family == 6 ? 60 : 40, sent;

        t->stack_cfg.resets = 100000;
        if (limited)
            t->stack_cfg.answer_rate = each * 20;
        script_start(t);
        t->nif.rate = each * 80; /* seventy replies a second; 240 octets are left to SYN-ACKs */
        for (uint16_t i = 0; i < 100; i++)
            peer_strange(t, (uint16_t)(2000 + i));
        script_run(t, MS(1));
        sent = script_forget_sent(t);
        assert_int_equal(sent, (each * (limited ? 20 : 70) - 240) / each + 1);
        script_free(t);
    }
}

/* Returns how many replies 100 segments of no connection cause at time `at`. */
static unsigned strange_replies(struct script *t, scps_time at)
{
    script_run(t, at);
    script_forget_sent(t);
    for (uint16_t k = 0; k < 100; k++)
        peer_strange(t, (uint16_t)(2000 + k));
    script_run(t, at + 1);
    return script_forget_sent(t);
}

/* A connection in TIME-WAIT sends nothing that replies could hinder. */
static void answers_beside_time_wait(void **x)
{
    struct script *t = script_of(x);

    t->stack_cfg.resets = 100000;
    t->cfg.time_wait = SEC(20);
    script_established(t, MS(100));
    assert_in_range(strange_replies(t, SEC(1)), 1, 24);
    scps_conn_close(t->c);
    script_run(t, SEC(2));
    script_forget_sent(t);
    peer_says(t, SEC(2), .ack = 2, .flags = SCPS_FIN | SCPS_ACK);
    expect_state(t, SCPS_TIME_WAIT);
    peer_strange(t, 1999); /* The token bucket gets the higher rate, which fills it. */
    assert_int_equal(strange_replies(t, SEC(3)), 100);
    script_forget_events(t);
    t->c = NULL;
    assert_int_equal(strange_replies(t, SEC(30)), 100);
    script_free(t);
}

/* If the rate of the link is not known, few replies are sent while there is a connection. */
static void answers_beside_a_connection(void **x)
{
    struct script *t = script_of(x);
    unsigned each = t->us.addr.family == 6 ? 60 : 40;

    t->stack_cfg.resets = 100000;
    script_established(t, MS(100));
    for (uint16_t i = 0; i < 100; i++)
        peer_strange(t, (uint16_t)(2000 + i));
    script_run(t, MS(200));
    /* A second's share, of which 240 octets are left to SYN-ACKs. */
    assert_int_equal(script_forget_sent(t), (SCPS_ANSWER_FLOOR - 240) / each + 1);
    scps_conn_abort(t->c);
    t->c = NULL;
    script_run(t, SEC(99));
    peer_strange(t, 1999); /* From here on the share for replies grows. */
    script_run(t, SEC(100));
    script_forget_sent(t);
    for (uint16_t i = 0; i < 100; i++)
        peer_strange(t, (uint16_t)(3000 + i));
    script_run(t, SEC(101));
    assert_int_equal(script_forget_sent(t), 100);
    script_free(t);
}

/* Anybody can cause SYN-ACKs, so they are no reason to answer fewer SYNs: 50 SYNs a second from
 * forged addresses are all answered, the SYN of a client after them with all options. */
static void a_syn_flood_does_not_shut_the_listener(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->cfg.bets = true;
    t->peer.caps = SCPS_CAP_BETS;
    script_listen(t);
    for (unsigned i = 0; i < 3000; i++) {
        peer_says(t, SEC(1) + (int)i * MS(20), .port = (uint16_t)(2000 + i), .seq = 100,
                  .flags = SCPS_SYN);
        script_forget_sent(t);
    }
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_RATE_LIMITED], 0);
    assert_int_equal(s.cookies_out, 0);
    peer_says(t, SEC(62), .flags = SCPS_SYN);
    script_forget_sent(t);
    peer_says(t, SEC(62) + MS(50), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    assert_int_equal(script_info(t).caps, SCPS_CAP_BETS);
    abort_and_free(t);
}

/* Accepts a connection, t->c, so that the link is not idle. */
static void one_client(struct script *t)
{
    peer_says(t, script_now(t), .port = 1000, .seq = 0, .flags = SCPS_SYN);
    expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, script_now(t), .port = 1000, .seq = 1, .ack = t->last.seq + 1, .raw = true);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    assert_non_null(t->c);
}

/* The SYN-ACKs of half-open connections, the first ones and the repeated ones, take no more than
 * the share of replies, 1/16 of the device's rate. */
static void syn_acks_are_limited_to_the_share(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    unsigned sent = 0;
    script_listen(t);
    one_client(t);
    t->nif.rate = 300;
    for (unsigned i = 0; i < 1000; i++) {
        peer_says(t, SEC(1) + (int)i * MS(10), .port = (uint16_t)(2000 + i), .seq = 100,
                  .flags = SCPS_SYN);
        sent += script_forget_sent(t);
    }
    scps_stack_get_stats(t->st, &s);
    /* Of 80 bytes each: two at once, and those of 10 s. */
    assert_in_range(sent, 3, 2 + 300 / SCPS_ANSWER_SHARE * 10 / 80 + 1);
    assert_int_equal(s.half_open, sent);
    assert_in_range(s.drops[SCPS_DROP_RATE_LIMITED], 1000 - sent, 1010);
    script_run(t, SEC(51));
    sent += script_forget_sent(t);
    assert_in_range(sent, 7, 2 + 300 / SCPS_ANSWER_SHARE * 50 / 80 + 1);
    abort_and_free(t);
}

/* Clients that complete the handshake are no strangers: however many connect one after the other on
 * a thin link, their SYN-ACKs do not use up the share of replies. */
static void handshakes_are_not_charged(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->backlog = 100;
    script_listen(t);
    t->nif.rate = 300;
    for (uint16_t i = 0; i < 40; i++) {
        peer_says(t, MS(10) * i, .port = 2000 + i, .seq = 100, .flags = SCPS_SYN);
        expect_sent(t, .port = 2000 + i, .flags = SCPS_SYN | SCPS_ACK);
        peer_says(t, MS(10) * i + MS(5), .port = 2000 + i, .seq = 101, .ack = t->last.seq + 1,
                  .raw = true);
    }
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 0);
    assert_int_equal(s.drops[SCPS_DROP_RATE_LIMITED], 0);
    script_forget_events(t);
    scps_listener_close(t->l);
    t->l = NULL;
    script_free(t);
}

/* Forged SYNs leave places to other connections of a stack that has few: half of max_conns for
 * half-open ones. Where connections take the rest, a half-open one gives way to a connection that
 * the application opens, and to one whose peer has acknowledged a SYN cookie. */
static void half_open_connections_give_way(void **x)
{
    struct script *t = script_of(x);
    struct scps_conn *c[8];
    struct scps_stack_stats s;
    int err;

    t->stack_cfg.max_conns = 8;
    script_listen(t);
    for (uint16_t i = 0; i < 20; i++)
        peer_says(t, MS(1), .port = 2000 + i, .seq = 100, .flags = SCPS_SYN);
    script_forget_sent(t);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 4);
    assert_int_equal(s.cookies_out, 16);
    for (int i = 0; i < 6; i++)
        assert_non_null(c[i] = scps_connect(t->st, &t->cfg, NULL, &t->them, &err));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 2);
    script_run(t, MS(2));
    script_forget_sent(t);
    peer_says(t, MS(3), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(4), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    assert_non_null(t->c);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_ok, 1);
    assert_int_equal(s.half_open, 1);
    assert_int_equal(s.half_open_evicted, 3);
    assert_non_null(c[6] = scps_connect(t->st, &t->cfg, NULL, &t->them, &err));
    assert_null(scps_connect(t->st, &t->cfg, NULL, &t->them, &err));
    assert_int_equal(err, SCPS_ERR_LIMIT);
    for (int i = 0; i < 7; i++)
        scps_conn_abort(c[i]);
    script_forget_events(t);
    script_forget_sent(t);
    script_free(t);
}

/* The acknowledgement of a SYN cookie for which max_conns leaves no connection is dropped under
 * that name, without a reset, because the peer's data may find a place later. */
static void a_cookie_for_a_full_stack(void **x)
{
    struct script *t = script_of(x);
    struct scps_conn *other;
    struct scps_stack_stats s;
    uint32_t isn;
    int err;

    t->stack_cfg.max_half_open = 0;
    t->stack_cfg.max_conns = 1;
    script_listen(t);
    peer_says(t, MS(1), .port = 1000, .seq = 0, .flags = SCPS_SYN);
    expect_sent(t, .port = 1000, .flags = SCPS_SYN | SCPS_ACK);
    isn = t->last.seq;
    assert_non_null(other = scps_connect(t->st, &t->cfg, NULL, &t->them, &err));
    script_run(t, MS(2));
    script_forget_sent(t);
    peer_says(t, MS(2), .port = 1000, .seq = 1, .ack = isn + 1, .raw = true);
    assert_int_equal(script_forget_sent(t), 0);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_MAX_CONNS], 1);
    scps_conn_abort(other);
    script_forget_events(t);
    script_forget_sent(t);
    peer_says(t, MS(3), .port = 1000, .seq = 1, .ack = isn + 1, .raw = true);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    assert_non_null(t->c);
    abort_and_free(t);
}

/* The limit for the half-open connections of all listeners together: those of a listener that is
 * flooded are dropped for a SYN to another one. */
static void a_flooded_listener_gives_way_to_another(void **x)
{
    struct script *t = script_of(x);
    struct scps_endpoint at;
    struct scps_listener *l;
    struct scps_stack_stats s;
    int err;

    t->stack_cfg.max_conns = 8;
    script_listen(t);
    at = (struct scps_endpoint){.port = 99};
    assert_non_null(l = scps_listen(t->st, &t->cfg, &at, 8, &err));
    for (uint16_t i = 0; i < 4; i++)
        peer_says(t, MS(1), .port = 2000 + i, .seq = 100, .flags = SCPS_SYN);
    script_run(t, MS(3000)); /* they are not 3 s old */
    peer_sends(t, &(struct scps_seg){.sport = 1, .dport = 99, .flags = SCPS_SYN, .wnd = 1000});
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_out, 1);
    script_run(t, MS(3001));
    peer_sends(t, &(struct scps_seg){.sport = 2, .dport = 99, .flags = SCPS_SYN, .wnd = 1000});
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_out, 1);
    assert_int_equal(s.half_open_evicted, 1);
    assert_int_equal(s.half_open, 4);
    scps_listener_close(l);
    script_forget_sent(t);
    script_free(t);
}

/* Resets leave as many octets of the share as a half-open connection needs, so that a flood of
 * segments without a connection does not keep SYN-ACKs from being sent. */
static void resets_leave_room_for_syn_acks(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;

    t->stack_cfg.resets = 100000;
    t->stack_cfg.max_half_open = 4;
    script_listen(t);
    one_client(t);
    t->nif.rate = 1000 * SCPS_ANSWER_SHARE;
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 2; k++)
            peer_strange(t, (uint16_t)(2000 + i));
        if (i % 100 == 99)
            peer_says(t, MS(10) * i, .port = (uint16_t)(4000 + i), .seq = 100, .flags = SCPS_SYN);
        script_run(t, MS(10) * i + MS(1));
    }
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open + s.half_open_evicted + s.cookies_out, 10);
    abort_and_free(t);
}

/* When all half-open connections are in use, a SYN costs the share of replies a SYN cookie, and no
 * half-open connection that it does not get. */
static void a_full_listener_spends_on_cookies_only(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    t->stack_cfg.max_half_open = 4;
    script_listen(t);
    one_client(t);
    t->nif.rate = 8000 * SCPS_ANSWER_SHARE;
    for (uint16_t i = 0; i < 104; i++)
        peer_says(t, MS(1), .port = 2000 + i, .seq = 100, .flags = SCPS_SYN);
    assert_int_equal(script_forget_sent(t), 104);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 4);
    assert_int_equal(s.cookies_out, 100);
    abort_and_free(t);
}

/* An acknowledgement of a SYN cookie may be sent many times, so the share of replies gets nothing
 * back for it. */
static void cookies_are_charged(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s, before;
    t->stack_cfg.max_half_open = 0;
    script_listen(t);
    one_client(t);
    scps_stack_get_stats(t->st, &before);
    t->nif.rate = 300;
    for (int i = 0; i < 10; i++) {
        peer_says(t, MS(10) * i, .port = (uint16_t)(2000 + i), .seq = 100, .flags = SCPS_SYN);
        if (!script_sent_count(t))
            continue;
        expect_sent(t, .port = (uint16_t)(2000 + i), .flags = SCPS_SYN | SCPS_ACK);
        peer_says(t, MS(10) * i + MS(5), .port = (uint16_t)(2000 + i), .seq = 101,
                  .ack = t->last.seq + 1, .raw = true);
    }
    scps_stack_get_stats(t->st, &s);
    /* The bucket holds 128 bytes. A cookie costs 44 or 64 of them, but needs 80, so that clients
     * with long options have the same chance as others. */
    s.cookies_ok -= before.cookies_ok;
    assert_int_equal(s.cookies_ok, t->us.addr.family == 6 ? 1 : 2);
    assert_int_equal(s.cookies_out - before.cookies_out, s.cookies_ok);
    assert_int_equal(s.drops[SCPS_DROP_RATE_LIMITED], 10 - s.cookies_ok);
    script_forget_events(t);
    scps_listener_close(t->l);
    t->l = NULL;
    abort_and_free(t);
}

/* A connection that has sent nothing for a minute has nothing to lose by many replies. */
static void answers_beside_a_silent_connection(void **x)
{
    static const struct {
        scps_time at;
        bool all;
    } when[] = {{SEC(60), false}, {SEC(70), true}};
    unsigned each, sent;
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        struct script *t = script_of(x);
        each = t->us.addr.family == 6 ? 60 : 40;
        t->stack_cfg.resets = 100000;
        script_established(t, MS(100));
        script_run(t, SEC(2));
        peer_strange(t, 1998); /* The rate at which the connection sends is measured. */
        script_run(t, when[i].at - SEC(1));
        peer_strange(t, 1999);
        script_run(t, when[i].at);
        script_forget_sent(t);
        for (uint16_t k = 0; k < 100; k++)
            peer_strange(t, (uint16_t)(2000 + k));
        script_run(t, when[i].at + 1);
        sent = script_forget_sent(t);
        assert_true(when[i].all ? sent == 100 : sent <= SCPS_ANSWER_FLOOR / each + 1);
        abort_and_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(a_valid_cookie_opens_a_connection),
        SCRIPT_TEST(options_survive_in_timestamps),
        SCRIPT_TEST(data_with_the_cookie),
        SCRIPT_TEST(data_before_the_cookie),
        SCRIPT_TEST(a_cookie_instead_of_a_half_open_connection),
        SCRIPT_TEST(neither_cookie_nor_half_open),
        SCRIPT_TEST(wrong_and_old_cookies),
        SCRIPT_TEST(a_cookie_is_for_one_flow_and_time),
        SCRIPT_TEST(a_cookie_keeps_the_mss),
        SCRIPT_TEST(without_cookies),
        SCRIPT_TEST(backlog),
        SCRIPT_TEST(handshakes_beyond_the_backlog),
        SCRIPT_TEST(a_larger_backlog),
        SCRIPT_TEST(a_cookie_arrives_at_a_full_backlog),
        SCRIPT_TEST(resets_are_limited),
        SCRIPT_TEST(each_kind_has_a_limit),
        SCRIPT_TEST(closing_the_listener),
        SCRIPT_TEST(capabilities_survive_with_timestamps),
        SCRIPT_TEST(capabilities_survive_without_timestamps),
        SCRIPT_TEST(lost_options_appear_in_scps_info),
        SCRIPT_TEST(a_slow_syn_flood_holds_no_places),
        SCRIPT_TEST(the_more_places_are_taken_the_shorter_they_are_kept),
        SCRIPT_TEST(replies_and_connections_take_turns),
        SCRIPT_TEST(replies_are_limited_to_their_share),
        SCRIPT_TEST(old_replies_do_not_wait),
        SCRIPT_TEST(replies_on_an_idle_link),
        SCRIPT_TEST(answers_beside_time_wait),
        SCRIPT_TEST(answers_beside_a_connection),
        SCRIPT_TEST(a_syn_flood_does_not_shut_the_listener),
        SCRIPT_TEST(syn_acks_are_limited_to_the_share),
        SCRIPT_TEST(handshakes_are_not_charged),
        SCRIPT_TEST(a_full_listener_spends_on_cookies_only),
        SCRIPT_TEST(half_open_connections_give_way),
        SCRIPT_TEST(a_cookie_for_a_full_stack),
        SCRIPT_TEST(a_flooded_listener_gives_way_to_another),
        SCRIPT_TEST(resets_leave_room_for_syn_acks),
        SCRIPT_TEST(cookies_are_charged),
        SCRIPT_TEST(answers_beside_a_silent_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
