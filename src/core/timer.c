/* SPDX-License-Identifier: MIT */
/* The timers of a connection in the heap of its host. */
#include "core/timer.h"

void scps_timer_key(struct scps_conn_ctx *x, scps_time when)
{
    struct scps_heap *h = &x->env->deadlines;

    /* The item is the connection, of which x is the first member; room was reserved for it when it
     * was made. */
    if (x->heap_slot == SCPS_HEAP_NONE || when < h->v[x->heap_slot].key)
        scps_heap_set(h, when, x);
}
