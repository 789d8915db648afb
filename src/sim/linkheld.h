/* SPDX-License-Identifier: MIT */
/* The heap of a link direction's packets that do not keep the order (linkheld.c). */
#ifndef SCPS_SIM_LINKHELD_H
#define SCPS_SIM_LINKHELD_H

#include "sim/link.h"

/* Inserts a copy of packet r that arrives at `at`, µs. Returns 0 or SCPS_ERR_NOMEM. */
int scps_linkheld_put(struct scps_linkdir *d, scps_time at, const struct scps_link_record *r);
/* Removes the packet that arrives first from the heap, which must not be empty. */
void scps_linkheld_pop(struct scps_linkdir *d);

#endif
