/* SPDX-License-Identifier: MIT */
/* Delivery rate and round trips counted in data: how fast has the path delivered?
 *
 * Invariant: delivered never falls.  A record of the scoreboard keeps what these fields were when
 * its segment left; delivery.c alone writes both.
 */
#ifndef SCPS_CORE_DELIVERY_H
#define SCPS_CORE_DELIVERY_H

#include "core/scoreboard.h"
#include "core/stats.h"

struct scps_delivery {
    uint64_t delivered;          /* bytes known to have arrived, of the whole connection */
    scps_time delivered_at;      /* the time of the newest of them */
    scps_time first_sent;        /* the time the current flight began */
    uint64_t app_limited;        /* 0, or the total delivered at which the limit has passed */
    uint64_t round_end;          /* a round begins with what was sent after this was delivered */
    uint64_t rate;               /* of the newest sample, bytes/s; 0: there was none */
    struct scps_carried most[2]; /* of the present eight round trips, and of the eight before */
    scps_time round_at;          /* the present round trip began; before the first: 0 */
    uint8_t rounds; /* ended with SCPS_CARRIED_LEAST, of the present eight; 0: none has */
};

/* Counting begins; or it goes on with so much delivered, after the application had nothing to send
 * for so long that memory was given back. */
void scps_delivery_begin(struct scps_delivery *d, uint64_t delivered, bool idle);
/* The segment of record r, which sb counts as in flight already, leaves now. */
void scps_delivery_sent(struct scps_delivery *d, struct scps_sent_segment *r,
                        const struct scps_scoreboard *sb, scps_time now);
/* Works out the sample of what sum says has arrived. a: bytes, rtt (-1: none) and the sample are
 * set; round_start and app_limited where they hold; rate and interval where the interval is no
 * shorter than min_rtt. */
void scps_delivery_sample(struct scps_delivery *d, const struct scps_scoreboard *sb,
                          const struct scps_ack_result *sum, scps_dur min_rtt, scps_time now,
                          struct scps_cc_ack *a);
/* The most of the latest 8 to 16 round trips, the present one included as far as it is. */
struct scps_carried scps_delivery_most(const struct scps_delivery *d);
/* The application has written too little to fill the window: samples of what is in flight are too
 * low. */
void scps_delivery_app_limited(struct scps_delivery *d, uint64_t inflight);

#endif
