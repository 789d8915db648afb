/* SPDX-License-Identifier: MIT */
/* Fills in the fields that every segment sent has (segment.c). */
#ifndef SCPS_CORE_SEGMENT_H
#define SCPS_CORE_SEGMENT_H

#include <scps/wire.h>

#include "core/tx.h"

struct scps_conn;

/* Begins a segment without data at offset `from` of the stream that this end sends: ports, sequence
 * number and timestamps. The segment is counted as sent. */
void scps_segment_begin(struct scps_conn *c, struct scps_seg *seg, scps_off from);
/* Fills in SEG.ACK, the window and SACK of a segment that is sent now, and records that they were
 * sent. */
void scps_segment_ack(struct scps_conn *c, struct scps_seg *seg);

/* Called when seg, whose first octet has offset `from` in the stream that this end sends, was built
 * for sending: updates the time of the last data (tx->sent_at) and the connection's counters, and
 * reports the segment to the observer. resent: true if the segment is a retransmission. tx: the
 * sending state; may be NULL if seg has no data. */
static inline void scps_segment_left(struct scps_conn_ctx *x, struct scps_tx *tx,
                                     const struct scps_seg *seg, scps_off from, bool resent)
{
    scps_time now = x->env->now;

    if (seg->len) {
        tx->sent_at = now;
        scps_stats_sent(x->st, seg->len);
    }
    if (resent) {
        x->st->resent_segs++;
        x->st->bytes_resent += seg->len;
    }
    SCPS_OBSERVE(x, SENT, from, seg->len, seg->flags, resent);
}

#endif
