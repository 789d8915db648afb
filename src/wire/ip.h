/* SPDX-License-Identifier: MIT */
/* A function of the IP parser that only the ICMP parser uses. */
#ifndef SCPS_WIRE_IP_H
#define SCPS_WIRE_IP_H

#include <scps/wire.h>

/* Parses the IP header of a packet quoted in an ICMP error. Its total length may exceed the quote,
 * and its checksum is not verified, since routers have changed the TTL and sometimes more. */
int scps_ip_parse_quote(const uint8_t *p, size_t avail, struct scps_ip *ip);

#endif
