/* SPDX-License-Identifier: MIT */
/* The congestion controller: what it may know of the connection, and how its answer takes effect.
 *
 * A controller sees values (struct scps_cc_view) and sets the window and the rate (struct
 * scps_cc_ctl).  Here its window is kept at one segment at least, and the pacer is set to its
 * rate, or to one that follows from the window.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "base/wide.h"

void scps_cc_view_of(const struct scps_conn *c, struct scps_cc_view *v)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    uint32_t iw_max = SCPS_MAX(2u * c->agreed.mss, 14600u); /* RFC 6928 section 2 */

    v->now = c->ctx.env->now;
    v->outstanding = c->snd.nxt - c->snd.una;
    v->mss = c->agreed.mss;
    v->init_cwnd = cfg->init_cwnd_segs ? cfg->init_cwnd_segs * (uint32_t)c->agreed.mss
                                       : SCPS_MIN(10u * c->agreed.mss, iw_max);
    if (c->syn_lost && !cfg->init_cwnd_segs)
        v->init_cwnd = c->agreed.mss; /* RFC 5681 section 3.1 */
    v->srtt = c->rtt.srtt;
    v->min_rtt = scps_rtt_min(&c->rtt);
    v->conf_rate = cfg->rate;
    v->max_cwnd = cfg->sndbuf;
    v->cwnd_limited = c->cwnd_limited;
    v->cause = scps_conn_loss_cause(c);
    v->random = c->snd.iss;
    if (c->tx) {
        v->app_limited = c->tx->delivery.app_limited;
        v->delivered = c->tx->delivery.delivered;
        v->lost = c->tx->sb.lost_ever;
        v->inflight = scps_recovery_inflight(c->tx);
    } else {
        v->app_limited = false;
        v->delivered = c->snd.una;
        v->lost = v->inflight = 0;
    }
}

/* Sets the pacer's rate: the controller's, one that follows from its window, or the configured one.
 * Returns it. */
static inline uint64_t set_rate(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    const uint32_t packet = c->agreed.pmtu_mss + 40u + cfg->rate_overhead;
    const uint32_t burst = c->ctl.quantum ? c->ctl.quantum : 4 * packet;
    uint64_t rate = c->ctl.rate;
    bool window = rate && cfg->cc->payload_rate;

    if (c->ctl.cwnd != SCPS_CWND_OPEN) {
        if (!rate && cfg->pacing && c->rtt.srtt) {
            /* The rate is two windows in a round trip while the window may double, 1.2 windows
             * later. */
            rate = scps_muldiv(c->ctl.cwnd, 1000000, (uint64_t)c->rtt.srtt);
            rate = c->ctl.cwnd < c->ctl.ssthresh ? rate * 2 : rate * 6 / 5;
            rate = SCPS_MAX(rate, 1);
            window = true;
        } else if (!rate && c->tx && c->tx->rec.spread_until) {
            rate = scps_recovery_rate(c);
        }
    }
    if (cfg->rate) { /* A configured rate counts headers; the window does not. */
        if (window)
            rate = scps_muldiv(rate, packet, c->agreed.mss);
        window = false;
        if (!rate || rate > cfg->rate)
            rate = cfg->rate;
    }
    if (rate && c->tx && scps_recovery_only_probes(c->tx, c->snd.nxt - c->snd.una, c->agreed.mss)) {
        rate = SCPS_MIN(rate, scps_recovery_probe_rate(c->rtt.rto, packet));
        window = false;
    }
    if (c->tx && (rate || c->tx->pacer.rate)) {
        c->tx->paces_window = window;
        scps_pacer_set(&c->tx->pacer, c->ctx.env->now, rate, cfg->burst ? cfg->burst : burst);
    }
    return rate;
}

