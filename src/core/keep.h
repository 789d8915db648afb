/* SPDX-License-Identifier: MIT */
/* Keep-alive (RFC 9293 section 3.8.4): decides when the peer of an idle connection is probed
 * (keep.c).
 *
 * Invariant: a probe is sent only when no data is outstanding. Only this file and keep.c assign the
 * fields.
 */
#ifndef SCPS_CORE_KEEP_H
#define SCPS_CORE_KEEP_H

#include "core/sender.h"
#include "core/timer.h"

struct scps_keep {
    struct scps_timer timer; /* timer of keep-alive probes */
    /* time, µs, at which data or an acknowledgement last arrived; the next probe is due keep_idle
     * later */
    scps_time heard_at;
};

/* What the caller must do when the keep-alive timer has expired. */
enum scps_keep_verdict {
    SCPS_KEEP_LATER, /* nothing: the timer was set again, or is not needed any more */
    SCPS_KEEP_PROBE, /* send a keep-alive probe; the timer runs until its answer is overdue */
    SCPS_KEEP_END    /* end the connection, because the peer has not answered the probes */
};

/* Sets the number of unanswered keep-alive probes to 0, because the peer has acknowledged
 * something, or because an outage has begun, in which silence of the peer shows nothing. */
static inline void scps_keep_progress(struct scps_sender *s)
{
    s->keep_probes = 0;
}
/* Records that data or an acknowledgement arrived at `now`. The next keep-alive probe is due
 * keep_idle later. */
static inline void scps_keep_heard(struct scps_keep *k, scps_time now)
{
    k->heard_at = now;
}
/* Called when an acknowledgement arrives in a segment with `len` octets of data. RFC 9293 section
 * 3.8.4: a probe is sent only when "no data or acknowledgment packets have been received for the
 * connection within an interval". Data is recorded by scps_keep_heard(), when rcv.c has compared
 * its time with that of the data before. */
static inline void scps_keep_acked(struct scps_keep *k, uint32_t len, scps_time now)
{
    if (!len)
        k->heard_at = now;
}
/* Called when the keep-alive timer has expired. Returns what the caller must do, and sets the timer
 * again if it is still needed. state: enum scps_state. */
enum scps_keep_verdict scps_keep_expired(struct scps_keep *k, struct scps_sender *s, uint8_t state);

#endif
