/* SPDX-License-Identifier: MIT */
/* The reason why a connection sends nothing now (hold.c).
 *
 * Invariant: only this file and hold.c assign scps_sender.hold.
 */
#ifndef SCPS_CORE_HOLD_H
#define SCPS_CORE_HOLD_H

#include "core/sender.h"

/* Called when a connection is opened: it sends nothing but its SYN until the peer has answered. */
static inline void scps_snd_hold_begin(struct scps_sender *s)
{
    s->hold = SCPS_HOLD_HANDSHAKE;
}
/* Sets the reason why nothing is sent now; SCPS_HOLD_NONE: a segment is sent. */
void scps_snd_hold(struct scps_sender *s, enum scps_hold why);
/* If s has data to send (unsent or declared lost), records that the rate of its route is the reason
 * why it is not sent now (SCPS_HOLD_ROUTE). */
void scps_snd_routed(struct scps_sender *s);

#endif
