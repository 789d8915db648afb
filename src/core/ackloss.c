/* SPDX-License-Identifier: MIT */
/* Reaction to losses that acknowledgements and timers show: runs the rule that detects them on this
 * connection (scps_ackloss_find(): RACK, counting of arrivals by SACK, the peer's SNACKs, or
 * duplicate acknowledgements), begins and ends the recovery episode, and informs the congestion
 * controller last. */
#include "core/ackloss.h"

#include "base/bytes.h"
#include "core/control.h"
#include "core/dupack.h"
#include "core/loss.h"
#include "core/tx.h"

/* ---- functions that inform the congestion controller of a loss, or of the end of recovery ---- */

static void recovered(struct scps_sender *s, void *cc)
{
    scps_cc_change(s, cc, SCPS_CC_RECOVERED);
    scps_recovery_note(s, 0);
}

/* Informs the congestion controller of the loss of `bytes` bytes, or, if `bytes` is 0, of an ECN
 * echo. fresh: true if the controller is to treat it as the first loss of a recovery episode, and
 * reduce its window. If the window is reduced, ECN echoes for data that is outstanding now do not
 * reduce it again. */
static SCPS_NOINLINE_SIZE void inform_of_loss(struct scps_sender *s, void *cc, uint64_t bytes,
                                              enum scps_evidence evidence, bool fresh)
{
    struct scps_cc_loss loss = scps_recovery_describe_loss(s, bytes, evidence, fresh);
    uint64_t before = s->ctl.cwnd;

    scps_cc_loss(s, cc, &loss);
    if (s->ctl.cwnd < before || evidence == SCPS_BY_ECN)
        scps_recovery_reduced(s, &s->tx->rec);
}

/* Called when `bytes` bytes are lost, as detected by an acknowledgement that reports `delivered`
 * arrived bytes: begins a recovery episode if none is in progress, and informs the congestion
 * controller. */
static void take_loss(struct scps_sender *s, void *cc, uint64_t bytes, uint64_t delivered,
                      enum scps_evidence evidence)
{
    struct scps_recovery *rec = &s->tx->rec;
    bool fresh = rec->episode == SCPS_EPISODE_NONE;
    bool outage = evidence != SCPS_BY_ECN && scps_recovery_loss_cause(s) == SCPS_LOSS_OUTAGE;
    /* Losses during an outage of the link do not reduce the window. If a loss of another cause
     * follows in the same recovery episode, the controller is informed as at the beginning of an
     * episode, and reduces its window then. A controller with own_recovery (it handles recovery
     * itself) is informed only once in each episode. */
    bool again = !fresh && rec->of_outage && !outage && !s->ctx.cfg->c.cc->own_recovery;

    if (fresh) {
        scps_cc_save(s, cc);
        scps_recovery_begin(s, evidence);
        if (outage)
            scps_recovery_by_outage(rec);
    }
    if (again)
        scps_recovery_not_by_outage(rec);
    inform_of_loss(s, cc, bytes, evidence, fresh || again);
    if (again) {
        scps_recovery_again(s, delivered);
        return;
    }
    if (!fresh) {
        scps_recovery_lost(s, bytes, delivered);
        return;
    }
    scps_recovery_note(s, 1);
    if (!scps_recovery_goes_on(s, delivered))
        recovered(s, cc);
}

void scps_ackloss_lost(struct scps_sender *s, void *cc, struct scps_ack_result *sum,
                       enum scps_evidence evidence)
{
    if (!sum->lost)
        return;
    SCPS_OBSERVE(&s->ctx, LOST, sum->lost_from, sum->lost, scps_recovery_loss_cause(s), evidence);
    take_loss(s, cc, sum->lost, sum->delivered, evidence);
    scps_ack_result_took_lost(sum);
}

/* Called when a tail loss probe has repaired a loss that nothing else has shown (RFC 8985 section
 * 7.4): informs the congestion controller of the loss of one segment, then of the end of
 * recovery. */
static SCPS_NOINLINE void repaired(struct scps_sender *s, void *cc)
{
    if (s->tx->rec.episode == SCPS_EPISODE_NONE)
        scps_cc_save(s, cc);
    scps_recovery_repaired(s);
    inform_of_loss(s, cc, s->agreed.mss, SCPS_BY_RACK, true);
    scps_recovery_end(&s->tx->rec);
    scps_cc_change(s, cc, SCPS_CC_RECOVERED);
}

/* Ends a recovery episode that was spurious. late true: the data that was declared lost and not
 * resent yet is only late, so it counts as in flight again; false: it stays declared lost. */
