/* SPDX-License-Identifier: MIT */
/* A peer controlled by the test, for socket tests: the test injects packets into a context and
 * takes those that the context sends, with sequence numbers relative to the two initial ones, as
 * packetdrill writes them.
 *
 *     struct peer p;
 *     peer_open(&p, NULL);                          // a context at 10.0.0.1, Linux's figures
 *     int s = peer_connected(&p);                   // or peer_accepted: a handshake
 *     peer_sends(&p, SCPS_ACK | SCPS_PSH, 1, 1, 100);
 *     peer_gets(&p, SCPS_ACK, 1, 101, 0);           // the next packet out is this one
 *     peer_gets_nothing(&p);
 */
#ifndef SCPS_SUPPORT_SOCKPEER_H
#define SCPS_SUPPORT_SOCKPEER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <scps/socket.h>
#include <scps/wire.h>

#define PEER_PORT 7000
#define OUR_PORT  8080
#define PEER_ISN  1000u
#define PEER_WND  60000u

struct peer {
    struct scps_ctx *ctx;
    int domain; /* domain of the context's socket: SCPS_AF_INET or SCPS_AF_INET6 */
    struct scps_addr us, them;
    uint16_t our_port, their_port;
    uint32_t our_isn;
    uint32_t tsval;    /* TSval of the peer's segments, if ts is true */
    bool ts;           /* every segment of the peer has timestamps */
    uint16_t mss;      /* MSS option in the peer's SYN; 0: no option */
    uint16_t wnd;      /* window of the peer's segments, not scaled */
    uint8_t buf[2048]; /* the packet that peer_takes() has taken last */
    struct scps_ip ip;
    struct scps_seg seg;
    scps_time at;
};

/* Requires that expr returns -1 and sets errno to e. */
#define assert_errno(expr, e)                                                                      \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_int_equal((long long)(expr), -1);                                                   \
        assert_int_equal(errno, e);                                                                \
    } while (0)

static inline struct scps_addr peer_addr(const char *text)
{
    struct scps_addr a;
    assert_int_equal(scps_addr_parse(text, &a), 0);
    return a;
}

/* Opens a context and a peer. domain: SCPS_AF_INET6 uses family 6 addresses; tests of dual stack
 * change us and them. */
static inline void peer_open_at(struct peer *p, const struct scps_ctx_config *cfg, int domain)
{
    struct scps_ctx_config def = scps_ctx_config_linux();
    *p = (struct peer){.domain = domain, .their_port = PEER_PORT, .mss = 1000, .wnd = PEER_WND};
    p->us = peer_addr(domain == SCPS_AF_INET6 ? "2001:db8::1" : "10.0.0.1");
    p->them = peer_addr(domain == SCPS_AF_INET6 ? "2001:db8::2" : "10.0.0.2");
    p->ctx = scps_ctx_new(cfg ? cfg : &def);
    assert_non_null(p->ctx);
    assert_int_equal(scps_ctx_add_addr(p->ctx, &p->us, domain == SCPS_AF_INET6 ? 64 : 24), 0);
}

static inline void peer_open(struct peer *p, const struct scps_ctx_config *cfg)
{
    peer_open_at(p, cfg, SCPS_AF_INET);
}

static inline void peer_close(struct peer *p)
{
    scps_ctx_free(p->ctx);
    p->ctx = NULL;
}

static inline scps_time peer_now(struct peer *p)
{
    return scps_ctx_now(p->ctx);
}

static inline void peer_wait(struct peer *p, scps_dur d)
{
    scps_ctx_advance(p->ctx, peer_now(p) + d);
}

static inline uint32_t peer_sockaddr(struct peer *p, struct scps_sockaddr_storage *ss,
                                     const struct scps_addr *a, uint16_t port)
{
    struct scps_endpoint ep = {*a, port};
    return scps_sockaddr_put(ss, p->domain, &ep);
}

static inline int peer_connect(struct peer *p, int s)
{
    struct scps_sockaddr_storage ss;
    uint32_t len = peer_sockaddr(p, &ss, &p->them, p->their_port);
    return scps_sock_connect(p->ctx, s, &ss, len);
}

