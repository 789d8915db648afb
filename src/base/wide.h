/* SPDX-License-Identifier: MIT */
/* Exact products of two 64-bit numbers, and their quotients and remainders; the square root.
 *
 * Compilers for 64-bit machines have a type for such a product, those for 32-bit machines have
 * none. Both ways give exactly the same result, so virtual time is the same on every machine;
 * tests/unit/test_wide.c compares them.
 */
#ifndef SCPS_BASE_WIDE_H
#define SCPS_BASE_WIDE_H

#include <stdint.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 scps_uint128;
#endif

struct scps_product {
    uint64_t hi, lo;
};

/* Computes a * b from the 32-bit halves of both factors (wide.c), for compilers without a 128-bit
 * type. */
struct scps_product scps_mul_by_halves(uint64_t a, uint64_t b);
uint64_t scps_muldiv_by_halves(uint64_t a, uint64_t b, uint64_t c);

static inline struct scps_product scps_mul(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    scps_uint128 p = (scps_uint128)a * b;
    return (struct scps_product){(uint64_t)(p >> 64), (uint64_t)p};
#else
    return scps_mul_by_halves(a, b);
#endif
}

/* Returns a * b / c, rounded down, with a product of 128 bits, which cannot overflow; UINT64_MAX if
 * the quotient is larger. Precondition: c > 0. */
static inline uint64_t scps_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    /* Usually both factors fit 32 bits, and then a 64-bit division is used, which is much faster
     * than a 128-bit one. */
    if (!((a | b) >> 32))
        return a * b / c;
#ifdef __SIZEOF_INT128__
    scps_uint128 q = (scps_uint128)a * b / c;
    return q >> 64 ? UINT64_MAX : (uint64_t)q;
#else
    return scps_muldiv_by_halves(a, b, c);
#endif
}

/* Returns the square root of x, rounded down. */
uint64_t scps_root(uint64_t x);

#endif
