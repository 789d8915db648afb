/* SPDX-License-Identifier: MIT */
/* Functions that build the lists of a scenario in memory; scenario.c and scenario_lines.c call them
 * when they read a scenario file. */
#ifndef SCPS_LAB_SCENARIO_DATA_H
#define SCPS_LAB_SCENARIO_DATA_H

#include "common/scenario.h"

/* Returns the axis of scenario s for `key`: the list of values to which the scenario sets that key
 * in turn; NULL: the scenario does not sweep this key. */
struct lab_axis *lab_axis_find(struct lab_scenario *s, const char *key);
/* Frees the values of an axis, a key that the scenario sweeps over several values. */
void lab_axis_clear(struct lab_axis *a);
/* Adds a copy of `value` to the values over which the scenario sweeps axis a. */
void lab_axis_value(struct lab_axis *a, const char *value);
/* Returns a hash of all settings, which does not depend on comments and the order of sections. */
uint64_t lab_scenario_hash(const struct lab_scenario *s);

#endif
