/* SPDX-License-Identifier: MIT */
/* Finds the connection of a packet.
 *
 * Flows are in slabs that never move; a chained hash finds them by addresses and ports, the same
 * from either end. The hash is keyed with random bytes, so that nobody can make a capture in which
 * all flows are in one chain. Connections with recent packets are found by comparing octets of the
 * IPv4 packet, without the hash.
 *
 * A later connection may use the same addresses and ports. docs/SCPS_TRACE.md, "When a connection
 * begins", has the rules for a new connection. Silence alone begins a new one only if the
 * configuration says so: a space link may be silent for an hour and then continue.
 *
 * Memory: every byte that a flow uses is counted. When the limit is reached, the next 64 flows in a
 * circular order are examined, and one of them is reported and discarded: of the closed flows, or
 * of all if none is closed, the one idle for longest.
 */
#include "trace/flow.h"

#include <stdlib.h>

#include "base/prng.h"
#include "base/wide.h"
#include "trace/parse.h"
#include "trace/why.h"

#define DEFAULT_MEMORY ((uint64_t)2 << 30)

/* ---- functions that hash addresses and ports ---- */

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    struct scps_product m = scps_mul(a, b);
    return m.lo ^ m.hi;
}

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Returns the hash of address and port of one end of a connection. The hash of the connection is
 * the sum of the hashes of its two ends, so packets of both directions have the same hash. */
static inline uint64_t hash_end(const struct scps_trace *t, const uint8_t *addr, uint16_t port,
                                bool v6)
{
    uint64_t h = fold(load64(addr) ^ t->seed[0], (uint64_t)port ^ t->seed[1]);
    if (v6)
        h = fold(load64(addr + 8) ^ h, t->seed[1]);
    return h;
}

static inline uint32_t hash_key(const struct scps_trace *t, const struct flow_key *k)
{
    bool v6 = k->version == 6;
    uint64_t h = hash_end(t, k->a, k->pa, v6) + hash_end(t, k->b, k->pb, v6);
    h = fold(h ^ t->seed[0], 0x9e3779b97f4a7c15u);
    return (uint32_t)(h >> 32);
}

static inline bool addr_eq(const uint8_t *x, const uint8_t *y)
{
    return load64(x) == load64(y) && load64(x + 8) == load64(y + 8);
}

/* Returns the direction of packet k: 0: from key.a to key.b; 1: from key.b to key.a; -1: k belongs
 * to another connection. */
static inline int which_dir(const struct flow_key *key, const struct flow_key *k)
{
    if (key->version != k->version)
        return -1;
    if (key->pa == k->pa && key->pb == k->pb && addr_eq(key->a, k->a) && addr_eq(key->b, k->b))
        return 0;
    if (key->pa == k->pb && key->pb == k->pa && addr_eq(key->a, k->b) && addr_eq(key->b, k->a))
        return 1;
    return -1;
}

static void unlist(struct scps_trace *t, struct flow *f, uint32_t idx)
{
    if (!f->listed)
        return;
    uint32_t *at = &t->bucket[f->hash & (t->nbucket - 1)];
    while (*at != idx)
        at = &scps_tr_flow(t, *at)->next;
    *at = f->next;
    f->listed = false;
}

static bool rehash(struct scps_trace *t)
{
    uint32_t n = t->nbucket ? t->nbucket * 2 : 1024;
    uint32_t *b = scps_tr_alloc(t, (size_t)n * sizeof *b);
    if (!b)
        return false;
    memset(b, 0xff, (size_t)n * sizeof *b);
    scps_tr_free(t, t->bucket, (size_t)t->nbucket * sizeof *b);
    t->bucket = b;
    t->nbucket = n;
    for (uint32_t i = 0; i < t->nflows; i++) {
        struct flow *f = scps_tr_flow(t, i);
        if (f->used && f->listed) {
            f->next = b[f->hash & (n - 1)];
            b[f->hash & (n - 1)] = i;
        }
    }
    return true;
}

/* ---- functions that create connections, and remove them for lack of memory ---- */

void scps_tr_flow_reset(struct scps_trace *t, struct flow *f)
{
    for (int d = 0; d < 2; d++) {
        struct conn_dir *h = &f->h[d];
        scps_tr_segs_free(t, h);
        scps_tr_hist_free(t, &h->rtt_hist);
        scps_tr_hist_free(t, &h->tsrtt_hist);
        scps_tr_why_free(t, h);
        scps_tr_free(t, h->rounds, h->caprounds * sizeof *h->rounds);
        scps_tr_free(t, h->rare, sizeof *h->rare);
        h->rare = NULL;
        h->rounds = NULL;
        h->caprounds = h->nrounds = 0;
    }
}

