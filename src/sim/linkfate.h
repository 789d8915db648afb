/* SPDX-License-Identifier: MIT */
/* Determines what happens to a packet on one direction of a simulated link: lost, damaged, delayed,
 * duplicated or delivered. */
#ifndef SCPS_SIM_LINKFATE_H
#define SCPS_SIM_LINKFATE_H

#include "sim/link.h"

/* Counts a packet whose fate has been decided in the statistics of direction d. */
void scps_linkfate_count(struct scps_linkdir *d, enum scps_fate fate);
/* Counts a packet that is lost before it is sent on the line, and passes its fate to the
 * direction's observer, if any (scps_channel_observe()). number: its number among all packets
 * offered; offered: the time of offering, µs. */
void scps_linkfate_refuse(struct scps_linkdir *d, scps_time offered, uint64_t number,
                          const struct scps_pkt *pkt, enum scps_fate fate);
/* Returns the packet of record r, which waits in the queue. Its bytes are in the record or in a
 * buffer of d that the next call overwrites. */
struct scps_pkt scps_linkfate_packet(struct scps_linkdir *d, struct scps_link_record *r);
/* Returns the number of the packet of record r, counted from 1 among all packets that were offered
 * to d. */
uint64_t scps_linkfate_number(const struct scps_linkdir *d, const struct scps_link_record *r);
/* Determines fate and time of arrival of the packet of record r, which has just been put on the
 * line, and passes both to the direction's observer, if any. first, end: times at which its
 * transmission begins and ends, µs; s: size of its frame. */
void scps_linkfate_settle(struct scps_linkdir *d, struct scps_link_record *r,
                          const struct scps_link_size *s, scps_time first, scps_time end);

#endif
