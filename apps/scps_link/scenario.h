/* SPDX-License-Identifier: MIT */
/* --scenario: the link of a scenario file, scps_scenario(5), with the chances it has in a run of
 * scps_lab. */
#ifndef SCPS_LINK_SCENARIO_H
#define SCPS_LINK_SCENARIO_H

#include "scps_link/options.h"

#include "common/cells.h"

/* What there is to tell of it. */
struct link_scenario {
    struct lab_scenario *sc;
    struct lab_cells cells;      /* one */
    const struct lab_link *link; /* of it */
    unsigned run;
};

/* text: FILE or FILE:LINK. set: n times KEY=VALUE. Fills dir with their seeds, link, seed, mtu
 * unless given, and scenario. 0, or -1 with one line in msg. */
int link_scenario_open(struct link_options *o, const char *text, char *const *set, size_t n,
                       unsigned run, char msg[LINK_MSGLEN]);
void link_scenario_close(struct link_scenario *s); /* NULL is fine */

#endif
