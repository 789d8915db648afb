/* SPDX-License-Identifier: MIT */
/* Temporary lack of memory: each refused call is followed by an event when it is worth repeating,
 * nothing waits for ever, and data that fits is accepted. */
#include <scps/dgram.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "script_priv.h"

struct pool {
    size_t largest; /* A larger allocation is refused. */
    size_t limit;   /* An allocation after which more bytes would be in use is refused. */
    unsigned refused;
    size_t out; /* The number of bytes in use. */
};

static void *pool_alloc(void *ctx, size_t n)
{
    struct pool *p = ctx;

    if (n > p->largest || p->out + n > p->limit) {
        p->refused++;
        return NULL;
    }
    p->out += n;
    return malloc(n);
}

static void pool_free(void *ctx, void *p, size_t n)
{
    ((struct pool *)ctx)->out -= n;
    free(p);
}

static struct script *with(struct pool *p, void **x)
{
    struct script *t = script_new((uint8_t)(uintptr_t)*x);

    *p = (struct pool){.largest = SIZE_MAX, .limit = SIZE_MAX};
    t->stack_cfg.alloc = (struct scps_alloc){pool_alloc, pool_free, p};
    return t;
}

static uint8_t some[100000];

/* Writes n octets of the stream's pattern. Returns what scps_conn_write() returns. */
static int64_t tries(struct script *t, size_t n, unsigned flags)
{
    int64_t did;

    for (size_t i = 0; i < n; i++)
        some[i] = script_ours(t->p->written + 1 + (int64_t)i);
    did = scps_conn_write(t->c, some, n, flags);
    t->p->written += did > 0 ? did : 0;
    return did;
}

/* Without any memory SCPS_EV_WRITABLE comes although no data is outstanding: once after each
 * refused write, and never otherwise. */
static void nothing_to_write_into(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);

    script_established(t, MS(100));
    script_forget_events(t);
    p.largest = 0;
    script_run(t, SEC(10)); /* The memory of the handshake has been freed. */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tries(t, 1000, 0), SCPS_ERR_NOMEM);
        assert_int_equal(scps_conn_writable(t->c), 0);
        expect_no_event(t);
        script_run(t, script_now(t) + MS(99));
        expect_no_event(t);
        script_run(t, script_now(t) + MS(1));
        expect_event(t, SCPS_EV_WRITABLE);
        assert_true(scps_conn_writable(t->c) > 0);
    }
    script_run(t, script_now(t) + SEC(10));
    expect_no_event(t);
    p.largest = SIZE_MAX;
    assert_int_equal(tries(t, 1000, 0), 1000);
    script_run(t, script_now(t) + SEC(1));
    assert_true(script_forget_sent(t) > 0);
    script_free(t);
}

/* A send buffer that cannot grow accepts what it has room for, and an acknowledgement causes
 * SCPS_EV_WRITABLE. */
static void a_ring_that_cannot_grow(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);

    t->cfg.sndbuf = 128 * 1024;
    script_established(t, MS(100));
    script_forget_events(t);
    p.largest = 20000; /* The allocator grants a ring of 16384 octets, but not one of 32768. */
    script_run(t, MS(200));
    assert_int_equal(tries(t, 100000, 0), 16384);
    assert_true(p.refused > 0);
    assert_int_equal(tries(t, 100000, 0), SCPS_ERR_NOMEM);
    script_run(t, MS(250));
    assert_true(script_forget_sent(t) > 0);
    expect_no_event(t);
    peer_says(t, MS(250), .ack = 3001);
    expect_event(t, SCPS_EV_WRITABLE);
    assert_int_equal(tries(t, 100000, 0), 3000);
    script_forget_sent(t);
    script_free(t);
}

/* The FIN waits until there is memory for its record, whether the application keeps the connection
 * or has closed it. */
static void a_fin_without_memory(void **x)
{
    for (int let_go = 0; let_go < 2; let_go++) {
        struct pool p;
        struct script *t = with(&p, x);

        script_established(t, MS(100));
        script_run(t, SEC(10));
        script_forget_events(t);
        p.largest = 0;
        if (let_go)
            scps_conn_close(t->c);
        else
            assert_int_equal(scps_conn_shutdown(t->c), 0);
        script_run(t, SEC(12));
        expect_quiet(t, ANY_HOLD);
        p.largest = SIZE_MAX;
        script_run(t, SEC(13));
        expect_sent(t, .from = 1, .flags = SCPS_FIN | SCPS_ACK);
        if (let_go)
            t->c = NULL;
        script_forget_sent(t);
        script_free(t);
    }
}

