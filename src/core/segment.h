/* SPDX-License-Identifier: MIT */
/* What every segment that leaves has: segment.c. */
#ifndef SCPS_CORE_SEGMENT_H
#define SCPS_CORE_SEGMENT_H

#include <scps/wire.h>

struct scps_conn;

/* An empty segment that stands at `from`: ports, number, timestamps. */
void scps_segment_begin(const struct scps_conn *c, struct scps_seg *seg, scps_off from);
/* Fills in ack, window, SACK of a segment that leaves now, and takes it as sent. */
void scps_segment_ack(struct scps_conn *c, struct scps_seg *seg);

#endif
