/* SPDX-License-Identifier: MIT */
/* Decides when to acknowledge, and which window to offer; report.c composes the reports.
 *
 * In every mode, duplicates below RCV.NXT, a FIN, and a window that opens are acknowledged at once
 * (RFC 9293 section 3.8.6.3). Data that fills a hole (octets missing at RCV.NXT, while later ones
 * have arrived) is acknowledged at once, too (RFC 5681 section 4.2), except in strictly delayed
 * mode (SCPS_ACK_DELAYED without holes_at_once). Other data in order is acknowledged:
 *
 *   SCPS_ACK_OTHER    when more than one full segment is unacknowledged, or when the timer expires;
 *                     each of the first quick_acks segments at once
 *   SCPS_ACK_EVERY    after each segment
 *   SCPS_ACK_DELAYED  when the timer expires (docs/SCPS-TP.md section 5.1: data beyond a hole waits
 *                     for the timer, too, unless holes_at_once is set)
 *
 * RFC 9293 section 3.8.6.3: "an ACK should not be excessively delayed". On a line so slow that the
 * timer expires before the second full segment has arrived, waiting saves no acknowledgement, but
 * lengthens the round trip and the retransmission timeout of the peer. So after ALONE full segments
 * in a row for each of which the timer expired, SCPS_ACK_OTHER acknowledges each segment at once,
 * until two full ones arrive within the delay, or the application writes: its data may carry
 * acknowledgements.
 *
 * Data beyond a hole (out-of-order data) waits for the timer in strictly delayed mode, and each
 * segment of it is acknowledged in mode SCPS_ACK_EVERY. In the other modes it is acknowledged at
 * once when it fills another hole (RFC 5681 section 4.2), when the hole is new, and for the first
 * OOO_ACKS_IMMEDIATE segments after that: the sender then has its three duplicate acknowledgements.
 * Acknowledgements of later segments only show how much has left the network. Since SACK is
 * cumulative, they are acknowledged as often as data in order; on a path of thousands of segments
 * this halves the number of acknowledgements. Without SACK the number of duplicates is the
 * information, so each out-of-order segment is acknowledged.
 *
 * "More than one full segment": a full segment and a short one count as two (RFC 5681 section 4.2
 * lets at most two full ones wait). They may be all that a window of two segments holds, for
 * example where a record ends, and their sender would wait for the acknowledgement.
 *
 * "At once" means with the next output: segments that arrive in one batch, with no output between
 * them, are acknowledged once: "if the TCP endpoint is processing a series of queued segments, it
 * MUST process them all before sending any ACK segments" (RFC 9293 section 3.10.7.4). If
 * stretch_acks is off, a batch of data in order is acknowledged in as many steps as if each segment
 * had been answered by itself; data that filled a hole, in one step.
 *
 * An acknowledgement budget is for a slow return link: an acknowledgement without data waits until
 * two token buckets, of packets and of bytes, hold enough for it. Its fields are filled in when it
 * is sent, so it is always the newest. The bucket of bytes holds enough for one acknowledgement: a
 * second one in a row would wait behind the first on a line of that rate, and be old when it
 * arrives. There are no exceptions: an acknowledgement that opens the window or answers a FIN waits
 * some milliseconds, too. Acknowledgements on data segments, the handshake and resets are not
 * charged.
 */
#include "core/ackout.h"

#include "base/bytes.h"
#include "base/fastpath.h"
#include "core/rx.h"
#include "core/seq.h"

/* With SACK, this many out-of-order segments are acknowledged at once after RCV.NXT last advanced;
 * later ones may wait and share an acknowledgement. */
#define OOO_ACKS_IMMEDIATE 8
/* Strictly delayed mode (ack_mode SCPS_ACK_DELAYED without holes_at_once: new data is acknowledged
 * only when the delayed-ACK timer expires). While octets are missing at RCV.NXT and no data
 * arrives, the timer stops and no acknowledgement is sent. Data that arrives within this many times
 * ack_delay after the last data starts the timer so that it expires a multiple of ack_delay after
 * it stopped; later data starts it for a whole ack_delay. */
#define DELACK_MAX_IDLE 16
/* SCPS_ACK_OTHER normally acknowledges every second full segment. When the delayed-ACK timer has
 * expired for this many full segments in a row, the sender's window is taken to be one segment, and
 * from then on each segment is acknowledged at once. A lower number would misjudge a sender whose
 * window is one segment for a few round trips after a loss. */
#define ALONE 8
/* Largest number of acknowledgements that this end sends one after another because the SACK and
 * SNACK reports of its out-of-order data do not fit into one acknowledgement. */
#define BURST 256
/* Octets of an acknowledgement without data over IPv4 with timestamps. The setting ack_budget,
 * bytes/s, limits these acknowledgements of this end by a token bucket that holds just one (BARE
 * and rate_overhead): the next one waits until the bucket is full again. */
