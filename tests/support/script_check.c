/* SPDX-License-Identifier: MIT */
/* Checks each packet that the stack sends in a script, after expanding a compressed header. */
#include "script_priv.h"

bool script_parse(const uint8_t *p, size_t len, struct scps_ip *ip, struct scps_seg *s)
{
    if (scps_ip_parse(p, len, len, ip) || ip->proto != SCPS_IPPROTO_TCP)
        return false;
    return !scps_tcp_parse(p + ip->hdr_len, ip->total_len - ip->hdr_len,
                           ip->total_len - ip->hdr_len, s);
}

/* Replaces a compressed header by the TCP header that it stands for. */
void script_expand(struct script *t, struct sent *sent)
{
    uint8_t whole[4000];
    struct scps_ip ip;
    struct scps_seg s;
    const uint8_t *p;

    sent->wire = (uint32_t)sent->len;
    if (scps_ip_parse(sent->p, sent->len, sent->len, &ip) || ip.proto != SCPS_IPPROTO_SCPS_COMP)
        return;
    p = sent->p + ip.hdr_len;
    sent->compressed = true;
    if (!t->p->may_compress)
        BROKEN("a compressed header without agreement");
    if (p[0] != t->p->our_id)
        BROKEN("connection id %u, not %u", p[0], t->p->our_id);
    if (scps_comp_proto(&ip.src, &ip.dst, p, ip.total_len - ip.hdr_len, NULL, 0) !=
        (t->cfg.comp_proto ? t->cfg.comp_proto : SCPS_IPPROTO_SCPS_COMP))
        BROKEN("wrong checksum of a compressed segment");
    if (scps_comp_parse(p, ip.total_len - ip.hdr_len, ip.total_len - ip.hdr_len, &t->p->comp_rx,
                        &s))
        BROKEN("a compressed header that means nothing");
    if (sent->len > t->mtu)
        BROKEN("a compressed packet of %zu bytes; MTU %u", sent->len, t->mtu);
    s.sport = t->us.port;
    s.dport = t->them.port;
    ip.proto = SCPS_IPPROTO_TCP;
    size_t hdr = scps_tcp_hdr_len(&s), n = scps_ip_build(whole, &ip, hdr + s.len);
    scps_tcp_build(whole + n, &s);
    memcpy(whole + n + hdr, s.data, s.len);
    scps_put16(whole + n + 16,
               scps_tcp_checksum(&ip.src, &ip.dst, whole + n, hdr, whole + n + hdr, s.len));
    free(sent->p);
    sent->len = n + hdr + s.len;
    sent->p = malloc(sent->len);
    memcpy(sent->p, whole, sent->len);
}

void script_inspect(struct script *t, const struct sent *sent)
{
    const uint8_t *p = sent->p;
    size_t len = sent->len;
    struct script_priv *v = t->p;
    struct scps_ip ip;
    struct scps_seg s;
    char text[500];
    int why = scps_ip_parse(p, len, len, &ip);

    if (why)
        BROKEN("the stack sent no IP packet: %s", scps_drop_name((enum scps_drop)why));
    if (ip.proto != SCPS_IPPROTO_TCP) {
        char line[500] = "> ";
        scps_print_packet(p, len, line + 2, sizeof line - 2);
        script_log(t, line);
        return;
    }
    if (!script_parse(p, len, &ip, &s))
        BROKEN("the stack sent no TCP segment");
    if (ip.total_len != len || (sent->wire > t->mtu && !(t->nif.flags & SCPS_NETIF_GSO)))
        BROKEN("a packet of %zu bytes says %u; MTU %u", len, (unsigned)ip.total_len, t->mtu);
    if (scps_tcp_checksum(&ip.src, &ip.dst, p + ip.hdr_len, s.hdr_len, s.data, s.len))
        BROKEN("wrong TCP checksum");
    if (!scps_addr_equal(&ip.src, &t->us.addr) || !scps_addr_equal(&ip.dst, &t->them.addr))
        BROKEN("wrong addresses");
    bool flow = s.dport == t->them.port && (!t->us.port || s.sport == t->us.port);
    if (flow && s.flags & SCPS_SYN) {
        v->iss = s.seq;
        v->know_iss = true;
        v->our_shift = s.has & SCPS_HAS_WSCALE ? s.wscale : 0;
        v->have_edge = false;
        t->us.port = s.sport;
        v->our_id = s.conn_id;
        v->comp_rx = (struct scps_comp_rx){0};
        v->may_compress =
            s.has & SCPS_HAS_CAPS && s.caps & SCPS_CAP_COM && t->peer.caps & SCPS_CAP_COM;
    }
    if (flow)
        scps_comp_learn(&v->comp_rx, &s);
    script_describe(t, &s, true, text, sizeof text);
    if (sent->compressed)
        strcat(text, " (compressed)");
    script_log(t, text);
    if (!flow || !v->know_iss)
        return;
    if (s.has & SCPS_HAS_TS)
        v->tsval_seen = s.tsval;
    if (s.flags & SCPS_RST)
        return;
    for (uint32_t i = 0; i < s.len; i++) {
        int64_t off = (int32_t)(s.seq - v->iss) + (int64_t)i;
        uint8_t want = t->cfg.hollow ? 0 : script_ours(off);
        if (off >= 1 && off <= v->written && s.data[i] != want)
            BROKEN("octet %lld of the stream is %02x, not %02x", (long long)off, s.data[i], want);
        if ((off < 1 && !(off == 0 && s.len == 1)) || off > v->written)
            /* a keep-alive carries one octet that was acknowledged before */
            if (!(s.len == 1 && off <= v->written))
                BROKEN("octet %lld of the stream was never written", (long long)off);
    }
    if (s.flags & SCPS_ACK && !(s.flags & SCPS_SYN)) {
        unsigned shift = v->peer_shift ? v->our_shift : 0;
        uint32_t edge = s.ack + ((uint32_t)s.wnd << shift);
        if (v->have_edge) {
            if ((int32_t)(s.ack - v->ack_seen) < 0)
                BROKEN("the acknowledgement moved back by %d", (int)(v->ack_seen - s.ack));
            int32_t back = (int32_t)(v->edge_seen - edge);
            if (back >= (int32_t)(1u << shift) && !t->window_may_shrink)
                BROKEN("the right edge of the window moved back by %d", (int)back);
            if (back > 0)
                edge = v->edge_seen;
        }
        v->have_edge = true;
        v->ack_seen = s.ack;
        v->edge_seen = edge;
    }
}
