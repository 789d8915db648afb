/* SPDX-License-Identifier: MIT */
/* scps_stack_config.fixed_memory: a stack allocates once, when it is opened, as much as
 * scps_memory_bound() returns, and never again; transfers of every kind succeed with it. */
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

#define CONFIGS 400
#define CONNS   6

/* An allocator that gives one block of at most `room` bytes, and counts. */
struct arena {
    uint64_t room, asked; /* room: size of the block, bytes; asked: bytes requested */
    unsigned allocs, frees;
};

static void *arena_alloc(void *ctx, size_t n)
{
    struct arena *a = ctx;

    a->allocs++;
    a->asked += n;
    return n <= a->room ? malloc(n) : NULL;
}

static void arena_free(void *ctx, void *p, size_t n)
{
    struct arena *a = ctx;

    (void)n;
    a->frees++;
    free(p);
}

static struct scps_stack_config host_config(struct arena *a, const struct scps_conn_config *conn,
                                            uint32_t n)
{
    struct scps_stack_config cfg = scps_stack_config_default();

    *a = (struct arena){.room = UINT64_MAX};
    cfg.alloc = (struct scps_alloc){arena_alloc, arena_free, a};
    cfg.fixed_memory = conn;
    cfg.max_conns = n;
    return cfg;
}

/* ---- opening ---- */

static void one_byte_too_few(void **state)
{
    struct scps_conn_config conn = scps_conn_config_default();
    struct scps_stack_config cfg;
    struct scps_stack *st;
    struct arena a;
    uint64_t need = scps_memory_bound(NULL, &conn, 10);
    char msg[200];

    (void)state;
    assert_true(need > UINT64_C(10) * (conn.sndbuf + conn.rcvbuf));
    cfg = host_config(&a, &conn, 10);
    a.room = need - 1;
    assert_null(scps_stack_open(&cfg, msg, sizeof msg));
    assert_int_equal(a.asked, need);
    assert_non_null(strstr(msg, "alloc: "));
    assert_int_equal(strtoull(msg + strlen("alloc: "), NULL, 10), need);
    cfg.memory_limit = need - 1;
    assert_null(scps_stack_open(&cfg, msg, sizeof msg));
    assert_non_null(strstr(msg, "fixed_memory: "));
    assert_int_equal(strtoull(msg + strlen("fixed_memory: "), NULL, 10), need);
    assert_non_null(strstr(msg, "memory_limit"));
    cfg.memory_limit = a.room = need;
    st = scps_stack_open(&cfg, msg, sizeof msg);
    assert_non_null(st);
    scps_stack_free(st);
    assert_int_equal(a.frees, 1);
}

static void absurd_values(void **state)
{
    struct scps_conn_config conn = scps_conn_config_default();
    struct scps_stack_config cfg;
    struct arena a;
    char msg[200];

    (void)state;
    assert_int_equal(scps_memory_bound(NULL, &conn, 0), 0);
    cfg = host_config(&a, &conn, 0);
    assert_null(scps_stack_open(&cfg, msg, sizeof msg));
    assert_non_null(strstr(msg, "max_conns"));
    conn.sndbuf = 5;
    assert_int_equal(scps_memory_bound(NULL, &conn, 1), 0);
    cfg.max_conns = 1;
    assert_null(scps_stack_open(&cfg, msg, sizeof msg));
    assert_non_null(strstr(msg, "fixed_memory"));
    conn.sndbuf = 1u << 30;
    assert_true(scps_memory_bound(NULL, &conn, UINT32_MAX) == 0 || sizeof(size_t) > 4);
    assert_int_equal(a.allocs, 0);
    a.room = 1000;
    assert_null(scps_stack_open(&cfg, NULL, 0)); /* no message is wanted */
}

/* Values beyond the configuration are refused when a connection is opened. */
static void configurations_beyond(void **state)
{
    struct scps_conn_config conn = scps_conn_config_default(), c;
    struct scps_stack_config cfg;
    struct scps_endpoint at = {.port = 7};
    struct scps_stack *st;
    struct arena a;
    int err = 0;

    (void)state;
    conn.sndbuf = conn.rcvbuf = 16384;
    cfg = host_config(&a, &conn, 3);
    st = scps_stack_new(&cfg);
    for (int i = 0; i < 8; i++) {
        c = conn;
        c.sndbuf += i == 0;
        c.rcvbuf += i == 1;
        c.mss = i == 2 ? 1461 : 0;
        c.records = i == 3;
        c.bets = i == 4;
        c.compress = i == 5;
        c.snack_delay = i == 6;
        if (i == 7)
            assert_int_equal(scps_conn_config_parse_cc(&c, "cubic", NULL, 0), 0);
        assert_null(scps_listen(st, &c, &at, 1, &err));
        assert_int_equal(err, SCPS_ERR_RANGE);
    }
    assert_non_null(scps_listen(st, &conn, &at, 1, &err));
    assert_null(scps_dgram_open(st, NULL, &at, &err));
    assert_int_equal(err, SCPS_ERR_NOMEM);
    scps_stack_free(st);
    assert_int_equal(a.allocs, 1);
}

/* ---- transfers ---- */

struct run {
    struct scps_host *tx, *rx;
    struct scps_bulk_source source[CONNS];
    struct scps_bulk_sink sink[CONNS];
    unsigned accepted, closed;
};

static int check(void *ctx, const void *data, size_t len)
{
    struct scps_bulk_sink *s = ctx;

    return data == NULL || scps_pattern_check(data, len, s->received + s->missing) ? 0
                                                                                   : SCPS_ERR_INVAL;
}

