/* SPDX-License-Identifier: MIT */
/* Counts duplicate acknowledgements (RFC 5681 section 2) and detects losses by their number
 * (dupack.c). */
#ifndef SCPS_CORE_DUPACK_H
#define SCPS_CORE_DUPACK_H

#include "base/bytes.h"
#include "core/sender.h"

/* Returns true if no new segment can be sent, so that early retransmit (RFC 5827 section 3.2) may
 * declare a loss with fewer than dupthresh duplicates: all data has been sent, or less than four
 * segments are outstanding and the peer's window has no room for another. */
static inline bool scps_dupack_last(const struct scps_send *s, uint32_t mss, uint32_t outstanding)
{
    return scps_send_all_sent(s) ||
           (outstanding < 4 && s->edge < s->nxt + SCPS_MIN(scps_send_fin_end(s) - s->nxt, mss));
}
/* Processes a duplicate acknowledgement (RFC 5681 section 2): counts it and, if the peer has no
 * SACK, inflates the window by a segment and declares the oldest segment lost at the dupthresh-th
 * duplicate in succession. snack_reported: true if the acknowledgement has a SNACK which shows what
 * arrived; then the window is not inflated. */
void scps_dupack_take(struct scps_sender *s, bool snack_reported, struct scps_ack_result *sum);

#endif
