/* SPDX-License-Identifier: MIT */
/* Counts duplicate acknowledgements (RFC 5681 section 2) and detects losses by their number
 * (dupack.c). */
#ifndef SCPS_CORE_DUPACK_H
#define SCPS_CORE_DUPACK_H

#include "base/bytes.h"
#include "core/sender.h"

/* Returns true if early retransmit applies (RFC 5827 section 3.2: "no unsent data ready for
 * transmission at the sender, or the advertised receive window does not permit new segments to be
 * transmitted", the latter with less than four segments outstanding). */
static inline bool scps_dupack_last(const struct scps_send *s, uint32_t mss, uint32_t outstanding)
{
    return scps_send_all_sent(s) ||
           (outstanding < 4 && s->edge < s->nxt + SCPS_MIN(scps_send_fin_end(s) - s->nxt, mss));
}
/* Counts a duplicate acknowledgement (RFC 5681 section 2) and, if the peer has no SACK, inflates
 * the window by a segment and declares the oldest segment lost at the dupthresh-th duplicate in
 * succession. snack_reported: true if a SNACK in it reports which octets arrived, so that the
 * number of duplicates need not show it. */
void scps_dupack_take(struct scps_sender *s, bool snack_reported, struct scps_ack_result *sum);

#endif
