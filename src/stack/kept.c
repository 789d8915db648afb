/* SPDX-License-Identifier: MIT */
/* Stores the packet that a device has refused until the device is ready again (kept.h). */
#include "stack/kept.h"

#include <string.h>

void scps_kept_fini(struct scps_kept *k, const struct scps_alloc *a)
{
    if (k->mem)
        a->free(a->ctx, k->mem, k->pkt.cap);
    k->mem = NULL;
    k->pending = false;
}

void scps_kept_put(struct scps_kept *k, const struct scps_alloc *a, size_t cap,
                   const struct scps_pkt *pkt)
{
    size_t real = pkt->payload ? pkt->payload_len : 0, need = pkt->len + real;

    k->blocked = true;
    if (k->mem && k->pkt.cap < need)
        scps_kept_fini(k, a);
    if (!k->mem) {
        k->mem = cap < need ? NULL : a->alloc(a->ctx, cap);
        if (!k->mem)
            return;
        k->pkt.cap = cap;
    }
    memcpy(k->mem, pkt->data, pkt->len);
    if (real)
        memcpy(k->mem + pkt->len, pkt->payload, real);
    cap = k->pkt.cap;
    k->pkt = *pkt;
    k->pkt.cap = cap;
    k->pkt.data = k->mem;
    k->pkt.payload = real ? k->mem + pkt->len : NULL;
    k->pending = true;
}

void scps_kept_refused(struct scps_kept *k)
{
    k->blocked = true;
}

void scps_kept_sent(struct scps_kept *k)
{
    k->pending = false;
}

void scps_kept_drop_from(struct scps_kept *k, const struct scps_addr *src)
{
    const bool ipv6 = k->pending && k->pkt.data[0] >> 4 == 6;

    if (k->pending && src->family == (ipv6 ? 6 : 4) &&
        !memcmp(k->pkt.data + (ipv6 ? 8 : 12), src->b, ipv6 ? 16 : 4))
        k->pending = false;
}

void scps_kept_ready(struct scps_kept *k)
{
    k->blocked = false;
}
