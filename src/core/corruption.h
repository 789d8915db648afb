/* SPDX-License-Identifier: MIT */
/* Corruption experienced (option 23), the receiving side: whether to report damage to the peer.
 *
 * Invariant: acknowledgements carry the option while `acks` is not 0, and until the time `until`.
 */
#ifndef SCPS_CORE_CORRUPTION_H
#define SCPS_CORE_CORRUPTION_H

#include "core/rtt.h"

struct scps_corruption {
    scps_time until;
    uint8_t acks; /* number of acknowledgements that must still carry the option */
};

/* Called when the driver reports that segments of the peer arrived damaged. until: time up to which
 * the option is sent, as in SCPS_SIGNAL_DAMAGED; 0: for one round trip. */
void scps_corruption_felt(struct scps_corruption *co, const struct scps_rtt *rtt, scps_time now,
                          scps_time until);
/* Returns true if the segment that is sent now must carry the option, and counts that segment. */
bool scps_corruption_must_send(struct scps_corruption *co, scps_time now);

#endif