void scps_tr_flows_free(struct scps_trace *t)
{
    for (uint32_t i = 0; i < t->nflows; i++)
        if (scps_tr_flow(t, i)->used)
            scps_tr_flow_reset(t, scps_tr_flow(t, i));
    for (uint32_t i = 0; i < t->nslab; i++)
        scps_tr_free(t, t->slab[i], SLAB * sizeof **t->slab);
    scps_tr_free(t, t->slab, t->capslab * sizeof *t->slab);
    scps_tr_free(t, t->bucket, (size_t)t->nbucket * sizeof *t->bucket);
    scps_tr_free(t, t->order, (size_t)t->live * sizeof *t->order);
}

static bool is_closed(const struct flow *f)
{
    return (f->h[0].fin_count && f->h[1].fin_count) || f->h[0].rst_count || f->h[1].rst_count;
}

/* Removes one connection from memory, to make room for another; before that passes its report to
 * the caller's function on_evict. Of the next 64 connections in memory (t->hand is the place of the
 * search) it takes the one whose last packet is oldest, but a closed one if there is any. Returns
 * false if no connection is in memory. */
static bool evict(struct scps_trace *t)
{
    uint32_t best = FLOW_NONE;
    bool best_closed = false;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < t->nflows && seen < 64; i++) {
        uint32_t at = t->hand;
        t->hand = t->hand + 1 >= t->nflows ? 0 : t->hand + 1;
        struct flow *f = scps_tr_flow(t, at);
        if (!f->used)
            continue;
        seen++;
        bool closed = is_closed(f);
        if (best == FLOW_NONE || (closed && !best_closed) ||
            (closed == best_closed && f->last < scps_tr_flow(t, best)->last)) {
            best = at;
            best_closed = closed;
        }
    }
    if (best == FLOW_NONE)
        return false;
    struct flow *f = scps_tr_flow(t, best);
    t->tot.evicted++;
    if (t->cfg.on_evict) {
        struct scps_trace_conn c;
        scps_tr_report(t, f, &c);
        c.evicted = true;
        t->cfg.on_evict(t->cfg.ctx, &c);
    }
    unlist(t, f, best);
    scps_tr_flow_reset(t, f);
    f->used = false;
    f->next = t->free;
    t->free = best;
    t->live--;
    if (t->last_flow == best)
        t->last_flow = FLOW_NONE;
    return true;
}

/* Allocates a slab, a block of SLAB flows that never moves. Returns false if there is no memory. */
static bool add_slab(struct scps_trace *t)
{
    if (t->nslab == t->capslab) {
        uint32_t cap = t->capslab ? t->capslab * 2 : 16;
        void *p = scps_tr_grow(t, t->slab, t->capslab * sizeof *t->slab, cap * sizeof *t->slab);
        if (!p)
            return false;
        t->slab = p;
        t->capslab = cap;
    }
    t->slab[t->nslab] = scps_tr_alloc(t, SLAB * sizeof **t->slab);
    if (!t->slab[t->nslab])
        return false;
    t->nslab++;
    return true;
}

/* Returns the index of a free struct flow for a new connection. If the limit of memory or of
 * connections is reached, other connections are removed first. FLOW_NONE: there is no memory. */
static uint32_t take_slot(struct scps_trace *t)
{
    uint64_t limit = t->cfg.max_memory ? t->cfg.max_memory : DEFAULT_MEMORY;
    uint64_t need = sizeof(struct flow);
    while ((t->cfg.max_conns && t->live >= t->cfg.max_conns) || t->mem + need > limit)
        if (t->live < 2 || !evict(t))
            break;
        /* A struct flow is free after the eviction, and its memory is counted against the limit
         * already. So the new connection takes it, and no further connection is evicted. */
        else if (t->free != FLOW_NONE && (!t->cfg.max_conns || t->live < t->cfg.max_conns))
            break;
    if (t->free != FLOW_NONE) {
        uint32_t i = t->free;
        t->free = scps_tr_flow(t, i)->next;
        return i;
    }
    if (t->nflows == t->nslab * SLAB && !add_slab(t))
        return FLOW_NONE;
    return t->nflows++;
}

