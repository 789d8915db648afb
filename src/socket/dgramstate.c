/* SPDX-License-Identifier: MIT */
/* The state of a socket of datagrams: errors, poll events, readiness for reading and writing, and
 * disconnecting.
 *
 * Errors that ICMP reports are pending only on a connected socket, and only those that Linux calls
 * fatal (in its table icmp_err_convert); the next call of any kind returns a pending error and
 * clears it.
 */
#include "socket/sock.h"

/* Returns true if Linux would report this ICMP error (type << 8 | code) on a connected UDP socket;
 * icmp 0: the error came from no ICMP message and is always reported. */
static bool fatal(const struct sock *s, unsigned icmp)
{
    unsigned type = icmp >> 8, code = icmp & 0xff;
    if (!icmp)
        return true;
    if (s->names.remote.addr.family == 6)
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
    int err = scps_dgram_error(s->pcb.dg, &about, &icmp);
    if (!err || !s->names.remote.addr.family || !fatal(s, icmp) ||
        about.port != s->names.remote.port || !scps_addr_equal(&about.addr, &s->names.remote.addr))
        return;
    scps_sock_life_set_error(&s->life, icmp
                                           ? scps_sock_icmp_errno(s->names.remote.addr.family, icmp)
                                           : scps_sock_errno(err));
}

static bool readable(const struct sock *s)
{
    return s->pcb.dg && scps_dgram_next(s->pcb.dg) >= 0;
}

/* Returns true when at least half of the send buffer is free, as in Linux, or the socket has no
 * endpoint in the stack yet, so that its send buffer is empty. */
static bool writable(const struct sock *s)
{
    return !s->pcb.dg || scps_dgram_writable(s->pcb.dg);
}

bool scps_sock_dgram_ready(const struct sock *s, enum scps_wait_dir dir)
{
    if (dir == SCPS_WAIT_READ)
        return s->life.err || (s->life.shut & SHUT_RCV) || readable(s);
    if (dir == SCPS_WAIT_WRITE)
        return s->life.err || (s->life.shut & SHUT_SEND) || writable(s);
    return true;
}

unsigned scps_sock_dgram_events(const struct sock *s)
{
    unsigned ev = 0;
    if (readable(s) || (s->life.shut & SHUT_RCV))
        ev |= SCPS_POLLIN | SCPS_POLLRDNORM;
    if (s->life.shut & SHUT_RCV)
        ev |= SCPS_POLLRDHUP;
    if (s->life.shut == (SHUT_RCV | SHUT_SEND))
        ev |= SCPS_POLLHUP;
    if (writable(s))
        ev |= SCPS_POLLOUT | SCPS_POLLWRNORM;
    if (s->life.err)
        ev |= SCPS_POLLERR;
    return ev;
}

uint64_t scps_sock_dgram_queued(const struct sock *s, unsigned long request)
{
    int64_t n = 0;
    if (s->pcb.dg)
        n = request == SCPS_FIONREAD ? scps_dgram_next(s->pcb.dg)
                                     : (int64_t)scps_dgram_unsent(s->pcb.dg);
    return (uint64_t)SCPS_MAX(n, 0);
}

int scps_sock_dgram_shutdown(struct sock *s, unsigned bits)
{
    /* A shutdown wakes waiting calls, whether the socket is connected or not. */
    scps_sock_life_shutdown(&s->life, bits);
    return s->names.remote.addr.family ? 0 : -ENOTCONN;
}

void scps_sock_dgram_disconnect(struct sock *s)
{
    struct scps_addr any = scps_sock_any(s);

    scps_sock_life_disconnected(&s->life);
    scps_sock_life_set_error(&s->life, 0);
    if (s->names.bound_port && s->pcb.dg)
        scps_dgram_connect(s->pcb.dg, NULL);
    else /* The port was chosen by connect(), so a disconnect frees it. */
        scps_sock_pcb_close_dgram(&s->pcb);
    scps_sock_names_end(&s->names);
    scps_sock_names_disconnect(&s->names, &any);
}
