/* SPDX-License-Identifier: MIT */
/* Processes an arriving acknowledgement.
 *
 * SACK blocks and SEG.ACK go to the scoreboard, which returns their result; RTT and delivery rate
 * are taken from it; then recovery and the loss rules run; the controller is told last, when
 * everything is known.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "core/dupack.h"
#include "core/loss.h"
#include "core/seq.h"

/* ---- the parts of an acknowledgement ---- */

/* Something outstanding is to be looked at by then; 0: nothing is. */
static inline void look_at(struct scps_conn_ctx *x, struct scps_tx *tx, scps_time when)
{
    if (when)
        scps_timer_by(x, &tx->look_timer, when);
}

/* Wakes c unless only its own rate holds it: the pacer's timer does that. */
static inline void wake(struct scps_conn *c)
{
    if (c->hold != SCPS_HOLD_PACE || !c->tx || !scps_timer_runs(&c->tx->pace_timer) ||
        c->ctl.cwnd != SCPS_CWND_OPEN || c->tx->sb.lost)
        scps_conn_wake(c);
}

static inline void take_window(struct scps_conn *c, const struct scps_seg *seg, scps_off ack)
{
    uint64_t wnd = (uint64_t)seg->wnd << c->agreed.snd_wscale;

    if (scps_send_window(&c->snd, seg->seq, ack, wnd) != SCPS_WINDOW_MOVED)
        return;
    if (!scps_send_all_sent(&c->snd))
        wake(c);
    if (!wnd)
        c->ctx.st->zero_windows_in++;
    if (c->todo.bits & SCPS_TODO_PERSIST)
        scps_snd_window_changed(c);
}

static void lost(struct scps_conn *c, struct scps_ack_result *sum, enum scps_evidence evidence)
{
    if (!sum->lost)
        return;
    SCPS_OBSERVE_CONN(c, LOST, sum->lost_from, sum->lost, scps_conn_loss_cause(c), evidence);
    scps_recovery_lost(c, sum->lost, sum->delivered, evidence);
    sum->lost = 0;
}

/* Checks the age of the oldest segment, as Brakmo and Peterson (1995), section 3.1: at the first
 * duplicate, and at the first two acknowledgements of progress after a retransmission. */
static SCPS_NOINLINE void look_at_age(struct scps_conn *c, bool dup, bool advanced,
                                      struct scps_ack_result *sum)
{
    if (!dup && !advanced)
        return;
    if (dup ? c->tx->rec.dupacks == 1 : c->tx->rec.age_checks > 0)
        scps_loss_by_age(&c->tx->sb, &c->rtt, c->ctx.env->now, sum);
    if (!dup)
        scps_recovery_looked(&c->tx->rec);
    lost(c, sum, SCPS_BY_AGE);
}

/* ---- an acknowledgement: all steps in order ---- */

/* One acknowledgement while data is outstanding, and what the steps of learn() find out about
 * it. */
struct ack_input {
    const struct scps_seg *seg;
    int64_t ack_in; /* offset of SEG.ACK */
    /* SEG.ACK as an offset; SND.UNA if it points below; with best effort it may be changed */
    scps_off ack;
    scps_off before; /* SND.UNA before this acknowledgement */
    struct scps_ack_result sum;
    bool snack; /* seg has a SNACK, which was negotiated, and SEG.ACK is not before the SYN */
    bool told;  /* a SNACK in it has reported what arrived, where there is no SACK */
    /* best effort: SND.UNA passes data that is missing at the peer, filled or given up */
    bool jumped;
    bool advanced; /* SND.UNA moves */
    bool repaired; /* the acknowledgement ends the recovery episode */
    bool dup;
};

static SCPS_NOINLINE void take_snack(struct scps_conn *c, struct ack_input *n)
{
    struct scps_look l = scps_conn_look(c);

    look_at(&c->ctx, c->tx, scps_snacktx_take(&l, n->seg, (scps_off)n->ack_in, &n->sum));
    scps_snacktx_measure(&l, &n->sum);
}

static inline void take_sack(struct scps_conn *c, struct ack_input *n)
{
    struct scps_look l = scps_conn_look(c);
    struct scps_sackin_first first = scps_sackin_duplicate(&l, n->seg, n->ack, n->ack_in, &n->sum);

    c->ctx.st->sacks_in++;
    if (first.dsack) /* at once: an undone episode changes what the other blocks tell of */
        scps_recovery_dsack(c, first.from, first.to, n->sum.dsack_fresh);
    scps_sackin_take(&l, n->seg, &first, n->ack, &n->sum);
}

