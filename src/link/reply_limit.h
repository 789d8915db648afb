/* SPDX-License-Identifier: MIT */
/* Limits the replies of a link's protocols (ARP, Neighbour Discovery, the control packets of PPP),
 * which every station of the link can ask for: a token bucket, counted in octets of the line.
 *
 * Replies get 1/SCPS_REPLY_SHARE of the line's rate (scps_netif.rate of the device), the same share
 * as the replies of a stack to packets that belong to no connection, and SCPS_REPLY_BURST octets at
 * once. A request that gets no reply is like one that was lost: stations that need the reply repeat
 * it. */
#ifndef SCPS_LINK_REPLY_LIMIT_H
#define SCPS_LINK_REPLY_LIMIT_H

#include <scps/netif.h>

#define SCPS_REPLY_SHARE 16
/* Size of the token bucket: octets of replies that may be sent at once after a pause. This is more
 * than the negotiation of a PPP link needs, and enough for 97 ARP replies. */
#define SCPS_REPLY_BURST 8192

/* The token bucket of the replies; all zeros: it is full. Only reply_limit.c writes it. */
struct scps_reply_limit {
    uint64_t missing; /* tokens that the bucket lacks, millionths of an octet */
    scps_time at;     /* time at which `missing` was calculated, µs */
};

/* Returns true if a reply of n octets may be sent at now, µs, and takes its tokens. nif: a netif of
 * the chain that ends with the link's device. unknown: rate of replies, octets/s, that is used if
 * the device does not give the rate of its line. */
bool scps_reply_limit_take(struct scps_reply_limit *r, const struct scps_netif *nif,
                           uint64_t unknown, size_t n, scps_time now);

#endif
