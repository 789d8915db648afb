/* SPDX-License-Identifier: MIT */
/* Parses and writes messages by which stations learn the MAC addresses of neighbours: ARP requests
 * and replies, Neighbour Solicitations and Advertisements of ICMPv6. */
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
    /* from: address of the sender; all zeros while it has none. target: the address whose MAC
     * address is requested or, in a Neighbour Advertisement, announced; in an ARP reply that of the
     * receiver */
    struct scps_addr from, target;
    struct scps_addr to; /* destination of the IPv6 packet; family 0 in ARP */
    /* MAC address of `target` in a Neighbour Advertisement, and of `from` in all other messages;
     * valid if has_mac */
    uint8_t mac[6];
    bool has_mac;
};

/* Parses n octets at p as an ARP packet for Ethernet and IPv4 into *m. Returns false if they are no
 * valid ARP request or reply. */
bool scps_arp_parse(const uint8_t *p, size_t n, struct scps_nbrmsg *m);
/* Writes an ARP packet of SCPS_ARP_LEN octets to p, with the addresses of *m: m->mac and m->from as
 * those of the sender, m->target as the target's IP address. target_mac: MAC address of the target;
 * NULL: it is unknown, and zeros are written. */
void scps_arp_build(uint8_t *p, const struct scps_nbrmsg *m, const uint8_t *target_mac);

/* Returns true if the IPv6 packet of n octets at p is a Neighbour Solicitation or Advertisement. */
bool scps_nd_is(const uint8_t *p, size_t n);
/* Parses a packet for which scps_nd_is() is true into *m. Returns false if the packet must be
 * discarded by RFC 4861 section 7.1. */
bool scps_nd_parse(const uint8_t *p, size_t n, struct scps_nbrmsg *m);
/* Writes *m to p as a Neighbour Solicitation or, if m->answer, a Neighbour Advertisement, with its
 * IPv6 header: SCPS_ND_LEN octets. */
void scps_nd_build(uint8_t *p, const struct scps_nbrmsg *m);

#endif
