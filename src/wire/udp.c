/* SPDX-License-Identifier: MIT */
/* UDP datagrams (RFC 768): checked and taken apart, so that a stranger can be told that nobody
 * listens.
 *
 * A checksum of 0 means none in IPv4; IPv6 forbids it (RFC 8200 section 8.1).  Octets beyond the
 * datagram's own length are padding.
 */
#include "base/bytes.h"
#include <scps/wire.h>

int scps_udp_parse(const struct scps_ip *ip, const uint8_t *p, size_t len, struct scps_udp *u)
{
    if (len < 8)
        return SCPS_DROP_TRUNCATED;
    size_t n = scps_get16(p + 4);
    if (n < 8 || n > len)
        return SCPS_DROP_BAD_UDP;
    if (scps_get16(p + 6)) {
        uint64_t sum = scps_cksum_add(0, p, n);
        sum = scps_cksum_pseudo(sum, &ip->src, &ip->dst, SCPS_IPPROTO_UDP, (uint32_t)n);
        if (scps_cksum_fold(sum))
            return SCPS_DROP_BAD_CHECKSUM;
    } else if (ip->version == 6) {
        return SCPS_DROP_BAD_CHECKSUM;
    }
    u->sport = scps_get16(p);
    u->dport = scps_get16(p + 2);
    u->data = p + 8;
    u->len = n - 8;
    return 0;
}
