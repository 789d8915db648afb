/* SPDX-License-Identifier: MIT */
/* Writes and reads the options of a TCP header, for tests of options alone. */
#ifndef SCPS_TESTS_OPTS_H
#define SCPS_TESTS_OPTS_H

#include <scps/wire.h>
#include <string.h>

#include "cmocka_all.h"
#include "hex.h"

/* Parses up to 40 octets of options, padded with END, from a buffer of exactly their size. */
static inline struct scps_seg opts_parse(const uint8_t *opt, size_t n)
{
    static uint8_t p[60];
    struct scps_seg s;
    size_t hdr = 20 + (n + 3) / 4 * 4;

    memset(&s, 0xa5, sizeof s);
    memset(p, 0, sizeof p);
    memcpy(p + 20, opt, n);
    p[12] = (uint8_t)(hdr / 4 << 4);
    assert_int_equal(scps_tcp_parse(p, hdr, hdr, &s), 0);
    return s;
}

static inline struct scps_seg opts_parse_hex(const char *text)
{
    uint8_t o[40];
    return opts_parse(o, hex(text, o, sizeof o));
}

/* Builds the header of s and requires that its options are exactly these octets. */
static inline void opts_expect(const struct scps_seg *s, const char *text)
{
    uint8_t p[60 + 16], want[40];
    size_t n = hex(text, want, sizeof want);

    memset(p, 0xee, sizeof p);
    assert_int_equal(scps_tcp_hdr_len(s), 20 + n);
    assert_int_equal(scps_tcp_build(p, s), 20 + n);
    assert_memory_equal(p + 20, want, n);
    assert_int_equal(p[12] >> 4, 5 + n / 4);
    for (size_t i = 20 + n; i < sizeof p; i++)
        assert_int_equal(p[i], 0xee);
}

#endif
