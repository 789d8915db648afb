/* SPDX-License-Identifier: MIT */
/* One bulk transfer over one simulated link.
 *
 *     sender   ── filter ── link ── filter ──   receiver
 *
 * The filters see what the stacks send and receive and add it to one digest, so that two runs can
 * be compared packet for packet without storing the packets.
 */
#include "simrun.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <scps/error.h>
#include <scps/wire.h>

struct watch {
    struct scps_netif nif; /* first member: the netif chain points to it */
    struct bench *b;
    unsigned end;
};

struct bench {
    const struct simrun_config *cfg;
    struct simrun *r;
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_link *link;
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    uint64_t taken, missing;
};

static void fold(struct simrun *r, uint64_t v)
{
    r->digest = (r->digest ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    r->digest ^= r->digest >> 29;
}

/* Returns the length of the IP and TCP headers of p, bytes. */
static size_t header_len(const struct scps_pkt *p)
{
    size_t ip = p->data[0] >> 4 == 4 ? (size_t)(p->data[0] & 15) * 4 : 40;
    uint8_t proto = p->data[0] >> 4 == 4 ? p->data[9] : p->data[6];

    if (proto == SCPS_IPPROTO_SCPS_COMP)
        return p->len < ip + 8 ? p->len : ip + 8;
    assert_true(p->len >= ip + 20);
    return ip + (size_t)(p->data[ip + 12] >> 4) * 4;
}

static void see(struct watch *w, unsigned out, const struct scps_pkt *p)
{
    struct simrun *r = w->b->r;
    size_t n = header_len(p);

    assert_true(n <= p->len);
    r->packets++;
    if (p->len + p->payload_len > r->largest)
        r->largest = (uint32_t)(p->len + p->payload_len);
    fold(r, (uint64_t)scps_world_now(w->b->w));
    fold(r, w->end << 1 | out);
    fold(r, p->len + p->payload_len);
    for (size_t i = 0; i < n; i++)
        fold(r, p->data[i]);
}

static int watch_send(struct scps_netif *nif, const struct scps_pkt *p)
{
    see((struct watch *)nif, 1, p);
    return scps_netif_send(nif->lower, p);
}

static int watch_recv(struct scps_netif *nif, const struct scps_pkt *p)
{
    assert_true(p->at == scps_world_now(((struct watch *)nif)->b->w));
    see((struct watch *)nif, 0, p);
    return scps_netif_recv(nif, p);
}

static void watch_close(struct scps_netif *nif)
{
    free(nif);
}

static const struct scps_netif_ops watch_ops = {"watch", watch_send, watch_recv, watch_close};

static int take(void *ctx, const void *data, size_t len)
{
    struct bench *b = ctx;
    const uint8_t *p = data;

    switch (b->cfg->data) {
    case SIMRUN_PATTERN:
        if (!scps_pattern_check(p, len, b->taken + b->missing))
            b->r->intact = false;
        break;
    case SIMRUN_ZEROS:
        if (p[0] != 0 || memcmp(p, p + 1, len - 1) != 0)
            b->r->intact = false;
        break;
    case SIMRUN_HOLLOW:
        if (p)
            b->r->intact = false;
        break;
    }
    b->taken += len;
    return 0;
}

static void hole(void *ctx, const struct scps_hole *h)
{
    struct bench *b = ctx;

    if (h->at != b->taken + b->missing || !h->len)
        b->r->intact = false;
    b->missing += h->len;
}

static void finish_if_over(struct bench *b)
{
    if ((b->source.closed && b->sink.eof) || b->source.err || b->sink.err)
        scps_world_stop(b->w);
}

static void on_sender(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct bench *b = ctx;
    (void)h;

    scps_bulk_source_event(&b->source, ev);
    if (b->source.closed && b->r->acked < 0)
        b->r->acked = scps_world_now(b->w);
    finish_if_over(b);
}

static void on_receiver(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct bench *b = ctx;
    (void)h;

    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&b->sink, scps_accept(ev->listener));
    else
        scps_bulk_sink_event(&b->sink, ev);
    if (b->sink.received + b->sink.missing == b->cfg->size && b->r->delivered < 0)
        b->r->delivered = scps_world_now(b->w);
    finish_if_over(b);
}

static void change_link(void *ctx)
{
    struct bench *b = ctx;
    struct scps_link_config to[2];
    char msg[200];

    if (scps_link_parse(b->cfg->later, &to[0], &to[1], msg, sizeof msg) != 0)
        fail_msg("%s", msg);
    for (int dir = 0; dir < 2; dir++) {
        to[dir].seed = b->cfg->seed;
        assert_int_equal(scps_link_change(b->link, dir, &to[dir]), 0);
    }
}

