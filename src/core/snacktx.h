/* SPDX-License-Identifier: MIT */
/* SNACK at the sender (CCSDS 714.0-B-2 section 3.3): declares segments lost when the peer's SNACKs
 * report holes, ranges of octets that the peer has not received.
 *
 * Invariant: a SNACK never causes the retransmission of a segment sent less than the least round
 * trip ago. Functions with a parameter `sum` add to sum->lost the bytes that they declare lost.
 */
#ifndef SCPS_CORE_SNACKTX_H
#define SCPS_CORE_SNACKTX_H

#include <scps/wire.h>

#include "core/sender.h"
#include "core/snackwait.h"

struct scps_snacktx {
    /* End of the highest data that the peer has reported as arrived, and the time, µs, at which
     * that end was first seen. With SACK, when all data and the FIN have been sent, segments above
     * `highest` are declared lost if no higher data is reported for the time of an embargo after
     * highest_at (unreported() in snacktx.c). */
    scps_off highest;
    scps_time highest_at;
    /* Longest time from the first transmission of a segment to the acknowledgement that reports its
     * arrival, µs: [0] in the measuring interval in progress, [1] in the one before. A new interval
     * begins with the first SNACK that arrives more than two SRTT after slow_since, as long as
     * there is new data to send. */
    scps_dur slow[2];
    /* longest gap between an acknowledgement with a SNACK and the acknowledgement before it, µs:
     * [0] in the measuring interval in progress (that of `slow`), [1] in the one before */
    scps_dur pause[2];
    scps_time slow_since;
    /* Without SACK, when all data has been sent: end offset of what the peer's last SNACK in
     * ascending order has reported. A SNACK for a hole above it continues the series, and between
     * the two nothing is missing. 0: the next SNACK begins a series (the last one reported a
     * segment that was not resent). */
    scps_off last_end;
    /* if the last hole that a SNACK reported had more segments than may be examined at once: offset
     * at which the examination continues when the peer reports that hole again; 0: none is to be
     * continued */
    scps_off resume_at;
    /* postponed holes: reported by SNACKs, but their segments are declared lost only after the
     * setting snack_delay or the reordering window (reorder.h), whichever is longer, since the
     * segments may only be late */
    struct scps_snackwait waits;
    /* true: the latest acknowledgement without data that has SACK blocks, and no DSACK, has no
     * SNACK: the peer reports by SACK alone, as a receiver does that has the short form of SNACK
     * only and whose acknowledgements are limited (report.c) */
    bool omitted;
};

/* Called for a segment with SACK blocks, of which the first may be a DSACK (dsack): records whether
 * the peer's acknowledgements have no SNACK beside their SACK blocks. */
static inline void scps_snacktx_sack(struct scps_snacktx *own, const struct scps_seg *seg,
                                     bool dsack)
{
    if (!seg->len && !dsack)
        own->omitted = !(seg->has & SCPS_HAS_SNACK);
}
/* Returns true if the peer's SNACKs report which data is missing, so that a segment that only SACK
 * blocks show to be missing is not declared lost by counting. Returns false without SNACK; and with
 * its short form only, while the peer's acknowledgements have SACK blocks and no SNACK: then SACK
 * blocks decide, as where SNACK was not negotiated. */
static inline bool scps_snacktx_names(const struct scps_snacktx *own, const struct scps_agreed *a)
{
    return a->caps & SCPS_CAP_SNACK1 && (a->caps & SCPS_CAP_SNACK2 || !own->omitted);
}
/* Returns the offset from which on a SNACK whose SEG.ACK is SND.UNA cannot report a hole, because
 * its 16-bit offset field, in units of a full segment, ends there. */
scps_off scps_snacktx_reach(struct scps_sender *s);
/* Processes a SNACK that arrived; ack: offset of SEG.ACK of its segment. Returns the time, µs, at
 * which the caller must call scps_snacktx_look(); 0: it need not. */
scps_time scps_snacktx_take(struct scps_sender *s, const struct scps_seg *seg, scps_off ack,
                            struct scps_ack_result *sum);
/* Called after a SNACK was processed. *sum: what the acknowledgement with that SNACK has reported
 * as arrived. Updates, µs, slow (how long after a first transmission the peer reports the arrival)
 * and pause (the gap between two acknowledgements). */
void scps_snacktx_measure(struct scps_sender *s, const struct scps_ack_result *sum);
/* Returns true if the peer reports arrivals with a delay, as where its delayed-ACK timer alone
 * causes acknowledgements (strictly delayed mode), or where their rate is limited (ACK budget). */
bool scps_snacktx_reports_late(struct scps_sender *s);
/* Called when the timer for loss detection (look_timer) expires: declares resent segments lost
 * again whose arrival the peer should have reported by now, and declares lost the segments in
 * postponed holes (reported by SNACKs earlier, but possibly only late) whose time, the longer of
 * snack_delay and the reordering window, is over. Returns the time, µs, of the next such call; 0:
 * none is needed. */
scps_time scps_snacktx_look(struct scps_sender *s, struct scps_ack_result *sum);

#endif
