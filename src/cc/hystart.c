/* SPDX-License-Identifier: MIT */
/* HyStart++ (RFC 9406); hystart.h shows the states.
 *
 * Source: RFC 9406 section 4.2 (the algorithm), 4.3 (constants): thresholds of 4 and 16 ms,
 * divisors 8 and 4, 8 samples, 5 rounds. Difference: the limit L of the growth for one ACK is not
 * applied (see window.c). Where the receiver acknowledges only when its timer expires, there are
 * rarely eight RTT samples in a round trip, and HyStart++ has no effect.
 */
#include "cc/hystart.h"

#include "base/bytes.h"

enum { N_RTT_SAMPLE = 8, MIN_RTT_DIVISOR = 8, CSS_GROWTH_DIVISOR = 4, CSS_ROUNDS = 5 };
#define MIN_RTT_THRESH SCPS_MS(4)
#define MAX_RTT_THRESH SCPS_MS(16)

unsigned scps_hystart_ack(struct scps_hystart *hs, const struct scps_cc_ack *a)
{
    if (a->round_start) {
        if (hs->baseline && ++hs->css_rounds >= CSS_ROUNDS)
            return 0;
        hs->last_min = hs->min;
        hs->min = 0;
        hs->samples = 0;
    }
    if (a->rtt > 0) {
        uint32_t rtt = (uint32_t)SCPS_MIN(a->rtt, UINT32_MAX);
        hs->min = hs->min ? SCPS_MIN(hs->min, rtt) : rtt;
        if (hs->samples < N_RTT_SAMPLE)
            hs->samples++;
    }
    if (hs->samples >= N_RTT_SAMPLE) {
        if (hs->baseline) {
            if (hs->min < hs->baseline) {
                hs->baseline = 0;
                hs->css_rounds = 0;
            }
        } else if (hs->last_min) {
            scps_dur last = hs->last_min;
            scps_dur thresh = SCPS_CLAMP(last / MIN_RTT_DIVISOR, MIN_RTT_THRESH, MAX_RTT_THRESH);
            if (hs->min >= last + thresh)
                hs->baseline = hs->min;
        }
    }
    return hs->baseline ? CSS_GROWTH_DIVISOR : 1;
}
