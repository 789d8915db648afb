/* SPDX-License-Identifier: MIT */
/* Which link leads to an address, and which of our addresses to use there. */
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

int scps_stack_add_route(struct scps_stack *st, const struct scps_route *r)
{
    struct scps_route *slot;

    if (!r->nif || r->nif->stack != st || (r->dst.family != 4 && r->dst.family != 6) ||
        r->prefix > (r->dst.family == 4 ? 32u : 128u))
        return SCPS_ERR_INVAL;
    slot = append(st, (void **)&st->routes, &st->n_routes, sizeof *slot);
    if (!slot)
        return SCPS_ERR_NOMEM;
    *slot = *r;
    return 0;
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
    if (err)
        *slot = (struct scps_local_addr){0}; /* the row stays, matching nothing */
    return err;
}

const struct scps_route *scps_route_find(const struct scps_stack *st, const struct scps_addr *dst)
{
    const struct scps_route *best = NULL;

    for (uint32_t i = 0; i < st->n_routes; i++) {
        const struct scps_route *r = &st->routes[i];
        if ((!best || r->prefix >= best->prefix) && scps_addr_match(&r->dst, dst, r->prefix))
            best = r;
    }
    return best;
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
