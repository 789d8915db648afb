/* SPDX-License-Identifier: MIT */
/* Parses the numbers, times and rates in the text that describes a link. */
#ifndef SCPS_SIM_LINKTEXT_H
#define SCPS_SIM_LINKTEXT_H

#include <scps/types.h>
#include <stdbool.h>
#include <stddef.h>

struct scps_text {
    const char *p;
    size_t n;
};
struct scps_decimal { /* a decimal number, mantissa * 10^exp */
    uint64_t mantissa;
    int exp;
};
enum scps_whole { SCPS_WHOLE, SCPS_FRACTION, SCPS_TOO_LARGE };

bool scps_text_is(struct scps_text t, const char *word);
/* Compares without regard to case: returns true if t, in lower case, equals `lower`, which must be
 * in lower case. */
bool scps_text_same_letters(struct scps_text t, const char *lower);
/* Returns the part of *t before the first character that is in seps, and removes that part and the
 * character from *t. If there is no such character, returns all of *t and leaves it empty. */
struct scps_text scps_text_cut(struct scps_text *t, const char *seps);
/* Parses a number digits[.digits][e[+-]digits] at the start of *t into *d, and removes it from *t.
 * Returns false if there is no such number, or it has more than 15 significant digits. An 'e'
 * without a digit behind it is not removed, because it may begin a unit. */
bool scps_text_number(struct scps_text *t, struct scps_decimal *d);
/* Computes the product d * times. Returns SCPS_WHOLE and sets *out if it is a whole number of at
 * most max; otherwise SCPS_FRACTION or SCPS_TOO_LARGE. */
enum scps_whole scps_decimal_whole(struct scps_decimal d, uint64_t times, uint64_t max,
                                   uint64_t *out);
/* Returns the double nearest to the decimal number d. */
double scps_decimal_double(struct scps_decimal d);

/* scps_text_rate() parses a rate into bit/s; its unit is k, m, g, bit, kbit, mbit or gbit, also per
 * second, or none. A rate of 0 is accepted if `zero` is true. scps_text_time() parses a time in us,
 * ms, s, min, h or d into µs. scps_text_chance() parses a probability of at most max. All return
 * NULL, or the text of an error message. */
const char *scps_text_rate(struct scps_text t, bool zero, uint64_t *out);
const char *scps_text_time(struct scps_text t, scps_dur *out);
const char *scps_text_chance(struct scps_text t, double max, double *out);

#endif
