/* SPDX-License-Identifier: MIT */
/* Makes the file cells.csv from rows.csv. It has a line for each pair of cell (combination of swept
 * values) and flow and, if a cell has several flows, one more line, "all", for the sum of the
 * flows. Runs that failed are counted, but are not part of the means. A field for which there is no
 * figure is empty. */
#include "scps_lab/stats.h"
#include "scps_lab/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lab_sample_add(struct lab_sample *s, double v)
{
    double d = v - s->mean;

    s->n++;
    s->mean += d / (double)s->n;
    s->m2 += d * (v - s->mean);
    s->min = s->n == 1 ? v : fmin(s->min, v);
    s->max = s->n == 1 ? v : fmax(s->max, v);
}

double lab_sample_sd(const struct lab_sample *s)
{
    return s->n < 2 ? 0 : sqrt(fmax(s->m2, 0) / (double)(s->n - 1));
}

double lab_sample_ci95(const struct lab_sample *s)
{
    if (s->n < 2)
        return 0;
    return lab_student_quantile((double)s->n - 1) * lab_sample_sd(s) / sqrt((double)s->n);
}

double lab_welch(double mean_a, double sd_a, size_t n_a, double mean_b, double sd_b, size_t n_b)
{
    double va = sd_a * sd_a / (double)n_a, vb = sd_b * sd_b / (double)n_b, v = va + vb;
    double df;

    if (n_a == 0 || n_b == 0)
        return 1;
    if (v <= 0)
        return mean_a == mean_b ? 1 : 0;
    df =
        v * v /
        ((n_a > 1 ? va * va / (double)(n_a - 1) : 0) + (n_b > 1 ? vb * vb / (double)(n_b - 1) : 0));
    return lab_student_two_sided(fabs(mean_a - mean_b) / sqrt(v), df);
}

/* ---- functions that write the lines of cells.csv ---- */

struct group {
    /* A group is the set of rows of rows.csv that one line of cells.csv summarises. row: index of
     * its first row, from which cell number, flow and swept values are copied. */
    size_t row;
    bool all;
    size_t failed;
    struct lab_sample mbps, seconds, resent, timeouts;
};

struct columns {
    size_t cell, run, flow, status, seconds, mbps, bytes, start, segs, resent, timeouts;
};

static double value(const struct lab_table *t, size_t row, size_t col)
{
    return strtod(lab_table_at(t, row, col), NULL);
}

static bool ok(const struct lab_table *t, const struct columns *c, size_t row)
{
    return strcmp(lab_table_at(t, row, c->status), "ok") == 0;
}

/* Appends `spread`, a measure of how the values of sample `of` differ, as a field to line s; the
 * field stays empty if there is only one value. */
static void add_spread(struct lab_str *s, const struct lab_sample *of, double spread)
{
    if (of->n > 1)
        lab_add(s, ",%.6g", spread);
    else
        lab_add(s, ",");
}

static void print(struct lab_str *s, const struct lab_table *t, const struct columns *c,
                  const struct group *g)
{
    lab_add(s, "%s,%s", lab_table_at(t, g->row, c->cell),
            g->all ? "all" : lab_table_at(t, g->row, c->flow));
    for (size_t i = c->flow + 1; i < c->status; i++)
        lab_add(s, ",%s", lab_table_at(t, g->row, i));
    lab_add(s, ",%zu,%zu", g->mbps.n, g->failed);
    if (g->mbps.n == 0) {
        lab_add(s, ",,,,,,,,,\n");
        return;
    }
    lab_add(s, ",%.6g", g->mbps.mean);
    add_spread(s, &g->mbps, lab_sample_sd(&g->mbps));
    add_spread(s, &g->mbps, lab_sample_ci95(&g->mbps));
    lab_add(s, ",%.6g,%.6g,%.6g", g->mbps.min, g->mbps.max, g->seconds.mean);
    add_spread(s, &g->seconds, lab_sample_sd(&g->seconds));
    lab_add(s, ",%.6g,%.6g\n", g->resent.mean, g->timeouts.mean);
}

