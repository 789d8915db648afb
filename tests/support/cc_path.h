/* SPDX-License-Identifier: MIT */
/* A controller on a path: one sender that always has data, one bottleneck, one receiver.
 *
 *     cwnd, rate --> [ queue | C ] -- delay --> receiver --+   every ack_every segments, and after
 *         ^                                                |   ack_delay at the latest
 *         +------------------- delay ----------------------+
 *
 * It is not a TCP: whole segments, no sequence numbers, no retransmission. A lost segment is learnt
 * of with the next acknowledgement, episodes end when what was outstanding at their beginning is
 * heard of. That is enough to show where a rule settles, and quick enough to run for hours of path
 * time. Times inside are nanoseconds, so that a segment time is not rounded.
 */
#ifndef SCPS_TEST_CC_PATH_H
#define SCPS_TEST_CC_PATH_H

#include <stdlib.h>

#include "cc_table.h"

struct cc_path {
    /* The test sets these fields. */
    uint64_t bps;   /* rate of the bottleneck, bit/s; a segment counts as mss bytes */
    scps_dur delay; /* round-trip propagation delay, µs, without queueing and transmission */
    uint64_t queue; /* most segments in the queue; 0: no limit */
    /* segments for each acknowledgement: 1 (mode F1) or 2 (F2); 0: only the timer (F0) */
    unsigned ack_every;
    scps_dur ack_delay;
    scps_dur late;     /* the timer of the receiver expires late by a random time up to this, µs */
    uint64_t pace_bps; /* rate limit of the sender, bit/s; 0: none */
    double per;        /* probability that a segment is lost */
    bool newest_only;  /* leave rtt_old of acknowledgements 0 */
    /* The test reads these fields. */
    struct cc_table t;
    uint64_t delivered, sent, drops, losses; /* numbers of segments, and of loss episodes */
    uint64_t max_queue; /* most segments in the queue or on the line since cc_path_mark() */
    uint64_t peak_cwnd;
    /* These fields are private to this file. */
    struct cc_path_seg {
        int64_t sent;
        bool lost;
    } * seg;
    struct cc_path_ack {
        int64_t at;
        uint64_t upto;
    } * ack;
    uint64_t room, acked, ack_head, ack_tail, batch, round_end, episode_end;
    int64_t now, free_at, batch_due, may_send;
    bool in_episode, limited;
    uint64_t rnd;
    uint64_t mark_delivered;
    int64_t mark_at;
};

static inline void cc_path_open(struct cc_path *p, const char *cc, struct scps_cc_view v)
{
    p->room = 1 << 16;
    p->seg = calloc(p->room, sizeof *p->seg);
    p->ack = calloc(p->room, sizeof *p->ack);
    assert_true(p->seg && p->ack);
    p->batch_due = INT64_MAX;
    p->rnd = 1;
    v.srtt = v.min_rtt = 0;
    v.now = 1;
    cc_table_start(&p->t, cc, v);
    p->t.v.srtt = p->t.v.min_rtt = 0;
}

static inline void cc_path_close(struct cc_path *p)
{
    free(p->seg);
    free(p->ack);
}

/* Returns a random number from 0 to 1 (xorshift64). */
static inline double cc_path_random(struct cc_path *p)
{
    p->rnd ^= p->rnd << 13, p->rnd ^= p->rnd >> 7, p->rnd ^= p->rnd << 17;
    return (double)(p->rnd >> 11) / 9007199254740992.0;
}

static inline int64_t cc_path_lateness(struct cc_path *p)
{
    return p->late ? (int64_t)(cc_path_random(p) * (double)p->late * 1000) : 0;
}

static inline void cc_path_push_ack(struct cc_path *p, int64_t arrival, uint64_t upto)
{
    assert_true(p->ack_tail - p->ack_head < p->room);
    p->ack[p->ack_tail++ % p->room] = (struct cc_path_ack){arrival + p->delay * 500, upto};
    p->batch = 0;
    p->batch_due = INT64_MAX;
}

static inline void cc_path_send(struct cc_path *p)
{
    uint32_t mss = p->t.v.mss;
    int64_t tx = (int64_t)(mss * UINT64_C(8000000000) / p->bps);
    struct cc_path_seg *g = &p->seg[p->sent % p->room];
    uint64_t waiting = p->free_at > p->now ? (uint64_t)((p->free_at - p->now + tx - 1) / tx) : 0;

    assert_true(p->sent - p->acked < p->room);
    if (waiting > p->max_queue)
        p->max_queue = waiting;
    *g = (struct cc_path_seg){p->now, false};
    uint64_t pace = p->pace_bps, own = p->t.ctl.rate * 8;
    if (own && (!pace || own < pace))
        pace = own;
    if (pace) {
        int64_t step = (int64_t)(mss * UINT64_C(8000000000) / pace);
        p->may_send = (p->may_send > p->now ? p->may_send : p->now) + step;
    }
    p->sent++;
    if (p->queue && waiting > p->queue) {
        g->lost = true;
        p->drops++;
        return;
    }
    p->free_at = (p->free_at > p->now ? p->free_at : p->now) + tx;
    if (p->per > 0 && cc_path_random(p) < p->per) {
        g->lost = true;
        return;
    }
    int64_t arrival = p->free_at + p->delay * 500;
    if (p->batch && arrival > p->batch_due)
        cc_path_push_ack(p, p->batch_due, p->sent - 1);
    if (!p->batch++)
        p->batch_due = arrival + p->ack_delay * 1000 + cc_path_lateness(p);
    if (p->ack_every && p->batch >= p->ack_every)
        cc_path_push_ack(p, arrival, p->sent);
}

