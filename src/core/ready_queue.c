/* SPDX-License-Identifier: MIT */
/* Puts connections into the queue of those that are ready to send, or of those to be freed, and
 * removes them. */
#include "core/ready_queue.h"

#include "core/sender.h"

void scps_sender_serve(struct scps_sender *s, struct scps_ready_queue *t)
{
    s->queue = t;
}

void scps_sender_wake(struct scps_sender *s)
{
    struct scps_ready_queue *t = s->queue;

    /* A connection that waits to be freed has nothing to send, and its ready_next belongs to the
     * queue of those to be freed. */
    if (s->ready || s->dead || !t)
        return;
    s->ready = true;
    s->ready_next = NULL;
    if (t->tail)
        t->tail->ready_next = s;
    else
        t->head = s;
    t->tail = s;
}

void scps_sender_dequeue(struct scps_sender *s)
{
    struct scps_ready_queue *t = s->queue;
    struct scps_sender *before = NULL;

    if (!s->ready)
        return;
    s->ready = false;
    if (t->head == s) { /* Usually the connection is the first in the queue. */
        t->head = s->ready_next;
    } else {
        for (before = t->head; before->ready_next != s;)
            before = before->ready_next;
        before->ready_next = s->ready_next;
    }
    if (t->tail == s)
        t->tail = before;
}

void scps_ready_queue_next(struct scps_ready_queue *t)
{
    struct scps_sender *s = t->head;

    t->head = s->ready_next;
    s->ready_next = NULL;
    t->tail->ready_next = s;
    t->tail = s;
}

void scps_sender_put_aside(struct scps_sender *s)
{
    scps_sender_dequeue(s);
    s->dead = true;
    s->ready_next = s->ctx.env->dead;
    s->ctx.env->dead = s;
}

void scps_sender_dequeue_free(struct scps_sender *s)
{
    s->ctx.env->dead = s->ready_next;
}
