/* SPDX-License-Identifier: MIT */
/* An arriving acknowledgement.
 *
 * Reports (SACK blocks, the left edge) go to the scoreboard, which sums up what was learned; round trip and delivery
 * rate are taken from that sum; the recovery episode moves on; the loss rules look again; the controller hears last,
 * with everything known.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "core/seq.h"

void scps_cc_view_of(const struct scps_conn *c, struct scps_cc_view *v)
{
    const struct scps_conn_config *cfg = &c->cfg->c;
    uint32_t iw_max = SCPS_MAX(2u * c->mss, 14600u); /* RFC 6928 section 2 */

    v->now = c->env->now;
    v->inflight = c->tx ? scps_recovery_inflight(c) : 0;
    v->outstanding = c->nxt - c->una;
    v->mss = c->mss;
    v->init_cwnd = cfg->init_cwnd_segs ? cfg->init_cwnd_segs * (uint32_t)c->mss
                                       : SCPS_MIN(10u * c->mss, iw_max);
    if (c->flags & SCPS_F_SYN_LOST && !cfg->init_cwnd_segs)
        v->init_cwnd = c->mss; /* RFC 5681 section 3.1 */
    v->srtt = c->rtt.srtt;
    v->min_rtt = scps_rtt_min(&c->rtt);
    v->conf_rate = cfg->rate;
    v->max_cwnd = cfg->sndbuf;
    v->cwnd_limited = c->flags & SCPS_F_CWND_LIMITED;
    v->cause = scps_loss_cause_now(c);
}

void scps_cc_apply(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->cfg->c;
    uint64_t rate = c->ctl.rate;

    if (c->ctl.cwnd != SCPS_CWND_OPEN) {
        c->ctl.cwnd = SCPS_MAX(c->ctl.cwnd, c->mss);
        c->st->max_cwnd = SCPS_MAX(c->st->max_cwnd, c->ctl.cwnd);
        if (!rate && cfg->pacing && c->rtt.srtt) {
            /* Twice the window a round trip while it may double, a fifth more than it later. */
            rate = scps_muldiv(c->ctl.cwnd, 1000000, (uint64_t)c->rtt.srtt);
            rate = c->ctl.cwnd < c->ctl.ssthresh ? rate * 2 : rate * 6 / 5;
            rate = SCPS_MAX(rate, 1);
        }
    }
    if (cfg->rate && (!rate || rate > cfg->rate))
        rate = cfg->rate;
    if (c->tx && (rate || c->tx->pacer.rate))
        scps_pacer_set(&c->tx->pacer, c->env->now, rate,
                       cfg->burst ? cfg->burst : 4 * (c->pmtu_mss + 40u + cfg->rate_overhead));
    SCPS_NOTE_IT(c, CWND, c->ctl.cwnd, c->ctl.ssthresh, rate, c->tx ? c->tx->sb.inflight : 0);
}

void scps_cc_begin(struct scps_conn *c)
{
    struct scps_cc_view v;

    scps_cc_view_of(c, &v);
    c->ctl = (struct scps_cc_ctl){.cwnd = v.init_cwnd, .ssthresh = UINT64_MAX};
    c->cfg->c.cc->start(c->cc_state, c->cfg->c.cc_param, &v, &c->ctl);
    scps_cc_apply(c);
}

void scps_cc_change(struct scps_conn *c, enum scps_cc_change what)
{
    struct scps_cc_view v;

    if (!c->cfg->c.cc->change || !c->established)
        return;
    scps_cc_view_of(c, &v);
    c->cfg->c.cc->change(c->cc_state, &v, what, &c->ctl);
    scps_cc_apply(c);
}

static scps_dur min_window(const struct scps_conn *c)
{
    /* Long enough for several rounds: a minimum is not lost to one busy one. */
    return SCPS_MAX(SCPS_SEC(10), 10 * c->rtt.srtt);
}

static inline bool same(struct scps_sack a, struct scps_sack b)
{
    return a.left == b.left && a.right == b.right;
}

/* Block i of seg; told: where the segment's own acknowledgement points, below ack if it is old. False: it says nothing
 * that could be told again. */
