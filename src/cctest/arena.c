/* SPDX-License-Identifier: MIT */
/* Runs whole TCP connections (flows) of this stack over one simulated link, for the scores of a
 * congestion controller (card.c). */
#include "cctest/arena.h"

#include "cctest/detour.h"

#include "base/bytes.h"

#include <scps/error.h>
#include <scps/traffic.h>

#include <stdlib.h>
#include <string.h>

#define PORT 5001
#define BUF  (4u << 20)

struct run;
struct flow {
    struct run *r;
    unsigned i;
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    struct scps_conn_config cfg;
};
/* What has arrived at the receiver of one flow. conn: scps_conn_id() of the receiving connection;
 * 0: this entry is not used yet. bytes: number of bytes of new data that have arrived so far,
 * including those above a gap in the sequence numbers. */
struct heard {
    uint32_t conn;
    uint64_t bytes;
};
struct run {
    struct scps_cct_arena *a;
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_link *l;
    struct scps_link_config cfg[2];
    struct scps_endpoint to;
    struct scps_link_tables *tables;
    struct flow flow[SCPS_CCT_FLOWS];
    struct heard heard[SCPS_CCT_FLOWS];
    int err;
};

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;

    if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c = scps_accept(ev->listener);
        struct scps_endpoint peer;

        if (!c)
            return;
        scps_conn_remote(c, &peer);
        scps_conn_set_user(c, &r->flow[(peer.port - 1000) % SCPS_CCT_FLOWS].sink);
        scps_bulk_sink_start(scps_conn_user(c), c);
    } else if (h == r->host[0]) {
        scps_bulk_source_event(ev->user, ev);
    } else {
        scps_bulk_sink_event(ev->user, ev);
    }
}

/* ---- functions that observe the receivers and the link ---- */

/* Observer of the receiving host: called for each segment whose new data is accepted, even above a
 * gap in the sequence numbers; n->arg[1] is the number of these bytes. */
static void on_note(void *ctx, const struct scps_note *n)
{
    struct run *r = ctx;
    size_t i = 0;

    while (i < SCPS_CCT_FLOWS && r->heard[i].conn && r->heard[i].conn != n->conn)
        i++;
    if (i == SCPS_CCT_FLOWS)
        return;
    r->heard[i].conn = n->conn;
    r->heard[i].bytes += n->arg[1];
}

static uint64_t arrived(const struct run *r, const struct scps_conn *c)
{
    for (size_t i = 0; c && i < SCPS_CCT_FLOWS; i++)
        if (r->heard[i].conn == scps_conn_id(c))
            return r->heard[i].bytes;
    return 0;
}

static unsigned now_sample(const struct scps_cct_arena *a, scps_time at)
{
    uint64_t i = (uint64_t)(at / SCPS_CCT_EVERY);

    return (unsigned)SCPS_MIN(i, a->samples - 1);
}

static void on_verdict(void *ctx, const struct scps_verdict *v)
{
    struct scps_cct_arena *a = ((struct run *)ctx)->a;
    unsigned i = now_sample(a, v->offered);

    a->offered[i]++;
    if (v->fate >= SCPS_FATE_BER) {
        a->dropped[i]++;
        return;
    }
    a->wait_sum[i] += (uint64_t)(v->left - v->offered);
    a->waits[i]++;
    if (v->offered >= a->warm)
        a->wait_ms[SCPS_MIN((uint64_t)(v->left - v->offered) / 1000, SCPS_CCT_WAITS - 1)]++;
}

static void sample(void *ctx)
{
    struct run *r = ctx;
    scps_time now = scps_world_now(r->w);
    unsigned i = now_sample(r->a, now);

    for (unsigned f = 0; f < r->a->n; f++)
        r->a->received[f][i] = arrived(r, r->flow[f].sink.conn);
    r->a->read[i] = r->flow[0].sink.received;
    if (now < r->a->time && scps_world_at(r->w, now + SCPS_CCT_EVERY, sample, r))
        r->err = SCPS_ERR_NOMEM;
}

