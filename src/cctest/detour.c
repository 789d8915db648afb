/* SPDX-License-Identifier: MIT */
/* A filter between the receivers' stack and the link. It delays acknowledgements to odd destination
 * ports (flows with an odd index), so that the round trip of these flows is longer, although the
 * data of all flows waits in one queue. All delayed acknowledgements are delayed by the same time,
 * so they stay in order. */
#include "cctest/detour.h"

#include "base/bytes.h"

#include <scps/error.h>

#include <stdlib.h>
#include <string.h>

struct held {
    struct held *next;
    struct scps_pkt pkt;
    uint8_t data[SCPS_MAX_HEADERS];
};
struct detour {
    struct scps_netif nif;
    struct scps_world *w;
    scps_dur delay;
    struct held *first, **last;
};

static bool is_odd(const struct scps_pkt *pkt)
{
    /* length of the IPv4 header; all addresses in these tests are IPv4 */
    size_t ip = (size_t)(pkt->data[0] & 15) * 4;

    return pkt->len >= ip + 4 && pkt->len <= SCPS_MAX_HEADERS && !pkt->payload &&
           scps_get16(pkt->data + ip + 2) & 1;
}

static struct held *take_held(struct detour *d)
{
    struct held *h = d->first;

    d->first = h->next;
    if (!d->first)
        d->last = &d->first;
    return h;
}

/* Called when the delay of a packet ends: sends the packet that has been held for longest, which is
 * the one whose delay has ended. */
static void release(void *ctx)
{
    struct detour *d = ctx;
    struct held *h = take_held(d);

    scps_netif_send(d->nif.lower, &h->pkt);
    free(h);
}

static int detour_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct detour *d = (struct detour *)nif;
    struct held *h;

    if (!is_odd(pkt))
        return scps_netif_send(nif->lower, pkt);
    h = calloc(1, sizeof *h);
    if (!h || scps_world_at(d->w, scps_world_now(d->w) + d->delay, release, d)) {
        free(h);
        return SCPS_ERR_NOMEM;
    }
    h->pkt = *pkt;
    memcpy(h->data, pkt->data, pkt->len);
    h->pkt.data = h->data;
    *d->last = h;
    d->last = &h->next;
    return 0;
}

static int detour_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    return scps_netif_recv(nif, pkt);
}

static void detour_close(struct scps_netif *nif)
{
    struct detour *d = (struct detour *)nif;

    while (d->first)
        free(take_held(d));
    free(d);
}

struct scps_netif *scps_cct_detour(struct scps_world *w, scps_dur delay)
{
    static const struct scps_netif_ops ops = {"detour",     detour_send, detour_recv,
                                              detour_close, NULL,        NULL};
    struct detour *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->nif.ops = &ops;
    d->nif.name = "detour";
    d->w = w;
    d->delay = delay;
    d->last = &d->first;
    return &d->nif;
}
