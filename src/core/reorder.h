/* SPDX-License-Identifier: MIT */
/* Reordering as the sender sees it: by how much first transmissions arrive later than others that
 * were sent after them (reorder.c).
 *
 * Invariant: the reordering window is 0 until two segments that were declared lost prove to have
 * been late.
 */
#ifndef SCPS_CORE_REORDER_H
#define SCPS_CORE_REORDER_H

#include "core/scoreboard.h"

#define SCPS_REORDER_COPIES 8

/* A segment that was resent once in the recovery episode in progress, or in an earlier one. */
struct scps_reorder_copy {
    scps_off from;   /* its first octet; 0: this entry is not used */
    scps_time sent;  /* time of the segment's first transmission, µs */
    scps_time again; /* time of the segment's retransmission, µs */
    scps_dur rtt;    /* value of scps_reorder.rtt when the segment was resent, µs */
};

struct scps_reorder {
    /* The longest lateness measured, and an eighth more, µs. A segment is late if it was declared
     * lost and its first transmission arrived after all; its lateness is how much longer than an
     * RTT that transmission took, at least. 0: fewer than two segments were late (one may only look
     * late, if an acknowledgement was lost), or `persist`, the number of recovery episodes that may
     * still end without a late segment, has reached 0. */
    scps_dur extent;
    /* RTT of the segment that was sent last among those that SACK or SNACK have reported, µs; 0: no
     * such segment was reported */
    scps_dur rtt;
    /* lateness, µs, of the first late segment: it was declared lost, but its first transmission
     * arrived after all, by this time (an eighth included) later than after one RTT. Stored until a
     * second segment is late or `recent` reaches 0; 0: there is none */
    scps_dur once;
    /* number of recovery episodes that may end, with no further late segment, before `extent`, the
     * measured reordering, is set to 0; a late segment that updates `extent` sets it to 16 */
    uint8_t persist;
    /* number of recovery episodes that may still end, after the first late segment and without a
     * second one, before the lateness of the first, `once`, is set to 0 */
    uint8_t recent;
    struct scps_reorder_copy copies[SCPS_REORDER_COPIES];
};

/* Returns the reordering window, µs: how long after the arrival of later segments a first
 * transmission may arrive without being lost. 0: no reordering has been seen. rto: retransmission
 * timeout, which bounds the window. */
static inline scps_dur scps_reorder_window(const struct scps_reorder *ro, scps_dur rto)
{
    return SCPS_MIN(ro->extent, rto);
}
/* Called when SACK or SNACK has reported an arrival: if *sum has the latest transmission known to
 * have arrived (its number is hi_xseq), and that segment was sent once, stores its RTT. */
static inline void scps_reorder_reported(struct scps_reorder *ro, const struct scps_ack_result *sum,
                                         uint32_t hi_xseq, scps_time now)
{
    const struct scps_sent_segment *r = scps_ack_result_latest(sum, hi_xseq);

    if (r && !r->resends)
        ro->rtt = SCPS_MAX(now - r->sent, 1);
}
/* Returns the current round trip, µs, as a segment that was sent once has shown it; 0: none has.
 * The least round trip may be far less where a queue has grown. The result is at most SRTT (srtt),
 * µs, since a report that comes late, for example after an outage, shows a longer one. */
static inline scps_dur scps_reorder_current_rtt(const struct scps_reorder *ro, scps_dur srtt)
{
    return SCPS_MIN(ro->rtt, srtt);
}
/* Called when an acknowledgement reports that first transmissions of segments that this sender had
 * declared lost have arrived (*late): measures how much longer than an RTT they took, which sets
 * the reordering window. since: time, µs, of the acknowledgement before, a lower bound of the time
 * at which they arrived. */
void scps_reorder_late(struct scps_reorder *ro, const struct scps_late *late, scps_time since);
/* Called before the segment of scoreboard record r is resent: stores the time of its first
 * transmission. fast: true in fast recovery, false after a timeout. rto: retransmission timeout,
 * µs; entries whose segments were first sent longer ago than 8 times the RTO are removed. */
void scps_reorder_resent(struct scps_reorder *ro, const struct scps_sent_segment *r, bool fast,
                         scps_time now, scps_dur rto);
/* Called when an acknowledgement shows that the first transmissions of segments within [from, to),
 * which were resent once, have arrived: measures how late they were. since: time, µs, at which the
 * previous acknowledgement arrived, a lower bound of the time of arrival. twice true: a DSACK
 * reports that both transmissions have arrived; false: the acknowledgement came too soon after the
 * retransmission to answer it, or its TSecr is older. */
void scps_reorder_arrived(struct scps_reorder *ro, scps_off from, scps_off to, scps_time since,
                          bool twice);
/* Called when a recovery episode that was not spurious has ended. Decrements `persist`, unless it
 * is 0; if it becomes 0, the measured reordering, `extent`, is set to 0. Decrements `recent`,
 * unless it is 0; if it becomes 0, the lateness of a single late segment, `once`, is set to 0. */
void scps_reorder_recovered(struct scps_reorder *ro);

#endif
