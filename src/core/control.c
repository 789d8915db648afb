/* SPDX-License-Identifier: MIT */
/* The congestion controller: its input from the connection, and how its output takes effect.
 *
 * A controller reads values of the connection (struct scps_cc_view) and sets the window and the
 * rate (struct scps_cc_ctl). This file limits the window to at least one segment, limits the rate
 * to at least one segment in 64 s, and sets the pacer to that rate, or to one that follows from the
 * window.
 */
#include "core/control.h"

#include "base/bytes.h"
#include "base/wide.h"
#include "core/tx.h"

/* Longest time between two segments that a rate of the congestion controller may cause, unless the
 * retransmission timeout is longer: raise_rate() raises lower rates. It is the maximum backoff
 * interval t_mbi of RFC 5348 section 4.3. */
#define SLOWEST_SEGMENT SCPS_SEC(64)

uint32_t scps_cc_init_cwnd(const struct scps_conn_config *cfg, uint32_t mss, bool syn_lost)
{
    /* The initial window is ten segments, but at most `most` bytes: 14600, or two segments if they
     * are longer (RFC 6928 section 2). */
    uint32_t most = SCPS_MAX(2u * mss, 14600u);

    if (cfg->init_cwnd_segs)
        return cfg->init_cwnd_segs * mss;
    /* After a lost SYN the initial window is one segment (RFC 5681 section 3.1). */
    return syn_lost ? mss : SCPS_MIN(10u * mss, most);
}

static inline void view_of(const struct scps_sender *s, struct scps_cc_view *v)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;
    const struct scps_tx *tx = s->tx;

    v->now = s->ctx.env->now;
    v->outstanding = s->snd.nxt - s->snd.una;
    v->mss = s->agreed.mss;
    v->init_cwnd = scps_cc_init_cwnd(cfg, s->agreed.mss, s->syn_lost);
    v->srtt = s->rtt.srtt;
    v->min_rtt = scps_rtt_min(&s->rtt);
    v->conf_rate = cfg->rate;
    v->max_cwnd = cfg->sndbuf;
    v->cwnd_limited = s->use.limited;
    v->cause = scps_cause_now(tx ? &tx->cause : NULL, &s->ctx);
    v->random = s->snd.iss;
    v->pipe_ack = v->resent = 0;
    if (tx) {
        v->app_limited = tx->delivery.app_limited;
        v->delivered = tx->delivery.delivered;
        v->lost = tx->sb.lost_ever;
        v->inflight = scps_recovery_inflight(tx);
    } else {
        v->app_limited = false;
        v->delivered = s->snd.una;
        v->lost = v->inflight = 0;
    }
}

/* Fills in *v, the values of the connection that the controller's functions loss() and change()
 * read. In addition to those that ack() reads, pipe_ack (RFC 7661) and resent (bytes resent in this
 * recovery episode) are set. */
static void view_of_change(const struct scps_sender *s, struct scps_cc_view *v)
{
    view_of(s, v);
    if (s->tx) {
        v->pipe_ack = scps_delivery_pipe(&s->tx->delivery, s->rtt.srtt, v->now);
        v->resent = (uint64_t)s->tx->rec.resent * s->agreed.mss;
    }
}

/* Returns the mean length, octets, of small segments (shorter than half of the MSS on average) if
 * bursts of them have caused timeouts on this path (rec.small_len). Returns 0 if they have not, or
 * if longer segments are outstanding now. */
static uint32_t burst_len(const struct scps_sender *s)
{
    uint32_t len = s->tx ? s->tx->rec.small_len : 0;

    return len && (s->snd.una == s->snd.nxt || scps_recovery_small_len(s)) ? len : 0;
}

/* Returns the size of the pacer's token bucket, bytes, while small segments (shorter than half of
 * the MSS on average) are sent: four packets of their mean length; 0: the usual size applies. The
 * usual bucket of four full packets would release many small packets in one burst, and a queue of a
 * few packets would drop most of them. The smaller size applies during loss recovery if the
 * segments outstanding are small, and also without it if `len` is not 0: two timeouts have shown
 * that bursts of small segments, of mean length `len`, are lost (burst_len()). payload: true if the
 * bucket counts payload only, without headers (scps_plan_window_cost). */
