/* SPDX-License-Identifier: MIT */
/* Measures the bottleneck by trains of acknowledgements (train.h). The use of packet trains to
 * measure capacity goes back to Jain and Routhier (1986); HyStart's first version (Ha and Rhee,
 * 2008) ended slow start by the length of a train. */
#include "cc/train.h"

#include "base/bytes.h"
#include "base/wide.h"

/* A gap between two ACKs of more than a quarter of the path's round trip `base`, or of more than
 * four times the mean gap, ends a train; the next train begins with the ACK after the gap.
 * TRAIN_ACKS: number of ACKs from which on the rate of a train is computed. */
enum { TRAIN_ACKS = 8 };

void scps_train_forget(struct scps_ack_train *tr)
{
    tr->acks = 0;
}

bool scps_train_on_ack(struct scps_ack_train *tr, scps_time now, uint64_t bytes, scps_dur rtt,
                       scps_dur base, uint64_t queue, uint64_t *carried)
{
    scps_dur gap = now - tr->last;
    scps_dur mean = tr->acks > 1 ? (tr->last - tr->began) / (tr->acks - 1) : 0;

    tr->last = now;
    if (!tr->acks || gap > base / 4 || (tr->acks > 1 && gap > SCPS_MAX(4 * mean, base / 64))) {
        *tr = (struct scps_ack_train){.began = now, .last = now, .acks = 1};
        return false;
    }
    /* The gap between the first two ACKs is more than four times the gap between the second and the
     * third, so the first one was a delayed ACK of earlier data, and the train begins with the
     * second one. */
    if (tr->acks == 2 && 4 * gap < mean)
        *tr = (struct scps_ack_train){.began = now - gap, .last = now, .acks = 1};
    tr->bytes += bytes;
    tr->acks++;
    scps_dur took = now - tr->began;
    /* The smaller of the RTTs of this ACK and the previous one counts, because a single ACK that
     * was late because of the receiver's delayed-ACK timer does not show a queue. */
    scps_dur least = SCPS_MIN(rtt, tr->rtt);
    tr->rtt = rtt;
    if (tr->acks < TRAIN_ACKS || took <= 0 || base <= 0 || least <= base)
        return false;
    if (scps_muldiv(tr->bytes, (uint64_t)(least - base), (uint64_t)took) <= queue)
        return false;
    *carried = scps_muldiv(tr->bytes, (uint64_t)base, (uint64_t)took);
    return true;
}

void scps_train_ss_round(struct scps_ack_train_ss *q, const struct scps_cc_ack *a,
                         struct scps_cc_ctl *ctl)
{
    if (a->round_start && q->paced && ctl->cwnd >= ctl->ssthresh && !--q->paced)
        ctl->rate = 0;
}

void scps_train_ss_estimate(struct scps_ack_train_ss *q, const struct scps_cc_view *v,
                            const struct scps_cc_ack *a, scps_dur base, uint64_t queue,
                            struct scps_cc_ctl *ctl)
{
    uint64_t carried;

    if (!scps_train_on_ack(&q->train, v->now, a->bytes, a->rtt, base, queue, &carried))
        return;
    ctl->ssthresh = SCPS_MAX(carried + queue, 2 * (uint64_t)v->mss);
    ctl->cwnd = SCPS_MIN(ctl->cwnd, ctl->ssthresh);
    /* `carried` counts payload, but a rate counts headers, too, so a sixteenth is added for
     * them. */
    ctl->rate = scps_muldiv(carried + carried / 16, 1000000, (uint64_t)base);
    q->paced = 2;
}

void scps_train_ss_forget(struct scps_ack_train_ss *q, struct scps_cc_ctl *ctl)
{
    scps_train_forget(&q->train);
    if (q->paced)
        ctl->rate = 0;
    q->paced = 0;
}