static bool take_block(struct scps_conn *c, const struct scps_seg *seg, unsigned i, scps_off ack,
                       int64_t told, struct scps_ack_sum *sum)
{
    int64_t from = scps_seq_unwrap(c->iss, c->una, seg->sack[i].left);
    int64_t to = scps_seq_unwrap(c->iss, c->una, seg->sack[i].right);

    if (from >= to || to > (int64_t)c->nxt)
        return false;
    if (i == 0 &&
        (to <= told || (seg->nsack > 1 && (int32_t)(seg->sack[0].left - seg->sack[1].left) >= 0 &&
                        (int32_t)(seg->sack[1].right - seg->sack[0].right) >= 0))) {
        /* RFC 2883 section 4: the first block tells of a duplicate */
        if (from > 0 && to > (int64_t)ack - (int64_t)c->max_wnd) {
            c->st->dsacks_in++;
            sum->dsack = true;
            scps_recovery_dsack(c, (scps_off)from, (scps_off)to);
        }
        return false;
    }
    if (to <= (int64_t)ack)
        return false;
    from = SCPS_MAX(from, (int64_t)ack);
    scps_sb_arrived(&c->tx->sb, c->env->now, (scps_off)from, (scps_off)to, scps_rtt_min(&c->rtt),
                    sum);
    SCPS_NOTE_IT(c, SACKED, from, to, 0, 0);
    return true;
}

static void take_sack(struct scps_conn *c, const struct scps_seg *seg, scps_off ack, int64_t told,
                      struct scps_ack_sum *sum)
{
    struct scps_sack before = {0};
    unsigned i;

