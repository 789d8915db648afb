/* SPDX-License-Identifier: MIT */
/* Processes an arriving acknowledgement.
 *
 * SACK blocks and SEG.ACK go to the scoreboard, which returns their result; RTT and delivery rate
 * are taken from it; then recovery and the loss rules run; the controller is told last, when
 * everything is known.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "core/seq.h"

/* consecutive acknowledgements that may answer the first transmission or a later one */
#define DOUBTS 4

/* ---- the parts of an acknowledgement ---- */

static scps_dur min_window(scps_dur srtt)
{
    /* Length of the minimum-RTT window: 10 s or 10 SRTT, whichever is longer, so that one congested
     * period does not expire the path's minimum. */
    return SCPS_MAX(SCPS_SEC(10), 10 * srtt);
}

static inline bool same(struct scps_sack a, struct scps_sack b)
{
    return !memcmp(&a, &b, sizeof a); /* one comparison */
}

/* Returns true if nothing has reported yet that [from, to) arrived. */
static SCPS_NOINLINE bool is_news(const struct scps_scoreboard *sb, scps_off una, scps_off from,
                                  scps_off to)
{
    uint32_t idx;

    return to > una &&
           !(scps_sb_lookup(sb, from, &idx) && scps_sb_at(sb, idx)->state == SCPS_SENT_ARRIVED);
}

/* Reads SACK block i of seg; told: offset of SEG.ACK, which is below ack in an old segment. Returns
 * false if the block reports nothing that a later one could repeat. */
static bool take_block(struct scps_conn *c, const struct scps_seg *seg, unsigned i, scps_off ack,
                       int64_t told, struct scps_ack_result *sum)
{
    int64_t from = scps_seq_unwrap(c->snd.iss, c->snd.una, seg->sack[i].left);
    int64_t to = scps_seq_unwrap(c->snd.iss, c->snd.una, seg->sack[i].right);

    if (from >= to || to > (int64_t)c->snd.nxt)
        return false;
    if (i == 0 &&
        (to <= told || (seg->nsack > 1 && (int32_t)(seg->sack[0].left - seg->sack[1].left) >= 0 &&
                        (int32_t)(seg->sack[1].right - seg->sack[0].right) >= 0))) {
        /* RFC 2883 section 4: the first block reports a duplicate. */
        if (from > 0 && to > (int64_t)ack - (int64_t)c->snd.max_wnd) {
            c->ctx.st->dsacks_in++;
            sum->dsack = true;
            sum->dsack_to = (scps_off)to;
            sum->dsack_fresh = is_news(&c->tx->sb, c->snd.una, (scps_off)from, (scps_off)to);
            scps_recovery_dsack(c, (scps_off)from, (scps_off)to, sum->dsack_fresh);
        }
        return false;
    }
    if (to <= (int64_t)ack)
        return false;
    from = SCPS_MAX(from, (int64_t)ack);
    scps_sb_arrived(&c->tx->sb, c->ctx.env->now, (scps_off)from, (scps_off)to,
                    scps_rtt_min(&c->rtt), sum);
    SCPS_OBSERVE_CONN(c, SACKED, from, to, 0, 0);
    return true;
}

static void take_sack(struct scps_conn *c, const struct scps_seg *seg, scps_off ack, int64_t told,
                      struct scps_ack_result *sum)
{
    struct scps_sack before = {0};
    unsigned i;

