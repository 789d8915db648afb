/* SPDX-License-Identifier: MIT */
/* Plans the next segment of new data, and checks each rule that may prevent it: windows, Nagle's
 * rule, the connection's own rate (sndplan.c).
 *
 * A function that returns false has recorded the reason (enum scps_hold), and has started the timer
 * that ends the wait, unless another event does. The checks that every segment passes are inlined,
 * in snddata.c alone.
 */
#ifndef SCPS_CORE_SNDPLAN_H
#define SCPS_CORE_SNDPLAN_H

#include "base/bytes.h"
#include "core/control.h"
#include "core/gate.h"
#include "core/snd.h"
#include "core/tx.h"

/* The planned next segment of new data, which begins at SND.NXT. */
struct scps_tx_plan {
    /* avail: octets written by the application and not sent yet; usable: octets that the peer's
     * window still permits */
    uint64_t avail, usable;
    uint64_t inflight;
    /* len: payload of this segment; full: payload of the largest segment possible now */
    uint32_t len, full;
    uint32_t takes; /* sequence numbers that the segment takes: len, and one for the FIN */
    /* bytes that the segment takes from the token bucket (tx->pacer) of the connection's own rate,
     * which the application or the controller has set; 0: there is no such rate */
    uint32_t size;
    uint32_t flags; /* flags SCPS_SENT_* of the scoreboard record of the segment */
    bool fin;       /* true: the segment has the FIN */
};

/* ---- functions in sndplan.c, for cases that few segments meet ---- */

/* Called when the congestion window is full. Returns true if the minimum rate of the route (gate.h)
 * permits this connection one more segment now. */
bool scps_plan_gate_permits(struct scps_sender *s);
/* Returns true if a segment of len octets, smaller than a full one, may be sent now by Nagle's
 * rule, silly window avoidance and cork. usable: octets that the peer's window still permits. */
bool scps_plan_small(struct scps_sender *s, uint32_t len, uint64_t usable);
/* Returns how many bytes a segment with len octets of data takes from the token bucket of the pacer
 * where the pacer spreads the congestion window over a round trip: len, or more if a configured
 * rate, which counts headers, must be observed, too. */
uint32_t scps_plan_window_cost(const struct scps_sender *s, uint32_t len);
/* Restarts from the initial window if nothing was sent for longer than an RTO. cc: state of the
 * congestion controller. */
void scps_plan_restart(struct scps_sender *s, void *cc);

/* ---- functions that are called for each segment, and are therefore inline ---- */

/* Returns how many octets may be in flight now: in fast recovery for which the controller has
 * reduced its window, what PRR (RFC 6937) permits; otherwise the congestion window. While the peer
 * is silent, it is at most 10 full segments: after a timeout if no acknowledgement had arrived for
 * an RTO, or after two timeouts in a row, until the peer reports an arrival or an outage of the
 * link ends. */
static SCPS_ALWAYS_INLINE uint64_t scps_plan_window(struct scps_sender *s)
{
    const struct scps_recovery *rec = &s->tx->rec;

    if (rec->silent)
        return scps_recovery_window(s);
    return scps_recovery_reduces(s) ? rec->window : s->ctl.cwnd;
}

/* Returns how many bytes a segment with len octets of data takes from the token bucket (tx->pacer)
 * of the connection's own rate; 0: the connection has no such rate. */
static SCPS_ALWAYS_INLINE uint32_t scps_plan_cost(const struct scps_sender *s, uint32_t len)
{
    if (!s->tx->pacer.rate)
        return 0;
    return s->tx->paces_window ? scps_plan_window_cost(s, len) : scps_cc_packet(s, len);
}

/* Returns true if the connection's own rate permits a segment now that takes `size` bytes from the
 * pacer's token bucket; otherwise starts the pacer's timer and returns false. Precondition: there
 * is such a rate, and scps_pacer_earn() has added to the token bucket all that the rate has yielded
 * until now. */
static SCPS_ALWAYS_INLINE bool scps_plan_covered(struct scps_sender *s, uint32_t size)
{
    scps_time when = scps_pacer_due(&s->tx->pacer, size);

    if (when <= s->ctx.env->now)
        return true;
    scps_timer_set_next(&s->ctx, &s->tx->pace_timer, when);
    scps_snd_hold(s, SCPS_HOLD_PACE);
    return false;
}

/* Returns true if the congestion window counts as fully used with `inflight` octets in flight,
 * because no further segment would fit. In slow start more than half of the window suffices (RFC
 * 7661 section 4.1). */
static SCPS_ALWAYS_INLINE bool scps_plan_in_use(const struct scps_cc_ctl *ctl, uint32_t mss,
                                                uint64_t inflight, uint64_t window)
{
    return inflight + mss > window || (ctl->cwnd < ctl->ssthresh && 2 * inflight > ctl->cwnd);
}

/* Called when less than a full segment is left to send. If the window has room, marks rate samples
 * as app-limited until all that is in flight has arrived (draft-ietf-ccwg-bbr, section "Tracking
 * application-limited phases"). */
static SCPS_ALWAYS_INLINE void scps_plan_ran_dry(struct scps_tx *tx, uint64_t window)
{
    if (tx->delivery.app_limited || (tx->sb.inflight < window && !tx->sb.lost))
        scps_delivery_app_limited(&tx->delivery, tx->sb.inflight);
}

/* Returns true if a window probe is needed: data waits, the peer's window is closed, and nothing is
 * in flight whose acknowledgement could open it. */
static SCPS_ALWAYS_INLINE bool scps_plan_must_probe(const struct scps_send *s)
{
    return s->nxt < scps_send_fin_end(s) && s->edge <= s->nxt && s->una == s->nxt;
}

