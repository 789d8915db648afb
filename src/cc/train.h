/* SPDX-License-Identifier: MIT */
/* Measures the bottleneck by a train of acknowledgements, in the middle of a slow-start round.
 *
 *     ______________          ____________________________
 *  __|||||||||||||||________||||||||||||||||||||||||||||||___  ACKs: one train a round trip, each
 *     <-- took -->   <------ base ----->                       longer, all at the bottleneck's rate
 *
 * A sender without pacing sends two segments for each one acknowledged, and so builds a queue half
 * as long as the train; no RTT of that round distinguishes it from a permanent queue. But the train
 * itself arrives at the rate of the bottleneck, bytes/took. That rate times `base` is what the path
 * carries in a round trip, known long before the window reaches it. A paced sender's train arrives
 * at the sender's own rate and does not show the bottleneck, but then there is no queue either. So
 * a train counts only if there is a queue, too.
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

/* Called for each ACK. bytes: bytes that it covers; rtt: RTT of the newest of them, µs (<= 0:
 * unknown); base: round trip of the path, µs. Returns true when the train is long enough and more
 * than `queue` bytes wait in the path; then *carried is what the bottleneck carries in a round
 * trip, bytes. */
bool scps_train_on_ack(struct scps_ack_train *tr, scps_time now, uint64_t bytes, scps_dur rtt,
                       scps_dur base, uint64_t queue, uint64_t *carried);

/* State that gives ssthresh to a slow start that grows much faster than doubling. Such a slow start
 * must know its end before it gets there, and must not put the whole window into the queue. The
 * first train of ACKs whose segments waited in a queue gives the threshold. From then until a round
 * trip after the threshold is reached, the window is sent at the bottleneck's rate. */
struct scps_ack_train_ss {
    struct scps_ack_train train;
    uint8_t paced; /* number of further round trips for which the bottleneck's rate applies */
};

/* Called first on every ACK: counts the round trips for which ctl->rate is the bottleneck's rate,
 * and sets ctl->rate to 0 (none) after the last of them. */
void scps_train_ss_round(struct scps_ack_train_ss *q, const struct scps_cc_ack *a,
                         struct scps_cc_ctl *ctl);
/* Called on every ACK of a slow start without a threshold: sets ssthresh and the rate when a train
 * of ACKs shows them. */
void scps_train_ss_estimate(struct scps_ack_train_ss *q, const struct scps_cc_view *v,
                            const struct scps_cc_ack *a, scps_dur base, uint64_t queue,
                            struct scps_cc_ctl *ctl);
/* Called at a loss, a timeout or a change of path: discards the measured rate. */
void scps_train_ss_forget(struct scps_ack_train_ss *q, struct scps_cc_ctl *ctl);

#endif
