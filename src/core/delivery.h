/* SPDX-License-Identifier: MIT */
/* Delivery rate, and round trips counted in data.
 *
 * Invariant: delivered never decreases. Each record of the scoreboard has a copy of these fields
 * from the time at which its segment was sent. Only delivery.c writes these fields and the copies.
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
    scps_time first_sent; /* time at which the sending interval of the present flight begins, µs */
    /* delivery-rate samples are app-limited until `delivered` exceeds this value; 0: they are
     * not */
    uint64_t app_limited;
    /* value of `delivered` when the present round trip began: this round trip ends when a segment
     * that was sent after that has arrived */
    uint64_t round_end;
    uint64_t rate; /* delivery rate of the newest sample, bytes/s; 0: there was none */
    /* volume and duration of the round trip with the most bytes: most[0] among the round trips of
     * the current group of eight, most[1] among the eight before the group */
    struct scps_carried most[2];
    /* time at which the round trip in progress began, µs; 0: before the first */
    scps_time round_at;
    /* bytes delivered in each of the last round trips, the newest first; 0: there was none */
    uint32_t arrived[SCPS_PIPE_ROUNDS];
    uint32_t most_arrived; /* the largest of arrived */
    /* number of round trips counted in most[0]: those in which SCPS_CARRIED_LEAST bytes or more
     * arrived */
    uint8_t rounds;
};

/* Starts counting with `delivered` bytes. idle: the sending state was freed while the application
 * was idle, so the old count continues. */
void scps_delivery_begin(struct scps_delivery *d, uint64_t delivered, bool idle);
/* Copies fields of d to record r of the scoreboard, whose segment is sent now, for the rate sample
 * that its arrival will give. sb counts r as in flight already. */
void scps_delivery_sent(struct scps_delivery *d, struct scps_sent_segment *r,
                        const struct scps_scoreboard *sb, scps_time now);
/* Computes the rate sample of the segments that arrived according to sum. Sets in *a: rtt, if the
 * newest of them was sent once, µs; sample_bytes; round_start and app_limited if they apply; rate
 * and interval if the interval is at least min_rtt. Precondition: a->rtt is -1. */
void scps_delivery_sample(struct scps_delivery *d, const struct scps_scoreboard *sb,
                          const struct scps_ack_result *sum, scps_dur min_rtt, scps_time now,
                          struct scps_cc_ack *a);
/* Returns the largest volume delivered in one of the latest 8 to 16 round trips, the one in
 * progress included. */
struct scps_carried scps_delivery_most(const struct scps_delivery *d);
/* Returns pipeACK of RFC 7661 section 4.2, bytes: the most that was delivered in one of the last
 * three round trips. 0: there was none, or three of srtt and a second have passed since the last
 * one ended. srtt in µs. */
static inline uint64_t scps_delivery_pipe(const struct scps_delivery *d, scps_dur srtt,
                                          scps_time now)
{
    return now - d->round_at <= 3 * srtt + SCPS_SEC(1) ? d->most_arrived : 0;
}
/* Marks samples of data in flight as app-limited: the application has written too little to fill
 * the window, so these samples may be below what the path can carry. */
void scps_delivery_app_limited(struct scps_delivery *d, uint64_t inflight);

#endif
