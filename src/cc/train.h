/* SPDX-License-Identifier: MIT */
/* Measures the bottleneck by a train of acknowledgements (ACKs that follow each other closely), in
 * the middle of a slow-start round. `took` is the time from the first to the latest ACK of a train,
 * `bytes` what these ACKs acknowledge, `base` the RTT of the path without a queue.
 *
 *      ______________            ____________________________
 *  ___||||||||||||||||__________||||||||||||||||||||||||||||||___  ACKs: one train a round trip,
 *     <--- took ----->                                             each longer, all at the
 *     <--------- base --------->                                   bottleneck's rate
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

/* Called for each ACK. bytes: payload bytes that the ACK newly acknowledges; rtt: RTT of the newest
 * of them, µs (<= 0: unknown); base: RTT of the path without a queue, µs. Returns true when at
 * least 8 ACKs have followed each other closely and show more than `queue` bytes waiting in a
 * queue; then *carried is the number of bytes that the bottleneck carries in a time of base.
 * Returns false otherwise. */
bool scps_train_on_ack(struct scps_ack_train *tr, scps_time now, uint64_t bytes, scps_dur rtt,
                       scps_dur base, uint64_t queue, uint64_t *carried);

/* State for a slow start that grows much faster than doubling (Hybla, Vegas with ss=2). Such a slow
 * start must know ssthresh before the window reaches it, and must not put the whole window into the
 * queue. The first train of ACKs (ACKs that follow each other closely) whose segments waited in a
 * queue gives ssthresh. From then until a round trip after the window has reached ssthresh, the
 * window is sent at the bottleneck's rate. */
struct scps_ack_train_ss {
    struct scps_ack_train train;
    uint8_t paced; /* number of round trips left in which ctl->rate stays the bottleneck's rate */
};

/* Called on every ACK before the other functions: counts down q->paced at each new round trip once
 * cwnd has reached ssthresh, and after the last of these round trips sets ctl->rate to 0 (no
 * rate). */
void scps_train_ss_round(struct scps_ack_train_ss *q, const struct scps_cc_ack *a,
                         struct scps_cc_ctl *ctl);
/* Called on every ACK of a slow start while ssthresh is unlimited: when a train of ACKs shows what
 * the bottleneck carries, sets ctl->ssthresh and ctl->rate. base: RTT of the path without a queue,
 * µs; queue: a train counts only if its RTTs show that more than this many bytes wait in the
 * bottleneck's queue. */
void scps_train_ss_estimate(struct scps_ack_train_ss *q, const struct scps_cc_view *v,
                            const struct scps_cc_ack *a, scps_dur base, uint64_t queue,
                            struct scps_cc_ctl *ctl);
/* Called at a loss, a timeout or a change of path: discards the train in progress, and the rate of
 * the bottleneck that an earlier train has shown: if ctl->rate is that rate, sets it to 0 (no
 * rate), so that the window alone limits sending. */
void scps_train_ss_forget(struct scps_ack_train_ss *q, struct scps_cc_ctl *ctl);

#endif