    c->st->sacks_in++;
    for (i = 0; i < seg->nsack; i++) {
        /* Every block is told several times, in case one is lost: it stands where it stood in the last report, or
         * another has come in before it. */
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

/* c may send now, unless its own rate, and nothing else, holds it: that has a timer. */
static inline void wake(struct scps_conn *c)
{
    if (c->hold != SCPS_HOLD_PACE || c->timer[SCPS_T_PACE] == SCPS_NEVER ||
        c->ctl.cwnd != SCPS_CWND_OPEN || !c->tx || c->tx->sb.lost)
        scps_conn_wake(c);
}

static inline void take_window(struct scps_conn *c, const struct scps_seg *seg, scps_off ack)
{
    uint64_t wnd = (uint64_t)seg->wnd << c->snd_wscale;
    int32_t newer = (int32_t)(seg->seq - c->wl1);

    if (newer < 0 || (newer == 0 && ack < c->wl2)) /* RFC 9293 section 3.10.7.4 */
        return;
    c->wl1 = seg->seq;
    c->wl2 = ack;
    if (c->edge == ack + wnd)
        return;
    c->edge = ack + wnd;
    if (c->nxt < scps_snd_fin_end(c))
        wake(c);
    c->max_wnd = (uint32_t)SCPS_MAX(c->max_wnd, wnd);
    if (!wnd)
        c->st->zero_windows_in++;
    scps_snd_window_changed(c);
}

static void measure(struct scps_conn *c, const struct scps_seg *seg, bool advanced,
                    const struct scps_ack_sum *sum, scps_dur newest)
{
    const struct scps_conn_config *cfg = &c->cfg->c;
    scps_time now = c->env->now;
    scps_dur sample = -1, window = min_window(c);

    if (sum->oldest_sent >= 0 && !sum->refilled)
        sample = now - sum->oldest_sent;
    else if (advanced && c->flags & SCPS_F_TS && seg->has & SCPS_HAS_TS && seg->tsecr)
        /* resent octets: only the echo tells which sending this is for (RFC 7323 section 4) */
        sample = (scps_dur)(scps_conn_tsval(c) - seg->tsecr) * 1000;
    if (sample >= 0 && sample < SCPS_SEC(INT64_C(86400) * 24)) {
        c->st->last_rtt = sample;
        c->tx->rto_shift = 0;
        scps_rtt_sample(&c->rtt, now, sample, cfg->rto_min, cfg->rto_max, window);
    }
    if (newest >= 0)
        scps_rtt_floor(&c->rtt, now, newest, window);
}

static bool all_sent(const struct scps_conn *c)
{
    return c->nxt >= scps_snd_fin_end(c);
}

/* Duplicates without SACK (RFC 5681 section 2): same number, no data, same window, something outstanding. told: its
 * SNACK has named what arrived, which need not be guessed. */
static void duplicate(struct scps_conn *c, bool told, struct scps_ack_sum *sum)
{
    struct scps_tx *tx = c->tx;
    uint32_t head = tx->sb.head, thresh = c->cfg->c.dupthresh;

    if (c->dupacks < UINT8_MAX)
        c->dupacks++;
    c->st->dupacks_in++;
    if (c->flags & SCPS_F_SACK)
        return;
    if (!told) {
        tx->virtual_arrived = SCPS_MIN(tx->virtual_arrived + c->mss, c->nxt - c->una);
        sum->delivered += c->mss;
    }
    if (all_sent(c)) /* early retransmit, RFC 5827 section 3.1 */
        thresh = SCPS_CLAMP(scps_sb_count(&tx->sb) - 1, 1u, thresh);
    if (scps_snack_on(c) && scps_sb_at(&tx->sb, head)->resends)
        return; /* its embargo runs (spec sheet 2.4), and the receiver names it if it is missing again */
    if (c->dupacks >= thresh && tx->rec.episode == SCPS_EPISODE_NONE)
        scps_sb_lose(&tx->sb, head, sum);
}

static void lost(struct scps_conn *c, struct scps_ack_sum *sum, enum scps_evidence evidence)
{
    if (!sum->lost)
        return;
    SCPS_NOTE_IT(c, LOST, c->una, sum->lost, scps_loss_cause_now(c), evidence);
    scps_recovery_lost(c, sum->lost, sum->delivered, evidence);
    sum->lost = 0;
}

/* Brakmo and Peterson (1995), section 3.1: at the first duplicate, and at the first two acknowledgements of progress after
 * a resend. */
static SCPS_APART void look_at_age(struct scps_conn *c, bool dup, bool advanced,
                                   struct scps_ack_sum *sum)
{
    if (!dup && !advanced)
        return;
    if (dup ? c->dupacks == 1 : c->tx->age_checks > 0)
        scps_loss_by_age(c, sum);
    if (!dup)
        c->tx->age_checks--;
    lost(c, sum, SCPS_BY_AGE);
}

/* An acknowledgement while something is outstanding; ack_in is where it points, ack that or the left edge. */
static void learn(struct scps_conn *c, const struct scps_seg *seg, int64_t ack_in, scps_off ack)
{
    scps_off before = c->una, old_edge = c->edge;
    struct scps_ack_sum sum = {.oldest_sent = -1};
    struct scps_cc_ack a = {.rtt = -1};
    struct scps_tx *tx = c->tx;
    bool snack = seg->has & SCPS_HAS_SNACK && c->caps & SCPS_CAP_SNACK1 && ack_in >= 0;
    bool advanced = ack > c->una, dup, told = false, jumped = false;

    sum.fack = tx->sb.hi_arrived;
    if (seg->has & SCPS_HAS_SACK && c->flags & SCPS_F_SACK)
        take_sack(c, seg, ack, ack_in, &sum);
    if (snack) {
        scps_snack_take(c, seg, (scps_off)ack_in, &sum);
        scps_snack_learn(c, &sum);
        told = sum.delivered && !(c->flags & SCPS_F_SACK);
        if (told && tx->virtual_arrived) { /* some of it has been counted with duplicates */
            uint64_t gone = SCPS_MIN(sum.delivered, tx->virtual_arrived);
            tx->virtual_arrived -= gone;
            sum.delivered -= gone;
        }
    }
    if (c->caps & SCPS_CAP_BETS) {
        jumped = (before && before == tx->gave_up_to) || tx->sb.hi_arrived > before || c->dupacks;
        if (scps_bets_pass(c, &ack))
            advanced = true;
    }
    if (advanced) {
        scps_sb_ack(&tx->sb, c->env->now, ack, scps_rtt_min(&c->rtt), &sum);
        c->una = ack;
        scps_sndbuf_release(&tx->buf, ack);
        tx->progress_at = c->env->now;
        c->backoff = 0;
        if (!(c->flags & (uint32_t)SCPS_F_OUTAGE)) /* there it is part of the schedule */
            c->probes = 0;
        c->soft_err = 0;
        c->flags &=
            ~(uint32_t)SCPS_F_MORE; /* it has waited while something was under way: long enough */
        if (c->flags & SCPS_F_FIN_SENT && ack == c->nxt && !(c->flags & SCPS_F_FIN_ACKED)) {
            c->flags |= SCPS_F_FIN_ACKED;
            c->st->fin_acked = c->env->now;
        }
        if (tx->virtual_arrived) { /* RFC 6582: less the segment that filled the hole */
            uint64_t gone = ack - before;
            gone = gone > c->mss ? gone - c->mss : 0;
            gone = SCPS_MIN(gone, tx->virtual_arrived);
            tx->virtual_arrived -= gone;
            sum.delivered -= SCPS_MIN(sum.delivered, gone); /* counted with its duplicate */
        }
    }
    if (ack_in >= (int64_t)before)
        take_window(c, seg, ack);
    c->st->last_ack_received = c->env->now;
    dup = ack_in == (int64_t)before && !seg->len && c->nxt > c->una && c->edge == old_edge &&
          !(seg->flags & (SCPS_SYN | SCPS_FIN)) && !(c->flags & SCPS_F_PERSIST);
    if (dup)
        duplicate(c, told, &sum);
    else if (advanced && tx->rec.episode == SCPS_EPISODE_NONE)
        c->dupacks = 0;

    if (sum.delivered)
        scps_delivery_sample(c, &sum, &a);
    if (advanced &&
        jumped) { /* over what was missing: filled or given up, it came late or not at all */
        sum.oldest_sent = -1;
        sum.refilled = true;
        a.rtt = -1;
    }
    measure(c, seg, advanced && !jumped, &sum, a.rtt);
    if (advanced) {
        SCPS_NOTE_IT(c, ACKED, c->una, c->una - before, a.rtt, a.rate);
    }
    if (sum.reordered)
        c->st->reordered++;

    if (tx->rec.episode != SCPS_EPISODE_NONE)
        scps_recovery_acked(c, &sum, before, seg);
    if (snack)
        lost(c, &sum, SCPS_BY_SNACK);
    if (scps_rack_on(c)) {
        scps_rack_ack(c, seg, dup, &sum);
        lost(c, &sum, SCPS_BY_RACK);
    } else if (c->flags & SCPS_F_SACK) {
        /* Where the receiver names its holes nothing is concluded from what SACK has not said yet, and when it has much
         * to say at a time others follow: what they say of a resent segment is worth waiting for. */
        bool names = c->caps & SCPS_CAP_SNACK1,
             wait =
                 names && ((snack && seg->snack_vec_len) || (scps_snack_late(c) && !all_sent(c)));
        if ((tx->sb.arrived_recs || tx->sb.resent_head != tx->sb.resent_tail) && !wait)
            scps_loss_by_order(&tx->sb, c->cfg->c.dupthresh, all_sent(c), names, &sum);
        lost(c, &sum, SCPS_BY_SACK);
    } else if (dup) {
        lost(c, &sum, SCPS_BY_DUPACK);
    } else if (advanced && tx->rec.episode == SCPS_EPISODE_FAST && c->nxt > c->una &&
               !(c->caps & SCPS_CAP_SNACK1)) {
        scps_sb_lose(&tx->sb, tx->sb.head,
                     &sum); /* RFC 6582 section 3.2, partial acknowledgement */
        lost(c, &sum, SCPS_BY_PARTIAL);
    }
    if ((dup || tx->age_checks) && c->cfg->c.cc->by_age && !scps_rack_on(c))
        look_at_age(c, dup, advanced, &sum);
    if (seg->flags & SCPS_ECE && c->flags & SCPS_F_ECN && !(seg->flags & SCPS_SYN)) {
        c->st->ecn_echoes++;
        if (tx->rec.episode == SCPS_EPISODE_NONE) {
            c->flags |= SCPS_F_CWR;
            scps_recovery_lost(c, 0, sum.delivered, SCPS_BY_ECN);
        }
    }
    if (sum.delivered)
        tx->silent = 0;
    if (sum.delivered && c->established) {
        struct scps_cc_view v;
        uint64_t cwnd = c->ctl.cwnd;
        a.in_recovery = tx->rec.episode == SCPS_EPISODE_FAST;
        a.rtt_old = sum.oldest_sent >= 0 && !sum.refilled ? c->env->now - sum.oldest_sent : 0;
        scps_cc_view_of(c, &v);
        c->cfg->c.cc->ack(c->cc_state, &v, &a, &c->ctl);
        if (!advanced && tx->rec.episode == SCPS_EPISODE_NONE)
            c->ctl.cwnd = SCPS_MIN(c->ctl.cwnd, cwnd); /* RFC 5681 section 3.2 (1), RFC 3042 */
        c->flags &= ~(uint32_t)SCPS_F_CWND_LIMITED;
        scps_cc_apply(c);
    }
    if (c->una == c->nxt) {
        if (!(c->flags & (SCPS_F_PERSIST | (uint32_t)SCPS_F_OUTAGE)))
            scps_timer_stop(c, SCPS_T_RTX);
        scps_timer_stop(c, SCPS_T_AGE);
        if (advanced && c->una == scps_snd_fin_end(c)) {
            if (c->una > 1) /* not for the SYN alone */
                scps_conn_tell(c, SCPS_EV_DRAINED);
            scps_timer_set(c, SCPS_T_AGE, c->env->now + 2 * c->rtt.rto);
        }
    } else if (advanced || (sum.delivered && tx->rec.episode == SCPS_EPISODE_FAST)) {
        /* RFC 6298 section 5.3; while repair goes on, anything that arrives shows that the path works */
        scps_snd_arm_rtx(c);
    }
    /* A quarter of the buffer, or 64 KiB: a buffer of one bandwidth-delay product must not run dry meanwhile. */
    if (advanced && c->flags & SCPS_F_WANT_ROOM &&
        c->cfg->c.sndbuf - (c->end - c->una) >= SCPS_MIN(c->cfg->c.sndbuf / 4, 65536u))
        scps_conn_tell(c, SCPS_EV_WRITABLE);
    wake(c);
}

bool scps_ackin(struct scps_conn *c, const struct scps_seg *seg)
{
    int64_t ack_in = scps_seq_unwrap(c->iss, c->una, seg->ack);
    scps_off ack = (scps_off)ack_in;

    if (ack_in > (int64_t)c->nxt)
        return false;
    if (c->flags & (uint32_t)SCPS_F_OUTAGE)
        scps_outage_heard(c);
    if (seg->has & SCPS_HAS_CORRUPTION && c->flags & SCPS_F_CAPS)
        scps_outage_cause(
            c, SCPS_LOSS_CORRUPTION,
            c->env->now + (c->cfg->c.corruption_hold ? c->cfg->c.corruption_hold : 2 * c->rtt.rto));
    c->flags |= SCPS_F_HEARD; /* whatever it says: a closed window that is answered may stay so */
    if (ack_in < (int64_t)c->una) { /* old news, but its SACK blocks may be new to us */
        ack = c->una;
        if (c->tx && c->caps & SCPS_CAP_BETS && ack_in >= (int64_t)c->tx->peer_una &&
            c->una == c->tx->gave_up_to) { /* our left edge is ahead of the peer's: it is not old */
            c->tx->peer_una = (scps_off)ack_in;
            take_window(c, seg, c->tx->peer_una);
        }
        bool reports = (c->flags & SCPS_F_SACK && seg->has & SCPS_HAS_SACK) ||
                       (c->caps & SCPS_CAP_SNACK1 && seg->has & SCPS_HAS_SNACK);
        if (!c->tx || !reports)
            return true;
    }
    if (!c->tx || (ack == c->una && c->una == c->nxt))
        take_window(c, seg, ack); /* nothing outstanding: that is all it can tell */
    else
        learn(c, seg, ack_in, ack);
    return true;
}
