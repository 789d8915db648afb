/* SPDX-License-Identifier: MIT */
/* Messages about the path: ICMP errors (RFC 1122 section 4.2.3.9, RFC 5927), path MTU discovery
 * (RFC 1191, RFC 8201), and packets that are not TCP. */
#include <string.h>

#include "base/bytes.h"
#include "script.h"

enum { NET, HOST, PROTO, PORT, ADMIN, BIG, TTL };

static void icmp(struct script *t, scps_time at, int what, uint32_t mtu, int64_t seq)
{
    static const uint8_t v4[][2] = {{3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 13}, {3, 4}, {11, 0}};
    static const uint8_t v6[][2] = {{1, 0}, {1, 3}, {4, 1}, {1, 4}, {1, 1}, {2, 0}, {3, 0}};
    const uint8_t *c = t->us.addr.family == 4 ? v4[what] : v6[what];
    peer_icmp(t, at, c[0], c[1], mtu, seq);
}

/* RFC 5927 sections 5.2 and 6.1: during the handshake a hard ICMP error ends the connection, a soft
 * one does not. ICMPv6 has no "protocol unreachable"; "unrecognized next header" is soft (RFC 9293
 * section 3.9.2.2). */
static void errors_while_opening(void **x)
{
    for (int what = PROTO; what <= ADMIN; what++) {
        struct script *t = script_of(x);
        if (what == PROTO && t->us.addr.family == 6) {
            script_free(t);
            continue;
        }
        script_connect(t, MS(0));
        expect_sent(t, .flags = SCPS_SYN);
        icmp(t, MS(10), what, 0, ZERO);
        expect_error(t, what == ADMIN ? SCPS_ERR_UNREACH : SCPS_ERR_REFUSED);
        expect_state(t, SCPS_CLOSED);
        script_free(t);
    }
    struct script *t = script_of(x);
    t->cfg.syn_retries = 1;
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    icmp(t, MS(10), NET, 0, ZERO);
    icmp(t, MS(11), HOST, 0, ZERO);
    icmp(t, MS(12), TTL, 0, ZERO);
    if (t->us.addr.family == 6)
        icmp(t, MS(13), PROTO, 0, ZERO);
    expect_state(t, SCPS_SYN_SENT);
    expect_sent(t, .at = SEC(1), .flags = SCPS_SYN);
    script_run(t, SEC(3));
    /* The soft error is the reason that is reported when the connection times out. */
    expect_error(t, SCPS_ERR_UNREACH);
    script_free(t);
}

/* RFC 5927 section 5.2: no ICMP error ends an established connection; scps_conn_icmp() returns the
 * error. */
static void errors_later(void **x)
{
    struct script *t = script_of(x);
    t->cfg.data_retries = 2;
    script_established(t, MS(100));
    script_forget_events(t);
    app_writes(t, MS(200), 100);
    expect_sent(t, .from = 1, .len = 100);
    assert_int_equal(scps_conn_icmp(t->c), 0);
    for (int what = NET; what <= TTL; what++)
        if (what != BIG)
            icmp(t, MS(210 + what), what, 0, 1);
    assert_int_equal(scps_conn_icmp(t->c), (t->us.addr.family == 4 ? 11 : 3) << 8);
    expect_state(t, SCPS_ESTABLISHED);
    expect_no_event(t);
    peer_says(t, MS(300), .ack = 101);
    app_writes(t, SEC(1), 100);
    expect_sent(t, .from = 101, .len = 100);
    icmp(t, MS(1010), HOST, 0, 101);
    script_forget_events(t);
    script_run(t, SEC(200));
    expect_error(t, SCPS_ERR_UNREACH);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5927 section 4.1: an ICMP error has an effect only if it quotes outstanding data. */
static void forged_errors(void **x)
{
    struct script *t = script_of(x);
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    icmp(t, MS(10), PORT, 0, 1);
    icmp(t, MS(11), PORT, 0, -1);
    icmp(t, MS(12), PORT, 0, 100000);
    expect_state(t, SCPS_SYN_SENT);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .ack = 1);
    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1000);
    icmp(t, MS(210), BIG, 576, 1001); /* This sequence number was never sent. */
    icmp(t, MS(211), BIG, 576, ZERO); /* This octet has been acknowledged already. */
    assert_true(script_info(t).pmtu > 1000);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* RFC 1191 section 6.4, RFC 8201 section 5.4: the octets are resent at once in smaller segments,
 * and the congestion controller is not informed. */
