/* SPDX-License-Identifier: MIT */
/* Episodes of loss recovery: decides when one begins and ends, how much may be sent during it, and
 * whether it was spurious.
 *
 * FAST  RFC 6675 and RFC 6582: the episode lasts until everything outstanding at its start is
 *       acknowledged; the controller is informed once. RFC 6937 (PRR with the slow-start reduction
 *       bound) limits what is sent, towards the window that the controller asks for. If the
 *       controller asks for no reduction (loss by corruption), PRR is not needed.
 * RTO   Data that should have been acknowledged by now is presumed lost and is resent within the
 *       controller's window, which grows meanwhile. At most PROBES (10) segments are outstanding,
 *       spread over a timeout if a rate is set, in two cases: when no acknowledgement at all has
 *       come during the timeout, and from the second consecutive timeout on while nothing is
 *       reported to have arrived. Otherwise a controller that keeps its window through losses, or
 *       has none, would resend the whole flight into an outage, or into a queue that is still full.
 *       The first acknowledgement of something that arrived ends this limit, and so does the end of
 *       an outage that was signalled or inferred (snd_outage.c). After an outage that was neither,
 *       and is over when the timer expires, the limit costs a round trip; but data that had
 *       arrived, and only was not acknowledged, is not sent again.
 *
 * Spurious losses: the controller's state is saved at the start of an episode of either kind. With
 * the setting spurious_undo it is restored when one of four rules shows that the losses were
 * spurious:
 *   Eifel  The acknowledgement that advances SND.UNA from the first resent segment echoes a
 *          timestamp older than that retransmission (RFC 3522).
 *   F-RTO  After a timeout, the second acknowledgement is for something that was sent only once,
 *          before anything but the first segment was resent (RFC 5682; used only without
 *          timestamps, which decide sooner).
 *   DSACK  The receiver has reported every resent segment as a duplicate (RFC 2883, RFC 3708). The
 *          last of these reports may come after the end of the episode. They prove nothing where
 *          the network duplicates segments (scps_recovery_dsack).
 *   Late   All that was declared lost arrives before any of it was resent.
 * All rules but DSACK take the acknowledgement of data for its arrival. A receiver with BETS (best
 * effort) acknowledges holes, too, before a retransmission has arrived: for such a peer F-RTO is
 * not used, and Eifel and Late only as long as the peer cannot have given a hole up yet
 * (scps_bets_is_arrival).
 *
 * Bursts: while a retransmission is on its way, the peer's window or the send buffer may stop the
 * sender, and when SND.UNA advances, all that has been delivered meanwhile may be sent at once (RFC
 * 6937 section 4). A queue shorter than that loses it again, and each loss costs a part of the
 * window. RFC 6582 section 3.2 (3) recommends a measure against such bursts: when more than BURST
 * segments may be sent at once, during an episode or at its end, or because the window is restored
 * after a spurious timeout (RFC 4015 section 3.4), the window is spread over a round trip. The
 * window is also spread once bursts of small segments have caused timeouts: at two timeouts in a
 * row the segments outstanding were shorter than half of the MSS on average (note_small).
 *
 * Without SACK each duplicate acknowledgement stands for one segment that left the network (RFC
 * 5681 section 3.2).
 */
#include "core/recovery.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "core/bets.h"
#include "core/tx.h"

/* Largest number of segments that may leave at once, an initial window (RFC 6928). If more may
 * leave at once, as when the peer's window or an empty send buffer had stopped the sender while a
 * retransmission was on its way, the window is paced over a round trip (scps_recovery_spread). */
#define BURST 10
/* For a controller whose own rate paces more than one window in each round trip: if pipe (bytes in
 * flight, RFC 6675) is more than this number of full segments below the window, the rate is reduced
 * to 17/16 windows per round trip (scps_recovery_paced_rate). At 1.2 windows per round trip a sixth
 * of the segments exceeds what the path delivers, and waits in a queue: with 60 segments to send,
 * BURST. */
#define PACED_BURST (6 * BURST)

/* Proportional rate reduction (RFC 6937 section 3): computes how much may be sent in answer to an
 * acknowledgement of `delivered` bytes. */
