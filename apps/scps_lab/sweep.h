/* SPDX-License-Identifier: MIT */
#ifndef SCPS_LAB_SWEEP_H
#define SCPS_LAB_SWEEP_H

#include "common/scenario.h"

struct lab_sweep_options {
    const char *out;        /* folder of the results */
    unsigned shard, shards; /* Only the jobs of shard K of N, from 1 */
    unsigned jobs;          /* Worker processes; 0: one for each core */
    bool quiet;
    bool check; /* Set up every cell, but run none. */
};
/* Runs the sweep; errors have been printed. Returns the exit status. */
int lab_sweep(const struct lab_scenario *sc, const struct lab_sweep_options *o);
/* Joins the results of all shards in the folders dirs into the folder out. */
int lab_merge(char *const *dirs, size_t n, const char *out);
/* Prints the cells in which two results differ by more than chance explains. Returns 0: none; 1:
 * some. */
int lab_compare(const char *a, const char *b, double alpha);

#endif