    c->ctx.st->sacks_in++;
    for (i = 0; i < seg->nsack; i++) {
        /* The peer repeats every block in several reports, in case one is lost: look where the
         * block was in the last report, or one place further. */
        struct scps_sack *at = &c->tx->sacked[i], was = *at;
        bool known = i && (same(was, seg->sack[i]) || same(before, seg->sack[i]));
        if (!known)
            known = take_block(c, seg, i, ack, told, sum);
        *at = known ? seg->sack[i] : (struct scps_sack){0};
        before = was;
    }
    while (c->tx->nsacked > i)
        c->tx->sacked[--c->tx->nsacked] = (struct scps_sack){0};
    c->tx->nsacked = (uint8_t)i;
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

/* Returns true if the segment was sent before the end of the last outage: its RTT then measures the
 * outage, not the path. */
static SCPS_NOINLINE bool spans_outage(const struct scps_tx *tx, scps_time sent)
{
    return tx->outage_over && sent < tx->outage_over;
}

/* Returns how long the silence lasted that this acknowledgement ends, at most: the first
 * transmission of what it covers was sent no later. -1: there was no silence, or the backed-off
 * timer will measure the round trip. */
static scps_dur silence(const struct scps_tx *tx, scps_time now, enum scps_loss_cause cause)
{
    return tx->rec.silent && cause == SCPS_LOSS_CORRUPTION ? now - tx->rto.silent_since : -1;
}

/* Handles an acknowledgement that may be for the first transmission. Several in a row, with no
 * RTT sample between, mean that the timer is too short: it resends what is going to be
 * acknowledged anyway, and never gets a sample. Then the shortest of these times counts as the
 * RTT. Returns -1 before that. */
static scps_dur doubt(struct scps_tx *tx, scps_dur first)
{
    if (first < 0)
        return -1;
    tx->doubted = tx->doubts ? SCPS_MIN(tx->doubted, first) : first;
    if (tx->doubts < DOUBTS)
        tx->doubts++;
    return tx->doubts == DOUBTS ? tx->doubted : -1;
}

/* Returns the RTT when some of the acknowledged data was resent; -1: it cannot be known. Only
 * the timestamp echo tells which transmission is acknowledged (RFC 7323 section 4). But a
 * duplicate is answered with the timestamp of what came before it, however long ago (section
 * 4.3). A peer that sends DSACK (RFC 2883) reports such a duplicate; otherwise the
 * acknowledgement is for the last retransmission, unless it came sooner than the least round
 * trip. From a peer not known to send DSACK, an echo older than the last retransmission of the
 * data that moved SND.UNA is doubted. */
static SCPS_NOINLINE scps_dur resent_rtt(struct scps_conn *c, const struct scps_seg *seg,
                                         const struct scps_ack_result *sum)
{
    bool echoes = c->agreed.opts & SCPS_AGREED_TS && seg->has & SCPS_HAS_TS && seg->tsecr;
    scps_dur least = scps_rtt_min(&c->rtt), last = -1;
    scps_dur first = echoes ? scps_ts_age(&c->ts, seg->tsecr, c->ctx.env->now)
                            : silence(c->tx, c->ctx.env->now, scps_conn_loss_cause(c));
    const struct scps_sent_segment *r = sum->newest;

    if (sum->dsack_fresh) {
        if (least && r && r->resends && r->from + r->len == sum->dsack_to)
            last = c->ctx.env->now - r->sent;
        first = doubt(c->tx, first);
        return first >= 0 ? first : last >= least ? last : -1;
    }
    if (!echoes ||
        (sum->refilled && !c->dsacks && first > c->ctx.env->now - sum->refilled_at + SCPS_TS_TICK))
        return doubt(c->tx, first);
    c->tx->doubts = 0;
    return first;
}

static void measure(struct scps_conn *c, const struct scps_seg *seg, bool advanced,
                    const struct scps_ack_result *sum, scps_dur newest)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    scps_time now = c->ctx.env->now;
    scps_dur sample = -1, window = min_window(c->rtt.srtt);
    bool sampled, by_clock = false;

    if (sum->oldest_sent >= 0 && !sum->refilled) {
        sample = now - sum->oldest_sent;
        c->tx->doubts = 0;
    } else if (advanced) {
        sample = resent_rtt(c, seg, sum);
        by_clock = true;
    }
    if (sample > c->rtt.rto && spans_outage(c->tx, now - sample))
        sample = -1;
    sampled = sample >= 0 && sample < SCPS_SEC(INT64_C(86400) * 24);
    if (sampled) {
        if (by_clock)
            sample = scps_rtt_by_clock(&c->rtt, sample, SCPS_TS_TICK, cfg->rto_min, cfg->rto_max);
        else
            scps_rtt_sample(&c->rtt, now, sample, cfg->rto_min, cfg->rto_max, window);
        scps_rto_measured(&c->tx->rto, sample);
    }
    /* A sample by this end's own clock has updated the minimum already. */
    if (newest >= 0 && (!sampled || by_clock || newest < c->rtt.min))
        scps_rtt_floor(&c->rtt, now, newest, window);
}

/* Returns the bytes for which a duplicate acknowledgement stands: "the additional segment that
 * has left the network" (RFC 5681 section 3.2 (4)). It adds SMSS there; where segments are
 * smaller, as records make them, that would be more than has left, and at the end the whole
 * buffer. */
