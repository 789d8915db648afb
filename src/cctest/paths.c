/* SPDX-License-Identifier: MIT */
/* Checks on the path model: on lossy or slow links, with coarse clocks and with split, rare or late
 * acknowledgements, the congestion window must neither collapse nor grow without bound.
 *
 * Unless a check says otherwise, the path has 10 Mbit/s and a round trip of 100 ms, so 125 segments
 * of 1000 octets are in flight when the path is full.
 */
#include "cctest/judge.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BDP = 125, RUNAWAY = 8 };
#define BPS UINT64_C(10000000)

/* One check: a path, a change of it, and the throughput and losses required after the change. */
struct trial {
    struct scps_cctest_path path;
    /* Durations, µs. warm: run before the change; then: from the change to the beginning of the
     * measurement; measure: measurement of throughput and losses */
    scps_dur warm, then, measure;
    /* values to which the change sets these parameters of the path; 0: the parameter does not
     * change */
    uint64_t bps;
    scps_dur delay, down;
    /* least: smallest throughput, as a share of the link's rate, with which the check passes;
     * most_lost: largest share of the segments sent that may be lost */
    double least, most_lost;
    /* Number of segments that path and queue hold at most; the check fails if cwnd exceeds RUNAWAY
     * times this number. */
    uint64_t fits;
};

static struct scps_cctest_path_result run_trial(const struct scps_cct_case *c,
                                                const struct trial *t, uint64_t *cwnd)
{
    struct scps_cctest_path_result r = {0};
    struct scps_cctest_line *l = scps_cctest_line_new(c->ops, c->param, &t->path, NULL, NULL);

    if (!l)
        return r;
    scps_cctest_line_run(l, t->warm);
    if (t->down) {
        scps_cctest_line_path(l)->down = true;
        scps_cctest_line_run(l, t->down);
        scps_cctest_line_path(l)->down = false;
    }
    if (t->bps)
        scps_cctest_line_path(l)->bps = t->bps;
    if (t->delay)
        scps_cctest_line_path(l)->delay = t->delay;
    scps_cctest_line_run(l, t->then);
    scps_cctest_line_mark(l);
    scps_cctest_line_run(l, t->measure);
    r = scps_cctest_line_result(l);
    *cwnd = scps_cctest_line_bench(l)->ctl.cwnd;
    scps_cctest_line_free(l);
    return r;
}

static void judge_trial(const struct scps_cct_case *c, const struct trial *t,
                        struct scps_cctest_verdict *v)
{
    uint64_t bps = t->bps ? t->bps : t->path.bps, cwnd = 0;
    struct scps_cctest_path_result r = run_trial(c, t, &cwnd);
    double use = (double)r.goodput / (double)bps;
    double lost = r.sent ? (double)(r.sent - SCPS_MIN(r.sent, r.delivered)) / (double)r.sent : 1;
    bool runaway = t->fits && r.peak_cwnd / 1000 > RUNAWAY * t->fits + 20;

    v->ok = use >= t->least && (t->most_lost <= 0 || lost <= t->most_lost) && !runaway;
    scps_cct_message(v->msg, sizeof v->msg,
                     "%.0f %% of the link (wanted: %.0f), %.1f %% lost (allowed: %.0f), %" PRIu64
                     " timeouts, window at most %" PRIu64 " segments (allowed: %" PRIu64 ")%s",
                     use * 100, t->least * 100, lost * 100,
                     t->most_lost > 0 ? t->most_lost * 100 : 100, r.timeouts, r.peak_cwnd / 1000,
                     RUNAWAY * t->fits + 20, runaway ? ": it runs away" : "");
}

/* ---- checks: the throughput with rare, late or bursty acknowledgements, or a coarse clock,
 * ---- compared with that on the same path when each segment is acknowledged ---- */

struct variant {
    const char *name; /* how the receiver acknowledges on this path */
    struct scps_cctest_path path;
};

static void compare(const struct scps_cct_case *c, const struct trial *plain,
                    const struct variant *other, size_t n, double least,
                    struct scps_cctest_verdict *v)
{
    uint64_t cwnd = 0, base = run_trial(c, plain, &cwnd).goodput;

