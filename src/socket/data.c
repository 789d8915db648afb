/* SPDX-License-Identifier: MIT */
/* Reading from and writing to sockets.
 *
 * Conditions are checked in the order of Linux, which a program can observe: data that has arrived
 * is returned first; then the end of the stream is reported before a pending error, a pending error
 * before a shutdown of the direction, and that before "never connected". A call that has moved some
 * bytes returns their number and leaves the error for the next call.
 */
#include <string.h>

#include "socket/vec.h"

/* ---- functions that read from a socket ---- */

/* Reads the bytes that have arrived in order into the pieces of v, from byte `at` of v on; discard
 * true: removes as many bytes from the receive buffer without storing them. Returns the number of
 * bytes, or -EFAULT. */
static int64_t pull(struct sock *s, const struct vec *v, size_t at, bool discard)
{
    size_t moved = 0;
    while (s->pcb.conn && at + moved < v->total) {
        struct scps_iovec p = scps_vec_piece(v, at + moved);
        if (!discard && !p.iov_base)
            return moved || !scps_conn_readable(s->pcb.conn) ? (int64_t)moved : -EFAULT;
        int64_t n = scps_conn_read(s->pcb.conn, discard ? NULL : p.iov_base, p.iov_len, 0);
        if (n <= 0)
            break;
        moved += (size_t)n;
        if (scps_conn_record(s->pcb.conn) & SCPS_RECORD_END)
            break;
    }
    return (int64_t)moved;
}

/* Copies the bytes that have arrived in order into the pieces of v, and leaves them in the receive
 * buffer. Returns the number of bytes, or -EFAULT. A peek always starts at the first byte, so a
 * vector of several pieces needs an intermediate copy. */
static int64_t peek(struct sock *s, const struct vec *v)
{
    if (!s->pcb.conn || !v->total || !scps_conn_readable(s->pcb.conn))
        return 0;
    struct scps_iovec p = scps_vec_piece(v, 0);
    if (!p.iov_base)
        return -EFAULT;
    if (p.iov_len == v->total) {
        int64_t n = scps_conn_read(s->pcb.conn, p.iov_base, p.iov_len, SCPS_PEEK);
        return SCPS_MAX(n, 0);
    }
    size_t want = SCPS_MIN(scps_conn_readable(s->pcb.conn), v->total);
    uint8_t *tmp = scps_sock_alloc(s->ctx, want);
    if (!tmp)
        return -ENOMEM;
    int64_t n = scps_conn_read(s->pcb.conn, tmp, want, SCPS_PEEK);
    int64_t at = 0;
    while (at < n) {
        p = scps_vec_piece(v, (size_t)at);
        if (!p.iov_base)
            break;
        size_t k = SCPS_MIN(p.iov_len, (size_t)(n - at));
        memcpy(p.iov_base, tmp + at, k);
        at += (int64_t)k;
    }
    scps_sock_free(s->ctx, tmp, want);
    return at;
}

/* Returns true if the next byte to read is missing because best effort (SCPS-TP BETS) has given it
 * up; then, unless peeking, reading continues behind the missing bytes. */
static bool met_hole(struct sock *s, bool peeking)
{
    struct scps_hole h;
    if (!s->pcb.conn || !scps_conn_hole(s->pcb.conn, &h, peeking ? SCPS_PEEK : 0))
        return false;
    if (!peeking)
        s->hole = h;
    return true;
}

/* Returns true if the bytes read, or peeked at, end where a read has to stop: at a record end, or
 * before bytes that best effort (SCPS-TP BETS) has given up. */
static bool stopped(const struct sock *s, bool peeking)
{
    struct scps_hole h;
    if (!s->pcb.conn)
        return false;
    if (peeking)
        return scps_conn_stops(s->pcb.conn);
    return scps_conn_record(s->pcb.conn) & SCPS_RECORD_END ||
           scps_conn_hole(s->pcb.conn, &h, SCPS_PEEK) == 1;
}

