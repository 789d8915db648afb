/* SPDX-License-Identifier: MIT */
/* Round-trip time estimate and the retransmission timeout computed from it. */
#ifndef SCPS_CORE_RTT_H
#define SCPS_CORE_RTT_H

#include <scps/types.h>

struct scps_rtt {
    scps_dur srtt, rttvar; /* 0 before the first sample */
    scps_dur rto;          /* without backoff */
    scps_dur min, min2;    /* minima of this window and of the last; see scps_rtt_min */
    scps_time window;      /* start of the present window */
};

/* Initialises; rto_initial is the timeout before the first sample. */
void scps_rtt_init(struct scps_rtt *r, scps_dur rto_initial);
/* RFC 6298 section 2. now and window_len move the window of the minimum, which follows a longer
 * path after at most two windows. */
void scps_rtt_sample(struct scps_rtt *r, scps_time now, scps_dur sample, scps_dur rto_min,
                     scps_dur rto_max, scps_dur window_len);
/* Adds a sample made from a timestamp echo, which is a difference of two readings of a clock. It
 * may be up to a tick too short ("clock granularity" of RFC 6298), so it does not update the
 * minimum, and one of less than a tick only bounds the round trip. Returns the value used. */
scps_dur scps_rtt_by_clock(struct scps_rtt *r, scps_dur sample, scps_dur tick, scps_dur rto_min,
                           scps_dur rto_max);
/* Feeds a sample to the minimum only, not to SRTT and RTTVAR (it waited less for a delayed
 * acknowledgement than others). */
void scps_rtt_floor(struct scps_rtt *r, scps_time now, scps_dur sample, scps_dur window_len);
/* Recomputes the timeout after its limits, or the path, have changed. */
void scps_rtt_limits(struct scps_rtt *r, scps_dur rto_min, scps_dur rto_max);
/* Sets another initial timeout; no effect after the first sample. */
void scps_rtt_initial(struct scps_rtt *r, scps_dur rto_initial);
/* Keeps the timeout at rto or above until the next sample. */
void scps_rtt_at_least(struct scps_rtt *r, scps_dur rto);
/* Resets the estimate for a new path with this round trip. */
void scps_rtt_path(struct scps_rtt *r, scps_dur srtt, scps_dur rto_min, scps_dur rto_max);
static inline scps_dur scps_rtt_min(const struct scps_rtt *r) /* 0: no sample yet */
{
    return r->min2 && r->min2 < r->min ? r->min2 : r->min;
}

#endif
