/* SPDX-License-Identifier: MIT */
/* Round-trip time and retransmission timeout.
 *
 * RFC 6298 section 2 with one departure, Linux's: the least value (rto_min) bounds the margin above
 * srtt, not their sum.  A margin is what delayed acknowledgements and queues need; a bound on the
 * sum is none at all once the round trip is longer, which on a space link it always is.  RFC 8961
 * section 4 asks for no more than RFC 6298 gives: exponential backoff (kept by the caller), samples
 * at least once a round trip, a conservative initial value.
 *
 * Nor does the largest value (rto_max) cut a round trip short: behind a deep queue on a slow line
 * it may be longer than that, and a timer that expires before the answer can be back would send
 * everything twice. An hour is the limit for a queue: a peer that delays its answers for days must
 * not keep a connection for ever.
 */
#include "core/rtt.h"
#include "base/bytes.h"

#define LONGEST_QUEUE SCPS_SEC(3600)

void scps_rtt_init(struct scps_rtt *r, scps_dur rto_initial)
{
    *r = (struct scps_rtt){.rto = rto_initial};
}

void scps_rtt_limits(struct scps_rtt *r, scps_dur rto_min, scps_dur rto_max)
{
    if (r->srtt) {
        scps_dur margin = SCPS_MAX(4 * r->rttvar, rto_min);
        scps_dur rto = r->srtt + SCPS_MAX(margin, 1);
        scps_dur twice = SCPS_MIN(2 * r->srtt, LONGEST_QUEUE);
        r->rto = SCPS_MIN(rto, SCPS_MAX(rto_max, twice));
    }
}

void scps_rtt_floor(struct scps_rtt *r, scps_time now, scps_dur sample, scps_dur window_len)
{
    sample = SCPS_MAX(sample, 1);
    if (!r->min || now - r->window > window_len) {
        r->min2 = r->min;
        r->min = sample;
        r->window = now;
    } else if (sample < r->min) {
        r->min = sample;
    }
}

static void estimate(struct scps_rtt *r, scps_dur sample, scps_dur rto_min, scps_dur rto_max)
{
    if (!r->srtt) {
        r->srtt = sample;
        r->rttvar = sample / 2;
    } else {
        scps_dur err = sample - r->srtt;
        r->rttvar += ((err < 0 ? -err : err) - r->rttvar) / 4;
        r->srtt += err / 8;
        r->srtt = SCPS_MAX(r->srtt, 1);
    }
    scps_rtt_limits(r, rto_min, rto_max);
}

void scps_rtt_sample(struct scps_rtt *r, scps_time now, scps_dur sample, scps_dur rto_min,
                     scps_dur rto_max, scps_dur window_len)
{
    sample = SCPS_MAX(sample, 1);
    estimate(r, sample, rto_min, rto_max);
    scps_rtt_floor(r, now, sample, window_len);
}

scps_dur scps_rtt_by_clock(struct scps_rtt *r, scps_dur sample, scps_dur tick, scps_dur rto_min,
                           scps_dur rto_max)
{
    if (sample < tick)
        sample = r->srtt ? SCPS_MIN(r->srtt, tick) : tick;
    estimate(r, sample, rto_min, rto_max);
    return sample;
}

void scps_rtt_initial(struct scps_rtt *r, scps_dur rto_initial)
{
    if (!r->srtt)
        r->rto = rto_initial;
}

void scps_rtt_at_least(struct scps_rtt *r, scps_dur rto)
{
    r->rto = SCPS_MAX(r->rto, rto);
}

void scps_rtt_path(struct scps_rtt *r, scps_dur srtt, scps_dur rto_min, scps_dur rto_max)
{
    r->min = r->min2 = 0;
    r->srtt = srtt;
    r->rttvar = srtt / 2;
    scps_rtt_limits(r, rto_min, rto_max);
}
