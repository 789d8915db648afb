/* SPDX-License-Identifier: MIT */
/* Sockets of datagrams: SOCK_DGRAM, with the behaviour of Linux's UDP sockets.
 *
 * The stack's endpoint is opened by bind, connect or the first datagram sent. dgramstate.c has
 * errors and poll events. Differences from Linux: a datagram beyond the MTU is EMSGSIZE, since
 * datagrams are not fragmented; MSG_MORE is EOPNOTSUPP.
 */
#include <string.h>

#include "socket/vec.h"

static struct scps_dgram_config config(const struct sock *s)
{
    struct scps_dgram_config c = scps_dgram_config_default();
    c.sndbuf = s->conf.cfg.sndbuf;
    c.rcvbuf = s->conf.cfg.rcvbuf;
    c.tos = s->conf.cfg.tos;
    c.ttl = s->conf.cfg.ttl;
    c.df_off = s->conf.cfg.df_off;
    c.reuse = s->reuseaddr || s->reuseport;
    return c;
}

void scps_sock_dgram_apply(struct sock *s)
{
    struct scps_dgram_config c = config(s);
    if (s->pcb.dg)
        scps_dgram_set_config(s->pcb.dg, &c);
}

int scps_sock_dgram_open(struct sock *s)
{
    struct scps_dgram_config c = config(s);
    bool port_chosen = !s->names.local.port;
    int r;
    if (s->pcb.dg)
        return 0;
    if (port_chosen) {
        r = scps_sock_take_port(s, &s->names.local);
        if (r < 0)
            return r == -EADDRINUSE ? -EAGAIN : r; /* Linux returns EAGAIN when no port is free. */
    }
    r = scps_sock_pcb_open_dgram(&s->pcb, s->ctx->st, &c, &s->names.local, scps_sock_handle(s));
    if (r < 0 && port_chosen)
        scps_sock_names_free_port(&s->names);
    return r < 0 ? -scps_sock_errno(r) : 0;
}

/* Parses the destination address of a datagram into *to. As in Linux, an IPv6 socket accepts a
 * struct sockaddr_in, too. Returns 0, or a negative errno value if the domain of the socket, or
 * IPV6_V6ONLY, does not allow such an address, or if the local address of the socket has another
 * family than the destination, so that no datagram can be sent there: an IPv4 address, or an IPv6
 * address that bind() has set. */
static int destination(const struct sock *s, const void *addr, uint32_t len,
                       struct scps_endpoint *to)
{
    uint16_t family = SCPS_AF_UNSPEC;
    int r;

    if (s->domain == SCPS_AF_INET6 && addr && len >= sizeof(struct scps_sockaddr_in))
        memcpy(&family, addr, sizeof family);
    if (family == SCPS_AF_INET)
        r = scps_sockaddr_get(addr, len, to);
    else
        r = scps_sock_addr_in(s, addr, len, to);
    if (r < 0)
        return r;
    if (s->domain == SCPS_AF_INET6 && s->v6only && to->addr.family == 4)
        return -ENETUNREACH;
    return scps_sock_reaches(s, to);
}

static int dgram_errno(int err)
{
    return err == SCPS_ERR_UNREACH ? ENETUNREACH : scps_sock_errno(err);
}

int scps_sock_dgram_connect(struct sock *s, const void *addr, uint32_t len)
{
    struct scps_endpoint to, local;
    /* In Linux the socket gets its port first, and keeps it if the address is refused. */
    int r = scps_sock_dgram_open(s);
    if (r == 0)
        r = destination(s, addr, len, &to);
    if (r < 0)
        return r;
    int err = scps_dgram_connect(s->pcb.dg, &to);
    if (err < 0)
        return -dgram_errno(err);
    scps_dgram_local(s->pcb.dg, &local);
    scps_sock_names_connect(&s->names, &local, &to);
    return 0;
}

/* ---- functions that send and receive datagrams ---- */

/* Sets *data to the bytes of v in one piece: to where they are, or to a copy. *own: the copy,
 * v->total bytes, which the caller frees even after an error; NULL: there is none. Returns 0,
 * -EFAULT or -ENOMEM. */
static int gather(struct sock *s, const struct vec *v, const uint8_t **data, uint8_t **own)
{
    *own = NULL;
    *data = NULL;
    for (size_t at = 0; at < v->total;) {
        struct scps_iovec p = scps_vec_piece(v, at);
        if (!p.iov_base)
            return -EFAULT;
        if (p.iov_len == v->total) {
            *data = p.iov_base;
            return 0;
        }
        if (!*own)
            *data = *own = scps_sock_alloc(s->ctx, v->total);
        if (!*own)
            return -ENOMEM;
        memcpy(*own + at, p.iov_base, p.iov_len);
        at += p.iov_len;
    }
    return 0;
}

