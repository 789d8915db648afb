/* SPDX-License-Identifier: MIT */
/* Processes an arriving acknowledgement.
 *
 * The SACK blocks, the SNACK and SEG.ACK are applied to the scoreboard, which returns what has
 * arrived. RTT and delivery rate are computed from that; then recovery and the rules that detect
 * losses run. The congestion controller is informed last, when losses and the end of recovery are
 * known.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "core/ackloss.h"
#include "core/dupack.h"
#include "core/keep.h"
#include "core/seq.h"

/* ---- functions that take the window of an arriving acknowledgement, and queue the sender ---- */

/* Called after each acknowledgement: puts the sender s into the ready queue, the connections that
 * the stack asks for their next segment. Exception: if only pacing keeps s from sending (s->hold is
 * SCPS_HOLD_PACE) and the pacing timer runs, the expiry of that timer queues s instead. */
static inline void wake(struct scps_sender *s)
{
    if (s->hold != SCPS_HOLD_PACE || !s->tx || !scps_timer_runs(&s->tx->pace_timer) ||
        s->ctl.cwnd != SCPS_CWND_OPEN || s->tx->sb.lost)
        scps_sender_wake(s);
}

static inline void take_window(struct scps_sender *s, const struct scps_seg *seg, scps_off ack)
{
    uint64_t wnd = (uint64_t)seg->wnd << s->agreed.snd_wscale;

    if (scps_send_window(&s->snd, seg->seq, ack, wnd) != SCPS_WINDOW_MOVED)
        return;
    if (!scps_send_all_sent(&s->snd))
        wake(s);
    if (!wnd)
        s->ctx.st->zero_windows_in++;
    if (s->todo.bits & SCPS_TODO_PERSIST)
        scps_snd_window_changed(s);
}

/* ---- functions for the steps of processing an acknowledgement; learn() calls them in turn ---- */

static SCPS_NOINLINE void take_snack(struct scps_sender *s, struct scps_ack_input *n)
{
    scps_sender_look_at(s, scps_snacktx_take(s, n->seg, (scps_off)n->ack_in, &n->sum));
    scps_snacktx_measure(s, &n->sum);
}

static inline void take_sack(struct scps_sender *s, struct scps_ack_input *n)
{
    struct scps_sackin_first first = scps_sackin_duplicate(s, n->seg, n->ack, n->ack_in, &n->sum);

    s->ctx.st->sacks_in++;
    /* A DSACK comes before the other SACK blocks: if it undoes the recovery episode, segments that
     * were declared lost count as in flight again when the other blocks are applied. The congestion
     * controller is informed of the undo later, in scps_ackloss_progress(). */
    if (first.dsack)
        scps_ackloss_dsack(s, first.from, first.to, n->sum.dsack_fresh);
    scps_sackin_take(s, n->seg, &first, n->ack, &n->sum);
}

/* Processes the SACK blocks and the SNACK of n->seg; each only if both SYNs offered that option. */
static inline void take_reports(struct scps_sender *s, struct scps_ack_input *n)
{
    struct scps_tx *tx = s->tx;
    const struct scps_seg *seg = n->seg;

    n->sum.fack = tx->sb.hi_arrived;
    if (seg->has & SCPS_HAS_SACK && s->agreed.opts & SCPS_AGREED_SACK) {
        scps_sackin_set_resent_age(s);
        take_sack(s, n);
    }
    if (n->snack) {
        scps_sackin_set_resent_age(s);
        take_snack(s, n);
        n->snack_reported = n->sum.delivered && !(s->agreed.opts & SCPS_AGREED_SACK);
        /* Without SACK each duplicate acknowledgement was counted as the arrival of one segment,
         * whichever it was (RFC 5681 section 3.2). Now the SNACK shows which octets arrived, so the
         * bytes that were counted for duplicates are subtracted: no byte counts twice. */
        if (n->snack_reported)
            scps_ack_result_counted(&n->sum, scps_recovery_real(&tx->rec, n->sum.delivered));
    }
    if (n->sum.newest)
        scps_reorder_reported(&tx->reorder, &n->sum, tx->sb.hi_xseq, s->ctx.env->now);
}

/* Best effort. Sets n->jumped if the peer may have given up, not received, data that n->ack covers:
 * it has reported a hole by SACK (RFC 2018 section 4) or, if SACK is off, by duplicates. If SEG.ACK
 * is below SND.UNA = una because this end gave up data, raises n->ack past the arrived segments
 * behind that data, up to `edge`, the right edge of the send window. If SEG.ACK equals SND.UNA, the
 * peer still expects that octet (RFC 9293 section 3.4): a report of it is false, n->ack stays. */