static void too_big(void **x)
{
    struct script *t = script_of(x);
    uint32_t over = t->us.addr.family == 4 ? 40 : 60, mtu = t->us.addr.family == 4 ? 640 : 1280;
    t->cfg.mss = 0;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    app_writes(t, MS(200), 5600);
    for (int i = 0; i < 4; i++)
        expect_sent(t, .from = 1 + 1400 * i, .len = 1400);
    icmp(t, MS(250), BIG, mtu, 1);
    int64_t at = 1;
    while (script_sent_count(t)) {
        expect_sent(t, .at = MS(250), .from = at, .any_len = true);
        assert_true(t->last.len <= mtu - over);
        at += t->last.len;
    }
    assert_int_equal(at, 5601);
    struct scps_info i = script_info(t);
    assert_int_equal(i.pmtu, mtu);
    assert_int_equal(i.snd_mss, mtu - over);
    assert_true(i.cwnd >= 10 * 1400);
    assert_int_equal(i.recoveries, 0);
    /* Messages that quote the other segments of the flight come from the same router. */
    icmp(t, MS(260), BIG, mtu, 1);
    icmp(t, MS(261), BIG, mtu, 1401);
    expect_quiet(t, SCPS_HOLD_APP);
    peer_says(t, MS(350), .ack = 5601);
    app_writes(t, MS(400), 2000);
    expect_sent(t, .from = 5601, .len = (int32_t)(mtu - over));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5927 section 7.2: while full segments are acknowledged, a Packet Too Big message does not
 * lower the path MTU. It does after the retransmission timer has expired, as on a path that no
 * longer carries full segments: the router then answers the retransmission, too. */
static void too_big_while_data_is_acknowledged(void **x)
{
    struct script *t = script_of(x);
    uint32_t over = t->us.addr.family == 4 ? 40 : 60, mtu = t->us.addr.family == 4 ? 640 : 1280;
    uint32_t was;

    t->cfg.mss = 0;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1400);
    expect_sent(t, .from = 1, .len = 1400);
    peer_says(t, MS(300), .ack = 1401);
    was = script_info(t).pmtu;
    app_writes(t, MS(400), 1400);
    expect_sent(t, .from = 1401, .len = 1400);
    icmp(t, MS(450), BIG, mtu, 1401); /* The message was forged: the segment arrives. */
    assert_int_equal(script_info(t).pmtu, was);
    peer_says(t, MS(500), .ack = 2801);
    app_writes(t, MS(600), 1400);
    expect_sent(t, .from = 2801, .len = 1400);
    icmp(t, MS(650), BIG, mtu, 2801); /* The message comes from a router on a new path. */
    assert_int_equal(script_info(t).pmtu, was);
    expect_sent(t, .at = MS(900), .from = 2801, .len = 1400);
    icmp(t, MS(950), BIG, mtu, 2801);
    assert_int_equal(script_info(t).pmtu, mtu);
    expect_sent(t, .at = MS(950), .from = 2801, .len = (int32_t)(mtu - over));
    script_forget_sent(t);
    script_free(t);
}

/* Packet Too Big while SNACK resends lost data before the retransmission timer expires, and each
 * retransmission restarts that timer: a message about a segment that was resent twice is used (RFC
 * 5927 section 7.2). */
