/* SPDX-License-Identifier: MIT */
/* The physical limit under a window: the mean goodput, bit/s of payload, over a channel of the best
 * possible sender, which limit.c describes, when the receiver's buffer limits what it may send.
 *
 * The best possible sender knows one round trip after it has sent a segment whether the segment has
 * arrived. The receiver delivers in order and keeps what it cannot deliver in its buffer, of the
 * size of w segments. So the sender may have sent w segments from the lowest one on that it does
 * not know to have arrived. If that one is lost, it is resent one round trip later, and is known to
 * have arrived after one more at the earliest: no new data is sent from the time when w segments
 * have been sent until then. A window of two round trips stops the sender only for a segment that
 * is lost twice. A slot is the time of a full segment on the line. Without losses the result is
 * exact:
 *
 *     |<------ round trip + slot ------>|
 *     [w segments]  idle                [w segments]  idle ...
 *     (or no idle time when the window is large)
 *
 * With losses there is no closed form, so the result is the mean over simulated transfers of this
 * sender, from a fixed seed: enough of them to send several million segments, at least four. If the
 * window covers the whole transfer, the result is that of limit.c.
 *
 * A receiver that acknowledges only when a timer expires limits the sender as well: each
 * acknowledgement waits for the next multiple of the timer's interval.
 *
 * Segments are numbered from 0. got[] has a flag for each segment of the window: true if the sender
 * knows that it has arrived. fate[] is a queue of the segments sent: the sender learns whether they
 * have arrived in the order of sending, each a round trip after it was sent.
 */
#include "sim/loss.h"

#include <scps/sim.h>

#include "base/bytes.h"
#include "sim/plan.h"
#include "sim/power.h"

#define SEGMENTS_ENOUGH 8000000.0
#define RUNS_MAX        1000

struct window {
    /* slot: time that a full segment takes on the line; last: time that the last segment of the
     * transfer takes there; rtt: round-trip time; all in s */
    double slot, last, rtt;
    /* interval at which the receiver acknowledges, s; 0: it acknowledges each arrival at once */
    double every;
    uint64_t n, w; /* number of segments of the transfer; size of the window, segments */
    uint64_t loss; /* probability that a segment is lost, times 2^64 */
    /* The arrays fate, again and got are rings with w entries each. */
    struct fate {
        double known;
        uint64_t segment;
        bool lost;
    } * fate;
    /* numbers of the segments that the sender knows to be lost and must send again, oldest first */
    uint64_t *again;
    bool *got;
};

/* Returns the time, s, at which the receiver acknowledges a segment whose transmission ends at time
 * `at`, s, as if the propagation took no time, because the caller adds the round-trip time: returns
 * `at` or, if the receiver acknowledges at intervals, the next multiple of x->every. */
static double ack_time(const struct window *x, double at)
{
    double intervals = x->every > 0 ? at / x->every : 0;
    uint64_t whole = (uint64_t)intervals;

    return x->every > 0 ? (double)(whole + (intervals > (double)whole)) * x->every : at;
}

/* Simulates one transfer. Returns the time from the start of the first segment until the sender
 * receives the last acknowledgement, s. */
static double transfer(struct window *x, struct scps_prng *r)
{
    uint64_t una = 0, nxt = 0, fate_at = 0, fates = 0, again_at = 0, agains = 0;
    double now = 0;

    while (una < x->n) {
        uint64_t segment;
        while (fates && x->fate[fate_at].known <= now) {
            const struct fate *f = &x->fate[fate_at];
            if (f->lost) {
                x->again[(again_at + agains++) % x->w] = f->segment;
            } else {
                x->got[f->segment % x->w] = true;
                while (una < nxt && x->got[una % x->w])
                    x->got[una++ % x->w] = false;
            }
            fate_at = fate_at + 1 == x->w ? 0 : fate_at + 1;
            fates--;
        }
        if (agains) {
            segment = x->again[again_at];
            again_at = again_at + 1 == x->w ? 0 : again_at + 1;
            agains--;
        } else if (nxt < x->n && nxt < una + x->w) {
            segment = nxt++;
        } else if (fates) {
            /* Nothing may be sent before the next acknowledgement, so time advances to it. */
            now = x->fate[fate_at].known;
            continue;
        } else {
            break;
        }
        now += segment == x->n - 1 ? x->last : x->slot;
        x->fate[(fate_at + fates++) % x->w] =
            (struct fate){ack_time(x, now) + x->rtt, segment, scps_chance_hit(x->loss, r)};
    }
    return now;
}

