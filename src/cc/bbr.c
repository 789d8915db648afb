/* SPDX-License-Identifier: MIT */
/* BBR: handles the events of a connection, and sets from the model (bbr.h) the rate, the window and
 * the size of bursts.
 *
 * Source: draft-ietf-ccwg-bbr-06, sections "Updating Control Parameters", "Restarting From Idle",
 * "Updating the Model Upon Packet Loss" and "Updating the Model Upon Detecting a Spurious Loss
 * Recovery".
 *
 * The draft handles each lost packet P separately. Here all bytes that one acknowledgement declares
 * lost are handled as one packet, as the draft does with an offload burst.
 *
 * Differences from the draft: the pacing rate has a minimum (pace()); losses that corruption or an
 * outage of the link has caused leave the model unchanged (parameters corruption and outage); and
 * there are parameters that are off by default: long-rtt-start and base-loss (bbr_start.c),
 * rtt-refresh and probe-rtt-rounds (bbr_model.c), probe-bw-rounds (bbr_state.c).
 */
#include "cc/bbr.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "cc/cc.h"

/* ---- functions that set the outputs: pacing rate, window and burst size ---- */

/* Returns the rate, bytes/s, that sends `percent` of `bytes` in a smoothed round trip. As in the
 * draft's BBRInitPacingRate() an unknown round trip counts as 1 ms. */
static uint64_t per_round_trip(const struct scps_cc_view *v, uint64_t bytes, unsigned percent)
{
    uint64_t srtt = v->srtt ? (uint64_t)v->srtt : 1000;

    return SCPS_MAX(scps_muldiv(bytes, percent * 10000, srtt), 1);
}

/* Sets the pacing rate to `percent` per cent of the bandwidth: BBRSetPacingRateWithGain() of the
 * draft, with two additions that prevent a connection from stopping for ever. While no delivery
 * rate has been measured, the rate stays unchanged. And the rate is never below one segment in a
 * round trip, which is what the loss window of RFC 5681 section 3.1 allows: since the rate limits
 * the delivery rate, from which the model is computed, a rate of a few bytes/s would never rise
 * again. */
static void pace(const struct scps_bbr_ctx *x, unsigned percent)
{
    struct scps_bbr *b = x->b;
    uint64_t bw = scps_bbr_bw(b), rate = scps_muldiv(bw, percent * 99, 10000);

    rate = SCPS_MAX(rate, b->resume_bw);
    if ((b->full_bw_reached && bw) || rate > b->pacing_rate)
        b->pacing_rate = SCPS_MAX(rate, per_round_trip(x->v, x->v->mss, 100));
    x->ctl->rate = b->pacing_rate;
}

/* tell_phase() adds BBR's state to a phase, so enum scps_cc_phase must list BBR's phases in the
 * order of enum scps_bbr_state. */
_Static_assert(SCPS_PHASE_STARTUP + SCPS_BBR_PROBE_RTT == SCPS_PHASE_PROBE_RTT, "phases by state");
static void tell_phase(const struct scps_bbr_ctx *x)
{
    x->ctl->phase = SCPS_PHASE_STARTUP + x->b->state;
}

static void set_send_quantum(const struct scps_bbr_ctx *x)
{
    uint64_t quantum = SCPS_MIN(x->b->pacing_rate / 1000, 65536);

    x->ctl->quantum = (uint32_t)SCPS_MAX(quantum, 2 * (uint64_t)x->v->mss);
}

static void bound_cwnd_for_model(const struct scps_bbr_ctx *x)
{
    const struct scps_bbr *b = x->b;
    uint64_t cap = SCPS_BBR_INFINITE;

    if (scps_bbr_in_probe_bw(b) && b->state != SCPS_BBR_CRUISE)
        cap = b->inflight_longterm;
    else if (b->state == SCPS_BBR_PROBE_RTT || b->state == SCPS_BBR_CRUISE)
        cap = scps_bbr_with_headroom(x);
    cap = SCPS_MIN(cap, b->inflight_shortterm);
    cap = SCPS_MAX(cap, scps_bbr_min_pipe(x->v));
    x->ctl->cwnd = SCPS_MIN(x->ctl->cwnd, cap);
}

