/* SPDX-License-Identifier: MIT */
/* The heap of future events that advances virtual time. Each entry has a time, and a rank that
 * orders events with the same time. */
#ifndef SCPS_SIM_VCLOCK_H
#define SCPS_SIM_VCLOCK_H

#include <scps/alloc.h>

/* An event. It is a member of each object that needs to be called at some time: timer, link
 * direction or host. */
struct scps_vevent {
    uint64_t rank; /* order of events with the same time: the lowest is first; ranks are unique */
    struct scps_vclock_node *at; /* entry in the heap; NULL when the event is not in it */
};

struct scps_vclock_node {
    scps_time when;
    struct scps_vevent *ev;
};
struct scps_vclock {
    /* v: the first entry of the heap, which is the earliest event; end: the place after the last
     * entry */
    struct scps_vclock_node *v, *end;
    struct scps_vclock_node *leaves; /* the first entry without children, or end */
    /* used as *end while no memory is allocated, because no entry is reserved */
    struct scps_vclock_node none;
    uint32_t cap;
    /* number of heap entries that scps_vclock_reserve() has reserved: one for each event that may
     * be set */
    uint32_t reserved;
    struct scps_alloc alloc;
};

static inline void scps_vevent_init(struct scps_vevent *e, uint64_t rank)
{
    e->rank = rank;
    e->at = NULL;
}
void scps_vclock_init(struct scps_vclock *c, const struct scps_alloc *a);
void scps_vclock_fini(struct scps_vclock *c);
/* Reserves an entry for one more event, so that setting it cannot fail. Returns 0 or
 * SCPS_ERR_NOMEM. */
int scps_vclock_reserve(struct scps_vclock *c);
/* Releases an entry that scps_vclock_reserve() has reserved for an event. The event must not be in
 * the heap. */
void scps_vclock_release(struct scps_vclock *c);
/* Sets the time of event e to `when`, µs, and inserts e into the heap if it is not there.
 * SCPS_NEVER removes e from the heap. */
void scps_vclock_set(struct scps_vclock *c, struct scps_vevent *e, scps_time when);
/* Returns the next event and its time; the time is SCPS_NEVER, and the event is meaningless, if no
 * event has a time. */
static inline const struct scps_vclock_node *scps_vclock_top(const struct scps_vclock *c)
{
    return c->v;
}

#endif
