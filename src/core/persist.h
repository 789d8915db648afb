/* SPDX-License-Identifier: MIT */
/* Window probing: the persist timer (RFC 9293 section 3.8.6.1) and the override timeout of a silly
 * window, which uses the same timer (section 3.8.6.2.1).
 *
 * Invariant: at most one of this timer and the retransmission timer runs. Only this file and
 * persist.c set scps_persist.timer.
 */
#ifndef SCPS_CORE_PERSIST_H
#define SCPS_CORE_PERSIST_H

#include "core/timer.h"

struct scps_sender;

struct scps_persist {
    struct scps_timer timer; /* timer that expires when the peer's window is to be probed next */
};

/* Sets the persist timer, by which the window is probed, to `when`, µs. */
static inline void scps_persist_at(struct scps_persist *p, struct scps_conn_ctx *x, scps_time when)
{
    scps_timer_set(x, &p->timer, when);
}
static inline void scps_persist_stop(struct scps_persist *p)
{
    scps_timer_stop(&p->timer);
}
/* Begins window probing, when the peer's window is closed or permits only silly segments (RFC 9293
 * section 3.8.6.2.1). */
void scps_persist_begin(struct scps_sender *s);
/* Ends window probing: no probe is due any more. Stops the retransmission timer, too. */
void scps_persist_end(struct scps_sender *s);
/* Starts the timer of the next window probe, and stops the retransmission timer. */
void scps_persist_arm(struct scps_sender *s);
/* Starts the override timeout, after which a silly segment is sent to a small window, unless the
 * timer is set to an earlier time already. */
void scps_persist_arm_override(struct scps_sender *s);

#endif