static void prr_update(struct scps_sender *s, uint64_t delivered)
{
    struct scps_recovery *rec = &s->tx->rec;
    uint64_t pipe = scps_recovery_inflight(s->tx), target = s->ctl.cwnd, send = 0;

    if (!scps_recovery_reduces(s))
        return;
    if (pipe > target) {
        uint64_t share = scps_muldiv(rec->delivered, target, rec->flight ? rec->flight : 1) + 1;
        send = share > rec->out ? share - rec->out : 0;
    } else {
        uint64_t limit = rec->delivered > rec->out ? rec->delivered - rec->out : 0;
        limit = SCPS_MAX(limit, delivered) + s->agreed.mss;
        send = SCPS_MIN(target - pipe, limit);
    }
    if (rec->first_resend)
        send = SCPS_MAX(send, s->agreed.mss);
    rec->window = pipe + send;
}

void scps_recovery_spread(struct scps_sender *s)
{
    struct scps_recovery *rec = &s->tx->rec;
    uint64_t window = scps_recovery_window(s);

    if (window == SCPS_CWND_OPEN || !s->rtt.srtt ||
        window <= scps_recovery_inflight(s->tx) + (uint64_t)BURST * s->agreed.mss)
        return;
    rec->standstill = s->hold == SCPS_HOLD_APP || s->hold == SCPS_HOLD_PEER_WINDOW ||
                      (rec->standstill && s->ctx.env->now < rec->spread_until);
    rec->spread_until = s->ctx.env->now + s->rtt.srtt;
}

SCPS_NOINLINE uint64_t scps_recovery_paced_rate(struct scps_sender *s, uint64_t rate)
{
    const uint64_t missing = (uint64_t)PACED_BURST * s->agreed.mss;
    uint64_t spread = 0;

    if (s->tx->rec.standstill && scps_recovery_window(s) > scps_recovery_inflight(s->tx) + missing)
        spread = scps_recovery_rate(s);
    return spread ? SCPS_MIN(rate, spread) : rate;
}

/* Sets RecoverFS, prr_delivered and prr_out (RFC 6937) to their values at the start of recovery. */
static void count_from_now(const struct scps_sender *s, struct scps_recovery *rec)
{
    rec->flight = s->snd.nxt - s->snd.una;
    rec->delivered = rec->out = 0;
}

static void begin(struct scps_sender *s, enum scps_episode kind)
{
    struct scps_tx *tx = s->tx;
    struct scps_recovery *rec = &tx->rec;
    /* oldest segment; there is none if the acknowledgement of all data has an ECN echo */
    const struct scps_sent_segment *oldest = scps_sb_at(&tx->sb, tx->sb.head);
    bool fresh = rec->episode == SCPS_EPISODE_NONE;

    if (fresh) {
        scps_sb_new_episode(&tx->sb);
        rec->undoable = s->ctx.cfg->c.spurious_undo;
        count_from_now(s, rec);
        rec->unresent = true;
        rec->first_sent = s->snd.una == s->snd.nxt || oldest->resends ? 0 : oldest->sent;
    }
    rec->episode = (uint8_t)kind;
    rec->of_outage = false;
    rec->point = s->snd.nxt;
    rec->resent = 0;
    rec->ncopies = 0;
    rec->partial = false;
    if (fresh || rec->first != s->snd.una) {
        /* RFC 3522 section 3.2: the Eifel detection does not start again once loss recovery has
         * started. */
        rec->eifel = fresh;
        rec->first = s->snd.una;
        rec->stamp = 0;
    }
    rec->first_resend = true;
}

SCPS_NOINLINE_SIZE void scps_recovery_end(struct scps_recovery *rec)
{
    rec->episode = SCPS_EPISODE_NONE;
    rec->frto = 0;
    rec->first_resend = false;
    scps_recovery_forget(rec);
}

enum scps_loss_cause scps_recovery_loss_cause(const struct scps_sender *s)
{
    const struct scps_new_losses *found = &s->tx->sb.new_losses;

    if (found->ranges && scps_agreed_reports(&s->agreed) &&
        (s->todo.bits & SCPS_TODO_OUTAGE || found->sent < s->tx->outage_over))
        return SCPS_LOSS_OUTAGE;
    return scps_cause_now(&s->tx->cause, &s->ctx);
}

