/* SPDX-License-Identifier: MIT */
/* SOCK_DGRAM (UDP): two contexts are joined by a line; results and errors are those of Linux. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <scps/socket.h>
#include <scps/wire.h>

#include "failing_alloc.h"
#include "sockpeer.h"

enum { A, B };

struct two {
    int domain;
    struct scps_ctx *ctx[2];
    struct scps_addr at[2];
    struct scps_sockaddr_storage addr[2]; /* Each context's address, with port 5000. */
    uint32_t len;
    scps_time now;
};

static void two_open(struct two *t, void **x)
{
    static const char *const text[2][2] = {{"10.0.0.1", "10.0.0.2"},
                                           {"2001:db8::1", "2001:db8::2"}};
    bool six = (uintptr_t)*x == 6;
    *t = (struct two){.domain = six ? SCPS_AF_INET6 : SCPS_AF_INET};
    for (int i = 0; i < 2; i++) {
        struct scps_ctx_config cfg = scps_ctx_config_linux();
        t->ctx[i] = scps_ctx_new(&cfg);
        t->at[i] = peer_addr(text[six][i]);
        assert_int_equal(scps_ctx_add_addr(t->ctx[i], &t->at[i], six ? 64 : 24), 0);
        struct scps_endpoint ep = {t->at[i], 5000};
        t->len = scps_sockaddr_put(&t->addr[i], t->domain, &ep);
    }
}

static void two_close(struct two *t)
{
    scps_ctx_free(t->ctx[A]);
    scps_ctx_free(t->ctx[B]);
}

/* Delivers every packet that waits to the other end, 1 ms later. Returns the number of packets. */
static int carry(struct two *t)
{
    uint8_t p[2048];
    int64_t n;
    int packets = 0;
    t->now += 1000;
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < 2; i++)
            while ((n = scps_ctx_take(t->ctx[i], p, sizeof p, NULL)) > 0) {
                scps_ctx_inject(t->ctx[!i], p, (size_t)n, t->now);
                packets++;
            }
    return packets;
}

static int sock(struct two *t, int who)
{
    int s = scps_socket(t->ctx[who], t->domain, SCPS_SOCK_DGRAM, 0);
    assert_true(s >= 0);
    return s;
}

/* Returns the port that getsockname() reports for socket s of context A. */
static int port_of(struct two *t, int s)
{
    struct scps_sockaddr_storage name;
    struct scps_endpoint ep;
    uint32_t len = sizeof name;
    assert_int_equal(scps_sock_getsockname(t->ctx[A], s, &name, &len), 0);
    assert_int_equal(scps_sockaddr_get(&name, len, &ep), 0);
    return ep.port;
}

static int bound(struct two *t, int who)
{
    int s = sock(t, who);
    assert_int_equal(scps_sock_bind(t->ctx[who], s, &t->addr[who], t->len), 0);
    return s;
}

static short polled(struct two *t, int who, int s)
{
    struct scps_pollfd p = {s, 0x7fff, 0};
    scps_sock_poll(t->ctx[who], &p, 1, 0);
    return p.revents;
}

static const short OUT = SCPS_POLLOUT | SCPS_POLLWRNORM, IN = SCPS_POLLIN | SCPS_POLLRDNORM;

