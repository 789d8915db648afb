/* SPDX-License-Identifier: MIT */
/* The simulated world: the order of events of the same time, the beginning and the end of a run,
 * links that change, and many hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_alloc.h"

#include <scps/error.h>
#include <scps/sim.h>
#include <scps/traffic.h>

/* ---- timers ---- */

static struct scps_world *world;
static char heard[64];
static scps_time heard_at[64];

static void hear(void *ctx)
{
    size_t n = strlen(heard);

    assert_true(n + 1 < sizeof heard);
    heard[n] = *(const char *)ctx;
    heard[n + 1] = '\0';
    heard_at[n] = scps_world_now(world);
}

static void hear_and_ask(void *ctx)
{
    hear(ctx);
    assert_int_equal(scps_world_at(world, scps_world_now(world), hear, "y"), 0);
    assert_int_equal(scps_world_at(world, 0, hear, "z"), 0); /* A time in the past counts as now. */
}

static void hear_and_stop(void *ctx)
{
    hear(ctx);
    scps_world_stop(world);
}

static void timers_go_by_time_and_then_by_age(void **state)
{
    (void)state;

    world = scps_world_new(NULL);
    heard[0] = '\0';
    scps_world_at(world, 20, hear, "d");
    scps_world_at(world, 10, hear, "a");
    scps_world_at(world, 20, hear_and_ask, "e");
    scps_world_at(world, 10, hear, "b");
    scps_world_at(world, 20, hear, "f");
    scps_world_at(world, 15, hear, "c");
    assert_int_equal(scps_world_run(world, SCPS_NEVER), 8);
    assert_string_equal(heard, "abcdefyz");
    assert_true(heard_at[1] == 10 && heard_at[2] == 15 && heard_at[7] == 20);
    assert_true(scps_world_now(world) == 20); /* No event was left. */
    scps_world_free(world);
}

static void a_run_ends_at_the_given_time(void **state)
{
    (void)state;

    world = scps_world_new(NULL);
    heard[0] = '\0';
    scps_world_at(world, 100, hear, "a");
    scps_world_at(world, 101, hear, "b");
    scps_world_at(world, 200, hear_and_stop, "c");
    scps_world_at(world, 200, hear, "d");
    /* The world ends before this time, so the timer is freed with the world. */
    scps_world_at(world, 300, hear, "e");
    assert_int_equal(scps_world_run(world, 100), 1);
    assert_true(scps_world_now(world) == 100);
    assert_int_equal(scps_world_run(world, 150), 1);
    assert_true(scps_world_now(world) == 150);
    assert_int_equal(scps_world_run(world, 100), 0); /* The clock never goes back. */
    assert_true(scps_world_now(world) == 150);
    assert_int_equal(scps_world_run(world, 1000), 1);
    assert_string_equal(heard, "abc");
    assert_true(scps_world_now(world) == 200);
    assert_int_equal(scps_world_run(world, 250), 1);
    assert_string_equal(heard, "abcd");
    scps_world_free(world);
}

/* ---- hosts ---- */

struct flow {
    struct scps_bulk_source source;
    struct scps_bulk_sink sink;
    scps_time done;
};

static void on_sender(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct flow *f = ev->user;
    (void)ctx;

    if (!f)
        return;
    scps_bulk_source_event(&f->source, ev);
    if (f->source.closed && !f->done)
        f->done = scps_world_now(scps_host_world(h));
}

/* Opens a sink for each port: the i-th flow listens on port 1000 + i. */
static void on_receiver(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct flow *flow = ctx;
    struct scps_endpoint at;
    (void)h;

    if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c = scps_accept(ev->listener);
        scps_conn_local(c, &at);
        scps_conn_set_user(c, &flow[at.port - 1000]);
        scps_bulk_sink_start(&flow[at.port - 1000].sink, c);
    } else if (ev->user) {
        scps_bulk_sink_event(&((struct flow *)ev->user)->sink, ev);
    }
}

