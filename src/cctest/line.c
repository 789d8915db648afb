/* SPDX-License-Identifier: MIT */
/* The path model of <scps/cctest.h>: one sender with the controller under test, a line with a queue
 * or a policer, and a receiver.
 *
 * A lost segment is detected when the next acknowledgement arrives. A recovery episode (RFC 6675:
 * loss recovery) ends when all segments that were outstanding at its beginning have been
 * acknowledged or declared lost. A timeout declares all outstanding segments lost; if one of them
 * is acknowledged later, the timeout was spurious. Times in this file are in nanoseconds, so that
 * the transmission time of a segment is not rounded; the controller gets microseconds, which are
 * rounded to ticks of the clock if the path has a tick.
 */
#include "cctest/bench.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Number of places in the ring of segments, and in that of acknowledgements. The sender stops
     * at ROOM - 8 segments outstanding, so that no place is used again before its segment is
     * acknowledged. */
    ROOM = 1 << 15
};
#define NS_PER_S  INT64_C(1000000000)
#define RTO_LEAST (300 * INT64_C(1000000))
#define RTO_MOST  (60 * NS_PER_S)

struct segment {
    /* time at which the segment was sent, ns; and the values, ns, that the fields delivered_at and
     * first_sent of struct scps_cctest_line had then */
    int64_t sent, delivered_at, first_sent;
    /* delivered: number of segments acknowledged when this one was sent; flight: bytes in flight
     * then, this segment included; lost_before: total of the bytes declared lost by then */
    uint64_t delivered, flight, lost_before;
    bool lost, app;
};

struct scps_cctest_line {
    struct scps_cctest_path p;
    struct scps_cctest t;
    struct segment seg[ROOM];
    struct {
        int64_t at;
        uint64_t upto;
    } ack[ROOM];
    /* sent: number of segments sent; acked: number of segments, counted from the first, that are
     * acknowledged or declared lost; presumed: segments with numbers below this were declared lost
     * by a timeout */
    uint64_t sent, acked, presumed;
    uint64_t ack_head, ack_tail, batch, round_end, episode_end, delivered;
    int64_t now, free_at, batch_due, may_send, arrived, heard_at, rto, backoff;
    int64_t delivered_at, first_sent, srtt, rttvar, tokens_at;
    /* tokens that the policer (token bucket that drops) has left, as time, ns, of transmission on
     * the line */
    int64_t tokens;
    bool in_episode, in_rto, limited, app;
    uint64_t rnd, app_sent;
    int64_t app_from;
    /* results since scps_cctest_line_mark() */
    struct scps_cctest_path_result r;
    int64_t mark_at;
    uint64_t rounds, sum_cwnd;
};

struct scps_cctest_line *
scps_cctest_line_new(const struct scps_cc_ops *ops, const int64_t *param,
                     const struct scps_cctest_path *p,
                     void (*watch)(void *ctx, const struct scps_cctest_event *e), void *ctx)
{
    struct scps_cctest_line *l = p->bps ? calloc(1, sizeof *l) : NULL;
    struct scps_cc_view v = {.now = 1};

    if (!l)
        return NULL;
    l->p = *p;
    v.mss = l->p.mss = p->mss ? p->mss : 1000;
    v.max_cwnd = (uint64_t)(ROOM - 64) * v.mss;
    v.conf_rate = ops->needs_rate ? p->bps / 8 : 0;
    l->p.ack_delay = p->ack_delay ? p->ack_delay : SCPS_MS(200);
    l->batch_due = INT64_MAX;
    l->rnd = p->seed;
    l->rto = NS_PER_S;
    l->backoff = 1;
    l->t.watch = watch;
    l->t.ctx = ctx;
    scps_cctest_start(&l->t, ops, param, &v);
    l->t.view.srtt = l->t.view.min_rtt = 0;
    return l;
}

void scps_cctest_line_free(struct scps_cctest_line *l)
{
    free(l);
}

struct scps_cctest_path *scps_cctest_line_path(struct scps_cctest_line *l)
{
    /* The caller may change the rate at which the application writes (app_bps) through the pointer
     * that is returned. So what the application has written is computed from this time on, with the
     * new rate. */
    l->app_from = l->now;
    l->app_sent = l->sent;
    return &l->p;
}

const struct scps_cctest *scps_cctest_line_bench(const struct scps_cctest_line *l)
{
    return &l->t;
}

static double chance(struct scps_cctest_line *l)
{
    return (double)(scps_cct_random(&l->rnd) >> 11) / 9007199254740992.0;
}

/* ---- functions of the sender's clock, which may have a coarse resolution ---- */

static scps_time clock_us(const struct scps_cctest_line *l, int64_t ns)
{
    int64_t us = 1 + ns / 1000;

    return l->p.tick ? us - us % l->p.tick + 1 : us;
}

