/* SPDX-License-Identifier: MIT */
/* Enters the timers of a connection into the heap of deadlines of its host. */
#include "core/timer.h"

void scps_timer_key(struct scps_conn_ctx *x, scps_time when)
{
    struct scps_heap *h = &x->env->deadlines;

    /* The item in the heap is the connection, whose first member is x. The heap has reserved its
     * place, so this cannot fail. */
    if (x->heap_slot == SCPS_HEAP_NONE || when < h->v[x->heap_slot].key)
        scps_heap_set(h, when, x);
}
