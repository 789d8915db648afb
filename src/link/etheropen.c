/* SPDX-License-Identifier: MIT */
/* Opens a station on an Ethernet, gives and takes addresses, and reports its state. */
#include "link/ether.h"

#include <string.h>

#include <scps/error.h>

struct scps_ether_config scps_ether_config_default(void)
{
    return (struct scps_ether_config){.neighbours = 16,
                                      .mtu = 1500,
                                      .reachable = SCPS_SEC(30),
                                      .delay = SCPS_SEC(5),
                                      .retransmit = SCPS_SEC(1),
                                      .tries = 3};
}

size_t scps_ether_memory(const struct scps_ether_config *cfg)
{
    return sizeof(struct scps_ether) +
           cfg->neighbours * (sizeof(struct scps_nbr) + (size_t)cfg->mtu) + SCPS_ETHER_HEADER +
           cfg->mtu;
}

static bool addr_in_range(const struct scps_addr *a, unsigned prefix)
{
    return (a->family == 4 && prefix <= 32) || (a->family == 6 && prefix <= 128);
}

static bool in_range(const struct scps_ether_config *c)
{
    static const uint8_t zeros[6];

    for (unsigned i = 0; i < c->n && c->n <= SCPS_ETHER_ADDRS; i++)
        if (!addr_in_range(&c->addr[i], c->prefix[i]))
            return false;
    return c->n <= SCPS_ETHER_ADDRS && memcmp(c->mac, zeros, 6) != 0 && !(c->mac[0] & 1) &&
           c->gateway[0].family != 6 && c->gateway[1].family != 4 && c->neighbours >= 1 &&
           c->neighbours <= 65536 && c->mtu >= 576 && c->mtu <= 9000 && c->reachable > 0 &&
           c->delay >= 0 && c->retransmit > 0 && c->tries;
}

struct scps_netif *scps_ether_new(const struct scps_ether_config *cfg,
                                  const struct scps_alloc *alloc, int *err)
{
    struct scps_alloc a = alloc && alloc->alloc ? *alloc : scps_alloc_default();
    struct scps_ether *e;
    size_t size;
    int ignored;

    err = err ? err : &ignored;
    *err = SCPS_ERR_RANGE;
    if (!in_range(cfg))
        return NULL;
    *err = SCPS_ERR_NOMEM;
    size = scps_ether_memory(cfg);
    e = a.alloc(a.ctx, size);
    if (!e)
        return NULL;
    memset(e, 0, size);
    e->alloc = a;
    e->size = size;
    e->cfg = *cfg;
    scps_ether_wire(e);
    e->nif.name = "ether";
    e->nbrs.cfg = &e->cfg;
    e->nbrs.v = (struct scps_nbr *)(void *)(e + 1);
    e->tx = (uint8_t *)(e->nbrs.v + cfg->neighbours);
    for (uint32_t i = 0; i < cfg->neighbours; i++)
        e->nbrs.v[i].held = e->tx + SCPS_ETHER_HEADER + cfg->mtu + (size_t)i * cfg->mtu;
    *err = 0;
    return &e->nif;
}

/* Returns the place of a among the station's addresses; cfg.n if it does not have it. */
static unsigned place_of(const struct scps_ether *e, const struct scps_addr *a)
{
    unsigned i = 0;

    while (i < e->cfg.n && !scps_addr_equal(&e->cfg.addr[i], a))
        i++;
    return i;
}

int scps_ether_add_addr(struct scps_netif *ether, const struct scps_addr *addr, unsigned prefix)
{
    struct scps_ether *e = (struct scps_ether *)ether;
    unsigned i = place_of(e, addr);

    if (!addr_in_range(addr, prefix))
        return SCPS_ERR_RANGE;
    if (i == SCPS_ETHER_ADDRS)
        return SCPS_ERR_LIMIT;
    e->cfg.addr[i] = *addr;
    e->cfg.prefix[i] = prefix;
    e->cfg.n += i == e->cfg.n;
    return 0;
}

int scps_ether_remove_addr(struct scps_netif *ether, const struct scps_addr *addr)
{
    struct scps_ether *e = (struct scps_ether *)ether;
    const struct scps_addr a = *addr; /* It may be a field of the configuration. */
    unsigned i = place_of(e, &a);

    if (i == e->cfg.n)
        return SCPS_ERR_NOENT;
    for (e->cfg.n--; i < e->cfg.n; i++) { /* Their order chooses the source of requests. */
        e->cfg.addr[i] = e->cfg.addr[i + 1];
        e->cfg.prefix[i] = e->cfg.prefix[i + 1];
    }
    scps_ether_drop_held(e, &a);
    return 0;
}

void scps_ether_get_status(const struct scps_netif *ether, struct scps_ether_status *out)
{
    const struct scps_ether *e = (const struct scps_ether *)ether;

    *out = e->stats;
    out->neighbours = 0;
    for (uint32_t i = 0; i < e->cfg.neighbours; i++) {
        const struct scps_nbr *n = &e->nbrs.v[i];
        bool known = n->state != NBR_FREE && n->state != NBR_INCOMPLETE;

        out->neighbours += known;
        if (known && scps_addr_equal(&n->addr, &out->unanswered))
            out->unanswered = (struct scps_addr){0};
    }
    for (uint32_t i = 0; i < e->cfg.neighbours && !out->unanswered.family; i++)
        if (e->nbrs.v[i].state == NBR_INCOMPLETE && e->nbrs.v[i].tries > 1)
            out->unanswered = e->nbrs.v[i].addr;
}

const char *scps_ether_drop_text(enum scps_ether_drop drop)
{
    static const char *const text[] = {
#define X(name, words) words,
        SCPS_ETHER_DROPS(X)
#undef X
    };
    return (unsigned)drop < SCPS_ETHER_DROP_COUNT ? text[drop] : "unknown reason";
}
