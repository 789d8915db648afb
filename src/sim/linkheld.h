/* SPDX-License-Identifier: MIT */
/* A heap of the packets of one link direction that do not arrive in the order in which they were
 * offered (linkheld.c). */
#ifndef SCPS_SIM_LINKHELD_H
#define SCPS_SIM_LINKHELD_H

#include "sim/link.h"

/* Inserts a copy of the packet of record r, which arrives at `at`, µs, into held[], the heap of
 * packets that do not arrive in the order in which they were offered: `reorder` delays the packet,
 * or it overtakes others because the delay became shorter. Returns 0 or SCPS_ERR_NOMEM. */
int scps_linkheld_put(struct scps_linkdir *d, scps_time at, const struct scps_link_record *r);
/* Removes the packet that arrives first from held[], the heap of packets that arrive out of order.
 * Precondition: the heap is not empty. */
void scps_linkheld_pop(struct scps_linkdir *d);
/* Moves the packet that was put on the line last, if it arrives from the ring, to held[], where it
 * keeps its time of arrival: packets that are put on the line after it may arrive before it.
 * Without memory it stays in the ring. */
void scps_linkheld_move_last(struct scps_linkdir *d);

#endif
