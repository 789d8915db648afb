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
 *                       ours[id]      rest[id]                 theirs[id]
 *      10.0.0.1         connection    not again before         connections, by same_id
 *      10.0.0.2         ...
 *
 * Anybody can forge a SYN to a listener, so an id in such a SYN is never taken from an established
 * connection that uses it already: the new connection does without compression. Half-open
 * connections may share an id, since the SYN of any of them may be forged. The id belongs to the
 * half-open connection whose handshake is completed, by an acknowledgement of this host's initial
 * sequence number. If a SYN-ACK announces an id that an older connection of the same peer still
 * has, the new connection gets that id, and the older one loses it: the peer has restarted and has
 * no such connection any more.
 *
 * Nor can forged SYNs use up the ids of this host, or the entries for pairs of hosts. When a new
 * connection finds no free id or entry, the half-open connection that was created first gives up
 * its id and is dropped. A connection that this host opens may replace a half-open connection of
 * any age; a connection that a SYN opens only one that is at least HALF_OPEN_LEAST old. The id of a
 * handshake that was never completed is free at once, because nothing of the peer was accepted
 * under it.
 *
 * A pair of hosts needs about 6 KiB (with pointers of 64 bits) while it has connections with
 * compression and for TIME-WAIT after; the number of pairs is limited
 * (scps_stack_config.max_comp_hosts).
 */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/prng.h"

#define BUCKETS         64u
#define HALF_OPEN_LEAST SCPS_SEC(3)

struct hosts {
    struct scps_addr local, remote;
    struct hosts *next;
    unsigned conns;
    struct scps_conn *ours[256], *theirs[256];
    scps_time rest[256];
};

struct scps_connids {
    struct hosts *bucket[BUCKETS];
    uint32_t n;
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
    st->env.alloc.free(st->env.alloc.ctx, h, sizeof *h);
}

static bool resting(const struct hosts *h, scps_time now)
{
    for (unsigned i = 0; i < 256; i++)
        if (h->rest[i] > now)
            return true;
    return false;
}

/* Returns c if it is a half-open connection of a listener, so that its SYN may be forged; otherwise
 * NULL. */
static struct scps_conn *unsure(struct scps_conn *c)
{
    return c && c->state == SCPS_SYN_RECEIVED && scps_conn_listener(c) ? c : NULL;
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

static void evict(struct scps_stack *st, struct scps_conn *c)
{
    scps_connid_release(st, c);
    scps_listener_evict(st, c);
}

/* Returns the connection of pair h that has been half-open for longest; NULL: none is half-open.
 * Sets *others to whether h has a connection that is not half-open. */
static struct scps_conn *oldest(const struct hosts *h, bool *others)
{
    struct scps_conn *found = NULL, *c;

    *others = false;
    for (unsigned i = 1; i < 256; i++) {
        *others |= h->ours[i] && !unsure(h->ours[i]);
        if ((c = unsure(h->ours[i])) && (!found || c->opened < found->opened))
            found = c;
    }
    return found;
}

/* Frees the entry of one pair of hosts in the table st->ids, to make room for the new connection c,
 * by dropping the pair's connections. Takes a pair that has only half-open connections, whose SYNs
 * may be forged, and no connection id reserved by TIME-WAIT. If a listener creates c, the oldest of
 * the half-open connections must be HALF_OPEN_LEAST (3 s) and two expected round trips old
 * (gives_way()); if this host opens c, it may have any age. Returns false if there is no such
 * pair. */
static bool forget_unsure(struct scps_stack *st, const struct scps_conn *c)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct hosts **at = &st->ids->bucket[i], *h; (h = *at); at = &h->next) {
            bool others;
            struct scps_conn *old = oldest(h, &others);
            if (!old || others || resting(h, st->env.now) || !gives_way(old, c))
                continue;
            for (; old; old = oldest(h, &others))
                evict(st, old);
            remove_hosts(st, at);
            return true;
        }
    return false;
}

/* Makes room in the table st->ids, which has an entry for each pair of hosts with header
 * compression, for the pair of c: if the table is full, frees the entries of pairs that have no
 * connection and no connection id reserved by TIME-WAIT; if there are none, drops the half-open
 * connections of one pair (forget_unsure()). Returns false if there is no room. */
static bool make_room(struct scps_stack *st, const struct scps_conn *c)
{
    if (st->ids->n < st->cfg.max_comp_hosts)
        return true;
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct hosts **at = &st->ids->bucket[i]; *at;) {
            if (!(*at)->conns && !resting(*at, st->env.now))
                remove_hosts(st, at);
            else
                at = &(*at)->next;
        }
    }
    return st->ids->n < st->cfg.max_comp_hosts || forget_unsure(st, c);
}

static struct hosts *hosts_of(struct scps_stack *st, const struct scps_conn *c)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct hosts *h;

    if (!st->ids) {
        st->ids = a->alloc(a->ctx, sizeof *st->ids);
        if (!st->ids)
            return NULL;
        memset(st->ids, 0, sizeof *st->ids);
    }
    h = *slot(st, &c->local, &c->remote);
    if (h)
        return h;
    if (!make_room(st, c) || !(h = a->alloc(a->ctx, sizeof *h)))
        return NULL;
    memset(h, 0, sizeof *h);
    h->local = c->local;
    h->remote = c->remote;
    *slot(st, &c->local, &c->remote) = h;
    st->ids->n++;
    return h;
}