static void sent_and_received(void **x)
{
    struct two t;
    struct scps_sockaddr_storage from;
    struct scps_endpoint ep;
    uint32_t len = sizeof from;
    char buf[100];
    int n;
    two_open(&t, x);
    int a = sock(&t, A), b = bound(&t, B);
    assert_int_equal(polled(&t, A, a), OUT);
    assert_errno(scps_sock_recv(t.ctx[B], b, buf, sizeof buf, 0), EAGAIN);
    assert_int_equal(scps_sock_sendto(t.ctx[A], a, "hello", 5, 0, &t.addr[B], t.len), 5);
    assert_int_equal(scps_sock_sendto(t.ctx[A], a, "", 0, 0, &t.addr[B], t.len), 0);
    assert_int_equal(carry(&t), 2);
    assert_int_equal(polled(&t, B, b), IN | OUT);
    assert_int_equal(scps_sock_ioctl(t.ctx[B], b, SCPS_FIONREAD, &n), 0);
    assert_int_equal(n, 5);
    assert_int_equal(scps_sock_recv(t.ctx[B], b, buf, sizeof buf, SCPS_MSG_PEEK), 5);
    assert_int_equal(scps_sock_recvfrom(t.ctx[B], b, buf, sizeof buf, 0, &from, &len), 5);
    assert_memory_equal(buf, "hello", 5);
    assert_int_equal(len, t.len);
    assert_int_equal(scps_sockaddr_get(&from, len, &ep), 0);
    assert_true(scps_addr_equal(&ep.addr, &t.at[A]) && ep.port >= 32768);
    /* The second datagram has no data. */
    assert_int_equal(scps_sock_recv(t.ctx[B], b, buf, sizeof buf, 0), 0);
    assert_int_equal(polled(&t, B, b), OUT);
    /* The answer goes to the source address of the datagram, whose port was chosen when it was
     * sent. */
    assert_int_equal(scps_sock_sendto(t.ctx[B], b, "yes", 3, 0, &from, len), 3);
    carry(&t);
    assert_int_equal(scps_sock_read(t.ctx[A], a, buf, sizeof buf), 3);
    two_close(&t);
}

static void connected(void **x)
{
    struct two t;
    struct scps_sockaddr_storage name;
    struct scps_endpoint ep;
    uint32_t len = sizeof name;
    char buf[100];
    two_open(&t, x);
    int a = sock(&t, A), b = bound(&t, B), c = sock(&t, B);
    assert_errno(scps_sock_write(t.ctx[A], a, "x", 1), EDESTADDRREQ);
    assert_errno(scps_sock_getpeername(t.ctx[A], a, &name, &len), ENOTCONN);
    assert_int_equal(scps_sock_connect(t.ctx[A], a, &t.addr[B], t.len), 0);
    assert_int_equal(scps_sock_getpeername(t.ctx[A], a, &name, &len), 0);
    assert_memory_equal(&name, &t.addr[B], t.len);
    len = sizeof name;
    assert_int_equal(scps_sock_getsockname(t.ctx[A], a, &name, &len), 0);
    assert_int_equal(scps_sockaddr_get(&name, len, &ep), 0);
    assert_true(scps_addr_equal(&ep.addr, &t.at[A]));
    assert_int_equal(scps_sock_write(t.ctx[A], a, "x", 1), 1);
    carry(&t);
    assert_int_equal(scps_sock_recv(t.ctx[B], b, buf, sizeof buf, 0), 1);
    /* A connected socket receives datagrams of its peer only; for others the port appears
     * closed. */
    assert_int_equal(scps_sock_sendto(t.ctx[B], c, "no", 2, 0, &name, len), 2);
    assert_int_equal(scps_sock_sendto(t.ctx[B], b, "yes", 3, 0, &name, len), 3);
    carry(&t);
    assert_int_equal(scps_sock_recv(t.ctx[A], a, buf, sizeof buf, 0), 3);
    assert_errno(scps_sock_recv(t.ctx[A], a, buf, sizeof buf, 0), EAGAIN);
    /* connect() with the family AF_UNSPEC disconnects the socket and frees the port that was chosen
     * for it. */
    struct scps_sockaddr none = {.sa_family = SCPS_AF_UNSPEC};
    assert_int_equal(scps_sock_connect(t.ctx[A], a, &none, sizeof none), 0);
    assert_int_equal(port_of(&t, a), 0);
    assert_errno(scps_sock_write(t.ctx[A], a, "x", 1), EDESTADDRREQ);
    two_close(&t);
}

/* As in Linux, an unbound socket gets its port before the other arguments of send() and connect()
 * are checked, so that a later bind() fails. A writev() of nothing sends nothing. */
