/* SPDX-License-Identifier: MIT */
/* Round-trip time and retransmission timeout.
 *
 * RFC 6298 section 2 with one departure, which Linux has, too: the least value (rto_min) bounds the
 * margin above SRTT, and not the sum of SRTT and margin. The margin has to cover delayed
 * acknowledgements and queues; a bound on the sum has no effect once the round trip is longer,
 * which it always is on a space link. RFC 8961 section 4 asks for no more than RFC 6298:
 * exponential backoff (done by the caller), at least one sample per round trip, and a conservative
 * initial value.
 *
 * The largest value (rto_max) does not limit the timeout to less than the round trip either: behind
 * a deep queue on a slow line the round trip may exceed rto_max, and a timer that expires before
 * the acknowledgement can arrive would send everything twice. In that case the timeout is limited
 * to an hour, so that a peer that delays its answers for days does not keep a connection for ever.
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

SCPS_NOINLINE_SIZE void scps_rtt_floor(struct scps_rtt *r, scps_time now, scps_dur sample,
                                       scps_dur window_len)
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

scps_dur scps_rtt_to_spread(const struct scps_rtt *r, scps_dur latest)
{
    return latest && latest < r->srtt / 2 ? 2 * latest : r->srtt;
}
