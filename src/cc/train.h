/* SPDX-License-Identifier: MIT */
/* Measures the bottleneck by a train of acknowledgements, in the middle of a slow-start round.
 *
 *     ______________          ____________________________
 *  __|||||||||||||||________||||||||||||||||||||||||||||||___  ACKs: one train a round trip, each
 *     <-- took -->   <------ base ----->                       longer, all at the bottleneck's rate
 *
 * A window without pacing sends two segments for each acknowledged and so builds a queue half as
 * long as the train: no RTT of that round tells it from a standing one. But the train itself comes
 * at the rate of the bottleneck, bytes/took; what the path carries in a round trip is that rate
 * times base, known long before the window gets there. A paced sender's train comes at the sender's
 * own rate and shows nothing of the bottleneck. Then there is no queue either, so a queue is
 * required as a second sign.
 */
#ifndef SCPS_CC_TRAIN_H
#define SCPS_CC_TRAIN_H

#include <scps/cc.h>

struct scps_ack_train {
    scps_time began, last;
    uint64_t bytes;
    scps_dur rtt; /* RTT that the ACK before reported */
    uint32_t acks;
};

void scps_train_forget(struct scps_ack_train *tr);

/* Call it for each ACK: it covers `bytes`, the newest of which had `rtt` (<= 0: unknown), on a
 * path of round trip base. Returns true when the train is long enough and more than `queue`
 * bytes wait in the path: *carried is then what the bottleneck carries in a round trip. */
bool scps_train_tells(struct scps_ack_train *tr, scps_time now, uint64_t bytes, scps_dur rtt,
                      scps_dur base, uint64_t queue, uint64_t *carried);

/* A slow start much faster than doubling must know where to stop before it gets there, and must not
 * let the queue hold the whole window on the way. The first train of ACKs behind which segments
 * queue gives the threshold, and until a round trip after it is reached the window leaves at the
 * bottleneck's rate. */
struct scps_ack_train_ss {
    struct scps_ack_train train;
    uint8_t paced; /* rounds for which the rate still holds */
};

/* Call it first on every ACK: ends the rate when its time is over. */
void scps_quick_round(struct scps_ack_train_ss *q, const struct scps_cc_ack *a,
                      struct scps_cc_ctl *ctl);
/* Call it on every ACK of a slow start without a threshold: sets threshold and rate when the train
 * shows them. */
void scps_quick_estimate(struct scps_ack_train_ss *q, const struct scps_cc_view *v,
                         const struct scps_cc_ack *a, scps_dur base, uint64_t queue,
                         struct scps_cc_ctl *ctl);
/* Ends the estimate at a loss, a timeout or a change of path. */
void scps_quick_forget(struct scps_ack_train_ss *q, struct scps_cc_ctl *ctl);

#endif
