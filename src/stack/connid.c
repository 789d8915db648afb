/* SPDX-License-Identifier: MIT */
/* Connection ids: the one octet that identifies a connection in a compressed header
 * (docs/SCPS-TP.md section 8.4).
 *
 * Each end chooses an id, announces it in its SYN and puts it into the headers that it sends, so a
 * table for each pair of hosts has the ids of this host (ours) and those of the peer (theirs). Ours
 * are drawn at random from 1 to 255, without those of open connections and of connections that
 * ended less than TIME-WAIT ago: a packet of the old connection that is still on its way must not
 * be taken for one of the new connection.
 *
 *                       ours[id]      at[id].rest              theirs[id]
 *      10.0.0.1         connection    not again before         connection
 *      10.0.0.2         ...
 *
 * Anybody can forge a SYN to a listener, so an id in such a SYN is never taken from an established
 * connection that uses it already: the new connection does without compression. Half-open
 * connections only claim the id of their SYN, and several may claim the same one. It becomes that
 * of the connection whose handshake is completed by an acknowledgement of this host's initial
 * sequence number. A compressed header that may do so is looked up by that number, since the SYNs
 * of all 255 claims may be forged. The same holds for a SYN that a connection in SYN-SENT gets
 * (simultaneous open, RFC 9293 section 3.5). If a connection completes its handshake, or a SYN-ACK
 * announces an id, that an older connection of the same peer still has, the older one loses the id:
 * the peer has restarted and has no such connection any more.
 *
 * Nor can forged SYNs use up the ids of this host, or the entries for pairs of hosts. When a new
 * connection finds no free id or entry, the half-open connection that was created first gives up
 * its id and is dropped. A connection that this host opens may replace a half-open connection of
 * any age; a connection that a SYN opens only one that is at least HALF_OPEN_LEAST old. The id of a
 * handshake that was never completed is free at once, because nothing of the peer was accepted
 * under it.
 *
 * A pair of hosts needs about 6.8 KiB (with pointers of 64 bits) while it has connections with
 * compression and for TIME-WAIT after; the number of pairs is limited by
 * scps_stack_config.max_comp_hosts and to what a quarter of memory_limit holds.
 *
 * Since anybody can send SYNs and compressed headers, none of them may cause a search through the
 * ids or the pairs. A ring for each pair holds the ids that are in no use: first the vacant ones,
 * then the resting ones, in the order in which they become vacant. The ids of its half-open
 * connections form a list in the order of their SYNs, and a hash table holds those that claim an id
 * of the peer. Two heaps hold the pairs that may be forgotten at some time, ordered by that time:
 * pairs without connections, and pairs that have half-open connections only.
 */
#include "stack/connid.h"

#include "base/bytes.h"
#include "base/heap.h"
#include "base/prng.h"

#include <assert.h>

#define BUCKETS         64u
#define HALF_OPEN_LEAST SCPS_SEC(3)

/* Invariant: each id from 1 to 255 is either in the ring, or ours[id] is a connection. */
struct hosts {
    /* ring of ids: `vacant` ones that may be given, then `resting` ones, the first to become vacant
     * first; ring[first] is the first of them */
    uint8_t first, vacant, resting;
    uint16_t conns, half_open; /* number of connections with an id; of these, the half-open ones */
    struct scps_heap *heap;    /* the heap of struct scps_connids that has this pair; NULL: none */
    uint32_t heap_slot;
    struct hosts *next;
    scps_time rested; /* end of the rest of all ids, µs */
    struct scps_addr local, remote;
    uint8_t ring[256];
    /* Hash table of the connections that claim an id of the peer: indexed by the lowest octet of
     * their initial sequence number, which nobody can choose. An entry is this host's id of the
     * first connection with that octet; the others follow by half.next_claim; 0: none. */
    uint8_t claims[256];
    union {
        scps_time rest; /* of a resting id: the end of its rest, µs */
        /* Of the id of a half-open connection that is in the list, and of id 0, which is both ends
         * of the list: the ids of the half-open connections whose SYNs came just before and just
         * after. next_claim: the next id in the same place of `claims`; 0: none. */
        struct {
            uint8_t older, newer, next_claim;
        } half;
    } at[256];
    /* by id: the connection for which this host has chosen the id, and the one, beyond
     * SYN-RECEIVED, for which the peer has */
    struct scps_conn *ours[256], *theirs[256];
};

