/* SPDX-License-Identifier: MIT */
/* Numbers with units, parsed and printed without floating point, so that the same text always has
 * the same value.
 *
 * ttcp counts everything in units of 1024. This program counts sizes of memory in units of 1024 and
 * rates of lines in units of 1000, on the command line and in the report: Mbit/sec is 10^6 bit/s,
 * MB/sec is 2^20 bytes/s. The measurements in NASA/TM-2003-212001 use 10^6 bit/s, too.
 */
#include "scps_ttcp/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FRACTION_DIGITS 9

/* Parses a decimal number such as "123.45" into a whole part and a fraction in units of 10^-9, so
 * that no digit is lost. Returns the text behind it; NULL if it is no number. */
static const char *decimal(const char *p, uint64_t *whole, uint64_t *frac)
{
    uint64_t w = 0, f = 0;
    unsigned digits = 0, fdigits = 0;

    for (; *p >= '0' && *p <= '9'; p++, digits++) {
        uint64_t d = (uint64_t)(*p - '0');

        if (w > (UINT64_MAX - d) / 10)
            return NULL;
        w = w * 10 + d;
    }
    if (*p == '.') {
        for (p++; *p >= '0' && *p <= '9'; p++, digits++)
            if (fdigits < FRACTION_DIGITS) {
                f = f * 10 + (uint64_t)(*p - '0');
                fdigits++;
            }
    }
    if (digits == 0)
        return NULL;
    while (fdigits++ < FRACTION_DIGITS)
        f *= 10;
    *whole = w;
    *frac = f;
    return p;
}

/* Sets *out to (whole + frac * 10^-9) * scale; a remaining part of a byte or bit is dropped (1.3k
 * is 1331). With scale 1 (no suffix) a fraction is refused: 1.5 is an error, not 1. Returns 0, or
 * -1. */
static int scaled(uint64_t whole, uint64_t frac, uint64_t scale, uint64_t *out)
{
    const uint64_t e9 = 1000000000u;
    uint64_t part = frac * (scale / e9) + frac * (scale % e9) / e9;

    if ((whole != 0 && scale > UINT64_MAX / whole) || (scale == 1 && frac != 0))
        return -1;
    whole *= scale;
    if (part > UINT64_MAX - whole)
        return -1;
    *out = whole + part;
    return 0;
}

struct suffix {
    const char *text;
    uint64_t scale;
};

static int with_suffix(const char *text, const struct suffix *s, uint64_t *out)
{
    uint64_t whole, frac;
    const char *rest = decimal(text, &whole, &frac);

    if (rest == NULL)
        return -1;
    for (; s->text != NULL; s++)
        if (strcasecmp(rest, s->text) == 0)
            return scaled(whole, frac, s->scale, out);
    return -1;
}

int units_size(const char *text, uint64_t *bytes)
{
    static const struct suffix sizes[] = {
        {"", 1},           {"k", 1u << 10},   {"m", 1u << 20},    {"g", 1u << 30},
        {"kb", 1000},      {"mb", 1000000},   {"gb", 1000000000}, {"kib", 1u << 10},
        {"mib", 1u << 20}, {"gib", 1u << 30}, {NULL, 0}};

    return with_suffix(text, sizes, bytes);
}

int units_rate(const char *text, uint64_t *bps)
{
    static const struct suffix rates[] = {
        {"", 1},      {"k", 1000},      {"m", 1000000},      {"g", 1000000000},
        {"bit", 1},   {"kbit", 1000},   {"mbit", 1000000},   {"gbit", 1000000000},
        {"bit/s", 1}, {"kbit/s", 1000}, {"mbit/s", 1000000}, {"gbit/s", 1000000000},
        {NULL, 0}};

    return with_suffix(text, rates, bps) == 0 && *bps <= UNITS_RATE_MOST ? 0 : -1;
}

int units_time(const char *text, scps_dur *us)
{
    static const struct suffix times[] = {
        {"", 1000000},     {"s", 1000000},     {"ms", 1000},        {"us", 1},
        {"min", 60000000}, {"h", 3600000000u}, {"d", 86400000000u}, {NULL, 0}};
    uint64_t v;

    if (with_suffix(text, times, &v) != 0 || v == 0 || v > INT64_MAX / 4)
        return -1;
    *us = (scps_dur)v;
    return 0;
}

