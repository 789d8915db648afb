/* SPDX-License-Identifier: MIT */
/* SCPS capabilities (option 20): they are offered, answered, left out for peers that do not answer
 * them, and ignored outside SYNs; and which features are in force, or why they are not
 * (docs/SCPS-TP.md sections 1.1 to 1.4 and 9). */
#include "script.h"

#include <string.h>

#include "base/bytes.h"

static enum scps_why why(const struct script *t, enum scps_feature f)
{
    return (enum scps_why)script_info(t).why[f];
}

static struct script *with_snack(void **x)
{
    struct script *t = script_of(x);

    t->cfg.snack = true;
    t->peer.caps = SCPS_CAP_SNACK1;
    return t;
}

/* docs/SCPS-TP.md section 1.2: the SYN-ACK carries the capabilities of the passive end, not those
 * that both ends have; features that both ends offered are in force. */
static void agreement(void **x)
{
    struct script *t = with_snack(x);

    t->cfg.snack_long = true;
    t->peer.caps = SCPS_CAP_SNACK1 | SCPS_CAP_BETS | 0x07; /* Reserved bits are ignored. */
    script_listen(t);
    peer_says(t, 0, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS);
    assert_int_equal(t->last.caps, SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2);
    peer_says(t, MS(100), .ack = 1);
    t->c = scps_accept(t->l);
    assert_int_equal(script_info(t).caps, SCPS_CAP_SNACK1);
    assert_int_equal(why(t, SCPS_FEATURE_CAPABILITIES), SCPS_WHY_IN_FORCE);
    assert_int_equal(why(t, SCPS_FEATURE_SNACK), SCPS_WHY_IN_FORCE);
    assert_int_equal(why(t, SCPS_FEATURE_SNACK_LONG), SCPS_WHY_NOT_OFFERED);
    assert_int_equal(why(t, SCPS_FEATURE_COMPRESSION), SCPS_WHY_NOT_CONFIGURED);
    assert_int_equal(why(t, SCPS_FEATURE_SACK), SCPS_WHY_IN_FORCE);
    assert_int_equal(why(t, SCPS_FEATURE_TIMESTAMPS), SCPS_WHY_NOT_CONFIGURED);
    script_forget_events(t);
    script_free(t);
}

/* A peer without SCPS gets plain TCP: no option of SCPS in the SYN-ACK. */
static void plain_peer(void **x)
{
    struct script *t = with_snack(x);

    t->peer.caps = 0;
    t->cfg.compress = true;
    t->cfg.ecn = true;
    script_accepted(t, MS(100));
    assert_int_equal(script_info(t).caps, 0);
    assert_int_equal(why(t, SCPS_FEATURE_SNACK), SCPS_WHY_NO_CAPABILITIES);
    assert_int_equal(why(t, SCPS_FEATURE_COMPRESSION), SCPS_WHY_NO_CAPABILITIES);
    assert_int_equal(why(t, SCPS_FEATURE_ECN), SCPS_WHY_NOT_OFFERED);
    peer_says(t, MS(200), .seq = 1001, .len = 1000);
    expect_sent(t, .ack = 1, .no_snack = true);
    script_free(t);
}

/* docs/SCPS-TP.md section 1.4: three SYNs with the option are sent, then one without it. A peer
 * that answers the latter twice in a row is remembered as one without SCPS. */
