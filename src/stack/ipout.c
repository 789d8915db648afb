/* SPDX-License-Identifier: MIT */
/* From a segment to a packet: addresses, headers, checksum. The payload is lent, not copied. */
#include "stack/stack.h"

#include "base/bytes.h"

void scps_ipout(struct scps_stack *st, struct scps_conn *c, const struct scps_seg *seg,
                struct scps_pkt *out)
{
    struct scps_ip ip = {
        .src = c->local,
        .dst = c->remote,
        .version = c->local.family,
        .proto = SCPS_IPPROTO_TCP,
        .tos = seg->tos,
        .ttl = c->cfg->c.ttl,
        .df = !c->cfg->c.df_off,
    };
    size_t tcp_len = scps_tcp_hdr_len(seg), ip_len;
    uint8_t *tcp;

    ip_len = scps_ip_build(out->data, &ip, tcp_len + seg->len);
    tcp = out->data + ip_len;
    scps_tcp_build(tcp, seg);
    scps_put16(tcp + 16, scps_tcp_checksum(&ip.src, &ip.dst, tcp, tcp_len, seg->data, seg->len));
    out->len = ip_len + tcp_len;
    out->payload = seg->data;
    out->payload_len = seg->len;
    out->gso = seg->gso;
    out->csum_ok = true;
    out->at = st->env.now;
}
