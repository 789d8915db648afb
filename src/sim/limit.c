/* SPDX-License-Identifier: MIT */
/* The physical limit of a transfer: what the channel alone allows, with any protocol.
 *
 * A link direction loses each segment with probability p; a slot is the time of a segment on the
 * line. The best possible sender needs one round trip for the handshake. Then it never leaves the
 * line idle while a segment that is known to be lost, or a new one, waits. Its acknowledgements
 * take no time on the line, are never lost, and arrive exactly one round trip after the segment was
 * sent. The transfer ends when the last segment is known to have arrived. No window limits the
 * sender.
 *
 *     time      round trip    the line is busy: segments / (1 - p) slots           stragglers
 *      0 |------------------|====================================================|.......|.......|
 *                             every segment sent once within this      k-th repair: one more round
 *
 * With p = 0 this is exact: two round trips and the time on the line. With losses, new segments are
 * sent back to back for the first round (a round trip and a slot) and then share the line with
 * retransmissions, whose share is p; the result of each further attempt to send a segment is known
 * one round after the result of the attempt before. The transfer has ended by time t with
 * probability
 *
 *     P(t) = product over k of (1 - p^k)^(segments with exactly k results known by t)
 *
 * and the limit reported is the mean goodput, bytes * sum (P(t) - P(t - dt)) / t. It is not the
 * size divided by the mean time, because the results with which the limit is compared, such as
 * those of NASA/TM-2003-212001 (docs/REPRODUCTION.md), are means of the goodputs of several runs.
 *
 * During an outage, or while a table of rates has the rate 0, the best possible sender waits: SYNs,
 * segments and the last acknowledgement are sent when the line is up again.
 *
 * Only doubles with + - * / are used: no mathematical library.
 */
#include <scps/sim.h>

#include "base/bytes.h"
#include "sim/plan.h"
#include "sim/power.h"

static double loss_of_segment(const struct scps_link_config *c, uint64_t len)
{
    uint64_t frame = scps_link_frame_bytes(c, (uint32_t)len);
    uint64_t bits = 8 * (frame > c->ber_exempt ? frame - c->ber_exempt : 0);

    return 1 - (1 - c->loss) * scps_power(1 - c->ber, bits);
}

struct course {
    uint64_t n; /* number of segments of the transfer */
    double p;   /* probability that a segment is lost */
    /* slot: time of a segment on the line, s; round: time from the start of its transmission until
     * the sender knows whether it has arrived, s */
    double slot, round;
};

/* Returns the time at which the best possible sender first sends segment i (counted from 0), in
 * seconds after the start of the first segment. */
static double leaves(const struct course *c, uint64_t i)
{
    double fresh = c->round / c->slot, x = (double)i;

    return x <= fresh ? x * c->slot : c->round + (x - fresh) * c->slot / (1 - c->p);
}

/* Returns how many segments the best possible sender has sent at least once by time t, in seconds
 * after the start of the first segment. */
static uint64_t left_by(const struct course *c, double t)
{
    double x;

    if (t < 0)
        return 0;
    x = t <= c->round ? t / c->slot : (c->round + (t - c->round) * (1 - c->p)) / c->slot;
    return x >= (double)(c->n - 1) ? c->n : (uint64_t)x + 1;
}

/* Returns P(t), the probability that the transfer has ended by time t, in seconds after the first
 * segment was sent. */
static double all_done(const struct course *c, double t)
{
    double all = 1, pk = 1;
    uint64_t some = left_by(c, t - c->round);

    if (some < c->n)
        return 0;
    for (int k = 1; some > 0; k++) {
        uint64_t more = left_by(c, t - c->round * (k + 1));
        pk *= c->p;
        if (pk * (double)some < 1e-12)
            break;
        all *= scps_power(1 - pk, some - more);
        some = more;
    }
    return all;
}

#define UNLIMITED 1e300 /* rate that stands for a line without a limit, bit/s */

/* The link of a transfer. fwd, back: configuration of the direction of the data, and of that of the
 * acknowledgements. */
