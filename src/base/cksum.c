/* SPDX-License-Identifier: MIT */
/* The Internet checksum over long runs of octets (RFC 1071).
 *
 * On all machines 32-bit words are added to 64-bit sums, which compilers turn into vector
 * instructions. On x86-64 with AVX2, which is detected at run time, three instructions add 32
 * octets w:
 *
 *      x = w ^ 0x8000          turns each 16-bit word into a signed number, less 32768
 *      t = madd(x, 1)          adds neighbouring words into 32-bit lanes
 *      acc += t                adds t to signed 32-bit lanes
 *
 * After at most 2048 such additions (65536 octets) the lanes, which cannot overflow by then, are
 * added to the 64-bit sum, and with them all 32768s that were subtracted. The sums with AVX2 and
 * without it are congruent modulo 65535, and zero only if every octet was zero.
 */
#include "base/cksum.h"

#include <scps/wire.h>

#include "base/bytes.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define SUM_AVX2 1
#include <immintrin.h>
#endif

static inline uint64_t sum_tail(uint64_t sum, const uint8_t *p, size_t len)
{
    for (; len >= 8; len -= 8, p += 8)
        sum = scps_sum8(sum, p);
    if (len & 4) {
        sum = scps_sum4(sum, p);
        p += 4;
    }
    if (len & 3) {
        uint8_t b[4] = {p[0], len & 2 ? p[1] : 0, (len & 3) == 3 ? p[2] : 0, 0};
        sum = scps_sum4(sum, b);
    }
    return sum;
}

#ifdef SUM_AVX2
/* octets of a block: in 2048 iterations at most 65536 * 2048 is added to each 32-bit lane in
 * absolute value, which fits 31 bits */
enum { AVX2_MOST = 65536 };

__attribute__((target("avx2"))) static uint64_t sum_avx2(uint64_t sum, const uint8_t *p, size_t len)
{
    __m256i ones = _mm256_setzero_si256(), acc = _mm256_setzero_si256();
    const uint8_t *end = p + (len & ~(size_t)255);
    uint64_t biases = (uint64_t)(len / 32) * 16 * 32768;

    /* `ones` has all bits set, in a way that the compiler cannot see. Otherwise it would replace
     * the shifts below by constants, which take more instructions to load. */
    ones = _mm256_cmpeq_epi32(ones, ones);
    __asm__("" : "+x"(ones));
    const __m256i bias = _mm256_slli_epi16(ones, 15), one = _mm256_srli_epi16(ones, 15);

#define TURN(at)                                                                                   \
    acc = _mm256_add_epi32(                                                                        \
        acc,                                                                                       \
        _mm256_madd_epi16(                                                                         \
            _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(at)), bias), one))
    for (; p != end; p += 256) {
        TURN(p);
        TURN(p + 32);
        TURN(p + 64);
        TURN(p + 96);
        TURN(p + 128);
        TURN(p + 160);
        TURN(p + 192);
        TURN(p + 224);
    }
    if (len & 255) {
        for (end = p + (len & 224); p != end; p += 32)
            TURN(p);
    }
#undef TURN
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(acc), _mm256_extracti128_si256(acc, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
    sum = scps_sum_plus(sum, (uint64_t)_mm_cvtsi128_si32(s) + biases);
    return len & 31 ? sum_tail(sum, p, len & 31) : sum;
}

static SCPS_NOINLINE uint64_t sum_avx2_parts(uint64_t sum, const uint8_t *p, size_t len)
{
    for (; len > AVX2_MOST; len -= AVX2_MOST, p += AVX2_MOST)
        sum = sum_avx2(sum, p, AVX2_MOST);
    return sum_avx2(sum, p, len);
}
#endif

uint64_t scps_sum_long(uint64_t sum, const void *data, size_t len)
{
    const uint8_t *p = data;

#ifdef SUM_AVX2
    if (len >= 128 && __builtin_cpu_supports("avx2"))
        return len <= AVX2_MOST ? sum_avx2(sum, p, len) : sum_avx2_parts(sum, p, len);
#endif
    uint64_t s = 0; /* s cannot overflow, because that would take 2^32 words of 32 bits. */
    size_t words = len / 4;
    for (size_t i = 0; i < words; i++) {
        uint32_t w;
        memcpy(&w, p + 4 * i, 4);
        s += w;
    }
    return sum_tail(scps_sum_plus(sum, s), p + 4 * words, len & 3);
}

uint64_t scps_cksum_add(uint64_t sum, const void *p, size_t len)
{
    uint64_t s = len <= 64 ? sum_tail(0, p, len) : scps_sum_long(0, p, len);
    return scps_sum_plus(sum, scps_sum_fold(s));
}

uint64_t scps_cksum_pseudo(uint64_t sum, const struct scps_addr *src, const struct scps_addr *dst,
                           uint8_t proto, uint32_t len)
{
    size_t n = src->family == 6 ? 16 : 4;
    uint64_t s = scps_sum_header(scps_sum_header(0, src->b, n), dst->b, n);
    return scps_sum_plus(sum, (uint64_t)scps_sum_fold(s) + proto + (len >> 16) + (len & 0xffff));
}

uint16_t scps_cksum_fold(uint64_t sum)
{
    sum = (sum >> 32) + (uint32_t)sum;
    sum = (sum >> 32) + (uint32_t)sum;
    sum = (sum >> 16) + (sum & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    return (uint16_t)~sum;
}
