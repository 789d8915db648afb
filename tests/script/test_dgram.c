/* SPDX-License-Identifier: MIT */
/* The UDP service, packet by packet (RFC 768; RFC 1122 section 4.1; RFC 8085): which datagrams
 * leave and when, which endpoint gets one that arrives, how a wrong one is refused, and what an
 * ICMP error does. */
#include <scps/dgram.h>
#include <scps/wire.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "cmocka_all.h"
#include "failing_alloc.h"

#define MTU 1500u

struct host {
    struct scps_stack *st;
    struct scps_netif nif;
    struct scps_endpoint us, them;
    scps_time now;
    struct poor poor;
    uint8_t p[4096]; /* The last packet that left, header and payload. */
    size_t len, hollow;
    struct scps_ip ip;
    struct scps_udp udp;
};

static void host_init(struct host *h, void **x)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    bool six = (uintptr_t)*x == 6;

    *h = (struct host){.now = SCPS_SEC(5), .poor = {.left = 1000000}};
    cfg.now = h->now;
    cfg.alloc = (struct scps_alloc){poor_alloc, poor_free, &h->poor};
    assert_int_equal(scps_addr_parse(six ? "2001:db8::1" : "10.0.0.1", &h->us.addr), 0);
    assert_int_equal(scps_addr_parse(six ? "2001:db8::2" : "10.0.0.2", &h->them.addr), 0);
    h->us.port = 5001;
    h->them.port = 7000;
    h->st = scps_stack_new(&cfg);
    h->nif = (struct scps_netif){.name = "test", .mtu = MTU};
    assert_non_null(h->st);
    assert_int_equal(scps_stack_add_netif(h->st, &h->nif), 0);
    assert_int_equal(scps_stack_add_addr(h->st, &h->nif, &h->us.addr, six ? 64 : 24), 0);
}

static void host_fini(struct host *h)
{
    scps_stack_free(h->st);
    assert_int_equal(h->poor.out, 0);
}

static uint32_t headers(const struct host *h)
{
    return h->us.addr.family == 6 ? 48 : 28;
}

/* ---- datagrams that leave ---- */

/* Takes the next packet that leaves at time `now`, and checks its headers and checksums. Returns
 * false if none leaves. */
static bool leaves(struct host *h)
{
    struct scps_pkt out = {.data = h->p, .cap = SCPS_MAX_HEADERS};

    if (!scps_stack_output(h->st, &h->nif, h->now, &out)) {
        assert_true(scps_stack_deadline(h->st) > h->now);
        return false;
    }
    h->hollow = out.payload ? 0 : out.payload_len;
    h->len = out.len + out.payload_len;
    assert_true(out.len <= SCPS_MAX_HEADERS && h->len <= h->nif.mtu && !out.gso);
    if (out.payload)
        memcpy(h->p + out.len, out.payload, out.payload_len);
    else
        memset(h->p + out.len, 0, out.payload_len);
    assert_int_equal(scps_ip_parse(h->p, h->len, h->len, &h->ip), 0);
    assert_int_equal(h->ip.total_len, h->len);
    if (h->ip.proto == SCPS_IPPROTO_UDP)
        assert_int_equal(
            scps_udp_parse(&h->ip, h->p + h->ip.hdr_len, h->len - h->ip.hdr_len, &h->udp), 0);
    return true;
}

static void expect_datagram(struct host *h, const void *data, size_t len)
{
    assert_true(leaves(h));
    assert_int_equal(h->ip.proto, SCPS_IPPROTO_UDP);
    assert_int_equal(h->udp.len, len);
    assert_memory_equal(h->udp.data, data, len);
}

static void expect_nothing(struct host *h)
{
    assert_false(leaves(h));
}

static void expect_event(struct host *h, const struct scps_dgram *d, enum scps_event_kind kind)
{
    struct scps_event ev;

    assert_int_equal(scps_stack_event(h->st, &ev), 1);
    assert_int_equal(ev.kind, kind);
    assert_ptr_equal(ev.dgram, d);
    assert_null(ev.conn);
}

static void expect_no_event(struct host *h)
{
    struct scps_event ev;

    assert_int_equal(scps_stack_event(h->st, &ev), 0);
}

static void forget_events(struct host *h)
{
    struct scps_event ev;

    while (scps_stack_event(h->st, &ev))
        continue;
}

/* ---- datagrams that arrive ---- */

/* Hands in a datagram from `from` to `to` with len octets; the packet is built in p. Returns the
 * packet's length. */
static size_t datagram(uint8_t *p, const struct scps_endpoint *from, const struct scps_endpoint *to,
                       const void *data, size_t len)
{
    struct scps_ip ip = {.src = from->addr,
                         .dst = to->addr,
                         .version = from->addr.family,
                         .proto = SCPS_IPPROTO_UDP,
                         .tos = 0x20,
                         .ttl = 60};
    struct scps_udp u = {.sport = from->port, .dport = to->port, .data = data, .len = len};
    size_t n = scps_ip_build(p, &ip, 8 + len);

    scps_udp_build(p + n, &ip.src, &ip.dst, &u);
    if (len)
        memcpy(p + n + 8, data, len);
    return n + 8 + len;
}

static int input(struct host *h, const uint8_t *p, size_t len)
{
    return scps_stack_input(
        h->st, &h->nif,
        &(struct scps_pkt){.data = (uint8_t *)(uintptr_t)p, .len = len, .at = h->now});
}

static int arrives_from(struct host *h, const struct scps_endpoint *from, const char *text)
{
    uint8_t p[2048];

    return input(h, p, datagram(p, from, &h->us, text, strlen(text)));
}

static int arrives(struct host *h, const char *text)
{
    return arrives_from(h, &h->them, text);
}

static void expect_read(struct scps_dgram *d, const char *text)
{
    struct scps_dgram_from from;
    char buf[2048];
    int64_t n = scps_dgram_recv(d, buf, sizeof buf, 0, &from);

    assert_int_equal(n, strlen(text));
    assert_memory_equal(buf, text, (size_t)n);
}

static struct scps_dgram *opened(struct host *h)
{
    struct scps_endpoint at = {.port = h->us.port};
    int err = 1;
    struct scps_dgram *d = scps_dgram_open(h->st, NULL, &at, &err);

    assert_non_null(d);
    assert_int_equal(err, 0);
    return d;
}

static uint64_t dropped(const struct host *h, enum scps_drop why)
{
    struct scps_stack_stats s;

    scps_stack_get_stats(h->st, &s);
    return s.drops[why];
}

/* ---- tests ---- */

