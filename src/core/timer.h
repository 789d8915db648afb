/* SPDX-License-Identifier: MIT */
/* A timer of a connection: the time at which one thing is to be looked at.
 *
 * Invariant: the key of a connection in its host's heap of deadlines is never later than a timer of
 * the connection that runs.  It may be earlier: putting a timer off, which every acknowledgement
 * does to the retransmission timer, or stopping it, touches no heap (timers.c).  Neither does
 * starting a timer that is later than the earliest one, which ctx.timers_by remembers.
 */
#ifndef SCPS_CORE_TIMER_H
#define SCPS_CORE_TIMER_H

#include "core/ctx.h"

struct scps_timer {
    scps_time at; /* SCPS_NEVER: the timer does not run */
};

static inline void scps_timer_stop(struct scps_timer *t)
{
    t->at = SCPS_NEVER;
}
static inline bool scps_timer_runs(const struct scps_timer *t)
{
    return t->at != SCPS_NEVER;
}
/* True: the timer has expired, and is stopped. */
static inline bool scps_timer_take(struct scps_timer *t, scps_time now)
{
    if (t->at > now)
        return false;
    t->at = SCPS_NEVER;
    return true;
}
/* The key of the connection of x is no later than `when`. */
void scps_timer_key(struct scps_conn_ctx *x, scps_time when);
/* The timers of the connection of x are looked at by `when`. */
static inline void scps_timer_due(struct scps_conn_ctx *x, scps_time when)
{
    if (when >= x->timers_by)
        return;
    x->timers_by = when;
    scps_timer_key(x, when);
}
/* None of them is due before `when`. */
static inline void scps_timer_looked(struct scps_conn_ctx *x, scps_time when)
{
    x->timers_by = when;
}
/* Timer t of the connection of x expires at `when`. */
static inline void scps_timer_set(struct scps_conn_ctx *x, struct scps_timer *t, scps_time when)
{
    t->at = when;
    scps_timer_due(x, when);
}
/* The same of the pacer's timer, the next with each segment: timers_by does not count it. */
static inline void scps_timer_set_next(struct scps_conn_ctx *x, struct scps_timer *t,
                                       scps_time when)
{
    t->at = when;
    scps_timer_key(x, when);
}
/* Timer t expires at `when`, unless it expires earlier. */
static inline void scps_timer_by(struct scps_conn_ctx *x, struct scps_timer *t, scps_time when)
{
    if (when < t->at)
        scps_timer_set(x, t, when);
}

#endif
