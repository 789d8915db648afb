/* SPDX-License-Identifier: MIT */
/* Rare operations on the scoreboard: splits records when the MSS shrinks, gives up the first record
 * for best effort, and makes arrived records lost when the receiver discards data. */
#include "core/agreed.h"
#include "core/scoreboard.h"

#include <scps/error.h>

scps_off scps_sb_give_up(struct scps_scoreboard *sb, scps_off *end)
{
    struct scps_sent_segment *r = scps_sb_at(sb, sb->head);
    uint32_t data = r->len - (r->flags & SCPS_SENT_FIN ? 1 : 0);

    *end = r->from + data;
    *(r->state == SCPS_SENT_FLIGHT ? &sb->inflight : &sb->lost) -= data;
    if (r->flags & SCPS_SENT_FIN) {
        r->from = *end;
        r->len = 1;
        r->resends = 0;
        r->flags &= (uint8_t)~SCPS_SENT_RECORD;
        return *end;
    }
    while (++sb->head != sb->tail) {
        r = scps_sb_at(sb, sb->head);
        if (r->state != SCPS_SENT_ARRIVED || r->flags & SCPS_SENT_FIN)
            break;
        sb->arrived -= r->len;
        sb->arrived_recs--;
        if (scps_sb_before(sb->head, sb->frontier))
            sb->arrived_below--;
    }
    if (scps_sb_before(sb->frontier, sb->head))
        sb->frontier = sb->head;
    return sb->head != sb->tail ? r->from : r->from + r->len;
}

void scps_sb_renege(struct scps_scoreboard *sb)
{
    for (uint32_t i = sb->head; i != sb->tail; i++) {
        struct scps_sent_segment *r = scps_sb_at(sb, i);
        if (r->state == SCPS_SENT_ARRIVED) {
            r->state = SCPS_SENT_LOST;
            sb->lost += r->len;
            sb->arrived -= r->len;
            scps_sb_queue_lost(sb, i);
        }
    }
    sb->arrived_recs = sb->arrived_below = sb->excused = 0;
    sb->frontier = sb->tail;
    sb->run_from = sb->run_to = 0;
}

int scps_sb_split_head(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t len)
{
    const uint8_t ends = SCPS_SENT_FIN | SCPS_SENT_RECORD | SCPS_SENT_QUEUED;
    struct scps_sent_segment *rest, *first;

    if (!scps_sb_count(sb))
        return 0;
    first = scps_sb_at(sb, sb->head);
    /* The FIN takes a sequence number, but no room in the segment. Apart from its data it would
     * take the end of the record with it. */
    if (first->state != SCPS_SENT_LOST || first->len - !!(first->flags & SCPS_SENT_FIN) <= len)
        return 0;
    if (scps_sb_reserve(sb, a))
        return SCPS_ERR_NOMEM;
    rest = scps_sb_at(sb, sb->head);
    first = scps_sb_at(sb, sb->head - 1);
    *first = *rest;
    first->len = len;
    first->flags &= (uint8_t)~ends;
    rest->from += len;
    rest->len -= len;
    if (sb->frontier == sb->head)
        sb->frontier--;
    sb->head--;
    sb->run_to = 0;
    /* The heap may still have an entry with this index, of a record that was acknowledged. */
    for (uint32_t i = 0; i < sb->nlost; i++)
        if (sb->lostq[i] == sb->head)
            first->flags |= SCPS_SENT_QUEUED;
    scps_sb_queue_lost(sb, sb->head);
    return 0;
}

int scps_sb_resegment(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t max,
                      int64_t lose_above)
{
    struct scps_scoreboard nb;
    bool frontier_set = false;

    scps_sb_init(&nb);
    nb.head = nb.tail = nb.frontier = sb->head;
    nb.xseq = sb->xseq;
    nb.hi_xseq = sb->hi_xseq;
    nb.hi_arrived = sb->hi_arrived;
    nb.needless = sb->needless;
    nb.needless_from = sb->needless_from;
    for (uint32_t i = sb->head; i != sb->tail; i++) {
        struct scps_sent_segment r = *scps_sb_at(sb, i);
        r.flags &= (uint8_t)~SCPS_SENT_QUEUED; /* The heap of the new scoreboard is empty. */
        if (r.state == SCPS_SENT_FLIGHT && r.len > lose_above)
            r.state = SCPS_SENT_LOST;
        if (i == sb->frontier) {
            nb.frontier = nb.tail;
            frontier_set = true;
        }
        for (uint32_t left = r.len, cut; left; left -= cut) {
            struct scps_sent_segment *n;
            uint8_t ends = SCPS_SENT_FIN | SCPS_SENT_RECORD;
            /* The FIN takes a sequence number, but no room in the segment. */
            uint32_t data = left - (r.flags & SCPS_SENT_FIN ? 1 : 0);
            uint32_t last = max - (r.flags & SCPS_SENT_RECORD ? SCPS_RECORD_ROOM : 0);
            cut = data <= last ? left : data <= max ? last : max;
            if (scps_sb_reserve(&nb, a)) {
                scps_sb_fini(&nb, a);
                return SCPS_ERR_NOMEM;
            }
            n = &nb.v[nb.tail & nb.mask];
            *n = r;
            n->len = cut;
            n->from = r.from + (r.len - left);
            n->flags = left == cut ? r.flags : (uint8_t)(r.flags & ~ends);
            n->skip = nb.tail + 1;
            nb.tail++;
            if (n->state == SCPS_SENT_ARRIVED) {
                nb.arrived_recs++;
                nb.arrived += cut;
                if (!frontier_set)
                    nb.arrived_below++;
            } else if (n->state == SCPS_SENT_LOST) {
                nb.lost += cut;
                scps_sb_queue_lost(&nb, nb.tail - 1);
            } else {
                nb.inflight += cut;
                if (n->resends)
                    scps_sb_queue_resent(&nb, nb.tail - 1, n->xseq);
            }
        }
    }
    if (!frontier_set)
        nb.frontier = nb.tail;
    scps_sb_fini(sb, a);
    *sb = nb;
    return 0;
}
