/* SPDX-License-Identifier: MIT */
/* Headers of CCSDS encapsulation packets. They have four forms: 1, 2, 4 or 8 octets long. Below,
 * 111, 00, 01, 10 and 11 are the values of bits, a name with a number is a field with its width in
 * bits, and || is a border of octets. "CCSDS defined" is a field that CCSDS has reserved:
 *
 *   111 | protocol 3 | 00                                                   one octet, idle
 *   111 | protocol 3 | 01 || length 8
 *   111 | protocol 3 | 10 || user 4, extension 4 || length 16
 *   111 | protocol 3 | 11 || user 4, extension 4 || CCSDS defined 16 || length 32
 *
 * The value of the length field is the number of octets of the packet, header included. Between
 * header and IP packet is the Internet protocol extension, one or more octets, all even except the
 * last one; its value 33 means IPv4, 87 IPv6. Space packets (CCSDS 133.0-B) may arrive between
 * encapsulation packets and are skipped by their length.
 *
 * Sources: CCSDS 133.1-B section 4.1, 702.1-B section 3 and the registry of its extension; CCSDS
 * 133.0-B section 4.1 for the length of a space packet.
 */
#include "link/encap.h"

#include <string.h>

#include "base/bytes.h"

enum { PROTO_IDLE = 0, PROTO_IPE = 2 };
enum { IPE_IPV4 = 33, IPE_IPV6 = 87 };

enum scps_encap_what scps_encap_parse(const uint8_t *p, size_t n, size_t *head, uint64_t *total)
{
    static const uint8_t heads[4] = {1, 2, 4, 8};
    unsigned protocol;

    if (!n)
        return ENCAP_MORE;
    /* A packet version number of 0 means a space packet (CCSDS 133.0-B) on the same virtual
     * channel, which is skipped. Its length field is at octet 4. */
    if (p[0] >> 5 == 0) {
        *head = 6;
        if (n < 6)
            return ENCAP_MORE;
        *total = 7 + (uint64_t)scps_get16(p + 4);
        return ENCAP_OTHER;
    }
    if (p[0] >> 5 != 7)
        return ENCAP_WRONG;
    protocol = p[0] >> 2 & 7;
    *head = heads[p[0] & 3];
    if (n < *head)
        return ENCAP_MORE;
    *total = *head == 1   ? 1
             : *head == 2 ? p[1]
             : *head == 4 ? scps_get16(p + 2)
                          : scps_get32(p + 4);
    if (*total < *head || (*head == 1 && protocol != PROTO_IDLE))
        return ENCAP_WRONG;
    return protocol == PROTO_IDLE ? ENCAP_IDLE : protocol == PROTO_IPE ? ENCAP_IPE : ENCAP_OTHER;
}

size_t scps_encap_ip(const uint8_t *p, size_t n)
{
    if (n < 2 || (p[0] != IPE_IPV4 && p[0] != IPE_IPV6))
        return 0;
    return p[1] >> 4 == (p[0] == IPE_IPV4 ? 4 : 6) ? 1 : 0;
}

size_t scps_encap_build(uint8_t *out, unsigned ip_version, size_t n)
{
    size_t head = 2 + 1 + n <= UINT8_MAX ? 2 : 4;

    out[0] = (uint8_t)(7 << 5 | PROTO_IPE << 2 | (head == 2 ? 1 : 2));
    if (head == 2) {
        out[1] = (uint8_t)(head + 1 + n);
    } else {
        out[1] = 0;
        scps_put16(out + 2, (uint16_t)(head + 1 + n));
    }
    out[head] = ip_version == 6 ? IPE_IPV6 : IPE_IPV4;
    return head + 1;
}

void scps_encap_idle(uint8_t *out, size_t n)
{
    memset(out, 0, n);
    out[0] = (uint8_t)(7 << 5 | PROTO_IDLE << 2 | (n == 1 ? 0 : n <= UINT8_MAX ? 1 : 2));
    if (n > UINT8_MAX)
        scps_put16(out + 2, (uint16_t)n);
    else if (n > 1)
        out[1] = (uint8_t)n;
}
