/* SPDX-License-Identifier: MIT */
/* Makes the segments that carry data, and window probes. Chooses between retransmissions and new
 * data; sndplan.h decides whether new data may be sent. */
#include "core/sndplan.h"

#include "core/conn.h"
#include "core/segment.h"
#include "core/seq.h"

/* Returns true if the rate of the route permits a segment with len octets of data now. Otherwise
 * records that the route's rate is the reason to send nothing, and returns false. */
static SCPS_NOINLINE bool gate_covers(struct scps_sender *s, uint32_t len)
{
    if (scps_gate_covers(s->queue->gate, s, s->ctx.env->now,
                         scps_agreed_packet(&s->agreed, s->ipv6, len)))
        return true;
    scps_snd_hold(s, SCPS_HOLD_ROUTE);
    return false;
}

/* Returns true if the connection's own rate and the route's rate permit a segment with len octets
 * of data now, and charges it to the connection's rate. size: what the segment costs at the
 * connection's rate, bytes (scps_plan_cost). */
static SCPS_ALWAYS_INLINE bool paced(struct scps_sender *s, uint32_t len, uint32_t size)
{
    struct scps_pacer *pacer = &s->tx->pacer;

    if (pacer->rate) {
        scps_pacer_earn(pacer, s->ctx.env->now);
        if (!scps_plan_covered(s, size))
            return false;
    }
    if (s->queue->gate && !gate_covers(s, len))
        return false;
    if (pacer->rate)
        scps_pacer_spend(pacer, size);
    return true;
}

/* Sets the flags of seg that mark an end: FIN at the end of the stream; PSH and the end-of-record
 * option (kind 22) at the end of a record. */
static SCPS_NOINLINE void end_of(struct scps_seg *seg, uint32_t flags)
{
    if (flags & SCPS_SENT_FIN)
        seg->flags |= SCPS_FIN;
    if (flags & SCPS_SENT_RECORD) {
        seg->flags |= SCPS_PSH;
        seg->has |= SCPS_HAS_RECORD;
    }
}

/* For a segment with len octets of data that ends an application record: returns true if its packet
 * has room for an acknowledgement number. Without header compression it always has. With it, a full
 * segment with a compressed header has none; and if the segment carries ECE (SCPS_TODO_ECE in
 * todo), for which a compressed header has no bit, it gets a TCP header, which also needs room for
 * the end-of-record option (kind 22) that a compressed header codes as one bit. */
static SCPS_NOINLINE bool record_has_room(const struct scps_agreed *a, uint32_t todo, uint32_t len)
{
    return len <= scps_agreed_any_payload(a, todo & SCPS_TODO_ECE && a->caps & SCPS_CAP_COM);
}

/* Makes seg a segment with octets [from, from+len) of the stream. flags: SCPS_SENT_FIN if it has
 * the FIN, SCPS_SENT_RECORD if a record ends with it. resent: the scoreboard record of the segment
 * if it was sent before; NULL: it is new. */
static SCPS_ALWAYS_INLINE void data_segment(struct scps_conn *c, struct scps_seg *seg,
                                            scps_off from, uint32_t len, uint32_t flags,
                                            const struct scps_sent_segment *resent)
{
    scps_segment_begin(c, seg, from);
    seg->data = scps_sndbuf_at(&c->s.tx->buf, from);
    seg->len = len;
    if (flags & (SCPS_SENT_FIN | SCPS_SENT_RECORD))
        end_of(seg, flags);
    if (len && from + len == c->s.snd.end)
        seg->flags |= SCPS_PSH;
    if (c->s.agreed.opts & SCPS_AGREED_ECN && len && !resent &&
        !(c->s.todo.bits & SCPS_TODO_NOT_ECT) &&
        /* RFC 3168 sections 6.1.5 and 6.1.6: retransmissions and window probes are not ECT */
        !(flags & SCPS_SENT_PROBE)) {
        seg->tos |= SCPS_ECN_ECT0;
        if (c->s.todo.bits & SCPS_TODO_CWR) {
            seg->flags |= SCPS_CWR;
            scps_todo_done(&c->s.todo, SCPS_TODO_CWR);
        }
    }
    if (flags & SCPS_SENT_RECORD ? record_has_room(&c->s.agreed, c->s.todo.bits, len)
                                 : len <= scps_agreed_any_mss(&c->s.agreed))
        scps_segment_ack(c, seg);
    if (c->s.ctx.cfg->c.cc->on_sent) {
        scps_cc_sent(&c->s, scps_conn_cc(c), len, resent != NULL);
    }
    scps_recovery_sent(&c->s.tx->rec, len);
    if (resent) {
        scps_reorder_resent(&c->s.tx->reorder, resent, c->s.tx->rec.episode == SCPS_EPISODE_FAST,
                            c->s.ctx.env->now, c->s.rtt.rto);
        scps_recovery_resent(&c->s.tx->rec, resent, &c->ts, c->s.ctx.env->now);
    }
    scps_segment_left(&c->s.ctx, c->s.tx, seg, from, resent != NULL);
    scps_snd_hold(&c->s, SCPS_HOLD_NONE);
}

