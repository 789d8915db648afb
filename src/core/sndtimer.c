/* SPDX-License-Identifier: MIT */
/* What the sender does when its timers expire: data was not acknowledged in time, or a closed
 * window must be probed. */
#include "core/snd.h"

#include "base/bytes.h"
#include "core/conn.h"
#include "core/fixed.h"

SCPS_NOINLINE void scps_snd_window_changed(struct scps_sender *s)
{
    /* The peer's window is open again, so window probing ends. The octet of a window probe that the
     * peer did not accept is the oldest outstanding data, and is declared lost below, so it is
     * resent before new data is sent. */
    if (s->tx && s->snd.edge > s->snd.una) {
        scps_todo_done(&s->todo, SCPS_TODO_PROBE);
        if (scps_send_awaits_override(&s->snd, s->agreed.mss) && !s->tx->ends.n) {
            /* The window has opened by less than a segment. The count of unanswered probes restarts
             * now, and the override timer sends what fits; the count does not restart with each
             * further octet of window. */
            scps_silence_answered(&s->tx->silence);
            scps_persist_arm_override(s);
            return;
        }
        scps_persist_end(s);
        if (scps_sb_count(&s->tx->sb)) {
            struct scps_sent_segment *head = scps_sb_at(&s->tx->sb, s->tx->sb.head);
            if (head->flags & SCPS_SENT_PROBE)
                scps_bets_window_opened(&s->tx->bets, head, s->ctx.env->now);
            /* If the peer had shrunk its window, it has dropped the data in flight beyond that
             * window. So the oldest segment, and all data that was last sent a round trip ago or
             * longer, is declared lost: RFC 9293 section 3.8.6 (SHLD-16) wants "the old
             * unacknowledged data" within the window retransmitted. */
            scps_sb_lose_since(&s->tx->sb, s->ctx.env->now - SCPS_MAX(s->rtt.srtt, 1), NULL);
            /* Data is outstanding, such as the octet of a window probe, so the retransmission timer
             * runs (RFC 6298 section 5.1). If SACK or SNACK has reported the oldest segment as
             * arrived, perhaps in the acknowledgement that opens the window, the segment was not
             * declared lost above: then only a timeout resends it, should the report be false (RFC
             * 2018 section 8). */
            scps_snd_arm_rtx(s);
            /* ackin.c puts the sender into the ready queue for an opened window only if data is
             * left that was never sent. Here data may have to be resent, so the sender is queued in
             * any case. */
            scps_sender_wake(s);
        }
    }
}

void scps_snd_hasten(struct scps_sender *s)
{
    const scps_time rto = s->tx->rto.timer.at, probe = s->tx->persist.timer.at;

    if (rto != SCPS_NEVER) {
        scps_snd_arm_rtx(s);
        scps_timer_by(&s->ctx, &s->tx->rto.timer, rto);
    } else if (probe != SCPS_NEVER) {
        scps_persist_arm(s);
        scps_timer_by(&s->ctx, &s->tx->persist.timer, probe);
    }
}

/* ---- functions that give data up (best effort) ---- */

/* Largest number of ranges in the list of data that best effort has given up
 * (scps_conn_given_up()). A stack with fixed memory has a limit of its own. */
#define KEPT_RANGES 4096u

/* Best effort: counts in bytes_given_up the octets [from, end), which this end, the sender, has
 * given up and will not resend, and appends them to the list that the application reads with
 * scps_conn_given_up(). The list has a limited number of ranges; the count includes all octets. */
static void keep_range(struct scps_sender *s, scps_off from, scps_off end)
{
    const struct scps_fixed *fixed = s->ctx.env->fixed;
    struct scps_rangeset *list;

    s->ctx.st->bytes_given_up += end - from;
    SCPS_OBSERVE2(&s->ctx, GAVE_UP, from, end);
    if (scps_conn_need_tp(s))
        return;
    list = &s->tp->given_up;
    if (!list->max) {
        scps_rangeset_init(list, fixed ? fixed->given_up : KEPT_RANGES);
        if (fixed)
            /* This cannot fail, because scps_conn_plan() has planned memory for the list. */
            (void)scps_rangeset_reserve(list, &s->ctx.env->alloc);
    }
    scps_rangeset_add(list, &s->ctx.env->alloc, from, end, NULL);
}

