/* SPDX-License-Identifier: MIT */
/* What state a socket of datagrams is in: errors, poll events, readiness, and how it is
 * disconnected.
 *
 * Errors that ICMP reports are pending on a connected socket only, and of them those that Linux
 * calls fatal (its icmp_err_convert); the next call of any kind returns one. */
#include "socket/sock.h"

/* Returns true for an error that Linux reports on a connected socket. */
static bool fatal(const struct sock *s, unsigned icmp)
{
    unsigned type = icmp >> 8, code = icmp & 0xff;
    if (!icmp)
        return true;
    if (s->remote.addr.family == 6)
        return type == 2 || type == 4 || (type == 1 && code != 0 && code != 2 && code != 3);
    if (type == 3)
        return code != 0 && code != 1 && code != 5 && code != 11 && code != 12;
    return type == 12;
}

void scps_sock_dgram_hear(struct sock *s, const struct scps_event *ev)
{
    unsigned icmp = 0;
    struct scps_endpoint about;
    if (ev->kind != SCPS_EV_ERROR)
        return;
    int err = scps_dgram_error(s->dg, &about, &icmp);
    if (!err || !s->remote.addr.family || !fatal(s, icmp) || about.port != s->remote.port ||
        !scps_addr_equal(&about.addr, &s->remote.addr))
        return;
    s->err = icmp ? scps_sock_icmp_errno(s, icmp) : scps_sock_errno(err);
}

static bool readable(const struct sock *s)
{
    return s->dg && scps_dgram_next(s->dg) >= 0;
}

/* Returns true when half of the buffer is free, as in Linux. */
static bool writable(const struct sock *s)
{
    return !s->dg || scps_dgram_writable(s->dg);
}

bool scps_sock_dgram_ready(const struct sock *s, enum scps_wait_dir dir)
{
    if (dir == SCPS_WAIT_READ)
        return s->err || (s->shut & SHUT_RCV) || readable(s);
    if (dir == SCPS_WAIT_WRITE)
        return s->err || (s->shut & SHUT_SEND) || writable(s);
    return true;
}

unsigned scps_sock_dgram_events(const struct sock *s)
{
    unsigned ev = 0;
    if (readable(s) || (s->shut & SHUT_RCV))
        ev |= SCPS_POLLIN | SCPS_POLLRDNORM;
    if (s->shut & SHUT_RCV)
        ev |= SCPS_POLLRDHUP;
    if (s->shut == (SHUT_RCV | SHUT_SEND))
        ev |= SCPS_POLLHUP;
    if (writable(s))
        ev |= SCPS_POLLOUT | SCPS_POLLWRNORM;
    if (s->err)
        ev |= SCPS_POLLERR;
    return ev;
}

uint64_t scps_sock_dgram_queued(const struct sock *s, unsigned long request)
{
    int64_t n = 0;
    if (s->dg)
        n = request == SCPS_FIONREAD ? scps_dgram_next(s->dg) : (int64_t)scps_dgram_unsent(s->dg);
    return (uint64_t)SCPS_MAX(n, 0);
}

int scps_sock_dgram_shutdown(struct sock *s, unsigned bits)
{
    s->shut |= bits; /* A shutdown wakes waiting calls, whether the socket is connected or not. */
    s->shut_app |= bits;
    return s->remote.addr.family ? 0 : -ENOTCONN;
}

void scps_sock_dgram_disconnect(struct sock *s)
{
    s->remote = (struct scps_endpoint){0};
    s->err = 0;
    s->shut = s->shut_app = 0;
    if (s->dg && s->bound_port) {
        scps_dgram_connect(s->dg, NULL);
        scps_dgram_local(s->dg, &s->local);
        return;
    }
    if (s->dg) /* The stack had chosen the port, so it is free again. */
        scps_dgram_close(s->dg);
    s->dg = NULL;
    s->bound = false;
    s->local.port = 0;
    if (!s->bound_addr)
        s->local.addr = scps_sock_any(s);
}