/* Processes the SACK blocks and the SNACK of n->seg, where they were negotiated. */
static inline void take_reports(struct scps_conn *c, struct ack_input *n)
{
    struct scps_tx *tx = c->tx;
    const struct scps_seg *seg = n->seg;

    n->sum.fack = tx->sb.hi_arrived;
    if (seg->has & SCPS_HAS_SACK && c->agreed.opts & SCPS_AGREED_SACK)
        take_sack(c, n);
    if (!n->snack)
        return;
    take_snack(c, n);
    n->told = n->sum.delivered && !(c->agreed.opts & SCPS_AGREED_SACK);
    if (n->told) /* Part of it was counted with duplicates before. */
        n->sum.delivered -= scps_recovery_real(&tx->rec, n->sum.delivered);
}

/* Best effort: SND.UNA may have moved by itself, or moves now. */
static SCPS_NOINLINE void pass_holes(struct scps_tx *tx, scps_off una, struct ack_input *n)
{
    n->jumped = (n->before && n->before == tx->gave_up_to) || tx->sb.hi_arrived > n->before ||
                tx->rec.dupacks;
    if (scps_bets_pass(tx, una, &n->ack))
        n->advanced = true;
}

/* RFC 6582: bytes that arrived were counted with their duplicates, except the segment that filled
 * the hole. */
static SCPS_NOINLINE void uncount(struct scps_recovery *rec, uint16_t mss, struct ack_input *n)
{
    uint64_t gone = n->ack - n->before;

    gone = gone > mss ? gone - mss : 0;
    gone = scps_recovery_real(rec, gone);
    n->sum.delivered -= SCPS_MIN(n->sum.delivered, gone);
}

/* RFC 8985 section 6.2 step 2: an echo older than a resending shows that the acknowledgement is not
 * for that. A best-effort peer that has given up the hole acknowledges as much without any arrival:
 * there only an echo vouches. */
static SCPS_NOINLINE scps_dur echo_age(const struct scps_agreed *a, const struct scps_ts *ts,
                                       const struct scps_seg *seg, scps_time now)
{
    if (a->opts & SCPS_AGREED_TS && seg->has & SCPS_HAS_TS && seg->tsecr)
        return scps_ts_age(ts, seg->tsecr, now) - SCPS_TS_TICK;
    return a->caps & SCPS_CAP_BETS ? INT64_MAX : 0;
}

/* Moves SND.UNA to ack. */
static inline void advance(struct scps_conn *c, struct ack_input *n)
{
    struct scps_tx *tx = c->tx;

    if (tx->sb.resent_head != tx->sb.resent_tail && scps_agreed_rack(&c->agreed, &c->ctx.cfg->c))
        n->sum.echo_age = echo_age(&c->agreed, &c->ts, n->seg, c->ctx.env->now);
    scps_sb_ack(&tx->sb, c->ctx.env->now, n->ack, scps_rtt_min(&c->rtt), &n->sum);
    scps_send_acked(&c->snd, n->ack);
    scps_sndbuf_release(&tx->buf, n->ack);
    tx->progress_at = c->ctx.env->now;
    scps_rto_answered(&tx->rto);
    scps_keep_progress(c);
    c->soft_err = 0;
    /* A small segment held back has waited while data was in flight; that is long enough. */
    scps_small_set(&c->small, SCPS_SMALL_MORE, false);
    if (scps_send_fin_acked(&c->snd))
        c->ctx.st->fin_acked = c->ctx.env->now;
    if (tx->rec.virtual_arrived)
        uncount(&tx->rec, c->agreed.mss, n);
}

/* Processes the window, and decides whether it is a duplicate acknowledgement (RFC 5681 section
 * 2). */
static inline void take_duplicate(struct scps_conn *c, struct ack_input *n)
{
    const struct scps_seg *seg = n->seg;
    scps_off edge = c->snd.edge;

    if (n->ack_in >= (int64_t)n->before)
        take_window(c, seg, n->ack);
    scps_conn_news(c);
    c->tx->heard_at = c->ctx.env->now;
    n->dup = n->ack_in == (int64_t)n->before && !seg->len && c->snd.nxt > c->snd.una &&
             c->snd.edge == edge && !(seg->flags & (SCPS_SYN | SCPS_FIN)) &&
             !(c->todo.bits & SCPS_TODO_PERSIST);
    if (n->dup) {
        const struct scps_look l = scps_conn_look(c);
        scps_dupack_take(&l, n->told, &n->sum);
    } else if (n->advanced && c->tx->rec.episode == SCPS_EPISODE_NONE) {
        scps_recovery_no_duplicates(&c->tx->rec);
    }
}

