/* SPDX-License-Identifier: MIT */
/* A queue of records of any size in one ring of bytes. Each record is contiguous: a record that
 * does not fit between the last one and the end of the ring is put at the start of the ring. A
 * pointer to the oldest record stays valid until the next scps_recring_put(). */
#ifndef SCPS_BASE_RECRING_H
#define SCPS_BASE_RECRING_H

#include <scps/alloc.h>

/* bytes that the ring adds to each record, before the sum is rounded up to 8 */
#define SCPS_RECRING_HEAD 8u

struct scps_recring { /* all zero: an empty queue; memory is allocated with the first record */
    uint8_t *mem;
    uint32_t cap; /* size of the ring, bytes: a power of two */
    /* head: position of the oldest record; tail: position behind the newest one. Positions count
     * bytes; position modulo cap is the index in mem. Equal: the queue is empty */
    uint32_t head, tail;
};

void scps_recring_fini(struct scps_recring *q, const struct scps_alloc *a);
/* Allocates the memory for a ring of cap bytes (a power of two) at once. Precondition: the ring has
 * no memory yet. Returns 0 or SCPS_ERR_NOMEM. */
int scps_recring_reserve(struct scps_recring *q, const struct scps_alloc *a, uint32_t cap);
/* Appends a record of size bytes and returns its memory, aligned to 8. Returns NULL if the ring
 * would have to be larger than `most` bytes (a power of two), or if there is no memory; then the
 * queue is unchanged. */
void *scps_recring_put(struct scps_recring *q, const struct scps_alloc *a, uint32_t size,
                       uint32_t most);
/* Returns the oldest record and its size; NULL when there is none. The record's bytes stay valid
 * until the next scps_recring_put(), even after scps_recring_pop(). */
void *scps_recring_front(struct scps_recring *q, uint32_t *size);
/* Removes the oldest record. */
void scps_recring_pop(struct scps_recring *q);

static inline bool scps_recring_empty(const struct scps_recring *q)
{
    return q->head == q->tail;
}

#endif
