/* SPDX-License-Identifier: MIT */
/* The application's calls: write, read, shut down, close.
 *
 * A call changes the connection and wakes it. No call sends: the stack later asks the connection
 * for segments by scps_conn_output().
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "base/sized.h"
#include "core/pathstate.h"

/* Returns how many of `len` octets the application may write now, given the room in the send
 * buffer, or a negative SCPS_ERR_* if it may write none. */
static inline int64_t may_write(struct scps_conn *c, size_t len, unsigned flags)
{
    uint64_t held, room;

    if (c->err)
        return c->err;
    if (c->s.snd.shut)
        return SCPS_ERR_PIPE;
    if (c->state == SCPS_CLOSED)
        return SCPS_ERR_NOTCONN;
    if (flags & SCPS_EOR && !c->s.ctx.cfg->c.records)
        return SCPS_ERR_INVAL;
    held = scps_send_held(&c->s.snd);
    room = c->s.ctx.cfg->c.sndbuf > held ? c->s.ctx.cfg->c.sndbuf - held : 0;
    if (!len)
        return 0;
    if (!room) {
        scps_room_want(&c->s.small, true);
        return SCPS_ERR_AGAIN;
    }
    if (scps_conn_need_tx(&c->s) || scps_conn_ctx_need_stats(&c->s.ctx))
        return scps_conn_starve(&c->s);
    scps_ackout_wrote(&c->ack);
    return (int64_t)SCPS_MIN(len, room);
}

/* Completes a write of n octets that have been copied to the send buffer. end: true if the last of
 * them ends an application record (TCP option 22). Returns n, or SCPS_ERR_NOMEM if there is no
 * memory to store the offset of that end; then the n octets are removed from the buffer. */
static inline int64_t wrote(struct scps_sender *s, size_t n, bool end, unsigned flags)
{
    if (end && scps_record_write(&s->tx->ends, &s->ctx, s->snd.end + n)) {
        scps_sndbuf_unwrite(&s->tx->buf, n);
        return scps_conn_starve(s);
    }
    scps_send_wrote(&s->snd, n);
    if (flags & SCPS_MORE)
        scps_small_set(&s->small, SCPS_SMALL_MORE, true);
    else
        scps_small_set(&s->small, SCPS_SMALL_MORE, false);
    scps_sender_wake(s);
    return (int64_t)n;
}

int64_t scps_conn_write(struct scps_conn *c, const void *buf, size_t len, unsigned flags)
{
    int64_t r = may_write(c, len, flags);
    size_t n;

    if (r <= 0)
        return r;
    n = scps_sndbuf_write(&c->s.tx->buf, &c->s.ctx.env->alloc_later, buf, (size_t)r,
                          c->s.ctx.cfg->c.hollow);
    if (!n)
        return scps_conn_starve(&c->s);
    r = wrote(&c->s, n, flags & SCPS_EOR && n == len, flags);
    if (r > 0)
        scps_room_want(&c->s.small, n < len);
    return r;
}

int64_t scps_conn_writev(struct scps_conn *c, const struct scps_iovec *v, size_t n, unsigned flags)
{
    int64_t all = 0, r;

    while (n && !v[n - 1].iov_len)
        n--;
    if (!n)
        return may_write(c, 0, flags);
    for (size_t i = 0; i < n; i++) {
        unsigned own = i + 1 < n ? (flags & ~SCPS_EOR) | SCPS_MORE : flags;
        if (v[i].iov_len > (size_t)(INT64_MAX - all))
            r = SCPS_ERR_INVAL;
        else
            r = scps_conn_write(c, v[i].iov_base, v[i].iov_len, own);
        if (r < 0 && !all)
            return r;
        all += SCPS_MAX(r, 0);
        if (r < 0 || (size_t)r < v[i].iov_len)
            break;
    }
    /* Without SCPS_MORE the application has no more data for now, so a last segment that is not
     * full may be sent at once, even if the send buffer had room for a part of the data only. */
    if (!(flags & SCPS_MORE))
        scps_small_set(&c->s.small, SCPS_SMALL_MORE, false);
    return all;
}

int64_t scps_conn_reserve(struct scps_conn *c, size_t len, uint8_t **at)
{
    int64_t r = c->s.ctx.cfg->c.hollow ? SCPS_ERR_INVAL : may_write(c, len, 0);
    size_t n;

    if (r <= 0)
        return r;
    n = scps_sndbuf_room(&c->s.tx->buf, &c->s.ctx.env->alloc_later, (size_t)r, at);
    if (!n)
        return scps_conn_starve(&c->s);
    c->s.tx->reserved = c->s.tx->buf.to;
    c->s.tx->reserved_to = c->s.tx->buf.to + n;
    scps_room_want(&c->s.small, (size_t)r < len);
    return (int64_t)n;
}

