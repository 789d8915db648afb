/* SPDX-License-Identifier: MIT */
/* One line on a terminal, rewritten in place: percent delivered, rate, RTT, window, holes, time
 * left. */
#ifndef SCPS_TTCP_PROGRESS_H
#define SCPS_TTCP_PROGRESS_H

#include "scps_ttcp/flow.h"

struct ttcp_progress {
    bool on;         /* standard error is a terminal */
    scps_time shown; /* wall clock, when last */
    bool dirty;      /* something is on the line */
    scps_dur at;     /* Time and bytes when the rate was computed last, on the transfer's clock */
    uint64_t bytes;
};

void ttcp_progress_init(struct ttcp_progress *p);
/* Shows the state of n flows together at now (since the transfer's start), at most ten times a
 * second of the wall clock. */
void ttcp_progress_show(struct ttcp_progress *p, struct ttcp_flow *f, size_t n, scps_dur now);
/* Clears the line; call before anything else is printed. */
void ttcp_progress_clear(struct ttcp_progress *p);

#endif
