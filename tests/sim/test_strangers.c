/* SPDX-License-Identifier: MIT */
/* What strangers can take from a connection: nothing much.
 *
 *     sender ---- 10 Mbit/s, 100 ms ----> receiver <---- 1000 spoofed packets a second
 *            <--- 200 kbit/s ------------             answers to them share the thin return with acknowledgements
 *
 * The return is thin because the line is (its device says so), because the route has a rate, or because nobody says so
 * and the device is full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <scps/sim.h>
#include <scps/traffic.h>
#include <scps/wire.h>

#define WARM  SCPS_SEC(5)
#define UNTIL SCPS_SEC(35)
#define EVERY SCPS_MS(1)

enum flood { NONE, SYNS, SEGMENTS };

struct strangers {
    enum flood flood;
    uint64_t rate;      /* the sender's own, bytes/s; 0: by its window */
    uint64_t back_rate; /* of the receiver's route, bytes/s; 0: none */
    const char *link;
    struct scps_world *w;
    struct scps_host *host[2];
    struct scps_link *l;
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    uint64_t before, seq;
    struct scps_link_stats back; /* when the measurement began */
};

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct strangers *s = ctx;

    if (ev->kind == SCPS_EV_ACCEPT)
        scps_bulk_sink_start(&s->sink, scps_accept(ev->listener));
    else if (h == s->host[0])
        scps_bulk_source_event(&s->source, ev);
    else
        scps_bulk_sink_event(&s->sink, ev);
}

static struct scps_addr address(const char *text)
{
    struct scps_addr a;

    assert_int_equal(scps_addr_parse(text, &a), 0);
    return a;
}

/* One packet of somebody at 10.0.0.77, whose addresses and ports are never the same twice. */
static void stranger(void *ctx)
{
    struct strangers *s = ctx;
    struct scps_ip ip = {
        .src = address("10.0.0.77"), .dst = address("10.0.0.2"), .version = 4, .ttl = 64};
    struct scps_seg seg = {.dport = s->flood == SYNS ? 5001 : 4999,
                           .flags = s->flood == SYNS ? SCPS_SYN : SCPS_ACK,
                           .wnd = 65535};
    uint8_t p[200] = {0};
    size_t n;

    s->seq++;
    ip.src.b[3] = (uint8_t)(10 + s->seq % 100);
    seg.sport = (uint16_t)(1024 + s->seq % 60000);
    seg.seq = seg.ack = (uint32_t)(s->seq * 2654435761u);
    seg.ack = seg.flags & SCPS_ACK ? seg.ack : 0;
    if (s->flood == SYNS) {
        seg.has = SCPS_HAS_MSS;
        seg.mss = 1460;
    }
    ip.proto = SCPS_IPPROTO_TCP;
    n = scps_tcp_build(p + 20, &seg);
    scps_ip_build(p, &ip, n);
    struct scps_pkt in = {.data = p, .len = 20 + n, .csum_ok = true, .at = scps_world_now(s->w)};
    scps_stack_input(scps_host_stack(s->host[1]), scps_link_netif(s->l, 1), &in);
    scps_host_kick(s->host[1]);
    assert_int_equal(scps_world_at(s->w, scps_world_now(s->w) + EVERY, stranger, s), 0);
}

static void begin(void *ctx)
{
    struct strangers *s = ctx;

    s->before = s->sink.received;
    scps_link_get_stats(s->l, 1, &s->back);
}