/* Returns true if the segment of scoreboard record r is longer than a segment may be now. It was
 * sent before the path MTU fell, and memory for splitting the record was refused then. */
static SCPS_NOINLINE bool too_long(const struct scps_agreed *a, const struct scps_sent_segment *r)
{
    bool fin = r->flags & SCPS_SENT_FIN, record = r->flags & SCPS_SENT_RECORD;
    uint32_t most = fin ? scps_agreed_any_mss(a) : a->mss;

    return r->len - fin + (record ? SCPS_RECORD_ROOM : 0) > most;
}

/* Returns how many octets of data of scoreboard record idx are resent in one segment. A record that
 * is too long for the path is split before. If there is no memory for that, only the first octets
 * that fit are sent, and SCPS_SENT_CUT is set. */
static SCPS_NOINLINE uint32_t resend_len(struct scps_sender *s, uint32_t idx)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    uint32_t piece = scps_agreed_piece(&s->agreed);
    struct scps_sent_segment *r;
    uint32_t data;
    bool cut;

    if (too_long(&s->agreed, scps_sb_at(sb, idx)))
        scps_sb_resegment(sb, &s->ctx.env->alloc, idx, piece);
    r = scps_sb_at(sb, idx);
    cut = too_long(&s->agreed, r);
    data = r->len - (r->flags & SCPS_SENT_FIN ? 1 : 0);
    scps_sb_mark(r, SCPS_SENT_CUT, cut);
    return cut ? SCPS_MIN(data - 1, piece) : data;
}

/* Makes seg a retransmission of the first len octets of data of record r. If an acknowledgement is
 * due that answers an unacceptable segment or a FIN (SCPS_TODO_ANSWER), it stays due: a peer that
 * already has this data drops the segment with its acknowledgement number (RFC 9293 section
 * 3.10.7.4, first step), and two ends that both resend arrived data would never receive that
 * answer. */
static SCPS_NOINLINE void again(struct scps_conn *c, struct scps_seg *seg,
                                const struct scps_sent_segment *r, uint32_t len)
{
    unsigned ack_bits = c->s.todo.bits & (SCPS_TODO_ACK | SCPS_TODO_ANSWER);
    uint32_t flags = r->flags;

    if (flags & SCPS_SENT_CUT)
        flags &= ~(uint32_t)(SCPS_SENT_FIN | SCPS_SENT_RECORD);
    data_segment(c, seg, r->from, len, flags, r);
    if (ack_bits & SCPS_TODO_ANSWER)
        scps_todo_add(&c->s.todo, ack_bits);
}

/* Makes seg a retransmission of record idx as a probe (of the window, of the tail, or of an
 * outage's end). The connection's own rate does not delay a probe, but its cost is subtracted from
 * the pacer's token bucket. */
static SCPS_NOINLINE void again_at_once(struct scps_conn *c, struct scps_seg *seg, uint32_t idx)
{
    uint32_t len = resend_len(&c->s, idx);

    again(c, seg, scps_sb_at(&c->s.tx->sb, idx), len);
    scps_sb_resent(&c->s.tx->sb, idx, c->s.ctx.env->now);
    if (c->s.tx->pacer.rate)
        scps_pacer_spend(&c->s.tx->pacer, scps_plan_cost(&c->s, seg->len));
}