static int64_t do_recv(struct sock *s, const struct vec *v, int flags)
{
    struct scps_ctx *ctx = s->ctx;
    bool peeking = flags & SCPS_MSG_PEEK, nowait = s->nonblock || (flags & SCPS_MSG_DONTWAIT);
    if (flags & SCPS_MSG_ERRQUEUE)
        /* MSG_ERRQUEUE: the error queue is always empty here, and Linux returns EAGAIN for an empty
         * one. */
        return -EAGAIN;
    if (s->pcb.lis)
        return -ENOTCONN;
    if (flags & SCPS_MSG_OOB)
        return -EINVAL; /* There is no out-of-band data, because urgent data stays in the stream. */
    size_t target = flags & SCPS_MSG_WAITALL ? v->total : SCPS_MIN((size_t)s->rcvlowat, v->total);
    target = SCPS_MAX(target, 1);
    scps_time deadline = scps_sock_after(ctx, s->rcvtimeo);
    int64_t copied = 0;

    if (peeking && target > 1)
        s->refusals = scps_sock_refusals(ctx);
    for (;;) {
        int64_t n =
            peeking ? peek(s, v) : pull(s, v, (size_t)copied, (flags & SCPS_MSG_TRUNC) != 0);
        if (n < 0)
            return copied ? copied : n;
        if (n && !peeking && s->rcvlowat > 1)
            s->refusals = scps_sock_refusals(ctx);
        copied = peeking ? n : copied + n;
        if ((size_t)copied >= target || (v->total == 0 && scps_sock_readable(s, 1)))
            return copied;
        if (copied && stopped(s, peeking))
            return copied;
        if (!copied && v->total && met_hole(s, peeking))
            return -ENODATA;
        bool over = s->life.err || (s->life.shut & SHUT_RCV) || scps_sock_state(s) == SCPS_CLOSED;
        if (copied && (nowait || over))
            return copied;
        if (!copied) {
            if (s->life.fin_received)
                return 0;
            if (s->life.err)
                return -scps_sock_life_take_error(&s->life);
            if (s->life.shut & SHUT_RCV)
                return 0;
            if (scps_sock_state(s) == SCPS_CLOSED)
                return -ENOTCONN;
            if (nowait)
                return -EAGAIN;
        }
        /* With MSG_PEEK the data stays in the buffer, so the call waits until all of it is there. A
         * read waits for one octet at a time and removes it, because the receive buffer may be
         * smaller than the amount requested. With best effort (SCPS-TP BETS) MSG_PEEK waits for one
         * octet only: missing data ahead is given up only after the reader has come to it, so more
         * octets might never be readable. */
        size_t need =
            peeking && !scps_sock_best_effort(s) ? SCPS_MIN(target, (size_t)s->conf.cfg.rcvbuf) : 1;
        if (peeking && copied && scps_sock_readable(s, need))
            return copied;
        int r = scps_sock_block(&s, SCPS_WAIT_READ, need, deadline);
        if (r < 0)
            return copied ? copied : r;
    }
}

/* Returns msg_flags for the bytes just read from a stream: SCPS_MSG_EOR if a record ends with them,
 * together with SCPS_MSG_TRUNC if bytes of that record are missing (best effort has given them up);
 * 0: no record ends there. */
static int end_flags(const struct sock *s)
{
    unsigned r = s->pcb.conn ? scps_conn_record(s->pcb.conn) : 0;
    if (!(r & SCPS_RECORD_END))
        return 0;
    return r & SCPS_RECORD_TORN ? SCPS_MSG_EOR | SCPS_MSG_TRUNC : SCPS_MSG_EOR;
}

/* Sets *out to the n buffers at iov. strict: the call is read(), readv() or writev(), which return
 * EINVAL for more than SCPS_IOV_MAX buffers; the other calls return EMSGSIZE. Returns 0 or
 * -errno. */
static int pieces(const struct scps_iovec *iov, size_t n, bool strict, struct vec *out)
{
    int r = scps_vec_of(iov, n, out);

    return strict && r == -EMSGSIZE ? -EINVAL : r;
}

/* Receives from socket fd into the n pieces of iov. is_read: the call is read() or readv(). *addr
 * gets the sender of a datagram, *end the value of msg_flags; both may be NULL. */
static int64_t recv_vec(struct scps_ctx *ctx, int fd, const struct scps_iovec *iov, size_t n,
                        int flags, bool is_read, void *addr, uint32_t *addrlen, int *end)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    struct scps_endpoint from;
    struct vec v;
    int64_t r = s ? pieces(iov, n, is_read, &v) : -EBADF;
    /* As in Linux, read() or readv() of 0 bytes returns 0 in every state of the socket. */
    if (r < 0 || (is_read && v.total == 0))
        return scps_sock_leave(ctx, r);
    if (s->dgram) {
        r = scps_sock_dgram_recv(&s, &v, flags, &from, end);
        if (r >= 0 && addr) {
            int e = scps_sock_addr_out(s, &from, addr, addrlen);
            r = e < 0 ? e : r;
        }
        return scps_sock_leave(ctx, r);
    }
    r = do_recv(s, &v, flags);
    if (r >= 0 && addr && addrlen)
        *addrlen = 0; /* On a stream no sender's address is returned. */
    if (end && r > 0 && !(flags & SCPS_MSG_PEEK))
        *end = end_flags(s);
    return scps_sock_leave(ctx, r);
}

