/* SPDX-License-Identifier: MIT */
/* Holes that the peer's SNACKs have reported, and whose retransmission is postponed, by the setting
 * snack_delay or by the reordering window (docs/SCPS-TP.md section 2.4).
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
    /* time, µs, at which the segments in the hole are declared lost, if they are still missing */
    scps_time due;
};

struct scps_snackwait_room {
    /* ring of the holes, in the order in which they were reported */
    struct scps_snackwait_hole hole[SCPS_SNACKWAIT_MAX];
    /* Indices in hole[] of those holes that lie within no other one, in ascending order of `from`,
     * and therefore of `to`. */
    uint8_t sorted[SCPS_SNACKWAIT_MAX];
};

struct scps_snackwait {
    struct scps_snackwait_room *room; /* list of the postponed holes; NULL: it is not allocated */
    uint16_t n, nsorted;              /* number of postponed holes in the ring, and in `sorted` */
    uint8_t first;                    /* index in room->hole of the hole that was reported first */
};

/* Makes room for one more postponed hole. Returns false if memory for the list is refused, or the
 * list is full; then the hole cannot be postponed. */
bool scps_snackwait_reserve(struct scps_snackwait *w, const struct scps_alloc *a);
/* Returns true if [from, to) lies within one of the postponed holes. */
bool scps_snackwait_covers(const struct scps_snackwait *w, scps_off from, scps_off to);
/* Postpones the hole [from, to) until the time `due`, µs, but at least as long as every hole that
 * is postponed already. Returns the time until which it is postponed. Preconditions:
 * scps_snackwait_reserve() has returned true, and no postponed hole covers [from, to). */
scps_time scps_snackwait_add(struct scps_snackwait *w, scps_off from, scps_off to, scps_time due);
/* Returns the time, µs, until which the hole that is due first is postponed; 0: no hole is
 * postponed. */
scps_time scps_snackwait_due(const struct scps_snackwait *w);
/* Removes and returns the postponed hole that is due first. Precondition: there is one. */
struct scps_snackwait_hole scps_snackwait_take(struct scps_snackwait *w);
/* Frees the room. */
void scps_snackwait_free(struct scps_snackwait *w, const struct scps_alloc *a);

#endif
