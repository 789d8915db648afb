/* SPDX-License-Identifier: MIT */
/* The functions socket, bind, listen, accept, connect, shutdown, close and poll, and those for the
 * names of a socket. */
#include <string.h>

#include "socket/sock.h"

#define DGRAM_BUF 212992u /* default size of each buffer of a datagram socket in Linux, bytes */

int scps_socket(struct scps_ctx *ctx, int domain, int type, int protocol)
{
    scps_sock_enter(ctx);
    int kind = type & ~(SCPS_SOCK_NONBLOCK | SCPS_SOCK_CLOEXEC);
    bool dgram = kind == SCPS_SOCK_DGRAM;
    struct sock *s;
    int r;
    if (kind < 0 || kind > 10)
        r = -EINVAL;
    else if (domain != SCPS_AF_INET && domain != SCPS_AF_INET6)
        r = -EAFNOSUPPORT;
    else if (kind != SCPS_SOCK_STREAM && kind != SCPS_SOCK_SEQPACKET && !dgram)
        r = -ESOCKTNOSUPPORT;
    else if (protocol != 0 && protocol != (dgram ? SCPS_SOL_UDP : SCPS_SOL_TCP))
        r = -EPROTONOSUPPORT;
    else
        r = scps_sock_new(ctx, &s);
    if (r == 0) {
        s->domain = domain;
        scps_sock_set_flags(s, type);
        s->seqpacket = kind == SCPS_SOCK_SEQPACKET;
        if (s->seqpacket)
            scps_sock_conf_set_seqpacket(&s->conf);
        s->dgram = dgram;
        if (dgram)
            scps_sock_conf_set_dgram(&s->conf, DGRAM_BUF);
        struct scps_addr any = scps_sock_any(s);
        scps_sock_names_init(&s->names, &any);
        r = scps_sock_fd(s);
    }
    return (int)scps_sock_leave_quiet(ctx, r);
}

static bool is_any(const struct scps_addr *a)
{
    static const uint8_t zero[16];
    return memcmp(a->b, zero, 16) == 0;
}

static int do_bind(struct sock *s, const void *addr, uint32_t len)
{
    struct scps_endpoint ep;
    int r = scps_sock_addr_in(s, addr, len, &ep);
    if (r == -EAFNOSUPPORT && s->domain == SCPS_AF_INET) {
        /* bind() accepts 0.0.0.0 with family AF_UNSPEC as 0.0.0.0 with family AF_INET, as Linux
         * does, because old programs did not set the family; any other AF_UNSPEC address is
         * refused. */
        struct scps_sockaddr_in a;
        memcpy(&a, addr, sizeof a);
        if (a.sin_family == SCPS_AF_UNSPEC && memcmp(a.sin_addr, "\0\0\0", 4) == 0) {
            ep = (struct scps_endpoint){.addr.family = 4,
                                        .port = scps_get16((const uint8_t *)&a.sin_port)};
            r = 0;
        }
    }
    if (r < 0)
        return r;
    if (s->domain == SCPS_AF_INET6 && s->v6only && ep.addr.family == 4)
        return -EINVAL;
    bool any = is_any(&ep.addr), used = scps_sock_state(s) != SCPS_CLOSED || s->names.bound;
    /* Linux checks the address first for IPv4, and the state of the socket first for IPv6. */
    if (used && s->domain == SCPS_AF_INET6)
        return -EINVAL;
    if (!any && !scps_stack_has_addr(s->ctx->st, &ep.addr))
        return -EADDRNOTAVAIL;
    if (used)
        return -EINVAL;
    if (any && ep.addr.family != 4)
        ep.addr = scps_sock_any(s);
    if (ep.port == 0 && s->addr_no_port) {
        scps_sock_names_set_addr(&s->names, &ep.addr);
    } else {
        r = scps_sock_take_port(s, &ep);
        if (r < 0)
            return r;
    }
    /* As in Linux, after bind() to ::ffff:0.0.0.0 (IPv4-mapped wildcard) the socket can use IPv4
     * only, and after bind() to an IPv6 address that is no wildcard it can use IPv6 only. */
    scps_sock_names_set_given(&s->names, !any || ep.addr.family != scps_sock_any(s).family,
                              ep.port != 0);
    r = s->dgram && s->names.local.port ? scps_sock_dgram_open(s) : 0;
    /* A bind that failed leaves the socket unbound, so that the call can be repeated. */
    if (r < 0) {
        struct scps_addr none = scps_sock_any(s);
        scps_sock_names_init(&s->names, &none);
    } else if (!any && ep.addr.family == 6) {
        scps_sock_bound_to_ipv6(s);
    }
    return r;
}