int64_t scps_sock_read(struct scps_ctx *ctx, int fd, void *buf, size_t len)
{
    struct scps_iovec v = {buf, SCPS_MIN(len, SCPS_MAX_RW)};
    return recv_vec(ctx, fd, &v, 1, 0, true, NULL, NULL, NULL);
}

int64_t scps_sock_readv(struct scps_ctx *ctx, int fd, const struct scps_iovec *iov, int n)
{
    /* A negative number becomes one above SCPS_IOV_MAX, which is refused. */
    return recv_vec(ctx, fd, iov, (size_t)n, 0, true, NULL, NULL, NULL);
}

int64_t scps_sock_recv(struct scps_ctx *ctx, int fd, void *buf, size_t len, int flags)
{
    return scps_sock_recvfrom(ctx, fd, buf, len, flags, NULL, NULL);
}

int64_t scps_sock_recvfrom(struct scps_ctx *ctx, int fd, void *buf, size_t len, int flags,
                           void *addr, uint32_t *addrlen)
{
    struct scps_iovec v = {buf, SCPS_MIN(len, SCPS_MAX_RW)};
    return recv_vec(ctx, fd, &v, 1, flags, false, addr, addrlen, NULL);
}

int64_t scps_sock_recvmsg(struct scps_ctx *ctx, int fd, struct scps_msghdr *msg, int flags)
{
    if (!msg) {
        errno = EFAULT;
        return -1;
    }
    int end = 0;
    uint32_t namelen = msg->msg_namelen;
    int64_t r = recv_vec(ctx, fd, msg->msg_iov, msg->msg_iovlen, flags, false, msg->msg_name,
                         &namelen, &end);
    if (r >= 0) {
        msg->msg_namelen = msg->msg_name ? namelen : 0;
        msg->msg_controllen = 0;
        msg->msg_flags = end;
    }
    return r;
}

/* ---- functions that write to a socket ---- */

/* Returns the error of a write when the sending direction has ended, negative: the pending error,
 * which is cleared, or -EPIPE if there is none. */
static int pipe_error(struct sock *s)
{
    int e = scps_sock_life_take_error(&s->life);
    return e ? -e : -EPIPE;
}

/* Waits until the handshake of *s is complete, so that data can be written. Returns 0, or a
 * negative errno value. */
static int wait_until_open(struct sock **s, bool nowait, scps_time deadline)
{
    for (;;) {
        enum scps_state st = scps_sock_state(*s);
        if (st == SCPS_ESTABLISHED || st == SCPS_CLOSE_WAIT)
            return 0;
        if ((*s)->life.err || (st != SCPS_SYN_SENT && st != SCPS_SYN_RECEIVED))
            return pipe_error(*s);
        if (nowait)
            return -EAGAIN;
        int r = scps_sock_block(s, SCPS_WAIT_WRITE, 0, deadline);
        if (r < 0)
            return r;
    }
}

/* Writes piece p of message v to the connection, at most `room` bytes of the piece; room 0: the
 * whole piece. copied: number of bytes of v before p, which are written already. Returns what
 * scps_conn_write() returns. */
static int64_t write_piece(struct sock *s, const struct vec *v, size_t copied, struct scps_iovec p,
                           size_t room, int flags)
{
    size_t k = room ? SCPS_MIN(p.iov_len, room) : p.iov_len;
    /* If more pieces of the message follow, this one must not be sent as a short segment. */
    bool more = (flags & SCPS_MSG_MORE) || copied + p.iov_len < v->total;
    bool record = s->conf.cfg.records && (s->seqpacket ? !more : flags & SCPS_MSG_EOR);
    bool last = copied + k == v->total;

    return scps_conn_write(s->pcb.conn, p.iov_base, k,
                           (more ? SCPS_MORE : 0) | (record && last ? SCPS_EOR : 0));
}

