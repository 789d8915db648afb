/* SPDX-License-Identifier: MIT */
/* The TCP header (RFC 9293 section 3.1); the work is in tcp.h, where the stack inlines it. */
#include "wire/tcp.h"

int scps_tcp_parse(const uint8_t *p, size_t avail, size_t seg_len, struct scps_seg *s)
{
    return scps_tcp_read(p, avail, seg_len, s);
}

size_t scps_tcp_hdr_len(const struct scps_seg *s)
{
    uint8_t scratch[OPT_ROOM];

    if (s->has == 0)
        return 20;
    if (s->has == SCPS_HAS_TS)
        return 32;
    return 20 + scps_tcpopt_build(scratch, s);
}

size_t scps_tcp_build(uint8_t *p, const struct scps_seg *s)
{
    return scps_tcp_write(p, s);
}

uint16_t scps_tcp_checksum(const struct scps_addr *src, const struct scps_addr *dst,
                           const uint8_t *p, size_t hdr_len, const uint8_t *payload,
                           size_t payload_len)
{
    return scps_tcp_sum(src, dst, p, hdr_len, payload, payload_len);
}
