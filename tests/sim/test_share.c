/* SPDX-License-Identifier: MIT */
/* Connections that share the rate of a route (docs/SCPS-TP.md section 4.5): all of it is used and
 * no more, each gets its part in bytes, whatever controls it and however long its packets are, and
 * none starves.
 *
 *      flow 1 \
 *      flow 2  > sender ---- 100 Mbit/s, 100 ms ---- receiver
 *      flow n /
 *
 * The rate is the route's, at the sender; the line is faster, so nothing is lost and nothing queues
 * on it.
 */
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

#define FLOWS 100

struct flow {
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    struct scps_conn *conn;
    uint64_t before; /* The number of bytes received when the measurement began. */
};

struct share {
    /* The test sets these fields. */
    const char *link, *cc;
    unsigned n;
    uint64_t rate, later, min_rate, back_rate;
    uint16_t mss[3]; /* The MSS of each flow in turn, bytes; 0: from the MTU. */
    scps_time warm, until;
    /* These fields are results. */
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_link *l;
    unsigned accepted;
    struct scps_link_stats sent, acked; /* Counters of the link during the measurement. */
    double got[FLOWS]; /* The bytes of each flow on the wire during the measurement. */
    uint64_t resent, timeouts;
    struct flow flow[FLOWS];
};

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct share *s = ctx;

    if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c = scps_accept(ev->listener);
        struct scps_endpoint peer;
        scps_conn_remote(c, &peer);
        scps_conn_set_user(c, &s->flow[peer.port - 1000].sink);
        scps_bulk_sink_start(scps_conn_user(c), c);
        s->accepted++;
    } else if (h == s->host[0]) {
        scps_bulk_source_event(ev->user, ev);
    } else {
        scps_bulk_sink_event(ev->user, ev);
    }
}

static void set_rate(struct share *s, int end, uint64_t rate, uint64_t min_rate, bool first)
{
    struct scps_route r = {.dst.family = 4,
                           .prefix = 8,
                           .nif = scps_link_netif(s->l, end),
                           .rate = rate,
                           .min_rate = min_rate};
    struct scps_stack *st = scps_host_stack(s->host[end]);

    assert_int_equal(scps_addr_parse("10.0.0.0", &r.dst), 0);
    r.prefix = 25; /* The prefix is longer than that of the link's own route. */
    assert_int_equal(first ? scps_stack_add_route(st, &r) : scps_stack_set_route(st, &r), 0);
}

static void change(void *ctx)
{
    struct share *s = ctx;

    set_rate(s, 0, s->later, s->min_rate, false);
    scps_host_kick(s->host[0]);
}

static void begin(void *ctx)
{
    struct share *s = ctx;

    scps_link_get_stats(s->l, 0, &s->sent);
    scps_link_get_stats(s->l, 1, &s->acked);
    for (unsigned i = 0; i < s->n; i++)
        s->flow[i].before = s->flow[i].sink.received;
}

