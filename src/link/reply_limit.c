/* SPDX-License-Identifier: MIT */
/* Limits the octets of replies that ARP, Neighbour Discovery and the control protocols of PPP send
 * (reply_limit.h). */
#include "link/reply_limit.h"

#include "base/bytes.h"

#define MILLION UINT64_C(1000000)

/* Returns the rate, octets/s, at which the token bucket fills that limits the replies of ARP,
 * Neighbour Discovery and the control protocols of PPP: 1/SCPS_REPLY_SHARE of the rate of the line,
 * which the lowest netif of the chain has; if that is unknown, `unknown`. */
static uint64_t share(const struct scps_netif *nif, uint64_t unknown)
{
    while (nif->lower)
        nif = nif->lower;
    return nif->rate ? SCPS_MAX(nif->rate / SCPS_REPLY_SHARE, 1) : unknown;
}

bool scps_reply_limit_take(struct scps_reply_limit *r, const struct scps_netif *nif,
                           uint64_t unknown, size_t n, scps_time now)
{
    uint64_t rate = share(nif, unknown), waited = now > r->at ? (uint64_t)(now - r->at) : 0;

    /* The comparison keeps the product below within 64 bits, however long the wait was. */
    r->missing -= waited > r->missing / rate ? r->missing : waited * rate;
    r->at = now;
    if (r->missing + n * MILLION > SCPS_REPLY_BURST * MILLION)
        return false;
    r->missing += n * MILLION;
    return true;
}