/* If there is no memory to record the end of a record, the write accepts nothing, and
 * SCPS_EV_WRITABLE follows. */
static void a_record_without_memory(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);

    t->cfg.records = true;
    script_established(t, MS(100));
    script_forget_events(t);
    assert_int_equal(tries(t, 10, 0), 10);
    p.largest = 0;
    assert_int_equal(tries(t, 10, SCPS_EOR), SCPS_ERR_NOMEM);
    script_run(t, MS(200));
    expect_event(t, SCPS_EV_WRITABLE);
    p.largest = SIZE_MAX;
    assert_int_equal(tries(t, 10, SCPS_EOR), 10);
    script_run(t, MS(210));
    script_forget_sent(t);
    script_free(t);
}

/* A refused datagram of an endpoint with an empty queue is followed by SCPS_EV_WRITABLE, too. */
static void a_datagram_without_memory(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    struct scps_event ev;
    struct scps_dgram *d;

    script_start(t);
    d = scps_dgram_open(t->st, NULL, NULL, NULL);
    p.largest = 0;
    assert_int_equal(scps_dgram_send(d, &t->them, some, 500, 0), SCPS_ERR_NOMEM);
    assert_false(scps_dgram_writable(d));
    assert_int_equal(scps_stack_event(t->st, &ev), 0);
    script_run(t, script_now(t) + MS(100));
    assert_int_equal(scps_stack_event(t->st, &ev), 1);
    assert_true(ev.kind == SCPS_EV_WRITABLE && ev.dgram == d && scps_dgram_writable(d));
    p.largest = SIZE_MAX;
    assert_int_equal(scps_dgram_send(d, &t->them, some, 500, 0), 0);
    script_free(t);
}

/* A datagram endpoint keeps the rings of its queues when they become empty. A connection whose
 * write is refused gets that memory within 100 ms. A queue with a datagram keeps its ring. */
static void the_rings_of_empty_queues(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    struct scps_dgram *d;

    script_established(t, MS(100));
    d = scps_dgram_open(t->st, NULL, NULL, NULL);
    for (int i = 0; i < 40; i++)
        assert_int_equal(scps_dgram_send(d, &t->them, some, 500, 0), 0);
    script_run(t, MS(110));
    assert_int_equal(script_forget_sent(t), 40);
    script_forget_events(t);
    assert_int_equal(scps_dgram_send(d, &t->them, some, 500, 0), 0);
    p.limit = p.out + 1000;
    assert_int_equal(tries(t, 9000, 0), SCPS_ERR_NOMEM);
    scps_stack_advance(t->st, scps_stack_now(t->st) + MS(101));
    assert_int_equal(tries(t, 9000, 0), SCPS_ERR_NOMEM);
    script_run(t, MS(211));
    assert_int_equal(script_forget_sent(t), 1);
    script_run(t, MS(320));
    script_forget_events(t);
    assert_int_equal(tries(t, 9000, 0), 9000);
    script_forget_sent(t);
    script_free(t);
}

/* One octet at the far end of the window needs no memory for the octets before it; it is reported
 * by SACK, and is read when the rest has arrived. */
static void an_octet_at_the_far_end(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    size_t before;

    t->cfg.rcvbuf = 60000;
    script_established(t, MS(100));
    script_run(t, MS(200));
    before = p.out;
    peer_says(t, MS(200), .seq = 59000, .len = 1);
    assert_int_equal(script_info(t).rcv_ooo, 1);
    assert_true(p.out < before + 4000);
    for (int i = 0; i < 58; i++)
        peer_says(t, MS(200) + i, .seq = 1 + i * 1000, .len = 1000);
    assert_true(p.out > before + 58000);
    peer_says(t, MS(300), .seq = 58001, .len = 999);
    app_reads(t, MS(300), 59000);
    script_forget_sent(t);
    script_free(t);
}

/* Every hundredth octet of a window arrives: the memory used is in proportion to what has
 * arrived. */
