/* SPDX-License-Identifier: MIT */
/* Postponed holes: ranges of octets that SNACKs of the peer have reported missing, and whose
 * segments this end, the sender, declares lost only later, since they may only be late: after
 * snack_delay (a setting) or the reordering window, whichever is longer (docs/SCPS-TP.md section
 * 2.4).
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
    /* ring of the postponed holes (ranges that the peer has reported missing by SNACK, and that are
     * not declared lost yet), in the order in which SNACKs reported them */
    struct scps_snackwait_hole hole[SCPS_SNACKWAIT_MAX];
    /* Indices in hole[] of those postponed holes that lie within no other postponed hole, in
     * ascending order of `from`, and therefore of `to`. */
    uint8_t sorted[SCPS_SNACKWAIT_MAX];
};

struct scps_snackwait {
    /* memory of the list of postponed holes, which the peer has reported missing and the sender
     * declares lost later; NULL: it is not allocated */
    struct scps_snackwait_room *room;
    /* n: number of postponed holes, which are in the ring room->hole; nsorted: number of entries of
     * room->sorted, the index of the ring in ascending order of offset */
    uint16_t n, nsorted;
    /* index in the ring room->hole of that postponed hole which the peer's SNACKs reported first */
    uint8_t first;
};

/* Makes room for one more postponed hole. Returns false if memory for the list is refused, or the
 * list is full; then the caller cannot postpone the hole, and processes it at once. */
bool scps_snackwait_reserve(struct scps_snackwait *w, const struct scps_alloc *a);
/* Returns true if one of the postponed holes contains all of [from, to): a SNACK has reported that
 * range missing before, and its segments are declared lost when the postponed hole is due. */
bool scps_snackwait_covers(const struct scps_snackwait *w, scps_off from, scps_off to);
/* Postpones the hole [from, to) until the time `due`, µs, but at least as long as every hole that
 * is postponed already. Returns the time until which it is postponed. Preconditions:
 * scps_snackwait_reserve() has returned true, and no postponed hole covers [from, to). */
scps_time scps_snackwait_add(struct scps_snackwait *w, scps_off from, scps_off to, scps_time due);
/* Returns the time, µs, until which the hole that is due first is postponed; 0: no hole is
 * postponed. */
scps_time scps_snackwait_due(const struct scps_snackwait *w);
/* Removes from the list, and returns, the postponed hole that is due first, which is the one that a
 * SNACK reported first; the caller then declares its segments lost. Precondition: the list is not
 * empty. */
struct scps_snackwait_hole scps_snackwait_take(struct scps_snackwait *w);
/* Frees the memory of the list of postponed holes, and forgets them. */
void scps_snackwait_free(struct scps_snackwait *w, const struct scps_alloc *a);

#endif