/* Best effort, called when the segment at SND.UNA has been resent as often as permitted or has
 * reached its lifetime (scps_bets_is_due()): gives the segment up, and moves SND.UNA past it and
 * past the data behind it that the peer has reported as arrived. cc: state of the congestion
 * controller. */
static void give_up(struct scps_sender *s, void *cc)
{
    struct scps_tx *tx = s->tx;
    scps_off from = s->snd.una, end;

    scps_send_acked(&s->snd, scps_bets_give_up(&tx->bets, &tx->sb, from, s->ctx.env->now, &end));
    /* R2 (RFC 9293 section 3.8.3), the time without an answer of the peer after which the
     * connection ends, is counted from now on. It ends the connection only when nothing is left
     * that best effort can give up, for example when only the FIN is outstanding. */
    scps_silence_since(&tx->silence, s->ctx.env->now);
    keep_range(s, from, end);
    scps_sndbuf_release(&tx->buf, s->snd.una);
    scps_recovery_forget(&tx->rec);
    if (scps_recovery_passed(&tx->rec, s->snd.una)) {
        scps_cc_change(s, cc, SCPS_CC_RECOVERED);
        scps_recovery_note(s, 0);
    }
    if (s->snd.una < s->snd.nxt) {
        scps_snd_arm_rtx(s);
        return;
    }
    scps_rto_stop(tx);
    scps_todo_no_tail_probe(&s->todo);
    if (s->snd.una == scps_send_fin_end(&s->snd))
        scps_timer_set(&s->ctx, &tx->trim_timer, s->ctx.env->now + 2 * s->rtt.rto);
}

void scps_snd_give_up(struct scps_conn *c, scps_off old)
{
    const struct scps_send *snd = &c->s.snd;
    scps_off una = snd->una;

    if (!c->s.established)
        return;
    while (scps_bets_is_due(&c->s.tx->sb, snd->edge, old, c->s.ctx.cfg->c.bets_retries))
        give_up(&c->s, scps_conn_cc(c));
    if (snd->una == una)
        return;
    scps_conn_notify(c, SCPS_EV_GAVE_UP);
    if (c->s.small.wanted)
        scps_conn_room(c);
    if (snd->una == snd->nxt && snd->una == scps_send_fin_end(snd))
        scps_conn_notify(c, SCPS_EV_DRAINED);
}

/* ---- functions for the expiry of the retransmission and user timers ---- */

static bool user_timed_out(const struct scps_conn_ctx *x, const struct scps_tx *tx,
                           bool established)
{
    const scps_dur limit = x->cfg->c.user_timeout;

    return limit && established && x->env->now - tx->progress_at >= limit;
}

/* Called at a timeout: returns true if it ends the connection. With user_timeout it does when
 * SND.UNA has not moved for that time (tx->progress_at), once the handshake is over; otherwise when
 * the peer has not answered for R2 (RFC 9293 section 3.8.3) since the first timeout of the series
 * (tx->silence.since), unless best effort has data that it can give up instead. */
static bool timed_out(struct scps_sender *s)
{

    if (s->ctx.cfg->c.user_timeout && s->established)
        return user_timed_out(&s->ctx, s->tx, s->established != 0);
    return scps_snd_silent_too_long(s, s->ctx.cfg->c.rto_max) && !scps_bets_keeps_open(s);
}

/* Called when the retransmission timer has expired. Returns true if nothing is in flight and the
 * lost data only waits for a rate limit to be resent; then no acknowledgement is overdue, and only
 * a user timeout may end the connection. *at: time, µs, at which the rate permits the packet,
 * headers included; the retransmission timer must not expire before, or it would expire again and
 * again on a slow line. The limit is the rate of the connection's route, if the route has one and
 * the connection is in the route's ready queue (s->ready) or was refused by that rate
 * (SCPS_HOLD_ROUTE); otherwise it is the connection's own rate (SCPS_HOLD_PACE). Returns false,
 * too, if the peer has reported the segment at SND.UNA as arrived, because only a timeout resends
 * it (RFC 2018 section 5). */
