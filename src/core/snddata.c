/* SPDX-License-Identifier: MIT */
/* Makes segments with data: decides what is sent again, what is sent for the first time, and what
 * prevents it.
 *
 * Small segments: Nagle's rule in Minshall's form (one small segment may be outstanding), RFC 9293
 * section 3.8.6.2.1 for the silly window; a corked one waits 200 ms at most, as with Linux's
 * TCP_CORK.
 */
#include "core/snd.h"

#include "base/bytes.h"
#include "core/conn.h"
#include "core/segment.h"
#include "core/seq.h"

#define CORK_MAX SCPS_MS(200)

/* Returns true if a window probe is needed: data waits, the window is closed, and nothing is in
 * flight that would bring an answer. */
static bool must_probe(const struct scps_send *s)
{
    return s->nxt < scps_send_fin_end(s) && s->edge <= s->nxt && s->una == s->nxt;
}

/* Returns the octets that may be in flight now: the congestion window, except during recovery and
 * after a silence. */
static inline uint64_t window_of(struct scps_sender *s)
{
    const struct scps_recovery *rec = &s->tx->rec;

    if (rec->silent)
        return scps_recovery_window(s);
    return scps_recovery_reduces(s) ? rec->window : s->ctl.cwnd;
}

/* Returns what a segment with len octets of data costs at the connection's own rate, bytes; 0:
 * there is no rate. A rate that spreads the congestion window counts payload only, as the window
 * does: if it counted headers, too, a window of small segments would take longer than a round trip,
 * would never be full, and so would not grow. */
static inline uint32_t pace_size(const struct scps_tx *tx, const struct scps_agreed *a,
                                 uint8_t family, uint32_t overhead, uint32_t len)
{
    if (!tx->pacer.rate)
        return 0;
    return tx->paces_window ? len : scps_agreed_packet(a, family, len) + overhead;
}
#define PACE_SIZE(c, len)                                                                          \
    pace_size((c)->s.tx, &(c)->s.agreed, (c)->remote.family, (c)->s.ctx.cfg->c.rate_overhead, len)

static SCPS_NOINLINE bool gate_covers(struct scps_conn *c, uint32_t len)
{
    struct scps_gate *gate = c->s.turns->gate;

    if (!scps_gate_covers(gate, &c->s, c->s.ctx.env->now,
                          scps_agreed_packet(&c->s.agreed, c->remote.family, len))) {
        scps_snd_hold(&c->s, SCPS_HOLD_ROUTE);
        return false;
    }
    return true;
}

/* Returns true if the connection's own rate permits the segment now; otherwise arms the pacer's
 * timer and returns false. */
static inline bool covered(struct scps_conn *c, uint32_t size)
{
    scps_time when = scps_pacer_next(&c->s.tx->pacer, c->s.ctx.env->now, size);

    if (when <= c->s.ctx.env->now)
        return true;
    scps_timer_set_next(&c->s.ctx, &c->s.tx->pace_timer, when);
    scps_snd_hold(&c->s, SCPS_HOLD_PACE);
    return false;
}

/* Returns true if the connection's own rate and the route's rate permit a segment with len octets
 * of data, `size` octets on the link; its cost is charged to the former. */
static inline bool paced(struct scps_conn *c, uint32_t len, uint32_t size)
{
    struct scps_pacer *pacer = &c->s.tx->pacer;

    if ((pacer->rate && !covered(c, size)) || (c->s.turns->gate && !gate_covers(c, len)))
        return false;
    if (pacer->rate)
        scps_pacer_spend(pacer, size);
    return true;
}

/* Called when the window is full. Returns true if the route's minimum rate lets one segment be sent
 * all the same. */
static SCPS_NOINLINE bool gate_permits(struct scps_conn *c)
{
    if (c->s.turns->gate && scps_gate_permits(c->s.turns->gate, &c->s))
        return true;
    /* The window counts as the limit, however little the application has written. */
    scps_cc_limited(&c->s.use, true);
    scps_snd_hold(&c->s,
                  c->s.tx->rec.episode == SCPS_EPISODE_FAST ? SCPS_HOLD_RECOVERY : SCPS_HOLD_CWND);
    return false;
}