static void too_big_while_snack_resends(void **x)
{
    struct script *t = script_of(x);
    uint32_t over = t->us.addr.family == 4 ? 40 : 60, mtu = t->us.addr.family == 4 ? 640 : 1280;
    uint32_t was;

    t->cfg.mss = 0;
    t->cfg.snack = true;
    t->cfg.rto_min = SEC(20); /* The retransmission timer does not expire. */
    t->peer.mss = 1400;
    t->peer.caps = SCPS_CAP_SNACK1;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1400);
    expect_sent(t, .from = 1, .len = 1400);
    peer_says(t, MS(300), .ack = 1401);
    was = script_info(t).pmtu;
    app_writes(t, MS(400), 1400);
    expect_sent(t, .from = 1401, .len = 1400);
    peer_says(t, MS(500), .ack = 1401, .snack = {{0, 1}});
    expect_sent(t, .at = MS(500), .from = 1401, .len = 1400);
    icmp(t, MS(510), BIG, mtu, 1401);
    assert_int_equal(script_info(t).pmtu, was);
    peer_says(t, MS(520), .ack = 1401);
    expect_sent(t, .at = MS(520), .slack = MS(400), .from = 1401, .len = 1400);
    icmp(t, script_now(t), BIG, mtu, 1401);
    assert_int_equal(script_info(t).pmtu, mtu);
    assert_int_equal(script_info(t).timeouts, 0);
    expect_sent(t, .at = script_now(t), .from = 1401, .len = (int32_t)(mtu - over));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5927 section 7.2 lets Packet Too Big wait for the timeout of the data that it quotes. During
 * a silence of the peer, too, a message that does not quote the retransmission, from its first
 * octet on, comes from somebody who guesses sequence numbers: the router sees that segment only. */
static void too_big_of_no_retransmission(void **x)
{
    struct script *t = script_of(x);
    uint32_t mtu = t->us.addr.family == 4 ? 640 : 1280, was;
    struct scps_stack_stats stats;

    t->cfg.mss = 0;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1400);
    expect_sent(t, .from = 1, .len = 1400);
    peer_says(t, MS(300), .ack = 1401);
    was = script_info(t).pmtu;
    app_writes(t, MS(400), 2800);
    expect_sent(t, .from = 1401, .len = 1400);
    expect_sent(t, .from = 2801, .len = 1400);
    expect_sent(t, .at = MS(700), .from = 1401, .len = 1400);
    icmp(t, MS(710), BIG, mtu, 1402); /* within the retransmission */
    icmp(t, MS(710), BIG, mtu, 2801); /* a segment that was not resent */
    assert_int_equal(script_info(t).pmtu, was);
    scps_stack_get_stats(t->st, &stats);
    assert_int_equal(stats.drops[SCPS_DROP_BAD_ICMP], 2);
    icmp(t, MS(720), BIG, mtu, 1401);
    assert_int_equal(script_info(t).pmtu, mtu);
    script_forget_sent(t);
    script_free(t);
}

/* Before a full segment was acknowledged, no timeout is needed, but a Packet Too Big message that
 * does not quote a segment from its first octet on is ignored, too (RFC 5927 section 7.2). */
static void too_big_of_no_segment(void **x)
{
    struct script *t = script_of(x);
    uint32_t mtu = t->us.addr.family == 4 ? 640 : 1280, was;

    t->cfg.mss = 0;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    was = script_info(t).pmtu;
    app_writes(t, MS(200), 2800);
    expect_sent(t, .from = 1, .len = 1400);
    expect_sent(t, .from = 1401, .len = 1400);
    icmp(t, MS(210), BIG, mtu, 2);
    icmp(t, MS(210), BIG, mtu, 1400);
    assert_int_equal(script_info(t).pmtu, was);
    icmp(t, MS(220), BIG, mtu, 1401);
    assert_int_equal(script_info(t).pmtu, mtu);
    script_forget_sent(t);
    script_free(t);
}

/* Without DF routers fragment IPv4 packets and send no ICMP error, but IPv6 routers never fragment
 * (RFC 8200 section 4.5): in IPv6 segments become smaller even without path MTU discovery. */
