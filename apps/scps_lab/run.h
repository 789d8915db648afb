/* SPDX-License-Identifier: MIT */
#ifndef SCPS_LAB_RUN_H
#define SCPS_LAB_RUN_H

#include "common/scenario.h"

struct lab_run_options {
    unsigned run; /* which one, from 1; 0: all that the scenario asks for */
    bool json;
    const char *pcap, *truth, *events, *series, *qlog,
        *plot; /* of one run: files to write; plot: a name without suffix */
};
/* The exit status; what went wrong has been said. */
int lab_run(const struct lab_scenario *sc, const struct lab_run_options *o);

#endif