struct scps_cc_loss scps_recovery_describe_loss(struct scps_sender *s, uint64_t bytes,
                                                enum scps_evidence evidence, bool fresh)
{
    struct scps_cc_loss loss = {.bytes = bytes,
                                .cause = evidence == SCPS_BY_ECN ? SCPS_LOSS_CONGESTION
                                                                 : scps_recovery_loss_cause(s),
                                .evidence = evidence,
                                .new_episode = fresh};
    struct scps_new_losses found = scps_sb_losses(&s->tx->sb);

    if (found.ranges) {
        loss.app_limited = found.app_limited;
        loss.ranges = found.ranges;
        loss.tx_in_flight = found.tx_in_flight;
        loss.lost_since = (uint32_t)s->tx->sb.lost_ever - found.tx_lost;
    }
    return loss;
}

void scps_recovery_begin(struct scps_sender *s, enum scps_evidence evidence)
{
    struct scps_recovery *rec = &s->tx->rec;

    begin(s, SCPS_EPISODE_FAST);
    rec->frto = 0;
    /* SCPS_BY_RESEND: SNACK's loss detection timer found that the peer has not reported, in the
     * time in which it should have, a retransmission or the last segments sent. Such silence of the
     * peer may be an outage of the link, as before a timeout. */
    rec->of_silence = evidence == SCPS_BY_RESEND;
    if (evidence == SCPS_BY_ECN)
        rec->first_resend = rec->undoable = false;
    s->ctx.st->recoveries++;
}

bool scps_recovery_goes_on(struct scps_sender *s, uint64_t delivered)
{
    struct scps_recovery *rec = &s->tx->rec;

    /* Nothing has to be repaired: the episode was begun for an ECN echo, and the acknowledgement
     * with the echo covers all data sent. */
    if (s->snd.una >= rec->point) {
        scps_recovery_end(rec);
        return false;
    }
    /* What arrived with the acknowledgement that began the episode counts as delivered in it. */
    rec->delivered = delivered;
    prr_update(s, delivered);
    return true;
}

void scps_recovery_again(struct scps_sender *s, uint64_t delivered)
{
    struct scps_recovery *rec = &s->tx->rec;

    rec->point = s->snd.nxt;
    count_from_now(s, rec);
    rec->delivered += delivered;
    prr_update(s, delivered);
}

/* Called when more bytes were found lost during a recovery episode, which have left the pipe:
 * computes sndcnt (RFC 6937 section 3) again with the pipe that is left (RFC 6675 section 4). With
 * the limit from before, as many bytes could be sent at once as were found lost, up to the whole
 * window. What was permitted before and has not been sent stays permitted. One segment may be sent
 * even while pipe is above ssthresh: it takes the place of one that has left the network. Without
 * SACK and SNACK nothing changes: a partial acknowledgement shows one lost segment and permits its
 * retransmission (RFC 6582 section 3.2). */
void scps_recovery_lost(struct scps_sender *s, uint64_t bytes, uint64_t delivered)
{
    struct scps_recovery *rec = &s->tx->rec;
    uint64_t before = rec->window, least = scps_recovery_inflight(s->tx) + s->agreed.mss;

    if (!scps_agreed_reports(&s->agreed))
        return;
    prr_update(s, delivered);
    least = SCPS_MAX(least, before > bytes ? before - bytes : 0);
    rec->window = SCPS_MAX(rec->window, SCPS_MIN(before, least));
}

/* Called at a timeout: declares data in flight lost if its acknowledgement should have come by now.
 * Data sent less than a round trip ago cannot have been acknowledged (RFC 8985 section 6.3), but
 * without SACK or SNACK all data is declared lost (RFC 5681 section 3.1). */
static void mark_lost(struct scps_sender *s)
{
    bool reports = scps_agreed_reports(&s->agreed);

    scps_sb_lose_since(
        &s->tx->sb, reports ? s->ctx.env->now - SCPS_MAX(s->rtt.srtt, 1) : s->ctx.env->now, NULL);
    /* The event SCPS_CC_RTO informs the controller of these losses, so the scoreboard must not
     * report them again. */
    scps_sb_losses(&s->tx->sb);
    /* Lost small segments are joined into full ones. Otherwise a window of one full segment would
     * be hundreds of small packets, which would overflow a short queue again after each timeout. */
    scps_sb_join_lost(&s->tx->sb, scps_agreed_piece(&s->agreed));
}