/* Mbit/s of payload. */
static double goodput(struct strangers *s)
{
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint there = {.addr = address("10.0.0.2"), .port = 5001};
    struct scps_link_config fwd, back;
    struct scps_addr a = address("10.0.0.1");
    struct scps_link_stats back_now;
    struct scps_stack_stats st;
    char msg[200];
    int err;

    assert_int_equal(scps_link_parse(s->link, &fwd, &back, msg, sizeof msg), 0);
    s->w = scps_world_new(NULL);
    for (int i = 0; i < 2; i++)
        s->host[i] = scps_world_host(s->w, i ? "receiver" : "sender", NULL, on_event, s);
    s->l = scps_world_link(s->w, s->host[0], &a, s->host[1], &there.addr, 24, 0, &fwd, &back);
    assert_non_null(s->l);
    if (s->back_rate) {
        struct scps_route r = {.dst = address("10.0.0.0"),
                               .prefix = 25,
                               .nif = scps_link_netif(s->l, 1),
                               .rate = s->back_rate};
        assert_int_equal(scps_stack_add_route(scps_host_stack(s->host[1]), &r), 0);
    }
    cfg.hollow = true;
    cfg.sndbuf = cfg.rcvbuf = 1 << 20;
    cfg.timestamps = false; /* acknowledgements take 190 of the 200 kbit/s */
    if (s->rate) {
        cfg.cc = scps_cc_find("rate");
        cfg.rate = s->rate;
    }
    assert_non_null(scps_listen(scps_host_stack(s->host[1]), &cfg, &there, 5, &err));
    s->source.total = UINT64_MAX / 2;
    s->source.hollow = true;
    assert_int_equal(scps_bulk_source_start(&s->source, scps_connect(scps_host_stack(s->host[0]),
                                                                     &cfg, NULL, &there, &err)),
                     0);
    assert_int_equal(scps_world_at(s->w, WARM, begin, s), 0);
    if (s->flood)
        assert_int_equal(scps_world_at(s->w, SCPS_SEC(1), stranger, s), 0);
    scps_host_kick(s->host[0]);
    scps_world_run(s->w, UNTIL);
    scps_stack_get_stats(scps_host_stack(s->host[1]), &st);
    double got = (double)(s->sink.received - s->before) * 8 / (double)(UNTIL - WARM);
    print_message(
        "%s, route %llu: flood %d: %.3f Mbit/s; %llu cookies, %llu resets, %llu not given\n",
        s->link, (unsigned long long)s->back_rate, s->flood, got,
        (unsigned long long)st.cookies_out, (unsigned long long)st.resets_out,
        (unsigned long long)st.drops[SCPS_DROP_RATE_LIMITED]);
    scps_link_get_stats(s->l, 1, &back_now);
    if (s->back_rate) /* whatever leaves pays */
        assert_true((double)(back_now.offered_bytes - s->back.offered_bytes) <=
                    (double)s->back_rate * (double)(UNTIL - WARM) * 1e-6 + 4 * 1500);
    if (s->flood) { /* some are answered all the same, the others are counted */
        assert_true(st.cookies_out + st.resets_out > 50);
        assert_true(st.drops[SCPS_DROP_RATE_LIMITED] > 0);
    }
    scps_bulk_source_fini(&s->source);
    scps_world_free(s->w);
    return got;
}

/* 90 % of what it is without them, at least. */
static void kept(const char *link, uint64_t rate, uint64_t back_rate)
{
    struct strangers none = {.link = link, .rate = rate, .back_rate = back_rate};
    double alone = goodput(&none);

    assert_true(alone > 9);
    for (enum flood f = SYNS; f <= SEGMENTS; f++) {
        struct strangers s = {.link = link, .rate = rate, .back_rate = back_rate, .flood = f};
        double got = goodput(&s);
        if (got < 0.9 * alone)
            fail_msg("%s, route %llu, flood %d: %.3f of %.3f Mbit/s", link,
                     (unsigned long long)back_rate, f, got, alone);
    }
}

static void a_thin_line(void **x)
{
    (void)x;
    kept("rate=10mbit,rate-back=200kbit,rtt=100ms", 0, 0);
    kept("rate=10mbit,rate-back=200kbit,rtt=100ms", 1250000, 0);
}

static void a_thin_route(void **x)
{
    (void)x;
    kept("rate=10mbit,rate-back=10mbit,rtt=100ms", 0, 25000);
    kept("rate=10mbit,rate-back=10mbit,rtt=100ms", 1250000, 25000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thin_line),
        cmocka_unit_test(a_thin_route),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