static void set_cwnd(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;
    struct scps_cc_ctl *ctl = x->ctl;
    uint64_t most, grown = x->rs.newly_acked;

    most = SCPS_MAX(scps_bbr_bw(b), b->resume_bw);
    most = scps_bbr_bdp(x, most, scps_bbr_gain[b->state].cwnd) + b->extra_acked;
    most = scps_bbr_quantization_budget(x, most);
    /* During the jump of careful resume (RFC 9959) the window rises at once to what the saved rate
     * needs, instead of growing by the bytes acknowledged. */
    if (b->resume_bw)
        ctl->cwnd = SCPS_MAX(ctl->cwnd, most);
    if (b->full_bw_reached)
        ctl->cwnd = SCPS_MIN(ctl->cwnd + grown, most);
    else if (ctl->cwnd < most || x->v->delivered < x->v->init_cwnd)
        ctl->cwnd += grown;
    ctl->cwnd = SCPS_MAX(ctl->cwnd, scps_bbr_min_pipe(x->v));
    if (b->state == SCPS_BBR_PROBE_RTT)
        ctl->cwnd = SCPS_MIN(ctl->cwnd, scps_bbr_probe_rtt_cwnd(x));
    bound_cwnd_for_model(x);
    ctl->ssthresh = b->full_bw_reached ? ctl->cwnd : UINT64_MAX;
}

/* ---- functions for the events of a connection ---- */

enum { CORRUPTION, OUTAGE, LONG_START, BASE_LOSS, RTT_REFRESH, PROBE_RTT_ROUNDS, PROBE_BW_ROUNDS };

static void begin(struct scps_bbr *b, const struct scps_cc_view *v, struct scps_cc_ctl *ctl)
{
    const bool corruption = b->heed_corruption, outage = b->heed_outage, fast = b->long_start;
    const bool base_loss = b->base_loss_on, refresh = b->rtt_refresh;
    const uint8_t rtt_rounds = b->probe_rtt_rounds, bw_rounds = b->probe_bw_rounds;

    *b = (struct scps_bbr){.heed_corruption = corruption, .heed_outage = outage};
    b->long_start = fast;
    b->base_loss_on = base_loss;
    b->rtt_refresh = refresh;
    b->probe_rtt_rounds = rtt_rounds;
    b->probe_bw_rounds = bw_rounds;
    b->has_sack = true;
    b->min_rtt = v->srtt ? v->srtt : SCPS_NEVER;
    b->probe_rtt_min_delay = SCPS_NEVER;
    b->min_rtt_stamp = b->probe_rtt_min_stamp = b->extra_acked_start = b->heard_at = v->now;
    b->undo_state = SCPS_BBR_NONE;
    b->inflight_longterm = b->probe_up_acked_per_inc = SCPS_BBR_INFINITE;
    b->next_round_delivered = b->loss_round_delivered = v->delivered;
    b->random = (uint64_t)v->random << 32 | 0x9e3779b9;
    scps_bbr_reset_shortterm(b);
    scps_bbr_enter_startup(b);
    ctl->cwnd = v->init_cwnd;
    ctl->ssthresh = UINT64_MAX;
    b->pacing_rate = per_round_trip(v, v->init_cwnd, scps_bbr_gain[SCPS_BBR_STARTUP].pacing);
    ctl->rate = b->pacing_rate;
    ctl->phase = SCPS_PHASE_STARTUP;
    set_send_quantum(&(struct scps_bbr_ctx){.b = b, .v = v, .ctl = ctl});
    if (fast)
        /* The parameter long-rtt-start is 1: the initial window is sent back to back, because
         * scps_bbr_long_start() measures the bottleneck's rate from the spacing of the ACKs for
         * it. */
        ctl->quantum = v->init_cwnd;
}

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct scps_bbr *b = s;

    b->heed_corruption = !param || param[CORRUPTION];
    b->heed_outage = !param || param[OUTAGE];
    b->long_start = param && param[LONG_START];
    b->base_loss_on = param && param[BASE_LOSS];
    b->rtt_refresh = param && param[RTT_REFRESH];
    b->probe_rtt_rounds = param ? (uint8_t)param[PROBE_RTT_ROUNDS] : 0;
    b->probe_bw_rounds = param ? (uint8_t)param[PROBE_BW_ROUNDS] : 0;
    begin(b, v, ctl);
}

