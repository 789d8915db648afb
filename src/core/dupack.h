/* SPDX-License-Identifier: MIT */
/* Duplicate acknowledgements (RFC 5681 section 2; dupack.c). */
#ifndef SCPS_CORE_DUPACK_H
#define SCPS_CORE_DUPACK_H

#include "base/bytes.h"
#include "core/sender.h"

/* Returns true for the condition of RFC 5827 section 3.2: "no unsent data ready for transmission at
 * the sender, or the advertised receive window does not permit new segments to be transmitted", the
 * latter with less than four outstanding. */
static inline bool scps_dupack_last(const struct scps_send *s, uint32_t mss, uint32_t outstanding)
{
    return scps_send_all_sent(s) ||
           (outstanding < 4 && s->edge < s->nxt + SCPS_MIN(scps_send_fin_end(s) - s->nxt, mss));
}
/* Handles a duplicate acknowledgement without SACK (RFC 5681 section 2): same number, no data, same
 * window, something outstanding. told: the SNACK of the acknowledgement reports which octets
 * arrived, so nothing has to be inferred. */
void scps_dupack_take(struct scps_sender *s, bool told, struct scps_ack_result *sum);

#endif
