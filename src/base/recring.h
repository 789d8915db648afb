/* SPDX-License-Identifier: MIT */
/* A queue of records of any size in one ring of bytes. Each record is contiguous: one that does not
 * fit behind the last begins at the start of the ring. So a pointer to the oldest record may be
 * lent until the next put.
 */
#ifndef SCPS_BASE_RECRING_H
#define SCPS_BASE_RECRING_H

#include <scps/alloc.h>

#define SCPS_RECRING_HEAD 8u /* bytes the ring adds to each record, before it is rounded up to 8 */

struct scps_recring { /* A zeroed struct is an empty queue; memory is taken with the first record */
    uint8_t *mem;
    uint32_t cap;        /* a power of two */
    uint32_t head, tail; /* Positions that grow without wrapping; equal: the queue is empty */
};

void scps_recring_fini(struct scps_recring *q, const struct scps_alloc *a);
/* Takes the memory for a ring of cap bytes (a power of two) at once. Precondition: the ring has
 * no memory yet. Returns 0 or SCPS_ERR_NOMEM. */
int scps_recring_reserve(struct scps_recring *q, const struct scps_alloc *a, uint32_t cap);
/* Appends a record of size bytes and returns its memory, 8-aligned. NULL: the ring would have to
 * be larger than `most` (a power of two), or there is no memory; the queue is unchanged. */
void *scps_recring_put(struct scps_recring *q, const struct scps_alloc *a, uint32_t size,
                       uint32_t most);
/* Returns the oldest record and its size; NULL when there is none. It stays in memory until the
 * next put, even if it is popped. */
void *scps_recring_front(struct scps_recring *q, uint32_t *size);
/* Removes the oldest record. */
void scps_recring_pop(struct scps_recring *q);

static inline bool scps_recring_empty(const struct scps_recring *q)
{
    return q->head == q->tail;
}

#endif
