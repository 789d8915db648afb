/* SPDX-License-Identifier: MIT */
/* Products of two 64-bit numbers by long multiplication with 32-bit digits, for machines whose
 * compiler has no 128-bit type; other machines do not call it. */
#include "base/wide.h"

struct scps_product scps_mul_by_halves(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = (uint32_t)a, b1 = b >> 32, b0 = (uint32_t)b;
    uint64_t low = a0 * b0;
    /* The sum cannot overflow: a1, b0 and low >> 32 are at most 2^32 - 1, and (2^32 - 1)^2 + 2^32 -
     * 1 < 2^64. */
    uint64_t mid = a1 * b0 + (low >> 32);
    uint64_t too = a0 * b1 + (uint32_t)mid;

    return (struct scps_product){a1 * b1 + (mid >> 32) + (too >> 32), too << 32 | (uint32_t)low};
}

/* One step of long division: returns the 32-bit digit (*rest * 2^32 + next) / c and stores the
 * remainder in *rest. Precondition: *rest < c, and the top bit of c is set. The first estimate,
 * *rest divided by the upper half of c, is then right or at most two too large. */
static uint64_t digit(uint64_t *rest, uint32_t next, uint64_t c)
{
    uint64_t c1 = c >> 32, c0 = (uint32_t)c;
    uint64_t q = *rest / c1, over = *rest % c1;

    while (q >> 32 || q * c0 > (over << 32 | next)) {
        q--;
        over += c1;
        /* When `over` exceeds 32 bits, q * c0 cannot exceed the remainder, so q is right. */
        if (over >> 32)
            break;
    }
    /* The remainder is less than c, so the overflow of both 64-bit terms cancels. */
    *rest = (*rest << 32 | next) - q * c;
    return q;
}

uint64_t scps_muldiv_by_halves(uint64_t a, uint64_t b, uint64_t c)
{
    struct scps_product p = scps_mul_by_halves(a, b);
    unsigned s = 0;

    if (p.hi >= c)
        return UINT64_MAX;
    if (p.hi == 0)
        return p.lo / c;
    while (!(c << s >> 63))
        s++;
    uint64_t rest = s ? p.hi << s | p.lo >> (64 - s) : p.hi, lo = p.lo << s;
    uint64_t upper = digit(&rest, (uint32_t)(lo >> 32), c << s);
    return upper << 32 | digit(&rest, (uint32_t)lo, c << s);
}

uint64_t scps_root(uint64_t x)
{
    uint64_t r = 0;

    for (uint64_t bit = UINT64_C(1) << 62; bit; bit >>= 2)
        if (x >= r + bit) {
            x -= r + bit;
            r = (r >> 1) + bit;
        } else {
            r >>= 1;
        }
    return r;
}