static inline void measure(struct scps_conn *c, const struct scps_seg *seg, bool advanced,
                           const struct scps_ack_result *sum, scps_dur newest)
{
    scps_dur sample = -1;
    bool by_clock = false;

    if (sum->oldest_sent >= 0 && !sum->refilled) {
        sample = c->ctx.env->now - sum->oldest_sent;
        scps_sample_sure(&c->tx->sample);
    } else if (advanced) {
        const struct scps_sample_view v = {&c->ctx, c->tx, &c->rtt, &c->agreed, &c->ts, c->dsacks};
        sample = scps_sample_resent(&v, seg, sum);
        by_clock = true;
    }
    scps_sample_take(c->tx, &c->ctx, &c->rtt, sample, by_clock, newest);
}

/* Takes the delivery-rate and RTT samples. */
static inline void take_samples(struct scps_conn *c, struct ack_input *n, struct scps_cc_ack *a)
{
    if (n->sum.delivered)
        scps_delivery_sample(&c->tx->delivery, &c->tx->sb, &n->sum, scps_rtt_min(&c->rtt),
                             c->ctx.env->now, a);
    if (a->rtt < 0 && a->sample_bytes)
        scps_sample_doubt(&c->rtt, c->ctx.env->now,
                          n->seg->has & SCPS_HAS_TS && c->agreed.opts & SCPS_AGREED_TS
                              ? scps_ts_age(&c->ts, n->seg->tsecr, c->ctx.env->now)
                              : 0,
                          n->sum.newest, a);
    /* The acknowledged data arrived late or not at all, so it gives no sample. */
    if (n->advanced && n->jumped) {
        n->sum.oldest_sent = -1;
        n->sum.refilled = true;
        a->rtt = -1;
    }
    measure(c, n->seg, n->advanced && !n->jumped, &n->sum, a->rtt);
    if (n->advanced)
        SCPS_OBSERVE_CONN(c, ACKED, c->snd.una, c->snd.una - n->before, a->rtt, a->rate);
    if (n->sum.reordered) {
        scps_rack_reordered(&c->tx->rack);
        c->ctx.st->reordered++;
    }
}

/* Where the receiver names its holes: how far, and is what it will say of a resent segment worth
 * waiting for? */
static SCPS_NOINLINE scps_off beyond_names(struct scps_conn *c, const struct ack_input *n,
                                           bool *wait)
{
    const struct scps_look l = scps_conn_look(c);

    *wait = (n->snack && n->seg->snack_vec_len) ||
            (scps_snacktx_reports_late(&l) && !scps_send_all_sent(&c->snd));
    return scps_snacktx_reach(&l);
}

/* Detects losses by SACK, where RACK is not in force. A receiver with SNACK reports its holes
 * itself, so within reach of the option's 16-bit offset nothing is concluded from the absence of
 * SACK (beyond it RFC 6675 applies). When one acknowledgement cannot hold all reports, others
 * follow, and retransmitted segments wait for them. */
static inline void losses_by_order(struct scps_conn *c, struct ack_input *n)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    bool names = c->agreed.caps & SCPS_CAP_SNACK1, wait = false;
    scps_off from = names ? beyond_names(c, n, &wait) : 0;

    if (sb->arrived_recs && from < c->snd.nxt)
        scps_loss_by_order(sb, c->ctx.cfg->c.dupthresh,
                           scps_dupack_last(&c->snd, c->agreed.mss, scps_sb_count(sb)), from,
                           &n->sum);
    if (sb->resent_head != sb->resent_tail && !wait) {
        scps_time then = SCPS_NEVER; /* however young */
        if (sb->needless && !names)
            then = c->ctx.env->now - scps_sb_resend_wait(sb, scps_rtt_min(&c->rtt), c->rtt.rto);
        scps_loss_of_resent(sb, c->ctx.cfg->c.dupthresh,
                            scps_dupack_last(&c->snd, c->agreed.mss, scps_sb_count(sb)), then,
                            &n->sum);
    }
    lost(c, &n->sum, SCPS_BY_SACK);
}

