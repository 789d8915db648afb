/* SPDX-License-Identifier: MIT */
/* The links of a simulated world: each joins two hosts and is a netif of both stacks. */
#include "sim/world.h"

#include "base/fastpath.h"
#include "base/sized.h"
#include "stack/stack.h"

#include <assert.h>

void scps_world_link_free(struct scps_link *l)
{
    struct scps_world *w = l->w;

    for (int i = 0; i < 2; i++) {
        if (l->end[i].top)
            scps_netif_close(l->end[i].top);
        scps_linkdir_fini(&l->dir[i].dir);
    }
    for (struct scps_world_addrs *a = l->addrs, *next; a; a = next) {
        next = a->next;
        scps_world_give_back(w, a, sizeof *a);
    }
    scps_world_give_back(w, l, sizeof *l);
}

static int end_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct scps_world_end *e = (struct scps_world_end *)nif;
    int rc = scps_linkdir_offer(&e->out->dir, e->link->w->now, pkt);

    scps_world_look_again(e->out);
    return rc;
}

/* Sends a segment with its headers as a struct scps_values instead of octets (a function of the
 * type scps_values_fn). Returns the length of the packet, bytes, or 0 with nothing sent, so that
 * the caller sends octets: if framing is configured for the direction (its length may depend on the
 * octets), if struct scps_values cannot hold these headers, or outside of scps_pump_at(). */
static size_t end_send_segment(struct scps_netif *nif, const struct scps_conn *c,
                               const struct scps_seg *seg)
{
    struct scps_world_end *e = (struct scps_world_end *)nif;
    struct scps_linkdir *d = &e->out->dir;
    uint32_t headers;
    size_t len;

    if (!e->host->pumped || d->cfg.framing || !SCPS_FAST_PATH(SCPS_FAST_VALUES) ||
        !(headers = scps_values_len(c, seg)))
        return 0;
    len = headers + seg->len;
    if (scps_linkdir_offer_segment(d, e->link->w->now, c, seg, headers) == 0) {
        nif->tx_packets++;
        nif->tx_bytes += len;
    } else {
        nif->tx_errors++;
    }
    scps_world_look_again(e->out);
    return len;
}

/* Does nothing, because an end is a part of its link and is freed with it. */
static void end_close(struct scps_netif *nif)
{
    (void)nif;
}

static const struct scps_netif_ops end_ops = {"simlink", end_send, NULL, end_close};

static int attach(struct scps_world_end *e, int which)
{
    int rc = scps_stack_add_netif(e->host->stack, e->top);

    if (rc == 0 && e->top == &e->nif) {
        e->nif.flags |= SCPS_NETIF_VALUES;
        scps_nif_of(&e->nif)->values = end_send_segment;
    }
    for (struct scps_world_addrs *a = e->link->addrs; rc == 0 && a; a = a->next)
        rc = scps_stack_add_addr(e->host->stack, e->top, &a->addr[which], a->prefix);
    return rc;
}

static void detach(struct scps_world_end *e)
{
    /* The flag SCPS_NETIF_VALUES (segments may be sent as a struct scps_values) is cleared, because
     * a filter that is pushed onto this netif copies its flags and needs octets. */
    e->nif.flags &= ~SCPS_NETIF_VALUES;
    if (e->top->stack)
        scps_stack_remove_netif(e->host->stack, e->top);
}

static int remember(struct scps_link *l, const struct scps_addr *a, const struct scps_addr *b,
                    unsigned prefix)
{
    struct scps_world_addrs *n = scps_world_take(l->w, sizeof *n), **end;

    if (!n)
        return SCPS_ERR_NOMEM;
    n->addr[0] = *a;
    n->addr[1] = *b;
    n->prefix = prefix;
    for (end = &l->addrs; *end; end = &(*end)->next)
        ;
    *end = n;
    return 0;
}

/* Sets the rate (bytes/s) and the bytes of framing per packet that the network interface nif
 * reports to its stack, from the configuration of the direction in which it sends. */
static void say_rate(struct scps_netif *nif, const struct scps_link_config *dir)
{
    nif->rate = dir->rate_bps / 8;
    nif->overhead = scps_link_frame_bytes(dir, 64) - 64;
}

