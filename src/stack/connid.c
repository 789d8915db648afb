/* SPDX-License-Identifier: MIT */
/* Connection ids: the one octet that names a connection in a compressed header (spec sheet section 8.4).
 *
 * Each side gives its own, announces it in its SYN and sends under it; so a table for each pair of hosts knows the ids
 * we gave and those we heard.  Ids are given in turn, 1 to 255, none while a connection has it nor for TIME-WAIT after:
 * what of the old connection is still on its way must not be taken for the new one's.
 *
 *                       ours[id]      rest[id]                 theirs[id]
 *      10.0.0.1         connection    not again before         connection
 *      10.0.0.2         ...
 *
 * An id heard in a SYN to a listener, which anybody can forge, never takes one from a living connection: the new one
 * goes without compression.  One heard in answer to our SYN does: that peer has begun anew and forgotten the old one.
 *
 * A pair of hosts costs about 5 KiB while it has connections that compress and for TIME-WAIT after; their number is
 * limited (scps_stack_config.max_comp_hosts).
 */
#include "stack/stack.h"

#include "base/bytes.h"

#define BUCKETS 64u

struct hosts {
    struct scps_addr local, remote;
    struct hosts *next;
    unsigned conns;
    uint8_t last; /* given */
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

/* Makes room by forgetting those nobody needs any more. */
static bool make_room(struct scps_stack *st)
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
    return st->ids->n < st->cfg.max_comp_hosts;
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
    if (!make_room(st) || !(h = a->alloc(a->ctx, sizeof *h)))
        return NULL;
    memset(h, 0, sizeof *h);
    h->local = c->local;
    h->remote = c->remote;
    *slot(st, &c->local, &c->remote) = h;
    st->ids->n++;
    return h;
}

bool scps_connid_give(struct scps_stack *st, struct scps_conn *c)
{
    struct hosts *h = hosts_of(st, c);

    if (!h || scps_conn_need_tp(c))
        return false;
    for (unsigned tries = 255; tries; tries--) {
        h->last = h->last == 255 ? 1 : h->last + 1;
        if (h->ours[h->last] || h->rest[h->last] > st->env.now)
            continue;
        h->ours[h->last] = c;
        h->conns++;
        c->tp->conn_id = h->last;
        scps_comp_tx_init(&c->tp->comp_tx, h->last, 2, false);
        return true;
    }
    return false;
}

bool scps_connid_heard(struct scps_stack *st, struct scps_conn *c, uint8_t id, bool force)
{
    struct hosts *h = *slot(st, &c->local, &c->remote);
    struct scps_conn *was = h->theirs[id];

    if (was && was != c && !force && was->state != SCPS_CLOSED && was->state != SCPS_TIME_WAIT)
        return false;
    if (was)
        was->tp->heard = false;
    h->theirs[id] = c;
    c->tp->peer_id = id;
    c->tp->heard = true;
    return true;
}

void scps_connid_release(struct scps_stack *st, struct scps_conn *c)
{
    struct hosts *h;

    if (!c->tp->conn_id)
        return;
    h = *slot(st, &c->local, &c->remote);
    h->ours[c->tp->conn_id] = NULL;
    h->rest[c->tp->conn_id] = st->env.now + c->cfg->c.time_wait;
    h->conns--;
    if (c->tp->heard)
        h->theirs[c->tp->peer_id] = NULL;
    c->tp->heard = false;
    c->tp->conn_id = 0;
}

struct scps_conn *scps_connid_find(const struct scps_stack *st, const struct scps_addr *local,
                                   const struct scps_addr *remote, uint8_t id, bool ours)
{
    const struct hosts *h = st->ids ? *slot(st, local, remote) : NULL;

    return h ? (ours ? h->ours[id] : h->theirs[id]) : NULL;
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