static inline int peer_bind(struct peer *p, int s, const struct scps_addr *a, uint16_t port)
{
    struct scps_sockaddr_storage ss;
    uint32_t len = peer_sockaddr(p, &ss, a, port);
    return scps_sock_bind(p->ctx, s, &ss, len);
}

/* Injects a segment from the peer; data of len bytes counts up from the low byte of its offset. */
static inline int peer_sends_seg(struct peer *p, struct scps_seg *seg, uint32_t len)
{
    uint8_t pkt[2048];
    struct scps_ip ip = {.src = p->them,
                         .dst = p->us,
                         .version = p->us.family,
                         .proto = SCPS_IPPROTO_TCP,
                         .ttl = 64,
                         .df = true};
    uint32_t off = seg->seq - PEER_ISN;
    seg->sport = p->their_port;
    seg->dport = p->our_port;
    if (p->ts && !(seg->has & SCPS_HAS_TS)) {
        seg->has |= SCPS_HAS_TS;
        seg->tsval = ++p->tsval;
        seg->tsecr = p->seg.has & SCPS_HAS_TS ? p->seg.tsval : 0;
    }
    size_t th = scps_tcp_hdr_len(seg);
    size_t ih = scps_ip_build(pkt, &ip, th + len);
    assert_true(ih + th + len <= sizeof pkt);
    assert_int_equal(scps_tcp_build(pkt + ih, seg), th);
    for (uint32_t i = 0; i < len; i++)
        pkt[ih + th + i] = (uint8_t)(off + i);
    uint16_t ck = scps_tcp_checksum(&ip.src, &ip.dst, pkt + ih, th, pkt + ih + th, len);
    pkt[ih + 16] = (uint8_t)(ck >> 8);
    pkt[ih + 17] = (uint8_t)ck;
    return scps_ctx_inject(p->ctx, pkt, ih + th + len, peer_now(p));
}

static inline int peer_sends(struct peer *p, uint16_t flags, uint32_t seq, uint32_t ack,
                             uint32_t len)
{
    struct scps_seg seg = {.flags = flags, .seq = PEER_ISN + seq, .wnd = p->wnd};
    if (flags & SCPS_ACK)
        seg.ack = p->our_isn + ack;
    if (flags & SCPS_SYN && p->mss) {
        seg.has |= SCPS_HAS_MSS;
        seg.mss = p->mss;
    }
    return peer_sends_seg(p, &seg, len);
}

/* Takes the next packet of the context into p->seg, and requires that it is well formed. Returns
 * false if there is none. */
static inline bool peer_takes(struct peer *p)
{
    int64_t n = scps_ctx_take(p->ctx, p->buf, sizeof p->buf, &p->at);
    if (n == 0)
        return false;
    assert_true(n > 0);
    assert_int_equal(scps_ip_parse(p->buf, (size_t)n, (size_t)n, &p->ip), 0);
    assert_int_equal(p->ip.total_len, n);
    if (p->ip.proto != SCPS_IPPROTO_TCP)
        return true;
    uint8_t *t = p->buf + p->ip.hdr_len;
    size_t len = (size_t)n - p->ip.hdr_len;
    assert_int_equal(scps_tcp_parse(t, len, len, &p->seg), 0);
    assert_int_equal(scps_tcp_checksum(&p->ip.src, &p->ip.dst, t, p->seg.hdr_len,
                                       t + p->seg.hdr_len, p->seg.len),
                     0);
    if (p->seg.flags & SCPS_SYN)
        p->our_isn = p->seg.seq;
    return true;
}

#define peer_gets(p, flags_, seq_, ack_, len_)                                                     \
    do {                                                                                           \
        assert_true(peer_takes(p));                                                                \
        assert_int_equal((p)->seg.flags, flags_);                                                  \
        assert_int_equal((p)->seg.seq - (p)->our_isn, seq_);                                       \
        if ((flags_)&SCPS_ACK)                                                                     \
            assert_int_equal((p)->seg.ack - PEER_ISN, ack_);                                       \
        assert_int_equal((p)->seg.len, len_);                                                      \
    } while (0)

#define peer_gets_nothing(p) assert_false(peer_takes(p))

