/* SPDX-License-Identifier: MIT */
/* ICMP and ICMPv6: how messages are classified, which connection's packet they quote, and the
 * messages that the stack builds. */
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "base/prng.h"
#include "cmocka_all.h"
#include "hex.h"

static struct scps_ip outer(uint8_t version)
{
    struct scps_ip ip = {.version = version, .ttl = 64};
    ip.proto = version == 4 ? SCPS_IPPROTO_ICMP : SCPS_IPPROTO_ICMPV6;
    assert_int_equal(scps_addr_parse(version == 4 ? "192.0.2.9" : "2001:db8::9", &ip.src), 0);
    assert_int_equal(scps_addr_parse(version == 4 ? "192.0.2.1" : "2001:db8::1", &ip.dst), 0);
    return ip;
}

static void seal(const struct scps_ip *ip, uint8_t *p, size_t len)
{
    scps_put16(p + 2, 0);
    uint64_t sum = scps_cksum_add(0, p, len);
    if (ip->version == 6)
        sum = scps_cksum_pseudo(sum, &ip->src, &ip->dst, 58, (uint32_t)len);
    scps_put16(p + 2, scps_cksum_fold(sum));
}

/* Writes an ICMP error of the given type and code that quotes 8 octets of a segment that this host
 * sent. */
static size_t error(uint8_t version, uint8_t type, uint8_t code, uint32_t rest, uint8_t proto,
                    uint8_t *p)
{
    struct scps_ip ip = outer(version), q = outer(version);
    q.proto = proto;
    q.src = ip.dst;
    assert_int_equal(scps_addr_parse(version == 4 ? "198.51.100.7" : "2001:db8:7::7", &q.dst), 0);
    p[0] = type;
    p[1] = code;
    scps_put32(p + 4, rest);
    /* The packet is longer than the part that the message quotes. */
    size_t n = 8 + scps_ip_build(p + 8, &q, 1000);
    scps_put16(p + n, 4321);
    scps_put16(p + n + 2, 80);
    scps_put32(p + n + 4, 0xfeedbeef);
    seal(&ip, p, n + 8);
    return n + 8;
}

static void kinds(void **x)
{
    static const struct {
        uint8_t version, type, code;
        enum scps_icmp_kind kind;
    } t[] = {
        {4, 3, 0, SCPS_ICMP_UNREACH_NET},
        {4, 3, 1, SCPS_ICMP_UNREACH_HOST},
        {4, 3, 2, SCPS_ICMP_UNREACH_PROTO},
        {4, 3, 3, SCPS_ICMP_UNREACH_PORT},
        {4, 3, 4, SCPS_ICMP_TOO_BIG},
        {4, 3, 5, SCPS_ICMP_UNREACH_HOST},
        {4, 3, 6, SCPS_ICMP_UNREACH_NET},
        {4, 3, 7, SCPS_ICMP_UNREACH_HOST},
        {4, 3, 9, SCPS_ICMP_UNREACH_ADMIN},
        {4, 3, 10, SCPS_ICMP_UNREACH_ADMIN},
        {4, 3, 13, SCPS_ICMP_UNREACH_ADMIN},
        {4, 3, 15, SCPS_ICMP_UNREACH_ADMIN},
        {4, 3, 16, SCPS_ICMP_OTHER},
        {4, 4, 0, SCPS_ICMP_OTHER}, /* RFC 6633: source quench is ignored. */
        {4, 5, 1, SCPS_ICMP_OTHER},
        {4, 11, 0, SCPS_ICMP_TTL},
        {4, 12, 0, SCPS_ICMP_PARAM},
        {4, 13, 0, SCPS_ICMP_OTHER},
        {6, 1, 0, SCPS_ICMP_UNREACH_NET},
        {6, 1, 1, SCPS_ICMP_UNREACH_ADMIN},
        {6, 1, 3, SCPS_ICMP_UNREACH_HOST},
        {6, 1, 4, SCPS_ICMP_UNREACH_PORT},
        {6, 1, 6, SCPS_ICMP_UNREACH_ADMIN},
        {6, 1, 8, SCPS_ICMP_OTHER},
        {6, 2, 0, SCPS_ICMP_TOO_BIG},
        {6, 3, 0, SCPS_ICMP_TTL},
        {6, 4, 0, SCPS_ICMP_PARAM},
        {6, 4, 1, SCPS_ICMP_PARAM}, /* RFC 9293 section 3.9.2.2: a soft error */
        {6, 135, 0, SCPS_ICMP_OTHER},
    };
    (void)x;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        uint8_t p[128];
        struct scps_icmp m;
        struct scps_ip ip = outer(t[i].version);
        memset(&m, 0xa5, sizeof m);
        size_t n = error(t[i].version, t[i].type, t[i].code, 1280, 6, p);
        assert_int_equal(scps_icmp_parse(&ip, p, n, &m), 0);
        assert_int_equal(m.kind, t[i].kind);
        assert_int_equal(m.type, t[i].type);
        assert_int_equal(m.code, t[i].code);
        assert_int_equal(m.mtu, t[i].kind == SCPS_ICMP_TOO_BIG ? 1280 : 0);
        assert_int_equal(m.has_quote, t[i].kind != SCPS_ICMP_OTHER);
        if (!m.has_quote)
            continue;
        assert_int_equal(m.sport, 4321);
        assert_int_equal(m.dport, 80);
        assert_int_equal(m.seq, 0xfeedbeef);
        assert_true(scps_addr_equal(&m.quote.src, &ip.dst));
        assert_int_equal(m.quote.proto, 6);
    }
}

