/* SPDX-License-Identifier: MIT */
/* Option --scenario: takes the emulated link from a scenario file, scps_scenario(5). Its random
 * errors have the seeds of one run (simulation) of that scenario by scps_lab: run number --run, or
 * the first. */
#ifndef SCPS_LINK_SCENARIO_H
#define SCPS_LINK_SCENARIO_H

#include "scps_link/options.h"

#include "common/cells.h"

/* The scenario file from which the emulated link is taken (--scenario), for the reports. */
struct link_scenario {
    struct lab_scenario *sc;
    /* the links and flows of the scenario; a scenario that sweeps keys, and so describes several
     * combinations (cells), is refused */
    struct lab_cells cells;
    const struct lab_link *link; /* the link that is emulated, which is one of the cell's links */
    unsigned run;
};

/* Reads the scenario of --scenario. text: FILE or FILE:LINK; set: n texts KEY=VALUE that override
 * settings of the file; run: number of the run of scps_lab whose random seeds are used. Sets in *o:
 * o->dir (the configurations of both directions of the link, with their seeds), o->link, o->seed,
 * o->scenario and, if --mtu was not given, o->mtu. Returns 0, or -1 with one line in msg. */
int link_scenario_open(struct link_options *o, const char *text, char *const *set, size_t n,
                       unsigned run, char msg[LINK_MSGLEN]);
void link_scenario_close(struct link_scenario *s); /* Frees *s; NULL is allowed. */

#endif
