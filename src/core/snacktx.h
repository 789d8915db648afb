/* SPDX-License-Identifier: MIT */
/* SNACK at the sender (CCSDS 714.0-B-2 section 3.3).
 *
 * Invariant: a report never causes the retransmission of a segment sent less than the least round
 * trip ago. Lost segments are recorded in the argument `sum`; the times returned say when to check
 * again, 0: that is not needed.
 */
#ifndef SCPS_CORE_SNACKTX_H
#define SCPS_CORE_SNACKTX_H

#include <scps/wire.h>

#include "core/sender.h"

/* A hole of a SNACK that snack_delay postpones. */
struct scps_snack_wait {
    scps_off from, to;
    scps_time due; /* time at which the hole is processed, µs; 0: this entry is not used */
};
#define SCPS_SNACK_WAITS 16

struct scps_snacktx {
    /* At the end of the data: end of the data that had arrived, as known at the time highest_at. */
    scps_off highest;
    scps_time highest_at;
    /* longest time from the first transmission of a segment to the acknowledgement that reports its
     * arrival, µs: [0] in the present measuring interval, [1] in the one before */
    scps_dur slow[2];
    /* longest gap between two acknowledgements, µs: [0] in the present interval, [1] in the one
     * before */
    scps_dur pause[2];
    scps_time slow_since;
    /* End offset of the last SNACK; 0: the last one reported a new hole, so the next does not
     * continue it */
    scps_off turn;
    /* offset at which the next report is processed, since the last one named more segments than are
     * examined at once; 0: at the beginning of its hole */
    scps_off named_to;
    struct scps_snack_wait *waits; /* SCPS_SNACK_WAITS postponed SNACKs; NULL: none */
};

/* Returns an offset: a SNACK with the newest acknowledgement can name no hole that begins there or
 * beyond. */
scps_off scps_snacktx_reach(struct scps_sender *s);
/* Processes a SNACK that arrived; ack: offset of its segment's acknowledgement. */
scps_time scps_snacktx_take(struct scps_sender *s, const struct scps_seg *seg, scps_off ack,
                            struct scps_ack_result *sum);
/* Measures how long the peer takes to report, from the result of an acknowledgement with a
 * report. */
void scps_snacktx_measure(struct scps_sender *s, const struct scps_ack_result *sum);
/* Returns true if the peer reports arrivals late: in strictly delayed mode, or as its budget
 * permits. */
bool scps_snacktx_reports_late(struct scps_sender *s);
/* Called when the look timer expires: declares unreported retransmissions lost, and applies a SNACK
 * that snack_delay put off. */
scps_time scps_snacktx_look(struct scps_sender *s, struct scps_ack_result *sum);
/* Frees the memory of the postponed SNACKs. */
void scps_snacktx_forget(struct scps_snacktx *s, const struct scps_alloc *a);

#endif