static void failed_calls_bind(void **x)
{
    struct two t;
    struct scps_iovec nothing = {"", 0};
    two_open(&t, x);
    for (int which = 0; which < 3; which++) {
        int a = sock(&t, A);
        assert_int_equal(scps_sock_writev(t.ctx[A], a, &nothing, 1), 0);
        assert_int_equal(port_of(&t, a), 0);
        if (which == 0)
            assert_errno(scps_sock_send(t.ctx[A], a, "x", 1, 0), EDESTADDRREQ);
        else if (which == 1)
            assert_errno(scps_sock_send(t.ctx[A], a, "x", 1, SCPS_MSG_OOB), EOPNOTSUPP);
        else
            assert_errno(scps_sock_connect(t.ctx[A], a, &t.addr[B], 3), EINVAL);
        assert_int_not_equal(port_of(&t, a), 0);
        assert_errno(scps_sock_bind(t.ctx[A], a, &t.addr[A], t.len), EINVAL);
    }
    assert_int_equal(carry(&t), 0);
    two_close(&t);
}

static void add_address(struct two *t, int who, const char *text)
{
    struct scps_addr a = peer_addr(text);
    assert_int_equal(scps_ctx_add_addr(t->ctx[who], &a, a.family == 4 ? 24 : 64), 0);
}

/* As in Linux, an IPv6 socket of datagrams takes a struct sockaddr_in for an IPv4 destination, and
 * fails for a destination of a family of which it has no address. */
static void families(void **x)
{
    struct two t;
    struct scps_sockaddr_storage four, mapped;
    struct scps_endpoint ep = {.port = 5000};
    char buf[4];
    int one = 1;
    two_open(&t, x);
    add_address(&t, A, "10.0.0.1");
    add_address(&t, B, "10.0.0.2");
    int b = sock(&t, B), a = sock(&t, A);
    ep.addr = peer_addr("10.0.0.2");
    uint32_t len4 = scps_sockaddr_put(&four, SCPS_AF_INET, &ep);
    assert_int_equal(
        scps_sock_bind(t.ctx[B], b, &mapped, scps_sockaddr_put(&mapped, SCPS_AF_INET6, &ep)), 0);
    assert_int_equal(scps_sock_sendto(t.ctx[A], a, "xy", 2, 0, &four, len4), 2);
    assert_int_equal(scps_sock_connect(t.ctx[A], a, &four, len4), 0);
    assert_int_equal(scps_sock_send(t.ctx[A], a, "z", 1, 0), 1);
    carry(&t);
    assert_int_equal(scps_sock_recv(t.ctx[B], b, buf, sizeof buf, 0), 2);
    assert_int_equal(scps_sock_recv(t.ctx[B], b, buf, sizeof buf, 0), 1);
    /* bound to an IPv4 address */
    assert_errno(scps_sock_sendto(t.ctx[B], b, "x", 1, 0, &t.addr[A], t.len), EAFNOSUPPORT);
    assert_errno(scps_sock_connect(t.ctx[B], b, &t.addr[A], t.len), EAFNOSUPPORT);
    /* bound to an IPv6 address */
    int c = bound(&t, A);
    assert_errno(scps_sock_sendto(t.ctx[A], c, "x", 1, 0, &four, len4), ENETUNREACH);
    /* IPv6 only */
    int d = sock(&t, A);
    assert_int_equal(
        scps_sock_setsockopt(t.ctx[A], d, SCPS_SOL_IPV6, SCPS_IPV6_V6ONLY, &one, sizeof one), 0);
    assert_errno(scps_sock_sendto(t.ctx[A], d, "x", 1, 0, &four, len4), ENETUNREACH);
    two_close(&t);
}

/* Unlike those of TCP, the ECN bits of datagrams belong to the program (RFC 8085 section 3.1.7). */
static void ecn_bits(void **x)
{
    struct two t;
    uint8_t p[64];
    two_open(&t, x);
    int a = sock(&t, A), v = 0x03, level = SCPS_SOL_IP, name = SCPS_IP_TOS;
    if (t.domain == SCPS_AF_INET6) {
        level = SCPS_SOL_IPV6;
        name = SCPS_IPV6_TCLASS;
    }
    assert_int_equal(scps_sock_setsockopt(t.ctx[A], a, level, name, &v, sizeof v), 0);
    assert_int_equal(scps_sock_sendto(t.ctx[A], a, "x", 1, 0, &t.addr[B], t.len), 1);
    int64_t n = scps_ctx_take(t.ctx[A], p, sizeof p, NULL);
    assert_true(n > 0);
    assert_int_equal(scps_pkt_ecn(&(struct scps_pkt){.data = p, .len = (size_t)n}), 3);
    two_close(&t);
}

