/* SPDX-License-Identifier: MIT */
/* Processes the data and the FIN of arriving segments (rcv.c), and moves RCV.NXT past holes (octets
 * missing below data that has arrived) that this receiver gives up if best effort was agreed
 * (rcv_hole.c). */
#ifndef SCPS_CORE_RCV_H
#define SCPS_CORE_RCV_H

#include <scps/wire.h>

#include "core/ackout.h"
#include "core/receive.h"
#include "core/sender.h"

struct scps_conn;

/* Returns true if a segment is acceptable (RFC 9293 section 3.10.7.4, first check). */
bool scps_rcv_acceptable(const struct scps_conn_config *cfg, const struct scps_receive *rcv,
                         const struct scps_ackout *a, const struct scps_seg *seg);
/* Processes data and FIN of an acceptable segment. */
void scps_rcv_data(struct scps_conn *c, const struct scps_seg *seg);
/* Called for a segment that PAWS rejects: if all of its data has arrived before, makes the next
 * acknowledgement report that by a DSACK. */
void scps_rcv_rejected(struct scps_sender *s, struct scps_receive *rcv, const struct scps_seg *seg);
/* Header prediction: processes a pure data segment on an ESTABLISHED connection with nothing
 * outstanding. Returns false, with nothing changed, for any other segment, which scps_conn_input()
 * must process. It is called in one place only, so that the compiler inlines it. */
bool scps_rcv_predicted(struct scps_conn *c, const struct scps_seg *seg);
/* Called when the application has read: decides whether a window update is due. */
void scps_rcv_read(struct scps_conn *c);
/* Called when RCV.NXT has reached the peer's FIN: RCV.NXT moves over the FIN, and the TCP state
 * changes as RFC 9293 section 3.10.7.4, eighth check, says. */
void scps_rcv_take_fin(struct scps_conn *c);
/* Best effort: called after a read, an arrival or a change of an outage. If the application has
 * read all data before a hole (octets missing at RCV.NXT, while later ones have arrived), starts
 * the timer of the setting bets_timeout. When that expires, this receiver gives up the hole:
 * RCV.NXT moves past it, and the application gets SCPS_EV_HOLE. A hole that existed when the timer
 * of an earlier hole, given up since, was started has waited as long, and is given up at once. */
void scps_rcv_check_hole(struct scps_conn *c);
/* Best effort: called when the timer of the wait for a hole (octets missing at RCV.NXT) expires.
 * Gives up the hole unless it was filled meanwhile. */
void scps_rcv_hole_timer(struct scps_conn *c);

#endif
