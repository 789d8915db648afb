/* SPDX-License-Identifier: MIT */
/* The cells of a scenario: every combination of what is swept, each with its links and flows,
 * checked before any runs. */
#ifndef SCPS_LAB_CELLS_H
#define SCPS_LAB_CELLS_H

#include "common/setup.h"

struct lab_cell {
    size_t number;      /* in the whole grid, the last axis fastest; skipped ones are counted */
    const char **value; /* one for each axis */
    char *id;           /* "link.rtt=250ms link.ber=0": what its seeds come from */
    struct lab_setup *setup;
    double cost; /* packets, about */
};
struct lab_cells {
    const struct lab_scenario *sc;
    struct lab_cell *v;
    size_t n;
};

/* sc must outlive them. False with one line in msg; there may also be no cell at all. */
bool lab_cells_make(const struct lab_scenario *sc, struct lab_cells *c, char msg[LAB_MSGLEN]);
/* The same for a scenario of one cell; one that sweeps is refused. */
bool lab_cells_single(const struct lab_scenario *sc, struct lab_cells *c, char msg[LAB_MSGLEN]);
void lab_cells_free(struct lab_cells *c);
/* Depends on nothing but the campaign's seed, the cell's id and the run. */
uint64_t lab_cell_seed(const struct lab_cells *c, const struct lab_cell *cell, unsigned run);
/* Chance on link i of a run with that seed, either direction (0: a to b). */
uint64_t lab_link_seed(uint64_t run_seed, size_t i, int dir);

#endif
