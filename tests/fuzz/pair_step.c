/* SPDX-License-Identifier: MIT */
/* What one packet may do to a connection: looks at the connection before and after the packet was
 * handed to the stack, and compares with the RFC's rule. Only packets that no check of the channel
 * has to interpret are judged: TCP segments with a right checksum, ICMP errors that quote one, and
 * compressed segments of a blind third party. Likewise, what a call of scps_stack_output() may do
 * to retransmission timers and counters, and which timers run when everything due has been served.
 */
#include "pair.h"

#include "core/conn.h"
#include "core/seq.h"
#include "stack/connid.h"

/* The most octets below SND.UNA at which an acknowledgement number is plausible: windows are
 * smaller. */
enum { PLAUSIBLE = 1 << 20 };

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

/* Finds the connection of h whose connection id a blind third party has guessed in the compressed
 * header at t. Connections that have not completed their handshake are not judged. */
static void read_guess(struct world *w, const struct host *h, const struct scps_ip *ip,
                       const uint8_t *t, size_t n, struct step *s)
{
    struct scps_conn *c = n ? scps_connid_find(h->st, &ip->dst, &ip->src, t[0], false) : NULL;

    s->guessed = c != NULL;
    s->counts = c && scps_comp_proto(&ip->src, &ip->dst, t, n, NULL, 0);
    if (!c || c->state == SCPS_SYN_SENT || c->state == SCPS_SYN_RECEIVED ||
        c != conn_of(w, h, c->lport, c->rport) ||
        scps_comp_parse(t, n, n, &c->s.tp->comp_rx, &s->seg))
        return;
    s->c = c;
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
    } else if (ip.proto == SCPS_IPPROTO_SCPS_COMP && p->theirs && w->third == THIRD_BLIND) {
        read_guess(w, h, &ip, t, n, s);
    } else if ((ip.proto == SCPS_IPPROTO_ICMP || ip.proto == SCPS_IPPROTO_ICMPV6) && !p->hollow &&
               !scps_icmp_parse(&ip, t, n, &m) && m.has_quote &&
               m.quote.proto == SCPS_IPPROTO_TCP) {
        s->icmp = true;
        s->seg.seq = m.seq;
        s->c = conn_of(w, h, m.sport, m.dport);
    }
}

/* Returns true if seg is a SYN-ACK that answers the SYN of c although a SYN with another number
 * came before it. The stack processes it as in SYN-SENT (RFC 9293 section 3.10.7.3), so that the
 * timestamp of the SYN that came before does not count. */
