/* SPDX-License-Identifier: MIT */
/* Delivery rate, and round trips counted in data.
 *
 * Invariant: delivered never falls.  A record of the scoreboard keeps what these fields were when
 * its segment left; delivery.c alone writes both.
 */
#ifndef SCPS_CORE_DELIVERY_H
#define SCPS_CORE_DELIVERY_H

#include "core/scoreboard.h"
#include "core/stats.h"

struct scps_delivery {
    uint64_t delivered;     /* bytes known to have arrived, of the whole connection */
    scps_time delivered_at; /* the time of the newest of them */
    scps_time first_sent;   /* the time the current flight began */
    /* total of delivered bytes up to which rates are app-limited; 0: they are not */
    uint64_t app_limited;
    /* total of delivered bytes at which the round ends: what was sent later belongs to the next */
    uint64_t round_end;
    uint64_t rate; /* rate of the newest sample, bytes/s; 0: there was none */
    /* most bytes in a round trip, of the present eight round trips and of the eight before */
    struct scps_carried most[2];
    scps_time round_at; /* start of the present round trip; 0: before the first */
    uint8_t rounds;     /* rounds among the present eight that carried SCPS_CARRIED_LEAST bytes */
};

/* Starts counting, or continues with so many bytes delivered after the sending state was freed
 * because the application was idle. */
void scps_delivery_begin(struct scps_delivery *d, uint64_t delivered, bool idle);
/* Records the state of delivery when the segment of record r, which sb counts as in flight already,
 * is sent. */
void scps_delivery_sent(struct scps_delivery *d, struct scps_sent_segment *r,
                        const struct scps_scoreboard *sb, scps_time now);
/* Computes the rate sample of the segments that arrived, by sum. a: bytes, rtt (-1: none) and
 * the sample are set; round_start and app_limited where they hold; rate and interval where the
 * interval is no shorter than min_rtt. */
void scps_delivery_sample(struct scps_delivery *d, const struct scps_scoreboard *sb,
                          const struct scps_ack_result *sum, scps_dur min_rtt, scps_time now,
                          struct scps_cc_ack *a);
/* Returns the most bytes in one of the latest 8 to 16 round trips, the present one included so
 * far. */
struct scps_carried scps_delivery_most(const struct scps_delivery *d);
/* Called when the application has written too little to fill the window: rates of what is in flight
 * are too low. */
void scps_delivery_app_limited(struct scps_delivery *d, uint64_t inflight);

#endif
