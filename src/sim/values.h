/* SPDX-License-Identifier: MIT */
/* TCP/IPv4 headers as values, for a link whose both ends are stacks of this process: values.c.
 *
 * Where such a packet stands in memory, the header's octets are replaced by a struct scps_values,
 * which is not longer than they are; what follows the header stays where it is. So lengths and
 * places are those of the packet, and scps_values_write() can put the octets back at any time. */
#ifndef SCPS_SIM_VALUES_H
#define SCPS_SIM_VALUES_H

#include "stack/stack.h"

#include <stddef.h>

/* Number of octets at the start of struct scps_seg, with the fields that every segment has. */
#define SCPS_VALUES_SEG offsetof(struct scps_seg, mss)

struct scps_values {
    uint8_t addrs[8]; /* source and destination, as they lie in an IPv4 packet */
    uint8_t ip[4];    /* octets 6 to 9 of the IP header: DF, TTL, protocol */
    uint8_t tos;
    uint8_t hdr_len; /* octets of the TCP header: 20, 32 with a time stamp, more with SACK */
    uint8_t unused[2];
    /* start of struct scps_seg, from the ports to the field before mss */
    uint8_t seg[SCPS_VALUES_SEG];
    /* The next fields are present as far as hdr_len, the length of the TCP header, says. */
    uint32_t ts[2]; /* TSval, TSecr */
    struct scps_sack sack[3];
};

/* scps_pkt.cap of a packet whose data is a struct scps_values. */
#define SCPS_PKT_VALUES SIZE_MAX

/* Returns the number of octets of the TCP and IP headers of segment seg of c; 0: the segment has no
 * form as values and must be sent as octets. */
static inline uint32_t scps_values_len(const struct scps_conn *c, const struct scps_seg *seg)
{
    if (c->local.family != 4 || c->s.agreed.caps & SCPS_CAP_COM || seg->gso)
        return 0;
    if (seg->has == SCPS_HAS_TS)
        return 20 + 32;
    if (seg->has == (SCPS_HAS_TS | SCPS_HAS_SACK) && seg->nsack > 0 && seg->nsack <= 3)
        return 20 + 36 + 8u * seg->nsack;
    return seg->has == 0 ? 20 + 20 : 0;
}
/* Stores the headers of segment seg as values in *v. headers: their length as octets. */
static inline void scps_values_put(struct scps_values *v, const struct scps_conn *c,
                                   const struct scps_seg *seg, uint32_t headers)
{
    memcpy(v->addrs, c->local.b, 4);
    memcpy(v->addrs + 4, c->remote.b, 4);
    memcpy(v->ip, (const uint8_t *)&c->s.ctx.cfg->ip4 + 2, sizeof v->ip);
    v->tos = seg->tos;
    v->hdr_len = (uint8_t)(headers - 20);
    memcpy(v->seg, seg, SCPS_VALUES_SEG);
    if (headers > 20 + 20) {
        v->ts[0] = seg->tsval;
        v->ts[1] = seg->tsecr;
    }
    if (headers > 20 + 32)
        for (unsigned i = 0; i < seg->nsack; i++)
            v->sack[i] = seg->sack[i];
}
/* Replaces the values in packet pkt by octets. */
void scps_values_to_octets(struct scps_pkt *pkt);
/* Passes up to nif the packet pkt, whose headers are values and whose payload, unless it is hollow,
 * follows them. Returns false if the receiver needs the headers as octets. */
bool scps_values_recv(struct scps_netif *nif, const struct scps_pkt *pkt);

#endif
