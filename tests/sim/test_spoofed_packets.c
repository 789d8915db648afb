/* SPDX-License-Identifier: MIT */
/* Spoofed packets that require replies reduce the goodput of a connection by little, whether their
 * senders know its addresses and ports or not.
 *
 *     sender ---- 10 Mbit/s, 100 ms ----> receiver <---- 1000 spoofed packets a second
 *            <--- 200 kbit/s ------------
 *
 * The replies share the slow return link with acknowledgements. It is slow because the rate of the
 * line is low, which the device may report or not, or because the route has a rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <scps/sim.h>
#include <scps/traffic.h>
#include <scps/wire.h>

#include "sanitized.h"

#define WARM  SCPS_SEC(5)
#define UNTIL SCPS_SEC(35)
#define EVERY SCPS_MS(1)

enum flood {
    NONE,
    SYNS,
    STAMPED_SYNS,
    SEGMENTS,
    SAME_SYNS, /* SYNs from a hundred addresses, each repeated many times */
    /* segments with the addresses and ports of the connection, and random sequence numbers */
    ITS_DATA,
    ITS_SYNS,
    ITS_FINS,
    DATAGRAMS,
    ECHOES,
    FRAGMENTS,
    FLOODS
};

static const char *const names[FLOODS] = {"none",
                                          "SYNs",
                                          "SYNs with every option",
                                          "segments for no connection",
                                          "repeated SYNs",
                                          "data for the connection",
                                          "SYNs for the connection",
                                          "FINs for the connection",
                                          "datagrams",
                                          "pings",
                                          "first fragments"};

struct spoofing {
    enum flood flood;
    uint64_t rate;      /* The rate limit of the sender, bytes/s; 0: its window limits it. */
    uint64_t back_rate; /* The rate of the receiver's route, bytes/s; 0: none. */
    const char *link;
    bool stamps;  /* true: the connection has time stamps, which make acknowledgements longer. */
    bool unknown; /* true: the device does not report its rate. */
    /* true: the return link carries so few packets that the share of replies is some of them in a
     * minute, and a challenge ACK each half second is a good part of it. */
    bool very_thin;
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_link *l;
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    uint64_t before, seq;
    struct scps_link_stats back; /* The counters of the return link when the measurement began. */
};

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct spoofing *s = ctx;

    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&s->sink, scps_accept(ev->listener));
    else if (h == s->host[0])
        scps_bulk_source_event(&s->source, ev);
    else
        scps_bulk_sink_event(&s->sink, ev);
}

static struct scps_addr address(const char *text)
{
    struct scps_addr a;

    assert_int_equal(scps_addr_parse(text, &a), 0);
    return a;
}

static bool is_its(enum flood f)
{
    return f == ITS_DATA || f == ITS_SYNS || f == ITS_FINS;
}

/* Writes the segment of flood f behind the IP header at p, from the port `own` if it is not 0.
 * Returns its length. */
static size_t segment(uint8_t *p, enum flood f, uint64_t seq, uint16_t own)
{
    bool syn = f == SYNS || f == STAMPED_SYNS || f == SAME_SYNS || f == ITS_SYNS;
    struct scps_seg seg = {.sport = own ? own : (uint16_t)(1024 + seq % 60000),
                           .dport = syn || own ? 5001 : 4999,
                           .flags = syn ? SCPS_SYN : SCPS_ACK,
                           .seq = (uint32_t)(seq * 2654435761u),
                           .wnd = 65535};

    seg.ack = syn ? 0 : seg.seq;
    if (f == SAME_SYNS)
        seg.sport = (uint16_t)(1024 + (seg.seq = seq % 100));
    if (f == ITS_FINS)
        seg.flags |= SCPS_FIN;
    if (syn) {
        seg.has = SCPS_HAS_MSS;
        seg.mss = 1460;
    }
    if (f == STAMPED_SYNS) {
        seg.has |= SCPS_HAS_TS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK | SCPS_HAS_CAPS;
        seg.tsval = seg.seq;
        seg.wscale = 7;
        seg.caps = SCPS_CAP_SNACK1;
    }
    return scps_tcp_build(p, &seg) + (f == ITS_DATA ? 1 : 0);
}

/* Writes a UDP datagram of 64 bytes to a closed port, or an echo request with as much data. Returns
 * its length. */
