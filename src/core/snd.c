/* SPDX-License-Identifier: MIT */
/* Decides what to send now, or why nothing is sent.
 *
 * In order: a reset, a probe that is due, the handshake; then repair before new data before the
 * FIN, within what the window (recovery.c), the peer and the pacer allow; then a bare
 * acknowledgement if one is owed. The reason why nothing is sent is an enum scps_hold.
 *
 * Small segments: Nagle's rule in Minshall's form (one small segment may be outstanding), RFC 9293
 * section 3.8.6.2.1 for the silly window; a corked one waits 200 ms at most, as with Linux's
 * TCP_CORK.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "core/seq.h"

#define CORK_MAX SCPS_MS(200)

static void base(struct scps_conn *c, struct scps_seg *seg, scps_off from)
{
    seg->sport = c->lport;
    seg->dport = c->rport;
    seg->seq = scps_seq_wrap(c->snd.iss, from);
    seg->ack = 0;
    seg->wnd = 0;
    seg->flags = 0;
    seg->urg = 0;
    seg->has = 0;
    seg->nsack = 0;
    seg->data = NULL;
    seg->len = 0;
    seg->gso = 0;
    seg->tos = c->ctx.cfg->tos;
    if (c->agreed.opts & SCPS_AGREED_TS) {
        seg->has = SCPS_HAS_TS;
        seg->tsval = scps_ts_value(&c->ts, c->ctx.env->now);
        seg->tsecr = c->ts.recent;
    }
}

static inline void left(struct scps_conn *c, const struct scps_seg *seg, scps_off from, bool resent)
{
    scps_time now = c->ctx.env->now;

    c->segs_out++;
    if (seg->len) {
        c->tx->sent_at = now;
        scps_stats_sent(c->ctx.st, seg->len);
    }
    if (resent) {
        c->ctx.st->resent_segs++;
        c->ctx.st->bytes_resent += seg->len;
    }
    SCPS_OBSERVE_CONN(c, SENT, from, seg->len, seg->flags, resent);
}

/* ---- the retransmission timer ---- */

static void begin_persist(struct scps_conn *c)
{
    scps_todo_add(&c->todo, SCPS_TODO_PERSIST);
    scps_heard_since_persist(&c->heard);
    scps_rto_silent_since(&c->tx->rto, c->ctx.env->now);
    scps_snd_arm_persist(c);
}

static SCPS_NOINLINE void end_persist(struct scps_tx *tx, struct scps_todo *todo)
{
    scps_todo_done(todo, SCPS_TODO_PERSIST);
    scps_rto_answered(&tx->rto);
    scps_rto_stop(tx);
}

/* Returns true if what the peer's window permits is worth a segment by RFC 9293 section 3.8.6.2.1,
 * rule (1), Eff.snd.MSS, or (3), half of Max(SND.WND). */
static bool worth_sending(const struct scps_send *s, uint32_t mss, uint64_t usable)
{
    return usable >= mss || 2 * usable >= s->max_wnd;
}

/* Returns true if the window is open but permits a silly segment only, and nothing is in flight:
 * the override timeout, rule (4), sends it. */
static bool awaits_override(const struct scps_send *s, uint32_t mss)
{
    return s->una == s->nxt && s->edge > s->nxt && s->edge < s->end &&
           !worth_sending(s, mss, s->edge - s->nxt);
}

/* Returns true if a window probe is needed: data waits, the window is closed, and nothing is in
 * flight that would bring an answer. */
static bool must_probe(const struct scps_send *snd, enum scps_state state)
{
    scps_off want = scps_send_fin_end(snd);

    return state != SCPS_SYN_SENT && state != SCPS_SYN_RECEIVED && snd->nxt < want &&
           snd->edge <= snd->nxt && snd->una == snd->nxt;
}

SCPS_NOINLINE void scps_snd_window_changed(struct scps_conn *c)
{
    /* The window is open; a probe that the peer did not accept is resent first. */
    if (c->tx && c->snd.edge > c->snd.una) {
        struct scps_ack_result sum = {0};
        scps_todo_done(&c->todo, SCPS_TODO_PROBE);
        if (awaits_override(&c->snd, c->agreed.mss) && !c->tx->ends.n) {
            /* The backoff does not restart with each octet of window. */
            scps_rto_answered(&c->tx->rto);
            scps_rto_arm_override(&c->ctx, c->tx, c->rtt.rto);
            return;
        }
        end_persist(c->tx, &c->todo);
        if (scps_sb_count(&c->tx->sb))
            scps_sb_lose(&c->tx->sb, c->tx->sb.head, &sum);
    }
}

static bool user_timed_out(const struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;

    return cfg->user_timeout && c->established &&
           c->ctx.env->now - c->tx->progress_at >= cfg->user_timeout;
}

/* Decides whether the connection times out. A user timeout decides alone. */
static bool timed_out(const struct scps_conn *c)
{
    if (c->ctx.cfg->c.user_timeout && c->established)
        return user_timed_out(c);
    return scps_snd_silent_too_long(c, c->ctx.cfg->c.rto_max) && !scps_bets_keeps_open(c);
}

