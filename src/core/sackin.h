/* SPDX-License-Identifier: MIT */
/* Processes the SACK blocks of an acknowledgement (RFC 2018), the first of which may report a
 * duplicate (RFC 2883).
 *
 * Invariant: a block that was processed is not processed again as long as the peer repeats it.
 */
#ifndef SCPS_CORE_SACKIN_H
#define SCPS_CORE_SACKIN_H

#include <scps/wire.h>

#include "core/sender.h"

struct scps_sackin {
    /* the SACK blocks of the newest acknowledgement, n of them; a block that was not applied to the
     * scoreboard is 0 */
    struct scps_sack block[SCPS_SACK_MAX];
    uint8_t n;
};

/* What the first SACK block of a segment says about a duplicate. */
struct scps_sackin_first {
    /* true: the block lies below SEG.ACK or within the second block, so it reports nothing new */
    bool old;
    /* true: the block is a DSACK, which reports that the octets [from, to) arrived twice */
    bool dsack;
    scps_off from, to;
};

/* Called when the peer has discarded data that it had reported (reneging, RFC 2018 section 8):
 * clears the list of SACK blocks that were applied, so that they are applied again if the peer
 * reports them. */
static inline void scps_sackin_forget(struct scps_sackin *s)
{
    memset(s->block, 0, sizeof s->block);
}
/* Returns whether the first SACK block of seg is a DSACK (RFC 2883), and which octets it reports as
 * having arrived twice. For a DSACK also counts it and sets dsack, dsack_to and dsack_fresh in
 * *sum. A DSACK of the octet at SEG.ACK is false, since the receiver does not have that octet, and
 * is not returned as a DSACK. seg_ack: offset of SEG.ACK; ack: the later of SEG.ACK and SND.UNA. */
struct scps_sackin_first scps_sackin_duplicate(struct scps_sender *s, const struct scps_seg *seg,
                                               scps_off ack, int64_t seg_ack,
                                               struct scps_ack_result *sum);
/* Applies all SACK blocks of seg to the scoreboard. first: the result of
 * scps_sackin_duplicate(). */
void scps_sackin_take(struct scps_sender *s, const struct scps_seg *seg,
                      const struct scps_sackin_first *first, scps_off ack,
                      struct scps_ack_result *sum);
/* Called before an acknowledgement is applied to the scoreboard. Sets the time for which a report
 * of a resent segment, counted from its retransmission, may be about an earlier transmission: the
 * minimum RTT or, if DSACKs have shown since the last RTT sample that retransmissions were
 * needless, three quarters of the current RTT if that is longer. Without a congestion window it is
 * always the minimum RTT, because a sender that only its rate limits fills no queue. */
void scps_sackin_set_resent_age(struct scps_sender *s);

#endif