/* The peer's port is closed: the first call on the connected socket reports ECONNREFUSED, once;
 * unconnected sockets never report it. */
static void refused(void **x)
{
    struct two t;
    char buf[10];
    int e = 0;
    uint32_t len = sizeof e;
    two_open(&t, x);
    int a = sock(&t, A);
    assert_int_equal(scps_sock_connect(t.ctx[A], a, &t.addr[B], t.len), 0);
    for (int how = 0; how < 3; how++) {
        assert_int_equal(scps_sock_write(t.ctx[A], a, "x", 1), 1);
        carry(&t);
        assert_int_equal(polled(&t, A, a), OUT | SCPS_POLLERR);
        if (how == 0)
            assert_errno(scps_sock_recv(t.ctx[A], a, buf, sizeof buf, 0), ECONNREFUSED);
        else if (how == 1)
            assert_errno(scps_sock_write(t.ctx[A], a, "x", 1), ECONNREFUSED);
        else
            assert_int_equal(
                scps_sock_getsockopt(t.ctx[A], a, SCPS_SOL_SOCKET, SCPS_SO_ERROR, &e, &len), 0);
        assert_int_equal(e, how == 2 ? ECONNREFUSED : 0);
        assert_int_equal(polled(&t, A, a), OUT);
    }
    int c = sock(&t, A);
    assert_int_equal(scps_sock_sendto(t.ctx[A], c, "x", 1, 0, &t.addr[B], t.len), 1);
    carry(&t);
    assert_int_equal(polled(&t, A, c), OUT);
    assert_errno(scps_sock_recv(t.ctx[A], c, buf, sizeof buf, 0), EAGAIN);
    two_close(&t);
}

/* A datagram longer than the reader's buffer is cut, and MSG_TRUNC is set; one longer than the MTU
 * is refused. A datagram written in pieces is one datagram. */
static void lengths(void **x)
{
    struct two t;
    char buf[2000] = {0}, one[4], two[100];
    struct scps_sockaddr_storage from;
    two_open(&t, x);
    int a = sock(&t, A), b = bound(&t, B);
    struct scps_iovec out[3] = {{"012", 3}, {NULL, 0}, {"3456789", 7}},
                      in[2] = {{one, 4}, {two, 100}};
    struct scps_msghdr m = {
        .msg_name = &t.addr[B], .msg_namelen = t.len, .msg_iov = out, .msg_iovlen = 3};
    for (int i = 0; i < 5; i++)
        assert_int_equal(scps_sock_sendmsg(t.ctx[A], a, &m, 0), 10);
    carry(&t);
    assert_int_equal(scps_sock_recv(t.ctx[B], b, buf, 4, 0), 4);
    assert_memory_equal(buf, "0123\0", 5);
    assert_int_equal(scps_sock_recv(t.ctx[B], b, buf, 4, SCPS_MSG_TRUNC), 10);
    struct scps_msghdr r = {.msg_name = &from,
                            .msg_namelen = sizeof from,
                            .msg_iov = in,
                            .msg_iovlen = 2,
                            .msg_control = buf,
                            .msg_controllen = 9};
    assert_int_equal(scps_sock_recvmsg(t.ctx[B], b, &r, 0), 10);
    assert_memory_equal(one, "0123", 4);
    assert_memory_equal(two, "456789", 6);
    assert_int_equal(r.msg_flags, 0);
    assert_int_equal(r.msg_namelen, t.len);
    assert_int_equal(r.msg_controllen, 0);
    r.msg_iovlen = 1;
    assert_int_equal(scps_sock_recvmsg(t.ctx[B], b, &r, 0), 4);
    assert_int_equal(r.msg_flags, SCPS_MSG_TRUNC);
    in[1].iov_len = 2;
    r.msg_iovlen = 2;
    assert_int_equal(scps_sock_recvmsg(t.ctx[B], b, &r, 0), 6);
    assert_int_equal(r.msg_flags, SCPS_MSG_TRUNC);
    size_t most = t.domain == SCPS_AF_INET ? 1472 : 1452;
    assert_errno(scps_sock_sendto(t.ctx[A], a, buf, most + 1, 0, &t.addr[B], t.len), EMSGSIZE);
    assert_int_equal(scps_sock_sendto(t.ctx[A], a, buf, most, 0, &t.addr[B], t.len), most);
    assert_errno(scps_sock_sendto(t.ctx[A], a, buf, 1, SCPS_MSG_MORE, &t.addr[B], t.len),
                 EOPNOTSUPP);
    two_close(&t);
}