static void quotes(void **x)
{
    uint8_t p[128] = {0};
    struct scps_icmp m;
    (void)x;
    for (uint8_t v = 4; v <= 6; v += 2) {
        struct scps_ip ip = outer(v);
        uint8_t type = v == 4 ? 3 : 1, code = v == 4 ? 3 : 4;
        size_t n = error(v, type, code, 0, SCPS_IPPROTO_UDP, p);
        assert_int_equal(scps_icmp_parse(&ip, p, n, &m), 0);
        assert_true(m.has_quote);
        assert_int_equal(m.sport, 4321);
        /* The position of the ports in this protocol's header is not known. */
        n = error(v, type, code, 0, SCPS_IPPROTO_SCPS_COMP, p);
        assert_int_equal(scps_icmp_parse(&ip, p, n, &m), 0);
        assert_false(m.has_quote);
        /* A quotation that is too short for the ports names no connection, and nothing beyond its
         * end is read. */
        n = error(v, type, code, 0, SCPS_IPPROTO_TCP, p);
        for (size_t k = 8; k < n; k++) {
            uint8_t q[128];
            memcpy(q, p, k);
            seal(&ip, q, k);
            assert_int_equal(scps_icmp_parse(&ip, q, k, &m), 0);
            assert_false(m.has_quote);
        }
        /* The quoted packet is of the other IP version. */
        uint8_t q[128] = {0};
        error(v == 4 ? 6 : 4, type, code, 0, SCPS_IPPROTO_TCP, q);
        seal(&ip, q, 64);
        assert_int_equal(scps_icmp_parse(&ip, q, 64, &m), 0);
        assert_false(m.has_quote);
    }
    /* A later fragment of a packet has no ports. */
    struct scps_ip ip = outer(4);
    size_t n = error(4, 3, 4, 576, SCPS_IPPROTO_TCP, p);
    scps_put16(p + 8 + 6, 100);
    seal(&ip, p, n);
    assert_int_equal(scps_icmp_parse(&ip, p, n, &m), 0);
    assert_false(m.has_quote);
    assert_int_equal(m.mtu, 576);
}

static void damaged(void **x)
{
    uint8_t p[128];
    struct scps_icmp m;
    (void)x;
    for (uint8_t v = 4; v <= 6; v += 2) {
        struct scps_ip ip = outer(v);
        size_t n = error(v, 3, 0, 0, 6, p);
        for (size_t k = 0; k < 8; k++)
            assert_int_equal(scps_icmp_parse(&ip, p, k, &m), SCPS_DROP_TRUNCATED);
        for (size_t bit = 0; bit < n * 8; bit++) {
            p[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_equal(scps_icmp_parse(&ip, p, n, &m), SCPS_DROP_BAD_CHECKSUM);
            p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

/* An echo request as `ping -c1` sends it: id 0x1234, sequence number 1, eight octets. */
static void echo(void **x)
{
    (void)x;
    for (uint8_t v = 4; v <= 6; v += 2) {
        uint8_t p[16], r[16];
        struct scps_ip ip = outer(v), back = ip;
        struct scps_icmp m, a;
        hex(v == 4 ? "0800000012340001deadbeefcafef00d" : "8000000012340001deadbeefcafef00d", p,
            16);
        seal(&ip, p, 16);
        if (v == 4)
            /* The sum 0x372dc is folded and inverted. */
            assert_int_equal(scps_get16(p + 2), 0x8d20);
        assert_int_equal(scps_icmp_parse(&ip, p, 16, &m), 0);
        assert_int_equal(m.kind, SCPS_ICMP_ECHO);
        assert_ptr_equal(m.body, p + 4);
        assert_int_equal(m.body_len, 12);
        assert_int_equal(scps_icmp_build_echo_reply(r, &ip, &m), 16);
        back.src = ip.dst;
        back.dst = ip.src;
        assert_int_equal(scps_icmp_parse(&back, r, 16, &a), 0);
        assert_int_equal(a.kind, SCPS_ICMP_ECHO_REPLY);
        assert_memory_equal(r + 4, p + 4, 12);
    }
}

static void port_unreachable(void **x)
{
    static uint8_t packet[2000], p[2000];
    (void)x;
    for (uint8_t v = 4; v <= 6; v += 2) {
        struct scps_ip ip = outer(v), q = outer(v);
        struct scps_icmp m;
        /* The longest ICMP error: RFC 1812 section 4.3.2.3 (IPv4); RFC 4443 section 2.4 (c)
         * (IPv6). */
        size_t most = v == 4 ? 548 : 1232;
        q.proto = SCPS_IPPROTO_UDP;
        size_t h = scps_ip_build(packet, &q, 1900 - 40);
        scps_put32(packet + h, 0x04d20050);
        assert_int_equal(scps_icmp_build_port_unreach(p, sizeof p, &ip, packet, 1900), 8 + most);
        assert_int_equal(scps_icmp_parse(&ip, p, 8 + most, &m), 0);
        assert_int_equal(m.kind, SCPS_ICMP_UNREACH_PORT);
        assert_true(m.has_quote);
        assert_int_equal(m.sport, 1234);
        assert_int_equal(m.dport, 80);
        assert_memory_equal(p + 8, packet, most);
        assert_int_equal(scps_icmp_build_port_unreach(p, sizeof p, &ip, packet, 100), 108);
        assert_int_equal(scps_icmp_parse(&ip, p, 108, &m), 0);
        assert_int_equal(scps_icmp_build_port_unreach(p, 80, &ip, packet, 100), 80);
        assert_int_equal(scps_icmp_parse(&ip, p, 80, &m), 0);
        assert_int_equal(scps_icmp_build_port_unreach(p, 7, &ip, packet, 100), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds), cmocka_unit_test(quotes),           cmocka_unit_test(damaged),
        cmocka_unit_test(echo),  cmocka_unit_test(port_unreachable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
