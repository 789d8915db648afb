/* SPDX-License-Identifier: MIT */
/* Looks up tables of a simulated link that depend on time: steps (rates), points with linear
 * interpolation (delays), spans (outages, contacts). A table applies once, or repeats with a
 * period.
 *
 * A lookup is a bisection, so long tables cost a packet little more than short ones. Only integers
 * are used.
 */
#include "sim/plan.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "base/wide.h"

bool scps_steps_ok(const struct scps_steps *s, uint64_t max)
{
    if (s->n && !s->v)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].at < 0 || s->v[i].value > max || (i > 0 && s->v[i].at < s->v[i - 1].at))
            return false;
    return s->period >= 0 && (s->n == 0 || s->period == 0 || s->period > s->v[s->n - 1].at);
}

bool scps_spans_ok(const struct scps_spans *s)
{
    if (s->n && !s->v)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].from < 0 || s->v[i].to <= s->v[i].from ||
            (i > 0 && s->v[i].from < s->v[i - 1].to))
            return false;
    return s->period >= 0 && (s->n == 0 || s->period == 0 || s->period >= s->v[s->n - 1].to);
}

/* Returns the time, µs, at which the period of a table that contains the time *t begins, and
 * changes *t to the time since then. period 0: the table does not repeat, so the result is 0 and *t
 * stays. */
static scps_time cut(scps_dur period, scps_time *t)
{
    scps_time begin = period && *t > 0 ? *t - *t % period : 0;

    *t -= begin;
    return begin;
}

/* Returns how many of n rows, which ascend by time, have a time at or before t, µs. Each row has
 * `size` bytes and begins with its time, a scps_time. */
static uint32_t rows_by(const void *rows, uint32_t n, size_t size, scps_time t)
{
    uint32_t lo = 0, hi = n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        scps_time begin;
        memcpy(&begin, (const char *)rows + mid * size, sizeof begin);
        if (begin <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static uint32_t steps_by(const struct scps_steps *s, scps_time t)
{
    return rows_by(s->v, s->n, sizeof s->v[0], t);
}

uint64_t scps_steps_at(const struct scps_steps *s, scps_time t, scps_time *until)
{
    scps_time begin = cut(s->period, &t);
    uint32_t n = steps_by(s, t);

    if (n < s->n)
        *until = begin + s->v[n].at;
    else
        *until = s->period ? begin + s->period : SCPS_NEVER;
    return s->v[n ? n - 1 : 0].value;
}

uint64_t scps_steps_between(const struct scps_steps *s, scps_time t)
{
    cut(s->period, &t);
    uint32_t n = steps_by(s, t);
    const struct scps_step *a = &s->v[n ? n - 1 : 0], *b = &s->v[n < s->n ? n : s->n - 1];

    if (a->at >= b->at || t < a->at)
        return a->value;
    uint64_t gone = (uint64_t)(t - a->at), all = (uint64_t)(b->at - a->at);
    return b->value >= a->value ? a->value + scps_muldiv(b->value - a->value, gone, all)
                                : a->value - scps_muldiv(a->value - b->value, gone, all);
}

uint64_t scps_steps_sum(const struct scps_steps *s)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        scps_time to = i + 1 < s->n ? s->v[i + 1].at : s->period;
        uint64_t part = scps_muldiv(s->v[i].value, (uint64_t)(to - (i ? s->v[i].at : 0)), 1);
        sum = part > UINT64_MAX - sum ? UINT64_MAX : sum + part;
    }
    return sum;
}

void scps_steps_send(const struct scps_steps *rates, uint64_t bits_us, scps_time *us,
                     uint64_t *frac)
{
    for (;;) {
        scps_time until;
        if (rates->period && *us % rates->period == 0 && *frac == 0) {
            uint64_t round = scps_steps_sum(rates), whole = (bits_us - 1) / round;
            /* Whole periods of the table of rates are skipped, so that a short period does not cost
             * many iterations. */
            bits_us -= whole * round;
            *us += (scps_time)whole * rates->period;
        }
        uint64_t rate = scps_steps_at(rates, *us, &until);
        uint64_t room = scps_muldiv((uint64_t)(until - *us), rate, 1);
        if (rate && bits_us + *frac <= room) {
            bits_us += *frac;
            *us += (scps_time)(bits_us / rate);
            *frac = bits_us % rate;
            return;
        }
        bits_us -= room > *frac ? room - *frac : 0;
        *us = until;
        *frac = 0;
    }
}

