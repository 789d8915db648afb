/* SPDX-License-Identifier: MIT */
/* Notifies others of a connection: the application of events, the observer of drops. */
#include "core/conn.h"

void scps_conn_notify(struct scps_conn *c, enum scps_event_kind kind)
{
    struct scps_env *env = c->s.ctx.env;

    if (c->released)
        return;
    c->events |= (uint16_t)(1u << kind);
    if (c->listed || c->pending)
        return; /* A connection that is not accepted yet has no owner to notify. */
    c->listed = true;
    c->ev_next = NULL;
    if (env->ev_tail)
        env->ev_tail->ev_next = c;
    else
        env->ev_head = c;
    env->ev_tail = c;
}

unsigned scps_conn_event(struct scps_conn *c)
{
    unsigned kind = 0;

    while (!(c->events >> kind & 1))
        kind++;
    c->events &= (uint16_t)(c->events - 1);
    return kind;
}

void scps_conn_no_events(struct scps_conn *c)
{
    c->events = 0;
}

void scps_conn_unlist(struct scps_conn *c)
{
    struct scps_env *env = c->s.ctx.env;
    struct scps_conn **at = &env->ev_head, *before = NULL;

    for (; *at != c; at = &before->ev_next)
        before = *at;
    *at = c->ev_next;
    if (env->ev_tail == c)
        env->ev_tail = before;
    c->listed = false;
}

void scps_conn_ctx_drop(const struct scps_conn_ctx *x, enum scps_drop d, const struct scps_seg *seg)
{
    x->env->drops[d]++;
    SCPS_OBSERVE(x, DROP, d, seg ? seg->seq : 0, seg ? seg->len : 0, seg ? seg->flags : 0);
}
