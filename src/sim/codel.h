/* SPDX-License-Identifier: MIT */
/* CoDel, the queue management of RFC 8289: decides whether the packet at the head of the queue is
 * dropped. */
#ifndef SCPS_SIM_CODEL_H
#define SCPS_SIM_CODEL_H

#include <scps/types.h>
#include <stdbool.h>

struct scps_codel { /* state of CoDel for one queue; all zero at the start */
    /* RFC 8289 `first_above_time`: time, µs, at which the sojourn time will have been at or above
     * the target for an interval; 0: the last packet's sojourn time was below the target */
    scps_time first_above;
    scps_time drop_next;
    /* RFC 8289 `count`: drops in the present dropping state; `lastcount`: the value that `count`
     * had when a dropping state was last entered */
    uint32_t count, lastcount;
    bool dropping;
    /* what CoDel did with the packet taken before: sent it, dropped it as the first of a dropping
     * state, or dropped it later in that state */
    enum { SCPS_CODEL_GOES, SCPS_CODEL_BEGAN, SCPS_CODEL_DROPPED } last;
};
/* Called for each packet that is taken from the queue at `now`. target, interval: parameters of
 * CoDel, µs; waited: how long the packet was in the queue, µs; backlog: bytes that remain in the
 * queue; largest: size of the biggest packet seen, bytes. Returns true to drop the packet; then
 * call it for the next packet with the same now. */
bool scps_codel_drop(struct scps_codel *c, scps_dur target, scps_dur interval, scps_time now,
                     scps_dur waited, uint64_t backlog, uint32_t largest);

#endif
