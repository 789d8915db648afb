/* SPDX-License-Identifier: MIT */
/* Loss detection by rules that need no timer.
 *
 * First transmissions (RFC 6675 section 4, IsLost): a segment is lost when dupthresh segments above
 * it have arrived. The frontier is the first segment for which that has not been decided. It moves
 * up the window once, and the number of arrived segments below it is stored, so the rule costs one
 * comparison. Where the path reorders, the frontier stops at a segment that may only be late
 * (reorder.c). When nothing more is to be sent, fewer than dupthresh segments may be above it, and
 * then the arrival of all of them suffices (early retransmit, RFC 5827 section 3.2).
 *
 * Resent segments: RFC 6675 leaves a lost retransmission to the timer, which takes too long on a
 * space link. Here a resent segment is lost again when a segment sent dupthresh or more
 * transmissions later has arrived. The queue of resent segments is in order of sending, so only its
 * front is examined. If earlier retransmissions proved needless, an arrival may be that of a
 * delayed first transmission, and each such arrival would cause everything resent before it to be
 * resent again: then a resent segment must have a certain age, too (scps_sb_resend_wait).
 *
 * At the end of the data (nothing more is to be sent) fewer than dupthresh segments follow the last
 * ones, so the first rule may not find them lost, and they would wait for the timer. RFC 6675
 * section 4, NextSeg (3) and (4), sends such segments again although IsLost does not hold. Here
 * they are lost as soon as a retransmission has arrived that was sent after the segment with the
 * highest offset.
 *
 * By age: Vegas (scps_cc_ops.by_age) checks the time since sending where other controllers wait for
 * a third duplicate acknowledgement.
 */
#include "core/loss.h"

#include "base/bytes.h"

static bool before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

/* Returns how many later segments must have arrived before a segment is lost: dupthresh; with
 * nothing more to send (tail), at most `later`, the number sent after it, and at least 1 (RFC
 * 5827). */
static uint32_t effective_dupthresh(unsigned dupthresh, bool tail, uint32_t later)
{
    return tail && later < dupthresh ? SCPS_MAX(later, 1u) : dupthresh;
}

void scps_loss_by_order(struct scps_scoreboard *sb, unsigned dupthresh, bool tail,
                        struct scps_loss_limits limits, struct scps_ack_result *sum)
{
    while (sb->frontier != sb->tail &&
           sb->arrived_recs - sb->arrived_below - sb->excused >=
               effective_dupthresh(dupthresh, tail, sb->tail - sb->frontier - 1)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, sb->frontier);
        if (r->state == SCPS_SENT_FLIGHT && !r->resends && r->from >= limits.from) {
            if (r->sent > limits.then)
                break;
            scps_sb_lose(sb, sb->frontier, sum);
        }
        scps_sb_pass(sb);
    }
}

void scps_loss_of_resent(struct scps_scoreboard *sb, unsigned dupthresh, bool tail, scps_time then,
                         struct scps_ack_result *sum)
{
    struct scps_resent e;

    for (; scps_sb_resent_front(sb, &e); scps_sb_resent_drop(sb)) {
        bool live = scps_sb_resent_live(sb, e);
        if (live && (before(sb->hi_xseq,
                            e.xseq + effective_dupthresh(dupthresh, tail, sb->xseq - e.xseq - 1)) ||
                     scps_sb_at(sb, e.idx)->sent > then))
            break;
        if (live)
            scps_sb_lose(sb, e.idx, sum);
    }
}

void scps_loss_of_overtaken(struct scps_scoreboard *sb, unsigned dupthresh, scps_off from,
                            scps_time then, struct scps_ack_result *sum)
{
    uint32_t last = scps_sb_at(sb, sb->tail - 1)->xseq;

    if (before(sb->hi_xseq, last + effective_dupthresh(dupthresh, true, sb->xseq - last - 1)))
        return;
    for (; sb->frontier != sb->tail; scps_sb_pass(sb)) {
        const struct scps_sent_segment *r = scps_sb_at(sb, sb->frontier);
        if (r->from < from || r->sent > then)
            break;
        if (!r->resends)
            scps_sb_lose(sb, sb->frontier, sum);
    }
}

/* Clock granularity G of RFC 6298 section 2, µs: 4 * RTTVAR counts as at least this, because RTTVAR
 * is 0 on a path with a constant RTT. */
#define CLOCK SCPS_MS(1)

void scps_loss_by_age(struct scps_scoreboard *sb, const struct scps_rtt *rtt, scps_time now,
                      struct scps_ack_result *sum)
{
    if (!rtt->srtt || sb->head == sb->tail)
        return;
    if (now - scps_sb_at(sb, sb->head)->sent > rtt->srtt + SCPS_MAX(4 * rtt->rttvar, CLOCK))
        scps_sb_lose(sb, sb->head, sum);
}
