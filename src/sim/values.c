/* SPDX-License-Identifier: MIT */
/* TCP/IP headers on a simulated link in the form of values, in place of the octets that the sending
 * stack would write and the receiving stack would parse.
 *
 * Only segments over IPv4 whose options are none, a time stamp, or a time stamp and SACK have
 * values; segments with compressed headers have none. A filter (a netif between stack and link) and
 * the observer of the link get octets, the same as scps_ipout() of the stack writes.
 */
#include "sim/values.h"

#include "base/bytes.h"

#define IP_LEN 20u /* length of the IPv4 header, octets */

_Static_assert(offsetof(struct scps_values, seg) + SCPS_VALUES_ANY <= IP_LEN + 20 &&
                   offsetof(struct scps_values, sack) <= IP_LEN + 32 &&
                   sizeof(struct scps_values) <= IP_LEN + 36 + 3 * 8,
               "values are not longer than the octets that they stand for");

/* Fills *seg with the fields that scps_tcp_parse() would return for the headers that v stands for,
 * without the payload. */
static inline void read_segment(const struct scps_values *v, struct scps_seg *seg)
{
    if (v->hdr_len == 20) {
        memcpy(seg, v->seg, SCPS_VALUES_ANY);
    } else {
        memcpy(seg, v->seg, SCPS_VALUES_TS);
        if (v->hdr_len > 32)
            scps_values_sack(seg->sack, v->sack, seg->nsack);
    }
    seg->implied = 0;
    seg->snack_vec_len = 0;
    seg->hdr_len = v->hdr_len;
    seg->tos = v->tos;
    seg->gso = 0;
}

/* Overwrites the struct scps_values at `at` with the octets of the headers that it stands for.
 * payload: the bytes of the packet behind the headers, for the checksum; NULL: payload_len
 * zeros. */
static void write_headers(uint8_t *at, const uint8_t *payload, size_t payload_len)
{
    struct scps_ip ip = {.version = 4, .src.family = 4, .dst.family = 4, .proto = SCPS_IPPROTO_TCP};
    struct scps_values v;
    struct scps_seg seg;
    size_t hdr;

    hdr = at[offsetof(struct scps_values, hdr_len)];
    /* If the headers are shorter than struct scps_values, only so many octets exist at `at`, so
     * only these are copied. */
    memcpy(&v, at, SCPS_MIN(IP_LEN + hdr, sizeof v));
    read_segment(&v, &seg);
    memcpy(ip.src.b, v.addrs, 4);
    memcpy(ip.dst.b, v.addrs + 4, 4);
    ip.df = v.ip[0] & 0x40;
    ip.ttl = v.ip[2];
    ip.tos = v.tos;
    scps_ip_build(at, &ip, hdr + payload_len);
    scps_tcp_build(at + IP_LEN, &seg);
    scps_put16(at + IP_LEN + 16,
               scps_tcp_checksum(&ip.src, &ip.dst, at + IP_LEN, hdr, payload, payload_len));
}

void scps_values_to_octets(struct scps_pkt *pkt)
{
    const struct scps_values *v = (const struct scps_values *)(const void *)pkt->data;
    size_t headers = IP_LEN + v->hdr_len, behind = pkt->len - headers;

    if (behind) /* The payload follows the headers in memory. */
        write_headers(pkt->data, pkt->data + headers, behind);
    else /* The payload lies apart from the headers, or is hollow (counted, not stored). */
        write_headers(pkt->data, pkt->payload, pkt->payload_len);
    pkt->cap = pkt->len;
}

bool scps_values_recv(struct scps_netif *nif, const struct scps_values *v, uint32_t len,
                      uint32_t hollow, scps_time at)
{
    uint32_t headers = IP_LEN + v->hdr_len;
    struct scps_seg seg;

    read_segment(v, &seg);
    seg.len = len - headers;
    seg.data = hollow ? NULL : (const uint8_t *)v + headers;
    return scps_netif_recv_segment(nif, v->addrs, &seg, len, at) != SCPS_ERR_AGAIN;
}
