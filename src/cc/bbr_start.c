/* SPDX-License-Identifier: MIT */
/* Two parameters of BBR that are not in draft-ietf-ccwg-bbr and are off by default:
 * long-rtt-start=1, for the start on a long round trip, and base-loss=1, for paths with losses of
 * their own.
 *
 * long-rtt-start: doubling from ten segments takes ten round trips to fill 250 Mbit/s and 600 ms: 6
 * s. With this parameter the initial window is sent at once, and the spacing of its
 * acknowledgements shows the bottleneck's rate. In the next round trip three quarters of that rate
 * are sent, spread over the round trip. When its acknowledgements come, that rate enters the model,
 * and Startup continues as in the draft, but without a ProbeRTT.
 *
 * base-loss: the draft takes more than 2 % of losses in a round trip for a queue that overflows. On
 * a link that loses more than that by bit errors, the window falls to four segments. With this
 * parameter the losses of round trips in which a segment found no queue (its round trip was the
 * smallest) count as the path's own, and so many losses are allowed in addition. A bottleneck with
 * hardly any queue looks the same, so this is for links without other traffic. In a window of few
 * segments the number of losses varies by chance more than the threshold allows, and BBR would take
 * each probe for too high, so three standard deviations are allowed, too.
 */
#include "cc/bbr.h"

#include "base/bytes.h"
#include "base/wide.h"

/* Parameter long-rtt-start: it has an effect where the minimum RTT is at least this long, µs. */
#define LONG SCPS_MS(200)
/* Parameter long-rtt-start: ACKs of the initial window form a train if each comes at most 1/16 of
 * the minimum RTT after the one before. If a train has more ACKs than this, the bottleneck's rate
 * is computed from their spacing, too, and the lower of both results is used. */
#define TRAIN 2
/* Parameter base-loss: largest share of lost bytes, ppm, that is taken for the loss rate of the
 * link itself. */
#define MOST_LOSS 200000
/* Parameter base-loss: base_loss, the loss rate of the link itself, is computed only when base_sent
 * is at least this many segments. base_sent: bytes sent in round trips without a queue; each such
 * round trip counts 7/8 as much as the next one. */
#define LEAST_SENT 20
/* Shortest time that the last segment of the initial window is assumed to have waited in the queue,
 * µs; it limits the rate that is computed from this wait. */
#define SHORTEST 500
/* Upper limit of the window that is computed from the ACKs of the initial window, in multiples of
 * the initial window. */
#define MOST_FOLD 1024

void scps_bbr_long_start(const struct scps_bbr_ctx *x, const struct scps_cc_ack *a)
{
    struct scps_bbr *b = x->b;
    scps_time now = x->v->now;

    if (b->min_rtt < LONG || b->min_rtt == SCPS_NEVER || b->round_count > SCPS_BBR_LONG_ROUNDS)
        return;
    if (!b->train_acks || now - b->train_last > b->min_rtt / 16) {
        b->train_began = now;
        b->train_first = a->bytes;
        b->train_bytes = 0;
        b->train_acks = 0;
    }
    b->train_bytes += a->bytes;
    b->train_last = now;
    b->train_acks = (uint8_t)SCPS_MIN(b->train_acks + 1, UINT8_MAX);
    if (a->rtt < 0 || b->train_bytes < x->v->init_cwnd / 2)
        return;
    /* The initial window was sent as one burst, so its last segment waited in the bottleneck's
     * queue until the others were sent on: that time shows the bottleneck's rate. */
    uint64_t waited = (uint64_t)SCPS_MAX(a->rtt - b->min_rtt, SHORTEST);
    uint64_t bw = scps_muldiv(b->train_bytes, 750000, waited);
    if (b->train_acks > TRAIN && now > b->train_began)
        bw = SCPS_MIN(bw, scps_muldiv(b->train_bytes - b->train_first, 750000,
                                      (uint64_t)(now - b->train_began)));
    b->start_bw = SCPS_MAX(bw, 1);
    uint64_t window = scps_muldiv(b->start_bw, (uint64_t)b->min_rtt, 1000000);
    window = SCPS_MIN(window, MOST_FOLD * (uint64_t)x->v->init_cwnd);
    x->ctl->cwnd = SCPS_MAX(x->ctl->cwnd, window);
    b->pacing_rate = SCPS_MAX(b->pacing_rate, scps_muldiv(window, 1000000, (uint64_t)b->min_rtt));
}

static scps_dur least_of_round(const struct scps_bbr_ctx *x)
{
    scps_dur least = x->b->round_rtt;

    if (x->rs.rtt <= 0)
        return least;
    return least ? SCPS_MIN(least, x->rs.rtt) : x->rs.rtt;
}

bool scps_bbr_no_queue(const struct scps_bbr_ctx *x)
{
    const struct scps_bbr *b = x->b;
    scps_dur least = least_of_round(x);

    /* Tests whether least <= min_rtt + min_rtt / 64 + 1 ms. It subtracts from `least` instead of
     * adding to min_rtt, because min_rtt is SCPS_NEVER before the first RTT sample, and a sum would
     * overflow. */
    return b->base_loss_on && least && least - SCPS_MS(1) - b->min_rtt / 64 <= b->min_rtt;
}

void scps_bbr_measure_base_loss(const struct scps_bbr_ctx *x)
{
    struct scps_bbr *b = x->b;

    b->round_rtt = least_of_round(x);
    if (!b->round_start)
        return;
    /* base_loss is the share of lost bytes over all round trips without a queue, of which each
     * counts 7/8 as much as the next one. */
    if (scps_bbr_no_queue(x)) {
        b->base_sent += x->rs.tx_in_flight - b->base_sent / 8;
        b->base_lost += x->rs.lost - b->base_lost / 8;
        if (b->base_sent >= LEAST_SENT * (uint64_t)x->v->mss)
            b->base_loss =
                (uint32_t)SCPS_MIN(scps_muldiv(b->base_lost, 1000000, b->base_sent), MOST_LOSS);
    }
    b->round_rtt = 0;
}

bool scps_bbr_base_loss_explains(const struct scps_bbr_ctx *x)
{
    uint64_t own = scps_muldiv(x->rs.tx_in_flight, x->b->base_loss, 1000000);
    uint64_t more = x->rs.lost - SCPS_MIN(own, x->rs.lost);

    /* own: bytes that the link's loss rate lets expect as lost; more: bytes lost beyond that. If
     * segments are lost independently of each other, the variance of the number lost is at most its
     * mean, so more * more <= 9 * own (in segments) means: within three standard deviations. */
    return own && scps_muldiv(more, more, own) <= 9 * (uint64_t)x->v->mss;
}
