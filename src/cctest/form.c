/* SPDX-License-Identifier: MIT */
/* Compares the mean window that a controller reaches at a given loss rate and round trip with the
 * published formula of its algorithm. */
#include "cctest/bench.h"

#include "base/bytes.h"
#include "base/wide.h"

#include <math.h>
#include <string.h>

/* ---- functions that measure a controller by playing round trips to it ---- */

/* Calls the controller as in one round trip of length rtt, µs, without loss: a full cwnd was sent,
 * and `acks` acknowledgements, which cover all of it, arrive. */
static void round_trip(struct scps_cctest *t, unsigned acks, scps_dur rtt)
{
    uint64_t left = t->ctl.cwnd;

    for (unsigned i = 0; i < acks; i++) {
        struct scps_cctest_row r = {.kind = SCPS_CCTEST_ACK,
                                    .after = rtt / acks,
                                    .bytes = left / (acks - i),
                                    .rtt = rtt,
                                    .rtt_old = rtt,
                                    .rate = scps_muldiv(t->ctl.cwnd, 1000000, (uint64_t)rtt),
                                    .round = !i};
        left -= r.bytes;
        scps_cctest_play(t, &r, 1, NULL, 0);
    }
}

static void lose_one(struct scps_cctest *t, scps_dur rtt)
{
    struct scps_cctest_row r[] = {
        {.kind = SCPS_CCTEST_LOSS, .after = rtt, .bytes = t->view.mss, .fresh = true},
        {.kind = SCPS_CCTEST_CHANGE, .what = SCPS_CC_RECOVERED}};

    scps_cctest_play(t, r, SCPS_CCTEST_ROWS(r), NULL, 0);
}

double scps_cctest_response(const struct scps_cc_ops *ops, const int64_t *param, uint64_t period,
                            scps_dur rtt, unsigned acks, unsigned losses)
{
    struct scps_cctest t = {.ops = NULL};
    uint64_t since = 0, rounds = 0;
    double sum = 0;

    if (rtt < 1)
        return 0;
    scps_cctest_start(&t, ops, param, &(struct scps_cc_view){.mss = 1000, .srtt = rtt});
    lose_one(&t, rtt); /* The loss ends slow start. */
    /* The number of round trips is limited, because with a controller that never reduces its window
     * the loop might not end. */
    for (unsigned n = 0; n < losses && rounds < UINT64_C(1) << 22; rounds++) {
        uint64_t window = t.ctl.cwnd;

        if (window == SCPS_CWND_OPEN)
            return 0;
        round_trip(&t, acks, rtt);
        since += window;
        if (n >= losses / 2)
            sum += (double)window * 1e-3;
        else
            rounds = 0;
        if (since < period * 1000)
            continue;
        since -= period * 1000;
        lose_one(&t, rtt);
        /* lose_one() has played the round trip in which the controller recovers. The window of that
         * round trip is a part of the mean; its segments do not count as segments between two
         * losses. */
        if (++n > losses / 2) {
            sum += (double)t.ctl.cwnd * 1e-3;
            rounds++;
        }
    }
    return rounds ? sum / (double)rounds : 0;
}

double scps_cctest_growth(const struct scps_cc_ops *ops, const int64_t *param, unsigned w,
                          unsigned n, scps_dur rtt)
{
    struct scps_cctest t = {.ops = NULL};

    if (rtt < 1)
        return 0;
    scps_cctest_start(
        &t, ops, param,
        &(struct scps_cc_view){.mss = 1000, .srtt = rtt, .init_cwnd = (uint64_t)w * 1000});
    lose_one(&t, rtt);
    for (unsigned i = 0; i < n; i++)
        round_trip(&t, 10, rtt);
    return (double)t.ctl.cwnd * 1e-3;
}

/* ---- functions that compute published laws of window growth ---- */

static double reno(double p, double rtt)
{
    (void)rtt;
    return sqrt(1.5 / p);
}
static double reno_growth(double w, unsigned n, double rtt)
{
    (void)rtt;
    return w / 2 + n;
}

static double cubic(double p, double rtt)
{
    double curve = pow(0.4 * 3.7 / (4 * 0.3), 0.25) * pow(rtt, 0.75) / pow(p, 0.75);

    return SCPS_MAX(curve, reno(p, rtt));
}
static double cubic_growth(double w, unsigned n, double rtt)
{
    double k = cbrt(0.3 * w / 0.4), t = rtt * n - k;
    double curve = 0.4 * t * t * t + w, friendly = 0.7 * w + 3 * 0.3 / 1.7 * n;

    return SCPS_MAX(curve, friendly);
}

static double highspeed(double p, double rtt)
{
    double w = 0.12 / pow(p, 0.835);

    return w > 38 ? w : reno(p, rtt);
}
static double highspeed_growth(double w, unsigned n, double rtt)
{
    double now = w;

    (void)rtt;
    for (unsigned i = 0; i <= n; i++) {
        double b = -0.4 * (log(now) - log(38)) / (log(83000) - log(38)) + 0.5;
        double a = now * now * 0.078 / pow(now, 1.2) * 2 * b / (2 - b);
        now = now <= 38 ? (i ? now + 1 : now / 2) : i ? now + a : now * (1 - b);
    }
    return now;
}

static double scalable(double p, double rtt)
{
    double w = 0.075 / p;

    return w > 16 ? w : reno(p, rtt);
}
static double scalable_growth(double w, unsigned n, double rtt)
{
    (void)rtt;
    return 0.875 * w * pow(1.01, n);
}

static double rho(double rtt)
{
    return SCPS_MAX(rtt / 0.025, 1);
}
static double hybla(double p, double rtt)
{
    return rho(rtt) * reno(p, rtt);
}
static double hybla_growth(double w, unsigned n, double rtt)
{
    return w / 2 + rho(rtt) * rho(rtt) * n;
}

static const struct scps_cctest_form forms[] = {
    {"reno", "a loss halves the window, which then grows by one segment in a round trip (RFC 5681)",
     reno, 0.1, reno_growth, 0.05},
    {"cubic", "the window is the cubic curve of RFC 9438, or Reno's window where that is larger",
     cubic, 0.25, cubic_growth, 0.1},
    {"highspeed", "the mean window is the response function of RFC 3649", highspeed, 0.35,
     highspeed_growth, 0.15},
    {"scalable",
     "each acknowledged segment adds 0.01 segments, and a loss removes an eighth (Kelly)", scalable,
     0.25, scalable_growth, 0.05},
    {"hybla", "the window grows as Reno's does with a round trip of 25 ms (Hybla)", hybla, 0.15,
     hybla_growth, 0.1},
};

const struct scps_cctest_form *scps_cctest_form_at(size_t i)
{
    return i < SCPS_CCTEST_ROWS(forms) ? &forms[i] : NULL;
}

const struct scps_cctest_form *scps_cctest_form_find(const char *name)
{
    for (size_t i = 0; i < SCPS_CCTEST_ROWS(forms); i++)
        if (!strcmp(forms[i].name, name))
            return &forms[i];
    return NULL;
}