/* Every field of a packet that leaves has its value, also if the datagram has no data. */
static void one_leaves(void **x)
{
    struct host h;
    host_init(&h, x);
    struct scps_dgram_config cfg = scps_dgram_config_default();
    cfg.tos = 0xb8;
    cfg.ttl = 9;
    struct scps_dgram *d = scps_dgram_open(h.st, &cfg, &h.us, NULL);
    struct scps_dgram_stats s;
    assert_int_equal(scps_stack_deadline(h.st), SCPS_NEVER);
    assert_int_equal(scps_dgram_send(d, NULL, "x", 1, 0), SCPS_ERR_NOTCONN);
    assert_int_equal(scps_dgram_send(d, &h.them, "hello", 5, 0), 0);
    assert_int_equal(scps_dgram_send(d, &h.them, NULL, 0, 0), 0);
    assert_int_equal(scps_dgram_unsent(d), 2 * headers(&h) + 5);
    assert_true(scps_stack_deadline(h.st) <= h.now);
    expect_datagram(&h, "hello", 5);
    assert_true(scps_addr_equal(&h.ip.src, &h.us.addr) && scps_addr_equal(&h.ip.dst, &h.them.addr));
    assert_int_equal(h.udp.sport, 5001);
    assert_int_equal(h.udp.dport, 7000);
    assert_int_equal(h.ip.tos, 0xb8);
    assert_int_equal(h.ip.ttl, 9);
    assert_true(h.ip.df);
    assert_int_equal(h.ip.id, 0);
    /* RFC 1122 section 4.1.3.4: UDP checksums are on by default. */
    assert_int_not_equal(scps_get16(h.p + h.ip.hdr_len + 6), 0);
    expect_no_event(&h);
    expect_datagram(&h, "", 0);
    expect_nothing(&h);
    expect_event(&h, d, SCPS_EV_DRAINED);
    expect_no_event(&h);
    scps_dgram_get_stats(d, &s);
    assert_int_equal(s.out, 2);
    assert_int_equal(s.out_bytes, 5);
    /* Without DF routers may fragment, so each packet has its own identification. */
    cfg.df_off = true;
    scps_dgram_set_config(d, &cfg);
    if (h.us.addr.family == 4) {
        uint32_t id = 0;
        for (int i = 0; i < 3; i++) {
            scps_dgram_send(d, &h.them, "x", 1, 0);
            expect_datagram(&h, "x", 1);
            assert_false(h.ip.df);
            assert_true(i == 0 || h.ip.id == id + 1);
            id = h.ip.id;
        }
    }
    host_fini(&h);
}

/* A checksum that comes out as 0 is sent as 0xffff (RFC 768). */
static void checksum_zero(void **x)
{
    struct host h;
    bool met = false;
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    for (uint32_t v = 0; v < 65536; v++) {
        uint8_t data[2] = {(uint8_t)(v >> 8), (uint8_t)v};
        assert_int_equal(scps_dgram_send(d, &h.them, data, 2, 0), 0);
        /* A checksum field of 0 is invalid in IPv6, and in IPv4 means that there is no checksum. */
        assert_true(leaves(&h));
        assert_int_not_equal(scps_get16(h.p + h.ip.hdr_len + 6), 0);
        met |= scps_get16(h.p + h.ip.hdr_len + 6) == 0xffff;
    }
    assert_true(met);
    host_fini(&h);
}

/* A datagram that fits the MTU is sent; one that is an octet longer is refused, because datagrams
 * are not fragmented. */
static void too_long(void **x)
{
    struct host h;
    uint8_t data[MTU] = {1};
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    uint32_t most = scps_dgram_room(d, &h.them);
    assert_int_equal(most, MTU - headers(&h));
    assert_int_equal(scps_dgram_send(d, &h.them, data, most + 1, 0), SCPS_ERR_MSGSIZE);
    assert_int_equal(scps_dgram_send(d, &h.them, data, SIZE_MAX, 0), SCPS_ERR_MSGSIZE);
    expect_nothing(&h);
    assert_int_equal(scps_dgram_send(d, &h.them, data, most, 0), 0);
    expect_datagram(&h, data, most);
    assert_int_equal(h.len, MTU);
    /* The MTU of the route also limits the length. */
    struct scps_route r = {.dst = h.them.addr,
                           .prefix = h.them.addr.family == 4 ? 32 : 128,
                           .nif = &h.nif,
                           .mtu = 1400};
    assert_int_equal(scps_stack_add_route(h.st, &r), 0);
    assert_int_equal(scps_dgram_send(d, &h.them, data, most, 0), SCPS_ERR_MSGSIZE);
    assert_int_equal(scps_dgram_room(d, &h.them), 1400 - headers(&h));
    host_fini(&h);
}

/* The send queue has a limit, accepts any one datagram when it is empty, and is reported as
 * writable when it is half empty. */
/* A datagram may be refused although the send queue is less than half full. Until there is room for
 * it the endpoint is not writable: a program that waits for that would otherwise try again at once,
 * without end. */
static void a_datagram_longer_than_the_rest_of_the_queue(void **x)
{
    struct host h;
    uint8_t data[1400] = {0};
    host_init(&h, x);
    struct scps_dgram_config cfg = scps_dgram_config_default();
    cfg.sndbuf = 1950;
    struct scps_dgram *d = scps_dgram_open(h.st, &cfg, &h.us, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(scps_dgram_send(d, &h.them, data, 250, 0), 0);
    assert_true(scps_dgram_writable(d));
    assert_int_equal(scps_dgram_send(d, &h.them, data, 1400, 0), SCPS_ERR_AGAIN);
    assert_false(scps_dgram_writable(d));
    /* When one packet has left, the room does not suffice for the refused datagram; when two have
     * left, it does. */
    assert_true(leaves(&h));
    expect_no_event(&h);
    assert_false(scps_dgram_writable(d));
    assert_true(leaves(&h));
    expect_event(&h, d, SCPS_EV_WRITABLE);
    assert_true(scps_dgram_writable(d));
    assert_int_equal(scps_dgram_send(d, &h.them, data, 1400, 0), 0);
    host_fini(&h);
}

static void queue_out(void **x)
{
    struct host h;
    uint8_t data[1000] = {0};
    host_init(&h, x);
    struct scps_dgram_config cfg = scps_dgram_config_default();
    cfg.sndbuf = 4 * (1000 + headers(&h));
    struct scps_dgram *d = scps_dgram_open(h.st, &cfg, &h.us, NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(scps_dgram_send(d, &h.them, data, 1000, 0), 0);
    assert_int_equal(scps_dgram_send(d, &h.them, data, 0, 0), SCPS_ERR_AGAIN);
    assert_true(leaves(&h));
    expect_no_event(&h);
    assert_true(leaves(&h));
    expect_event(&h, d, SCPS_EV_WRITABLE);
    assert_true(leaves(&h));
    expect_no_event(&h); /* No write was refused since then, so there is no event. */
    assert_true(leaves(&h));
    expect_event(&h, d, SCPS_EV_DRAINED);
    cfg.sndbuf = 1;
    scps_dgram_set_config(d, &cfg);
    assert_int_equal(scps_dgram_send(d, &h.them, data, 1000, 0), 0);
    assert_int_equal(scps_dgram_send(d, &h.them, data, 1, 0), SCPS_ERR_AGAIN);
    host_fini(&h);
}

/* Endpoints take turns in sending; the datagrams of each keep their order. */
static void turns(void **x)
{
    struct host h;
    char text[8];
    host_init(&h, x);
    struct scps_dgram *d[3];
    for (int i = 0; i < 3; i++) {
        d[i] = scps_dgram_open(h.st, NULL, NULL, NULL);
        assert_int_equal(scps_dgram_connect(d[i], &h.them), 0);
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof text, "%d %d", i, k);
            assert_int_equal(scps_dgram_send(d[i], NULL, text, 3, 0), 0);
        }
    }
    /* The endpoint is closed, but the datagrams in its queue are still sent. */
    scps_dgram_close(d[1]);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "%d %d", i, k);
            expect_datagram(&h, text, 3);
        }
    expect_nothing(&h);
    struct scps_stack_stats s;
    scps_stack_get_stats(h.st, &s);
    assert_int_equal(s.dgrams, 2);
    assert_int_equal(s.datagrams_out, 12);
    host_fini(&h);
}

