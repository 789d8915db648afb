/* SPDX-License-Identifier: MIT */
/* ICMP for IPv4 and IPv6. Messages are sorted by their meaning for a transport protocol, not by
 * their numbers:
 *
 *      kind            ICMP (RFC 792, RFC 1122 3.2.2)        ICMPv6 (RFC 4443)
 *      UNREACH_NET     3/0 6 11                              1/0 7
 *      UNREACH_HOST    3/1 5 7 8 12                          1/2 3
 *      UNREACH_PROTO   3/2
 *      UNREACH_PORT    3/3                                   1/4
 *      UNREACH_ADMIN   3/9 10 13 14 15                       1/1 5 6
 *      TOO_BIG         3/4 (RFC 1191: MTU, or 0)             2
 *      TTL             11                                    3
 *      PARAM           12                                    4
 *
 * ICMPv6 4/1, "unrecognized next header", says what 3/2 does, but RFC 9293 section 3.9.2.2 lists it
 * among the soft errors of ICMPv6, for which no connection is aborted (MUST-56).
 *
 * has_quote is true if the error quotes enough of a TCP or UDP packet to identify its flow. Of TCP
 * the first 8 octets suffice: ports and sequence number, which is all that RFC 792 guarantees and
 * RFC 5927 requires to be checked. Quoted checksums and lengths are not checked. A quoted SCPS-TP
 * header that is compressed (IP protocol 105) identifies the flow by its connection id. has_quote
 * is then true only if that header has a sequence number, as it has in all segments with data, and
 * the quote contains it.
 */
#include "base/bytes.h"
#include "wire/comp.h"
#include "wire/ip.h"

enum { HDR = 8, ECHO4 = 8, REPLY4 = 0, ECHO6 = 128, REPLY6 = 129 };

static uint16_t checksum(const struct scps_ip *ip, const uint8_t *p, size_t len)
{
    uint64_t sum = scps_cksum_add(0, p, len);
    if (ip->version == 6)
        sum = scps_cksum_pseudo(sum, &ip->src, &ip->dst, SCPS_IPPROTO_ICMPV6, (uint32_t)len);
    return scps_cksum_fold(sum);
}

static enum scps_icmp_kind kind4(uint8_t type, uint8_t code)
{
    static const uint8_t unreach[16] = {
        SCPS_ICMP_UNREACH_NET,   SCPS_ICMP_UNREACH_HOST,  SCPS_ICMP_UNREACH_PROTO,
        SCPS_ICMP_UNREACH_PORT,  SCPS_ICMP_TOO_BIG,       SCPS_ICMP_UNREACH_HOST,
        SCPS_ICMP_UNREACH_NET,   SCPS_ICMP_UNREACH_HOST,  SCPS_ICMP_UNREACH_HOST,
        SCPS_ICMP_UNREACH_ADMIN, SCPS_ICMP_UNREACH_ADMIN, SCPS_ICMP_UNREACH_NET,
        SCPS_ICMP_UNREACH_HOST,  SCPS_ICMP_UNREACH_ADMIN, SCPS_ICMP_UNREACH_ADMIN,
        SCPS_ICMP_UNREACH_ADMIN};

    switch (type) {
    case REPLY4:
        return SCPS_ICMP_ECHO_REPLY;
    case 3:
        return code < 16 ? (enum scps_icmp_kind)unreach[code] : SCPS_ICMP_OTHER;
    case ECHO4:
        return SCPS_ICMP_ECHO;
    case 11:
        return SCPS_ICMP_TTL;
    case 12:
        return SCPS_ICMP_PARAM;
    default:
        return SCPS_ICMP_OTHER;
    }
}

static enum scps_icmp_kind kind6(uint8_t type, uint8_t code)
{
    static const uint8_t unreach[8] = {SCPS_ICMP_UNREACH_NET,   SCPS_ICMP_UNREACH_ADMIN,
                                       SCPS_ICMP_UNREACH_HOST,  SCPS_ICMP_UNREACH_HOST,
                                       SCPS_ICMP_UNREACH_PORT,  SCPS_ICMP_UNREACH_ADMIN,
                                       SCPS_ICMP_UNREACH_ADMIN, SCPS_ICMP_UNREACH_NET};

    switch (type) {
    case 1:
        return code < 8 ? (enum scps_icmp_kind)unreach[code] : SCPS_ICMP_OTHER;
    case 2:
        return SCPS_ICMP_TOO_BIG;
    case 3:
        return SCPS_ICMP_TTL;
    case 4:
        return SCPS_ICMP_PARAM;
    case ECHO6:
        return SCPS_ICMP_ECHO;
    case REPLY6:
        return SCPS_ICMP_ECHO_REPLY;
    default:
        return SCPS_ICMP_OTHER;
    }
}

