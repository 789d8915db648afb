/* SPDX-License-Identifier: MIT */
/* Cuts a run of a simulation into slices of virtual time; after each slice the caller can end the
 * run. A slice in which few events occurred is followed by a longer one, and one with many events
 * by a shorter one, so that a slice takes about a tenth of a second of real time. Results do not
 * depend on the slices. */
#ifndef SCPS_COMMON_SLICE_H
#define SCPS_COMMON_SLICE_H

#include <scps/types.h>

#define SLICE_FIRST SCPS_MS(1)

/* Returns the length, µs of virtual time, of the next slice. slice: length of the slice that has
 * just ended, µs; served: number of events that the simulation processed in that slice. */
static inline scps_dur slice_next(scps_dur slice, uint64_t served)
{
    if (served < 50000)
        return slice < INT64_MAX / 2 ? 2 * slice : slice;
    return served > 200000 && slice > 1 ? slice / 2 : slice;
}

/* Returns the virtual time, µs, at which a slice of length `slice` that begins at `now` ends: at
 * `until`, the end of the run, at the latest. */
static inline scps_time slice_end(scps_time now, scps_dur slice, scps_time until)
{
    return until - now > slice ? now + slice : until;
}

#endif