/* Sets the flags of seg for what ends with it: the stream or a record. */
static SCPS_NOINLINE void end_of(struct scps_seg *seg, uint32_t flags)
{
    if (flags & SCPS_SENT_FIN)
        seg->flags |= SCPS_FIN;
    if (flags & SCPS_SENT_RECORD) {
        seg->flags |= SCPS_PSH;
        seg->has |= SCPS_HAS_RECORD;
    }
}

/* Returns true if a segment of len octets that ends a record has room for its acknowledgement: with
 * ECE, which a compressed header cannot express, it is sent with a TCP header and the end-of-record
 * option. */
static SCPS_NOINLINE bool record_has_room(const struct scps_agreed *a, uint32_t todo, uint32_t len)
{
    return len <= scps_agreed_any_payload(a, todo & SCPS_TODO_ECE && a->caps & SCPS_CAP_COM);
}

/* Makes seg a segment with octets [from, from+len) of our stream. flags: SCPS_SENT_FIN if it has
 * the FIN, SCPS_SENT_RECORD if a record ends with it. */
static inline void data_segment(struct scps_conn *c, struct scps_seg *seg, scps_off from,
                                uint32_t len, uint32_t flags,
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
        /* RFC 3168 sections 6.1.5 and 6.1.6: no ECT in retransmissions and window probes */
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
    if (resent)
        scps_recovery_resent(&c->s.tx->rec, resent, scps_ts_value(&c->ts, c->s.ctx.env->now));
    scps_segment_left(&c->s.ctx, c->s.tx, seg, from, resent != NULL);
    scps_snd_hold(&c->s, SCPS_HOLD_NONE);
}

/* Makes seg a retransmission of record r. If the peer has its data already, the peer drops it
 * together with its acknowledgement number (RFC 9293 section 3.10.7.4, first step): so an answer to
 * an unacceptable segment, or to a FIN, is still due after it. Otherwise two ends that resend data
 * which the other has would never receive that answer. */
static SCPS_NOINLINE void again(struct scps_conn *c, struct scps_seg *seg,
                                const struct scps_sent_segment *r)
{
    unsigned owed = c->s.todo.bits & (SCPS_TODO_ACK | SCPS_TODO_ANSWER);

    data_segment(c, seg, r->from, r->len - (r->flags & SCPS_SENT_FIN ? 1 : 0), r->flags, r);
    if (owed & SCPS_TODO_ANSWER)
        scps_todo_add(&c->s.todo, owed);
}

/* Makes seg a retransmission of record idx that no rule asked for, such as a probe: the rate does
 * not hold it back, but is charged for it. */
static SCPS_NOINLINE void again_at_once(struct scps_conn *c, struct scps_seg *seg, uint32_t idx)
{
    again(c, seg, scps_sb_at(&c->s.tx->sb, idx));
    scps_sb_resent(&c->s.tx->sb, idx, c->s.ctx.env->now);
    if (c->s.tx->pacer.rate)
        scps_pacer_spend(&c->s.tx->pacer, PACE_SIZE(c, seg->len));
}

/* Decides, from the bytes in flight, whether the window is used. In slow start more than half of it
 * suffices (RFC 7661 section 4.1). */
static inline bool in_use(const struct scps_cc_ctl *ctl, uint32_t mss, uint64_t inflight,
                          uint64_t window)
{
    return inflight + mss > window || (ctl->cwnd < ctl->ssthresh && 2 * inflight > ctl->cwnd);
}

