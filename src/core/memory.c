/* SPDX-License-Identifier: MIT */
/* The parts of a connection that come with use: rx, tp, and counters of its own. */
#include "core/conn.h"

int scps_conn_need_rx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->env->alloc;

    if (c->rx)
        return 0;
    c->rx = a->alloc(a->ctx, sizeof *c->rx);
    if (!c->rx)
        return SCPS_ERR_NOMEM;
    memset(c->rx, 0, sizeof *c->rx);
    return 0;
}

int scps_conn_need_tp(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->env->alloc;

    if (c->tp)
        return 0;
    c->tp = a->alloc(a->ctx, sizeof *c->tp);
    if (!c->tp)
        return SCPS_ERR_NOMEM;
    memset(c->tp, 0, sizeof *c->tp);
    return 0;
}

int scps_conn_need_stats(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->env->alloc;

    struct scps_conn_stats *st;

    if (c->st != &c->env->nobody)
        return 0;
    st = a->alloc(a->ctx, sizeof *st);
    if (!st)
        return SCPS_ERR_NOMEM;
    memset(st, 0, sizeof *st);
    c->st = st;
    c->st->hold_since = c->env->now;
    return 0;
}