static void addr(struct scps_addr *a, const char *fmt, unsigned i)
{
    char text[40];

    snprintf(text, sizeof text, fmt, i);
    assert_int_equal(scps_addr_parse(text, a), 0);
}

static void begin(struct flow *f, unsigned i, struct scps_host *from, struct scps_host *to,
                  const struct scps_addr *there, const struct scps_conn_config *cfg, uint64_t size)
{
    struct scps_endpoint ep = {*there, (uint16_t)(1000 + i)};

    memset(f, 0, sizeof *f);
    f->source.total = size;
    assert_non_null(scps_listen(scps_host_stack(to), cfg, &ep, 1, NULL));
    struct scps_conn *c = scps_connect(scps_host_stack(from), cfg, NULL, &ep, NULL);
    assert_non_null(c);
    scps_conn_set_user(c, f);
    assert_int_equal(scps_bulk_source_start(&f->source, c), 0);
    scps_host_kick(from);
}

static void end(struct flow *f, uint64_t size)
{
    assert_true(f->sink.received == size && f->sink.eof && !f->sink.err && !f->source.err);
    assert_true(f->done > 0);
    scps_bulk_source_fini(&f->source);
}

/* One host sends to sixty others over a link each, and sixty flows go to one host over one link:
 * all data arrives. */
static void many_hosts_and_many_flows(void **state)
{
    enum { N = 60, SIZE = 50000 };
    static struct flow flow[2 * N];
    struct scps_world *w = scps_world_new(NULL);
    struct scps_host *hub = scps_world_host(w, "hub", NULL, on_sender, NULL);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_link_config fwd, back;
    struct scps_addr a, b;
    (void)state;

    assert_int_equal(scps_link_parse("leo,ber=1e-6", &fwd, &back, NULL, 0), 0);
    for (unsigned i = 0; i < N; i++) {
        struct scps_host *h = scps_world_host(w, "spoke", NULL, on_receiver, flow);
        addr(&a, "10.1.%u.1", i);
        addr(&b, "10.1.%u.2", i);
        assert_non_null(scps_world_link(w, hub, &a, h, &b, 24, 0, &fwd, &back));
        begin(&flow[i], i, hub, h, &b, &cfg, SIZE);
    }
    struct scps_host *one = scps_world_host(w, "one", NULL, on_receiver, flow);
    addr(&a, "fd00::%u", 1);
    addr(&b, "fd00::%u", 2);
    struct scps_link *l = scps_world_link(w, hub, &a, one, &b, 64, 0, &fwd, &back);
    assert_non_null(l);
    for (unsigned i = N; i < 2 * N; i++)
        begin(&flow[i], i, hub, one, &b, &cfg, SIZE);
    scps_world_run(w, SCPS_SEC(600));
    for (unsigned i = 0; i < 2 * N; i++)
        end(&flow[i], SIZE);
    struct scps_link_stats st;
    scps_link_get_stats(l, 0, &st);
    /* The flows met in the queue of the link. */
    assert_true(st.dropped_queue > 0 && st.in_flight == 0);
    scps_world_free(w);
}

/* Each link of a world, and each direction of a link, loses packets of its own, whatever the
 * seeds. */
static void links_with_one_seed_differ(void **state)
{
    enum { N = 4, SIZE = 400000 };
    static struct flow flow[N];
    struct scps_world *w = scps_world_new(NULL);
    struct scps_host *hub = scps_world_host(w, "hub", NULL, on_sender, NULL);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_link_config c = {.rate_bps = 10000000, .delay = 1000, .loss = 0.02, .seed = 5};
    struct scps_addr a, b;
    (void)state;

    for (unsigned i = 0; i < N; i++) {
        struct scps_host *h = scps_world_host(w, "spoke", NULL, on_receiver, flow);
        addr(&a, "10.1.%u.1", i);
        addr(&b, "10.1.%u.2", i);
        assert_non_null(scps_world_link(w, hub, &a, h, &b, 24, 0, &c, &c));
        begin(&flow[i], i, hub, h, &b, &cfg, SIZE);
    }
    scps_world_run(w, SCPS_SEC(600));
    for (unsigned i = 0; i < N; i++) {
        end(&flow[i], SIZE);
        for (unsigned k = 0; k < i; k++)
            assert_true(flow[i].done != flow[k].done);
    }
    scps_world_free(w);
}

