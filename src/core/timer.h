/* SPDX-License-Identifier: MIT */
/* A timer of a connection, for one purpose.
 *
 * Invariant: the key of a connection in its host's heap of deadlines is never later than any
 * running timer of the connection. The key may be earlier: postponing a timer, which every
 * acknowledgement does to the retransmission timer, or stopping it, does not change the heap; when
 * the key becomes due, scps_conn_timers() (timers.c) finds the next timer. Starting a timer that is
 * later than the earliest one, which ctx.timers_by stores, does not change the heap either.
 */
#ifndef SCPS_CORE_TIMER_H
#define SCPS_CORE_TIMER_H

#include "base/bytes.h"
#include "core/ctx.h"

struct scps_timer {
    scps_time at; /* time of expiry, µs; SCPS_NEVER: the timer does not run */
};

static SCPS_INLINE_SPEED void scps_timer_stop(struct scps_timer *t)
{
    t->at = SCPS_NEVER;
}
static inline bool scps_timer_runs(const struct scps_timer *t)
{
    return t->at != SCPS_NEVER;
}
/* If the timer has expired, stops it and returns true. */
static SCPS_INLINE_SPEED bool scps_timer_take(struct scps_timer *t, scps_time now)
{
    if (t->at > now)
        return false;
    t->at = SCPS_NEVER;
    return true;
}
/* Makes sure that the host's heap of deadlines has x's connection at the time `when`, µs, or
 * earlier, so that the stack processes its timers then. */
void scps_timer_key(struct scps_conn_ctx *x, scps_time when);
/* Makes sure that scps_conn_timers() checks the timers of x's connection at `when`, µs, or
 * earlier. */
static inline void scps_timer_due(struct scps_conn_ctx *x, scps_time when)
{
    if (when >= x->timers_by)
        return;
    x->timers_by = when;
    scps_timer_key(x, when);
}
/* Records that all timers have been checked, and that none expires before `when`. */
static inline void scps_timer_looked(struct scps_conn_ctx *x, scps_time when)
{
    x->timers_by = when;
}
/* Sets timer t of the connection of x to expire at `when`. */
static SCPS_INLINE_SPEED void scps_timer_set(struct scps_conn_ctx *x, struct scps_timer *t,
                                             scps_time when)
{
    t->at = when;
    scps_timer_due(x, when);
}
/* Sets the pacer's timer to expire at `when`, µs. The host's heap of deadlines has one key for each
 * connection, the time at which its next timer may expire. That key takes account of this timer;
 * x->timers_by, the time at which all other timers have to be checked, does not, because the
 * pacer's timer moves with each segment. */
static inline void scps_timer_set_next(struct scps_conn_ctx *x, struct scps_timer *t,
                                       scps_time when)
{
    t->at = when;
    scps_timer_key(x, when);
}
/* Sets timer t to expire at `when`, unless it expires earlier. */
static inline void scps_timer_by(struct scps_conn_ctx *x, struct scps_timer *t, scps_time when)
{
    if (when < t->at)
        scps_timer_set(x, t, when);
}

#endif
