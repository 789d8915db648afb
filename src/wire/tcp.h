/* SPDX-License-Identifier: MIT */
/* The TCP header for the stack's packet path, where each call would cost as much as its work: what tcp.c offers under
 * the names of wire.h.
 *
 * Nearly all segments carry no option or NOP NOP timestamps, in those very octets: both ways have a
 * short cut for the two, everything else goes through tcpopt.c.  Nothing is cleared that `has` says
 * is absent.
 */
#ifndef SCPS_WIRE_TCP_H
#define SCPS_WIRE_TCP_H

#include <assert.h>

#include "base/bytes.h"
#include "base/cksum.h"
#include "wire/opt.h"

#define NOP_NOP_TS 0x0101080au

static inline int scps_tcp_read(const uint8_t *p, size_t avail, size_t seg_len, struct scps_seg *s)
{
    if (avail > seg_len)
        avail = seg_len;
    if (avail < 20)
        return SCPS_DROP_TRUNCATED;
    size_t hdr = p[12] >> 4 << 2;
    if (hdr < 20 || hdr > seg_len)
        return SCPS_DROP_BAD_TCP;
    if (hdr > avail)
        return SCPS_DROP_TRUNCATED;

    s->sport = scps_get16(p);
    s->dport = scps_get16(p + 2);
    s->seq = scps_get32(p + 4);
    s->ack = scps_get32(p + 8);
    s->flags = p[13];
    s->wnd = scps_get16(p + 14);
    s->urg = scps_get16(p + 18);
    s->nsack = 0;
    s->snack_vec_len = 0;
    s->hdr_len = (uint8_t)hdr;
    s->gso = 0;
    s->data = avail == seg_len ? p + hdr : NULL;
    s->len = (uint32_t)(seg_len - hdr);
    if (hdr == 20) {
        s->has = 0;
    } else if (hdr == 32 && scps_get32(p + 20) == NOP_NOP_TS) {
        s->has = SCPS_HAS_TS;
        s->tsval = scps_get32(p + 24);
        s->tsecr = scps_get32(p + 28);
    } else {
        s->has = 0;
        scps_tcpopt_parse(p + 20, hdr - 20, s);
    }
    return 0;
}

static inline size_t scps_tcp_write(uint8_t *p, const struct scps_seg *s)
{
    size_t hdr = 20;

    if (s->has == SCPS_HAS_TS) {
        scps_put32(p + 20, NOP_NOP_TS);
        scps_put32(p + 24, s->tsval);
        scps_put32(p + 28, s->tsecr);
        hdr = 32;
    } else if (s->has) {
        hdr += scps_tcpopt_build(p + 20, s);
    }
    scps_put32(p, (uint32_t)s->sport << 16 | s->dport);
    scps_put32(p + 4, s->seq);
    scps_put32(p + 8, s->ack);
    scps_put32(p + 12, (uint32_t)hdr << 26 | (s->flags & 0xffu) << 16 | s->wnd);
    scps_put32(p + 16, s->urg);
    return hdr;
}

static inline uint16_t scps_tcp_sum(const struct scps_addr *src, const struct scps_addr *dst,
                                    const uint8_t *p, size_t hdr_len, const uint8_t *payload,
                                    size_t payload_len)
{
    size_t len = hdr_len + payload_len;
    assert(hdr_len >= 20 && hdr_len % 4 == 0);
    /* up to six words of at most 32 bits: no carry yet */
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

#endif
