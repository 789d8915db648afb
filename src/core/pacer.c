/* SPDX-License-Identifier: MIT */
/* Token bucket, exact to a millionth of a byte.
 *
 * The level of the bucket (the field credit) grows by `rate` millionths of a byte each microsecond
 * and is computed when needed, so there is no tick and nothing is lost by rounding: if a departure
 * is delayed to the next whole microsecond, the level includes the fraction. A packet is sent only
 * when the bucket holds as much as all of it costs (docs/SCPS-TP.md section 4.5). A packet larger
 * than the bucket is sent when the bucket is full and leaves a negative level, so that the rate is
 * kept nevertheless.
 */
#include "core/pacer.h"
#include "base/bytes.h"

void scps_pacer_change(struct scps_pacer *p, scps_time now, uint64_t rate, uint32_t burst)
{
    if (p->rate)
        scps_pacer_earn(p, now);
    else
        p->credit = burst * SCPS_PACER_UNIT;
    p->rate = rate;
    p->burst = burst;
    p->at = now;
    p->credit = SCPS_MIN(p->credit, burst * SCPS_PACER_UNIT);
}

scps_time scps_pacer_when(struct scps_pacer *p, scps_time now, uint32_t size)
{
    return scps_pacer_next(p, now, size);
}