static void fallback(void **x)
{
    struct script *t = with_snack(x);

    t->cfg.ecn = true;
    t->stack_cfg.plain_memory = SEC(300);
    t->peer.caps = 0;
    for (unsigned k = 0; k < 2; k++) {
        scps_time at = SEC(20) * k;
        t->us.port = 0;
        t->them.port += k;
        script_connect(t, at);
        for (int i = 0; i < 3; i++)
            expect_sent(t, .flags = SCPS_SYN | (i ? 0 : SCPS_ECE | SCPS_CWR), .has = SCPS_HAS_CAPS,
                        .at = at + SEC((1 << i) - 1));
        assert_int_equal(why(t, SCPS_FEATURE_SNACK), SCPS_WHY_NOT_YET);
        expect_sent(t, .flags = SCPS_SYN, .hasnt = SCPS_HAS_CAPS, .at = at + SEC(7));
        peer_says(t, at + SEC(7) + MS(100), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
        expect_sent(t, .from = 1, .ack = 1);
        assert_int_equal(why(t, SCPS_FEATURE_SNACK), SCPS_WHY_FELL_BACK);
        assert_int_equal(why(t, SCPS_FEATURE_ECN), SCPS_WHY_FELL_BACK);
        scps_conn_abort(t->c);
        expect_sent(t, .flags = SCPS_RST | SCPS_ACK, .any_len = true);
        script_run(t, at + SEC(8));
        script_forget_sent(t);
    }

    /* In the first run the stack remembers that the peer is a plain TCP, in the second it has no
     * such entry any more. */
    for (int k = 0; k < 2; k++) {
        struct scps_endpoint to = t->them;
        script_run(t, k ? SEC(400) : SEC(30));
        to.port = (uint16_t)(7000 + k);
        t->c = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
        assert_non_null(t->c);
        script_run(t, script_now(t));
        expect_sent(t, .port = to.port, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
        assert_int_equal(!!(t->last.has & SCPS_HAS_CAPS), k);
        scps_conn_abort(t->c);
    }
    t->c = NULL;
    script_free(t);
}

/* Ends the connection, opens another one to the same host, and expects that its SYN offers the
 * capabilities; then frees t. */
static void the_next_one_offers_them(struct script *t)
{
    scps_conn_abort(t->c);
    expect_sent(t, .flags = SCPS_RST | SCPS_ACK, .any_len = true);
    t->us.port = 0;
    t->them.port++;
    script_connect(t, script_now(t));
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    scps_conn_abort(t->c);
    t->c = NULL;
    script_free(t);
}

/* The link is down when a connection is opened, and up again after so many timeouts. The connection
 * has no capabilities, because a SYN without them was answered; the next one has. */
static void silence_is_no_refusal(void **x)
{
    for (unsigned lost = 3; lost < 6; lost++) {
        struct script *t = with_snack(x);
        t->peer.caps = 0;
        script_connect(t, 0);
        for (unsigned i = 0; i <= lost; i++)
            expect_sent(t, .flags = SCPS_SYN, .at = SEC((1 << i) - 1));
        peer_says(t, SEC((1 << lost) - 1) + MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
        expect_sent(t, .from = 1, .ack = 1);
        assert_int_equal(why(t, SCPS_FEATURE_SNACK), SCPS_WHY_FELL_BACK);
        the_next_one_offers_them(t);
    }
}

/* SYNs are lost, the one without the option as well, since the link is down, which its driver
 * signals too late. The SYN after the outage is answered. That is no refusal either. */
static void an_outage_is_no_refusal(void **x)
{
    struct script *t = with_snack(x);
    struct scps_signal s = {.kind = SCPS_SIGNAL_LINK_DOWN, .until = SCPS_NEVER};

    t->peer.caps = 0;
    script_connect(t, 0);
    for (unsigned i = 0; i < 4; i++)
        expect_sent(t, .flags = SCPS_SYN, .at = SEC((1 << i) - 1));
    script_run(t, SEC(8));
    scps_stack_signal(t->st, scps_stack_now(t->st), &s);
    script_run(t, SEC(9));
    script_forget_sent(t);
    s.kind = SCPS_SIGNAL_LINK_UP;
    scps_stack_signal(t->st, scps_stack_now(t->st), &s);
    expect_sent(t, .flags = SCPS_SYN, .at = SEC(9), .hasnt = SCPS_HAS_CAPS);
    peer_says(t, SEC(9) + MS(600), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_event(t, SCPS_EV_CONNECTED);
    script_forget_sent(t);
    the_next_one_offers_them(t);
}

/* A reset may be caused by the option: one SYN without it is sent, with another initial sequence
 * number, before the connection counts as refused. */
static void reset_for_the_option(void **x)
{
    for (int deaf = 0; deaf < 3; deaf++) {
        struct script *t = with_snack(x);
        uint32_t first;

        t->peer.caps = 0;
        if (deaf == 2)
            t->cfg.caps_tries = 0;
        script_connect(t, 0);
        expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
        first = t->last.seq;
        peer_says(t, MS(100), .raw = true, .flags = SCPS_RST | SCPS_ACK, .ack = first + 1);
        if (deaf < 2) {
            expect_sent(t, .at = MS(100), .flags = SCPS_SYN, .hasnt = SCPS_HAS_CAPS);
            assert_int_equal(t->last.seq, first + 65536);
            /* The reset acknowledges the first SYN and not the one sent last, so it is ignored. */
            peer_says(t, MS(101), .raw = true, .flags = SCPS_RST | SCPS_ACK, .ack = first + 1);
            expect_state(t, SCPS_SYN_SENT);
        }
        if (deaf == 0) {
            peer_says(t, MS(200), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
            expect_sent(t, .from = 1, .ack = 1);
            assert_int_equal(why(t, SCPS_FEATURE_SNACK), SCPS_WHY_FELL_BACK);
            scps_conn_abort(t->c); /* The peer is remembered as one without SCPS. */
            expect_sent(t, .flags = SCPS_RST | SCPS_ACK, .any_len = true);
            t->c = scps_connect(t->st, &t->cfg, NULL, &t->them, NULL);
            script_run(t, script_now(t));
            expect_sent(t, .flags = SCPS_SYN, .hasnt = SCPS_HAS_CAPS, .port = t->them.port);
            scps_conn_abort(t->c);
            t->c = NULL;
        } else {
            if (deaf == 1)
                peer_says(t, MS(200), .seq = ZERO, .flags = SCPS_RST | SCPS_ACK, .ack = 1);
            expect_error(t, SCPS_ERR_REFUSED);
            expect_state(t, SCPS_CLOSED);
            expect_quiet(t, ANY_HOLD);
        }
        script_free(t);
    }
}

/* The cache of peers without SCPS has plain_hosts entries; with caps_tries 0 the option is never
 * left out. */
static void memory_is_bounded(void **x)
{
    struct script *t = with_snack(x);

    size_t last = t->us.addr.family == 4 ? 3 : 15;
    t->stack_cfg.plain_hosts = 1;
    t->peer.caps = 0;
    t->cfg.caps_tries = 1;
    script_start(t);
    /* Two destinations take turns, and each displaces the other from the cache. */
    for (int k = 0; k < 4; k++) {
        scps_time at = script_now(t);
        t->them.addr.b[last] = (uint8_t)(k & 1 ? 77 : 2);
        t->us.port = 0;
        t->them.port++;
        script_connect(t, at);
        expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
        expect_sent(t, .flags = SCPS_SYN, .hasnt = SCPS_HAS_CAPS, .at = at + SEC(1));
        peer_says(t, at + SEC(1), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
        expect_sent(t, .from = 1, .ack = 1);
        scps_conn_abort(t->c);
        script_run(t, at + SEC(2));
        script_forget_sent(t);
    }
    t->cfg.caps_tries = 0;
    t->us.port = 0;
    t->them.addr.b[last] = 88;
    script_connect(t, script_now(t));
    for (int i = 0; i < 6; i++)
        expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS, .at = script_now(t),
                    .slack = SEC(40));
    scps_conn_abort(t->c);
    t->c = NULL;
    script_free(t);
}

/* If a late SYN-ACK answers a SYN that carried the option, the option is in force; the SYN without
 * it had no effect. */
static void a_late_answer(void **x)
{
    struct script *t = with_snack(x);

    t->cfg.caps_tries = 1;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    expect_sent(t, .flags = SCPS_SYN, .hasnt = SCPS_HAS_CAPS, .at = SEC(1));
    peer_says(t, SEC(2) - MS(1), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .ack = 1);
    assert_int_equal(why(t, SCPS_FEATURE_SNACK), SCPS_WHY_IN_FORCE);
    script_forget_events(t);
    struct scps_endpoint to = t->them;
    to.port = 7000;
    struct scps_conn *c = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
    script_run(t, script_now(t));
    /* The peer was not stored in the cache. */
    expect_sent(t, .port = 7000, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    scps_conn_abort(c);
    script_free(t);
}

/* Hands in a segment with these options, valid or not; seq and ack are absolute sequence
 * numbers. */
static int raw(struct script *t, scps_time at, uint16_t port, uint32_t seq, uint32_t ack,
               uint8_t flags, const uint8_t *opt, size_t nopt)
{
    uint8_t pkt[120] = {0};
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = t->us.addr.family,
                         .proto = SCPS_IPPROTO_TCP,
                         .ttl = 64};
    size_t h = scps_ip_build(pkt, &ip, 20 + nopt);
    uint8_t *p = pkt + h;

    scps_put16(p, port);
    scps_put16(p + 2, t->us.port);
    scps_put32(p + 4, seq);
    scps_put32(p + 8, ack);
    p[12] = (uint8_t)((20 + nopt) / 4 << 4);
    p[13] = flags;
    scps_put16(p + 14, 30000);
    memcpy(p + 20, opt, nopt);
    scps_put16(p + 16, scps_tcp_checksum(&ip.src, &ip.dst, p, 20 + nopt, NULL, 0));
    return script_input(t, at, pkt, h + 20 + nopt);
}

/* docs/SCPS-TP.md section 1.4: each of the SCPS options with every length from 0 to 40 at every
 * place of a SYN. None ends a connection, and none has an effect, except kind 20 with length 4. */
static void malformed_in_a_syn(void **x)
{
    struct script *t = with_snack(x);
    uint32_t n = 0;

    t->us.port = 80;
    t->cfg.snack_long = true;
    script_listen(t);
    for (uint8_t kind = 20; kind <= 23; kind++) {
        for (size_t place = 0; place < 40; place++) {
            for (unsigned len = 0; len <= 40; len++, n++) {
                uint8_t opt[40];
                uint16_t port = (uint16_t)(1024 + n);
                memset(opt, 1, sizeof opt);
                opt[place] = kind;
                if (place < 39)
                    opt[place + 1] = (uint8_t)len;
                if (kind == 20 && len == 4 && place <= 36)
                    opt[place + 2] = SCPS_CAP_SNACK1;
                assert_int_equal(raw(t, MS(n), port, 1000, 0, SCPS_SYN, opt, 40), 0);
                expect_sent(t, .port = port, .flags = SCPS_SYN | SCPS_ACK);
                bool good = kind == 20 && len == 4 && place <= 36;
                assert_int_equal(!!(t->last.has & SCPS_HAS_CAPS), good);
                raw(t, MS(n), port, 1001, 0, SCPS_RST, opt, 0);
            }
        }
    }
    script_free(t);
}

/* SCPS options of every length and place in a segment of an established connection: capabilities
 * after the SYN are ignored, options with wrong lengths are skipped, and the connection
 * continues. */
static void malformed_later(void **x)
{
    struct script *t = with_snack(x);
    unsigned n = 0;

    t->peer.caps = 0;
    script_accepted(t, MS(100));
    uint32_t ack = t->last.seq + 1;
    for (uint8_t kind = 20; kind <= 23; kind++) {
        for (size_t place = 0; place < 40; place++) {
            for (unsigned len = 0; len <= 40; len++, n++) {
                uint8_t opt[40];
                memset(opt, 1, sizeof opt);
                opt[place] = kind;
                if (place < 39)
                    opt[place + 1] = (uint8_t)len;
                if (place < 38)
                    /* If this were taken for capabilities it would offer all of them. */
                    opt[place + 2] = 0xff;
                assert_int_equal(
                    raw(t, MS(200 + n), t->them.port, t->peer_isn + 1, ack, SCPS_ACK, opt, 40), 0);
            }
        }
    }
    assert_int_equal(script_info(t).caps, 0);
    /* SNACK was not agreed, so the option is ignored. */
    assert_int_equal(script_info(t).snacks_in, 0);
    peer_says(t, SEC(20), .len = 500);
    app_reads(t, SEC(20), 500);
    expect_sent(t, .ack = 501, .at = SEC(20), .slack = MS(200));
    script_free(t);
}

/* A peer whose second SYN differs from its first: the options of the first SYN are in force, in
 * either direction. */
static void a_second_syn_with_other_options(void **x)
{
    struct script *t = with_snack(x);

    script_listen(t);
    peer_says(t, 0, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS);
    t->peer.caps = 0;
    /* The peer sends its SYN again, without the option. */
    peer_says(t, MS(10), .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS);
    peer_says(t, MS(100), .ack = 1);
    t->c = scps_accept(t->l);
    script_forget_events(t);
    assert_int_equal(script_info(t).caps, SCPS_CAP_SNACK1);
    script_free(t);

    t = with_snack(x);
    t->peer.caps = 0;
    script_established(t, MS(100));
    t->peer.caps = SCPS_CAP_SNACK1;
    /* RFC 5961 section 4.2: the SYN is answered with a challenge ACK. */
    peer_says(t, MS(200), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .ack = 1);
    assert_int_equal(script_info(t).caps, 0);
    script_free(t);
}

/* Each option can be switched off: then it is neither offered nor accepted. */
static void suppressed(void **x)
{
    for (unsigned without = 0; without < 5; without++) {
        struct script *t = with_snack(x);
        static const uint16_t has[] = {SCPS_HAS_CAPS, SCPS_HAS_SACK_OK, SCPS_HAS_TS,
                                       SCPS_HAS_WSCALE, 0};
        t->peer.ts = true;
        t->peer.wscale = 2;
        t->cfg.snack = without != 0;
        t->cfg.snack_long = true; /* The long form alone is no capability. */
        t->cfg.sack = without != 1;
        t->cfg.timestamps = without != 2;
        t->cfg.wscale = without != 3;
        script_listen(t);
        peer_says(t, 0, .flags = SCPS_SYN);
        expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .hasnt = has[without],
                    .has = (SCPS_HAS_CAPS | SCPS_HAS_SACK_OK | SCPS_HAS_TS | SCPS_HAS_WSCALE) &
                           ~has[without]);
        peer_says(t, MS(100), .ack = 1);
        script_forget_events(t);
        script_free(t);
    }
}

/* docs/SCPS-TP.md section 1.5: the options of the SYN equal those of the reference implementation,
 * octet for octet, except for SACK, which that does not have. */
static void golden_syn(void **x)
{
    struct script *t = script_of(x);
    struct scps_seg s;
    uint8_t p[60];

    t->cfg.snack = t->cfg.timestamps = t->cfg.wscale = t->cfg.compress = true;
    t->cfg.sack = false;
    t->cfg.mss = 1432;
    t->cfg.rcvbuf = 65535;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN);
    s = t->last;
    assert_int_equal(scps_tcp_build(p, &s), 44);
    assert_memory_equal(p + 20, "\x14\x04\x50", 3);
    assert_int_equal(p[23], s.conn_id);
    assert_memory_equal(p + 24, "\x02\x04\x05\x98\x01\x03\x03\x00\x01\x01\x08\x0a", 12);
    assert_memory_equal(p + 40, "\0\0\0\0", 4);
    scps_conn_abort(t->c);
    t->c = NULL;
    script_free(t);
}

/* docs/SCPS-TP.md section 1.3: binding spaces are offered behind option 20; the answer contains
 * those that both ends have, in either direction. */
static void bindings(void **x)
{
    static const uint8_t asked[] = {20,  4,    0, 0, 20, 14,   9, 0x10, 0xff, 0x3c,
                                    200, 0x10, 1, 2, 4,  0x1c, 1, 1,    1,    1};
    struct script *t = script_of(x);

    t->cfg.binding[0] = (struct scps_binding){.id = 9, .len = 2, .data = {0x0f, 0xff}};
    t->cfg.binding[1] = (struct scps_binding){.id = 4, .len = 1, .data = {0x81}};
    t->us.port = 80;
    script_listen(t);
    raw(t, 0, t->them.port, t->peer_isn, 0, SCPS_SYN, asked, sizeof asked);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS | SCPS_HAS_XCAPS);
    assert_int_equal(t->last.xcaps_len, 8);
    assert_memory_equal(t->last.xcaps, "\x09\x10\x0f\x3c\x04\x10\x01\x00", 8);
    raw(t, MS(100), t->them.port, t->peer_isn + 1, t->last.seq + 1, SCPS_ACK, asked, 0);
    t->c = scps_accept(t->l);
    script_forget_events(t);
    struct scps_info i = script_info(t);
    assert_int_equal(i.binding[0].id, 9);
    assert_memory_equal(i.binding[0].data, "\x0f\x3c", 2);
    assert_int_equal(i.binding[1].len, 1);
    script_free(t);

    t = script_of(x);
    t->cfg.binding[0] = (struct scps_binding){.id = 9, .len = 2, .data = {0x0f, 0xff}};
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS | SCPS_HAS_XCAPS);
    assert_int_equal(t->last.caps, 0);
    assert_memory_equal(t->last.xcaps, "\x09\x10\x0f\xff", 4);
    raw(t, MS(100), t->them.port, t->peer_isn, t->last.seq + 1, SCPS_SYN | SCPS_ACK, asked,
        sizeof asked);
    expect_sent(t, .from = 1);
    script_forget_events(t);
    assert_memory_equal(script_info(t).binding[0].data, "\x0f\x3c", 2);
    assert_int_equal(script_info(t).binding[1].len, 0);
    script_free(t);
}

/* A third party's SYN agrees on nothing: the bindings are those of the peer's SYN-ACK. Its answer,
 * which the peer gets, does not change what the peer's listener has agreed on either. */
static void a_forged_syn_agrees_on_nothing(void **x)
{
    static const uint8_t forged[] = {20, 4, 0, 0, 20, 6, 9, 0x10, 0x01, 0x01, 1, 1};
    static const uint8_t asked[] = {20, 4, 0, 0, 20, 6, 9, 0x10, 0xff, 0x3c, 1, 1};
    struct script *t = script_of(x);

    t->cfg.binding[0] = (struct scps_binding){.id = 9, .len = 2, .data = {0x0f, 0xff}};
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS | SCPS_HAS_XCAPS);
    raw(t, MS(50), t->them.port, t->peer_isn + 70000, 0, SCPS_SYN, forged, sizeof forged);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 70001);
    raw(t, MS(100), t->them.port, t->peer_isn, t->last.seq + 1, SCPS_SYN | SCPS_ACK, asked,
        sizeof asked);
    expect_sent(t, .from = 1);
    script_forget_events(t);
    assert_memory_equal(script_info(t).binding[0].data, "\x0f\x3c", 2);
    script_free(t);

    t = with_snack(x);
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    peer_says(t, MS(50), .seq = 70000, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 70001, .has = SCPS_HAS_CAPS);
    raw(t, MS(100), t->them.port, t->peer_isn, t->last.seq + 1, SCPS_SYN | SCPS_ACK, asked, 0);
    expect_sent(t, .from = 1);
    script_forget_events(t);
    assert_int_equal(script_info(t).caps, 0);
    script_free(t);

    t = with_snack(x);
    t->us.port = 80;
    script_listen(t);
    peer_says(t, MS(50), .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .has = SCPS_HAS_CAPS);
    raw(t, MS(100), t->them.port, t->peer_isn, 70001, SCPS_SYN | SCPS_ACK, asked, 0);
    script_forget_sent(t);
    peer_says(t, MS(150), .seq = 1, .ack = 1);
    t->c = scps_accept(t->l);
    assert_int_equal(why(t, SCPS_FEATURE_SNACK), SCPS_WHY_IN_FORCE);
    script_forget_events(t);
    script_free(t);
}

