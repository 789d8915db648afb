/* SPDX-License-Identifier: MIT */
/* Runs the state machine of each entry of the neighbour cache. Source: RFC 4861 sections 7.2 and
 * 7.3, appendix C. */
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

/* Returns the entry of the neighbour cache to which no packet was sent for the longest time.
 * unresolved: only entries in NBR_INCOMPLETE count; NULL: there is none. */
static struct scps_nbr *oldest(const struct scps_nbrs *t, bool unresolved)
{
    struct scps_nbr *n = NULL;

    for (struct scps_nbr *i = t->v; i < t->v + t->cfg->neighbours; i++)
        if ((!unresolved || i->state == NBR_INCOMPLETE) && (!n || i->used < n->used))
            n = i;
    return n;
}

static struct scps_nbr *free_entry(const struct scps_nbrs *t)
{
    for (struct scps_nbr *i = t->v; i < t->v + t->cfg->neighbours; i++)
        if (i->state == NBR_FREE)
            return i;
    return NULL;
}

/* Returns the entry that is used for a new neighbour, to which a packet is about to be sent: a free
 * one, else the one to which no packet was sent for the longest time. But if a quarter of all
 * entries is in NBR_INCOMPLETE (waits for a first reply), the oldest of these is replaced instead.
 * Any host can make this station send packets to addresses that no station has, by sending packets
 * with such source addresses. Their entries must not displace those of neighbours that reply (RFC
 * 3756 section 4.3.2 describes that attack). */
static struct scps_nbr *replaceable(const struct scps_nbrs *t)
{
    struct scps_nbr *n = free_entry(t);
    uint32_t unresolved = 0;

    if (n)
        return n;
    for (uint32_t i = 0; i < t->cfg->neighbours; i++)
        unresolved += t->v[i].state == NBR_INCOMPLETE;
    return oldest(t, unresolved && unresolved >= t->cfg->neighbours / 4);
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
    struct scps_nbr *n = free_entry(t);

    if (!n)
        n = oldest(t, false);
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
