/* SPDX-License-Identifier: MIT */
/* The fate of a packet of a link direction (linkfate.c). */
#ifndef SCPS_SIM_LINKFATE_H
#define SCPS_SIM_LINKFATE_H

#include "sim/link.h"

/* Counts a packet that met this fate. */
void scps_linkfate_count(struct scps_linkdir *d, enum scps_fate fate);
/* The packet is lost before it gets onto the line: counts it and tells the verdict. number is its
 * place among all packets offered, offered the time at which it came. */
void scps_linkfate_refuse(struct scps_linkdir *d, scps_time offered, uint64_t number,
                          const struct scps_pkt *pkt, enum scps_fate fate);
/* The packet of a record that waits, its bytes lent. */
struct scps_pkt scps_linkfate_packet(struct scps_link_record *r);
/* The number of the record's packet among all that were offered. */
uint64_t scps_linkfate_number(const struct scps_linkdir *d, const struct scps_link_record *r);
/* The record at the line has left it: its first bit at first, its last at end; s is its size.
 * Settles its fate and arrival and tells the verdict. */
void scps_linkfate_settle(struct scps_linkdir *d, struct scps_link_record *r,
                          const struct scps_link_size *s, scps_time first, scps_time end);

#endif
