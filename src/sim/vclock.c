/* SPDX-License-Identifier: MIT */
/* The event heap of virtual time.
 *
 * A binary heap in one array: v[i] comes before v[2i+1] and v[2i+2], by time, then by rank. The
 * ranks are unique, so the order is total and a run does not depend on the history of the heap. The
 * heap is small: a link direction has one entry however many packets it carries, a host has one,
 * and a timer has one.
 *
 * Behind the last entry there is one more, *end, whose time is SCPS_NEVER. So an entry with one
 * child can be compared with two, which takes fewer instructions than a test for the second one,
 * and the time of the first entry shows whether the heap is empty.
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
    c->v = c->end = c->leaves = &c->none;
    c->none.when = SCPS_NEVER;
}

static void free_entries(struct scps_vclock *c)
{
    if (c->cap)
        c->alloc.free(c->alloc.ctx, c->v, c->cap * sizeof *c->v);
}

void scps_vclock_fini(struct scps_vclock *c)
{
    free_entries(c);
    c->v = c->end = c->leaves = &c->none;
    c->cap = c->reserved = 0;
}

/* ---- functions that keep the heap of events in order ---- */

static inline bool before(const struct scps_vclock_node *a, const struct scps_vclock_node *b)
{
    return a->when < b->when || (a->when == b->when && a->ev->rank < b->ev->rank);
}

static inline void put_node(struct scps_vclock_node *at, struct scps_vclock_node x)
{
    *at = x;
    x.ev->at = at;
}

static inline struct scps_vclock_node *parent_of(const struct scps_vclock *c,
                                                 const struct scps_vclock_node *at)
{
    return c->v + (at - c->v - 1) / 2;
}

/* Inserts event x by "sift up": moves the free entry `at` towards the first one, from child to
 * parent, until x belongs there, and puts x there. */
static inline void up(struct scps_vclock *c, struct scps_vclock_node *at, struct scps_vclock_node x)
{
    while (at > c->v) {
        struct scps_vclock_node *parent = parent_of(c, at);
        if (!before(&x, parent))
            break;
        put_node(at, *parent);
        at = parent;
    }
    put_node(at, x);
}

/* Inserts event x by "sift down": moves the free entry `at` away from the first one, from parent to
 * child, until x belongs there, and puts x there. */
static inline void down(struct scps_vclock *c, struct scps_vclock_node *at,
                        struct scps_vclock_node x)
{
    /* The fields v and leaves are copied to local variables, because the compiler must assume that
     * each store to a heap entry may change them. */
    struct scps_vclock_node *const v = c->v;
    const struct scps_vclock_node *const leaves = c->leaves;

    while (at < leaves) {
        /* the first child: for entry i, which is `at`, entry 2i + 1 */
        struct scps_vclock_node *child = at + (at - v) + 1;
        child += before(child + 1, child);
        if (!before(child, &x))
            break;
        put_node(at, *child);
        at = child;
    }
    put_node(at, x);
}

/* Moves event x to its place in the heap, starting from the free entry `at`. */
static SCPS_NOINLINE void place_event(struct scps_vclock *c, struct scps_vclock_node *at,
                                      struct scps_vclock_node x)
{
    if (at > c->v && before(&x, parent_of(c, at)))
        up(c, at, x);
    else
        down(c, at, x);
}

/* ---- functions that reserve, set and remove the entries of events ---- */

/* Sets the end of the heap, and the first entry without children, which depends on it. end: the
 * place after the last entry. */
static void set_end(struct scps_vclock *c, struct scps_vclock_node *end)
{
    c->end = end;
    c->leaves = c->v + (end - c->v) / 2;
    end->when = SCPS_NEVER;
}

int scps_vclock_reserve(struct scps_vclock *c)
{
    /* The array must have room for the reserved events and one entry more: *end behind the last
     * event, whose time is SCPS_NEVER. */
    if (c->reserved + 1 >= c->cap) {
        if (c->cap > UINT32_MAX / 4)
            return SCPS_ERR_NOMEM;
        uint32_t cap = c->cap ? c->cap * 2 : 16;
        struct scps_vclock_node *v = c->alloc.alloc(c->alloc.ctx, cap * sizeof *v), *end = v;
        if (!v)
            return SCPS_ERR_NOMEM;
        for (const struct scps_vclock_node *from = c->v; from < c->end; from++)
            put_node(end++, *from);
        free_entries(c);
        c->v = v;
        c->cap = cap;
        set_end(c, end);
    }
    c->reserved++;
    return 0;
}

void scps_vclock_release(struct scps_vclock *c)
{
    assert(c->reserved > c->end - c->v);
    c->reserved--;
}

static SCPS_NOINLINE void leave(struct scps_vclock *c, struct scps_vevent *e)
{
    struct scps_vclock_node *at = e->at, last;

    if (!at)
        return;
    e->at = NULL;
    last = c->end[-1];
    set_end(c, c->end - 1);
    if (at != c->end)
        place_event(c, at, last);
}

/* Slow path of scps_vclock_set(): inserts, moves or removes event x. Its caller handles the usual
 * case, in which x is the first event in the heap and gets another time. */
static SCPS_NOINLINE void set_other(struct scps_vclock *c, struct scps_vclock_node x)
{
    struct scps_vclock_node *at = x.ev->at;

    if (x.when == SCPS_NEVER) {
        leave(c, x.ev);
        return;
    }
    if (!at) {
        assert(c->end - c->v < c->reserved);
        at = c->end;
        set_end(c, at + 1);
    }
    place_event(c, at, x);
}

void scps_vclock_set(struct scps_vclock *c, struct scps_vevent *e, scps_time when)
{
    const struct scps_vclock_node x = {when, e};

    if (e->at != c->v || when == SCPS_NEVER)
        set_other(c, x);
    else /* Usually the event is the first one in the heap, because its time has come. */
        down(c, c->v, x);
}
