/* SPDX-License-Identifier: MIT */
/* Token bucket, exact to a millionth of a byte.
 *
 * Credit grows by `rate` millionths each microsecond and is worked out when somebody asks, so there is no tick.  A
 * packet leaves only when the credit covers it whole (spec sheet 4.5).  One larger than the bucket leaves when the
 * bucket is full: a configuration error then shows as a rate a little too high, not as a connection that hangs.
 */
#include "core/pacer.h"
#include "base/bytes.h"

#define UNIT UINT64_C(1000000)

static void earn(struct scps_pacer *p, scps_time now)
{
    uint64_t full = p->burst * UNIT, dt;

    if (now <= p->at)
        return;
    dt = (uint64_t)(now - p->at);
    p->at = now;
    if (p->credit >= full)
        return;
    if (dt > (full - p->credit) / p->rate)
        p->credit = full;
    else
        p->credit += dt * p->rate;
}

void scps_pacer_set(struct scps_pacer *p, scps_time now, uint64_t rate, uint32_t burst)
{
    if (p->rate == rate && p->burst == burst)
        return;
    if (p->rate)
        earn(p, now);
    else
        p->credit = burst * UNIT;
    p->rate = rate;
    p->burst = burst;
    p->at = now;
    p->credit = SCPS_MIN(p->credit, burst * UNIT);
}

scps_time scps_pacer_when(struct scps_pacer *p, scps_time now, uint32_t size)
{
    uint64_t need;

    if (!p->rate)
        return now;
    earn(p, now);
    need = SCPS_MIN(size, p->burst) * UNIT;
    if (p->credit >= need)
        return now;
    return p->at + (scps_time)((need - p->credit + p->rate - 1) / p->rate);
}

void scps_pacer_spend(struct scps_pacer *p, uint32_t size)
{
    uint64_t cost = size * UNIT;

    p->credit = p->credit > cost ? p->credit - cost : 0;
}