/* Returns how many of `lost` bytes count as lost by congestion: all except those that were lost by
 * corruption or an outage in this round trip and the previous one (b->excused). */
static uint64_t at_fault(const struct scps_bbr *b, uint64_t lost)
{
    return lost - SCPS_MIN(lost, b->excused[0] + b->excused[1]);
}

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct scps_bbr *b = s;
    struct scps_bbr_ctx x = {.b = b, .v = v, .ctl = ctl};

    x.rs = (struct scps_bbr_sample){.rate = a->sample_bytes ? a->rate : 0,
                                    .delivered = a->sample_bytes,
                                    .prior_delivered = a->prior_delivered,
                                    .tx_in_flight = a->tx_in_flight,
                                    .lost = at_fault(b, a->lost_since),
                                    .newly_acked = a->bytes,
                                    .rtt = a->rtt,
                                    .has_data = a->sample_bytes > 0};
    x.rs.app_limited = a->app_limited || (b->marked_to && a->prior_delivered >= b->marked_from &&
                                          a->prior_delivered <= b->marked_to);
    b->limited |= v->cwnd_limited;
    b->heard_at = v->now;
    if (a->marked)
        scps_bbr_note_loss(&x);
    scps_bbr_learn(&x);
    scps_bbr_move(&x);
    scps_bbr_min_rtt(&x);
    scps_bbr_check_probe_rtt(&x);
    scps_bbr_advance(&x);
    if (b->long_start && b->state == SCPS_BBR_STARTUP)
        scps_bbr_long_start(&x, a);
    pace(&x, scps_bbr_gain[b->state].pacing);
    if (b->base_loss_on)
        scps_bbr_measure_base_loss(&x);
    set_send_quantum(&x);
    set_cwnd(&x);
    tell_phase(&x);
}

/* Returns how many bytes were in flight when the share of lost bytes passed `thresh`, ppm:
 * BBRInflightAtLoss() of the draft. rs->tx_in_flight and rs->lost count up to the end of the last
 * lost segment, which has `size` bytes. The share passed the threshold somewhere in this segment;
 * the result counts up to that octet. */
static uint64_t inflight_at_loss(const struct scps_bbr_sample *rs, uint64_t thresh, uint64_t size)
{
    uint64_t prev = rs->tx_in_flight - SCPS_MIN(size, rs->tx_in_flight);
    uint64_t lost = rs->lost - SCPS_MIN(size, rs->lost);
    uint64_t allowed = scps_muldiv(prev, thresh, 1000000);

    if (lost >= allowed)
        return prev;
    return prev + scps_muldiv(allowed - lost, 1000000, 1000000 - thresh);
}

/* Called for an ECN echo. The echo counts as a single lost packet (RFC 3168 section 5). In Startup
 * it ends that state; while BBR probes for bandwidth, it counts as losses above the threshold. */
static void marked(struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    scps_bbr_note_loss(x);
    b->startup_loss = b->state == SCPS_BBR_STARTUP;
    x->rs.tx_in_flight = x->v->inflight;
    if (b->is_bw_probe_sample)
        scps_bbr_handle_too_high(x);
}

/* Returns true if a loss with this cause must not change the model: corruption with the parameter
 * corruption=1, an outage with the parameter outage=1. */
