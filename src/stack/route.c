/* SPDX-License-Identifier: MIT */
/* Finds the route, and so the link, that leads to an address, the local address to use as the
 * source, and the ready queue of the route.
 *
 * A route that has a rate, or had one, owns a shaper: a token bucket (core/gate.c) and the ready
 * queue of the connections that use the route. All other connections are in the link's ready queue.
 */
#include "stack/stack.h"

#include "base/bytes.h"

const struct scps_route_entry *scps_route_find(const struct scps_stack *st,
                                               const struct scps_addr *dst)
{
    const struct scps_route_entry *best = NULL;

    for (uint32_t i = 0; i < st->n_routes; i++) {
        const struct scps_route *r = &st->routes[i].route;
        if ((!best || r->prefix >= best->route.prefix) && scps_addr_match(&r->dst, dst, r->prefix))
            best = &st->routes[i];
    }
    return best;
}

bool scps_route_unicast(const struct scps_addr *a)
{
    return !scps_stack_multicast(a) && (a->family == 4 ? a->b[0] != 0 : !scps_stack_any(a));
}

bool scps_route_broadcast(const struct scps_stack *st, const struct scps_addr *a)
{
    for (uint32_t i = 0; a->family == 4 && i < st->n_addrs; i++) {
        const struct scps_local_addr *own = &st->addrs[i];
        uint32_t host = own->prefix > 30 ? 0 : UINT32_MAX >> own->prefix;
        if (own->addr.family == 4 && host && scps_addr_match(&own->addr, a, own->prefix) &&
            (scps_get32(a->b) & host) == host)
            return true;
    }
    return false;
}

struct scps_ready_queue *scps_route_ready_queue(const struct scps_route_entry *w,
                                                struct scps_nif *nif)
{
    return w && w->shaper && w->route.nif == nif->nif ? &w->shaper->ready : &nif->ready;
}

bool scps_route_rated(const struct scps_stack *st)
{
    for (uint32_t i = 0; i < st->n_routes; i++)
        if (st->routes[i].route.rate)
            return true;
    return false;
}

const struct scps_addr *scps_route_source(const struct scps_stack *st, const struct scps_nif *nif,
                                          const struct scps_addr *dst)
{
    const struct scps_local_addr *best = NULL;

    for (uint32_t i = 0; i < st->n_addrs; i++) {
        const struct scps_local_addr *a = &st->addrs[i];
        if (a->nif != nif || a->addr.family != dst->family)
            continue;
        if (!best || scps_addr_match(&a->addr, dst, a->prefix))
            best = a;
    }
    return best ? &best->addr : NULL;
}

const struct scps_local_addr *scps_route_local(const struct scps_stack *st,
                                               const struct scps_addr *a)
{
    for (uint32_t i = 0; i < st->n_addrs; i++)
        if (st->addrs[i].addr.family == a->family &&
            !memcmp(st->addrs[i].addr.b, a->b, sizeof a->b))
            return &st->addrs[i];
    return NULL;
}

bool scps_stack_has_addr(const struct scps_stack *st, const struct scps_addr *addr)
{
    return scps_route_local(st, addr) != NULL;
}