static uint32_t small_burst(const struct scps_sender *s, uint32_t len, bool payload)
{
    if (!len && s->tx->rec.episode != SCPS_EPISODE_NONE)
        len = scps_recovery_small_len(s);
    if (!len)
        return 0;
    return 4 * (payload ? len : scps_cc_packet(s, len));
}

/* Sets the pacer's rate and returns it, bytes/s; 0: none. It is the controller's rate; if that is
 * 0, one that spreads the congestion window over a round trip, if pacing is configured or loss
 * recovery needs it. The configured rate replaces a rate that is higher or 0. */
static inline uint64_t set_rate(struct scps_sender *s)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;
    const struct scps_cc_ctl *ctl = &s->ctl;
    struct scps_tx *tx = s->tx;
    const uint32_t packet = s->agreed.pmtu_mss + 40u + cfg->rate_overhead;
    uint32_t burst = ctl->quantum ? ctl->quantum : 4 * packet;
    uint64_t rate = ctl->rate;
    bool window = rate && cfg->cc->payload_rate;
    const uint32_t len = burst_len(s);
    uint32_t share = 0;

    if (ctl->cwnd != SCPS_CWND_OPEN) {
        if (!rate && (cfg->pacing || len) && s->rtt.srtt) {
            scps_dur round = scps_rtt_to_spread(&s->rtt, tx ? tx->rto.latest : 0);
            /* The pacing rate is two congestion windows in a round trip during slow start, later
             * 1.2 windows. It is rounded up: on a round trip of minutes it is a few bytes/s, and
             * with less than a window in a round trip the window would never be full, nor grow. */
            rate = ctl->cwnd < ctl->ssthresh ? 2000000 : 1200000;
            rate = scps_muldiv(ctl->cwnd, rate, (uint64_t)round) + 1;
            window = true;
            if (tx && tx->rec.spread_until)
                rate = scps_recovery_paced_rate(s, rate);
            /* Pacing a window is to spare short queues, so the token bucket is small: two full
             * segments may leave back to back. It is as large as what the rate yields in one
             * millisecond if that is more, but at most a quarter of the window and at most four
             * full segments. */
            burst = (uint32_t)SCPS_MIN(rate / 1000, ctl->cwnd / 4);
            burst = SCPS_CLAMP(burst, 2u * s->agreed.mss, 4u * s->agreed.mss);
        } else if (!rate && tx && tx->rec.spread_until) {
            rate = scps_recovery_rate(s);
        }
    }
    /* cfg->rate counts whole packets; a pacing rate that follows from the congestion window counts
     * payload only. If the window gives the lower rate for full segments, the pacer runs at the
     * window's rate. `share` is then (window's rate) / (cfg->rate), times 2^32: a segment takes
     * from the token bucket its payload, or its whole packet times that quotient if that is more,
     * so that small segments do not exceed cfg->rate either (scps_plan_window_cost). */
    if (cfg->rate) {
        uint64_t packets =
            window ? scps_muldiv(rate, scps_cc_packet(s, s->agreed.mss), s->agreed.mss) : rate;
        window = window && packets < cfg->rate;
        if (window)
            share = (uint32_t)scps_muldiv(rate, UINT64_C(1) << 32, cfg->rate);
        else if (!packets || packets >= cfg->rate)
            rate = cfg->rate;
    }
    if (rate && tx && scps_recovery_only_probes(tx, s->snd.nxt - s->snd.una, s->agreed.mss)) {
        rate = SCPS_MIN(rate, scps_recovery_probe_rate(s->rtt.rto, packet));
        window = false;
    }
    if (tx && (rate || tx->pacer.rate)) {
        uint32_t small = ctl->quantum && !len ? 0 : small_burst(s, len, window && !share);
        if (small)
            burst = small;
        tx->paces_window = window;
        tx->pace_share = window ? share : 0;
        scps_pacer_set(&tx->pacer, s->ctx.env->now, rate, cfg->burst ? cfg->burst : burst);
    }
    return rate;
}

