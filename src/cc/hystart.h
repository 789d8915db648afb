/* SPDX-License-Identifier: MIT */
/* HyStart++ (RFC 9406): ends slow start when the round trip grows, after a check that the growth
 * persists.
 *
 *    slow start --- RTT of this round up by an eighth ---> conservative slow start, a quarter as
 *        ^                                                    |  fast |
 *        +--------- RTT fell below that again ----------------+       +-- five rounds --> avoidance
 */
#ifndef SCPS_CC_HYSTART_H
#define SCPS_CC_HYSTART_H

#include <scps/cc.h>

/* State of HyStart++. Times are in µs with 32 bits, to save memory in every connection; RTTs above
 * 71 minutes all count as 71 minutes. */
struct scps_hystart {
    /* last_min, min: lowest RTT of the previous and of the present round trip, µs; 0: no sample
     * yet. baseline: lowest RTT of the round trip in which conservative slow start began, µs; 0:
     * conservative slow start is not in progress. */
    uint32_t last_min, min, baseline;
    uint8_t samples, css_rounds;
};

/* Called on every ACK in slow start. Returns the number by which the growth of the window is to be
 * divided: 1 in slow start, 4 in conservative slow start (CSS); 0: slow start must end now. */
unsigned scps_hystart_ack(struct scps_hystart *hs, const struct scps_cc_ack *a);

#endif