int64_t scps_conn_commit(struct scps_conn *c, size_t len, unsigned flags)
{
    struct scps_tx *tx = c->s.tx;
    int64_t r = may_write(c, len, flags);

    if (r < 0 || !len) {
        if (tx)
            tx->reserved = tx->reserved_to = 0;
        return r;
    }
    if (!tx || !tx->buf.mem || tx->buf.to != tx->reserved || tx->reserved_to - tx->reserved < len)
        return SCPS_ERR_INVAL;
    tx->reserved = tx->reserved_to = 0;
    scps_sndbuf_filled(&tx->buf, len);
    return wrote(&c->s, len, flags & SCPS_EOR, flags);
}

int64_t scps_conn_read(struct scps_conn *c, void *buf, size_t len, unsigned flags)
{
    uint64_t ready = scps_marks_readable(scps_tp_marks(c->s.tp), &c->rcv.in);
    size_t n = scps_rcvbuf_read(&c->rcv.in, buf, (size_t)SCPS_MIN(len, ready), flags & SCPS_PEEK);

    if (n) {
        if (!(flags & SCPS_PEEK)) {
            SCPS_OBSERVE_CONN2(c, DELIVERED, c->rcv.in.read - n, n);
            if (scps_tp_marks(c->s.tp))
                scps_marks_read(scps_tp_marks(c->s.tp), &c->rcv.in, n);
            scps_rcv_read(c);
            scps_rcv_check_hole(c);
        }
        return (int64_t)n;
    }
    if (ready)
        return 0; /* There is data, but the caller asked for 0 octets, so none is returned. */
    if (scps_tp_marks(c->s.tp) && scps_marks_at_hole(scps_tp_marks(c->s.tp), &c->rcv.in))
        return SCPS_ERR_HOLE;
    if (c->rcv.fin)
        return 0;
    if (c->err)
        return c->err;
    if (c->state == SCPS_CLOSED)
        return SCPS_ERR_NOTCONN;
    return SCPS_ERR_AGAIN;
}

bool scps_conn_stops(const struct scps_conn *c)
{
    const struct scps_rcv_marks *m = scps_tp_marks(c->s.tp);

    return m && scps_marks_ahead(m, &c->rcv.in);
}

const uint8_t *scps_conn_data(struct scps_conn *c, size_t *len)
{
    const uint8_t *p = scps_rcvbuf_front(&c->rcv.in, len);

    *len = (size_t)SCPS_MIN(*len, scps_marks_readable(scps_tp_marks(c->s.tp), &c->rcv.in));
    return *len ? p : NULL;
}

unsigned scps_conn_record(const struct scps_conn *c)
{
    const struct scps_rcv_marks *m = scps_tp_marks(c->s.tp);

    return m ? (m->ended ? SCPS_RECORD_END : 0) | (m->torn ? SCPS_RECORD_TORN : 0) : 0;
}

void scps_conn_cork(struct scps_conn *c, bool on)
{
    scps_conn_hold_small(&c->s, SCPS_SMALL_CORK, on);
    if (!on) {
        scps_small_set(&c->s.small, SCPS_SMALL_MORE, false);
        if (c->s.tx)
            scps_timer_stop(&c->s.tx->cork_timer);
    }
}

void scps_conn_nodelay(struct scps_conn *c, bool on)
{
    scps_conn_hold_small(&c->s, SCPS_SMALL_NODELAY, on);
    if (on) {
        scps_small_set(&c->s.small, SCPS_SMALL_MORE, false);
        scps_sender_wake(&c->s);
    }
}

int scps_conn_shutdown(struct scps_conn *c)
{
    if (c->state == SCPS_CLOSED)
        return SCPS_ERR_NOTCONN;
    if (c->s.snd.shut)
        return 0;
    if (c->state == SCPS_TIME_WAIT)
        return 0;
    if (scps_conn_need_tx(&c->s) || scps_conn_ctx_need_stats(&c->s.ctx))
        /* The FIN is sent later, when there is memory for its scoreboard record. */
        scps_conn_starve(&c->s);
    scps_send_shut(&c->s.snd);
    if (c->state == SCPS_ESTABLISHED)
        scps_conn_set_state(c, SCPS_FIN_WAIT_1);
    else if (c->state == SCPS_CLOSE_WAIT)
        scps_conn_set_state(c, SCPS_LAST_ACK);
    scps_sender_wake(&c->s);
    return 0;
}

