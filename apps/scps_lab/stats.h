/* SPDX-License-Identifier: MIT */
/* Statistics over the runs of one combination of parameters (a cell): means, spreads, confidence
 * intervals, and whether two means differ. */
#ifndef SCPS_LAB_STATS_H
#define SCPS_LAB_STATS_H

#include "scps_lab/table.h"

struct lab_sample {
    size_t n;
    /* mean, min, max: of the n values; m2: sum of their squared distances from the mean */
    double mean, m2, min, max;
};
void lab_sample_add(struct lab_sample *s, double v);
/* Returns the standard deviation of the values; 0 for fewer than two values. */
double lab_sample_sd(const struct lab_sample *s);
/* Returns half the width of the 95 % confidence interval of the mean (Student's distribution); 0
 * for fewer than two values. */
double lab_sample_ci95(const struct lab_sample *s);
/* Returns the result of Welch's t-test on two samples of n_a and n_b values: the probability of
 * means at least this far apart if the true means are equal. If both standard deviations are 0: 0
 * if the means differ, otherwise 1. */
double lab_welch(double mean_a, double sd_a, size_t n_a, double mean_b, double sd_b, size_t n_b);

/* Reads DIR/rows.csv (one line for each flow of each run) and writes DIR/cells.csv (means and
 * spreads over the runs). Returns false, with the reason in msg, on an error. */
bool lab_cells_write(const char *dir, char msg[LAB_MSGLEN]);

#endif