/* A reader gets the source, the destination, the time of arrival and the traffic class of a
 * datagram; what does not fit its buffer is lost. */
static void one_arrives(void **x)
{
    struct host h;
    struct scps_dgram_from from;
    char buf[16] = "...............";
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    assert_int_equal(scps_dgram_recv(d, buf, sizeof buf, 0, &from), SCPS_ERR_AGAIN);
    h.now += 77;
    assert_int_equal(arrives(&h, "hello"), 0);
    assert_int_equal(arrives(&h, ""), 0);
    assert_int_equal(arrives(&h, "0123456789"), 0);
    expect_event(&h, d, SCPS_EV_READABLE);
    expect_no_event(&h);
    expect_nothing(&h);
    assert_int_equal(scps_dgram_next(d), 5);
    assert_int_equal(scps_dgram_recv(d, buf, sizeof buf, SCPS_PEEK, NULL), 5);
    assert_int_equal(scps_dgram_recv(d, buf, sizeof buf, 0, &from), 5);
    assert_memory_equal(buf, "hello.", 6);
    assert_true(scps_addr_equal(&from.remote.addr, &h.them.addr));
    assert_int_equal(from.remote.port, 7000);
    assert_true(scps_addr_equal(&from.local, &h.us.addr));
    assert_int_equal(from.tos, 0x20);
    assert_int_equal(from.at, h.now);
    assert_int_equal(scps_dgram_recv(d, buf, sizeof buf, 0, &from), 0);
    assert_int_equal(scps_dgram_recv(d, buf, 4, 0, &from), 10);
    assert_memory_equal(buf, "0123o", 5);
    assert_int_equal(scps_dgram_next(d), SCPS_ERR_AGAIN);
    host_fini(&h);
}

/* Every impossible length and every flipped bit is dropped by its name, without a reply or a
 * delivery. */