static SCPS_NOINLINE void pass_holes(struct scps_tx *tx, scps_off una, scps_off edge, bool sack,
                                     struct scps_ack_input *n)
{
    n->jumped = (n->before && n->before == tx->bets.gave_up_to) || tx->sb.hi_arrived > n->before ||
                (tx->rec.dupacks && !sack);
    if (n->ack_in < (int64_t)una && scps_bets_pass(&tx->bets, &tx->sb, una, edge, &n->ack))
        n->advanced = true;
}

/* Without SACK: subtracts from n->sum.delivered the bytes counted for duplicate acknowledgements.
 * The segment that filled the hole caused no duplicate, so up to mss bytes stay. */
static SCPS_NOINLINE void uncount(struct scps_recovery *rec, uint16_t mss, struct scps_ack_input *n)
{
    uint64_t gone = n->ack - n->before;

    gone = gone > mss ? gone - mss : 0;
    scps_ack_result_counted(&n->sum, scps_recovery_real(rec, gone));
}

/* Returns the time since the segment was sent whose timestamp seg echoes (TSecr), µs; -1: seg has
 * no usable echo. was: highest SEG.ACK of the peer before seg. */
static SCPS_NOINLINE scps_dur echo_of(const struct scps_sender *s, const struct scps_ts *ts,
                                      const struct scps_seg *seg, scps_off was)
{
    if (!(s->agreed.opts & SCPS_AGREED_TS) || !(seg->has & SCPS_HAS_TS) || !seg->tsecr ||
        scps_recovery_echo_is_stale(&s->tx->rec, was, seg->tsecr))
        return -1;
    return scps_ts_age(ts, seg->tsecr, s->ctx.env->now);
}

/* RACK: returns the time, µs, since the segment was sent whose timestamp is echoed. If that was
 * before a retransmission, an earlier transmission was acknowledged (RFC 8985 section 6.2 step 2).
 * Without an echo, returns 0: any retransmission may have arrived. With best effort, where the peer
 * also acknowledges octets that it has given up, returns INT64_MAX without an echo: no
 * retransmission counts as arrived. */
static SCPS_NOINLINE scps_dur echo_age(const struct scps_sender *s, const struct scps_ts *ts,
                                       const struct scps_ack_input *n)
{
    scps_dur age = echo_of(s, ts, n->seg, n->before);

    if (age >= 0)
        return age - SCPS_TS_TICK;
    return s->agreed.caps & SCPS_CAP_BETS ? INT64_MAX : 0;
}

/* Moves SND.UNA to n->ack. */
static inline void advance(struct scps_sender *s, const struct scps_ts *ts,
                           struct scps_ack_input *n)
{
    struct scps_tx *tx = s->tx;

    if (tx->sb.resent_head != tx->sb.resent_tail) {
        scps_sackin_set_resent_age(s);
        if (scps_agreed_rack(&s->agreed, &s->ctx.cfg->c))
            n->sum.echo_age = echo_age(s, ts, n);
    }
    scps_sb_ack(&tx->sb, s->ctx.env->now, n->ack, scps_rtt_min(&s->rtt), &n->sum);
    scps_send_acked(&s->snd, n->ack);
    scps_sndbuf_release(&tx->buf, n->ack);
    scps_tx_progress(tx, s->ctx.env->now);
    scps_silence_answered(&tx->silence);
    scps_keep_progress(s);
    scps_sender_soft_err(s, SCPS_SOFT_NONE);
    /* After a write with SCPS_MORE a segment that is not full waits until an acknowledgement
     * advances SND.UNA. This one does, so the segment may be sent now. */
    scps_small_set(&s->small, SCPS_SMALL_MORE, false);
    if (scps_send_fin_acked(&s->snd))
        s->ctx.st->fin_acked = s->ctx.env->now;
    if (tx->rec.virtual_arrived)
        uncount(&tx->rec, s->agreed.mss, n);
}

/* Counts an acknowledgement as a duplicate if it satisfies the conditions of RFC 5681 section 2.
 * edge: the right edge of the send window before this acknowledgement. */