static uint32_t packet_size(const struct scps_agreed *a, uint8_t family, uint32_t len)
{
    uint32_t tcp = 20 + (a->opts & SCPS_AGREED_TS ? 12u : 0);

    /* Length of the acknowledgement where there is room: 6. */
    if (a->caps & SCPS_CAP_COM && !(a->opts & SCPS_AGREED_UNHEARD))
        tcp = (a->opts & SCPS_AGREED_TS ? 16u : 8u) + (len <= scps_agreed_any_mss(a) ? 6u : 0);
    return len + (family == 4 ? 20u : 40u) + tcp;
}

/* Returns true if the retransmission waits for the rate: then no answer is overdue, and only a
 * user timeout continues. The rate is the route's if this connection is not served yet, or was
 * held by it, and otherwise its own. *at: when the rate permits the packet, headers included.
 * The timer runs from then; otherwise it would expire repeatedly on a slow line. */
static bool waits_for_rate(const struct scps_conn *c, scps_time *at)
{
    const struct scps_scoreboard *sb = &c->tx->sb;
    bool queued = c->hold == SCPS_HOLD_ROUTE || c->ready;
    struct scps_gate *g = queued && c->turns ? c->turns->gate : NULL;

    if (sb->inflight || !sb->lost || (c->hold != SCPS_HOLD_PACE && !g) || user_timed_out(c))
        return false;
    *at =
        g ? scps_gate_asks(g, c->ctx.env->now,
                           packet_size(&c->agreed, c->remote.family, scps_sb_at(sb, sb->head)->len))
          : c->tx->pace_timer.at;
    if (*at == SCPS_NEVER || *at < c->ctx.env->now)
        *at = c->ctx.env->now;
    return true;
}

void scps_snd_probe_timeout(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;

    /* A window may stay closed for ever as long as the peer answers; but after the application
     * has closed it ends like a silence (RFC 6429 section 3), or peers could pile such
     * connections up. */
    if (c->heard.persist && !c->released)
        scps_rto_silent_since(&c->tx->rto, c->ctx.env->now);
    scps_heard_since_persist(&c->heard);
    if (cfg->user_timeout ? user_timed_out(c) : scps_snd_silent_too_long(c, cfg->persist_max)) {
        scps_conn_reset(c, scps_snd_silence_err(c->soft_err));
        return;
    }
    scps_rto_back_off(&c->tx->rto);
    scps_todo_add(&c->todo, SCPS_TODO_PROBE);
    scps_conn_wake(c);
    scps_snd_arm_persist(c);
}

void scps_snd_timeout(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    bool handshake = c->state == SCPS_SYN_SENT || c->state == SCPS_SYN_RECEIVED;
    struct scps_tx *tx = c->tx;
    scps_time leaves;

    if (c->snd.una == c->snd.nxt)
        return;
    /* Best effort: not a timeout, but the end of the segment's lifetime. */
    if (c->ctx.env->now >= scps_bets_until(c)) {
        scps_bets_send(c);
        if (c->snd.una < c->snd.nxt)
            scps_snd_arm_rtx(c);
        scps_conn_wake(c);
        return;
    }
    if (waits_for_rate(c, &leaves)) {
        scps_snd_arm_rtx_from(c, leaves);
        return;
    }
    scps_conn_ctx_need_stats(&c->ctx);
    c->ctx.st->timeouts++;
    SCPS_OBSERVE_CONN(c, RTO, c->snd.una, c->rtt.rto, c->tx->rto.backoff, tx->sb.inflight);
    if (!c->tx->rto.backoff) /* This is the first timeout in a row. */
        scps_rto_silent_since(&tx->rto, c->ctx.env->now - c->rtt.rto);
    if (cfg->outage_after && c->tx->rto.backoff >= cfg->outage_after && !handshake) {
        scps_outage_begin(c, SCPS_NEVER, true);
        return;
    }
    if (timed_out(c)) {
        int err = scps_snd_silence_err(c->soft_err);
        if (handshake)
            scps_conn_finish(c, err);
        else
            scps_conn_reset(c, err);
        return;
    }
    if (handshake) {
        struct scps_ack_result sum = {0};
        c->syn_lost = true;
        scps_sb_lose(&tx->sb, tx->sb.head, &sum);
    } else {
        if (scps_sb_at(&tx->sb, tx->sb.head)->state == SCPS_SENT_ARRIVED) {
            /* The peer has discarded what it reported above SND.UNA. */
            scps_sb_renege(&tx->sb);
            memset(tx->sacked, 0, sizeof tx->sacked);
        }
        scps_recovery_timeout(c);
        scps_rto_keep(&tx->rto);
    }
    scps_rto_back_off(&c->tx->rto);
    if (c->agreed.caps & SCPS_CAP_COM &&
        scps_conn_doubts_comp(c)) /* Without memory it is sent as it is. */
        scps_sb_split_head(&tx->sb, &c->ctx.env->alloc, scps_agreed_any_mss(&c->agreed));
    if (c->state == SCPS_SYN_SENT && c->tx->rto.backoff == cfg->caps_tries && !c->plain &&
        scps_conn_offers(c))
        scps_conn_plainly(c, SCPS_PLAIN_FELL_BACK);
    scps_snd_arm_rtx(c);
    scps_conn_wake(c);
}

