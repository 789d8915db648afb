/* SPDX-License-Identifier: MIT */
/* The parts of a connection that come with use: rx and tp. */
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
