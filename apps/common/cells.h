/* SPDX-License-Identifier: MIT */
/* The cells of a scenario: every combination of the values that it sweeps. Each cell has the links
 * and flows that its values give; all cells are checked before the first one runs. */
#ifndef SCPS_LAB_CELLS_H
#define SCPS_LAB_CELLS_H

#include "common/setup.h"

struct lab_cell {
    /* Number of this cell, from 0, among all combinations of the swept values; the values of the
     * last axis (swept key) vary fastest. Combinations that a section [case] skips are counted,
     * too. */
    size_t number;
    const char **value; /* for each axis (swept key), the value that this cell has */
    /* Text such as "link.rtt=250ms link.ber=0", from which the seeds of the cell are computed. */
    char *id;
    struct lab_setup *setup;
    double cost; /* estimated cost of one run of this cell, in packets */
};
struct lab_cells {
    const struct lab_scenario *sc;
    struct lab_cell *v;
    size_t n;
};

/* Makes the cells (combinations of swept values) of scenario sc, which must not be freed before
 * them. Returns false, with one line in msg, if the settings of a cell are invalid, if the scenario
 * skips all cells, or if it has more than a million of them. */
bool lab_cells_make(const struct lab_scenario *sc, struct lab_cells *c, char msg[LAB_MSGLEN]);
/* Makes the one cell of a scenario that sweeps no key. Returns false, with one line in msg, if the
 * scenario sweeps a key or the settings of its cell are invalid. */
bool lab_cells_single(const struct lab_scenario *sc, struct lab_cells *c, char msg[LAB_MSGLEN]);
void lab_cells_free(struct lab_cells *c);
/* Returns the random seed of one run (simulation) of a cell, which is one combination of swept
 * values. The seed depends only on the seed in the scenario, the cell's id (its swept values as
 * text) and `run`, the number of the run. */
uint64_t lab_cell_seed(const struct lab_cells *c, const struct lab_cell *cell, unsigned run);
/* Returns the seed of the random errors of link i, in one direction (0: a to b), for a run with
 * seed run_seed. */
uint64_t lab_link_seed(uint64_t run_seed, size_t i, int dir);

#endif
