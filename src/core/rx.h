/* SPDX-License-Identifier: MIT */
/* What a connection has while something has arrived beyond a hole, or acknowledgements have a
 * budget. */
#ifndef SCPS_CORE_RX_H
#define SCPS_CORE_RX_H

#include <scps/wire.h>

#include "base/rangeset.h"
#include "core/pacer.h"
#include "core/timer.h"

struct scps_rx {
    struct scps_range recent[SCPS_SACK_MAX]; /* beyond a hole: those that grew last, newest first */
    uint32_t dups;                           /* answers at once since the left edge moved */
    uint32_t waiting;    /* bytes beyond a hole that no acknowledgement has reported */
    uint32_t burst;      /* acknowledgements in a row that had more to say */
    scps_off sacked_to;  /* ranges below have been reported once (strictly delayed mode) */
    scps_off told_to;    /* the next acknowledgement tells at least what came in order below */
    scps_off snack_high; /* holes below have been reported once */
    scps_off snack_next; /* where the next turn of reporting them again stands */
    scps_off dsack_from, dsack_to; /* to be reported once */
    scps_time data_at;             /* the newest data arrived; 0: none since rx came */
    scps_off fin_at;               /* offset of a FIN that lies beyond a hole; 0: none does */
    uint32_t reports;              /* under a budget, in all */
    bool anew;                     /* and all are to be repeated after the last */
    /* strictly delayed mode: the last time the timer ran out with nothing new to tell, and until
     * when the next acknowledgement leaves a multiple of ack_delay after that */
    scps_time tick, ticks_end;
    scps_off mended_from; /* the lowest that arrived below since the last report; 0: none */
    scps_off mended;      /* arrived since below what had been told; 0: nothing */
    struct scps_pacer budget,
        budget_pps;                 /* of bare acknowledgements; packets count 1 in the second */
    struct scps_timer budget_timer; /* both cover a bare acknowledgement that is owed */
};

#endif
