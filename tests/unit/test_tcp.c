/* SPDX-License-Identifier: MIT */
/* wire/tcp.c: the fields of the TCP header, bounds, the fast paths compared with the general code,
 * and checksums of captured packets. */
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "base/prng.h"
#include "cmocka_all.h"
#include "hex.h"

static void fields(void **x)
{
    uint8_t p[60], want[60];
    struct scps_seg s = {.sport = 0x1234,
                         .dport = 0x5678,
                         .seq = 0x9abcdef0,
                         .ack = 0x0fedcba9,
                         .flags = SCPS_ACK | SCPS_PSH | SCPS_CWR,
                         .wnd = 0xfedc,
                         .urg = 0x4321},
                    t;
    (void)x;
    assert_int_equal(scps_tcp_build(p, &s), 20);
    hex("12345678 9abcdef0 0fedcba9 5098fedc 00004321", want, sizeof want);
    assert_memory_equal(p, want, 20);
    memset(&t, 0xa5, sizeof t);
    assert_int_equal(scps_tcp_parse(p, 20, 1020, &t), 0);
    assert_int_equal(t.sport, s.sport);
    assert_int_equal(t.dport, s.dport);
    assert_int_equal(t.seq, s.seq);
    assert_int_equal(t.ack, s.ack);
    assert_int_equal(t.flags, s.flags);
    assert_int_equal(t.wnd, s.wnd);
    assert_int_equal(t.urg, s.urg);
    assert_int_equal(t.has, 0);
    assert_int_equal(t.nsack, 0);
    assert_int_equal(t.hdr_len, 20);
    assert_int_equal(t.len, 1000);
    assert_null(t.data); /* The payload lies apart. */
    assert_int_equal(t.gso, 0);
    /* The payload lies behind the header, and octets of padding that are not part of the packet
     * follow it. */
    assert_int_equal(scps_tcp_parse(p, 60, 50, &t), 0);
    assert_int_equal(t.len, 30);
    assert_ptr_equal(t.data, p + 20);
    assert_int_equal(scps_tcp_parse(p, 20, 20, &t), 0);
    assert_int_equal(t.len, 0);
}

/* RFC 9293 section 3.1, of the four reserved bits: "Must be zero in generated segments and must be
 * ignored in received segments if the corresponding future features are not implemented". RFC 9768
 * uses the last of them, AE. */
static void reserved_bits(void **x)
{
    uint8_t p[20];
    struct scps_seg s = {.flags = 0xff}, t;
    (void)x;
    assert_int_equal(scps_tcp_build(p, &s), 20);
    assert_int_equal(p[12], 0x50);
    p[12] |= 0x0f;
    assert_int_equal(scps_tcp_parse(p, 20, 20, &t), 0);
    assert_int_equal(t.hdr_len, 20);
    assert_int_equal(t.flags, 0xff);
}

static void bounds(void **x)
{
    uint8_t p[60] = {0};
    struct scps_seg s;
    (void)x;
    for (unsigned off = 0; off < 16; off++) {
        p[12] = (uint8_t)(off << 4 | 0xf);
        for (size_t len = 0; len <= 60; len++)
            for (size_t avail = 0; avail <= len; avail++) {
                int want = avail < 20                 ? SCPS_DROP_TRUNCATED
                           : off < 5 || off * 4 > len ? SCPS_DROP_BAD_TCP
                           : off * 4 > avail          ? SCPS_DROP_TRUNCATED
                                                      : 0;
                assert_int_equal(scps_tcp_parse(p, avail, len, &s), want);
                if (!want) {
                    assert_int_equal(s.hdr_len, off * 4);
                    assert_int_equal(s.len, len - off * 4);
                }
            }
    }
}

/* A header with time stamps is parsed by the fast path; with the NOPs at another place, by the
 * general code; the results are equal. */