/* Returns the time, ns, at which a timer of the sender that is due at ns expires: the next tick of
 * its clock. */
static int64_t wake(const struct scps_cctest_line *l, int64_t ns)
{
    int64_t tick = l->p.tick * 1000;

    return tick && ns < INT64_MAX - tick ? (ns + tick - 1) / tick * tick : ns;
}

/* ---- functions of the receiver, which acknowledges ---- */

static void push_ack(struct scps_cctest_line *l, int64_t arrival, uint64_t upto)
{
    int64_t at = arrival + l->p.delay * 500, step = l->p.aggregate * 1000;

    if (step)
        at = (at + step - 1) / step * step;
    if (l->ack_tail > l->ack_head && at < l->ack[(l->ack_tail - 1) % ROOM].at)
        at = l->ack[(l->ack_tail - 1) % ROOM].at;
    l->ack[l->ack_tail % ROOM].at = at;
    l->ack[l->ack_tail++ % ROOM].upto = upto;
    l->batch = 0;
    l->batch_due = INT64_MAX;
}

static void receive(struct scps_cctest_line *l, int64_t arrival)
{
    l->arrived = arrival = SCPS_MAX(arrival, l->arrived);
    if (l->batch && arrival > l->batch_due)
        push_ack(l, l->batch_due, l->sent - 1);
    if (!l->batch++) {
        l->batch_due = arrival + l->p.ack_delay * 1000;
        if (l->p.late)
            l->batch_due += (int64_t)(chance(l) * (double)l->p.late * 1000);
    }
    if (l->p.ack_every && l->batch >= l->p.ack_every)
        push_ack(l, arrival, l->sent);
}

/* ---- functions of the line and its queue or policer ---- */

static int64_t line_time(const struct scps_cctest_line *l)
{
    return (int64_t)(l->p.mss * UINT64_C(8) * NS_PER_S / l->p.bps);
}

/* Returns true if the policer has enough tokens for a segment, whose transmission takes tx ns, and
 * takes these tokens. Returns false if the policer drops the segment. */
static bool conforms(struct scps_cctest_line *l, int64_t tx)
{
    int64_t most = tx * (int64_t)l->p.policer;

    l->tokens += l->now - l->tokens_at;
    l->tokens_at = l->now;
    l->tokens = SCPS_MIN(l->tokens, most);
    if (l->tokens < tx)
        return false;
    l->tokens -= tx;
    return true;
}

/* Called when a segment is sent: returns the time, ns, at which its transmission on the line ends;
 * -1: it is lost. */
static int64_t cross(struct scps_cctest_line *l)
{
    int64_t tx = line_time(l), begin = SCPS_MAX(l->free_at, l->now);
    uint64_t waiting = (uint64_t)((begin - l->now + tx - 1) / tx);
    bool unlucky = l->p.loss > 0 && chance(l) < l->p.loss;

    if (l->p.policer) {
        l->free_at = l->now;
        return conforms(l, tx) && !unlucky && !l->p.down ? l->now : -1;
    }
    l->r.max_queue = SCPS_MAX(l->r.max_queue, waiting);
    if (l->p.queue && waiting > l->p.queue)
        return -1;
    l->free_at = begin + tx;
    if (l->p.down || unlucky || (l->p.period && l->sent % l->p.period == 0))
        return -1;
    return l->free_at;
}

static void pace(struct scps_cctest_line *l)
{
    int64_t behind = l->now - l->p.tick * 1000, step;

    if (!l->t.ctl.rate)
        return;
    step = (int64_t)((double)l->p.mss * 1e9 / (double)l->t.ctl.rate);
    l->may_send = SCPS_MAX(l->may_send, behind) + step;
}

static void send(struct scps_cctest_line *l)
{
    struct segment *g = &l->seg[l->sent % ROOM];
    uint64_t flight = (l->sent - SCPS_MAX(l->acked, l->presumed)) * l->p.mss;
    int64_t out;

    /* Nothing is outstanding, so the interval of the next delivery-rate sample begins now, and so
     * does the retransmission timer. */
    if (l->sent == l->acked) {
        l->delivered_at = l->first_sent = l->now;
        l->heard_at = l->now;
    }
    *g = (struct segment){.sent = l->now,
                          .delivered_at = l->delivered_at,
                          .first_sent = l->first_sent,
                          .delivered = l->delivered,
                          .flight = flight + l->p.mss,
                          .lost_before = l->t.view.lost,
                          .app = l->app};
    if (l->t.ops->on_sent) {
        l->t.view.now = clock_us(l, l->now);
        l->t.view.inflight = flight;
        l->t.view.outstanding = (l->sent - l->acked) * l->p.mss;
        l->t.view.app_limited = l->app;
        scps_cctest_sent(&l->t, &(struct scps_cc_sent){.bytes = l->p.mss});
    }
    pace(l);
    l->sent++;
    l->r.sent++;
    out = cross(l);
    if (out < 0) {
        g->lost = true;
        l->r.lost++;
    } else {
        receive(l, out + l->p.delay * 500);
    }
}

