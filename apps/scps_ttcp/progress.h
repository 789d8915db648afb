/* SPDX-License-Identifier: MIT */
/* A progress line on a terminal, rewritten in place: percent of the transfer, rate, RTT, window,
 * holes, remaining time. */
#ifndef SCPS_TTCP_PROGRESS_H
#define SCPS_TTCP_PROGRESS_H

#include "scps_ttcp/flow.h"

struct ttcp_progress {
    bool on;         /* true: standard error is a terminal */
    scps_time shown; /* wall-clock time when the line was last written, µs */
    bool dirty;      /* true: the line on the terminal is not empty */
    /* at: time, µs since the start of the transfer, at which the rate was last computed; bytes:
     * number of bytes transferred until then */
    scps_dur at;
    uint64_t bytes;
};

void ttcp_progress_init(struct ttcp_progress *p);
/* Shows the state of n flows together at now (µs since the transfer's start), at most ten times a
 * second of the wall clock. */
void ttcp_progress_show(struct ttcp_progress *p, struct ttcp_flow *f, size_t n, scps_dur now);
/* Removes the progress line from the terminal. Call it before anything else is printed there. */
void ttcp_progress_clear(struct ttcp_progress *p);

#endif
