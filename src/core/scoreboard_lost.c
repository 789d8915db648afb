/* SPDX-License-Identifier: MIT */
/* The scoreboard, which has one record for each sent segment: declares records lost, and undoes
 * losses.
 *
 * The indices of lost records are in a binary heap by offset. The index of a record that was
 * resent, was reported as arrived or was acknowledged meanwhile may stay in the heap; it is removed
 * when it comes to the top.
 */
#include "core/scoreboard.h"

/* ---- functions of lostq, the heap of the segments declared lost, lowest offset first ---- */

static void heap_up(struct scps_scoreboard *sb, uint32_t i)
{
    uint32_t idx = sb->lostq[i];

    while (i && scps_sb_before(idx, sb->lostq[(i - 1) / 2])) {
        sb->lostq[i] = sb->lostq[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    sb->lostq[i] = idx;
}

static bool inside(const struct scps_scoreboard *sb, uint32_t idx)
{
    return !scps_sb_before(idx, sb->head) && scps_sb_before(idx, sb->tail);
}

static bool stale(const struct scps_scoreboard *sb, uint32_t idx)
{
    return !inside(sb, idx) || scps_sb_at(sb, idx)->state != SCPS_SENT_LOST;
}

/* Clears the flag (SCPS_SENT_QUEUED) that says that record idx is in the heap of lost records. */
static void unqueued(struct scps_scoreboard *sb, uint32_t idx)
{
    if (inside(sb, idx))
        scps_sb_at(sb, idx)->flags &= (uint8_t)~SCPS_SENT_QUEUED;
}

void scps_sb_dequeue_lost(struct scps_scoreboard *sb)
{
    uint32_t idx = sb->lostq[--sb->nlost], i = 0, n = sb->nlost;

    unqueued(sb, sb->lostq[0]);
    for (uint32_t kid; (kid = 2 * i + 1) < n; i = kid) {
        if (kid + 1 < n && scps_sb_before(sb->lostq[kid + 1], sb->lostq[kid]))
            kid++;
        if (!scps_sb_before(sb->lostq[kid], idx))
            break;
        sb->lostq[i] = sb->lostq[kid];
    }
    if (n)
        sb->lostq[i] = idx;
}

/* Adds a record to the heap of lost ones, unless its index is in the heap already: a record may be
 * lost, arrive and be lost again while the index stays there. */
void scps_sb_queue_lost(struct scps_scoreboard *sb, uint32_t idx)
{
    struct scps_sent_segment *r = scps_sb_at(sb, idx);

    if (r->flags & SCPS_SENT_QUEUED)
        return;
    /* The heap lostq is full, so the indices of records that are not LOST any more (resent, arrived
     * or acknowledged) are removed. Those of LOST records always fit, because each record is in the
     * heap at most once. */
    if (sb->nlost > sb->mask) {
        uint32_t kept = 0, n = sb->nlost;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t old = sb->lostq[i];
            if (stale(sb, old)) {
                unqueued(sb, old);
                continue;
            }
            sb->lostq[kept] = old;
            heap_up(sb, kept++);
        }
        sb->nlost = kept;
    }
    r->flags |= SCPS_SENT_QUEUED;
    sb->lostq[sb->nlost] = idx;
    heap_up(sb, sb->nlost++);
}

bool scps_sb_next_lost(struct scps_scoreboard *sb, uint32_t *idx)
{
    while (sb->nlost) {
        if (!stale(sb, sb->lostq[0])) {
            *idx = sb->lostq[0];
            return true;
        }
        scps_sb_dequeue_lost(sb);
    }
    return false;
}

/* ---- functions that declare the records of sent segments lost, and that undo it ---- */

struct scps_new_losses scps_sb_losses(struct scps_scoreboard *sb)
{
    struct scps_new_losses found = sb->new_losses;

    sb->new_losses = (struct scps_new_losses){0};
    return found;
}

static void note_loss(struct scps_scoreboard *sb, const struct scps_sent_segment *r)
{
    struct scps_new_losses *n = &sb->new_losses;

    sb->lost_ever += r->len;
    if (!n->ranges || scps_sb_before(n->xseq, r->xseq)) {
        n->xseq = r->xseq;
        n->tx_in_flight = r->tx_in_flight;
        n->tx_lost = r->tx_lost;
        n->sent = r->sent;
        n->app_limited = r->flags & SCPS_SENT_APP_LIMITED;
    }
    if (!n->ranges || r->from != n->to)
        n->ranges++;
    n->to = r->from + r->len;
}

void scps_sb_lose(struct scps_scoreboard *sb, uint32_t idx, struct scps_ack_result *sum)
{
    struct scps_sent_segment *r = scps_sb_at(sb, idx);

    if (r->state != SCPS_SENT_FLIGHT)
        return;
    r->state = SCPS_SENT_LOST;
    sb->inflight -= r->len;
    sb->lost += r->len;
    if (sum) {
        if (!sum->lost || r->from < sum->lost_from)
            sum->lost_from = r->from;
        sum->lost += r->len;
    }
    note_loss(sb, r);
    scps_sb_queue_lost(sb, idx);
}

void scps_sb_lose_since(struct scps_scoreboard *sb, scps_time then, struct scps_ack_result *sum)
{
    for (uint32_t i = sb->head; i != sb->tail; i++)
        if (i == sb->head || scps_sb_at(sb, i)->sent <= then)
            scps_sb_lose(sb, i, sum);
}

/* Called when losses have proved spurious and their records are in flight again. From now on the
 * arrival of a retransmission does not show that what was sent before it is lost, since the first
 * transmission may have arrived instead. So hi_xseq, the number of the latest transmission known to
 * have arrived, is lowered to that of the last first transmission that certainly has. */
static void forget_resend_evidence(struct scps_scoreboard *sb)
{
    bool any = false;
    uint32_t hi = 0;

    for (uint32_t i = sb->head; i != sb->tail; i++) {
        const struct scps_sent_segment *r = scps_sb_at(sb, i);
        bool arrived = r->state == SCPS_SENT_ARRIVED;
        if (r->resends || (any && !arrived))
            continue;
        /* First transmissions were sent in the order of their offsets, so the last one found here
         * is the latest. */
        hi = arrived ? r->xseq : r->xseq - 1;
        any = true;
    }
    if (any && scps_sb_before(hi, sb->hi_xseq))
        sb->hi_xseq = hi;
}

uint64_t scps_sb_undo_losses(struct scps_scoreboard *sb)
{
    uint64_t found = 0;
    uint32_t below = 0;

    sb->nlost = 0;
    for (uint32_t i = sb->head; i != sb->tail; i++) {
        struct scps_sent_segment *r = scps_sb_at(sb, i);
        r->flags &= (uint8_t)~SCPS_SENT_QUEUED;
        if (r->state == SCPS_SENT_LOST && r->resends) {
            /* The losses have proved spurious, so records that were declared lost but not resent
             * become FLIGHT again. A record that was resent, and then declared lost again, stays
             * LOST, and goes back into the heap of LOST records, lostq, which was emptied above. */
            scps_sb_queue_lost(sb, i);
        } else if (r->state == SCPS_SENT_LOST) {
            r->state = SCPS_SENT_FLIGHT;
            found += r->len;
            if (scps_sb_before(i, sb->frontier)) {
                sb->frontier = i;
                sb->arrived_below = below;
            }
        } else if (r->state == SCPS_SENT_ARRIVED) {
            below++;
        }
    }
    sb->lost -= found;
    sb->inflight += found;
    sb->excused = sb->arrived_recs - sb->arrived_below;
    forget_resend_evidence(sb);
    return found;
}
