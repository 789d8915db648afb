/* SPDX-License-Identifier: MIT */
/* CoDel: should the packet at the head of the queue go? */
#ifndef SCPS_SIM_CODEL_H
#define SCPS_SIM_CODEL_H

#include <scps/types.h>
#include <stdbool.h>

struct scps_codel { /* zeroed to begin with */
    /* Above target since an interval before this time; 0: it is not */
    scps_time first_above;
    scps_time drop_next;
    uint32_t count, lastcount; /* drops since it began; as that was when it last did */
    bool dropping;
    enum {
        SCPS_CODEL_GOES,
        SCPS_CODEL_BEGAN,
        SCPS_CODEL_DROPPED
    } last; /* the packet before this one */
};
/* A packet is taken from the queue at now, after waiting that long; backlog bytes remain, and
 * largest is the biggest packet seen. True: drop it, and ask again with the next one for the same
 * now. */
bool scps_codel_drop(struct scps_codel *c, scps_dur target, scps_dur interval, scps_time now,
                     scps_dur waited, uint64_t backlog, uint32_t largest);

#endif
