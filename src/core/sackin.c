/* SPDX-License-Identifier: MIT */
/* Processes the SACK blocks of an acknowledgement (sackin.h). */
#include "core/sackin.h"

#include "base/bytes.h"
#include "core/seq.h"
#include "core/tx.h"

static inline bool same(struct scps_sack a, struct scps_sack b)
{
    /* The compiler replaces this call by one comparison of 8 octets, because the size is
     * constant. */
    return !memcmp(&a, &b, sizeof a);
}

/* Returns true if no earlier acknowledgement has reported that the octets [from, to) arrived. */
static SCPS_NOINLINE bool first_report(const struct scps_scoreboard *sb, scps_off una,
                                       scps_off from, scps_off to)
{
    uint32_t idx;

    return to > una &&
           !(scps_sb_lookup(sb, from, &idx) && scps_sb_at(sb, idx)->state == SCPS_SENT_ARRIVED);
}

/* Converts the edges of SACK block b to offsets of the stream that this end sends. */
static inline void unwrap(const struct scps_send *s, struct scps_sack b, int64_t *from, int64_t *to)
{
    *from = scps_seq_unwrap(s->iss, s->una, b.left);
    *to = scps_seq_unwrap(s->iss, s->una, b.right);
}

struct scps_sackin_first scps_sackin_duplicate(struct scps_sender *s, const struct scps_seg *seg,
                                               scps_off ack, int64_t seg_ack,
                                               struct scps_ack_result *sum)
{
    struct scps_sackin_first f = {0};
    int64_t from, to;

    if (!seg->nsack)
        return f;
    unwrap(&s->snd, seg->sack[0], &from, &to);
    if (from >= to || to > (int64_t)s->snd.nxt)
        return f;
    /* RFC 2883 section 4: the first block is a DSACK if it lies below SEG.ACK or within the second
     * block. */
    f.old =
        to <= seg_ack || (seg->nsack > 1 && (int32_t)(seg->sack[0].left - seg->sack[1].left) >= 0 &&
                          (int32_t)(seg->sack[1].right - seg->sack[0].right) >= 0);
    /* A receiver that has the octet at SEG.ACK would have acknowledged it, so a DSACK of that octet
     * is false and is ignored. It must not undo the recovery that resends the octet: otherwise R2,
     * after which the connection ends, would never be reached (RFC 9293 section 3.8.3). */
    if (!f.old || from <= 0 || to <= (int64_t)ack - (int64_t)s->snd.max_wnd ||
        (from <= seg_ack && to > seg_ack))
        return f;
    f.dsack = true;
    f.from = (scps_off)from;
    f.to = (scps_off)to;
    s->ctx.st->dsacks_in++;
    sum->dsack = true;
    sum->dsack_to = f.to;
    sum->dsack_fresh = first_report(&s->tx->sb, s->snd.una, f.from, f.to);
    return f;
}

/* Applies one SACK block to the scoreboard and returns true. Returns false, with nothing done, if
 * the block is invalid or below the cumulative acknowledgement; then it is not stored in the list
 * of blocks (struct scps_sackin) by which repeated ones are skipped. */
static SCPS_INLINE_SPEED bool take_block(struct scps_sender *s, struct scps_sack block,
                                         scps_off ack, struct scps_ack_result *sum)
{
    int64_t from, to;

    unwrap(&s->snd, block, &from, &to);
    if (from >= to || to > (int64_t)s->snd.nxt || to <= (int64_t)ack)
        return false;
    from = SCPS_MAX(from, (int64_t)ack);
    scps_sb_arrived(&s->tx->sb, s->ctx.env->now, (scps_off)from, (scps_off)to,
                    scps_rtt_min(&s->rtt), sum);
    SCPS_OBSERVE2(&s->ctx, SACKED, from, to);
    return true;
}

/* Processes the SACK blocks of seg from index i on. before: block i - 1 of the previous
 * acknowledgement, which the peer may repeat as block i. Precondition: i is at least 1. */
static SCPS_NOINLINE void take_others(struct scps_sender *s, const struct scps_seg *seg, unsigned i,
                                      struct scps_sack before, scps_off ack,
                                      struct scps_ack_result *sum)
{
    for (; i < seg->nsack; i++) {
        struct scps_sack *at = &s->tx->sackin.block[i], was = *at;
        bool known = same(was, seg->sack[i]) || same(before, seg->sack[i]) ||
                     take_block(s, seg->sack[i], ack, sum);
        *at = known ? seg->sack[i] : (struct scps_sack){0};
        before = was;
    }
}

void scps_sackin_take(struct scps_sender *s, const struct scps_seg *seg,
                      const struct scps_sackin_first *first, scps_off ack,
                      struct scps_ack_result *sum)
{
    struct scps_sackin *own = &s->tx->sackin;
    struct scps_sack before = own->block[0];
    unsigned i = 0, n = seg->nsack;

    scps_snacktx_sack(&s->tx->snack, seg, first->dsack);
    if (n) {
        bool valid = !first->old && take_block(s, seg->sack[0], ack, sum);
        own->block[i++] = valid ? seg->sack[0] : (struct scps_sack){0};
    }
    /* The peer repeats every block in several acknowledgements, in case one is lost. So each block
     * but the first is compared with those of the last acknowledgement: with the one at the same
     * position, and with the one before it. */
#ifndef __OPTIMIZE_SIZE__ /* take_others() does the same */
    while (i < n && same(own->block[i], seg->sack[i]))
        before = own->block[i++];
#endif
    if (i < n)
        take_others(s, seg, i, before, ack, sum);
    while (own->n > n)
        own->block[--own->n] = (struct scps_sack){0};
    own->n = (uint8_t)n;
}

void scps_sackin_set_resent_age(struct scps_sender *s)
{
    struct scps_tx *tx = s->tx;
    bool too_soon = tx->rto.needless && s->ctl.cwnd != SCPS_CWND_OPEN;

    scps_sb_set_resent_age(
        &tx->sb, too_soon ? scps_reorder_current_rtt(&tx->reorder, s->rtt.srtt) * 3 / 4 : 0);
}