/* RFC 6582 section 3.2: a partial acknowledgement shows the next hole, one in each round trip.
 * An outage leaves hundreds of holes: at the first of them all that was sent before its end is
 * resent, as after a timeout. */
static void lose_partial(struct scps_scoreboard *sb, scps_time outage_over,
                         struct scps_ack_result *sum)
{
    const struct scps_sent_segment *head = scps_sb_at(sb, sb->head);
    bool outage = head->sent < outage_over && !head->resends;

    scps_sb_lose(sb, sb->head, sum);
    if (outage)
        sum->lost += scps_sb_lose_since(sb, outage_over - 1);
}

/* By the clock. */
static inline void losses_by_clock(struct scps_conn *c, struct ack_input *n)
{
    const struct scps_look l = scps_conn_look(c);
    scps_time again;

    if (scps_rack_news(&l, &n->sum, n->dup, n->seg->has & SCPS_HAS_SACK, n->repaired))
        scps_recovery_repaired(c);
    again = scps_rack_judge(&l, &n->sum);
    if (!again && !scps_timer_runs(&c->tx->look_timer) && c->snd.una != c->snd.nxt)
        again = scps_rack_wait(&c->rtt, c->ctx.env->now);
    look_at(&c->ctx, c->tx, again);
    lost(c, &n->sum, SCPS_BY_RACK);
}

/* Finds lost segments by the rule that is in force. */
static inline void find_losses(struct scps_conn *c, struct ack_input *n)
{
    struct scps_tx *tx = c->tx;

    if (n->snack)
        lost(c, &n->sum, SCPS_BY_SNACK);
    if (scps_agreed_rack(&c->agreed, &c->ctx.cfg->c)) {
        losses_by_clock(c, n);
    } else if (c->agreed.opts & SCPS_AGREED_SACK) {
        losses_by_order(c, n);
    } else if (n->dup) {
        lost(c, &n->sum, SCPS_BY_DUPACK);
    } else if (n->advanced && tx->rec.episode == SCPS_EPISODE_FAST && c->snd.nxt > c->snd.una &&
               !(c->agreed.caps &
                 SCPS_CAP_SNACK1)) { /* RFC 6582 section 3.2, partial acknowledgement */
        lose_partial(&tx->sb, tx->outage_over, &n->sum);
        lost(c, &n->sum, SCPS_BY_PARTIAL);
    }
    if ((n->dup || tx->rec.age_checks) && c->ctx.cfg->c.cc->by_age &&
        !scps_agreed_rack(&c->agreed, &c->ctx.cfg->c))
        look_at_age(c, n->dup, n->advanced, &n->sum);
}

/* ECN: reacts to an echo once in each window (RFC 3168 section 6.1.2). */
static SCPS_NOINLINE void take_ecn_echo(struct scps_conn *c, const struct ack_input *n)
{
    c->ctx.st->ecn_echoes++;
    if (c->tx->rec.episode != SCPS_EPISODE_NONE)
        return;
    scps_todo_add(&c->todo, SCPS_TODO_CWR);
    scps_recovery_lost(c, 0, n->sum.delivered, SCPS_BY_ECN);
}

/* Tells the controller what arrived. */
static inline void tell_controller(struct scps_conn *c, const struct ack_input *n,
                                   struct scps_cc_ack *a)
{
    struct scps_tx *tx = c->tx;

    scps_recovery_heard(&tx->rec);
    if (!c->established)
        return;
    a->in_recovery = tx->rec.episode == SCPS_EPISODE_FAST;
    a->rtt_old =
        n->sum.oldest_sent >= 0 && !n->sum.refilled ? c->ctx.env->now - n->sum.oldest_sent : 0;
    scps_cc_ack(c, a, n->advanced || tx->rec.episode != SCPS_EPISODE_NONE);
}

/* Called when nothing is outstanding any more. */
static SCPS_NOINLINE void drained(struct scps_conn *c, bool advanced)
{
    if (!(c->todo.bits & (SCPS_TODO_PERSIST | SCPS_TODO_OUTAGE)))
        scps_rto_stop(c->tx);
    scps_timer_stop(&c->tx->look_timer);
    scps_timer_stop(&c->tx->trim_timer);
    if (!advanced || c->snd.una != scps_send_fin_end(&c->snd))
        return;
    if (c->snd.una > 1) /* Something other than the SYN was acknowledged. */
        scps_conn_notify(c, SCPS_EV_DRAINED);
    scps_timer_set(&c->ctx, &c->tx->trim_timer, c->ctx.env->now + 2 * c->rtt.rto);
}

