/* SPDX-License-Identifier: MIT */
/* Finds the connection of a flow in a chained hash table. The hash has a secret key, so that an
 * attacker cannot choose flows of the same bucket. */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/wide.h"

#define FIRST_BUCKETS 64u

static inline uint64_t mix(uint64_t h, uint64_t w)
{
    struct scps_product p = scps_mul(h ^ w, UINT64_C(0x9e3779b97f4a7c15));

    return p.lo ^ p.hi;
}

static uint64_t words(uint64_t h, const struct scps_addr *a)
{
    h = mix(h, scps_get64(a->b));
    return a->family == 6 ? mix(h, scps_get64(a->b + 8)) : h;
}

static inline uint64_t ports(const struct scps_stack *st, uint64_t h, uint16_t lport,
                             uint16_t rport)
{
    return mix(mix(h, (uint64_t)lport << 16 | rport), st->env.key[1]);
}

uint64_t scps_flow_hash(const struct scps_stack *st, const struct scps_flow *f, uint64_t salt)
{
    uint64_t h = st->env.key[0] ^ salt;

    h = words(h, &f->remote);
    h = words(h, &f->local);
    return ports(st, h, f->lport, f->rport);
}

static bool same(const struct scps_addr *a, const struct scps_addr *b)
{
    return a->family == b->family && !memcmp(a->b, b->b, sizeof a->b);
}

/* Returns the connection of flow f; NULL: there is none. A connection that has ended stays in the
 * table until the application closes it; if a new connection with the same flow is opened before
 * that, the new one is returned. */
struct scps_conn *scps_demux_find(const struct scps_stack *st, const struct scps_flow *f)
{
    struct scps_conn *c, *ended = NULL;

    if (!st->buckets)
        return NULL;
    for (c = st->buckets[scps_flow_hash(st, f, 0) & st->bucket_mask]; c; c = c->hash_next) {
        if (c->rport != f->rport || c->lport != f->lport || !same(&c->remote, &f->remote) ||
            !same(&c->local, &f->local))
            continue;
        if (c->state != SCPS_CLOSED)
            return c;
        ended = c;
    }
    return ended;
}

bool scps_demux_taken(const struct scps_stack *st, const struct scps_flow *f)
{
    const struct scps_conn *c = scps_demux_find(st, f);

    return c && c->state != SCPS_CLOSED;
}

struct scps_conn *scps_demux_find4(const struct scps_stack *st, const uint8_t flow[12])
{
    const uint16_t rport = scps_get16(flow + 8), lport = scps_get16(flow + 10);
    uint64_t h = st->env.key[0];
    struct scps_conn *c;

    if (!st->buckets)
        return NULL;
    h = mix(h, (uint64_t)scps_get32(flow)
                   /* Addresses are hashed in words of 8 octets; after an IPv4 address the octets
                    * are zero. */
                   << 32);
    h = mix(h, (uint64_t)scps_get32(flow + 4) << 32);
    h = ports(st, h, lport, rport);
    for (c = st->buckets[h & st->bucket_mask]; c; c = c->hash_next)
        if (c->rport == rport && c->lport == lport && c->remote.family == 4 &&
            !memcmp(c->remote.b, flow, 4) && !memcmp(c->local.b, flow + 4, 4) &&
            c->state != SCPS_CLOSED)
            break;
    return c;
}

static struct scps_conn **bucket(struct scps_stack *st, const struct scps_conn *c)
{
    struct scps_flow f = {c->local, c->remote, c->lport, c->rport};

    return &st->buckets[scps_flow_hash(st, &f, 0) & st->bucket_mask];
}

uint32_t scps_demux_buckets(uint32_t n)
{
    uint32_t buckets = FIRST_BUCKETS;

    while (buckets < n && buckets < UINT32_C(1) << 31)
        buckets *= 2;
    return buckets;
}

static int grow(struct scps_stack *st)
{
    const struct scps_alloc *a = &st->env.alloc;
    uint32_t first = st->reserve ? scps_demux_buckets(st->cfg.max_conns) : FIRST_BUCKETS;
    uint32_t old_n = st->buckets ? st->bucket_mask + 1 : 0, n = old_n ? old_n * 2 : first;
    struct scps_conn **old = st->buckets, **b = a->alloc(a->ctx, n * sizeof *b);

    if (!b)
        /* If there is no memory for a larger table, the old one stays, with longer chains. */
        return old ? 0 : SCPS_ERR_NOMEM;
    memset(b, 0, n * sizeof *b);
    st->buckets = b;
    st->bucket_mask = n - 1;
    for (uint32_t i = 0; i < old_n; i++) {
        for (struct scps_conn *c = old[i], *next; c; c = next) {
            struct scps_conn **at = bucket(st, c);
            next = c->hash_next;
            c->hash_next = *at;
            *at = c;
        }
    }
    if (old)
        a->free(a->ctx, old, old_n * sizeof *old);
    return 0;
}

int scps_demux_add(struct scps_stack *st, struct scps_conn *c)
{
    struct scps_conn **at;

    if ((!st->buckets || st->n_conns > st->bucket_mask) && grow(st))
        return SCPS_ERR_NOMEM;
    at = bucket(st, c);
    c->hash_next = *at;
    *at = c;
    return 0;
}

void scps_demux_remove(struct scps_stack *st, struct scps_conn *c)
{
    struct scps_conn **at = bucket(st, c);

    while (*at && *at != c)
        at = &(*at)->hash_next;
    if (*at)
        *at = c->hash_next;
}

struct scps_conn *scps_demux_next(const struct scps_stack *st, const struct scps_conn *c)
{
    uint32_t i = 0;

    if (!st->buckets)
        return NULL;
    if (c) {
        struct scps_flow f = {c->local, c->remote, c->lport, c->rport};
        if (c->hash_next)
            return c->hash_next;
        i = (uint32_t)(scps_flow_hash(st, &f, 0) & st->bucket_mask) + 1;
    }
    for (; i <= st->bucket_mask; i++)
        if (st->buckets[i])
            return st->buckets[i];
    return NULL;
}
