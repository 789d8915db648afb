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
    /* doubts: number of acknowledgements in a row of which it is unknown whether they are for the
     * first transmission of a segment or for a retransmission (sample.c, doubt()); after 8 it
     * continues with 5. doubted: the shortest time, µs, from a first transmission to an
     * acknowledgement, among the acknowledgements of the present group of four; valid while doubts
     * is not 0. doubted_before: the same of the group of four before; valid while doubts is above
     * 4. */
    uint8_t doubts;
    /* true: an RTT was guessed since the last certain one (of a segment that was sent once, or by a
     * timestamp echo that shows which transmission arrived): the time from the first transmission
     * of resent data to an acknowledgement without a timestamp echo has counted as an RTT sample */
    bool guessed;
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
/* Returns the RTT, µs, when some of the acknowledged data was resent; -1: it cannot be known. Only
 * the timestamp echo shows which transmission is acknowledged (RFC 7323 section 4). But a duplicate
 * is answered with the timestamp of an earlier segment, however old (RFC 7323 section 4.3). A peer
 * that sends DSACK (RFC 2883) reports such a duplicate; otherwise the acknowledgement is taken to
 * be for the last retransmission, unless it came sooner than the least round trip. From a peer that
 * is not known to send DSACK, an echo older than the last retransmission of the data that moved
 * SND.UNA gives no sample. Neither does one older than the first transmission
 * (scps_recovery_echo_is_stale). */
scps_dur scps_sample_resent(const struct scps_sample_view *v, const struct scps_seg *seg,
                            const struct scps_ack_result *sum);
/* Takes an RTT sample, µs (-1: none). by_clock: it comes from a timestamp echo. a->rtt: RTT of the
 * arrived segment that was sent last, µs; -1: not known. A sample that is longer than the
 * retransmission timeout and began before the end of an outage measures the outage, not the path,
 * and is dropped; RTTs of that kind in *a become -1, so that the congestion controller does not
 * take the outage for a queueing delay. */
void scps_sample_take(struct scps_tx *tx, const struct scps_conn_ctx *x, struct scps_rtt *rtt,
                      scps_dur sample, bool by_clock, struct scps_cc_ack *a);
/* Best effort: takes the age of the timestamp echo, µs (-1: none), of an acknowledgement of data
 * that was given up, as an RTT sample of resent data (RFC 6298, last note of section 5). If several
 * such acknowledgements come in a row, the retransmission timer is shorter than the round trip and
 * gives up each segment before its acknowledgement can arrive. */
void scps_sample_late(struct scps_tx *tx, const struct scps_conn_ctx *x, struct scps_rtt *rtt,
                      scps_dur echo);
/* Discards the delivery-rate sample *a of resent segment r if the acknowledgement may be for an
 * earlier transmission of r, because the acknowledgement came within the least round trip after the
 * last transmission, or its timestamp echo is older than the last transmission. */
void scps_sample_doubt(const struct scps_rtt *rtt, scps_time now, scps_dur echo,
                       const struct scps_sent_segment *r, struct scps_cc_ack *a);

#endif