static SCPS_NOINLINE bool repair(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_tx *tx = c->s.tx;
    uint64_t inflight = scps_recovery_inflight(c->s.tx);
    struct scps_sent_segment *r;
    uint32_t idx, len;

    if (!scps_sb_next_lost(&tx->sb, &idx))
        return false;
    len = resend_len(&c->s, idx);
    r = scps_sb_at(&tx->sb, idx);
    /* The segment of scoreboard record r is too long since the path MTU fell, and memory for
     * splitting it was refused, so only its first octets can be resent (SCPS_SENT_CUT). It waits
     * until it begins at SND.UNA: only there can the peer acknowledge a part of it. */
    if (r->flags & SCPS_SENT_CUT && idx != tx->sb.head) {
        scps_snd_hold(&c->s, SCPS_HOLD_RECOVERY);
        return false;
    }
    /* The segment begins beyond the right edge of the window, which the peer has shrunk, so it must
     * wait. */
    if (r->from >= c->s.snd.edge && r->from != c->s.snd.una) {
        scps_snd_hold(&c->s, SCPS_HOLD_PEER_WINDOW);
        return false;
    }
    if (!tx->rec.first_resend && inflight && inflight + len > scps_plan_window(&c->s) &&
        !scps_plan_gate_permits(&c->s))
        return false;
    if (!paced(&c->s, len, scps_plan_cost(&c->s, len)))
        return false;
    again(c, seg, r, len);
    scps_sb_resent(&tx->sb, idx, c->s.ctx.env->now);
    scps_delivery_sent(&c->s.tx->delivery, r, &c->s.tx->sb, c->s.ctx.env->now);
    if (scps_plan_in_use(&c->s.ctl, c->s.agreed.mss, inflight + len, scps_plan_window(&c->s)))
        scps_cc_limited(&c->s.use, true);
    /* The timer of loss detection is set to the earliest time at which this retransmission can be
     * taken for lost; when it expires, snacktx.c computes the exact time. */
    if (scps_agreed_snack(&c->s.agreed) && c->s.rtt.srtt)
        scps_timer_by(&c->s.ctx, &tx->look_timer,
                      c->s.ctx.env->now + c->s.rtt.srtt + c->s.rtt.srtt / 8);
    /* Resending the oldest segment restarts the retransmission timer, which would otherwise expire,
     * set for the first transmission, before the retransmission can be acknowledged. */
    if (!scps_rto_runs(tx) ||
        (idx == tx->sb.head && !scps_recovery_is_impatient(&c->s) && scps_tx_resend_restarts(tx)))
        scps_snd_arm_rtx(&c->s);
    return true;
}

/* Adds the new segment that was planned as p, and is sent now, to the scoreboard. */
static inline void enlist(struct scps_sender *s, const struct scps_tx_plan *p)
{
    struct scps_tx *tx = s->tx;
    struct scps_sent_segment *r =
        scps_sb_sent(&tx->sb, s->snd.nxt, p->takes, p->flags, s->ctx.env->now);

    scps_delivery_sent(&s->tx->delivery, r, &s->tx->sb, s->ctx.env->now);
    scps_send_left(&s->snd, p->takes);
    if (p->flags & SCPS_SENT_RECORD)
        scps_rangeset_trim(&tx->ends, s->snd.nxt);
    if (p->len < p->full) {
        tx->small_end = s->snd.nxt;
        scps_timer_stop(&tx->cork_timer);
    }
    if (p->fin) {
        if (scps_agreed_snack(&s->agreed) && s->rtt.srtt)
            scps_timer_by(&s->ctx, &tx->look_timer,
                          s->ctx.env->now + s->rtt.srtt + s->rtt.srtt / 8);
    }
    if (s->small.bits & SCPS_SMALL_PUSH && s->snd.nxt >= s->snd.end)
        scps_small_set(&s->small, SCPS_SMALL_PUSH, false);
}

/* Called after a segment of new data was sent while the peer's window is too small
 * (SCPS_TODO_PERSIST). flags: its SCPS_SENT_* flags. If it was a window probe, returns true. If it
 * lay within the window, ends window probing and returns false. */
