/* SPDX-License-Identifier: MIT */
/* IP headers of both versions: what is parsed, each reason to refuse one, and extension headers. */
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "base/prng.h"
#include "cmocka_all.h"
#include "hex.h"
#include "wire/ip.h"

static struct scps_ip sample(uint8_t version)
{
    struct scps_ip ip = {.version = version,
                         .proto = SCPS_IPPROTO_TCP,
                         .tos = 0xb9,
                         .ttl = 61,
                         .df = true,
                         .id = version == 4 ? 0xbeef : 0};
    assert_int_equal(scps_addr_parse(version == 4 ? "192.0.2.1" : "2001:db8::1", &ip.src), 0);
    assert_int_equal(scps_addr_parse(version == 4 ? "198.51.100.2" : "2001:db8::2", &ip.dst), 0);
    return ip;
}

static void golden_headers(void **x)
{
    uint8_t p[60], want[60];
    struct scps_ip ip = sample(4);
    (void)x;
    assert_int_equal(scps_ip_build(p, &ip, 1000), 20);
    assert_int_equal(hex("45b903fc beef4000 3d06 8e1c c0000201 c6336402", want, 60), 20);
    assert_memory_equal(p, want, 20);
    ip = sample(6);
    assert_int_equal(scps_ip_build(p, &ip, 1000), 40);
    assert_int_equal(hex("6b900000 03e8063d 20010db8000000000000000000000001"
                         "20010db8000000000000000000000002",
                         want, 60),
                     40);
    assert_memory_equal(p, want, 40);
}

static void round_trip(void **x)
{
    struct scps_prng r;
    uint8_t p[60];
    (void)x;
    scps_prng_seed(&r, 3);
    for (int i = 0; i < 1000; i++) {
        struct scps_ip a = sample(i % 2 ? 4 : 6), b;
        memset(&b, 0xa5, sizeof b);
        a.tos = (uint8_t)scps_prng_next(&r);
        a.ttl = (uint8_t)scps_prng_next(&r);
        a.proto = i % 4 < 2 ? SCPS_IPPROTO_TCP : SCPS_IPPROTO_SCPS_COMP;
        for (int k = 0; k < (i % 2 ? 4 : 16); k++) {
            a.src.b[k] = (uint8_t)scps_prng_next(&r);
            a.dst.b[k] = (uint8_t)scps_prng_next(&r);
        }
        if (a.version == 4) {
            a.id = (uint16_t)scps_prng_next(&r);
            a.df = scps_prng_below(&r, 2);
            a.more_frags = scps_prng_below(&r, 2);
            a.frag_off = (uint16_t)(scps_prng_next(&r) & 0xfff8);
        }
        size_t len = scps_prng_below(&r, 65000), hdr = scps_ip_build(p, &a, len);
        assert_int_equal(hdr, a.version == 4 ? 20 : 40);
        assert_int_equal(scps_ip_parse(p, hdr, hdr + len, &b), 0);
        assert_true(scps_addr_equal(&a.src, &b.src));
        assert_true(scps_addr_equal(&a.dst, &b.dst));
        assert_int_equal(b.version, a.version);
        assert_int_equal(b.proto, a.proto);
        assert_int_equal(b.tos, a.tos);
        assert_int_equal(b.ttl, a.ttl);
        assert_int_equal(b.df, a.df);
        assert_int_equal(b.more_frags, a.more_frags);
        assert_int_equal(b.frag_off, a.frag_off);
        assert_int_equal(b.id, a.id);
        assert_int_equal(b.hdr_len, hdr);
        assert_int_equal(b.total_len, hdr + len);
    }
}

static void fix4(uint8_t *p)
{
    size_t len = (p[0] & 15u) * 4;
    scps_put16(p + 10, 0);
    scps_put16(p + 10, scps_cksum_fold(scps_cksum_add(0, p, len)));
}