static void undo(struct scps_sender *s, bool late)
{
    struct scps_tx *tx = s->tx;

    if (late)
        scps_sb_undo_losses(&tx->sb);
    scps_recovery_undone(&tx->rec);
    scps_silence_answered(&tx->silence);
    s->ctx.st->spurious++;
}

SCPS_NOINLINE void scps_ackloss_undone(struct scps_sender *s, void *cc)
{
    bool timeout = s->tx->rec.undone == SCPS_EPISODE_RTO;

    scps_recovery_undo_notified(s, &s->tx->rec);
    if (!s->ctx.cfg->c.cc->own_recovery)
        scps_cc_restore(s, cc, s->ctl.cwnd);
    scps_recovery_note(s, 2);
    scps_cc_change(s, cc, SCPS_CC_SPURIOUS);
    /* After a spurious timeout the restored window could leave in one burst: RFC 4015 section 3.4
     * permits only an initial window at once, so the window is spread over a round trip. */
    if (timeout)
        scps_recovery_spread(s);
}

/* For a controller with scps_cc_ops.by_age: declares the oldest segment lost if it was sent longer
 * ago than SRTT + 4 * RTTVAR (Brakmo and Peterson (1995) section 3.1). Checks its age at the first
 * duplicate acknowledgement, and at the first two acknowledgements that advance SND.UNA after a
 * retransmission.
 * Two cases are left out. An acknowledgement that reports nothing but a duplicate (DSACK) is no
 * duplicate acknowledgement (RFC 6675 section 2): needless retransmissions cause it, and would go
 * on for ever if it caused the next one. From a timeout on until a round trip is measured the age
 * is not checked, because SRTT may be too short (RFC 6298, last note of section 5). */
static SCPS_NOINLINE void look_at_age(struct scps_sender *s, void *cc, bool dup, bool advanced,
                                      struct scps_ack_result *sum)
{
    if (!advanced && (!dup || (sum->dsack && !sum->delivered)))
        return;
    if (!s->tx->rto.kept && (dup ? s->tx->rec.dupacks == 1 : s->tx->rec.age_checks > 0))
        scps_loss_by_age(&s->tx->sb, &s->rtt, s->ctx.env->now, sum);
    if (!dup)
        scps_recovery_looked(&s->tx->rec);
    scps_ackloss_lost(s, cc, sum, SCPS_BY_AGE);
}

/* For a peer with SNACK. Returns the offset from which on a SNACK can name no hole, because its
 * 16-bit offset field ends there. Sets *wait to true if no retransmission must be declared lost at
 * this acknowledgement, since the peer may not have reported all holes yet: its SNACK has a bit
 * vector, so that further ones may follow, or the peer reports arrivals with a delay
 * (scps_snacktx_reports_late()) and data is left to send. */
static SCPS_NOINLINE scps_off beyond_names(struct scps_sender *s, const struct scps_ack_input *n,
                                           bool *wait)
{
    *wait = (n->snack && n->seg->snack_vec_len) ||
            (scps_snacktx_reports_late(s) && !scps_send_all_sent(&s->snd));
    return scps_snacktx_reach(s);
}

/* Declares lost the segments that were sent once, begin at or above `from`, and were followed by
 * enough arrivals (RFC 6675 section 4, IsLost). last: no new data can be sent, so fewer arrivals
 * suffice (early retransmit, RFC 5827).
 * On a path that reorders (the reordering window is not 0) a segment must also be old enough: sent
 * longer ago than the RTT plus the reordering window; for the first one that is too young, sets the
 * loss detection timer. Exception: if the previous acknowledgement arrived (at time `heard`, µs)
 * longer ago than the reordering window, late segments would have arrived since, and the age does
 * not matter.
 * Returns the time, µs, after which a segment must not have been sent to be declared lost;
 * SCPS_NEVER: the age does not matter. */
static SCPS_NOINLINE_SIZE SCPS_INLINE_SPEED scps_time by_order(struct scps_sender *s, bool last,
                                                               scps_off from, scps_time heard,
                                                               struct scps_ack_result *sum)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    scps_dur wait = scps_reorder_window(&s->tx->reorder, s->rtt.rto);
    struct scps_loss_limits limits = {from, SCPS_NEVER};

    if (wait && s->ctx.env->now - heard < wait) {
        wait += s->tx->reorder.rtt;
        limits.then = s->ctx.env->now - wait;
    }
    if (!sb->arrived_recs || from >= s->snd.nxt)
        return limits.then;
    scps_loss_by_order(sb, s->ctx.cfg->c.dupthresh, last, limits, sum);
    if (wait && sb->frontier != sb->tail && scps_sb_at(sb, sb->frontier)->sent > limits.then)
        scps_sender_look_at(s, scps_sb_at(sb, sb->frontier)->sent + wait);
    return limits.then;
}