static bool waits_for_rate(const struct scps_sender *s, scps_time *at)
{
    const struct scps_scoreboard *sb = &s->tx->sb;
    bool queued = s->hold == SCPS_HOLD_ROUTE || s->ready;
    struct scps_gate *g = queued && s->queue ? s->queue->gate : NULL;

    if (sb->inflight || !sb->lost || scps_sb_at(sb, sb->head)->state == SCPS_SENT_ARRIVED ||
        (s->hold != SCPS_HOLD_PACE && !g) || user_timed_out(&s->ctx, s->tx, s->established != 0))
        return false;
    *at = g ? scps_gate_asks(g, s->ctx.env->now,
                             scps_agreed_packet(&s->agreed, s->ipv6, scps_sb_at(sb, sb->head)->len))
            : s->tx->pace_timer.at;
    if (*at == SCPS_NEVER || *at < s->ctx.env->now)
        *at = s->ctx.env->now;
    return true;
}

void scps_snd_probe_timeout(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->s.ctx.cfg->c;

    /* The peer has answered the window probes, so the time without an answer restarts: a window may
     * stay closed for ever. It does not restart when the application has closed the connection:
     * then a closed window ends it after R2 as silence does (RFC 6429 section 3), since otherwise
     * peers could make such connections accumulate. */
    if (c->s.heard.persist && !c->notify.released)
        scps_silence_since(&c->s.tx->silence, c->s.ctx.env->now);
    scps_heard_since_persist(&c->s.heard);
    if (cfg->user_timeout ? user_timed_out(&c->s.ctx, c->s.tx, c->s.established != 0)
                          : scps_snd_silent_too_long(&c->s, cfg->persist_max)) {
        scps_conn_reset(c, scps_silence_err(c->s.soft_err));
        return;
    }
    scps_silence_count(&c->s.tx->silence);
    scps_todo_add(&c->s.todo, SCPS_TODO_PROBE);
    scps_sender_wake(&c->s);
    scps_persist_arm(&c->s);
}

/* Called when the retransmission timer expires. In the handshake: declares the SYN or SYN-ACK lost.
 * Otherwise begins an RTO episode, which the congestion controller is informed of, and declares
 * lost the oldest segment and all data last sent at least one SRTT ago; without SACK and SNACK, all
 * data in flight. */
static void presume_lost(struct scps_sender *s, void *cc, bool handshake)
{
    struct scps_tx *tx = s->tx;
    uint64_t before = s->ctl.cwnd;

    if (handshake) {
        scps_sender_syn_lost(s, true);
        scps_sb_lose(&tx->sb, tx->sb.head, NULL);
    } else {
        if (scps_sb_at(&tx->sb, tx->sb.head)->state == SCPS_SENT_ARRIVED) {
            /* SACK or SNACK has reported the segment at SND.UNA as arrived, but it is not
             * acknowledged: the peer has discarded it, and may have discarded reported data above
             * it, too. */
            scps_sb_renege(&tx->sb);
            scps_sackin_forget(&tx->sackin);
        }
        if (tx->rec.episode == SCPS_EPISODE_NONE)
            scps_cc_save(s, cc);
        scps_recovery_timeout(s);
        scps_cc_change(s, cc, SCPS_CC_RTO);
        if (s->ctl.cwnd < before)
            scps_recovery_reduced(s, &tx->rec);
        scps_recovery_note(s, 1);
        scps_rto_keep(&tx->rto);
    }
}

/* Called on a connection with header compression after two timeouts in a row: if the peer has
 * restarted, it does not know the connection id of a compressed header, but answers a TCP header
 * with a reset. So the oldest segment is resent with a TCP header (stack/comp.c): splits the
 * segment so that it fits the path with that longer header; if memory for that is refused, it stays
 * compressed. With best effort that segment may be given up before it is sent, so an empty segment
 * below SND.UNA (SCPS_TODO_KEEP), which gets a TCP header, too, is made due. */
