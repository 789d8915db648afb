/* SPDX-License-Identifier: MIT */
/* link/nbrmsg.c: which ARP packets (RFC 826), Neighbour Solicitations and Advertisements are valid.
 * RFC 4861 sections 7.1.1 and 7.1.2 list the checks. */
#include "cmocka_all.h"

#include "link/nbrmsg.h"

#include <scps/wire.h>

#include <string.h>

#include "base/bytes.h"

#define MAC 8, 0, 0x20, 1, 2, 3

static const uint8_t all[16] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

static struct scps_addr address(const char *text)
{
    struct scps_addr a;

    assert_int_equal(scps_addr_parse(text, &a), 0);
    return a;
}

/* Writes a valid message to p: an Advertisement if `answer`, otherwise a Solicitation. */
static void valid(uint8_t *p, bool answer)
{
    struct scps_nbrmsg m = {.answer = answer,
                            .solicited = answer,
                            .from = address("fe80::1"),
                            .to = address("fe80::2"),
                            .target = address("fe80::2"),
                            .mac = {MAC},
                            .has_mac = true};

    scps_nd_build(p, &m);
}

/* Corrects the checksum of the message of n octets at p, and returns true if it is valid. */
static bool parses(uint8_t *p, size_t n, struct scps_nbrmsg *m)
{
    struct scps_addr from = {.family = 6}, to = {.family = 6};
    uint64_t sum;

    memcpy(from.b, p + 8, 16);
    memcpy(to.b, p + 24, 16);
    scps_put16(p + 4, (uint16_t)(n - 40));
    scps_put16(p + 42, 0);
    sum = scps_cksum_pseudo(0, &from, &to, SCPS_IPPROTO_ICMPV6, (uint32_t)(n - 40));
    scps_put16(p + 42, scps_cksum_fold(scps_cksum_add(sum, p + 40, n - 40)));
    return scps_nd_parse(p, n, m);
}

static void what_is_valid(void **state)
{
    uint8_t p[SCPS_ND_LEN];
    struct scps_nbrmsg m;
    (void)state;

    for (int answer = 0; answer < 2; answer++) {
        valid(p, answer);
        assert_true(parses(p, SCPS_ND_LEN, &m));
        assert_int_equal(m.answer, answer);
        assert_true(m.has_mac);
        assert_memory_equal(m.mac, ((uint8_t[]){MAC}), 6);
    }
    assert_true(parses(p, 64, &m)); /* no option */
    assert_false(m.has_mac);
}

/* "The IP Hop Limit field has a value of 255", "ICMP Checksum is valid", "ICMP Code is 0", "ICMP
 * length (derived from the IP length) is 24 or more octets", "Target Address is not a multicast
 * address", "All included options have a length that is greater than zero". */
static void what_both_kinds_need(void **state)
{
    uint8_t p[SCPS_ND_LEN];
    struct scps_nbrmsg m;
    (void)state;

    for (int answer = 0; answer < 2; answer++) {
        valid(p, answer);
        p[7] = 254;
        assert_false(parses(p, SCPS_ND_LEN, &m));
        valid(p, answer);
        p[43] ^= 1;
        assert_false(scps_nd_parse(p, SCPS_ND_LEN, &m));
        valid(p, answer);
        p[41] = 1;
        assert_false(parses(p, SCPS_ND_LEN, &m));
        valid(p, answer);
        assert_false(parses(p, 63, &m));
        valid(p, answer);
        p[48] = 0xff;
        assert_false(parses(p, SCPS_ND_LEN, &m));
        valid(p, answer);
        p[65] = 0;
        assert_false(parses(p, SCPS_ND_LEN, &m));
        valid(p, answer);
        p[65] = 2; /* The option is longer than the message. */
        assert_false(parses(p, SCPS_ND_LEN, &m));
    }
}

/* "If the IP source address is the unspecified address, the IP destination address is a
 * solicited-node multicast address", and "there is no source link-layer address option in the
 * message". */
static void solicitations_from_nobody(void **state)
{
    static const uint8_t node[16] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 2};
    uint8_t p[SCPS_ND_LEN];
    struct scps_nbrmsg m;
    (void)state;

    valid(p, false);
    memset(p + 8, 0, 16);
    assert_false(parses(p, 64, &m)); /* to a unicast address */
    memcpy(p + 24, all, 16);
    assert_false(parses(p, 64, &m)); /* to the group of all nodes */
    memcpy(p + 24, node, 16);
    assert_true(parses(p, 64, &m));
    assert_false(parses(p, SCPS_ND_LEN, &m)); /* with a link-layer address */
}

/* "If the IP Destination Address is a multicast address the Solicited flag is zero." */
static void advertisements_to_a_group(void **state)
{
    uint8_t p[SCPS_ND_LEN];
    struct scps_nbrmsg m;
    (void)state;

    valid(p, true);
    memcpy(p + 24, all, 16);
    assert_false(parses(p, SCPS_ND_LEN, &m));
    p[44] = 0;
    assert_true(parses(p, SCPS_ND_LEN, &m));
}

/* RFC 826: packets of other hardware or protocols, of other operations, and those that a group is
 * said to have sent. */
static void arp(void **state)
{
    struct scps_nbrmsg in = {.from = address("10.0.0.1"),
                             .target = address("10.0.0.2"),
                             .mac = {MAC}},
                       out;
    static const struct {
        uint8_t at, value;
    } wrong[] = {{1, 6}, {2, 9}, {4, 8}, {5, 16}, {7, 0}, {7, 3}, {8, 1}};
    uint8_t p[SCPS_ARP_LEN];
    (void)state;

    scps_arp_build(p, &in, NULL);
    assert_true(scps_arp_parse(p, sizeof p, &out));
    assert_false(scps_arp_parse(p, sizeof p - 1, &out));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        scps_arp_build(p, &in, NULL);
        p[wrong[i].at] = wrong[i].value;
        assert_false(scps_arp_parse(p, sizeof p, &out));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_valid),
        cmocka_unit_test(what_both_kinds_need),
        cmocka_unit_test(solicitations_from_nobody),
        cmocka_unit_test(advertisements_to_a_group),
        cmocka_unit_test(arp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