/* Called when the retransmission timer has expired, before the RTO episode begins: detects that
 * bursts of small segments (shorter than half of the MSS on average) cause the timeouts. The window
 * of one full-sized segment after a timeout (RFC 5681 section 3.1) is many small ones, and a short
 * queue drops most of them again.
 * - The outstanding segments are small, as at the timeout counted before this one: rec->small_len
 *   becomes their mean length, octets, and from now on the sender paces its window in bursts of
 *   four packets of that length (control.c).
 * - They are not small: rec->small_len becomes 0.
 * - A timeout in the same RTO episode without an advance of SND.UNA is not counted, because the
 *   path may be interrupted. */
static void note_small(struct scps_sender *s)
{
    struct scps_recovery *rec = &s->tx->rec;
    uint32_t len = scps_recovery_small_len(s);

    if (rec->episode == SCPS_EPISODE_RTO && rec->first == s->snd.una)
        return;
    if (!len)
        rec->small_len = 0;
    else if (rec->small_before)
        rec->small_len = len;
    rec->small_before = len > 0;
}

void scps_recovery_timeout(struct scps_sender *s)
{
    struct scps_recovery *rec = &s->tx->rec;
    bool fresh = rec->episode == SCPS_EPISODE_NONE;

    note_small(s);
    rec->of_silence = fresh || (rec->of_silence && rec->first == s->snd.una);
    begin(s, SCPS_EPISODE_RTO);
    /* F-RTO begins only if no recovery episode was in progress. RFC 5682 does not use it "if the
     * TCP sender is already in RTO recovery" and SND.UNA has not passed SND.NXT of the earlier
     * timeout (section 2.1 step 1), nor "if the TCP sender is already in loss recovery when a
     * retransmission timeout occurs" (section 3.1). */
    rec->frto = fresh && rec->undoable && !(s->agreed.opts & SCPS_AGREED_TS) &&
                !(s->agreed.caps & SCPS_CAP_BETS);
    rec->frto_nxt = s->snd.nxt;
    scps_recovery_forget(rec);
    if (rec->silent < UINT8_MAX)
        rec->silent++;
    rec->unheard = s->ctx.env->now - s->tx->heard_at >= s->rtt.rto;
    rec->link_up = false;
    mark_lost(s);
    /* After a timeout no acknowledgements arrive that would pace the sender. A controller that
     * takes the loss for corruption keeps its window, so the window is paced over one smoothed
     * round trip. */
    if (s->ctl.cwnd != SCPS_CWND_OPEN && s->rtt.srtt)
        rec->spread_until = s->ctx.env->now + s->rtt.srtt;
}

void scps_recovery_repaired(struct scps_sender *s)
{
    begin(s, SCPS_EPISODE_FAST);
    s->ctx.st->recoveries++;
}

void scps_recovery_undone(struct scps_recovery *rec)
{
    rec->undone = SCPS_MAX(rec->episode, SCPS_EPISODE_FAST);
    scps_recovery_end(rec);
    rec->resent = 0;
    /* The checks of the oldest segment's age (Vegas) end: a needless retransmission shows that
     * their time limit is too short. */
    rec->age_checks = 0;
}

bool scps_recovery_is_of_outage(const struct scps_recovery *rec, scps_off una)
{
    return rec->episode == SCPS_EPISODE_RTO && rec->of_silence && rec->first == una;
}

/* Records that segment r was resent: extends a range of rec->copies that it touches, or adds a new
 * range; if there is no room, extends the newest range. */
static void remember_copy(struct scps_recovery *rec, const struct scps_sent_segment *r)
{
    scps_off end = r->from + r->len;
    struct scps_range *at = rec->copies;
    unsigned i = 0;

    while (i < rec->ncopies && (end < at[i].from || r->from > at[i].to))
        i++;
    if (i == SCPS_RECOVERY_COPIES)
        i--;
    if (i == rec->ncopies)
        at[rec->ncopies++] = (struct scps_range){r->from, end};
    at[i].from = SCPS_MIN(at[i].from, r->from);
    at[i].to = SCPS_MAX(at[i].to, end);
}