/* The extended capability option and the binding spaces in it with every length: no connection
 * ends, and no binding is invented. */
static void odd_bindings(void **x)
{
    struct script *t = script_of(x);
    uint32_t n = 0;

    t->cfg.binding[0] = (struct scps_binding){.id = 9, .len = 2, .data = {0xff, 0xff}};
    t->us.port = 80;
    script_listen(t);
    for (unsigned len = 0; len <= 40; len++) {
        for (unsigned words = 0; words < 16; words++, n++) {
            uint8_t opt[40] = {20, 4, 0, 0, 20, (uint8_t)len, 9, (uint8_t)(words << 4), 0xa5};
            uint16_t port = (uint16_t)(1024 + n);
            bool whole = len > 4 && len <= 36 && words && 2 * (words + 1) + 2 <= len;
            assert_int_equal(raw(t, MS(n), port, 1000, 0, SCPS_SYN, opt, 40), 0);
            expect_sent(t, .port = port, .flags = SCPS_SYN | SCPS_ACK);
            assert_int_equal(!!(t->last.has & SCPS_HAS_XCAPS), whole);
            if (whole)
                assert_memory_equal(t->last.xcaps, "\x09\x10\xa5\x00", 4);
            raw(t, MS(n), port, 1001, 0, SCPS_RST, opt, 0);
        }
    }
    script_free(t);
}

