/* SPDX-License-Identifier: MIT */
/* Rare operations on the scoreboard, which has one record for each sent segment: splits records
 * when the MSS shrinks, joins small lost ones, gives up the oldest unacknowledged segment (best
 * effort, BETS of SCPS-TP: data that does not arrive in time is given up), and makes arrived
 * records lost when the receiver discards data (reneging). */
#include "core/agreed.h"
#include "core/scoreboard.h"

#include "base/bytes.h"
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
    /* The FIN takes a sequence number, but no room in the segment, so a record whose data fits is
     * not split: the second part would be a FIN without data. The flag SCPS_SENT_RECORD (the last
     * octet of data ends a record of the application) would go to that second part, although the
     * octet is in the first one. */
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

/* ---- functions that split segments after the path MTU has fallen ---- */

void scps_sb_lose_longer(struct scps_scoreboard *sb, uint32_t len)
{
    for (uint32_t i = sb->head; i != sb->tail; i++) {
        struct scps_sent_segment *r = scps_sb_at(sb, i);
        if (r->state != SCPS_SENT_FLIGHT || r->len <= len)
            continue;
        r->state = SCPS_SENT_LOST;
        sb->inflight -= r->len;
        sb->lost += r->len;
        scps_sb_queue_lost(sb, i);
    }
}

/* Returns the octets of the first piece, of at most max octets of data, of segment r. It is r->len
 * if r fits. The FIN takes a sequence number, but no room in the segment; a record boundary of the
 * application (SCPS_SENT_RECORD) takes room for its option, so the last piece is shorter. */
static uint32_t first_piece(const struct scps_sent_segment *r, uint32_t max)
{
    uint32_t data = r->len - (r->flags & SCPS_SENT_FIN ? 1 : 0);
    uint32_t last = max - (r->flags & SCPS_SENT_RECORD ? SCPS_RECORD_ROOM : 0);

    return data <= last ? r->len : data <= max ? last : max;
}

/* Returns how many records more than one the segment r needs if none may have more than max octets
 * of data. A segment that has arrived is not split. */
static uint32_t more_for(const struct scps_sent_segment *r, uint32_t max)
{
    struct scps_sent_segment rest = *r;
    uint32_t more = 0;

    if (r->state == SCPS_SENT_ARRIVED)
        return 0;
    for (uint32_t cut; (cut = first_piece(&rest, max)) < rest.len; more++)
        rest.len -= cut;
    return more;
}

/* Writes segment r as `more` + 1 records from index `to` on. The last of them has all that is left,
 * also if that is more than max octets. */
static void write_pieces(struct scps_scoreboard *sb, uint32_t to, struct scps_sent_segment r,
                         uint32_t more, uint32_t max)
{
    for (; more; more--, to++) {
        struct scps_sent_segment *n = scps_sb_at(sb, to);
        *n = r;
        n->len = first_piece(&r, max);
        n->flags &= (uint8_t) ~(SCPS_SENT_FIN | SCPS_SENT_RECORD);
        r.from += n->len;
        r.len -= n->len;
    }
    *scps_sb_at(sb, to) = r;
}

/* Splits the records from index `first` on into pieces of at most max octets of data, those with
 * the lowest offsets first, until the ring has `more` additional records; the last record that is
 * split may keep a longer rest, and those after it stay whole. Precondition: the ring has room for
 * them. Pieces are written from the highest index down, because each record moves to a higher index
 * only. */
static void spread(struct scps_scoreboard *sb, uint32_t first, uint32_t max, uint32_t more)
{
    uint32_t to = sb->tail + more, frontier = sb->frontier == sb->tail ? to : sb->frontier;
    /* The records from index `first` up to `part`, exclusive, are split into as many pieces of at
     * most max octets as they need, the record `part` into `left` + 1 pieces, and no later record
     * is. */
    uint32_t part = first, left = more, n;

    for (; left && (n = more_for(scps_sb_at(sb, part), max)) <= left; part++)
        left -= n;
    for (uint32_t i = sb->tail; i != first;) {
        const struct scps_sent_segment r = *scps_sb_at(sb, --i);
        n = i == part ? left : scps_sb_before(i, part) ? more_for(&r, max) : 0;
        to -= n + 1;
        write_pieces(sb, to, r, n, max);
        if (i == sb->frontier)
            frontier = to;
    }
    sb->tail += more;
    sb->frontier = frontier;
}