/* Called when the controller has asked for a window or a rate, `asked`, that is out of bounds, and
 * `used` takes its place: counts this in cc_corrected, and reports both values to the observer.
 * Returns `used`. */
static SCPS_NOINLINE uint64_t correct(struct scps_conn_ctx *x, uint64_t asked, uint64_t used)
{
    /* Allocates the connection's own counters, if it has none yet. If memory is refused, it counts
     * in shared counters, which nobody reads. */
    scps_conn_ctx_need_stats(x);
    x->st->cc_corrected++;
    SCPS_OBSERVE2(x, CC_CORRECTED, asked, used);
    return used;
}

/* Called when the controller asks for a rate of less than one full segment per second: raises
 * s->ctl.rate, bytes/s, to at least one full segment in 64 s, the maximum backoff interval t_mbi of
 * RFC 5348 section 4.3, or in one retransmission timeout if that is longer. At 1 byte/s a full
 * segment would leave only about every 24 minutes. If the application configured a rate below that
 * minimum, the configured rate is the minimum. */
static SCPS_NOINLINE void raise_rate(struct scps_sender *s)
{
    const uint64_t conf_rate = s->ctx.cfg->c.rate;
    const uint64_t slowest = (uint64_t)SCPS_MAX(s->rtt.rto, SLOWEST_SEGMENT);
    uint64_t least = scps_muldiv(s->agreed.mss, 1000000, slowest);

    if (conf_rate)
        least = SCPS_MIN(least, conf_rate);
    if (s->ctl.rate < least)
        s->ctl.rate = correct(&s->ctx, s->ctl.rate, least);
}

#define NUMBERS (UINT64_C(1) << SCPS_NOTE_CWND | UINT64_C(1) << SCPS_NOTE_PHASE)

/* Reports the window, ssthresh and rate to the observer, and the controller's phase if it has
 * changed. */
static SCPS_NOINLINE void note_numbers(const struct scps_conn_ctx *x, const struct scps_cc_ctl *ctl,
                                       struct scps_cc_use *use, uint64_t rate,
                                       const struct scps_tx *tx)
{
    uint8_t phase = (uint8_t)SCPS_MIN(ctl->phase, SCPS_PHASE_COUNT);

    if (phase != use->phase)
        SCPS_OBSERVE(x, PHASE, phase, use->phase, ctl->cwnd, rate);
    use->phase = phase & 127;
    SCPS_OBSERVE(x, CWND, ctl->cwnd, ctl->ssthresh, rate, tx ? tx->sb.inflight : 0);
}

void scps_cc_apply(struct scps_sender *s)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;
    const struct scps_tx *tx = s->tx;
    struct scps_cc_ctl *ctl = &s->ctl;
    uint64_t rate = 0;

    if (ctl->cwnd != SCPS_CWND_OPEN) {
        if (ctl->cwnd < s->agreed.mss)
            ctl->cwnd = correct(&s->ctx, ctl->cwnd, s->agreed.mss);
        scps_stats_cwnd(s->ctx.st, ctl->cwnd);
    }
    if (ctl->rate > SCPS_RATE_MAX)
        ctl->rate = correct(&s->ctx, ctl->rate, SCPS_RATE_MAX);
    else if (ctl->rate && ctl->rate < s->agreed.mss)
        raise_rate(s);
    /* The call of set_rate() is skipped in the usual case: neither the controller, the
     * configuration nor loss recovery sets a pacing rate, and the pacer had none before. */
    if (ctl->rate || cfg->rate || cfg->pacing || (tx && (tx->pacer.rate || tx->rec.spread_until)))
        rate = set_rate(s);
    if (s->ctx.env->obs.mask & NUMBERS)
        note_numbers(&s->ctx, ctl, &s->use, rate, tx);
}

