/* SPDX-License-Identifier: MIT */
/* Parses UDP datagrams (RFC 768), and builds their header.
 *
 * A checksum of 0 means none in IPv4, and is forbidden in IPv6 (RFC 8200 section 8.1). A checksum
 * that is computed as 0 is sent as 0xffff. Octets beyond the datagram's own length are padding.
 */
#include "base/bytes.h"
#include <scps/wire.h>

enum { HDR = 8 };

/* Adds the payload of datagram u, in its two pieces `data` and `apart`, to a checksum's sum. Octets
 * that are counted but not stored (hollow) stand for zeros and add nothing. */
static uint64_t sum_data(uint64_t sum, const struct scps_udp *u)
{
    uint16_t apart;

    sum = scps_cksum_add(sum, u->data, u->len);
    if (!u->apart)
        return sum;
    if (u->len % 2 == 0)
        return scps_cksum_add(sum, u->apart, u->apart_len);
    /* The piece `apart` begins at an odd offset of the datagram, so the bytes of its sum are
     * exchanged (RFC 1071 section 2(B)). */
    apart = (uint16_t)~scps_cksum_fold(scps_cksum_add(0, u->apart, u->apart_len));
    return sum + (uint16_t)(apart << 8 | apart >> 8);
}

static uint16_t checksum(const struct scps_addr *src, const struct scps_addr *dst, const uint8_t *p,
                         const struct scps_udp *u)
{
    uint64_t sum = sum_data(scps_cksum_add(0, p, HDR), u);

    return scps_cksum_fold(scps_cksum_pseudo(sum, src, dst, SCPS_IPPROTO_UDP,
                                             (uint32_t)(HDR + u->len + u->apart_len)));
}

int scps_udp_parse_pieces(const struct scps_ip *ip, const uint8_t *p, size_t len,
                          const uint8_t *apart, size_t apart_len, bool csum_ok, struct scps_udp *u)
{
    struct scps_udp got = {0};
    size_t n;

    if (len < HDR)
        return SCPS_DROP_TRUNCATED;
    n = scps_get16(p + 4);
    if (n < HDR || n > len + apart_len)
        return SCPS_DROP_BAD_UDP;
    got.sport = scps_get16(p);
    got.dport = scps_get16(p + 2);
    got.data = p + HDR;
    got.len = SCPS_MIN(n, len) - HDR;
    got.apart_len = n - HDR - got.len;
    got.apart = got.apart_len ? apart : NULL;
    if (!csum_ok) {
        bool none = !scps_get16(p + 6);
        if (none ? ip->version == 6 : checksum(&ip->src, &ip->dst, p, &got) != 0)
            return SCPS_DROP_BAD_CHECKSUM;
    }
    *u = got;
    return 0;
}

int scps_udp_parse(const struct scps_ip *ip, const uint8_t *p, size_t len, struct scps_udp *u)
{
    return scps_udp_parse_pieces(ip, p, len, NULL, 0, false, u);
}

size_t scps_udp_build(uint8_t *p, const struct scps_addr *src, const struct scps_addr *dst,
                      const struct scps_udp *u)
{
    uint16_t sum;

    scps_put16(p, u->sport);
    scps_put16(p + 2, u->dport);
    scps_put16(p + 4, (uint16_t)(HDR + u->len + u->apart_len));
    scps_put16(p + 6, 0);
    sum = checksum(src, dst, p, u);
    scps_put16(p + 6, sum ? sum : 0xffff);
    return HDR;
}