/* Packets that arrive at the same time are acknowledged once: without a rate a whole window is. */
static void arrivals_of_one_moment_are_served_together(void **state)
{
    static struct flow flow[1];
    struct scps_world *w = scps_world_new(NULL);
    struct scps_host *x = scps_world_host(w, "x", NULL, on_sender, NULL);
    struct scps_host *y = scps_world_host(w, "y", NULL, on_receiver, flow);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_link_config c = {.delay = SCPS_MS(10)};
    struct scps_link_stats there, here;
    struct scps_addr a, b;
    (void)state;

    addr(&a, "10.0.0.%u", 1);
    addr(&b, "10.0.0.%u", 2);
    cfg.sndbuf = cfg.rcvbuf = 4000000;
    struct scps_link *l = scps_world_link(w, x, &a, y, &b, 24, 0, &c, &c);
    begin(&flow[0], 0, x, y, &b, &cfg, 10000000);
    scps_world_run(w, SCPS_SEC(100));
    end(&flow[0], 10000000);
    scps_link_get_stats(l, 0, &there);
    scps_link_get_stats(l, 1, &here);
    assert_true(there.offered > 6500);
    /* With one acknowledgement for the packets of each round trip, there are fewer than 200. */
    if (here.offered > 200)
        fail_msg("%llu packets back", (unsigned long long)here.offered);
    scps_world_free(w);
}

struct weather {
    struct scps_link *l;
    struct scps_link_config c;
};

static void worsen(void *ctx)
{
    struct weather *x = ctx;
    struct scps_link_config nonsense = {.loss = 3};

    x->c.rate_bps /= 10;
    assert_int_equal(scps_link_change(x->l, 0, &x->c), 0);
    assert_int_equal(scps_link_change(x->l, 0, &nonsense), SCPS_ERR_INVAL);
}

static void cut(void *ctx)
{
    struct weather *x = ctx;

    x->c.loss = 1;
    assert_int_equal(scps_link_change(x->l, 0, &x->c), 0);
}

static void mend(void *ctx)
{
    struct weather *x = ctx;

    x->c.loss = 0;
    assert_int_equal(scps_link_change(x->l, 0, &x->c), 0);
}

static void a_link_changes_while_it_works(void **state)
{
    static struct flow flow[1];
    struct scps_world *w = scps_world_new(NULL);
    struct scps_host *x = scps_world_host(w, "x", NULL, on_sender, NULL);
    struct scps_host *y = scps_world_host(w, "y", NULL, on_receiver, flow);
    struct scps_conn_config cfg = scps_conn_config_default();
    struct weather sky;
    struct scps_link_config back;
    struct scps_link_stats st;
    struct scps_addr a, b;
    (void)state;

    addr(&a, "10.0.0.%u", 1);
    addr(&b, "10.0.0.%u", 2);
    assert_int_equal(
        scps_link_parse("rate=10mbit,rtt=20ms,overhead=0,queue=200000", &sky.c, &back, NULL, 0), 0);
    sky.l = scps_world_link(w, x, &a, y, &b, 24, 0, &sky.c, &back);
    begin(&flow[0], 0, x, y, &b, &cfg, 5000000);
    /* 2.4 MB have arrived by then; the rest is sent at 1 Mbit/s. */
    scps_world_at(w, SCPS_SEC(2), worsen, &sky);
    scps_world_at(w, SCPS_SEC(5), cut, &sky);
    scps_world_at(w, SCPS_SEC(8), mend, &sky);
    scps_world_run(w, SCPS_SEC(1000));
    end(&flow[0], 5000000);
    scps_link_get_stats(sky.l, 0, &st);
    assert_true(st.dropped_loss > 0);
    /* The transfer takes the time of the rest, the gap of the link, and the timeouts in it, which
     * double. */
    assert_true(flow[0].done > SCPS_SEC(2 + 3 + 20));
    assert_true(flow[0].done < SCPS_SEC(2 + 2 * 3 + 24 + 3));
    scps_world_free(w);
}