/* ---- functions called during a run: flows start, and the link changes ---- */

static void start_flow(void *ctx)
{
    struct flow *f = ctx;
    struct run *r = f->r;
    struct scps_endpoint here = {.port = (uint16_t)(1000 + f->i)};
    struct scps_conn *c;

    c = scps_connect(scps_host_stack(r->host[0]), &f->cfg, &here, &r->to, &r->err);
    if (!c)
        return;
    scps_conn_set_user(c, &f->source);
    f->source.total = UINT64_MAX / 2;
    f->source.hollow = true;
    if (scps_bulk_source_start(&f->source, c))
        r->err = SCPS_ERR_NOMEM;
    scps_host_kick(r->host[0]);
}

static void change(struct run *r, const char *words)
{
    for (int dir = 0; dir < 2; dir++) {
        if (scps_link_update(words, NULL, &r->cfg[dir], &r->cfg[!dir], NULL, NULL, 0) ||
            scps_link_change(r->l, dir, &r->cfg[dir]))
            r->err = SCPS_ERR_INVAL;
    }
}

static void step(void *ctx)
{
    struct run *r = ctx;
    change(r, r->a->step);
}
static void step_back(void *ctx)
{
    struct run *r = ctx;
    change(r, r->a->back);
}

/* ---- functions that open hosts, link and flows ---- */

static int configure(struct run *r, unsigned i)
{
    const struct scps_cct_flow *f = &r->a->flow[i];
    struct scps_conn_config *c = &r->flow[i].cfg;

    *c = scps_conn_config_default();
    scps_conn_config_set_cc(c, f->ops, f->param);
    if (f->ops->needs_rate)
        c->rate = r->cfg[0].rate_bps / 8;
    c->rate_overhead = r->cfg[0].overhead;
    c->hollow = true;
    c->sndbuf = c->rcvbuf = BUF;
    c->expected_rtt = r->cfg[0].delay + r->cfg[1].delay + (i % 2 ? r->a->detour : 0);
    if (r->a->delayed)
        c->ack_mode = SCPS_ACK_DELAYED;
    r->flow[i].r = r;
    r->flow[i].i = i;
    return scps_world_at(r->w, f->start, start_flow, &r->flow[i]);
}

static int listen(struct run *r)
{
    struct scps_conn_config rx = scps_conn_config_default();
    int err = 0;

    rx.hollow = true;
    rx.sndbuf = rx.rcvbuf = BUF;
    rx.expected_rtt = r->cfg[0].delay + r->cfg[1].delay;
    if (r->a->delayed)
        rx.ack_mode = SCPS_ACK_DELAYED;
    return scps_listen(scps_host_stack(r->host[1]), &rx, &r->to, SCPS_CCT_FLOWS, &err) ? 0 : err;
}

static int set_up(struct run *r)
{
    struct scps_cct_arena *a = r->a;
    struct scps_addr here;
    int err = scps_link_parse_tables(a->link, NULL, &r->cfg[0], &r->cfg[1], &r->tables, NULL, 0);

    if (err)
        return err;
    r->cfg[0].seed = r->cfg[1].seed = 1;
    r->w = scps_world_new(NULL);
    if (!r->w)
        return SCPS_ERR_NOMEM;
    for (int i = 0; i < 2; i++) {
        struct scps_stack_config sc = scps_stack_config_default();
        if (i)
            sc.observer = (struct scps_observer){on_note, r, UINT64_C(1) << SCPS_NOTE_RECEIVED};
        r->host[i] = scps_world_host(r->w, i ? "receiver" : "sender", i ? &sc : NULL, on_event, r);
    }
    if (!r->host[0] || !r->host[1])
        return SCPS_ERR_NOMEM;
    scps_addr_parse("10.0.0.1", &here);
    scps_addr_parse("10.0.0.2", &r->to.addr);
    r->to.port = PORT;
    r->l = scps_world_link(r->w, r->host[0], &here, r->host[1], &r->to.addr, 24, 0, &r->cfg[0],
                           &r->cfg[1]);
    if (!r->l)
        return SCPS_ERR_NOMEM;
    scps_link_observe(r->l, 0, on_verdict, r);
    if (a->detour) {
        struct scps_netif *detour = scps_cct_detour(r->w, a->detour);
        if (!detour || scps_link_filter(r->l, 1, detour))
            return SCPS_ERR_NOMEM;
    }
    err = listen(r);
    for (unsigned i = 0; !err && i < a->n; i++)
        err = configure(r, i);
    if (!err && a->step_at)
        err = scps_world_at(r->w, a->step_at, step, r);
    if (!err && a->step_back)
        err = scps_world_at(r->w, a->step_back, step_back, r);
    return err ? err : scps_world_at(r->w, 0, sample, r);
}