static int64_t do_send(struct sock *s, const struct vec *v, int flags)
{
    struct scps_ctx *ctx = s->ctx;
    bool nowait = s->nonblock || (flags & SCPS_MSG_DONTWAIT);
    if (flags & (SCPS_MSG_OOB | SCPS_MSG_FASTOPEN))
        return -EOPNOTSUPP;
    scps_time deadline = scps_sock_after(ctx, s->sndtimeo);
    int r = wait_until_open(&s, nowait, deadline);
    if (r < 0)
        return r;
    int64_t copied = 0;
    bool turned = false;
    for (;;) {
        if (s->life.err || (s->life.shut & SHUT_SEND))
            return copied ? copied : pipe_error(s);
        if ((size_t)copied == v->total)
            return copied;
        struct scps_iovec p = scps_vec_piece(v, (size_t)copied);
        if (!p.iov_base)
            return copied ? copied : -EFAULT;
        size_t room = scps_sock_room(s);
        /* Without TCP_NOTSENT_LOWAT the write is tried even if there is no room, because
         * SCPS_EV_WRITABLE follows only after a write that was refused. With it, `room` is also 0
         * while the data not sent yet reaches that limit, although the send buffer has room, so no
         * write is tried then. */
        if (room || !s->notsent_lowat) {
            int64_t n = write_piece(s, v, (size_t)copied, p, room, flags);
            if (n > 0) {
                copied += n;
                turned = false;
                continue;
            }
            bool wait =
                /* For lack of memory the call waits as for lack of room, which Linux does, too. */
                n == SCPS_ERR_AGAIN || n == SCPS_ERR_NOMEM;
            scps_sock_refresh(s);
            if (!wait && !s->life.err && !(s->life.shut & SHUT_SEND))
                return copied ? copied : -scps_sock_errno((int)n);
            if (!wait)
                continue;
        } else if (!turned) {
            /* `room` is 0 because of TCP_NOTSENT_LOWAT, which limits data that was written and not
             * sent yet. So the stack is first made to send what it can now, after which `room` may
             * be above 0. */
            scps_sock_turn(ctx);
            turned = true;
            continue;
        }
        if (nowait)
            return copied ? copied : -EAGAIN;
        r = scps_sock_block(&s, SCPS_WAIT_WRITE, 1, deadline);
        if (r < 0)
            return copied ? copied : r;
        turned = false;
    }
}

static int64_t send_vec(struct scps_ctx *ctx, int fd, const struct scps_iovec *iov, size_t n,
                        int flags, bool is_writev, const void *addr, uint32_t addrlen)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    struct vec v;
    int64_t r = s ? pieces(iov, n, is_writev, &v) : -EBADF;
    /* A writev() of 0 bytes returns 0 in every state of the socket and sends no datagram. */
    if (r < 0 || (is_writev && v.total == 0))
        return scps_sock_leave(ctx, r);
    if (s->dgram)
        r = scps_sock_dgram_send(s, &v, flags, addr, addrlen);
    else
        /* The peer of a connection is fixed, so an address is ignored. */
        r = do_send(s, &v, flags);
    return scps_sock_leave(ctx, r);
}

int64_t scps_sock_write(struct scps_ctx *ctx, int fd, const void *buf, size_t len)
{
    return scps_sock_send(ctx, fd, buf, len, 0);
}

int64_t scps_sock_writev(struct scps_ctx *ctx, int fd, const struct scps_iovec *iov, int n)
{
    return send_vec(ctx, fd, iov, (size_t)n, 0, true, NULL, 0);
}

int64_t scps_sock_send(struct scps_ctx *ctx, int fd, const void *buf, size_t len, int flags)
{
    return scps_sock_sendto(ctx, fd, buf, len, flags, NULL, 0);
}

int64_t scps_sock_sendto(struct scps_ctx *ctx, int fd, const void *buf, size_t len, int flags,
                         const void *addr, uint32_t addrlen)
{
    struct scps_iovec v = {(void *)(uintptr_t)buf, SCPS_MIN(len, SCPS_MAX_RW)};
    return send_vec(ctx, fd, &v, 1, flags, false, addr, addrlen);
}

int64_t scps_sock_sendmsg(struct scps_ctx *ctx, int fd, const struct scps_msghdr *msg, int flags)
{
    if (!msg) {
        errno = EFAULT;
        return -1;
    }
    return send_vec(ctx, fd, msg->msg_iov, msg->msg_iovlen, flags, false, msg->msg_name,
                    msg->msg_namelen);
}