struct scps_connids {
    struct hosts *bucket[BUCKETS];
    uint32_t n;
    /* pairs without connections, by the end of the rest of their ids */
    struct scps_heap idle;
    /* pairs that have half-open connections only, by the time of the first SYN of these, or by the
     * end of the rest of their ids, whichever is later */
    struct scps_heap unsure;
};

static struct hosts **slot(const struct scps_stack *st, const struct scps_addr *local,
                           const struct scps_addr *remote)
{
    struct scps_flow f = {*local, *remote, 0, 0};
    struct hosts **at = &st->ids->bucket[scps_flow_hash(st, &f, 1) % BUCKETS];

    while (*at &&
           !(scps_addr_equal(&(*at)->local, local) && scps_addr_equal(&(*at)->remote, remote)))
        at = &(*at)->next;
    return at;
}

static void remove_hosts(struct scps_stack *st, struct hosts **at)
{
    struct hosts *h = *at;

    *at = h->next;
    st->ids->n--;
    if (h->heap)
        scps_heap_remove(h->heap, h);
    st->env.alloc.free(st->env.alloc.ctx, h, sizeof *h);
}

/* Returns the connection of pair h that has been half-open for longest; NULL: none is half-open. */
static struct scps_conn *oldest(const struct hosts *h)
{
    return h->ours[h->at[0].half.newer];
}

/* Returns true if the half-open connection c may be dropped for the new connection `to`, which then
 * gets the connection id that this host has chosen for c (the octet that stands for the ports in
 * compressed headers), or the table entry of c's pair of hosts. If this host opens `to`, c may have
 * any age; if a listener creates `to`, c must be at least HALF_OPEN_LEAST and two expected round
 * trips old. */
static bool gives_way(const struct scps_conn *c, const struct scps_conn *to)
{
    scps_dur least = SCPS_MAX(HALF_OPEN_LEAST, 2 * c->s.ctx.cfg->c.expected_rtt);

    return !scps_conn_listener(to) || c->s.ctx.env->now - c->opened >= least;
}

/* Puts pair h into the heap in which it belongs, with the right key, after its connections or its
 * resting ids have changed. Frees it if it has neither. */
static SCPS_NOINLINE void arrange(struct scps_stack *st, struct hosts *h)
{
    const struct scps_conn *c = oldest(h);
    struct scps_heap *to = NULL;
    scps_time key = h->rested;

    if (!h->conns && key <= st->env.now) {
        remove_hosts(st, slot(st, &h->local, &h->remote));
        return;
    }
    if (!h->conns) {
        to = &st->ids->idle;
    } else if (h->half_open == h->conns) {
        to = &st->ids->unsure;
        /* A connection that gets its id just now has no time of its SYN yet. */
        key = SCPS_MAX(key, c->state == SCPS_SYN_RECEIVED ? c->opened : st->env.now);
    }
    if (h->heap && h->heap != to)
        scps_heap_remove(h->heap, h);
    h->heap = to;
    /* The call cannot fail, because hosts_of() has reserved memory in both heaps. */
    if (to)
        (void)scps_heap_set(to, key, h);
}

static void evict(struct scps_stack *st, struct scps_conn *c)
{
    scps_connid_release(st, c);
    scps_listener_evict(st, c);
}

/* Makes room in the table st->ids, which has an entry for each pair of hosts with header
 * compression, for the pair of c. Entries without a connection and without an id reserved by
 * TIME-WAIT were freed when c was created (scps_connid_expire()). If the table is full, drops the
 * connections of a pair that has only half-open ones, whose SYNs may be forged, and no id reserved
 * by TIME-WAIT: of these pairs the one that has been so for longest, if its oldest connection gives
 * way to c. Returns false if there is no room. */
