/* SPDX-License-Identifier: MIT */
/* The checks that must hold during every run and at its end. */
#include "pair.h"

/* RFC 9293 section 3.8.3: R2 is at least 100 s, for a SYN at least three minutes. */
#define R2     SCPS_SEC(100)
#define R2_SYN SCPS_SEC(180)
/* How long SYN cookies are in use after the last SYN that found no place (stack/listen.c). */
#define COOKIE SCPS_SEC(128)

/* ---- packets ---- */

void pair_judge_packet(struct world *w, const struct host *h, const struct scps_pkt *out)
{
    size_t total = out->len + out->payload_len;
    struct scps_ip ip;
    struct scps_seg s;

    MUST(scps_ip_parse(out->data, out->len, total, &ip) == 0);
    MUST(ip.total_len == total && ip.version == h->addr.family);
    MUST(out->gso ? out->gso < out->payload_len && total <= 65535 : total <= h->nif.mtu);
    /* RFC 1122 section 3.2.1.3: "When a host sends any datagram, the IP source address MUST be one
     * of its own IP addresses". */
    MUST(scps_addr_equal(&ip.src, &h->addr) && !h->no_addr);
    const uint8_t *t = out->data + ip.hdr_len;
    size_t n = out->len - ip.hdr_len;
    if (ip.proto == SCPS_IPPROTO_SCPS_COMP && !w->vouch)
        MUST(scps_comp_proto(&ip.src, &ip.dst, t, n, out->payload, out->payload_len));
    if (ip.proto == SCPS_IPPROTO_ICMP)
        MUST(!scps_cksum_fold(scps_cksum_add(0, t, n)));
    if (ip.proto != SCPS_IPPROTO_TCP)
        return;
    MUST(scps_tcp_parse(t, n, total - ip.hdr_len, &s) == 0);
    if (out->payload_len)
        s.data = out->payload;
    if (!w->vouch)
        MUST(!scps_tcp_checksum(&ip.src, &ip.dst, t, s.hdr_len, s.data, s.len));
    MUST(!(s.flags & SCPS_SYN) || !s.len);
}

/* RFC 768: a checksum of zero means that there is none. One flipped bit may make it so. */
static bool unprotected(const struct packet *p)
{
    return p->data[0] >> 4 == 4 && p->len >= 28 && p->data[9] == SCPS_IPPROTO_UDP &&
           !scps_get16(p->data + 26);
}

void pair_judge_input(struct world *w, const struct packet *p, int why)
{
    MUST(why >= 0 && why < SCPS_DROP_COUNT);
    if (!p->ours)
        return;
    if (p->damaged && unprotected(p))
        return;
    if (p->damaged && !p->compressed) {
        MUST(why != SCPS_DROP_NONE);
        return;
    }
    if (p->altered || p->damaged)
        return;
    /* A packet that was sent well-formed and not changed must not be dropped as malformed. */
    switch (why) {
    case SCPS_DROP_TRUNCATED:
    case SCPS_DROP_BAD_IP:
    case SCPS_DROP_BAD_IP_CHECKSUM:
    case SCPS_DROP_FRAGMENT:
    case SCPS_DROP_BAD_ADDRESS:
    case SCPS_DROP_UNKNOWN_PROTOCOL:
    case SCPS_DROP_BAD_TCP:
        MUST(!"an undamaged packet was refused as malformed");
        break;
    case SCPS_DROP_NOT_OURS:
        MUST(w->host[p->to].no_addr);
        break;
    /* The peer uses another protocol number in the pseudo-header than is configured, which the
     * receiver detects after some segments. */
    case SCPS_DROP_BAD_CHECKSUM:
        MUST(p->compressed &&
             (w->imitated || w->host[0].cfg.comp_proto != w->host[1].cfg.comp_proto));
        break;
    }
}

/* ---- during the run ---- */

static void judge_end(struct world *w, struct host *h, struct end *e)
{
    struct scps_conn_config cfg;
    struct scps_info i;

    if (!e->c || w->now < h->asleep)
        return;
    scps_conn_info(e->c, &i);
    scps_conn_get_config(e->c, &cfg);
    MUST(i.state == scps_conn_state(e->c) && i.hold < SCPS_HOLD_COUNT);
    MUST(i.inflight + i.sacked + i.lost <= i.outstanding + 2);
    MUST(i.bytes_acked + i.bytes_given_up <= e->written);
    MUST(h->cfg.bets || (!i.bytes_given_up && !i.holes && !i.bytes_missing));
    /* rto_max does not limit the RTO below a round trip of up to an hour (core/rtt.c). */
    MUST(i.rto > 0 && i.srtt >= 0 && i.rto <= SCPS_MAX(cfg.rto_max, SCPS_SEC(3600)));
    MUST(i.cwnd > 0 || !i.established);
    MUST(i.rcv_queued + i.rcv_ooo <= 4u * h->cfg.rcvbuf + 200000u);
    MUST(scps_conn_unacked(e->c) >= scps_conn_unsent(e->c));
    MUST(e->failed || !scps_conn_error(e->c));
}

