/* SPDX-License-Identifier: MIT */
/* Histogram of how much later packets were delivered than the link model computed: buckets of one
 * microsecond up to a millisecond, then 128 buckets for each doubling, so each is less than 1 %
 * wide. The largest bucket is for a lateness of hours. */
#include "scps_link/delay_hist.h"

static unsigned bucket_of(uint64_t d)
{
    unsigned e = 10;

    if (d < LATE_LINEAR)
        return (unsigned)d;
    while (e < 33 && d >> (e + 1))
        e++;
    if (d >> (e + 1))
        return LATE_BUCKETS - 1;
    return LATE_LINEAR + (e - 10) * LATE_SUB + (unsigned)(d >> (e - 7) & (LATE_SUB - 1));
}

/* Returns the largest lateness that is counted in bucket b of the histogram, µs. The lateness of a
 * packet is the time from the arrival that the link model computed until the packet was
 * delivered. */
static scps_dur upper(unsigned b)
{
    unsigned e, sub;

    if (b < LATE_LINEAR)
        return b;
    e = 10 + (b - LATE_LINEAR) / LATE_SUB;
    sub = (b - LATE_LINEAR) % LATE_SUB;
    return ((scps_dur)(LATE_SUB + sub + 1) << (e - 7)) - 1;
}

void late_add(struct late *l, scps_dur d)
{
    if (d < 0)
        d = 0;
    l->n++;
    l->sum += (uint64_t)d;
    if (d > l->max)
        l->max = d;
    l->bucket[bucket_of((uint64_t)d)]++;
}

scps_dur late_quantile(const struct late *l, uint32_t ppm)
{
    uint64_t want = l->n / 1000000 * ppm + (l->n % 1000000 * ppm + 999999) / 1000000, seen = 0;

    if (l->n == 0)
        return 0;
    for (unsigned b = 0; b < LATE_BUCKETS; b++) {
        seen += l->bucket[b];
        if (seen >= want)
            return upper(b) < l->max ? upper(b) : l->max;
    }
    return l->max;
}
