/* SPDX-License-Identifier: MIT */
/* Opens a station on an Ethernet, adds and removes its addresses, and reports its state. */
#include "link/ether.h"

#include <string.h>

#include <scps/error.h>

#include "base/bounds.h"
#include "base/sized.h"
#include "link/linkopen.h"

void scps_ether_config_init(struct scps_ether_config *cfg, size_t size)
{
    static const struct scps_ether_config defaults = {.neighbours = 16,
                                                      .mtu = 1500,
                                                      .reachable = SCPS_SEC(30),
                                                      .delay = SCPS_SEC(5),
                                                      .retransmit = SCPS_SEC(1),
                                                      .tries = 3};

    scps_sized_give_own(cfg, size, &defaults, sizeof defaults);
}

static size_t memory(const struct scps_ether_config *cfg)
{
    return sizeof(struct scps_ether) +
           cfg->neighbours * (sizeof(struct scps_nbr) + (size_t)cfg->mtu) + SCPS_ETHER_HEADER +
           cfg->mtu;
}

static bool addr_in_range(const struct scps_addr *a, unsigned prefix)
{
    return (a->family == 4 && prefix <= 32) || (a->family == 6 && prefix <= 128);
}

/* Checks the MAC address, the IP addresses with their prefixes, and the gateways of a
 * configuration. Returns false, with the reason in *why, if one is invalid. */
static bool addresses_hold(const struct scps_ether_config *c, struct scps_line *why)
{
    static const uint8_t zeros[6];

    for (unsigned i = 0; i < c->n; i++)
        if (!scps_bounds_also(addr_in_range(&c->addr[i], c->prefix[i]),
                              "addr, prefix: give IPv4 or IPv6 addresses with prefix lengths of at "
                              "most 32 or 128",
                              why))
            return false;
    return scps_bounds_also(memcmp(c->mac, zeros, 6) != 0 && !(c->mac[0] & 1),
                            "mac: give the address of one station", why) &&
           scps_bounds_also(!c->gateway[0].family || c->gateway[0].family == 4,
                            "gateway[0]: give an IPv4 address, or family 0", why) &&
           scps_bounds_also(!c->gateway[1].family || c->gateway[1].family == 6,
                            "gateway[1]: give an IPv6 address, or family 0", why);
}

/* Copies the configuration `from`, which may be that of an older version of the library and so
 * shorter, and checks it. Returns false, with the reason in *why, if it is refused. */
static bool copy_config(struct scps_ether_config *c, const struct scps_ether_config *from,
                        struct scps_line *why)
{
    static const struct scps_bounds bounds[] = {
#define FIELD(f, least, most) SCPS_BOUNDS(scps_ether_config, f, least, most)
        FIELD(n, 0, SCPS_ETHER_ADDRS),   FIELD(neighbours, 1, 65536),
        FIELD(mtu, 576, 9000),           FIELD(reachable, 1, SCPS_NEVER / 2),
        FIELD(delay, 0, SCPS_NEVER / 2), FIELD(retransmit, 1, SCPS_NEVER / 2),
        FIELD(tries, 1, UINT32_MAX),
#undef FIELD
    };

    scps_ether_config_init(c, sizeof *c);
    return scps_bounds_take(c, sizeof *c, from, SCPS_SIZED_TO(scps_ether_config, addr), why) &&
           scps_bounds_hold(bounds, sizeof bounds / sizeof *bounds, c, why) &&
           addresses_hold(c, why);
}

int scps_ether_config_check(const struct scps_ether_config *cfg, char *msg, size_t msglen)
{
    struct scps_line why = scps_line_begin(msg, msglen);
    struct scps_ether_config c;

    return copy_config(&c, cfg, &why) ? 0 : SCPS_ERR_RANGE;
}

size_t scps_ether_memory(const struct scps_ether_config *cfg)
{
    struct scps_line no_text = {NULL, 0};
    struct scps_ether_config c;

    return copy_config(&c, cfg, &no_text) ? memory(&c) : 0;
}

struct scps_netif *scps_ether_new(const struct scps_ether_config *asked,
                                  const struct scps_alloc *alloc, int *err)
{
    struct scps_line no_text = {NULL, 0};
    struct scps_ether_config own;
    const struct scps_ether_config *cfg = &own;
    size_t size = copy_config(&own, asked, &no_text) ? memory(cfg) : 0;
    struct scps_alloc a;
    struct scps_ether *e = scps_link_open(alloc, size, &a, err);

    if (!e)
        return NULL;
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
    return &e->nif;
}

/* Returns the index of a among the station's addresses; cfg.n if the station does not have it. */
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
    /* The address is copied, because addr may point into e->cfg.addr, which is changed below. */
    const struct scps_addr a = *addr;
    unsigned i = place_of(e, &a);

    if (i == e->cfg.n)
        return SCPS_ERR_NOENT;
    /* The other addresses keep their order, because the first suitable address becomes the source
     * address of ARP requests and Neighbour Solicitations. */
    for (e->cfg.n--; i < e->cfg.n; i++) {
        e->cfg.addr[i] = e->cfg.addr[i + 1];
        e->cfg.prefix[i] = e->cfg.prefix[i + 1];
    }
    scps_ether_drop_held(e, &a);
    return 0;
}

void scps_ether_get_status_sized(const struct scps_netif *ether, struct scps_ether_status *to,
                                 size_t size)
{
    const struct scps_ether *e = (const struct scps_ether *)ether;
    struct scps_ether_status own = e->stats, *out = &own;

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
    scps_sized_give(to, size, out, sizeof *out);
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
