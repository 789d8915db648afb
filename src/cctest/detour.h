/* SPDX-License-Identifier: MIT */
/* Delays acknowledgements of some flows, which so have a longer round trip over a shared link. */
#ifndef SCPS_CCTEST_DETOUR_H
#define SCPS_CCTEST_DETOUR_H

#include <scps/netif.h>
#include <scps/sim.h>

/* Makes a filter that delays packets to odd ports by `delay`. NULL: out of memory. */
struct scps_netif *scps_cct_detour(struct scps_world *w, scps_dur delay);

#endif
