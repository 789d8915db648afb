/* SPDX-License-Identifier: MIT */
/* The loss rules that need no timer.  They know the scoreboard, and report through the sum. */
#ifndef SCPS_CORE_LOSS_H
#define SCPS_CORE_LOSS_H

#include "core/rtt.h"
#include "core/scoreboard.h"

/* First sendings (RFC 6675 IsLost). tail: nothing more is to be sent. Those below `from` are passed
 * over: there the receiver names its holes itself. */
void scps_loss_by_order(struct scps_scoreboard *sb, unsigned dupthresh, bool tail, scps_off from,
                        struct scps_ack_result *sum);
/* Segments sent again at or before `then`, by what was sent later and has arrived. */
void scps_loss_of_resent(struct scps_scoreboard *sb, unsigned dupthresh, bool tail, scps_time then,
                         struct scps_ack_result *sum);
/* The oldest segment is lost if it is older than a round trip and its spread:
 * scps_cc_ops.by_age. */
void scps_loss_by_age(struct scps_scoreboard *sb, const struct scps_rtt *rtt, scps_time now,
                      struct scps_ack_result *sum);

#endif
