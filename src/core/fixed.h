/* SPDX-License-Identifier: MIT */
/* Sizes of a connection's rings and lists where memory is fixed
 * (scps_stack_config.fixed_memory): they have their largest size from the beginning. */
#ifndef SCPS_CORE_FIXED_H
#define SCPS_CORE_FIXED_H

#include <scps/conn.h>

struct scps_fixed {
    struct scps_conn_config most; /* the resolved configuration that bounds all connections */
    uint32_t mss;                 /* of the largest segment, TCP options included */
    uint32_t sndring, rcvring;    /* bytes, powers of two; 0: hollow */
    /* slack of the send buffer: the largest segment that passes its end */
    uint32_t slack;
    uint32_t sent;     /* records of the scoreboard, a power of two */
    uint32_t holes;    /* ranges held beyond a hole */
    uint32_t marks;    /* ends of records, of either direction; 0: no records */
    uint32_t given_up; /* ranges that best effort gave up; 0: none */
};

/* Computes *f for connections within c, which is resolved. */
void scps_fixed_init(struct scps_fixed *f, const struct scps_conn_config *c);
/* Returns true if c, which is resolved, stays within f->most. */
bool scps_fixed_allows(const struct scps_fixed *f, const struct scps_conn_config *c);

#endif