struct plan {
    const struct scps_link_config *fwd, *back;
    /* rate: rate of the line, bit/s; open: time from the start until the handshake is over and the
     * first segment can be sent, s */
    double rate, open;
};

/* Returns the time, s, at which a packet that takes no time on the line and is offered at t, s, has
 * arrived. Negative: never, because an outage does not end. */
static double arrives(const struct scps_link_config *c, double t)
{
    scps_time up;

    if (t >= 0 && c->outages.n) {
        up = scps_spans_up(&c->outages, (scps_time)(t * 1e6 + 0.5));
        t = up == SCPS_NEVER ? -1 : SCPS_MAX(t, (double)up * 1e-6);
    }
    return t < 0 ? -1 : t + (double)scps_delay_least(c) * 1e-6;
}

/* Returns the end of a transfer whose data take `busy` seconds on the line at the rate p->rate: the
 * time, s after its start, at which the sender knows that all segments have arrived. Negative:
 * never, because an outage does not end. */
static double over(const struct plan *p, double busy)
{
    double sent = scps_line_done(p->fwd, p->open, busy * p->rate, p->rate);

    return sent < 0 ? -1 : arrives(p->back, sent + (double)scps_delay_least(p->fwd) * 1e-6);
}

double scps_link_limit(const struct scps_link_config *fwd, const struct scps_link_config *back,
                       uint64_t bytes, uint32_t payload, uint32_t headers, uint64_t rate_bps)
{
    double rtt = (double)(scps_delay_least(fwd) + scps_delay_least(back)) * 1e-6,
           rate = (double)fwd->rate_bps;
    uint64_t n;

    if (rate_bps && (rate <= 0 || (double)rate_bps < rate))
        rate = (double)rate_bps;
    if (bytes == 0 || payload == 0 || (rate <= 0 && rtt <= 0))
        return 0;
    n = (bytes + payload - 1) / payload;
    double line = rate > 0 ? 8.0 / rate : 0; /* time that a byte takes on the line, s */
    double slot = (double)scps_link_frame_bytes(fwd, payload + headers) * line;
    uint32_t left = (uint32_t)(bytes - (n - 1) * payload);
    double last = (double)scps_link_frame_bytes(fwd, left + headers) * line;
    double p = loss_of_segment(fwd, (uint64_t)payload + headers);
    double bits = 8.0 * (double)bytes;

    struct plan plan = {.fwd = fwd, .back = back, .rate = rate > 0 ? rate : UNLIMITED};

    plan.open = arrives(back, arrives(fwd, 0));
    if (p >= 1 || plan.open < 0 || over(&plan, (double)n * slot) < 0)
        return 0;
    if (p <= 0)
        return bits / over(&plan, (double)(n - 1) * slot + last);
    struct course c = {.n = n, .p = p, .slot = slot > 0 ? slot : 1e-9};
    c.round = rtt + c.slot;
    /* The mean goodput is a sum over t, the time at which the transfer ends: each step adds the
     * goodput of a transfer that ends in it, times the increase of P(t), the probability that the
     * transfer has ended by t. The sum begins at the earliest possible end. A step is at most 1/64
     * of a round and 1/512 of the shortest transfer; the last one is that in which P(t) reaches 1 -
     * 10^-6. */
    double t = leaves(&c, n - 1) + c.round + 1e-9 * c.slot;
    double step = SCPS_MIN(c.round / 64, (t + rtt) / 512);
    /* The part of t, the time at which the transfer ends, in which the line carries no data, s: the
     * last segment and its acknowledgement propagate (rtt), and the last segment is shorter than
     * the full slot that t includes for it. */
    double idle = rtt + (slot - last);
    double before = all_done(&c, t), mean = before * bits / over(&plan, t - idle);
    for (int i = 0; i < 1000000 && before < 1 - 1e-6; i++, t += step) {
        double now = all_done(&c, t + step), end = over(&plan, t + step / 2 - idle);
        mean += end > 0 ? (now - before) * bits / end : 0;
        before = now;
    }
    return mean;
}