static bool spared(const struct scps_bbr *b, enum scps_loss_cause cause)
{
    return (b->heed_corruption && cause == SCPS_LOSS_CORRUPTION) ||
           (b->heed_outage && cause == SCPS_LOSS_OUTAGE);
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct scps_bbr *b = s;
    struct scps_bbr_ctx x = {.b = b, .v = v, .ctl = ctl};

    if (l->new_episode) {
        scps_bbr_save_upon_loss(&x);
        b->recovering = true;
        b->recovery_round = b->round_count;
    }
    if (l->evidence == SCPS_BY_ECN) {
        marked(&x);
        return;
    }
    if (spared(b, l->cause)) {
        b->excused[1] += l->bytes;
        return;
    }
    b->has_sack = l->evidence != SCPS_BY_DUPACK && l->evidence != SCPS_BY_PARTIAL;
    if (b->state == SCPS_BBR_STARTUP) {
        b->startup_ranges = (uint8_t)SCPS_MIN(b->startup_ranges + l->ranges, UINT8_MAX);
        b->startup_loss |= !b->has_sack && !l->new_episode;
    }
    scps_bbr_note_loss(&x);
    x.rs.tx_in_flight = l->tx_in_flight;
    x.rs.lost = at_fault(b, l->lost_since);
    x.rs.app_limited = l->app_limited;
    /* Careful resume (RFC 9959): during the jump (sending at the saved rate), before
     * acknowledgements have validated that rate, more losses than the threshold end Startup at
     * once. */
    if (b->resuming && b->state == SCPS_BBR_STARTUP && scps_bbr_too_high(&x))
        scps_bbr_abandon_startup(&x);
    if (!b->is_bw_probe_sample)
        return;
    if (!scps_bbr_too_high(&x))
        return;
    x.rs.tx_in_flight = inflight_at_loss(&x.rs, scps_bbr_loss_thresh(b), l->bytes);
    scps_bbr_handle_too_high(&x);
}

static void timed_out(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (spared(b, x->v->cause))
        /* A retransmission timeout that corruption or an outage of the link has caused leaves model
         * and cwnd unchanged. cwnd need not be reduced, because data is sent at the pacing rate
         * after the timeout, too. */
        return;
    scps_bbr_save_cwnd(x);
    /* Of several timeouts in a row only the first one saves the state for undo_spurious(), so that
     * an undo restores the state from before all of them. */
    if (!b->recovering)
        scps_bbr_save_upon_loss(x);
    b->recovering = true;
    b->recovery_round = b->round_count;
    b->is_loss_in_round = true;
    b->loss_round_delivered = x->v->delivered;
    x->ctl->cwnd = x->v->inflight + x->v->mss;
}

static void restore_bounds(struct scps_bbr *b)
{
    b->is_loss_in_round = false;
    b->bw_shortterm = SCPS_MAX(b->bw_shortterm, b->undo_bw_shortterm);
    b->inflight_shortterm = SCPS_MAX(b->inflight_shortterm, b->undo_inflight_shortterm);
    b->inflight_longterm = SCPS_MAX(b->inflight_longterm, b->undo_inflight_longterm);
}

/* Called when the last recovery episode was spurious: HandleSpuriousLossDetection() of the draft.
 * Restores cwnd and the limits from before the episode, and returns to Startup or to a probe for
 * bandwidth if the loss has ended it. */
static void undo_spurious(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    b->recovering = false;
    scps_bbr_restore_cwnd(x);
    scps_bbr_reset_full_bw(b);
    restore_bounds(b);
    if (b->undo_state == SCPS_BBR_STARTUP && b->state != SCPS_BBR_STARTUP) {
        b->full_bw_reached = false;
        if (b->state != SCPS_BBR_PROBE_RTT)
            scps_bbr_enter_startup(b);
    } else if (b->undo_state == SCPS_BBR_UP && b->state != SCPS_BBR_UP &&
               b->state != SCPS_BBR_PROBE_RTT) {
        scps_bbr_enter_refill(x);
    }
    b->undo_state = SCPS_BBR_NONE;
}