/* ---- segments ---- */

static SCPS_NOINLINE void handshake_segment(struct scps_conn *c, struct scps_seg *seg)
{
    const struct scps_asked asked = scps_conn_asked(c);

    base(c, seg, 0);
    seg->has = 0;
    seg->flags = SCPS_SYN;
    seg->tos = c->ctx.cfg->tos;
    scps_negotiate_offer(&asked, seg);
    if (seg->has & SCPS_HAS_TS) {
        seg->tsval = scps_ts_value(&c->ts, c->ctx.env->now);
        seg->tsecr = c->state == SCPS_SYN_RECEIVED ? c->ts.recent : 0;
    }
    if (c->tp)
        scps_negotiate_offer_bindings(&asked, c->tp->binding, c->tp->xcaps, seg);
    if (c->state == SCPS_SYN_RECEIVED) {
        scps_ackout_fill(c, seg);
        seg->flags &= (uint16_t) ~(c->agreed.opts & SCPS_AGREED_ECN ? 0 : SCPS_ECE);
    } else {
        seg->wnd = (uint16_t)SCPS_MIN(c->ctx.cfg->c.rcvbuf, 65535);
    }
}

/* Records the delivery state when the segment of record r is sent. */
static inline void delivery_of(struct scps_tx *tx, struct scps_sent_segment *r, scps_time now)
{
    scps_delivery_sent(&tx->delivery, r, &tx->sb, now);
}

static SCPS_NOINLINE bool handshake(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    uint32_t idx;
    bool again = c->snd.nxt > 0;

    if (again && !scps_sb_next_lost(sb, &idx)) {
        if (c->state == SCPS_SYN_RECEIVED && c->todo.bits & SCPS_TODO_ACK) {
            base(c, seg, c->snd.nxt);
            scps_ackout_fill(c, seg);
            c->ctx.st->acks_out++;
            left(c, seg, c->snd.nxt, false);
            return true;
        }
        scps_snd_hold(c, SCPS_HOLD_HANDSHAKE);
        return false;
    }
    handshake_segment(c, seg);
    if (again) {
        scps_sb_resent(sb, idx, c->ctx.env->now);
    } else {
        if (scps_sb_reserve(sb, &c->ctx.env->alloc)) {
            scps_conn_finish(c, SCPS_ERR_NOMEM);
            return false;
        }
        delivery_of(c->tx, scps_sb_sent(sb, 0, 1, SCPS_SENT_SYN, c->ctx.env->now), c->ctx.env->now);
        scps_send_left(&c->snd, 1);
    }
    left(c, seg, 0, again);
    if (!scps_rto_runs(c->tx))
        scps_snd_arm_rtx(c);
    return true;
}

/* Returns what a segment of len octets costs at the connection's own rate; 0: there is no rate.
 * A rate that spreads the congestion window counts what the window counts: with headers a window
 * of small segments would take longer than a round trip, would never be full, and so would not
 * grow. */
static inline uint32_t pace_size(const struct scps_conn *c, uint32_t len)
{
    if (!c->tx->pacer.rate)
        return 0;
    return c->tx->paces_window
               ? len
               : packet_size(&c->agreed, c->remote.family, len) + c->ctx.cfg->c.rate_overhead;
}

static SCPS_NOINLINE bool gate_covers(struct scps_conn *c, uint32_t len)
{
    struct scps_gate *gate = c->turns->gate;

    if (!scps_gate_covers(gate, c, c->ctx.env->now,
                          packet_size(&c->agreed, c->remote.family, len))) {
        scps_snd_hold(c, SCPS_HOLD_ROUTE);
        return false;
    }
    return true;
}

/* Returns true if the connection's own rate permits the segment now; otherwise arms the pacer's
 * timer and returns false. */
static inline bool covered(struct scps_conn *c, uint32_t size)
{
    scps_time when = scps_pacer_next(&c->tx->pacer, c->ctx.env->now, size);

    if (when <= c->ctx.env->now)
        return true;
    scps_timer_set_next(&c->ctx, &c->tx->pace_timer, when);
    scps_snd_hold(c, SCPS_HOLD_PACE);
    return false;
}

/* Returns true if the connection's own rate and the route's permit a segment of len octets, `size`
 * on the wire; charges the former. */
static inline bool paced(struct scps_conn *c, uint32_t len, uint32_t size)
{
    struct scps_pacer *pacer = &c->tx->pacer;

    if ((pacer->rate && !covered(c, size)) || (c->turns->gate && !gate_covers(c, len)))
        return false;
    if (pacer->rate)
        scps_pacer_spend(pacer, size);
    return true;
}

/* Called when the window is full. Returns true if the route's minimum rate lets one segment be sent
 * all the same. */