static void fast_path_of_the_parser(void **x)
{
    uint8_t p[60], q[60];
    struct scps_seg s = {.has = SCPS_HAS_TS, .tsval = 0x01020304, .tsecr = 0xfffefdfc}, t;
    (void)x;
    assert_int_equal(scps_tcp_hdr_len(&s), 32);
    assert_int_equal(scps_tcp_build(p, &s), 32);
    hex("0101080a 01020304 fffefdfc", q, sizeof q);
    assert_memory_equal(p + 20, q, 12);
    for (int way = 0; way < 3; way++) {
        static const char *const opts[] = {"0101080a01020304fffefdfc", "01080a01020304fffefdfc01",
                                           "080a01020304fffefdfc0000"};
        hex(opts[way], p + 20, 40);
        memset(&t, 0xa5, sizeof t);
        assert_int_equal(scps_tcp_parse(p, 32, 32, &t), 0);
        assert_int_equal(t.has, SCPS_HAS_TS);
        assert_int_equal(t.tsval, s.tsval);
        assert_int_equal(t.tsecr, s.tsecr);
        assert_int_equal(t.nsack, 0);
    }
    s.has = 0;
    assert_int_equal(scps_tcp_hdr_len(&s), 20);
}

/* docs/SCPS-TP.md section 1.5: the packets were captured with protocol 106 in the pseudo-header;
 * with 6 the checksums are 100 higher. */
static void golden_checksums(void **x)
{
    static const struct {
        const char *octets;
        uint16_t sum106, sum6;
    } seg[] = {
        {"1389 1389 e17e4fb1 00000000 b002 7fff cec7 0000 1404507c 02040598 01030300 0101080a "
         "e17e4fb1 00000000",
         0xcec7, 0xcf2b},
        {"1389 1389 e16f6b0a e17e4fb2 b012 7fff 4c29 0000 140450ce 02040598 01030300 0101080a "
         "e17e5442 e17e4fb1",
         0x4c29, 0x4c8d},
    };
    struct scps_addr lo;
    (void)x;
    assert_int_equal(scps_addr_parse("127.0.0.1", &lo), 0);
    for (int i = 0; i < 2; i++) {
        uint8_t p[60], q[60];
        struct scps_seg s;
        assert_int_equal(hex(seg[i].octets, p, sizeof p), 44);
        uint64_t sum = scps_cksum_pseudo(scps_cksum_add(0, p, 44), &lo, &lo, 106, 44);
        assert_int_equal(scps_cksum_fold(sum), 0);
        scps_put16(p + 16, seg[i].sum6);
        assert_int_equal(scps_tcp_checksum(&lo, &lo, p, 44, NULL, 0), 0);
        scps_put16(p + 16, 0);
        assert_int_equal(scps_tcp_checksum(&lo, &lo, p, 44, NULL, 0), seg[i].sum6);
        /* Parsing the header and building it again gives the same octets. */
        assert_int_equal(scps_tcp_parse(p, 44, 44, &s), 0);
        assert_int_equal(scps_tcp_hdr_len(&s), 44);
        assert_int_equal(scps_tcp_build(q, &s), 44);
        assert_memory_equal(p, q, 44);
    }
}

static void checksum_against_its_parts(void **x)
{
    struct scps_prng r;
    uint8_t p[60 + 1500], pay[1501];
    (void)x;
    scps_prng_seed(&r, 4);
    for (int i = 0; i < 3000; i++) {
        struct scps_addr a = {0}, b = {0};
        a.family = b.family = i % 2 ? 4 : 6;
        for (int k = 0; k < (i % 2 ? 4 : 16); k++) {
            a.b[k] = (uint8_t)scps_prng_next(&r);
            b.b[k] = (uint8_t)scps_prng_next(&r);
        }
        size_t hdr = 20 + 4 * scps_prng_below(&r, 11), len = scps_prng_below(&r, 1500);
        for (size_t k = 0; k < hdr; k++)
            p[k] = (uint8_t)scps_prng_next(&r);
        for (size_t k = 0; k < len; k++)
            p[hdr + k] = pay[k + 1] = i % 3 ? (uint8_t)scps_prng_next(&r) : 0;
        uint64_t sum = scps_cksum_pseudo(0, &a, &b, 6, (uint32_t)(hdr + len));
        uint16_t want = scps_cksum_fold(scps_cksum_add(sum, p, hdr + len));
        assert_int_equal(scps_tcp_checksum(&a, &b, p, hdr, pay + 1, len), want);
        if (i % 3 == 0) /* Hollow payload (counted, not stored) is summed as zeros. */
            assert_int_equal(scps_tcp_checksum(&a, &b, p, hdr, NULL, len), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),           cmocka_unit_test(reserved_bits),
        cmocka_unit_test(bounds),           cmocka_unit_test(fast_path_of_the_parser),
        cmocka_unit_test(golden_checksums), cmocka_unit_test(checksum_against_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