/* The most memory that a stack may use, bytes. A stream has MOST_OCTETS octets, so a ring takes no
 * more than the next power of two, whatever the buffers may hold. For three flows with their
 * scoreboards, and what hosts remember of each other, 7000 inputs used some 200 000 bytes at most.
 * A connection that a third party leaves half-open takes some 5500 bytes for its SYN-ACK and the
 * state of SCPS-TP, and there are HALF_OPEN of them at most. */
#define MOST_MEMORY 300000u
/* The ring of a datagram endpoint's send queue, whose limit is 65 536 bytes: twice that, because a
 * part stays unused where the ring wraps. */
#define MOST_DATAGRAMS 131072u
/* The number of half-open places in the stacks that pair_setup.c configures. */
#define HALF_OPEN 64u
#define OF_ONE    6000u

void pair_judge_state(struct world *w)
{
    for (int i = 0; i < HOSTS; i++) {
        struct host *h = &w->host[i];
        for (int k = 0; k < FLOWS; k++)
            judge_end(w, h, &w->flow[k].end[i]);
        MUST(h->peak <= SCPS_MAX(h->bound, MOST_MEMORY + MOST_DATAGRAMS +
                                               (w->strangers ? HALF_OPEN * OF_ONE : 0)));
    }
}

void pair_judge_served(struct world *w, struct host *h)
{
    h->due = scps_stack_deadline(h->st);
    MUST(h->due > w->now);
    pair_judge_timers(w, h);
    /* Timers that have nothing to do are few: some for a packet that has left or arrived (which
     * starts the delayed-acknowledgement timer), and some with time. */
    MUST(h->idle < 1500 + 4 * (h->packets + h->arrived) + (w->now - START) / SCPS_MS(100));
}

/* ---- errors ---- */

/* The least time, us, without progress after which a connection may end. R2 is 100 s at least
 * however few the retries are; that of a SYN follows from syn_retries. */
static scps_dur least_silence(const struct scps_conn_config *c, bool established)
{
    scps_dur least = established ? R2 : c->syn_retries >= 7 ? R2_SYN : SCPS_SEC(1);

    if (established && c->user_timeout) /* what best effort gave up counts as progress here only */
        least = c->bets ? 0 : SCPS_MIN(least, c->user_timeout);
    /* Keep-alive probes go where nothing is outstanding: no progress is due there. */
    return established && c->keepalive ? 0 : least;
}

/* Returns true if the peer has ended as it should, whether its application has read the end of the
 * stream or not, but its last acknowledgements were lost until its TIME-WAIT was over: the path has
 * become longer than TIME-WAIT allows for, or the probes of an outage are rare. */
static bool outlived(const struct world *w, const struct end *e, const struct end *peer)
{
    struct scps_conn_config cfg;

    if (!peer->c || !peer->closed || peer->failed || peer->read != e->written)
        return false;
    scps_conn_get_config(peer->c, &cfg);
    return w->now - peer->closed_at >= cfg.time_wait;
}

