/* SPDX-License-Identifier: MIT */
/* A queue of records of any size in one ring of bytes. None is torn: a record that does not fit
 * behind the last one begins at the front of the ring, so whoever looks at it sees it whole, and
 * can lend it out until the next put.
 */
#ifndef SCPS_BASE_RECRING_H
#define SCPS_BASE_RECRING_H

#include <scps/alloc.h>

#define SCPS_RECRING_HEAD 8u /* bytes the ring adds to each record, before it is rounded up to 8 */

struct scps_recring { /* all zero is the beginning: no memory until there is a record */
    uint8_t *mem;
    uint32_t cap;        /* a power of two */
    uint32_t head, tail; /* run on without bound; equal: empty */
};

void scps_recring_fini(struct scps_recring *q, const struct scps_alloc *a);
/* Takes the memory for a ring of cap bytes (a power of two) at once. Precondition: it has none yet.
 * 0 or SCPS_ERR_NOMEM. */
int scps_recring_reserve(struct scps_recring *q, const struct scps_alloc *a, uint32_t cap);
/* Room for a record of size bytes behind all others, 8-aligned; it is in the queue from now on.
 * NULL: the ring would have to be larger than most (a power of two), or memory is out; the queue is
 * as it was. */
void *scps_recring_put(struct scps_recring *q, const struct scps_alloc *a, uint32_t size,
                       uint32_t most);
/* The oldest record and its size; NULL when there is none. It stays where it is until the next put,
 * popped or not. */
void *scps_recring_front(struct scps_recring *q, uint32_t *size);
/* The oldest one leaves. */
void scps_recring_pop(struct scps_recring *q);

static inline bool scps_recring_empty(const struct scps_recring *q)
{
    return q->head == q->tail;
}

#endif