static size_t datagram(uint8_t *p, bool echo, uint64_t seq)
{
    size_t n = 8 + 64;

    memset(p, 0, n);
    if (echo) {
        uint32_t sum = 0x0800u + (seq & 0xffff);
        p[0] = 8;
        p[6] = (uint8_t)(seq >> 8);
        p[7] = (uint8_t)seq;
        sum = ~((sum & 0xffff) + (sum >> 16));
        p[2] = (uint8_t)(sum >> 8);
        p[3] = (uint8_t)sum;
    } else {
        p[0] = 4;
        p[1] = (uint8_t)seq;
        p[2] = 4998 >> 8;
        p[3] = 4998 & 255;
        p[5] = (uint8_t)n;
    }
    return n;
}

/* Sends one packet from 10.0.0.77 whose addresses and ports are new each time. */
static void send_spoofed(void *ctx)
{
    struct spoofing *s = ctx;
    struct scps_ip ip = {.src = address("10.0.0.77"),
                         .dst = address("10.0.0.2"),
                         .version = 4,
                         .ttl = 64,
                         .proto = SCPS_IPPROTO_TCP};
    uint8_t p[200] = {0};
    size_t n;

    s->seq++;
    ip.src.b[3] = (uint8_t)(10 + s->seq % 100);
    if (is_its(s->flood)) {
        struct scps_endpoint own = {0};
        scps_conn_local(s->source.conn, &own);
        ip.src = own.addr;
        n = segment(p + 20, s->flood, s->seq, own.port);
    } else if (s->flood < DATAGRAMS) {
        n = segment(p + 20, s->flood, s->seq, 0);
    } else {
        ip.proto = s->flood == ECHOES ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_UDP;
        n = datagram(p + 20, s->flood == ECHOES, s->seq);
    }
    ip.more_frags = s->flood == FRAGMENTS;
    scps_ip_build(p, &ip, n);
    struct scps_pkt in = {.data = p, .len = 20 + n, .csum_ok = true, .at = scps_world_now(s->w)};
    scps_stack_input(scps_host_stack(s->host[1]), scps_link_netif(s->l, 1), &in);
    scps_host_kick(s->host[1]);
    assert_int_equal(scps_world_at(s->w, scps_world_now(s->w) + EVERY, send_spoofed, s), 0);
}

static void begin(void *ctx)
{
    struct spoofing *s = ctx;

    s->before = s->sink.received;
    scps_link_get_stats(s->l, 1, &s->back);
}

