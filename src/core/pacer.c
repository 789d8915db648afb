/* SPDX-License-Identifier: MIT */
/* Token bucket, exact to a millionth of a byte.
 *
 * Credit grows by `rate` millionths each microsecond and is worked out when somebody asks, so there
 * is no tick and nothing is lost to rounding: a departure put off to the next whole microsecond
 * finds the fraction in its credit. A packet leaves only when the credit covers it whole
 * (docs/SCPS-TP.md section 4.5). One larger than the bucket leaves when the bucket is full and
 * leaves a debt behind, so that the rate holds all the same.
 */
#include "core/pacer.h"
#include "base/bytes.h"

#define UNIT INT64_C(1000000)
#define SOON (UINT64_MAX / SCPS_RATE_MAX) /* µs at any rate that need no division */

static void earn(struct scps_pacer *p, scps_time now)
{
    int64_t full = p->burst * UNIT;
    uint64_t dt, missing;

    if (now <= p->at)
        return;
    dt = (uint64_t)(now - p->at);
    p->at = now;
    if (p->credit >= full)
        return;
    missing = (uint64_t)(full - p->credit);
    if (dt < SOON ? dt * p->rate >= missing : dt > missing / p->rate)
        p->credit = full;
    else
        p->credit += (int64_t)(dt * p->rate);
}

void scps_pacer_change(struct scps_pacer *p, scps_time now, uint64_t rate, uint32_t burst)
{
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
    int64_t need;

    if (!p->rate)
        return now;
    earn(p, now);
    need = SCPS_MIN(size, p->burst) * UNIT;
    if (p->credit >= need)
        return now;
    return p->at + (scps_time)(((uint64_t)(need - p->credit) + p->rate - 1) / p->rate);
}
