/* SPDX-License-Identifier: MIT */
/* One segment of a connection that is known: into the figures of its two directions. */
#ifndef SCPS_TRACE_SEGMENT_H
#define SCPS_TRACE_SEGMENT_H

#include "trace/parse.h"

/* Sequence numbers are 64 bits wide in here: the one next to ref whose low half is x. */
static inline uint64_t scps_tr_unwrap(uint64_t ref, uint32_t x)
{
    return ref + (uint64_t)(int64_t)(int32_t)(x - (uint32_t)ref);
}

/* ---- segment.c ---- */

/* Takes segment s, carried by packet k, of direction dir of f. */
void scps_tr_segment(struct scps_trace *t, const struct scps_trace_pkt *p, const struct packet *k,
                     const struct segment *s, struct flow *f, int dir);

/* ---- snack.c ---- */

/* What the SNACK option of s, which acknowledges up to ack, says of the data of o. seen: where to
 * note the first hole, or NULL. */
void scps_tr_take_snack(struct scps_trace *t, struct conn_dir *h, struct conn_dir *o,
                        const struct segment *s, uint64_t ack, struct scps_trace_seen *seen);

/* ---- compressed.c: protocol 105 ---- */

/* Takes a packet whose header is compressed. Returns what scps_trace_packet does. */
int scps_tr_comp_packet(struct scps_trace *t, const struct scps_trace_pkt *p,
                        const struct packet *k);
/* h has sent s with a whole header: compressed ones leave out what did not change. */
void scps_tr_comp_note(struct conn_dir *h, const struct segment *s);

#endif
