/* SPDX-License-Identifier: MIT */
/* State of a connection while something has arrived beyond a hole, or acknowledgements have a
 * budget. */
#ifndef SCPS_CORE_RX_H
#define SCPS_CORE_RX_H

#include <scps/wire.h>

#include "base/rangeset.h"
#include "core/pacer.h"
#include "core/timer.h"

struct scps_rx {
    /* ranges beyond holes: those that grew last, newest first */
    struct scps_range recent[SCPS_SACK_MAX];
    uint32_t dups;      /* immediate acknowledgements since RCV.NXT moved */
    uint32_t waiting;   /* bytes beyond a hole that no acknowledgement has reported yet */
    uint32_t burst;     /* consecutive acknowledgements that could not report everything */
    scps_off sacked_to; /* end of the ranges that were reported once (strictly delayed mode) */
    /* the next acknowledgement covers at least the data in order below this offset */
    scps_off told_to;
    scps_off snack_high; /* end of the holes that were reported once */
    scps_off snack_next; /* start of the next hole when holes are reported again in turn */
    scps_off dsack_from, dsack_to; /* to be reported once */
    scps_time data_at;             /* time of the newest data; 0: none since rx was made */
    scps_off fin_at;               /* offset of a FIN that lies beyond a hole; 0: none does */
    uint32_t reports;              /* reports sent under a budget */
    /* when this pass of reports ends, another begins with the first range */
    bool anew;
    /* Strictly delayed mode: the last time the timer expired with nothing new to report, and until
     * when the next acknowledgement is sent at a multiple of ack_delay after that */
    scps_time tick, ticks_end;
    /* lowest offset that arrived below what was reported, since the last report; 0: none */
    scps_off mended_from;
    /* offset, below what had been reported, from which new data has arrived since; 0: none */
    scps_off mended;
    struct scps_pacer budget,
        /* token buckets for acknowledgements without data; a packet counts 1 in the second */
        budget_pps;
    /* expires when both buckets cover the acknowledgement that is owed */
    struct scps_timer budget_timer;
};

#endif
