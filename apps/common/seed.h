/* SPDX-License-Identifier: MIT */
/* Derives all seeds of a run from its one seed by the generator splitmix64, whose results are well
 * mixed even for similar inputs such as 1, 2 and 3. */
#ifndef SCPS_COMMON_SEED_H
#define SCPS_COMMON_SEED_H

#include <stdint.h>

#define SEED_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t seed_mix(uint64_t x)
{
    x += SEED_STEP;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Returns number k (from 0) of the sequence of random numbers that belongs to `seed`. */
static inline uint64_t seed_draw(uint64_t seed, uint64_t k)
{
    return seed_mix(seed + k * SEED_STEP);
}

/* Derives two seeds from a run's seed, different ones for each salt. scps_ttcp and scps_link use
 * salt 0 for the two directions of the link, and 1 and 2 for the secret keys of the two stacks. */
static inline void seed_pair(uint64_t seed, uint64_t salt, uint64_t out[2])
{
    out[0] = seed_mix(seed_mix(seed) + 2 * salt);
    out[1] = seed_mix(seed_mix(seed) + 2 * salt + 1);
}

#endif