/* Simultaneous open after this end has sent a SYN without capabilities: the peer may have received
 * only that one. Both ends agree on the same: no capability is in force, and the SYN-ACK shows
 * that. */
static void simultaneous_after_a_fallback(void **x)
{
    struct script *t = with_snack(x);

    t->cfg.caps_tries = 1;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    expect_sent(t, .at = SEC(1), .flags = SCPS_SYN, .hasnt = SCPS_HAS_CAPS);
    peer_says(t, SEC(1) + MS(50), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .hasnt = SCPS_HAS_CAPS);
    peer_says(t, SEC(1) + MS(100), .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    assert_int_equal(script_info(t).caps, 0);
    script_forget_sent(t);
    script_free(t);
}

/* Simultaneous open in which the peer has received only a SYN without capabilities: its SYN-ACK has
 * none, so no capability is in force. */
static void simultaneous_with_a_plain_answer(void **x)
{
    struct script *t = with_snack(x);

    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    peer_says(t, MS(50), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .has = SCPS_HAS_CAPS);
    assert_int_equal(script_info(t).caps, SCPS_CAP_SNACK1);
    t->peer.caps = 0;
    peer_says(t, MS(100), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    assert_int_equal(script_info(t).caps, 0);
    script_forget_sent(t);
    script_free(t);
}

/* Simultaneous open: the peer has agreed to an earlier SYN of this end, and this end's SYN-ACK
 * without capabilities was lost. If the peer's SYN-ACK were answered with an ACK, the peer would
 * send SNACK options or compressed headers to an end that does not accept them. */
static void simultaneous_and_the_plain_answer_is_lost(void **x)
{
    struct script *t = with_snack(x);

    t->cfg.caps_tries = 1;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    expect_sent(t, .at = SEC(1), .flags = SCPS_SYN, .hasnt = SCPS_HAS_CAPS);
    peer_says(t, SEC(1) + MS(50), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .hasnt = SCPS_HAS_CAPS);
    peer_says(t, SEC(1) + MS(100), .seq = ZERO, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .hasnt = SCPS_HAS_CAPS);
    expect_state(t, SCPS_SYN_RECEIVED);
    peer_says(t, SEC(1) + MS(200), .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    assert_int_equal(script_info(t).caps, 0);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(agreement),
        SCRIPT_TEST(plain_peer),
        SCRIPT_TEST(fallback),
        SCRIPT_TEST(silence_is_no_refusal),
        SCRIPT_TEST(an_outage_is_no_refusal),
        SCRIPT_TEST(reset_for_the_option),
        SCRIPT_TEST(memory_is_bounded),
        SCRIPT_TEST(a_late_answer),
        SCRIPT_TEST(malformed_in_a_syn),
        SCRIPT_TEST(malformed_later),
        SCRIPT_TEST(a_second_syn_with_other_options),
        SCRIPT_TEST(suppressed),
        SCRIPT_TEST(golden_syn),
        SCRIPT_TEST(bindings),
        SCRIPT_TEST(a_forged_syn_agrees_on_nothing),
        SCRIPT_TEST(odd_bindings),
        SCRIPT_TEST(simultaneous_after_a_fallback),
        SCRIPT_TEST(simultaneous_with_a_plain_answer),
        SCRIPT_TEST(simultaneous_and_the_plain_answer_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