static inline void take_duplicate(struct scps_sender *s, struct scps_ack_input *n, scps_off edge)
{
    const struct scps_seg *seg = n->seg;
    struct scps_tx *tx = s->tx;

    tx->heard_at = s->ctx.env->now;
    n->dup = n->ack_in == (int64_t)n->before && !seg->len && s->snd.nxt > s->snd.una &&
             s->snd.edge == edge && !(seg->flags & (SCPS_SYN | SCPS_FIN)) &&
             !(s->todo.bits & SCPS_TODO_PERSIST);
    if (n->dup)
        scps_dupack_take(s, n->snack_reported, &n->sum);
    else if (n->advanced && tx->rec.episode == SCPS_EPISODE_NONE)
        scps_recovery_forget(&tx->rec);
}

/* Takes one RTT sample, µs, from an acknowledgement and updates SRTT and the RTO. If the
 * acknowledgement covers segments that were sent once, sets a->rtt_old to the round trip of the
 * earliest sent of them. On entry a->rtt is the round trip of the latest sent of the segments that
 * this acknowledgement reports as arrived, or -1 if it is unknown, as for a resent segment. Round
 * trips in which the link was down are discarded; such a value becomes -1. */
static inline void measure(struct scps_sender *s, const struct scps_ts *ts,
                           const struct scps_ack_input *n, struct scps_cc_ack *a)
{
    const struct scps_ack_result *sum = &n->sum;
    scps_dur sample = -1;
    bool by_clock = false;

    if (sum->oldest_sent >= 0 && !sum->refilled) {
        a->rtt_old = sample = s->ctx.env->now - sum->oldest_sent;
    } else if (n->advanced && !n->jumped) {
        const struct scps_sample_view v = {.x = &s->ctx,
                                           .tx = s->tx,
                                           .rtt = &s->rtt,
                                           .agreed = &s->agreed,
                                           .ts = ts,
                                           .was = n->before,
                                           .dsacks = s->dsacks};
        sample = scps_sample_resent(&v, n->seg, sum);
        by_clock = true;
    }
    scps_sample_take(s->tx, &s->ctx, &s->rtt, sample, by_clock, a);
}

/* Called when an acknowledgement shows that segments which were declared lost have arrived by their
 * first transmission after all. In fast recovery: measures by how much longer than an RTT they
 * took. They count as arriving at `heard`, the time, µs, at which the previous acknowledgement
 * arrived, since they arrived later. From the longest such delay follows the reordering window
 * (reorder.h), the time for which the sender waits before it declares a segment lost. Outside fast
 * recovery nothing is measured. */
static SCPS_NOINLINE void take_late(struct scps_tx *tx, scps_time heard)
{
    struct scps_late late = scps_sb_take_late(&tx->sb);

    if (tx->rec.episode == SCPS_EPISODE_FAST)
        scps_reorder_late(&tx->reorder, &late, heard);
}

/* Takes the samples of delivery rate and RTT that an acknowledgement gives. */
static inline void take_samples(struct scps_sender *s, const struct scps_ts *ts,
                                struct scps_ack_input *n, struct scps_cc_ack *a)
{
    if (n->sum.delivered)
        scps_delivery_sample(&s->tx->delivery, &s->tx->sb, &n->sum, scps_rtt_min(&s->rtt),
                             s->ctx.env->now, a);
    if (a->rtt < 0 && a->sample_bytes)
        scps_sample_doubt(&s->rtt, s->ctx.env->now,
                          n->seg->has & SCPS_HAS_TS && s->agreed.opts & SCPS_AGREED_TS
                              ? scps_ts_age(ts, n->seg->tsecr, s->ctx.env->now)
                              : 0,
                          n->sum.newest, a);
    /* Best effort: SND.UNA has passed data that the peer may have given up after a wait, instead of
     * received, so the time of this acknowledgement is no RTT sample. */
    if (n->advanced && n->jumped) {
        scps_ack_result_no_rtt(&n->sum);
        a->rtt = -1;
    }
    if (s->tx->sb.late.any)
        take_late(s->tx, n->heard);
    measure(s, ts, n, a);
    if (n->advanced)
        SCPS_OBSERVE(&s->ctx, ACKED, s->snd.una, s->snd.una - n->before, a->rtt, a->rate);
    if (n->sum.reordered) {
        scps_rack_reordered(&s->tx->rack);
        s->ctx.st->reordered++;
    }
}

/* Tells the congestion controller which octets have arrived (by SEG.ACK, SACK or SNACK), and the
 * samples of RTT and delivery rate, after losses and the end of recovery have been determined. */
static inline void tell_controller(struct scps_sender *s, void *cc, const struct scps_ack_input *n,
                                   struct scps_cc_ack *a)
{
    struct scps_tx *tx = s->tx;
    bool may_grow;

