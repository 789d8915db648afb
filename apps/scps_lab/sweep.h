/* SPDX-License-Identifier: MIT */
#ifndef SCPS_LAB_SWEEP_H
#define SCPS_LAB_SWEEP_H

#include "common/scenario.h"

struct lab_sweep_options {
    const char *out; /* folder for the results */
    /* the runs are divided into `shards` parts, and only part `shard` (from 1) is run */
    unsigned shard, shards;
    unsigned jobs; /* number of worker processes; 0: one for each core */
    bool quiet;
    bool check; /* true: every combination of swept values is set up and checked, but none is run */
};
/* Implements the command 'scps_lab sweep': makes all runs of all cells of scenario sc, and prints
 * errors. Returns the exit status. */
int lab_sweep(const struct lab_scenario *sc, const struct lab_sweep_options *o);
/* Implements 'scps_lab merge': joins the results of all n shards of a sweep, in the folders dirs,
 * into the folder out. Returns the exit status. */
int lab_merge(char *const *dirs, size_t n, const char *out);
/* Implements 'scps_lab compare': prints the combinations of swept values (cells) in which the
 * results in the folders a and b differ by more than chance explains. alpha: probability that a
 * difference is reported although there is none. Returns the exit status: 0 none; 1 some, or a cell
 * with different results of which one has only one run, so that it cannot be tested; 2 the results
 * cannot be compared. */
int lab_compare(const char *a, const char *b, double alpha);

#endif