static void sparse_octets(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    size_t before;

    t->cfg.rcvbuf = 60000;
    script_established(t, MS(100));
    script_run(t, MS(200));
    before = p.out;
    for (int i = 1; i <= 60; i++) {
        peer_says(t, MS(200) + i, .seq = 1 + i * 900, .len = 1);
        assert_int_equal(script_info(t).rcv_ooo, i);
        assert_true(p.out < before + 9000 + (size_t)i * 600);
    }
    for (int i = 0; i < 60; i++)
        peer_says(t, MS(300) + i, .seq = 1 + i * 900, .len = 900);
    app_reads(t, MS(400), 54001);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 2018 section 8: data beyond a hole is discarded if its memory is needed for the missing data,
 * because otherwise RCV.NXT would never advance. */
static void data_in_order_comes_first(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);

    t->cfg.rcvbuf = 60000;
    script_established(t, MS(100));
    script_run(t, MS(200));
    for (int i = 0; i < 20; i++) /* The data lies too far ahead for the ring. */
        peer_says(t, MS(200) + i, .seq = 30001 + i * 1000, .len = 1000);
    assert_int_equal(script_info(t).rcv_ooo, 20000);
    p.limit = p.out; /* There is no more memory from here on. */
    for (int i = 0; i < 20; i++)
        peer_says(t, MS(300) + i, .seq = 1 + i * 1000, .len = 1000);
    assert_int_equal(script_info(t).rcv_ooo, 0);
    app_reads(t, MS(400), 20000);
    script_forget_sent(t);
    script_free(t);
}

/* The stack's limit of memory is never exceeded: requests are refused in the order that
 * <scps/stack.h> states, and everything goes on when memory is freed. */
static void a_limit_for_the_stack(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    struct scps_stack_stats s;
    int64_t n;
    int err;

    t->cfg.rcvbuf = t->cfg.sndbuf = 200000;
    t->stack_cfg.memory_limit = 50000;
    script_established(t, MS(100));
    script_forget_events(t);
    n = tries(t, 30000, 0); /* The data takes a ring of 32768 octets. */
    assert_int_equal(n, 30000);
    /* More than three quarters of the limit are in use. */
    peer_says(t, MS(200), .seq = 1001, .len = 1000);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_MEMORY_LIMIT], 1);
    assert_int_equal(script_info(t).rcv_ooo, 0);
    n = tries(t, 30000, 0);
    assert_in_range(n, 2000, 2768); /* The write accepts what the ring has room for. */
    assert_int_equal(tries(t, 30000, 0), SCPS_ERR_NOMEM);
    peer_says(t, MS(201), .seq = 1, .len = 1000); /* Data in order may use the whole limit. */
    assert_int_equal(script_info(t).rcv_queued, 1000);
    /* New connections are refused beyond seven eighths of the limit. */
    for (err = 0; scps_connect(t->st, &t->cfg, NULL, &t->them, &err);)
        ;
    assert_int_equal(err, SCPS_ERR_NOMEM);
    scps_stack_get_stats(t->st, &s);
    assert_true(s.memory <= 50000 && s.memory_peak <= 50000 && s.memory_peak >= 43000);
    assert_true(s.memory_refused >= 3);
    script_run(t, MS(202));
    script_forget_sent(t);
    peer_says(t, MS(300), .ack = 10001);
    expect_event(t, SCPS_EV_READABLE);
    expect_event(t, SCPS_EV_WRITABLE);
    app_reads(t, MS(300), 1000);
    assert_true(tries(t, 10000, 0) == 10000);
    script_forget_sent(t);
    script_free(t);
}

/* scps_connect() takes all the memory of the SYN or returns SCPS_ERR_NOMEM: a connection that
 * exists does not end for lack of memory, even if none is left when its SYN is sent. The same
 * applies to the SYN-ACK. */
