/* SPDX-License-Identifier: MIT */
/* Trains of acknowledgements; see train.h. Packet trains as a measure of capacity go back to Jain and
 * Routhier (1986); HyStart's first form (Ha and Rhee, 2008) ended slow start on the length of one. */
#include "cc/train.h"

#include "base/bytes.h"

/* A gap of a quarter of base, or of four mean ones, ends a train; eight ACKs say enough of its rate. */
enum { TRAIN_ACKS = 8 };

void scps_train_forget(struct scps_train *tr)
{
    tr->acks = 0;
}

bool scps_train_tells(struct scps_train *tr, scps_time now, uint64_t bytes, scps_dur rtt,
                      scps_dur base, uint64_t queue, uint64_t *carried)
{
    scps_dur gap = now - tr->last;
    scps_dur mean = tr->acks > 1 ? (tr->last - tr->began) / (tr->acks - 1) : 0;

    tr->last = now;
    if (!tr->acks || gap > base / 4 || (tr->acks > 2 && gap > SCPS_MAX(4 * mean, base / 64))) {
        *tr = (struct scps_train){.began = now, .last = now, .acks = 1};
        return false;
    }
    tr->bytes += bytes;
    tr->acks++;
    scps_dur took = now - tr->began;
    if (tr->acks < TRAIN_ACKS || took <= 0 || base <= 0 || rtt <= base)
        return false;
    if (scps_muldiv(tr->bytes, (uint64_t)(rtt - base), (uint64_t)took) <= queue)
        return false;
    *carried = scps_muldiv(tr->bytes, (uint64_t)base, (uint64_t)took);
    return true;
}
