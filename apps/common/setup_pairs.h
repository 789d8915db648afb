/* SPDX-License-Identifier: MIT */
/* Finds keys of links and flows that contradict each other or have no effect beside others. setup.c
 * calls lab_pairs_agree() when all links and flows of a cell (a combination of swept values) are
 * made. */
#ifndef SCPS_LAB_SETUP_PAIRS_H
#define SCPS_LAB_SETUP_PAIRS_H

#include "common/setup.h"

/* The settings of a scenario that apply to one cell (a combination of the swept values), in the
 * order in which they are applied: a later one overrides an earlier one. */
struct lab_applied {
    const struct lab_scenario *sc;
    const struct lab_set *const *set;
    size_t n;
};

/* Returns the last setting of `key` that applies to the link (kind 'l') or flow (kind 'f') called
 * `name`: one for all links or flows, or one for this link or flow. NULL: there is none. */
const struct lab_set *lab_applied_last(const struct lab_applied *a, char kind, const char *name,
                                       const char *key);
/* Refuses contradictory keys of the links and flows in s, which were made from the settings a.
 * Returns false with the reason in why, and with *blame, the setting whose line the message
 * names.
 *
 * A key A that has no effect, because of the value of another key B, is refused, unless A may be
 * meant for other cells (combinations of swept values) or other flows. That is so if B is set in a
 * place whose settings are applied later than that of A (order: [link] and [flow], sections with a
 * name, [sweep], cases, command line), or if B is swept, or set in a case or in a section with a
 * name. */
bool lab_pairs_agree(const struct lab_applied *a, const struct lab_setup *s,
                     const struct lab_set **blame, char why[LAB_MSGLEN]);

#endif
