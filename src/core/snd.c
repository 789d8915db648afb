/* SPDX-License-Identifier: MIT */
/* Decides what to send now, or why nothing is sent.
 *
 * The order is: a reset; in the handshake the SYN or SYN-ACK; a keep-alive probe, or the probe of
 * an outage of the link, if one is due; then retransmissions before new data before the FIN, within
 * what the window (recovery.c), the peer and the pacer allow; window probes and tail loss probes
 * are among these segments with data; then an acknowledgement without data if one is due. When
 * nothing is sent, the reason is recorded (enum scps_hold).
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "core/segment.h"
#include "core/seq.h"
#include "wire/opt.h"

/* ---- functions that make segments ---- */

static SCPS_NOINLINE void handshake_segment(struct scps_conn *c, struct scps_seg *seg)
{
    const struct scps_asked asked = scps_conn_asked(&c->s, c->state, c->notify.active);

    scps_segment_begin(c, seg, 0);
    seg->has = 0;
    seg->flags = SCPS_SYN;
    seg->tos = c->s.ctx.cfg->tos;
    scps_negotiate_offer(&asked, seg);
    if (seg->has & SCPS_HAS_TS) {
        seg->tsval = scps_ts_value(&c->ts, c->s.ctx.env->now);
        seg->tsecr = c->state == SCPS_SYN_RECEIVED ? c->ts.recent : 0;
    }
    if (c->s.tp)
        scps_negotiate_offer_bindings(&asked, c->s.tp->binding, c->s.tp->xcaps, seg);
    if (c->state == SCPS_SYN_RECEIVED) {
        scps_segment_ack(c, seg);
        seg->flags &= (uint16_t) ~(c->s.agreed.opts & SCPS_AGREED_ECN ? 0 : SCPS_ECE);
    } else {
        seg->wnd = (uint16_t)SCPS_MIN(c->s.ctx.cfg->c.rcvbuf, 65535);
    }
}

static SCPS_NOINLINE bool handshake(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_scoreboard *sb = &c->s.tx->sb;
    uint32_t idx;
    bool again = c->s.snd.nxt > 0;

    if (again && !scps_sb_next_lost(sb, &idx)) {
        if (c->state == SCPS_SYN_RECEIVED && c->s.todo.bits & SCPS_TODO_ACK) {
            scps_segment_begin(c, seg, c->s.snd.nxt);
            scps_segment_ack(c, seg);
            c->s.ctx.st->acks_out++;
            scps_segment_left(&c->s.ctx, c->s.tx, seg, c->s.snd.nxt, false);
            return true;
        }
        scps_snd_hold(&c->s, SCPS_HOLD_HANDSHAKE);
        return false;
    }
    handshake_segment(c, seg);
    if (again) {
        scps_sb_resent(sb, idx, c->s.ctx.env->now);
    } else {
        /* scps_conn_open() or scps_conn_answer() has reserved the memory of this record. */
        struct scps_sent_segment *r = scps_sb_sent(sb, 0, 1, SCPS_SENT_SYN, c->s.ctx.env->now);
        scps_delivery_sent(&c->s.tx->delivery, r, sb, c->s.ctx.env->now);
        scps_send_left(&c->s.snd, 1);
    }
    scps_segment_left(&c->s.ctx, c->s.tx, seg, 0, again);
    if (!scps_rto_runs(c->s.tx))
        scps_snd_arm_rtx(&c->s);
    return true;
}

/* Makes a keep-alive probe: a segment without data one octet below the highest SEG.ACK of the peer,
 * which the peer must answer because it is not acceptable. A segment at SND.NXT, which in an outage
 * may be far beyond what has arrived, would be acceptable, and the peer would not answer it. */
