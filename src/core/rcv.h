/* SPDX-License-Identifier: MIT */
/* Data that arrives: rcv.c, rcvfin.c. */
#ifndef SCPS_CORE_RCV_H
#define SCPS_CORE_RCV_H

#include <scps/wire.h>

#include "core/receive.h"

struct scps_conn;

/* RFC 9293 section 3.10.7.4, first check. */
bool scps_rcv_acceptable(const struct scps_conn *c, const struct scps_seg *seg);
/* The data and FIN part of an acceptable segment. */
void scps_rcv_data(struct scps_conn *c, const struct scps_seg *seg);
/* The whole of a segment that is just the next one: to be asked before scps_conn_input, in one
 * place only, so that it is inlined there. False: it is not, and nothing was done. */
bool scps_rcv_predicted(struct scps_conn *c, const struct scps_seg *seg);
/* The delayed-acknowledgement timer has expired. */
void scps_rcv_ack_timer(struct scps_conn *c);
/* The application has read: is a window update due? */
void scps_rcv_read(struct scps_conn *c);
/* The peer's FIN is the next octet of its stream. */
void scps_rcv_take_fin(struct scps_conn *c);
/* What is missing below `to` is given up. */
void scps_rcv_jump(struct scps_conn *c, scps_off to);

#endif
