/* SPDX-License-Identifier: MIT */
/* A filter that keeps copies of the packets that a device passes up, for tests of devices without a
 * stack. */
#ifndef SCPS_TEST_IOCATCH_H
#define SCPS_TEST_IOCATCH_H

#include <scps/netif.h>

#include <stdlib.h>
#include <string.h>

struct iocatch {
    struct scps_netif nif;
    unsigned n, cap;
    struct caught {
        uint8_t *data;
        size_t len;
        scps_time at;
        uint16_t gso;
        bool csum_ok;
        uint8_t ecn;
    } * v;
};

static inline int iocatch_recv(struct scps_netif *nif, const struct scps_pkt *p)
{
    struct iocatch *c = (struct iocatch *)nif;
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 64;
        c->v = realloc(c->v, c->cap * sizeof *c->v);
    }
    c->v[c->n] = (struct caught){malloc(p->len), p->len, p->at, p->gso, p->csum_ok, p->ecn};
    memcpy(c->v[c->n++].data, p->data, p->len);
    return 0;
}

static inline void iocatch_clear(struct iocatch *c)
{
    while (c->n)
        free(c->v[--c->n].data);
}

static inline int iocatch_send(struct scps_netif *nif, const struct scps_pkt *p)
{
    return scps_netif_send(nif->lower, p);
}

static inline void iocatch_close(struct scps_netif *nif)
{
    struct iocatch *c = (struct iocatch *)nif;
    iocatch_clear(c);
    free(c->v);
    free(c);
}

static const struct scps_netif_ops iocatch_ops = {"catch", iocatch_send, iocatch_recv,
                                                  iocatch_close};

/* Pushes the filter on dev. scps_netif_close(&catch->nif) closes both. */
static inline struct iocatch *iocatch_push(struct scps_netif *dev)
{
    struct iocatch *c = calloc(1, sizeof *c);
    c->nif.ops = &iocatch_ops;
    c->nif.mtu = dev->mtu;
    scps_netif_push(dev, &c->nif);
    return c;
}

#endif
