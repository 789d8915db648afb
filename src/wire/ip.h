/* SPDX-License-Identifier: MIT */
/* Declares the three functions of the IP parser that are not part of the public interface
 * <scps/wire.h>: scps_ip_parse_quote() parses the IP header quoted in an ICMP error,
 * scps_ip_extension_forbids() returns the reason if a host must discard a packet because of an IPv6
 * extension header, and scps_ip_route_goes_on() tests for an IPv4 source route not completed. */
#ifndef SCPS_WIRE_IP_H
#define SCPS_WIRE_IP_H

#include <scps/wire.h>

/* Parses into *ip the IP header of a packet that an ICMP error quotes; avail: quoted octets at p.
 * The total length in the header may exceed the quote, and the header checksum is not verified,
 * since routers have changed the TTL and sometimes more. Returns 0 or the scps_drop. */
int scps_ip_parse_quote(const uint8_t *p, size_t avail, struct scps_ip *ip);
/* Returns the scps_drop of the IPv6 packet at p, whose extension headers scps_ip_parse() has
 * skipped, if a host must discard the packet because of one of them; otherwise 0. They are:
 * - an option that is not known here, with a type whose highest two bits are not 00 (RFC 8200
 *   section 4.2), or an option that is longer than its header: SCPS_DROP_UNKNOWN_PROTOCOL;
 * - a Routing header with segments left: no type is known here (section 4.4, and RFC 5095 section 3
 *   for type 0): SCPS_DROP_NOT_OURS;
 * - a Hop-by-Hop Options header that does not follow the IPv6 header (section 4.1):
 *   SCPS_DROP_UNKNOWN_PROTOCOL. */
int scps_ip_extension_forbids(const uint8_t *p, const struct scps_ip *ip);
/* Returns true if the options of the IPv4 packet at p, whose header scps_ip_parse() has read,
 * contain a source route that is not completed, loose or strict: this host is not the packet's
 * final destination (RFC 791 section 3.1, RFC 1122 section 3.2.1.8). */
bool scps_ip_route_goes_on(const uint8_t *p, const struct scps_ip *ip);

#endif