static bool make_room(struct scps_stack *st, const struct scps_conn *c)
{
    const struct scps_connids *ids = st->ids;
    struct hosts *h;

    if (ids->n < st->cfg.max_comp_hosts && (uint64_t)ids->n * 4 * sizeof *h < st->cfg.memory_limit)
        return true;
    if (ids->unsure.min > st->env.now)
        return false;
    h = ids->unsure.v[0].item;
    if (!gives_way(oldest(h), c))
        return false;
    /* When the last one is dropped, arrange() frees h. */
    for (unsigned n = h->half_open; n; n--)
        evict(st, oldest(h));
    return true;
}

void scps_connid_expire(struct scps_stack *st)
{
    while (st->ids && st->ids->idle.min <= st->env.now)
        arrange(st, st->ids->idle.v[0].item);
}

static struct hosts *hosts_of(struct scps_stack *st, const struct scps_conn *c)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct hosts *h;
    uint32_t most;

    if (!st->ids) {
        st->ids = a->alloc(a->ctx, sizeof *st->ids);
        if (!st->ids)
            return NULL;
        memset(st->ids, 0, sizeof *st->ids);
        scps_heap_init(&st->ids->idle, a, offsetof(struct hosts, heap_slot));
        scps_heap_init(&st->ids->unsure, a, offsetof(struct hosts, heap_slot));
    }
    h = *slot(st, &c->local, &c->remote);
    if (h)
        return h;
    if (!make_room(st, c))
        return NULL;
    /* The plan of a stack with fixed memory has one block of max_conns places for each heap. */
    most = st->reserve ? st->cfg.max_conns : st->ids->n + 1;
    if (scps_heap_reserve(&st->ids->idle, most) || scps_heap_reserve(&st->ids->unsure, most) ||
        !(h = a->alloc(a->ctx, sizeof *h)))
        return NULL;
    memset(h, 0, sizeof *h);
    h->local = c->local;
    h->remote = c->remote;
    h->heap_slot = SCPS_HEAP_NONE;
    h->vacant = 255;
    for (unsigned i = 0; i < 255; i++)
        h->ring[i] = (uint8_t)(i + 1);
    *slot(st, &c->local, &c->remote) = h;
    st->ids->n++;
    return h;
}

/* Returns a number from 0 to n - 1 that an attacker cannot guess. n: at most 255 */
static uint8_t draw(const struct scps_stack *st, const struct scps_conn *c, unsigned n)
{
    uint8_t msg[13] = {'i'};

    scps_put32(msg + 1, c->s.snd.iss);
    scps_put16(msg + 5, c->lport);
    scps_put16(msg + 7, c->rport);
    scps_put32(msg + 9, c->s.ctx.id);
    return (uint8_t)((uint32_t)scps_siphash(st->env.key, msg, sizeof msg) % n);
}

/* Returns where ring h->ring has its entry number i, counted from the first vacant id. */
static uint8_t *entry(struct hosts *h, unsigned i)
{
    return &h->ring[(uint8_t)(h->first + i)];
}

/* Makes those of the resting ids of h vacant whose rest has ended. */
static void end_rests(struct hosts *h, scps_time now)
{
    while (h->resting && h->at[*entry(h, h->vacant)].rest <= now) {
        h->vacant++;
        h->resting--;
    }
}

/* Takes one of the vacant ids out of the ring of h, the octet that this host announces in its SYN
 * and puts into each compressed header to the peer instead of ports: one that this host uses for no
 * connection between the two hosts of h now, and has not used within TIME-WAIT. c: the connection
 * that gets it. Precondition: h has a vacant id. */
static uint8_t take(const struct scps_stack *st, struct hosts *h, const struct scps_conn *c)
{
    uint8_t *at = entry(h, draw(st, c, h->vacant)), id = *at;

    *at = h->ring[h->first++];
    h->vacant--;
    return id;
}

