/* SPDX-License-Identifier: MIT */
/* Computes how many bytes a packet takes on the line with the framing of the link, such as PPP or
 * AAL5. */
#ifndef SCPS_SIM_FRAMING_H
#define SCPS_SIM_FRAMING_H

#include <scps/sim.h>

/* Returns the number of bytes that packet pkt takes on the line with framing f, without the
 * `overhead` of the link's configuration. *carry keeps the fraction of a byte that remains for the
 * next packet; the caller sets it to 0 before the first packet. */
uint32_t scps_framing_bytes(enum scps_framing f, const struct scps_pkt *pkt, uint64_t *carry);

#endif