    for (size_t i = 0; i < n && v->ok; i++) {
        struct trial t = *plain;
        struct scps_cctest_path_result r;
        bool runaway;

        t.path = other[i].path;
        r = run_trial(c, &t, &cwnd);
        runaway = r.peak_cwnd / 1000 > RUNAWAY * t.fits;
        v->ok = (double)r.goodput >= least * (double)base && base && !runaway;
        scps_cct_message(v->msg, sizeof v->msg,
                         "%s: %.2f Mbit/s, with an acknowledgement for each segment %.2f (wanted: "
                         "%.0f %% of it), window at most %" PRIu64 " segments (allowed: %" PRIu64
                         ")%s",
                         other[i].name, (double)r.goodput * 1e-6, (double)base * 1e-6, least * 100,
                         r.peak_cwnd / 1000, RUNAWAY * t.fits, runaway ? ": it runs away" : "");
    }
}

#define PLAIN  .bps = BPS, .delay = SCPS_MS(100)
#define ROUNDY .bps = BPS, .delay = SCPS_MS(100), .ack_every = 1, .seed = 1

static void acks(const struct scps_cct_case *c, struct scps_cctest_verdict *v)
{
    static const struct trial plain = {.path = {ROUNDY, .queue = 5 * BDP},
                                       .warm = SCPS_SEC(60),
                                       .measure = SCPS_SEC(60),
                                       .fits = 8 * BDP};
    static const struct variant other[] = {
        {"every second segment", {PLAIN, .queue = 5 * BDP, .ack_every = 2}},
        {"every 16th segment", {PLAIN, .queue = 5 * BDP, .ack_every = 16}},
        {"by the timer alone", {PLAIN, .queue = 5 * BDP}},
        {"by the timer, 20 ms late", {PLAIN, .queue = 5 * BDP, .late = SCPS_MS(20), .seed = 2}},
    };

    compare(c, &plain, other, SCPS_CCTEST_ROWS(other), 0.3, v);
}

static void aggregation(const struct scps_cct_case *c, struct scps_cctest_verdict *v)
{
    static const struct trial plain = {.path = {ROUNDY, .queue = 2 * BDP},
                                       .warm = SCPS_SEC(60),
                                       .measure = SCPS_SEC(60),
                                       .fits = 4 * BDP};
    static const struct variant other[] = {
        {"in bursts of 10 ms", {ROUNDY, .queue = 2 * BDP, .aggregate = SCPS_MS(10)}},
        {"in bursts of 50 ms", {ROUNDY, .queue = 2 * BDP, .aggregate = SCPS_MS(50)}},
    };

    compare(c, &plain, other, SCPS_CCTEST_ROWS(other), 0.5, v);
}

static void ticks(const struct scps_cct_case *c, struct scps_cctest_verdict *v)
{
    static const struct trial plain = {.path = {ROUNDY, .queue = BDP},
                                       .warm = SCPS_SEC(60),
                                       .measure = SCPS_SEC(60),
                                       .fits = 4 * BDP};
    static const struct variant other[] = {
        {"a clock of 10 ms", {ROUNDY, .queue = BDP, .tick = SCPS_MS(10)}},
        {"the same, every second segment",
         {PLAIN, .ack_every = 2, .queue = BDP, .tick = SCPS_MS(10)}},
    };

    compare(c, &plain, other, SCPS_CCTEST_ROWS(other), 0.5, v);
}

/* ---- checks: acknowledgements that are split (Savage and others 1999), or rare ---- */

/* Calls controller c as in three round trips of slow start, with one acknowledgement for every
 * `octets` octets. Returns the congestion window after that, bytes. */
static uint64_t slow_start(const struct scps_cct_case *c, uint64_t octets)
{
    struct scps_cctest t = {.ops = NULL};

    scps_cctest_start(&t, c->ops, c->param,
                      &(struct scps_cc_view){.mss = 1000, .init_cwnd = 16000});
    for (int round = 0; round < 3; round++) {
        uint64_t window = SCPS_MIN(t.ctl.cwnd, 500000), acks = SCPS_MAX(window / octets, 1);

        for (uint64_t i = 0; i < acks; i++) {
            struct scps_cctest_row r = {.kind = SCPS_CCTEST_ACK,
                                        .after = SCPS_MS(100) / (scps_dur)acks,
                                        .bytes = octets,
                                        .rtt = SCPS_MS(100),
                                        .rate = window * 10,
                                        .round = !i};
            scps_cctest_play(&t, &r, 1, NULL, 0);
        }
    }
    return t.ctl.cwnd;
}

