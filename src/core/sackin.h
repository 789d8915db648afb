/* SPDX-License-Identifier: MIT */
/* The SACK blocks of an acknowledgement (RFC 2018), and what the first of them tells of a duplicate
 * (RFC 2883).
 *
 * Invariant: a block that was taken is not taken again as long as the peer repeats it.
 */
#ifndef SCPS_CORE_SACKIN_H
#define SCPS_CORE_SACKIN_H

#include <scps/wire.h>

#include "core/sender.h"

struct scps_sackin {
    struct scps_sack block[SCPS_SACK_MAX]; /* the newest report: n blocks, 0 where not taken */
    uint8_t n;
};

/* What the first SACK block of a segment tells of a duplicate. */
struct scps_sackin_first {
    bool old;   /* the block names nothing that could be told again */
    bool dsack; /* the block is a DSACK: the octets [from, to) came twice */
    scps_off from, to;
};

/* The peer has thrown away what it had reported. */
static inline void scps_sackin_forget(struct scps_sackin *s)
{
    memset(s->block, 0, sizeof s->block);
}
/* told: where the segment's own acknowledgement points, below ack if it is old. */
struct scps_sackin_first scps_sackin_duplicate(struct scps_sender *s, const struct scps_seg *seg,
                                               scps_off ack, int64_t told,
                                               struct scps_ack_result *sum);
/* All the blocks, of which the first is `first`: to the scoreboard. */
void scps_sackin_take(struct scps_sender *s, const struct scps_seg *seg,
                      const struct scps_sackin_first *first, scps_off ack,
                      struct scps_ack_result *sum);

#endif
