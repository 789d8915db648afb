/* SPDX-License-Identifier: MIT */
/* Keep-alive (RFC 9293 section 3.8.4; keep.c). */
#ifndef SCPS_CORE_KEEP_H
#define SCPS_CORE_KEEP_H

#include "core/sender.h"
#include "core/timer.h"

/* What has to be done when the keep-alive timer has expired. */
enum scps_keep {
    SCPS_KEEP_LATER, /* nothing: the timer runs again, or is not needed any more */
    SCPS_KEEP_PROBE, /* a probe is to be sent; the timer runs until its answer is overdue */
    SCPS_KEEP_END    /* the peer has not answered: the connection ends */
};

/* Records that no keep-alive probe is outstanding, because the peer has acknowledged something or
 * an outage has begun. */
static inline void scps_keep_progress(struct scps_sender *s)
{
    s->keep_probes = 0;
}
/* Called when timer t of keep-alive has expired. state: enum scps_state; heard_at: when a segment
 * of the peer arrived last, µs. */
enum scps_keep scps_keep_expired(struct scps_sender *s, struct scps_timer *t, uint8_t state,
                                 scps_time heard_at);

#endif