static void quick_keys(struct flow *f)
{
    const struct flow_key *k = &f->key;
    for (int d = 0; d < 2; d++) {
        uint8_t b[12];
        memcpy(b, d ? k->b : k->a, 4);
        memcpy(b + 4, d ? k->a : k->b, 4);
        scps_put16(b + 8, d ? k->pb : k->pa);
        scps_put16(b + 10, d ? k->pa : k->pb);
        memcpy(&f->quick[d].addrs, b, 8);
        memcpy(&f->quick[d].ports, b + 8, 4);
        f->quick[d].any = 1;
    }
}

static struct flow *flow_new(struct scps_trace *t, const struct flow_key *k, uint32_t hash)
{
    uint32_t i = take_slot(t);
    if (i == FLOW_NONE)
        return NULL;
    struct flow *f = scps_tr_flow(t, i);
    if (t->live >= t->nbucket && !rehash(t)) {
        f->used = false;
        f->next = t->free;
        t->free = i;
        return NULL;
    }
    memset(f, 0, sizeof *f);
    f->key = *k;
    if (k->version == 4)
        quick_keys(f);
    f->hash = hash;
    f->number = ++t->tot.conns;
    f->index = i;
    f->used = f->listed = true;
    f->before = FLOW_NONE;
    f->first = t->now;
    f->last = t->now;
    f->spent_at = t->now;
    uint32_t *b = &t->bucket[hash & (t->nbucket - 1)];
    f->next = *b;
    *b = i;
    t->live++;
    t->last_flow = i;
    return f;
}

/* Returns true if a SYN with sequence number seq in direction h cannot belong to the connection
 * recorded so far: seq is beyond the window that the other end (o) announced, or before the
 * sequence number of the SYN seen. */
static bool is_foreign(const struct conn_dir *h, const struct conn_dir *o, uint32_t seq)
{
    return (o->ack_hi && (int32_t)(seq - (uint32_t)o->win_edge) > 0) ||
           (h->syn_count && (int32_t)(seq - h->syn) < 0);
}

/* Returns true if a SYN in direction h with these flags and this acknowledgement number is the
 * first answer to the SYN of the other direction. A reset may have come before it: that of a port
 * that was closed until the SYN was retransmitted, one that somebody else sent, or the one by which
 * the end that sent the SYN closes an old half-open connection (RFC 9293 section 3.5.1). */
static bool answers_syn(const struct conn_dir *h, const struct conn_dir *o, uint16_t flags,
                        uint32_t ack)
{
    return flags & SCPS_ACK && !h->syn_count && o->syn_count && ack == o->syn + 1;
}

/* Returns true if s, a SYN captured in direction h of connection f, begins a new connection on the
 * same addresses and ports. */
static bool begins_anew(const struct flow *f, const struct conn_dir *h, const struct conn_dir *o,
                        const struct segment *s)
{
    const bool reset = h->rst_count || o->rst_count;
    const uint16_t flags = s->flags;
    const uint32_t seq = s->seq;
    if ((h->syn_count && h->syn == seq) || answers_syn(h, o, flags, s->ack))
        return false;
    /* No SYN of this direction was captured before, and the sequence number of this one is just
     * below the first number captured (h->isn64): it is the SYN of connection f, captured late. */
    if (!h->syn_count && h->packets && seq + 1 == (uint32_t)h->isn64)
        return false;
    /* Connection f is closed, so both ends may use its ports again (RFC 9293 section 3.10.7.4), and
     * the SYN begins a new connection (true). The ISN of that may be within the window of f,
     * because ISNs grow with time (RFC 6528 section 3). The exception (false) is a SYN below the
     * peer's SEG.ACK when no packet of this direction was captured: the SYN of f itself, captured
     * late. */
    if (reset || (h->fin_count && o->fin_count))
        return h->packets || !o->ack_hi || (int32_t)(seq - (uint32_t)o->ack_hi) >= 0;
    if (h->syn_count > 1 || ((h->fin_count || o->fin_count) && is_foreign(h, o, seq)))
        return true;
    const bool only_syns = f->packets <= h->syn_count + o->syn_count;
    /* Only the packets of the end that accepts were captured, and the SYN-ACK acknowledges another
     * SYN than the one before (o->isn64 has the first acknowledgement number of h). */
    if (flags & SCPS_ACK && h->syn_count && !o->packets && !only_syns &&
        s->ack != (uint32_t)o->isn64)
        return true;
    /* The capture shows no close of connection f. The SYN begins a new connection (true) if an end
     * has lost f in a crash (RFC 9293 section 3.5.1), or the capture lacks its close. The SYN
     * counts as a part of f (false) if it has ACK, since it may be a SYN cookie of the same
     * handshake, if only SYNs were captured before, or if it may be the SYN of f, captured late: it
     * is the first one of direction h, and nothing else of this direction was captured, or only
     * data above it. */
    if (flags & SCPS_ACK || only_syns)
        return false;
    return h->syn_count || (h->packets && (int32_t)(seq - (uint32_t)h->isn64) >= 0);
}

