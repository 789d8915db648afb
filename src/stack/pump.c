/* SPDX-License-Identifier: MIT */
/* The driver step, scps_pump(), that all drivers share.
 *
 * A packet the device refuses for now (SCPS_ERR_AGAIN) is kept, its lent payload copied, and goes
 * first when the device is ready again; until then that link is asked for nothing.
 */
#include "stack/stack.h"

#include "base/bytes.h"

/* Keeps the packet that the device refused. Without memory it is lost, as on any full link. */
static void keep(struct scps_stack *st, struct scps_nif *nif, const struct scps_pkt *pkt)
{
    const struct scps_alloc *a = &st->env.alloc;
    size_t real = pkt->payload ? pkt->payload_len : 0, need = pkt->len + real;

    nif->blocked = true;
    if (nif->kept_mem && nif->kept.cap < need) {
        a->free(a->ctx, nif->kept_mem, nif->kept.cap);
        nif->kept_mem = NULL;
    }
    if (!nif->kept_mem) {
        size_t cap = st->reserve ? st->reserve->packet : SCPS_MAX(need, nif->nif->mtu);
        if (cap < need)
            return;
        nif->kept_mem = a->alloc(a->ctx, cap);
        if (!nif->kept_mem)
            return;
        nif->kept.cap = cap;
    }
    memcpy(nif->kept_mem, pkt->data, pkt->len);
    if (real)
        memcpy(nif->kept_mem + pkt->len, pkt->payload, real);
    {
        size_t cap = nif->kept.cap;
        nif->kept = *pkt;
        nif->kept.cap = cap;
    }
    nif->kept.data = nif->kept_mem;
    nif->kept.payload = real ? nif->kept_mem + pkt->len : NULL;
    nif->pending = nif->others = true;
}

/* clk NULL: the time is that of the stack and does not advance. */
static SCPS_ALWAYS_INLINE void pump_link(struct scps_stack *st, struct scps_nif *nif,
                                         const struct scps_clock *clk)
{
    uint8_t room[2048];
    struct scps_pkt out;

    if (nif->pending) {
        if (scps_netif_send(nif->nif, &nif->kept) == SCPS_ERR_AGAIN) {
            nif->blocked = true;
            return;
        }
        nif->pending = false;
    }
    if (nif->blocked)
        return;
    do {
        out.data = room;
        out.cap = sizeof room;
        if (scps_stack_output(st, nif->nif, clk ? clk->now(clk->ctx) : st->env.now, &out) != 1)
            break;
        if (scps_netif_send(nif->nif, &out) == SCPS_ERR_AGAIN)
            keep(st, nif, &out);
    } while (!nif->blocked && scps_nif_busy(nif));
}

void scps_pump(struct scps_stack *st, const struct scps_clock *clk)
{
    scps_stack_advance(st, clk->now(clk->ctx));
    for (uint32_t i = 0; i < st->n_nifs; i++)
        if (scps_nif_busy(st->nifs[i]))
            pump_link(st, st->nifs[i], clk);
    clk->wake_at(clk->ctx, scps_stack_deadline(st));
}

scps_time scps_pump_at(struct scps_stack *st, scps_time now)
{
    scps_stack_advance(st, now);
    for (uint32_t i = 0; i < st->n_nifs; i++)
        if (scps_nif_busy(st->nifs[i]))
            pump_link(st, st->nifs[i], NULL);
    return scps_stack_deadline(st);
}
