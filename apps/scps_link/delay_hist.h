/* SPDX-License-Identifier: MIT */
/* Histogram of lateness: how much later than the arrival time that the link model computed the
 * emulator delivered each packet, µs. It has a resolution of three digits, and yields quantiles
 * without storing the samples. */
#ifndef SCPS_LINK_DELAY_HIST_H
#define SCPS_LINK_DELAY_HIST_H

#include <scps/types.h>

#define LATE_LINEAR  1024 /* each number of µs below this one has a bucket of its own */
#define LATE_SUB     128  /* number of buckets in each doubling of the value above LATE_LINEAR */
#define LATE_BUCKETS (LATE_LINEAR + 24 * LATE_SUB)

struct late {
    uint64_t n, sum;
    scps_dur max;
    uint64_t bucket[LATE_BUCKETS];
};

void late_add(struct late *l, scps_dur d);
/* Returns a quantile of the lateness of packets, µs: at least ppm millionths of all packets were
 * delivered at most this much later than the channel model computed. 0 if there were no packets. */
scps_dur late_quantile(const struct late *l, uint32_t ppm);

#endif
