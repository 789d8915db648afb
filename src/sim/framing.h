/* SPDX-License-Identifier: MIT */
/* What a packet weighs on the line. */
#ifndef SCPS_SIM_FRAMING_H
#define SCPS_SIM_FRAMING_H

#include <scps/sim.h>

/* Bytes on the line of this packet with everything but config.overhead. *carry keeps what is less
 * than a byte for the next one; 0 to begin with. */
uint32_t scps_framing_bytes(enum scps_framing f, const struct scps_pkt *pkt, uint64_t *carry);

#endif
