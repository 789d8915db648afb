/* SPDX-License-Identifier: MIT */
/* Counters of a connection.
 *
 * Invariant: the protocol never reads a counter; only info.c does, and this file where a new value
 * is computed from the old one. The test house.statistics overwrites all counters at random times,
 * to show that the protocol does not depend on them.
 */
#ifndef SCPS_CORE_STATS_H
#define SCPS_CORE_STATS_H

#include <scps/conn.h>
#include <string.h>

#include "base/bytes.h"

/* Among the round trips of the data, the one in which the peer reported most bytes of this end as
 * arrived. Round trips with less than SCPS_CARRIED_LEAST bytes are ignored: no path state is saved
 * for so little data (RFC 9959 section 3.1). */
struct scps_carried {
    /* number of bytes of this end that the peer reported as arrived in that round trip; 0: there
     * was none */
    uint64_t bytes;
    /* duration, µs, of that round trip, in which `bytes` were reported; it need not be the shortest
     * or the last one */
    scps_dur took;
};
#define SCPS_CARRIED_LEAST 4096u

/* Counters for scps_conn_info() that no other part of the connection stores. */
struct scps_conn_stats {
    uint64_t data_segs_out, data_segs_in, bytes_sent, bytes_resent, bytes_duplicate;
    uint32_t resent_segs, timeouts, recoveries, spurious, dupacks_in, sacks_in, sacks_out,
        dsacks_in, dsacks_out, snacks_in, snacks_out, acks_out, acks_held, probes_out, ooo_segs,
        reordered, paws_drops, challenges, tlp_probes, zero_windows_in, zero_windows_out,
        ecn_echoes, cc_corrected;
    uint64_t max_cwnd;
    scps_time first_sent, first_received, last_sent, last_received, last_ack_received, fin_acked;
    /* newest RTT sample, µs, saved when the sending state (struct scps_tx) is freed; as long as
     * that state exists, scps_rto.latest has the newest RTT instead */
    scps_dur last_rtt;
    struct scps_carried
        /* largest volume of data sent by this end that the peer reported as arrived in one round
         * trip; stored here when the sending state is freed */
        carried;
    scps_time hold_since;
    scps_dur holds[SCPS_HOLD_COUNT];
    uint64_t records_out, records_in;
    /* Best effort (BETS), receiver: number of holes, ranges of the stream of the peer, that this
     * end gave up waiting for and skipped, less those that were filled after all */
    uint32_t holes;
    /* Best effort (BETS), receiver: bytes in the skipped holes that `holes` counts, less those that
     * have arrived after all */
    uint64_t bytes_missing;
    /* Best effort (BETS), sender: bytes that this end gave up before the peer acknowledged them,
     * after bets_lifetime or bets_retries retransmissions */
    uint64_t bytes_given_up;
};

/* Number of segments that a connection has sent and received. They are counted apart, because the
 * other counters (struct scps_conn_stats) are allocated only when the connection needs them,
 * usually for the first data that it sends or receives. */
struct scps_segs {
    uint64_t out, in;
};
static inline void scps_segs_sent(struct scps_segs *n)
{
    n->out++;
}
static inline void scps_segs_came(struct scps_segs *n)
{
    n->in++;
}
/* Sets all counters to zero. From `now`, µs, on the time is counted for which each reason (enum
 * scps_hold) keeps the connection from sending. */
static inline void scps_stats_begin(struct scps_conn_stats *st, scps_time now)
{
    memset(st, 0, sizeof *st);
    st->hold_since = now;
}
/* Counts a segment that was sent with `len` octets of data. */
static inline void scps_stats_sent(struct scps_conn_stats *st, uint32_t len)
{
    st->data_segs_out++;
    st->bytes_sent += len;
}
/* Called when the next segment has data and nothing is outstanding: records the time at which data
 * was first sent. */
static inline void scps_stats_flight(struct scps_conn_stats *st, scps_time now)
{
    if (!st->first_sent)
        st->first_sent = now;
}
/* Counts a segment with data that has arrived, and records the time of the first one. */
static inline void scps_stats_received(struct scps_conn_stats *st, scps_time now)
{
    st->data_segs_in++;
    st->last_received = now;
    if (!st->first_received)
        st->first_received = now;
}
/* Called when the congestion window becomes `cwnd`, bytes: stores the largest so far. */
static inline void scps_stats_cwnd(struct scps_conn_stats *st, uint64_t cwnd)
{
    st->max_cwnd = SCPS_MAX(st->max_cwnd, cwnd);
}
/* Called when the sending state is freed. most: the largest volume of data of this end that the
 * peer reported as arrived in one round trip; stored if it exceeds that of an earlier sending
 * state. */
static inline void scps_stats_carried(struct scps_conn_stats *st, struct scps_carried most)
{
    if (most.bytes > st->carried.bytes)
        st->carried = most;
}
/* Called when the reason why nothing is sent changes: adds the time since the last change, at
 * `now`, µs, to the former reason `was`. */
static inline void scps_stats_hold(struct scps_conn_stats *st, enum scps_hold was, scps_time now)
{
    st->holds[was] += now - st->hold_since;
    st->hold_since = now;
}
/* Counts a probe that is sent: a window probe, a keep-alive probe, or the probe of an outage of the
 * link. */
static inline void scps_stats_probe(struct scps_conn_stats *st)
{
    st->probes_out++;
}

#endif
