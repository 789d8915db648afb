/* SPDX-License-Identifier: MIT */
/* Random events computed with integers, so that a seed gives the same history on every machine.
 *
 * A probability p becomes the threshold p * 2^64, and an event happens when a 64-bit random number
 * is below it. The scaling is by a power of two and so exact; there are no other floating-point
 * numbers here.
 *
 * Bit errors: q = 1 - ber is a fraction of 2^64, and q^(2^j) is computed by repeated squaring with
 * 128-bit products rounded to nearest. q^n is the product of those powers whose binary digits in n
 * are 1, the highest first. Each rounding is half a unit of 2^-64 and squaring doubles the earlier
 * error, so the error of q^n is at most n * 2^-64: for a frame of 1064 bytes 5e-16, whereas the
 * smallest loss probability worth simulating (ber 1e-12) is 8.5e-9.
 *
 * One random number u decides the fate of a frame: it is undamaged when u < q^n. The same u as a
 * run length, the largest k with u < q^k, is geometrically distributed and is the position of the
 * first damaged bit; so a link that flips bits damages exactly the packets that it would lose with
 * the same seed.
 */
#include "sim/loss.h"

#include "base/wide.h"

#include <assert.h>

uint64_t scps_chance(double p)
{
    assert(p >= 0 && p <= 1);
    return p >= 1 ? UINT64_MAX : (uint64_t)(p * 18446744073709551616.0);
}

static inline uint64_t product(uint64_t a, uint64_t b)
{
    struct scps_product p = scps_mul(a, b);

    return p.hi + (p.lo >> 63); /* The product is rounded to the nearest unit of its upper half. */
}

void scps_ber_init(struct scps_ber *b, double ber)
{
    uint64_t damaged = scps_chance(ber);

    b->on = damaged != 0;
    b->pow[0] = 0 - damaged;
    for (int j = 1; j < SCPS_BER_POWERS; j++)
        b->pow[j] = product(b->pow[j - 1], b->pow[j - 1]);
}

uint64_t scps_ber_survive(const struct scps_ber *b, uint32_t bits)
{
    uint64_t q = UINT64_MAX;
    bool first = true;

    assert(bits < UINT32_C(1) << SCPS_BER_POWERS);
    if (!b->on)
        return q;
    for (int j = SCPS_BER_POWERS - 1; j >= 0; j--)
        if (bits >> j & 1) {
            q = first ? b->pow[j] : product(q, b->pow[j]);
            first = false;
        }
    return q;
}

uint32_t scps_ber_run(const struct scps_ber *b, uint64_t draw, uint32_t limit)
{
    uint64_t q = UINT64_MAX;
    uint32_t run = 0;

    if (!b->on || draw < scps_ber_survive(b, limit))
        return limit;
    for (int j = SCPS_BER_POWERS - 1; j >= 0; j--) {
        if (run + (UINT32_C(1) << j) >= limit)
            continue;
        uint64_t next = run == 0 ? b->pow[j] : product(q, b->pow[j]);
        if (draw < next) {
            q = next;
            run += UINT32_C(1) << j;
        }
    }
    return run;
}