static void count(struct group *g, const struct lab_table *t, const struct columns *c, size_t row)
{
    double segs = value(t, row, c->segs);

    if (!ok(t, c, row)) {
        g->failed++;
        return;
    }
    lab_sample_add(&g->mbps, value(t, row, c->mbps));
    lab_sample_add(&g->seconds, value(t, row, c->seconds));
    lab_sample_add(&g->resent, segs > 0 ? 100 * value(t, row, c->resent) / segs : 0);
    lab_sample_add(&g->timeouts, value(t, row, c->timeouts));
}

/* Adds one run, rows `from` to `to`, to the line "all" for the sum of the flows. The goodput of the
 * run is the bytes of all its flows, divided by the time from the first start to the last end: the
 * sum of the flows' own goodputs would be too high where flows do not run at the same time. A run
 * of which one flow failed counts as failed. */
static void count_all(struct group *g, const struct lab_table *t, const struct columns *c,
                      size_t from, size_t to)
{
    double bytes = 0, start = INFINITY, end = 0, segs = 0, resent = 0, timeouts = 0;

    for (size_t r = from; r < to; r++) {
        if (!ok(t, c, r)) {
            g->failed++;
            return;
        }
        bytes += value(t, r, c->bytes);
        start = fmin(start, value(t, r, c->start));
        end = fmax(end, value(t, r, c->start) + value(t, r, c->seconds));
        segs += value(t, r, c->segs);
        resent += value(t, r, c->resent);
        timeouts += value(t, r, c->timeouts);
    }
    lab_sample_add(&g->mbps, end > start ? bytes * 8 / 1e6 / (end - start) : 0);
    lab_sample_add(&g->seconds, end - start);
    lab_sample_add(&g->resent, segs > 0 ? 100 * resent / segs : 0);
    lab_sample_add(&g->timeouts, timeouts);
}

static bool same(const struct lab_table *t, size_t col, size_t a, size_t b)
{
    return strcmp(lab_table_at(t, a, col), lab_table_at(t, b, col)) == 0;
}

/* Writes the line of cells.csv for one cell (combination of swept values) and flow, from the rows
 * `from` to `to`, which are sorted by run and flow. */
static void cell(struct lab_str *s, const struct lab_table *t, const struct columns *c, size_t from,
                 size_t to)
{
    size_t flows = 0;
    struct group *g, all = {.row = from, .all = true};

    while (from + flows < to && same(t, c->run, from, from + flows))
        flows++;
    g = lab_alloc(flows * sizeof *g);
    for (size_t i = 0; i < flows; i++)
        g[i].row = from + i;
    for (size_t r = from; r + flows <= to; r += flows) {
        for (size_t i = 0; i < flows; i++)
            count(&g[i], t, c, r + i);
        count_all(&all, t, c, r, r + flows);
    }
    for (size_t i = 0; i < flows; i++)
        print(s, t, c, &g[i]);
    if (flows > 1)
        print(s, t, c, &all);
    free(g);
}

bool lab_cells_write(const char *dir, char msg[LAB_MSGLEN])
{
    struct lab_str s = {0};
    struct lab_table t;
    struct columns c;
    bool done;

    if (!lab_table_read(dir, "rows.csv", &t, msg))
        return false;
    c = (struct columns){
        lab_table_col(&t, "cell"),   lab_table_col(&t, "run"),     lab_table_col(&t, "flow"),
        lab_table_col(&t, "status"), lab_table_col(&t, "seconds"), lab_table_col(&t, "mbps"),
        lab_table_col(&t, "bytes"),  lab_table_col(&t, "start"),   lab_table_col(&t, "segments"),
        lab_table_col(&t, "resent"), lab_table_col(&t, "timeouts")};
    lab_add(&s, "#%s\ncell,flow", t.meta);
    for (size_t i = c.flow + 1; i < c.status; i++)
        lab_add(&s, ",%s", t.col[i]);
    lab_add(&s, ",n,failed,mbps,mbps_sd,mbps_ci95,mbps_min,mbps_max,seconds,seconds_sd,resent_pct,"
                "timeouts\n");
    for (size_t from = 0, to; from < t.nrows; from = to) {
        for (to = from; to < t.nrows && same(&t, c.cell, from, to); to++)
            ;
        cell(&s, &t, &c, from, to);
    }
    done = lab_file_write(dir, "cells.csv", s.p, s.len, msg);
    lab_free(&s);
    lab_table_free(&t);
    return done;
}
