/* SPDX-License-Identifier: MIT */
/* Estimates the kind of congestion controller from the size of the window in each round trip.
 *
 * A round ends when the octet that was the highest at its beginning is acknowledged. The analyser
 * keeps for each round the most bytes outstanding, whether data was sent again, and FlightSize when
 * a loss recovery began. During a recovery more is outstanding than the window allows, because data
 * that SACK has reported counts. From these:
 *   flat rate       neither the bytes a second nor the bytes outstanding vary from round to round,
 *                   with losses or without, and there was no slow start
 *   slow start      the window grows by half or more in rounds before the first loss. Whether there
 *                   was one is unknown if the capture lacks the SYN
 *   decrease        window after a loss recovery divided by FlightSize when it began: about 1/2,
 *                   0.7, 7/8, or 1 (unchanged). The report names this ratio only if two recoveries
 *                   agree in it, because after slow start, or with BBR's model of the path, any
 *                   ratio can occur
 *   falls           the window falls again and again without a loss: BBR, which probes for more
 *                   bandwidth and then drains what queued
 *   growth          segments a round between losses: about one means linear growth; it may also
 *                   be relative (a percentage)
 * Only the first ROUNDS rounds are used, which are enough and bound the memory. Nothing is
 * estimated from a capture far from the sender, because what is outstanding at such a capture point
 * differs from the sender's window.
 */
#include "trace/flow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void scps_tr_round_sent(struct conn_dir *h, uint64_t outstanding)
{
    uint32_t v = (uint32_t)SCPS_MIN(outstanding, UINT32_MAX);
    if (v > h->round_peak)
        h->round_peak = v;
}