static void memory_of_the_handshake(void **x)
{
    struct pool p;
    unsigned opened = 0;

    for (size_t left = 0; left < 8192 && opened < 8; left += 16) {
        struct script *t = with(&p, x);
        struct scps_stack_stats s;
        struct scps_conn *c;
        int err = 0;

        script_listen(t);
        p.limit = p.out + left;
        c = scps_connect(t->st, &t->cfg, NULL, &t->them, &err);
        if (c) {
            opened++;
            p.limit = p.out;
            script_run(t, MS(1));
            assert_int_equal(script_forget_sent(t), 1);
            assert_int_equal(scps_conn_error(c), 0);
            scps_conn_abort(c);
        } else {
            assert_int_equal(err, SCPS_ERR_NOMEM);
        }
        p.limit = p.out + left;
        peer_says(t, MS(2), .port = 1000, .seq = 100, .flags = SCPS_SYN);
        p.limit = p.out;
        script_run(t, MS(3));
        scps_stack_get_stats(t->st, &s);
        assert_int_equal(script_forget_sent(t), s.half_open);
        script_free(t);
    }
    assert_int_equal(opened, 8);
}

/* A SYN for whose connection there is no memory is answered with a SYN cookie as long as there is a
 * half-open connection, which gives its memory to the peer that acknowledges the cookie. */
static void a_cookie_for_lack_of_memory(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    struct scps_stack_stats s;

    script_listen(t);
    peer_says(t, MS(1), .port = 3000, .seq = 7, .ack = 7); /* The reset's queue has memory now. */
    peer_says(t, MS(2), .port = 1000, .seq = 100, .flags = SCPS_SYN);
    script_forget_sent(t);
    p.limit = p.out;
    peer_says(t, MS(3), .flags = SCPS_SYN);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 1);
    assert_int_equal(s.cookies_out, 1);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    peer_says(t, MS(4), .ack = 1);
    expect_event(t, SCPS_EV_ACCEPT);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.cookies_ok, 1);
    assert_int_equal(s.half_open_evicted, 1);
    t->c = scps_accept(t->l);
    assert_non_null(t->c);
    script_forget_sent(t);
    script_free(t);
}

/* A SYN for which connections leave no memory is dropped as SCPS_DROP_MEMORY_LIMIT; one that comes
 * after they have ended is answered. Half-open connections have a quarter of the memory at most, so
 * that of many SYNs the others get cookies, and the application can still connect. */
static void a_connection_over_the_limit(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    struct scps_conn *c[200];
    struct scps_stack_stats s;
    unsigned n = 0;
    int err;

    t->stack_cfg.memory_limit = 60000;
    script_listen(t);
    for (uint16_t i = 0; i < 20; i++)
        peer_says(t, MS(1), .port = 1000 + i, .seq = 100 + i, .flags = SCPS_SYN);
    script_run(t, MS(2));
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.half_open, 1);
    assert_int_equal(s.cookies_out, 19);
    while (n < 200 && (c[n] = scps_connect(t->st, &t->cfg, NULL, &t->them, &err)))
        n++;
    assert_in_range(n, 10, 150);
    assert_int_equal(err, SCPS_ERR_NOMEM);
    scps_stack_get_stats(t->st, &s);
    assert_in_range(s.memory_peak, 40000, 60000 / 8 * 7 + 4000);
    assert_int_equal(s.half_open, 0); /* it has given its memory to the application's */
    script_run(t, MS(3));
    script_forget_sent(t);
    peer_says(t, MS(3), .port = 4000, .seq = 100, .flags = SCPS_SYN);
    script_run(t, MS(4));
    assert_int_equal(script_forget_sent(t), 0);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_MEMORY_LIMIT], 1);
    while (n)
        scps_conn_abort(c[--n]);
    script_run(t, MS(4));
    script_forget_sent(t);
    peer_says(t, MS(5), .port = 5000, .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .port = 5000, .flags = SCPS_SYN | SCPS_ACK);
    script_free(t);
}

