/* SPDX-License-Identifier: MIT */
/* Notifies others of a connection: the stack that it is ready to send, the application of events,
 * the observer of what it does. */
#include "core/conn.h"

void scps_conn_wake(struct scps_conn *c)
{
    struct scps_ready_queue *t = c->s.turns;

    /* A connection that waits to be freed has nothing to send, and its ready_next belongs to that
     * queue. */
    if (c->ready || c->dead || !t)
        return;
    c->ready = true;
    c->ready_next = NULL;
    if (t->tail)
        t->tail->ready_next = c;
    else
        t->head = c;
    t->tail = c;
}

void scps_conn_dequeue(struct scps_conn *c)
{
    struct scps_ready_queue *t = c->s.turns;
    struct scps_conn *before = NULL;

    if (!c->ready)
        return;
    c->ready = false;
    if (t->head == c) { /* In the usual case the first of the queue is removed. */
        t->head = c->ready_next;
    } else {
        for (before = t->head; before->ready_next != c;)
            before = before->ready_next;
        before->ready_next = c->ready_next;
    }
    if (t->tail == c)
        t->tail = before;
}

void scps_ready_queue_next(struct scps_ready_queue *t)
{
    struct scps_conn *c = t->head;

    t->head = c->ready_next;
    c->ready_next = NULL;
    t->tail->ready_next = c;
    t->tail = c;
}

void scps_conn_put_aside(struct scps_conn *c)
{
    scps_conn_dequeue(c);
    c->dead = true;
    c->ready_next = c->s.ctx.env->dead;
    c->s.ctx.env->dead = c;
}

void scps_conn_dequeue_free(struct scps_conn *c)
{
    c->s.ctx.env->dead = c->ready_next;
}

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

void scps_conn_drop(struct scps_conn *c, enum scps_drop d, const struct scps_seg *seg)
{
    c->s.ctx.env->drops[d]++;
    SCPS_OBSERVE_CONN(c, DROP, d, seg ? seg->seq : 0, seg ? seg->len : 0, seg ? seg->flags : 0);
}
