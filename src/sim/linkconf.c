/* SPDX-License-Identifier: MIT */
/* Checks and applies the configuration of a link direction, also while packets are under way;
 * initialises and frees a direction. */
#include "base/bytes.h"
#include "sim/linkheld.h"
#include "sim/linkstate.h"

#include <scps/error.h>
#include <string.h>

#define MAX_DELAY   (INT64_MAX / 1024)
#define MAX_FRAMING 65535u
/* Longest interval of CoDel: the control law needs its square in µs^2, which must fit into 64
 * bits. */
#define MAX_INTERVAL SCPS_SEC(3600)

/* Returns true if p is from 0 to 1; false for NaN, which fails every comparison. */
static bool is_chance(double p)
{
    return p >= 0 && p <= 1;
}

static bool is_delay(scps_dur d)
{
    return d >= 0 && d <= MAX_DELAY;
}

static bool burst_makes_sense(const struct scps_burst *b)
{
    if (b->good || b->bad)
        return is_delay(b->good) && is_delay(b->bad) && b->good > 0 && b->bad > 0 && b->ber >= 0 &&
               b->ber < 1;
    return is_chance(b->to_bad) && is_chance(b->to_good) && b->ber >= 0 && b->ber < 1 &&
           (b->ber <= 0 || b->to_bad + b->to_good > 0);
}

/* Returns true if the table of rates lets at least 1 bit/s through on average, or is empty. With
 * less, a packet might wait in the queue for ever. */
static bool rates_make_sense(const struct scps_steps *s)
{
    if (s->n == 0)
        return true;
    if (!scps_steps_ok(s, UINT64_MAX / 2))
        return false;
    return s->period ? scps_steps_sum(s) >= (uint64_t)s->period : s->v[s->n - 1].value > 0;
}

static bool makes_sense(const struct scps_link_config *c)
{
    return is_delay(c->delay) && is_delay(c->reorder_delay) && is_delay(c->jitter) && c->ber >= 0 &&
           c->ber < 1 && is_chance(c->loss) && is_chance(c->dup) && is_chance(c->reorder) &&
           c->overhead <= MAX_FRAMING && c->rate_bps <= UINT64_MAX / 2 &&
           (unsigned)c->framing < SCPS_FRAMING_COUNT && burst_makes_sense(&c->burst) &&
           is_delay(c->codel_target) && c->codel_interval >= 0 &&
           c->codel_interval <= MAX_INTERVAL && (c->codel_target > 0) == (c->codel_interval > 0) &&
           rates_make_sense(&c->rates) && scps_steps_ok(&c->delays, MAX_DELAY) &&
           scps_spans_ok(&c->outages) && (c->vector || !c->vector_len);
}

static void seed(struct scps_linkdir *d)
{
    struct scps_prng r;
    uint64_t s[7];

    /* Each of the seven random streams gets a seed from a generator that is seeded with the
     * configured seed and the direction's number, so that the streams are unrelated to each
     * other. */
    scps_prng_seed(&r, d->cfg.seed ^ d->stream * UINT64_C(0x9e3779b97f4a7c15));
    for (int i = 0; i < 7; i++)
        s[i] = scps_prng_next(&r);
    scps_errors_seed(&d->err, s[0], s[1], s[2], s[5]);
    scps_prng_seed(&d->r_dup, s[3]);
    scps_prng_seed(&d->r_reorder, s[4]);
    scps_prng_seed(&d->r_jitter, s[6]);
}

/* Computes the fields of d that follow from the configuration d->cfg. afresh: the burst process of
 * bit errors starts anew at `now`, µs. */
static void apply_config(struct scps_linkdir *d, bool afresh, scps_time now)
{
    for (int i = 0; i < SCPS_LINK_SIZES; i++)
        d->size[i].frame = UINT32_MAX;
    scps_errors_set(&d->err, &d->cfg, afresh, now);
    d->dup = scps_chance(d->cfg.dup);
    d->reorder = scps_chance(d->cfg.reorder);
    d->simple = d->err.simple && !d->dup && !d->reorder && !d->cfg.jitter && !d->cfg.delays.n;
    /* The new delay may be shorter, so that packets may arrive before those that are under way. */
    d->in_order = false;
    d->max_bytes = d->cfg.queue_bytes ? d->cfg.queue_bytes : UINT64_MAX;
    d->max_packets = d->cfg.queue_packets ? d->cfg.queue_packets : UINT32_MAX;
    d->direct = !d->cfg.codel_interval && !(d->cfg.hold && scps_link_has_outages(&d->cfg));
}

int scps_linkdir_init(struct scps_linkdir *d, const struct scps_link_config *cfg, uint64_t stream,
                      const struct scps_alloc *a)
{
    if (!makes_sense(cfg))
        return SCPS_ERR_INVAL;
    memset(d, 0, sizeof *d);
    d->cfg = *cfg;
    d->alloc = *a;
    d->stream = stream;
    d->next = SCPS_NEVER;
    seed(d);
    apply_config(d, true, 0);
    return 0;
}