/* Puts id into the ring of h. until: the end of its rest, µs; if that is not after now, the id is
 * vacant at once. */
static void put_back(struct hosts *h, uint8_t id, scps_time until, scps_time now)
{
    unsigned n = h->vacant + h->resting;

    if (until <= now) {
        h->vacant++;
        h->ring[--h->first] = id;
        return;
    }
    /* Only connections with different values of time_wait make ids rest out of the order of their
     * release. */
    for (; n > h->vacant && h->at[*entry(h, n - 1)].rest > until; n--)
        *entry(h, n) = *entry(h, n - 1);
    *entry(h, n) = id;
    h->resting++;
    h->at[id].rest = until;
    h->rested = SCPS_MAX(h->rested, until);
}

/* Appends c, which has just got its id, to the list of the half-open connections of h. */
static void add_half_open(struct hosts *h, struct scps_conn *c)
{
    uint8_t id = c->s.tp->conn_id, last = h->at[0].half.older;

    h->at[id].half.older = last;
    h->at[id].half.newer = 0;
    h->at[last].half.newer = h->at[0].half.older = id;
    h->half_open++;
    c->s.tp->half_open = true;
}

/* Removes c from the list of the half-open connections of h, if it is in it. */
static void remove_half_open(struct hosts *h, struct scps_conn *c)
{
    uint8_t older, newer;

    if (!c->s.tp->half_open)
        return;
    older = h->at[c->s.tp->conn_id].half.older;
    newer = h->at[c->s.tp->conn_id].half.newer;
    h->at[older].half.newer = newer;
    h->at[newer].half.older = older;
    h->half_open--;
    c->s.tp->half_open = false;
}

bool scps_connid_give(struct scps_stack *st, struct scps_conn *c)
{
    struct hosts *h = hosts_of(st, c);

    if (!h)
        return false;
    if (scps_conn_need_tp(&c->s)) {
        arrange(st, h);
        return false;
    }
    end_rests(h, st->env.now);
    if (!h->vacant) {
        struct scps_conn *old = oldest(h);
        if (!old || !gives_way(old, c))
            return false;
        evict(st, old);
    }
    c->s.tp->conn_id = take(st, h, c);
    h->ours[c->s.tp->conn_id] = c;
    h->conns++;
    if (scps_conn_listener(c))
        add_half_open(h, c);
    arrange(st, h);
    scps_tp_comp_begin(c->s.tp, c->s.tp->conn_id);
    return true;
}

/* Returns the place of the table h->claims, or of the list there, that holds this host's id of c.
 * Precondition: c claims an id of the peer. */
static uint8_t *claim_of(struct hosts *h, const struct scps_conn *c)
{
    uint8_t *at = &h->claims[(uint8_t)c->s.snd.iss];

    for (; *at != c->s.tp->conn_id; at = &h->at[*at].half.next_claim)
        assert(*at);
    return at;
}

/* Lets c claim the peer's id that its SYN has announced. */
static void claim(struct hosts *h, struct scps_conn *c)
{
    uint8_t own = c->s.tp->conn_id, *first = &h->claims[(uint8_t)c->s.snd.iss];

    h->at[own].half.next_claim = *first;
    *first = own;
    c->s.tp->heard = c->s.tp->claims = true;
}

/* Takes the peer's id from c, which has it or claims it. */
static void lose_peer_id(struct hosts *h, struct scps_conn *c)
{
    if (c->s.tp->claims) {
        uint8_t *at = claim_of(h, c);
        *at = h->at[*at].half.next_claim;
    } else {
        h->theirs[c->s.tp->peer_id] = NULL;
    }
    c->s.tp->heard = c->s.tp->claims = false;
}

/* Makes c the one connection of the peer's id that its SYN has announced. */
static void own_peer_id(struct hosts *h, struct scps_conn *c)
{
    if (h->theirs[c->s.tp->peer_id])
        lose_peer_id(h, h->theirs[c->s.tp->peer_id]);
    c->s.tp->heard = true;
    h->theirs[c->s.tp->peer_id] = c;
}