/* RFC 3708: returns true if the duplicate [from, to) that the peer reports is data resent in this
 * episode, and not a copy that the network made. */
static bool was_resent(const struct scps_recovery *rec, scps_off from, scps_off to)
{
    for (unsigned i = 0; i < rec->ncopies; i++)
        if (rec->copies[i].from <= from && to <= rec->copies[i].to)
            return true;
    return false;
}

bool scps_recovery_dsack(struct scps_recovery *rec, scps_off from, scps_off to)
{
    if (!was_resent(rec, from, to)) {
        if (rec->copied < UINT32_MAX)
            rec->copied++;
        return false;
    }
    return rec->undoable && rec->resent && rec->copied <= rec->resent_ever && --rec->resent == 0;
}

void scps_recovery_no_frto(struct scps_recovery *rec)
{
    rec->frto = 0;
}

/* Continues F-RTO, if it is in progress, with an acknowledgement: steps 2 and 3 of RFC 5682 section
 * 3.1 with SACK, of section 2.1 without. Returns true if the timeout was spurious: the second
 * acknowledgement after it reports data that was sent only once. F-RTO ends without that verdict
 * - if the second acknowledgement reports no such data, or the first one covers everything below
 *   frto_nxt (RecoveryPoint), or leaves SND.UNA at a segment that was resent;
 * - if the first one does not advance SND.UNA (with SACK it is skipped instead);
 * - at a report of data above frto_nxt;
 * - at a DSACK of octets not reported before: the receiver had the segment before the
 *   retransmission came, and only its acknowledgement was lost (RFC 3522 section 3.3). */
static bool frto_says_spurious(struct scps_sender *s, const struct scps_ack_result *sum,
                               bool advanced)
{
    struct scps_recovery *rec = &s->tx->rec;
    const struct scps_scoreboard *sb = &s->tx->sb;
    bool second = rec->frto == 2;

    if (!rec->frto || (!second && !advanced && s->agreed.opts & SCPS_AGREED_SACK))
        /* RFC 5682 section 3.1 step 2: duplicate acknowledgements before the first new one only
         * report holes, so F-RTO waits. */
        return false;
    rec->frto = 0;
    if (sum->dsack_fresh || s->snd.una > rec->frto_nxt || sb->hi_arrived > rec->frto_nxt)
        return false;
    if (second)
        /* RFC 5682 section 3.1 step 3b: data that was not resent has arrived, so the timeout was
         * spurious; otherwise step 3a applies */
        return sum->orig;
    if (advanced && s->snd.una < rec->frto_nxt && !scps_sb_at(sb, sb->head)->resends)
        /* RFC 5682 section 2.1 step 2b: new data may be sent, and the next acknowledgement decides;
         * otherwise step 2a ends F-RTO */
        rec->frto = 2;
    return false;
}

/* RFC 3522 section 3.2 steps 3 and 4: returns true if the TSecr of this acknowledgement shows which
 * transmission has arrived of the segment that was resent with the TSval rec->stamp and begins at
 * rec->stamped. was: SND.UNA before the acknowledgement. There are two cases:
 * - SND.UNA advances from rec->stamped itself: this is the first acknowledgement of that segment.
 * - SND.UNA advances from below rec->stamped to above it, because the acknowledgements in between
 *   were lost. If octets below the segment were missing when the retransmission arrived, the
 *   receiver did not store the TSval of that for its echo (RFC 7323 section 4.3), and an older
 *   TSecr proves nothing. So this case decides only if the acknowledgement comes less than the
 *   connection's minimum RTT after the retransmission: it cannot answer the retransmission, so the
 *   first transmission has arrived. */
static bool eifel_decides(const struct scps_sender *s, scps_off was)
{
    const struct scps_recovery *rec = &s->tx->rec;

    if (was >= rec->stamped)
        return was == rec->stamped && s->snd.una > was;
    return s->snd.una > rec->stamped && s->ctx.env->now - rec->stamped_at < scps_rtt_min(&s->rtt);
}

