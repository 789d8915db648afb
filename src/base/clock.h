/* SPDX-License-Identifier: MIT */
/* A clock that is told the time from outside. */
#ifndef SCPS_BASE_CLOCK_H
#define SCPS_BASE_CLOCK_H

#include <scps/types.h>

#include "base/bytes.h"

/* Returns the time of a clock that stands at now and is told t. It never goes back, and stops at
 * SCPS_NEVER / 2: intervals of at most SCPS_NEVER / 2 can then be added to it, and a timer that
 * does not run, at SCPS_NEVER, never expires. */
static inline scps_time scps_clock_later(scps_time now, scps_time t)
{
    return t > now ? SCPS_MIN(t, SCPS_NEVER / 2) : now;
}

#endif
