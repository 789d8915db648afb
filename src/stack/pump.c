/* SPDX-License-Identifier: MIT */
/* The driver step, scps_pump(), which all drivers share.
 *
 * If the device refuses a packet for now (SCPS_ERR_AGAIN), the packet is stored and is sent first
 * when the device is ready again; until then nothing is sent on that link. The payload is copied,
 * because it lies in a send buffer of the stack and is valid there only until the next call into
 * the stack.
 */
#include "stack/stack.h"

#include "base/bytes.h"

/* Stores a copy of the packet that the device has refused. */
static void keep(struct scps_stack *st, struct scps_nif *nif, const struct scps_pkt *pkt)
{
    size_t need = pkt->len + (pkt->payload ? pkt->payload_len : 0);

    scps_kept_put(&nif->kept, &st->env.alloc,
                  st->reserve ? st->reserve->packet : SCPS_MAX(need, nif->nif->mtu), pkt);
    if (nif->kept.pending)
        scps_nif_set_others(nif);
}

/* Sends packets through nif until there are none or the device refuses one. clk NULL: the time of
 * the stack does not advance meanwhile. */
static SCPS_ALWAYS_INLINE void pump_link(struct scps_stack *st, struct scps_nif *nif,
                                         const struct scps_clock *clk)
{
    uint8_t room[2048];
    struct scps_pkt out;

    if (nif->kept.pending) {
        if (scps_netif_send(nif->nif, &nif->kept.pkt) == SCPS_ERR_AGAIN) {
            scps_kept_refused(&nif->kept);
            return;
        }
        scps_kept_sent(&nif->kept);
    }
    if (nif->kept.blocked)
        return;
    do {
        out.data = room;
        out.cap = sizeof room;
        if (clk)
            scps_stack_clock(st, clk->now(clk->ctx));
        int n = scps_output_now(st, nif, &out);
        if (n <= 0)
            break;
        if (n != SCPS_OUTPUT_SENT && scps_netif_send(nif->nif, &out) == SCPS_ERR_AGAIN)
            keep(st, nif, &out);
    } while (!nif->kept.blocked && scps_nif_busy(nif));
}

void scps_pump(struct scps_stack *st, const struct scps_clock *clk)
{
    scps_stack_advance(st, clk->now(clk->ctx));
    for (struct scps_nif *nif = st->nifs; nif; nif = nif->next)
        if (scps_nif_busy(nif))
            pump_link(st, nif, clk);
    clk->wake_at(clk->ctx, scps_stack_deadline(st));
}

scps_time scps_pump_at(struct scps_stack *st, scps_time now)
{
    scps_stack_clock(st, now);
    scps_stack_advance(st, st->env.now);
    for (struct scps_nif *nif = st->nifs; nif; nif = nif->next)
        if (scps_nif_busy(nif))
            pump_link(st, nif, NULL);
    return scps_stack_deadline(st);
}
