/* SPDX-License-Identifier: MIT */
/* A queue of objects, each of which contains the pointer to the next one (its link).
 *
 * Invariant: last is the end of the list that begins with first; both are NULL if the queue is
 * empty. A link is in one queue at most, and only the functions of this file and queue.c assign its
 * field `next`.
 */
#ifndef SCPS_BASE_QUEUE_H
#define SCPS_BASE_QUEUE_H

#include <stddef.h>

struct scps_queue_link {
    struct scps_queue_link *next;
};

struct scps_queue { /* A zeroed struct is an empty queue. */
    struct scps_queue_link *first, *last;
};

/* Appends l, which must not be in a queue. */
static inline void scps_queue_add(struct scps_queue *q, struct scps_queue_link *l)
{
    l->next = NULL;
    if (q->last)
        q->last->next = l;
    else
        q->first = l;
    q->last = l;
}
/* Removes l, which must be in q. */
void scps_queue_remove(struct scps_queue *q, struct scps_queue_link *l);

#endif
