/* SPDX-License-Identifier: MIT */
/* The retransmission timer and its backoff (RFC 6298).
 *
 * Invariant: the timer runs exactly while something is outstanding, the peer's window is not closed
 * and there is no outage.
 */
#ifndef SCPS_CORE_RTO_H
#define SCPS_CORE_RTO_H

#include "base/bytes.h"
#include "core/timer.h"

struct scps_rto {
    struct scps_timer timer; /* timer of the oldest outstanding segment */
    uint16_t backoff; /* number of timeouts, or of window probes, since the peer last answered */
    /* number of timeouts since a round trip was last measured (RFC 6298 section 5.7) */
    uint16_t kept : 15;
    /* an outage that was inferred has ended since a round trip was last measured */
    uint16_t after_outage : 1;
    scps_dur latest; /* RTT of the newest sample from data, µs; 0: none */
    /* time at which the series of timeouts, or of unanswered window probes, began; valid while
     * backoff is not 0 */
    scps_time silent_since;
};

/* Records that the peer has answered, which ends the series of timeouts. */
static inline void scps_rto_answered(struct scps_rto *r)
{
    r->backoff = 0;
}
/* Records that a round trip was measured. */
static inline void scps_rto_measured(struct scps_rto *r, scps_dur rtt)
{
    r->kept = 0;
    r->after_outage = 0;
    r->latest = rtt;
}
/* Forgets earlier timeouts. rtt: round-trip time of data, µs; 0: unknown (the RTT of the SYN says
 * little about data on a slow line). */
static inline void scps_rto_anew(struct scps_rto *r, scps_dur rtt)
{
    r->backoff = 0;
    scps_rto_measured(r, rtt);
}
/* Called at the end of an outage. inferred: no signal has reported it, so it may have been a path
 * that is longer than the timeout. Then the backoff of its timeouts ends with the first such outage
 * only: further ones keep it until a round trip is measured, or a sender that infers outages would
 * never back off (RFC 6298 section 5.5). */
static inline void scps_rto_outage_over(struct scps_rto *r, bool inferred)
{
    if (inferred && r->after_outage) {
        scps_rto_answered(r);
        return;
    }
    scps_rto_anew(r, r->latest);
    r->after_outage = inferred;
}
/* Counts an expiry of the retransmission timer, or of the timer of window probes. */
static inline void scps_rto_back_off(struct scps_rto *r)
{
    if (r->backoff < UINT16_MAX)
        r->backoff++;
}
/* Called at a timeout of data: when the peer has answered, its backoff stays in force until a round
 * trip is measured (RFC 6298 section 5.7). */
static inline void scps_rto_keep(struct scps_rto *r)
{
    r->kept = (uint16_t)(SCPS_MIN(r->kept + 1, 30) & 0x7fff);
}
/* Sets the backoff to `backoff` timeouts that the peer has not answered, when a freed sending state
 * is made again. */
static inline void scps_rto_go_on(struct scps_rto *r, uint16_t backoff)
{
    r->backoff = backoff;
}
static inline void scps_rto_silent_since(struct scps_rto *r, scps_time since)
{
    r->silent_since = since;
}

#endif