static void too_big_without_df(void **x)
{
    struct script *t = script_of(x);
    t->cfg.mss = 0;
    t->cfg.df_off = true;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1400);
    expect_sent(t, .from = 1, .len = 1400);
    icmp(t, MS(250), BIG, 1280, 1);
    if (t->us.addr.family == 6) {
        expect_sent(t, .at = MS(250), .from = 1, .len = 1220);
        expect_sent(t, .at = MS(250), .from = 1221, .len = 180);
    }
    expect_quiet(t, SCPS_HOLD_APP);
    peer_says(t, MS(350), .ack = 1401);
    script_free(t);
}

/* A Packet Too Big message neither raises the path MTU nor lowers it below 256 (IPv4) or 1280
 * (IPv6); one of IPv6 that gives less is discarded (RFC 8201 section 4). */
static void absurd_mtus(void **x)
{
    struct script *t = script_of(x);
    t->cfg.mss = 0;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1400);
    expect_sent(t, .from = 1, .len = 1400);
    uint32_t was = script_info(t).pmtu;
    icmp(t, MS(210), BIG, 9000, 1);
    assert_int_equal(script_info(t).pmtu, was);
    expect_quiet(t, SCPS_HOLD_APP);
    icmp(t, MS(220), BIG, 1279, 1);
    assert_int_equal(script_info(t).pmtu, t->us.addr.family == 4 ? 1279 : was);
    icmp(t, MS(220), BIG, 1280, 1);
    icmp(t, MS(220), BIG, 1, 1);
    assert_int_equal(script_info(t).pmtu, t->us.addr.family == 4 ? 256 : 1280);
    assert_true(script_info(t).snd_mss >= 20);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 1191 section 5: for a router that gives no MTU, the next lower plateau is used. */
static void a_router_that_reports_no_mtu(void **x)
{
    struct script *t = script_of(x);
    t->cfg.mss = 0;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1400);
    expect_sent(t, .from = 1, .len = 1400);
    if (t->us.addr.family == 4) {
        icmp(t, MS(210), BIG, 0, 1);
        /* The plateau 1492 would not be smaller than the present MTU. */
        assert_int_equal(script_info(t).pmtu, 1006);
    }
    script_forget_sent(t);
    script_free(t);
}

/* Hands in the ICMP error of a router that gives no MTU (IPv4), for the segment last expected,
 * whose packet had len bytes. */
static void too_big_without_mtu(struct script *t, scps_time at, size_t len)
{
    uint8_t p[80];
    struct scps_ip quote = {.src = t->us.addr,
                            .dst = t->them.addr,
                            .version = 4,
                            .proto = SCPS_IPPROTO_TCP,
                            .ttl = 60,
                            .df = true};
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = 4,
                         .proto = SCPS_IPPROTO_ICMP,
                         .ttl = 64};
    struct scps_seg seg = {
        .sport = t->us.port, .dport = t->them.port, .flags = SCPS_ACK, .seq = t->last.seq};
    uint8_t *m = p + 20;
    size_t n = 8;

    scps_put32(m, 3u << 24 | 4u << 16);
    scps_put32(m + 4, 0);
    n += scps_ip_build(m + n, &quote, len - 20);
    n += scps_tcp_build(m + n, &seg);
    scps_put16(m + 2, scps_cksum_fold(scps_cksum_add(0, m, n)));
    assert_int_equal(script_input(t, at, p, scps_ip_build(p, &ip, n) + n), 0);
}

/* RFC 1191 section 5: the next plateau is below the length of the packet that was too big, even
 * if that length is a plateau itself. */
static void a_packet_as_long_as_a_plateau(void **x)
{
    struct script *t = script_of(x);
    t->mtu = 1492;
    t->cfg.mss = 0;
    t->peer.mss = 1460;
    script_established(t, MS(100));
    if (t->us.addr.family == 4) {
        app_writes(t, MS(200), 1452);
        expect_sent(t, .from = 1, .len = 1452, .wire = 1492);
        too_big_without_mtu(t, MS(210), 1492);
        assert_int_equal(script_info(t).pmtu, 1006);
    }
    script_forget_sent(t);
    script_free(t);
}