static SCPS_NOINLINE bool was_probe(struct scps_sender *s, uint32_t flags)
{
    scps_todo_done(&s->todo, SCPS_TODO_PROBE);
    SCPS_OBSERVE2(&s->ctx, PROBE, 0, s->tx->silence.unanswered);
    if (flags & SCPS_SENT_PROBE) {
        scps_stats_probe(s->ctx.st);
        return true;
    }
    /* The peer's small window had room for the segment, so it is an ordinary one. */
    scps_persist_end(s);
    return false;
}

static SCPS_ALWAYS_INLINE bool new_data(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_tx *tx = c->s.tx;
    bool probe = c->s.todo.bits & SCPS_TODO_PROBE;
    struct scps_tx_plan p;

    if (!scps_plan_segment(&c->s, probe, &p) ||
        !scps_plan_window_covers(&c->s, scps_conn_cc(c), &p))
        return false;
    if (p.len && p.len < p.full && !probe && !scps_plan_small(&c->s, p.len, p.usable))
        return false;
    p.fin = p.fin && c->s.snd.nxt + p.len == c->s.snd.end && (p.usable > p.len || !p.len) &&
            p.len <= scps_agreed_any_mss(&c->s.agreed);
    p.size = scps_plan_cost(&c->s, p.len);
    if (!scps_plan_record_fits(&c->s) || !paced(&c->s, p.len, p.size))
        return false;
    if (c->s.snd.una == c->s.snd.nxt) {
        scps_tx_progress(tx, c->s.ctx.env->now);
        /* Best effort has given up the data that the peer did not answer, so timeouts of this new
         * data count as a new series, from which R2 is measured. */
        if (tx->silence.unanswered && !probe)
            scps_silence_since(&tx->silence, c->s.ctx.env->now);
        if (p.len)
            scps_stats_flight(c->s.ctx.st, c->s.ctx.env->now);
        if (scps_agreed_rack(&c->s.agreed, &c->s.ctx.cfg->c))
            /* Nothing was outstanding before this segment: starts the loss detection timer, which
             * checks whether a tail loss probe is due, unless it expires sooner already. Once it
             * has expired or was stopped, acknowledgements start it again. */
            scps_timer_by(&c->s.ctx, &tx->look_timer, scps_rack_wait(&c->s.rtt, c->s.ctx.env->now));
    }
    if (p.fin)
        p.flags |= SCPS_SENT_FIN;
    p.takes = p.len + (p.fin ? 1 : 0);
    data_segment(c, seg, c->s.snd.nxt, p.len, p.flags, NULL);
    enlist(&c->s, &p);
    if (probe && !(c->s.todo.bits & SCPS_TODO_TAIL) && was_probe(&c->s, p.flags))
        return true;
    if (!scps_rto_runs(c->s.tx)) {
        /* A full segment fits the peer's window after all, because the MSS has shrunk: window
         * probing, whose override timer would send a partial segment, ends. */
        if (c->s.todo.bits & SCPS_TODO_PERSIST)
            scps_persist_end(&c->s);
        scps_snd_arm_rtx(&c->s);
    }
    scps_plan_look_ahead(&c->s, &p);
    return true;
}

/* Called while a segment is declared lost. Resends it, except in F-RTO after a timeout (RFC 5682
 * section 2.1 step 2b): there two new segments are sent, and their acknowledgements, or another
 * timeout, end F-RTO. "If the TCP sender does not have any new data to send, or the advertised
 * window prohibits new transmissions", F-RTO ends here, and the lost segment is resent. Returns
 * false if nothing may be sent. */
static SCPS_NOINLINE bool mend(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_recovery *rec = &c->s.tx->rec;

    if (rec->frto == 2) {
        if (new_data(c, seg))
            return true;
        if (c->s.snd.nxt != rec->frto_nxt || c->s.hold == SCPS_HOLD_PACE ||
            c->s.hold == SCPS_HOLD_ROUTE)
            return false;
        scps_recovery_no_frto(rec);
    }
    return repair(c, seg);
}

/* Sends a tail loss probe (RFC 8985 section 7.3): new data if there is any, even if the congestion
 * window is full; otherwise the last segment again. A peer that has the last segment drops it and
 * ignores its acknowledgement number (RFC 9293 section 3.10.7.4, first step), so an acknowledgement
 * that was due stays due. Returns false if the probe waits for the rate of the route, or is not due
 * any more: while it has waited, a loss may have been detected. */