static inline unsigned peer_drains(struct peer *p)
{
    unsigned n = 0;
    while (peer_takes(p))
        n++;
    return n;
}

static inline int peer_socket(struct peer *p)
{
    int s = scps_socket(p->ctx, p->domain, SCPS_SOCK_STREAM, 0);
    assert_true(s >= 0);
    return s;
}

/* Requires that socket s, which connects, has sent its SYN. */
static inline void peer_is_called(struct peer *p, int s)
{
    assert_errno(peer_connect(p, s), EINPROGRESS);
    peer_gets(p, SCPS_SYN, 0, 0, 0);
    p->our_port = p->seg.sport;
}

/* Completes the handshake of client socket s; no packet waits afterwards. */
static inline void peer_handshakes(struct peer *p, int s)
{
    peer_is_called(p, s);
    peer_sends(p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_gets(p, SCPS_ACK, 1, 1, 0);
}

static inline int peer_connected(struct peer *p)
{
    int s = peer_socket(p);
    peer_handshakes(p, s);
    assert_int_equal(peer_connect(p, s), 0);
    return s;
}

static inline int peer_listens(struct peer *p, int backlog)
{
    int s = peer_socket(p), one = 1;
    struct scps_addr any = {.family = p->us.family};
    assert_int_equal(scps_sock_setsockopt(p->ctx, s, SCPS_SOL_SOCKET, SCPS_SO_REUSEADDR, &one, 4),
                     0);
    assert_int_equal(peer_bind(p, s, &any, OUR_PORT), 0);
    assert_int_equal(scps_sock_listen(p->ctx, s, backlog), 0);
    return s;
}

/* The peer connects to OUR_PORT from port `from`. */
static inline void peer_calls(struct peer *p, uint16_t from)
{
    p->our_port = OUR_PORT;
    p->their_port = from;
    peer_sends(p, SCPS_SYN, 0, 0, 0);
    peer_gets(p, SCPS_SYN | SCPS_ACK, 0, 1, 0);
    peer_sends(p, SCPS_ACK, 1, 1, 0);
}

static inline int peer_accepted(struct peer *p)
{
    int l = peer_listens(p, 5);
    peer_calls(p, PEER_PORT);
    int s = scps_sock_accept(p->ctx, l, NULL, NULL);
    assert_true(s >= 0);
    return s;
}

/* Returns the events that poll reports for s now. */
static inline int peer_poll(struct peer *p, int s)
{
    struct scps_pollfd fd = {.fd = s, .events = 0x7fff};
    int n = scps_sock_poll(p->ctx, &fd, 1, 0);
    assert_int_equal(n, fd.revents != 0);
    return fd.revents;
}

static inline int peer_getopt(struct peer *p, int s, int level, int name)
{
    int v = -12345;
    uint32_t len = sizeof v;
    assert_int_equal(scps_sock_getsockopt(p->ctx, s, level, name, &v, &len), 0);
    assert_int_equal(len, sizeof v);
    return v;
}

static inline struct scps_tcp_info peer_tcp_info(struct peer *p, int s)
{
    struct scps_tcp_info ti;
    uint32_t len = sizeof ti;
    assert_int_equal(scps_sock_getsockopt(p->ctx, s, SCPS_SOL_TCP, SCPS_TCP_INFO, &ti, &len), 0);
    assert_int_equal(len, sizeof ti);
    return ti;
}

static inline int peer_setopt(struct peer *p, int s, int level, int name, int v)
{
    return scps_sock_setsockopt(p->ctx, s, level, name, &v, sizeof v);
}

static inline int peer_so_error(struct peer *p, int s)
{
    return peer_getopt(p, s, SCPS_SOL_SOCKET, SCPS_SO_ERROR);
}

static inline int peer_ioctl(struct peer *p, int s, unsigned long req)
{
    int v = -12345;
    assert_int_equal(scps_sock_ioctl(p->ctx, s, req, &v), 0);
    return v;
}

#define P_IN  (SCPS_POLLIN | SCPS_POLLRDNORM)
#define P_OUT (SCPS_POLLOUT | SCPS_POLLWRNORM)

#endif