/* Detects losses by counting arrivals; used with SACK and without RACK. If the peer also sends
 * SNACKs (scps_snacktx_names()), it reports its holes by them. So within the reach of a SNACK's
 * 16-bit offset no segment that was sent once is declared lost by counting; beyond it RFC 6675
 * applies. Nor is a retransmission declared lost here while the peer's reports may be incomplete:
 * its SNACK has a bit vector, so that further ones may follow, or it reports arrivals with a delay
 * (scps_snacktx_reports_late()) and data is left to send. */
static inline void losses_by_order(struct scps_sender *s, struct scps_ack_input *n)
{
    struct scps_scoreboard *sb = &s->tx->sb;
    const unsigned dupthresh = s->ctx.cfg->c.dupthresh;
    bool names = scps_snacktx_names(&s->tx->snack, &s->agreed), wait = false;
    scps_off from = names ? beyond_names(s, n, &wait) : 0;
    scps_time young;
    bool last;

    /* Nothing can be declared lost here if SACK and SNACK have reported no arrival above SND.UNA,
     * and no retransmission is in flight. */
    if (!sb->arrived_recs && sb->resent_head == sb->resent_tail)
        return;
    last = scps_dupack_last(&s->snd, s->agreed.mss, scps_sb_count(sb));
    young = by_order(s, last, from, n->heard, &n->sum);
    if (sb->resent_head != sb->resent_tail && !wait) {
        /* resent segments that were sent after this time are not lost yet; SCPS_NEVER: there is no
         * limit */
        scps_time then = SCPS_NEVER;
        if (sb->needless && !names)
            then = s->ctx.env->now - scps_sb_resend_wait(sb, scps_rtt_min(&s->rtt), s->rtt.rto);
        scps_loss_of_resent(sb, dupthresh, last, then, &n->sum);
        if (last && sb->frontier != sb->tail)
            scps_loss_of_overtaken(sb, dupthresh, from, SCPS_MIN(then, young), &n->sum);
    }
}

/* Without SACK and SNACK: called at a partial acknowledgement (RFC 6582 section 3.2), declares the
 * segment at SND.UNA lost. That repairs one hole in each round trip, which would take too long
 * after an outage of the link, which leaves hundreds of holes. So if the segment was sent before
 * outage_over (time, µs, at which the last outage ended; 0: there was none) and not resent since,
 * declares lost all data that was sent before that time, as a timeout does. */
static void lose_partial(struct scps_scoreboard *sb, scps_time outage_over,
                         struct scps_ack_result *sum)
{
    const struct scps_sent_segment *head = scps_sb_at(sb, sb->head);
    bool outage = head->sent < outage_over && !head->resends;

    if (outage)
        scps_sb_lose_since(sb, outage_over - 1, sum);
    else
        scps_sb_lose(sb, sb->head, sum);
}

/* Detects losses by time (RACK, RFC 8985). */
static inline void losses_by_clock(struct scps_sender *s, void *cc, struct scps_ack_input *n)
{
    scps_time again;

    if (scps_rack_news(s, &n->sum, n->dup, n->seg->has & SCPS_HAS_SACK, n->repaired))
        repaired(s, cc);
    /* RFC 8985 section 7.2: an acknowledgement of new data restarts the time until the tail loss
     * probe. This also cancels a probe that was due already but has not been sent, because the rate
     * limit of the route delays it. */
    if (n->advanced)
        scps_todo_no_tail_probe(&s->todo);
    again = scps_rack_judge(s, &n->sum);
    if (!again && !scps_timer_runs(&s->tx->look_timer) && s->snd.una != s->snd.nxt)
        again = scps_rack_wait(&s->rtt, s->ctx.env->now);
    scps_sender_look_at(s, again);
    scps_ackloss_lost(s, cc, &n->sum, SCPS_BY_RACK);
}