int scps_sock_bind(struct scps_ctx *ctx, int fd, const void *addr, uint32_t len)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave_quiet(ctx, s ? do_bind(s, addr, len) : -EBADF);
}

static int do_listen(struct sock *s, int backlog)
{
    if (s->dgram)
        return -EOPNOTSUPP;
    if (s->life.ss != SS_UNCONNECTED || s->pcb.conn)
        return -EINVAL;
    unsigned limit = s->ctx->cfg.max_backlog;
    unsigned n = backlog < 0 ? limit : SCPS_MIN((unsigned)backlog, limit);
    s->backlog = n;
    n += 1; /* As in Linux, the queue may have one connection more than the backlog says. */
    if (s->pcb.lis) {
        int e = scps_listener_set(s->pcb.lis, NULL, n);
        return e < 0 ? -scps_sock_errno(e) : 0;
    }
    bool port_chosen = s->names.local.port == 0;
    int r = 0;
    if (port_chosen)
        r = scps_sock_take_port(s, &s->names.local);
    else if (scps_sock_conflict(s, &s->names.local))
        r = -EADDRINUSE;
    if (r < 0)
        return r;
    r = scps_sock_pcb_listen(&s->pcb, s->ctx->st, &s->conf.cfg, &s->names.local, n,
                             scps_sock_handle(s));
    if (r < 0) {
        if (port_chosen)
            scps_sock_names_free_port(&s->names);
        return -scps_sock_errno(r);
    }
    scps_sock_life_listening(&s->life);
    return 0;
}

int scps_sock_listen(struct scps_ctx *ctx, int fd, int backlog)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave(ctx, s ? do_listen(s, backlog) : -EBADF);
}

/* Copies to s, which accept() has created, what it inherits from the listening socket `from`. */
static void inherit(struct sock *s, const struct sock *from)
{
    s->domain = from->domain;
    s->seqpacket = from->seqpacket;
    s->conf = from->conf;
    scps_sock_inherit_socket(s, from);
    scps_sock_inherit_ip(s, from);
}

static int do_accept(struct sock *l, void *addr, uint32_t *len, int flags)
{
    struct scps_ctx *ctx = l->ctx;
    if (flags & ~(SCPS_SOCK_NONBLOCK | SCPS_SOCK_CLOEXEC))
        return -EINVAL;
    if (l->dgram)
        return -EOPNOTSUPP;
    struct sock *s;
    /* A descriptor is taken first: if none is free, the connection stays in the listener's
     * queue. */
    int r = scps_sock_new(ctx, &s);
    if (r < 0)
        return r;
    scps_time deadline = scps_sock_after(ctx, l->rcvtimeo);
    for (;;) {
        r = -EINVAL;
        if (!l->pcb.lis)
            break;
        if (scps_sock_pcb_accept(&s->pcb, l->pcb.lis, scps_sock_handle(s)))
            break;
        r = -EAGAIN;
        if (l->nonblock)
            break;
        r = scps_sock_block(&l, SCPS_WAIT_ACCEPT, 1, deadline);
        if (r < 0)
            break;
    }
    if (!s->pcb.conn) {
        scps_sock_destroy(s);
        return r;
    }
    inherit(s, l);
    scps_sock_set_flags(s, flags);
    scps_sock_life_connected(&s->life);
    struct scps_endpoint local, remote;
    scps_conn_local(s->pcb.conn, &local);
    scps_conn_remote(s->pcb.conn, &remote);
    scps_sock_names_connect(&s->names, &local, &remote);
    if (s->cork)
        scps_conn_cork(s->pcb.conn, true);
    scps_sock_refresh(s);
    if (addr) {
        r = scps_sock_addr_out(s, &remote, addr, len);
        if (r < 0) {
            scps_sock_disconnect(s);
            scps_sock_destroy(s);
            return r;
        }
    }
    return scps_sock_fd(s);
}

int scps_sock_accept4(struct scps_ctx *ctx, int fd, void *addr, uint32_t *len, int flags)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave(ctx, s ? do_accept(s, addr, len, flags) : -EBADF);
}

int scps_sock_accept(struct scps_ctx *ctx, int fd, void *addr, uint32_t *len)
{
    return scps_sock_accept4(ctx, fd, addr, len, 0);
}

