/* SPDX-License-Identifier: MIT */
/* CoDel (RFC 8289 sections 5.5 and 5.6). The pseudocode there takes packets from the queue in a
 * loop until one may be sent. In this file the loop is inverted: link.c calls scps_codel_drop() for
 * each packet taken from the queue, and the function returns whether to drop it. At which step of
 * that loop a call goes on follows from the field `last` of struct scps_codel: what was done with
 * the packet before (sent it, entered a dropping state and dropped it, or dropped it within a
 * dropping state). */
#include "sim/codel.h"

#include "base/wide.h"

/* Returns control_law() of RFC 8289, the time of the next drop after t: t + interval / sqrt(count),
 * all times in µs. The quotient is computed as sqrt(interval^2 / count), rounded down. */
static scps_time control_law(scps_time t, scps_dur interval, uint32_t count)
{
    return t + (scps_dur)scps_root((uint64_t)interval * (uint64_t)interval / count);
}

/* Computes ok_to_drop of RFC 8289 for the packet that was taken from the queue at `now` after
 * waiting `waited`: returns true if the waiting times of the packets have been at least `target`
 * for `interval` (all in µs). The waiting time counts as below the target while at most `largest`
 * bytes, the size of the largest frame so far, remain in the queue. */
static bool above(struct scps_codel *c, scps_dur target, scps_dur interval, scps_time now,
                  scps_dur waited, uint64_t backlog, uint32_t largest)
{
    if (waited < target || backlog <= largest) {
        c->first_above = 0;
        return false;
    }
    if (c->first_above == 0) {
        c->first_above = now + interval;
        return false;
    }
    return now >= c->first_above;
}

bool scps_codel_drop(struct scps_codel *c, scps_dur target, scps_dur interval, scps_time now,
                     scps_dur waited, uint64_t backlog, uint32_t largest)
{
    bool ok = above(c, target, interval, now, waited, backlog, largest);
    int last = c->last;

    c->last = SCPS_CODEL_GOES;
    /* The packet taken from the queue before this one was the first that was dropped in a dropping
     * state, so this one is sent (RFC 8289 section 5.5). */
    if (last == SCPS_CODEL_BEGAN)
        return false;
    if (c->dropping) {
        if (!ok) {
            c->dropping = false;
            return false;
        }
        if (last == SCPS_CODEL_DROPPED)
            c->drop_next = control_law(c->drop_next, interval, c->count);
        if (now < c->drop_next)
            return false;
        c->count++;
        c->last = SCPS_CODEL_DROPPED;
        return true;
    }
    if (!ok)
        return false;
    uint32_t delta = c->count - c->lastcount;
    c->dropping = true;
    c->count = delta > 1 && now - c->drop_next < 16 * interval ? delta : 1;
    c->drop_next = control_law(now, interval, c->count);
    c->lastcount = c->count;
    c->last = SCPS_CODEL_BEGAN;
    return true;
}