void scps_tr_round_acked(struct scps_trace *t, struct conn_dir *h, uint64_t ack, scps_time now)
{
    if (h->nrounds >= ROUNDS)
        return;
    if (!h->round_end) {
        h->round_end = h->sent_hi;
        h->round_at = now;
        h->round_ack = ack;
        return;
    }
    if (ack < h->round_end)
        return;
    if (h->nrounds == h->caprounds) {
        uint16_t cap = h->caprounds ? (uint16_t)(h->caprounds * 2) : 4;
        void *p =
            scps_tr_grow(t, h->rounds, h->caprounds * sizeof *h->rounds, cap * sizeof *h->rounds);
        if (!p)
            return;
        h->rounds = p;
        h->caprounds = cap;
    }
    h->rounds[h->nrounds++] =
        (struct round){.peak = h->round_peak,
                       .bytes = (uint32_t)SCPS_MIN(ack - h->round_ack, UINT32_MAX),
                       .dur = (uint32_t)SCPS_CLAMP(now - h->round_at, 0, UINT32_MAX),
                       .flight = h->round_flight,
                       .resent = h->round_resent,
                       .timeout = h->round_timeout};
    h->round_end = SCPS_MAX(h->sent_hi, ack + 1);
    h->round_at = now;
    h->round_ack = ack;
    h->round_peak = h->round_flight = 0;
    h->round_resent = h->round_timeout = false;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, unsigned n)
{
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Returns the median absolute deviation of the k values at v, divided by their median. 0: most
 * values are equal; 1: there are fewer than three, too few to say. Sorts v. */
static double spread(double *v, unsigned k)
{
    double dev[ROUNDS];
    if (k < 3)
        return 1;
    double m = median(v, k);
    for (unsigned i = 0; i < k; i++)
        dev[i] = fabs(v[i] - m);
    return m > 0 ? median(dev, k) / m : 1;
}

/* Returns how much the rate of acknowledgement (bytes/s) varies from round trip to round trip: its
 * median absolute deviation, divided by its median. The first quarter of the rounds is left out. */
static double rate_spread(const struct round *r, unsigned n)
{
    double rate[ROUNDS];
    unsigned k = 0;
    for (unsigned i = n / 4; i + 1 < n; i++)
        if (r[i].dur)
            rate[k++] = r[i].bytes * 1e6 / r[i].dur;
    return spread(rate, k);
}

/* Returns how much the window (largest number of bytes outstanding) varies between the round trips
 * without retransmissions: its median absolute deviation, divided by its median. */
static double window_spread(const struct round *r, unsigned n)
{
    double peak[ROUNDS];
    unsigned k = 0;
    for (unsigned i = n / 4; i + 1 < n; i++)
        if (!r[i].resent && r[i].peak)
            peak[k++] = r[i].peak;
    return spread(peak, k);
}

/* Returns the number of round trips in slow start: those before the first loss (r[first_loss]) in
 * which the window grows by half or more. The window of the first round trip is compared with the
 * initial window, `initial` bytes. */
static unsigned doublings(const struct round *r, unsigned n, unsigned first_loss, double mss,
                          uint64_t initial)
{
    unsigned doubling = 0;
    uint64_t before = initial;
    for (unsigned i = 0; i < n && i <= first_loss; i++) {
        if (r[i].peak >= 4 * mss && r[i].peak >= before + before / 2)
            doubling++;
        before = r[i].peak;
    }
    return doubling;
}

/* By what the sender multiplies its congestion window at loss recoveries. */
struct decrease {
    /* median over the recoveries of: window after it / FlightSize at its beginning, at most 1 (0.7
     * means a cut by 30 %); NaN: no recovery could be measured */
    double factor;
    unsigned n;  /* number of recoveries measured */
    bool agreed; /* true: n > 1, and two thirds of the recoveries are within 0.08 of factor */
};

/* Measures the decrease: for each loss recovery, the smallest window of the three round trips after
 * its beginning, divided by FlightSize at its beginning. Recoveries are left out that have a
 * timeout, begin with less than 8 segments in flight, or are followed by another recovery before a
 * window was measured. */
static struct decrease decrease(const struct round *r, unsigned n, double mss)
{
    double dec[ROUNDS];
    unsigned nd = 0, agreeing = 0;
    for (unsigned i = 0; i + 3 < n; i++) {
        double after = INFINITY;
        if (r[i].flight < 8 * mss || r[i].timeout)
            continue;
        for (unsigned j = i + 1; j <= i + 3 && !r[j].flight && !r[j].timeout; j++)
            if (!r[j].resent && r[j].peak)
                after = SCPS_MIN(after, (double)r[j].peak);
        if (isfinite(after))
            dec[nd++] = SCPS_MIN(after / r[i].flight, 1);
    }
    double m = nd ? median(dec, nd) : NAN;
    for (unsigned i = 0; i < nd; i++)
        agreeing += fabs(dec[i] - m) <= 0.08;
    return (struct decrease){.factor = m, .n = nd, .agreed = nd > 1 && agreeing * 3 >= nd * 2};
}

/* Returns true if the window falls without a loss as it does with BBR: by more than 7 % from one
 * round trip to the next, in at least one of twenty round trips and at least twice. Only round
 * trips after the first loss count, and of these only those in which, and in the two before which,
 * nothing was retransmitted. */
static bool falls_without_loss(const struct round *r, unsigned n, unsigned first_loss, double mss)
{
    unsigned rounds = 0, falls = 0;
    for (unsigned i = (first_loss < n ? first_loss : 0) + 3; i + 1 < n; i++) {
        if (r[i].resent || r[i - 1].resent || r[i - 2].resent || r[i].peak < 4 * mss)
            continue;
        rounds++;
        falls += r[i].peak < 0.93 * r[i - 1].peak;
    }
    return falls > 1 && falls * 20 >= rounds;
}

/* Returns by how many segments (of mss bytes) per round trip the window grows between losses, after
 * the first loss; NaN: there are too few round trips to say. */
static double growth(const struct round *r, unsigned n, unsigned first_loss, double mss)
{
    double grow[ROUNDS];
    unsigned ng = 0;
    for (unsigned i = 1; i < n; i++)
        if (!r[i].resent && !r[i - 1].resent && r[i].peak >= r[i - 1].peak && i > first_loss + 2 &&
            r[i - 1].peak)
            grow[ng++] = (r[i].peak - (double)r[i - 1].peak) / mss;
    return ng >= 2 ? median(grow, ng) : NAN;
}

/* Returns true if the capture point is far from the sender of the data: the path from the capture
 * point to the sender and back takes more than a quarter of the whole round trip. peer->rtt
 * measures that part, from data of the peer to the sender's acknowledgements; its minimum is used.
 * out->rtt_p50 (ms) measures the rest, from the capture point to the receiver and back. Of the rest
 * the median is used: on a local network its minimum is as short as the time in which the sender's
 * host answers. */
static bool far_from_sender(const struct conn_dir *peer, const struct scps_trace_dir *out)
{
    return peer->rtt.n && out->rtt_p50 * 1000 < 3 * (double)peer->rtt_least;
}

void scps_tr_fingerprint(const struct conn_dir *h, const struct conn_dir *peer,
                         struct scps_trace_dir *out)
{
    const struct round *r = h->rounds;
    unsigned n = h->nrounds, first_loss = n, losses = 0;
    double mss = h->max_seg ? h->max_seg : 1;
    char *hint = out->controller_hint;
    const size_t cap = sizeof out->controller_hint;
    out->controller_decrease = NAN;
    out->controller_growth = NAN;
    snprintf(hint, cap, "too little to tell");
    for (unsigned i = n; i-- > 0;)
        if (r[i].resent) {
            first_loss = i;
            losses++;
        }
    if (n < 6 || h->data_pkts < 20)
        return;
    if (far_from_sender(peer, out)) {
        snprintf(hint, cap, "captured far from the sender");
        return;
    }

    double stray = rate_spread(r, n);
    unsigned doubling = doublings(r, n, first_loss, mss, h->initwin_bytes);
    bool flat = stray < 0.03 && doubling < 2 && window_spread(r, n) < 0.03;
    struct decrease dec = decrease(r, n, mss);
    double d = dec.factor, g = growth(r, n, first_loss, mss);
    const char *start = !h->syn_count   ? "start not seen"
                        : doubling >= 2 ? "slow start"
                                        : "no slow start";
    out->controller_decrease = d;
    out->controller_growth = g;
    if (!losses && out->window_limited > 0.5 && h->syn_count && peer->syn_count)
        snprintf(hint, cap, "limited by the peer's window");
    else if (!losses && out->app_limited > 0.5)
        snprintf(hint, cap, "limited by the application");
    else if (flat && d > 0.85)
        snprintf(hint, cap, "flat rate, losses ignored");
    else if (flat && !losses && h->syn_count)
        snprintf(hint, cap, "flat rate");
    else if (isnan(d))
        snprintf(hint, cap, "%s, %s", start, losses ? "losses unclear" : "no loss");
    else if (out->app_limited < 0.1 && falls_without_loss(r, n, first_loss, mss))
        snprintf(hint, cap, "window falls without loss");
    else if (!dec.agreed)
        snprintf(hint, cap, "%s, %s", start, dec.n == 1 ? "one recovery" : "decrease varies");
    else if (d < 0.4)
        snprintf(hint, cap, "%s, below half", start);
    else if (d < 0.6)
        snprintf(hint, cap, "%s, halving%s", start, g >= 0.3 && g <= 1.7 ? ", linear" : "");
    else if (d < 0.8)
        snprintf(hint, cap, "%s, cubic-like", start);
    else if (d < 0.93)
        snprintf(hint, cap, "%s, scalable-like", start);
    else
        snprintf(hint, cap, "%s, loss ignored", start);
}