/* Called when an outage of the link is over. With the parameter outage=1 the model continues as if
 * the outage had taken no time (its timestamps are moved by the outage's length), and the data
 * outstanding does not count as lost by congestion. Without it: does nothing. */
static void link_up(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;
    scps_dur out = x->v->now - b->heard_at;

    if (!b->heed_outage)
        return;
    b->min_rtt_stamp += out;
    b->probe_rtt_min_stamp += out;
    b->extra_acked_start += out;
    b->cycle_stamp += out;
    if (b->probe_rtt_done_stamp)
        b->probe_rtt_done_stamp += out;
    b->heard_at = x->v->now;
    if (b->recovering) {
        scps_bbr_restore_cwnd(x);
        restore_bounds(b);
    }
    b->excused[1] += x->v->outstanding;
    if (x->v->delivered) {
        /* Rate samples that began before the outage count as app-limited, because their time
         * includes the outage. */
        b->marked_from = 0;
        b->marked_to = x->v->delivered - 1;
    }
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct scps_bbr *b = s;
    struct scps_bbr_ctx x = {.b = b, .v = v, .ctl = ctl};

    switch (what) {
    case SCPS_CC_RTO:
        timed_out(&x);
        break;
    case SCPS_CC_SPURIOUS:
        undo_spurious(&x);
        break;
    case SCPS_CC_RECOVERED:
        b->recovering = false;
        scps_bbr_restore_cwnd(&x);
        break;
    case SCPS_CC_LINK_UP:
        link_up(&x);
        break;
    case SCPS_CC_PATH:
        begin(b, v, ctl);
        break;
    /* Nothing is done here: on_sent() handles the restart from idle. */
    case SCPS_CC_IDLE:
        break;
    }
    tell_phase(&x);
}

/* Called when a segment is sent: HandleRestartFromIdle() of the draft. Has an effect only if
 * nothing was in flight because the application had sent too little: then ProbeBW continues at the
 * estimated bandwidth (pacing gain 1), and ProbeRTT ends if its time is over. */
static void on_sent(void *s, const struct scps_cc_view *v, const struct scps_cc_sent *p,
                    struct scps_cc_ctl *ctl)
{
    struct scps_bbr *b = s;
    struct scps_bbr_ctx x = {.b = b, .v = v, .ctl = ctl};

    (void)p;
    if (v->inflight || !v->app_limited)
        return;
    b->idle_restart = true;
    b->extra_acked_start = v->now;
    if (scps_bbr_in_probe_bw(b))
        pace(&x, 100);
    else if (b->state == SCPS_BBR_PROBE_RTT)
        scps_bbr_probe_rtt_done(&x);
}

static const struct scps_cc_param params[] = {
    {"corruption", "1: a loss by corruption does not change the model; 0: it does, like any other",
     1, 0, 1},
    {"outage", "1: neither the time of an outage nor its losses change the model; 0: both do", 1, 0,
     1},
    {"long-rtt-start",
     "1: with an RTT of 200 ms or more begin at the rate that the first ACKs show; 0: do not", 0, 0,
     1},
    {"base-loss", "1: allow the loss rate of rounds without a queue in addition to 2 %; 0: do not",
     0, 0, 1},
    {"rtt-refresh",
     "1: a round trip within 1/64 of the least renews it, and no ProbeRTT is due; 0: not", 0, 0, 1},
    {"probe-rtt-rounds",
     "N: ProbeRTT is due after 5 s or N round trips, whichever is later; 0: after 5 s (the draft)",
     0, 0, 255},
    {"probe-bw-rounds",
     "N: probes are 2 s and at random up to N round trips apart; 0: 2 s to 3 s (the draft)", 0, 0,
     255},
    {0}};

const struct scps_cc_ops scps_cc_bbr = {
    .name = "bbr",
    .help = "BBRv3 (draft-ietf-ccwg-bbr-06): rate and window from a model of the path",
    .state_size = sizeof(struct scps_bbr),
    .params = params,
    .payload_rate = true,
    .own_recovery = true,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .on_sent = on_sent,
    .resume = scps_bbr_resume,
};