static void ack_size(const struct scps_cct_case *c, uint64_t octets, struct scps_cctest_verdict *v)
{
    uint64_t plain = slow_start(c, 1000), other = slow_start(c, octets);

    v->run = plain != SCPS_CWND_OPEN;
    v->ok = !v->run || (octets < 1000 ? other <= plain + plain / 2 : other >= plain / 2);
    scps_cct_message(v->msg, sizeof v->msg,
                     "three round trips with an acknowledgement for each %" PRIu64
                     " octets: window %" PRIu64 " octets, for each segment of 1000 %" PRIu64
                     " (allowed: at %s)",
                     octets, other, plain, octets < 1000 ? "most 1.5 of it" : "least half of it");
}

/* ---- check: a pause of the application, after which the window may be out of date ---- */

static void pause(const struct scps_cct_case *c, struct scps_cctest_verdict *v)
{
    const struct scps_cctest_path p = {ROUNDY, .queue = BDP};
    struct scps_cctest_line *l = scps_cctest_line_new(c->ops, c->param, &p, NULL, NULL);
    const struct scps_cctest *t;
    uint64_t before, after, soon;

    if (!l)
        return;
    t = scps_cctest_line_bench(l);
    scps_cctest_line_run(l, SCPS_SEC(15));
    scps_cctest_line_mark(l);
    scps_cctest_line_run(l, SCPS_SEC(15));
    before = SCPS_MAX(scps_cctest_line_result(l).peak_cwnd, t->ctl.cwnd);
    scps_cctest_line_path(l)->app_bps = BPS / 10;
    scps_cctest_line_run(l, SCPS_SEC(60));
    after = t->ctl.cwnd;
    scps_cctest_line_path(l)->app_bps = 0;
    scps_cctest_line_mark(l);
    scps_cctest_line_run(l, SCPS_MS(250));
    soon = scps_cctest_line_result(l).peak_cwnd;
    scps_cctest_line_free(l);
    v->run = before != SCPS_CWND_OPEN;
    v->ok =
        !v->run || (after <= before + 20000 && soon <= SCPS_MAX(before, after + after / 4) + 20000);
    scps_cct_message(v->msg, sizeof v->msg,
                     "window at most %" PRIu64 " octets before, %" PRIu64
                     " at the end of the pause, "
                     "at most %" PRIu64 " in the two round trips after it (allowed: %" PRIu64 ")",
                     before, after, soon, SCPS_MAX(before, after + after / 4) + 20000);
}

/* ---- checks that measure the throughput on a path, some of them after a change of it ---- */

static const struct trial trials[SCPS_CCTEST_CHECKS] = {
    [SCPS_CCTEST_USE] = {.path = {ROUNDY, .queue = BDP},
                         .warm = SCPS_SEC(30),
                         .measure = SCPS_SEC(60),
                         .least = 0.7,
                         .most_lost = 0.1,
                         .fits = 2 * BDP},
    [SCPS_CCTEST_REGROWTH] = {.path = {ROUNDY, .queue = BDP / 3},
                              .warm = SCPS_SEC(30),
                              .measure = SCPS_SEC(60),
                              .least = 0.6,
                              .most_lost = 0.3,
                              .fits = 2 * BDP},
    [SCPS_CCTEST_POLICER] = {.path = {ROUNDY, .policer = BDP / 2},
                             .warm = SCPS_SEC(30),
                             .measure = SCPS_SEC(60),
                             .least = 0.25,
                             .most_lost = 0.3,
                             .fits = 2 * BDP},
    [SCPS_CCTEST_LONGER] =
        {.path = {.bps = BPS, .delay = SCPS_MS(50), .ack_every = 2, .queue = 5 * BDP},
         .warm = SCPS_SEC(30),
         .delay = SCPS_MS(500),
         .then = SCPS_SEC(300),
         .measure = SCPS_SEC(60),
         .least = 0.5,
         .fits = 10 * BDP},
    [SCPS_CCTEST_SHORTER] =
        {.path = {.bps = BPS, .delay = SCPS_MS(500), .ack_every = 2, .queue = BDP},
         .warm = SCPS_SEC(60),
         .delay = SCPS_MS(50),
         .then = SCPS_SEC(30),
         .measure = SCPS_SEC(30),
         .least = 0.6,
         .fits = 10 * BDP},
    [SCPS_CCTEST_FASTER] =
        {.path = {.bps = BPS / 100, .delay = SCPS_MS(100), .ack_every = 1, .queue = BDP},
         .warm = SCPS_SEC(120),
         .bps = BPS,
         .then = SCPS_SEC(60),
         .measure = SCPS_SEC(30),
         .least = 0.5,
         .fits = 4 * BDP},
    [SCPS_CCTEST_SLOWER] = {.path = {ROUNDY, .queue = BDP},
                            .warm = SCPS_SEC(30),
                            .bps = BPS / 100,
                            .then = SCPS_SEC(120),
                            .measure = SCPS_SEC(120),
                            .least = 0.4,
                            .most_lost = 0.3,
                            .fits = 2 * BDP},
    [SCPS_CCTEST_OUTAGE] = {.path = {ROUNDY, .queue = BDP},
                            .warm = SCPS_SEC(30),
                            .down = SCPS_SEC(10),
                            .then = SCPS_SEC(40),
                            .measure = SCPS_SEC(30),
                            .least = 0.6,
                            .fits = 2 * BDP},
};

