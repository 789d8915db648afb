/* SPDX-License-Identifier: MIT */
#ifndef SCPS_LAB_RUN_H
#define SCPS_LAB_RUN_H

#include "common/scenario.h"

struct lab_run_options {
    unsigned run; /* number of the only run to make, from 1; 0: all runs of the scenario are made */
    bool json;
    const char *pcap, *truth, *events, *series, *qlog,
        *plot; /* names of files to write for a single run; plot: name without suffix; NULL: none */
};
/* Implements the command 'scps_lab run': simulates scenario sc as often as its key `runs` says, or
 * only run number o->run, and prints results and errors. The scenario must have a single cell
 * (combination of swept values): one that sweeps keys is refused. Returns the exit status. */
int lab_run(const struct lab_scenario *sc, const struct lab_run_options *o);

#endif
