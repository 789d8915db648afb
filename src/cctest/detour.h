/* SPDX-License-Identifier: MIT */
/* Delays the acknowledgements of some flows, which gives them a longer round trip over a shared
 * link. */
#ifndef SCPS_CCTEST_DETOUR_H
#define SCPS_CCTEST_DETOUR_H

#include <scps/netif.h>
#include <scps/sim.h>

/* Opens a filter that delays packets to odd destination ports by `delay`, µs. Returns NULL if there
 * is no memory. */
struct scps_netif *scps_cct_detour(struct scps_world *w, scps_dur delay);

#endif
