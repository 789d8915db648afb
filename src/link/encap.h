/* SPDX-License-Identifier: MIT */
/* Encodes encapsulation packets (CCSDS 133.1-B) with the Internet protocol extension (702.1-B). */
#ifndef SCPS_LINK_ENCAP_H
#define SCPS_LINK_ENCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCPS_ENCAP_HEAD 9 /* octets of the longest header with its extension */

enum scps_encap_what {
    ENCAP_MORE,  /* the header of the packet is not complete */
    ENCAP_WRONG, /* the header of the packet is malformed */
    ENCAP_IDLE,
    ENCAP_OTHER, /* the packet is a space packet, or has a protocol other than IP */
    ENCAP_IPE    /* the packet has the Internet protocol extension, so it contains an IP packet */
};
/* Parses the header of an encapsulation packet (CCSDS 133.1-B) or space packet, whose first n
 * octets lie at p. *head: octets of the header; *total: octets of the packet, header included. */
enum scps_encap_what scps_encap_parse(const uint8_t *p, size_t n, size_t *head, uint64_t *total);
/* Returns the offset of the IP packet in n octets of data of an ENCAP_IPE packet; 0: the extension
 * names no IP packet. */
size_t scps_encap_ip(const uint8_t *p, size_t n);
/* Writes the header and extension of a packet that holds an IP packet of n octets. Returns their
 * length. */
size_t scps_encap_build(uint8_t *out, unsigned ip_version, size_t n);
/* Writes an idle packet of n octets, 1 to 65535, header included. */
void scps_encap_idle(uint8_t *out, size_t n);

#endif