static inline uint32_t left_network(const struct scps_scoreboard *sb, uint64_t flight, uint32_t mss)
{
    uint64_t mean = flight / SCPS_MAX(scps_sb_count(sb), 1u);

    return mean > mss / 2 ? mss : (uint32_t)SCPS_MAX(mean, 1u);
}

/* RFC 5827 section 3.2: "no unsent data ready for transmission at the sender, or the advertised
 * receive window does not permit new segments to be transmitted", the latter with less than four
 * outstanding. */
static inline bool nothing_follows(const struct scps_send *s, uint32_t mss, uint32_t outstanding)
{
    return scps_send_all_sent(s) ||
           (outstanding < 4 && s->edge < s->nxt + SCPS_MIN(scps_send_fin_end(s) - s->nxt, mss));
}

/* Counts a duplicate acknowledgement without SACK (RFC 5681 section 2): same number, no data,
 * same window, something outstanding. told: its SNACK says what arrived, so nothing has to be
 * assumed. */
static void duplicate(struct scps_conn *c, bool told, struct scps_ack_result *sum)
{
    struct scps_tx *tx = c->tx;
    uint32_t head = tx->sb.head, thresh = c->ctx.cfg->c.dupthresh;

    scps_recovery_duplicate(&tx->rec);
    c->ctx.st->dupacks_in++;
    if (c->agreed.opts & SCPS_AGREED_SACK)
        return;
    /* RFC 5681 section 3.2 inflates in fast recovery. After a timeout the window is slow start's:
     * what duplicates would release there keeps a queue full that the oldest segment has to pass.
     * But RFC 5682 section 2.1 step 3a lets one go for the duplicate that ends F-RTO. */
    if (!told && (tx->rec.episode != SCPS_EPISODE_RTO || tx->rec.frto)) {
        uint32_t segment = left_network(&tx->sb, c->snd.nxt - c->snd.una, c->agreed.mss);
        scps_recovery_virtual(&tx->rec, segment, c->snd.nxt - c->snd.una);
        sum->delivered += segment;
    }
    if (nothing_follows(&c->snd, c->agreed.mss, scps_sb_count(&tx->sb))) /* early retransmit */
        thresh = SCPS_CLAMP(scps_sb_count(&tx->sb) - 1, 1u, thresh);
    if (scps_agreed_snack(&c->agreed) && scps_sb_at(&tx->sb, head)->resends)
        /* The embargo of its retransmission runs (docs/SCPS-TP.md section 2.4); the receiver will
         * report it again if it is still missing. */
        return;
    if (c->tx->rec.dupacks >= thresh && tx->rec.episode == SCPS_EPISODE_NONE)
        scps_sb_lose(&tx->sb, head, sum);
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
    bool snack; /* the SNACK in it is valid */
    bool told;  /* a SNACK in it has reported what arrived, where there is no SACK */
    /* best effort: SND.UNA passes data that is missing at the peer, filled or given up */
    bool jumped;
    bool advanced; /* SND.UNA moves */
    bool repaired; /* the acknowledgement ends the recovery episode */
    bool dup;
};

/* Processes its SACK blocks and its SNACK. */
static inline void take_reports(struct scps_conn *c, struct ack_input *n)
{
    struct scps_tx *tx = c->tx;
    const struct scps_seg *seg = n->seg;

    n->sum.fack = tx->sb.hi_arrived;
    if (seg->has & SCPS_HAS_SACK && c->agreed.opts & SCPS_AGREED_SACK)
        take_sack(c, seg, n->ack, n->ack_in, &n->sum);
    if (!n->snack)
        return;
    scps_snack_take(c, seg, (scps_off)n->ack_in, &n->sum);
    scps_snack_measure(c, &n->sum);
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
    if (n->dup)
        duplicate(c, n->told, &n->sum);
    else if (n->advanced && c->tx->rec.episode == SCPS_EPISODE_NONE)
        scps_recovery_no_duplicates(&c->tx->rec);
}

/* Drops the sample of resent segment r if the acknowledgement may be for an earlier transmission:
 * it came within the least round trip, or its echo is older than the retransmission. */
static SCPS_NOINLINE void doubt_sample(const struct scps_rtt *rtt, scps_time now, scps_dur echo,
                                       const struct scps_sent_segment *r, struct scps_cc_ack *a)
{
    if (now - r->sent < scps_rtt_min(rtt) || echo > now - r->sent + SCPS_TS_TICK)
        a->sample_bytes = a->prior_delivered = a->tx_in_flight = a->lost_since = 0;
}