/* Returns true if timestamps show that the loss was spurious (RFC 3522 section 3.2, steps 4 and 5):
 * the acknowledgement echoes a TSval older than the retransmission. Two kinds do not count:
 * - a DSACK of data not reported before (dsack_fresh): a receiver answers a duplicate with the
 *   TSval of the segment that last advanced its RCV.NXT (RFC 7323 section 4.3), which is always
 *   older;
 * - a TSecr of 0, or one older than the first transmission of the acknowledged data: it is no echo.
 * Departure from the RFC: an acknowledgement of all outstanding data counts even if the peer has
 * never sent a DSACK, because one delayed acknowledgement may cover a short flight. Nothing is
 * outstanding then, so a wrong decision does no more than restore the window. */
static bool eifel_says_spurious(struct scps_sender *s, const struct scps_ack_result *sum,
                                scps_off was, const struct scps_seg *seg)
{
    const struct scps_recovery *rec = &s->tx->rec;

    return rec->eifel && rec->stamp && eifel_decides(s, was) && s->agreed.opts & SCPS_AGREED_TS &&
           seg->has & SCPS_HAS_TS && seg->tsecr && (int32_t)(seg->tsecr - rec->stamp) < 0 &&
           !scps_recovery_echo_is_stale(rec, was, seg->tsecr) && !sum->dsack_fresh;
}

/* Returns true if all that was declared lost in the episode has arrived, and nothing was resent in
 * it: then the first transmissions have arrived, and the losses were spurious. */
static bool all_were_late(const struct scps_sender *s)
{
    return s->tx->rec.unresent && !s->tx->sb.lost;
}

enum scps_recovery_verdict scps_recovery_acked(struct scps_sender *s,
                                               const struct scps_ack_result *sum, scps_off was,
                                               const struct scps_seg *seg)
{
    bool advanced = s->snd.una > was;
    struct scps_recovery *rec = &s->tx->rec;

    if (rec->undoable && scps_bets_is_arrival(s, was, rec->first_sent) &&
        (all_were_late(s) || eifel_says_spurious(s, sum, was, seg) ||
         frto_says_spurious(s, sum, advanced)))
        return SCPS_RECOVERY_IMAGINED;
    rec->delivered += sum->delivered;
    if (s->snd.una >= rec->point) {
        scps_recovery_end(rec);
        return SCPS_RECOVERY_OVER;
    }
    prr_update(s, sum->delivered);
    if (advanced) {
        rec->partial = true;
        scps_recovery_spread(s);
    }
    return SCPS_RECOVERY_GOES_ON;
}

bool scps_recovery_passed(struct scps_recovery *rec, scps_off una)
{
    /* Best effort has moved SND.UNA past data that it gave up, not past acknowledged data, so later
     * acknowledgements cannot show that the losses of this loss recovery episode were spurious. */
    rec->undoable = false;
    if (rec->episode == SCPS_EPISODE_NONE || una < rec->point)
        return false;
    scps_recovery_end(rec);
    return true;
}

void scps_recovery_resent(struct scps_recovery *rec, const struct scps_sent_segment *resent,
                          const struct scps_ts *ts, scps_time now)
{
    bool first;

    if (rec->resent_ever < UINT32_MAX)
        rec->resent_ever++;
    if (rec->episode == SCPS_EPISODE_NONE)
        return;
    first = rec->first_resend;
    rec->unresent = false;
    rec->first_resend = false;
    rec->age_checks = 2;
    rec->resent++;
    remember_copy(rec, resent);
    if (first && !rec->stamp && !resent->resends) {
        rec->stamp = SCPS_MAX(scps_ts_value(ts, now), 1);
        rec->stamped = resent->from;
        rec->stamped_at = now;
        rec->first_stamp = scps_ts_value(ts, resent->sent);
    }
}

SCPS_NOINLINE void scps_recovery_note(const struct scps_sender *s, int what)
{
    SCPS_OBSERVE(&s->ctx, RECOVERY, what, s->snd.una, s->ctl.cwnd, s->ctl.ssthresh);
}