/* ---- functions that process acknowledgements ---- */

struct acked {
    struct scps_cc_ack a;
    uint64_t lost;
    const struct segment *lost_last;
    /* true: a segment that a timeout had declared lost has been acknowledged, so the timeout was
     * spurious. That is certain, because the model sends no segment twice. */
    bool late;
};

static void rate_sample(struct scps_cctest_line *l, const struct segment *g, struct acked *n)
{
    int64_t send_time = g->sent - g->first_sent, ack_time = l->now - g->delivered_at;
    int64_t interval = SCPS_MAX(SCPS_MAX(send_time, ack_time), 1000);

    n->a.rate =
        (uint64_t)((double)((l->delivered - g->delivered) * l->p.mss) * 1e9 / (double)interval);
    n->a.app_limited = g->app;
    n->a.interval = interval / 1000;
    n->a.sample_bytes = (l->delivered - g->delivered) * l->p.mss;
    n->a.prior_delivered = g->delivered * l->p.mss;
    n->a.tx_in_flight = g->flight;
    n->a.lost_since = l->t.view.lost - g->lost_before;
    l->first_sent = g->sent;
}

static void rtt_sample(struct scps_cctest_line *l, int64_t rtt)
{
    struct scps_cc_view *v = &l->t.view;
    int64_t ns = rtt * 1000, off = l->srtt > ns ? l->srtt - ns : ns - l->srtt;

    l->rttvar = l->srtt ? l->rttvar + (off - l->rttvar) / 4 : ns / 2;
    l->srtt = l->srtt ? l->srtt + (ns - l->srtt) / 8 : ns;
    l->rto = SCPS_CLAMP(l->srtt + 4 * l->rttvar, RTO_LEAST, RTO_MOST);
    v->srtt = SCPS_MAX(l->srtt / 1000, 1);
    v->min_rtt = v->min_rtt ? SCPS_MIN(v->min_rtt, rtt) : rtt;
}

static struct acked collect(struct scps_cctest_line *l, uint64_t upto)
{
    struct acked n = {.a = {.rtt = -1, .rtt_old = -1}};
    const struct segment *newest = NULL;

    for (; l->acked < upto; l->acked++) {
        const struct segment *g = &l->seg[l->acked % ROOM];
        if (g->lost) {
            if (l->acked >= l->presumed || n.late) {
                n.lost++;
                n.lost_last = g;
                l->t.view.lost += l->p.mss;
            }
            continue;
        }
        n.late |= l->acked < l->presumed;
        scps_dur rtt = SCPS_MAX(clock_us(l, l->now) - clock_us(l, g->sent), 1);
        if (n.a.rtt_old < 0)
            n.a.rtt_old = rtt;
        n.a.rtt = rtt;
        n.a.bytes += l->p.mss;
        l->delivered++;
        newest = g;
    }
    if (newest) {
        rate_sample(l, newest, &n);
        l->delivered_at = l->now;
    }
    if (l->p.newest_only)
        n.a.rtt_old = 0;
    l->r.delivered += n.a.bytes / l->p.mss;
    return n;
}

static void lose(struct scps_cctest_line *l, const struct acked *n)
{
    bool fresh = !l->in_episode && !l->in_rto;
    struct scps_cc_loss e = {.bytes = n->lost * l->p.mss,
                             .cause = l->t.view.cause,
                             .evidence = SCPS_BY_SACK,
                             .new_episode = fresh,
                             .app_limited = n->lost_last->app,
                             .ranges = 1,
                             .tx_in_flight = n->lost_last->flight,
                             .lost_since = l->t.view.lost - n->lost_last->lost_before};

    if (fresh) {
        l->r.episodes++;
        l->in_episode = true;
        l->episode_end = l->sent;
    }
    scps_cctest_loss(&l->t, &e);
}