static SCPS_NOINLINE bool repair(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_tx *tx = c->s.tx;
    uint64_t inflight = scps_recovery_inflight(c->s.tx);
    struct scps_sent_segment *r;
    uint32_t idx, len;

    if (!scps_sb_next_lost(&tx->sb, &idx))
        return false;
    r = scps_sb_at(&tx->sb, idx);
    len = r->len - (r->flags & SCPS_SENT_FIN ? 1 : 0);
    if (r->from >= c->s.snd.edge && r->from != c->s.snd.una) { /* The peer has shrunk its window. */
        scps_snd_hold(&c->s, SCPS_HOLD_PEER_WINDOW);
        return false;
    }
    if (!tx->rec.first_resend && inflight && inflight + len > window_of(&c->s) && !gate_permits(c))
        return false;
    if (!paced(c, len, PACE_SIZE(c, len)))
        return false;
    again(c, seg, r);
    scps_sb_resent(&tx->sb, idx, c->s.ctx.env->now);
    scps_delivery_sent(&c->s.tx->delivery, r, &c->s.tx->sb, c->s.ctx.env->now);
    if (in_use(&c->s.ctl, c->s.agreed.mss, inflight + len, window_of(&c->s)))
        scps_cc_limited(&c->s.use, true);
    if (scps_agreed_snack(&c->s.agreed) &&
        c->s.rtt.srtt) /* This is the earliest time; snacktx.c computes the exact one. */
        scps_timer_by(&c->s.ctx, &tx->look_timer,
                      c->s.ctx.env->now + c->s.rtt.srtt + c->s.rtt.srtt / 8);
    /* The oldest segment gets a whole round trip: the timer of its first transmission would be too
     * short. */
    if (!scps_rto_runs(tx) || (idx == tx->sb.head && !scps_recovery_is_impatient(&c->s)))
        scps_snd_arm_rtx(&c->s);
    return true;
}

/* Less than a segment is left to send while the window has room: rates are app-limited until all
 * that is in flight has arrived (draft-ietf-ccwg-bbr, section "Tracking application-limited
 * phases"). */
static inline void ran_dry(struct scps_tx *tx, uint64_t window)
{
    if (tx->delivery.app_limited || (tx->sb.inflight < window && !tx->sb.lost))
        scps_delivery_app_limited(&tx->delivery, tx->sb.inflight);
}

/* Returns true if a segment smaller than a full one may be sent now. */
static SCPS_NOINLINE bool small_may_leave(struct scps_sender *s, uint32_t len, uint64_t usable)
{
    struct scps_tx *tx = s->tx;
    bool all = s->snd.nxt + len == s->snd.end;

    if (!all && usable < s->agreed.mss && scps_send_worth(&s->snd, s->agreed.mss, len))
        return true; /* this is all that the peer's window will take */
    if (!all) {
        /* Otherwise the window will soon permit a larger segment, or the override timeout sends
         * this one. */
        scps_snd_hold(s, SCPS_HOLD_PEER_WINDOW);
        if (s->snd.una == s->snd.nxt && !(s->todo.bits & SCPS_TODO_PERSIST)) {
            scps_snd_begin_persist(s);
            scps_rto_arm_override(&s->ctx, s->tx, s->rtt.rto);
        }
        return false;
    }
    ran_dry(tx, window_of(s));
    if (s->snd.shut || s->small.bits & SCPS_SMALL_PUSH)
        return true;
    if (s->small.bits & (SCPS_SMALL_CORK | SCPS_SMALL_MORE)) {
        if (!scps_timer_runs(&tx->cork_timer))
            scps_timer_set(&s->ctx, &tx->cork_timer, s->ctx.env->now + CORK_MAX);
        scps_snd_hold(s, SCPS_HOLD_CORK);
        return false;
    }
    if (s->small.bits & SCPS_SMALL_NODELAY || tx->small_end <= s->snd.una)
        return true;
    scps_snd_hold(s, SCPS_HOLD_NAGLE);
    return false;
}

/* Restarts from the initial window: after an RTO of silence the old window says nothing of the path
 * (RFC 5681 section 4.1). */
static SCPS_NOINLINE void restart_if_idle(struct scps_sender *s, void *cc)
{
    if (s->snd.una > 1 && s->ctx.env->now - s->tx->sent_at > s->rtt.rto) {
        scps_cc_change(s, cc, SCPS_CC_IDLE);
    }
}

/* The next segment of new data, as planned: it begins at SND.NXT. */
struct tx_plan {
    uint64_t avail, usable; /* octets written; octets that the peer's window permits */
    uint64_t inflight;
    /* len: payload of this segment; full: payload of the largest possible one */
    uint32_t len, full;
    uint32_t takes; /* sequence numbers that it takes: len, and one for the FIN */
    uint32_t size;  /* octets on the link; 0: no rate counts them */
    uint32_t flags; /* SCPS_SENT_* */
    bool fin;       /* the FIN is sent with it */
};

