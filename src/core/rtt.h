/* SPDX-License-Identifier: MIT */
/* Estimates the round-trip time, and computes the retransmission timeout from it (RFC 6298). */
#ifndef SCPS_CORE_RTT_H
#define SCPS_CORE_RTT_H

#include <scps/types.h>

struct scps_rtt {
    scps_dur srtt, rttvar; /* SRTT and RTTVAR of RFC 6298, µs; 0 before the first sample */
    scps_dur rto;          /* retransmission timeout without backoff, µs */
    /* least sample of the measuring window in progress (min) and of the window before (min2), µs */
    scps_dur min, min2;
    scps_time window; /* time at which the measuring window in progress began, µs */
};

/* Initialises r; rto_initial is the timeout before the first sample, µs. */
void scps_rtt_init(struct scps_rtt *r, scps_dur rto_initial);
/* Adds an RTT sample (RFC 6298 section 2), µs, taken at `now`. The minimum RTT is that of the last
 * two measuring windows of window_len, µs, so it follows a path that has become longer. */
void scps_rtt_sample(struct scps_rtt *r, scps_time now, scps_dur sample, scps_dur rto_min,
                     scps_dur rto_max, scps_dur window_len);
/* Adds an RTT sample, µs, made from a timestamp echo: the difference of two readings of a clock
 * with period `tick`, µs. It may be up to a tick too short ("clock granularity" of RFC 6298), so it
 * does not update the minimum. A sample of less than a tick shows only that the RTT is at most
 * about a tick: SRTT is used in its place, at most a tick, or a tick if there is no SRTT yet.
 * Returns the sample used, µs. */
scps_dur scps_rtt_by_clock(struct scps_rtt *r, scps_dur sample, scps_dur tick, scps_dur rto_min,
                           scps_dur rto_max);
/* Updates only the minimum RTT, not SRTT and RTTVAR. sample: RTT, µs, of the segment that was sent
 * last of those that an acknowledgement covers; the peer's delayed ACK has lengthened it least. */
void scps_rtt_floor(struct scps_rtt *r, scps_time now, scps_dur sample, scps_dur window_len);
/* Computes the retransmission timeout again after its limits rto_min and rto_max, µs, have
 * changed. */
void scps_rtt_limits(struct scps_rtt *r, scps_dur rto_min, scps_dur rto_max);
/* Sets the timeout that is used before the first sample; has no effect after the first sample. */
void scps_rtt_initial(struct scps_rtt *r, scps_dur rto_initial);
/* Raises the timeout to at least `rto` µs until the next sample. */
void scps_rtt_at_least(struct scps_rtt *r, scps_dur rto);
/* Called when a signal from the link reports that the path has changed: replaces SRTT by `srtt`,
 * the round trip of the new path, µs, and computes the timeout from it within rto_min and rto_max,
 * µs. */
void scps_rtt_path(struct scps_rtt *r, scps_dur srtt, scps_dur rto_min, scps_dur rto_max);
/* Returns the minimum RTT, µs: the least sample of the measuring window in progress and of the one
 * before it; 0: no sample yet. A measuring window is 10 s or 10 SRTT long, whichever is longer
 * (sample.c). */
static inline scps_dur scps_rtt_min(const struct scps_rtt *r)
{
    return r->min2 && r->min2 < r->min ? r->min2 : r->min;
}
/* Forgets SRTT and RTTVAR, so that the next RTT sample counts as the first one (RFC 6298 section
 * 2.2). The RTO stays until then. */
static inline void scps_rtt_forget(struct scps_rtt *r)
{
    r->srtt = 0;
}
/* Returns the round trip, µs, over which a congestion window is spread. latest: newest RTT sample,
 * µs; 0: none. It is SRTT, but at most twice the newest sample: when packets were held during an
 * outage of minutes, SRTT is still minutes when the samples show milliseconds again. A window that
 * is spread over that SRTT gives SRTT only one sample in minutes, so it would stay long. */
scps_dur scps_rtt_to_spread(const struct scps_rtt *r, scps_dur latest);

#endif
