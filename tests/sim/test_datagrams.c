/* SPDX-License-Identifier: MIT */
/* Datagrams over a link in virtual time: they use the whole rate of a route and share it equally
 * with connections, whatever their number and sizes; only packets that the link lost are missing;
 * and hollow datagrams (counted, not stored) give the same history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <scps/dgram.h>
#include <scps/sim.h>
#include <scps/traffic.h>

#define MOST  8
#define PORT  5001
#define SPOKE 5000000u /* The rate of the route, bytes/s. */

struct run {
    /* The test sets these fields. */
    unsigned endpoints, conns;
    size_t size[2]; /* The sizes of the datagrams that each endpoint sends in turn, bytes. */
    const char *link;
    /* count: the number of datagrams of each endpoint; 0: it sends until the end. */
    uint64_t rate, count;
    bool hollow;
    scps_time warm, until;
    /* These fields are results. */
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_link *l;
    struct scps_dgram *out[MOST], *in;
    uint64_t sent[MOST], got[MOST], got_wire, digest;
    struct scps_bulk_source source[MOST];
    struct scps_bulk_sink sink[MOST];
    unsigned accepted;
    uint64_t streamed; /* The bytes of packets that carried the connections' data. */
};

static void feed(struct run *r, unsigned i)
{
    static const uint8_t zeros[1500];
    size_t size = r->size[i % 2] ? r->size[i % 2] : 1000;

    while (!r->count || r->sent[i] < r->count) {
        uint8_t head[16] = {(uint8_t)i};
        memcpy(head + 8, &r->sent[i], 8);
        int err;
        if (r->hollow) {
            err = scps_dgram_send(r->out[i], NULL, head, sizeof head, size - sizeof head);
        } else {
            uint8_t all[1500];
            memcpy(all, zeros, sizeof all);
            memcpy(all, head, sizeof head);
            err = scps_dgram_send(r->out[i], NULL, all, size, 0);
        }
        if (err) {
            assert_int_equal(err, SCPS_ERR_AGAIN);
            return;
        }
        r->sent[i]++;
    }
}

static void take(struct run *r)
{
    struct scps_dgram_from from;
    uint8_t buf[1500];
    int64_t n;

    while ((n = scps_dgram_recv(r->in, buf, sizeof buf, 0, &from)) >= 0) {
        assert_true(buf[0] < r->endpoints && (size_t)n == r->size[buf[0] % 2]);
        for (int64_t k = 16; k < n; k++)
            assert_int_equal(buf[k], 0);
        r->got[buf[0]]++;
        r->digest = (r->digest ^ (uint64_t)from.at ^ buf[8]) * UINT64_C(0x100000001b3);
        if (from.at >= r->warm)
            r->got_wire += (uint64_t)n + 28;
    }
}

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *r = ctx;

    if (ev->dgram == r->in && ev->kind == SCPS_EV_READABLE) {
        take(r);
    } else if (ev->dgram && ev->kind == SCPS_EV_WRITABLE) {
        feed(r, (unsigned)(uintptr_t)ev->user);
    } else if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c = scps_accept(ev->listener);
        scps_conn_set_user(c, &r->sink[r->accepted]);
        scps_bulk_sink_start(&r->sink[r->accepted++], c);
    } else if (ev->conn && h == r->host[0]) {
        scps_bulk_source_event(ev->user, ev);
    } else if (ev->conn) {
        scps_bulk_sink_event(ev->user, ev);
    }
}

static uint64_t streamed(const struct run *r)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < r->conns; i++)
        sum += r->sink[i].received;
    /* The sum includes headers: 1500 bytes on the wire for 1448 of payload. */
    return sum * 1500 / 1448;
}

static void go(struct run *r)
{
    struct scps_link_config fwd, back;
    struct scps_endpoint there = {.port = PORT}, any = there;
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_addr a;
    char msg[200];

    assert_int_equal(scps_link_parse(r->link, &fwd, &back, msg, sizeof msg), 0);
    scps_addr_parse("10.0.0.1", &a);
    scps_addr_parse("10.0.0.2", &there.addr);
    r->w = scps_world_new(NULL);
    for (int i = 0; i < 2; i++)
        r->host[i] = scps_world_host(r->w, i ? "b" : "a", NULL, on_event, r);
    r->l = scps_world_link(r->w, r->host[0], &a, r->host[1], &there.addr, 24, 1500, &fwd, &back);
    struct scps_stack *tx = scps_host_stack(r->host[0]), *rx = scps_host_stack(r->host[1]);
    struct scps_route route = {
        .dst = there.addr, .prefix = 32, .nif = scps_link_netif(r->l, 0), .rate = r->rate};
    assert_int_equal(scps_stack_add_route(tx, &route), 0);
    r->in = scps_dgram_open(rx, NULL, &any, NULL);
    for (unsigned i = 0; i < r->endpoints; i++) {
        r->out[i] = scps_dgram_open(tx, NULL, NULL, NULL);
        assert_int_equal(scps_dgram_connect(r->out[i], &there), 0);
        scps_dgram_set_user(r->out[i], (void *)(uintptr_t)i);
        feed(r, i);
    }
    cfg.sndbuf = cfg.rcvbuf = 8u << 20;
    cfg.first_window = 8u << 20;
    assert_non_null(scps_listen(rx, &cfg, &any, MOST, NULL));
    cfg.cc = scps_cc_find("rate");
    for (unsigned i = 0; i < r->conns; i++) {
        struct scps_conn *c = scps_connect(tx, &cfg, NULL, &there, NULL);
        assert_non_null(c);
        r->source[i].total = UINT64_MAX / 2;
        r->source[i].hollow = false;
        scps_conn_set_user(c, &r->source[i]);
        assert_int_equal(scps_bulk_source_start(&r->source[i], c), 0);
    }
    scps_host_kick(r->host[0]);
    scps_host_kick(r->host[1]);
    scps_world_run(r->w, r->warm);
    uint64_t before = streamed(r);
    scps_world_run(r->w, r->until);
    r->streamed = streamed(r) - before;
}

