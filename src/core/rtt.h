/* SPDX-License-Identifier: MIT */
/* Round-trip time and the retransmission timeout made of it. */
#ifndef SCPS_CORE_RTT_H
#define SCPS_CORE_RTT_H

#include <scps/types.h>

struct scps_rtt {
    scps_dur srtt, rttvar; /* 0 before the first sample */
    scps_dur rto;          /* without backoff */
    scps_dur min, min2;    /* smallest of this window and the last; see scps_rtt_min */
    scps_time window;      /* when the current window began */
};

/* rto_initial stands until the first sample. */
void scps_rtt_init(struct scps_rtt *r, scps_dur rto_initial);
/* RFC 6298 section 2. now and window_len move the minimum's window: a path that became longer is
 * believed after at most two of them. */
void scps_rtt_sample(struct scps_rtt *r, scps_time now, scps_dur sample, scps_dur rto_min,
                     scps_dur rto_max, scps_dur window_len);
/* A sample that is the difference of two readings of a clock, the peer's echo of a time stamp. It
 * may be up to a tick too short ("clock granularity" of RFC 6298), so the minimum does not hear of
 * it, and one of less than a tick only says that the round trip is no longer than that. Returns
 * what it counted as. */
scps_dur scps_rtt_by_clock(struct scps_rtt *r, scps_dur sample, scps_dur tick, scps_dur rto_min,
                           scps_dur rto_max);
/* Only the minimum hears this sample (one that waited for a delayed acknowledgement less than
 * others). */
void scps_rtt_floor(struct scps_rtt *r, scps_time now, scps_dur sample, scps_dur window_len);
/* Limits changed, or the path did: works out the timeout anew. */
void scps_rtt_limits(struct scps_rtt *r, scps_dur rto_min, scps_dur rto_max);
/* Another initial timeout: of no use after the first sample. */
void scps_rtt_initial(struct scps_rtt *r, scps_dur rto_initial);
/* The timeout is no less than rto until the next sample. */
void scps_rtt_at_least(struct scps_rtt *r, scps_dur rto);
/* The path is another, of this round trip: what was measured on the old one is forgotten. */
void scps_rtt_path(struct scps_rtt *r, scps_dur srtt, scps_dur rto_min, scps_dur rto_max);
static inline scps_dur scps_rtt_min(const struct scps_rtt *r) /* 0: no sample yet */
{
    return r->min2 && r->min2 < r->min ? r->min2 : r->min;
}

#endif
