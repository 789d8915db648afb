/* SPDX-License-Identifier: MIT */
/* Functions for the keys of the section [scenario], which scenario_lines.c calls for each line of
 * that section and for settings of these keys from the command line. */
#ifndef SCPS_LAB_SCENARIO_KEYS_H
#define SCPS_LAB_SCENARIO_KEYS_H

#include "common/scenario_lines.h"

/* Stores the line number of a key in [scenario]. Returns 0 if another line has set it before. */
int lab_scenario_key_note(struct lab_reading *r, const char *key);
/* Checks the value of a key in [scenario] and stores it in the scenario. line: number of the line;
 * 0: the setting is from the command line. Returns 1; or 0 if the key or its value is refused, with
 * the reason in r->msg. */
int lab_scenario_key(struct lab_reading *r, int line, const char *key, const char *value);

#endif
