/* SPDX-License-Identifier: MIT */
/* Corruption experienced (TCP option 23), the receiving side: decides which acknowledgements report
 * to the peer that segments of the peer arrived damaged.
 *
 * Invariant: acknowledgements carry the option until the time `until`, and after it while `acks` is
 * not 0.
 */
#ifndef SCPS_CORE_CORRUPTION_H
#define SCPS_CORE_CORRUPTION_H

#include "core/rtt.h"

struct scps_corruption {
    /* time, µs, up to which every acknowledgement to the peer carries the option; 0: none yet */
    scps_time until;
    /* number of further acknowledgements that must carry the option (corruption experienced) to the
     * peer even after the time `until`; 0: none */
    uint8_t acks;
};

/* Called when the program that passes packets to the stack reports, by SCPS_SIGNAL_DAMAGED, that
 * segments of the peer arrived damaged. until: time, µs, up to which acknowledgements carry the
 * option corruption experienced (kind 23), which informs the peer of the damage; 0: for one round
 * trip. */
void scps_corruption_felt(struct scps_corruption *co, const struct scps_rtt *rtt, scps_time now,
                          scps_time until);
/* Returns true if the acknowledgement that is sent now must carry the option (corruption
 * experienced), and counts that acknowledgement. */
bool scps_corruption_must_send(struct scps_corruption *co, scps_time now);

#endif