/* If a segment with a FIN was too big, the FIN is sent again as well. */
static void too_big_with_fin(void **x)
{
    struct script *t = script_of(x);
    uint32_t mtu = t->us.addr.family == 4 ? 540 : 1280;
    t->cfg.mss = 0;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    scps_conn_cork(t->c, true);
    app_writes(t, MS(200), 1300);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .from = 1, .len = 1300, .flags = SCPS_FIN | SCPS_ACK);
    icmp(t, MS(250), BIG, mtu, 1);
    script_run(t, MS(260));
    int64_t at = 1;
    bool fin = false;
    while (script_sent_count(t)) {
        uint16_t last = script_sent_count(t) == 1 ? SCPS_FIN | SCPS_ACK : SCPS_ACK;
        expect_sent(t, .from = at, .any_len = true, .flags = last);
        at += t->last.len;
        fin |= (t->last.flags & SCPS_FIN) != 0;
    }
    assert_true(fin);
    assert_int_equal(at, 1301);
    peer_says(t, MS(400), .ack = 1302);
    expect_state(t, SCPS_FIN_WAIT_2);
    script_free(t);
}

static size_t build(struct script *t, uint8_t *p, uint8_t proto, const void *data, size_t len,
                    size_t sum_at)
{
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = t->us.addr.family,
                         .proto = proto,
                         .ttl = 64};
    size_t n = scps_ip_build(p, &ip, len);
    memcpy(p + n, data, len);
    scps_put16(p + n + sum_at, 0);
    uint64_t sum = scps_cksum_add(0, p + n, len);
    if (proto != SCPS_IPPROTO_ICMP)
        sum = scps_cksum_pseudo(sum, &ip.src, &ip.dst, proto, (uint32_t)len);
    scps_put16(p + n + sum_at, scps_cksum_fold(sum));
    return n + len;
}