void simrun(const struct simrun_config *cfg, struct simrun *r)
{
    struct scps_stack_config sc = scps_stack_config_default();
    struct scps_conn_config cc = scps_conn_config_default();
    struct scps_addr a, b;
    struct scps_endpoint there = {.port = 5001};
    struct bench bench = {.cfg = cfg, .r = r};
    char msg[200];
    int err = 0;

    memset(r, 0, sizeof *r);
    r->acked = r->delivered = -1;
    r->intact = true;
    if (scps_link_parse(cfg->link, &r->fwd, &r->back, msg, sizeof msg) != 0)
        fail_msg("%s", msg);
    r->fwd.seed = r->back.seed = cfg->seed;
    bench.w = scps_world_new(NULL);
    sc.seed[0] = cfg->seed;
    sc.seed[1] = 1;
    bench.host[0] = scps_world_host(bench.w, "sender", &sc, on_sender, &bench);
    sc.seed[1] = 2;
    bench.host[1] = scps_world_host(bench.w, "receiver", &sc, on_receiver, &bench);
    assert_int_equal(scps_addr_parse(cfg->v6 ? "fd00::1" : "10.0.0.1", &a), 0);
    assert_int_equal(scps_addr_parse(cfg->v6 ? "fd00::2" : "10.0.0.2", &b), 0);
    struct scps_link *l = scps_world_link(bench.w, bench.host[0], &a, bench.host[1], &b,
                                          cfg->v6 ? 64 : 24, cfg->mtu, &r->fwd, &r->back);
    assert_non_null(l);
    bench.link = l;
    if (cfg->later)
        assert_int_equal(scps_world_at(bench.w, cfg->later_at, change_link, &bench), 0);
    for (unsigned end = 0; end < 2; end++) {
        struct watch *f = calloc(1, sizeof *f);
        f->nif.ops = &watch_ops;
        f->nif.name = "watch";
        f->b = &bench;
        f->end = end;
        assert_int_equal(scps_link_filter(l, (int)end, &f->nif), 0);
    }

    if (cfg->cc && scps_conn_config_parse_cc(&cc, cfg->cc, msg, sizeof msg) != 0)
        fail_msg("%s", msg);
    cc.rate = cfg->rate;
    cc.rate_overhead = r->fwd.overhead;
    if (cfg->buffers)
        cc.sndbuf = cc.rcvbuf = cfg->buffers;
    cc.ack_mode = cfg->ack_every     ? SCPS_ACK_EVERY
                  : cfg->ack_delayed ? SCPS_ACK_DELAYED
                                     : SCPS_ACK_OTHER;
    if (cfg->ack_delay)
        cc.ack_delay = cfg->ack_delay;
    cc.records = cfg->record > 0;
    cc.snack = cc.snack_long = cfg->snack;
    cc.bets = cfg->bets;
    cc.compress = cfg->compress;
    cc.bets_timeout = cfg->bets_timeout;
    cc.bets_lifetime = cfg->bets_lifetime;
    if (cfg->bets_retries)
        cc.bets_retries = cfg->bets_retries;
    cc.timestamps = !cfg->no_timestamps;
    cc.first_window = cfg->both_known ? cfg->buffers : 0;
    cc.ack_budget = cfg->ack_budget;
    cc.ack_budget_pps = cfg->ack_budget_pps;
    cc.hollow = cfg->data == SIMRUN_HOLLOW;
    cc.expected_rtt = r->fwd.delay + r->back.delay;
    if (cfg->tune)
        cfg->tune(&cc);
    there.addr = b;
    bench.sink.take = take;
    bench.sink.hole = hole;
    bench.sink.ctx = &bench;
    bench.source.total = cfg->size;
    bench.source.record = cfg->record;
    bench.source.hollow = cfg->data != SIMRUN_PATTERN;
    assert_non_null(scps_listen(scps_host_stack(bench.host[1]), &cc, &there, 1, &err));
    struct scps_conn *c = scps_connect(scps_host_stack(bench.host[0]), &cc, NULL, &there, &err);
    if (!c)
        fail_msg("connect: %s", scps_strerror(err));
    assert_int_equal(scps_bulk_source_start(&bench.source, c), 0);
    scps_host_kick(bench.host[0]);
    scps_world_run(bench.w, cfg->limit ? cfg->limit : SCPS_NEVER);

    r->err = bench.source.err ? bench.source.err : bench.sink.err;
    r->received = bench.sink.received;
    r->records = bench.sink.records;
    r->record_min = bench.sink.record_min;
    r->record_max = bench.sink.record_max;
    r->torn = bench.sink.torn;
    r->holes = bench.sink.holes;
    r->missing = bench.sink.missing;
    if (r->received + r->missing != cfg->size || bench.taken != r->received)
        r->intact = false;
    scps_conn_info(c, &r->sender);
    if (bench.sink.conn)
        scps_conn_info(bench.sink.conn, &r->receiver);
    scps_link_get_stats(l, 0, &r->there);
    scps_link_get_stats(l, 1, &r->here);
    for (int i = 0; i < 2; i++)
        scps_stack_get_stats(scps_host_stack(bench.host[i]), &r->stack[i]);
    scps_bulk_source_fini(&bench.source);
    scps_world_free(bench.w);
}

scps_time simrun_limit(const struct simrun_config *cfg, const struct simrun *r)
{
    double rate = cfg->rate ? (double)cfg->rate * 8 : 0;
    double goodput =
        scps_link_limit(&r->fwd, &r->back, cfg->size, r->sender.snd_mss,
                        (cfg->mtu ? cfg->mtu : 1500) - r->sender.snd_mss, (uint64_t)rate);

    return (scps_time)((double)cfg->size * 8e6 / goodput);
}
