/* SPDX-License-Identifier: MIT */
/* Looks up the values of a link that change over time by a table: rates, delays and outages. */
#ifndef SCPS_SIM_PLAN_H
#define SCPS_SIM_PLAN_H

#include <scps/sim.h>

/* scps_steps_ok() returns true if the times of the table's rows do not decrease, their values are
 * at most max, and its period (0: none) is longer than the time of its last row. scps_spans_ok()
 * returns true if the time spans are not empty, ascend and do not overlap, and their period (0:
 * none) does not end before the last span. An empty table is valid. */
bool scps_steps_ok(const struct scps_steps *s, uint64_t max);
bool scps_spans_ok(const struct scps_spans *s);
/* Returns the value of the table at time t, µs, and sets *until to the time until which this value
 * holds (SCPS_NEVER: for ever). Precondition: the table is not empty. */
uint64_t scps_steps_at(const struct scps_steps *s, scps_time t, scps_time *until);
/* Returns the sum of value * time (µs) over one period of the table, or UINT64_MAX if the sum is
 * larger. Precondition: the table has a period. */
uint64_t scps_steps_sum(const struct scps_steps *s);
/* Returns the value of the table at t, interpolated linearly between rows. Precondition: the table
 * is not empty. */
uint64_t scps_steps_between(const struct scps_steps *s, scps_time t);
/* Computes when a line whose rate (bit/s) follows the table has sent further `bits_us` bits, times
 * 10^6, of a frame: advances the time *us, µs, plus the fraction *frac of a microsecond, a
 * numerator over the rate at that time. Preconditions: the table is not empty, bits_us is above 0,
 * and the table has a period with at least 1 bit/s on average, or its last rate is above 0. */
void scps_steps_send(const struct scps_steps *rates, uint64_t bits_us, scps_time *us,
                     uint64_t *frac);
/* Sets *bits_us to the number of bits, times 10^6, that a line whose rate (bit/s) follows the table
 * sends from the time `from` to the time `to`, µs. Returns true if the rate is 0 for a part of this
 * time. Precondition: the table is not empty, and the result is below 2^63. */
bool scps_steps_sent(const struct scps_steps *rates, scps_time from, scps_time to,
                     uint64_t *bits_us);
/* Returns the smallest delay of a configuration, from its table if there is one, µs. */
scps_dur scps_delay_least(const struct scps_link_config *c);
/* Returns true if the time `from`, or any time from there to `to` (exclusive), µs, is in an
 * outage. */
bool scps_spans_hit(const struct scps_spans *s, scps_time from, scps_time to);
/* Returns the first time at or after t, µs, that is not in an outage; SCPS_NEVER: there is none. */
scps_time scps_spans_up(const struct scps_spans *s, scps_time t);
/* Returns the earliest time, s, at which the line of c can have sent `bits` bits since `start`, if
 * it is never idle and never faster than `rate` (bit/s, above 0), given the outages and the table
 * of rates of c. Negative: never. */
double scps_line_done(const struct scps_link_config *c, double start, double bits, double rate);

#endif
