/* SPDX-License-Identifier: MIT */
/* TCP/IP headers on a simulated link in the form of values, in place of the octets that the sending
 * stack would write and the receiving stack would parse.
 *
 * Only segments over IPv4 whose options are none, a time stamp, or a time stamp and SACK have
 * values; segments with compressed headers have none. A filter of an end and the observer of the
 * link get octets, the same as scps_ipout() writes (stack/ipout.c).
 */
#include "sim/values.h"

#include "base/bytes.h"

#define IP_LEN 20u /* octets of the IPv4 header */

_Static_assert(offsetof(struct scps_values, ts) <= IP_LEN + 20 &&
                   offsetof(struct scps_values, sack) <= IP_LEN + 32 &&
                   sizeof(struct scps_values) <= IP_LEN + 36 + 3 * 8,
               "values are not longer than the octets that they stand for");

/* Fills in the segment that scps_tcp_parse() would find, without its payload. */
static inline void read_segment(const struct scps_values *v, struct scps_seg *seg)
{
    memcpy(seg, v->seg, SCPS_VALUES_SEG);
    if (v->hdr_len > 20) {
        seg->tsval = v->ts[0];
        seg->tsecr = v->ts[1];
    }
    if (v->hdr_len > 32)
        for (unsigned i = 0; i < seg->nsack; i++)
            seg->sack[i] = v->sack[i];
    seg->implied = 0;
    seg->snack_vec_len = 0;
    seg->hdr_len = v->hdr_len;
    seg->tos = v->tos;
    seg->gso = 0;
}

/* Writes the octets of the headers over their values at `at`. payload: the bytes behind the
 * headers; NULL: payload_len zeros. */
static void write_headers(uint8_t *at, const uint8_t *payload, size_t payload_len)
{
    struct scps_ip ip = {.version = 4, .src.family = 4, .dst.family = 4, .proto = SCPS_IPPROTO_TCP};
    struct scps_values v;
    struct scps_seg seg;
    size_t hdr;

    memcpy(&v, at, offsetof(struct scps_values, ts));
    hdr = v.hdr_len;
    if (hdr > 20)
        memcpy(v.ts, at + offsetof(struct scps_values, ts), hdr > 32 ? hdr - 28 : 8);
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

    if (behind) /* The payload follows the headers. */
        write_headers(pkt->data, pkt->data + headers, behind);
    else /* The payload lies apart from the headers, or is hollow. */
        write_headers(pkt->data, pkt->payload, pkt->payload_len);
    pkt->cap = pkt->len;
}

bool scps_values_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    const struct scps_values *v = (const struct scps_values *)(const void *)pkt->data;
    struct scps_seg seg;
    size_t headers = IP_LEN + v->hdr_len, len = pkt->len + pkt->payload_len;

    read_segment(v, &seg);
    seg.len = (uint32_t)(len - headers);
    seg.data = pkt->payload_len ? NULL : pkt->data + headers;
    return scps_netif_recv_segment(nif, v->addrs, &seg, len, pkt->at) != SCPS_ERR_AGAIN;
}