/* c: a connection for which the peer has chosen a connection id. Returns true if no SYN may take
 * the id from c: in all states but CLOSED and TIME-WAIT. */
static bool holds(const struct scps_conn *c)
{
    return c->state != SCPS_CLOSED && c->state != SCPS_TIME_WAIT;
}

bool scps_connid_heard(struct scps_stack *st, struct scps_conn *c, uint8_t id, bool sure)
{
    struct hosts *h = *slot(st, &c->local, &c->remote);
    const struct scps_conn *was = h->theirs[id];

    if (scps_conn_listener(c) && was && holds(was))
        return false;
    if (c->s.tp->heard)
        lose_peer_id(h, c);
    scps_tp_peer_id(c->s.tp, id);
    if (sure) {
        own_peer_id(h, c);
        return true;
    }
    claim(h, c);
    return true;
}

void scps_connid_renumber(struct scps_stack *st, struct scps_conn *c, uint32_t iss)
{
    struct hosts *h = c->s.tp && c->s.tp->claims ? *slot(st, &c->local, &c->remote) : NULL;

    if (h)
        lose_peer_id(h, c);
    scps_send_begin(&c->s.snd, iss);
    if (h)
        claim(h, c);
}

void scps_connid_established(struct scps_stack *st, struct scps_conn *c)
{
    struct hosts *h;

    if (!c->s.tp || !(c->s.tp->half_open || c->s.tp->claims))
        return;
    h = *slot(st, &c->local, &c->remote);
    if (c->s.tp->claims) {
        lose_peer_id(h, c);
        own_peer_id(h, c);
    }
    remove_half_open(h, c);
    arrange(st, h);
}

void scps_connid_release(struct scps_stack *st, struct scps_conn *c)
{
    struct hosts *h;
    scps_time until = st->env.now;

    if (!c->s.tp->conn_id)
        return;
    h = *slot(st, &c->local, &c->remote);
    h->ours[c->s.tp->conn_id] = NULL;
    if (c->s.tp->heard)
        lose_peer_id(h, c);
    remove_half_open(h, c);
    if (c->s.established || c->notify.active)
        until += c->s.ctx.cfg->c.time_wait;
    put_back(h, c->s.tp->conn_id, until, st->env.now);
    h->conns--;
    c->s.tp->conn_id = 0;
    arrange(st, h);
}

struct scps_conn *scps_connid_find(const struct scps_stack *st, const struct scps_addr *local,
                                   const struct scps_addr *remote, uint8_t id, bool ours)
{
    const struct hosts *h = st->ids ? *slot(st, local, remote) : NULL;

    return !h ? NULL : ours ? h->ours[id] : h->theirs[id];
}

struct scps_conn *scps_connid_claimant(const struct scps_stack *st, const struct scps_addr *local,
                                       const struct scps_addr *remote, uint8_t id, uint32_t ack)
{
    const struct hosts *h = st->ids ? *slot(st, local, remote) : NULL;
    uint32_t iss = ack - 1;

    for (uint8_t k = h ? h->claims[(uint8_t)iss] : 0; k; k = h->at[k].half.next_claim)
        if (h->ours[k]->s.snd.iss == iss && h->ours[k]->s.tp->peer_id == id)
            return h->ours[k];
    return NULL;
}

void scps_connid_free_all(struct scps_stack *st)
{
    if (!st->ids)
        return;
    for (unsigned i = 0; i < BUCKETS; i++)
        while (st->ids->bucket[i])
            remove_hosts(st, &st->ids->bucket[i]);
    scps_heap_fini(&st->ids->idle);
    scps_heap_fini(&st->ids->unsure);
    st->env.alloc.free(st->env.alloc.ctx, st->ids, sizeof *st->ids);
    st->ids = NULL;
}

void scps_connid_plan(struct scps_slots *s, uint32_t pairs)
{
    scps_slots_plan(s, sizeof(struct scps_connids), 1);
    scps_slots_plan(s, sizeof(struct hosts), pairs);
}
