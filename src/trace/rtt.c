/* SPDX-License-Identifier: MIT */
/* Round-trip statistics: mean and deviation as tcptrace computes them, percentiles from a
 * log-linear histogram (32 steps an octave, so the error is at most 1.6 %), and round trips from
 * timestamps (RFC 7323 section 4.3).
 *
 * A histogram has memory only for the octaves that occurred: a connection whose round trips stay
 * within a factor of four needs two or three of them, 128 bytes each.
 *
 * Timestamps: up to TSRING values of TSval are timed at the same time, each from the first segment
 * that carried it. A TSecr completes the newest timed TSval that is not above it, and older ones
 * are removed. So a sample is never ambiguous (a retransmitted segment carries a later TSval), and
 * there are up to TSRING samples a round trip.
 */
#include "trace/flow.h"

#include <math.h>

/* number of linear steps into which a histogram divides each octave (doubling of the value) */
#define STEPS 32u

void scps_tr_dist_add(struct dist *d, scps_dur v)
{
    if (d->min == 0 || d->min > v)
        d->min = v;
    if (d->max < v)
        d->max = v;
    d->sum += (double)v;
    d->sum2 += (double)v * (double)v;
    d->n++;
}

double scps_tr_dist_avg(const struct dist *d)
{
    return d->n ? d->sum / d->n : 0;
}

double scps_tr_dist_sd(const struct dist *d)
{
    if (d->n <= 2)
        return 0;
    double v = (d->sum2 - d->sum * d->sum / d->n) / (d->n - 1);
    return v > 0 ? sqrt(v) : 0;
}

/* Returns the octave of the histogram in which value v, µs, is counted, and sets *step to its step
 * there. Octave 0 has a step for each µs from 0 to 31; octave k has 32 steps for 2^(k+4) to 2^(k+5)
 * - 1 µs. */
static uint32_t octave(uint64_t v, uint32_t *step)
{
    if (v < STEPS) {
        *step = (uint32_t)v;
        return 0;
    }
    uint32_t msb = 63 - (uint32_t)__builtin_clzll(v);
    uint32_t k = msb - 4;
    *step = (uint32_t)(v >> (k - 1)) - STEPS;
    return k;
}

void scps_tr_hist_add(struct scps_trace *t, struct hist *h, scps_dur v)
{
    if (t->cfg.no_rtt_percentiles)
        return;
    uint32_t step, k = octave(v < 0 ? 0 : (uint64_t)v, &step);
    if (TR_UNLIKELY(h->n == 0 || k < h->lo || k >= (uint32_t)h->lo + h->n)) {
        uint32_t lo = h->n ? SCPS_MIN(h->lo, k) : k;
        uint32_t hi = h->n ? SCPS_MAX((uint32_t)h->lo + h->n, k + 1) : k + 1;
        size_t room = (size_t)(hi - lo) * STEPS * sizeof *h->v;
        uint32_t *w = scps_tr_alloc(t, room);
        if (!w)
            return;
        if (h->n)
            memcpy(w + (h->lo - lo) * STEPS, h->v, h->n * STEPS * sizeof *h->v);
        scps_tr_hist_free(t, h);
        h->v = w;
        h->lo = (uint8_t)lo;
        h->n = (uint8_t)(hi - lo);
    }
    h->v[(k - h->lo) * STEPS + step]++;
}

void scps_tr_hist_free(struct scps_trace *t, struct hist *h)
{
    scps_tr_free(t, h->v, (size_t)h->n * STEPS * sizeof *h->v);
    h->v = NULL;
    h->n = 0;
}

double scps_tr_hist_at(const struct hist *h, const struct dist *d, double q)
{
    uint64_t total = 0, at = 0;
    for (uint32_t i = 0; i < h->n * STEPS; i++)
        total += h->v[i];
    if (!total)
        return NAN;
    uint64_t want = (uint64_t)ceil(q * (double)total);
    want = SCPS_MAX(want, 1u);
    uint32_t i = 0;
    while ((at += h->v[i]) < want)
        i++;
    uint32_t k = h->lo + i / STEPS, step = i % STEPS;
    double v = k == 0 ? step : ((double)(STEPS + step) + 0.5) * (double)((uint64_t)1 << (k - 1));
    /* The quantile is at most the largest sample. It is not raised to the smallest, because d->min
     * may be too large: scps_tr_dist_add() replaces a minimum of 0 by the next sample, as tcptrace
     * does. */
    return SCPS_MIN(v, (double)d->max);
}