void scps_cct_path_check(const struct scps_cct_case *c, struct scps_cctest_verdict *v)
{
    switch (v->check) {
    case SCPS_CCTEST_ACKS:
        acks(c, v);
        break;
    case SCPS_CCTEST_SPLIT_ACKS:
        ack_size(c, 50, v);
        break;
    case SCPS_CCTEST_STRETCH_ACKS:
        ack_size(c, 16000, v);
        break;
    case SCPS_CCTEST_AGGREGATION:
        aggregation(c, v);
        break;
    case SCPS_CCTEST_TICKS:
        ticks(c, v);
        break;
    case SCPS_CCTEST_PAUSE:
        pause(c, v);
        break;
    default:
        judge_trial(c, &trials[v->check], v);
        break;
    }
}

/* ---- check: comparison with published formulas of window growth ---- */

static void response(const struct scps_cct_case *c, const struct scps_cctest_form *f,
                     struct scps_cctest_verdict *v)
{
    static const uint64_t period[] = {300, 3000, 30000};

    for (size_t i = 0; i < SCPS_CCTEST_ROWS(period) && v->ok; i++) {
        double want = f->window(1 / (double)period[i], 0.1);
        double got = scps_cctest_response(c->ops, c->param, period[i], SCPS_MS(100), 20, 40);

        v->ok = got >= want * (1 - f->tolerance) && got <= want * (1 + f->tolerance);
        scps_cct_message(v->msg, sizeof v->msg,
                         "%s: one loss in %" PRIu64 " segments, 100 ms: %.1f segments, closed form "
                         "%.1f, tolerance %.0f %%",
                         f->name, period[i], got, want, f->tolerance * 100);
    }
}

static void growth(const struct scps_cct_case *c, const struct scps_cctest_form *f,
                   struct scps_cctest_verdict *v)
{
    static const unsigned rounds[] = {1, 10, 40};

    for (size_t i = 0; i < SCPS_CCTEST_ROWS(rounds) && v->ok; i++) {
        double want = f->growth(200, rounds[i], 0.1);
        double got = scps_cctest_growth(c->ops, c->param, 200, rounds[i], SCPS_MS(100));

        v->ok = got >= want * (1 - f->growth_tolerance) && got <= want * (1 + f->growth_tolerance);
        scps_cct_message(v->msg, sizeof v->msg,
                         "%s: %u round trips of 100 ms after a loss at 200 segments: %.1f, closed "
                         "form %.1f, tolerance %.0f %%",
                         f->name, rounds[i], got, want, f->growth_tolerance * 100);
    }
}

void scps_cct_form_check(const struct scps_cct_case *c, const struct scps_cctest_form *f,
                         struct scps_cctest_verdict *v)
{
    if (v->check == SCPS_CCTEST_GROWTH && f && f->growth)
        growth(c, f, v);
    else if (v->check == SCPS_CCTEST_RESPONSE && f && f->window)
        response(c, f, v);
    else
        v->run = false;
}