#define BARE 52

/* Strictly delayed mode (ack_mode SCPS_ACK_DELAYED without holes_at_once: new data is acknowledged
 * only when the delayed-ACK timer expires): called when that timer has expired, octets are missing
 * at RCV.NXT while later ones have arrived, and no data has arrived for `quiet` µs, which is longer
 * than `delay` (ack_delay), so that there is nothing new to report.
 * The timer stays off until data arrives. Data that arrives before r->ticks_end starts it for a
 * multiple of `delay` after r->tick (now), as if it had kept running; later data starts it for a
 * whole `delay`. r->ticks_end is DELACK_MAX_IDLE delays after the newest data, rounded up to such a
 * multiple; if that has passed, nothing is stored. */
static void stand_by(struct scps_ackrx *r, scps_time now, scps_dur delay, scps_dur quiet)
{
    scps_dur left = DELACK_MAX_IDLE * delay - quiet;

    if (left <= 0)
        return;
    r->tick = now;
    r->ticks_end = now + (left + delay - 1) / delay * delay;
}

static scps_time next_tick(const struct scps_rx *rx, scps_time now, scps_dur delay)
{
    return now + delay - (rx && now < rx->ack.ticks_end ? (now - rx->ack.tick) % delay : 0);
}

bool scps_ackout_expired(struct scps_ackout *a, struct scps_conn_ctx *x, struct scps_rx *rx,
                         const struct scps_receive *rcv, bool budgeted)
{
    const scps_dur delay = x->cfg->c.ack_delay;
    const scps_time now = x->env->now;
    scps_dur quiet;

    if (!rx || !scps_report_strict(&x->cfg->c)) {
        if ((uint32_t)rcv->in.next - a->acked_to == rcv->mss && a->alone < ALONE)
            a->alone++;
        return true;
    }
    quiet = rx->ack.data_at ? now - rx->ack.data_at : 0;
    if (quiet > delay + delay / 4) {
        if (rcv->in.ooo->n)
            stand_by(&rx->ack, now, delay, quiet);
        return false;
    }
    if (rcv->in.ooo->n)
        scps_timer_set(x, &a->timer, now + delay);
    /* Strictly delayed mode, and the delayed-ACK timer has expired: the next acknowledgements
     * report, by SACK or SNACK, all out-of-order data and the holes below it again, from RCV.NXT
     * upwards, in as many segments as necessary. With a limit on the rate of acknowledgements
     * (budgeted), what was not reported before comes first. */
    if (budgeted)
        scps_report_next_pass(&rx->report);
    else
        scps_report_restart(&rx->report);
    return true;
}

/* Counts a segment in *quick and returns true if it is one of the first `most` (setting quick_acks)
 * of a connection, each of which is acknowledged at once. */
static bool is_quick(uint16_t *quick, uint16_t most)
{
    if (*quick >= most)
        return false;
    ++*quick;
    return true;
}

/* Starts the delayed-acknowledgement timer. */
static inline void delay(struct scps_ackout *a, struct scps_conn_ctx *x, const struct scps_rx *rx)
{
    if (!scps_timer_runs(&a->timer))
        scps_timer_set(x, &a->timer, next_tick(rx, x->env->now, x->cfg->c.ack_delay));
}

bool scps_ackout_data(struct scps_ackout *a, struct scps_conn_ctx *x, const struct scps_rx *rx,
                      const struct scps_receive *rcv)
{
    const struct scps_conn_config *cfg = &x->cfg->c;
    uint32_t unacked = (uint32_t)rcv->in.next - a->acked_to;

    if (cfg->ack_mode == SCPS_ACK_EVERY ||
        (cfg->ack_mode == SCPS_ACK_OTHER &&
         (unacked > rcv->mss || a->alone == ALONE || is_quick(&a->quick, cfg->quick_acks))))
        return true;
    delay(a, x, rx);
    return false;
}

bool scps_ackout_beyond(struct scps_ackout *a, struct scps_conn_ctx *x, struct scps_rx *rx,
                        uint16_t full, bool hole_changed)
{
    if (!hole_changed && rx->ack.dups >= OOO_ACKS_IMMEDIATE &&
        x->cfg->c.ack_mode != SCPS_ACK_EVERY && rx->ack.unreported <= full) {
        delay(a, x, rx);
        return false;
    }
    rx->ack.dups++;
    return true;
}

/* Returns the value of SEG.WND, shifted right by `scale`, for a segment whose SEG.ACK is `next`:
 * the room in the receive buffer; or the room up to the right edge offered before, if the edge
 * would advance by less than a full segment and less than half the buffer. */