int scps_cct_arena(struct scps_cct_arena *a)
{
    struct run *r = calloc(1, sizeof *r);
    int err;

    if (!r)
        return SCPS_ERR_NOMEM;
    r->a = a;
    a->samples = (unsigned)SCPS_MIN(a->time / SCPS_CCT_EVERY + 1, SCPS_CCT_SAMPLES);
    err = set_up(r);
    if (!err) {
        scps_world_run(r->w, a->time);
        err = r->err;
    }
    for (unsigned i = 0; i < a->n; i++)
        scps_bulk_source_fini(&r->flow[i].source);
    if (r->w)
        scps_world_free(r->w);
    scps_link_tables_free(r->tables);
    free(r);
    return err;
}

/* ---- functions that compute rates, waiting times and losses from the samples of a run ---- */

double scps_cct_rate(const struct scps_cct_arena *a, unsigned f, scps_time from, scps_time to)
{
    unsigned i = now_sample(a, from), k = now_sample(a, to);
    uint64_t bytes = 0;

    for (unsigned n = 0; n < a->n; n++)
        if (f == a->n || f == n)
            bytes += a->received[n][k] - a->received[n][i];
    return to > from ? (double)bytes * 8e6 / (double)(to - from) : 0;
}

double scps_cct_read(const struct scps_cct_arena *a, scps_time from, scps_time to)
{
    uint64_t bytes = a->read[now_sample(a, to)] - a->read[now_sample(a, from)];

    return (double)bytes * 8e6 / (double)(to - from);
}

double scps_cct_wait(const struct scps_cct_arena *a, scps_time from, scps_time to)
{
    uint64_t sum = 0, n = 0;

    for (unsigned i = now_sample(a, from); i < now_sample(a, to); i++) {
        sum += a->wait_sum[i];
        n += a->waits[i];
    }
    return n ? (double)sum * 1e-3 / (double)n : 0;
}

double scps_cct_loss(const struct scps_cct_arena *a, scps_time from, scps_time to)
{
    uint64_t lost = 0, n = 0;

    for (unsigned i = now_sample(a, from); i < now_sample(a, to); i++) {
        lost += a->dropped[i];
        n += a->offered[i];
    }
    return n ? (double)lost / (double)n : 0;
}

double scps_cct_wait_quantile(const struct scps_cct_arena *a, double part)
{
    uint64_t all = 0, so_far = 0;

    for (unsigned i = 0; i < SCPS_CCT_WAITS; i++)
        all += a->wait_ms[i];
    for (unsigned i = 0; i < SCPS_CCT_WAITS; i++) {
        so_far += a->wait_ms[i];
        if ((double)so_far >= part * (double)all)
            return i + 1;
    }
    return SCPS_CCT_WAITS;
}

scps_time scps_cct_when(const struct scps_cct_arena *a, unsigned f, scps_time from, scps_dur span,
                        double bps)
{
    for (scps_time at = from + span; at < a->time; at += SCPS_CCT_EVERY)
        if (scps_cct_rate(a, f, at - span, at) >= bps)
            return at;
    return SCPS_NEVER;
}
