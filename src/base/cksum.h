/* SPDX-License-Identifier: MIT */
/* The Internet checksum in the machine's own byte order, for code that folds the sum once at the
 * end.
 *
 * A sum is a 64-bit number congruent, modulo 65535, to the sum of the 16-bit words as this machine
 * reads them (RFC 1071 section 2(B): the byte order does not matter until the result is stored). It
 * is zero only if every octet was zero. Additions use end-around carry, so no carry is lost.
 */
#ifndef SCPS_BASE_CKSUM_H
#define SCPS_BASE_CKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* Returns sum plus the len octets at p, of any alignment, as 16-bit words in the machine's byte
 * order, not folded. If len is odd, a zero follows the last octet in its word. */
uint64_t scps_sum_long(uint64_t sum, const void *p, size_t len);

static SCPS_INLINE_SPEED uint64_t scps_sum_plus(uint64_t sum, uint64_t v)
{
    sum += v;
    return sum + (sum < v);
}

static SCPS_INLINE_SPEED uint64_t scps_sum8(uint64_t sum, const void *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return scps_sum_plus(sum, v);
}

static inline uint64_t scps_sum4(uint64_t sum, const void *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return scps_sum_plus(sum, v);
}

/* Returns v converted for a sum: the number that this machine reads from two octets that hold v in
 * network byte order. */
static inline uint16_t scps_sum_word(uint16_t v)
{
    uint8_t b[2] = {(uint8_t)(v >> 8), (uint8_t)v};
    uint16_t w;
    memcpy(&w, b, 2);
    return w;
}

/* Adds the 16-bit words of a header to sum and returns the new sum; len is a multiple of 4. */
static inline uint64_t scps_sum_header(uint64_t sum, const uint8_t *p, size_t len)
{
    const uint8_t *end = p + (len & ~(size_t)15);

    for (; p != end; p += 16)
        sum = scps_sum8(scps_sum8(sum, p), p + 8);
    if (len & 8) {
        sum = scps_sum8(sum, p);
        p += 8;
    }
    return len & 4 ? scps_sum4(sum, p) : sum;
}

/* Folds a sum to 16 bits, still in the machine's byte order, for a comparison with 0xffff. */
static inline uint16_t scps_sum_fold_raw(uint64_t sum)
{
    /* The upper half becomes the sum of both halves, end-around carry included. */
    sum += sum << 32 | sum >> 32;
    uint32_t s = (uint32_t)(sum >> 32);
    s += s << 16 | s >> 16;
    return (uint16_t)(s >> 16);
}

/* Writes v in network order at p, and returns sum with these four octets added. A carry out of 64
 * bits would be lost, so use it only for sums of headers, which are small. */
static inline uint64_t scps_sum_put32(uint64_t sum, uint8_t *p, uint32_t v)
{
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* The byte swap has a variable of its own, because gcc optimises no other form well. */
    uint32_t w = __builtin_bswap32(v);
#else
    uint8_t b[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
    uint32_t w;
    memcpy(&w, b, 4);
#endif
    memcpy(p, &w, 4);
    return sum + w;
}

/* Writes the Internet checksum of a message, whose octets add up to sum, to the two octets at p. */
static inline void scps_sum_finish(uint8_t *p, uint64_t sum)
{
    uint16_t w = (uint16_t)~scps_sum_fold_raw(sum);
    memcpy(p, &w, 2);
}

/* Folds a sum to 16 bits and returns it in host byte order, for scps_put16(). The result is not the
 * checksum yet: that is its complement. */
static inline uint16_t scps_sum_fold(uint64_t sum)
{
    return scps_sum_word(scps_sum_fold_raw(sum));
}

#endif
