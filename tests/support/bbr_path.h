/* SPDX-License-Identifier: MIT */
/* One BBR connection over one bottleneck in virtual time, for the test cases of
 * draft-ietf-ccwg-bbr-06: tests read the controller's state, and may change the path, the
 * application's rate and the losses whenever the connection has reached a state. */
#ifndef SCPS_TEST_BBR_PATH_H
#define SCPS_TEST_BBR_PATH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <scps/sim.h>
#include <scps/traffic.h>

#include "cc/bbr.h"
#include "cc/cc.h"

#define BBR_GREEDY UINT64_MAX

struct bbr_path {
    /* The test sets these fields. */
    uint64_t bps;
    scps_dur rtt;
    const char *more;  /* further items of the link; NULL: a queue of 4 BDPs and 100 packets */
    const char *param; /* parameters of bbr, beginning with a comma; NULL: none */
    /* time at which the receiver acknowledges, µs; 0: it acknowledges every other segment */
    scps_dur ack_delay;
    uint64_t app; /* rate at which the application writes, bytes/s; BBR_GREEDY: as fast as it can */
    /* These fields are private to this file. */
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_link *link;
    struct scps_link_config fwd, back;
    struct scps_bulk_source from;
    struct scps_bulk_sink to;
    uint64_t credit;
};

/* State of the sender's controller after its last event. */
static struct bbr_seen {
    struct scps_bbr *b;
    struct scps_cc_view v;
    struct scps_cc_ctl ctl;
    struct scps_world *w;
    unsigned state, entered[SCPS_BBR_NONE];
    unsigned stop_at; /* set of states, 1 << state: the world stops when BBR enters one of them */
    uint64_t lost, least_cwnd, spurious, up_rounds, restarts;
    bool undone;
} seen;

static inline void bbr_look(void *s, const struct scps_cc_view *v, const struct scps_cc_ctl *ctl)
{
    struct scps_bbr *b = s;

    if (b != seen.b)
        return;
    seen.v = *v;
    seen.ctl = *ctl;
    if (!seen.least_cwnd || ctl->cwnd < seen.least_cwnd)
        seen.least_cwnd = ctl->cwnd;
    seen.up_rounds += b->state == SCPS_BBR_UP && b->round_start;
    if (b->state == seen.state)
        return;
    seen.state = b->state;
    seen.entered[b->state]++;
    if (seen.stop_at >> b->state & 1)
        scps_world_stop(seen.w);
}

static inline void bbr_watch_ack(void *s, const struct scps_cc_view *v, const struct scps_cc_ack *a,
                                 struct scps_cc_ctl *ctl)
{
    scps_cc_bbr.ack(s, v, a, ctl);
    bbr_look(s, v, ctl);
}

static inline void bbr_watch_loss(void *s, const struct scps_cc_view *v,
                                  const struct scps_cc_loss *l, struct scps_cc_ctl *ctl)
{
    scps_cc_bbr.loss(s, v, l, ctl);
    seen.lost += s == seen.b ? l->bytes : 0;
    bbr_look(s, v, ctl);
}

static inline void bbr_watch_change(void *s, const struct scps_cc_view *v, enum scps_cc_change what,
                                    struct scps_cc_ctl *ctl)
{
    struct scps_bbr before = *(struct scps_bbr *)s, *b = s;

    scps_cc_bbr.change(s, v, what, ctl);
    if (s == seen.b && what == SCPS_CC_SPURIOUS) {
        seen.spurious++;
        seen.undone &= b->bw_shortterm >= before.undo_bw_shortterm &&
                       b->inflight_shortterm >= before.undo_inflight_shortterm &&
                       b->inflight_longterm >= before.undo_inflight_longterm &&
                       ctl->cwnd >= before.prior_cwnd && !b->is_loss_in_round &&
                       (before.undo_state != SCPS_BBR_UP || b->state != SCPS_BBR_DOWN) &&
                       (before.undo_state != SCPS_BBR_STARTUP || b->state != SCPS_BBR_DRAIN);
    }
    bbr_look(s, v, ctl);
}

static inline void bbr_watch_sent(void *s, const struct scps_cc_view *v,
                                  const struct scps_cc_sent *p, struct scps_cc_ctl *ctl)
{
    seen.b = s; /* The controller of the receiver has no data to send, so it is not watched. */
    scps_cc_bbr.on_sent(s, v, p, ctl);
    if (!v->inflight && seen.b->idle_restart)
        seen.restarts++;
}

static inline int64_t bbr_refill(void *ctx, void *buf, size_t len)
{
    struct bbr_path *p = ctx;
    size_t n = p->app == BBR_GREEDY || p->credit >= len ? len : (size_t)p->credit;

    if (!n)
        return SCPS_ERR_AGAIN;
    memset(buf, 0, n);
    p->credit -= p->app == BBR_GREEDY ? 0 : n;
    return (int64_t)n;
}

static inline void bbr_sends(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    (void)h;
    scps_bulk_source_event(&((struct bbr_path *)ctx)->from, ev);
}

static inline void bbr_receives(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct bbr_path *p = ctx;

    (void)h;
    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&p->to, scps_accept(ev->listener));
    else
        scps_bulk_sink_event(&p->to, ev);
}