static void hear(struct scps_cctest_line *l, uint64_t upto)
{
    struct scps_cc_view *v = &l->t.view;
    uint64_t outstanding = l->sent - l->acked;
    struct acked n = collect(l, upto);

    v->now = clock_us(l, l->now);
    v->outstanding = outstanding * v->mss;
    v->inflight = (l->sent - SCPS_MAX(l->acked, n.late ? 0 : l->presumed)) * v->mss;
    v->cwnd_limited = l->limited;
    v->app_limited = l->app;
    v->delivered = l->delivered * v->mss;
    l->heard_at = l->now;
    l->backoff = 1;
    if (n.a.rtt > 0)
        rtt_sample(l, n.a.rtt);
    if (n.late && l->in_rto) {
        l->presumed = l->acked;
        l->in_episode = l->in_rto = false;
        scps_cctest_change(&l->t, SCPS_CC_SPURIOUS);
    } else if ((l->in_episode || l->in_rto) && l->acked >= l->episode_end) {
        l->in_episode = l->in_rto = false;
        scps_cctest_change(&l->t, SCPS_CC_RECOVERED);
    }
    if (l->acked > l->round_end) {
        n.a.round_start = true;
        l->round_end = l->sent;
        l->rounds++;
        l->sum_cwnd += SCPS_MIN(l->t.ctl.cwnd, v->max_cwnd);
    }
    if (n.lost)
        lose(l, &n);
    n.a.in_recovery = l->in_episode;
    if (n.a.bytes)
        scps_cctest_ack(&l->t, &n.a);
    l->limited = false;
    if (l->t.ctl.cwnd != SCPS_CWND_OPEN)
        l->r.peak_cwnd = SCPS_MAX(l->r.peak_cwnd, l->t.ctl.cwnd);
}

static void time_out(struct scps_cctest_line *l)
{
    struct scps_cc_view *v = &l->t.view;

    v->now = clock_us(l, l->now);
    v->outstanding = (l->sent - l->acked) * v->mss;
    v->inflight = 0;
    l->r.timeouts++;
    v->lost += (l->sent - SCPS_MAX(l->acked, l->presumed)) * v->mss;
    l->presumed = l->sent;
    l->episode_end = l->sent;
    l->in_episode = false;
    l->in_rto = true;
    l->heard_at = l->now;
    l->backoff = SCPS_MIN(2 * l->backoff, 64);
    scps_cctest_change(&l->t, SCPS_CC_RTO);
}

/* ---- the loop that sends segments and delivers acknowledgements ---- */

/* Returns the time, ns, at which the application will have written the next segment to send; -1: it
 * has written that segment already. */
static int64_t app_next(const struct scps_cctest_line *l)
{
    int64_t at;

    if (!l->p.app_bps)
        return -1;
    at = l->app_from +
         (int64_t)((double)(l->sent - l->app_sent) * l->p.mss * 8e9 / (double)l->p.app_bps);
    return at <= l->now ? -1 : at;
}

static bool window_full(const struct scps_cctest_line *l)
{
    uint64_t window = SCPS_MIN(l->t.ctl.cwnd, l->t.view.max_cwnd) / l->p.mss;

    return l->sent - SCPS_MAX(l->acked, l->presumed) >= window || l->sent - l->acked >= ROOM - 8;
}

/* Sends the segments that window, pacing rate and application allow now. Returns the time, ns, at
 * which the next one may be sent; INT64_MAX: the window is full, so an acknowledgement has to come
 * first. */
static int64_t transmit(struct scps_cctest_line *l)
{
    while (!window_full(l)) {
        int64_t app = app_next(l), timer = l->t.ctl.rate ? wake(l, l->may_send) : l->now;

        l->app = app >= 0;
        if (app >= 0 || timer > l->now)
            return SCPS_MAX(app, timer);
        send(l);
    }
    l->limited |= app_next(l) < 0;
    return INT64_MAX;
}

void scps_cctest_line_run(struct scps_cctest_line *l, scps_dur time)
{
    int64_t until = l->now + time * 1000;

    for (;;) {
        int64_t next = transmit(l);
        int64_t ack = l->ack_head < l->ack_tail ? l->ack[l->ack_head % ROOM].at : INT64_MAX;
        int64_t timer = l->batch ? l->batch_due : INT64_MAX;
        int64_t rto = l->sent > SCPS_MAX(l->acked, l->presumed)
                          ? wake(l, l->heard_at + SCPS_MIN(l->rto * l->backoff, RTO_MOST))
                          : INT64_MAX;
        int64_t e = SCPS_MIN(SCPS_MIN(next, ack), SCPS_MIN(timer, rto));

        if (e > until) {
            l->now = until;
            return;
        }
        l->now = SCPS_MAX(e, l->now);
        if (e == timer)
            push_ack(l, e, l->sent);
        else if (e == ack)
            hear(l, l->ack[l->ack_head++ % ROOM].upto);
        else if (e == rto)
            time_out(l);
    }
}

void scps_cctest_line_mark(struct scps_cctest_line *l)
{
    l->r = (struct scps_cctest_path_result){0};
    l->mark_at = l->now;
    l->rounds = l->sum_cwnd = 0;
}

struct scps_cctest_path_result scps_cctest_line_result(const struct scps_cctest_line *l)
{
    struct scps_cctest_path_result r = l->r;
    double span = (double)(l->now - l->mark_at);

    if (span > 0)
        r.goodput = (uint64_t)((double)r.delivered * l->p.mss * 8e9 / span);
    r.mean_cwnd = l->rounds ? l->sum_cwnd / l->rounds : 0;
    return r;
}
