/* SPDX-License-Identifier: MIT */
/* How others hear of a connection: the stack that it is ready to send, the application of events,
 * an observer of what it does.
 */
#include "core/conn.h"

void scps_conn_wake(struct scps_conn *c)
{
    struct scps_turns *t = c->turns;

    /* One that waits to be freed has nothing to send, and its ready_next belongs to that queue. */
    if (c->flags & (SCPS_F_READY | SCPS_F_DEAD) || !t)
        return;
    c->flags |= SCPS_F_READY;
    c->ready_next = NULL;
    if (t->tail)
        t->tail->ready_next = c;
    else
        t->head = c;
    t->tail = c;
}

void scps_conn_unready(struct scps_conn *c)
{
    struct scps_turns *t = c->turns;
    struct scps_conn *before = NULL;

    if (!(c->flags & SCPS_F_READY))
        return;
    c->flags &= ~(uint32_t)SCPS_F_READY;
    if (t->head == c) { /* nearly always: whose turn it is leaves */
        t->head = c->ready_next;
    } else {
        for (before = t->head; before->ready_next != c;)
            before = before->ready_next;
        before->ready_next = c->ready_next;
    }
    if (t->tail == c)
        t->tail = before;
}

void scps_conn_tell(struct scps_conn *c, enum scps_event_kind kind)
{
    struct scps_env *env = c->ctx.env;

    if (c->flags & SCPS_F_RELEASED)
        return;
    c->events |= (uint16_t)(1u << kind);
    if (c->flags & SCPS_F_EVENTS || c->pending)
        return; /* of a connection not accepted yet nobody hears */
    c->flags |= SCPS_F_EVENTS;
    c->ev_next = NULL;
    if (env->ev_tail)
        env->ev_tail->ev_next = c;
    else
        env->ev_head = c;
    env->ev_tail = c;
}

void scps_conn_drop(struct scps_conn *c, enum scps_drop d, const struct scps_seg *seg)
{
    c->ctx.env->drops[d]++;
    SCPS_NOTE_IT(c, DROP, d, seg ? seg->seq : 0, seg ? seg->len : 0, seg ? seg->flags : 0);
}

void scps_conn_set_flag(struct scps_conn *c, uint32_t flag, bool on)
{
    if (on) {
        c->flags |= flag;
    } else {
        c->flags &= ~flag;
        scps_conn_wake(c);
    }
}