static void end(struct run *r)
{
    scps_world_free(r->w);
    for (unsigned i = 0; i < r->conns; i++)
        scps_bulk_source_fini(&r->source[i]);
}

/* The whole rate is used and no more; endpoints take turns, with one datagram each. */
static void datagrams_use_the_whole_rate(void **x)
{
    struct run r = {.endpoints = 3,
                    .size = {1000, 300},
                    .link = "rate=100mbit,rtt=100ms",
                    .rate = 1000000,
                    .warm = SCPS_SEC(5),
                    .until = SCPS_SEC(25)};
    (void)x;
    go(&r);
    assert_true(r.got_wire > 19980000 && r.got_wire < 20020000);
    assert_true(r.got[0] - r.got[1] <= 1 && r.got[1] - r.got[2] <= 1);
    end(&r);
}

/* Datagrams and connections each get half of the bytes, whatever their number and the length of
 * their packets. */
static void datagrams_and_connections_share_equally(void **x)
{
    static const struct {
        unsigned endpoints, conns;
        size_t size;
    } cases[] = {{1, 1, 1000}, {1, 8, 1000}, {8, 1, 1472}, {1, 1, 40}, {4, 4, 200}};
    (void)x;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run r = {.endpoints = cases[i].endpoints,
                        .conns = cases[i].conns,
                        .size = {cases[i].size, cases[i].size},
                        .link = "rate=100mbit,rtt=100ms",
                        .rate = 1000000,
                        .warm = SCPS_SEC(10),
                        .until = SCPS_SEC(30)};
        go(&r);
        assert_true(r.got_wire > 9800000 && r.got_wire < 10200000);
        assert_true(r.streamed > 9700000 && r.streamed < 10200000);
        end(&r);
    }
}

/* If one kind has nothing to send the other gets the whole rate. */
static void each_kind_gets_the_whole_rate_alone(void **x)
{
    struct run r = {.endpoints = 1,
                    .conns = 1,
                    .size = {1000, 1000},
                    .count = 1000, /* The datagrams of one second. */
                    .link = "rate=100mbit,rtt=100ms",
                    .rate = 1000000,
                    .warm = SCPS_SEC(10),
                    .until = SCPS_SEC(30)};
    (void)x;
    go(&r);
    assert_int_equal(r.got[0], 1000);
    assert_true(r.streamed > 19500000);
    end(&r);
}

/* The packets that do not arrive are exactly those that the link lost; no packet is damaged or
 * reordered. */
static void losses(void **x)
{
    struct run r = {.endpoints = 2,
                    .size = {1000, 1000},
                    .count = 20000,
                    .link = "rate=100mbit,rtt=100ms,ber=1e-6,loss=0.01",
                    .rate = SPOKE,
                    .until = SCPS_SEC(60)};
    struct scps_link_stats s;
    struct scps_dgram_stats in;
    (void)x;
    go(&r);
    scps_link_get_stats(r.l, 0, &s);
    scps_dgram_get_stats(r.in, &in);
    assert_int_equal(s.offered, 40000);
    assert_int_equal(s.in_flight, 0);
    assert_int_equal(s.offered - s.dropped_ber - s.dropped_loss, s.delivered);
    assert_int_equal(r.got[0] + r.got[1], s.delivered);
    assert_int_equal(in.in, s.delivered);
    assert_int_equal(in.full, 0);
    assert_true(s.dropped_ber > 200 && s.dropped_loss > 300);
    end(&r);
}

static void hollow_or_not(void **x)
{
    struct run a = {.endpoints = 2,
                    .size = {1000, 400},
                    .count = 5000,
                    .link = "rate=20mbit,rtt=100ms,ber=1e-6,loss=0.01,jitter=5ms,queue=50p",
                    .rate = SPOKE / 2,
                    .until = SCPS_SEC(60)},
               b = a;
    (void)x;
    b.hollow = true;
    go(&a);
    go(&b);
    assert_true(a.got[0] > 4000);
    assert_int_equal(a.got[0], b.got[0]);
    assert_int_equal(a.got[1], b.got[1]);
    assert_int_equal(a.digest, b.digest);
    end(&a);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_use_the_whole_rate),
        cmocka_unit_test(datagrams_and_connections_share_equally),
        cmocka_unit_test(each_kind_gets_the_whole_rate_alone),
        cmocka_unit_test(losses),
        cmocka_unit_test(hollow_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
