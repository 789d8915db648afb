/* SPDX-License-Identifier: MIT */
/* Tables in a link's description.
 *
 *     rates=0s:10mbit+30s:2mbit+45s:10mbit/60s        a fade of 15 s each minute
 *     outage=20s-23s+50s-51s                          or a file: outage=@FILE
 *
 * A pass: seen from a station on a sphere of radius R, a satellite at radius r = R + altitude that
 * crosses the zenith is at distance d, with
 *
 *     d(t)^2 = R^2 + r^2 - 2 R r cos(w t),   w^2 = GM / r^3,
 *
 * t = 0 at the zenith, above the horizon while cos(w t) > R / r (the Earth's rotation is left out).
 * The table has a row for each second, and between rows the delay is interpolated linearly, which
 * at 550 km is within 0.1 us of the curve. cos is computed by its series in x = (w t)^2 with 48
 * binary places, so every machine has the same table.
 */
#include "sim/linktable.h"

#include "base/wide.h"
#include "sim/plan.h"

#include <stdio.h>
#include <string.h>

#define EARTH_RADIUS 6378137u /* equatorial radius of WGS 84, m */
/* gravitational constant of the Earth (GM of WGS 84), m^3/s^2 */
#define EARTH_GM  UINT64_C(398600441800000)
#define LIGHT     299792458u /* speed of light, m/s */
#define MAX_DELAY (INT64_MAX / 1024)
#define ROWS_MAX  1000000u

void *scps_tables_take(struct scps_link_tables *t, size_t size)
{
    struct scps_link_block *b = t->alloc.alloc(t->alloc.ctx, sizeof *b + size);

    if (!b)
        return NULL;
    b->next = t->blocks;
    b->size = sizeof *b + size;
    t->blocks = b;
    return b->data;
}

void scps_link_tables_free(struct scps_link_tables *t)
{
    if (!t)
        return;
    struct scps_alloc a = t->alloc;
    for (struct scps_link_block *b = t->blocks, *next; b; b = next) {
        next = b->next;
        a.free(a.ctx, b, b->size);
    }
    a.free(a.ctx, t, sizeof *t);
}

/* ---- functions that parse the rows of tables ---- */

static const char no_memory[] = "out of memory", no_row[] = "there is no row";

static struct scps_text trim(struct scps_text t)
{
    const char *hash = t.n ? memchr(t.p, '#', t.n) : NULL;

    if (hash)
        t.n = (size_t)(hash - t.p);
    while (t.n > 0 && strchr(" \t\r", *t.p)) {
        t.p++;
        t.n--;
    }
    while (t.n > 0 && strchr(" \t\r", t.p[t.n - 1]))
        t.n--;
    return t;
}

/* Removes the next row that is not empty from *rest and sets *row to it. "/TIME" behind a row, or
 * alone, is the table's period: *period is set to TIME. Returns false if no row is left. */
static bool next_row(struct scps_text *rest, struct scps_text *row, struct scps_text *period)
{
    while (rest->n) {
        struct scps_text line = scps_text_cut(rest, "+\n");
        line = trim(line);
        *row = trim(scps_text_cut(&line, "/"));
        if (line.n)
            *period = trim(line);
        if (row->n)
            return true;
    }
    return false;
}

static uint32_t count_rows(struct scps_text text)
{
    struct scps_text row, period;
    uint32_t n = 0;

    while (n <= ROWS_MAX && next_row(&text, &row, &period))
        n++;
    return n;
}

/* Counts the rows of text into *n, and allocates *rows for so many structures of `size` bytes.
 * Returns NULL, or the text of an error message. */
static const char *room_for(struct scps_link_tables *t, struct scps_text text, size_t size,
                            void **rows, uint32_t *n)
{
    *n = count_rows(text);
    if (*n == 0)
        return no_row;
    if (*n > ROWS_MAX)
        return "more than a million rows";
    *rows = scps_tables_take(t, *n * size);
    return *rows ? NULL : no_memory;
}

static const char *wrong(char why[128], struct scps_text row, const char *what)
{
    snprintf(why, 128, "'%.*s': %s", (int)(row.n > 30 ? 30 : row.n), row.p, what);
    return why;
}

static const char *read_period(struct scps_text text, scps_time behind, scps_dur *out,
                               char why[128])
{
    const char *bad = text.n ? scps_text_time(text, out) : NULL;

    if (!text.n)
        return NULL;
    return bad              ? wrong(why, text, bad)
           : *out <= behind ? wrong(why, text, "the period must be longer than the rows before it")
                            : NULL;
}

/* Parses the row TIME:RATE (rates is true) or TIME:DELAY into *step. Returns NULL, or the text of
 * an error message. */
static const char *read_step(struct scps_text row, bool rates, struct scps_step *step)
{
    struct scps_text value = row, at = scps_text_cut(&value, ":,");
    scps_dur delay = 0;
    if (value.n == 0)
        return rates ? "a row is TIME:RATE" : "a row is TIME:DELAY";
    const char *bad = scps_text_time(trim(at), &step->at);
    if (bad)
        return bad;
    if (rates)
        return scps_text_rate(trim(value), true, &step->value);
    bad = scps_text_time(trim(value), &delay);
    step->value = (uint64_t)delay;
    return bad;
}

static const char *read_steps(struct scps_link_tables *t, struct scps_text text, bool rates,
                              struct scps_steps *out, char why[128])
{
    uint32_t n, i = 0;
    void *rows = NULL;
    const char *none = room_for(t, text, sizeof(struct scps_step), &rows, &n);
    struct scps_step *v = rows;
    struct scps_text row, period = {NULL, 0};