static void hostile(void **x)
{
    struct host h;
    uint8_t p[256], q[256];
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    size_t ip = headers(&h) - 8, n = datagram(p, &h.them, &h.us, "odd", 3);

    for (size_t len = 0; len < 8; len++) { /* The packet ends within the UDP header. */
        memcpy(q, p, ip + len);
        struct scps_ip head = {.src = h.them.addr,
                               .dst = h.us.addr,
                               .version = h.us.addr.family,
                               .proto = 17,
                               .ttl = 60};
        scps_ip_build(q, &head, len);
        uint64_t was = dropped(&h, SCPS_DROP_TRUNCATED);
        assert_int_equal(input(&h, q, ip + len), SCPS_DROP_TRUNCATED);
        assert_int_equal(dropped(&h, SCPS_DROP_TRUNCATED), was + 1);
    }
    for (unsigned len = 0; len < 65536; len++) { /* The length field has every value. */
        memcpy(q, p, n);
        scps_put16(q + ip + 4, (uint16_t)len);
        scps_put16(q + ip + 6, 0);
        if (len == 11)
            continue;
        int want = len < 8 || len > 11     ? SCPS_DROP_BAD_UDP
                   : h.us.addr.family == 6 ? SCPS_DROP_BAD_CHECKSUM
                                           : 0;
        uint64_t was = dropped(&h, SCPS_DROP_BAD_UDP);
        assert_int_equal(input(&h, q, n), want);
        assert_int_equal(dropped(&h, SCPS_DROP_BAD_UDP), was + (want == SCPS_DROP_BAD_UDP));
    }
    /* The length is shorter than the packet, so the rest is padding. */
    if (h.us.addr.family == 4) {
        expect_read(d, "");
        expect_read(d, "o");
        expect_read(d, "od");
    }
    for (size_t bit = (ip + 6) * 8; bit < n * 8; bit++) {
        memcpy(q, p, n);
        q[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(input(&h, q, n), SCPS_DROP_BAD_CHECKSUM);
    }
    /* Only IPv4 allows a datagram without checksum (RFC 1122 section 4.1.3.4; RFC 8200 section
     * 8.1). */
    memcpy(q, p, n);
    scps_put16(q + ip + 6, 0);
    assert_int_equal(input(&h, q, n), h.us.addr.family == 4 ? 0 : SCPS_DROP_BAD_CHECKSUM);
    if (h.us.addr.family == 4)
        expect_read(d, "odd");
    /* The device has verified the checksum. */
    memcpy(q, p, n);
    q[ip + 6] ^= 1;
    struct scps_pkt sure = {.data = q, .len = n, .csum_ok = true, .at = h.now};
    assert_int_equal(scps_stack_input(h.st, &h.nif, &sure), 0);
    expect_read(d, "odd");
    assert_int_equal(scps_dgram_next(d), SCPS_ERR_AGAIN);
    expect_nothing(&h);
    host_fini(&h);
}

/* Fragments are dropped as SCPS_DROP_FRAGMENT, because the stack does not reassemble. */
static void fragments(void **x)
{
    struct host h;
    uint8_t p[256];
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    if (h.us.addr.family == 4) {
        struct scps_ip ip = {.src = h.them.addr,
                             .dst = h.us.addr,
                             .version = 4,
                             .proto = 17,
                             .ttl = 60,
                             .more_frags = true};
        scps_ip_build(p, &ip, 40);
        memset(p + 20, 0, 40);
        assert_int_equal(input(&h, p, 60), SCPS_DROP_FRAGMENT);
        ip.more_frags = false;
        ip.frag_off = 40;
        scps_ip_build(p, &ip, 40);
        assert_int_equal(input(&h, p, 60), SCPS_DROP_FRAGMENT);
    } else {
        struct scps_ip ip = {
            .src = h.them.addr, .dst = h.us.addr, .version = 6, .proto = 44, .ttl = 60};
        scps_ip_build(p, &ip, 48);
        memset(p + 40, 0, 48);
        p[40] = 17;
        p[43] = 1; /* The header says that more fragments follow. */
        assert_int_equal(input(&h, p, 88), SCPS_DROP_FRAGMENT);
    }
    assert_int_equal(scps_dgram_next(d), SCPS_ERR_AGAIN);
    expect_nothing(&h);
    host_fini(&h);
}

/* A datagram behind a Routing header is taken if no segments are left, and else dropped (RFC 8200
 * section 4.4, RFC 5095 section 3); one with an IPv4 source route if that is completed (RFC 1122
 * section 3.2.1.8). */
static void routing_header(void **x)
{
    struct host h;
    uint8_t p[256], q[256];
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    size_t n = datagram(p, &h.them, &h.us, "routed", 6);

    if (h.us.addr.family == 6) {
        for (uint8_t left = 0; left < 2; left++) {
            memcpy(q, p, 40);
            q[5] = (uint8_t)(q[5] + 8);
            q[6] = 43;
            memcpy(q + 40, ((uint8_t[8]){17, 0, 0, left}), 8);
            memcpy(q + 48, p + 40, n - 40);
            assert_int_equal(input(&h, q, n + 8), left ? SCPS_DROP_NOT_OURS : 0);
        }
    } else {
        for (uint8_t left = 0; left < 2; left++) {
            memcpy(q, p, 20);
            q[0] = 0x47;
            q[3] = (uint8_t)(q[3] + 8);
            memcpy(q + 20, ((uint8_t[8]){131, 7, left ? 4 : 8, 10, 0, 0, 9, 0}), 8);
            scps_put16(q + 10, 0);
            scps_put16(q + 10, scps_cksum_fold(scps_cksum_add(0, q, 28)));
            memcpy(q + 28, p + 20, n - 20);
            assert_int_equal(input(&h, q, n + 8), left ? SCPS_DROP_NOT_OURS : 0);
        }
    }
    expect_read(d, "routed");
    assert_int_equal(scps_dgram_next(d), SCPS_ERR_AGAIN);
    expect_nothing(&h);
    host_fini(&h);
}

/* The octets of a datagram may be in two pieces, cut anywhere, and end with hollow payload (octets
 * that are counted, not stored). */
static void pieces(void **x)
{
    static const char text[] = "twenty octets of text";
    struct host h;
    uint8_t p[256], q[256];
    char buf[64];
    struct scps_dgram_from from;
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    size_t n = datagram(p, &h.them, &h.us, text, 21), hl = headers(&h);

    for (size_t cut = hl; cut <= n; cut++) {
        struct scps_pkt in = {
            .data = p, .len = cut, .payload = p + cut, .payload_len = n - cut, .at = h.now};
        assert_int_equal(scps_stack_input(h.st, &h.nif, &in), 0);
        expect_read(d, text);
        if (cut == n)
            break;
        p[n - 1] ^= 4;
        assert_int_equal(scps_stack_input(h.st, &h.nif, &in), SCPS_DROP_BAD_CHECKSUM);
        p[n - 1] ^= 4;
    }
    memset(q, 0, sizeof q);
    memcpy(q, text, 5);
    n = datagram(p, &h.them, &h.us, q, 40);
    struct scps_pkt in = {.data = p, .len = hl + 5, .payload_len = 35, .at = h.now};
    assert_int_equal(scps_stack_input(h.st, &h.nif, &in), 0);
    memset(buf, 1, sizeof buf);
    assert_int_equal(scps_dgram_recv(d, buf, sizeof buf, 0, &from), 40);
    assert_int_equal(from.hollow, 35);
    assert_memory_equal(buf, q, 40);
    assert_int_equal(buf[40], 1);
    host_fini(&h);
}

/* Hollow payload leaves as such on links that support it, and as zeros on others. */
static void hollow(void **x)
{
    struct host h;
    uint8_t first[SCPS_DGRAM_PREFIX + 1] = "first", want[1000] = "first";
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    assert_int_equal(scps_dgram_send(d, &h.them, first, 6, 994), SCPS_ERR_INVAL);
    h.nif.flags = SCPS_NETIF_HOLLOW;
    assert_int_equal(scps_dgram_send(d, &h.them, first, SCPS_DGRAM_PREFIX + 1, 1), SCPS_ERR_INVAL);
    assert_int_equal(scps_dgram_send(d, &h.them, first, 6, MTU), SCPS_ERR_MSGSIZE);
    for (size_t len = 0; len <= SCPS_DGRAM_PREFIX; len += 3) {
        assert_int_equal(scps_dgram_send(d, &h.them, first, len, 1000 - len), 0);
        memset(want, 0, sizeof want);
        memcpy(want, first, len);
        expect_datagram(&h, want, 1000);
        assert_int_equal(h.hollow, 1000 - len);
    }
    host_fini(&h);
}

/* The receive queue is limited in bytes, accepts any one datagram when it is empty, and a datagram
 * that finds it full is dropped and counted. */
static void queue_in(void **x)
{
    struct host h;
    char text[101];
    host_init(&h, x);
    struct scps_dgram_config cfg = scps_dgram_config_default();
    struct scps_dgram_stats s;
    memset(text, 'x', 100);
    text[100] = 0;
    cfg.rcvbuf = 3 * 164;
    struct scps_dgram *d = scps_dgram_open(h.st, &cfg, &h.us, NULL);
    for (int i = 0; i < 5; i++)
        assert_int_equal(arrives(&h, text), i < 3 ? 0 : SCPS_DROP_UDP_QUEUE_FULL);
    /* Datagrams without data take space in the queue, too. */
    assert_int_equal(arrives(&h, ""), SCPS_DROP_UDP_QUEUE_FULL);
    scps_dgram_get_stats(d, &s);
    assert_int_equal(s.in, 3);
    assert_int_equal(s.full, 3);
    assert_int_equal(dropped(&h, SCPS_DROP_UDP_QUEUE_FULL), 3);
    for (int i = 0; i < 3; i++)
        expect_read(d, text);
    assert_int_equal(arrives(&h, "again"), 0);
    expect_read(d, "again");
    cfg.rcvbuf = 0;
    scps_dgram_set_config(d, &cfg);
    assert_int_equal(arrives(&h, text), 0);
    assert_int_equal(arrives(&h, ""), SCPS_DROP_UDP_QUEUE_FULL);
    h.poor.left = 0; /* If there is no memory the datagram is dropped. */
    struct scps_dgram *e = scps_dgram_open(h.st, NULL, NULL, NULL);
    assert_null(e);
    h.poor.left = 1;
    e = scps_dgram_open(h.st, NULL, NULL, NULL);
    assert_non_null(e);
    assert_int_equal(scps_dgram_send(e, &h.them, "x", 1, 0), SCPS_ERR_NOMEM);
    expect_nothing(&h);
    host_fini(&h);
}

/* Of the endpoints that match a datagram, the one with the most exact address gets it. */
static void who_gets_it(void **x)
{
    struct host h;
    struct scps_endpoint any = {.port = 5001}, family = any, other, at;
    int err;
    host_init(&h, x);
    family.addr.family = h.us.addr.family;
    other = h.them;
    other.port = 7001;
    struct scps_dgram_config cfg = scps_dgram_config_default();
    struct scps_dgram *d = opened(&h);
    assert_true(scps_dgram_port_busy(h.st, &h.us));
    assert_null(scps_dgram_open(h.st, NULL, &h.us, &err));
    assert_int_equal(err, SCPS_ERR_ADDRINUSE);
    assert_null(scps_dgram_open(h.st, NULL, &family, &err));
    assert_int_equal(err, SCPS_ERR_ADDRINUSE);
    assert_null(scps_dgram_open(h.st, NULL, &h.them, &err));
    assert_int_equal(err, SCPS_ERR_ADDRNOTAVAIL);
    assert_false(scps_stack_port_busy(h.st, &h.us)); /* TCP's ports are separate. */
    scps_dgram_close(d);
    assert_false(scps_dgram_port_busy(h.st, &h.us));
    cfg.reuse = true;
    struct scps_dgram *wide = scps_dgram_open(h.st, &cfg, &any, NULL);
    struct scps_dgram *exact = scps_dgram_open(h.st, &cfg, &h.us, NULL);
    struct scps_dgram *bound = scps_dgram_open(h.st, &cfg, &any, NULL);
    assert_true(wide && exact && bound);
    assert_null(scps_dgram_open(h.st, NULL, &any, &err));
    assert_int_equal(scps_dgram_connect(bound, &other), 0);
    scps_dgram_local(bound, &at);
    assert_true(scps_addr_equal(&at.addr, &h.us.addr));
    assert_int_equal(arrives(&h, "a"), 0);
    assert_int_equal(arrives_from(&h, &other, "b"), 0);
    expect_read(exact, "a");
    expect_read(bound, "b");
    assert_int_equal(scps_dgram_connect(bound, NULL), 0);
    scps_dgram_local(bound, &at);
    assert_int_equal(at.addr.family, 0);
    /* One that is connected gets it before one with an address, even if it was opened earlier. */
    assert_int_equal(scps_dgram_connect(wide, &other), 0);
    assert_int_equal(arrives_from(&h, &other, "f"), 0);
    expect_read(wide, "f");
    assert_int_equal(scps_dgram_connect(wide, NULL), 0);
    scps_dgram_close(exact);
    assert_int_equal(arrives(&h, "c"), 0);
    expect_read(bound, "c"); /* Of equal endpoints the one that was opened last gets it. */
    scps_dgram_close(bound);
    assert_int_equal(arrives(&h, "d"), 0);
    expect_read(wide, "d");
    scps_dgram_close(wide);
    assert_int_equal(arrives(&h, "e"), SCPS_DROP_NO_UDP_PORT);
    forget_events(&h);
    host_fini(&h);
}

/* Ports that the stack chooses lie in its range and are all different. */
static void ephemeral(void **x)
{
    struct host h;
    struct scps_endpoint at;
    uint16_t seen[64];
    host_init(&h, x);
    for (int i = 0; i < 64; i++) {
        struct scps_dgram *d = scps_dgram_open(h.st, NULL, NULL, NULL);
        scps_dgram_local(d, &at);
        assert_true(at.port >= 49152);
        for (int k = 0; k < i; k++)
            assert_int_not_equal(at.port, seen[k]);
        seen[i] = at.port;
    }
    host_fini(&h);
}

/* A range of four ports serves four endpoints, and the port of a closed endpoint is used again. */
static void a_range_that_is_used_up(void **x)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    struct scps_dgram *d[4];
    struct scps_endpoint at, freed;
    unsigned seen = 0;
    int err = 0;
    (void)x;

    cfg.port_min = 6000;
    cfg.port_max = 6003;
    struct scps_stack *st = scps_stack_new(&cfg);
    for (int i = 0; i < 4; i++) {
        d[i] = scps_dgram_open(st, NULL, NULL, NULL);
        assert_non_null(d[i]);
        scps_dgram_local(d[i], &at);
        assert_in_range(at.port, 6000, 6003);
        seen |= 1u << (at.port - 6000);
    }
    assert_int_equal(seen, 15);
    assert_null(scps_dgram_open(st, NULL, NULL, &err));
    assert_int_equal(err, SCPS_ERR_ADDRINUSE);
    scps_dgram_local(d[2], &freed);
    scps_dgram_close(d[2]);
    d[2] = scps_dgram_open(st, NULL, NULL, &err);
    assert_non_null(d[2]);
    scps_dgram_local(d[2], &at);
    assert_int_equal(at.port, freed.port);
    scps_stack_free(st);
}

