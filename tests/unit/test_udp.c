/* SPDX-License-Identifier: MIT */
/* wire/udp.c: lengths of UDP datagrams, padding, and when the checksum may be missing. */
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "cmocka_all.h"

static struct scps_ip outer(uint8_t version)
{
    struct scps_ip ip = {.version = version, .proto = SCPS_IPPROTO_UDP};
    assert_int_equal(scps_addr_parse(version == 4 ? "192.0.2.9" : "2001:db8::9", &ip.src), 0);
    assert_int_equal(scps_addr_parse(version == 4 ? "192.0.2.1" : "2001:db8::1", &ip.dst), 0);
    return ip;
}

static size_t datagram(const struct scps_ip *ip, uint8_t *p, const char *text)
{
    size_t n = 8 + strlen(text);
    scps_put16(p, 53);
    scps_put16(p + 2, 5353);
    scps_put16(p + 4, (uint16_t)n);
    scps_put16(p + 6, 0);
    memcpy(p + 8, text, n - 8);
    uint64_t sum = scps_cksum_pseudo(scps_cksum_add(0, p, n), &ip->src, &ip->dst, 17, (uint32_t)n);
    scps_put16(p + 6, scps_cksum_fold(sum));
    return n;
}

static void datagrams_are_parsed(void **x)
{
    (void)x;
    for (uint8_t v = 4; v <= 6; v += 2) {
        struct scps_ip ip = outer(v);
        struct scps_udp u;
        uint8_t p[64] = {0};
        size_t n = datagram(&ip, p, "odd");
        assert_int_equal(scps_udp_parse(&ip, p, n, &u), 0);
        assert_int_equal(u.sport, 53);
        assert_int_equal(u.dport, 5353);
        assert_int_equal(u.len, 3);
        assert_ptr_equal(u.data, p + 8);
        /* Octets of padding follow the datagram. */
        assert_int_equal(scps_udp_parse(&ip, p, n + 20, &u), 0);
        assert_int_equal(u.len, 3);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(scps_udp_parse(&ip, p, k, &u),
                             k < 8 ? SCPS_DROP_TRUNCATED : SCPS_DROP_BAD_UDP);
        for (size_t bit = 0; bit < n * 8; bit++) {
            p[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_not_equal(scps_udp_parse(&ip, p, n, &u), 0);
            p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        n = datagram(&ip, p, "");
        assert_int_equal(scps_udp_parse(&ip, p, n, &u), 0);
        assert_int_equal(u.len, 0);
        scps_put16(p + 4, 7); /* The length is shorter than the UDP header. */
        assert_int_equal(scps_udp_parse(&ip, p, n, &u), SCPS_DROP_BAD_UDP);
    }
}

static void no_checksum(void **x)
{
    uint8_t p[64];
    struct scps_udp u;
    (void)x;
    for (uint8_t v = 4; v <= 6; v += 2) {
        struct scps_ip ip = outer(v);
        size_t n = datagram(&ip, p, "hello");
        scps_put16(p + 6, 0);
        assert_int_equal(scps_udp_parse(&ip, p, n, &u), v == 4 ? 0 : SCPS_DROP_BAD_CHECKSUM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_are_parsed),
        cmocka_unit_test(no_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
