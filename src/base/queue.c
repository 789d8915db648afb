/* SPDX-License-Identifier: MIT */
/* A queue of objects, each of which contains the pointer to the next one (its link): the function
 * that queue.h does not inline. */
#include "base/queue.h"

void scps_queue_remove(struct scps_queue *q, struct scps_queue_link *l)
{
    struct scps_queue_link *before = NULL;

    if (q->first == l) {
        q->first = l->next;
    } else {
        for (before = q->first; before->next != l;)
            before = before->next;
        before->next = l->next;
    }
    if (q->last == l)
        q->last = before;
}
