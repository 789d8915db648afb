/* SPDX-License-Identifier: MIT */
/* What gcc calls for 64-bit integers (GCC internals, chapter "The GCC low-level runtime library").
 * The compiler's own libgcc is for SPARC V9 and has instructions that a LEON lacks. */
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
int64_t __divdi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d);
uint64_t __ashldi3(uint64_t v, int by);
uint64_t __lshrdi3(uint64_t v, int by);
int64_t __ashrdi3(int64_t v, int by);
double __floatundidf(uint64_t v);
double __floatdidf(int64_t v);
uint64_t __fixunsdfdi(double v);
int64_t __fixdfdi(double v);
int __clzsi2(uint32_t v);

struct halves {
    uint32_t high, low;
};
union both {
    uint64_t v;
    struct halves of;
};

uint64_t __ashldi3(uint64_t v, int by)
{
    union both b = {v};

    if (by >= 32)
        b.of = (struct halves){b.of.low << (by - 32), 0};
    else if (by > 0)
        b.of = (struct halves){b.of.high << by | b.of.low >> (32 - by), b.of.low << by};
    return b.v;
}

uint64_t __lshrdi3(uint64_t v, int by)
{
    union both b = {v};

    if (by >= 32)
        b.of = (struct halves){0, b.of.high >> (by - 32)};
    else if (by > 0)
        b.of = (struct halves){b.of.high >> by, b.of.low >> by | b.of.high << (32 - by)};
    return b.v;
}

int64_t __ashrdi3(int64_t v, int by)
{
    union both b = {(uint64_t)v};
    uint32_t sign = v < 0 ? UINT32_MAX : 0;

    if (by >= 32)
        b.of.low = by == 32 ? b.of.high : b.of.high >> (by - 32) | sign << (64 - by);
    else if (by > 0)
        b.of.low = b.of.low >> by | b.of.high << (32 - by);
    if (by >= 32)
        b.of.high = sign;
    else if (by > 0)
        b.of.high = b.of.high >> by | sign << (32 - by);
    return (int64_t)b.v;
}

int __clzsi2(uint32_t v)
{
    int n = 0;

    for (; !(v & UINT32_C(1) << 31); v <<= 1)
        n++;
    return n;
}

static int leading_zeros(uint64_t v)
{
    union both b = {v};

    return b.of.high ? __clzsi2(b.of.high) : 32 + __clzsi2(b.of.low);
}

/* Long division, a bit at a time; what has 32 bits is left to the processor. */
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint64_t q = 0;

    if (n >> 32 == 0 && d >> 32 == 0) {
        *rest = (uint32_t)n % (uint32_t)d;
        return (uint32_t)n / (uint32_t)d;
    }
    if (n >= d) {
        int by = leading_zeros(d) - leading_zeros(n);
        for (d <<= by; by >= 0; by--, d >>= 1) {
            q <<= 1;
            if (n >= d) {
                n -= d;
                q |= 1;
            }
        }
    }
    *rest = n;
    return q;
}

uint64_t __udivdi3(uint64_t n, uint64_t d)
{
    uint64_t rest;

    return __udivmoddi4(n, d, &rest);
}

uint64_t __umoddi3(uint64_t n, uint64_t d)
{
    uint64_t rest;

    __udivmoddi4(n, d, &rest);
    return rest;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

int64_t __divdi3(int64_t n, int64_t d)
{
    uint64_t q = __udivdi3(magnitude(n), magnitude(d));

    return (int64_t)((n < 0) != (d < 0) ? 0 - q : q);
}

int64_t __moddi3(int64_t n, int64_t d)
{
    uint64_t rest = __umoddi3(magnitude(n), magnitude(d));

    return (int64_t)(n < 0 ? 0 - rest : rest);
}

/* Both halves are exact in a double, so that the sum alone is rounded, as IEEE 754 wants it. */
double __floatundidf(uint64_t v)
{
    union both b = {v};

    return b.of.high * 4294967296.0 + b.of.low;
}

double __floatdidf(int64_t v)
{
    union both b = {(uint64_t)v};

    return (int32_t)b.of.high * 4294967296.0 + b.of.low;
}

uint64_t __fixunsdfdi(double v)
{
    union both b;

    b.of.high = (uint32_t)(v / 4294967296.0);
    b.of.low = (uint32_t)(v - b.of.high * 4294967296.0);
    return b.v;
}

int64_t __fixdfdi(double v)
{
    uint64_t m = __fixunsdfdi(v < 0 ? 0 - v : v);

    return (int64_t)(v < 0 ? 0 - m : m);
}
