/* SPDX-License-Identifier: MIT */
/* The event heap of virtual time.
 *
 * A binary heap in one array: v[i] comes before v[2i+1] and v[2i+2], by time, then by rank. The
 * ranks are unique, so the order is total and a run does not depend on the history of the heap. The
 * heap is small: a link direction has one entry however many packets it carries, a host has one,
 * and a timer has one.
 *
 * Entries are reserved when a link, host or timer is created, so setting a time during a run never
 * fails.
 */
#include "sim/vclock.h"

#include "base/bytes.h"

#include <assert.h>
#include <scps/error.h>
#include <string.h>

void scps_vclock_init(struct scps_vclock *c, const struct scps_alloc *a)
{
    memset(c, 0, sizeof *c);
    c->alloc = *a;
}

void scps_vclock_fini(struct scps_vclock *c)
{
    if (c->v)
        c->alloc.free(c->alloc.ctx, c->v, c->cap * sizeof *c->v);
    c->v = NULL;
    c->n = c->cap = c->reserved = 0;
}

int scps_vclock_reserve(struct scps_vclock *c)
{
    if (c->reserved == c->cap) {
        if (c->cap > UINT32_MAX / 4)
            return SCPS_ERR_NOMEM;
        uint32_t cap = c->cap ? c->cap * 2 : 16;
        struct scps_vclock_node *v = c->alloc.alloc(c->alloc.ctx, cap * sizeof *v);
        if (!v)
            return SCPS_ERR_NOMEM;
        if (c->v) {
            memcpy(v, c->v, c->n * sizeof *v);
            c->alloc.free(c->alloc.ctx, c->v, c->cap * sizeof *c->v);
        }
        c->v = v;
        c->cap = cap;
    }
    c->reserved++;
    return 0;
}

void scps_vclock_release(struct scps_vclock *c)
{
    assert(c->reserved > c->n);
    c->reserved--;
}

static inline bool before(const struct scps_vclock_node *a, const struct scps_vclock_node *b)
{
    return a->when < b->when || (a->when == b->when && a->ev->rank < b->ev->rank);
}

static inline void put_node(struct scps_vclock_node *v, uint32_t i, struct scps_vclock_node x)
{
    v[i] = x;
    x.ev->at = i;
}

static inline void up(struct scps_vclock_node *v, uint32_t i, struct scps_vclock_node x)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / 2;
        if (!before(&x, &v[parent]))
            break;
        put_node(v, i, v[parent]);
        i = parent;
    }
    put_node(v, i, x);
}

static inline void down(struct scps_vclock_node *v, uint32_t n, uint32_t i,
                        struct scps_vclock_node x)
{
    for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && before(&v[k + 1], &v[k]))
            k++;
        if (!before(&v[k], &x))
            break;
        put_node(v, i, v[k]);
    }
    put_node(v, i, x);
}

/* Moves event x to its place in the heap, starting from the free entry i. */
static SCPS_NOINLINE void place_event(struct scps_vclock *c, uint32_t i, struct scps_vclock_node x)
{
    if (i > 0 && before(&x, &c->v[(i - 1) / 2]))
        up(c->v, i, x);
    else
        down(c->v, c->n, i, x);
}

static SCPS_NOINLINE void leave(struct scps_vclock *c, struct scps_vevent *e)
{
    uint32_t i = e->at;

    if (i == SCPS_VCLOCK_OUT)
        return;
    e->at = SCPS_VCLOCK_OUT;
    if (i != --c->n)
        place_event(c, i, c->v[c->n]);
}

/* Sets event x, which is not the first one or leaves the heap. */
static SCPS_NOINLINE void set_other(struct scps_vclock *c, struct scps_vclock_node x)
{
    uint32_t i = x.ev->at;

    if (x.when == SCPS_NEVER) {
        leave(c, x.ev);
        return;
    }
    if (i == SCPS_VCLOCK_OUT) {
        assert(c->n < c->reserved);
        i = c->n++;
    }
    place_event(c, i, x);
}

void scps_vclock_set(struct scps_vclock *c, struct scps_vevent *e, scps_time when)
{
    const struct scps_vclock_node x = {when, e};

    if (e->at != 0 || when == SCPS_NEVER)
        set_other(c, x);
    else /* Usually the event is the first one, because its time has come. */
        down(c->v, c->n, 0, x);
}