static bool tail_probe(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_scoreboard *sb = &c->s.tx->sb;
    uint32_t last = sb->tail - 1;
    bool fresh, ack_due;

    if (scps_rack_probe_at(&c->s, SCPS_NEVER) == SCPS_NEVER) {
        scps_todo_no_tail_probe(&c->s.todo);
        return false;
    }
    fresh = new_data(c, seg);
    if (!fresh) {
        if (c->s.queue->gate &&
            (c->s.hold == SCPS_HOLD_ROUTE || !gate_covers(&c->s, scps_sb_at(sb, last)->len)))
            return false;
        ack_due = c->s.todo.bits & SCPS_TODO_ACK || scps_timer_runs(&c->ack.timer);
        again_at_once(c, seg, last);
        if (ack_due)
            scps_todo_add(&c->s.todo, SCPS_TODO_ACK);
        scps_delivery_sent(&c->s.tx->delivery, scps_sb_at(sb, last), sb, c->s.ctx.env->now);
    }
    scps_todo_no_tail_probe(&c->s.todo);
    scps_rack_probed(&c->s.tx->rack, c->s.snd.nxt, !fresh);
    scps_rto_probed(&c->s.tx->rto);
    c->s.ctx.st->tlp_probes++;
    scps_snd_arm_rtx(&c->s);
    SCPS_OBSERVE_CONN2(c, PROBE, 2, !fresh);
    return true;
}

/* Window probe: resends the oldest outstanding segment, which is the octet of an earlier probe or,
 * if the peer has shrunk its window, a whole segment. Returns false if nothing is outstanding: then
 * the caller sends the next new octet as the probe. */
static SCPS_NOINLINE bool probe(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_scoreboard *sb = &c->s.tx->sb;

    if (!scps_sb_count(sb))
        return false;
    if (c->s.todo.bits & SCPS_TODO_TAIL)
        return tail_probe(c, seg);
    scps_sb_mark(scps_sb_at(sb, sb->head), SCPS_SENT_PROBE, true);
    again_at_once(c, seg, sb->head);
    scps_stats_probe(c->s.ctx.st);
    scps_todo_done(&c->s.todo, SCPS_TODO_PROBE);
    SCPS_OBSERVE_CONN2(c, PROBE, 0, c->s.tx->silence.unanswered);
    return true;
}

bool scps_conn_follow(struct scps_conn *c, const struct scps_seg *seg, struct scps_seg *next)
{
    const uint32_t urgent =
        SCPS_TODO_RST | SCPS_TODO_KEEP | SCPS_TODO_PROBE | SCPS_TODO_ACK | SCPS_TODO_CWR;

    return seg->flags == SCPS_ACK && !(seg->has & ~(uint32_t)SCPS_HAS_TS) && seg->data &&
           c->s.snd.nxt < c->s.snd.end && !(c->s.todo.bits & urgent) &&
           scps_snd_may_send(c->state, c->s.tx) && !c->s.tx->sb.lost &&
           (!c->s.tx->ends.n ||
            scps_rangeset_at(&c->s.tx->ends, 0)->from - c->s.snd.nxt >= c->s.agreed.mss) &&
           seg->seq + seg->len == scps_seq_wrap(c->s.snd.iss, c->s.snd.nxt) &&
           seg->data + seg->len == scps_sndbuf_at(&c->s.tx->buf, c->s.snd.nxt) && new_data(c, next);
}

bool scps_snd_data(struct scps_conn *c, struct scps_seg *seg)
{
    if (c->s.todo.bits & SCPS_TODO_PROBE && probe(c, seg))
        return true;
    if (c->s.todo.bits & SCPS_TODO_TAIL)
        return false; /* A tail loss probe is due and waits for the rate of the route. */
    if (c->s.tx->sb.lost && c->s.agreed.caps & SCPS_CAP_BETS)
        scps_snd_give_up(c, scps_bets_old(&c->s));
    return c->s.tx->sb.lost ? mend(c, seg) : new_data(c, seg);
}