/* Returns true if segment s of direction dir, on the addresses and ports of f, does not belong to f
 * but begins a new connection. */
static inline bool is_successor(const struct scps_trace *t, const struct flow *f, int dir,
                                const struct segment *s)
{
    if (TR_UNLIKELY(t->cfg.idle_split > 0 && t->now - f->last > t->cfg.idle_split))
        return true;
    if (TR_LIKELY(!(s->flags & SCPS_SYN)))
        return false;
    return begins_anew(f, &f->h[dir], &f->h[!dir], s);
}

/* Called when a SYN has begun the connection f on the addresses and ports of the connection `old`.
 * If that was not closed and the SYN has no ACK, `old` may continue: the host that the SYN reaches
 * may still have `old` and answer with an acknowledgement for it, which the SYN's sender answers by
 * a reset (RFC 9293 section 3.5.1), or the SYN may be an old duplicate. Then f->before is set to
 * `old`: until the SYN is answered, whose() assigns other segments on these ports to `old`. */
static void expect_more_of(struct flow *f, const struct flow *old, uint16_t flags)
{
    const struct conn_dir *h = old->h;
    const bool closed = h[0].rst_count || h[1].rst_count || (h[0].fin_count && h[1].fin_count);
    if (closed || (flags & (SCPS_SYN | SCPS_ACK)) != SCPS_SYN)
        return;
    f->before = old->index;
    f->before_number = old->number;
}

/* Called while the SYN of connection f is not answered. Returns the connection to which a packet on
 * the ports of f belongs: f, or the one before f on the same ports. dir: direction of the packet in
 * f; 0 is that of the SYN. */
static struct flow *whose(const struct scps_trace *t, struct flow *f, int dir, uint16_t flags,
                          uint32_t seq)
{
    struct flow *old = scps_tr_flow(t, f->before);
    const uint32_t off = seq - f->h[0].syn;
    if (dir == 0 && flags & SCPS_SYN)
        return f;
    /* Until the SYN of f is answered, packets belong to `old`, the earlier connection on the same
     * ports; from then on all belong to f. The answer is a SYN or a reset in the opposite
     * direction. If only the direction of the SYN is captured, a segment of this direction shows
     * that it was answered, if its sequence number is at most 65535 above that of the SYN. */
    if (!old->used || old->number != f->before_number ||
        (dir == 1 ? flags & (SCPS_SYN | SCPS_RST) : off > 0 && off <= UINT16_MAX))
        f->before = FLOW_NONE;
    return f->before == FLOW_NONE ? f : old;
}

struct flow *scps_tr_flow_find(struct scps_trace *t, const struct flow_key *k,
                               const struct segment *s, int *dir)
{
    uint32_t idx = t->last_flow;
    struct flow *f = NULL;
    int d = -1;
    uint32_t hash = 0;
    if (idx != FLOW_NONE) {
        f = scps_tr_flow(t, idx);
        d = f->listed ? which_dir(&f->key, k) : -1;
        hash = f->hash;
    }
    if (d < 0) {
        hash = hash_key(t, k);
        idx = t->nbucket ? t->bucket[hash & (t->nbucket - 1)] : FLOW_NONE;
        for (; idx != FLOW_NONE; idx = f->next) {
            f = scps_tr_flow(t, idx);
            if (f->hash == hash && (d = which_dir(&f->key, k)) >= 0)
                break;
        }
    }
    if (d >= 0) {
        struct flow *own = f;
        if (TR_UNLIKELY(is_successor(t, f, d, s))) {
            unlist(t, f, idx);
            *dir = 0;
            own = flow_new(t, k, hash);
            if (own && own != f && f->used)
                expect_more_of(own, f, s->flags);
            return own;
        }
        if (TR_UNLIKELY(f->before != FLOW_NONE))
            own = whose(t, f, d, s->flags, s->seq);
        t->last_flow = idx;
        if (TR_LIKELY(f->before == FLOW_NONE))
            t->recent[scps_tr_recent(&f->quick[d])] = (struct recent){.f = f, .dir = d};
        *dir = own == f ? d : which_dir(&own->key, k);
        return own;
    }
    *dir = 0;
    return flow_new(t, k, hash);
}