static int start_connect(struct sock *s, const void *addr, uint32_t len)
{
    struct scps_endpoint ep;
    int r = scps_sock_addr_in(s, addr, len, &ep);
    if (r < 0)
        return r;
    if (s->domain == SCPS_AF_INET6 && s->v6only && ep.addr.family == 4)
        return -ENETUNREACH;
    if (is_any(&ep.addr))
        /* As in Linux, an address of zeros stands for the loopback address, and the stack has no
         * loopback device. */
        return -ENETUNREACH;
    if (ep.port == 0)
        return -EADDRNOTAVAIL;
    struct scps_endpoint local = s->names.local;
    r = scps_sock_reaches(s, &ep);
    if (r < 0)
        return r;
    if (!s->names.bound_addr || is_any(&local.addr))
        local.addr = (struct scps_addr){0};
    r = scps_sock_pcb_connect(&s->pcb, s->ctx->st, &s->conf.cfg, &local, &ep, scps_sock_handle(s));
    if (r == SCPS_ERR_UNREACH)
        return -ENETUNREACH;
    if (r == SCPS_ERR_ADDRINUSE)
        return -EADDRNOTAVAIL;
    if (r < 0)
        return -scps_sock_errno(r);
    scps_sock_life_connecting(&s->life);
    scps_conn_local(s->pcb.conn, &local);
    scps_sock_names_connect(&s->names, &local, &ep);
    if (s->cork)
        scps_conn_cork(s->pcb.conn, true);
    return 0;
}

static int do_connect(struct sock *s, const void *addr, uint32_t len)
{
    uint16_t family;
    int r, unfinished = -EALREADY;
    if (!addr)
        return -EFAULT;
    if (len < sizeof family)
        return -EINVAL;
    memcpy(&family, addr, sizeof family);
    if (family == SCPS_AF_UNSPEC) {
        scps_sock_disconnect(s);
        return 0;
    }
    if (s->dgram)
        return scps_sock_dgram_connect(s, addr, len);
    switch (s->life.ss) {
    case SS_CONNECTED:
        return -EISCONN;
    case SS_CONNECTING:
        break;
    case SS_UNCONNECTED:
        if (scps_sock_state(s) != SCPS_CLOSED)
            return -EISCONN;
        r = start_connect(s, addr, len);
        if (r < 0)
            return r;
        unfinished = -EINPROGRESS;
        break;
    default:
        return -EINVAL;
    }
    scps_time deadline = scps_sock_after(s->ctx, s->sndtimeo);
    for (;;) {
        enum scps_state st = scps_sock_state(s);
        if (st != SCPS_SYN_SENT && st != SCPS_SYN_RECEIVED)
            break;
        if (s->nonblock)
            return unfinished;
        r = scps_sock_block(&s, SCPS_WAIT_WRITE, 0, deadline);
        if (r < 0)
            return r == -EAGAIN ? unfinished : r;
    }
    if (scps_sock_state(s) == SCPS_CLOSED) {
        int e = scps_sock_life_take_error(&s->life);
        scps_sock_disconnect(s);
        return e ? -e : -ECONNABORTED;
    }
    scps_sock_life_connected(&s->life);
    return 0;
}

int scps_sock_connect(struct scps_ctx *ctx, int fd, const void *addr, uint32_t len)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave(ctx, s ? do_connect(s, addr, len) : -EBADF);
}

static int do_shutdown(struct sock *s, int how)
{
    if (how < SCPS_SHUT_RD || how > SCPS_SHUT_RDWR)
        return -EINVAL;
    unsigned bits = how == SCPS_SHUT_RD   ? SHUT_RCV
                    : how == SCPS_SHUT_WR ? SHUT_SEND
                                          : SHUT_RCV | SHUT_SEND;
    if (s->dgram)
        return scps_sock_dgram_shutdown(s, bits);
    enum scps_state st = scps_sock_state(s);
    bool handshake = st == SCPS_SYN_SENT || st == SCPS_SYN_RECEIVED;
    if (s->life.ss == SS_CONNECTING && (handshake || st == SCPS_CLOSED))
        scps_sock_life_disconnecting(&s->life);
    else if (s->life.ss == SS_CONNECTING)
        scps_sock_life_connected(&s->life);
    if (st == SCPS_LISTEN && !(bits & SHUT_RCV)) {
        scps_sock_life_shutdown_listener(&s->life);
        return 0;
    }
    if (st == SCPS_LISTEN || st == SCPS_SYN_SENT) {
        scps_sock_disconnect(s);
        return 0;
    }
    scps_sock_life_shutdown(&s->life, bits);
    if (st == SCPS_CLOSED)
        return -ENOTCONN;
    if (bits & SHUT_SEND)
        scps_conn_shutdown(s->pcb.conn);
    if (s->life.shut_app == (SHUT_RCV | SHUT_SEND)) {
        struct scps_info info;
        scps_conn_info(s->pcb.conn, &info);
        scps_sock_life_set_received(&s->life, info.bytes_received);
    }
    return 0;
}

