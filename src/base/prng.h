/* SPDX-License-Identifier: MIT */
/* Random numbers: a seeded generator for simulations and for PPP, whose output can be predicted
 * from earlier output, and SipHash-2-4 for values that an attacker must not guess. */
#ifndef SCPS_BASE_PRNG_H
#define SCPS_BASE_PRNG_H

#include <stddef.h>
#include <stdint.h>

struct scps_prng { /* state of xoshiro256** (Blackman and Vigna), seeded by splitmix64 */
    uint64_t s[4];
};
void scps_prng_seed(struct scps_prng *r, uint64_t seed);
uint64_t scps_prng_next(struct scps_prng *r);
/* Returns a random number from 0 to n - 1, all with equal probability. Precondition: n > 0. */
uint64_t scps_prng_below(struct scps_prng *r, uint64_t n);

/* Returns the 64-bit hash SipHash-2-4 (Aumasson and Bernstein) of len bytes at data, which nobody
 * can compute without the key. */
uint64_t scps_siphash(const uint64_t key[2], const void *data, size_t len);

#endif
