/* SPDX-License-Identifier: MIT */
#ifndef SCPS_LAB_SWEEP_H
#define SCPS_LAB_SWEEP_H

#include "common/scenario.h"

struct lab_sweep_options {
    const char *out;        /* folder of the results */
    unsigned shard, shards; /* Run only the jobs of shard number `shard` (from 1) of `shards` */
    unsigned jobs;          /* number of worker processes; 0: one for each core */
    bool quiet;
    bool check; /* true: set up every combination of swept values, but run none */
};
/* Runs the sweep and prints errors. Returns the exit status. */
int lab_sweep(const struct lab_scenario *sc, const struct lab_sweep_options *o);
/* Joins the results of all shards in the folders dirs into the folder out. */
int lab_merge(char *const *dirs, size_t n, const char *out);
/* Prints the combinations of swept values (cells) in which two results differ by more than chance
 * explains. Returns 0: none; 1: some. */
int lab_compare(const char *a, const char *b, double alpha);

#endif