static SCPS_NOINLINE void ask_as_tcp(struct scps_sender *s)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    bool record = scps_sb_at(sb, sb->head)->flags & SCPS_SENT_RECORD;

    scps_sb_split_head(sb, &s->ctx.env->alloc, scps_agreed_any_payload(&s->agreed, record));
    if (scps_bets_keeps_open(s))
        scps_todo_add(&s->todo, SCPS_TODO_KEEP);
}

/* Called when the retransmission timer expires while the peer's window is closed: the peer has
 * shrunk it, or an outage has interrupted window probing. RFC 9293 section 3.8.6: "If the window
 * shrinks to zero, the TCP implementation MUST probe it in the standard way". The oldest segment is
 * the probe. */
static SCPS_NOINLINE void begin_probing(struct scps_sender *s)
{
    if (!s->tx->silence.unanswered)
        scps_silence_since(&s->tx->silence, s->ctx.env->now);
    scps_todo_no_tail_probe(&s->todo);
    scps_todo_add(&s->todo, SCPS_TODO_PERSIST);
}

void scps_snd_timeout(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->s.ctx.cfg->c;
    bool handshake = c->state == SCPS_SYN_SENT || c->state == SCPS_SYN_RECEIVED;
    struct scps_tx *tx = c->s.tx;
    scps_time leaves;
    scps_off old;

    if (c->s.snd.una == c->s.snd.nxt)
        return;
    /* If `old` is not 0, the retransmission timer has expired not for a timeout but for best
     * effort: the data below `old` has reached the end of its lifetime (bets_lifetime) and is given
     * up. */
    old = scps_bets_old(&c->s);
    if (old) {
        scps_snd_give_up(c, old);
        if (c->s.snd.una < c->s.snd.nxt)
            scps_snd_arm_rtx(&c->s);
        scps_sender_wake(&c->s);
        return;
    }
    if (waits_for_rate(&c->s, &leaves)) {
        scps_snd_arm_rtx_from(&c->s, leaves);
        return;
    }
    if (c->s.snd.edge <= c->s.snd.una && !handshake) {
        begin_probing(&c->s);
        scps_snd_probe_timeout(c);
        return;
    }
    scps_conn_ctx_need_stats(&c->s.ctx);
    c->s.ctx.st->timeouts++;
    SCPS_OBSERVE_CONN(c, RTO, c->s.snd.una, c->s.rtt.rto, c->s.tx->silence.unanswered,
                      tx->sb.inflight);
    if (!tx->silence.unanswered) {
        /* This is the first timeout of a series. The time without an answer, which ends the
         * connection at R2, begins when the unanswered data was sent: one RTO ago, with the backoff
         * that is kept until an RTT sample. As the RTO may have grown since the timer was set, the
         * time begins no earlier than SND.UNA last moved, or the first data was sent
         * (progress_at). */
        const scps_dur rto = scps_rto_backed_off(&c->s, c->s.rtt.rto, cfg->rto_max);
        scps_silence_since(&tx->silence, SCPS_MAX(c->s.ctx.env->now - rto, tx->progress_at));
    }
    if (cfg->outage_after && c->s.tx->silence.unanswered >= cfg->outage_after && !handshake) {
        scps_snd_outage(c, SCPS_NEVER, true);
        return;
    }
    if (timed_out(&c->s)) {
        int err = scps_silence_err(c->s.soft_err);
        if (handshake)
            scps_conn_finish(c, err);
        else
            scps_conn_reset(c, err);
        return;
    }
    if (!handshake || c->s.ctx.env->may_repeat(c))
        presume_lost(&c->s, scps_conn_cc(c), handshake);
    scps_silence_count(&c->s.tx->silence);
    if (c->s.agreed.caps & SCPS_CAP_COM && scps_conn_doubts_comp(&c->s))
        ask_as_tcp(&c->s);
    if (c->state == SCPS_SYN_SENT && c->s.tx->silence.unanswered == cfg->caps_tries)
        scps_conn_falls_back(&c->s, c->state, c->notify.active);
    scps_snd_arm_rtx(&c->s);
    scps_sender_wake(&c->s);
}