/* As in Linux, a piece with a length and a NULL pointer causes EFAULT: what was copied of the
 * pieces before it is freed, and a datagram that was read so far is lost. */
static void a_piece_without_memory(void **x)
{
    struct poor memory = {.left = UINT32_MAX};
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct two t;
    char one[4];
    struct scps_iovec v[2] = {{one, 4}, {NULL, 4}};
    two_open(&t, x);
    scps_ctx_free(t.ctx[A]);
    cfg.stack_config.alloc =
        (struct scps_alloc){.alloc = poor_alloc, .free = poor_free, .ctx = &memory};
    t.ctx[A] = scps_ctx_new(&cfg);
    assert_int_equal(scps_ctx_add_addr(t.ctx[A], &t.at[A], t.domain == SCPS_AF_INET ? 24 : 64), 0);
    int a = bound(&t, A), b = bound(&t, B);
    struct scps_msghdr m = {
        .msg_name = &t.addr[B], .msg_namelen = t.len, .msg_iov = v, .msg_iovlen = 2};
    size_t before = memory.out;
    assert_errno(scps_sock_sendmsg(t.ctx[A], a, &m, 0), EFAULT);
    assert_int_equal(memory.out, before);
    assert_int_equal(scps_sock_sendto(t.ctx[B], b, "12345678", 8, 0, &t.addr[A], t.len), 8);
    carry(&t);
    m = (struct scps_msghdr){.msg_iov = v, .msg_iovlen = 2};
    assert_errno(scps_sock_recvmsg(t.ctx[A], a, &m, 0), EFAULT);
    assert_errno(scps_sock_recv(t.ctx[A], a, one, 4, 0), EAGAIN);
    two_close(&t);
    assert_int_equal(memory.out, 0);
}

static int64_t call_that_opens(struct two *t, int which, int s)
{
    if (which == 0)
        return scps_sock_bind(t->ctx[A], s, &t->addr[A], t->len);
    if (which == 1)
        return scps_sock_connect(t->ctx[A], s, &t->addr[B], t->len);
    return scps_sock_sendto(t->ctx[A], s, "x", 1, 0, &t->addr[B], t->len);
}

/* bind(), connect() and sendto() that fail for lack of memory leave the socket as it was: it has no
 * port, and a later call succeeds. */
static void no_memory_to_open(void **x)
{
    struct poor memory = {.left = UINT32_MAX};
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    struct scps_sockaddr_storage name;
    struct two t;
    two_open(&t, x);
    scps_ctx_free(t.ctx[A]);
    cfg.stack_config.alloc =
        (struct scps_alloc){.alloc = poor_alloc, .free = poor_free, .ctx = &memory};
    t.ctx[A] = scps_ctx_new(&cfg);
    assert_int_equal(scps_ctx_add_addr(t.ctx[A], &t.at[A], t.domain == SCPS_AF_INET ? 24 : 64), 0);
    for (int which = 0; which < 3; which++) {
        uint32_t len = sizeof name;
        int s = sock(&t, A), other = sock(&t, A);
        memory.left = 0;
        assert_errno(call_that_opens(&t, which, s), ENOMEM);
        assert_errno(call_that_opens(&t, which, other), ENOMEM);
        memory.left = UINT32_MAX;
        assert_int_equal(scps_sock_getsockname(t.ctx[A], s, &name, &len), 0);
        /* Octets 2 and 3 of the address are the port. */
        assert_memory_equal((const uint8_t *)&name + 2, "\0\0", 2);
        assert_int_equal(call_that_opens(&t, which, s), which == 2);
        assert_int_equal(scps_sock_close(t.ctx[A], s), 0);
        assert_int_equal(scps_sock_bind(t.ctx[A], other, &t.addr[A], t.len), 0);
        assert_int_equal(scps_sock_close(t.ctx[A], other), 0);
    }
    two_close(&t);
    assert_int_equal(memory.out, 0);
}

