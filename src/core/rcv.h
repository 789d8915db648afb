/* SPDX-License-Identifier: MIT */
/* Processing of arriving data: rcv.c, rcvfin.c. */
#ifndef SCPS_CORE_RCV_H
#define SCPS_CORE_RCV_H

#include <scps/wire.h>

#include "core/receive.h"

struct scps_conn;

/* Returns true if a segment is acceptable (RFC 9293 section 3.10.7.4, first check). */
bool scps_rcv_acceptable(const struct scps_conn *c, const struct scps_seg *seg);
/* Processes data and FIN of an acceptable segment. */
void scps_rcv_data(struct scps_conn *c, const struct scps_seg *seg);
/* Header prediction: processes a pure data segment on an ESTABLISHED connection with nothing
 * outstanding. Call it before scps_conn_input, in one place only, so that it is inlined. Returns
 * false, with nothing changed, for any other segment. */
bool scps_rcv_predicted(struct scps_conn *c, const struct scps_seg *seg);
/* Called when the delayed-acknowledgement timer expires: has an acknowledgement sent if one is
 * due. */
void scps_rcv_ack_timer(struct scps_conn *c);
/* Called when the application has read: decides whether a window update is due. */
void scps_rcv_read(struct scps_conn *c);
/* Processes the peer's FIN, which is the next octet of its stream. */
void scps_rcv_take_fin(struct scps_conn *c);
/* Gives up the octets missing below `to` (best effort): RCV.NXT moves there. */
void scps_rcv_jump(struct scps_conn *c, scps_off to);

#endif
