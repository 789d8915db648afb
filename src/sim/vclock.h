/* SPDX-License-Identifier: MIT */
/* The event heap of virtual time, with few entries: each has a time, and a rank for the order of
 * events with the same time. */
#ifndef SCPS_SIM_VCLOCK_H
#define SCPS_SIM_VCLOCK_H

#include <scps/alloc.h>

/* An event, which is a part of each object that can be due. */
struct scps_vevent {
    uint64_t rank; /* order of events with the same time: the lowest is first; ranks are unique */
    struct scps_vclock_node *at; /* entry in the heap; NULL when the event is not in it */
};

struct scps_vclock_node {
    scps_time when;
    struct scps_vevent *ev;
};
struct scps_vclock {
    /* v: the first entry of the heap; end: the place after the last one */
    struct scps_vclock_node *v, *end;
    struct scps_vclock_node *leaves; /* the first entry without children, or end */
    struct scps_vclock_node none;    /* the entry *end as long as no entry is reserved */
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
/* Releases a reserved entry; the event must not be in the heap. */
void scps_vclock_release(struct scps_vclock *c);
/* Sets the time of e, µs, whether it is in the heap or not; SCPS_NEVER removes it. */
void scps_vclock_set(struct scps_vclock *c, struct scps_vevent *e, scps_time when);
/* Returns the next event and its time; the time is SCPS_NEVER, and the event is meaningless, if no
 * event has a time. */
static inline const struct scps_vclock_node *scps_vclock_top(const struct scps_vclock *c)
{
    return c->v;
}

#endif