/* Returns true if a writer that found no room should be told that there is some: a quarter of the
 * buffer, or 64 KiB, so that a buffer of one bandwidth-delay product does not run dry meanwhile. */
static inline bool room_again(struct scps_room room, const struct scps_send *s, uint32_t sndbuf)
{
    return room.wanted && sndbuf - (s->end - s->una) >= SCPS_MIN(sndbuf / 4, 65536u);
}

/* Returns true if an acknowledgement that leaves SND.UNA where it is restarts the retransmission
 * timer. During recovery any arrival shows that the path works; but if the peer has reported
 * SND.UNA as arrived, the report is false, and only a timeout resends that (RFC 2018 section 8). */
static inline bool shows_progress(const struct scps_tx *tx, const struct scps_ack_result *sum)
{
    return sum->delivered && tx->rec.episode == SCPS_EPISODE_FAST &&
           scps_sb_at(&tx->sb, tx->sb.head)->state != SCPS_SENT_ARRIVED;
}

/* Runs all steps for one acknowledgement. ack_in: offset of SEG.ACK; ack: that, or SND.UNA if it is
 * below. */
static SCPS_ALWAYS_INLINE void learn(struct scps_conn *c, const struct scps_seg *seg,
                                     int64_t ack_in, scps_off ack)
{
    struct scps_tx *tx = c->tx;
    struct scps_cc_ack a = {.rtt = -1};
    struct ack_input n = {
        .seg = seg,
        .ack_in = ack_in,
        .ack = ack,
        .before = c->snd.una,
        .sum = {.oldest_sent = -1},
        .snack = seg->has & SCPS_HAS_SNACK && c->agreed.caps & SCPS_CAP_SNACK1 && ack_in >= 0,
        .advanced = ack > c->snd.una,
    };

    take_reports(c, &n);
    if (c->agreed.caps & SCPS_CAP_BETS)
        pass_holes(tx, c->snd.una, &n);
    if (n.advanced)
        advance(c, &n);
    take_duplicate(c, &n);
    take_samples(c, &n, &a);
    if (tx->rec.episode != SCPS_EPISODE_NONE) {
        scps_recovery_acked(c, &n.sum, n.before, seg);
        n.repaired = tx->rec.episode == SCPS_EPISODE_NONE;
    }
    find_losses(c, &n);
    if (seg->flags & SCPS_ECE && c->agreed.opts & SCPS_AGREED_ECN && !(seg->flags & SCPS_SYN)) {
        a.marked = a.bytes;
        take_ecn_echo(c, &n);
    }
    if (n.sum.delivered)
        tell_controller(c, &n, &a);
    if (c->snd.una == c->snd.nxt)
        drained(c, n.advanced);
    else if (n.advanced || shows_progress(tx, &n.sum))
        scps_snd_arm_rtx(c); /* RFC 6298 section 5.3 */
    if (n.advanced && room_again(c->room, &c->snd, c->ctx.cfg->c.sndbuf))
        scps_conn_room(c);
    wake(c);
}

/* Returns the age of the segment whose time stamp seg echoes, or -1 if it echoes none. */
static inline scps_dur echo_of(const struct scps_agreed *a, const struct scps_ts *ts,
                               const struct scps_seg *seg, scps_time now)
{
    bool echoes = a->opts & SCPS_AGREED_TS && seg->has & SCPS_HAS_TS && seg->tsecr;

    return echoes ? scps_ts_age(ts, seg->tsecr, now) : -1;
}

/* Takes the window from an acknowledgement below SND.UNA if best effort has moved SND.UNA ahead of
 * it. Returns true if its SACK blocks or SNACK may still tell something new. */
static SCPS_NOINLINE bool old_but_reports(struct scps_conn *c, const struct scps_seg *seg,
                                          int64_t ack_in)
{
    bool reports = (c->agreed.opts & SCPS_AGREED_SACK && seg->has & SCPS_HAS_SACK) ||
                   (c->agreed.caps & SCPS_CAP_SNACK1 && seg->has & SCPS_HAS_SNACK);

    /* Best effort has moved SND.UNA ahead of the peer's acknowledgements, so it is not old. */
    if (c->tx && c->agreed.caps & SCPS_CAP_BETS && ack_in >= (int64_t)c->tx->peer_una &&
        c->snd.una == c->tx->gave_up_to) {
        c->tx->peer_una = (scps_off)ack_in;
        take_window(c, seg, c->tx->peer_una);
    }
    /* RFC 9293 section 3.10.7.4: the window is taken only from a segment with SND.UNA =<
     * SEG.ACK. */
    return c->tx && reports && c->snd.una != c->snd.nxt;
}

