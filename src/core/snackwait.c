/* SPDX-License-Identifier: MIT */
/* Postponed holes: ranges that the peer's SNACKs have reported missing, and whose segments the
 * sender declares lost only after snack_delay or the reordering window, since they may only be
 * late. They are stored in a ring in the order in which they become due, which is that of the
 * reports; an index of the ring is sorted by offset.
 *
 * Whether a newly reported hole lies within a postponed one is found in the index by bisection. The
 * index has only the holes that lie within no other one, so both their beginnings and their ends
 * ascend. When a new hole contains an older one, the older one is removed from the index, but not
 * from the ring: it becomes due before the new one, so the index never needs it again. An entry of
 * the index is one octet, so that inserting moves 255 octets at most.
 */
#include "core/snackwait.h"

#include <string.h>

#include "base/bytes.h"

bool scps_snackwait_reserve(struct scps_snackwait *w, const struct scps_alloc *a)
{
    if (!w->room)
        w->room = a->alloc(a->ctx, sizeof *w->room);
    return w->room && w->n < SCPS_SNACKWAIT_MAX;
}

static const struct scps_snackwait_hole *sorted_hole(const struct scps_snackwait *w, unsigned pos)
{
    return &w->room->hole[w->room->sorted[pos]];
}

/* Returns how many postponed holes (reported missing by the peer's SNACKs, but declared lost only
 * later) in the sorted index begin below offset `from`. The index has those that lie within no
 * other one. */
static unsigned count_below(const struct scps_snackwait *w, scps_off from)
{
    unsigned lo = 0, hi = w->nsorted;

    /* A postponed hole is one that a SNACK has reported, but whose segments the sender declares
     * lost only later (snack_delay, reordering window). Peers report holes in ascending order, and
     * data sent later is missing later, so most new holes begin above all postponed ones. */
    if (!hi || sorted_hole(w, hi - 1)->from < from)
        return hi;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (sorted_hole(w, mid)->from < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool scps_snackwait_covers(const struct scps_snackwait *w, scps_off from, scps_off to)
{
    unsigned pos = count_below(w, from + 1);

    return pos && to <= sorted_hole(w, pos - 1)->to;
}

/* Replaces `gone` entries of the index, from pos on, by `added` entries whose values the caller
 * sets. */
static SCPS_NOINLINE_SIZE void splice(struct scps_snackwait *w, unsigned pos, unsigned gone,
                                      unsigned added)
{
    uint8_t *at = w->room->sorted + pos;

    memmove(at + added, at + gone, w->nsorted - pos - gone);
    w->nsorted = (uint16_t)(w->nsorted - gone + added);
}

scps_time scps_snackwait_add(struct scps_snackwait *w, scps_off from, scps_off to, scps_time due)
{
    unsigned pos = count_below(w, from), contained = 0;
    uint8_t last = (uint8_t)(w->first + w->n - 1), next = (uint8_t)(last + 1);

    if (w->n)
        due = SCPS_MAX(due, w->room->hole[last].due);
    while (pos + contained < w->nsorted && sorted_hole(w, pos + contained)->to <= to)
        contained++;
    splice(w, pos, contained, 1);
    w->room->sorted[pos] = next;
    w->room->hole[next] = (struct scps_snackwait_hole){from, to, due};
    w->n++;
    return due;
}

scps_time scps_snackwait_due(const struct scps_snackwait *w)
{
    return w->n ? w->room->hole[w->first].due : 0;
}

struct scps_snackwait_hole scps_snackwait_take(struct scps_snackwait *w)
{
    struct scps_snackwait_hole h = w->room->hole[w->first];
    /* Peers report holes in ascending order, so the hole that was reported first, whose
     * postponement ends first, is usually the lowest one: the first entry of the index. */
    unsigned pos = w->room->sorted[0] == w->first ? 0 : count_below(w, h.from);

    if (pos < w->nsorted && w->room->sorted[pos] == w->first)
        splice(w, pos, 1, 0);
    w->first++;
    w->n--;
    return h;
}

void scps_snackwait_free(struct scps_snackwait *w, const struct scps_alloc *a)
{
    if (w->room)
        a->free(a->ctx, w->room, sizeof *w->room);
    *w = (struct scps_snackwait){0};
}
