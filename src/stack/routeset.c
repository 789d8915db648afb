/* SPDX-License-Identifier: MIT */
/* Adds, changes and removes routes and addresses, and moves connections and datagrams to the ready
 * queues of their new routes. */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/sized.h"
#include "core/config.h"

/* Returns an unused row of the array of routes; NULL: there is none. Unused rows match no address
 * and are at the end of the array. */
static struct scps_route_entry *spare_way(struct scps_stack *st)
{
    uint32_t i = st->n_routes;

    while (i && !st->routes[i - 1].route.nif)
        i--;
    return i < st->n_routes ? &st->routes[i] : NULL;
}

static struct scps_local_addr *spare_addr(struct scps_stack *st)
{
    uint32_t i = st->n_addrs;

    while (i && !st->addrs[i - 1].nif)
        i--;
    return i < st->n_addrs ? &st->addrs[i] : NULL;
}

/* Appends an element of `size` bytes to the array *v, whose memory has room for exactly its *n
 * elements, and increments *n. Returns the element; NULL: there is no memory, or the stack has
 * fixed memory (all of it planned at opening) and the array has `most` elements already. */
static void *append(struct scps_stack *st, void **v, uint32_t *n, size_t size, uint32_t most)
{
    const struct scps_alloc *a = &st->env.alloc;
    uint8_t *nv;

    if (st->reserve && *n >= most)
        return NULL;
    nv = a->alloc(a->ctx, (*n + 1) * size);
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

/* Returns true if every field of r is within its bounds. The least MTU of an IPv6 route has room
 * for 40 octets of IP header, 20 of TCP, 12 of timestamps and the least MSS, 8. */
static bool in_range(const struct scps_route *r)
{
    uint32_t least = r->dst.family == 4 ? SCPS_MTU_LEAST : SCPS_MTU_LEAST6;

    return route_mtu(r) >= least && r->rate <= SCPS_RATE_MAX && r->min_rate <= SCPS_RATE_MAX &&
           r->burst <= SCPS_BYTES_MOST && (uint64_t)r->expected_rtt <= SCPS_TIME_MOST &&
           (unsigned)r->loss_cause <= SCPS_LOSS_CORRUPTION;
}

/* Returns true if the stack has fixed memory, and SCPS_FIXED_RATED routes have a shaper (rate
 * limiter) already, so that no other route can get a rate. */
static bool rated_full(const struct scps_stack *st)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < st->n_routes; i++)
        n += st->routes[i].shaper != NULL;
    return st->reserve && n >= SCPS_FIXED_RATED;
}

/* Sets the rate of route w to that of r, and allocates the shaper (rate limiter) of w when w gets a
 * rate for the first time. Returns 0, SCPS_ERR_RANGE or SCPS_ERR_NOMEM. */
static int set_rate(struct scps_stack *st, struct scps_route_entry *w, const struct scps_route *r)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_nif *nif = scps_nif_of(r->nif);

    if (!in_range(r))
        return SCPS_ERR_RANGE;
    if (!w->shaper && !r->rate && !r->min_rate)
        return 0;
    if (!w->shaper) {
        struct scps_shaper *p = rated_full(st) ? NULL : a->alloc(a->ctx, sizeof *p);
        if (!p)
            return SCPS_ERR_NOMEM;
        memset(p, 0, sizeof *p);
        scps_nif_add_shaper(nif, p);
        w->shaper = p;
    }
    scps_gate_set(&w->shaper->gate, st->env.now, r, route_mtu(r));
    return 0;
}

/* Moves c to the ready queue of the route that its peer's address has now; c stays where it is if
 * that is the same queue. */
static void regroup_conn(const struct scps_stack *st, struct scps_conn *c)
{
    struct scps_ready_queue *t = scps_route_ready_queue(scps_route_find(st, &c->remote),
                                                        (struct scps_nif *)c->s.queue->link);

    if (t == c->s.queue)
        return;
    scps_sender_dequeue(&c->s);
    scps_gate_forget(&c->s);
    scps_sender_serve(&c->s, t);
    scps_sender_wake(&c->s);
}

/* Called when routes have changed: moves each connection that waits to send in ready queue q to the
 * ready queue of the route that its peer has now, if that is another queue. Begins at the front of
 * q, where removing a connection takes constant time; connections that stay in q keep their
 * order. */
static void regroup_ready(const struct scps_stack *st, struct scps_ready_queue *q)
{
    struct scps_sender *last = q->tail, *s;

    do {
        s = q->head;
        if (!s)
            return;
        regroup_conn(st, scps_conn_of(s));
        if (s->queue == q) {
            scps_sender_dequeue(s);
            scps_sender_wake(s);
        }
    } while (s != last);
}