static void run(struct share *s)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint there = {.port = 5001}, here;
    struct scps_link_config fwd, back;
    struct scps_link_stats sent, acked;
    struct scps_addr a, b;
    char msg[200];
    int err;

    assert_int_equal(scps_link_parse(s->link, &fwd, &back, msg, sizeof msg), 0);
    fwd.seed = back.seed = 1;
    s->w = scps_world_new(NULL);
    for (int i = 0; i < 2; i++)
        s->host[i] = scps_world_host(s->w, i ? "receiver" : "sender", NULL, on_event, s);
    assert_int_equal(scps_addr_parse("10.0.0.1", &a), 0);
    assert_int_equal(scps_addr_parse("10.0.0.2", &b), 0);
    s->l = scps_world_link(s->w, s->host[0], &a, s->host[1], &b, 24, 0, &fwd, &back);
    assert_non_null(s->l);
    if (s->rate || s->min_rate)
        set_rate(s, 0, s->rate, s->min_rate, true);
    if (s->back_rate)
        set_rate(s, 1, s->back_rate, 0, true);
    if (scps_conn_config_parse_cc(&cfg, s->cc, msg, sizeof msg) != 0)
        fail_msg("%s", msg);
    cfg.hollow = true;
    cfg.sndbuf = cfg.rcvbuf = 4 << 20;
    cfg.expected_rtt = fwd.delay + back.delay;
    there.addr = b;
    here.addr = a;
    if (cfg.cc->needs_rate) { /* A sink needs no rate, and its host's route may have none. */
        struct scps_conn_config rx = cfg;
        scps_conn_config_set_cc(&rx, scps_cc_find("vj"), NULL);
        assert_non_null(scps_listen(scps_host_stack(s->host[1]), &rx, &there, FLOWS, &err));
    } else {
        assert_non_null(scps_listen(scps_host_stack(s->host[1]), &cfg, &there, FLOWS, &err));
    }
    for (unsigned i = 0; i < s->n; i++) {
        struct flow *f = &s->flow[i];
        here.port = (uint16_t)(1000 + i);
        cfg.mss = s->mss[i % 3];
        f->conn = scps_connect(scps_host_stack(s->host[0]), &cfg, &here, &there, &err);
        assert_non_null(f->conn);
        scps_conn_set_user(f->conn, &f->source);
        f->source.total = UINT64_MAX / 2;
        f->source.hollow = true;
        assert_int_equal(scps_bulk_source_start(&f->source, f->conn), 0);
    }
    if (s->later)
        assert_int_equal(scps_world_at(s->w, s->until / 2, change, s), 0);
    assert_int_equal(scps_world_at(s->w, s->warm, begin, s), 0);
    scps_host_kick(s->host[0]);
    scps_world_run(s->w, s->until);

    scps_link_get_stats(s->l, 0, &sent);
    scps_link_get_stats(s->l, 1, &acked);
    s->sent.offered_bytes = sent.offered_bytes - s->sent.offered_bytes;
    s->acked.offered_bytes = acked.offered_bytes - s->acked.offered_bytes;
    for (unsigned i = 0; i < s->n; i++) {
        struct scps_info in;
        scps_conn_info(s->flow[i].conn, &in);
        s->resent += in.resent_segs;
        s->timeouts += in.timeouts;
        s->got[i] =
            (double)(s->flow[i].sink.received - s->flow[i].before) / in.snd_mss * (in.snd_mss + 52);
    }
    for (unsigned i = 0; i < s->n; i++)
        scps_bulk_source_fini(&s->flow[i].source);
    scps_world_free(s->w);
}

/* Asserts that each flow's bytes are within `part` of an equal share, and that the sum is the rate
 * to within a burst. */
static void fair(struct share *s, double part)
{
    double span = (double)(s->until - s->warm) * 1e-6, all = (double)s->sent.offered_bytes,
           each = all / s->n;

    if (all > (double)s->rate * span + 4 * 1500 || all < (double)s->rate * span - 4 * 1500)
        fail_msg("%s, %u flows: %.0f bytes left in %.1f s, not %.0f", s->cc, s->n, all, span,
                 (double)s->rate * span);
    for (unsigned i = 0; i < s->n; i++)
        if (s->got[i] < each * (1 - part) || s->got[i] > each * (1 + part))
            fail_msg("%s: flow %u of %u got %.0f bytes, an equal share is %.0f", s->cc, i, s->n,
                     s->got[i], each);
    assert_int_equal(s->resent, 0);
}

/* 15 Mbit/s for 1, 3 and 100 flows with pure rate control, VJ and Vegas; controllers with a window
 * first get time for slow start. */