static double mean(struct window *x, double bits, double p)
{
    struct scps_alloc a = scps_alloc_default();
    size_t each = sizeof *x->fate + sizeof *x->again + sizeof *x->got, room = (size_t)x->w * each;
    double want = SEGMENTS_ENOUGH * (1 - p) / (double)x->n, sum = 0;
    unsigned runs = want > RUNS_MAX ? RUNS_MAX : want < 4 ? 4 : (unsigned)want;
    struct scps_prng r;
    uint8_t *mem = x->w > SIZE_MAX / each ? NULL : a.alloc(a.ctx, room);

    if (!mem)
        return 0;
    x->fate = (struct fate *)(void *)mem;
    x->again = (uint64_t *)(void *)(x->fate + x->w);
    x->got = (bool *)(void *)(x->again + x->w);
    memset(x->got, 0, x->w * sizeof *x->got);
    scps_prng_seed(&r, 2003212001);
    for (unsigned i = 0; i < runs; i++)
        sum += bits / (x->rtt + transfer(x, &r));
    a.free(a.ctx, mem, room);
    return sum / runs;
}

double scps_link_limit_window(const struct scps_link_config *fwd,
                              const struct scps_link_config *back, uint64_t bytes, uint32_t payload,
                              uint32_t headers, uint64_t rate_bps, uint64_t window,
                              scps_dur ack_every)
{
    double rate = (double)fwd->rate_bps, bits = 8.0 * (double)bytes, line, p;
    uint64_t frame = scps_link_frame_bytes(fwd, payload + headers);
    uint64_t risk = frame > fwd->ber_exempt ? frame - fwd->ber_exempt : 0;
    struct window x = {0};

    if (payload == 0 || (!ack_every && (window == 0 || window >= bytes)))
        return scps_link_limit(fwd, back, bytes, payload, headers, rate_bps);
    if (rate_bps && (rate <= 0 || (double)rate_bps < rate))
        rate = (double)rate_bps;
    line = rate > 0 ? 8.0 / rate : 0;
    x.n = (bytes + payload - 1) / payload;
    x.w = window == 0 || window >= bytes ? x.n : SCPS_MAX(window / payload, 1u);
    x.every = (double)SCPS_MAX(ack_every, 0) * 1e-6;
    x.rtt = (double)(scps_delay_least(fwd) + scps_delay_least(back)) * 1e-6;
    x.slot = (double)frame * line;
    uint32_t left = (uint32_t)(bytes - (x.n - 1) * payload);
    x.last = (double)scps_link_frame_bytes(fwd, left + headers) * line;
    p = 1 - (1 - fwd->loss) * scps_power(1 - fwd->ber, 8 * risk);
    if (p >= 1 || (line <= 0 && x.rtt <= 0))
        return 0;
    x.loss = scps_chance(p > 0 ? p : 0);
    if (x.loss == 0 && x.every == 0) {
        uint64_t before = x.n - 1; /* number of segments sent before the last one */
        double round = x.rtt + x.slot, busy = (double)x.w * x.slot;
        double start = busy >= round
                           ? (double)before * x.slot
                           : (double)(before / x.w) * round + (double)(before % x.w) * x.slot;
        return bits / (2 * x.rtt + start + x.last);
    }
    return mean(&x, bits, p);
}