/* Called when routes have changed: assigns each connection of nif, whether it waits to send or not,
 * to the ready queue of the route that its peer has now, and likewise the datagram endpoints that
 * have datagrams to send. Connections that wait in a ready queue are moved first, to keep their
 * order. */
static void regroup(struct scps_stack *st, struct scps_nif *nif)
{
    regroup_ready(st, &nif->ready);
    for (struct scps_shaper *p = nif->shapers; p; p = p->next)
        regroup_ready(st, &p->ready);
    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));)
        if (c->s.queue && c->s.queue->link == nif)
            regroup_conn(st, c);
    scps_dgram_regroup(st);
}

/* The smallest size of a struct scps_route that is accepted, bytes: that of its oldest version,
 * whose last member is `nif` (`mtu` came later). */
#define LEAST SCPS_SIZED_TO(scps_route, mtu)

int scps_stack_add_route_sized(struct scps_stack *st, const struct scps_route *asked, size_t size)
{
    struct scps_route_entry entry = {.shaper = NULL}, *slot;
    const struct scps_route *r = &entry.route;
    int err;

    if (!scps_sized_take(&entry.route, sizeof entry.route, asked, size, LEAST))
        return SCPS_ERR_RANGE;
    if (!r->nif || r->nif->stack != st || (r->dst.family != 4 && r->dst.family != 6) ||
        r->prefix > (r->dst.family == 4 ? 32u : 128u))
        return SCPS_ERR_INVAL;
    slot = spare_way(st);
    if (!slot)
        slot = append(st, (void **)&st->routes, &st->n_routes, sizeof *slot, SCPS_FIXED_ROUTES);
    if (!slot)
        return SCPS_ERR_NOMEM;
    /* The new row is zeros until the route is complete. If set_rate() fails, the row stays like
     * that in the array, and matches no address. */
    memset(slot, 0, sizeof *slot);
    err = set_rate(st, &entry, r);
    if (!err)
        *slot = entry;
    if (slot->shaper)
        regroup(st, scps_nif_of(r->nif));
    return err;
}

/* Returns true if w is the route through nif to destination dst with this prefix length. */
static bool leads(const struct scps_route_entry *w, const struct scps_addr *dst, unsigned prefix,
                  const struct scps_netif *nif)
{
    return nif && w->route.nif == nif && w->route.prefix == prefix &&
           w->route.dst.family == dst->family && scps_addr_match(&w->route.dst, dst, prefix);
}

int scps_stack_set_route_sized(struct scps_stack *st, const struct scps_route *asked, size_t size)
{
    struct scps_route own = {.prefix = 0};
    const struct scps_route *r = &own;
    bool had;
    int err;

    if (!scps_sized_take(&own, sizeof own, asked, size, LEAST))
        return SCPS_ERR_RANGE;
    for (uint32_t i = st->n_routes; i-- > 0;) {
        struct scps_route_entry *w = &st->routes[i];
        if (!leads(w, &r->dst, r->prefix, r->nif))
            continue;
        had = w->shaper != NULL;
        err = set_rate(st, w, r);
        if (err)
            return err;
        w->route = *r;
        if (w->shaper && !had)
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
        prefix > (addr->family == 4 ? 32u : 128u) || !scps_route_unicast(addr))
        return SCPS_ERR_INVAL;
    slot = spare_addr(st);
    if (!slot)
        slot = append(st, (void **)&st->addrs, &st->n_addrs, sizeof *slot, SCPS_FIXED_ADDRS);
    if (!slot)
        return SCPS_ERR_NOMEM;
    *slot = (struct scps_local_addr){*addr, prefix, scps_nif_of(nif)};
    memset(slot->addr.b + (addr->family == 4 ? 4 : 16), 0, addr->family == 4 ? 12 : 0);
    err = scps_stack_add_route(st, &r);
    /* If the route to the network of addr cannot be added, the row for addr is cleared; it stays in
     * the array, but matches no address. */
    if (err)
        *slot = (struct scps_local_addr){0};
    return err;
}

/* ---- functions that remove routes and addresses ---- */

/* Frees shaper p (the rate limiter) of a route that was removed. The replies that wait in p
 * (resets, ICMP messages and SYN cookies, which answer packets of no connection) are dropped, as if
 * the network had lost them. Precondition: regroup() has moved the connections and datagrams of p
 * to other queues. */
static void free_pipe(struct scps_stack *st, struct scps_nif *nif, struct scps_shaper *p)
{
    const struct scps_alloc *a = &st->env.alloc;

    scps_nif_remove_shaper(nif, p);
    scps_answers_fini(&p->answers, nif, a);
    a->free(a->ctx, p, sizeof *p);
}