/* Plans the next segment of new data. Returns false if there is nothing to send, or the peer's
 * window is closed. */
static inline bool plan_segment(struct scps_conn *c, bool probe, struct tx_plan *p)
{
    struct scps_tx *tx = c->s.tx;

    p->avail = c->s.snd.nxt < c->s.snd.end ? c->s.snd.end - c->s.snd.nxt : 0;
    p->fin = c->s.snd.shut && !scps_send_fin_sent(&c->s.snd);
    if (!p->avail && !p->fin) {
        if (c->s.hold != SCPS_HOLD_APP)
            scps_snd_hold(&c->s, SCPS_HOLD_APP);
        /* Only controllers that model the path need the end of the app-limited phase updated. */
        if (c->s.ctx.cfg->c.cc->own_recovery || !tx->delivery.app_limited)
            ran_dry(tx, window_of(&c->s));
        return false;
    }
    p->usable = c->s.snd.edge > c->s.snd.nxt ? c->s.snd.edge - c->s.snd.nxt : 0;
    p->flags = 0;
    if (probe && !p->usable &&
        c->s.snd.una == c->s.snd.nxt) { /* A probe of one octet (or the FIN) beyond the window. */
        p->usable = 1;
        p->flags = SCPS_SENT_PROBE;
    }
    if (!p->usable) {
        scps_snd_hold(&c->s, SCPS_HOLD_PEER_WINDOW);
        if (must_probe(&c->s.snd) && !(c->s.todo.bits & SCPS_TODO_PERSIST))
            scps_snd_begin_persist(&c->s);
        return false;
    }
    p->full = c->s.todo.bits & SCPS_TODO_CWR ? scps_agreed_any_mss(&c->s.agreed) : c->s.agreed.mss;
    p->len = (uint32_t)SCPS_MIN(p->avail, p->full);
    p->len = (uint32_t)SCPS_MIN(p->len, p->usable);
    /* A segment never contains octets of two records; one that ends a record does not wait for more
     * data. */
    if (tx->ends.n)
        p->len = scps_record_cut(&tx->ends, c->s.snd.nxt, p->full, p->len, &p->flags, &p->full);
    return true;
}

/* Returns true if the congestion window permits the planned segment. */
static inline bool window_covers(struct scps_conn *c, struct tx_plan *p)
{
    struct scps_tx *tx = c->s.tx;

    if (c->s.snd.una == c->s.snd.nxt)
        restart_if_idle(&c->s, scps_conn_cc(c));
    p->inflight = scps_recovery_inflight(c->s.tx);
    if (!c->s.ctx.cfg->c.limited_transmit && tx->rec.episode == SCPS_EPISODE_NONE)
        p->inflight = c->s.snd.nxt - c->s.snd.una;
    return !p->inflight || p->inflight + p->len <= window_of(&c->s) || p->flags & SCPS_SENT_PROBE ||
           c->s.todo.bits & SCPS_TODO_TAIL || gate_permits(c);
}

/* Makes room for the record of the planned segment in the scoreboard. If memory is lacking, it is
 * tried again later, unless something else happens before. */
static inline bool record_fits(struct scps_conn *c)
{
    if (!scps_sb_reserve(&c->s.tx->sb, &c->s.ctx.env->alloc))
        return true;
    scps_snd_hold(&c->s, SCPS_HOLD_APP);
    scps_timer_set(&c->s.ctx, &c->s.tx->retry_timer, c->s.ctx.env->now + c->s.rtt.rto);
    return false;
}