void scps_ackloss_find(struct scps_sender *s, void *cc, struct scps_ack_input *n)
{
    struct scps_tx *tx = s->tx;

    if (n->snack)
        scps_ackloss_lost(s, cc, &n->sum, SCPS_BY_SNACK);
    if (scps_agreed_rack(&s->agreed, &s->ctx.cfg->c)) {
        losses_by_clock(s, cc, n);
    } else if (s->agreed.opts & SCPS_AGREED_SACK) {
        losses_by_order(s, n);
        scps_ackloss_lost(s, cc, &n->sum, SCPS_BY_SACK);
    } else if (n->dup) {
        scps_ackloss_lost(s, cc, &n->sum, SCPS_BY_DUPACK);
    } else if (n->advanced && tx->rec.episode == SCPS_EPISODE_FAST && s->snd.nxt > s->snd.una &&
               !(s->agreed.caps &
                 /* without SACK and SNACK a partial acknowledgement shows the next loss (RFC 6582
                  * section 3.2) */
                 SCPS_CAP_SNACK1)) {
        lose_partial(&tx->sb, tx->outage_over, &n->sum);
        scps_ackloss_lost(s, cc, &n->sum, SCPS_BY_PARTIAL);
    }
    if ((n->dup || tx->rec.age_checks) && s->ctx.cfg->c.cc->by_age &&
        !scps_agreed_rack(&s->agreed, &s->ctx.cfg->c))
        look_at_age(s, cc, n->dup, n->advanced, &n->sum);
}

SCPS_NOINLINE void scps_ackloss_ecn(struct scps_sender *s, void *cc, uint64_t delivered)
{
    struct scps_recovery *rec = &s->tx->rec;
    const bool own = s->ctx.cfg->c.cc->own_recovery;

    s->ctx.st->ecn_echoes++;
    if (rec->episode == SCPS_EPISODE_NONE && !scps_recovery_echo_is_old(rec, s->snd.una)) {
        take_loss(s, cc, 0, delivered, SCPS_BY_ECN);
        return;
    }
    scps_recovery_marked(rec);
    if (scps_recovery_echo_is_old(rec, s->snd.una))
        return;
    /* The window has not been reduced in this recovery episode, for example because its losses were
     * attributed to corruption. So this ECN echo reduces it. For a controller that handles recovery
     * itself (own_recovery) no new episode begins. */
    inform_of_loss(s, cc, 0, SCPS_BY_ECN, !own);
    if (!own)
        scps_recovery_again(s, delivered);
}

SCPS_NOINLINE void scps_ackloss_progress(struct scps_sender *s, void *cc, struct scps_ack_input *n)
{
    const struct scps_recovery *rec = &s->tx->rec;

    if (rec->undone) { /* a DSACK has ended the episode as spurious */
        scps_ackloss_undone(s, cc);
        return;
    }
    n->impatient = scps_recovery_is_impatient(s);
    switch (scps_recovery_acked(s, &n->sum, n->before, n->seg)) {
    case SCPS_RECOVERY_IMAGINED:
        if (rec->episode == SCPS_EPISODE_FAST && rec->stamp)
            scps_reorder_arrived(&s->tx->reorder, rec->stamped, rec->stamped + 1, n->heard, false);
        undo(s, true);
        scps_ackloss_undone(s, cc);
        break;
    case SCPS_RECOVERY_OVER:
        scps_reorder_recovered(&s->tx->reorder);
        recovered(s, cc);
        scps_recovery_spread(s);
        break;
    default:
        return;
    }
    n->repaired = true;
    n->impatient = false;
}

SCPS_NOINLINE void scps_ackloss_dsack(struct scps_sender *s, scps_off from, scps_off to, bool fresh)
{
    struct scps_recovery *rec = &s->tx->rec;
    /* true: if the DSACK ends the episode as spurious, the segments that were declared lost and not
     * resent yet count as in flight again, because they were only late. false: there is no episode;
     * or a timeout began it, and the DSACK is the first report that its data arrived (`fresh`):
     * then an acknowledgement was lost, which says nothing about later data. */
    bool late = rec->episode == SCPS_EPISODE_FAST || (rec->episode == SCPS_EPISODE_RTO && !fresh);

    s->dsacks = true;
    if (!fresh)
        scps_rto_count_needless(&s->tx->rto);
    scps_reorder_arrived(&s->tx->reorder, from, to, s->tx->heard_at, true);
    if (scps_recovery_dsack(rec, from, to))
        undo(s, late);
}

bool scps_ackloss_look(struct scps_sender *s, void *cc)
{
    bool names = scps_snacktx_names(&s->tx->snack, &s->agreed);
    struct scps_ack_result sum = scps_ack_result_none();

    if (!s->tx->reorder.extent || !(s->agreed.opts & SCPS_AGREED_SACK))
        return false;
    by_order(s, scps_dupack_last(&s->snd, s->agreed.mss, scps_sb_count(&s->tx->sb)),
             names ? scps_snacktx_reach(s) : 0, s->ctx.env->now, &sum);
    if (!sum.lost)
        return false;
    scps_ackloss_lost(s, cc, &sum, SCPS_BY_SACK);
    return true;
}
