/* SPDX-License-Identifier: MIT */
/* Delivery rate, and round trips counted in data.
 *
 * Invariant: delivered never decreases. A record of the scoreboard has a copy of these fields from
 * when its segment was sent; only delivery.c writes both.
 */
#ifndef SCPS_CORE_DELIVERY_H
#define SCPS_CORE_DELIVERY_H

#include "core/scoreboard.h"
#include "core/stats.h"

struct scps_delivery {
    uint64_t delivered;     /* bytes known to have arrived since the connection began */
    scps_time delivered_at; /* time at which the newest of the delivered bytes were reported, µs */
    scps_time first_sent;   /* time at which the current flight began, µs */
    /* value of `delivered` up to which rate samples are app-limited; 0: they are not */
    uint64_t app_limited;
    /* value of `delivered` at which the round ends: data sent later belongs to the next round */
    uint64_t round_end;
    uint64_t rate; /* delivery rate of the newest sample, bytes/s; 0: there was none */
    /* most bytes in a round trip: of the present eight round trips, and of the eight before */
    struct scps_carried most[2];
    scps_time round_at; /* start of the present round trip, µs; 0: before the first */
    /* number of rounds among the present eight that carried SCPS_CARRIED_LEAST bytes */
    uint8_t rounds;
};

/* Starts counting with `delivered` bytes. idle: the sending state was freed because the application
 * was idle, so the count continues. */
void scps_delivery_begin(struct scps_delivery *d, uint64_t delivered, bool idle);
/* Records the state of delivery when the segment of record r, which sb counts as in flight already,
 * is sent. */
void scps_delivery_sent(struct scps_delivery *d, struct scps_sent_segment *r,
                        const struct scps_scoreboard *sb, scps_time now);
/* Computes the rate sample of the segments that arrived according to sum. In *a it sets bytes, rtt
 * (-1: none) and the sample; round_start and app_limited if they hold; rate and interval if the
 * interval is at least min_rtt. */
void scps_delivery_sample(struct scps_delivery *d, const struct scps_scoreboard *sb,
                          const struct scps_ack_result *sum, scps_dur min_rtt, scps_time now,
                          struct scps_cc_ack *a);
/* Returns the most bytes in one of the latest 8 to 16 round trips, including the present one so
 * far. */
struct scps_carried scps_delivery_most(const struct scps_delivery *d);
/* Marks rates of data in flight as too low, because the application has written too little to fill
 * the window. */
void scps_delivery_app_limited(struct scps_delivery *d, uint64_t inflight);

#endif
