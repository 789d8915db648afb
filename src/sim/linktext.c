/* SPDX-License-Identifier: MIT */
/* Parses the numbers, times and rates in the text that describes a link.
 *
 * strtod() is not used, because it depends on the locale. Times and rates are decimal fractions
 * times a unit and must be whole numbers of µs or bit/s; a probability has at most 15 significant
 * digits and becomes the nearest double.
 */
#include "sim/linktext.h"

#include <string.h>

#define RATE_MAX  UINT64_C(1000000000000) /* highest rate that is accepted, bit/s: 1 Tbit/s */
#define DELAY_MAX (SCPS_SEC(1) * 86400)

bool scps_text_is(struct scps_text t, const char *word)
{
    return strlen(word) == t.n && memcmp(t.p, word, t.n) == 0;
}

bool scps_text_same_letters(struct scps_text t, const char *lower)
{
    if (strlen(lower) != t.n)
        return false;
    for (size_t i = 0; i < t.n; i++) {
        char c = t.p[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != lower[i])
            return false;
    }
    return true;
}

static bool digit(const struct scps_text *t)
{
    return t->n > 0 && *t->p >= '0' && *t->p <= '9';
}

static void step(struct scps_text *t)
{
    t->p++;
    t->n--;
}

bool scps_text_number(struct scps_text *t, struct scps_decimal *d)
{
    int digits = 0, point = 0, exp = 0;
    bool seen = false;

    d->mantissa = 0;
    for (;; step(t)) {
        if (t->n > 0 && *t->p == '.' && !point) {
            point = 1;
            continue;
        }
        if (!digit(t))
            break;
        seen = true;
        if (d->mantissa > 0 || *t->p != '0')
            digits++;
        if (digits > 15)
            return false;
        d->mantissa = d->mantissa * 10 + (uint64_t)(*t->p - '0');
        exp -= point;
        if (exp < -1000)
            return false;
    }
    if (!seen)
        return false;
    if (t->n > 1 && (*t->p == 'e' || *t->p == 'E')) {
        struct scps_text e = {t->p + 1, t->n - 1};
        bool minus = *e.p == '-';
        int v = 0;
        if (*e.p == '-' || *e.p == '+')
            step(&e);
        if (digit(&e)) {
            for (; digit(&e); step(&e))
                if (v < 1000)
                    v = v * 10 + (*e.p - '0');
            exp += minus ? -v : v;
            *t = e;
        }
    }
    d->exp = exp;
    return true;
}

enum scps_whole scps_decimal_whole(struct scps_decimal d, uint64_t times, uint64_t max,
                                   uint64_t *out)
{
    uint64_t v = d.mantissa;
    int exp = d.exp;

    if (v == 0) {
        *out = 0;
        return SCPS_WHOLE;
    }
    for (; exp < 0 && v % 10 == 0; exp++)
        v /= 10;
    for (; exp < 0 && times % 10 == 0; exp++)
        times /= 10;
    if (exp < 0)
        return SCPS_FRACTION;
    if (v > max / times)
        return SCPS_TOO_LARGE;
    v *= times;
    for (; exp > 0; exp--) {
        if (v > max / 10)
            return SCPS_TOO_LARGE;
        v *= 10;
    }
    *out = v;
    return SCPS_WHOLE;
}

double scps_decimal_double(struct scps_decimal d)
{
    /* The mantissa is below 10^15, and a power of ten up to 10^22 is exact in a double. So for an
     * exponent from -22 to 22 only the product or quotient is rounded. */
    double v = (double)d.mantissa, ten = 1;

    for (int i = d.exp < 0 ? -d.exp : d.exp; i > 0 && i < 2000; i--) {
        ten *= 10;
        if (ten >= 1e22) {
            v = d.exp < 0 ? v / ten : v * ten;
            ten = 1;
        }
    }
    return d.exp < 0 ? v / ten : v * ten;
}

struct scps_text scps_text_cut(struct scps_text *t, const char *seps)
{
    struct scps_text front = {t->p, 0};

    while (front.n < t->n && !strchr(seps, t->p[front.n]))
        front.n++;
    size_t gone = front.n + (front.n < t->n);
    /* The test is needed because t->p may be NULL when t->n is 0, and adding 0 to NULL is undefined
     * in C. */
    if (gone) {
        t->p += gone;
        t->n -= gone;
    }
    return front;
}

const char *scps_text_rate(struct scps_text t, bool zero, uint64_t *out)
{
    static const struct {
        const char *name;
        uint64_t times;
    } units[] = {{"", 1},           {"bit", 1},       {"kbit", 1000},       {"k", 1000},
                 {"mbit", 1000000}, {"m", 1000000},   {"gbit", 1000000000}, {"g", 1000000000},
                 {"bit/s", 1},      {"kbit/s", 1000}, {"mbit/s", 1000000},  {"gbit/s", 1000000000}};
    struct scps_decimal d;

    if (!scps_text_number(&t, &d))
        return "not a rate: a number of bit/s, or one with kbit, mbit or gbit";
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!scps_text_same_letters(t, units[i].name))
            continue;
        switch (scps_decimal_whole(d, units[i].times, RATE_MAX, out)) {
        case SCPS_FRACTION:
            return "not a whole number of bit/s";
        case SCPS_TOO_LARGE:
            return "more than 1000 gbit";
        case SCPS_WHOLE:
            break;
        }
        return *out || zero ? NULL : "a rate must be above 0";
    }
    return "unknown unit of rate: use bit, kbit, mbit or gbit (per second)";
}

/* Returns the number of microseconds that a unit of time stands for; 0: t is no unit. */
static uint64_t time_unit(struct scps_text t)
{
    static const struct {
        const char *name;
        uint64_t times;
    } units[] = {{"us", 1},
                 {"ms", 1000},
                 {"s", 1000000},
                 {"min", 60000000},
                 {"h", UINT64_C(3600000000)},
                 {"d", UINT64_C(86400000000)}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (scps_text_is(t, units[i].name))
            return units[i].times;
    return 0;
}

const char *scps_text_time(struct scps_text t, scps_dur *out)
{
    struct scps_decimal d;
    uint64_t unit, v;

    if (!scps_text_number(&t, &d))
        return "not a time: a number with us, ms, s, min or h";
    unit = t.n == 0 && d.mantissa == 0 ? 1 : time_unit(t);
    if (!unit)
        return t.n ? "unknown unit of time: use us, ms, s, min or h"
                   : "needs a unit: us, ms, s, min or h";
    switch (scps_decimal_whole(d, unit, (uint64_t)DELAY_MAX, &v)) {
    case SCPS_FRACTION:
        return "finer than a microsecond";
    case SCPS_TOO_LARGE:
        return "more than a day";
    case SCPS_WHOLE:
        break;
    }
    *out = (scps_dur)v;
    return NULL;
}

const char *scps_text_chance(struct scps_text t, double max, double *out)
{
    struct scps_decimal d;
    double v;

    if (!scps_text_number(&t, &d) || t.n)
        return "not a probability: a number such as 0.001 or 1e-6, of at most 15 digits";
    v = scps_decimal_double(d);
    if (!(v <= max))
        return max < 1 ? "a bit error rate is from 0 to 0.5" : "a probability is from 0 to 1";
    *out = v;
    return NULL;
}