static SCPS_NOINLINE void keepalive(struct scps_conn *c, struct scps_seg *seg)
{
    scps_off behind = scps_bets_peer_una(c->s.tx, c->s.snd.una) - 1;
    bool ack_due = c->s.todo.bits & SCPS_TODO_ACK || scps_timer_runs(&c->ack.timer);

    scps_segment_begin(c, seg, behind);
    scps_segment_ack(c, seg);
    scps_todo_done(&c->s.todo, SCPS_TODO_KEEP);
    /* The probe is always unacceptable to the peer (SEG.SEQ is below its RCV.NXT), so that the peer
     * answers, but it ignores the acknowledgement number of such a segment. So an acknowledgement
     * that is due is sent separately, too. */
    if (ack_due)
        scps_todo_add(&c->s.todo, SCPS_TODO_ACK);
    scps_stats_probe(c->s.ctx.st);
    scps_segment_left(&c->s.ctx, c->s.tx, seg, behind, false);
    SCPS_OBSERVE_CONN2(c, PROBE, 1,
                       c->s.todo.bits & SCPS_TODO_OUTAGE ? c->s.outage.probes : c->s.keep_probes);
}

/* Makes a segment of a kind that goes before data and acknowledgements: a reset, a probe that is
 * due, or a SYN. Returns true if scps_conn_output() must end with this; *done is then true if *seg
 * was made, false if nothing may be sent now. Returns false if there is no such segment. */
static SCPS_NOINLINE bool special(struct scps_conn *c, struct scps_seg *seg, bool *done)
{
    *done = true;
    if (c->s.todo.bits & SCPS_TODO_RST) {
        /* This call also adds the timestamps that a reset should have (RFC 7323 section 3.2). */
        scps_segment_begin(c, seg, scps_send_acceptable(&c->s.snd));
        seg->flags = SCPS_RST | SCPS_ACK;
        seg->ack = scps_seq_wrap(c->rcv.irs, scps_receive_next(&c->rcv));
        scps_todo_done(&c->s.todo, SCPS_TODO_RST);
        return true;
    }
    if (c->s.todo.bits & SCPS_TODO_OUTAGE && !(c->s.todo.bits & SCPS_TODO_KEEP)) {
        scps_snd_hold(&c->s, SCPS_HOLD_LINK_DOWN);
        *done = false;
        return true;
    }
    if (c->state == SCPS_SYN_SENT || c->state == SCPS_SYN_RECEIVED) {
        *done = handshake(c, seg);
        /* During an outage of the link (signalled, or inferred from timeouts) a probe is due at
         * intervals (SCPS_TODO_KEEP). In the handshake a SYN or SYN-ACK takes its place; if none
         * may be sent now, the probe is left out. */
        scps_todo_done(&c->s.todo, SCPS_TODO_KEEP);
        return true;
    }
    *done = false;
    if (c->state == SCPS_CLOSED)
        return true;
    if (!(c->s.todo.bits & SCPS_TODO_KEEP))
        return false;
    keepalive(c, seg);
    *done = true;
    return true;
}

/* Returns the length of the IP packet of seg, an acknowledgement without data. comp: state of the
 * header compression; NULL: none. */
static uint32_t bare_size(const struct scps_comp_tx *comp, bool ipv6, const struct scps_seg *seg)
{
    uint32_t ip = ipv6 ? 40 : 20;
    uint8_t octets[SCPS_COMP_MAX];

    if (comp) {
        struct scps_comp_tx as_now = *comp;
        size_t n = scps_comp_build(octets, &as_now, seg, NULL);
        if (n)
            return ip + (uint32_t)n;
    }
    return ip + 20 + (uint32_t)scps_tcpopt_build(octets, seg);
}

/* Returns true if the ACK budget (a rate limit of acknowledgements without data) permits one now.
 * If memory for its token buckets is refused, returns true. */
static SCPS_NOINLINE bool budget_permits(struct scps_receive *rcv, struct scps_conn_ctx *x)
{
    return scps_rx_need(rcv, x) || scps_ackbudget_covers(&rcv->rx->budget, x);
}

/* Charges seg, an acknowledgement without data, to the ACK budget: takes its packet, and the bytes
 * of that packet, from the two token buckets that limit such acknowledgements (ack_budget_pps,
 * ack_budget). rx NULL: memory for the token buckets was refused, and nothing is charged. */
static SCPS_NOINLINE void budget_spend(struct scps_rx *rx, const struct scps_sender *s,
                                       const struct scps_seg *seg)
{
    const struct scps_comp_tx *comp = NULL;

    if (!rx)
        return;
    if (s->agreed.caps & SCPS_CAP_COM)
        comp = &s->tp->comp_tx;
    scps_ackbudget_spend(&rx->budget, bare_size(comp, s->ipv6, seg) + s->ctx.cfg->c.rate_overhead);
}

