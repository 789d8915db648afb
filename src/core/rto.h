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
    /* the retransmission timer; it runs for the oldest outstanding segment */
    struct scps_timer timer;
    /* number of timeouts since a round trip was last measured (RFC 6298, end of section 5) */
    uint16_t kept : 8;
    /* how many of the timeouts counted in `kept` were followed by an acknowledgement whose time
     * suggests that the RTO is shorter than the round trip (scps_sample_answered()); at most 63. If
     * there are many and no RTT sample, the RTO is taken to be too short (rto.c). */
    uint16_t answered : 6;
    /* 1: an outage that this end had inferred from timeouts has ended since a round trip was last
     * measured */
    uint16_t after_outage : 1;
    /* 1: a tail loss probe was sent since a round trip was last measured */
    uint16_t probed : 1;
    /* number of retransmissions since a round trip was last measured that a DSACK has shown to be
     * needless; at most 12 */
    uint8_t needless;
    /* newest RTT sample, µs, from the acknowledgement of a segment or from a timestamp echo; SRTT
     * when the sending state is allocated after data was acknowledged. 0: none yet (the RTT of the
     * SYN does not count if the sending state is allocated later) */
    scps_dur latest;
};

static inline void scps_rto_stop_timer(struct scps_rto *r)
{
    scps_timer_stop(&r->timer);
}
/* Ends the backoff of the retransmission timer. Called for each RTT sample, with rtt = the sample,
 * µs, and when the sending state is allocated, with rtt = SRTT if data was acknowledged before, or
 * 0 if not (the RTT of the SYN says little about data on a slow line). */
static inline void scps_rto_measured(struct scps_rto *r, scps_dur rtt)
{
    r->kept = 0;
    r->answered = 0;
    r->after_outage = 0;
    r->probed = 0;
    r->needless = 0;
    r->latest = rtt;
}
/* Called at the end of an outage: ends the backoff of the retransmission timer and returns true,
 * with one exception. inferred true: no signal reported the outage, so the timeouts may have been
 * caused by a round trip longer than the RTO. Then, if an inferred outage has ended the backoff
 * once since the last RTT sample, the backoff stays, and the function returns false: otherwise a
 * sender that infers outages would never back off (RFC 6298 section 5.5). */
static inline bool scps_rto_outage_over(struct scps_rto *r, bool inferred)
{
    if (inferred && r->after_outage)
        return false;
    r->kept = 0;
    r->answered = 0;
    r->after_outage = inferred;
    return true;
}
/* Called at a timeout of data: counts it in `kept`. The backoff by that number stays in force even
 * if the peer acknowledges data, until a round trip is measured (RFC 6298, first note of section
 * 5). */
static inline void scps_rto_keep(struct scps_rto *r)
{
    r->kept = (uint16_t)(SCPS_MIN(r->kept + 1, 30) & 0xff);
}
/* Called for the first acknowledgement of data after a timeout if it suggests that the RTO is
 * shorter than the round trip: counts the timeout in `answered`, at most 63. */
static inline void scps_rto_count_answered(struct scps_rto *r)
{
    r->answered = (uint16_t)(SCPS_MIN(r->answered + 1, 63) & 0x3f);
}
/* Called when a DSACK shows that a retransmission was needless. */
static inline void scps_rto_count_needless(struct scps_rto *r)
{
    r->needless = SCPS_MIN(r->needless + 1, 12);
}
/* Returns true if a round trip must be measured before the timer forgets earlier timeouts, and
 * before another tail loss probe is sent. */
static inline bool scps_rto_awaits_sample(const struct scps_rto *r)
{
    return r->kept || r->after_outage || r->probed;
}
/* Called when the sending state (struct scps_tx) is allocated again after it was freed: restores
 * the backoff and the measurements that it had then, `before`. Precondition: the timer of `before`
 * does not run. */
static inline void scps_rto_go_on(struct scps_rto *r, struct scps_rto before)
{
    *r = before;
}
/* Called when a tail loss probe is sent: another one is sent only when a round trip has been
 * measured since then (RFC 8985 section 7.3). */
static inline void scps_rto_probed(struct scps_rto *r)
{
    r->probed = 1;
}

#endif