    if (tx->rec.silent) {
        scps_sample_answered(tx, &s->rtt, s->ctx.env->now, n->sum.refilled_at);
        scps_recovery_heard(&tx->rec);
    }
    if (!s->established)
        return;
    a->in_recovery = tx->rec.episode == SCPS_EPISODE_FAST;
    may_grow = n->advanced || tx->rec.episode != SCPS_EPISODE_NONE;
    /* RFC 3168 section 6.1.2: "The sending TCP SHOULD NOT increase the congestion window in
     * response to the receipt of an ECN-Echo ACK packet." A controller that handles recovery itself
     * decides by its model of the path. */
    may_grow &= !a->marked || s->ctx.cfg->c.cc->own_recovery;
    scps_cc_ack(s, cc, a, may_grow);
}

/* Called when nothing is outstanding any more. Returns true if this acknowledgement covers the last
 * octet that the application has written (and the FIN, if it has closed); false if data waits to be
 * sent, or only the SYN was acknowledged. */
static SCPS_NOINLINE bool drained(struct scps_sender *s, bool advanced)
{
    const bool all = s->snd.una == scps_send_fin_end(&s->snd);

    /* Ends window probing, unless unsent data waits for the peer's window or for the end of an
     * outage. With nothing to send, the persist timer would expire again and again until it closes
     * the connection (R2). Or scps_conn_trim() would free the timer with the send state (s->tx),
     * but leave SCPS_TODO_PERSIST set, and no probing would begin for data written later. */
    if (all || !(s->todo.bits & (SCPS_TODO_PERSIST | SCPS_TODO_OUTAGE)))
        scps_persist_end(s);
    scps_todo_no_tail_probe(&s->todo);
    scps_timer_stop(&s->tx->look_timer);
    scps_timer_stop(&s->tx->trim_timer);
    if (!advanced || !all)
        return false;
    scps_timer_set(&s->ctx, &s->tx->trim_timer, s->ctx.env->now + 2 * s->rtt.rto);
    return s->snd.una > 1;
}

/* Returns true if the application must be informed that it can write again: an earlier write found
 * no room (room.wanted), and now a quarter of the send buffer, or 64 KiB if that is less, is free.
 * The rest still holds data, so the sender does not run dry before the next write. */
static inline bool room_again(struct scps_small room, const struct scps_send *s, uint32_t sndbuf)
{
    return room.wanted && sndbuf - (s->end - s->una) >= SCPS_MIN(sndbuf / 4, 65536u);
}

/* Returns true if an acknowledgement that does not advance SND.UNA restarts the retransmission
 * timer: in fast recovery with SACK or SNACK, when it reports new arrivals, as later reports will
 * show a lost retransmission. But if the peer has reported the segment at SND.UNA as arrived, the
 * report was false, and only a timeout resends that segment (RFC 2018 section 5). Without SACK and
 * SNACK only a timeout shows a lost retransmission (RFC 6582 section 3.2), so RFC 6298 section 5.3
 * alone restarts the timer: "When an ACK is received that acknowledges new data". */
static inline bool shows_progress(const struct scps_sender *s, const struct scps_ack_result *sum)
{
    const struct scps_tx *tx = s->tx;

    return sum->delivered && tx->rec.episode == SCPS_EPISODE_FAST &&
           scps_agreed_reports(&s->agreed) &&
           scps_sb_at(&tx->sb, tx->sb.head)->state != SCPS_SENT_ARRIVED;
}

/* Processes one acknowledgement while data is outstanding, in this order: the reports (SACK,
 * SNACK), SND.UNA, the send window, duplicates, the samples of delivery rate and RTT, the end of
 * recovery, losses, the congestion controller, the timers. ack_in: offset of SEG.ACK; ack: the
 * later of ack_in and SND.UNA. */