/* Records in the scoreboard that planned segment p has been sent. */
static inline void enlist(struct scps_conn *c, const struct tx_plan *p)
{
    struct scps_tx *tx = c->s.tx;
    struct scps_sent_segment *r =
        scps_sb_sent(&tx->sb, c->s.snd.nxt, p->takes, p->flags, c->s.ctx.env->now);

    scps_delivery_sent(&c->s.tx->delivery, r, &c->s.tx->sb, c->s.ctx.env->now);
    scps_send_left(&c->s.snd, p->takes);
    if (p->flags & SCPS_SENT_RECORD)
        scps_rangeset_trim(&tx->ends, c->s.snd.nxt);
    if (p->len < p->full) {
        tx->small_end = c->s.snd.nxt;
        scps_timer_stop(&tx->cork_timer);
    }
    if (p->fin) {
        if (scps_agreed_snack(&c->s.agreed) && c->s.rtt.srtt)
            scps_timer_by(&c->s.ctx, &tx->look_timer,
                          c->s.ctx.env->now + c->s.rtt.srtt + c->s.rtt.srtt / 8);
    }
    if (c->s.small.bits & SCPS_SMALL_PUSH && c->s.snd.nxt >= c->s.snd.end)
        scps_small_set(&c->s.small, SCPS_SMALL_PUSH, false);
}

/* Counts planned segment p as a window probe. Returns false if the peer's window had room for p:
 * then p is an ordinary segment, and probing ends. */
static SCPS_NOINLINE bool was_probe(struct scps_sender *s, const struct tx_plan *p)
{
    scps_todo_done(&s->todo, SCPS_TODO_PROBE);
    SCPS_OBSERVE(&s->ctx, PROBE, 0, s->tx->rto.backoff, 0, 0);
    if (p->flags & SCPS_SENT_PROBE) {
        scps_stats_probe(s->ctx.st);
        return true;
    }
    /* The small window has room for it: it is an ordinary segment. */
    scps_snd_end_persist(s->tx, &s->todo);
    return false;
}

/* Records whether the congestion window is fully used now, and arms the pacer's timer if only the
 * rate prevents the next segment. */
static SCPS_ALWAYS_INLINE void look_ahead(struct scps_conn *c, const struct tx_plan *p)
{
    struct scps_tx *tx = c->s.tx;
    uint64_t window = window_of(&c->s), inflight = p->inflight + p->takes;

    if (in_use(&c->s.ctl, c->s.agreed.mss, inflight, window))
        scps_cc_limited(&c->s.use, true);
    if (tx->pacer.rate && !scps_pacer_covers(&tx->pacer, p->len) &&
        p->avail >= p->len + c->s.agreed.mss && p->usable >= p->len + c->s.agreed.mss &&
        !tx->ends.n && !c->s.turns->gate && p->inflight + p->len + c->s.agreed.mss <= window) {
        uint32_t next = p->len == c->s.agreed.mss ? p->size : PACE_SIZE(c, c->s.agreed.mss);
        /* This is called for its side effect: it arms the pacer's timer, so that the connection is
         * not served before. */
        covered(c, next);
    }
}

static SCPS_ALWAYS_INLINE bool new_data(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_tx *tx = c->s.tx;
    bool probe = c->s.todo.bits & SCPS_TODO_PROBE;
    struct tx_plan p;

    if (!plan_segment(c, probe, &p) || !window_covers(c, &p))
        return false;
    if (p.len && p.len < p.full && !probe && !small_may_leave(&c->s, p.len, p.usable))
        return false;
    p.fin = p.fin && c->s.snd.nxt + p.len == c->s.snd.end && (p.usable > p.len || !p.len) &&
            p.len <= scps_agreed_any_mss(&c->s.agreed);
    p.size = PACE_SIZE(c, p.len);
    if (!record_fits(c) || !paced(c, p.len, p.size))
        return false;
    if (c->s.snd.una == c->s.snd.nxt) {
        tx->progress_at = c->s.ctx.env->now;
        if (tx->rto.backoff && !probe) /* Best effort has given up the data that had no answer. */
            scps_rto_silent_since(&tx->rto, c->s.ctx.env->now);
        if (p.len)
            scps_stats_flight(c->s.ctx.st, c->s.ctx.env->now);
        if (scps_agreed_rack(&c->s.agreed, &c->s.ctx.cfg->c))
            /* If the timer runs already, later segments leave it; otherwise an acknowledgement arms
             * it. */
            scps_timer_by(&c->s.ctx, &tx->look_timer, scps_rack_wait(&c->s.rtt, c->s.ctx.env->now));
    }
    if (p.fin)
        p.flags |= SCPS_SENT_FIN;
    p.takes = p.len + (p.fin ? 1 : 0);
    data_segment(c, seg, c->s.snd.nxt, p.len, p.flags, NULL);
    enlist(c, &p);
    if (probe && was_probe(&c->s, &p))
        return true;
    if (!scps_rto_runs(c->s.tx)) {
        /* A smaller MSS fits the window, so no override is needed. */
        if (c->s.todo.bits & SCPS_TODO_PERSIST)
            scps_snd_end_persist(c->s.tx, &c->s.todo);
        scps_snd_arm_rtx(&c->s);
    }
    look_ahead(c, &p);
    return true;
}

