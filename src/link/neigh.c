/* SPDX-License-Identifier: MIT */
/* State machine of the neighbour cache. Source: RFC 4861 sections 7.2 and 7.3, appendix C. */
#include "link/neigh.h"

#include <string.h>

#include "base/bytes.h"

struct scps_nbr *scps_nbr_find(struct scps_nbrs *t, const struct scps_addr *a)
{
    for (struct scps_nbr *n = t->v; n < t->v + t->cfg->neighbours; n++)
        if (n->state != NBR_FREE && scps_addr_equal(&n->addr, a))
            return n;
    return NULL;
}

/* Returns the entry that a new one replaces: a free one, else the one not used for longest. */
static struct scps_nbr *replaceable(const struct scps_nbrs *t)
{
    struct scps_nbr *n = t->v;

    for (struct scps_nbr *i = t->v; i < t->v + t->cfg->neighbours && n->state != NBR_FREE; i++)
        if (i->state == NBR_FREE || i->used < n->used)
            n = i;
    return n;
}

static void begin(struct scps_nbr *n, const struct scps_addr *a, scps_time now, uint64_t used)
{
    n->addr = *a;
    n->state = NBR_INCOMPLETE;
    n->tries = 0;
    n->when = now;
    n->used = used;
    n->held_len = 0;
}

struct scps_nbr *scps_nbr_add(struct scps_nbrs *t, const struct scps_addr *a, scps_time now,
                              bool *lost)
{
    struct scps_nbr *n = replaceable(t);

    *lost = n->state != NBR_FREE && n->held_len;
    begin(n, a, now, ++t->uses);
    return n;
}

struct scps_nbr *scps_nbr_add_asking(struct scps_nbrs *t, const struct scps_addr *a, scps_time now)
{
    struct scps_nbr *n = replaceable(t);

    if (n->state != NBR_FREE && n->used)
        return NULL;
    begin(n, a, now, 0);
    return n;
}

void scps_nbr_use(struct scps_nbrs *t, struct scps_nbr *n, scps_time now)
{
    n->used = ++t->uses;
    if (n->state == NBR_STALE) {
        n->state = NBR_DELAY;
        n->when = now + t->cfg->delay;
    }
}

void scps_nbr_learn(struct scps_nbrs *t, struct scps_nbr *n, const uint8_t mac[6], bool solicited,
                    scps_time now)
{
    bool same = n->state != NBR_INCOMPLETE && memcmp(n->mac, mac, 6) == 0;

    if (!solicited && same)
        return;
    memcpy(n->mac, mac, 6);
    n->tries = 0;
    n->state = solicited ? NBR_REACHABLE : NBR_STALE;
    n->when = solicited ? now + t->cfg->reachable : SCPS_NEVER;
}

struct scps_nbr *scps_nbr_due(struct scps_nbrs *t, scps_time now)
{
    for (struct scps_nbr *n = t->v; n < t->v + t->cfg->neighbours; n++) {
        if (n->state == NBR_FREE || n->when > now)
            continue;
        switch (n->state) {
        case NBR_REACHABLE:
            n->state = NBR_STALE;
            n->when = SCPS_NEVER;
            continue;
        case NBR_DELAY:
            n->state = NBR_PROBE;
            break;
        default:
            break;
        }
        if (n->tries++ == t->cfg->tries) {
            n->state = NBR_FREE;
            return n;
        }
        n->when = now + t->cfg->retransmit;
        return n;
    }
    return NULL;
}

scps_time scps_nbr_deadline(const struct scps_nbrs *t)
{
    scps_time first = SCPS_NEVER;

    for (const struct scps_nbr *n = t->v; n < t->v + t->cfg->neighbours; n++)
        if (n->state != NBR_FREE)
            first = SCPS_MIN(first, n->when);
    return first;
}