static SCPS_ALWAYS_INLINE void learn(struct scps_conn *c, const struct scps_seg *seg,
                                     int64_t ack_in, scps_off ack)
{
    struct scps_tx *tx = c->s.tx;
    const scps_off edge = c->s.snd.edge;
    struct scps_ack_input n = {
        .seg = seg,
        .ack_in = ack_in,
        .ack = ack,
        .before = c->s.snd.una,
        .heard = tx->heard_at,
        .sum = scps_ack_result_none(),
        .snack = seg->has & SCPS_HAS_SNACK && c->s.agreed.caps & SCPS_CAP_SNACK1 && ack_in >= 0,
        .advanced = ack > c->s.snd.una,
    };

    take_reports(&c->s, &n);
    if (c->s.agreed.caps & SCPS_CAP_BETS)
        pass_holes(tx, c->s.snd.una, edge, c->s.agreed.opts & SCPS_AGREED_SACK, &n);
    if (n.advanced)
        advance(&c->s, &c->ts, &n);
    if (ack_in >= (int64_t)n.before)
        take_window(&c->s, seg, n.ack);
    take_duplicate(&c->s, &n, edge);
    struct scps_cc_ack a = {.bytes = n.sum.delivered, .rtt = -1};
    take_samples(&c->s, &c->ts, &n, &a);
    if (scps_recovery_concerns_ack(&tx->rec))
        scps_ackloss_progress(&c->s, scps_conn_cc(c), &n);
    scps_ackloss_find(&c->s, scps_conn_cc(c), &n);
    if (seg->flags & SCPS_ECE && c->s.agreed.opts & SCPS_AGREED_ECN && !(seg->flags & SCPS_SYN)) {
        a.marked = a.bytes;
        scps_ackloss_ecn(&c->s, scps_conn_cc(c), n.sum.delivered);
    }
    if (n.sum.delivered)
        tell_controller(&c->s, scps_conn_cc(c), &n, &a);
    if (c->s.snd.una == c->s.snd.nxt) {
        if (drained(&c->s, n.advanced))
            scps_conn_notify(c, SCPS_EV_DRAINED);
    } else if (!n.impatient && (n.advanced || shows_progress(&c->s, &n.sum))) {
        scps_snd_arm_rtx(&c->s); /* restarts the retransmission timer (RFC 6298 section 5.3) */
    }
    if (n.advanced && room_again(c->s.small, &c->s.snd, c->s.ctx.cfg->c.sndbuf))
        scps_conn_room(c);
    wake(&c->s);
}

/* Processes an acknowledgement whose SEG.ACK is below SND.UNA. Its SEG.WND is ignored, unless
 * SEG.ACK is below SND.UNA only because this end gave up data (best effort). Returns true if data
 * is outstanding and the segment has SACK blocks or a SNACK, which may report something new. */
static SCPS_NOINLINE bool old_but_reports(struct scps_sender *s, const struct scps_seg *seg,
                                          int64_t ack_in)
{
    bool reports = (s->agreed.opts & SCPS_AGREED_SACK && seg->has & SCPS_HAS_SACK) ||
                   (s->agreed.caps & SCPS_CAP_SNACK1 && seg->has & SCPS_HAS_SNACK);

    /* Best effort: this end has given up data and moved SND.UNA past it, ahead of the peer's
     * acknowledgements, so this acknowledgement may be new although it is below SND.UNA. */
    if (s->tx && s->agreed.caps & SCPS_CAP_BETS && ack_in >= (int64_t)s->tx->bets.peer_una &&
        s->snd.una == s->tx->bets.gave_up_to) {
        scps_bets_heard(&s->tx->bets, (scps_off)ack_in);
        take_window(s, seg, (scps_off)ack_in);
    }
    /* RFC 9293 section 3.10.7.4: the window is not taken from an acknowledgement below SND.UNA. */
    return s->tx && reports && s->snd.una != s->snd.nxt;
}

bool scps_ackin(struct scps_conn *c, const struct scps_seg *seg)
{
    int64_t ack_in = scps_seq_unwrap(c->s.snd.iss, c->s.snd.una, seg->ack);
    scps_off ack = (scps_off)ack_in;

    if (ack_in > (int64_t)c->s.snd.nxt)
        return false;
    if (c->s.todo.bits & SCPS_TODO_OUTAGE)
        scps_snd_outage_heard(c);
    if (seg->has & SCPS_HAS_CORRUPTION && c->s.agreed.opts & SCPS_AGREED_CAPS &&
        !(seg->implied & SCPS_IMPLIED_SEQ))
        scps_snd_cause(c->s.tx, SCPS_LOSS_CORRUPTION,
                       c->s.ctx.env->now + (c->s.ctx.cfg->c.corruption_hold
                                                ? c->s.ctx.cfg->c.corruption_hold
                                                : 2 * c->s.rtt.rto));
    /* Any acknowledgement shows that the peer answers. A peer that answers window probes may keep
     * its window closed for ever without the connection being ended (RFC 9293 section 3.8.6.1). */
    scps_heard_now(&c->s.heard);
    if (c->s.agreed.caps & SCPS_CAP_BETS &&
        scps_bets_peer_una(c->s.tx, c->s.snd.una) < c->s.snd.una &&
        ack_in > (int64_t)c->s.tx->bets.peer_una && ack_in <= (int64_t)c->s.snd.una) {
        scps_sample_late(c->s.tx, &c->s.ctx, &c->s.rtt,
                         echo_of(&c->s, &c->ts, seg, c->s.tx->bets.peer_una));
        scps_bets_heard(&c->s.tx->bets, (scps_off)ack_in);
    }
    if (ack_in < (int64_t)c->s.snd.una) {
        ack = c->s.snd.una;
        if (!old_but_reports(&c->s, seg, ack_in))
            return true;
    }
    /* If nothing is outstanding, the acknowledgement can only change the window, unless it has a
     * SACK block. That block can then only be a DSACK, for example for a tail loss probe that was
     * needless, which arrives after all data was acknowledged (RFC 8985 section 7.4.2). */
    if (!c->s.tx || (ack == c->s.snd.una && c->s.snd.una == c->s.snd.nxt &&
                     !(seg->has & SCPS_HAS_SACK && c->s.agreed.opts & SCPS_AGREED_SACK)))
        take_window(&c->s, seg, ack);
    else
        learn(c, seg, ack_in, ack);
    return true;
}