void pair_judge_error(struct world *w, struct flow *f, struct end *e)
{
    struct end *peer = &f->end[!(e - f->end)];
    struct scps_conn_config cfg;
    struct scps_info i;
    scps_dur silence;

    if (doubt_of(w, f) & DOUBT_END)
        return;
    scps_conn_get_config(e->c, &cfg);
    scps_conn_info(e->c, &i);
    silence = w->now - (i.established ? e->progress : e->opened);
    switch (e->err) {
    case SCPS_ERR_TIMEDOUT:
        /* after the end of the connection, which had not been reported to its application yet */
        if (w->slept && e->reconfigured)
            break;
        MUST(silence >= least_silence(&cfg, i.established));
        break;
    case SCPS_ERR_UNREACH: /* RFC 5927 section 5.2: it ends no connection, but names the reason */
        MUST(f->excuse & EXCUSE_ICMP);
        MUST(!i.established || silence >= least_silence(&cfg, true));
        break;
    case SCPS_ERR_LINKDOWN:
    case SCPS_ERR_ADDRNOTAVAIL:
        MUST(f->excuse & EXCUSE_DEVICE);
        break;
    case SCPS_ERR_REFUSED:
    /* The peer's half-open connection ended before the ACK of its SYN-ACK arrived. */
    case SCPS_ERR_RESET:
        /* While SYN cookies are in use, an acknowledgement that does not carry a cookie is reset
         * (RFC 9293 section 3.10.7.2), also where data before it was lost and a copy of the SYN
         * came later. Cookies may be in use until COOKIE after the faults have ended, and the next
         * retransmission after that is reset. */
        if ((w->crowded || w->strangers) &&
            w->now - SCPS_MAX(e->opened, w->healed_at) <= 2 * COOKIE)
            break;
        MUST(f->excuse & ~(e->err == SCPS_ERR_RESET ? (unsigned)EXCUSE_ICMP : 0u) ||
             outlived(w, e, peer) ||
             (!peer->had && (w->crowded || (w->no_cookies && w->strangers) ||
                             w->now - e->opened >= least_silence(&w->host[!e->nr].cfg, false))));
        break;
    case SCPS_ERR_NOMEM:
        MUST(f->excuse & EXCUSE_MEMORY);
        break;
    /* Only the application itself may abort, and it has then let go of the connection. */
    case SCPS_ERR_ABORTED:
    default:
        MUST(!"an error nobody can explain");
    }
}

/* ---- the end ---- */

static bool end_finished(const struct end *e)
{
    return !e->c || e->failed || (e->closed && e->eof);
}

bool pair_finished(const struct world *w)
{
    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++)
            if (!end_finished(&w->flow[i].end[k]))
                return false;
    return true;
}

/* Returns true if the application of e waits for memory that the limit of its host refuses, while
 * another flow, of which it is doubtful whether it ends, has a connection there: that connection
 * may keep its buffers for ever. */
static bool waits_for_memory(const struct world *w, const struct end *e)
{
    bool any = false;

    for (int i = 0; i < FLOWS; i++) {
        const struct end *o = &w->flow[i].end[e->nr];
        any |= o != e && !end_finished(o) && doubt_of(w, &w->flow[i]) & DOUBT_END;
    }
    return any && e->c && e->starved && w->host[e->nr].limited;
}

/* Returns true if the faults of the run may have kept one end of flow f from finishing. */
static bool may_not_end(const struct world *w, const struct flow *f)
{
    return doubt_of(w, f) & DOUBT_END || waits_for_memory(w, &f->end[0]) ||
           waits_for_memory(w, &f->end[1]);
}

bool pair_only_doubtful(const struct world *w)
{
    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++)
            if (!end_finished(&w->flow[i].end[k]) && !may_not_end(w, &w->flow[i]))
                return false;
    return true;
}

static void explain(struct world *w, const struct flow *f)
{
    for (int i = 0; i < HOSTS; i++) {
        const struct end *e = &f->end[i];
        struct scps_info n = {0};
        if (e->c)
            scps_conn_info(e->c, &n);
        pair_log(w,
                 "flow %u, host %d: %s%s wrote %llu of %llu, read %llu (missing %llu),%s%s%s error "
                 "%s; unacked %llu, window %llu, timeouts %u",
                 f->nr, i, e->had ? "" : "never was, ", e->c ? scps_state_name(n.state) : "gone",
                 (unsigned long long)e->written, (unsigned long long)e->goal,
                 (unsigned long long)e->read, (unsigned long long)e->missing,
                 e->shut ? " shut" : "", e->eof ? " eof" : "", e->closed ? " closed" : "",
                 scps_errname(e->err), (unsigned long long)(e->c ? scps_conn_unacked(e->c) : 0),
                 (unsigned long long)n.snd_wnd, n.timeouts);
    }
}

/* Returns true if this end can never detect that the peer has gone: the peer's last reset, or
 * everything that its device sends, is lost. A host whose memory is limited may not get back the
 * address or the route that was removed. The application of a host without a device is not served
 * any more, and does not read what the connection had received before that. */
static bool left_alone(const struct world *w, const struct end *e, const struct end *peer)
{
    return pair_unreachable(&w->host[peer->nr]) ||
           (w->host[e->nr].gone && scps_conn_state(e->c) == SCPS_CLOSED) ||
           (scps_conn_state(e->c) == SCPS_FIN_WAIT_2 && (peer->failed || !peer->c));
}

