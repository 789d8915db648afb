/* SPDX-License-Identifier: MIT */
/* The observer of a stack: exact moments for the sender, and every note in words for -d. */
#ifndef SCPS_TTCP_WATCH_H
#define SCPS_TTCP_WATCH_H

#include "scps_ttcp/ends.h"

#include <stdio.h>

struct ttcp_watch {
    struct ttcp_sender *sender; /* hears ACKED; NULL */
    FILE *debug;                /* -d; NULL */
    char role;                  /* 't' or 'r' */
    scps_time t0;               /* subtracted from the times printed */
};

/* An observer that asks for no more notes than w needs. w must outlive the stack. */
struct scps_observer ttcp_watch_observer(struct ttcp_watch *w);

#endif
