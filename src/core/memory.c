/* SPDX-License-Identifier: MIT */
/* The parts of a connection that come with use: rx, tp and marks. */
#include "core/conn.h"

int scps_conn_need_rx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (c->rx)
        return 0;
    c->rx = a->alloc(a->ctx, sizeof *c->rx);
    if (!c->rx)
        return SCPS_ERR_NOMEM;
    memset(c->rx, 0, sizeof *c->rx);
    scps_timer_stop(&c->rx->budget_timer);
    return 0;
}

int scps_conn_need_tp(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (c->tp)
        return 0;
    c->tp = a->alloc(a->ctx, sizeof *c->tp);
    if (!c->tp)
        return SCPS_ERR_NOMEM;
    memset(c->tp, 0, sizeof *c->tp);
    return 0;
}

int scps_conn_need_marks(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;
    struct scps_marks *m;

    if (scps_conn_marks(c))
        return 0;
    /* a FIN alone may stand beyond a hole before there was any data */
    if (scps_conn_need_tp(c) || scps_conn_ctx_need_stats(&c->ctx))
        return SCPS_ERR_NOMEM;
    m = a->alloc(a->ctx, sizeof *m);
    if (!m)
        return SCPS_ERR_NOMEM;
    scps_marks_init(m, c->ctx.cfg->c.rcvbuf);
    c->tp->marks = m;
    return 0;
}

bool scps_conn_keep_record(struct scps_conn *c, scps_off from, scps_off end)
{
    int err = scps_conn_need_marks(c);

    if (!err)
        err = scps_marks_record(c->tp->marks, &c->ctx, c->in.next, from, end);
    if (err)
        scps_conn_drop(c, err == SCPS_ERR_LIMIT ? SCPS_DROP_TOO_MANY_RECORDS : SCPS_DROP_NO_BUFFER,
                       NULL);
    return !err;
}