static bool replaces_syn(const struct scps_conn *c, const struct scps_seg *seg)
{
    return c->state == SCPS_SYN_RECEIVED && c->notify.active && c->s.snd.una == 0 &&
           (seg->flags & (SCPS_SYN | SCPS_RST | SCPS_ACK)) == (SCPS_SYN | SCPS_ACK) &&
           seg->seq != c->rcv.irs && seg->ack == scps_seq_wrap(c->s.snd.iss, 1);
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
    s->todo = s->c->s.todo.bits;
    s->rtx = s->c->s.tx ? s->c->s.tx->rto.timer.at : 0;
    s->end = s->c->end_timer.at;
    s->outage = s->c->outage_timer.at;
    s->old = s->state != SCPS_SYN_SENT && s->c->s.agreed.opts & SCPS_AGREED_TS &&
             s->seg.has & SCPS_HAS_TS && scps_ts_rejects(&s->c->ts, &s->seg, w->now) &&
             !replaces_syn(s->c, &s->seg);
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

/* RFC 9293 section 3.10.7.4, first check: "If an incoming segment is not acceptable, an
 * acknowledgment should be sent in reply [...] After sending the acknowledgment, drop the
 * unacceptable segment and return." Nothing else follows unless the acknowledgement number is one
 * that the peer may use (RFC 5961 section 5.2). */
static void judge_guess(const struct step *s, int why)
{
    const struct scps_conn *c = s->c;
    int64_t ack = scps_seq_unwrap(c->s.snd.iss, s->una, s->seg.ack);

    if (why == SCPS_DROP_NONE || (ack <= (int64_t)s->nxt && ack >= (int64_t)s->una - PLAUSIBLE))
        return;
    MUST(c->state == s->state && c->s.snd.una == s->una && c->s.snd.nxt == s->nxt);
    MUST(scps_receive_next(&c->rcv) == s->next && c->s.agreed.pmtu_mss == s->pmtu);
    MUST((c->s.tx ? c->s.tx->rto.timer.at : 0) == s->rtx);
    MUST(c->end_timer.at == s->end && c->outage_timer.at == s->outage);
    MUST(!((c->s.todo.bits ^ s->todo) & ~(uint32_t)(SCPS_TODO_ACK | SCPS_TODO_ANSWER)));
}

void pair_step_end(struct world *w, const struct step *s, int why)
{
    const struct scps_conn *c = s->c;

    w->guessed |= s->guessed && why != SCPS_DROP_BAD_CHECKSUM;
    w->misled |= s->counts && why == SCPS_DROP_BAD_CHECKSUM;
    if (!c)
        return;
    if (s->guessed)
        judge_guess(s, why);
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

/* ---- output ---- */

/* The retransmission timer of a connection whose segment at SND.UNA was resent very often. */
struct watched {
    const struct scps_conn *c; /* NULL: the timer of this connection is not judged */
    scps_off una;
    uint64_t probes; /* the number of tail loss probes that it has sent */
    scps_time rtx;   /* the time at which the retransmission timer expires */
};

static const struct scps_sent_segment *first_sent(const struct scps_conn *c)
{
    const struct scps_tx *tx = c->s.tx;

    return tx && scps_sb_count(&tx->sb) ? scps_sb_at(&tx->sb, tx->sb.head) : NULL;
}

/* A timer that is due is not judged: it may be set again because the segment waits for a rate. */
static void watch(struct world *w, const struct host *h, struct watched v[FLOWS])
{
    for (int i = 0; i < FLOWS; i++) {
        const struct scps_conn *c = w->flow[i].end[h->nr].c;
        const struct scps_sent_segment *r = c ? first_sent(c) : NULL;
        v[i].c = NULL;
        if (r && r->resends > SCPS_RESENDS_EXPLAINED && c->s.tx->rto.timer.at > w->now)
            v[i] =
                (struct watched){c, c->s.snd.una, c->s.ctx.st->tlp_probes, c->s.tx->rto.timer.at};
    }
}

/* What a connection has counted of the segments that it sends (scps_conn_info()). */
struct counted {
    const struct scps_conn *c; /* NULL: the counters of this connection are not judged */
    uint64_t segs, data_segs, bytes, resent;
    scps_off una, nxt;
};

static struct counted count_of(const struct scps_conn *c)
{
    const struct scps_conn_stats *st = c ? c->s.ctx.st : NULL;

    if (!c || !scps_conn_ctx_counts(&c->s.ctx))
        return (struct counted){0};
    return (struct counted){
        c,           c->segs.out, st->data_segs_out, st->bytes_sent, st->bytes_resent, c->s.snd.una,
        c->s.snd.nxt};
}

/* Returns how many of the `len` octets of a segment of the connection `was`, from sequence number
 * `seq` on, had been sent before. */
static uint64_t sent_before(const struct counted *was, uint32_t seq, uint64_t len)
{
    int64_t from = scps_seq_unwrap(was->c->s.snd.iss, was->una, seq);

    return from < (int64_t)was->nxt ? SCPS_MIN(len, was->nxt - (uint64_t)from) : 0;
}

/* Reads the TCP header of a packet that is sent. Returns false if it has none: it is no segment, or
 * its header is compressed. */
static bool read_sent(const struct scps_pkt *out, struct scps_seg *seg, bool *compressed)
{
    size_t total = out->len + out->payload_len;
    struct scps_ip ip;

    MUST(scps_ip_parse(out->data, out->len, total, &ip) == 0);
    *compressed = ip.proto == SCPS_IPPROTO_SCPS_COMP;
    return ip.proto == SCPS_IPPROTO_TCP &&
           !scps_tcp_parse(out->data + ip.hdr_len, out->len - ip.hdr_len, total - ip.hdr_len, seg);
}

/* Checks that the counters of h's connections agree with the packet `out` that h sends (NULL: it
 * sends none): those of the connection with its ports count it, the others do not change. The
 * connection of a compressed segment is not known here. A reset may be the answer to a segment for
 * no connection; so may a SYN-ACK with the ports of a connection that has ended. A SYN-ACK that
 * answers a copy of the SYN may wait for the rate of the route until the connection is
 * established. */
static void judge_counters(struct world *w, const struct host *h, const struct scps_pkt *out,
                           const struct counted before[FLOWS])
{
    uint64_t segments = 1, payload = 0;
    bool tcp, compressed = false;
    struct scps_seg seg;

    tcp = out && read_sent(out, &seg, &compressed);
    if (compressed)
        return;
    if (tcp) {
        payload = seg.len;
        segments = out->gso ? (payload + out->gso - 1) / out->gso : 1;
    }
    for (int i = 0; i < FLOWS; i++) {
        const struct counted *b = &before[i];
        struct counted a;
        bool its;
        if (!b->c || w->flow[i].end[h->nr].c != b->c || b->c->state == SCPS_CLOSED)
            continue;
        a = count_of(b->c);
        its = tcp && b->c->lport == seg.sport && b->c->rport == seg.dport;
        if (its && (seg.flags & SCPS_RST || (seg.flags & SCPS_SYN && b->c->state != SCPS_SYN_SENT &&
                                             b->c->state != SCPS_SYN_RECEIVED)))
            continue;
        MUST(a.segs - b->segs == (its ? segments : 0));
        MUST(a.data_segs - b->data_segs == (its && payload ? segments : 0));
        MUST(a.bytes - b->bytes == (its ? payload : 0));
        MUST(a.resent - b->resent == (its ? sent_before(b, seg.seq, payload) : 0));
    }
}

int pair_output(struct world *w, struct host *h, struct scps_pkt *out)
{
    /* One call in sixteen is compared with the counters: all would take 4 % of the time. */
    const bool counts = !(h->outputs++ & 15);
    struct counted before[FLOWS];
    struct watched v[FLOWS];
    int got;

    watch(w, h, v);
    for (int i = 0; counts && i < FLOWS; i++)
        before[i] = count_of(w->flow[i].end[h->nr].c);
    got = scps_stack_output(h->st, &h->nif, w->now, out);
    /* R1 and R2 measure "the amount of retransmission that has occurred for the same segment" (RFC
     * 9293 section 3.8.3). So when the segment at SND.UNA is resent again and again for another
     * reason, the timer must expire, which begins R2: only a tail loss probe (RFC 8985 section 7.3)
     * sets it to a later time. */
    for (int i = 0; i < FLOWS; i++) {
        const struct scps_conn *c = v[i].c;
        if (c && first_sent(c) && c->s.snd.una == v[i].una &&
            scps_timer_runs(&c->s.tx->rto.timer) && c->s.ctx.st->tlp_probes == v[i].probes &&
            !(c->s.todo.bits & SCPS_TODO_TAIL))
            MUST(c->s.tx->rto.timer.at <= v[i].rtx);
    }
    if (counts)
        judge_counters(w, h, got ? out : NULL, before);
    return got;
}

/* ---- timers ---- */

/* Returns true if c waits for something that happens without the peer: for its own rate or that of
 * its route, for memory, or, with cork, for more data. */
static bool waits_here(const struct scps_conn *c)
{
    const struct scps_tx *tx = c->s.tx;

    return c->s.ready || scps_timer_runs(&tx->pace_timer) || scps_timer_runs(&tx->retry_timer) ||
           scps_timer_runs(&tx->cork_timer) ||
           /* A FIN for which memory was refused is sent when the host serves such connections. */
           (c->s.small.starved && c->s.ctx.env->memory_at != SCPS_NEVER);
}

/* Checks that what c has to send, or waits to see acknowledged, does not depend on a packet that
 * may be lost. */
static void judge_timers(const struct scps_conn *c)
{
    const struct scps_tx *tx = c->s.tx;
    unsigned run;

    if (!tx || c->state == SCPS_CLOSED || c->state == SCPS_TIME_WAIT)
        return;
    run = (unsigned)scps_timer_runs(&tx->rto.timer) + scps_timer_runs(&tx->persist.timer) +
          scps_timer_runs(&c->outage_timer);
    MUST(run <= 1);
    /* RFC 6298 section 5.1: "Every time a packet containing data is sent (including a
     * retransmission), if the timer is not running, start it running". */
    if (c->s.snd.una < c->s.snd.nxt)
        MUST(run == 1);
    /* RFC 9293 section 3.8.6.1: "The sending TCP peer must regularly transmit at least one octet of
     * new data (if available) [...] even if the send window is zero". */
    else if (c->s.established && !scps_send_all_sent(&c->s.snd))
        MUST(run == 1 || waits_here(c));
}

void pair_judge_timers(const struct world *w, const struct host *h)
{
    /* A connection without a timer stays so until a packet arrives, so that one look in four finds
     * it. */
    for (int i = 0; !(w->settled & 3) && i < FLOWS; i++) {
        const struct scps_conn *c = w->flow[i].end[h->nr].c;
        if (c)
            judge_timers(c);
    }
}
