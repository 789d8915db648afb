/* SPDX-License-Identifier: MIT */
/* Powers of a probability, for the formulas of a transfer's physical limit (limit.c). They use + -
 * * alone, no mathematical library, so that every machine has the same digits. */
#ifndef SCPS_SIM_POWER_H
#define SCPS_SIM_POWER_H

#include <stdint.h>

/* Returns base^n. */
static inline double scps_power(double base, uint64_t n)
{
    double r = 1;

    for (; n; n >>= 1, base *= base)
        if (n & 1)
            r *= base;
    return r;
}

#endif
