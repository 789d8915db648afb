/* SPDX-License-Identifier: MIT */
/* Random numbers without a source of entropy: they are computed from the seed or key given.
 *
 * The generator is xoshiro256** with its state filled by splitmix64, as its authors recommend. It
 * is for simulations, and for the magic numbers and interface identifiers of PPP (src/link): an
 * attacker gains nothing by guessing those. SipHash-2-4 is for sequence numbers, time stamps,
 * ports, cookies, connection ids and hash tables, which an attacker must not guess. Both give the
 * same numbers on every machine, whatever its byte order.
 *
 * Sources: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2021); Aumasson
 * and Bernstein, "SipHash: a fast short-input PRF" (2012), sections 2.1 to 2.4.
 */
#include "base/prng.h"

#include <assert.h>

static inline uint64_t rotl(uint64_t x, unsigned k)
{
    return x << k | x >> (64 - k);
}

void scps_prng_seed(struct scps_prng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        r->s[i] = z ^ z >> 31;
    }
}

uint64_t scps_prng_next(struct scps_prng *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint64_t scps_prng_below(struct scps_prng *r, uint64_t n)
{
    assert(n > 0);
    /* Random values below 2^64 mod n are rejected: the number of the remaining values is a multiple
     * of n, so all n results are equally likely. */
    uint64_t reject = (0 - n) % n, x;
    do
        x = scps_prng_next(r);
    while (x < reject);
    return x % n;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotl(s->v1, 13) ^ s->v0;
    s->v3 = rotl(s->v3, 16) ^ s->v2;
    s->v0 = rotl(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotl(s->v1, 17) ^ s->v2;
    s->v3 = rotl(s->v3, 21) ^ s->v0;
    s->v2 = rotl(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t m)
{
    s->v3 ^= m;
    sip_round(s);
    sip_round(s);
    s->v0 ^= m;
}

uint64_t scps_siphash(const uint64_t key[2], const void *data, size_t len)
{
    const uint8_t *p = data;
    struct sip s = {
        key[0] ^ 0x736f6d6570736575u,
        key[1] ^ 0x646f72616e646f6du,
        key[0] ^ 0x6c7967656e657261u,
        key[1] ^ 0x7465646279746573u,
    };
    /* The last word that is hashed has the length of the data in its top octet. */
    uint64_t last = (uint64_t)len << 56;

    for (; len >= 8; len -= 8, p += 8)
        sip_word(&s, load_le64(p));
    for (size_t i = 0; i < len; i++)
        last |= (uint64_t)p[i] << (8 * i);
    sip_word(&s, last);
    s.v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