/* Makes an acknowledgement without data in *seg. Returns false if the ACK budget (a rate limit of
 * such acknowledgements) does not permit one now. */
static SCPS_ALWAYS_INLINE bool bare_ack(struct scps_conn *c, struct scps_seg *seg)
{
    const bool budgeted = c->s.ctx.cfg->c.ack_budget || c->s.ctx.cfg->c.ack_budget_pps;
    scps_off at = scps_send_acceptable(&c->s.snd);

    if (budgeted && !budget_permits(&c->rcv, &c->s.ctx))
        return false;
    scps_segment_begin(c, seg, at);
    scps_segment_ack(c, seg);
    c->s.ctx.st->acks_out++;
    scps_segment_left(&c->s.ctx, c->s.tx, seg, at, false);
    SCPS_OBSERVE_CONN(c, ACK_OUT, scps_receive_next(&c->rcv), seg->wnd, seg->nsack, 0);
    if (budgeted)
        budget_spend(c->rcv.rx, &c->s, seg);
    return true;
}

/* Called on a connection with header compression if an acknowledgement is due (SCPS_TODO_ACK), or
 * is delayed and its timer runs. A full segment with a compressed header has no room for an
 * acknowledgement number. Returns true if an acknowledgement without data must be sent first. next:
 * RCV.NXT.
 * - One is due now: true, unless the data left to send is new and fits a single segment with room.
 * - One is delayed (RFC 9293 section 3.8.6.3): false, it waits for data that can carry it. True
 *   only if a single segment is left, nothing is outstanding, and that segment has no room:
 *   applications that answer each other's messages would otherwise wait for the timer each time.
 * - One is delayed, but RCV.NXT is acknowledged already: false. In strictly delayed mode (F0: the
 *   delayed-ACK timer alone causes acknowledgements) the timer runs on while data is missing, so
 *   one acknowledgement after another would be sent. */
static SCPS_NOINLINE bool ack_goes_apart(const struct scps_sender *s, uint32_t acked_to,
                                         scps_off next)
{
    uint64_t left = s->snd.end - SCPS_MIN(s->snd.nxt, s->snd.end);

    if (s->todo.bits & SCPS_TODO_ACK)
        return s->tx->sb.lost || left > scps_agreed_any_mss(&s->agreed);
    return s->snd.una == s->snd.nxt && acked_to != (uint32_t)next && left <= s->agreed.mss &&
           left > scps_agreed_any_mss(&s->agreed);
}

bool scps_conn_output(struct scps_conn *c, struct scps_seg *seg)
{
    bool done;

    if (c->state != SCPS_ESTABLISHED ||
        c->s.todo.bits & (SCPS_TODO_RST | SCPS_TODO_KEEP | SCPS_TODO_OUTAGE)) {
        if (special(c, seg, &done))
            return done;
    }
    if (scps_snd_may_send(c->state, c->s.tx)) {
        if (c->s.agreed.caps & SCPS_CAP_COM &&
            (c->s.todo.bits & SCPS_TODO_ACK || scps_timer_runs(&c->ack.timer)) &&
            ack_goes_apart(&c->s, c->ack.acked_to, scps_receive_next(&c->rcv)) && bare_ack(c, seg))
            return true;
        if (scps_snd_data(c, seg))
            return true;
        /* No segment with data could be sent. A tail loss probe that is due (SCPS_TODO_TAIL) waits
         * for the rate limit of the route and stays due. A window probe does not stay due: when its
         * timer expires again, the next one is due. */
        if (!(c->s.todo.bits & SCPS_TODO_TAIL))
            scps_todo_done(&c->s.todo, SCPS_TODO_PROBE);
    } else {
        scps_snd_hold(&c->s, SCPS_HOLD_APP);
    }
    /* If a rate limit of the route keeps data from being sent (SCPS_HOLD_ROUTE), the
     * acknowledgement waits, too, and is carried by that data. */
    return c->s.todo.bits & SCPS_TODO_ACK && c->s.hold != SCPS_HOLD_ROUTE && bare_ack(c, seg);
}
