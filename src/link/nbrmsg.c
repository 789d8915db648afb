/* SPDX-License-Identifier: MIT */
/* Encoding of ARP packets, Neighbour Solicitations and Neighbour Advertisements. Sources: RFC 826;
 * RFC 4861 sections 4.3, 4.4, 4.6.1 and 7.1. */
#include "link/nbrmsg.h"

#include <scps/wire.h>

#include <string.h>

#include "base/bytes.h"

enum { ND_SOLICIT = 135, ND_ADVERT = 136 };
enum { ND_FLAG_SOLICITED = 0x40, ND_FLAG_OVERRIDE = 0x20 };
enum { OPT_SOURCE = 1, OPT_TARGET = 2 };
enum { ARP_REQUEST = 1, ARP_REPLY = 2 };

static struct scps_addr address(uint8_t family, const uint8_t *p)
{
    struct scps_addr a = {.family = family};

    memcpy(a.b, p, family == 4 ? 4 : 16);
    return a;
}

bool scps_arp_parse(const uint8_t *p, size_t n, struct scps_nbrmsg *m)
{
    static const uint8_t head[6] = {0, 1, 0x08, 0, 6, 4};
    unsigned op;

    memset(m, 0, sizeof *m);
    if (n < SCPS_ARP_LEN || memcmp(p, head, sizeof head) != 0)
        return false;
    op = scps_get16(p + 6);
    /* A multicast MAC address cannot be that of the sender. */
    if ((op != ARP_REQUEST && op != ARP_REPLY) || p[8] & 1)
        return false;
    m->answer = m->solicited = op == ARP_REPLY;
    memcpy(m->mac, p + 8, 6);
    m->has_mac = true;
    m->from = address(4, p + 14);
    m->target = address(4, p + 24);
    return true;
}

void scps_arp_build(uint8_t *p, const struct scps_nbrmsg *m, const uint8_t *target_mac)
{
    static const uint8_t head[6] = {0, 1, 0x08, 0, 6, 4};

    memset(p, 0, SCPS_ARP_LEN);
    memcpy(p, head, sizeof head);
    scps_put16(p + 6, m->answer ? ARP_REPLY : ARP_REQUEST);
    memcpy(p + 8, m->mac, 6);
    memcpy(p + 14, m->from.b, 4);
    if (target_mac)
        memcpy(p + 18, target_mac, 6);
    memcpy(p + 24, m->target.b, 4);
}

bool scps_nd_is(const uint8_t *p, size_t n)
{
    return n > 40 && p[6] == SCPS_IPPROTO_ICMPV6 && (p[40] == ND_SOLICIT || p[40] == ND_ADVERT);
}

/* Reads the link-layer address from the option of type `wanted` in n octets of Neighbour Discovery
 * options at p; m->has_mac stays false if there is none. Returns false for a malformed option. */
static bool options(const uint8_t *p, size_t n, uint8_t wanted, struct scps_nbrmsg *m)
{
    for (size_t len; n; n -= len, p += len) {
        len = n >= 2 ? (size_t)p[1] * 8 : 0;
        if (!len || len > n)
            return false;
        if (p[0] == wanted && len == 8) {
            memcpy(m->mac, p + 2, 6);
            m->has_mac = !(p[2] & 1);
        }
    }
    return true;
}

static bool unspecified(const struct scps_addr *a)
{
    static const uint8_t none[16];

    return memcmp(a->b, none, 16) == 0;
}

/* Returns true if a is a solicited-node multicast address, ff02::1:ffXX:XXXX (RFC 4291 section
 * 2.7.1). */
static bool solicited_node(const struct scps_addr *a)
{
    static const uint8_t prefix[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};

    return memcmp(a->b, prefix, sizeof prefix) == 0;
}

bool scps_nd_parse(const uint8_t *p, size_t n, struct scps_nbrmsg *m)
{
    size_t len = scps_get16(p + 4);
    uint64_t sum;

    memset(m, 0, sizeof *m);
    if (n < 40 + len || len < 24 || p[7] != 255 || p[41] != 0)
        return false;
    m->from = address(6, p + 8);
    m->to = address(6, p + 24);
    m->target = address(6, p + 48);
    sum = scps_cksum_pseudo(0, &m->from, &m->to, SCPS_IPPROTO_ICMPV6, (uint32_t)len);
    if (scps_cksum_fold(scps_cksum_add(sum, p + 40, len)) != 0 || m->target.b[0] == 0xff)
        return false;
    m->answer = p[40] == ND_ADVERT;
    if (m->answer) {
        m->solicited = p[44] & ND_FLAG_SOLICITED;
        m->override = p[44] & ND_FLAG_OVERRIDE;
        if (m->solicited && m->to.b[0] == 0xff)
            return false;
    }
    if (!options(p + 64, len - 24, m->answer ? OPT_TARGET : OPT_SOURCE, m))
        return false;
    /* RFC 4861 section 7.1.1: a Solicitation from the unspecified address must have no link-layer
     * address, and a solicited-node multicast address as destination. */
    return m->answer || !unspecified(&m->from) || (!m->has_mac && solicited_node(&m->to));
}

void scps_nd_build(uint8_t *p, const struct scps_nbrmsg *m)
{
    uint64_t sum;
    uint16_t ck;

    memset(p, 0, SCPS_ND_LEN);
    p[0] = 0x60;
    scps_put16(p + 4, SCPS_ND_LEN - 40);
    p[6] = SCPS_IPPROTO_ICMPV6;
    p[7] = 255;
    memcpy(p + 8, m->from.b, 16);
    memcpy(p + 24, m->to.b, 16);
    p[40] = m->answer ? ND_ADVERT : ND_SOLICIT;
    if (m->answer)
        p[44] = (uint8_t)((m->solicited ? ND_FLAG_SOLICITED : 0) |
                          (m->override ? ND_FLAG_OVERRIDE : 0));
    memcpy(p + 48, m->target.b, 16);
    p[64] = m->answer ? OPT_TARGET : OPT_SOURCE;
    p[65] = 1;
    memcpy(p + 66, m->mac, 6);
    sum = scps_cksum_pseudo(0, &m->from, &m->to, SCPS_IPPROTO_ICMPV6, SCPS_ND_LEN - 40);
    ck = scps_cksum_fold(scps_cksum_add(sum, p + 40, SCPS_ND_LEN - 40));
    scps_put16(p + 42, ck);
}
