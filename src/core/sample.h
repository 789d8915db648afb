/* SPDX-License-Identifier: MIT */
/* Decides which RTT samples an acknowledgement gives (RFC 6298, RFC 7323).
 *
 * Invariant: if some of the acknowledged data was resent, a sample is taken only with evidence of
 * which transmission arrived.
 */
#ifndef SCPS_CORE_SAMPLE_H
#define SCPS_CORE_SAMPLE_H

#include <scps/cc.h>
#include <scps/wire.h>

#include "core/agreed.h"
#include "core/rto.h"
#include "core/rtt.h"
#include "core/scoreboard.h"
#include "core/ts.h"

struct scps_tx;

struct scps_sample {
    /* Number of acknowledgements of resent data in a row of which it is unknown which transmission
     * they are for (doubt() in sample.c); a certain RTT sets it to 0. They are counted in groups of
     * four: 1 to 4 is the first group, 5 to 8 any later one, so that 8 is followed by 5. */
    uint8_t doubts;
    /* true: an RTT was guessed since the last certain one (of a segment that was sent once, or by a
     * timestamp echo that shows which transmission arrived): the time from the first transmission
     * of resent data to an acknowledgement without a timestamp echo has counted as an RTT sample */
    bool guessed;
    /* doubted: the shortest time, µs, from a first transmission to an acknowledgement, among the
     * acknowledgements of the present group of four (`doubts`); valid while doubts is not 0.
     * doubted_before: the same of the group before; valid while doubts is above 4. */
    scps_dur doubted, doubted_before;
};

struct scps_sample_view {
    const struct scps_conn_ctx *x;
    struct scps_tx *tx;
    const struct scps_rtt *rtt;
    const struct scps_agreed *agreed;
    const struct scps_ts *ts;
    scps_off was; /* SND.UNA before the acknowledgement was processed */
    bool dsacks;  /* true: the peer has sent a DSACK (RFC 2883), so it reports duplicates */
};

/* Called when an RTT is certain, because it is known which transmission arrived: restarts the count
 * of doubtful acknowledgements (scps_sample.doubts). */
static inline void scps_sample_sure(struct scps_sample *s)
{
    s->doubts = 0;
    s->guessed = false;
}
/* Called in place of scps_sample_sure() when the RTT of a segment that was sent once is taken:
 * that RTT replaces an SRTT that is from a guess, instead of being averaged with it. */
static inline void scps_sample_certain(struct scps_sample *s, struct scps_rtt *rtt)
{
    if (s->guessed) {
        scps_rtt_forget(rtt);
        s->guessed = false;
    }
    s->doubts = 0;
}
/* Called when SND.UNA advances and no segment that was sent once gives an RTT, as some of the
 * acknowledged data was resent. Returns the RTT, µs; -1: it cannot be known.
 * - With a timestamp echo (TSecr) and no DSACK (RFC 2883) of octets not reported before: returns
 *   the age of the echo (RFC 7323 section 4). But a duplicate is answered with the timestamp of an
 *   earlier segment, however old (RFC 7323 section 4.3), and a peer that has never sent a DSACK may
 *   have answered one. From such a peer an echo that is older than the last retransmission of the
 *   data that moved SND.UNA counts as doubtful.
 * - With an echo and such a DSACK, which shows that the peer answers a duplicate: doubtful.
 * - Of doubtful acknowledgements the fourth in a row, and each later one, gives the shortest age of
 *   the last ones (doubt() in sample.c).
 * - Without an echo, or with one older than the first transmission (scps_recovery_echo_is_stale):
 *   may return a guess after several timeouts (guess() in sample.c).
 * - If none of these gives an RTT, and such a DSACK is for the segment that was sent last of those
 *   that arrived: returns the time since its last retransmission, unless that is below the minimum
 *   RTT. */
scps_dur scps_sample_resent(const struct scps_sample_view *v, const struct scps_seg *seg,
                            const struct scps_ack_result *sum);
/* Takes an RTT sample, µs (-1: none). by_clock: it comes from a timestamp echo. a->rtt: RTT of the
 * arrived segment that was sent last, µs; -1: not known. A sample that is longer than the
 * retransmission timeout and began before the end of an outage measures the outage, not the path,
 * and is dropped; RTTs of that kind in *a become -1, so that the congestion controller does not
 * take the outage for a queueing delay. */
void scps_sample_take(struct scps_tx *tx, const struct scps_conn_ctx *x, struct scps_rtt *rtt,
                      scps_dur sample, bool by_clock, struct scps_cc_ack *a);
/* Best effort: called when the peer acknowledges data that this end has given up already. echo:
 * time, µs, since the segment was sent whose timestamp the acknowledgement echoes (-1: none). Four
 * such acknowledgements in a row show that the retransmission timer is shorter than the round trip
 * and gives up each segment before its acknowledgement can arrive. From the fourth on, the shortest
 * of the last four to eight ages counts as an RTT sample, which ends the backoff (RFC 6298 section
 * 5), unless it spans an outage. Fewer than four have no effect. */
void scps_sample_late(struct scps_tx *tx, const struct scps_conn_ctx *x, struct scps_rtt *rtt,
                      scps_dur echo);
/* Discards the delivery-rate sample *a of resent segment r if the acknowledgement may be for an
 * earlier transmission of r, because the acknowledgement came within the least round trip after the
 * last transmission, or its timestamp echo is older than the last transmission. */
void scps_sample_doubt(const struct scps_rtt *rtt, scps_time now, scps_dur echo,
                       const struct scps_sent_segment *r, struct scps_cc_ack *a);
/* Called for the first acknowledgement after a timeout that reports an arrival. resent:
 * scps_ack_result.refilled_at, the time, µs, of the last transmission of the segment that was
 * outstanding at SND.UNA; 0: SND.UNA has not passed it, so that it is the oldest in the scoreboard,
 * or SND.UNA has passed only segments that were sent once, which give an RTT sample.
 * Counts the timeout in scps_rto.answered if the acknowledgement shows that the RTO is shorter than
 * the round trip: it comes sooner after that transmission than the minimum RTT, so it is for an
 * earlier one; or later than the RTO without backoff. The timeout also counts if the minimum RTT is
 * not known, or if a DSACK since the last RTT sample has reported a needless retransmission.
 * Otherwise the acknowledgement is taken for one of the last transmission, and the earlier ones for
 * lost. Only timeouts since the last RTT sample count. */
void scps_sample_answered(struct scps_tx *tx, const struct scps_rtt *rtt, scps_time now,
                          scps_time resent);

#endif
