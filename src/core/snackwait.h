/* SPDX-License-Identifier: MIT */
/* Holes that a SNACK has reported, and whose processing is postponed (docs/SCPS-TP.md section 2.4).
 *
 * Invariant: the holes become due in the order in which they were reported.
 */
#ifndef SCPS_CORE_SNACKWAIT_H
#define SCPS_CORE_SNACKWAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <scps/alloc.h>

#include "core/seq.h"

#define SCPS_SNACKWAIT_MAX 256

struct scps_snackwait_hole {
    scps_off from, to; /* the octets [from, to) are missing */
    scps_time due;     /* time at which the hole is processed, µs */
};

struct scps_snackwait_room {
    /* ring of the holes, in the order in which they were reported */
    struct scps_snackwait_hole hole[SCPS_SNACKWAIT_MAX];
    /* Indices in hole[] of those holes that lie within no other one, in ascending order of `from`,
     * and therefore of `to`. */
    uint8_t sorted[SCPS_SNACKWAIT_MAX];
};

struct scps_snackwait {
    struct scps_snackwait_room *room; /* list of the holes; NULL: it is not allocated */
    uint16_t n, nsorted;              /* number of holes in the ring, and in `sorted` */
    uint8_t first;                    /* index in room->hole of the hole that was reported first */
};

/* Allocates the list of holes, unless it is allocated. Returns false if there is no memory, or if
 * the list is full: then no hole can be added. */
bool scps_snackwait_reserve(struct scps_snackwait *w, const struct scps_alloc *a);
/* Returns true if [from, to) lies within one of the holes. */
bool scps_snackwait_covers(const struct scps_snackwait *w, scps_off from, scps_off to);
/* Adds the hole [from, to), to be processed at `due`, but not before any other hole. Returns the
 * time at which it is processed. Preconditions: scps_snackwait_reserve() has returned true, and no
 * hole covers [from, to). */
scps_time scps_snackwait_add(struct scps_snackwait *w, scps_off from, scps_off to, scps_time due);
/* Returns when the next hole is due, µs; 0: there is no hole. */
scps_time scps_snackwait_due(const struct scps_snackwait *w);
/* Removes and returns the hole that is due next. Precondition: there is a hole. */
struct scps_snackwait_hole scps_snackwait_take(struct scps_snackwait *w);
/* Frees the room. */
void scps_snackwait_free(struct scps_snackwait *w, const struct scps_alloc *a);

#endif
