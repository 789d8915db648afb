/* SPDX-License-Identifier: MIT */
/* The clock of the library: its time comes from the caller and never goes back. */
#ifndef SCPS_BASE_CLOCK_H
#define SCPS_BASE_CLOCK_H

#include <scps/types.h>

#include "base/bytes.h"

/* Returns the new time of the library's clock, which showed `now`, when the caller passes in time
 * t: the later of both, at most SCPS_NEVER / 2. So an interval of at most SCPS_NEVER / 2 can be
 * added without overflow, and a timer that is not running, which has the time SCPS_NEVER, does not
 * expire. */
static inline scps_time scps_clock_later(scps_time now, scps_time t)
{
    return t > now ? SCPS_MIN(t, SCPS_NEVER / 2) : now;
}

#endif
