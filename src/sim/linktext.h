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
/* Returns true if t equals `lower`, in which letters are small, whatever the case of t's
 * letters. */
bool scps_text_same_letters(struct scps_text t, const char *lower);
/* Removes the text up to the first of the characters in seps, and that character, from *t; all of
 * it if there is none. Returns the text before the character. */
struct scps_text scps_text_cut(struct scps_text *t, const char *seps);
/* Parses digits[.digits][e[+-]digits] at the start of *t, and removes it. Returns false if there is
 * no such number, or it has more than 15 significant digits. An 'e' without a digit behind it is
 * not removed, because it may begin a unit. */
bool scps_text_number(struct scps_text *t, struct scps_decimal *d);
/* Computes d * times into *out; the product must be a whole number, at most max. */
enum scps_whole scps_decimal_whole(struct scps_decimal d, uint64_t times, uint64_t max,
                                   uint64_t *out);
double scps_decimal_double(struct scps_decimal d); /* Returns the double nearest to d. */

/* Parse a rate without a unit or with k, m, g, bit, kbit, mbit or gbit, also per second (0 if zero
 * is true), and a time with us, ms, s, min, h or d. Return NULL, or what is wrong. */
const char *scps_text_rate(struct scps_text t, bool zero, uint64_t *out);
const char *scps_text_time(struct scps_text t, scps_dur *out);
const char *scps_text_chance(struct scps_text t, double max, double *out);

#endif
