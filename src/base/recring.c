/* SPDX-License-Identifier: MIT */
/* A queue of records in a ring of bytes. Each record follows a word with its size. The word WRAP
 * instead of a size means that the next record is at the start of the ring. */
#include "base/recring.h"

#include "base/bytes.h"

#include <scps/error.h>

#define WRAP  UINT32_MAX
#define FIRST 2048u

static uint32_t space(uint32_t size)
{
    return (SCPS_RECRING_HEAD + size + 7) & ~7u;
}

static uint32_t word(const struct scps_recring *q, uint32_t at)
{
    uint32_t v;

    memcpy(&v, q->mem + at, sizeof v);
    return v;
}

void scps_recring_fini(struct scps_recring *q, const struct scps_alloc *a)
{
    if (q->mem)
        a->free(a->ctx, q->mem, q->cap);
    *q = (struct scps_recring){0};
}

/* If the word WRAP is at `head`, which means that the oldest record is at the start of the ring,
 * moves `head` there. */
static void move_together(struct scps_recring *q)
{
    uint32_t at = q->head & (q->cap - 1);

    if (q->head != q->tail && word(q, at) == WRAP)
        q->head += q->cap - at;
}

/* Returns how many bytes at the end of the ring stay unused if a record of `need` bytes is put at
 * the start of the ring, because it does not fit before the end; 0: it fits. */
static uint32_t waste(const struct scps_recring *q, uint32_t need)
{
    uint32_t left = q->cap - (q->tail & (q->cap - 1));

    return left < need ? left : 0;
}

/* Enlarges the ring so that `need` more bytes fit, and moves the records to its start. */
static bool grow(struct scps_recring *q, const struct scps_alloc *a, uint32_t need, uint32_t most)
{
    struct scps_recring to = {.cap = SCPS_MAX(q->cap, FIRST / 2)};

    do {
        if (to.cap >= most)
            return false;
        to.cap *= 2;
    } while (to.cap < q->tail - q->head + need);
    to.mem = a->alloc(a->ctx, to.cap);
    if (!to.mem)
        return false;
    for (uint32_t size; !scps_recring_empty(q); scps_recring_pop(q)) {
        const uint8_t *rec = scps_recring_front(q, &size);
        memcpy(to.mem + to.tail, rec - SCPS_RECRING_HEAD, SCPS_RECRING_HEAD + size);
        to.tail += space(size);
    }
    scps_recring_fini(q, a);
    *q = to;
    return true;
}

int scps_recring_reserve(struct scps_recring *q, const struct scps_alloc *a, uint32_t cap)
{
    q->mem = a->alloc(a->ctx, cap);
    if (!q->mem)
        return SCPS_ERR_NOMEM;
    q->cap = cap;
    return 0;
}

void *scps_recring_put(struct scps_recring *q, const struct scps_alloc *a, uint32_t size,
                       uint32_t most)
{
    uint32_t need = space(size), gap, at;

    if (size > most || need > most)
        return NULL;
    if (!q->cap || q->tail - q->head + waste(q, need) + need > q->cap)
        if (!grow(q, a, need, most))
            return NULL;
    gap = waste(q, need);
    at = q->tail & (q->cap - 1);
    if (gap) {
        memcpy(q->mem + at, &(uint32_t){WRAP}, sizeof(uint32_t));
        q->tail += gap;
        at = 0;
    }
    memcpy(q->mem + at, &size, sizeof size);
    q->tail += need;
    return q->mem + at + SCPS_RECRING_HEAD;
}

void *scps_recring_front(struct scps_recring *q, uint32_t *size)
{
    if (scps_recring_empty(q))
        return NULL;
    move_together(q);
    *size = word(q, q->head & (q->cap - 1));
    return q->mem + (q->head & (q->cap - 1)) + SCPS_RECRING_HEAD;
}

void scps_recring_pop(struct scps_recring *q)
{
    uint32_t size;

    if (!scps_recring_front(q, &size))
        return;
    q->head += space(size);
    /* An empty ring starts again at its beginning, whose memory is in the cache. */
    if (scps_recring_empty(q))
        q->head = q->tail = 0;
}
