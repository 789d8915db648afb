/* SPDX-License-Identifier: MIT */
/* The token bucket of a connection or a route, with a level that is exact to a millionth of a
 * byte.
 *
 * The level of the bucket (the field credit) grows by `rate` millionths of a byte each microsecond
 * and is computed when it is needed, so no timer has to add to it. Nothing is lost by rounding: if
 * a packet is delayed to the next whole microsecond, the level includes the fraction.
 *
 * A packet is sent only when the bucket holds the cost of the whole packet (docs/SCPS-TP.md section
 * 4.5). A packet that costs more than a full bucket is sent when the bucket is full and makes the
 * level negative, so that the rate is still observed on average.
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
    if (!p->rate)
        return now;
    scps_pacer_earn(p, now);
    return scps_pacer_due(p, size);
}