    if (none)
        return none;
    for (; next_row(&text, &row, &period); i++) {
        const char *bad = read_step(row, rates, &v[i]);
        if (bad)
            return wrong(why, row, bad);
        if (i > 0 && v[i].at < v[i - 1].at)
            return wrong(why, row, "earlier than the row before");
    }
    *out = (struct scps_steps){.v = v, .n = n};
    const char *bad = read_period(period, v[n - 1].at, &out->period, why);
    if (bad)
        return bad;
    if (rates && (out->period ? scps_steps_sum(out) < (uint64_t)out->period : v[n - 1].value == 0))
        return "the line would stop for good: end with a rate above 0";
    return NULL;
}

const char *scps_table_rates(struct scps_link_tables *t, struct scps_text text,
                             struct scps_steps *out, char why[128])
{
    return read_steps(t, text, true, out, why);
}

const char *scps_table_delays(struct scps_link_tables *t, struct scps_text text,
                              struct scps_steps *out, char why[128])
{
    return read_steps(t, text, false, out, why);
}

const char *scps_table_spans(struct scps_link_tables *t, struct scps_text text,
                             struct scps_spans *out, char why[128])
{
    uint32_t n, i = 0;
    void *rows = NULL;
    const char *none = room_for(t, text, sizeof(struct scps_span), &rows, &n);
    struct scps_span *v = rows;
    struct scps_text row, period = {NULL, 0};

    if (none)
        return none;
    for (; next_row(&text, &row, &period); i++) {
        struct scps_text to = row, from = scps_text_cut(&to, "-,");
        if (to.n == 0)
            return wrong(why, row, "a row is FROM-TO");
        const char *bad = scps_text_time(trim(from), &v[i].from);
        if (!bad)
            bad = scps_text_time(trim(to), &v[i].to);
        if (bad)
            return wrong(why, row, bad);
        if (v[i].to <= v[i].from)
            return wrong(why, row, "it ends before it begins");
        if (i > 0 && v[i].from < v[i - 1].to)
            return wrong(why, row, "it overlaps the row before");
    }
    *out = (struct scps_spans){.v = v, .n = n};
    return read_period(period, v[n - 1].to - 1, &out->period, why);
}

/* ---- functions that compute the pass of a satellite over a ground station ---- */

#define ONE (UINT64_C(1) << 48)

/* Returns the distance in metres between a ground station and a satellite on a circular orbit of
 * radius r, t seconds before or after it passes the zenith; 0 if the satellite is below the
 * horizon. The orbit is at most 36000 km high. */
static uint64_t distance(uint64_t r, uint64_t t)
{
    const uint64_t R = EARTH_RADIUS;
    uint64_t x = scps_muldiv(scps_muldiv(EARTH_GM, t * t << 8, r), ONE >> 8, r * r);
    uint64_t cosine = ONE;

    /* x is the square of the angle, seen from the centre of the Earth, between the station and the
     * satellite, times 2^48. If it is above 2.4, nearly a quarter of the orbit, where the cosine is
     * 0.02, the satellite is below the horizon at any permitted height. */
    if (x > 12 * ONE / 5)
        return 0;
    /* The loop computes 1 - x/(1 2) (1 - x/(3 4) (1 - ... )), the series of the cosine, from the
     * innermost bracket outwards. */
    for (uint64_t k = 20; k > 0; k -= 2)
        cosine = ONE - scps_muldiv(x, cosine, ONE * k * (k - 1));
    if (cosine <= scps_muldiv(R, ONE, r))
        return 0;
    return scps_root(R * R + r * r - scps_muldiv(2 * R * r, cosine, ONE));
}

const char *scps_table_pass(struct scps_link_tables *t, uint64_t altitude_m,
                            struct scps_steps *delays, struct scps_spans *contact)
{
    uint64_t r = EARTH_RADIUS + altitude_m, half = 0;
    struct scps_step *v;
    struct scps_span *s;

    while (distance(r, half + 1))
        half++;
    v = scps_tables_take(t, (2 * half + 1) * sizeof *v);
    s = scps_tables_take(t, sizeof *s);
    if (!v || !s)
        return no_memory;
    for (uint64_t i = 0; i <= 2 * half; i++) {
        uint64_t d = distance(r, i < half ? half - i : i - half);
        v[i] = (struct scps_step){SCPS_SEC((scps_time)i), (d * 1000000 + LIGHT / 2) / LIGHT};
    }
    *s = (struct scps_span){0, SCPS_SEC((scps_time)(2 * half))};
    *delays = (struct scps_steps){.v = v, .n = (uint32_t)(2 * half + 1)};
    *contact = (struct scps_spans){.v = s, .n = 1, .inverse = true};
    return NULL;
}

/* ---- functions that parse error vectors, whose set bits say which bits the line damages ---- */

const char *scps_table_vector(struct scps_link_tables *t, const char *data, size_t len,
                              const uint8_t **vector, size_t *vector_len)
{
    size_t bits = 0;
    bool digits = true;
    uint8_t *v;

    for (size_t i = 0; i < len && digits; i++)
        if (data[i] == '0' || data[i] == '1')
            bits++;
        else
            digits = data[i] != '\0' && strchr(" \t\r\n", data[i]);
    if (!digits)
        bits = len * 8;
    if (bits < 8)
        return "an error vector has at least 8 bits";
    if (bits % 8)
        return "an error vector of digits has a multiple of 8 of them";
    v = scps_tables_take(t, bits / 8);
    if (!v)
        return no_memory;
    if (!digits)
        memcpy(v, data, len);
    else
        memset(v, 0, bits / 8);
    for (size_t i = 0, k = 0; digits && i < len; i++)
        if (data[i] == '0' || data[i] == '1') {
            v[k / 8] |= (uint8_t)((data[i] == '1') << (7 - k % 8));
            k++;
        }
    *vector = v;
    *vector_len = bits / 8;
    return NULL;
}