void pair_judge_flow(struct world *w, struct flow *f)
{
    explain(w, f);
    for (int i = 0; i < HOSTS; i++) {
        struct end *e = &f->end[i], *peer = &f->end[!i];
        if (may_not_end(w, f))
            continue;
        MUST(end_finished(e) || left_alone(w, e, peer));
        /* An end that has not finished has not read everything either. */
        if (!end_finished(e))
            continue;
        if (!e->had || e->failed || peer->failed || f->excuse & EXCUSE_LET_GO || !peer->had)
            continue;
        MUST(e->eof && e->read == peer->written && e->written >= e->goal);
        MUST(!e->missing || w->host[i].cfg.bets);
        if (w->host[i].cfg.records && !e->missing && !(doubt_of(w, f) & DOUBT_RECORDS))
            MUST(e->records_seen == peer->records);
    }
}

void pair_outcome(const struct world *w, struct outcome *o)
{
    o->shifted = w->shifted;
    o->misled = w->misled;
    o->answered = w->answered;
    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++) {
            const struct end *e = &w->flow[i].end[k];
            o->end[i][k].had = e->had;
            o->end[i][k].eof = e->eof;
            o->end[i][k].closed = e->closed;
            o->end[i][k].failed = e->failed;
            o->end[i][k].err = e->err;
            o->end[i][k].written = e->written;
            o->end[i][k].read = e->read;
            o->end[i][k].missing = e->missing;
            o->end[i][k].sum = e->sum;
        }
    for (int k = 0; k < HOSTS; k++) {
        struct scps_stack_stats s;
        scps_stack_get_stats(w->host[k].st, &s);
        o->unanswered += s.drops[SCPS_DROP_RATE_LIMITED] + s.drops[SCPS_DROP_SYN_LIMIT];
    }
}

/* Returns true if an end did the same in both runs. With best effort it depends on microseconds
 * which data is given up. A half-open connection that the third party has opened changes the order
 * of timers that expire at the same time, and with it the order of two packets on the line: then
 * only the amount of data is compared. */
static bool same_end(const struct world *w, const struct outcome *with,
                     const struct outcome *without, int flow, int host)
{
    struct outcome a = *with, b = *without;

    if (with->answered && (w->host[0].cfg.bets || w->host[1].cfg.bets)) {
        a.end[flow][host].missing = b.end[flow][host].missing;
        a.end[flow][host].sum = b.end[flow][host].sum;
    }
    return !memcmp(&a.end[flow][host], &b.end[flow][host], sizeof a.end[flow][host]);
}

void pair_compare(const struct world *w, const struct outcome *with, const struct outcome *without,
                  bool ended)
{
    /* A late packet of an earlier connection and one of the third party are answered within the
     * same limit (scps_stack_config.resets): where that was reached, another number of resets, or
     * resets of other packets, may change which packets meet a fate. Without SYN cookies the third
     * party may take all places of the backlog, so a flow's SYN has to be repeated. */
    if (with->unanswered != without->unanswered || (with->answered && with->unanswered))
        return;
    /* A connection id has 8 bits, so the third party may guess it. The connection then answers a
     * segment that is not acceptable (RFC 9293 section 3.10.7.4, first check), and that answer is a
     * packet of the flow: another packet meets a fate that is due to the n-th. pair_step.c checks
     * that the answer is all that the third party achieves. */
    if (with->shifted)
        return;
    /* "another of the three [numbers] is accepted instead when several segments in a row have it"
     * (scps_conn_config.comp_proto): a segment with a guessed connection id interrupts the row. */
    if (with->misled)
        return;
    for (int i = 0; i < FLOWS; i++)
        for (int k = 0; k < HOSTS; k++)
            if (ended ? !same_end(w, with, without, i, k)
                      : with->end[i][k].failed != without->end[i][k].failed ||
                            with->end[i][k].err != without->end[i][k].err) {
                pair_log(w,
                         "flow %d, host %d: read %llu, missing %llu, error %s with the third "
                         "party, %llu, %llu, %s without",
                         i, k, (unsigned long long)with->end[i][k].read,
                         (unsigned long long)with->end[i][k].missing,
                         scps_errname(with->end[i][k].err),
                         (unsigned long long)without->end[i][k].read,
                         (unsigned long long)without->end[i][k].missing,
                         scps_errname(without->end[i][k].err));
                MUST(!"a blind third party made a difference");
            }
}