struct scps_link *scps_world_link(struct scps_world *w, struct scps_host *a,
                                  const struct scps_addr *addr_a, struct scps_host *b,
                                  const struct scps_addr *addr_b, unsigned prefix, uint32_t mtu,
                                  const struct scps_link_config *a_to_b,
                                  const struct scps_link_config *b_to_a)
{
    struct scps_link *l = scps_world_take(w, sizeof *l), **last;
    unsigned reserved = 0;

    if (!l)
        return NULL;
    l->w = w;
    if (scps_linkdir_init(&l->dir[0].dir, a_to_b, w->nlinks * 2, &w->alloc) != 0 ||
        scps_linkdir_init(&l->dir[1].dir, b_to_a, w->nlinks * 2 + 1, &w->alloc) != 0)
        goto fail;
    for (; reserved < 2; reserved++)
        if (scps_vclock_reserve(&w->clock) != 0)
            goto fail;
    if (remember(l, addr_a, addr_b, prefix) != 0)
        goto fail;
    for (unsigned i = 0; i < 2; i++) {
        struct scps_world_end *e = &l->end[i];
        e->nif.ops = &end_ops;
        e->nif.name = "simlink";
        e->nif.mtu = mtu ? mtu : 1500;
        e->nif.flags = SCPS_NETIF_HOLLOW;
        say_rate(&e->nif, i ? b_to_a : a_to_b);
        e->link = l;
        e->host = i ? b : a;
        e->top = &e->nif;
        e->out = &l->dir[i];
        l->dir[i].to = &l->end[1 - i];
        l->dir[i].due = SCPS_NEVER;
        scps_vevent_init(&l->dir[i].ev, SCPS_RANK(SCPS_RANK_LINK, w->nlinks * 2 + i));
    }
    /* The link is in the world's list before it is attached to a stack, and stays there if a later
     * step fails, because a stack that has known a netif must be freed before the netif. */
    for (last = &w->links; *last; last = &(*last)->next)
        ;
    *last = l;
    w->nlinks++;
    for (int i = 0; i < 2; i++)
        if (attach(&l->end[i], i) != 0) {
            detach(&l->end[0]);
            detach(&l->end[1]);
            return NULL;
        }
    return l;

fail:
    while (reserved-- > 0)
        scps_vclock_release(&w->clock);
    scps_world_link_free(l);
    return NULL;
}

int scps_link_add_addrs(struct scps_link *l, const struct scps_addr *addr_a,
                        const struct scps_addr *addr_b, unsigned prefix)
{
    int rc = remember(l, addr_a, addr_b, prefix);

    for (int i = 0; rc == 0 && i < 2; i++)
        rc = scps_stack_add_addr(l->end[i].host->stack, l->end[i].top, i ? addr_b : addr_a, prefix);
    return rc;
}

int scps_link_filter(struct scps_link *l, int end, struct scps_netif *filter)
{
    struct scps_world_end *e = &l->end[end];

    detach(e);
    e->top = scps_netif_push(e->top, filter);
    return attach(e, end);
}

struct scps_netif *scps_link_netif(const struct scps_link *l, int end)
{
    return l->end[end].top;
}

void scps_link_observe(struct scps_link *l, int dir, scps_verdict_fn *fn, void *ctx)
{
    l->dir[dir].dir.verdict_fn = fn;
    l->dir[dir].dir.verdict_ctx = ctx;
}

void scps_link_get_stats_sized(struct scps_link *l, int dir, struct scps_link_stats *out,
                               size_t size)
{
    struct scps_link_stats own;

    scps_linkdir_stats(&l->dir[dir].dir, l->w->now, &own);
    scps_sized_give(out, size, &own, sizeof own);
    scps_world_look_again(&l->dir[dir]);
}

int scps_link_change(struct scps_link *l, int dir, const struct scps_link_config *cfg)
{
    struct scps_world_direction *d = &l->dir[dir];
    int rc = scps_linkdir_change(&d->dir, l->w->now, cfg);

    if (!rc)
        say_rate(&l->end[dir].nif, cfg);
    scps_world_look_again(d);
    return rc;
}