static SCPS_NOINLINE bool gate_permits(struct scps_conn *c)
{
    if (c->turns->gate && scps_gate_permits(c->turns->gate, c))
        return true;
    /* The window counts as the limit, however little the application has written. */
    scps_cc_limited(c, true);
    scps_snd_hold(c, c->tx->rec.episode == SCPS_EPISODE_FAST ? SCPS_HOLD_RECOVERY : SCPS_HOLD_CWND);
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

/* Makes seg of octets [from, from+len); flags: SCPS_SENT_FIN follows them, SCPS_SENT_RECORD ends
 * with them. */
static inline void data_segment(struct scps_conn *c, struct scps_seg *seg, scps_off from,
                                uint32_t len, uint32_t flags,
                                const struct scps_sent_segment *resent)
{
    base(c, seg, from);
    seg->data = scps_sndbuf_at(&c->tx->buf, from);
    seg->len = len;
    if (flags & (SCPS_SENT_FIN | SCPS_SENT_RECORD))
        end_of(seg, flags);
    if (len && from + len == c->snd.end)
        seg->flags |= SCPS_PSH;
    if (c->agreed.opts & SCPS_AGREED_ECN && len && !resent &&
        !(flags & SCPS_SENT_PROBE)) { /* RFC 3168 sections 6.1.5, 6.1.6 */
        seg->tos |= SCPS_ECN_ECT0;
        if (c->todo.bits & SCPS_TODO_CWR) {
            seg->flags |= SCPS_CWR;
            scps_todo_done(&c->todo, SCPS_TODO_CWR);
        }
    }
    if (len <= scps_agreed_any_mss(&c->agreed))
        scps_ackout_fill(c, seg);
    if (c->ctx.cfg->c.cc->on_sent)
        scps_cc_sent(c, len, resent != NULL);
    scps_recovery_sent(c, len, resent);
    left(c, seg, from, resent != NULL);
    scps_snd_hold(c, SCPS_HOLD_NONE);
}

/* Makes seg a retransmission of record r. */
static SCPS_NOINLINE void again(struct scps_conn *c, struct scps_seg *seg,
                                const struct scps_sent_segment *r)
{
    data_segment(c, seg, r->from, r->len - (r->flags & SCPS_SENT_FIN ? 1 : 0), r->flags, r);
}

/* As again() for record idx, when no rule asked for it: the rate does not hold a probe, but is
 * charged. */
static SCPS_NOINLINE void again_at_once(struct scps_conn *c, struct scps_seg *seg, uint32_t idx)
{
    again(c, seg, scps_sb_at(&c->tx->sb, idx));
    scps_sb_resent(&c->tx->sb, idx, c->ctx.env->now);
    if (c->tx->pacer.rate)
        scps_pacer_spend(&c->tx->pacer, pace_size(c, seg->len));
}

/* Decides, from the bytes in flight, whether the window is used. In slow start more than half of it
 * suffices (RFC 7661 section 4.1). */
static inline void note_use(struct scps_conn *c, uint64_t inflight, uint64_t window)
{
    if (inflight + c->agreed.mss > window ||
        (c->ctl.cwnd < c->ctl.ssthresh && 2 * inflight > c->ctl.cwnd))
        scps_cc_limited(c, true);
}

static SCPS_NOINLINE bool repair(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_tx *tx = c->tx;
    uint64_t inflight = scps_recovery_inflight(c->tx);
    struct scps_sent_segment *r;
    uint32_t idx, len;

    if (!scps_sb_next_lost(&tx->sb, &idx))
        return false;
    r = scps_sb_at(&tx->sb, idx);
    len = r->len - (r->flags & SCPS_SENT_FIN ? 1 : 0);
    if (r->from >= c->snd.edge && r->from != c->snd.una) { /* The peer has shrunk its window. */
        scps_snd_hold(c, SCPS_HOLD_PEER_WINDOW);
        return false;
    }
    if (!tx->rec.first_resend && inflight && inflight + len > scps_recovery_window(c) &&
        !gate_permits(c))
        return false;
    if (!paced(c, len, pace_size(c, len)))
        return false;
    again(c, seg, r);
    scps_sb_resent(&tx->sb, idx, c->ctx.env->now);
    delivery_of(c->tx, r, c->ctx.env->now);
    note_use(c, inflight + len, scps_recovery_window(c));
    if (scps_agreed_snack(&c->agreed) && c->rtt.srtt) /* Not before this time; snack.c decides. */
        scps_timer_by(&c->ctx, &tx->look_timer, c->ctx.env->now + c->rtt.srtt + c->rtt.srtt / 8);
    /* The oldest segment gets a whole round trip: the timer of its first transmission would be too
     * short. */
    if (!scps_rto_runs(tx) || idx == tx->sb.head)
        scps_snd_arm_rtx(c);
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

/* Returns true if a segment smaller than a full one may be sent. */
static SCPS_NOINLINE bool small_may_leave(struct scps_conn *c, uint32_t len, uint64_t usable)
{
    struct scps_tx *tx = c->tx;
    bool all = c->snd.nxt + len == c->snd.end;

    if (!all && usable < c->agreed.mss && worth_sending(&c->snd, c->agreed.mss, len))
        return true; /* all the peer takes */
    if (!all) {
        /* More will fit soon, or the override timeout sends it. */
        scps_snd_hold(c, SCPS_HOLD_PEER_WINDOW);
        if (c->snd.una == c->snd.nxt && !(c->todo.bits & SCPS_TODO_PERSIST)) {
            begin_persist(c);
            scps_rto_arm_override(&c->ctx, c->tx, c->rtt.rto);
        }
        return false;
    }
    ran_dry(tx, scps_recovery_window(c));
    if (c->snd.shut || c->small.bits & SCPS_SMALL_PUSH)
        return true;
    if (c->small.bits & (SCPS_SMALL_CORK | SCPS_SMALL_MORE)) {
        if (!scps_timer_runs(&tx->cork_timer))
            scps_timer_set(&c->ctx, &tx->cork_timer, c->ctx.env->now + CORK_MAX);
        scps_snd_hold(c, SCPS_HOLD_CORK);
        return false;
    }
    if (c->small.bits & SCPS_SMALL_NODELAY || tx->small_end <= c->snd.una)
        return true;
    scps_snd_hold(c, SCPS_HOLD_NAGLE);
    return false;
}

/* Restarts from the initial window: after an RTO of silence the old window says nothing of the path
 * (RFC 5681 section 4.1). */
static SCPS_NOINLINE void restart_if_idle(struct scps_conn *c)
{
    if (c->snd.una == c->snd.nxt && c->snd.una > 1 && c->ctx.env->now - c->tx->sent_at > c->rtt.rto)
        scps_cc_change(c, SCPS_CC_IDLE);
}

/* A planned segment of new data, from SND.NXT on. */
struct tx_plan {
    uint64_t avail, usable; /* octets written; octets that the peer's window permits */
    uint64_t inflight;
    /* len: payload of this segment; full: payload of the largest possible one */
    uint32_t len, full;
    uint32_t takes; /* sequence numbers that it takes: len and the FIN */
    uint32_t size;  /* octets on the wire; 0: no rate counts them */
    uint32_t flags; /* SCPS_SENT_* */
    bool fin;       /* the FIN is sent with it */
};

/* Plans the next segment. Returns false if there is nothing to send, or the peer's window is
 * closed. */
static inline bool plan_segment(struct scps_conn *c, bool probe, struct tx_plan *p)
{
    struct scps_tx *tx = c->tx;

    p->avail = c->snd.nxt < c->snd.end ? c->snd.end - c->snd.nxt : 0;
    p->fin = c->snd.shut && !scps_send_fin_sent(&c->snd);
    if (!p->avail && !p->fin) {
        if (c->hold != SCPS_HOLD_APP)
            scps_snd_hold(c, SCPS_HOLD_APP);
        /* Only controllers that model the path need the end of the app-limited phase updated. */
        if (c->ctx.cfg->c.cc->own_recovery || !tx->delivery.app_limited)
            ran_dry(tx, scps_recovery_window(c));
        return false;
    }
    p->usable = c->snd.edge > c->snd.nxt ? c->snd.edge - c->snd.nxt : 0;
    p->flags = 0;
    if (probe && !p->usable &&
        c->snd.una == c->snd.nxt) { /* A probe of one octet (or the FIN) beyond the window. */
        p->usable = 1;
        p->flags = SCPS_SENT_PROBE;
    }
    if (!p->usable) {
        scps_snd_hold(c, SCPS_HOLD_PEER_WINDOW);
        if (must_probe(&c->snd, c->state) && !(c->todo.bits & SCPS_TODO_PERSIST))
            begin_persist(c);
        return false;
    }
    p->full = c->todo.bits & SCPS_TODO_CWR ? scps_agreed_any_mss(&c->agreed) : c->agreed.mss;
    p->len = (uint32_t)SCPS_MIN(p->avail, p->full);
    p->len = (uint32_t)SCPS_MIN(p->len, p->usable);
    /* Never beyond the end of a record: up to there it is as large as it can become. */
    if (tx->ends.n)
        p->len = scps_record_cut(&tx->ends, c->snd.nxt, c->agreed.mss, p->len, &p->flags, &p->full);
    return true;
}

/* Returns true if the congestion window permits the planned segment. */
static inline bool window_covers(struct scps_conn *c, struct tx_plan *p)
{
    struct scps_tx *tx = c->tx;

    if (c->snd.una == c->snd.nxt)
        restart_if_idle(c);
    p->inflight = scps_recovery_inflight(c->tx);
    if (!c->ctx.cfg->c.limited_transmit && tx->rec.episode == SCPS_EPISODE_NONE)
        p->inflight = c->snd.nxt - c->snd.una;
    return !p->inflight || p->inflight + p->len <= scps_recovery_window(c) ||
           p->flags & SCPS_SENT_PROBE || c->todo.bits & SCPS_TODO_TAIL || gate_permits(c);
}

/* Makes room for its record. Without memory it is tried again later, if nothing else happens
 * before. */
static inline bool record_fits(struct scps_conn *c)
{
    if (!scps_sb_reserve(&c->tx->sb, &c->ctx.env->alloc))
        return true;
    scps_snd_hold(c, SCPS_HOLD_APP);
    scps_timer_set(&c->ctx, &c->tx->retry_timer, c->ctx.env->now + c->rtt.rto);
    return false;
}

/* Records in the scoreboard that the segment planned in p has been sent. */
static inline void enlist(struct scps_conn *c, const struct tx_plan *p)
{
    struct scps_tx *tx = c->tx;
    struct scps_sent_segment *r =
        scps_sb_sent(&tx->sb, c->snd.nxt, p->takes, p->flags, c->ctx.env->now);

    delivery_of(c->tx, r, c->ctx.env->now);
    scps_send_left(&c->snd, p->takes);
    if (p->flags & SCPS_SENT_RECORD)
        scps_rangeset_trim(&tx->ends, c->snd.nxt);
    if (p->len < p->full) {
        tx->small_end = c->snd.nxt;
        scps_timer_stop(&tx->cork_timer);
    }
    if (p->fin) {
        if (scps_agreed_snack(&c->agreed) && c->rtt.srtt)
            scps_timer_by(&c->ctx, &tx->look_timer,
                          c->ctx.env->now + c->rtt.srtt + c->rtt.srtt / 8);
    }
    if (c->small.bits & SCPS_SMALL_PUSH && c->snd.nxt >= c->snd.end)
        scps_small_set(&c->small, SCPS_SMALL_PUSH, false);
}

/* Handles a window probe that was sent as p. Returns false if p is an ordinary segment after
 * all. */
static SCPS_NOINLINE bool was_probe(struct scps_conn *c, const struct tx_plan *p)
{
    scps_todo_done(&c->todo, SCPS_TODO_PROBE);
    SCPS_OBSERVE_CONN(c, PROBE, 0, c->tx->rto.backoff, 0, 0);
    if (p->flags & SCPS_SENT_PROBE) {
        c->ctx.st->probes_out++;
        return true;
    }
    end_persist(c->tx, &c->todo); /* A small window accepts it: an ordinary segment. */
    return false;
}

/* Records whether the window is used now, and arms the pacer's timer if only the rate will hold the
 * next segment. */
static inline void look_ahead(struct scps_conn *c, const struct tx_plan *p)
{
    struct scps_tx *tx = c->tx;
    uint64_t window = scps_recovery_window(c), inflight = p->inflight + p->takes;

    note_use(c, inflight, window);
    if (tx->pacer.rate && !scps_pacer_covers(&tx->pacer, p->len) &&
        p->avail >= p->len + c->agreed.mss && p->usable >= p->len + c->agreed.mss && !tx->ends.n &&
        !c->turns->gate && p->inflight + p->len + c->agreed.mss <= window) {
        uint32_t next = p->len == c->agreed.mss ? p->size : pace_size(c, c->agreed.mss);
        /* Called for its side effect: it arms the pacer's timer, so that the connection need not be
         * asked before. */
        covered(c, next);
    }
}

static SCPS_ALWAYS_INLINE bool new_data(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_tx *tx = c->tx;
    bool probe = c->todo.bits & SCPS_TODO_PROBE;
    struct tx_plan p;

    if (!plan_segment(c, probe, &p) || !window_covers(c, &p))
        return false;
    if (p.len && p.len < p.full && !probe && !small_may_leave(c, p.len, p.usable))
        return false;
    p.fin = p.fin && c->snd.nxt + p.len == c->snd.end && (p.usable > p.len || !p.len) &&
            p.len <= scps_agreed_any_mss(&c->agreed);
    p.size = pace_size(c, p.len);
    if (!record_fits(c) || !paced(c, p.len, p.size))
        return false;
    if (c->snd.una == c->snd.nxt) {
        tx->progress_at = c->ctx.env->now;
        if (tx->rto.backoff && !probe) /* Best effort has given up the data that had no answer. */
            scps_rto_silent_since(&tx->rto, c->ctx.env->now);
        if (p.len)
            scps_stats_flight(c->ctx.st, c->ctx.env->now);
        if (scps_agreed_rack(&c->agreed, &c->ctx.cfg->c))
            scps_rack_arm(c); /* Later segments find it armed, or an acknowledgement arms it. */
    }
    if (p.fin)
        p.flags |= SCPS_SENT_FIN;
    p.takes = p.len + (p.fin ? 1 : 0);
    data_segment(c, seg, c->snd.nxt, p.len, p.flags, NULL);
    enlist(c, &p);
    if (probe && was_probe(c, &p))
        return true;
    if (!scps_rto_runs(c->tx)) {
        /* A smaller MSS fits the window, so no override is needed. */
        if (c->todo.bits & SCPS_TODO_PERSIST)
            end_persist(c->tx, &c->todo);
        scps_snd_arm_rtx(c);
    }
    look_ahead(c, &p);
    return true;
}

/* RFC 5682 step 2b: new segments, two by the window after a timeout, instead of a resend. Their
 * acknowledgements, or the timer, end the wait. "If the TCP sender does not have any new data to
 * send, or the advertised window prohibits new transmissions", nothing would: conventional
 * recovery goes on. */
static bool frto_step_2b(struct scps_conn *c, struct scps_seg *seg)
{
    if (new_data(c, seg))
        return true;
    if (c->snd.nxt == c->tx->rec.frto_nxt && c->hold != SCPS_HOLD_PACE &&
        c->hold != SCPS_HOLD_ROUTE)
        scps_recovery_no_frto(&c->tx->rec);
    return false;
}

/* While something is lost. */
static SCPS_NOINLINE bool mend(struct scps_conn *c, struct scps_seg *seg)
{
    if (c->tx->rec.frto == 2 && frto_step_2b(c, seg))
        return true;
    return c->tx->rec.frto != 2 && repair(c, seg);
}

/* Tail loss probe, RFC 8985 section 7.3: new data if there is any, whatever the window permits;
 * otherwise the last segment again. What the peer has it drops, and takes no acknowledgement from
 * it (RFC 9293 section 3.10.7.4, first step): one that was owed is still owed. */
static bool tail_probe(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    uint32_t last = sb->tail - 1;
    bool fresh = new_data(c, seg), owed;

    if (!fresh) {
        if (scps_sb_at(sb, last)->state != SCPS_SENT_FLIGHT) {
            scps_todo_done(&c->todo, SCPS_TODO_TAIL);
            return false;
        }
        owed = c->todo.bits & SCPS_TODO_ACK || scps_timer_runs(&c->ack.timer);
        again_at_once(c, seg, last);
        if (owed)
            scps_todo_add(&c->todo, SCPS_TODO_ACK);
        delivery_of(c->tx, scps_sb_at(sb, last), c->ctx.env->now);
    }
    scps_todo_done(&c->todo, SCPS_TODO_PROBE);
    scps_rack_probed(c, !fresh);
    return true;
}

/* Sends a window probe that is due. Returns false if nothing was sent before: then the next octet
 * is to be sent. */
static SCPS_NOINLINE bool probe(struct scps_conn *c, struct scps_seg *seg)
{
    struct scps_scoreboard *sb = &c->tx->sb;

    if (!scps_sb_count(sb))
        return false;
    if (c->todo.bits & SCPS_TODO_TAIL)
        return tail_probe(c, seg);
    again_at_once(c, seg, sb->head);
    c->ctx.st->probes_out++;
    scps_todo_done(&c->todo, SCPS_TODO_PROBE);
    SCPS_OBSERVE_CONN(c, PROBE, 0, c->tx->rto.backoff, 0, 0);
    return true;
}

/* Makes an empty segment one octet below what the peer is known to have, which it must answer.
 * Behind nxt, which in an outage may be far ahead of the peer, it would be acceptable, and no
 * answer due. */
static SCPS_NOINLINE void keepalive(struct scps_conn *c, struct scps_seg *seg)
{
    scps_off behind = scps_bets_peer_una(c->tx, c->snd.una) - 1;
    bool owed = c->todo.bits & SCPS_TODO_ACK || scps_timer_runs(&c->ack.timer);

    base(c, seg, behind);
    scps_ackout_fill(c, seg);
    scps_todo_done(&c->todo, SCPS_TODO_KEEP);
    /* The peer ignores the acknowledgement of an unacceptable segment, so send one by itself,
     * too. */
    if (owed)
        scps_todo_add(&c->todo, SCPS_TODO_ACK);
    c->ctx.st->probes_out++;
    left(c, seg, behind, false);
    SCPS_OBSERVE_CONN(c, PROBE, 1,
                      c->todo.bits & SCPS_TODO_OUTAGE ? c->outage_probes : c->keep_probes, 0, 0);
}

static bool may_send_data(uint8_t state, const struct scps_tx *tx)
{
    switch (state) {
    case SCPS_ESTABLISHED:
    case SCPS_CLOSE_WAIT:
    case SCPS_FIN_WAIT_1:
    case SCPS_CLOSING:
    case SCPS_LAST_ACK:
        return tx != NULL;
    default:
        return false;
    }
}

/* Sends what goes before everything else. Returns true if that is all now: a segment, or none
 * (*done false). */
static SCPS_NOINLINE bool special(struct scps_conn *c, struct scps_seg *seg, bool *done)
{
    *done = true;
    if (c->todo.bits & SCPS_TODO_RST) {
        base(c, seg,
             scps_send_acceptable(
                 &c->snd)); /* It carries timestamps, as RFC 7323 section 3.2 requires. */
        seg->flags = SCPS_RST | SCPS_ACK;
        seg->ack = scps_seq_wrap(c->rcv.irs, scps_receive_next(&c->rcv));
        c->segs_out++;
        scps_todo_done(&c->todo, SCPS_TODO_RST);
        return true;
    }
    if (c->todo.bits & SCPS_TODO_OUTAGE && !(c->todo.bits & SCPS_TODO_KEEP)) {
        scps_snd_hold(c, SCPS_HOLD_LINK_DOWN);
        *done = false;
        return true;
    }
    if (c->state == SCPS_SYN_SENT || c->state == SCPS_SYN_RECEIVED) {
        *done = handshake(c, seg);
        scps_todo_done(&c->todo, SCPS_TODO_KEEP); /* This is the probe of an outage. */
        return true;
    }
    *done = false;
    if (c->state == SCPS_CLOSED)
        return true;
    if (!(c->todo.bits & SCPS_TODO_KEEP))
        return false;
    keepalive(c, seg);
    *done = true;
    return true;
}

bool scps_conn_follow(struct scps_conn *c, const struct scps_seg *seg, struct scps_seg *next)
{
    const uint32_t urgent =
        SCPS_TODO_RST | SCPS_TODO_KEEP | SCPS_TODO_PROBE | SCPS_TODO_ACK | SCPS_TODO_CWR;

    return seg->flags == SCPS_ACK && !(seg->has & ~(uint32_t)SCPS_HAS_TS) && seg->data &&
           c->snd.nxt < c->snd.end && !(c->todo.bits & urgent) && may_send_data(c->state, c->tx) &&
           !c->tx->sb.lost &&
           (!c->tx->ends.n ||
            scps_rangeset_at(&c->tx->ends, 0)->from - c->snd.nxt >= c->agreed.mss) &&
           seg->seq + seg->len == scps_seq_wrap(c->snd.iss, c->snd.nxt) &&
           seg->data + seg->len == scps_sndbuf_at(&c->tx->buf, c->snd.nxt) && new_data(c, next);
}

static SCPS_ALWAYS_INLINE void fill_ack(struct scps_conn *c, struct scps_seg *seg)
{
    scps_off at = scps_send_acceptable(&c->snd);

    base(c, seg, at);
    scps_ackout_fill(c, seg);
    c->ctx.st->acks_out++;
    left(c, seg, at, false);
    SCPS_OBSERVE_CONN(c, ACK_OUT, scps_receive_next(&c->rcv), seg->wnd, seg->nsack, 0);
}

static SCPS_NOINLINE bool budgeted_ack(struct scps_conn *c, struct scps_seg *seg)
{
    if (!scps_ackout_within_budget(c))
        return false;
    fill_ack(c, seg);
    scps_ackout_spend(c, seg);
    return true;
}

static SCPS_ALWAYS_INLINE bool bare_ack(struct scps_conn *c, struct scps_seg *seg)
{
    if (c->ctx.cfg->c.ack_budget || c->ctx.cfg->c.ack_budget_pps)
        return budgeted_ack(c, seg);
    fill_ack(c, seg);
    return true;
}

/* A compressed header beside a full segment's data has no room for an acknowledgement: returns true
 * if one is sent first, by itself. One that may be delayed (RFC 9293 section 3.8.6.3) waits for
 * data that it can ride on, but not where a single segment leaves without it: messages that answer
 * each other would wait for the timer each time, where plain TCP does not. */
static SCPS_NOINLINE bool ack_goes_apart(struct scps_conn *c, struct scps_seg *seg)
{
    bool due = c->todo.bits & SCPS_TODO_ACK;
    uint64_t left = c->snd.end - SCPS_MIN(c->snd.nxt, c->snd.end);

    if (due ? !c->tx->sb.lost && left <= scps_agreed_any_mss(&c->agreed)
            : c->snd.una != c->snd.nxt || left > c->agreed.mss ||
                  left <= scps_agreed_any_mss(&c->agreed))
        return false;
    return bare_ack(c, seg);
}

bool scps_conn_output(struct scps_conn *c, struct scps_seg *seg)
{
    bool done;

    if (c->state != SCPS_ESTABLISHED ||
        c->todo.bits & (SCPS_TODO_RST | SCPS_TODO_KEEP | SCPS_TODO_OUTAGE)) {
        if (special(c, seg, &done))
            return done;
    }
    if (may_send_data(c->state, c->tx)) {
        if (c->agreed.caps & SCPS_CAP_COM &&
            (c->todo.bits & SCPS_TODO_ACK || scps_timer_runs(&c->ack.timer)) &&
            ack_goes_apart(c, seg))
            return true;
        if (c->todo.bits & SCPS_TODO_PROBE && probe(c, seg))
            return true;
        if (c->tx->sb.lost && c->agreed.caps & SCPS_CAP_BETS)
            scps_bets_send(c);
        if (c->tx->sb.lost ? mend(c, seg) : new_data(c, seg))
            return true;
        scps_todo_done(&c->todo, SCPS_TODO_PROBE);
        /* Recovery may be finished, or held by the peer's window: new data never overtakes it. */
    } else {
        scps_snd_hold(c, SCPS_HOLD_APP);
    }
    /* Otherwise the acknowledgement is carried by the data. */
    return c->todo.bits & SCPS_TODO_ACK && c->hold != SCPS_HOLD_ROUTE && bare_ack(c, seg);
}
