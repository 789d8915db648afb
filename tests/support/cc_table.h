/* SPDX-License-Identifier: MIT */
/* Controllers tested from tables: events in, cwnd, ssthresh and rate out, no connection.
 *
 *     struct cc_table t;
 *     cc_open(&t, "vj,abc_limit=2", .mss = 1000, .init_cwnd = 4000);
 *     static const struct cc_row rows[] = {
 *         {CC_ACK, .bytes = 4000, .cwnd = 8000},              // slow start
 *         {CC_LOSS, .bytes = 1000, .fresh = true, .cwnd = 4000, .ssthresh = 4000},
 *         {CC_CHANGE, .what = SCPS_CC_RTO, .cwnd = 1000},
 *     };
 *     cc_play(&t, rows, CC_ROWS(rows));
 *
 * In a row, what is left out means the usual thing: outstanding and inflight are the window, the
 * window is what limits, the cause is congestion, rtt is the table's, and an output of 0 is not
 * looked at. Time advances by `after` before the event.
 */
#ifndef SCPS_TEST_CC_TABLE_H
#define SCPS_TEST_CC_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <scps/cc.h>

#define CC_ROWS(a) (sizeof(a) / sizeof *(a))

struct cc_table {
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS];
    struct scps_cc_view v;
    struct scps_cc_ctl ctl;
    union {
        uint64_t align;
        uint8_t state[SCPS_CC_STATE_MAX];
    } u;
};

enum cc_kind { CC_ACK, CC_LOSS, CC_CHANGE };

struct cc_row {
    enum cc_kind kind;
    /* Inputs of the event. */
    scps_dur after;
    uint64_t bytes;
    /* number of times that the row is played; 0: once. Outputs are checked after the last time */
    unsigned times;
    uint64_t outstanding; /* bytes outstanding; 0: equal to cwnd */
    bool app;             /* the application, not the window, limits the sender */
    scps_dur rtt;         /* acknowledgement: RTT, µs; 0: that of the row before; -1: unknown */
    scps_dur rtt_old;     /* acknowledgement: RTT of the oldest segment, µs */
    bool round;           /* acknowledgement: it is the first of a round trip */
    bool in_recovery;     /* acknowledgement: a recovery episode is going on */
    uint64_t pipe;        /* pipeACK, bytes; 0: unknown */
    uint64_t resent;      /* bytes resent since the last recovery episode began */
    bool fresh;           /* loss: it begins a new episode */
    enum scps_loss_cause cause; /* loss: its cause, which the view has, too */
    enum scps_evidence evidence;
    enum scps_cc_change what;
    /* Expected outputs; 0: not checked. */
    uint64_t cwnd, ssthresh, rate;
};

static inline void cc_table_start(struct cc_table *t, const char *text, struct scps_cc_view v)
{
    char msg[256];

    memset(t, 0, sizeof *t);
    if (scps_cc_parse(text, &t->ops, t->param, msg, sizeof msg))
        fail_msg("%s", msg);
    assert_true(t->ops->state_size <= SCPS_CC_STATE_MAX);
    t->v = v;
    t->v.cwnd_limited = true;
    if (!t->v.mss)
        t->v.mss = 1000;
    if (!t->v.init_cwnd)
        t->v.init_cwnd = 10 * t->v.mss;
    if (!t->v.srtt)
        t->v.srtt = SCPS_MS(100);
    if (!t->v.min_rtt)
        t->v.min_rtt = t->v.srtt;
    if (!t->v.max_cwnd)
        t->v.max_cwnd = UINT64_C(1) << 30;
    if (!t->v.now)
        t->v.now = SCPS_SEC(1);
    t->ops->start(t->u.state, t->param, &t->v, &t->ctl);
}
#define cc_open(t, text, ...) cc_table_start(t, text, (struct scps_cc_view){__VA_ARGS__})