/* Returns the goodput, Mbit/s of payload. */
static double goodput(struct spoofing *s)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint there = {.addr = address("10.0.0.2"), .port = 5001};
    struct scps_link_config fwd, back;
    struct scps_addr a = address("10.0.0.1");
    struct scps_link_stats back_now;
    struct scps_stack_stats st;
    char msg[200];
    int err;

    assert_int_equal(scps_link_parse(s->link, &fwd, &back, msg, sizeof msg), 0);
    s->w = scps_world_new(NULL);
    for (int i = 0; i < 2; i++)
        s->host[i] = scps_world_host(s->w, i ? "receiver" : "sender", NULL, on_event, s);
    s->l = scps_world_link(s->w, s->host[0], &a, s->host[1], &there.addr, 24, 0, &fwd, &back);
    assert_non_null(s->l);
    if (s->back_rate) {
        struct scps_route r = {.dst = address("10.0.0.0"),
                               .prefix = 25,
                               .nif = scps_link_netif(s->l, 1),
                               .rate = s->back_rate};
        assert_int_equal(scps_stack_add_route(scps_host_stack(s->host[1]), &r), 0);
    }
    cfg.hollow = true;
    cfg.sndbuf = cfg.rcvbuf = 1 << 20;
    /* Without time stamps acknowledgements take 190 of the 200 kbit/s. */
    cfg.timestamps = s->stamps;
    if (s->unknown)
        scps_link_netif(s->l, 0)->rate = scps_link_netif(s->l, 1)->rate = 0;
    if (s->rate) {
        cfg.cc = scps_cc_find("rate");
        cfg.rate = s->rate;
    }
    assert_non_null(scps_listen(scps_host_stack(s->host[1]), &cfg, &there, 5, &err));
    s->source.total = UINT64_MAX / 2;
    s->source.hollow = true;
    assert_int_equal(scps_bulk_source_start(&s->source, scps_connect(scps_host_stack(s->host[0]),
                                                                     &cfg, NULL, &there, &err)),
                     0);
    assert_int_equal(scps_world_at(s->w, WARM, begin, s), 0);
    if (s->flood)
        assert_int_equal(scps_world_at(s->w, SCPS_SEC(1), send_spoofed, s), 0);
    scps_host_kick(s->host[0]);
    scps_world_run(s->w, UNTIL);
    scps_stack_get_stats(scps_host_stack(s->host[1]), &st);
    double got = (double)(s->sink.received - s->before) * 8 / (double)(UNTIL - WARM);
    print_message("%s, route %llu%s%s%s: %s: %.3f Mbit/s; %llu cookies, %llu resets, %llu echoes, "
                  "%llu ICMP, %llu not given\n",
                  s->link, (unsigned long long)s->back_rate, s->stamps ? ", stamps" : "",
                  s->unknown ? ", unknown" : "", s->rate ? ", pure rate" : "", names[s->flood], got,
                  (unsigned long long)st.cookies_out, (unsigned long long)st.resets_out,
                  (unsigned long long)st.echo_replies, (unsigned long long)st.icmp_out,
                  (unsigned long long)st.drops[SCPS_DROP_RATE_LIMITED]);
    scps_link_get_stats(s->l, 1, &back_now);
    if (s->back_rate) /* Every packet counts against the rate of the route. */
        assert_true((double)(back_now.offered_bytes - s->back.offered_bytes) <=
                    (double)s->back_rate * (double)(UNTIL - WARM) * 1e-6 + 4 * 1500);
    /* Some packets are answered; the replies that the limit held back are counted. */
    if (s->flood && s->flood != FRAGMENTS) {
        assert_true(s->very_thin || s->flood == SAME_SYNS || is_its(s->flood) ||
                    st.cookies_out + st.half_open + st.resets_out + st.echo_replies + st.icmp_out >
                        30);
        assert_true(st.drops[SCPS_DROP_RATE_LIMITED] > 0);
    }
    scps_bulk_source_fini(&s->source);
    scps_world_free(s->w);
    return got;
}

/* Asserts that the goodput is at least this share of the goodput without the flood. */
static void kept_by(struct spoofing how, double least)
{
    struct spoofing none = how;
    double alone = goodput(&none);

    assert_true(alone > (how.very_thin ? 0.04 : how.stamps ? 8.2 : 9));
    for (enum flood f = SYNS; f < FLOODS; f++) {
        struct spoofing s = how;
        if (how.very_thin && is_its(f))
            continue;
        s.flood = f;
        double got = goodput(&s);
        if (got < least * alone)
            fail_msg("%s of %s: %.3f of %.3f Mbit/s", names[f], how.link, got, alone);
    }
}

/* Checks kept_by() with and without time stamps, and with a sender limited by its window and by a
 * rate. */
static void kept(struct spoofing how, double least)
{
    for (unsigned i = 0; i < 4; i += SCPS_SANITIZED ? 3 : 1) {
        how.stamps = i & 1;
        how.rate = i & 2 ? 1250000 : 0;
        kept_by(how, least);
    }
}

#define THIN "rate=10mbit,rate-back=200kbit,rtt=100ms"
#define WIDE "rate=10mbit,rate-back=10mbit,rtt=100ms"

static void a_thin_line(void **x)
{
    (void)x;
    kept((struct spoofing){.link = THIN}, 0.95);
}

/* SYN-ACKs of half-open connections, and their repetitions, take no more of the link than other
 * replies: 128 of them would be a minute of the link of 2400 bit/s. */
static void very_thin_lines(void **x)
{
    (void)x;
    kept((struct spoofing){.link = "rate=100kbit,rate-back=2400,rtt=200ms", .very_thin = true},
         0.8);
    kept((struct spoofing){.link = "rate=2mbit,rate-back=20kbit,rtt=600ms", .very_thin = true},
         0.9);
}

static void a_line_of_unknown_rate(void **x)
{
    (void)x;
    kept((struct spoofing){.link = THIN, .unknown = true}, 0.9);
}

static void a_thin_route(void **x)
{
    (void)x;
    kept((struct spoofing){.link = WIDE, .back_rate = 25000}, 0.98);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thin_line),
        cmocka_unit_test(very_thin_lines),
        cmocka_unit_test(a_line_of_unknown_rate),
        cmocka_unit_test(a_thin_route),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