/* Returns the offset of the sequence number in t, an SCPS-TP header that is compressed (IP protocol
 * 105); 0: the header leaves its sequence number out. */
static size_t comp_seq_at(const uint8_t *t)
{
    size_t at = 2;

    if (!(t[1] & COMP_S))
        return 0;
    /* The sequence number follows the connection id, the first octet of bits and, if present: a
     * second octet of bits (bit MORE), the urgent pointer (2 octets, bit URG of the second octet),
     * and the window and acknowledgement number (6 octets, bit A). */
    if (t[1] & COMP_MORE)
        at += t[2] & COMP_URG ? 3 : 1;
    return t[1] & COMP_A ? at + 6 : at;
}

static void parse_quote(const uint8_t *p, size_t len, uint8_t version, struct scps_icmp *m)
{
    struct scps_ip q;

    if (scps_ip_parse_quote(p, len, &q) || q.version != version || q.frag_off)
        return;
    if (len - q.hdr_len < 8)
        return;
    const uint8_t *t = p + q.hdr_len;
    if (q.proto == SCPS_IPPROTO_TCP || q.proto == SCPS_IPPROTO_SCPS_TP)
        m->seq = scps_get32(t + 4);
    else if (q.proto == SCPS_IPPROTO_SCPS_COMP) {
        size_t at = comp_seq_at(t);
        if (!at || len - q.hdr_len < at + 4)
            return;
        m->conn_id = t[0];
        m->seq = scps_get32(t + at);
    } else if (q.proto == SCPS_IPPROTO_UDP)
        m->seq = scps_get32(t + 4);
    else
        return;
    if (q.proto != SCPS_IPPROTO_SCPS_COMP) {
        m->sport = scps_get16(t);
        m->dport = scps_get16(t + 2);
    }
    m->quote = q;
    m->has_quote = true;
}

SCPS_NOINLINE_SIZE int scps_icmp_parse(const struct scps_ip *ip, const uint8_t *p, size_t len,
                                       struct scps_icmp *m)
{
    if (len < HDR)
        return SCPS_DROP_TRUNCATED;
    if (checksum(ip, p, len))
        return SCPS_DROP_BAD_CHECKSUM;
    m->type = p[0];
    m->code = p[1];
    m->kind = ip->version == 6 ? kind6(p[0], p[1]) : kind4(p[0], p[1]);
    m->mtu = 0;
    m->has_quote = false;
    m->sport = m->dport = 0;
    m->conn_id = 0;
    m->seq = 0;
    m->body = NULL;
    m->body_len = 0;
    switch (m->kind) {
    case SCPS_ICMP_OTHER:
        break;
    case SCPS_ICMP_ECHO:
    case SCPS_ICMP_ECHO_REPLY:
        m->body = p + 4;
        m->body_len = len - 4;
        break;
    case SCPS_ICMP_TOO_BIG:
        m->mtu = ip->version == 6 ? scps_get32(p + 4) : scps_get16(p + 6);
        /* fall through */
    default:
        parse_quote(p + HDR, len - HDR, ip->version, m);
    }
    return 0;
}

size_t scps_icmp_build_echo_reply(uint8_t *p, const struct scps_ip *req, const struct scps_icmp *m)
{
    size_t len = 4 + m->body_len;

    p[0] = req->version == 6 ? REPLY6 : REPLY4;
    p[1] = 0;
    scps_put16(p + 2, 0);
    memcpy(p + 4, m->body, m->body_len);
    scps_put16(p + 2,
               /* The reply has the addresses of the request exchanged, which does not change the
                * sum. */
               checksum(req, p, len));
    return len;
}

size_t scps_icmp_build_port_unreach(uint8_t *p, size_t room, const struct scps_ip *ip,
                                    const uint8_t *packet, size_t packet_len)
{
    size_t quote = ip->version == 6 ? 1280 - 40 - HDR : 576 - 20 - HDR;

    if (room < HDR)
        return 0;
    quote = SCPS_MIN(quote, packet_len);
    quote = SCPS_MIN(quote, room - HDR);
    p[0] = ip->version == 6 ? 1 : 3;
    p[1] = ip->version == 6 ? 4 : 3;
    memset(p + 2, 0, 6);
    memcpy(p + HDR, packet, quote);
    scps_put16(p + 2, checksum(ip, p, HDR + quote));
    return HDR + quote;
}
