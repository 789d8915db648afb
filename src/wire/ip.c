/* SPDX-License-Identifier: MIT */
/* IPv4 and IPv6 headers.
 *
 * IPv4 options are skipped; scps_ip_route_goes_on() finds a source route. Of IPv6 extension
 * headers, hop-by-hop and destination options, routing, authentication and fragment headers are
 * skipped to find the transport header; an atomic fragment (offset 0, no more fragments) is an
 * ordinary packet. Of any other fragment, proto is the next header in its fragment header. id is
 * the identification of IPv4 or of the IPv6 fragment header; flow labels are ignored, and sent as
 * 0. No ICMP Parameter Problem is sent for an extension header because of which a host discards
 * the packet (RFC 8200 section 4.2 asks for one), and no Source Route Failed.
 *
 * Sources: RFC 791 section 3.1, RFC 1122 section 3.2.1.8, RFC 8200 sections 3 and 4, RFC 6946,
 * RFC 4302 section 2.
 */
#include "wire/ip.h"

#include "base/bytes.h"
#include "base/cksum.h"

enum { IP6_HOP = 0, IP6_ROUTING = 43, IP6_FRAGMENT = 44, IP6_AUTH = 51, IP6_DEST = 60 };

enum { IP4_OPT_END = 0, IP4_OPT_NOP = 1, IP4_OPT_LSRR = 131, IP4_OPT_SSRR = 137 };

enum { IP4_DF = 0x4000, IP4_MF = 0x2000, IP4_OFF = 0x1fff };

static inline void load_addr4(struct scps_addr *a, const uint8_t *p)
{
    a->family = 4;
    memcpy(a->b, p, 4);
    memset(a->b + 4, 0, 12);
}

static inline void load_addr6(struct scps_addr *a, const uint8_t *p)
{
    a->family = 6;
    memcpy(a->b, p, 16);
}

static inline int parse4(const uint8_t *p, size_t avail, size_t total, struct scps_ip *ip,
                         bool quote)
{
    uint32_t hdr = (p[0] & 15u) * 4, len = scps_get16(p + 2), frag = scps_get16(p + 6);

    if (hdr < 20 || len < hdr)
        return SCPS_DROP_BAD_IP;
    if (hdr > avail || len > total)
        return SCPS_DROP_TRUNCATED;
    if (!quote) {
        uint64_t sum = scps_sum4(scps_sum8(scps_sum8(0, p), p + 8), p + 16);
        if (hdr > 20)
            sum = scps_sum_header(sum, p + 20, hdr - 20);
        if (scps_sum_fold_raw(sum) != 0xffff)
            return SCPS_DROP_BAD_IP_CHECKSUM;
    }
    load_addr4(&ip->src, p + 12);
    load_addr4(&ip->dst, p + 16);
    ip->version = 4;
    ip->proto = p[9];
    ip->tos = p[1];
    ip->ttl = p[8];
    ip->df = frag & IP4_DF;
    ip->more_frags = frag & IP4_MF;
    ip->frag_off = (uint16_t)((frag & IP4_OFF) * 8);
    ip->id = scps_get16(p + 4);
    ip->hdr_len = hdr;
    ip->total_len = len;
    return 0;
}

/* Skips the extension headers between the fixed header and the transport header. end: end of the
 * readable bytes. */
static int extensions6(const uint8_t *p, size_t end, struct scps_ip *ip)
{
    uint32_t at = 40;

    for (;;) {
        uint32_t len;
        switch (ip->proto) {
        case IP6_HOP:
        case IP6_ROUTING:
        case IP6_DEST:
        case IP6_AUTH:
            if (end - at < 8)
                return SCPS_DROP_TRUNCATED;
            len = ip->proto == IP6_AUTH ? (p[at + 1] + 2u) * 4 : (p[at + 1] + 1u) * 8;
            if (end - at < len)
                return SCPS_DROP_TRUNCATED;
            ip->proto = p[at];
            at += len;
            break;
        case IP6_FRAGMENT:
            if (end - at < 8)
                return SCPS_DROP_TRUNCATED;
            ip->proto = p[at];
            ip->frag_off = scps_get16(p + at + 2) & 0xfff8;
            ip->more_frags = p[at + 3] & 1;
            ip->id = scps_get32(p + at + 4);
            at += 8;
            if (ip->frag_off) { /* A fragment other than the first has no transport header. */
                ip->hdr_len = at;
                return 0;
            }
            break;
        default:
            ip->hdr_len = at;
            return 0;
        }
    }
}

/* Returns true if the options in the n octets at p, a Hop-by-Hop or Destination Options header
 * without its first two octets, contain one that is not known here and must not be skipped. Pad1
 * (0), which has no length field, and PadN (1) have a type that may be skipped. */
