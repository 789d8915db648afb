/* SPDX-License-Identifier: MIT */
/* What changes with time on its own: rates, delays and outages from tables. */
#ifndef SCPS_SIM_PLAN_H
#define SCPS_SIM_PLAN_H

#include <scps/sim.h>

/* Are the rows in order, within max, and is the period beyond the last? An empty table makes
 * sense. */
bool scps_steps_ok(const struct scps_steps *s, uint64_t max);
bool scps_spans_ok(const struct scps_spans *s);
/* The value that holds at t, and until when (SCPS_NEVER: for good). n is not 0. */
uint64_t scps_steps_at(const struct scps_steps *s, scps_time t, scps_time *until);
/* The sum of value * time over one period, which there must be; UINT64_MAX also stands for anything
 * larger. */
uint64_t scps_steps_sum(const struct scps_steps *s);
/* Straight between the rows. n is not 0. */
uint64_t scps_steps_between(const struct scps_steps *s, scps_time t);
/* The least delay there is: of the table, if there is one. */
scps_dur scps_delay_least(const struct scps_link_config *c);
/* Is some of [from, to), or the moment from, in an outage? */
bool scps_spans_hit(const struct scps_spans *s, scps_time from, scps_time to);
/* The first moment from t on without outage; SCPS_NEVER. */
scps_time scps_spans_up(const struct scps_spans *s, scps_time t);
/* The earliest moment, seconds, at which the line of c can have sent so many bits since `start`,
 * when it is never idle and never faster than `rate` (bit/s, above 0): outages and the table of
 * rates count. Negative: never. */
double scps_line_done(const struct scps_link_config *c, double start, double bits, double rate);

#endif
