/* SPDX-License-Identifier: MIT */
/* Delivery-rate samples and round trips counted in data.
 *
 * Each record remembers how much had been delivered when it left; when it is delivered itself, the difference over
 * the longer of the sending and the acknowledging interval is a rate the path has shown
 * (draft-cheng-iccrg-delivery-rate-estimation sections 3.1 to 3.3).  A round ends when something is delivered that
 * was sent after the last round ended.
 */
#include "core/conn.h"

#include "base/bytes.h"
#include "base/wide.h"

void scps_delivery_sent(struct scps_conn *c, struct scps_sent *r)
{
    struct scps_tx *tx = c->tx;

    if (tx->sb.inflight <= r->len) /* nothing else in the network: a new flight */
        tx->first_sent = tx->delivered_at = c->ctx.env->now;
    r->delivered = tx->delivered;
    r->delivered_at = tx->delivered_at;
    r->first_sent = tx->first_sent;
    r->flags = (uint8_t)((r->flags & ~SCPS_SENT_APP_LIMITED) |
                         (tx->app_limited ? SCPS_SENT_APP_LIMITED : 0));
}

void scps_delivery_app_limited(struct scps_conn *c)
{
    uint64_t until = c->tx->delivered + c->tx->sb.inflight;

    c->tx->app_limited = until ? until : 1;
}

void scps_delivery_sample(struct scps_conn *c, const struct scps_ack_sum *sum,
                          struct scps_cc_ack *a)
{
    struct scps_tx *tx = c->tx;
    const struct scps_sent *r = sum->newest;
    scps_time now = c->ctx.env->now;
    scps_dur sent, acked, took;

    tx->delivered += sum->delivered;
    tx->delivered_at = now;
    if (tx->app_limited && tx->delivered > tx->app_limited)
        tx->app_limited = 0;
    a->bytes = sum->delivered;
    a->rtt = -1;
    if (!r)
        return;
    if (!r->resends)
        a->rtt = now - r->sent;
    if (r->delivered >= tx->round_end) {
        tx->round_end = tx->delivered;
        a->round_start = true;
    }
    sent = r->sent - r->first_sent;
    acked = now - r->delivered_at;
    took = SCPS_MAX(sent, acked);
    tx->first_sent = r->sent;
    if (took > 0 && took >= scps_rtt_min(&c->rtt)) {
        a->rate = scps_muldiv(tx->delivered - r->delivered, 1000000, (uint64_t)took);
        a->app_limited = r->flags & SCPS_SENT_APP_LIMITED;
        tx->rate = a->rate;
    }
}