static bool options_forbid(const uint8_t *p, uint32_t n)
{
    while (n) {
        uint32_t len = 1;
        if (p[0] >> 6)
            return true;
        if (p[0])
            len = n < 2 ? UINT32_MAX : 2u + p[1];
        if (len > n)
            return true;
        p += len;
        n -= len;
    }
    return false;
}

int scps_ip_extension_forbids(const uint8_t *p, const struct scps_ip *ip)
{
    uint8_t type = p[6];

    for (uint32_t at = 40, len; at < ip->hdr_len; at += len) {
        len = type == IP6_FRAGMENT ? 8
              : type == IP6_AUTH   ? (p[at + 1] + 2u) * 4
                                   : (p[at + 1] + 1u) * 8;
        if (type == IP6_HOP && at > 40)
            return SCPS_DROP_UNKNOWN_PROTOCOL;
        if ((type == IP6_HOP || type == IP6_DEST) && options_forbid(p + at + 2, len - 2))
            return SCPS_DROP_UNKNOWN_PROTOCOL;
        if (type == IP6_ROUTING && p[at + 3])
            return SCPS_DROP_NOT_OURS;
        type = p[at];
    }
    return 0;
}

bool scps_ip_route_goes_on(const uint8_t *p, const struct scps_ip *ip)
{
    uint32_t at = 20, len;

    for (; at < ip->hdr_len && p[at] != IP4_OPT_END; at += len) {
        if (p[at] == IP4_OPT_NOP) {
            len = 1;
            continue;
        }
        len = ip->hdr_len - at < 2 ? 0 : p[at + 1];
        if (len < 2 || len > ip->hdr_len - at)
            /* The length of this option is impossible, so the options behind it cannot be
             * parsed. */
            return false;
        /* The third octet of a source route is a pointer that counts from 1; a pointer beyond the
         * option's length means that the route is completed. */
        if ((p[at] == IP4_OPT_LSRR || p[at] == IP4_OPT_SSRR) && (len < 3 || p[at + 2] <= len))
            return true;
    }
    return false;
}

static inline int parse6(const uint8_t *p, size_t avail, size_t total, struct scps_ip *ip)
{
    uint32_t len = 40 + scps_get16(p + 4);

    if (len > total)
        return SCPS_DROP_TRUNCATED;
    load_addr6(&ip->src, p + 8);
    load_addr6(&ip->dst, p + 24);
    ip->version = 6;
    ip->proto = p[6];
    ip->tos = (uint8_t)(p[0] << 4 | p[1] >> 4);
    ip->ttl = p[7];
    ip->df = true;
    ip->more_frags = false;
    ip->frag_off = 0;
    ip->id = 0;
    ip->hdr_len = 40;
    ip->total_len = len;
    if (ip->proto == SCPS_IPPROTO_TCP)
        return 0;
    return extensions6(p, SCPS_MIN(avail, len), ip);
}

static inline int parse(const uint8_t *p, size_t avail, size_t total, struct scps_ip *ip,
                        bool quote)
{
    if (avail < 20)
        return SCPS_DROP_TRUNCATED;
    if (p[0] >> 4 == 4)
        return parse4(p, avail, total, ip, quote);
    if (p[0] >> 4 == 6)
        return avail < 40 ? SCPS_DROP_TRUNCATED : parse6(p, avail, total, ip);
    return SCPS_DROP_BAD_IP;
}

int scps_ip_parse(const uint8_t *p, size_t avail, size_t total, struct scps_ip *ip)
{
    return parse(p, avail, total, ip, false);
}

int scps_ip_parse_quote(const uint8_t *p, size_t avail, struct scps_ip *ip)
{
    return parse(p, avail, SIZE_MAX, ip, true);
}

size_t scps_ip_build(uint8_t *p, const struct scps_ip *ip, size_t payload_len)
{
    if (ip->version == 6) {
        scps_put32(p, 6u << 28 | (uint32_t)ip->tos << 20);
        scps_put16(p + 4, (uint16_t)payload_len);
        p[6] = ip->proto;
        p[7] = ip->ttl;
        memcpy(p + 8, ip->src.b, 16);
        memcpy(p + 24, ip->dst.b, 16);
        return 40;
    }
    scps_put32(p, 0x45u << 24 | (uint32_t)ip->tos << 16 | (uint16_t)(20 + payload_len));
    scps_put32(p + 4, ip->id << 16 | (ip->df ? IP4_DF : 0) | (ip->more_frags ? IP4_MF : 0) |
                          ip->frag_off / 8);
    scps_put32(p + 8, (uint32_t)ip->ttl << 24 | (uint32_t)ip->proto << 16);
    memcpy(p + 12, ip->src.b, 4);
    memcpy(p + 16, ip->dst.b, 4);
    uint64_t sum = scps_sum4(scps_sum8(scps_sum8(0, p), p + 8), p + 16);
    scps_put16(p + 10, (uint16_t)~scps_sum_fold(sum));
    return 20;
}
