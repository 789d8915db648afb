/* SPDX-License-Identifier: MIT */
/* What the ICMP parser needs of the IP parser beyond scps/wire.h. */
#ifndef SCPS_WIRE_IP_H
#define SCPS_WIRE_IP_H

#include <scps/wire.h>

/* Parses the header of a packet quoted in an ICMP error: its total length may exceed what is
 * quoted, and its checksum is not verified, since routers have changed the TTL and sometimes
 * more. */
int scps_ip_parse_quote(const uint8_t *p, size_t avail, struct scps_ip *ip);

#endif
