/* SPDX-License-Identifier: MIT */
/* The TCP header (RFC 9293 section 3.1) read and written as functions with external linkage: they
 * call the inline functions of tcp.h, which the stack's fast paths use directly. */
#include "wire/tcp.h"

#include <assert.h>

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
    uint64_t sum = 0;

    return scps_tcp_write(p, s, &sum);
}

uint16_t scps_tcp_checksum(const struct scps_addr *src, const struct scps_addr *dst,
                           const uint8_t *p, size_t hdr_len, const uint8_t *payload,
                           size_t payload_len)
{
    size_t len = hdr_len + payload_len;
    assert(hdr_len >= 20 && hdr_len % 4 == 0);
    /* These three words need no end-around carry, because their sum fits 64 bits. */
    uint64_t sum = (uint64_t)scps_sum_word(SCPS_IPPROTO_TCP) + scps_sum_word((uint16_t)len) +
                   scps_sum_word((uint16_t)(len >> 16));
    if (src->family == 6) {
        sum = scps_sum8(scps_sum8(sum, src->b), src->b + 8);
        sum = scps_sum8(scps_sum8(sum, dst->b), dst->b + 8);
    } else {
        sum = scps_sum4(scps_sum4(sum, src->b), dst->b);
    }
    sum = scps_sum8(scps_sum8(sum, p), p + 8);
    sum = scps_sum4(sum, p + 16);
    if (hdr_len == 32)
        sum = scps_sum4(scps_sum8(sum, p + 20), p + 28);
    else if (hdr_len > 20)
        sum = scps_sum_header(sum, p + 20, hdr_len - 20);
    if (payload && payload_len)
        sum = scps_sum_long(sum, payload, payload_len);
    return (uint16_t)~scps_sum_fold(sum);
}
