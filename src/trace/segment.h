/* SPDX-License-Identifier: MIT */
/* Adds one segment of a known connection to the figures of its two directions. */
#ifndef SCPS_TRACE_SEGMENT_H
#define SCPS_TRACE_SEGMENT_H

#include "trace/parse.h"

/* Unwraps the sequence number x: returns the 64-bit number nearest to ref whose low 32 bits are
 * x. */
static inline uint64_t scps_tr_unwrap(uint64_t ref, uint32_t x)
{
    return ref + (uint64_t)(int64_t)(int32_t)(x - (uint32_t)ref);
}

/* ---- functions in segment.c, which analyse one TCP segment ---- */

/* Analyses segment s in packet k, captured as p, which was sent in direction dir (0: from key.a, 1:
 * from key.b) of connection f. */
void scps_tr_segment(struct scps_trace *t, const struct scps_trace_pkt *p, const struct packet *k,
                     const struct segment *s, struct flow *f, int dir);

/* ---- functions in snack.c, which process the SNACK option ---- */

/* Processes the SNACK option of segment s, sent in direction h, which reports holes in the data of
 * o. ack: SEG.ACK of s, unwrapped. *seen gets the first hole reported; seen NULL: the caller does
 * not need it. */
void scps_tr_take_snack(struct scps_trace *t, struct conn_dir *h, struct conn_dir *o,
                        const struct segment *s, uint64_t ack, struct scps_trace_seen *seen);

/* ---- functions in compressed.c, which process compressed headers (protocol 105) ---- */

/* Processes a packet with a compressed header. Returns 0 if it was a TCP segment, 1 if it was
 * something else, which is counted, or SCPS_ERR_NOMEM. */
int scps_tr_comp_packet(struct scps_trace *t, const struct scps_trace_pkt *p,
                        const struct packet *k);
/* Records the header fields of segment s, which h sent with a full header, because later compressed
 * headers leave out those that did not change. */
void scps_tr_comp_note(struct conn_dir *h, const struct segment *s);

#endif
