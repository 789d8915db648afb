/* SPDX-License-Identifier: MIT */
/* The state of a stream socket as Linux reports it: TCP state, errors, poll events, readiness.
 *
 * The rules are those of Linux's tcp_poll, tcp_reset, tcp_fin and tcp_disconnect, as a program sees
 * them:
 *   - the peer's FIN shuts down the receiving direction, even if data is unread (POLLRDHUP and
 *     POLLIN are set);
 *   - the end of the connection, by an error, a reset or the FINs of both ends, shuts down both
 *     directions (POLLHUP is set); entering TIME-WAIT is such an end, because Linux separates the
 *     socket from a connection in TIME-WAIT;
 *   - an error is pending until one call has returned it; a reset that arrives after the peer's FIN
 *     is EPIPE instead of ECONNRESET;
 *   - data that arrives after this end has shut down both directions resets the connection.
 */
#include <scps/wire.h>

#include "socket/sock.h"

static int end_errno(const struct sock *s, int err)
{
    unsigned icmp = scps_conn_icmp(s->pcb.conn), family = s->names.remote.addr.family;
    switch (err) {
    case SCPS_ERR_RESET:
        /* If the peer's FIN has arrived before the reset, and this end has not shut down sending,
         * only data of this end can be lost, so the error is EPIPE, as in Linux. */
        return s->life.fin_received && !(s->life.shut_app & SHUT_SEND) ? EPIPE : ECONNRESET;
    /* The connection was refused: by a reset, or by an ICMP error during the handshake. All such
     * errors are ECONNREFUSED, except that "protocol unreachable" is ENOPROTOOPT. */
    case SCPS_ERR_REFUSED: {
        int e = icmp ? scps_sock_icmp_errno(family, icmp) : ECONNREFUSED;
        return e == ENOPROTOOPT ? e : ECONNREFUSED;
    }
    case SCPS_ERR_UNREACH:
    /* If an ICMP error has arrived before the timeout, the errno value of that error is returned,
     * which is more precise than ETIMEDOUT (RFC 1122 section 4.2.3.9). */
    case SCPS_ERR_TIMEDOUT:
        if (icmp)
            return scps_sock_icmp_errno(family, icmp);
        /* fall through */
    default:
        return scps_sock_errno(err);
    }
}

/* Records that the connection has ended with err, a positive errno value; 0: both FINs were
 * exchanged. */
static void end(struct sock *s, int err)
{
    scps_sock_life_end(&s->life, err);
    scps_sock_names_end(&s->names);
}

/* Updates s->life from the state of the connection: the receiving direction is shut down if the
 * peer's FIN has arrived, and both directions, with the error if there is one, if the connection
 * has ended. Called at the beginning of each call on the socket and after each event of its
 * connection. */
void scps_sock_refresh(struct sock *s)
{
    if (!s->pcb.conn || s->life.ended)
        return;
    enum scps_state st = scps_conn_state(s->pcb.conn);
    int err = scps_conn_error(s->pcb.conn);
    if (st == SCPS_CLOSE_WAIT || st == SCPS_LAST_ACK || st == SCPS_CLOSING ||
        st == SCPS_TIME_WAIT || scps_conn_eof(s->pcb.conn))
        scps_sock_life_fin(&s->life);
    if (err || st == SCPS_CLOSED || st == SCPS_TIME_WAIT)
        end(s, err ? end_errno(s, err) : 0);
}

void scps_sock_hear(struct sock *s, const struct scps_event *ev)
{
    if (ev->kind == SCPS_EV_PEER_CLOSED)
        scps_sock_life_fin(&s->life);
    scps_sock_refresh(s);
    if (s->pcb.conn && !s->life.ended && s->life.shut_app == (SHUT_RCV | SHUT_SEND)) {
        struct scps_info info;
        scps_conn_info(s->pcb.conn, &info);
        if (scps_sock_life_refuses_data(&s->life, info.bytes_received)) {
            scps_sock_pcb_release(&s->pcb, true);
            end(s, ECONNRESET);
        }
    }
}

void scps_sock_disconnect(struct sock *s)
{
    if (s->dgram) {
        scps_sock_dgram_disconnect(s);
        return;
    }
    enum scps_state st = scps_sock_state(s);
    bool alive = s->pcb.conn && !s->life.ended;
    struct scps_addr any = scps_sock_any(s);
    scps_sock_pcb_release(&s->pcb, alive);
    scps_sock_life_disconnected(&s->life);
    if (alive && st != SCPS_CLOSING && st != SCPS_LAST_ACK)
        scps_sock_life_set_error(&s->life, ECONNRESET);
    if (st != SCPS_CLOSED)
        scps_sock_names_end(&s->names);
    scps_sock_names_disconnect(&s->names, &any);
}

enum scps_state scps_sock_state(const struct sock *s)
{
    if (s->pcb.lis)
        return SCPS_LISTEN;
    if (!s->pcb.conn || s->life.ended)
        return SCPS_CLOSED;
    enum scps_state st = scps_conn_state(s->pcb.conn);
    if (s->life.shut_app &
        /* The FIN may wait until the data before it has been sent, but the state changes at once,
         * as in Linux. */
        SHUT_SEND) {
        if (st == SCPS_ESTABLISHED)
            return SCPS_FIN_WAIT_1;
        if (st == SCPS_CLOSE_WAIT)
            return SCPS_LAST_ACK;
    }
    return st;
}

