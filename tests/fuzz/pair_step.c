/* SPDX-License-Identifier: MIT */
/* What one packet may do to a connection: looks at the connection before and after the packet was
 * handed to the stack, and compares with the RFC's rule. Only packets that no check of the channel
 * has to interpret are judged: TCP segments with a right checksum, and ICMP errors that quote one.
 */
#include "pair.h"

#include "core/conn.h"
#include "core/seq.h"

/* Returns the connection of the application of h with these ports; NULL: there is none. */
static struct scps_conn *conn_of(struct world *w, const struct host *h, uint16_t lport,
                                 uint16_t rport)
{
    for (int i = 0; i < FLOWS; i++) {
        struct scps_conn *c = w->flow[i].end[h->nr].c;
        if (c && c->state != SCPS_CLOSED && c->lport == lport && c->rport == rport)
            return c;
    }
    return NULL;
}

/* Finds what packet p is about: a segment for a connection of h, or the segment that an ICMP error
 * quotes. */
static void read_packet(struct world *w, const struct host *h, const struct packet *p,
                        struct step *s)
{
    struct scps_ip ip;
    struct scps_icmp m;
    const uint8_t *t;
    size_t n;

    if (p->damaged || scps_ip_parse(p->data, p->len, p->len + p->hollow, &ip))
        return;
    t = p->data + ip.hdr_len;
    n = p->len - ip.hdr_len;
    if (ip.proto == SCPS_IPPROTO_TCP) {
        if (p->csum_ok || p->hollow || scps_tcp_parse(t, n, ip.total_len - ip.hdr_len, &s->seg) ||
            scps_tcp_checksum(&ip.src, &ip.dst, t, s->seg.hdr_len, s->seg.data, s->seg.len))
            return;
        s->c = conn_of(w, h, s->seg.dport, s->seg.sport);
    } else if ((ip.proto == SCPS_IPPROTO_ICMP || ip.proto == SCPS_IPPROTO_ICMPV6) && !p->hollow &&
               !scps_icmp_parse(&ip, t, n, &m) && m.has_quote &&
               m.quote.proto == SCPS_IPPROTO_TCP) {
        s->icmp = true;
        s->seg.seq = m.seq;
        s->c = conn_of(w, h, m.sport, m.dport);
    }
}

void pair_step_begin(struct world *w, const struct host *h, const struct packet *p, struct step *s)
{
    *s = (struct step){0};
    if (h->gone || h->no_addr)
        return;
    read_packet(w, h, p, s);
    if (!s->c)
        return;
    s->state = s->c->state;
    s->una = s->c->s.snd.una;
    s->nxt = s->c->s.snd.nxt;
    s->next = scps_receive_next(&s->c->rcv);
    s->pmtu = s->c->s.agreed.pmtu_mss;
    s->old = s->state != SCPS_SYN_SENT && s->c->s.agreed.opts & SCPS_AGREED_TS &&
             s->seg.has & SCPS_HAS_TS && scps_ts_rejects(&s->c->ts, &s->seg, w->now);
}

/* RFC 9293 section 3.10.7.4, fifth check: "The only thing that can arrive in this state is a
 * retransmission of the remote FIN. Acknowledge it, and restart the 2 MSL timeout." */
static void judge_time_wait(const struct world *w, const struct step *s)
{
    uint32_t end = s->seg.seq + s->seg.len + 1;

    if (!(s->seg.flags & SCPS_FIN) || s->seg.flags & (SCPS_RST | SCPS_SYN) || s->old ||
        !(s->seg.flags & SCPS_ACK) || s->seg.ack != scps_seq_wrap(s->c->s.snd.iss, s->nxt) ||
        end != scps_seq_wrap(s->c->rcv.irs, s->next))
        return;
    MUST(s->c->state == SCPS_TIME_WAIT);
    MUST(s->c->end_timer.at == w->now + s->c->s.ctx.cfg->c.time_wait);
}

void pair_step_end(struct world *w, const struct step *s, int why)
{
    const struct scps_conn *c = s->c;

    if (!c)
        return;
    if (s->icmp) {
        /* RFC 5927 section 4.1: the quoted number has to be that of an outstanding octet. */
        int64_t quoted = scps_seq_unwrap(c->s.snd.iss, s->una, s->seg.seq);
        if (quoted < (int64_t)s->una || quoted >= (int64_t)s->nxt)
            MUST(c->state == s->state && c->s.agreed.pmtu_mss == s->pmtu);
        return;
    }
    if (s->seg.flags & SCPS_RST && s->state != SCPS_SYN_SENT) {
        /* RFC 5961 section 3.2: only a reset with the number RCV.NXT ends a connection. */
        if (s->seg.seq != scps_seq_wrap(c->rcv.irs, s->next))
            MUST(c->state == s->state);
        return;
    }
    /* RFC 7323 section 5.3, R1: a segment with an old time stamp is dropped. */
    if (s->old)
        MUST(why != SCPS_DROP_NONE && scps_receive_next(&c->rcv) == s->next &&
             c->s.snd.una == s->una);
    if (s->state == SCPS_TIME_WAIT)
        judge_time_wait(w, s);
}
