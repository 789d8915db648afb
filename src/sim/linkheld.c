/* SPDX-License-Identifier: MIT */
/* The heap held[] of a link direction, which has the packets that do not arrive in the order in
 * which they were offered (the order of the ring, the buffer of all other packets): those delayed
 * at random (the setting `reorder`), and those that arrive before earlier ones because the delay
 * became shorter. The packet that arrives first is at the top; packets with equal arrival times
 * keep the order in which they were inserted. */
#include "sim/linkheld.h"

#include "base/bytes.h"
#include "sim/linkring.h"
#include "sim/linkstate.h"

#include <scps/error.h>
#include <string.h>

static inline bool held_before(const struct scps_link_held *a, const struct scps_link_held *b)
{
    return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

static void held_swap(struct scps_linkdir *d, uint32_t i, uint32_t k)
{
    struct scps_link_held t = d->held[i];
    d->held[i] = d->held[k];
    d->held[k] = t;
}

/* Returns the entry of the heap behind the last one in use, with a buffer for at least len bytes.
 * NULL: there is no memory. */
static SCPS_SELDOM struct scps_link_held *held_room(struct scps_linkdir *d, uint32_t len)
{
    if (d->held_n == d->held_cap) {
        uint32_t cap = d->held_cap ? d->held_cap * 2 : 16;
        struct scps_link_held *v =
            d->held_cap > UINT32_MAX / 4 ? NULL : d->alloc.alloc(d->alloc.ctx, cap * sizeof *v);
        if (!v)
            return NULL;
        if (d->held)
            memcpy(v, d->held, d->held_n * sizeof *v);
        memset(v + d->held_n, 0, (cap - d->held_n) * sizeof *v);
        scps_linkdir_give_back(d, d->held, d->held_cap * sizeof *d->held);
        d->held = v;
        d->held_cap = cap;
    }
    struct scps_link_held *h = &d->held[d->held_n];
    return scps_linkdir_room(d, &h->buf, &h->cap, len, 256) ? h : NULL;
}

SCPS_SELDOM int scps_linkheld_put(struct scps_linkdir *d, scps_time at,
                                  const struct scps_link_record *r)
{
    struct scps_link_held *h = held_room(d, r->len);
    uint32_t i;

    if (!h)
        return SCPS_ERR_NOMEM;
    h->at = at;
    h->seq = d->held_seq++;
    h->len = r->len;
    h->hollow = r->hollow;
    h->whole = r->whole;
    h->values = r->values;
    memcpy(h->buf, r + 1, r->len);
    for (i = d->held_n++; i > 0 && held_before(&d->held[i], &d->held[(i - 1) / 2]); i = (i - 1) / 2)
        held_swap(d, i, (i - 1) / 2);
    return 0;
}

SCPS_SELDOM void scps_linkheld_pop(struct scps_linkdir *d)
{
    uint32_t i = 0;

    /* The entry that was removed keeps its buffer behind the last entry in use, so that a later
     * packet can reuse it. */
    held_swap(d, 0, --d->held_n);
    for (;;) {
        uint32_t k = 2 * i + 1;
        if (k >= d->held_n)
            break;
        if (k + 1 < d->held_n && held_before(&d->held[k + 1], &d->held[k]))
            k++;
        if (!held_before(&d->held[k], &d->held[i]))
            break;
        held_swap(d, i, k);
        i = k;
    }
}

SCPS_SELDOM void scps_linkheld_move_last(struct scps_linkdir *d)
{
    struct scps_link_record *last = NULL;
    scps_time latest = 0; /* latest arrival of the packets before `last` */

    for (uint64_t pos = d->head; pos != d->line; pos = scps_linkring_behind(last, pos)) {
        pos = scps_linkring_at(d, pos);
        if (pos == d->line)
            break;
        if (last && last->at != SCPS_LINK_GONE)
            latest = SCPS_MAX(latest, last->at);
        last = scps_link_record_at(d, pos);
    }
    if (!last || last->at == SCPS_LINK_GONE)
        return;
    while (last->frame > 0 && scps_linkheld_put(d, last->at, last) == 0)
        last->frame--;
    if (last->frame > 0)
        return;
    last->at = SCPS_LINK_GONE;
    d->last_at = latest;
    scps_linkring_skip(d);
}
