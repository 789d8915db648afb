/* SPDX-License-Identifier: MIT */
/* Encoding of requests and replies about neighbours: ARP, and ICMPv6's Neighbour Solicitation and
 * Advertisement. It has no state. */
#ifndef SCPS_LINK_NBRMSG_H
#define SCPS_LINK_NBRMSG_H

#include <scps/types.h>

enum { ETHER_IPV4 = 0x0800, ETHER_ARP = 0x0806, ETHER_IPV6 = 0x86dd };

#define SCPS_ARP_LEN 28
/* length of an IPv6 header, the message and one link-layer address option, octets */
#define SCPS_ND_LEN 72

struct scps_nbrmsg {
    /* true: the message is a reply (ARP reply or Neighbour Advertisement); false: it is a
     * request */
    bool answer;
    bool solicited, override; /* flags S and O of a reply (RFC 4861 section 4.4) */
    /* addresses of the sender (unspecified while it has none) and of the station that is asked for
     * or replies */
    struct scps_addr from, target;
    struct scps_addr to; /* destination of the IPv6 packet; family 0 in ARP */
    /* MAC address of `from`; in an answer of IPv6 that of `target` */
    uint8_t mac[6];
    bool has_mac;
};

/* Parses n octets as an ARP packet for Ethernet and IPv4. Returns false if they are not one, or are
 * malformed. */
bool scps_arp_parse(const uint8_t *p, size_t n, struct scps_nbrmsg *m);
/* Writes an ARP packet, SCPS_ARP_LEN octets. mac: that of the sender; target_mac: that of the
 * target, NULL: unknown. */
void scps_arp_build(uint8_t *p, const struct scps_nbrmsg *m, const uint8_t *target_mac);

/* Returns true when an IPv6 packet is a Neighbour Solicitation or Advertisement. */
bool scps_nd_is(const uint8_t *p, size_t n);
/* Parses a packet for which scps_nd_is() is true; returns false if it fails the checks of RFC 4861
 * section 7.1. */
bool scps_nd_parse(const uint8_t *p, size_t n, struct scps_nbrmsg *m);
/* Writes a Neighbour Solicitation or Advertisement with its IPv6 header, SCPS_ND_LEN octets. */
void scps_nd_build(uint8_t *p, const struct scps_nbrmsg *m);

#endif