void scps_cc_begin(struct scps_sender *s, void *cc)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;
    struct scps_cc_view v;

    view_of(s, &v);
    s->ctl = (struct scps_cc_ctl){.cwnd = v.init_cwnd, .ssthresh = UINT64_MAX};
    cfg->cc->start(cc, cfg->cc_param, &v, &s->ctl);
    scps_cc_apply(s);
}

void scps_cc_change(struct scps_sender *s, void *cc, enum scps_cc_change what)
{
    const struct scps_cc_ops *ops = s->ctx.cfg->c.cc;
    struct scps_cc_view v;

    if (!ops->change || !s->established)
        return;
    view_of_change(s, &v);
    ops->change(cc, &v, what, &s->ctl);
    if (s->resumes)
        scps_resume_change(&s->tp->resume, (struct scps_resume_cc){&s->ctx, cc}, &v, what, &s->ctl);
    scps_cc_apply(s);
}

void scps_cc_sent(struct scps_sender *s, void *cc, uint32_t bytes, bool resent)
{
    struct scps_cc_sent p = {.bytes = bytes, .resent = resent};
    struct scps_cc_ctl was = s->ctl, *ctl = &s->ctl;
    struct scps_cc_view v;

    if (!s->established)
        return;
    view_of(s, &v);
    s->ctx.cfg->c.cc->on_sent(cc, &v, &p, ctl);
    if (was.cwnd != ctl->cwnd || was.rate != ctl->rate || was.quantum != ctl->quantum ||
        was.phase != ctl->phase)
        scps_cc_apply(s);
}

void scps_cc_ack(struct scps_sender *s, void *cc, const struct scps_cc_ack *a, bool may_grow)
{
    uint64_t cwnd = s->ctl.cwnd;
    struct scps_cc_view v;

    view_of(s, &v);
    s->ctx.cfg->c.cc->ack(cc, &v, a, &s->ctl);
    if (!may_grow)
        /* Limited transmit (RFC 3042; RFC 5681 section 3.2 (1)): the first duplicate
         * acknowledgements do not raise the window. */
        s->ctl.cwnd = SCPS_MIN(s->ctl.cwnd, cwnd);
    if (s->resumes)
        scps_resume_ack(&s->tp->resume, (struct scps_resume_cc){&s->ctx, cc}, &v, a, &s->ctl);
    scps_cc_limited(&s->use, false);
    scps_cc_apply(s);
}

void scps_cc_loss(struct scps_sender *s, void *cc, const struct scps_cc_loss *loss)
{
    struct scps_cc_view v;

    view_of_change(s, &v);
    if (s->resumes)
        scps_resume_before_loss(&s->tp->resume, &s->ctx, loss, &s->ctl);
    s->ctx.cfg->c.cc->loss(cc, &v, loss, &s->ctl);
    if (s->resumes)
        scps_resume_loss(&s->tp->resume, (struct scps_resume_cc){&s->ctx, cc}, &v, loss, &s->ctl);
    scps_cc_apply(s);
}

void scps_cc_save(struct scps_sender *s, const void *cc)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;

    s->tx->saved_ctl = s->ctl;
    if (!cfg->cc->own_recovery)
        memcpy(s->tx->saved_state, cc, scps_cc_state_size(cfg->cc, cfg->cc_param));
}

void scps_cc_restore(struct scps_sender *s, void *cc, uint64_t least)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;

    memcpy(cc, s->tx->saved_state, scps_cc_state_size(cfg->cc, cfg->cc_param));
    s->ctl = s->tx->saved_ctl;
    s->ctl.cwnd = SCPS_MAX(s->ctl.cwnd, least);
}

void scps_cc_follow(struct scps_sender *s, uint64_t rate)
{
    if (rate && s->ctl.rate)
        s->ctl.rate = rate;
    scps_cc_apply(s);
}
