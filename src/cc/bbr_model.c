/* SPDX-License-Identifier: MIT */
/* BBR's model of the path, and how acknowledgements and losses change it.
 *
 * Source: draft-ietf-ccwg-bbr-06, section "Updating Network Path Model Parameters"; the functions
 * are in its order.
 *
 * The draft does not define the reaction to ECN: "the congestion controller response MUST treat any
 * CE marks as congestion". Here an ECN echo counts as a loss in its round trip; in Startup it ends
 * that state, and while BBR probes for bandwidth it counts as losses above the threshold.
 */
#include "cc/bbr.h"

#include "base/bytes.h"
#include "base/wide.h"

/* Called at the first value of a new round trip: makes `round` the newest round trip of the maximum
 * m, and removes the values of the round trips that are no longer among the latest `len`. */
static void move_window(struct scps_bbr_max *m, uint32_t round, uint32_t len)
{
    uint32_t gone = SCPS_MIN(round - m->round, SCPS_BBR_EXTRA_ACKED_LEN);

    m->max = 0;
    for (uint32_t i = 0; i < SCPS_BBR_EXTRA_ACKED_LEN; i++) {
        uint64_t *value = &m->value[(round - i) % SCPS_BBR_EXTRA_ACKED_LEN];
        if (i < gone || i >= len)
            *value = 0;
        m->max = SCPS_MAX(m->max, *value);
    }
    m->round = round;
}

void scps_bbr_max_update(struct scps_bbr_max *m, uint64_t value, uint32_t round, uint32_t len)
{
    uint64_t *mine = &m->value[round % SCPS_BBR_EXTRA_ACKED_LEN];

    if (round != m->round)
        move_window(m, round, len);
    *mine = SCPS_MAX(*mine, value);
    m->max = SCPS_MAX(m->max, value);
}

void scps_bbr_reset_signals(struct scps_bbr *b)
{
    b->is_loss_in_round = false;
    b->bw_latest = b->inflight_latest = 0;
}

void scps_bbr_reset_shortterm(struct scps_bbr *b)
{
    b->bw_shortterm = b->inflight_shortterm = SCPS_BBR_INFINITE;
}

void scps_bbr_reset_full_bw(struct scps_bbr *b)
{
    b->full_bw = 0;
    b->full_bw_count = 0;
    b->full_bw_now = false;
}

/* ---- functions that count rounds: one is a round trip, measured in delivered data ---- */

void scps_bbr_start_round(const struct scps_bbr_ctx *x)
{
    x->b->next_round_delivered = x->v->delivered;
}

static void update_round(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    b->round_start = x->rs.has_data && x->rs.prior_delivered >= b->next_round_delivered;
    if (!b->round_start)
        return;
    scps_bbr_start_round(x);
    b->round_count++;
    b->rounds_since_probe_up++;
    b->was_limited = b->limited;
    b->limited = false;
    b->excused[0] = b->excused[1];
    b->excused[1] = 0;
}

/* ---- functions that estimate the bandwidth: the maximum delivery rate ---- */

static void update_max_bw(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    update_round(x);
    if (b->resuming && b->state == SCPS_BBR_DRAIN)
        /* While careful resume is in progress, rates measured in the state Drain "MUST be
         * discarded" (RFC 9959). */
        return;
    if (x->rs.rate && (x->rs.rate >= b->max_bw || !x->rs.app_limited)) {
        b->bw_filter[1] = SCPS_MAX(b->bw_filter[1], x->rs.rate);
        b->max_bw = SCPS_MAX(b->bw_filter[0], b->bw_filter[1]);
    }
}

void scps_bbr_advance_max_bw(struct scps_bbr *b)
{
    if (!b->bw_filter[1])
        /* The ProbeBW cycle that ends has had no rate sample, so bw_filter[0] keeps the maximum of
         * the cycle before it. */
        return;
    b->bw_filter[0] = b->bw_filter[1];
    b->bw_filter[1] = 0;
}

/* ---- functions that estimate the aggregation of acknowledgements, extra_acked ---- */

static void update_ack_aggregation(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;
    scps_dur interval = x->v->now - b->extra_acked_start;
    uint64_t expected = scps_muldiv(b->bw, (uint64_t)interval, 1000000);

    if (b->extra_acked_delivered <= expected) {
        b->extra_acked_delivered = 0;
        b->extra_acked_start = x->v->now;
        expected = 0;
    }
    b->extra_acked_delivered += x->rs.newly_acked;
    scps_bbr_max_update(&b->extra_acked_filter,
                        SCPS_MIN(b->extra_acked_delivered - expected, x->ctl->cwnd), b->round_count,
                        b->full_bw_reached ? SCPS_BBR_EXTRA_ACKED_LEN : 1);
    b->extra_acked = b->extra_acked_filter.max;
}

/* ---- functions that change the model after losses ---- */

void scps_bbr_save_upon_loss(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    scps_bbr_save_cwnd(x);
    b->undo_state = SCPS_BBR_NONE;
    b->undo_bw_shortterm = b->bw_shortterm;
    b->undo_inflight_shortterm = b->inflight_shortterm;
    b->undo_inflight_longterm = b->inflight_longterm;
}

