/* SPDX-License-Identifier: MIT */
/* CUBIC: after a loss, the window returns to that of the loss by a cubic curve over time.
 *
 *   cwnd                                     ____/  probing: convex
 *        W_max - - - - - - - ____----------/
 *                     ___---        plateau: near the old window growth is slow
 *        beta W_max _/   concave                      W_cubic(t) = C (t - K)^3 + W_max
 *                   0                K            t   K = cbrt((W_max - cwnd at 0) / C)
 *
 * Growth depends on the time since the loss, not on the round trip, so a long path has less of a
 * disadvantage. Where Reno would be faster (short round trips, small windows), the window follows
 * the estimate of Reno's window.
 *
 * Source: RFC 9438 sections 4.1 to 4.10: C = 0.4 segments/s^3, beta 0.7, alpha 3(1-beta)/(1+beta)
 * until the Reno-friendly estimate has passed the window of the loss, then 1; fast convergence;
 * target between cwnd and 1.5 cwnd; K = 0 and W_max = cwnd when congestion avoidance began without
 * a loss or after a timeout; time in which the window was not the limit does not count (section
 * 5.8). The restart window after an idle time leaves W_max as it is, because no loss has shown less
 * capacity. HyStart++ is used as section 4.10 advises.
 *
 * Arithmetic is in integers: bytes and microseconds; (t - K)^3 is computed in steps of 1e-6 s^3,
 * which is less than a byte of window, and K in steps of 100 us. tests/unit/test_cc_cubic.c
 * compares the result with floating point.
 *
 * Differences from the RFC: growth counts bytes, not ACKs (window.c); the loss response uses the
 * smaller of FlightSize and cwnd.
 */
#include "cc/cc.h"
#include "cc/window.h"

#include "base/bytes.h"
#include "base/wide.h"

struct cubic {
    struct scps_win win;
    /* c: constant C of RFC 9438, in 1/1000 segments per s^3; beta: beta_cubic, in 1/1024 */
    uint16_t c, beta;
    bool fast, friendly;
    bool running; /* true: an epoch of congestion avoidance has begun */
    /* true: w_max is the window at the last loss; false: the next epoch starts with K = 0 and W_max
     * = cwnd */
    bool from_loss;
    scps_time epoch; /* beginning of the epoch of congestion avoidance (t = 0 of W_cubic), µs */
    scps_time last_ack;
    scps_dur k;
    /* in bytes: w_max: W_max of RFC 9438; w_est: the Reno-friendly estimate W_est; prior:
     * cwnd_prior, the window before the last reduction, or at the end of the first slow start; 0:
     * neither has occurred on this path */
    uint64_t w_max, w_est, prior;
    /* remainder of the growth of w_est: acknowledged bytes that have not increased w_est yet,
     * multiplied by the MSS and by the numerator of alpha (see estimate()) */
    uint64_t est_credit;
};

enum { P_C = SCPS_WIN_PARAMS, P_BETA, P_FAST, P_FRIENDLY };

static const struct scps_cc_param params[] = {
    SCPS_WIN_PARAM_LIST(1),
    {"c", "C of RFC 9438, in 1/1000 segments per s^3", 400, 1, 65535},
    {"beta", "beta of RFC 9438: part of the window that a loss leaves, x/1024", 717, 512, 1000},
    {"fast", "1: fast convergence (RFC 9438 section 4.7); 0: none", 1, 0, 1},
    {"friendly",
     "1: grow at least as fast as Reno (RFC 9438 section 4.3); 0: the cubic curve alone", 1, 0, 1},
    {NULL, NULL, 0, 0, 0},
};

static void start(void *s, const int64_t *param, const struct scps_cc_view *v,
                  struct scps_cc_ctl *ctl)
{
    struct cubic *cu = s;

    *cu = (struct cubic){
        .c = (uint16_t)param[P_C],
        .beta = (uint16_t)param[P_BETA],
        .fast = param[P_FAST] != 0,
        .friendly = param[P_FRIENDLY] != 0,
    };
    scps_win_start(&cu->win, param, sizeof *cu, v, ctl);
}

/* ---- functions that compute the cubic curve of the window ---- */

/* Returns the largest x with x^3 <= n. */
static uint64_t cube_root(uint64_t n)
{
    uint64_t x = 0;

    for (int bit = 21; bit >= 0; bit--) {
        uint64_t y = x | UINT64_C(1) << bit;
        if (y <= 2642245 && y * y * y <= n)
            x = y;
    }
    return x;
}

/* Returns the time in which the cubic curve changes by `bytes`, µs: the K of RFC 9438. */
static scps_dur time_for(const struct cubic *cu, uint64_t bytes, uint32_t mss)
{
    /* K^3 = bytes / (C mss) in s^3, and cu->c is 1000 C. The factor 1e15 gives K^3 in units of
     * 1e-12 s^3, and the cube root of that is K in 1e-4 s. */
    uint64_t cubed = scps_muldiv(bytes, UINT64_C(1000000000000000), (uint64_t)cu->c * mss);
    return (scps_dur)cube_root(cubed) * 100;
}

/* Returns C |t|^3 in bytes: how far the cubic curve is from W_max at t µs after (t > 0) or before
 * (t < 0) the time K at which it reaches W_max. */
static uint64_t curve(const struct cubic *cu, scps_dur t, uint32_t mss)
{
    uint64_t d = t < 0 ? -(uint64_t)t : (uint64_t)t;
    /* cubed is |t|^3 in units of 1e-6 s^3. */
    uint64_t cubed = scps_muldiv(scps_muldiv(d, d, 1000000), d, 1000000);

    return scps_muldiv(cubed, (uint64_t)cu->c * mss, UINT64_C(1000000000));
}