void scps_conn_close(struct scps_conn *c)
{
    bool unread = scps_rcvbuf_ready(&c->rcv.in) > scps_marks_hole_len(scps_tp_marks(c->s.tp));

    scps_notify_closed(&c->notify, &c->owner);
    switch (c->state) {
    case SCPS_CLOSED:
        scps_conn_queue_for_free(c);
        return;
    case SCPS_SYN_SENT:
        scps_conn_finish(c, 0);
        return;
    case SCPS_TIME_WAIT:
        return;
    case SCPS_FIN_WAIT_2:
        scps_conn_end_after(c, c->s.ctx.cfg->c.fin_wait2);
        break;
    default:
        break;
    }
    if (unread)
        scps_conn_reset(c, SCPS_ERR_ABORTED);
    else
        scps_conn_shutdown(c);
}

void scps_conn_abort(struct scps_conn *c)
{
    scps_notify_closed(&c->notify, &c->owner);
    switch (c->state) {
    case SCPS_CLOSED:
        scps_conn_queue_for_free(c);
        break;
    case SCPS_SYN_SENT:
    case SCPS_TIME_WAIT:
        scps_conn_finish(c, SCPS_ERR_ABORTED);
        break;
    default:
        scps_conn_reset(c, SCPS_ERR_ABORTED);
    }
}

void scps_conn_set_user(struct scps_conn *c, void *user)
{
    scps_notify_user(&c->owner, user);
}

int scps_conn_hole(struct scps_conn *c, struct scps_hole *out, unsigned flags)
{
    struct scps_rcv_marks *m = scps_tp_marks(c->s.tp);

    if (!m || !scps_marks_at_hole(m, &c->rcv.in))
        return 0;
    *out = (struct scps_hole){m->hole.from - 1, m->hole.to - m->hole.from};
    if (flags & SCPS_PEEK)
        return 1;
    scps_marks_pass(m, &c->rcv.in);
    scps_rcv_read(c);
    scps_rcv_check_hole(c);
    return 1;
}

size_t scps_conn_given_up(const struct scps_conn *c, struct scps_hole *out, size_t max)
{
    const struct scps_rangeset *list = c->s.tp ? &c->s.tp->given_up : NULL;

    if (!list)
        return 0;
    for (uint32_t i = 0; i < list->n && i < max; i++) {
        const struct scps_range *r = scps_rangeset_at(list, i);
        out[i] = (struct scps_hole){r->from - 1, r->to - r->from};
    }
    return list->n;
}

/* ---- the function that gives a connection a saved path state (careful resume, RFC 9959) ---- */

enum scps_path_verdict scps_path_restore(struct scps_conn *c, const void *state, size_t len,
                                         int64_t now, const struct scps_path_limits *lim)
{
    struct scps_path_limits own = scps_path_limits_default();
    struct scps_path_values p = {.local = c->local, .remote = c->remote};
    enum scps_path_verdict v = SCPS_PATH_RANGE;

    if (!lim ||
        scps_sized_take_own(&own, sizeof own, lim, SCPS_SIZED_TO(scps_path_limits, max_jump)))
        v = scps_pathstate_read(&p, state, len, now, own.lifetime);
    if (v != SCPS_PATH_TAKEN)
        ; /* v is the reason that scps_pathstate_read() gave for refusing the state. */
    else if (c->s.ctl.cwnd == SCPS_CWND_OPEN || c->s.ctx.cfg->c.cc->needs_rate)
        v = SCPS_PATH_NO_WINDOW;
    else if (c->s.snd.una > 1 || c->s.resumes || c->state == SCPS_CLOSED)
        v = SCPS_PATH_LATE;
    else if (scps_conn_need_tp(&c->s))
        v = SCPS_PATH_NO_MEMORY;
    if (v == SCPS_PATH_TAKEN) {
        scps_resume_begin(&c->s.tp->resume, &c->s.ctx, p.cwnd, p.rate, p.rtt, p.limit_found,
                          own.max_jump);
        c->s.resumes = true;
    } else {
        SCPS_OBSERVE_CONN2(c, RESUME, SCPS_RESUME_REFUSED, v);
    }
    return v;
}