static void echo(void **x)
{
    struct script *t = script_of(x);
    bool four = t->us.addr.family == 4;
    uint8_t msg[64] = {four ? 8 : 128, 0, 0, 0, 0x12, 0x34, 0, 1}, p[256], r[256];
    struct scps_ip ip;
    struct scps_icmp m;
    script_start(t);
    for (size_t i = 8; i < sizeof msg; i++)
        msg[i] = (uint8_t)i;
    size_t n = build(t, p, four ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6, msg, sizeof msg, 2);
    assert_int_equal(script_input(t, MS(1), p, n), 0);
    n = expect_other(t, r, sizeof r);
    assert_int_equal(scps_ip_parse(r, n, n, &ip), 0);
    assert_true(scps_addr_equal(&ip.src, &t->us.addr) && scps_addr_equal(&ip.dst, &t->them.addr));
    assert_int_equal(scps_icmp_parse(&ip, r + ip.hdr_len, n - ip.hdr_len, &m), 0);
    assert_int_equal(m.kind, SCPS_ICMP_ECHO_REPLY);
    assert_int_equal(m.body_len, sizeof msg - 4);
    assert_memory_equal(m.body, msg + 4, sizeof msg - 4);
    script_free(t);

    t = script_of(x);
    t->stack_cfg.echo_reply = false;
    script_start(t);
    n = build(t, p, four ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6, msg, sizeof msg, 2);
    script_input(t, MS(1), p, n);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

static void udp_port_unreachable(void **x)
{
    struct script *t = script_of(x);
    uint8_t msg[20] = {0, 53, 0, 54, 0, 20}, p[256], r[256];
    struct scps_ip ip;
    struct scps_icmp m;
    script_start(t);
    size_t n = build(t, p, SCPS_IPPROTO_UDP, msg, sizeof msg, 6);
    script_input(t, MS(1), p, n);
    n = expect_other(t, r, sizeof r);
    assert_int_equal(scps_ip_parse(r, n, n, &ip), 0);
    assert_int_equal(scps_icmp_parse(&ip, r + ip.hdr_len, n - ip.hdr_len, &m), 0);
    assert_int_equal(m.kind, SCPS_ICMP_UNREACH_PORT);
    assert_true(m.has_quote && m.sport == 53 && m.dport == 54);
    script_free(t);
}

/* No reply is longer than the MTU of its link, here 160 octets: an ICMP error quotes less (RFC 4443
 * section 2.4: it must not exceed what the link is sure to carry), an echo reply is truncated (RFC
 * 1122 section 3.2.2.6) or, with IPv6, not sent (RFC 4443 section 4.2: the data "MUST be returned
 * entirely and unmodified"). */
static void replies_fit_a_small_mtu(void **x)
{
    struct script *t = script_of(x);
    bool four = t->us.addr.family == 4;
    uint8_t msg[400] = {0, 53, 0, 54, 400 >> 8, 400 & 255}, p[512], r[512];
    uint8_t ask[400] = {four ? 8 : 128, 0, 0, 0, 0x12, 0x34, 0, 1};
    struct scps_ip ip;
    struct scps_icmp m;

    t->mtu = 160;
    script_start(t);
    size_t n = build(t, p, SCPS_IPPROTO_UDP, msg, sizeof msg, 6);
    script_input(t, MS(1), p, n);
    n = expect_other(t, r, sizeof r);
    assert_int_equal(n, 160);
    assert_int_equal(scps_ip_parse(r, n, n, &ip), 0);
    assert_int_equal(scps_icmp_parse(&ip, r + ip.hdr_len, n - ip.hdr_len, &m), 0);
    assert_true(m.kind == SCPS_ICMP_UNREACH_PORT && m.has_quote && m.dport == 54);

    n = build(t, p, four ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6, ask, sizeof ask, 2);
    script_input(t, MS(2), p, n);
    if (four) {
        n = expect_other(t, r, sizeof r);
        assert_int_equal(n, 160);
        assert_int_equal(scps_ip_parse(r, n, n, &ip), 0);
        assert_int_equal(scps_icmp_parse(&ip, r + ip.hdr_len, n - ip.hdr_len, &m), 0);
        assert_int_equal(m.kind, SCPS_ICMP_ECHO_REPLY);
        assert_memory_equal(m.body, ask + 4, m.body_len);
    }
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* A packet to another host, with the source address of no host, or with this host's own source
 * address is counted and never answered. */
/* Writes a packet with protocol number `proto` and the ICMP message `msg` of 20 octets, whose
 * checksum is the one that the script's IP version asks for. Returns its length. */
static size_t build_icmp(struct script *t, uint8_t *p, uint8_t proto, uint8_t msg[20])
{
    uint64_t sum = scps_cksum_add(0, msg, 20);

    if (t->us.addr.family == 6)
        sum = scps_cksum_pseudo(sum, &t->them.addr, &t->us.addr, SCPS_IPPROTO_ICMPV6, 20);
    scps_put16(msg + 2, scps_cksum_fold(sum));
    /* build() writes a checksum of its own into the last two octets, so the message is copied once
     * more. */
    size_t n = build(t, p, proto, msg, 20, 18);
    memcpy(p + n - 20, msg, 20);
    return n;
}

static void packets_with_foreign_or_invalid_addresses(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    uint8_t msg[20] = {0, 53, 0, 54, 0, 20}, p[256];
    struct scps_endpoint us = t->us, them = t->them;
    bool four = us.addr.family == 4;
    static const char *const bad4[][2] = {
        {"10.0.0.2", "10.0.0.9"}, {"224.0.0.1", "10.0.0.1"}, {"0.0.0.0", "10.0.0.1"},
        {"10.0.0.1", "10.0.0.1"}, {"10.0.0.2", "224.0.0.1"}, {"10.0.0.2", "255.255.255.255"},
        {"127.0.0.1", "10.0.0.1"}};
    static const char *const bad6[][2] = {
        {"2001:db8::2", "2001:db8::9"}, {"ff02::1", "2001:db8::1"}, {"::", "2001:db8::1"},
        {"2001:db8::1", "2001:db8::1"}, {"2001:db8::2", "ff02::1"}, {"2001:db8::2", "::"},
        {"::1", "2001:db8::1"}};
    script_start(t);
    for (size_t i = 0; i < sizeof bad4 / sizeof *bad4; i++) {
        assert_int_equal(scps_addr_parse(four ? bad4[i][0] : bad6[i][0], &t->them.addr), 0);
        assert_int_equal(scps_addr_parse(four ? bad4[i][1] : bad6[i][1], &t->us.addr), 0);
        size_t n = build(t, p, SCPS_IPPROTO_UDP, msg, sizeof msg, 6);
        assert_int_not_equal(script_input(t, MS(1), p, n), 0);
        uint8_t syn[20] = {0, 99, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, SCPS_SYN};
        n = build(t, p, SCPS_IPPROTO_TCP, syn, sizeof syn, 16);
        assert_int_not_equal(script_input(t, MS(1), p, n), 0);
    }
    t->us = us;
    t->them = them;
    /* Protocol 132 is SCTP, which the stack does not support. */
    assert_int_equal(script_input(t, MS(1), p, build(t, p, 132, msg, sizeof msg, 6)),
                     SCPS_DROP_UNKNOWN_PROTOCOL);
    /* An echo request of ICMP over IPv6, or of ICMPv6 over IPv4 (RFC 4443 section 2.1). */
    uint8_t ping[20] = {four ? 8 : 128};
    assert_int_equal(
        script_input(t, MS(1), p,
                     build_icmp(t, p, four ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP, ping)),
        SCPS_DROP_UNKNOWN_PROTOCOL);
    expect_quiet(t, ANY_HOLD);
    scps_stack_get_stats(t->st, &s);
    assert_true(s.drops[SCPS_DROP_NOT_OURS] >= 2);
    assert_true(s.drops[SCPS_DROP_BAD_ADDRESS] >= 5);
    script_free(t);
}

/* A request whose reply needs more memory than there is gets none, and is counted. A stack with
 * fixed memory has none for replies of more than 256 octets. */
static void echo_without_memory(void **x)
{
    struct script *t = script_of(x);
    bool four = t->us.addr.family == 4;
    uint8_t msg[300] = {four ? 8 : 128}, p[400];
    struct scps_stack_stats s;

    t->stack_cfg.max_conns = 1;
    t->stack_cfg.fixed_memory = &t->cfg;
    script_start(t);
    size_t n = build(t, p, four ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6, msg, sizeof msg, 2);
    assert_int_equal(script_input(t, MS(1), p, n), 0);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.echo_replies, 0);
    assert_int_equal(s.drops[SCPS_DROP_NO_BUFFER], 1);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(errors_while_opening),
        SCRIPT_TEST(errors_later),
        SCRIPT_TEST(forged_errors),
        SCRIPT_TEST(too_big),
        SCRIPT_TEST(too_big_while_data_is_acknowledged),
        SCRIPT_TEST(too_big_while_snack_resends),
        SCRIPT_TEST(too_big_of_no_retransmission),
        SCRIPT_TEST(too_big_of_no_segment),
        SCRIPT_TEST(too_big_without_df),
        SCRIPT_TEST(absurd_mtus),
        SCRIPT_TEST(a_router_that_reports_no_mtu),
        SCRIPT_TEST(a_packet_as_long_as_a_plateau),
        SCRIPT_TEST(too_big_with_fin),
        SCRIPT_TEST(echo),
        SCRIPT_TEST(echo_without_memory),
        SCRIPT_TEST(udp_port_unreachable),
        SCRIPT_TEST(replies_fit_a_small_mtu),
        SCRIPT_TEST(packets_with_foreign_or_invalid_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
