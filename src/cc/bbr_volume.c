/* SPDX-License-Identifier: MIT */
/* BBR: computes bytes from the model of the path: the bandwidth-delay product, the limits of the
 * bytes in flight at which BBR changes its state (bbr_state.c), and limits of cwnd (bbr.c).
 *
 * Source: draft-ietf-ccwg-bbr-06, sections "Summary of Control Behavior in the State Machine",
 * "Computing BBR.max_inflight" and "Modulating cwnd in Loss Recovery".
 */
#include "cc/bbr.h"

#include "base/bytes.h"
#include "base/wide.h"

const struct scps_bbr_gain scps_bbr_gain[] = {
    [SCPS_BBR_STARTUP] = {277, 200}, [SCPS_BBR_DRAIN] = {50, 200},   [SCPS_BBR_DOWN] = {90, 200},
    [SCPS_BBR_CRUISE] = {100, 200},  [SCPS_BBR_REFILL] = {100, 200}, [SCPS_BBR_UP] = {125, 225},
    [SCPS_BBR_PROBE_RTT] = {100, 50}};

uint64_t scps_bbr_min_pipe(const struct scps_cc_view *v)
{
    return 4 * (uint64_t)v->mss;
}

uint64_t scps_bbr_bdp(const struct scps_bbr_ctx *x, uint64_t bw, unsigned percent)
{
    const struct scps_bbr *b = x->b;

    if (b->min_rtt == SCPS_NEVER)
        return x->v->init_cwnd;
    return scps_muldiv(scps_muldiv(bw, (uint64_t)b->min_rtt, 1000000), percent, 100);
}

uint64_t scps_bbr_quantization_budget(const struct scps_bbr_ctx *x, uint64_t inflight)
{
    inflight = SCPS_MAX(inflight, 3 * (uint64_t)x->ctl->quantum);
    inflight = SCPS_MAX(inflight, scps_bbr_min_pipe(x->v));
    if (x->b->state == SCPS_BBR_UP)
        inflight += 2 * (uint64_t)x->v->mss;
    return inflight;
}

uint64_t scps_bbr_inflight(const struct scps_bbr_ctx *x, uint64_t bw, unsigned percent)
{
    return scps_bbr_quantization_budget(x, scps_bbr_bdp(x, bw, percent));
}

uint64_t scps_bbr_target(const struct scps_bbr_ctx *x)
{
    return SCPS_MIN(scps_bbr_bdp(x, x->b->bw, 100), x->ctl->cwnd);
}

uint64_t scps_bbr_with_headroom(const struct scps_bbr_ctx *x)
{
    uint64_t all = x->b->inflight_longterm, room;

    if (all == SCPS_BBR_INFINITE)
        return all;
    room = SCPS_MAX(scps_muldiv(all, SCPS_BBR_HEADROOM, 100), x->v->mss);
    return SCPS_MAX(all - SCPS_MIN(all, room), scps_bbr_min_pipe(x->v));
}

uint64_t scps_bbr_probe_rtt_cwnd(const struct scps_bbr_ctx *x)
{
    return SCPS_MAX(scps_bbr_bdp(x, x->b->bw, scps_bbr_gain[SCPS_BBR_PROBE_RTT].cwnd),
                    scps_bbr_min_pipe(x->v));
}

void scps_bbr_save_cwnd(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    if (!b->recovering && b->state != SCPS_BBR_PROBE_RTT)
        b->prior_cwnd = x->ctl->cwnd;
    else
        b->prior_cwnd = SCPS_MAX(b->prior_cwnd, x->ctl->cwnd);
}

void scps_bbr_restore_cwnd(const struct scps_bbr_ctx *x)
{
    x->ctl->cwnd = SCPS_MAX(x->ctl->cwnd, x->b->prior_cwnd);
}

uint64_t scps_bbr_bw(const struct scps_bbr *b)
{
    if (b->state != SCPS_BBR_STARTUP || b->round_count <= SCPS_BBR_LONG_ROUNDS)
        return b->bw;
    return SCPS_MAX(b->bw, b->start_bw);
}

uint64_t scps_bbr_loss_thresh(const struct scps_bbr *b)
{
    return SCPS_BBR_LOSS_THRESH + b->base_loss + b->base_loss / 2;
}
