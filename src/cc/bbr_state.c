/* SPDX-License-Identifier: MIT */
/* BBR's states and the transitions between them: draft-ietf-ccwg-bbr-06, section "State Machine
 * Operation". */
#include "cc/bbr.h"

#include "base/bytes.h"
#include "base/wide.h"

/* Returns a random number below n by xorshift64*, seeded by the connection's random number. */
static uint64_t below(struct scps_bbr *b, uint64_t n)
{
    b->random ^= b->random >> 12;
    b->random ^= b->random << 25;
    b->random ^= b->random >> 27;
    return (b->random * UINT64_C(0x2545F4914F6CDD1D) >> 32) % n;
}

/* ---- functions of the states Startup and Drain ---- */

void scps_bbr_enter_startup(struct scps_bbr *b)
{
    b->state = SCPS_BBR_STARTUP;
}

static void enter_drain(struct scps_bbr *b)
{
    b->state = SCPS_BBR_DRAIN;
    b->drain_start_round = b->round_count;
}

/* Returns true if losses end Startup. Either startup_loss is true: an ECN echo arrived (one is
 * enough, because echoes come at most once in a round trip). Or in a round trip of fast recovery at
 * least SCPS_BBR_FULL_LOSS_CNT separate ranges of data were lost, and more bytes than the loss
 * threshold of BBR allows (scps_bbr_too_high()). */
static bool startup_high_loss(const struct scps_bbr_ctx *x)
{
    const struct scps_bbr *b = x->b;

    if (b->startup_loss)
        return true;
    /* With the parameter base-loss=1: if the smallest RTT of this round trip is about min_rtt,
     * there was no queue, so the losses are taken for losses of the link itself and do not end
     * Startup. */
    if (scps_bbr_no_queue(x))
        return false;
    return b->loss_round_start && b->recovering && b->round_count > b->recovery_round &&
           b->startup_ranges >= SCPS_BBR_FULL_LOSS_CNT && scps_bbr_too_high(x);
}

/* Ends the state Startup because of losses: the pipe counts as full (BBR.full_bw_reached of the
 * draft). */
static void full_by_loss(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    b->undo_state = SCPS_BBR_STARTUP;
    b->full_bw_now = b->full_bw_reached = true;
    b->inflight_longterm = SCPS_MAX(scps_bbr_bdp(x, b->bw, 100), b->inflight_latest);
}

void scps_bbr_abandon_startup(const struct scps_bbr_ctx *x)
{
    full_by_loss(x);
    enter_drain(x->b);
}

static void check_startup_high_loss(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;
    bool high = startup_high_loss(x);

    if (b->loss_round_start)
        b->startup_ranges = 0;
    b->startup_loss = false;
    if (high && !b->full_bw_reached)
        full_by_loss(x);
}

static void check_startup_done(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (b->state != SCPS_BBR_STARTUP)
        return;
    check_startup_high_loss(x);
    if (b->full_bw_reached)
        enter_drain(b);
}

/* ---- functions of the state ProbeBW ---- */

/* Chooses the time until the next probe for bandwidth. Its random part is up to 1 s as in the draft
 * or, with the parameter probe-bw-rounds=N (not in the draft), up to N times the smallest RTT, if
 * that is longer. */
static void pick_probe_wait(struct scps_bbr *b)
{
    scps_dur spread = SCPS_MAX(SCPS_SEC(1), b->probe_bw_rounds * b->least_rtt);

    b->rounds_since_probe_up = (uint32_t)below(b, 2);
    b->bw_probe_wait = SCPS_SEC(2) + (scps_dur)below(b, (uint64_t)spread);
}

static void enter_down(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    scps_bbr_reset_signals(b);
    b->probe_up_acked_per_inc = SCPS_BBR_INFINITE;
    pick_probe_wait(b);
    b->cycle_stamp = x->v->now;
    b->ack_phase = SCPS_BBR_ACKS_PROBE_STOPPING;
    scps_bbr_start_round(x);
    b->state = SCPS_BBR_DOWN;
}

