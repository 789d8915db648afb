/* SPDX-License-Identifier: MIT */
/* Computes how many bytes a packet takes on the line with the framing of the link, such as PPP or
 * AAL5. */
#ifndef SCPS_SIM_FRAMING_H
#define SCPS_SIM_FRAMING_H

#include <scps/sim.h>

/* Returns the bytes on the line of this packet, all but config.overhead. *carry keeps fractions of
 * a byte for the next packet; start with 0. */
uint32_t scps_framing_bytes(enum scps_framing f, const struct scps_pkt *pkt, uint64_t *carry);

#endif
