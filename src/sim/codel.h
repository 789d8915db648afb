/* SPDX-License-Identifier: MIT */
/* CoDel, the queue management of RFC 8289: decides whether the packet at the head of the queue is
 * dropped. */
#ifndef SCPS_SIM_CODEL_H
#define SCPS_SIM_CODEL_H

#include <scps/types.h>
#include <stdbool.h>

struct scps_codel { /* state of CoDel for one queue; all zero at the start */
    /* RFC 8289 `first_above_time`: time, µs, from which packets may be dropped, which is one
     * interval after the waiting time first reached the target; 0: the waiting time of the packet
     * taken last was below the target, or too few bytes remained in the queue */
    scps_time first_above;
    scps_time drop_next;
    /* RFC 8289 `count`: packets dropped since the dropping state was entered, plus a start value;
     * `lastcount`: the value that `count` had when the dropping state was last entered */
    uint32_t count, lastcount;
    bool dropping;
    /* what CoDel did with the packet that was taken from the queue last. GOES: sent it; BEGAN:
     * entered a dropping state and dropped it; DROPPED: dropped it within a dropping state */
    enum { SCPS_CODEL_GOES, SCPS_CODEL_BEGAN, SCPS_CODEL_DROPPED } last;
};
/* Returns true if the packet that has just been taken from the queue at `now` must be dropped; the
 * caller then takes the next packet and calls this function again with the same `now`. target,
 * interval: parameters of CoDel, µs; waited: how long the packet was in the queue, µs; backlog:
 * bytes of the frames that remain in the queue; largest: size of the largest frame offered to the
 * link so far, bytes. */
bool scps_codel_drop(struct scps_codel *c, scps_dur target, scps_dur interval, scps_time now,
                     scps_dur waited, uint64_t backlog, uint32_t largest);

#endif
