/* SPDX-License-Identifier: MIT */
/* When a link with a table of outages is out. */
#ifndef SCPS_TTCP_OUTAGE_H
#define SCPS_TTCP_OUTAGE_H

#include <scps/sim.h>

/* Is it out at t? *change: when that is no longer so; SCPS_NEVER. */
bool ttcp_outage_at(const struct scps_spans *s, scps_time t, scps_time *change);

#endif