static SCPS_INLINE_SPEED uint64_t window_field(const struct scps_ackout *a,
                                               const struct scps_receive *rcv, uint32_t rcvbuf,
                                               scps_off next, unsigned scale)
{
    scps_off edge = scps_receive_edge(rcv, rcvbuf, a->announced);
    uint64_t gain, field;

    /* Silly window avoidance of the receiver: RFC 9293 section 3.8.6.2.2. */
    gain = edge - a->announced;
    if (gain < rcv->mss && gain < rcvbuf / 2)
        edge = a->announced;
    field = (edge > next ? edge - next : 0) >> scale;
    return SCPS_MIN(field, 65535);
}

uint16_t scps_ackout_window(struct scps_ackout *a, struct scps_conn_ctx *x,
                            const struct scps_receive *rcv, scps_off next, unsigned scale)
{
    uint64_t field = window_field(a, rcv, x->cfg->c.rcvbuf, next, scale);

    a->announced = SCPS_MAX(a->announced, next + (field << scale));
    a->max_offered = (uint32_t)SCPS_MAX(a->max_offered, field << scale);
    if (!field)
        x->st->zero_windows_out++;
    return (uint16_t)field;
}

bool scps_ackout_same(const struct scps_ackout *a, const struct scps_receive *rcv, uint32_t rcvbuf,
                      unsigned scale, struct scps_seg *seg)
{
    scps_off next = scps_receive_next(rcv);
    uint64_t field, offered;

    if ((uint32_t)next != a->acked_to || seg->flags & SCPS_SYN || scps_timer_runs(&a->timer))
        return false;
    field = window_field(a, rcv, rcvbuf, next, scale);
    offered = field << scale;
    if (!field || next + offered > a->announced || offered > a->max_offered ||
        !SCPS_FAST_PATH(SCPS_FAST_ACK_SAME))
        return false;
    seg->flags |= SCPS_ACK;
    seg->ack = scps_seq_wrap(rcv->irs, next);
    seg->wnd = (uint16_t)field;
    return true;
}

scps_off scps_ackout_step(const struct scps_ackout *a, const struct scps_conn_config *cfg,
                          const struct scps_rx *rx, uint16_t full, scps_off to)
{
    scps_off from = to - ((uint32_t)to - a->acked_to);
    bool each = cfg->ack_mode == SCPS_ACK_EVERY || from < (scps_off)cfg->quick_acks * full;
    scps_off step = from + (each ? 1u : 2u) * full;

    if (rx)
        step = SCPS_MAX(step, rx->ack.cover_to);
    return cfg->ack_mode == SCPS_ACK_DELAYED ? to : SCPS_MIN(step, to);
}

bool scps_ackout_more(struct scps_ackrx *r, bool more)
{
    return more && r->burst++ < BURST;
}

bool scps_ackout_sent(struct scps_ackout *a, scps_off next, bool more, bool step)
{
    a->acked_to = (uint32_t)next;
    if (a->extra_acks && !step) {
        a->extra_acks--;
        return true;
    }
    return more || step;
}

void scps_ackout_reported(struct scps_ackout *a, struct scps_rx *rx, const struct scps_receive *rcv,
                          const struct scps_conn_config *cfg, bool more)
{
    if (rx) {
        rx->ack.unreported = 0;
        if (!more)
            rx->ack.burst = 0;
        /* In strictly delayed mode (ack_mode SCPS_ACK_DELAYED without holes_at_once: new data is
         * acknowledged only when the delayed-ACK timer expires) the timer keeps running while
         * octets are missing at RCV.NXT and later ones have arrived. The acknowledgement at its
         * next expiry has the SACK and SNACK reports for which this one had no room. */
        if (rcv->in.ooo->n && scps_report_strict(cfg))
            return;
        rx->ack.ticks_end = 0;
    }
    scps_timer_stop(&a->timer);
}

/* ---- functions of the budget that limits acknowledgements without data ---- */

bool scps_ackbudget_covers(struct scps_ackbudget *b, struct scps_conn_ctx *x)
{
    const struct scps_conn_config *cfg = &x->cfg->c;
    const uint32_t bare = BARE + cfg->rate_overhead;
    scps_time now = x->env->now, bytes, packets, when;

    scps_pacer_set(&b->bytes, now, cfg->ack_budget, bare);
    scps_pacer_set(&b->packets, now, cfg->ack_budget_pps, 2);
    bytes = scps_pacer_when(&b->bytes, now, bare);
    packets = scps_pacer_when(&b->packets, now, 1);
    when = SCPS_MAX(bytes, packets);
    if (when <= now)
        return true;
    if (b->timer.at > when) {
        x->st->acks_held++;
        scps_timer_set(x, &b->timer, when);
    }
    return false;
}

void scps_ackbudget_spend(struct scps_ackbudget *b, uint32_t size)
{
    scps_pacer_spend(&b->bytes, size);
    scps_pacer_spend(&b->packets, 1);
}