static inline void cc_play_row(struct cc_table *t, const struct cc_row *r)
{
    struct scps_cc_view *v = &t->v;

    v->now += r->after;
    v->outstanding = r->outstanding ? r->outstanding : t->ctl.cwnd;
    v->inflight = v->outstanding;
    v->cwnd_limited = !r->app;
    v->cause = r->cause;
    v->pipe_ack = r->pipe;
    v->resent = r->resent;
    if (r->rtt > 0) {
        v->srtt = r->rtt;
        v->min_rtt = r->rtt < v->min_rtt ? r->rtt : v->min_rtt;
    }
    switch (r->kind) {
    case CC_ACK: {
        struct scps_cc_ack a = {.bytes = r->bytes,
                                .rtt = r->rtt ? r->rtt : v->srtt,
                                .rtt_old = r->rtt_old,
                                .round_start = r->round,
                                .in_recovery = r->in_recovery};
        t->ops->ack(t->u.state, v, &a, &t->ctl);
        break;
    }
    case CC_LOSS: {
        struct scps_cc_loss l = {.bytes = r->bytes,
                                 .cause = r->cause,
                                 .evidence = r->evidence ? r->evidence : SCPS_BY_SACK,
                                 .new_episode = r->fresh};
        t->ops->loss(t->u.state, v, &l, &t->ctl);
        break;
    }
    case CC_CHANGE:
        t->ops->change(t->u.state, v, r->what, &t->ctl);
        break;
    }
}

static inline void cc_play(struct cc_table *t, const struct cc_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct cc_row *r = &rows[i];
        for (unsigned k = 0; k < (r->times ? r->times : 1); k++)
            cc_play_row(t, r);
        if ((r->cwnd && r->cwnd != t->ctl.cwnd) ||
            (r->ssthresh && r->ssthresh != t->ctl.ssthresh) || (r->rate && r->rate != t->ctl.rate))
            fail_msg("row %zu: cwnd %llu ssthresh %llu rate %llu, wanted %llu %llu %llu", i,
                     (unsigned long long)t->ctl.cwnd, (unsigned long long)t->ctl.ssthresh,
                     (unsigned long long)t->ctl.rate, (unsigned long long)r->cwnd,
                     (unsigned long long)r->ssthresh, (unsigned long long)r->rate);
    }
}

/* Plays one round trip with a full window, which `acks` acknowledgements cover, evenly spread over
 * rtt. */
static inline void cc_round_trip(struct cc_table *t, unsigned acks, scps_dur rtt)
{
    uint64_t left = t->ctl.cwnd;

    for (unsigned i = 0; i < acks; i++) {
        uint64_t bytes = left / (acks - i);
        struct cc_row r = {CC_ACK, .after = rtt / acks, .bytes = bytes, .rtt = rtt, .round = !i};
        cc_play_row(t, &r);
        left -= bytes;
    }
}

/* The response function: one loss for every `period` segments acknowledged, acks acknowledgements a
 * round trip. Returns the mean window in segments over the last half of `losses` cycles. */
static inline double cc_response(const char *text, uint64_t period, scps_dur rtt, unsigned acks,
                                 unsigned losses)
{
    struct cc_table t;
    uint64_t since = 0, acked = 0;
    double rounds = 0;
    unsigned n = 0;

    cc_table_start(&t, text, (struct scps_cc_view){.mss = 1000, .srtt = rtt});
    struct cc_row loss = {CC_LOSS, .bytes = 1000, .fresh = true, .after = rtt};
    struct cc_row over = {CC_CHANGE, .what = SCPS_CC_RECOVERED};
    cc_play_row(&t, &loss); /* This loss ends slow start. */
    cc_play_row(&t, &over);
    while (n < losses) {
        uint64_t window = t.ctl.cwnd, left = window;
        for (unsigned i = 0; i < acks; i++) {
            uint64_t bytes = left / (acks - i);
            struct cc_row r = {CC_ACK, .after = rtt / acks, .bytes = bytes, .rtt = rtt,
                               .round = !i};
            cc_play_row(&t, &r);
            left -= bytes;
            since += bytes;
        }
        if (n >= losses / 2)
            acked += window, rounds++;
        if (since >= period * 1000) {
            since -= period * 1000;
            n++;
            cc_play_row(&t, &loss);
            cc_play_row(&t, &over);
            if (n > losses / 2)
                acked += t.ctl.cwnd, rounds++; /* recovery from the loss takes this round trip */
        }
    }
    return (double)acked / 1000 / rounds;
}

#endif
