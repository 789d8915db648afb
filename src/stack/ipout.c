/* SPDX-License-Identifier: MIT */
/* From a segment to a packet: addresses, headers, checksum. The payload is lent, not copied. */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/cksum.h"
#include "wire/tcp.h"

/* What scps_ip_build does, for the header nearly every packet has: IPv4 without options, straight from c. */
static void ip4_header(uint8_t *p, const struct scps_conn *c, uint8_t tos, uint32_t total)
{
    const struct scps_conn_config *cfg = &c->cfg->c;
    uint64_t sum;

    scps_put32(p, UINT32_C(0x45000000) | (uint32_t)tos << 16 | (total & 0xffff));
    scps_put32(p + 4, cfg->df_off ? 0 : 0x4000);
    scps_put32(p + 8, (uint32_t)cfg->ttl << 24 | SCPS_IPPROTO_TCP << 16);
    memcpy(p + 12, c->local.b, 4);
    memcpy(p + 16, c->remote.b, 4);
    sum = scps_sum8(scps_sum4(0, p + 16), p);
    scps_put16(p + 10, (uint16_t)~scps_sum_fold(scps_sum8(sum, p + 8)));
}

void scps_ipout(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                struct scps_pkt *out)
{
    bool v4 = c->local.family == 4;
    size_t ip_len = v4 ? 20 : 40, tcp_len;
    uint8_t *tcp = out->data + ip_len;

    tcp_len = scps_tcp_write(tcp, seg);
    if (v4) {
        ip4_header(out->data, c, seg->tos, (uint32_t)(20 + tcp_len + seg->len));
    } else {
        struct scps_ip ip = {.src = c->local,
                             .dst = c->remote,
                             .version = 6,
                             .proto = SCPS_IPPROTO_TCP,
                             .tos = seg->tos,
                             .ttl = c->cfg->c.ttl};
        scps_ip_build(out->data, &ip, tcp_len + seg->len);
    }
    scps_put16(tcp + 16, scps_tcp_sum(&c->local, &c->remote, tcp, tcp_len, seg->data, seg->len));
    out->len = ip_len + tcp_len;
    out->payload = seg->data;
    out->payload_len = seg->len;
    out->gso = seg->gso;
    out->csum_ok = true;
    out->at = st->env.now;
}
