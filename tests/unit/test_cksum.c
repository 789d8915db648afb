/* SPDX-License-Identifier: MIT */
/* base/cksum.c compared with the definition of RFC 1071 at each length, alignment and pattern of
 * bytes that the fast code treats differently. */
#include "base/cksum.h"

#include <scps/wire.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/prng.h"
#include "cmocka_all.h"

/* Computes the checksum 16 bits at a time, as RFC 1071 defines it. */
static uint16_t plain(const uint8_t *p, size_t len)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += i % 2 ? p[i] : (unsigned)p[i] << 8;
    while (sum >> 16)
        sum = (sum >> 16) + (sum & 0xffff);
    return (uint16_t)~sum;
}

static void all_lengths_and_alignments(void **x)
{
    uint8_t *buf = malloc(5000);
    struct scps_prng r;
    (void)x;
    scps_prng_seed(&r, 1);
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < 5000; i++)
            buf[i] = kind == 0   ? 0
                     : kind == 1 ? 0xff
                     : kind == 2 ? 0x80
                                 : (uint8_t)scps_prng_next(&r);
        for (size_t at = 0; at < 9; at++) {
            for (size_t len = 0; len < 700; len++)
                assert_int_equal(scps_cksum_fold(scps_cksum_add(0, buf + at, len)),
                                 plain(buf + at, len));
            for (size_t len = 700; len + at <= 5000; len += 101)
                assert_int_equal(scps_cksum_fold(scps_cksum_add(0, buf + at, len)),
                                 plain(buf + at, len));
        }
    }
    free(buf);
}

/* The run is longer than one pass of the vector code can be. */
static void a_very_long_run(void **x)
{
    size_t len = 3 * 65536 + 1234 + 17;
    uint8_t *buf = malloc(len);
    (void)x;
    for (int kind = 0; kind < 3; kind++) {
        memset(buf, kind == 0 ? 0 : kind == 1 ? 0xff : 0x7f, len);
        assert_int_equal(scps_cksum_fold(scps_cksum_add(0, buf, len)), plain(buf, len));
        assert_int_equal(scps_cksum_fold(scps_cksum_add(0, buf, len - 1)), plain(buf, len - 1));
        assert_int_equal(scps_cksum_fold(scps_cksum_add(0, buf, 65536)), plain(buf, 65536));
    }
    free(buf);
}

static void in_pieces(void **x)
{
    uint8_t buf[1000];
    struct scps_prng r;
    (void)x;
    scps_prng_seed(&r, 2);
    for (size_t i = 0; i < sizeof buf; i++)
        buf[i] = (uint8_t)scps_prng_next(&r);
    for (size_t cut = 0; cut <= sizeof buf; cut += 2) {
        uint64_t sum = scps_cksum_add(scps_cksum_add(0, buf, cut), buf + cut, sizeof buf - cut);
        assert_int_equal(scps_cksum_fold(sum), plain(buf, sizeof buf));
    }
}

/* RFC 1071 section 3 works this example: 00 01 f2 03 f4 f5 f6 f7 sums to ddf2. */
static void worked_example(void **x)
{
    static const uint8_t msg[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    (void)x;
    assert_int_equal((uint16_t)~scps_cksum_fold(scps_cksum_add(0, msg, sizeof msg)), 0xddf2);
}

static void sums_near_overflow(void **x)
{
    (void)x;
    static const uint8_t one[2] = {0, 1};
    for (int i = 0; i < 64; i++) {
        uint64_t s = UINT64_MAX << i;
        /* 2^64 - 2^i modulo 65535 is 1 - 2^(i mod 16), and the two octets add 1. */
        uint32_t want = (uint32_t)((65535 + 2 - (1u << i % 16)) % 65535);
        uint16_t got = (uint16_t)~scps_cksum_fold(scps_cksum_add(s, one, 2));
        assert_int_equal(got % 65535, want);
    }
    assert_int_equal(scps_cksum_fold(UINT64_MAX), 0);
    assert_int_equal(scps_cksum_fold(0), 0xffff);
}

static void pseudo_headers(void **x)
{
    struct scps_addr a4, b4, a6, b6;
    (void)x;
    assert_int_equal(scps_addr_parse("192.0.2.1", &a4), 0);
    assert_int_equal(scps_addr_parse("198.51.100.254", &b4), 0);
    assert_int_equal(scps_addr_parse("2001:db8::1", &a6), 0);
    assert_int_equal(scps_addr_parse("fe80::ffff:1", &b6), 0);

    uint8_t ph[40] = {0};
    memcpy(ph, a4.b, 4);
    memcpy(ph + 4, b4.b, 4);
    ph[9] = 6;
    scps_put16(ph + 10, 0x1234);
    assert_int_equal(scps_cksum_fold(scps_cksum_pseudo(0, &a4, &b4, 6, 0x1234)), plain(ph, 12));

    memcpy(ph, a6.b, 16);
    memcpy(ph + 16, b6.b, 16);
    /* RFC 8200 section 8.1: the length in the pseudo-header of IPv6 has 32 bits. */
    scps_put32(ph + 32, 0x00fe1234);
    scps_put32(ph + 36, 58);
    assert_int_equal(scps_cksum_fold(scps_cksum_pseudo(0, &a6, &b6, 58, 0x00fe1234)),
                     plain(ph, 40));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lengths_and_alignments),
        cmocka_unit_test(a_very_long_run),
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(sums_near_overflow),
        cmocka_unit_test(pseudo_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