static inline void cc_path_hear(struct cc_path *p, uint64_t upto)
{
    struct scps_cc_view *v = &p->t.v;
    struct scps_cc_ack a = {.rtt = -1, .rtt_old = -1};
    uint64_t lost = 0, outstanding = p->sent - p->acked;

    for (; p->acked < upto; p->acked++) {
        struct cc_path_seg *g = &p->seg[p->acked % p->room];
        if (g->lost) {
            lost++;
            continue;
        }
        scps_dur rtt = (p->now - g->sent) / 1000;
        if (a.rtt_old < 0)
            a.rtt_old = rtt;
        a.rtt = rtt;
        a.bytes += v->mss;
        p->delivered++;
    }
    v->now = 1 + p->now / 1000;
    v->outstanding = outstanding * v->mss;
    v->inflight = (p->sent - p->acked) * v->mss;
    v->cwnd_limited = p->limited;
    if (a.rtt > 0) {
        v->srtt = v->srtt ? v->srtt + (a.rtt - v->srtt) / 8 : a.rtt;
        if (!v->min_rtt || a.rtt < v->min_rtt)
            v->min_rtt = a.rtt;
    }
    if (p->in_episode && p->acked >= p->episode_end) {
        p->in_episode = false;
        p->t.ops->change(p->t.u.state, v, SCPS_CC_RECOVERED, &p->t.ctl);
    }
    if (p->acked > p->round_end) {
        a.round_start = true;
        p->round_end = p->sent;
    }
    a.in_recovery = p->in_episode;
    if (p->newest_only)
        a.rtt_old = 0;
    if (a.bytes)
        p->t.ops->ack(p->t.u.state, v, &a, &p->t.ctl);
    if (lost) {
        struct scps_cc_loss l = {.bytes = lost * v->mss,
                                 .cause = v->cause,
                                 .evidence = SCPS_BY_SACK,
                                 .new_episode = !p->in_episode};
        p->losses += l.new_episode;
        if (l.new_episode)
            p->episode_end = p->sent;
        p->in_episode = true;
        p->t.ops->loss(p->t.u.state, v, &l, &p->t.ctl);
    }
    p->limited = false;
    if (p->t.ctl.cwnd > p->peak_cwnd)
        p->peak_cwnd = p->t.ctl.cwnd;
}

/* Runs the model for `time` µs. */
static inline void cc_path_run(struct cc_path *p, scps_dur time)
{
    int64_t until = p->now + time * 1000;

    for (;;) {
        while (p->sent - p->acked < p->t.ctl.cwnd / p->t.v.mss && p->may_send <= p->now)
            cc_path_send(p);
        bool blocked = p->sent - p->acked >= p->t.ctl.cwnd / p->t.v.mss;
        p->limited |= blocked;
        int64_t next = blocked ? INT64_MAX : p->may_send;
        int64_t ack = p->ack_head < p->ack_tail ? p->ack[p->ack_head % p->room].at : INT64_MAX;
        int64_t timer = p->batch ? p->batch_due : INT64_MAX;
        int64_t e = next < ack ? next : ack;
        e = timer < e ? timer : e;
        if (e == INT64_MAX && p->sent > p->acked)
            /* All segments are lost: the model acknowledges them, which stands for a timeout. */
            cc_path_push_ack(p, p->now, p->sent);
        if (e > until || e == INT64_MAX) {
            if (e == INT64_MAX)
                continue;
            p->now = until;
            return;
        }
        p->now = e;
        if (e == timer)
            cc_path_push_ack(p, e, p->sent);
        else if (e == ack)
            cc_path_hear(p, p->ack[p->ack_head++ % p->room].upto);
    }
}

static inline void cc_path_mark(struct cc_path *p)
{
    p->mark_delivered = p->delivered;
    p->mark_at = p->now;
    p->max_queue = 0;
}

/* Returns the bits per second delivered since cc_path_mark(). */
static inline uint64_t cc_path_goodput(const struct cc_path *p)
{
    return (uint64_t)((double)(p->delivered - p->mark_delivered) * p->t.v.mss * 8e9 /
                      (double)(p->now - p->mark_at));
}

#endif
