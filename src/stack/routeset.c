/* SPDX-License-Identifier: MIT */
/* Adds and changes routes and addresses, and moves connections and datagrams to the ready queues of
 * their new routes. */
#include "stack/stack.h"

#include "base/bytes.h"

/* Appends one element to an array whose size is its count; returns the element, or NULL. */
static void *append(struct scps_stack *st, void **v, uint32_t *n, size_t size)
{
    const struct scps_alloc *a = &st->env.alloc;
    uint8_t *nv = a->alloc(a->ctx, (*n + 1) * size);

    if (!nv)
        return NULL;
    if (*n) {
        memcpy(nv, *v, *n * size);
        a->free(a->ctx, *v, *n * size);
    }
    *v = nv;
    return nv + (*n)++ * size;
}

static uint32_t route_mtu(const struct scps_route *r)
{
    return r->mtu ? SCPS_MIN(r->mtu, r->nif->mtu) : r->nif->mtu;
}

/* Sets the rate of w to that of r; the shaper is made when first needed. */
static int set_rate(struct scps_stack *st, struct scps_route_entry *w, const struct scps_route *r)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_nif *nif = scps_nif_of(r->nif);

    if (r->rate > SCPS_RATE_MAX || r->min_rate > SCPS_RATE_MAX)
        return SCPS_ERR_RANGE;
    if (!w->pipe && !r->rate && !r->min_rate)
        return 0;
    if (!w->pipe) {
        struct scps_shaper *p = a->alloc(a->ctx, sizeof *p);
        if (!p)
            return SCPS_ERR_NOMEM;
        memset(p, 0, sizeof *p);
        p->turns.gate = &p->gate;
        p->turns.link = nif;
        p->next = nif->pipes;
        nif->pipes = w->pipe = p;
        nif->others = true;
    }
    scps_gate_set(&w->pipe->gate, st->env.now, r, route_mtu(r));
    return 0;
}

/* Moves ready connections and datagrams to the queues of their present routes. */
static void regroup(struct scps_stack *st, const struct scps_nif *nif)
{
    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));) {
        struct scps_ready_queue *t;
        if (!c->turns || c->turns->link != nif)
            continue;
        t = scps_route_turns(scps_route_find(st, &c->remote), (struct scps_nif *)c->turns->link);
        if (t == c->turns)
            continue;
        scps_conn_dequeue(c);
        scps_gate_forget(c);
        c->turns = t;
        scps_conn_wake(c);
    }
    scps_dgram_regroup(st);
}

int scps_stack_add_route(struct scps_stack *st, const struct scps_route *r)
{
    struct scps_route_entry way = {.route = *r}, *slot;
    int err;

    if (!r->nif || r->nif->stack != st || (r->dst.family != 4 && r->dst.family != 6) ||
        r->prefix > (r->dst.family == 4 ? 32u : 128u))
        return SCPS_ERR_INVAL;
    slot = append(st, (void **)&st->ways, &st->n_ways, sizeof *slot);
    if (!slot)
        return SCPS_ERR_NOMEM;
    err = set_rate(st, &way, r);
    if (err)
        memset(slot, 0, sizeof *slot); /* The row stays in the array but matches no address. */
    else
        *slot = way;
    if (slot->pipe)
        regroup(st, scps_nif_of(r->nif));
    return err;
}

int scps_stack_set_route(struct scps_stack *st, const struct scps_route *r)
{
    bool had;
    int err;

    for (uint32_t i = st->n_ways; i-- > 0;) {
        struct scps_route_entry *w = &st->ways[i];
        if (!r->nif || w->route.nif != r->nif || w->route.prefix != r->prefix ||
            w->route.dst.family != r->dst.family ||
            !scps_addr_match(&w->route.dst, &r->dst, r->prefix))
            continue;
        had = w->pipe != NULL;
        err = set_rate(st, w, r);
        if (err)
            return err;
        w->route = *r;
        if (w->pipe && !had)
            regroup(st, scps_nif_of(r->nif));
        return 0;
    }
    return SCPS_ERR_NOENT;
}

int scps_stack_add_addr(struct scps_stack *st, struct scps_netif *nif, const struct scps_addr *addr,
                        unsigned prefix)
{
    struct scps_route r = {.dst = *addr, .prefix = prefix, .nif = nif};
    struct scps_local_addr *slot;
    int err;

    if (!nif || nif->stack != st || (addr->family != 4 && addr->family != 6) ||
        prefix > (addr->family == 4 ? 32u : 128u))
        return SCPS_ERR_INVAL;
    slot = append(st, (void **)&st->addrs, &st->n_addrs, sizeof *slot);
    if (!slot)
        return SCPS_ERR_NOMEM;
    *slot = (struct scps_local_addr){*addr, prefix, scps_nif_of(nif)};
    memset(slot->addr.b + (addr->family == 4 ? 4 : 16), 0, addr->family == 4 ? 12 : 0);
    err = scps_stack_add_route(st, &r);
    /* The row stays in the array but matches no address. */
    if (err)
        *slot = (struct scps_local_addr){0};
    return err;
}

void scps_route_drop(struct scps_stack *st, const struct scps_nif *nif)
{
    uint32_t keep = 0;

    for (uint32_t i = 0; i < st->n_ways; i++)
        if (st->ways[i].route.nif != nif->nif)
            st->ways[keep++] = st->ways[i];
    /* The allocator needs the original size back, so the array keeps it, and spare rows match
     * nothing. */
    for (uint32_t i = keep; i < st->n_ways; i++)
        st->ways[i] = (struct scps_route_entry){0};
}

void scps_route_path(struct scps_stack *st, const struct scps_signal *sig)
{
    for (uint32_t i = 0; i < st->n_ways; i++) {
        struct scps_route_entry *w = &st->ways[i];
        if (!w->pipe || !w->route.rate || (sig->nif && sig->nif != w->route.nif) ||
            (sig->remote.family && scps_route_find(st, &sig->remote) != w))
            continue;
        w->route.rate = SCPS_MIN(sig->rate, SCPS_RATE_MAX);
        scps_gate_set(&w->pipe->gate, st->env.now, &w->route, route_mtu(&w->route));
    }
}
