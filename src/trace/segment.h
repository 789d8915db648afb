/* SPDX-License-Identifier: MIT */
/* Adds one segment of a known connection to the figures of its two directions. */
#ifndef SCPS_TRACE_SEGMENT_H
#define SCPS_TRACE_SEGMENT_H

#include "trace/parse.h"

/* Unwraps a sequence number: returns the 64-bit value nearest to ref whose low half is x. */
static inline uint64_t scps_tr_unwrap(uint64_t ref, uint32_t x)
{
    return ref + (uint64_t)(int64_t)(int32_t)(x - (uint32_t)ref);
}

/* ---- functions in segment.c, which analyse one TCP segment ---- */

/* Processes segment s in packet k, which has direction dir of flow f. */
void scps_tr_segment(struct scps_trace *t, const struct scps_trace_pkt *p, const struct packet *k,
                     const struct segment *s, struct flow *f, int dir);

/* ---- functions in snack.c, which process the SNACK option ---- */

/* Processes the SNACK option of s, which acknowledges up to ack: holes in the data of o. seen gets
 * the first hole; may be NULL. */
void scps_tr_take_snack(struct scps_trace *t, struct conn_dir *h, struct conn_dir *o,
                        const struct segment *s, uint64_t ack, struct scps_trace_seen *seen);

/* ---- functions in compressed.c, which process compressed headers (protocol 105) ---- */

/* Processes a packet with a compressed header. Returns 0 if it was a TCP segment, 1 if it was
 * something else, which is counted, or SCPS_ERR_NOMEM. */
int scps_tr_comp_packet(struct scps_trace *t, const struct scps_trace_pkt *p,
                        const struct packet *k);
/* Records the fields of s, which h sent with a full header, because later compressed headers leave
 * out fields that did not change. */
void scps_tr_comp_note(struct conn_dir *h, const struct segment *s);

#endif