/* Returns true if a comes after b in the queue of retransmissions. */
static bool resent_later(struct scps_resent a, struct scps_resent b)
{
    return a.xseq == b.xseq ? scps_sb_before(b.idx, a.idx) : scps_sb_before(b.xseq, a.xseq);
}

/* Sorts the queue of retransmissions v by the time of sending. Shell's sort needs no memory, and is
 * fast where the queue, which is in order of offset, is nearly in that order already. */
static void sort_resent(struct scps_resent *v, uint32_t n)
{
    for (uint32_t gap = n / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < n; i++) {
            const struct scps_resent e = v[i];
            uint32_t k = i;
            for (; k >= gap && resent_later(v[k - gap], e); k -= gap)
                v[k] = v[k - gap];
            v[k] = e;
        }
}

/* Rebuilds the heap of lost records and the queue of retransmissions, which refer to records by
 * their indices, after the indices have changed. */
static void renumber(struct scps_scoreboard *sb)
{
    sb->nlost = sb->resent_head = sb->resent_tail = 0;
    sb->run_from = sb->run_to = 0;
    for (uint32_t i = sb->head; i != sb->tail; i++) {
        struct scps_sent_segment *r = scps_sb_at(sb, i);
        r->skip = i + 1;
        scps_sb_mark(r, SCPS_SENT_QUEUED, false);
        if (r->state == SCPS_SENT_LOST)
            scps_sb_queue_lost(sb, i);
        else if (r->state == SCPS_SENT_FLIGHT && r->resends)
            scps_sb_queue_resent(sb, i, r->xseq);
    }
    sort_resent(sb->resent, sb->resent_tail);
}

void scps_sb_resegment(struct scps_scoreboard *sb, const struct scps_alloc *a, uint32_t first,
                       uint32_t max)
{
    uint32_t more = 0;

    for (uint32_t i = first; i != sb->tail; i++)
        more += more_for(scps_sb_at(sb, i), max);
    while (more > sb->mask + 1 - scps_sb_count(sb) && !scps_sb_grow(sb, a))
        ;
    more = SCPS_MIN(more, sb->mask + 1 - scps_sb_count(sb));
    if (!more)
        return;
    spread(sb, first, max, more);
    renumber(sb);
}

/* Returns true if the scoreboard records a and b of two lost segments, which follow each other in
 * the stream, may be joined, to be resent as one segment of at most max octets. A segment stays
 * alone if its data ends a record of the application, if it has SYN or FIN, if it is a window
 * probe, or if its latest transmission carried only its first octets (SCPS_SENT_CUT: the path MTU
 * had fallen, and there was no memory to split the segment). */
static bool may_join(const struct scps_sent_segment *a, const struct scps_sent_segment *b,
                     uint32_t max)
{
    const uint8_t alone = SCPS_SENT_SYN | SCPS_SENT_FIN | SCPS_SENT_PROBE | SCPS_SENT_CUT;

    return a->state == SCPS_SENT_LOST && b->state == SCPS_SENT_LOST && a->len + b->len <= max &&
           !((a->flags | b->flags) & (alone | SCPS_SENT_RECORD));
}

void scps_sb_join_lost(struct scps_scoreboard *sb, uint32_t max)
{
    uint32_t to = sb->head;

    for (uint32_t i = to + 1; scps_sb_before(i, sb->tail); i++) {
        struct scps_sent_segment *last = scps_sb_at(sb, to), *next = scps_sb_at(sb, i);
        if (may_join(last, next, max)) {
            /* The joined record keeps the times of `next`, the part with the higher offsets. */
            next->from = last->from;
            next->len += last->len;
            next->resends = SCPS_MAX(last->resends, next->resends);
            next->flags |= last->flags & SCPS_SENT_APP_LIMITED;
        } else {
            to++;
        }
        *scps_sb_at(sb, to) = *next;
        if (i == sb->frontier)
            sb->frontier = to;
    }
    if (!scps_sb_before(to + 1, sb->tail))
        return; /* Nothing was joined. */
    if (sb->frontier == sb->tail)
        sb->frontier = to + 1;
    sb->tail = to + 1;
    renumber(sb);
}
