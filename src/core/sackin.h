/* SPDX-License-Identifier: MIT */
/* Processes the SACK blocks of an acknowledgement (RFC 2018), and what the first of them says about
 * a duplicate (RFC 2883).
 *
 * Invariant: a block that was processed is not processed again as long as the peer repeats it.
 */
#ifndef SCPS_CORE_SACKIN_H
#define SCPS_CORE_SACKIN_H

#include <scps/wire.h>

#include "core/sender.h"

struct scps_sackin {
    /* the blocks of the newest acknowledgement, n of them; those that were not processed are 0 */
    struct scps_sack block[SCPS_SACK_MAX];
    uint8_t n;
};

/* What the first SACK block of a segment says about a duplicate. */
struct scps_sackin_first {
    bool old;   /* the block contains nothing that the peer could repeat later */
    bool dsack; /* the block is a DSACK: the octets [from, to) came twice */
    scps_off from, to;
};

/* Called when the peer has discarded data that it had reported (reneging): forgets the SACK blocks
 * that were processed. */
static inline void scps_sackin_forget(struct scps_sackin *s)
{
    memset(s->block, 0, sizeof s->block);
}
/* Examines the first SACK block of seg. told: the offset of SEG.ACK, which is below ack in an old
 * segment. */
struct scps_sackin_first scps_sackin_duplicate(struct scps_sender *s, const struct scps_seg *seg,
                                               scps_off ack, int64_t told,
                                               struct scps_ack_result *sum);
/* Reports all SACK blocks of seg, the first of which is described by `first`, to the scoreboard. */
void scps_sackin_take(struct scps_sender *s, const struct scps_seg *seg,
                      const struct scps_sackin_first *first, scps_off ack,
                      struct scps_ack_result *sum);

#endif