/* Returns the bandwidth-delay product of the path, bytes. */
static inline uint64_t bbr_bdp(const struct bbr_path *p)
{
    return p->bps / 8 * (uint64_t)p->rtt / 1000000;
}

static inline void bbr_open(struct bbr_path *p)
{
    static struct scps_cc_ops watch;
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_endpoint there = {.port = 5001};
    const struct scps_cc_ops *ops;
    int64_t param[SCPS_CC_PARAMS];
    struct scps_addr from;
    char spec[200], why[200], text[100];

    watch = scps_cc_bbr;
    watch.ack = bbr_watch_ack;
    watch.loss = bbr_watch_loss;
    watch.change = bbr_watch_change;
    watch.on_sent = bbr_watch_sent;
    seen = (struct bbr_seen){.undone = true};
    snprintf(text, sizeof text, "bbr%s", p->param ? p->param : "");
    assert_int_equal(scps_cc_parse(text, &ops, param, why, sizeof why), 0);
    snprintf(spec, sizeof spec, "rate=%llu,rate-back=10gbit,rtt=%lldus,%s",
             (unsigned long long)p->bps, (long long)p->rtt, p->more ? p->more : "queue=100p");
    if (scps_link_parse(spec, &p->fwd, &p->back, why, sizeof why))
        fail_msg("%s: %s", spec, why);
    if (!p->more)
        p->fwd.queue_packets += (uint32_t)(4 * bbr_bdp(p) / 1500);
    p->fwd.seed = p->back.seed = sc.seed[0] = 1;
    seen.w = p->w = scps_world_new(NULL);
    sc.seed[1] = 1;
    p->host[0] = scps_world_host(p->w, "a", &sc, bbr_sends, p);
    sc.seed[1] = 2;
    p->host[1] = scps_world_host(p->w, "b", &sc, bbr_receives, p);
    scps_addr_parse("10.0.0.1", &from);
    scps_addr_parse("10.0.0.2", &there.addr);
    p->link =
        scps_world_link(p->w, p->host[0], &from, p->host[1], &there.addr, 24, 0, &p->fwd, &p->back);
    cfg.sndbuf = cfg.rcvbuf = (uint32_t)(16 * bbr_bdp(p) + 1000000);
    cfg.expected_rtt = p->rtt;
    if (p->ack_delay) {
        cfg.ack_mode = SCPS_ACK_DELAYED;
        cfg.ack_delay = p->ack_delay;
    }
    scps_conn_config_set_cc(&cfg, &watch, param);
    assert_non_null(scps_listen(scps_host_stack(p->host[1]), &cfg, &there, 1, NULL));
    p->from = (struct scps_bulk_source){.total = UINT64_MAX, .refill = bbr_refill, .ctx = p};
    struct scps_conn *c = scps_connect(scps_host_stack(p->host[0]), &cfg, NULL, &there, NULL);
    assert_non_null(c);
    scps_bulk_source_start(&p->from, c);
    scps_host_kick(p->host[0]);
}

static inline void bbr_close(struct bbr_path *p)
{
    scps_bulk_source_fini(&p->from);
    scps_world_free(p->w);
}

/* Changes the bottleneck: its rate, and the share of packets that it loses. */
static inline void bbr_change(struct bbr_path *p, uint64_t bps, double loss)
{
    p->fwd.rate_bps = bps;
    p->fwd.loss = loss;
    assert_int_equal(scps_link_change(p->link, 0, &p->fwd), 0);
}

/* Runs for `most` µs, or until BBR enters one of the states. Returns true if it has. */
static inline bool bbr_until(struct bbr_path *p, unsigned states, scps_dur most)
{
    scps_time end = scps_world_now(p->w) + most;
    scps_dur step = p->rtt / 32 > 100 ? p->rtt / 32 : 100;
    unsigned before[SCPS_BBR_NONE];

    memcpy(before, seen.entered, sizeof before);
    seen.stop_at = states;
    while (scps_world_now(p->w) < end) {
        scps_time now = scps_world_now(p->w);
        scps_time to = p->app == BBR_GREEDY || now + step > end ? end : now + step;
        if (p->app != BBR_GREEDY)
            p->credit += p->app * (uint64_t)(to - now) / 1000000;
        scps_bulk_source_run(&p->from);
        scps_host_kick(p->host[0]);
        scps_world_run(p->w, to);
        for (unsigned i = 0; i < SCPS_BBR_NONE; i++)
            if (states >> i & 1 && seen.entered[i] != before[i])
                return true;
        assert_int_equal(p->from.err, 0);
    }
    return false;
}

#define BBR_IN(where) (1u << SCPS_BBR_##where)
/* Asserts that BBR enters one of the states within that time. */
#define BBR_GO(p, where, most)                                                                     \
    do {                                                                                           \
        if (seen.state != SCPS_BBR_##where)                                                        \
            assert_true(bbr_until(p, BBR_IN(where), most));                                        \
    } while (0)
/* Returns the rate of payload that the line carries, bytes/s. */
static inline uint64_t bbr_payload(const struct bbr_path *p)
{
    return p->fwd.rate_bps / 8 * 1448 / 1500;
}

#endif
