/* SPDX-License-Identifier: MIT */
/* Answers that belong to no connection: resets, SYN cookies, echo replies, port unreachable.
 *
 * They are built when the packet they answer is here and wait in a ring of bounded size; when it is full they are
 * not given, and counted: nobody depends on them.
 */
#include "stack/stack.h"

#include "base/bytes.h"

#define RING 65536u

bool scps_outq_put(struct scps_stack *st, struct scps_nif *nif, const uint8_t *p, size_t len)
{
    uint8_t *room = scps_recring_put(&nif->out, &st->env.alloc, (uint32_t)len, RING);

    if (!room) {
        st->env.drops[SCPS_DROP_RATE_LIMITED]++;
        return false;
    }
    memcpy(room, p, len);
    nif->others = true;
    return true;
}

bool scps_outq_get(struct scps_nif *nif, struct scps_pkt *out)
{
    uint32_t len;
    const uint8_t *p = scps_recring_front(&nif->out, &len);

    if (!p)
        return false;
    scps_recring_pop(&nif->out);
    /* what is longer than the room is lent from the ring, which keeps it until the next answer is put there */
    out->len = len > out->cap ? SCPS_MAX_HEADERS : len;
    out->payload_len = len - out->len;
    out->payload = out->payload_len ? p + out->len : NULL;
    memcpy(out->data, p, out->len);
    out->gso = 0;
    out->csum_ok = true;
    return true;
}

static struct scps_ip header(const struct scps_addr *from, const struct scps_addr *to,
                             uint8_t proto)
{
    return (struct scps_ip){
        .src = *from, .dst = *to, .version = from->family, .proto = proto, .ttl = 64, .df = true};
}

void scps_answer_segment(struct scps_stack *st, struct scps_nif *nif, const struct scps_flow *f,
                         struct scps_seg *seg)
{
    struct scps_ip ip = header(&f->local, &f->remote, SCPS_IPPROTO_TCP);
    uint8_t p[SCPS_MAX_HEADERS];
    size_t tcp_len, ip_len;

    seg->sport = f->lport;
    seg->dport = f->rport;
    tcp_len = scps_tcp_hdr_len(seg);
    ip_len = scps_ip_build(p, &ip, tcp_len);
    scps_tcp_build(p + ip_len, seg);
    scps_put16(p + ip_len + 16, scps_tcp_checksum(&ip.src, &ip.dst, p + ip_len, tcp_len, NULL, 0));
    scps_outq_put(st, nif, p, ip_len + tcp_len);
}

void scps_answer_reset(struct scps_stack *st, struct scps_nif *nif, const struct scps_flow *f,
                       const struct scps_seg *seg)
{
    struct scps_seg rst = {.flags = SCPS_RST};

    if (seg->flags & SCPS_RST || !scps_stack_may_answer(st))
        return;
    if (seg->flags & SCPS_ACK) {
        rst.seq = seg->ack;
    } else {
        rst.flags |= SCPS_ACK;
        rst.ack =
            seg->seq + seg->len + (seg->flags & SCPS_SYN ? 1 : 0) + (seg->flags & SCPS_FIN ? 1 : 0);
    }
    st->count.resets_out++;
    scps_answer_segment(st, nif, f, &rst);
}

void scps_answer_echo(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *in,
                      const struct scps_icmp *m)
{
    struct scps_ip ip =
        header(&in->dst, &in->src, in->version == 4 ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6);
    const struct scps_alloc *a = &st->env.alloc;
    size_t room = 40 + 4 + m->body_len, n;
    uint8_t small[256], *p = small;

    if (!scps_stack_may_answer(st))
        return;
    if (room > sizeof small && !(p = a->alloc(a->ctx, room)))
        return;
    n = in->version == 4 ? 20 : 40;
    n += scps_icmp_build_echo_reply(p + n, in, m);
    ip.df = false;
    scps_ip_build(p, &ip, n - (in->version == 4 ? 20 : 40));
    if (scps_outq_put(st, nif, p, n))
        st->count.echo_replies++;
    if (p != small)
        a->free(a->ctx, p, room);
}

void scps_answer_port_unreachable(struct scps_stack *st, struct scps_nif *nif,
                                  const struct scps_ip *in, const uint8_t *packet, size_t len)
{
    struct scps_ip ip =
        header(&in->dst, &in->src, in->version == 4 ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6);
    uint8_t p[1400];
    size_t hdr = in->version == 4 ? 20 : 40, n;

    if (!scps_stack_may_answer(st))
        return;
    n = scps_icmp_build_port_unreach(p + hdr, sizeof p - hdr, in, packet, len);
    scps_ip_build(p, &ip, n);
    if (scps_outq_put(st, nif, p, hdr + n))
        st->count.icmp_out++;
}
