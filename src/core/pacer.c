/* SPDX-License-Identifier: MIT */
/* Token bucket, exact to a millionth of a byte.
 *
 * Credit grows by `rate` millionths each microsecond and is computed when needed, so there is no
 * tick and nothing is lost to rounding: a departure put off to the next whole microsecond finds the
 * fraction in its credit. A packet leaves only when the credit covers it whole (docs/SCPS-TP.md
 * section 4.5). One larger than the bucket leaves when the bucket is full and leaves a debt behind,
 * so that the rate holds all the same.
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