static void equal_shares(void **x)
{
    static const char *const cc[] = {"rate", "vj", "vegas"};
    static const unsigned n[] = {1, 3, FLOWS};
    (void)x;

    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            struct share *s = calloc(1, sizeof *s);
            s->link = "rate=100mbit,rtt=100ms";
            s->cc = cc[i];
            s->n = n[k];
            s->rate = 15000000 / 8;
            s->warm = SCPS_SEC(5);
            s->until = SCPS_SEC(25);
            run(s);
            fair(s, 0.02);
            free(s);
        }
}

/* The shares are equal in bytes, not in packets. */
static void long_and_short_packets(void **x)
{
    struct share s = {.link = "rate=100mbit,rtt=100ms",
                      .cc = "rate",
                      .n = 3,
                      .rate = 15000000 / 8,
                      .mss = {1460, 536, 112},
                      .warm = SCPS_SEC(2),
                      .until = SCPS_SEC(22)};
    (void)x;

    run(&s);
    fair(&s, 0.02);
}

/* 9600 bit/s for three flows: a connection waits 5 s for its turn, and still each gets its
 * share. */
static void slow_line(void **x)
{
    struct share s = {.link = "rate=100mbit,rtt=100ms",
                      .cc = "rate",
                      .n = 3,
                      .rate = 1200,
                      .warm = SCPS_SEC(100),
                      .until = SCPS_SEC(3700)};
    (void)x;

    run(&s);
    fair(&s, 0.02);
}

/* The rate changes from 15 to 30 Mbit/s half way: the bytes agree exactly, but for the packet
 * during which it changes. */
static void changed_at_once(void **x)
{
    struct share s = {.link = "rate=100mbit,rtt=100ms",
                      .cc = "rate",
                      .n = 3,
                      .rate = 15000000 / 8,
                      .later = 30000000 / 8,
                      .warm = SCPS_SEC(2),
                      .until = SCPS_SEC(20)};
    (void)x;

    run(&s);
    double want = 8.0 * 15e6 / 8 + 10.0 * 30e6 / 8;
    assert_true((double)s.sent.offered_bytes > want - 6000 &&
                (double)s.sent.offered_bytes < want + 6000);
}

/* The receiver's route is the slow one: the acknowledgements of three connections count against its
 * rate and keep to it. */
static void acknowledgements_share(void **x)
{
    struct share s = {.link = "rate=100mbit,rtt=100ms",
                      .cc = "rate",
                      .n = 3,
                      .rate = 15000000 / 8,
                      .back_rate = 20000 / 8,
                      .warm = SCPS_SEC(5),
                      .until = SCPS_SEC(25)};
    (void)x;

    run(&s);
    fair(&s, 0.03);
    double most = 20.0 * 20000 / 8;
    assert_true((double)s.acked.offered_bytes <= most + 200);
    assert_true((double)s.acked.offered_bytes >= most * 0.98);
    assert_int_equal(s.timeouts, 0);
}

/* The link loses half of all packets, so windows are one segment: each connection sends at its
 * minimum rate all the same. */
static void minimum_for_each(void **x)
{
    struct share s = {.link = "rate=100mbit,rtt=1s,loss=0.5,loss-back=0",
                      .cc = "vj",
                      .n = 3,
                      .min_rate = 30000,
                      .warm = SCPS_SEC(60),
                      .until = SCPS_SEC(360)};
    struct share without = s;
    double all, span = 300;
    (void)x;

    without.min_rate = 0;
    run(&without);
    assert_true((double)without.sent.offered_bytes < 30000 * span / 2);
    run(&s);
    all = (double)s.sent.offered_bytes;
    assert_true(all >= 30000 * span * 0.98);
    /* What windows allow beyond the minimum rate is used at once. */
    assert_true(all <= 30000 * span * 1.6);
    for (unsigned i = 0; i < s.n; i++)
        assert_true(s.got[i] > all / 3 / 2 * 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shares),
        cmocka_unit_test(long_and_short_packets),
        cmocka_unit_test(slow_line),
        cmocka_unit_test(changed_at_once),
        cmocka_unit_test(acknowledgements_share),
        cmocka_unit_test(minimum_for_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
