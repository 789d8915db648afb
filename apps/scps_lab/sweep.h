/* SPDX-License-Identifier: MIT */
#ifndef SCPS_LAB_SWEEP_H
#define SCPS_LAB_SWEEP_H

#include "common/scenario.h"

struct lab_sweep_options {
    const char *out;        /* folder of the results */
    unsigned shard, shards; /* K of N, from 1 */
    unsigned jobs;          /* workers; 0: one a core */
    bool quiet;
    bool check; /* set up every cell, run none */
};
/* The exit status; what went wrong has been said. */
int lab_sweep(const struct lab_scenario *sc, const struct lab_sweep_options *o);
/* Puts the shards in dirs together in out. */
int lab_merge(char *const *dirs, size_t n, const char *out);
/* Says what differs between two results by more than chance. 0: nothing; 1: something. */
int lab_compare(const char *a, const char *b, double alpha);

#endif
