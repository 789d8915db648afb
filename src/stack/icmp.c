/* SPDX-License-Identifier: MIT */
/* Processes ICMP messages: answers echo requests and passes errors to connections and endpoints.
 *
 * An error is applied to a connection only when it quotes octets that are outstanding (RFC 5927
 * section 4.1). No error ends a synchronized connection (RFC 5927 section 5.2): the error is stored
 * as the reason to report if the connection times out later. While a SYN is outstanding, port,
 * protocol and "prohibited" errors mean that the connection is refused. "Too big" lowers the path
 * MTU, but never below 256 octets over IPv4 and 1280 octets over IPv6 (RFC 8200 section 5); the
 * octets that were too big are sent again at once in smaller segments, and the congestion
 * controller is not informed (RFC 1191 section 6.4, RFC 8201). If the peer has acknowledged full
 * segments, a "too big" message is used only if it quotes a retransmission (RFC 5927 section 7.2).
 * An error that quotes a datagram is passed to its endpoint.
 */
#include "stack/connid.h"
#include "stack/stack.h"

#include "base/bytes.h"
#include "core/seq.h"

/* Returns the MTU to assume, bytes, when a router that could not forward a packet of `failed` bytes
 * does not report its MTU (RFC 1191 section 7). */
static uint32_t plateau(uint32_t failed)
{
    static const uint16_t table[] = {65535, 32000, 17914, 8166, 4352, 2002,
                                     1492,  1006,  508,   296,  0};

    for (size_t i = 0; table[i]; i++)
        if (table[i] < failed)
            return table[i];
    return scps_icmp_least_mtu(4);
}

/* Returns true if the Packet Too Big message m is used, and false if it may be forged: then it is
 * dropped, not stored, because if the path has changed, the router answers a later retransmission
 * with another message. The conditions are:
 * - The SEG.SEQ that m quotes is the first octet of an outstanding segment. An attacker who guesses
 *   sequence numbers easily hits an octet in flight, and seldom one of the few first octets.
 * - If the peer has acknowledged as many octets as a full segment has, the path has carried such
 *   segments. Then the quoted segment must have been resent, too (RFC 5927 section 7.2): at least
 *   once if no acknowledgement has come since a timeout; otherwise at least twice, so that a
 *   retransmission was lost (SNACK and RACK resend a segment before the retransmission timer
 *   expires, and restart that timer).
 * Precondition: s->tx is not NULL. */
static bool is_credible(const struct scps_sender *s, const struct scps_icmp *m)
{
    scps_off quoted = (scps_off)scps_seq_unwrap(s->snd.iss, s->snd.una, m->seq);
    const struct scps_sent_segment *r;
    uint32_t idx;

    if (!scps_sb_lookup(&s->tx->sb, quoted, &idx))
        return false;
    r = scps_sb_at(&s->tx->sb, idx);
    if (r->from != quoted)
        return false;
    return s->snd.una <= s->agreed.mss || r->resends > (s->tx->silence.unanswered ? 0 : 1);
}

/* Lowers the path MTU as a Packet Too Big message says. Returns 0; SCPS_DROP_BAD_ICMP: the message
 * may be forged and is not used. */
static int too_big(struct scps_conn *c, const struct scps_icmp *m)
{
    uint32_t over = c->remote.family == 4 ? 40 : 60, old = c->s.agreed.pmtu_mss + over;
    uint32_t mtu = m->mtu ? m->mtu : plateau(m->quote.total_len);

    mtu = SCPS_MAX(mtu, scps_icmp_least_mtu(c->remote.family));
    /* Without DF a router fragments packets that are too big, except IPv6 packets (RFC 8200 section
     * 4.5), so the MTU does not matter. */
    if (mtu >= old || !c->s.tx || (c->s.ctx.cfg->c.df_off && c->remote.family == 4))
        return 0;
    if (!is_credible(&c->s, m))
        return SCPS_DROP_BAD_ICMP;
    SCPS_OBSERVE_CONN2(c, PMTU, old, mtu);
    scps_conn_lower_pmtu_mss(&c->s, mtu - over);
    scps_sender_wake(&c->s);
    return 0;
}

static int error(struct scps_conn *c, const struct scps_icmp *m)
{
    int err = scps_icmp_err(m->kind);
    bool hard = err == SCPS_ERR_REFUSED || m->kind == SCPS_ICMP_UNREACH_ADMIN;

    c->s.icmp = (uint16_t)(m->type << 8 | m->code);
    if (!err)
        return SCPS_DROP_BAD_ICMP;
    if (m->kind == SCPS_ICMP_TOO_BIG)
        return too_big(c, m);
    if (hard && c->state == SCPS_SYN_SENT)
        scps_conn_finish(c, err);
    else
        scps_sender_soft_err(&c->s,
                             err == SCPS_ERR_REFUSED ? SCPS_SOFT_REFUSED : SCPS_SOFT_UNREACH);
    return 0;
}

int scps_icmp_input(struct scps_stack *st, struct scps_nif *nif, const struct scps_ip *ip,
                    const uint8_t *p, size_t len)
{
    struct scps_icmp m;
    struct scps_flow f;
    struct scps_conn *c;
    int err = scps_icmp_parse(ip, p, len, &m);

    if (err)
        return scps_stack_drop(st, (enum scps_drop)err);
    /* RFC 8201 section 4: "If a node receives a Packet Too Big message reporting a next-hop MTU
     * that is less than the IPv6 minimum link MTU, it must discard it." */
    if (m.kind == SCPS_ICMP_TOO_BIG && ip->version == 6 && m.mtu < scps_icmp_least_mtu(6))
        return scps_stack_drop(st, SCPS_DROP_BAD_ICMP);
    if (m.kind == SCPS_ICMP_ECHO) {
        if (st->cfg.echo_reply)
            scps_answer_echo(st, nif, ip, &m);
        return 0;
    }
    if (m.has_quote && m.quote.proto == SCPS_IPPROTO_UDP && scps_dgram_icmp(st, &m))
        return 0;
    if (!m.has_quote ||
        (m.quote.proto != SCPS_IPPROTO_TCP && m.quote.proto != SCPS_IPPROTO_SCPS_COMP))
        return scps_stack_drop(st, SCPS_DROP_BAD_ICMP);
    f = (struct scps_flow){m.quote.src, m.quote.dst, m.sport, m.dport};
    c = m.quote.proto == SCPS_IPPROTO_TCP
            ? scps_demux_find(st, &f)
            : scps_connid_find(st, &f.local, &f.remote, m.conn_id, true);
    if (!c || scps_seq_ahead(c->s.snd.iss, c->s.snd.una, m.seq) < 0 ||
        scps_seq_ahead(c->s.snd.iss, c->s.snd.nxt, m.seq) >= 0)
        return scps_stack_drop(st, SCPS_DROP_BAD_ICMP);
    err = error(c, &m);
    return err ? scps_stack_drop(st, (enum scps_drop)err) : 0;
}