static void what_is_wrong_with_it_4(void **x)
{
    uint8_t p[64] = {0};
    struct scps_ip ip = sample(4), out;
    (void)x;
    scps_ip_build(p, &ip, 40);
    for (size_t n = 0; n < 60; n++)
        assert_int_equal(scps_ip_parse(p, n, n, &out), SCPS_DROP_TRUNCATED);
    assert_int_equal(scps_ip_parse(p, 60, 60, &out), 0);
    /* A link has padded the frame, so octets follow the packet. */
    assert_int_equal(scps_ip_parse(p, 64, 64, &out), 0);
    assert_int_equal(out.total_len, 60);
    assert_int_equal(scps_ip_parse(p, 20, 60, &out), 0); /* The payload lies apart. */
    /* The checksum is wrong if any single bit of the header is flipped. */
    for (int i = 0; i < 160; i++) {
        p[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_not_equal(scps_ip_parse(p, 60, 60, &out), 0);
        p[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    p[8] ^= 1;
    assert_int_equal(scps_ip_parse(p, 60, 60, &out), SCPS_DROP_BAD_IP_CHECKSUM);
    /* A packet quoted in an ICMP error is accepted in spite of a wrong checksum. */
    assert_int_equal(scps_ip_parse_quote(p, 28, &out), 0);
    p[8] ^= 1;
    for (uint8_t v = 0; v < 16; v++) {
        p[0] = (uint8_t)(v << 4 | 5);
        fix4(p);
        int want = v == 4 ? 0 : v == 6 ? SCPS_DROP_TRUNCATED : SCPS_DROP_BAD_IP;
        assert_int_equal(scps_ip_parse(p, 60, 60, &out), want);
    }
    for (uint8_t ihl = 0; ihl < 16; ihl++) {
        p[0] = 0x40 | ihl;
        if (ihl >= 5)
            fix4(p);
        assert_int_equal(scps_ip_parse(p, 60, 60, &out), ihl < 5 ? SCPS_DROP_BAD_IP : 0);
        if (ihl >= 5)
            assert_int_equal(out.hdr_len, ihl * 4);
    }
    p[0] = 0x4f;
    fix4(p);
    assert_int_equal(scps_ip_parse(p, 59, 60, &out), SCPS_DROP_TRUNCATED);
    scps_put16(p + 2, 59); /* The total length is smaller than the header. */
    fix4(p);
    assert_int_equal(scps_ip_parse(p, 60, 60, &out), SCPS_DROP_BAD_IP);
}

static void what_is_wrong_with_it_6(void **x)
{
    uint8_t p[64] = {0};
    struct scps_ip ip = sample(6), out;
    (void)x;
    scps_ip_build(p, &ip, 20);
    for (size_t n = 0; n < 60; n++)
        assert_int_equal(scps_ip_parse(p, n, n, &out), SCPS_DROP_TRUNCATED);
    assert_int_equal(scps_ip_parse(p, 60, 60, &out), 0);
    assert_int_equal(scps_ip_parse(p, 40, 60, &out), 0);
    assert_int_equal(scps_ip_parse(p, 39, 60, &out), SCPS_DROP_TRUNCATED);
}

/* The extension headers are hop-by-hop (8 octets), destination options (16), routing (8) and AH
 * (12); TCP follows. */
static void extension_headers(void **x)
{
    uint8_t p[120] = {0};
    struct scps_ip ip = sample(6), out;
    (void)x;
    ip.proto = 0;
    scps_ip_build(p, &ip, 8 + 16 + 8 + 12 + 20);
    p[40] = 60;
    p[48] = 43;
    p[49] = 1;
    p[64] = 51;
    p[72] = 6;
    p[73] = 1;
    assert_int_equal(scps_ip_parse(p, 104, 104, &out), 0);
    assert_int_equal(out.proto, 6);
    assert_int_equal(out.hdr_len, 84);
    assert_int_equal(out.total_len, 104);
    /* The parser reads no header beyond the octets that are there. */
    for (size_t n = 40; n < 84; n++)
        assert_int_equal(scps_ip_parse(p, n, 104, &out), SCPS_DROP_TRUNCATED);
    assert_int_equal(scps_ip_parse(p, 84, 104, &out), 0);
    p[49] = 255;
    assert_int_equal(scps_ip_parse(p, 104, 104, &out), SCPS_DROP_TRUNCATED);
    /* The parser reads no octet beyond the length that the IP header states, even if more octets
     * follow. */
    p[49] = 1;
    scps_put16(p + 4, 30);
    assert_int_equal(scps_ip_parse(p, 104, 104, &out), SCPS_DROP_TRUNCATED);
}

static void fragments(void **x)
{
    uint8_t p[80] = {0};
    struct scps_ip ip = sample(6), out;
    (void)x;
    ip.proto = 44;
    scps_ip_build(p, &ip, 28);
    p[40] = 6;
    scps_put32(p + 44, 0xcafe1234);
    /* RFC 6946: a packet with a fragment header but without fragments (an atomic fragment) is
     * accepted. */
    assert_int_equal(scps_ip_parse(p, 68, 68, &out), 0);
    assert_int_equal(out.proto, 6);
    assert_int_equal(out.frag_off, 0);
    assert_false(out.more_frags);
    assert_int_equal(out.id, 0xcafe1234);
    assert_int_equal(out.hdr_len, 48);
    p[43] = 1;
    assert_int_equal(scps_ip_parse(p, 68, 68, &out), 0);
    assert_true(out.more_frags);
    /* In a later fragment the octets behind the fragment header are data, whatever the value of its
     * next-header field. */
    p[40] = 60;
    scps_put16(p + 42, 1480);
    assert_int_equal(scps_ip_parse(p, 68, 68, &out), 0);
    assert_int_equal(out.frag_off, 1480);
    assert_false(out.more_frags);
    assert_int_equal(out.hdr_len, 48);
}

/* RFC 8200 section 4.2: the highest two bits of the type of an option that is not known say whether
 * the packet is discarded (not if they are 00); section 4.4: a Routing header of a type that is not
 * known is skipped if no segments are left; section 4.1: a Hop-by-Hop Options header follows the
 * IPv6 header. */
static void extensions_that_forbid(void **x)
{
    uint8_t p[120] = {0};
    struct scps_ip ip = sample(6), out;
    (void)x;
    for (unsigned kind = 0; kind <= 60; kind += 60) {
        for (unsigned type = 2; type < 256; type++) {
            ip.proto = (uint8_t)kind;
            scps_ip_build(p, &ip, 16 + 20);
            /* the header of 16 octets: Pad1, PadN of 3 octets, the option of 10 octets */
            memcpy(p + 40, ((uint8_t[16]){6, 1, 0, 1, 1, 0, (uint8_t)type, 8}), 16);
            assert_int_equal(scps_ip_parse(p, 76, 76, &out), 0);
            assert_int_equal(out.hdr_len, 56);
            assert_int_equal(scps_ip_extension_forbids(p, &out),
                             type >= 64 ? SCPS_DROP_UNKNOWN_PROTOCOL : 0);
        }
        p[46] = 5;
        p[47] = 9; /* The option ends behind its header. */
        assert_true(scps_ip_extension_forbids(p, &out));
        memcpy(p + 46, ((uint8_t[10]){1, 7}), 10); /* an option without its length field */
        p[55] = 5;
        assert_true(scps_ip_extension_forbids(p, &out));
        p[55] = 0;
        assert_false(scps_ip_extension_forbids(p, &out));
    }
    for (uint8_t left = 0; left < 3; left++) {
        ip.proto = 43;
        scps_ip_build(p, &ip, 8 + 20);
        memcpy(p + 40, ((uint8_t[8]){6, 0, 4, left}), 8);
        assert_int_equal(scps_ip_parse(p, 68, 68, &out), 0);
        assert_int_equal(scps_ip_extension_forbids(p, &out), left ? SCPS_DROP_NOT_OURS : 0);
    }
    ip.proto = 60;
    scps_ip_build(p, &ip, 16 + 20);
    memcpy(p + 40, ((uint8_t[16]){0, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4}), 16);
    assert_int_equal(scps_ip_parse(p, 76, 76, &out), 0);
    assert_true(scps_ip_extension_forbids(p, &out));
}

/* RFC 791 section 3.1: a source route is completed when its pointer is beyond its length. */
static void source_routes(void **x)
{
    static const struct {
        uint8_t options[12];
        bool goes_on;
    } t[] = {
        {{131, 7, 4, 10, 0, 0, 9, 0}, true},             /* loose */
        {{1, 137, 11, 4, 10, 0, 0, 9, 1}, true},         /* strict, behind a NOP */
        {{7, 7, 4, 0, 0, 0, 0, 131, 3, 3}, true},        /* behind a recorded route; an empty one */
        {{131, 2}, true},                                /* without a pointer */
        {{131, 7, 8, 10, 0, 0, 9, 0}, false},            /* completed */
        {{7, 7, 4, 0, 0, 0, 0, 0}, false},               /* a recorded route alone */
        {{0, 131, 7, 4, 10, 0, 0, 9}, false},            /* behind the end of the options */
        {{7, 13, 4, 131, 7, 4}, false},                  /* an option longer than the header */
        {{7, 0, 131, 7, 4}, false},                      /* an option of length 0 */
        {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 131}, false}, /* an option without its length */
    };
    uint8_t p[64] = {0};
    struct scps_ip ip = sample(4), out;
    (void)x;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        scps_ip_build(p, &ip, 32);
        p[0] = 0x48;
        memcpy(p + 20, t[i].options, 12);
        fix4(p);
        assert_int_equal(scps_ip_parse(p, 52, 52, &out), 0);
        assert_int_equal(scps_ip_route_goes_on(p, &out), t[i].goes_on);
    }
}

static void random_octets(void **x)
{
    struct scps_prng r;
    (void)x;
    scps_prng_seed(&r, 9);
    for (int i = 0; i < 200000; i++) {
        uint8_t p[96];
        struct scps_ip out;
        size_t n = scps_prng_below(&r, sizeof p + 1);
        for (size_t k = 0; k < n; k++)
            p[k] = (uint8_t)scps_prng_next(&r);
        if (n > 6) {
            p[0] = (uint8_t)((scps_prng_below(&r, 2) ? 0x40 : 0x60) | (p[0] & 15));
            p[4] = 0;
            p[6] = (uint8_t[]){0, 43, 44, 51, 60}[scps_prng_below(&r, 5)];
        }
        if (scps_ip_parse(p, n, n, &out) == 0) {
            assert_true(out.hdr_len <= n);
            assert_true(out.total_len <= n);
            assert_true(out.hdr_len <= out.total_len);
            if (out.version == 6 && !out.more_frags && !out.frag_off)
                scps_ip_extension_forbids(p, &out); /* The sanitizers check what it reads. */
        }
        if (scps_ip_parse_quote(p, n, &out) == 0)
            assert_true(out.hdr_len <= n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_headers),          cmocka_unit_test(round_trip),
        cmocka_unit_test(what_is_wrong_with_it_4), cmocka_unit_test(what_is_wrong_with_it_6),
        cmocka_unit_test(extension_headers),       cmocka_unit_test(fragments),
        cmocka_unit_test(extensions_that_forbid),  cmocka_unit_test(source_routes),
        cmocka_unit_test(random_octets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
