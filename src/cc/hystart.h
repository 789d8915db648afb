/* SPDX-License-Identifier: MIT */
/* HyStart++ (RFC 9406): leave slow start when the round trip grows, and make sure before it is
 * final.
 *
 *    slow start --- RTT of this round up by an eighth ---> conservative slow start, a quarter as
 *        ^                                                    |  fast |
 *        +--------- RTT fell below that again ----------------+       +-- five rounds --> avoidance
 */
#ifndef SCPS_CC_HYSTART_H
#define SCPS_CC_HYSTART_H

#include <scps/cc.h>

/* µs in 32 bits: no growth is seen beyond 71 minutes, and every connection carries this */
struct scps_hystart {
    /* lowest RTT of the last and of this round; 0: none yet. baseline 0: not in conservative slow
     * start */
    uint32_t last_min, min, baseline;
    uint8_t samples, css_rounds;
};

/* Call it on every ACK of slow start. Returns the divisor of growth: 1 in slow start, 4 in
 * conservative slow start, 0 when slow start is over. */
unsigned scps_hystart_ack(struct scps_hystart *hs, const struct scps_cc_ack *a);

#endif