/* Updates SRTT and RTTVAR of direction h with the RTT sample v, µs (RFC 6298 section 2). why.c
 * estimates from them whether a retransmission was caused by a timeout. */
static void smooth(struct conn_dir *h, scps_dur v)
{
    if (!h->srtt) {
        h->srtt = SCPS_MAX(v, 1);
        h->rttvar = v / 2;
        return;
    }
    scps_dur err = h->srtt > v ? h->srtt - v : v - h->srtt;
    h->rttvar += (err - h->rttvar) / 4;
    h->srtt += (v - h->srtt) / 8;
    h->srtt = SCPS_MAX(h->srtt, 1);
}

static void full_size_sample(struct conn_dir *h, uint32_t len, scps_dur v)
{
    /* tcptrace takes a segment of one octet (a SYN) for one of 2^32 octets, so that it becomes the
     * largest; the size is computed in the same way here. */
    uint64_t size = len > 1 ? len : (uint64_t)1 << 32;
    if (!h->rtt_full_size || h->rtt_full_size < size) {
        h->rtt_full_size = size;
        h->rtt_full = (struct dist){
            .n = 1, .min = v, .max = v, .sum = (double)v, .sum2 = (double)v * (double)v};
    } else if (h->rtt_full_size == size) {
        scps_tr_dist_add(&h->rtt_full, v);
    }
}

scps_dur scps_tr_rtt_acked(struct scps_trace *t, struct conn_dir *h, const struct seg *x,
                           scps_time now, bool later_below)
{
    scps_dur v = SCPS_MAX(now - x->at, 0);
    if (later_below) {
        h->rtt_newest = 0;
        h->rtt_nosample++;
        return -1;
    }
    if (x->retrans) {
        scps_tr_dist_add(&scps_tr_rare(t, h)->rtt_last, v);
        h->rtt_ambig++;
        h->rtt_newest = 0;
        return -1;
    }
    h->rtt_newest = v;
    h->rtt_least = h->rtt.n ? SCPS_MIN(h->rtt_least, v) : v;
    scps_tr_dist_add(&h->rtt, v);
    full_size_sample(h, x->len, v);
    scps_tr_hist_add(t, &h->rtt_hist, v);
    smooth(h, v);
    return v;
}

scps_dur scps_tr_rtt_whole_path(const struct conn_dir *h, const struct conn_dir *peer)
{
    return h->rtt_least + peer->rtt_least;
}

void scps_tr_ts_sent(struct conn_dir *h, uint32_t tsval, scps_time now)
{
    if (h->ts_n == TSRING || (h->ts_any && (int32_t)(tsval - h->ts_newest) <= 0))
        return;
    h->ts_any = true;
    h->ts_newest = tsval;
    uint32_t i = (h->ts_head + h->ts_n++) % TSRING;
    h->tsring[i].tsval = tsval;
    h->tsring[i].at = now;
}

void scps_tr_ts_echoed(struct scps_trace *t, struct conn_dir *h, uint32_t tsecr, scps_time now)
{
    scps_time at = -1;
    while (h->ts_n && (int32_t)(tsecr - h->tsring[h->ts_head].tsval) >= 0) {
        at = tsecr == h->tsring[h->ts_head].tsval ? h->tsring[h->ts_head].at : -1;
        h->ts_head = (h->ts_head + 1) % TSRING;
        h->ts_n--;
    }
    if (at < 0 || now < at)
        return;
    scps_tr_dist_add(&h->tsrtt, now - at);
    scps_tr_hist_add(t, &h->tsrtt_hist, now - at);
    if (!h->rtt.n)
        smooth(h, now - at);
}
