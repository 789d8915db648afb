/* SPDX-License-Identifier: MIT */
/* Parses values with units, and builds strings that grow. Numbers are read in the C locale, which
 * these programs never change. */
#include "common/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    double times;
};

/* Parses text, a number and one of the units in the list (name NULL ends it), into *out, in the
 * smallest unit. Returns false if text has another form, or the value is above max or no whole
 * number of the smallest unit. A unit of one letter must have the same case as in the list, because
 * k and K differ; a longer one may have any case. */
static bool whole(const char *text, const struct unit *units, double max, uint64_t *out)
{
    char *end;
    double v, n;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return false; /* Signs and words such as "inf", which strtod() would accept, are refused. */
    if (strpbrk(text, "xX"))
        return false; /* Hexadecimal numbers, which strtod() would accept, are refused. */
    v = strtod(text, &end);
    while (*end == ' ')
        end++;
    for (; units->name; units++) {
        if ((strlen(units->name) == 1 ? strcmp : strcasecmp)(end, units->name) != 0)
            continue;
        v *= units->times;
        n = nearbyint(v);
        if (!(n <= max) || fabs(v - n) > 1e-6 * fmax(1, n * 1e-9))
            return false;
        *out = (uint64_t)n;
        return true;
    }
    return false;
}

bool lab_size(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1},         {"b", 1},           {"B", 1},      {"k", 1e3},        {"m", 1e6},
        {"g", 1e9},      {"kb", 1e3},        {"mb", 1e6},   {"gb", 1e9},       {"K", 1024},
        {"M", 1048576.}, {"G", 1073741824.}, {"kib", 1024}, {"mib", 1048576.}, {"gib", 1073741824.},
        {NULL, 0}};
    return whole(text, units, 1e15, bytes);
}

bool lab_rate(const char *text, uint64_t *bps)
{
    static const struct unit units[] = {
        {"", 1},         {"k", 1e3},      {"K", 1e3},      {"m", 1e6},
        {"M", 1e6},      {"g", 1e9},      {"G", 1e9},      {"bit", 1},
        {"kbit", 1e3},   {"mbit", 1e6},   {"gbit", 1e9},   {"bit/s", 1},
        {"kbit/s", 1e3}, {"mbit/s", 1e6}, {"gbit/s", 1e9}, {NULL, 0}};
    return whole(text, units, 1e12, bps);
}

bool lab_time(const char *text, scps_dur *us)
{
    static const struct unit units[] = {{"us", 1},     {"ms", 1e3}, {"s", 1e6},  {"S", 1e6},
                                        {"min", 60e6}, {"h", 36e8}, {"H", 36e8}, {"d", 864e8},
                                        {"D", 864e8},  {NULL, 0}};
    uint64_t v;

    if (strcmp(text, "0") == 0)
        v = 0;
    /* The upper bound, 4e15 µs, is more than a hundred years and is exact in a double. */
    else if (!whole(text, units, 4e15, &v))
        return false;
    *us = (scps_dur)v;
    return true;
}

bool lab_count(const char *text, uint64_t max, uint64_t *out)
{
    static const struct unit units[] = {{"", 1}, {NULL, 0}};
    uint64_t v;

    if (!whole(text, units, 1e15, &v) || v > max)
        return false;
    *out = v;
    return true;
}

bool lab_yesno(const char *text, bool *out)
{
    if (strcasecmp(text, "yes") != 0 && strcasecmp(text, "no") != 0)
        return false;
    *out = tolower((unsigned char)*text) == 'y';
    return true;
}

bool lab_real(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end != '\0' || !isfinite(v))
        return false;
    *out = v;
    return true;
}

bool lab_range(const char *text, struct lab_range *out)
{
    const char *dots = strstr(text, "..");
    char first[64];
    struct lab_range r;

    if (!dots) {
        if (!lab_time(text, &r.lo))
            return false;
        r.hi = r.lo;
    } else {
        if ((size_t)(dots - text) >= sizeof first)
            return false;
        memcpy(first, text, (size_t)(dots - text));
        first[dots - text] = '\0';
        if (!lab_time(first, &r.lo) || !lab_time(dots + 2, &r.hi) || r.hi < r.lo)
            return false;
    }
    *out = r;
    return true;
}

void *lab_grow(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);

    if (!q)
        lab_no_memory();
    return q;
}

void *lab_alloc(size_t n)
{
    void *p = lab_grow(NULL, n);

    memset(p, 0, n);
    return p;
}

char *lab_copy(const char *s)
{
    size_t n = strlen(s) + 1;

    return memcpy(lab_alloc(n), s, n);
}

void lab_add(struct lab_str *s, const char *fmt, ...)
{
    for (;;) {
        va_list ap;
        int n;

        va_start(ap, fmt);
        n = vsnprintf(s->p ? s->p + s->len : NULL, s->cap - s->len, fmt, ap);
        va_end(ap);
        if (n < 0)
            lab_no_memory();
        if (s->len + (size_t)n < s->cap) {
            s->len += (size_t)n;
            return;
        }
        s->cap = (s->len + (size_t)n + 1) * 2;
        s->p = lab_grow(s->p, s->cap);
    }
}

void lab_free(struct lab_str *s)
{
    free(s->p);
    memset(s, 0, sizeof *s);
}

bool lab_item(const char **rest, char sep, char *out, size_t outlen)
{
    const char *p = *rest, *end;
    size_t n;

    while (*p == sep || isspace((unsigned char)*p))
        p++;
    if (*p == '\0')
        return false;
    for (end = p; *end != '\0' && *end != sep; end++)
        ;
    *rest = end;
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    n = (size_t)(end - p);
    if (n >= outlen)
        n = outlen - 1;
    memcpy(out, p, n);
    out[n] = '\0';
    return true;
}

uint64_t lab_hash(const void *data, size_t len, uint64_t start)
{
    const uint8_t *p = data;
    uint64_t h = start ? start : UINT64_C(0xcbf29ce484222325);

    while (len-- > 0)
        h = (h ^ *p++) * UINT64_C(0x100000001b3);
    return h;
}
