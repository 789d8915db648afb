/* SPDX-License-Identifier: MIT */
/* Parses sizes, rates and times as users write them, and prints rates as ttcp does, in integer
 * arithmetic. */
#ifndef SCPS_TTCP_UNITS_H
#define SCPS_TTCP_UNITS_H

#include <scps/types.h>

/* Parses a size: "5700000", "64k", "1.5M", "1G", "64kib": bytes; K, M, G in either case are 1024,
 * 1024^2, 1024^3, as KiB, MiB, GiB are; kB, MB, GB are 1000, 1000^2, 1000^3. Returns 0, or -1 for
 * any other text, a negative number or an overflow. */
int units_size(const char *text, uint64_t *bytes);
/* Parses a rate: "80000000", "80m", "1.5g", "100mbit", "100mbit/s": bit/s; k, m, g in either case
 * are 1000, 1000^2, 1000^3. At most UNITS_RATE_MOST, which the stack's own bound (settings.def)
 * allows. Returns 0 or -1. */
#define UNITS_RATE_MOST UINT64_C(70000000000000)
int units_rate(const char *text, uint64_t *bps);
/* Parses a time into *us, at least 1 µs: "2", "0.5" (seconds), "200ms", "50us", "20min", "3h".
 * Returns 0, or -1 for any other text. */
int units_time(const char *text, scps_dur *us);
/* Parses a whole number without unit from min to max into *out. Returns 0, or -1 for any other
 * text. */
int units_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* Returns 8 x bytes / us in bit/s, rounded down; 0 when us is not positive. */
uint64_t units_bps(uint64_t bytes, scps_dur us);
/* Writes the rate of `bytes` in `us` microseconds with two decimals, in ttcp's unit: k m g are
 * kbit/sec, Mbit/sec, Gbit/sec (1000-based); K M G are KB/sec, MB/sec, GB/sec (1024-based); a and
 * A choose one of them, or bit/sec and B/sec, by the value. buf has at least 48 bytes. Returns
 * buf. */
char *units_print_rate(char *buf, uint64_t bytes, scps_dur us, char unit);
/* Writes a number of microseconds as seconds, "12.345678", with as many decimals (0 to 6) as asked,
 * rounded half up. buf has at least 32 bytes. Returns buf. */
char *units_print_seconds(char *buf, scps_dur us, unsigned decimals);

#endif
