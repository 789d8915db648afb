/* SPDX-License-Identifier: MIT */
/* Measures the bottleneck by a train of acknowledgements, in the middle of a slow-start round.
 *
 *     ______________          ____________________________
 *  __|||||||||||||||________||||||||||||||||||||||||||||||___  ACKs: one train a round trip, each
 *     <-- took -->   <------ base ----->                       longer, all at the bottleneck's rate
 *
 * A sender without pacing sends two segments for each one acknowledged, and so builds a queue half
 * as long as the train: no RTT of that round distinguishes it from a permanent queue. But the train
 * itself arrives at the rate of the bottleneck, bytes/took. That rate times base is what the path
 * carries in a round trip, known long before the window reaches it. A paced sender's train arrives
 * at the sender's own rate and does not show the bottleneck. Then there is no queue either, so a
 * queue is required as a second sign.
 */
#ifndef SCPS_CC_TRAIN_H
#define SCPS_CC_TRAIN_H

#include <scps/cc.h>

struct scps_ack_train {
    scps_time began, last;
    uint64_t bytes;
    scps_dur rtt; /* RTT of the previous ACK, µs */
    uint32_t acks;
};

void scps_train_forget(struct scps_ack_train *tr);

/* Call it for each ACK, which covers `bytes` bytes, the newest of which had the RTT `rtt` (<= 0:
 * unknown), on a path with the round trip `base`, µs. Returns true when the train is long enough
 * and more than `queue` bytes wait in the path: *carried is then what the bottleneck carries in a
 * round trip, bytes. */
bool scps_train_tells(struct scps_ack_train *tr, scps_time now, uint64_t bytes, scps_dur rtt,
                      scps_dur base, uint64_t queue, uint64_t *carried);

/* A threshold for slow starts that grow much faster than doubling. Such a slow start must know its
 * end before it gets there, and must not put the whole window into the queue. The first train of
 * ACKs whose segments waited in a queue gives the threshold, and until a round trip after the
 * threshold is reached the window is sent at the bottleneck's rate. */
struct scps_ack_train_ss {
    struct scps_ack_train train;
    uint8_t paced; /* number of rounds for which the rate still applies */
};

/* Call it first on every ACK: ends the rate when its rounds are over. */
void scps_quick_round(struct scps_ack_train_ss *q, const struct scps_cc_ack *a,
                      struct scps_cc_ctl *ctl);
/* Call it on every ACK of a slow start without a threshold: sets threshold and rate when a train
 * shows them. */
void scps_quick_estimate(struct scps_ack_train_ss *q, const struct scps_cc_view *v,
                         const struct scps_cc_ack *a, scps_dur base, uint64_t queue,
                         struct scps_cc_ctl *ctl);
/* Ends the estimate at a loss, a timeout or a change of path. */
void scps_quick_forget(struct scps_ack_train_ss *q, struct scps_cc_ctl *ctl);

#endif
