/* SPDX-License-Identifier: MIT */
/* Enters the timers of a connection into its host's heap. */
#include "core/timer.h"

void scps_timer_key(struct scps_conn_ctx *x, scps_time when)
{
    struct scps_heap *h = &x->env->deadlines;

    /* The item in the heap is the connection, whose first member is x. Its place was reserved when
     * the connection was made. */
    if (x->heap_slot == SCPS_HEAP_NONE || when < h->v[x->heap_slot].key)
        scps_heap_set(h, when, x);
}