bool scps_steps_sent(const struct scps_steps *rates, scps_time from, scps_time to,
                     uint64_t *bits_us)
{
    bool stops = false;
    scps_time until;

    *bits_us = 0;
    /* All whole periods but one are skipped; the loop below looks at each rate of that one. */
    if (rates->period && (to - from) / rates->period > 1) {
        scps_time whole = (to - from) / rates->period - 1;
        *bits_us = (uint64_t)whole * scps_steps_sum(rates);
        to -= whole * rates->period;
    }
    for (; from < to; from = until) {
        uint64_t rate = scps_steps_at(rates, from, &until);
        until = SCPS_MIN(until, to);
        *bits_us += rate * (uint64_t)(until - from);
        stops = stops || rate == 0;
    }
    return stops;
}

scps_dur scps_delay_least(const struct scps_link_config *c)
{
    uint64_t least = c->delays.n ? c->delays.v[0].value : (uint64_t)c->delay;

    for (uint32_t i = 1; i < c->delays.n; i++)
        least = SCPS_MIN(least, c->delays.v[i].value);
    return (scps_dur)least;
}

_Static_assert(offsetof(struct scps_step, at) == 0 && offsetof(struct scps_span, from) == 0,
               "rows_by counts on it");

/* Returns true if time t, µs, is in an outage. The spans of the table are outages or, if s->inverse
 * is true, contacts, and all other times are outages. Sets *until to the next time after t at which
 * a span begins or ends; SCPS_NEVER: there is none. */
static bool down(const struct scps_spans *s, scps_time t, scps_time *until)
{
    scps_time begin = cut(s->period, &t);
    uint32_t n = rows_by(s->v, s->n, sizeof s->v[0], t);

    if (n > 0 && t < s->v[n - 1].to) {
        *until = begin + s->v[n - 1].to;
        return !s->inverse;
    }
    if (n < s->n)
        *until = begin + s->v[n].from;
    else
        *until = s->period ? begin + s->period + s->v[0].from : SCPS_NEVER;
    return s->inverse;
}

bool scps_spans_hit(const struct scps_spans *s, scps_time from, scps_time to)
{
    scps_time until;

    for (uint32_t i = 0; i <= s->n + 1; i++, from = until)
        if (down(s, from, &until))
            return true;
        else if (until >= to)
            break;
    /* No outage begins before `to`, or one whole period of the table has no outage, so there is
     * none at any time. */
    return false;
}

scps_time scps_spans_up(const struct scps_spans *s, scps_time t)
{
    scps_time until;

    for (uint32_t i = 0; i <= s->n + 1; i++, t = until)
        if (!down(s, t, &until))
            return t;
        else if (until == SCPS_NEVER)
            break;
    /* An outage that did not end within one whole period of the table never ends. */
    return SCPS_NEVER;
}

/* Largest number of changes of rate or outage that scps_line_done() follows one by one; if the bits
 * are not sent by then, it continues with the mean rate so far. */
#define ROWS_MOST 200000

/* Returns the rate of the line at t (µs), bit/s: 0 during an outage, otherwise the rate of the
 * table but at most `most`; without a table, `most`. Sets *until to the time, µs, until which this
 * rate holds. */
static double line_rate(const struct scps_link_config *c, scps_time t, double most,
                        scps_time *until)
{
    scps_time other = SCPS_NEVER;
    double rate = most;

    *until = SCPS_NEVER;
    if (c->outages.n && down(&c->outages, t, until))
        return 0;
    if (c->rates.n)
        rate = SCPS_MIN(most, (double)scps_steps_at(&c->rates, t, &other));
    *until = SCPS_MIN(*until, other);
    return rate;
}

double scps_line_done(const struct scps_link_config *c, double start, double bits, double rate)
{
    double at = start, sent = 0;

    for (uint32_t i = 0; i < ROWS_MOST; i++) {
        scps_time until;
        double r = line_rate(c, (scps_time)(at * 1e6 + 0.5), rate, &until);

        if (r > 0 && (until == SCPS_NEVER || at + (bits - sent) / r <= (double)until * 1e-6))
            return at + (bits - sent) / r;
        if (until == SCPS_NEVER)
            return -1;
        sent += r * ((double)until * 1e-6 - at);
        at = (double)until * 1e-6;
    }
    return sent > 0 ? start + bits * (at - start) / sent : -1;
}