void scps_bbr_enter_refill(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    scps_bbr_reset_shortterm(b);
    b->bw_probe_up_rounds = 0;
    b->bw_probe_up_acked = 0;
    b->prev_probe_precautionary = false;
    b->ack_phase = SCPS_BBR_ACKS_REFILLING;
    scps_bbr_start_round(x);
    b->state = SCPS_BBR_REFILL;
}

static void raise_longterm_slope(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;
    uint64_t growth = UINT64_C(1) << b->bw_probe_up_rounds;

    b->bw_probe_up_rounds = (uint8_t)SCPS_MIN(b->bw_probe_up_rounds + 1, 30);
    b->probe_up_acked_per_inc = SCPS_MAX(x->ctl->cwnd / growth, x->v->mss);
}

static void enter_up(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    b->ack_phase = SCPS_BBR_ACKS_PROBE_STARTING;
    scps_bbr_start_round(x);
    scps_bbr_reset_full_bw(b);
    b->full_bw = x->rs.rate;
    b->state = SCPS_BBR_UP;
    raise_longterm_slope(x);
}

static bool cwnd_limited(const struct scps_bbr *b)
{
    return b->limited || b->was_limited;
}

static void probe_longterm_upward(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (!cwnd_limited(b) || x->ctl->cwnd < b->inflight_longterm)
        return;
    b->bw_probe_up_acked += x->rs.newly_acked;
    if (b->bw_probe_up_acked >= b->probe_up_acked_per_inc) {
        uint64_t delta = b->bw_probe_up_acked / b->probe_up_acked_per_inc;
        b->bw_probe_up_acked -= delta * b->probe_up_acked_per_inc;
        b->inflight_longterm += delta * x->v->mss;
    }
    if (b->round_start)
        raise_longterm_slope(x);
}

/* Called at an acknowledgement once the path counts as full (full_bw_reached): updates what later
 * probes for bandwidth use. At the end of the first round trip after a probe, unless the sample is
 * app-limited, begins a new ProbeBW cycle in bw_filter, so that the maximum of the cycle before the
 * last one is dropped. Unless more bytes are lost than scps_bbr_loss_thresh() allows, raises
 * inflight_longterm. Returns true if it has begun another probe (state REFILL). */
static bool adapt_longterm_model(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (b->ack_phase == SCPS_BBR_ACKS_PROBE_STARTING && b->round_start)
        b->ack_phase = SCPS_BBR_ACKS_PROBE_FEEDBACK;
    if (b->ack_phase == SCPS_BBR_ACKS_PROBE_STOPPING && b->round_start) {
        b->is_bw_probe_sample = false;
        b->ack_phase = SCPS_BBR_ACKS_INIT;
        if (scps_bbr_in_probe_bw(b) && !x->rs.app_limited)
            scps_bbr_advance_max_bw(b);
        if (scps_bbr_in_probe_bw(b) && b->prev_probe_precautionary && !b->prev_probe_too_high) {
            scps_bbr_enter_refill(x);
            return true;
        }
    }
    if (scps_bbr_too_high(x) || b->inflight_longterm == SCPS_BBR_INFINITE)
        return false;
    b->inflight_longterm = SCPS_MAX(b->inflight_longterm, x->rs.tx_in_flight);
    if (b->state == SCPS_BBR_UP)
        probe_longterm_upward(x);
    return false;
}

static bool is_time_to_probe(const struct scps_bbr_ctx *x)
{
    const struct scps_bbr *b = x->b;
    uint64_t reno_rounds = scps_bbr_target(x) / x->v->mss;

    return x->v->now > b->cycle_stamp + b->bw_probe_wait ||
           b->rounds_since_probe_up >= SCPS_MIN(reno_rounds, 63);
}

static bool is_time_to_cruise(const struct scps_bbr_ctx *x)
{
    return x->v->inflight <= scps_bbr_with_headroom(x) &&
           x->v->inflight <= scps_bbr_inflight(x, x->b->max_bw, 100);
}

static bool is_time_to_go_down(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (b->prev_probe_too_high && x->v->inflight >= b->inflight_longterm) {
        b->prev_probe_precautionary = true;
        return true;
    }
    if (cwnd_limited(b) && x->ctl->cwnd >= b->inflight_longterm) {
        /* inflight_longterm, not the path, limited this probe, so the count of round trips without
         * an increase of the delivery rate starts again. */
        scps_bbr_reset_full_bw(b);
        b->full_bw = x->rs.rate;
        return false;
    }
    return b->full_bw_now;
}

