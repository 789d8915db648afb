/* SPDX-License-Identifier: MIT */
/* Refuses outputs of a run or a sweep that would overwrite a file that is read or another output
 * (outputs.c). */
#ifndef SCPS_LAB_OUTPUTS_H
#define SCPS_LAB_OUTPUTS_H

#include "scps_lab/run.h"

/* Returns false, with one line in msg, if an output of a run is the scenario, a shared object that
 * a cc-plugin key names, or another output. */
bool lab_run_files(const struct lab_scenario *sc, const struct lab_run_options *o,
                   char msg[LAB_MSGLEN]);
/* Returns false, with one line in msg, if a file that a sweep writes in folder dir, which need not
 * exist yet, is the scenario, or a shared object that a cc-plugin key names. */
bool lab_sweep_files(const struct lab_scenario *sc, const char *dir, char msg[LAB_MSGLEN]);

#endif
