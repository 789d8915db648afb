/* SPDX-License-Identifier: MIT */
/* The lists of a scenario, for scenario.c, which reads one from a file. */
#ifndef SCPS_LAB_SCENARIO_DATA_H
#define SCPS_LAB_SCENARIO_DATA_H

#include "common/scenario.h"

/* Returns the axis with this key; NULL: the key is not swept. */
struct lab_axis *lab_axis_find(struct lab_scenario *s, const char *key);
/* Frees all values of an axis. */
void lab_axis_clear(struct lab_axis *a);
/* Adds a copy of value to an axis. */
void lab_axis_value(struct lab_axis *a, const char *value);
/* Returns a hash of all settings, which does not depend on comments and the order of sections. */
uint64_t lab_scenario_hash(const struct lab_scenario *s);

#endif
