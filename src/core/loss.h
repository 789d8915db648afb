/* SPDX-License-Identifier: MIT */
/* Loss detection of the sender without timers: by the number of later segments that have arrived
 * (RFC 6675 IsLost, and its like for resent segments and for the end of the data), and by age for
 * Vegas. RACK is in rack.h. Each rule reads the scoreboard, marks segments in it as lost, and adds
 * their bytes to *sum, the result of the acknowledgement that is being processed. */
#ifndef SCPS_CORE_LOSS_H
#define SCPS_CORE_LOSS_H

#include "core/rtt.h"
#include "core/scoreboard.h"

struct scps_loss_limits {
    /* Segments below `from` are skipped, because the receiver's SNACK reports the holes there. */
    scps_off from;
    /* Segments that were sent after this time, µs, may only be late, and are not lost yet. */
    scps_time then;
};
/* Applies RFC 6675 IsLost to segments that were sent once. tail: nothing more is to be sent. */
void scps_loss_by_order(struct scps_scoreboard *sb, unsigned dupthresh, bool tail,
                        struct scps_loss_limits limits, struct scps_ack_result *sum);
/* Declares lost again the segments whose last transmission was a retransmission at the time `then`,
 * µs, or earlier, if a transmission has arrived that was sent later: the dupthresh-th one after it,
 * or one after that. tail: true if nothing more is to be sent; then the last transmission suffices
 * if fewer than dupthresh were sent later. */
void scps_loss_of_resent(struct scps_scoreboard *sb, unsigned dupthresh, bool tail, scps_time then,
                         struct scps_ack_result *sum);
/* Called when nothing more is to be sent: declares lost the segments from sb->frontier on that were
 * sent once, if a transmission has arrived that was sent after the segment with the highest offset:
 * the dupthresh-th one after it or a later one, or the last of all if they are fewer (RFC 6675
 * section 4, NextSeg (3) and (4)). Stops at the first segment that was sent after the time `then`,
 * µs, or begins below `from`, where the receiver's SNACKs report the holes. Precondition: something
 * is outstanding. */
void scps_loss_of_overtaken(struct scps_scoreboard *sb, unsigned dupthresh, scps_off from,
                            scps_time then, struct scps_ack_result *sum);
/* For a congestion controller that asks for it (scps_cc_ops.by_age: Vegas): declares the oldest
 * segment lost if it was sent more than SRTT + 4 RTTVAR ago. */
void scps_loss_by_age(struct scps_scoreboard *sb, const struct scps_rtt *rtt, scps_time now,
                      struct scps_ack_result *sum);

#endif
