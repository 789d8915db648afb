/* SPDX-License-Identifier: MIT */
/* A longer way for some flows over a link that they share with others. */
#ifndef SCPS_CCTEST_DETOUR_H
#define SCPS_CCTEST_DETOUR_H

#include <scps/netif.h>
#include <scps/sim.h>

/* A filter that holds what leaves for odd ports for so long. NULL: out of memory. */
struct scps_netif *scps_cct_detour(struct scps_world *w, scps_dur delay);

#endif
