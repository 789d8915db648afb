/* SPDX-License-Identifier: MIT */
/* A chain of netifs (network interfaces) has a device at its end and filters (such as PPP or
 * Ethernet framing) above it. A packet that is sent passes the filters on its way to the device; an
 * arriving packet passes them in reverse order on its way to the stack. */
#include "stack/stack.h"

#include "base/bytes.h"

int scps_netif_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    int err;

    for (;; nif = nif->upper) {
        nif->rx_packets++;
        nif->rx_bytes += pkt->len + pkt->payload_len;
        if (!nif->upper)
            break;
        if (nif->upper->ops && nif->upper->ops->recv)
            return nif->upper->ops->recv(nif->upper, pkt);
    }
    if (!nif->stack)
        return SCPS_DROP_NOT_OURS;
    err = scps_stack_input(nif->stack, nif, pkt);
    if (err)
        nif->rx_dropped++;
    return err;
}

int scps_netif_recv_segment(struct scps_netif *nif, const uint8_t addrs[8],
                            const struct scps_seg *seg, size_t len, scps_time at)
{
    int err;

    if (nif->upper || !nif->stack)
        return SCPS_ERR_AGAIN;
    err = scps_stack_input_segment(nif->stack, scps_nif_of(nif), addrs, seg, len, at);
    if (err == SCPS_ERR_AGAIN)
        return err;
    nif->rx_packets++;
    nif->rx_bytes += len;
    if (err)
        nif->rx_dropped++;
    return err;
}

int scps_netif_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    int err = nif->ops && nif->ops->send ? nif->ops->send(nif, pkt) : SCPS_ERR_AGAIN;

    if (!err) {
        nif->tx_packets++;
        nif->tx_bytes += pkt->len + pkt->payload_len;
    } else if (err != SCPS_ERR_AGAIN) {
        nif->tx_errors++;
    }
    return err;
}

void scps_netif_ready(struct scps_netif *nif)
{
    while (nif->upper)
        nif = nif->upper;
    if (nif->stack_priv)
        scps_kept_ready(&scps_nif_of(nif)->kept);
}

scps_time scps_netif_deadline(const struct scps_netif *top)
{
    scps_time first = SCPS_NEVER;

    for (; top; top = top->lower)
        if (top->ops && top->ops->deadline)
            first = SCPS_MIN(first, top->ops->deadline(top));
    return first;
}

void scps_netif_advance(struct scps_netif *top, scps_time now)
{
    struct scps_netif *nif = top;

    while (nif && nif->lower)
        nif = nif->lower;
    for (; nif; nif = nif == top ? NULL : nif->upper)
        if (nif->ops && nif->ops->advance)
            nif->ops->advance(nif, now);
}

struct scps_netif *scps_netif_push(struct scps_netif *nif, struct scps_netif *filter)
{
    nif->upper = filter;
    filter->lower = nif;
    filter->mtu = nif->mtu;
    filter->flags = nif->flags;
    if (!filter->name)
        filter->name = nif->name;
    return filter;
}

void scps_netif_close(struct scps_netif *top)
{
    while (top) {
        struct scps_netif *lower = top->lower;
        if (top->ops && top->ops->close)
            top->ops->close(top);
        top = lower;
    }
}