static void update_cycle_phase(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (!b->full_bw_reached || adapt_longterm_model(x))
        return;
    switch (b->state) {
    case SCPS_BBR_DOWN:
        if (is_time_to_probe(x))
            scps_bbr_enter_refill(x);
        else if (is_time_to_cruise(x))
            b->state = SCPS_BBR_CRUISE;
        break;
    case SCPS_BBR_CRUISE:
        if (is_time_to_probe(x))
            scps_bbr_enter_refill(x);
        break;
    case SCPS_BBR_REFILL:
        if (b->round_start) {
            b->is_bw_probe_sample = true;
            enter_up(x);
        }
        break;
    case SCPS_BBR_UP:
        if (is_time_to_go_down(x)) {
            b->prev_probe_too_high = false;
            enter_down(x);
        }
        break;
    default:
        break;
    }
}

void scps_bbr_handle_too_high(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    b->prev_probe_too_high = true;
    /* Each probe for bandwidth causes at most one reaction to too much loss. */
    b->is_bw_probe_sample = false;
    if (!x->rs.app_limited) {
        uint64_t least = scps_muldiv(scps_bbr_target(x), SCPS_BBR_BETA, 100);
        b->inflight_longterm = SCPS_MAX(x->rs.tx_in_flight, least);
    }
    if (b->state == SCPS_BBR_UP) {
        b->undo_state = SCPS_BBR_UP;
        enter_down(x);
    }
}

void scps_bbr_move(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    check_startup_done(x);
    if (b->state == SCPS_BBR_DRAIN && (x->v->inflight <= scps_bbr_inflight(x, b->bw, 100) ||
                                       b->round_count > b->drain_start_round + 3))
        enter_down(x);
    update_cycle_phase(x);
}

/* ---- functions of the state ProbeRTT ---- */

void scps_bbr_probe_rtt_done(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (!b->probe_rtt_done_stamp || x->v->now <= b->probe_rtt_done_stamp)
        return;
    b->probe_rtt_min_stamp = x->v->now;
    scps_bbr_restore_cwnd(x);
    scps_bbr_reset_shortterm(b);
    if (b->full_bw_reached) {
        enter_down(x);
        b->state = SCPS_BBR_CRUISE;
    } else {
        scps_bbr_enter_startup(b);
    }
}

/* Called in ProbeRTT: marks the data that is sent from now until the data now in flight is
 * delivered as app-limited, because its delivery rate is limited by ProbeRTT's small window and
 * does not show the bandwidth. */
static void mark_app_limited(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (x->v->delivered > b->marked_to)
        b->marked_from = x->v->delivered;
    b->marked_to = x->v->delivered + x->v->inflight;
}

static void handle_probe_rtt(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    mark_app_limited(x);
    if (!b->probe_rtt_done_stamp) {
        if (x->v->inflight > scps_bbr_probe_rtt_cwnd(x))
            return;
        b->probe_rtt_done_stamp = x->v->now + SCPS_BBR_PROBE_RTT_TIME;
        b->probe_rtt_round_done = false;
        scps_bbr_start_round(x);
        return;
    }
    if (b->round_start)
        b->probe_rtt_round_done = true;
    if (b->probe_rtt_round_done)
        scps_bbr_probe_rtt_done(x);
}

void scps_bbr_check_probe_rtt(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (b->state != SCPS_BBR_PROBE_RTT && b->probe_rtt_expired && !b->idle_restart &&
        !(b->long_start && b->state == SCPS_BBR_STARTUP)) {
        b->state = SCPS_BBR_PROBE_RTT;
        scps_bbr_save_cwnd(x);
        b->probe_rtt_done_stamp = 0;
        b->ack_phase = SCPS_BBR_ACKS_PROBE_STOPPING;
        scps_bbr_start_round(x);
    }
    if (b->state == SCPS_BBR_PROBE_RTT)
        handle_probe_rtt(x);
    if (x->rs.delivered)
        b->idle_restart = false;
}