/* ---- functions called when the timer of loss detection (tx->look_timer) expires ---- */

/* Called after segments were declared lost by timer: restarts the retransmission timer, because the
 * segments will be resent. It does not if the peer has reported the segment at SND.UNA as arrived
 * without acknowledging it: that report was false or the receiver has discarded the data since, and
 * only the retransmission timer repairs that (RFC 2018 section 5). */
static SCPS_NOINLINE_SIZE void restart_for_lost(struct scps_sender *s)
{
    if (scps_sb_at(&s->tx->sb, s->tx->sb.head)->state != SCPS_SENT_ARRIVED &&
        scps_tx_resend_restarts(s->tx))
        scps_snd_arm_rtx(s);
}

/* RACK: called when the loss detection timer expires. Declares lost the segments whose reordering
 * window has ended, or requests a tail loss probe if one is due. outage_at: next expiry, µs, of the
 * timer that probes during an outage, or SCPS_NEVER. Returns true if there is something to send. */
static bool look_by_clock(struct scps_sender *s, void *cc, scps_time outage_at)
{
    struct scps_ack_result sum = scps_ack_result_none();
    scps_time again = scps_rack_look(s, &sum);
    bool found = sum.lost > 0;

    if (found) {
        scps_ackloss_lost(s, cc, &sum, SCPS_BY_RACK);
        restart_for_lost(s);
    }
    if (!again && !(s->todo.bits & SCPS_TODO_PERSIST)) {
        again = scps_rack_probe_at(s, SCPS_MIN(s->tx->rto.timer.at, outage_at));
        if (again <= s->ctx.env->now) {
            scps_todo_add(&s->todo, SCPS_TODO_PROBE | SCPS_TODO_TAIL);
            if (s->tx->rto.timer.at <= s->ctx.env->now)
                scps_snd_arm_rtx(s); /* The probe replaces a timeout that is due now. */
            return true;
        }
    }
    scps_sender_look_at(s, again);
    return found;
}

/* SNACK: called when the loss detection timer expires. Declares a retransmission lost if the peer
 * has not reported its arrival in time, and processes SNACKs that were postponed to the end of the
 * reordering window. Returns true if there is something to send. */
static bool look_for_silence(struct scps_sender *s, void *cc)
{
    struct scps_ack_result sum = scps_ack_result_none();

    if (s->snd.una == s->snd.nxt || s->todo.bits & SCPS_TODO_PERSIST)
        return false;
    scps_sender_look_at(s, scps_snacktx_look(s, &sum));
    if (!sum.lost)
        return false;
    scps_ackloss_lost(s, cc, &sum, SCPS_BY_RESEND);
    restart_for_lost(s);
    return true;
}

void scps_ackin_look(struct scps_sender *s, void *cc, scps_time outage_at)
{
    if (scps_agreed_snack(&s->agreed) && look_for_silence(s, cc))
        scps_sender_wake(s);
    if (scps_agreed_rack(&s->agreed, &s->ctx.cfg->c) && look_by_clock(s, cc, outage_at))
        scps_sender_wake(s);
    if (!scps_agreed_rack(&s->agreed, &s->ctx.cfg->c) && scps_ackloss_look(s, cc)) {
        restart_for_lost(s);
        scps_sender_wake(s);
    }
}