static uint64_t w_cubic(const struct cubic *cu, scps_dur t, uint32_t mss)
{
    uint64_t d = curve(cu, t - cu->k, mss);

    if (t >= cu->k)
        return d > UINT64_MAX - cu->w_max ? UINT64_MAX : cu->w_max + d;
    return cu->w_max - SCPS_MIN(cu->w_max, d);
}

static void begin(struct cubic *cu, const struct scps_cc_view *v, uint64_t cwnd)
{
    cu->running = true;
    cu->epoch = cu->last_ack = v->now;
    cu->w_est = cwnd;
    cu->est_credit = cu->win.credit = 0;
    if (cu->from_loss && cu->w_max > cwnd) {
        cu->k = time_for(cu, cu->w_max - cwnd, v->mss);
    } else {
        cu->k = 0;
        cu->w_max = cwnd;
    }
    if (!cu->prior)
        cu->prior = cwnd;
}

/* Updates w_est, the Reno-friendly estimate W_est of RFC 9438: it grows by alpha segments for every
 * cwnd bytes acknowledged. */
static void estimate(struct cubic *cu, const struct scps_cc_view *v, uint64_t bytes, uint64_t cwnd)
{
    uint64_t num = 3 * (1024u - cu->beta), den = 1024u + cu->beta;

    if (cu->w_est >= cu->prior)
        num = den;
    cu->est_credit += bytes * v->mss * num;
    uint64_t grow = cu->est_credit / (den * cwnd);
    cu->est_credit -= grow * den * cwnd;
    cu->w_est += grow;
}

static void avoid(struct cubic *cu, const struct scps_cc_view *v, uint64_t bytes,
                  struct scps_cc_ctl *ctl)
{
    uint64_t cwnd = ctl->cwnd;

    if (!cu->running)
        begin(cu, v, cwnd);
    scps_dur t = v->now - cu->epoch;
    uint64_t target = w_cubic(cu, t + v->srtt, v->mss);
    target = SCPS_CLAMP(target, cwnd, cwnd + cwnd / 2);

    estimate(cu, v, bytes, cwnd);
    if (cu->friendly && w_cubic(cu, t, v->mss) < cu->w_est) {
        ctl->cwnd = SCPS_MAX(cwnd, cu->w_est);
        return;
    }
    /* Each acknowledged byte grows the window by (target - cwnd) / cwnd bytes; the remainder of the
     * division is kept for the next ACK. */
    cu->win.credit += bytes * (target - cwnd);
    uint64_t grow = cu->win.credit / cwnd;
    cu->win.credit -= grow * cwnd;
    ctl->cwnd = cwnd + grow;
}

/* ---- functions for the events of a connection ---- */

static void ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                struct scps_cc_ctl *ctl)
{
    struct cubic *cu = s;
    uint64_t bytes = scps_win_credit(&cu->win, v, a, ctl);

    /* Time in which cwnd did not limit sending, or nothing was in flight, does not count in t of
     * W_cubic(t) (RFC 9438 section 5.8): the beginning of the epoch is moved by it. If this ACK may
     * grow the window (bytes is not 0), that is the time since the last ACK less two SRTT, since
     * data in flight is acknowledged sooner; otherwise all the time since the last ACK. */
    scps_dur silent = v->now - cu->last_ack - (bytes ? 2 * v->srtt : 0);
    if (silent > 0)
        cu->epoch += silent;
    bytes = scps_win_slow_start(&cu->win, v, a, bytes, ctl);
    if (bytes)
        avoid(cu, v, bytes, ctl);
    cu->last_ack = v->now;
}

/* Called when a loss has reduced the window from cwnd bytes: sets w_max. Fast convergence: if cwnd
 * is below the last w_max, w_max becomes lower than cwnd, which leaves bandwidth to other flows. */
static void remember(struct cubic *cu, uint64_t cwnd)
{
    cu->prior = cwnd;
    if (cu->fast && cu->from_loss && cwnd < cu->w_max)
        cu->w_max = scps_muldiv(cwnd, 1024u + cu->beta, 2048);
    else
        cu->w_max = cwnd;
    cu->from_loss = true;
    cu->running = false;
}

static void loss(void *s, const struct scps_cc_view *v, const struct scps_cc_loss *l,
                 struct scps_cc_ctl *ctl)
{
    struct cubic *cu = s;
    uint64_t before = ctl->cwnd;

    if (scps_win_loss(&cu->win, v, l, cu->beta, ctl))
        remember(cu, before);
}

static void change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                   struct scps_cc_ctl *ctl)
{
    struct cubic *cu = s;
    const struct scps_cc_ctl before = *ctl;

    if (!scps_win_change(&cu->win, v, what, cu->beta, ctl))
        return;
    cu->running = false;
    if (what == SCPS_CC_IDLE)
        return;
    cu->from_loss = false;
    if (what == SCPS_CC_PATH)
        cu->prior = 0;
    else if (ctl->ssthresh != before.ssthresh)
        /* RFC 9438 section 4.1.2: cwnd_prior is the window "at the time of setting ssthresh most
         * recently". A timeout leaves ssthresh as it is if the segment has timed out before, and
         * usually if a loss in the same window of data has reduced ssthresh. */
        cu->prior = before.cwnd;
}

const struct scps_cc_ops scps_cc_cubic = {
    .name = "cubic",
    .help = "CUBIC (RFC 9438): window grows with the time since the last loss",
    .state_size = sizeof(struct cubic),
    .params = params,
    .start = start,
    .ack = ack,
    .loss = loss,
    .change = change,
    .more_state = scps_win_more_state,
};