/* RFC 5682 step 2b: sends new segments, two by the window after a timeout, instead of
 * retransmissions. Their acknowledgements, or the timer, end this. "If the TCP sender does not have
 * any new data to send, or the advertised window prohibits new transmissions", F-RTO ends and
 * conventional recovery continues. */
static bool frto_step_2b(struct scps_conn *c, struct scps_seg *seg)
{
    if (new_data(c, seg))
        return true;
    if (c->s.snd.nxt == c->s.tx->rec.frto_nxt && c->s.hold != SCPS_HOLD_PACE &&
        c->s.hold != SCPS_HOLD_ROUTE)
        scps_recovery_no_frto(&c->s.tx->rec);
    return false;
}

/* Sends retransmissions while something is lost. */
static SCPS_NOINLINE bool mend(struct scps_conn *c, struct scps_seg *seg)
{
    if (c->s.tx->rec.frto == 2 && frto_step_2b(c, seg))
        return true;
    return c->s.tx->rec.frto != 2 && repair(c, seg);
}

/* Sends a tail loss probe, RFC 8985 section 7.3: new data if there is any, whatever the congestion
 * window permits; otherwise the last segment again. If the peer has its data already, it drops the
 * segment and ignores its acknowledgement number (RFC 9293 section 3.10.7.4, first step): so an
 * acknowledgement that was due is still due. */
static bool tail_probe(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_scoreboard *sb = &c->s.tx->sb;
    uint32_t last = sb->tail - 1;
    bool fresh = new_data(c, seg), owed;

    if (!fresh) {
        if (scps_sb_at(sb, last)->state != SCPS_SENT_FLIGHT) {
            scps_todo_done(&c->s.todo, SCPS_TODO_TAIL);
            return false;
        }
        owed = c->s.todo.bits & SCPS_TODO_ACK || scps_timer_runs(&c->ack.timer);
        again_at_once(c, seg, last);
        if (owed)
            scps_todo_add(&c->s.todo, SCPS_TODO_ACK);
        scps_delivery_sent(&c->s.tx->delivery, scps_sb_at(sb, last), sb, c->s.ctx.env->now);
    }
    scps_todo_done(&c->s.todo, SCPS_TODO_PROBE | SCPS_TODO_TAIL);
    scps_rack_probed(&c->s.tx->rack, c->s.snd.nxt, !fresh);
    c->s.ctx.st->tlp_probes++;
    scps_snd_arm_rtx(&c->s);
    SCPS_OBSERVE_CONN(c, PROBE, 2, !fresh, 0, 0);
    return true;
}

/* Sends a window probe that is due. Returns false if no octet was sent beyond the window before:
 * then the caller sends the next octet as the probe. */
static SCPS_NOINLINE bool probe(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_scoreboard *sb = &c->s.tx->sb;

    if (!scps_sb_count(sb))
        return false;
    if (c->s.todo.bits & SCPS_TODO_TAIL)
        return tail_probe(c, seg);
    again_at_once(c, seg, sb->head);
    scps_stats_probe(c->s.ctx.st);
    scps_todo_done(&c->s.todo, SCPS_TODO_PROBE);
    SCPS_OBSERVE_CONN(c, PROBE, 0, c->s.tx->rto.backoff, 0, 0);
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
    if (c->s.tx->sb.lost && c->s.agreed.caps & SCPS_CAP_BETS)
        scps_bets_send(c);
    return c->s.tx->sb.lost ? mend(c, seg) : new_data(c, seg);
}