int scps_sock_shutdown(struct scps_ctx *ctx, int fd, int how)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave(ctx, s ? do_shutdown(s, how) : -EBADF);
}

/* Called by close() of a socket with SO_LINGER and a time above 0: waits until the peer has
 * acknowledged the FIN, at most for the time that SO_LINGER gives. The descriptor of s was freed
 * before. */
static int wait_close(struct sock *s)
{
    scps_dur linger = s->linger_s > INT32_MAX / 1000 ? SCPS_NEVER : SCPS_SEC(s->linger_s);
    struct scps_wait w = {
        .s = -1, .dir = SCPS_WAIT_CLOSE, .deadline = scps_sock_after(s->ctx, linger)};
    w.p.sock = s;
    w.p.serial = s->serial;
    for (;;) {
        scps_sock_refresh(s);
        if (scps_sock_ready(s, SCPS_WAIT_CLOSE, 1))
            return 0;
        int r = scps_sock_block_on(s->ctx, &w);
        if (r < 0)
            return r == -EAGAIN ? 0 : r;
    }
}

static int do_close(struct sock *s)
{
    int r = 0;
    bool lingers = s->pcb.conn && !s->life.ended && s->linger, reset = lingers && s->linger_s == 0;
    scps_sock_detach(s);
    if (s->pcb.conn)
        scps_conn_set_user(s->pcb.conn, NULL);
    if (lingers && !reset && s->ctx->cfg.wait && scps_sock_state(s) != SCPS_SYN_SENT &&
        !scps_sock_readable(s, 1)) {
        if (!(s->life.shut_app & SHUT_SEND))
            scps_conn_shutdown(s->pcb.conn);
        scps_sock_life_shutdown(&s->life, SHUT_SEND);
        r = wait_close(s);
    }
    scps_sock_pcb_release(&s->pcb, reset);
    scps_sock_destroy(s);
    return r;
}

int scps_sock_close(struct scps_ctx *ctx, int fd)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave(ctx, s ? do_close(s) : -EBADF);
}

int scps_sock_getsockname(struct scps_ctx *ctx, int fd, void *addr, uint32_t *len)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    return (int)scps_sock_leave_quiet(ctx, s ? scps_sock_addr_out(s, &s->names.local, addr, len)
                                             : -EBADF);
}

int scps_sock_getpeername(struct scps_ctx *ctx, int fd, void *addr, uint32_t *len)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    int r = -EBADF;
    if (s) {
        enum scps_state st = scps_sock_state(s);
        bool none = st == SCPS_CLOSED || st == SCPS_SYN_SENT || st == SCPS_LISTEN;
        if (s->dgram ? !s->names.remote.addr.family : none)
            r = -ENOTCONN;
        else
            r = scps_sock_addr_out(s, &s->names.remote, addr, len);
    }
    return (int)scps_sock_leave_quiet(ctx, r);
}

static int scan(struct scps_ctx *ctx, struct scps_pollfd *fds, size_t n)
{
    int ready = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned ev = 0;
        if (fds[i].fd >= 0) {
            struct sock *s = scps_sock_find(ctx, fds[i].fd);
            unsigned want = (unsigned short)fds[i].events | SCPS_POLLERR | SCPS_POLLHUP;
            ev = s ? scps_sock_events(s) & want : SCPS_POLLNVAL;
        }
        fds[i].revents = (short)ev;
        ready += ev != 0;
    }
    return ready;
}

int scps_sock_poll(struct scps_ctx *ctx, struct scps_pollfd *fds, size_t n, int timeout)
{
    scps_sock_enter(ctx);
    int r = 0;
    if (!fds && n) {
        r = -EFAULT;
    } else if (n > INT32_MAX) {
        r = -EINVAL;
    } else {
        struct scps_wait w = {.s = -1, .dir = SCPS_WAIT_POLL};
        w.deadline = timeout < 0 ? SCPS_NEVER : scps_sock_after(ctx, SCPS_MS(timeout));
        w.p.fds = fds;
        w.p.nfds = n;
        while ((r = scan(ctx, fds, n)) == 0 && timeout != 0) {
            int e = scps_sock_block_on(ctx, &w);
            if (e == -EAGAIN) {
                r = scan(ctx, fds, n);
                break;
            }
            if (e < 0) {
                r = e;
                break;
            }
        }
    }
    return (int)scps_sock_leave_quiet(ctx, r);
}