void scps_bbr_note_loss(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (!b->is_loss_in_round) {
        b->loss_round_delivered = x->v->delivered;
        scps_bbr_save_upon_loss(x);
    }
    b->is_loss_in_round = true;
}

bool scps_bbr_too_high(const struct scps_bbr_ctx *x)
{
    uint64_t allowed = scps_muldiv(x->rs.tx_in_flight, scps_bbr_loss_thresh(x->b), 1000000);

    return (x->rs.lost > allowed && !scps_bbr_base_loss_explains(x)) ||
           (x->rs.lost && !x->b->has_sack);
}

static uint64_t beta(uint64_t now)
{
    return scps_muldiv(now, SCPS_BBR_BETA, 100);
}

static void adapt_lower_bounds(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (scps_bbr_is_probing(b) || !b->is_loss_in_round)
        return;
    /* With the parameter base-loss=1 and a measured loss rate of the link (b->base_loss, from round
     * trips without a queue), losses that this rate explains do not change the model. */
    if (b->base_loss && !scps_bbr_too_high(x))
        return;
    if (b->bw_shortterm == SCPS_BBR_INFINITE)
        b->bw_shortterm = b->max_bw;
    if (b->inflight_shortterm == SCPS_BBR_INFINITE)
        b->inflight_shortterm = x->ctl->cwnd;
    b->bw_shortterm = SCPS_MAX(b->bw_latest, beta(b->bw_shortterm));
    b->inflight_shortterm = SCPS_MAX(b->inflight_latest, beta(b->inflight_shortterm));
}

/* ---- functions for the steps of processing an acknowledgement ---- */

static void check_full_bw_reached(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (b->full_bw_now || !b->round_start || x->rs.app_limited)
        return;
    if (x->rs.rate >= b->full_bw + b->full_bw / 4) {
        scps_bbr_reset_full_bw(b);
        b->full_bw = x->rs.rate;
        return;
    }
    b->full_bw_now = ++b->full_bw_count >= 3;
    if (b->full_bw_now)
        b->full_bw_reached = true;
}

void scps_bbr_learn(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    b->bw_latest = SCPS_MAX(b->bw_latest, x->rs.rate);
    b->inflight_latest = SCPS_MAX(b->inflight_latest, x->rs.delivered);
    b->loss_round_start = x->rs.has_data && x->rs.prior_delivered >= b->loss_round_delivered;
    if (b->loss_round_start)
        b->loss_round_delivered = x->v->delivered;
    update_max_bw(x);
    if (b->loss_round_start) {
        adapt_lower_bounds(x);
        b->is_loss_in_round = false;
    }
    update_ack_aggregation(x);
    check_full_bw_reached(x);
}

/* Returns the draft's BBR.ProbeRTTInterval ("the minimum time interval between ProbeRTT states"),
 * µs: 5 s as in the draft. With the parameter probe-rtt-rounds=N it is at least N times the
 * smallest RTT of the path, because with an RTT of more than 5 s the draft's BBR would always be in
 * ProbeRTT. */
static scps_dur probe_rtt_gap(const struct scps_bbr *b)
{
    return SCPS_MAX(SCPS_BBR_PROBE_RTT_GAP, b->probe_rtt_rounds * b->least_rtt);
}

void scps_bbr_min_rtt(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;
    scps_time now = x->v->now;
    scps_dur gap;

    if (x->rs.rtt > 0 && (!b->least_rtt || x->rs.rtt < b->least_rtt))
        b->least_rtt = x->rs.rtt;
    gap = probe_rtt_gap(b);
    b->probe_rtt_expired = now > b->probe_rtt_min_stamp + gap;
    if (x->rs.rtt >= 0 && (x->rs.rtt < b->probe_rtt_min_delay || b->probe_rtt_expired)) {
        b->probe_rtt_min_delay = x->rs.rtt;
        b->probe_rtt_min_stamp = now;
    } else if (b->rtt_refresh && x->rs.rtt >= 0 &&
               x->rs.rtt <= b->probe_rtt_min_delay + b->probe_rtt_min_delay / 64) {
        /* Parameter rtt-refresh=1 (not in the draft): an RTT at most 1/64 above the smallest one
         * shows that there is no queue, which ProbeRTT would have to find out, so the next ProbeRTT
         * is postponed. If the path has become longer, no such RTT comes, and the old minimum
         * expires. */
        b->probe_rtt_min_stamp = now;
        if (x->rs.rtt <= b->min_rtt + b->min_rtt / 64)
            b->min_rtt_stamp = now;
    }
    if (b->probe_rtt_min_delay < b->min_rtt || now > b->min_rtt_stamp + 2 * gap) {
        b->min_rtt = b->probe_rtt_min_delay;
        b->min_rtt_stamp = b->probe_rtt_min_stamp;
    }
}

void scps_bbr_advance(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (b->loss_round_start) {
        b->bw_latest = x->rs.rate;
        b->inflight_latest = x->rs.delivered;
    }
    b->bw = SCPS_MIN(b->max_bw, b->bw_shortterm);
}
