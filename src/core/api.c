/* SPDX-License-Identifier: MIT */
/* The application's calls: write, read, shut down, close.
 *
 * A call changes the connection and wakes it.  It sends nothing: scps_conn_output does.
 */
#include "core/conn.h"

#include "base/bytes.h"

int64_t scps_conn_write(struct scps_conn *c, const void *buf, size_t len, unsigned flags)
{
    uint64_t held, room;
    size_t n;

    if (c->err)
        return c->err;
    if (c->flags & SCPS_F_SHUT)
        return SCPS_ERR_PIPE;
    if (c->state == SCPS_CLOSED)
        return SCPS_ERR_NOTCONN;
    if (flags & SCPS_EOR && !c->ctx.cfg->c.records)
        return SCPS_ERR_INVAL;
    held = c->end - SCPS_MAX(c->una, 1);
    room = c->ctx.cfg->c.sndbuf > held ? c->ctx.cfg->c.sndbuf - held : 0;
    if (!len)
        return 0;
    if (!room) {
        c->flags |= SCPS_F_WANT_ROOM;
        return SCPS_ERR_AGAIN;
    }
    if (scps_conn_need_tx(c) || scps_conn_ctx_need_stats(&c->ctx))
        return scps_conn_starve(c);
    n = (size_t)SCPS_MIN(len, room);
    n = scps_sndbuf_write(&c->tx->buf, &c->ctx.env->alloc_later, buf, n, c->ctx.cfg->c.hollow);
    if (!n)
        return scps_conn_starve(c);
    if (flags & SCPS_EOR && n == len && scps_record_write(&c->tx->ends, &c->ctx, c->end + n)) {
        scps_sndbuf_unwrite(&c->tx->buf, n);
        return scps_conn_starve(c);
    }
    c->end += n;
    if (n < len)
        c->flags |= SCPS_F_WANT_ROOM;
    else
        c->flags &= ~(uint32_t)SCPS_F_WANT_ROOM;
    if (flags & SCPS_MORE)
        c->flags |= SCPS_F_MORE;
    else
        c->flags &= ~(uint32_t)SCPS_F_MORE;
    scps_conn_wake(c);
    return (int64_t)n;
}

int64_t scps_conn_read(struct scps_conn *c, void *buf, size_t len, unsigned flags)
{
    uint64_t ready = scps_conn_ready(c);
    size_t n = scps_rcvbuf_read(&c->in, buf, (size_t)SCPS_MIN(len, ready), flags & SCPS_PEEK);

    if (n) {
        if (!(flags & SCPS_PEEK)) {
            SCPS_NOTE_IT(c, DELIVERED, c->in.read - n, n, 0, 0);
            if (scps_conn_marks(c))
                scps_marks_read(scps_conn_marks(c), &c->in, n);
            scps_rcv_read(c);
            scps_bets_look(c);
        }
        return (int64_t)n;
    }
    if (ready)
        return 0; /* len was 0 */
    if (scps_conn_marks(c) && scps_marks_at_hole(scps_conn_marks(c), &c->in))
        return SCPS_ERR_HOLE;
    if (c->flags & SCPS_F_FIN_IN)
        return 0;
    if (c->err)
        return c->err;
    if (c->state == SCPS_CLOSED)
        return SCPS_ERR_NOTCONN;
    return SCPS_ERR_AGAIN;
}

bool scps_conn_stops(const struct scps_conn *c)
{
    const struct scps_marks *m = scps_conn_marks(c);

    return m && scps_marks_ahead(m, &c->in);
}

const uint8_t *scps_conn_data(struct scps_conn *c, size_t *len)
{
    const uint8_t *p = scps_rcvbuf_front(&c->in, len);

    *len = (size_t)SCPS_MIN(*len, scps_conn_ready(c));
    return *len ? p : NULL;
}

unsigned scps_conn_record(const struct scps_conn *c)
{
    const struct scps_marks *m = scps_conn_marks(c);

    return m ? (m->ended ? SCPS_RECORD_END : 0) | (m->torn ? SCPS_RECORD_TORN : 0) : 0;
}

void scps_conn_cork(struct scps_conn *c, bool on)
{
    scps_conn_set_flag(c, SCPS_F_CORK, on);
    if (!on) {
        c->flags &= ~(uint32_t)SCPS_F_MORE;
        if (c->tx)
            scps_timer_stop(&c->tx->cork_timer);
    }
}

void scps_conn_nodelay(struct scps_conn *c, bool on)
{
    scps_conn_set_flag(c, SCPS_F_NODELAY, on);
    if (on) {
        c->flags &= ~(uint32_t)SCPS_F_MORE;
        scps_conn_wake(c);
    }
}

int scps_conn_shutdown(struct scps_conn *c)
{
    if (c->state == SCPS_CLOSED)
        return SCPS_ERR_NOTCONN;
    if (c->flags & SCPS_F_SHUT)
        return 0;
    if (c->state == SCPS_TIME_WAIT)
        return 0;
    if (scps_conn_need_tx(c) || scps_conn_ctx_need_stats(&c->ctx))
        scps_conn_starve(c); /* the FIN leaves when there is memory to remember it */
    c->flags |= SCPS_F_SHUT;
    if (c->state == SCPS_ESTABLISHED)
        scps_conn_set_state(c, SCPS_FIN_WAIT_1);
    else if (c->state == SCPS_CLOSE_WAIT)
        scps_conn_set_state(c, SCPS_LAST_ACK);
    scps_conn_wake(c);
    return 0;
}

static void release(struct scps_conn *c)
{
    c->flags |= SCPS_F_RELEASED;
    c->owner.user = NULL;
    c->events = 0;
}

void scps_conn_close(struct scps_conn *c)
{
    bool unread = scps_rcvbuf_ready(&c->in) > scps_marks_hole_len(scps_conn_marks(c));

    release(c);
    switch (c->state) {
    case SCPS_CLOSED:
        scps_conn_bury(c);
        return;
    case SCPS_SYN_SENT:
        scps_conn_finish(c, 0);
        return;
    case SCPS_TIME_WAIT:
        return;
    case SCPS_FIN_WAIT_2:
        scps_conn_end_after(c, c->ctx.cfg->c.fin_wait2);
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
    release(c);
    switch (c->state) {
    case SCPS_CLOSED:
        scps_conn_bury(c);
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
    c->owner.user = user;
}

int scps_conn_hole(struct scps_conn *c, struct scps_hole *out, unsigned flags)
{
    struct scps_marks *m = scps_conn_marks(c);

    if (!m || !scps_marks_at_hole(m, &c->in))
        return 0;
    *out = (struct scps_hole){m->hole.from - 1, m->hole.to - m->hole.from};
    if (flags & SCPS_PEEK)
        return 1;
    scps_marks_pass(m, &c->in);
    scps_rcv_read(c);
    scps_bets_wait(c);
    return 1;
}

size_t scps_conn_given_up(const struct scps_conn *c, struct scps_hole *out, size_t max)
{
    const struct scps_rangeset *list = c->tp ? &c->tp->given_up : NULL;

    if (!list)
        return 0;
    for (uint32_t i = 0; i < list->n && i < max; i++) {
        const struct scps_range *r = scps_rangeset_at(list, i);
        out[i] = (struct scps_hole){r->from - 1, r->to - r->from};
    }
    return list->n;
}