static void calls_and_options(void **x)
{
    struct two t;
    int v = 0;
    uint32_t len = sizeof v;
    two_open(&t, x);
    struct scps_ctx *c = t.ctx[A];
    assert_errno(scps_socket(c, t.domain, SCPS_SOCK_DGRAM, SCPS_SOL_TCP), EPROTONOSUPPORT);
    assert_errno(scps_socket(c, t.domain, SCPS_SOCK_STREAM, SCPS_SOL_UDP), EPROTONOSUPPORT);
    int s = scps_socket(c, t.domain, SCPS_SOCK_DGRAM | SCPS_SOCK_NONBLOCK, SCPS_SOL_UDP);
    assert_int_equal(scps_sock_bind(c, s, &t.addr[A], t.len), 0);
    assert_errno(scps_sock_bind(c, s, &t.addr[A], t.len), EINVAL);
    assert_errno(scps_sock_listen(c, s, 1), EOPNOTSUPP);
    assert_errno(scps_sock_accept(c, s, NULL, NULL), EOPNOTSUPP);
    assert_int_equal(scps_sock_getsockopt(c, s, SCPS_SOL_SOCKET, SCPS_SO_TYPE, &v, &len), 0);
    assert_int_equal(v, SCPS_SOCK_DGRAM);
    assert_int_equal(scps_sock_getsockopt(c, s, SCPS_SOL_SOCKET, SCPS_SO_PROTOCOL, &v, &len), 0);
    assert_int_equal(v, 17);
    assert_errno(scps_sock_accept4(c, s, NULL, NULL, 1), EINVAL);
    assert_errno(scps_sock_recv(c, s, &v, sizeof v, SCPS_MSG_OOB), EAGAIN);
    assert_errno(scps_sock_ioctl(c, s, SCPS_SIOCATMARK, &v), ENOTTY);
    assert_errno(scps_sock_getsockopt(c, s, SCPS_SOL_TCP, SCPS_TCP_NODELAY, &v, &len),
                 t.domain == SCPS_AF_INET6 ? ENOPROTOOPT : EOPNOTSUPP);
    assert_errno(scps_sock_setsockopt(c, s, SCPS_SOL_TCP, SCPS_TCP_NODELAY, &v, len), ENOPROTOOPT);
    v = 1000;
    assert_int_equal(scps_sock_setsockopt(c, s, SCPS_SOL_SOCKET, SCPS_SO_RCVBUF, &v, len), 0);
    /* UDP and TCP have separate ports; another UDP socket cannot have the same port. */
    int other = sock(&t, A), stream = scps_socket(c, t.domain, SCPS_SOCK_STREAM, 0);
    assert_errno(scps_sock_bind(c, other, &t.addr[A], t.len), EADDRINUSE);
    assert_int_equal(scps_sock_bind(c, stream, &t.addr[A], t.len), 0);
    assert_int_equal(scps_sock_listen(c, stream, 1), 0);
    /* The receive buffer holds as many datagrams as SO_RCVBUF allows. */
    int b = sock(&t, B);
    char big[400] = {0};
    for (int i = 0; i < 5; i++)
        assert_int_equal(scps_sock_sendto(t.ctx[B], b, big, sizeof big, 0, &t.addr[A], t.len), 400);
    carry(&t);
    int got = 0;
    while (scps_sock_recv(c, s, big, sizeof big, 0) == 400)
        got++;
    assert_int_equal(got, 2);
    /* shutdown() of an unconnected socket returns an error, but has its effect, as in Linux. */
    assert_errno(scps_sock_shutdown(c, s, SCPS_SHUT_RD), ENOTCONN);
    assert_int_equal(scps_sock_recv(c, s, big, sizeof big, 0), 0);
    assert_int_equal(scps_sock_connect(c, s, &t.addr[B], t.len), 0);
    assert_int_equal(scps_sock_shutdown(c, s, SCPS_SHUT_WR), 0);
    assert_errno(scps_sock_write(c, s, "x", 1), EPIPE);
    assert_int_equal(polled(&t, A, s), IN | OUT | SCPS_POLLRDHUP | SCPS_POLLHUP);
    assert_int_equal(scps_sock_close(c, s), 0);
    assert_int_equal(scps_sock_bind(c, other, &t.addr[A], t.len), 0); /* The port is free again. */
    two_close(&t);
}

