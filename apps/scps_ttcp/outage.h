/* SPDX-License-Identifier: MIT */
/* Computes from a table of outages (struct scps_spans) at which times a link is down. */
#ifndef SCPS_TTCP_OUTAGE_H
#define SCPS_TTCP_OUTAGE_H

#include <scps/sim.h>

/* Returns true if a link with the table of outages s is down at time t, µs. Sets *change to the
 * next time at which it goes down or up; SCPS_NEVER: it does not change any more. */
bool ttcp_outage_at(const struct scps_spans *s, scps_time t, scps_time *change);

#endif
