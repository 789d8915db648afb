/* SPDX-License-Identifier: MIT */
/* TCP/IPv4 headers as values of a structure instead of octets, for a link that joins two stacks of
 * this process: values.c.
 *
 * Where such a packet stands in memory, the header's octets are replaced by a struct scps_values,
 * which is not longer than they are; what follows the header stays where it is. So lengths and
 * places are those of the packet, and scps_values_to_octets() can write the octets at any time. */
#ifndef SCPS_SIM_VALUES_H
#define SCPS_SIM_VALUES_H

#include "stack/stack.h"

#include <stddef.h>
#include <string.h>

/* How many octets from the beginning of struct scps_seg are stored in scps_values.seg:
 * SCPS_VALUES_ANY for a segment without options (the fields that every segment has), SCPS_VALUES_TS
 * for one with a time stamp (the fields up to the time stamp option). */
#define SCPS_VALUES_ANY offsetof(struct scps_seg, mss)
#define SCPS_VALUES_TS  offsetof(struct scps_seg, sack)

struct scps_values {
    uint8_t addrs[8]; /* source and destination, as they lie in an IPv4 packet */
    /* octets 6 to 9 of the IPv4 header: flags (DF) and fragment offset, TTL, protocol */
    uint8_t ip[4];
    /* length of the TCP header that this structure replaces, octets: 20, 32 with a time stamp, more
     * with SACK blocks */
    uint8_t hdr_len;
    uint8_t tos;
    uint8_t unused[2];
    /* the beginning of the struct scps_seg that the receiving stack gets in place of parsing
     * octets: SCPS_VALUES_ANY octets, or SCPS_VALUES_TS if the segment has a time stamp */
    uint8_t seg[SCPS_VALUES_TS];
    struct scps_sack sack[3]; /* SACK blocks, as many as the field nsack in `seg` says */
};

/* Value of scps_pkt.cap that marks a packet whose data is a struct scps_values. */
#define SCPS_PKT_VALUES SIZE_MAX

/* Copies n SACK blocks, 0 to 3. */
static inline void scps_values_sack(struct scps_sack *to, const struct scps_sack *from, unsigned n)
{
    if (n & 2)
        memcpy(to, from, 2 * sizeof *to);
    if (n & 1)
        to[n - 1] = from[n - 1];
}
/* Returns the number of octets of the TCP and IP headers of segment seg of c; 0: struct scps_values
 * cannot hold the headers of this segment, which must be sent as octets. */
static inline uint32_t scps_values_len(const struct scps_conn *c, const struct scps_seg *seg)
{
    if (c->local.family != 4 || c->s.agreed.caps & SCPS_CAP_COM)
        return 0;
    if (seg->has == SCPS_HAS_TS)
        return 20 + 32;
    if (seg->has == (SCPS_HAS_TS | SCPS_HAS_SACK) && seg->nsack > 0 && seg->nsack <= 3)
        return 20 + 36 + 8u * seg->nsack;
    return seg->has == 0 ? 20 + 20 : 0;
}
/* Stores the header fields of segment seg in the structure *v, from which scps_values_to_octets()
 * can write the octets of the headers later. headers: number of those octets
 * (scps_values_len()). */
static inline void scps_values_put(struct scps_values *v, const struct scps_conn *c,
                                   const struct scps_seg *seg, uint32_t headers)
{
    memcpy(v->addrs, c->local.b, 4);
    memcpy(v->addrs + 4, c->remote.b, 4);
    memcpy(v->ip, (const uint8_t *)&c->s.ctx.cfg->ip4 + 2, sizeof v->ip);
    v->hdr_len = (uint8_t)(headers - 20);
    v->tos = seg->tos;
    if (headers == 20 + 20) {
        memcpy(v->seg, seg, SCPS_VALUES_ANY);
        return;
    }
    memcpy(v->seg, seg, SCPS_VALUES_TS);
    if (headers > 20 + 32)
        scps_values_sack(v->sack, seg->sack, seg->nsack);
}
/* Replaces the struct scps_values at the start of packet pkt by the octets of the headers that it
 * stands for. */
void scps_values_to_octets(struct scps_pkt *pkt);
/* Passes a segment, whose headers are the values v, to the stack above nif. at: its time of
 * arrival, µs; len: octets of the IP packet; hollow: octets at the end of its payload that are
 * counted but not stored. The other octets of the payload follow the headers in memory. Returns
 * false if the receiver needs the headers as octets. */
bool scps_values_recv(struct scps_netif *nif, const struct scps_values *v, uint32_t len,
                      uint32_t hollow, scps_time at);

#endif