/* Plans the next segment of new data. Returns false if there is nothing to send, or the peer's
 * window is closed. */
static SCPS_ALWAYS_INLINE bool scps_plan_segment(struct scps_sender *s, bool probe,
                                                 struct scps_tx_plan *p)
{
    struct scps_tx *tx = s->tx;

    p->avail = s->snd.nxt < s->snd.end ? s->snd.end - s->snd.nxt : 0;
    p->fin = s->snd.shut && !scps_send_fin_sent(&s->snd);
    if (!p->avail && !p->fin) {
        if (s->hold != SCPS_HOLD_APP)
            scps_snd_hold(s, SCPS_HOLD_APP);
        /* The application has no data left, so rate samples are marked app-limited until all that
         * is in flight now is delivered. If they are marked already, the end of that marking moves
         * only for a controller with own_recovery: of those in the library that is bbr, the only
         * one that uses the marks. */
        if (s->ctx.cfg->c.cc->own_recovery || !tx->delivery.app_limited)
            scps_plan_ran_dry(tx, scps_plan_window(s));
        return false;
    }
    p->usable = s->snd.edge > s->snd.nxt ? s->snd.edge - s->snd.nxt : 0;
    p->flags = 0;
    if (probe && !p->usable &&
        /* The segment is a window probe: one octet, or the FIN, beyond the window. */
        s->snd.una == s->snd.nxt) {
        p->usable = 1;
        p->flags = SCPS_SENT_PROBE;
    }
    if (!p->usable) {
        scps_snd_hold(s, SCPS_HOLD_PEER_WINDOW);
        if (scps_plan_must_probe(&s->snd) && !(s->todo.bits & SCPS_TODO_PERSIST))
            scps_persist_begin(s);
        return false;
    }
    p->full = s->todo.bits & SCPS_TODO_CWR ? scps_agreed_any_mss(&s->agreed) : s->agreed.mss;
    p->len = (uint32_t)SCPS_MIN(p->avail, p->full);
    p->len = (uint32_t)SCPS_MIN(p->len, p->usable);
    /* A segment never contains octets of two records, and one that ends a record does not wait for
     * more data. */
    if (tx->ends.n) {
        /* scps_record_cut() gets the addresses of these two copies, not of the fields of p, so that
         * the compiler can keep the plan in registers. */
        uint32_t flags = p->flags, full = p->full;
        p->len = scps_record_cut(&tx->ends, s->snd.nxt, p->full, p->len, &flags, &full);
        p->flags = flags;
        p->full = full;
    }
    return true;
}

/* Returns true if the planned segment may be sent: it fits the congestion window, nothing is in
 * flight, or it is a window probe or a tail loss probe. Otherwise returns true only if the minimum
 * rate of the route (scps_route.min_rate) permits it: as long as the route sends less than that
 * rate, connections whose congestion window is full may send one segment each in turn. cc: state of
 * the congestion controller. */
static SCPS_ALWAYS_INLINE bool scps_plan_window_covers(struct scps_sender *s, void *cc,
                                                       struct scps_tx_plan *p)
{
    struct scps_tx *tx = s->tx;

    if (s->snd.una == s->snd.nxt)
        scps_plan_restart(s, cc);
    p->inflight = scps_recovery_inflight(s->tx);
    if (!s->ctx.cfg->c.limited_transmit && tx->rec.episode == SCPS_EPISODE_NONE)
        p->inflight = s->snd.nxt - s->snd.una;
    return !p->inflight || p->inflight + p->len <= scps_plan_window(s) ||
           p->flags & SCPS_SENT_PROBE || s->todo.bits & SCPS_TODO_TAIL || scps_plan_gate_permits(s);
}

/* Makes room for the planned segment's record in the scoreboard. Returns false if there is no
 * memory: then nothing is sent, and a timer lets the connection try again after an RTO, but not
 * before SCPS_MEMORY_RETRY has passed. */
static SCPS_ALWAYS_INLINE bool scps_plan_record_fits(struct scps_sender *s)
{
    if (!scps_sb_reserve(&s->tx->sb, &s->ctx.env->alloc))
        return true;
    scps_snd_hold(s, SCPS_HOLD_APP);
    /* On a path with a round trip of microseconds the RTO is far shorter than the time in which
     * other connections free memory. */
    scps_timer_set(&s->ctx, &s->tx->retry_timer,
                   s->ctx.env->now + SCPS_MAX(s->rtt.rto, SCPS_MEMORY_RETRY));
    return false;
}

/* Called after a planned segment was sent: records whether the congestion window is full now. If
 * only the pacing rate delays the next segment, starts the pacer's timer, so that the stack does
 * not ask the connection for a segment in vain. */
static SCPS_ALWAYS_INLINE void scps_plan_look_ahead(struct scps_sender *s,
                                                    const struct scps_tx_plan *p)
{
    struct scps_tx *tx = s->tx;
    uint64_t window = scps_plan_window(s), inflight = p->inflight + p->takes;

    if (scps_plan_in_use(&s->ctl, s->agreed.mss, inflight, window))
        scps_cc_limited(&s->use, true);
    if (tx->pacer.rate && !scps_pacer_covers(&tx->pacer, p->len) &&
        p->avail >= p->len + s->agreed.mss && p->usable >= p->len + s->agreed.mss && !tx->ends.n &&
        !s->queue->gate && p->inflight + p->len + s->agreed.mss <= window) {
        uint32_t next = p->len == s->agreed.mss ? p->size : scps_plan_cost(s, s->agreed.mss);
        /* If the pacer's token bucket does not permit the next full segment yet, this call starts
         * the pacer's timer; until that expires, the connection is not in the ready queue. The
         * result of the call is not needed. */
        scps_plan_covered(s, next);
    }
}

#endif