static bool handshaking(enum scps_state st)
{
    return st == SCPS_SYN_SENT || st == SCPS_SYN_RECEIVED;
}

uint64_t scps_sock_refusals(const struct scps_ctx *ctx)
{
    struct scps_stack_stats st;

    scps_stack_get_stats(ctx->st, &st);
    return st.memory_refused;
}

/* If the stack's memory_limit has refused memory for arriving data, `need` octets may never fit
 * into the receive buffer before the reader takes some. Then a single octet makes the socket
 * readable, as in Linux. */
bool scps_sock_readable(const struct sock *s, size_t need)
{
    size_t got;

    if (!s->pcb.conn)
        return false;
    got = scps_conn_readable(s->pcb.conn);
    return got >= need || scps_conn_stops(s->pcb.conn) ||
           (got && s->refusals != scps_sock_refusals(s->ctx));
}

static bool at_hole(const struct sock *s)
{
    struct scps_hole h;
    return s->pcb.conn && scps_conn_hole(s->pcb.conn, &h, SCPS_PEEK) == 1;
}

size_t scps_sock_room(const struct sock *s)
{
    if (!s->pcb.conn || s->life.ended)
        return 0;
    size_t n = scps_conn_writable(s->pcb.conn);
    if (s->notsent_lowat) {
        uint64_t unsent = scps_conn_unsent(s->pcb.conn);
        uint64_t more = unsent < s->notsent_lowat ? s->notsent_lowat - unsent : 0;
        n = SCPS_MIN(n, more);
    }
    return n;
}

bool scps_sock_ready(struct sock *s, enum scps_wait_dir dir, size_t need)
{
    if (s->dgram)
        return scps_sock_dgram_ready(s, dir);
    enum scps_state st = scps_sock_state(s);
    switch (dir) {
    case SCPS_WAIT_READ:
        return s->life.err || (s->life.shut & SHUT_RCV) || st == SCPS_CLOSED || st == SCPS_LISTEN ||
               scps_sock_readable(s, need);
    case SCPS_WAIT_WRITE:
        if (s->life.err || (s->life.shut & SHUT_SEND))
            return true;
        if (handshaking(st))
            return false;
        return need == 0 || (st != SCPS_ESTABLISHED && st != SCPS_CLOSE_WAIT) ||
               scps_sock_room(s) > 0;
    case SCPS_WAIT_ACCEPT:
        return !s->pcb.lis || scps_listener_pending(s->pcb.lis) > 0;
    /* A lingering close waits until its FIN is acknowledged. If data arrives, which will not be
     * read, the wait ends, and the close resets the connection. */
    case SCPS_WAIT_CLOSE:
        return (st != SCPS_FIN_WAIT_1 && st != SCPS_CLOSING && st != SCPS_LAST_ACK) ||
               scps_sock_readable(s, 1);
    default:
        return true;
    }
}

bool scps_sock_best_effort(const struct sock *s)
{
    struct scps_info info;

    if (!s->pcb.conn)
        return false;
    scps_conn_info(s->pcb.conn, &info);
    return info.caps & SCPS_CAP_BETS;
}

/* Returns how many bytes make poll() report that s can be read: SO_RCVLOWAT, but at most half of
 * the receive buffer of the connection. With a larger number the window could close before so many
 * bytes have arrived, and the reader and the peer would wait for each other for ever. Linux has the
 * same limit. If best effort (BETS of SCPS-TP) was agreed on, it is one byte: this receiver gives
 * up missing data and skips it, but only after the application has read all bytes before it, so
 * those have to be read although they are few. */
static size_t poll_need(const struct sock *s)
{
    struct scps_conn_config cfg = {.size = sizeof cfg};

    if (s->rcvlowat <= 1 || !s->pcb.conn || scps_sock_best_effort(s))
        return 1;
    scps_conn_get_config(s->pcb.conn, &cfg);
    return SCPS_MIN(s->rcvlowat, cfg.rcvbuf / 2);
}

unsigned scps_sock_events(const struct sock *s)
{
    const unsigned in = SCPS_POLLIN | SCPS_POLLRDNORM, out = SCPS_POLLOUT | SCPS_POLLWRNORM;
    enum scps_state st = scps_sock_state(s);
    unsigned ev = 0;

    if (s->dgram)
        return scps_sock_dgram_events(s);
    if (st == SCPS_LISTEN)
        return scps_listener_pending(s->pcb.lis) ? in : 0;
    if (s->life.shut == (SHUT_RCV | SHUT_SEND) || st == SCPS_CLOSED)
        ev |= SCPS_POLLHUP;
    if (s->life.shut & SHUT_RCV)
        ev |= in | SCPS_POLLRDHUP;
    if (!handshaking(st)) {
        if (scps_sock_readable(s, poll_need(s)))
            ev |= in;
        if (at_hole(s))
            ev |= SCPS_POLLPRI;
        if ((s->life.shut & SHUT_SEND) || st == SCPS_CLOSED) {
            ev |= out;
        } else {
            /* The socket is writable when a third of the buffer is free, so that not every ACK
             * wakes the writer. */
            uint64_t used = scps_conn_unacked(s->pcb.conn), room = scps_conn_writable(s->pcb.conn);
            if (room && room >= used / 2 &&
                (!s->notsent_lowat || 2 * scps_conn_unsent(s->pcb.conn) < s->notsent_lowat))
                ev |= out;
        }
    }
    if (s->life.err)
        ev |= SCPS_POLLERR;
    return ev;
}