/* A destination of the other IP version has a route, but no source address is of that version:
 * neither the bound address nor, for an unbound endpoint, one of the host's. The refused call
 * changes nothing. */
static void the_other_family(void **x)
{
    struct host h;
    struct scps_endpoint at, any = {.port = 5001}, odd = {.addr = {.family = 5}, .port = 5001};
    int err = 0;
    host_init(&h, x);
    struct scps_endpoint other = {.port = 9};
    struct scps_route way = {.nif = &h.nif};
    const char *text = h.us.addr.family == 6 ? "10.9.0.1" : "2001:db8:9::1";
    assert_int_equal(scps_addr_parse(text, &other.addr), 0);
    way.dst.family = other.addr.family;
    assert_int_equal(scps_stack_add_route(h.st, &way), 0);
    assert_null(scps_dgram_open(h.st, NULL, &odd, &err));
    assert_int_equal(err, SCPS_ERR_INVAL);
    for (int bound = 0; bound < 2; bound++) {
        struct scps_dgram *d = scps_dgram_open(h.st, NULL, bound ? &h.us : &any, NULL);
        scps_dgram_remote(d, &at);
        assert_int_equal(at.addr.family, 0);
        assert_int_equal(scps_dgram_connect(d, &h.them), 0);
        assert_int_equal(scps_dgram_connect(d, &other), SCPS_ERR_ADDRNOTAVAIL);
        scps_dgram_remote(d, &at);
        assert_true(scps_addr_equal(&at.addr, &h.them.addr) && at.port == h.them.port);
        scps_dgram_close(d);
    }
    host_fini(&h);
}

/* An endpoint of both IP versions connects while datagrams to an address of the other version wait:
 * these no longer have a source address. */
static void connects_with_datagrams_waiting(void **x)
{
    struct host h;
    struct scps_endpoint any = {.port = 5001}, other = {.port = 9};
    struct scps_dgram_stats stats;
    host_init(&h, x);
    bool six = h.us.addr.family == 6;
    struct scps_addr ours;
    assert_int_equal(scps_addr_parse(six ? "10.9.0.1" : "2001:db8:9::1", &ours), 0);
    assert_int_equal(scps_addr_parse(six ? "10.9.0.2" : "2001:db8:9::2", &other.addr), 0);
    assert_int_equal(scps_stack_add_addr(h.st, &h.nif, &ours, six ? 24 : 64), 0);
    struct scps_dgram *d = scps_dgram_open(h.st, NULL, &any, NULL);
    assert_int_equal(scps_dgram_send(d, &other, "one", 3, 0), 0);
    assert_int_equal(scps_dgram_send(d, &h.them, "two", 3, 0), 0);
    assert_int_equal(scps_dgram_send(d, &other, "three", 5, 0), 0);
    assert_int_equal(scps_dgram_connect(d, &h.them), 0);
    expect_datagram(&h, "two", 3);
    assert_true(scps_addr_equal(&h.ip.src, &h.us.addr));
    expect_nothing(&h);
    scps_dgram_get_stats(d, &stats);
    assert_int_equal(stats.unsent, 2);
    assert_int_equal(stats.out, 1);
    assert_int_equal(scps_dgram_unsent(d), 0);
    host_fini(&h);
}

