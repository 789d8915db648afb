/* SPDX-License-Identifier: MIT */
/* Cuts a run of a world into slices of virtual time, between which its caller can be asked whether
 * to go on. A slice that served few events is followed by a longer one, so that one takes about a
 * tenth of a second whatever the world does. Results do not depend on the slices. */
#ifndef SCPS_COMMON_SLICE_H
#define SCPS_COMMON_SLICE_H

#include <scps/types.h>

#define SLICE_FIRST SCPS_MS(1)

/* The length of the slice after one that served so many events. */
static inline scps_dur slice_next(scps_dur slice, uint64_t served)
{
    if (served < 50000)
        return slice < INT64_MAX / 2 ? 2 * slice : slice;
    return served > 200000 && slice > 1 ? slice / 2 : slice;
}

/* When a slice that begins now ends; `until` is the end of the run. */
static inline scps_time slice_end(scps_time now, scps_dur slice, scps_time until)
{
    return until - now > slice ? now + slice : until;
}

#endif
