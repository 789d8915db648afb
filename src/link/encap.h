/* SPDX-License-Identifier: MIT */
/* Encapsulation packets (CCSDS 133.1-B) with the Internet protocol extension (702.1-B), as
 * octets. */
#ifndef SCPS_LINK_ENCAP_H
#define SCPS_LINK_ENCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCPS_ENCAP_HEAD 9 /* the longest header with its extension */

enum scps_encap_what {
    ENCAP_MORE,  /* the header is not complete */
    ENCAP_WRONG, /* it cannot be */
    ENCAP_IDLE,
    ENCAP_OTHER, /* a space packet, or a protocol that is not IP's */
    ENCAP_IPE    /* with the Internet protocol extension */
};
/* Reads the header of the packet whose first n octets lie at p. head: octets of the header; total:
 * of the packet with it. */
enum scps_encap_what scps_encap_parse(const uint8_t *p, size_t n, size_t *head, uint64_t *total);
/* Where IP begins in n octets of data of an ENCAP_IPE packet; 0: the extension says that it is
 * none. */
size_t scps_encap_ip(const uint8_t *p, size_t n);
/* Writes the header of a packet that holds an IP packet of n octets, and its extension; returns how
 * many octets. */
size_t scps_encap_build(uint8_t *out, unsigned ip_version, size_t n);
/* Writes an idle packet of n octets, 1 to 65535, header and all. */
void scps_encap_idle(uint8_t *out, size_t n);

#endif