/* Takes the delivery-rate and RTT samples. */
static inline void take_samples(struct scps_conn *c, struct ack_input *n, struct scps_cc_ack *a)
{
    if (n->sum.delivered)
        scps_delivery_sample(&c->tx->delivery, &c->tx->sb, &n->sum, scps_rtt_min(&c->rtt),
                             c->ctx.env->now, a);
    if (a->rtt < 0 && a->sample_bytes)
        doubt_sample(&c->rtt, c->ctx.env->now,
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
        c->tx->rack.reordering_seen = true;
        c->ctx.st->reordered++;
    }
}

/* Detects losses by SACK, where RACK is not in force. A receiver with SNACK reports its holes
 * itself, so within reach of the option's 16-bit offset nothing is concluded from the absence of
 * SACK (beyond it RFC 6675 applies). When one acknowledgement cannot hold all reports, others
 * follow, and retransmitted segments wait for them. */
static inline void losses_by_order(struct scps_conn *c, struct ack_input *n)
{
    struct scps_scoreboard *sb = &c->tx->sb;
    bool names = c->agreed.caps & SCPS_CAP_SNACK1,
         wait = names && ((n->snack && n->seg->snack_vec_len) ||
                          (scps_snack_reports_late(c) && !scps_send_all_sent(&c->snd)));

    scps_off from = names ? scps_snack_reach(c) : 0;

    if (sb->arrived_recs && from < c->snd.nxt)
        scps_loss_by_order(sb, c->ctx.cfg->c.dupthresh,
                           nothing_follows(&c->snd, c->agreed.mss, scps_sb_count(sb)), from,
                           &n->sum);
    if (sb->resent_head != sb->resent_tail && !wait) {
        scps_time then = SCPS_NEVER; /* however young */
        if (sb->needless && !names)
            then = c->ctx.env->now - scps_sb_resend_wait(sb, scps_rtt_min(&c->rtt), c->rtt.rto);
        scps_loss_of_resent(sb, c->ctx.cfg->c.dupthresh,
                            nothing_follows(&c->snd, c->agreed.mss, scps_sb_count(sb)), then,
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

/* Finds lost segments by the rule that is in force. */
static inline void find_losses(struct scps_conn *c, struct ack_input *n)
{
    struct scps_tx *tx = c->tx;

    if (n->snack)
        lost(c, &n->sum, SCPS_BY_SNACK);
    if (scps_agreed_rack(&c->agreed, &c->ctx.cfg->c)) {
        scps_rack_ack(c, n->seg, n->dup, n->repaired, &n->sum);
        lost(c, &n->sum, SCPS_BY_RACK);
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
    uint64_t cwnd = c->ctl.cwnd;
    struct scps_cc_view v;

    scps_recovery_heard(&tx->rec);
    if (!c->established)
        return;
    a->in_recovery = tx->rec.episode == SCPS_EPISODE_FAST;
    a->rtt_old =
        n->sum.oldest_sent >= 0 && !n->sum.refilled ? c->ctx.env->now - n->sum.oldest_sent : 0;
    scps_cc_view_of(c, &v);
    c->ctx.cfg->c.cc->ack(c->cc_state, &v, a, &c->ctl);
    if (!n->advanced && tx->rec.episode == SCPS_EPISODE_NONE)
        c->ctl.cwnd = SCPS_MIN(c->ctl.cwnd, cwnd); /* RFC 5681 section 3.2 (1), RFC 3042 */
    if (c->resumes)
        scps_resume_ack(&c->tp->resume, (struct scps_resume_cc){&c->ctx, c->cc_state}, &v, a,
                        &c->ctl);
    scps_cc_limited(c, false);
    scps_cc_apply(c);
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
static inline bool room_again(const struct scps_conn *c)
{
    const uint32_t sndbuf = c->ctx.cfg->c.sndbuf;

    return c->room.wanted && sndbuf - (c->snd.end - c->snd.una) >= SCPS_MIN(sndbuf / 4, 65536u);
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
    else if (n.advanced || (n.sum.delivered && tx->rec.episode == SCPS_EPISODE_FAST))
        scps_snd_arm_rtx(
            c); /* RFC 6298 section 5.3; during recovery any arrival shows that the path works. */
    if (n.advanced && room_again(c))
        scps_conn_room(c);
    wake(c);
}

/* Handles an acknowledgement below SND.UNA. Returns true if its reports may still be new. */
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
