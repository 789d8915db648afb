/* SPDX-License-Identifier: MIT */
/* Round trips: which of them an acknowledgement tells (RFC 6298, RFC 7323).
 *
 * Invariant: where some of what is acknowledged was resent, only what names the sending is taken.
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
    /* acknowledgements in a row that may answer the first sending, long ago, or a later one; and
     * the shortest of these times, valid while there are any */
    uint8_t doubts;
    scps_dur doubted;
};

struct scps_sample_view {
    const struct scps_conn_ctx *x;
    struct scps_tx *tx;
    const struct scps_rtt *rtt;
    const struct scps_agreed *agreed;
    const struct scps_ts *ts;
    bool dsacks; /* the peer has sent a DSACK, so it supports them */
};

/* A round trip is known for certain. */
static inline void scps_sample_sure(struct scps_sample *s)
{
    s->doubts = 0;
}
/* Returns the RTT when some of the acknowledged data was resent; -1: it cannot be known. Only
 * the timestamp echo tells which transmission is acknowledged (RFC 7323 section 4). But a
 * duplicate is answered with the timestamp of what came before it, however long ago (section
 * 4.3). A peer that sends DSACK (RFC 2883) reports such a duplicate; otherwise the
 * acknowledgement is for the last retransmission, unless it came sooner than the least round
 * trip. From a peer not known to send DSACK, an echo older than the last retransmission of the
 * data that moved SND.UNA is doubted. */
scps_dur scps_sample_resent(const struct scps_sample_view *v, const struct scps_seg *seg,
                            const struct scps_ack_result *sum);
/* Takes sample (-1: none), by_clock: as the echo of a timestamp tells it; newest: the round trip of
 * what arrived and was sent last, -1: not known. A sample that began before an outage was over
 * measures the outage, not the path. */
void scps_sample_take(struct scps_tx *tx, const struct scps_conn_ctx *x, struct scps_rtt *rtt,
                      scps_dur sample, bool by_clock, scps_dur newest);
/* Takes the age of the echo (-1: none) in an acknowledgement of what best effort has given up as a
 * sample, as if what it acknowledges had been resent (RFC 6298 section 5.7). Where several come in
 * a row, the retransmission timer is shorter than the round trip and gives up each segment before
 * its acknowledgement can be back. */
void scps_sample_late(struct scps_tx *tx, const struct scps_conn_ctx *x, struct scps_rtt *rtt,
                      scps_dur echo);
/* Drops the sample of resent segment r if the acknowledgement may be for an earlier transmission:
 * it came within the least round trip, or its echo is older than the retransmission. */
void scps_sample_doubt(const struct scps_rtt *rtt, scps_time now, scps_dur echo,
                       const struct scps_sent_segment *r, struct scps_cc_ack *a);

#endif