static void configuration(void **x)
{
    struct host h;
    struct scps_dgram_config cfg = scps_dgram_config_default(), got;
    host_init(&h, x);
    cfg.ttl = 3;
    struct scps_dgram *d = scps_dgram_open(h.st, &cfg, &h.us, NULL);
    for (int ttl = 3; ttl < 5; ttl++) {
        scps_dgram_get_config(d, &got);
        assert_int_equal(got.ttl, ttl);
        assert_int_equal(scps_dgram_send(d, &h.them, "x", 1, 0), 0);
        expect_datagram(&h, "x", 1);
        assert_int_equal(h.ip.ttl, ttl);
        got.ttl++;
        scps_dgram_set_config(d, &got);
    }
    host_fini(&h);
}

static void nowhere(void **x)
{
    struct host h;
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    bool six = h.us.addr.family == 6;
    const char *bad[] = {six ? "::" : "0.0.0.0", six ? "ff02::1" : "224.0.0.1",
                         six ? "2001:db9::1" : "192.0.2.1", six ? "10.0.0.2" : "2001:db8::2"};
    for (int i = 0; i < 4; i++) {
        struct scps_endpoint to = {.port = 9};
        assert_int_equal(scps_addr_parse(bad[i], &to.addr), 0);
        int err = i < 2 ? SCPS_ERR_BADADDR : SCPS_ERR_UNREACH;
        assert_int_equal(scps_dgram_send(d, &to, "x", 1, 0), err);
        int connected = scps_dgram_connect(d, &to);
        /* The address is of the other IP version. */
        assert_true(connected == err || (i == 3 && connected < 0));
    }
    struct scps_endpoint to = h.them;
    to.port = 0;
    assert_int_equal(scps_dgram_send(d, &to, "x", 1, 0), SCPS_ERR_INVAL);
    assert_int_equal(scps_dgram_connect(d, &to), SCPS_ERR_INVAL);
    expect_nothing(&h);
    host_fini(&h);
}

/* A datagram to a port that no endpoint has is answered with a port unreachable message that quotes
 * it, at a limited rate. */
static void port_unreachable(void **x)
{
    struct host h;
    struct scps_icmp m;
    host_init(&h, x);
    uint64_t was = dropped(&h, SCPS_DROP_NO_UDP_PORT);
    assert_int_equal(arrives(&h, "anybody?"), SCPS_DROP_NO_UDP_PORT);
    assert_int_equal(dropped(&h, SCPS_DROP_NO_UDP_PORT), was + 1);
    assert_true(leaves(&h));
    assert_int_equal(scps_icmp_parse(&h.ip, h.p + h.ip.hdr_len, h.len - h.ip.hdr_len, &m), 0);
    assert_int_equal(m.kind, SCPS_ICMP_UNREACH_PORT);
    assert_true(m.has_quote && m.sport == 7000 && m.dport == 5001);
    for (int i = 0; i < 2000; i++)
        arrives(&h, "flood");
    assert_true(dropped(&h, SCPS_DROP_RATE_LIMITED) >= 1000);
    host_fini(&h);
}

enum { NET, HOST, PORT, ADMIN, BIG };

/* Hands in an ICMP error that quotes the packet sent last. */
static int icmp(struct host *h, int what, uint32_t mtu)
{
    static const uint8_t v4[][2] = {{3, 0}, {3, 1}, {3, 3}, {3, 13}, {3, 4}};
    static const uint8_t v6[][2] = {{1, 0}, {1, 3}, {1, 4}, {1, 1}, {2, 0}};
    bool six = h->us.addr.family == 6;
    const uint8_t *c = six ? v6[what] : v4[what];
    struct scps_ip ip = {
        .src = h->them.addr, .dst = h->us.addr, .version = h->us.addr.family, .ttl = 60};
    uint8_t p[256];
    size_t n = six ? 40 : 20, quote = headers(h), len = 8 + quote;

    ip.proto = six ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP;
    scps_ip_build(p, &ip, len);
    p[n] = c[0];
    p[n + 1] = c[1];
    scps_put16(p + n + 2, 0);
    scps_put32(p + n + 4, mtu);
    memcpy(p + n + 8, h->p, quote);
    uint64_t sum = scps_cksum_add(0, p + n, len);
    if (six)
        sum = scps_cksum_pseudo(sum, &ip.src, &ip.dst, SCPS_IPPROTO_ICMPV6, (uint32_t)len);
    scps_put16(p + n + 2, scps_cksum_fold(sum));
    return input(h, p, n + len);
}

/* RFC 1122 section 4.1.3.3: every ICMP error is reported to the application, and none ends the
 * endpoint. */
static void icmp_errors(void **x)
{
    static const int want[] = {SCPS_ERR_UNREACH, SCPS_ERR_UNREACH, SCPS_ERR_REFUSED,
                               SCPS_ERR_UNREACH, SCPS_ERR_MSGSIZE};
    struct host h;
    struct scps_event ev;
    struct scps_endpoint about;
    unsigned type = 0;
    uint8_t data[1440] = {1};
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    for (int connected = 0; connected < 2; connected++) {
        if (connected)
            assert_int_equal(scps_dgram_connect(d, &h.them), 0);
        for (int what = NET; what <= BIG; what++) {
            assert_int_equal(scps_dgram_send(d, &h.them, data, sizeof data, 0), 0);
            expect_datagram(&h, data, sizeof data);
            forget_events(&h);
            assert_int_equal(icmp(&h, what, 1400), 0);
            assert_int_equal(scps_stack_event(h.st, &ev), 1);
            assert_int_equal(ev.kind, SCPS_EV_ERROR);
            assert_int_equal(ev.err, want[what]);
            assert_int_equal(scps_dgram_error(d, &about, &type), want[what]);
            assert_true(scps_addr_equal(&about.addr, &h.them.addr) && about.port == h.them.port);
            assert_int_equal(type >> 8, h.us.addr.family == 4 ? 3 : what == BIG ? 2 : 1);
            assert_int_equal(scps_dgram_error(d, NULL, NULL), 0);
        }
        /* Packet Too Big lowers the MTU towards that destination for ten minutes on a connected
         * endpoint; it never raises the MTU, nor lowers it below 256 (IPv4) or 1280 (IPv6). One of
         * IPv6 that gives less is discarded (RFC 8201 section 4). */
        assert_int_equal(scps_dgram_room(d, &h.them), (connected ? 1400 : MTU) - headers(&h));
    }
    if (h.us.addr.family == 6) {
        assert_int_equal(icmp(&h, BIG, 1279), SCPS_DROP_BAD_ICMP);
        assert_int_equal(scps_dgram_room(d, NULL), 1400 - headers(&h));
    }
    icmp(&h, BIG, h.us.addr.family == 4 ? 1 : 1280);
    for (unsigned mtu = 1300; mtu < 10000; mtu += 1450) {
        assert_int_equal(scps_dgram_room(d, NULL),
                         (h.us.addr.family == 4 ? 256 : 1280) - headers(&h));
        icmp(&h, BIG, mtu);
    }
    scps_stack_advance(h.st, h.now += SCPS_SEC(601));
    assert_int_equal(scps_dgram_room(d, NULL), MTU - headers(&h));
    /* The quoted port has no endpoint, so the error is reported to none. */
    scps_dgram_close(d);
    assert_int_equal(icmp(&h, PORT, 0), SCPS_DROP_BAD_ICMP);
    host_fini(&h);
}