bool scps_ackin(struct scps_conn *c, const struct scps_seg *seg)
{
    int64_t ack_in = scps_seq_unwrap(c->snd.iss, c->snd.una, seg->ack);
    scps_off ack = (scps_off)ack_in;

    if (ack_in > (int64_t)c->snd.nxt)
        return false;
    if (c->todo.bits & SCPS_TODO_OUTAGE)
        scps_outage_heard(c);
    if (seg->has & SCPS_HAS_CORRUPTION && c->agreed.opts & SCPS_AGREED_CAPS &&
        !(seg->implied & SCPS_IMPLIED_SEQ))
        scps_outage_cause(c, SCPS_LOSS_CORRUPTION,
                          c->ctx.env->now + (c->ctx.cfg->c.corruption_hold
                                                 ? c->ctx.cfg->c.corruption_hold
                                                 : 2 * c->rtt.rto));
    /* Any acknowledgement is an answer: a window that stays closed may do so as long as the peer
     * answers. */
    scps_heard_now(&c->heard);
    if (c->agreed.caps & SCPS_CAP_BETS && scps_bets_peer_una(c->tx, c->snd.una) < c->snd.una &&
        ack_in > (int64_t)c->tx->peer_una && ack_in <= (int64_t)c->snd.una) {
        scps_sample_late(c->tx, &c->ctx, &c->rtt,
                         echo_of(&c->agreed, &c->ts, seg, c->ctx.env->now));
        c->tx->peer_una = (scps_off)ack_in;
    }
    if (ack_in < (int64_t)c->snd.una) {
        ack = c->snd.una;
        if (!old_but_reports(c, seg, ack_in))
            return true;
    }
    /* Nothing is outstanding, so the window is all that the acknowledgement tells. */
    if (!c->tx || (ack == c->snd.una && c->snd.una == c->snd.nxt))
        take_window(c, seg, ack);
    else
        learn(c, seg, ack_in, ack);
    return true;
}

/* ---- the timer ---- */

static void look_by_clock(struct scps_conn *c)
{
    const struct scps_look l = scps_conn_look(c);
    struct scps_ack_result sum = {.oldest_sent = -1};
    scps_time again = scps_rack_look(&l, &sum);

    if (sum.lost) {
        lost(c, &sum, SCPS_BY_RACK);
        scps_snd_arm_rtx(c);
        scps_conn_wake(c);
    }
    if (!again && !(c->todo.bits & SCPS_TODO_PERSIST)) {
        again = scps_rack_probe_at(&l, SCPS_MIN(c->tx->rto.timer.at, c->outage_timer.at));
        if (again <= c->ctx.env->now) {
            scps_todo_add(&c->todo, SCPS_TODO_PROBE | SCPS_TODO_TAIL);
            scps_snd_arm_rtx(c); /* The tail probe goes first if both timers are due. */
            scps_conn_wake(c);
            return;
        }
    }
    look_at(&c->ctx, c->tx, again);
}

static void look_for_silence(struct scps_conn *c)
{
    const struct scps_look l = scps_conn_look(c);
    struct scps_ack_result sum = {.oldest_sent = -1};

    if (c->snd.una == c->snd.nxt || c->todo.bits & SCPS_TODO_PERSIST)
        return;
    look_at(&c->ctx, c->tx, scps_snacktx_look(&l, &sum));
    if (!sum.lost)
        return;
    lost(c, &sum, SCPS_BY_RESEND);
    /* The segment at SND.UNA was reported as arrived and is not acknowledged: the report was
     * false, or is no longer true. Only the retransmission timer repairs that (RFC 2018 section
     * 8), and it must not begin anew whenever another segment goes again. */
    if (scps_sb_at(&c->tx->sb, c->tx->sb.head)->state != SCPS_SENT_ARRIVED)
        scps_snd_arm_rtx(c);
    scps_conn_wake(c);
}

void scps_ackin_look(struct scps_conn *c)
{
    if (scps_agreed_rack(&c->agreed, &c->ctx.cfg->c))
        look_by_clock(c);
    if (scps_agreed_snack(&c->agreed))
        look_for_silence(c);
}