static void on_event(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    struct run *x = ctx;

    if (ev->kind == SCPS_EV_ACCEPT) {
        struct scps_conn *c;

        while ((c = scps_accept(ev->listener)) != NULL) {
            struct scps_bulk_sink *s = &x->sink[x->accepted++];

            s->take = check;
            s->ctx = s;
            scps_conn_set_user(c, s);
            scps_bulk_sink_start(s, c);
        }
    } else if (h == x->tx) {
        scps_bulk_source_event(ev->user, ev);
    } else {
        scps_bulk_sink_event(ev->user, ev);
    }
}

static uint32_t rnd(uint64_t *x, uint32_t below)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*x >> 33) % below;
}

/* Returns a random configuration within the bounds. */
static struct scps_conn_config any_config(uint64_t *x)
{
    struct scps_conn_config c = scps_conn_config_default();
    const char *const cc[] = {"vj",       "cubic", "vegas", "rate",
                              "scalable", "bbr",   "hybla", "cubic,slow-start=2"};

    c.rate = 1250000;
    assert_int_equal(scps_conn_config_parse_cc(&c, cc[rnd(x, 8)], NULL, 0), 0);
    c.sndbuf = 256u << rnd(x, 10);
    c.sndbuf += rnd(x, c.sndbuf);
    c.rcvbuf = 2048u << rnd(x, 7);
    c.rcvbuf += rnd(x, c.rcvbuf);
    c.mss = rnd(x, 2) ? (uint16_t)(200 + rnd(x, 1260)) : 0;
    c.snack = rnd(x, 2);
    c.snack_long = c.snack && rnd(x, 2);
    c.snack_delay = c.snack && !rnd(x, 3) ? SCPS_MS(20) : 0;
    c.records = rnd(x, 2);
    c.compress = rnd(x, 2);
    c.timestamps = rnd(x, 2);
    c.bets = !rnd(x, 4);
    c.hollow = !rnd(x, 4);
    c.nodelay = rnd(x, 2);
    if (rnd(x, 2))
        c.recovery = SCPS_RECOVERY_RACK;
    return c;
}

static void transfer(uint64_t seed, const char *link, uint64_t bytes)
{
    struct scps_conn_config conn = any_config(&seed);
    struct run x = {0};
    struct arena arena[2];
    struct scps_stack_config cfg = host_config(&arena[0], &conn, CONNS);
    struct scps_world *w = scps_world_new(NULL);
    struct scps_endpoint any = {.port = 5001}, to = {.port = 5001};
    struct scps_link_config fwd, back;
    struct scps_stack_stats stats;
    struct scps_addr a;
    uint64_t bound = scps_memory_bound(&cfg, &conn, CONNS);
    char msg[200];
    int err = 0;

    assert_int_equal(scps_link_parse(link, &fwd, &back, msg, sizeof msg), 0);
    fwd.seed = back.seed = seed;
    scps_addr_parse("10.0.0.1", &a);
    scps_addr_parse("10.0.0.2", &to.addr);
    x.tx = scps_world_host(w, "tx", &cfg, on_event, &x);
    cfg = host_config(&arena[1], &conn, CONNS);
    x.rx = scps_world_host(w, "rx", &cfg, on_event, &x);
    assert_non_null(scps_world_link(w, x.tx, &a, x.rx, &to.addr, 24, 0, &fwd, &back));
    assert_non_null(scps_listen(scps_host_stack(x.rx), &conn, &any, CONNS, &err));
    for (unsigned k = 0; k < CONNS; k++) {
        struct scps_conn *c = scps_connect(scps_host_stack(x.tx), &conn, NULL, &to, &err);

        assert_non_null(c);
        x.source[k] = (struct scps_bulk_source){
            .total = bytes, .hollow = conn.hollow, .record = conn.records ? 100 + 300 * k : 0};
        scps_conn_set_user(c, &x.source[k]);
        assert_int_equal(scps_bulk_source_start(&x.source[k], c), 0);
    }
    scps_host_kick(x.tx);
    scps_world_run(w, SCPS_SEC(4000));
    assert_int_equal(x.accepted, CONNS);
    for (unsigned k = 0; k < CONNS; k++) {
        if (x.sink[k].received + x.sink[k].missing != bytes || !x.sink[k].eof || x.sink[k].err)
            fail_msg("connection %u: %llu of %llu bytes, error %d", k,
                     (unsigned long long)x.sink[k].received, (unsigned long long)bytes,
                     x.sink[k].err);
        assert_int_equal(x.source[k].err, 0);
        scps_bulk_source_fini(&x.source[k]);
    }
    for (int i = 0; i < 2; i++) {
        scps_stack_get_stats(scps_host_stack(i ? x.rx : x.tx), &stats);
        assert_int_equal(arena[i].allocs, 1); /* nothing was allocated after opening */
        assert_int_equal(arena[i].frees, 0);
        assert_int_equal(arena[i].asked, bound);
        assert_true(stats.memory_peak < bound);
        assert_int_equal(stats.drops[SCPS_DROP_MEMORY_LIMIT], 0);
    }
    scps_world_free(w);
    assert_int_equal(arena[0].frees + arena[1].frees, 2);
}

static void every_kind_of_configuration(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CONFIGS; seed++)
        transfer(seed,
                 seed % 3 ? "rate=10mbit,rtt=20ms,loss=0.02"
                          : "rate=10mbit,rtt=50ms,loss=0.01,dup=0.01,jitter=5ms,reorder=0.05",
                 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_byte_too_few),
        cmocka_unit_test(absurd_values),
        cmocka_unit_test(configurations_beyond),
        cmocka_unit_test(every_kind_of_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