/* Returns a number from 0 to 254 that an attacker cannot guess; vacant() begins its search for a
 * free connection id of c there. */
static uint8_t draw(const struct scps_stack *st, const struct scps_conn *c)
{
    uint8_t msg[13] = {'i'};

    scps_put32(msg + 1, c->s.snd.iss);
    scps_put16(msg + 5, c->lport);
    scps_put16(msg + 7, c->rport);
    scps_put32(msg + 9, c->s.ctx.id);
    return (uint8_t)(scps_siphash(st->env.key, msg, sizeof msg) % 255);
}

/* Returns a free connection id, 1 to 255, the octet that this host announces in its SYN and puts
 * into each compressed header to the peer instead of ports: one that this host uses for no
 * connection between the two hosts of h now, and has not used within TIME-WAIT; 0: there is none.
 * The search begins at 1 + from and wraps around after 255. */
static uint8_t vacant(const struct scps_stack *st, const struct hosts *h, unsigned from)
{
    for (unsigned i = 0; i < 255; i++) {
        uint8_t id = (uint8_t)(1 + (from + i) % 255);
        if (!h->ours[id] && h->rest[id] <= st->env.now)
            return id;
    }
    return 0;
}

bool scps_connid_give(struct scps_stack *st, struct scps_conn *c)
{
    struct hosts *h = hosts_of(st, c);
    uint8_t id;

    if (!h || scps_conn_need_tp(&c->s))
        return false;
    id = vacant(st, h, draw(st, c));
    if (!id) {
        bool others;
        struct scps_conn *old = oldest(h, &others);
        if (!old || !gives_way(old, c))
            return false;
        id = old->s.tp->conn_id;
        evict(st, old);
    }
    h->ours[id] = c;
    h->conns++;
    c->s.tp->conn_id = id;
    scps_tp_comp_begin(c->s.tp, id);
    return true;
}

/* Removes c from the list of the connections of pair h to which the peer gave the same connection
 * id. */
static void unlist(struct hosts *h, struct scps_conn *c)
{
    struct scps_conn **at = &h->theirs[c->s.tp->peer_id];

    while (*at && *at != c)
        at = &(*at)->s.tp->same_id;
    if (*at)
        *at = c->s.tp->same_id;
    c->s.tp->same_id = NULL;
    c->s.tp->heard = false;
}

/* c: a connection whose peer has announced a connection id in its SYN or SYN-ACK. Returns true if
 * compressed headers with that id belong to c alone, and not to another connection to which the
 * same peer gave the same id: in all states but SYN-RECEIVED, where the SYN may be forged, CLOSED
 * and TIME-WAIT. In SYN-SENT the peer has announced no id yet. */
static bool holds(const struct scps_conn *c)
{
    return c->state != SCPS_SYN_RECEIVED && c->state != SCPS_CLOSED && c->state != SCPS_TIME_WAIT;
}

bool scps_connid_heard(struct scps_stack *st, struct scps_conn *c, uint8_t id, bool force)
{
    struct hosts *h = *slot(st, &c->local, &c->remote);

    for (struct scps_conn *was = h->theirs[id], *next; was; was = next) {
        next = was->s.tp->same_id;
        if (was == c || was->state == SCPS_SYN_RECEIVED)
            continue;
        if (!force && holds(was))
            return false;
        unlist(h, was);
    }
    if (c->s.tp->heard)
        unlist(h, c);
    scps_tp_peer_id(c->s.tp, id);
    c->s.tp->heard = true;
    c->s.tp->same_id = h->theirs[id];
    h->theirs[id] = c;
    return true;
}

void scps_connid_release(struct scps_stack *st, struct scps_conn *c)
{
    struct hosts *h;

    if (!c->s.tp->conn_id)
        return;
    h = *slot(st, &c->local, &c->remote);
    h->ours[c->s.tp->conn_id] = NULL;
    if (c->s.established || c->notify.active)
        h->rest[c->s.tp->conn_id] = st->env.now + c->s.ctx.cfg->c.time_wait;
    h->conns--;
    if (c->s.tp->heard)
        unlist(h, c);
    c->s.tp->conn_id = 0;
}

struct scps_conn *scps_connid_find(const struct scps_stack *st, const struct scps_addr *local,
                                   const struct scps_addr *remote, uint8_t id, bool ours)
{
    const struct hosts *h = st->ids ? *slot(st, local, remote) : NULL;

    if (!h || ours)
        return h ? h->ours[id] : NULL;
    for (struct scps_conn *c = h->theirs[id]; c; c = c->s.tp->same_id)
        if (holds(c))
            return c;
    return h->theirs[id];
}

void scps_connid_free_all(struct scps_stack *st)
{
    if (!st->ids)
        return;
    for (unsigned i = 0; i < BUCKETS; i++)
        while (st->ids->bucket[i])
            remove_hosts(st, &st->ids->bucket[i]);
    st->env.alloc.free(st->env.alloc.ctx, st->ids, sizeof *st->ids);
    st->ids = NULL;
}

void scps_connid_plan(struct scps_slots *s, uint32_t pairs)
{
    scps_slots_plan(s, sizeof(struct scps_connids), 1);
    scps_slots_plan(s, sizeof(struct hosts), pairs);
}
