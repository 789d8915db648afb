/* SPDX-License-Identifier: MIT */
/* Samples of the delivery rate, and the round trips of the data: each ends when a segment is
 * delivered that was sent after the round trip began.
 *
 * Invariant: delivered never decreases. Each record of the scoreboard has a copy of `delivered`,
 * `delivered_at` and `first_sent` from the time at which its segment was sent. Only delivery.c
 * writes struct scps_delivery and these copies.
 */
#ifndef SCPS_CORE_DELIVERY_H
#define SCPS_CORE_DELIVERY_H

#include "core/scoreboard.h"
#include "core/stats.h"

/* number of round trips in the sampling period of pipeACK (RFC 7661 section 4.2) */
#define SCPS_PIPE_ROUNDS 3

struct scps_delivery {
    /* payload bytes that acknowledgements have reported as arrived since the connection began, each
     * byte once */
    uint64_t delivered;
    scps_time delivered_at; /* time at which the newest delivered bytes were reported, µs */
    /* time, µs, at which the interval begins in which the data of the next rate sample was sent */
    scps_time first_sent;
    /* Samples are marked app-limited until `delivered` exceeds this value: they are of data sent
     * when the application had written too little to fill the window. 0: samples are not
     * app-limited. */
    uint64_t app_limited;
    /* value of `delivered` when the present round trip began: this round trip ends when a segment
     * that was sent after that has arrived */
    uint64_t round_end;
    uint64_t rate; /* delivery rate of the newest sample, bytes/s; 0: there was none */
    /* the round trip in which most bytes were delivered, its bytes and its duration, µs, for groups
     * of eight round trips: most[0] of the group in progress, most[1] of the group before; bytes 0:
     * there was none */
    struct scps_carried most[2];
    /* time at which the round trip in progress began, µs; 0: before the first */
    scps_time round_at;
    /* bytes delivered in each of the last round trips, the newest first; 0: there was none */
    uint32_t arrived[SCPS_PIPE_ROUNDS];
    uint32_t most_arrived; /* the largest of arrived */
    /* number of round trips, 0 to 8, counted in the present group of eight, of which most[0] stores
     * the one with most bytes; after 8 the next one begins a new group. Counted are round trips in
     * which at least SCPS_CARRIED_LEAST bytes were delivered, unless they were shorter than the
     * minimum RTT */
    uint8_t rounds;
};

/* Initialises d when the send state is allocated. delivered: bytes delivered since the connection
 * began. idle: true if an earlier send state existed, and was freed while nothing was
 * outstanding. */
void scps_delivery_begin(struct scps_delivery *d, uint64_t delivered, bool idle);
/* Copies fields of d to record r of the scoreboard, whose segment is sent now, for the rate sample
 * that its arrival will give. sb counts r as in flight already. */
void scps_delivery_sent(struct scps_delivery *d, struct scps_sent_segment *r,
                        const struct scps_scoreboard *sb, scps_time now);
/* Computes a delivery-rate sample from *sum, what one acknowledgement reports as arrived. The
 * newest segment is the one of these that was sent last; if nothing arrived, *a stays unchanged.
 * Sets in *a: rtt, µs, if the newest segment was sent once; sample_bytes, the bytes delivered since
 * it was sent; round_start, if it was sent after the present round trip began; app_limited, if it
 * was sent when the application had written too little to fill the window; rate, bytes/s, and
 * interval, µs, if the interval is at least min_rtt. Precondition: a->rtt is -1. */
void scps_delivery_sample(struct scps_delivery *d, const struct scps_scoreboard *sb,
                          const struct scps_ack_result *sum, scps_dur min_rtt, scps_time now,
                          struct scps_cc_ack *a);
/* Returns the bytes and the duration, µs, of the round trip in which most bytes were delivered, out
 * of the one in progress, those counted in the present group of eight, and the eight of the group
 * before; bytes 0: none has been counted. */
struct scps_carried scps_delivery_most(const struct scps_delivery *d);
/* Returns pipeACK of RFC 7661 section 4.2, bytes: the most that was delivered in one of the last
 * three round trips. Returns 0 if none has ended, or the last one ended longer ago than the larger
 * of three times srtt, µs, and one second. */
static inline uint64_t scps_delivery_pipe(const struct scps_delivery *d, scps_dur srtt,
                                          scps_time now)
{
    return now - d->round_at <= 3 * srtt + SCPS_SEC(1) ? d->most_arrived : 0;
}
/* Called when the application has written too little to fill the window: until the `inflight` bytes
 * now in flight are delivered, rate samples are marked app-limited, since they may be lower than
 * what the path can carry. */
void scps_delivery_app_limited(struct scps_delivery *d, uint64_t inflight);

#endif