#define BOTH(f)                                                                                    \
    {#f "_4", f, NULL, NULL, (void *)4},                                                           \
    {                                                                                              \
#f "_6", f, NULL, NULL, (void *)6                                                          \
    }

/* With best effort octets beyond a hole were stored, but there was no memory for the hole's timer.
 * When there is memory, the hole is given up at its time although nothing else arrives, because the
 * peer may have given it up, too. The test lets each allocation fail in turn. */
static void a_hole_without_memory(void **x)
{
    unsigned waited = 0;

    for (size_t room = 0; room < 30000; room += 48) {
        struct pool p;
        struct script *t = with(&p, x);
        t->cfg.bets = true;
        t->cfg.bets_timeout = MS(500);
        t->peer.caps = SCPS_CAP_BETS;
        script_established(t, MS(100));
        script_forget_events(t);
        p.limit = p.out + room;
        p.refused = 0;
        peer_says(t, MS(200), .seq = 501, .len = 500);
        p.limit = SIZE_MAX;
        if (script_info(t).rcv_ooo) {
            waited += p.refused > 0;
            script_run(t, SEC(2));
            assert_int_equal(script_info(t).holes, 1);
        }
        script_forget_sent(t);
        script_forget_events(t);
        script_free(t);
    }
    assert_true(waited > 0);
}

/* A connection that has sent `segs` segments of 1400 octets when memory ends. Then a Packet Too Big
 * message names the MTU *mtu. Returns the largest payload that fits. */
static uint32_t too_big(struct pool *p, struct script *t, int segs, uint32_t *mtu)
{
    bool v4 = t->us.addr.family == 4;

    *mtu = v4 ? 640 : 1280;
    t->cfg.mss = 0;
    t->cfg.init_cwnd_segs = 64;
    t->cfg.sndbuf = 65536;
    t->peer.mss = 1400;
    script_established(t, MS(100));
    app_writes(t, MS(200), (size_t)segs * 1400);
    for (int i = 0; i < segs; i++)
        expect_sent(t, .from = 1 + 1400 * i, .len = 1400);
    p->largest = 0;
    peer_icmp(t, MS(250), v4 ? 3 : 2, v4 ? 4 : 0, *mtu, 1);
    assert_int_equal(script_info(t).pmtu, *mtu);
    return *mtu - (v4 ? 40 : 60);
}

/* A Packet Too Big message comes while memory is refused. The records of the segments in flight
 * have room for the pieces, so everything is resent at once in segments that fit (RFC 8201 section
 * 5.4), and no allocation is needed. */
static void too_big_without_memory(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    uint32_t mtu, fits = too_big(&p, t, 4, &mtu);
    int64_t from = 1;

    while (script_sent_count(t)) {
        expect_sent(t, .at = MS(250), .from = from, .any_len = true);
        assert_true(t->last.len <= fits);
        from += t->last.len;
    }
    assert_int_equal(from, 5601);
    assert_int_equal(script_info(t).recoveries, 0);
    peer_says(t, MS(350), .ack = 5601);
    script_free(t);
}

/* All records are in use when the message comes, so no segment can be split. None is resent longer
 * than the path takes: the first octets of the oldest one are resent, their acknowledgement causes
 * the next ones to be sent without a timeout, and records that are acknowledged make room for
 * splitting the others. */
static void too_big_without_a_record(void **x)
{
    struct pool p;
    struct script *t = with(&p, x);
    uint32_t mtu, fits = too_big(&p, t, 32, &mtu);
    uint32_t first = t->last.seq - 31 * 1400;
    int64_t nxt = 1;
    int rounds = 0;

    for (; nxt < 1 + 32 * 1400 && rounds < 20; rounds++) {
        while (script_sent_count(t)) {
            expect_sent(t, .any_len = true);
            assert_true(t->last.len <= fits);
            int64_t from = 1 + (int64_t)(uint32_t)(t->last.seq - first);
            if (from <= nxt)
                nxt = SCPS_MAX(nxt, from + t->last.len);
        }
        peer_says(t, script_now(t) + MS(100), .ack = nxt);
    }
    assert_int_equal(nxt, 1 + 32 * 1400);
    assert_true(p.refused > 0);
    assert_int_equal(script_info(t).timeouts, 0);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(nothing_to_write_into),       BOTH(a_ring_that_cannot_grow),
        BOTH(a_fin_without_memory),        BOTH(a_record_without_memory),
        BOTH(a_datagram_without_memory),   BOTH(the_rings_of_empty_queues),
        BOTH(an_octet_at_the_far_end),     BOTH(sparse_octets),
        BOTH(data_in_order_comes_first),   BOTH(a_limit_for_the_stack),
        BOTH(a_hole_without_memory),       BOTH(a_cookie_for_lack_of_memory),
        BOTH(a_connection_over_the_limit), BOTH(memory_of_the_handshake),
        BOTH(too_big_without_memory),      BOTH(too_big_without_a_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
