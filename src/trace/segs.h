/* SPDX-License-Identifier: MIT */
/* Records of the segments that one direction has sent (functions in segs.c and blocks.c). */
#ifndef SCPS_TRACE_SEGS_H
#define SCPS_TRACE_SEGS_H

#include <scps/analyze.h>

/* quadrant of an unwrapped sequence number: the sequence space is divided into parts of 2^30
 * octets */
#define TR_QUAD(x) ((x) >> 30)

/* A segment in the boundaries in which it was first sent, not acknowledged yet. */
struct seg {
    /* first sequence number, unwrapped: its low 32 bits are the number on the wire */
    uint64_t first;
    scps_time at; /* time of the last transmission of the segment, µs */
    uint32_t len;
    uint16_t retrans;
    uint16_t pad;
};
/* array s of up to CHUNK segments that are not acknowledged, in order of their sequence numbers:
 * s[off] to s[off + n - 1], of cap */
struct chunk {
    uint16_t off, n, cap;
    struct seg s[];
};
struct block { /* adjacent segments that have been acknowledged, merged into one range */
    uint64_t first, end;
    scps_time at; /* time of the latest transmission of any octet of the range, µs */
    /* number of acknowledgements whose SEG.ACK is the end of this range: 1, and one more for each
     * duplicate */
    uint32_t acked;
};
struct segs {
    /* array of chunks of segments that are not acknowledged: c[head] to c[head + n - 1] */
    struct chunk **c;
    struct block *b;
    uint32_t head, n, cap;
    uint16_t nb, capb;
    /* end of the highest data, SYN or FIN that this direction has sent, acknowledged or not, as an
     * unwrapped (64-bit) sequence number; 0: nothing was sent yet */
    uint64_t top;
    /* Last SEG.ACK that was processed completely: another acknowledgement with this value, unless
     * it counts as a duplicate, changes nothing. 0: the next one must be processed. */
    uint64_t settled;
    uint64_t quad;     /* highest quadrant (2^30 octets of sequence space) in which data was sent */
    scps_time quad_at; /* latest transmission of acknowledged segments in that quadrant, µs */
};

static inline uint64_t scps_tr_seg_end(const struct seg *s)
{
    return s->first + s->len;
}

/* ---- functions in blocks.c, for blocks: the ranges of acknowledged data of a direction ---- */

/* Returns the index in s->b of the lowest block (range of acknowledged data) whose end is above
 * sequence number pos, unwrapped to 64 bits; s->nb, the number of blocks, if there is none. The
 * blocks are in order of their sequence numbers. */
uint32_t scps_tr_blocks_find(const struct segs *s, uint64_t pos);
/* Adds segment x, which was just acknowledged, to the blocks (the ranges of acknowledged data). If
 * memory for a new block is refused, x is not recorded: the time of its transmission is lost. */
void scps_tr_blocks_add(struct scps_trace *t, struct segs *s, const struct seg *x);
/* Returns the time of the latest transmission of acknowledged data in quadrant q (its octets have
 * unwrapped sequence numbers from q * 2^30 on), µs; 0: no such data is recorded. */
scps_time scps_tr_blocks_latest_in(const struct segs *s, uint64_t q);
/* Discards the blocks (ranges of acknowledged data) that begin two quadrants or more below quadrant
 * q, which begins at unwrapped sequence number q * 2^30. Returns what scps_tr_blocks_latest_in()
 * returns for q. */
scps_time scps_tr_blocks_discard(struct segs *s, uint64_t q);

#endif
