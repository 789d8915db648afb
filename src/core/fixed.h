/* SPDX-License-Identifier: MIT */
/* What a connection takes at most where memory is fixed (scps_stack_config.fixed_memory): its rings
 * and lists have these sizes from the beginning, and keep them. */
#ifndef SCPS_CORE_FIXED_H
#define SCPS_CORE_FIXED_H

#include <scps/conn.h>

struct scps_fixed {
    struct scps_conn_config most; /* resolved; all connections stay within it */
    uint32_t mss;                 /* of the largest segment, TCP options included */
    uint32_t sndring, rcvring;    /* bytes, powers of two; 0: hollow */
    uint32_t slack;               /* of the send buffer: a segment that passes its end */
    uint32_t sent;                /* records of the scoreboard, a power of two */
    uint32_t holes;               /* ranges held beyond a hole */
    uint32_t marks;               /* ends of records, of either direction; 0: no records */
    uint32_t given_up;            /* ranges of best effort; 0: none */
};

/* Fills *f in for connections within c, which is resolved. */
void scps_fixed_init(struct scps_fixed *f, const struct scps_conn_config *c);
/* Is c, which is resolved, within f->most? */
bool scps_fixed_allows(const struct scps_fixed *f, const struct scps_conn_config *c);

#endif