/* Replaces a number of the controller that cannot be used. */
static SCPS_NOINLINE uint64_t correct(struct scps_conn_ctx *x, uint64_t asked, uint64_t used)
{
    scps_conn_ctx_need_stats(x); /* Without memory it is not counted. */
    x->st->cc_corrected++;
    SCPS_OBSERVE(x, CC_CORRECTED, asked, used, 0, 0);
    return used;
}

#define NUMBERS (UINT64_C(1) << SCPS_NOTE_CWND | UINT64_C(1) << SCPS_NOTE_PHASE)

/* Notes the controller's numbers for the observer, and its phase if that has changed. */
static SCPS_NOINLINE void note_numbers(const struct scps_conn_ctx *x, const struct scps_cc_ctl *ctl,
                                       uint8_t *told, uint64_t rate, const struct scps_tx *tx)
{
    uint8_t phase = (uint8_t)SCPS_MIN(ctl->phase, SCPS_PHASE_COUNT);

    if (phase != *told)
        SCPS_OBSERVE(x, PHASE, phase, *told, ctl->cwnd, rate);
    *told = phase;
    SCPS_OBSERVE(x, CWND, ctl->cwnd, ctl->ssthresh, rate, tx ? tx->sb.inflight : 0);
}

void scps_cc_apply(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    const struct scps_tx *tx = c->tx;
    uint64_t rate = 0;

    if (c->ctl.cwnd != SCPS_CWND_OPEN) {
        if (c->ctl.cwnd < c->agreed.mss)
            c->ctl.cwnd = correct(&c->ctx, c->ctl.cwnd, c->agreed.mss);
        scps_stats_cwnd(c->ctx.st, c->ctl.cwnd);
    }
    if (c->ctl.rate > SCPS_RATE_MAX)
        c->ctl.rate = correct(&c->ctx, c->ctl.rate, SCPS_RATE_MAX);
    /* In the usual case nothing sets a rate, and none was set. */
    if (c->ctl.rate || cfg->rate || cfg->pacing || (tx && (tx->pacer.rate || tx->rec.spread_until)))
        rate = set_rate(c);
    if (c->ctx.env->obs.mask & NUMBERS)
        note_numbers(&c->ctx, &c->ctl, &c->phase, rate, tx);
}

void scps_cc_limited(struct scps_conn *c, bool limited)
{
    c->cwnd_limited = limited;
}

void scps_cc_begin(struct scps_conn *c)
{
    struct scps_cc_view v;

    scps_cc_view_of(c, &v);
    c->ctl = (struct scps_cc_ctl){.cwnd = v.init_cwnd, .ssthresh = UINT64_MAX};
    c->ctx.cfg->c.cc->start(c->cc_state, c->ctx.cfg->c.cc_param, &v, &c->ctl);
    scps_cc_apply(c);
}

void scps_cc_change(struct scps_conn *c, enum scps_cc_change what)
{
    struct scps_cc_view v;

    if (!c->ctx.cfg->c.cc->change || !c->established)
        return;
    scps_cc_view_of(c, &v);
    c->ctx.cfg->c.cc->change(c->cc_state, &v, what, &c->ctl);
    if (c->resumes)
        scps_resume_change(&c->tp->resume, (struct scps_resume_cc){&c->ctx, c->cc_state}, &v, what,
                           &c->ctl);
    scps_cc_apply(c);
}

void scps_cc_sent(struct scps_conn *c, uint32_t bytes, bool resent)
{
    struct scps_cc_sent p = {.bytes = bytes, .resent = resent};
    struct scps_cc_ctl was = c->ctl;
    struct scps_cc_view v;

    if (!c->established)
        return;
    scps_cc_view_of(c, &v);
    c->ctx.cfg->c.cc->on_sent(c->cc_state, &v, &p, &c->ctl);
    if (was.cwnd != c->ctl.cwnd || was.rate != c->ctl.rate || was.quantum != c->ctl.quantum ||
        was.phase != c->ctl.phase)
        scps_cc_apply(c);
}
