/* SPDX-License-Identifier: MIT */
/* Random losses and bit errors of a simulated line, computed with integers: a probability p is
 * stored as the threshold p * 2^64, below which a 64-bit random number means that the event
 * happens. The probability (1 - ber)^n that n bits are undamaged is a product of stored powers of
 * the fixed-point fraction 1 - ber. */
#ifndef SCPS_SIM_LOSS_H
#define SCPS_SIM_LOSS_H

#include "base/prng.h"

#include <stdbool.h>
#include <stdint.h>

/* Converts a probability p, 0 to 1, to a threshold: p * 2^64 rounded down; UINT64_MAX stands for a
 * certain event. */
uint64_t scps_chance(double p);
static inline bool scps_chance_hit(uint64_t threshold, struct scps_prng *r)
{
    return threshold != 0 && (scps_prng_next(r) < threshold || threshold == UINT64_MAX);
}

#define SCPS_BER_POWERS 24

/* A model in which each bit is damaged independently with probability ber. */
struct scps_ber {
    bool on; /* true: ber is above 0 */
    /* pow[j]: 2^64 times the probability that 2^j bits in a row are undamaged */
    uint64_t pow[SCPS_BER_POWERS];
};
/* Initialises b for the bit error rate ber, 0 <= ber < 1; a rate below 2^-64 counts as 0. */
void scps_ber_init(struct scps_ber *b, double ber);
/* Returns 2^64 times the probability that `bits` (below 2^24) bits in a row are undamaged;
 * UINT64_MAX when ber is 0. A packet is damaged when a random number is not below it. */
uint64_t scps_ber_survive(const struct scps_ber *b, uint32_t bits);
/* Converts a random number to a run length: the number of undamaged bits before the first damaged
 * one, at most limit. It agrees with scps_ber_survive(): the run is shorter than n exactly when the
 * number is not below scps_ber_survive(b, n). */
uint32_t scps_ber_run(const struct scps_ber *b, uint64_t draw, uint32_t limit);

#endif
