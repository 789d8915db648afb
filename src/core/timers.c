/* SPDX-License-Identifier: MIT */
/* Named timers, and the earliest of them in the host's heap.  timer.c serves them.
 *
 * The heap's key may be too early, never too late: putting a timer off, which every
 * acknowledgement does to the retransmission timer, touches no heap.  When the key comes up the
 * connection is put back at its true deadline.
 */
#include "core/conn.h"

#include "base/bytes.h"

scps_time scps_conn_deadline(const struct scps_conn *c)
{
    scps_time t = c->timer[0];

    for (int i = 1; i < SCPS_T_COUNT; i++)
        t = SCPS_MIN(t, c->timer[i]);
    if (c->ctx.st->marks)
        t = SCPS_MIN(t, c->ctx.st->marks->due);
    return t;
}

void scps_timer_due(struct scps_conn *c, scps_time when)
{
    struct scps_heap *h = &c->ctx.env->deadlines;

    if (c->ctx.heap_slot == SCPS_HEAP_NONE || when < h->v[c->ctx.heap_slot].key)
        scps_heap_set(h, when, c); /* room was reserved when c was made */
}

void scps_timer_set(struct scps_conn *c, enum scps_timer t, scps_time when)
{
    c->timer[t] = when;
    scps_timer_due(c, when);
}
