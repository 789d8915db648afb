/* SPDX-License-Identifier: MIT */
/* SNACK at the sender (CCSDS 714.0-B-2 section 3.3).
 *
 * Invariant: a report never has sent again what left less than the least round trip ago.  What is
 * lost is told through the sum; the times returned say when to look again, 0: no need.
 */
#ifndef SCPS_CORE_SNACKTX_H
#define SCPS_CORE_SNACKTX_H

#include <scps/wire.h>

#include "core/look.h"

/* A SNACK that snack_delay puts off. */
struct scps_snack_wait {
    scps_off from, to;
    scps_time due; /* 0: free */
};
#define SCPS_SNACK_WAITS 16

struct scps_snacktx {
    /* at the end of the data: what has arrived up to there was known at highest_at */
    scps_off highest;
    scps_time highest_at;
    scps_dur slow[2];  /* longest time a first sending waited to be told of: lately, before */
    scps_dur pause[2]; /* longest time between two of its acknowledgements: lately, before */
    scps_time slow_since;
    /* end of what the last SNACK told of; 0: a hole that was new, so the next is no sequel */
    scps_off turn;
    scps_off named_to; /* a report longer than one look: the next one begins here; 0: at its hole */
    struct scps_snack_wait *waits; /* SCPS_SNACK_WAITS of them; NULL: no SNACK has been put off */
};

/* A SNACK with the newest acknowledgement can name no hole that begins here or beyond. */
scps_off scps_snacktx_reach(const struct scps_look *l);
/* A report that arrived; ack: where the segment that carries it points. */
scps_time scps_snacktx_take(const struct scps_look *l, const struct scps_seg *seg, scps_off ack,
                            struct scps_ack_result *sum);
/* An acknowledgement with a report told of what sum says: how long does the peer take to tell? */
void scps_snacktx_measure(const struct scps_look *l, const struct scps_ack_result *sum);
/* The peer tells of what has arrived a good while later: strictly delayed, or as its budget
 * allows. */
bool scps_snacktx_reports_late(const struct scps_look *l);
/* A resent segment that nobody hears of is lost again, and a SNACK put off is due. */
scps_time scps_snacktx_look(const struct scps_look *l, struct scps_ack_result *sum);
/* The memory of the reports put off goes back. */
void scps_snacktx_forget(struct scps_snacktx *s, const struct scps_alloc *a);

#endif
