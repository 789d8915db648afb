/* SPDX-License-Identifier: MIT */
/* Corruption experienced (option 23), the receiving side: is the peer to be told of damage?
 *
 * Invariant: an acknowledgement says so while acks is not 0 and until `until`.
 */
#ifndef SCPS_CORE_CORRUPTION_H
#define SCPS_CORE_CORRUPTION_H

#include "core/rtt.h"

struct scps_corruption {
    scps_time until;
    uint8_t acks; /* so many acknowledgements say it at least */
};

/* Segments of the peer's were damaged. until: as SCPS_SIGNAL_DAMAGED has it; 0: a round trip. */
void scps_corruption_felt(struct scps_corruption *co, const struct scps_rtt *rtt, scps_time now,
                          scps_time until);
/* Is the segment that leaves now to say so? It counts as said. */
bool scps_corruption_tell(struct scps_corruption *co, scps_time now);

#endif