/* Sends a datagram of len octets that all have the value `fill`, to h->them. */
static void send_filled(struct host *h, struct scps_dgram *d, uint8_t fill, size_t len)
{
    uint8_t data[1440];

    memset(data, fill, sizeof data);
    assert_int_equal(scps_dgram_send(d, &h->them, data, len, 0), 0);
    expect_datagram(h, data, len);
}

/* RFC 8085 section 5.2: ICMP messages should be checked "to ensure these are received in response
 * to transmitted traffic (i.e., a reported error condition that corresponds to a UDP datagram
 * actually sent by the application)". Addresses and ports of a datagram can be guessed, so
 * a Packet Too Big message that quotes no more of a datagram that was sent does not change the path
 * MTU. */
static void forged_too_big(void **x)
{
    struct host h;
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    uint32_t whole = MTU - headers(&h);
    assert_int_equal(scps_dgram_connect(d, &h.them), 0);
    /* Nothing was sent that is larger than the least path MTU. */
    send_filled(&h, d, 1, 100);
    scps_put16(h.p + h.ip.hdr_len + 4, 1400);
    assert_int_equal(icmp(&h, BIG, 1300), 0);
    assert_int_equal(scps_dgram_room(d, NULL), whole);
    send_filled(&h, d, 2, 1400);
    uint16_t sum = scps_get16(h.p + h.ip.hdr_len + 6);
    /* The quoted checksum is wrong, then the quoted length. */
    for (unsigned guess = 1; guess < 1000; guess++) {
        scps_put16(h.p + h.ip.hdr_len + 6, (uint16_t)(sum + guess));
        assert_int_equal(icmp(&h, BIG, 1300), 0);
    }
    scps_put16(h.p + h.ip.hdr_len + 6, sum);
    scps_put16(h.p + h.ip.hdr_len + 4, 1407);
    assert_int_equal(icmp(&h, BIG, 1300), 0);
    assert_int_equal(scps_dgram_room(d, NULL), whole);
    /* The datagram fits the MTU that the message gives. */
    scps_put16(h.p + h.ip.hdr_len + 4, 1408);
    assert_int_equal(icmp(&h, BIG, (uint32_t)h.len), 0);
    assert_int_equal(scps_dgram_room(d, NULL), whole);
    assert_int_equal(icmp(&h, BIG, (uint32_t)h.len - 1), 0);
    assert_int_equal(scps_dgram_room(d, NULL), h.len - 1 - headers(&h));
    /* A datagram sent to the former peer is none of the new one's. */
    send_filled(&h, d, 3, 1360);
    assert_int_equal(scps_dgram_connect(d, &h.them), 0);
    assert_int_equal(icmp(&h, BIG, 1300), 0);
    assert_int_equal(scps_dgram_room(d, NULL), whole);
    host_fini(&h);
}

/* A router may limit its Packet Too Big messages, and each comes a round trip after the datagram
 * that it quotes. Here 1000 datagrams leave each second, the round trip is one second, and of each
 * hundred datagrams one is too big; a message for each of those lowers the path MTU within two
 * seconds. */
static void too_big_of_many_datagrams(void **x)
{
    enum { N = 3000, RTT = 1000 };
    static uint8_t sent[N][96];
    struct host h;
    int i = 0;
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    assert_int_equal(scps_dgram_connect(d, &h.them), 0);
    for (; i < N && scps_dgram_room(d, NULL) == MTU - headers(&h); i++) {
        h.now += 1000;
        send_filled(&h, d, (uint8_t)i, i % 100 == 99 ? 1400 : 1290);
        memcpy(sent[i], h.p, sizeof sent[i]);
        if (i >= RTT && (i - RTT) % 100 == 99) {
            memcpy(h.p, sent[i - RTT], sizeof sent[i]);
            assert_int_equal(icmp(&h, BIG, 1360), 0);
        }
    }
    assert_in_range(i, RTT + 100, 2 * RTT);
    assert_int_equal(scps_dgram_room(d, NULL), 1360 - headers(&h));
    host_fini(&h);
}

/* With a rate on the route a burst leaves, then one packet at exact intervals. */
static void rate(void **x)
{
    struct host h;
    uint8_t data[1000] = {0};
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    uint32_t size = 1000 + headers(&h);
    struct scps_route r = {.dst = h.them.addr,
                           .prefix = h.them.addr.family == 4 ? 32 : 128,
                           .nif = &h.nif,
                           .rate = 12345,
                           .burst = 2 * (size + 20),
                           .overhead = {.packet = 20}};
    /* The datagrams were queued before the route got a rate, and wait for it all the same. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(scps_dgram_send(d, &h.them, data, 1000, 0), 0);
    assert_int_equal(scps_stack_add_route(h.st, &r), 0);
    for (int i = 0; i < 17; i++)
        assert_int_equal(scps_dgram_send(d, &h.them, data, 1000, 0), 0);
    scps_time begin = h.now;
    for (uint64_t n = 0; n < 20; n++) {
        scps_time at =
            n < 2 ? begin
                  : begin + (scps_time)(((n - 1) * (size + 20) * 1000000 + r.rate - 1) / r.rate);
        if (at > h.now) {
            expect_nothing(&h);
            assert_int_equal(scps_stack_deadline(h.st), at);
        }
        h.now = at;
        expect_datagram(&h, data, 1000);
    }
    expect_nothing(&h);
    host_fini(&h);
}

/* SYNs that are to be sent again wait for the datagram before them, which waits for the rate of the
 * route. The retransmission timers of the SYNs, 4 ms, do not expire again and again in the second
 * until that datagram leaves, although the token bucket holds enough for a SYN. */
static void syns_wait_for_a_datagram(void **x)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct host h;
    uint8_t data[1000] = {0};
    unsigned services = 0, syns = 0;

    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    struct scps_route r = {.dst = h.them.addr,
                           .prefix = h.us.addr.family == 6 ? 128 : 32,
                           .nif = &h.nif,
                           .rate = 600,
                           .burst = 1200};
    assert_int_equal(scps_stack_add_route(h.st, &r), 0);
    cfg.expected_rtt = SCPS_MS(1);
    for (int i = 0; i < 2; i++)
        assert_non_null(scps_connect(h.st, &cfg, NULL, &h.them, NULL));
    assert_int_equal(scps_dgram_send(d, &h.them, data, 700, 0), 0);
    assert_int_equal(scps_dgram_send(d, &h.them, data, 900, 0), 0);
    for (unsigned datagrams = 0; datagrams < 2; services++) {
        while (leaves(&h)) {
            syns += h.ip.proto == SCPS_IPPROTO_TCP;
            datagrams += h.ip.proto == SCPS_IPPROTO_UDP;
        }
        h.now = scps_stack_deadline(h.st);
    }
    assert_int_equal(syns, 2);
    assert_true(h.now >= SCPS_MS(5900));
    assert_in_range(services, 2, 6);
    host_fini(&h);
}

