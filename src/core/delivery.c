/* SPDX-License-Identifier: MIT */
/* Delivery-rate samples, and round trips counted in data.
 *
 * Each record of the scoreboard stores how many bytes had been delivered when its segment was sent.
 * When that segment is delivered, the increase since then, divided by the longer of the sending and
 * the acknowledging interval, is a rate at which the path has delivered
 * (draft-cheng-iccrg-delivery-rate-estimation sections 3.1 to 3.3). A round trip begins at an
 * acknowledgement, and ends when a segment is delivered that was sent after that acknowledgement.
 */
#include "core/delivery.h"

#include <string.h>

#include "base/bytes.h"
#include "base/wide.h"

#define ROUNDS 8

void scps_delivery_begin(struct scps_delivery *d, uint64_t delivered, bool idle)
{
    d->delivered = delivered;
    if (idle)
        scps_delivery_app_limited(d, 0);
}

void scps_delivery_sent(struct scps_delivery *d, struct scps_sent_segment *r,
                        const struct scps_scoreboard *sb, scps_time now)
{
    const uint64_t inflight = sb->inflight;

    /* Only r is in flight, so the sending and acknowledging intervals of the next rate samples
     * begin now. */
    if (inflight <= r->len)
        d->first_sent = d->delivered_at = now;
    r->delivered = d->delivered;
    r->delivered_at = d->delivered_at;
    r->first_sent = d->first_sent;
    r->tx_in_flight = (uint32_t)inflight;
    r->tx_lost = (uint32_t)sb->lost_ever;
    scps_sb_mark(r, SCPS_SENT_APP_LIMITED, false);
    if (d->app_limited)
        scps_sb_mark(r, SCPS_SENT_APP_LIMITED, true);
}

void scps_delivery_app_limited(struct scps_delivery *d, uint64_t inflight)
{
    uint64_t until = d->delivered + inflight;

    d->app_limited = until ? until : 1;
}

struct scps_carried scps_delivery_most(const struct scps_delivery *d)
{
    struct scps_carried most = d->most[d->most[1].bytes > d->most[0].bytes];
    /* bytes delivered in the round trip that is in progress */
    uint64_t bytes = d->delivered - d->round_end;

    if (d->rounds && bytes > most.bytes)
        most = (struct scps_carried){bytes, d->delivered_at - d->round_at};
    return most;
}

/* Called when a round trip has ended in which acknowledgements reported that `bytes` bytes arrived
 * at the peer: stores that number for pipeACK, the most in one of the last three round trips (RFC
 * 7661). */
static void take_pipe(struct scps_delivery *d, uint64_t bytes)
{
    memmove(d->arrived + 1, d->arrived, sizeof d->arrived - sizeof *d->arrived);
    d->arrived[0] = d->most_arrived = (uint32_t)SCPS_MIN(bytes, UINT32_MAX);
    for (size_t i = 1; i < SCPS_PIPE_ROUNDS; i++)
        d->most_arrived = SCPS_MAX(d->most_arrived, d->arrived[i]);
}

/* Records the bytes delivered in the round trip that has ended, and its duration `took`, µs (RFC
 * 9959 section 3.1: "measuring the volume of data acknowledged in one RTT"). One that is shorter
 * than min_rtt is ignored: it was measured from a retransmission, but the first transmission
 * arrived. */
static SCPS_NOINLINE void take_round(struct scps_delivery *d, uint64_t bytes, scps_dur took,
                                     scps_dur min_rtt)
{
    if (took < SCPS_MAX(min_rtt, 1))
        return;
    if (d->rounds == ROUNDS) {
        d->rounds = 0;
        d->most[1] = d->most[0];
        d->most[0] = (struct scps_carried){0};
    }
    d->rounds++;
    if (bytes > d->most[0].bytes)
        d->most[0] = (struct scps_carried){bytes, took};
}

void scps_delivery_sample(struct scps_delivery *d, const struct scps_scoreboard *sb,
                          const struct scps_ack_result *sum, scps_dur min_rtt, scps_time now,
                          struct scps_cc_ack *a)
{
    const struct scps_sent_segment *r = sum->newest;
    scps_dur sent, acked, took;

    d->delivered += sum->delivered;
    d->delivered_at = now;
    if (d->app_limited && d->delivered > d->app_limited)
        d->app_limited = 0;
    if (!r)
        return;
    if (!r->resends)
        a->rtt = now - r->sent;
    if (r->delivered >= d->round_end) {
        d->round_end = d->delivered;
        d->round_at = now;
        a->round_start = true;
        take_pipe(d, d->delivered - r->delivered);
        if (d->delivered - r->delivered >= SCPS_CARRIED_LEAST)
            take_round(d, d->delivered - r->delivered, now - r->delivered_at, min_rtt);
    }
    sent = r->sent - r->first_sent;
    acked = now - r->delivered_at;
    took = SCPS_MAX(sent, acked);
    d->first_sent = r->sent;
    a->sample_bytes = d->delivered - r->delivered;
    a->prior_delivered = r->delivered;
    a->tx_in_flight = r->tx_in_flight;
    a->lost_since = (uint32_t)sb->lost_ever - r->tx_lost;
    a->app_limited = r->flags & SCPS_SENT_APP_LIMITED;
    if (took > 0 && took >= min_rtt) {
        a->interval = took;
        a->rate = scps_muldiv(a->sample_bytes, 1000000, (uint64_t)took);
        d->rate = a->rate;
    }
}