int units_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    uint64_t whole, frac;
    const char *rest = strchr(text, '.') == NULL ? decimal(text, &whole, &frac) : NULL;

    if (rest == NULL || *rest != '\0' || whole < min || whole > max)
        return -1;
    *out = whole;
    return 0;
}

/* Returns the rate n * mul / us * 10^6, where n was counted during us microseconds and mul is a
 * factor such as 8 (bits in a byte). The product cannot overflow; the result is at most UINT64_MAX,
 * and 0 if us is not positive. */
static uint64_t per_second(uint64_t n, uint64_t mul, scps_dur us)
{
    uint64_t d = (uint64_t)us, whole, rest;

    if (us <= 0)
        return 0;
    if (mul != 0 && n > UINT64_MAX / mul)
        return n / d >= UINT64_MAX / mul / 1000000 ? UINT64_MAX : n / d * mul * 1000000;
    n *= mul;
    whole = n / d;
    rest = n % d;
    if (whole > UINT64_MAX / 1000000 - 1)
        return UINT64_MAX;
    whole *= 1000000;
    /* rest * 1000000 / d is the fraction of the rate; rest is less than d. If d is so large (above
     * 2^44 µs, half a year) that the product would overflow, an approximation suffices, because it
     * affects only the last digits. */
    if (d <= UINT64_MAX / 1000000)
        return whole + rest * 1000000 / d;
    return whole + rest / (d / 1000000);
}

uint64_t units_bps(uint64_t bytes, scps_dur us)
{
    return per_second(bytes, 8, us);
}

/* Returns `unit`, or for an adaptive `unit` the one that suits rate v. a: v is in bit/s; b (bit/s)
 * below 1000, k (kbit/s) below 10^6, m (Mbit/s) below 10^10, so that all results of one link have
 * the same unit, else g (Gbit/s). A: v is in bytes/s; B, K, M or G, the largest of these, in powers
 * of 1024, that v reaches. */
static char adapted(char unit, uint64_t v)
{
    if (unit == 'a')
        return v < 1000 ? 'b' : v < 1000000 ? 'k' : v < 10000000000u ? 'm' : 'g';
    if (unit == 'A')
        return v < 1u << 10 ? 'B' : v < 1u << 20 ? 'K' : v < 1u << 30 ? 'M' : 'G';
    return unit;
}

char *units_print_rate(char *buf, uint64_t bytes, scps_dur us, char unit)
{
    bool bits = unit >= 'a' && unit <= 'z';
    uint64_t v = per_second(bytes, bits ? 8 : 1, us), scale;
    const char *name;

    switch (adapted(unit, v)) {
    case 'b':
        scale = 1, name = "bit/sec";
        break;
    case 'B':
        scale = 1, name = "B/sec";
        break;
    case 'k':
        scale = 1000, name = "kbit/sec";
        break;
    case 'g':
        scale = 1000000000, name = "Gbit/sec";
        break;
    case 'K':
        scale = 1u << 10, name = "KB/sec";
        break;
    case 'M':
        scale = 1u << 20, name = "MB/sec";
        break;
    case 'G':
        scale = 1u << 30, name = "GB/sec";
        break;
    default:
        scale = 1000000, name = "Mbit/sec";
        break;
    }
    /* The number is printed with two decimals, rounded half up. */
    uint64_t whole = v / scale, cents = (v % scale * 100 + scale / 2) / scale;

    whole += cents / 100;
    cents %= 100;
    snprintf(buf, 48, "%" PRIu64 ".%02" PRIu64 " %s", whole, cents, name);
    return buf;
}

char *units_print_seconds(char *buf, scps_dur us, unsigned decimals)
{
    static const int64_t pow10[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    int64_t unit = pow10[6 - decimals], v = (us + unit / 2) / unit;

    if (decimals == 0)
        snprintf(buf, 32, "%" PRId64, v);
    else
        snprintf(buf, 32, "%" PRId64 ".%0*" PRId64, v / pow10[decimals], (int)decimals,
                 v % pow10[decimals]);
    return buf;
}
