/* SPDX-License-Identifier: MIT */
/* From a packet to its owner: checks, the view, the connection; answers to those that have none. */
#include "stack/stack.h"

#include "base/bytes.h"

static bool multicast(const struct scps_addr *a)
{
    return a->family == 4 ? a->b[0] >= 224 : a->b[0] == 0xff;
}

static bool unspecified(const struct scps_addr *a)
{
    static const uint8_t none[16];

    return a->family == 4 ? a->b[0] == 0 : !memcmp(a->b, none, 16);
}

/* RFC 1122 section 4.2.3.10: a connection is between two unicast addresses. */
static enum scps_drop check_addresses(const struct scps_stack *st, const struct scps_ip *ip)
{
    if (multicast(&ip->src) || unspecified(&ip->src) || multicast(&ip->dst) ||
        unspecified(&ip->dst))
        return SCPS_DROP_BAD_ADDRESS;
    if (!scps_route_local(st, &ip->dst))
        return SCPS_DROP_NOT_OURS;
    if (scps_addr_equal(&ip->src, &ip->dst)) /* "land" */
        return SCPS_DROP_BAD_ADDRESS;
    return SCPS_DROP_NONE;
}

static bool owns(const struct scps_conn *c, const struct scps_ip *ip, const struct scps_seg *seg)
{
    return c && c->rport == seg->sport && c->lport == seg->dport &&
           c->remote.family == ip->version && !memcmp(c->remote.b, ip->src.b, 16) &&
           !memcmp(c->local.b, ip->dst.b, 16);
}

static int stranger(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                    const struct scps_flow *f, const struct scps_seg *seg)
{
    enum scps_drop bad = check_addresses(st, ip);
    struct scps_listener *l;

    if (bad)
        return scps_stack_drop(st, bad);
    l = scps_listener_find(st, &f->local, f->lport);
    if (l)
        return scps_listener_input(l, nif, f, seg);
    scps_answer_reset(st, nif, f, seg);
    return scps_stack_drop(st, SCPS_DROP_NO_CONNECTION);
}

static int tcp_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                     const struct scps_pkt *in)
{
    const uint8_t *p = in->data + ip->hdr_len;
    size_t avail = SCPS_MIN(in->len, ip->total_len) - ip->hdr_len,
           len = ip->total_len - ip->hdr_len;
    bool apart = in->payload_len > 0;
    struct scps_conn *c = nif->last;
    struct scps_flow f;
    struct scps_seg seg;
    int err = scps_tcp_parse(p, avail, len, &seg);

    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    if (apart) {
        if (seg.hdr_len != avail || seg.len != in->payload_len)
            return scps_stack_drop(st, SCPS_DROP_TRUNCATED);
        seg.data = in->payload;
    } else if (avail < len) {
        return scps_stack_drop(st, SCPS_DROP_TRUNCATED);
    }
    if (!in->csum_ok && scps_tcp_checksum(&ip->src, &ip->dst, p, seg.hdr_len, seg.data, seg.len))
        return scps_stack_drop(st, SCPS_DROP_BAD_CHECKSUM);
    seg.tos = ip->tos;
    seg.gso = in->gso;
    if (!owns(c, ip, &seg)) {
        f = (struct scps_flow){ip->dst, ip->src, seg.dport, seg.sport};
        c = scps_demux_find(st, &f);
        if (c && scps_conn_may_reopen(c, &seg) && scps_listener_find(st, &f.local, f.lport)) {
            c->flags |= SCPS_F_REPLACED;
            scps_conn_finish(c, 0);
            scps_demux_remove(st, c);
            c = NULL;
        }
        if (!c)
            return stranger(st, nif, ip, &f, &seg);
        nif->last = c;
    } else if (c->state == SCPS_TIME_WAIT || c->state == SCPS_CLOSED) {
        nif->last = NULL; /* the long way: it may have to give way */
        return tcp_input(st, nif, ip, in);
    }
    err = scps_conn_input(c, st->env.now, &seg);
    if (err == SCPS_DROP_BAD_ACK ||
        (err == SCPS_DROP_NO_CONNECTION && !(c->flags & SCPS_F_RST_NOW))) {
        f = (struct scps_flow){c->local, c->remote, c->lport, c->rport};
        scps_answer_reset(st, nif, &f, &seg);
    }
    return err;
}

static int udp_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                     const struct scps_pkt *in)
{
    struct scps_udp u;
    enum scps_drop bad = check_addresses(st, ip);
    int err;

    if (bad)
        return scps_stack_drop(st, bad);
    err = scps_udp_parse(ip, in->data + ip->hdr_len, SCPS_MIN(in->len, ip->total_len) - ip->hdr_len,
                         &u);
    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    scps_answer_port_unreachable(st, nif, ip, in->data, SCPS_MIN(in->len, ip->total_len));
    return scps_stack_drop(st, SCPS_DROP_BAD_UDP);
}

int scps_stack_input(struct scps_stack *st, struct scps_netif *netif, const struct scps_pkt *in)
{
    struct scps_nif *nif = scps_nif_of(netif);
    struct scps_ip ip;
    enum scps_drop bad;
    int err;

    scps_stack_reap(st);
    scps_stack_clock(st, in->at);
    st->count.packets_in++;
    st->count.bytes_in += in->len + in->payload_len;
    err = scps_ip_parse(in->data, in->len, in->len + in->payload_len, &ip);
    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    if (ip.more_frags || ip.frag_off)
        return scps_stack_drop(st, SCPS_DROP_FRAGMENT);
    switch (ip.proto) {
    case SCPS_IPPROTO_TCP:
        return tcp_input(st, nif, &ip, in);
    case SCPS_IPPROTO_UDP:
        return udp_input(st, nif, &ip, in);
    case SCPS_IPPROTO_ICMP:
    case SCPS_IPPROTO_ICMPV6:
        if ((ip.proto == SCPS_IPPROTO_ICMP) != (ip.version == 4))
            return scps_stack_drop(st, SCPS_DROP_UNKNOWN_PROTOCOL);
        bad = check_addresses(st, &ip);
        if (bad)
            return scps_stack_drop(st, bad);
        return scps_icmp_input(st, nif, &ip, in->data + ip.hdr_len,
                               SCPS_MIN(in->len, ip.total_len) - ip.hdr_len);
    default:
        return scps_stack_drop(st, SCPS_DROP_UNKNOWN_PROTOCOL);
    }
}
