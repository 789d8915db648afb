/* SPDX-License-Identifier: MIT */
/* Duplicate acknowledgements of a peer without SACK: each one shows that a segment has left the
 * network, and dupthresh of them that a segment is lost. */
#include "core/dupack.h"

#include "core/tx.h"

/* Returns the bytes that one duplicate acknowledgement stands for: "the additional segment that has
 * left the network" (RFC 5681 section 3.2 (4)). That is the mean length of the segments
 * outstanding, at most the MSS. RFC 5681 adds SMSS for each duplicate, but where segments are
 * smaller, as with application records, the window would grow by more than has left the network. */
static inline uint32_t left_network(const struct scps_scoreboard *sb, uint64_t flight, uint32_t mss)
{
    uint64_t mean = flight / SCPS_MAX(scps_sb_count(sb), 1u);

    return mean > mss / 2 ? mss : (uint32_t)SCPS_MAX(mean, 1u);
}

void scps_dupack_take(struct scps_sender *s, bool snack_reported, struct scps_ack_result *sum)
{
    struct scps_tx *tx = s->tx;
    uint32_t head = tx->sb.head, thresh = s->ctx.cfg->c.dupthresh, out;

    scps_recovery_duplicate(&tx->rec);
    s->ctx.st->dupacks_in++;
    if (s->agreed.opts & SCPS_AGREED_SACK)
        return;
    /* In fast recovery each duplicate inflates the window (RFC 5681 section 3.2). After a timeout
     * the window is that of slow start: segments sent for duplicates would fill a queue that the
     * oldest segment has to pass. Only the duplicate that ends F-RTO permits a segment (RFC 5682
     * section 2.1 step 3a). */
    if (!snack_reported && (tx->rec.episode != SCPS_EPISODE_RTO || tx->rec.frto)) {
        uint32_t segment = left_network(&tx->sb, s->snd.nxt - s->snd.una, s->agreed.mss);
        scps_recovery_virtual(&tx->rec, segment, s->snd.nxt - s->snd.una);
        scps_ack_result_add(sum, segment);
    }
    out = scps_sb_count(&tx->sb);
    /* Early retransmit (RFC 5827): ER_thresh = ceiling(ownd/SMSS) - 1. If only one segment is
     * outstanding, no later segment can have caused a duplicate acknowledgement: the network has
     * duplicated an acknowledgement or an old segment. */
    if (out > 1 && scps_dupack_last(&s->snd, s->agreed.mss, out))
        thresh = SCPS_CLAMP(out - 1, 1u, thresh);
    if (scps_agreed_snack(&s->agreed) && scps_sb_at(&tx->sb, head)->resends)
        /* The oldest segment was resent because of a SNACK, and the time in which no SNACK makes
         * this end resend it again (the embargo, docs/SCPS-TP.md section 2.4) has not ended. So
         * duplicates do not declare it lost: if it is still missing then, the receiver reports it
         * by SNACK again. */
        return;
    if (tx->rec.dupacks >= thresh && tx->rec.episode == SCPS_EPISODE_NONE)
        scps_sb_lose(&tx->sb, head, sum);
}
