/* SPDX-License-Identifier: MIT */
/* Parses and writes the headers of encapsulation packets (CCSDS 133.1-B), and the Internet protocol
 * extension (CCSDS 702.1-B) between such a header and the IP packet. */
#ifndef SCPS_LINK_ENCAP_H
#define SCPS_LINK_ENCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* largest number of octets before the IP packet: the longest header of an encapsulation packet, 8
 * octets, and the Internet protocol extension, here one octet (IPv4 or IPv6) */
#define SCPS_ENCAP_HEAD 9

enum scps_encap_what {
    ENCAP_MORE,  /* the header of the packet is not complete */
    ENCAP_WRONG, /* the header of the packet is malformed */
    ENCAP_IDLE,
    /* the packet is a space packet (CCSDS 133.0-B), or an encapsulation packet whose protocol is
     * not IP */
    ENCAP_OTHER,
    ENCAP_IPE /* the packet has the Internet protocol extension, so it contains an IP packet */
};
/* Parses the header of an encapsulation packet (CCSDS 133.1-B) or space packet, of which the first
 * n octets are at p. Sets *head to the length of the header and *total to that of the packet,
 * header included, both in octets. */
enum scps_encap_what scps_encap_parse(const uint8_t *p, size_t n, size_t *head, uint64_t *total);
/* Returns the offset of the IP packet in the n octets at p that follow the header of an ENCAP_IPE
 * packet; 0: the extension says that it is not IPv4 or IPv6. */
size_t scps_encap_ip(const uint8_t *p, size_t n);
/* Writes the header and extension of an encapsulation packet with an IP packet of n octets to
 * `out`, at most SCPS_ENCAP_HEAD octets. Returns their length. */
size_t scps_encap_build(uint8_t *out, unsigned ip_version, size_t n);
/* Writes an idle encapsulation packet of n octets (1 to 65535), header included, to `out`. */
void scps_encap_idle(uint8_t *out, size_t n);

#endif
