/* SPDX-License-Identifier: MIT */
/* Cuts a run of a world into slices of virtual time; after each the caller can end the run. A slice
 * that served few events is followed by a longer one, so that a slice takes about a tenth of a
 * second of real time. Results do not depend on the slices. */
#ifndef SCPS_COMMON_SLICE_H
#define SCPS_COMMON_SLICE_H

#include <scps/types.h>

#define SLICE_FIRST SCPS_MS(1)

/* Returns the length, µs, of the slice that follows one of length `slice` in which `served` events
 * were served. */
static inline scps_dur slice_next(scps_dur slice, uint64_t served)
{
    if (served < 50000)
        return slice < INT64_MAX / 2 ? 2 * slice : slice;
    return served > 200000 && slice > 1 ? slice / 2 : slice;
}

/* Returns the end, µs, of a slice that begins now; `until` is the end of the run. */
static inline scps_time slice_end(scps_time now, scps_dur slice, scps_time until)
{
    return until - now > slice ? now + slice : until;
}

#endif
