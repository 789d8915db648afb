/* SPDX-License-Identifier: MIT */
/* The TCP header, inline for the stack's packet path, where a call would cost as much as its work.
 * tcp.c has the same functions under the names of wire.h.
 *
 * Nearly all segments have no options, or begin with NOP NOP timestamps: both directions have a
 * fast path for these two cases, and tcpopt.c handles all others. Fields that `has` marks as absent
 * are not cleared.
 */
#ifndef SCPS_WIRE_TCP_H
#define SCPS_WIRE_TCP_H

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
    s->implied = 0;
    s->snack_vec_len = 0;
    s->hdr_len = (uint8_t)hdr;
    s->gso = 0;
    s->data = avail == seg_len ? p + hdr : NULL;
    s->len = (uint32_t)(seg_len - hdr);
    s->has = 0;
    if (hdr >= 32 && scps_get32(p + 20) == NOP_NOP_TS) {
        s->has = SCPS_HAS_TS;
        s->tsval = scps_get32(p + 24);
        s->tsecr = scps_get32(p + 28);
        if (hdr > 32)
            scps_tcpopt_parse(p + 32, hdr - 32, s);
    } else if (hdr > 20) {
        scps_tcpopt_parse(p + 20, hdr - 20, s);
    }
    return 0;
}

/* Writes the TCP header and options of s to p, with a checksum of zero, and adds their 16-bit words
 * to the checksum's sum *sum. Returns the length, bytes. */
static inline size_t scps_tcp_write(uint8_t *p, const struct scps_seg *s, uint64_t *sum)
{
    size_t hdr = 20;
    uint64_t n = *sum;

    if (s->has == SCPS_HAS_TS) {
        n = scps_sum_put32(n, p + 20, NOP_NOP_TS);
        n = scps_sum_put32(n, p + 24, s->tsval);
        n = scps_sum_put32(n, p + 28, s->tsecr);
        hdr = 32;
    } else if (s->has) {
        hdr += scps_tcpopt_build(p + 20, s);
    }
    n = scps_sum_put32(n, p, (uint32_t)s->sport << 16 | s->dport);
    n = scps_sum_put32(n, p + 4, s->seq);
    n = scps_sum_put32(n, p + 8, s->ack);
    n = scps_sum_put32(n, p + 12, (uint32_t)hdr << 26 | (s->flags & 0xffu) << 16 | s->wnd);
    n = scps_sum_put32(n, p + 16, s->urg);
    *sum = s->has & (uint16_t)~SCPS_HAS_TS ? scps_sum_header(n, p + 20, hdr - 20) : n;
    return hdr;
}

#endif