/* Removes w from the array of routes, and moves the entries behind it forward. */
static void remove_route(struct scps_stack *st, struct scps_route_entry *w)
{
    struct scps_nif *nif = scps_nif_of(w->route.nif);
    struct scps_shaper *p = w->shaper;
    uint32_t after = st->n_routes - (uint32_t)(w - st->routes) - 1;

    memmove(w, w + 1, after * sizeof *w);
    st->routes[st->n_routes - 1] = (struct scps_route_entry){0};
    regroup(st, nif);
    if (p)
        free_pipe(st, nif, p);
}

int scps_stack_remove_route(struct scps_stack *st, const struct scps_addr *dst, unsigned prefix,
                            const struct scps_netif *nif)
{
    for (uint32_t i = st->n_routes; i-- > 0;)
        if (leads(&st->routes[i], dst, prefix, nif)) {
            remove_route(st, &st->routes[i]);
            return 0;
        }
    return SCPS_ERR_NOENT;
}

/* Called when address addr is removed from nif: ends the connections through nif from that address
 * with SCPS_ERR_ADDRNOTAVAIL, without a reset to their peers. */
static void end_conns(struct scps_stack *st, const struct scps_nif *nif,
                      const struct scps_addr *addr)
{
    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));) {
        if (!c->s.queue || c->s.queue->link != nif || !scps_addr_equal(&c->local, addr))
            continue;
        scps_conn_finish(c, SCPS_ERR_ADDRNOTAVAIL);
        scps_conn_detach(c);
    }
}

/* Drops the replies that wait to be sent through nif: resets, SYN cookies and ICMP messages that
 * answer packets of no connection. Called when a local address is removed from nif. */
static void drop_replies(struct scps_stack *st, struct scps_nif *nif)
{
    scps_answers_fini(&nif->answers, nif, &st->env.alloc);
    for (struct scps_shaper *p = nif->shapers; p; p = p->next)
        scps_answers_fini(&p->answers, nif, &st->env.alloc);
}

int scps_stack_remove_addr(struct scps_stack *st, struct scps_netif *netif,
                           const struct scps_addr *addr)
{
    struct scps_nif *nif = netif && netif->stack == st ? scps_nif_of(netif) : NULL;
    struct scps_local_addr gone = {0}, *row = NULL;

    for (uint32_t i = 0; nif && addr->family && i < st->n_addrs && !row; i++)
        if (st->addrs[i].nif == nif && scps_addr_equal(&st->addrs[i].addr, addr))
            row = &st->addrs[i];
    if (!row)
        return SCPS_ERR_NOENT;
    gone = *row;
    memmove(row, row + 1, (st->n_addrs - (size_t)(row - st->addrs) - 1) * sizeof *row);
    st->addrs[st->n_addrs - 1] = (struct scps_local_addr){0};
    end_conns(st, nif, &gone.addr);
    /* No reply may leave from an address that is not the host's (RFC 1122 section 3.2.1.3). The
     * replies that wait with other source addresses are dropped, too, as if the network had lost
     * them. */
    drop_replies(st, nif);
    scps_kept_drop_from(&nif->kept, &gone.addr);
    if (!scps_stack_has_addr(st, &gone.addr))
        scps_dgram_addr_gone(st, &gone.addr);
    for (uint32_t i = 0; i < st->n_routes; i++)
        if (leads(&st->routes[i], &gone.addr, gone.prefix, netif)) {
            remove_route(st, &st->routes[i]);
            break;
        }
    scps_dgram_regroup(st);
    scps_stack_reap(st);
    return 0;
}

void scps_route_drop(struct scps_stack *st, const struct scps_nif *nif)
{
    uint32_t keep = 0;

    for (uint32_t i = 0; i < st->n_routes; i++)
        if (st->routes[i].route.nif != nif->nif)
            st->routes[keep++] = st->routes[i];
    /* The rows that are not used any more are cleared, so that they match no address. The array
     * keeps its size, because the allocator needs it for freeing. */
    for (uint32_t i = keep; i < st->n_routes; i++)
        st->routes[i] = (struct scps_route_entry){0};
    keep = 0;
    for (uint32_t i = 0; i < st->n_addrs; i++)
        if (st->addrs[i].nif != nif)
            st->addrs[keep++] = st->addrs[i];
    for (uint32_t i = keep; i < st->n_addrs; i++)
        st->addrs[i] = (struct scps_local_addr){0};
}

void scps_route_path(struct scps_stack *st, const struct scps_signal *sig)
{
    for (uint32_t i = 0; i < st->n_routes; i++) {
        struct scps_route_entry *w = &st->routes[i];
        if (!w->shaper || !w->route.rate || (sig->nif && sig->nif != w->route.nif) ||
            (sig->remote.family && scps_route_find(st, &sig->remote) != w))
            continue;
        w->route.rate = SCPS_MIN(sig->rate, SCPS_RATE_MAX);
        scps_gate_set(&w->shaper->gate, st->env.now, &w->route, route_mtu(&w->route));
    }
}
