/* SPDX-License-Identifier: MIT */
/* Computes from a table of outages (struct scps_spans) at which times a link is down. */
#ifndef SCPS_TTCP_OUTAGE_H
#define SCPS_TTCP_OUTAGE_H

#include <scps/sim.h>

/* Returns true if the link is down at time t, µs. *change: the next time at which this changes;
 * SCPS_NEVER: it does not. */
bool ttcp_outage_at(const struct scps_spans *s, scps_time t, scps_time *change);

#endif
