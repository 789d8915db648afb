/* SPDX-License-Identifier: MIT */
/* scps_lab compare: shows in which cells (combinations of swept values) two results differ by more
 * than their spreads explain.
 *
 * Cells are matched by their swept values and by flow, so results of two versions, or of a scenario
 * and a changed copy, can be compared. Each pair of cells is tested by Welch's test. A difference
 * is reported when its p-value (the probability that chance alone makes such a difference) is below
 * alpha divided by the number of cells compared (Bonferroni). So if nothing has changed, only a
 * share alpha of all comparisons reports any difference, however many cells there are.
 */
#include "scps_lab/stats.h"
#include "scps_lab/sweep.h"

#include <stdlib.h>
#include <string.h>

struct side {
    struct lab_table t;
    size_t n, mbps, sd;
};

static bool open_side(struct side *s, const char *dir)
{
    char msg[LAB_MSGLEN];

    if (!lab_table_read(dir, "cells.csv", &s->t, msg)) {
        fprintf(stderr, "scps_lab: %s\n", msg);
        return false;
    }
    s->n = lab_table_col(&s->t, "n");
    s->mbps = lab_table_col(&s->t, "mbps");
    s->sd = lab_table_col(&s->t, "mbps_sd");
    return true;
}

/* Returns true if row ra of result a and row rb of result b are about the same flow and have the
 * same swept values. */
static bool match(const struct side *a, size_t ra, const struct side *b, size_t rb)
{
    for (size_t i = 1; i < a->n; i++) {
        size_t k = lab_table_col(&b->t, a->t.col[i]);
        if (k != SIZE_MAX && strcmp(lab_table_at(&a->t, ra, i), lab_table_at(&b->t, rb, k)) != 0)
            return false;
    }
    return true;
}

static size_t find_row(const struct side *a, size_t ra, const struct side *b)
{
    /* Fast path: both results have the same combinations of swept values in the same order, so the
     * rows to compare are at the same indices. */
    if (ra < b->t.nrows && match(a, ra, b, ra))
        return ra;
    for (size_t i = 0; i < b->t.nrows; i++)
        if (match(a, ra, b, i))
            return i;
    return SIZE_MAX;
}

static double at(const struct side *s, size_t row, size_t col)
{
    return strtod(lab_table_at(&s->t, row, col), NULL);
}

static void print_mean(const struct side *s, size_t row)
{
    printf("%.5g", at(s, row, s->mbps));
    if (at(s, row, s->n) > 1)
        printf(" +- %.2g", at(s, row, s->sd));
    printf(" (n %.0f)", at(s, row, s->n));
}

/* Prints the difference between row ra of result a and row rb of result b. p: the probability that
 * chance alone makes such a difference; -1: it is unknown, because in one of the two results the
 * flow has only one run. */
static void print(const struct side *a, size_t ra, const struct side *b, size_t rb, double p)
{
    double x = at(a, ra, a->mbps), y = at(b, rb, b->mbps);

    for (size_t i = 2; i < a->n; i++)
        printf("%s=%s ", a->t.col[i], lab_table_at(&a->t, ra, i));
    printf("%s: ", lab_table_at(&a->t, ra, 1));
    print_mean(a, ra);
    printf(" -> ");
    print_mean(b, rb);
    printf(" Mbit/s");
    if (x > 0)
        printf(", %+.1f %%", 100 * (y / x - 1));
    if (p < 0)
        printf(", one run: no test\n");
    else
        printf(", p %.1e\n", p);
}

int lab_compare(const char *dir_a, const char *dir_b, double alpha)
{
    struct side a = {0}, b = {0};
    size_t pairs = 0, changed = 0, faster = 0, untested = 0, lone;
    int status = 2;

    if (open_side(&a, dir_a) && open_side(&b, dir_b)) {
        for (size_t i = 0; i < a.t.nrows; i++)
            pairs += find_row(&a, i, &b) != SIZE_MAX;
        for (size_t i = 0; i < a.t.nrows; i++) {
            size_t k = find_row(&a, i, &b);
            double p;

            if (k == SIZE_MAX)
                continue;
            if ((at(&a, i, a.n) == 0) != (at(&b, k, b.n) == 0))
                /* In one result all runs of the flow have failed, in the other at least one has
                 * succeeded. The difference counts as certain: p, the probability that chance
                 * explains it, is 0. */
                p = 0;
            else if (at(&a, i, a.n) == 1 || at(&b, k, b.n) == 1)
                p = at(&a, i, a.mbps) == at(&b, k, b.mbps) ? 1 : -1;
            else
                p = lab_welch(at(&a, i, a.mbps), at(&a, i, a.sd), (size_t)at(&a, i, a.n),
                              at(&b, k, b.mbps), at(&b, k, b.sd), (size_t)at(&b, k, b.n));
            if (p >= alpha / (double)pairs)
                continue;
            if (p < 0) {
                untested++;
            } else {
                changed++;
                faster += at(&b, k, b.mbps) > at(&a, i, a.mbps);
            }
            print(&a, i, &b, k, p);
        }
        lone = a.t.nrows - pairs;
        printf("%zu of %zu cells differ beyond noise (%zu faster, %zu slower in %s)", changed,
               pairs, faster, changed - faster, dir_b);
        if (lone || b.t.nrows > pairs)
            printf("; without a partner: %zu in %s, %zu in %s", lone, dir_a,
                   b.t.nrows > pairs ? b.t.nrows - pairs : 0, dir_b);
        if (untested)
            printf("; %zu more differ, of one run, which no test judges: give scenario.runs",
                   untested);
        printf("\n");
        status = pairs == 0 ? 2 : changed || untested ? 1 : 0;
        if (pairs == 0)
            fprintf(stderr,
                    "scps_lab: no cell of %s exists in %s: give two results of the same sweep\n",
                    dir_a, dir_b);
    }
    lab_table_free(&a.t);
    lab_table_free(&b.t);
    return status;
}