/* Returns the rate of the line at t (µs), bit/s. 0: the rate is infinite or, if the configuration
 * has a table of rates, the line sends nothing at t. Sets *until to the time, µs, until which this
 * rate holds. */
static uint64_t rate_at(const struct scps_link_config *c, scps_time t, scps_time *until)
{
    if (c->rates.n)
        return scps_steps_at(&c->rates, t, until);
    *until = SCPS_NEVER;
    return c->rate_bps;
}

/* Returns true if a frame is on the line at `now`, µs, and the line stands still before the frame
 * has been sent, because its table of rates has the rate 0. Sets *rest to the number of bits of the
 * frame, times 10^6, that are not sent yet. */
static bool stops_in_frame(const struct scps_linkdir *d, scps_time now, uint64_t *rest)
{
    if (!d->cfg.rates.n || d->sent_us <= now ||
        !scps_steps_sent(&d->cfg.rates, now, d->sent_us, rest))
        return false;
    if (d->free_us == d->sent_us)
        *rest += d->free_frac;
    return true;
}

/* Called when the table of rates has been replaced while it would have stopped the line in the
 * middle of a frame: the rest of the frame is sent as the new configuration says, from `now` (µs)
 * on, if it ends earlier so. rest: bits that are not sent yet, times 10^6. Otherwise the frame
 * would block the line, and all packets behind it, for the time for which the old table stops it.
 * The packet in the frame keeps its time of arrival, because that has been reported to the
 * direction's observer; packets behind it overtake it. */
static SCPS_SELDOM void restart(struct scps_linkdir *d, scps_time now, uint64_t rest)
{
    scps_time end = now;
    uint64_t frac = 0;

    if (rest && d->cfg.rates.n) {
        scps_steps_send(&d->cfg.rates, rest, &end, &frac);
    } else if (d->cfg.rate_bps) {
        end += (scps_time)(rest / d->cfg.rate_bps);
        frac = rest % d->cfg.rate_bps;
    }
    if (end >= d->sent_us)
        return;
    d->line_us -= d->sent_us - end;
    d->sent_us = end;
    scps_link_set_free(d, end, frac);
    scps_linkheld_move_last(d);
}

int scps_linkdir_change(struct scps_linkdir *d, scps_time now, const struct scps_link_config *cfg)
{
    const struct scps_burst *a = &d->cfg.burst, *b = &cfg->burst;
    bool afresh = cfg->seed != d->cfg.seed || a->good != b->good || a->bad != b->bad ||
                  (a->ber > 0) != (b->ber > 0);
    scps_time until;
    uint64_t rest;

    if (!makes_sense(cfg))
        return SCPS_ERR_INVAL;
    scps_linkdir_advance(d, now);
    bool stops = stops_in_frame(d, now, &rest);
    uint64_t was = rate_at(&d->cfg, d->free_us, &until), rate = rate_at(cfg, d->free_us, &until);
    if (was != rate) /* converts d->free_frac, a numerator over the rate */
        scps_link_set_free(d, d->free_us, was ? scps_muldiv(d->free_frac, rate, was) : 0);
    if (d->cfg.rate_bps != cfg->rate_bps) {
        d->line_us += scps_link_line_time(d->line_bytes, d->cfg.rate_bps);
        d->line_bytes = 0;
    }
    /* If d->free_us is later than the end of the last transmission, the line is idle and free_us is
     * the end of an outage of the old configuration. The outages of the new configuration apply
     * from now on, so the line counts as free now. */
    if (d->free_us > d->sent_us && d->free_us > now)
        scps_link_set_free(d, SCPS_MAX(d->sent_us + 1, now), 0);
    if (cfg->seed != d->cfg.seed) {
        d->cfg.seed = cfg->seed;
        seed(d);
    }
    if (cfg->framing != d->cfg.framing)
        d->framing_carry = 0;
    d->cfg = *cfg;
    apply_config(d, afresh, now);
    if (stops)
        restart(d, now, rest);
    /* If the new configuration ends an outage, or starts a line that stood still, waiting packets
     * can be sent, so the line is simulated again. */
    scps_linkdir_advance(d, now);
    return 0;
}

void scps_linkdir_fini(struct scps_linkdir *d)
{
    for (uint32_t i = 0; i < d->held_cap; i++)
        scps_linkdir_give_back(d, d->held[i].buf, d->held[i].cap);
    scps_linkdir_give_back(d, d->held, d->held_cap * sizeof *d->held);
    scps_linkdir_give_back(d, d->ring, d->ring_cap);
    scps_linkdir_give_back(d, d->scratch, d->scratch_cap);
    d->held = NULL;
    d->ring = d->scratch = NULL;
    d->held_n = d->held_cap = d->wait_n = d->scratch_cap = 0;
    d->ring_cap = d->ring_mask = 0;
    d->head = d->line = d->tail = d->room_end = 0;
    d->next = SCPS_NEVER;
}