/* ---- failures ---- */

/* With any number of successful allocations nothing crashes or leaks, and each block is freed with
 * the size that was requested. */
static void any_allocation_may_fail(void **state)
{
    (void)state;

    for (unsigned allowed = 0; allowed < 400; allowed++) {
        static struct flow flow[1];
        struct poor poor = {.left = allowed};
        struct scps_alloc alloc = {poor_alloc, poor_free, &poor};
        struct scps_stack_config sc = scps_stack_config_default();
        struct scps_link_config c = {.rate_bps = 10000000, .delay = 1000, .loss = 0.01};
        struct scps_link *l = NULL;
        struct scps_addr a, b;
        addr(&a, "10.0.0.%u", 1);
        addr(&b, "10.0.0.%u", 2);
        sc.alloc = alloc;
        memset(flow, 0, sizeof flow);
        struct scps_world *w = scps_world_new(&alloc);
        struct scps_host *x = w ? scps_world_host(w, "x", &sc, on_sender, NULL) : NULL;
        struct scps_host *y = x ? scps_world_host(w, "y", &sc, on_receiver, flow) : NULL;
        if (y)
            l = scps_world_link(w, x, &a, y, &b, 24, 0, &c, &c);
        if (l) {
            struct scps_endpoint ep = {b, 1000};
            int err = 0;
            scps_world_at(w, 10, hear, "t");
            heard[0] = '\0';
            world = w;
            flow[0].source.total = 100000;
            flow[0].source.hollow = true;
            scps_listen(scps_host_stack(y), NULL, &ep, 1, &err);
            struct scps_conn *k = scps_connect(scps_host_stack(x), NULL, NULL, &ep, &err);
            if (k) {
                scps_conn_set_user(k, &flow[0]);
                scps_bulk_source_start(&flow[0].source, k);
                scps_host_kick(x);
            }
            scps_world_run(w, SCPS_SEC(30));
        }
        scps_world_free(w);
        assert_int_equal(poor.out, 0);
    }
}

static void bad_links_are_refused(void **state)
{
    struct scps_world *w = scps_world_new(NULL);
    struct scps_host *x =
        scps_world_host(w, "a name that is longer than there is room for", NULL, NULL, NULL);
    struct scps_host *y = scps_world_host(w, NULL, NULL, NULL, NULL);
    struct scps_link_config good = {0}, bad = {.ber = 2};
    struct scps_addr a, b, none = {0};
    (void)state;

    addr(&a, "10.0.0.%u", 1);
    addr(&b, "10.0.0.%u", 2);
    assert_string_equal(scps_host_name(x), "a name that is longer than ther");
    assert_string_equal(scps_host_name(y), "");
    assert_null(scps_world_link(w, x, &a, y, &b, 24, 0, &good, &bad));
    assert_null(scps_world_link(w, x, &a, y, &b, 24, 0, &bad, &good));
    /* The MTU has no room for a header. */
    assert_null(scps_world_link(w, x, &a, y, &b, 24, 20, &good, &good));
    assert_null(scps_world_link(w, x, &a, y, &none, 24, 0, &good, &good));
    assert_non_null(scps_world_link(w, x, &a, y, &b, 24, 0, &good, &good));
    scps_world_run(w, 1000);
    scps_world_free(w);
    scps_world_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_go_by_time_and_then_by_age),
        cmocka_unit_test(a_run_ends_at_the_given_time),
        cmocka_unit_test(many_hosts_and_many_flows),
        cmocka_unit_test(links_with_one_seed_differ),
        cmocka_unit_test(arrivals_of_one_moment_are_served_together),
        cmocka_unit_test(a_link_changes_while_it_works),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(bad_links_are_refused),
    };
    return cmocka_run_group_tests_name("world", tests, NULL, NULL);
}