/* A driver calls scps_stack_output() until it returns 0, and then at the deadline: no packet may be
 * due at once then. Here an endpoint is closed before its last datagram leaves, and SYNs wait for
 * the same route, which has a rate. */
static void closed_with_connections_waiting(void **x)
{
    for (unsigned syns = 1; syns < 8; syns++) {
        struct host h;
        struct scps_dgram *d;
        unsigned left = 0;

        host_init(&h, x);
        struct scps_route r = {.dst = h.them.addr,
                               .prefix = h.us.addr.family == 6 ? 128 : 32,
                               .nif = &h.nif,
                               .rate = 1000000};
        assert_int_equal(scps_stack_add_route(h.st, &r), 0);
        d = scps_dgram_open(h.st, NULL, &h.us, NULL);
        for (unsigned i = 0; i < syns; i++)
            assert_non_null(scps_connect(h.st, NULL, NULL, &h.them, NULL));
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(scps_dgram_send(d, &h.them, "abc", 3, 0), 0);
        scps_dgram_close(d);
        for (struct scps_pkt out = {.data = h.p, .cap = sizeof h.p};
             scps_stack_output(h.st, &h.nif, h.now, &out) == 1; left++)
            ;
        assert_int_equal(left, syns + 3);
        assert_true(scps_stack_deadline(h.st) > h.now);
        host_fini(&h);
    }
}

/* RFC 6040 section 4.2: every cell of figure 4. */
static void out_of_a_tunnel(void **x)
{
    enum { N = SCPS_ECN_NONE, T1 = SCPS_ECN_ECT1, T0 = SCPS_ECN_ECT0, CE = SCPS_ECN_CE, DROP };
    static const struct {
        uint8_t inner, outer, out;
    } cells[] = {
        /* The rows are in the RFC's order. */
        {N, N, N},    {N, T0, N},   {N, T1, N},   {N, CE, DROP}, {T0, N, T0},  {T0, T0, T0},
        {T0, T1, T1}, {T0, CE, CE}, {T1, N, T1},  {T1, T0, T1},  {T1, T1, T1}, {T1, CE, CE},
        {CE, N, CE},  {CE, T0, CE}, {CE, T1, CE}, {CE, CE, CE},
    };
    struct host h;
    struct scps_stack_stats s;
    host_init(&h, x);
    struct scps_dgram *d = opened(&h);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct scps_dgram_from from;
        uint8_t p[200], got;
        size_t n = datagram(p, &h.them, &h.us, "x", 1);
        struct scps_pkt in = {.data = p, .len = n, .ecn = cells[i].outer, .at = h.now};
        struct scps_ip ip;
        assert_int_equal(scps_pkt_ecn(&in), 0);
        assert_int_equal(scps_ip_parse(p, n, n, &ip), 0);
        ip.tos |= cells[i].inner;
        scps_ip_build(p, &ip, n - ip.hdr_len);
        assert_int_equal(scps_pkt_ecn(&in), cells[i].inner);
        if (cells[i].out == DROP) {
            assert_int_equal(scps_stack_input(h.st, &h.nif, &in), SCPS_DROP_NOT_ECT);
            continue;
        }
        assert_int_equal(scps_stack_input(h.st, &h.nif, &in), 0);
        assert_int_equal(scps_dgram_recv(d, &got, 1, 0, &from), 1);
        /* The other bits of the octet are those of the inner header. */
        assert_int_equal(from.tos, 0x20 | cells[i].out);
    }
    scps_stack_get_stats(h.st, &s);
    assert_int_equal(s.drops[SCPS_DROP_NOT_ECT], 1);
    assert_int_equal(scps_pkt_ecn(&(struct scps_pkt){.len = 1}), 0);
    host_fini(&h);
}

/* A netif is removed: datagrams that waited for it are lost, and endpoints connected over it get an
 * event. */
static void link_gone(void **x)
{
    struct host h;
    struct scps_dgram_stats s;
    host_init(&h, x);
    struct scps_dgram *d = opened(&h), *gone = scps_dgram_open(h.st, NULL, NULL, NULL);
    assert_int_equal(scps_dgram_connect(d, &h.them), 0);
    scps_dgram_send(d, NULL, "x", 1, 0);
    scps_dgram_send(gone, &h.them, "y", 1, 0);
    scps_dgram_close(gone);
    scps_stack_remove_netif(h.st, &h.nif);
    scps_dgram_get_stats(d, &s);
    assert_int_equal(s.unsent, 1);
    assert_int_equal(scps_dgram_error(d, NULL, NULL), SCPS_ERR_LINKDOWN);
    assert_int_equal(scps_dgram_send(d, NULL, "x", 1, 0), SCPS_ERR_UNREACH);
    assert_int_equal(scps_stack_deadline(h.st), SCPS_NEVER);
    host_fini(&h);
}

#define BOTH(name)                                                                                 \
    {#name " (IPv4)", name, NULL, NULL, (void *)(uintptr_t)4},                                     \
    {                                                                                              \
#name " (IPv6)", name, NULL, NULL, (void *)(uintptr_t)6                                    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(one_leaves),
        BOTH(checksum_zero),
        BOTH(too_long),
        BOTH(queue_out),
        BOTH(a_datagram_longer_than_the_rest_of_the_queue),
        BOTH(turns),
        BOTH(one_arrives),
        BOTH(hostile),
        BOTH(fragments),
        BOTH(routing_header),
        BOTH(pieces),
        BOTH(hollow),
        BOTH(queue_in),
        BOTH(who_gets_it),
        BOTH(ephemeral),
        BOTH(nowhere),
        BOTH(port_unreachable),
        BOTH(icmp_errors),
        BOTH(forged_too_big),
        BOTH(too_big_of_many_datagrams),
        BOTH(rate),
        BOTH(link_gone),
        BOTH(closed_with_connections_waiting),
        BOTH(syns_wait_for_a_datagram),
        BOTH(out_of_a_tunnel),
        BOTH(the_other_family),
        BOTH(connects_with_datagrams_waiting),
        BOTH(configuration),
        cmocka_unit_test(a_range_that_is_used_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