/* Implements cfg.wait: advances the other end until the datagram arrives. */
static int run_world(const struct scps_wait *w)
{
    struct two *t = w->user;
    if (!carry(t) && !scps_wait_over(w))
        scps_ctx_advance(w->ctx, t->now += 1000);
    return 0;
}

static void blocking(void **x)
{
    struct two t;
    char buf[10];
    two_open(&t, x);
    struct scps_ctx_config cfg = scps_ctx_config_linux();
    cfg.wait = run_world;
    cfg.user = &t;
    scps_ctx_free(t.ctx[A]);
    t.ctx[A] = scps_ctx_new(&cfg);
    assert_int_equal(scps_ctx_add_addr(t.ctx[A], &t.at[A], t.domain == SCPS_AF_INET ? 24 : 64), 0);
    int a = bound(&t, A), b = sock(&t, B);
    assert_int_equal(scps_sock_sendto(t.ctx[B], b, "late", 4, 0, &t.addr[A], t.len), 4);
    assert_int_equal(scps_sock_recv(t.ctx[A], a, buf, sizeof buf, 0), 4);
    struct scps_timeval soon = {0, 50000};
    assert_int_equal(
        scps_sock_setsockopt(t.ctx[A], a, SCPS_SOL_SOCKET, SCPS_SO_RCVTIMEO, &soon, sizeof soon),
        0);
    assert_errno(scps_sock_recv(t.ctx[A], a, buf, sizeof buf, 0), EAGAIN);
    assert_errno(scps_sock_recv(t.ctx[A], a, buf, sizeof buf, SCPS_MSG_DONTWAIT), EAGAIN);
    two_close(&t);
}

/* An IPv6 socket receives IPv4 datagrams, with IPv4-mapped addresses. */
static void both_families(void **x)
{
    struct two t;
    struct scps_sockaddr_storage to, from;
    struct scps_endpoint ep = {.port = 5000};
    uint32_t len = sizeof from;
    char buf[10];
    void *four = (void *)(uintptr_t)4;
    (void)x;
    two_open(&t, &four);
    int b = scps_socket(t.ctx[B], SCPS_AF_INET6, SCPS_SOCK_DGRAM, 0), a = sock(&t, A);
    uint32_t n = scps_sockaddr_put(&to, SCPS_AF_INET6,
                                   &(struct scps_endpoint){.addr.family = 6, .port = 5000});
    assert_int_equal(scps_sock_bind(t.ctx[B], b, &to, n), 0);
    assert_int_equal(scps_sock_sendto(t.ctx[A], a, "4", 1, 0, &t.addr[B], t.len), 1);
    carry(&t);
    assert_int_equal(scps_sock_recvfrom(t.ctx[B], b, buf, sizeof buf, 0, &from, &len), 1);
    assert_int_equal(len, sizeof(struct scps_sockaddr_in6));
    assert_int_equal(scps_sockaddr_get(&from, len, &ep), 0);
    assert_true(scps_addr_equal(&ep.addr, &t.at[A]));
    assert_int_equal(scps_sock_sendto(t.ctx[B], b, "back", 4, 0, &from, len), 4);
    carry(&t);
    assert_int_equal(scps_sock_recv(t.ctx[A], a, buf, sizeof buf, 0), 4);
    two_close(&t);
}

#define BOTH(name)                                                                                 \
    {#name " (IPv4)", name, NULL, NULL, (void *)(uintptr_t)4},                                     \
    {                                                                                              \
#name " (IPv6)", name, NULL, NULL, (void *)(uintptr_t)6                                    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(sent_and_received),
        BOTH(connected),
        BOTH(failed_calls_bind),
        BOTH(ecn_bits),
        BOTH(refused),
        BOTH(lengths),
        BOTH(a_piece_without_memory),
        BOTH(no_memory_to_open),
        BOTH(calls_and_options),
        BOTH(blocking),
        cmocka_unit_test(both_families),
        {"families (IPv6)", families, NULL, NULL, (void *)(uintptr_t)6},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
