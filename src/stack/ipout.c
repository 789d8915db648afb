/* SPDX-License-Identifier: MIT */
/* Builds a packet from a segment: addresses, headers, checksum. The payload is not copied: the
 * packet points to the data in the send buffer. */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/cksum.h"
#include "wire/tcp.h"

/* Writes the IPv4 header of a packet of connection c, without options, to p. total: length of the
 * packet, bytes; addrs: sum of the 16-bit words of both addresses, for the checksum. */
static inline void ip4_header(uint8_t *p, const struct scps_conn *c, uint8_t tos, uint32_t total,
                              uint64_t addrs)
{
    uint64_t sum = scps_sum_plus(addrs, c->s.ctx.cfg->ip4);

    sum = scps_sum_put32(sum, p, UINT32_C(0x45000000) | (uint32_t)tos << 16 | (total & 0xffff));
    memcpy(p + 4, &c->s.ctx.cfg->ip4, 8);
    memcpy(p + 12, c->local.b, 4);
    memcpy(p + 16, c->remote.b, 4);
    scps_sum_finish(p + 10, sum);
}

static SCPS_NOINLINE uint64_t sum6(const struct scps_conn *c)
{
    return scps_sum_header(scps_sum_header(0, c->local.b, 16), c->remote.b, 16);
}

void scps_ipout(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                bool no_csum, struct scps_pkt *out)
{
    if (c->s.agreed.caps & SCPS_CAP_COM && scps_comp_output(st, c, seg, out))
        return;

    bool v4 = c->local.family == 4;
    size_t ip_len = v4 ? 20 : 40, tcp_len;
    uint8_t *tcp = out->data + ip_len;
    uint64_t addrs = v4 ? scps_sum4(scps_sum4(0, c->local.b), c->remote.b) : sum6(c), sum = 0;

    tcp_len = scps_tcp_write(tcp, seg, &sum);
    if (v4) {
        ip4_header(out->data, c, seg->tos, (uint32_t)(20 + tcp_len + seg->len), addrs);
    } else {
        struct scps_ip ip = {.src = c->local,
                             .dst = c->remote,
                             .version = 6,
                             .proto = SCPS_IPPROTO_TCP,
                             .tos = seg->tos,
                             .ttl = c->s.ctx.cfg->c.ttl};
        scps_ip_build(out->data, &ip, tcp_len + seg->len);
    }
    /* Adds the pseudo-header to the sum: addresses, protocol and length, which fits 16 bits. */
    sum = scps_sum_plus(sum, scps_sum_word(SCPS_IPPROTO_TCP) +
                                 (uint64_t)scps_sum_word((uint16_t)(tcp_len + seg->len)));
    sum = scps_sum_plus(sum, addrs);
    if (seg->data && seg->len && !no_csum)
        sum = scps_sum_long(sum, seg->data, seg->len);
    scps_sum_finish(tcp + 16, sum);
    out->len = ip_len + tcp_len;
    out->payload = seg->data;
    out->payload_len = seg->len;
    out->gso = seg->gso;
    out->ecn = 0;
    out->csum_ok = true;
    out->at = st->env.now;
}