static int64_t send_one(struct sock *s, const struct scps_endpoint *to, const uint8_t *data,
                        size_t len, bool nowait)
{
    scps_time deadline = scps_sock_after(s->ctx, s->sndtimeo);
    bool turned = false;
    for (;;) {
        if (s->life.err)
            return -scps_sock_life_take_error(&s->life);
        if (s->life.shut & SHUT_SEND)
            return -EPIPE;
        int r = scps_sock_dgram_open(s);
        if (r < 0)
            return r;
        int err = scps_dgram_send(s->pcb.dg, to, data, len, 0);
        if (err == 0)
            return (int64_t)len;
        if (err != SCPS_ERR_AGAIN && err != SCPS_ERR_NOMEM)
            return -dgram_errno(err);
        /* The stack is made to send the datagrams that wait, which may make room in the queue. */
        if (!turned) {
            scps_sock_turn(s->ctx);
            turned = true;
            continue;
        }
        if (nowait)
            return -EAGAIN;
        r = scps_sock_block(&s, SCPS_WAIT_WRITE, 1, deadline);
        if (r < 0)
            return r;
    }
}

int64_t scps_sock_dgram_send(struct sock *s, const struct vec *v, int flags, const void *addr,
                             uint32_t len)
{
    struct scps_endpoint to;
    const uint8_t *data = NULL;
    uint8_t *own = NULL;
    int r = scps_sock_dgram_open(s);
    if (r < 0)
        return r;
    if (flags & (SCPS_MSG_OOB | SCPS_MSG_MORE | SCPS_MSG_FASTOPEN))
        return -EOPNOTSUPP;
    if (v->total > UINT16_MAX)
        return -EMSGSIZE;
    if (!addr && !s->names.remote.addr.family)
        return -EDESTADDRREQ;
    if (addr)
        r = destination(s, addr, len, &to);
    if (r == 0)
        r = gather(s, v, &data, &own);
    if (r < 0) {
        scps_sock_free(s->ctx, own, v->total);
        return r;
    }
    /* The context is kept in a variable, because the socket may be closed while this call waits. */
    struct scps_ctx *ctx = s->ctx;
    int64_t n =
        send_one(s, addr ? &to : NULL, data, v->total, s->nonblock || (flags & SCPS_MSG_DONTWAIT));
    scps_sock_free(ctx, own, v->total);
    return n;
}

/* Copies the oldest datagram into the pieces of v. Returns its length, or an error. */
static int64_t pull(struct sock *s, const struct vec *v, int flags, struct scps_dgram_from *from)
{
    unsigned how = flags & SCPS_MSG_PEEK ? SCPS_PEEK : 0;
    struct scps_iovec first = {NULL, 0};
    if (v->total)
        first = scps_vec_piece(v, 0);
    if (first.iov_len && !first.iov_base)
        return -EFAULT;
    if (first.iov_len == v->total)
        return scps_dgram_recv(s->pcb.dg, first.iov_base, first.iov_len, how, from);
    size_t size = SCPS_MIN(v->total, (size_t)UINT16_MAX);
    uint8_t *tmp = scps_sock_alloc(s->ctx, size);
    if (!tmp)
        return -ENOMEM;
    int64_t n = scps_dgram_recv(s->pcb.dg, tmp, size, how, from), at = 0;
    while (at < SCPS_MIN(n, (int64_t)size)) {
        struct scps_iovec p = scps_vec_piece(v, (size_t)at);
        size_t k = SCPS_MIN(p.iov_len, (size_t)(SCPS_MIN(n, (int64_t)size) - at));
        if (!p.iov_base) {
            n = -EFAULT;
            break;
        }
        memcpy(p.iov_base, tmp + at, k);
        at += (int64_t)k;
    }
    scps_sock_free(s->ctx, tmp, size);
    return n;
}

int64_t scps_sock_dgram_recv(struct sock **sp, const struct vec *v, int flags,
                             struct scps_endpoint *from, int *end)
{
    struct sock *s = *sp;
    scps_time deadline = scps_sock_after(s->ctx, s->rcvtimeo);
    if (flags & SCPS_MSG_ERRQUEUE)
        return -EAGAIN;
    for (;;) {
        struct scps_dgram_from f;
        if (s->life.err)
            return -scps_sock_life_take_error(&s->life);
        if (s->pcb.dg && scps_dgram_next(s->pcb.dg) >= 0) {
            int64_t n = pull(s, v, flags, &f);
            if (n < 0)
                return n;
            *from = f.remote;
            bool cut = (uint64_t)n > v->total;
            if (end)
                *end = cut ? SCPS_MSG_TRUNC : 0;
            return cut && !(flags & SCPS_MSG_TRUNC) ? (int64_t)v->total : n;
        }
        *from = (struct scps_endpoint){.addr.family = s->domain == SCPS_AF_INET6 ? 6 : 4};
        if (s->life.shut & SHUT_RCV)
            return 0;
        if (s->nonblock || (flags & SCPS_MSG_DONTWAIT))
            return -EAGAIN;
        int r = scps_sock_block(sp, SCPS_WAIT_READ, 1, deadline);
        if (r < 0)
            return r;
        s = *sp;
    }
}
