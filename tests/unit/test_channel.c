/* SPDX-License-Identifier: MIT */
/* channel.c: what it reports about a packet (the verdict) agrees with what then happens to the
 * packet, and every packet is counted. */
#include "base/prng.h"
#include <scps/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scps_verdict told; /* The last verdict that the channel reported. */

static void hear(void *ctx, const struct scps_verdict *v)
{
    (void)ctx;
    told = *v;
}

static struct scps_channel *channel(const char *spec, uint64_t seed)
{
    struct scps_link_config f, b;
    struct scps_channel *ch;

    assert_int_equal(scps_link_parse(spec, &f, &b, NULL, 0), 0);
    f.seed = seed;
    ch = scps_channel_new(&f, 0, NULL);
    assert_non_null(ch);
    scps_channel_observe(ch, hear, NULL);
    return ch;
}

/* Offers a packet. If the line is free or the queue is full, the channel reports the verdict at
 * once. */
static struct scps_verdict offer(struct scps_channel *ch, scps_time now, void *data, size_t len)
{
    struct scps_pkt p = {.data = data, .len = len, .cap = len};

    told = (struct scps_verdict){.fate = SCPS_FATE_COUNT};
    assert_int_equal(scps_channel_offer(ch, now, &p), 0);
    return told;
}

/* Packets of 982 bytes with 18 bytes of framing take 1 ms each on a line of 8 Mbit/s. */
static void arrival_is_line_and_delay(void **state)
{
    struct scps_channel *ch = channel("rate=8mbit,delay=5ms,queue=2p,overhead=18", 1);
    uint8_t data[982] = {7};
    struct scps_verdict v;
    struct scps_pkt p;
    uint32_t n;
    (void)state;

    assert_true(scps_channel_next(ch) == SCPS_NEVER);
    for (int i = 0; i < 3; i++) { /* One packet is on the line, two wait in the queue. */
        data[1] = (uint8_t)i;
        v = offer(ch, 100, data, sizeof data);
        assert_int_equal(v.fate, i ? SCPS_FATE_COUNT : SCPS_FATE_DELIVERED);
    }
    assert_int_equal(scps_channel_next(ch), 6100);
    v = offer(ch, 100, data, sizeof data);
    assert_int_equal(v.fate, SCPS_FATE_QUEUE);
    assert_true(v.arrival == SCPS_NEVER);
    assert_int_equal(scps_channel_queue(ch, 100, &n), 2000);
    assert_int_equal(n, 2);
    assert_int_equal(scps_channel_queue(ch, 1099, NULL), 2000);
    assert_int_equal(scps_channel_queue(ch, 1100, &n), 1000);
    assert_int_equal(n, 1);
    assert_int_equal(told.number, 2); /* The fate of packet 2 was decided when the line took it. */
    assert_int_equal(told.fate, SCPS_FATE_DELIVERED);
    assert_int_equal(told.offered, 100);
    assert_int_equal(told.left, 2100);
    assert_int_equal(told.arrival, 7100);
    assert_int_equal(scps_channel_queue(ch, 5000, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(told.number, 3);
    for (int i = 0; i < 3; i++) {
        scps_time at = 100 + (i + 1) * 1000 + 5000;
        assert_int_equal(scps_channel_next(ch), at);
        assert_false(scps_channel_peek(ch, at - 1, &p));
        assert_true(scps_channel_peek(ch, at, &p));
        assert_int_equal(p.len, sizeof data);
        assert_int_equal(p.data[0], 7);
        assert_int_equal(p.data[1], i);
        scps_channel_pop(ch);
    }
    assert_true(scps_channel_next(ch) == SCPS_NEVER);
    scps_channel_free(ch);
}

/* Everything at once: the verdicts, counted, equal the statistics, and each arrival that a verdict
 * announces takes place. */
struct book {
    uint64_t fates[SCPS_FATE_COUNT], dups, held, last;
    struct note {
        scps_time arrival, copy;
        unsigned told, came;
    } * of;
};

static void write_down(void *ctx, const struct scps_verdict *v)
{
    struct book *b = ctx;
    uint32_t i;

    /* The verdict has the octets that were offered, even if the link flips bits. */
    memcpy(&i, v->pkt->data, sizeof i);
    assert_int_equal(v->number, i + 1);
    b->fates[v->fate]++;
    b->dups += v->copy != SCPS_NEVER;
    b->held += v->reordered;
    b->of[i].arrival = v->arrival;
    b->of[i].copy = v->copy;
    b->of[i].told++;
    assert_true((v->arrival == SCPS_NEVER) == (v->fate > SCPS_FATE_FLIPPED));
    assert_true(v->arrival != SCPS_NEVER || v->copy == SCPS_NEVER);
    /* Packets that no queue refuses are reported in the order in which they were offered. */
    if (v->fate != SCPS_FATE_QUEUE) {
        assert_true(v->number > b->last);
        b->last = v->number;
    }
}

static void verdicts_equal_the_fate_of_each_packet(void **state)
{
    enum { N = 40000 };
    static const uint8_t vector[5000] = {[77] = 0x81, [3000] = 4};
    static const struct scps_span out[] = {{SCPS_MS(300), SCPS_MS(320)}};
    struct book b = {.of = calloc(N, sizeof *b.of)};
    struct scps_channel *ch = channel("rate=10mbit,delay=3ms,queue=40p,ber=2e-5,loss=0.02,dup=0.03,"
                                      "reorder=0.05,flip",
                                      42);
    struct scps_link_config c = *scps_channel_config(ch);
    uint64_t out_n = 0, lost = 0, strange = 0;
    struct scps_link_stats st;
    struct scps_prng r;
    scps_time now = 0;
    (void)state;

    c.codel_target = SCPS_MS(5);
    c.codel_interval = SCPS_MS(100);
    c.jitter = SCPS_MS(2);
    c.framing = SCPS_FRAMING_PPP;
    c.burst = (struct scps_burst){.good = SCPS_MS(50), .bad = SCPS_MS(2), .ber = 0.01};
    c.vector = vector;
    c.vector_len = sizeof vector;
    c.outages = (struct scps_spans){.v = out, .n = 1, .period = SCPS_SEC(1)};
    assert_int_equal(scps_channel_change(ch, 0, &c), 0);
    scps_channel_observe(ch, write_down, &b);
    assert_non_null(b.of);
    scps_prng_seed(&r, 7);
    for (uint32_t i = 0; i < N || scps_channel_next(ch) != SCPS_NEVER; i++) {
        static uint8_t data[1500];
        size_t len = 64 + scps_prng_below(&r, sizeof data - 64);
        struct scps_pkt p = {.data = data, .len = len, .cap = len};

        now += (scps_time)scps_prng_below(&r, i / 100 % 5 ? 1300 : 300);
        while (scps_channel_peek(ch, now, &p)) {
            /* The packet's number is in it three times, because bits may be flipped; two equal
             * copies decide. */
            uint32_t id[3];
            memcpy(id, p.data, sizeof id);
            id[0] = (id[0] & id[1]) | (id[1] & id[2]) | (id[0] & id[2]);
            struct note *n = &b.of[id[0] % N];
            if (p.at == n->arrival || p.at == n->copy)
                n->came++;
            else
                strange++; /* A burst may have damaged two of the three copies. */
            assert_true(p.at <= now);
            out_n++;
            scps_channel_pop(ch);
        }
        if (i < N) {
            memset(data, 0x55, sizeof data);
            for (int k = 0; k < 3; k++)
                memcpy(data + 4 * k, &i, sizeof i);
            p = (struct scps_pkt){.data = data, .len = len, .cap = len};
            assert_int_equal(scps_channel_offer(ch, now, &p), 0);
        }
        scps_channel_stats(ch, now, &st);
        lost = 0;
        for (int f = 0; f < SCPS_FATE_COUNT; f++)
            lost += scps_link_dropped(&st, f);
        assert_int_equal(st.offered + st.duplicated, st.delivered + lost + st.in_flight);
    }
    assert_int_equal(st.offered, N);
    assert_int_equal(st.in_flight, 0);
    for (int f = SCPS_FATE_BER; f < SCPS_FATE_COUNT; f++)
        assert_int_equal(scps_link_dropped(&st, f), b.fates[f]);
    assert_int_equal(st.flipped, b.fates[SCPS_FATE_FLIPPED]);
    assert_int_equal(st.duplicated, b.dups);
    assert_int_equal(st.reordered, b.held);
    assert_int_equal(st.delivered, out_n);
    for (int f = 0; f < SCPS_FATE_COUNT; f++)
        if (b.fates[f] <= 5)
            /* The test is of no use if a fate hardly occurs. */
            fail_msg("%s: %d", scps_fate_name(f), (int)b.fates[f]);
    unsigned missing = 0;
    for (uint32_t i = 0; i < N; i++) {
        const struct note *n = &b.of[i];
        assert_int_equal(n->told, 1);
        missing += (n->arrival != SCPS_NEVER) + (n->copy != SCPS_NEVER) != (int)n->came;
    }
    assert_true(strange < 40 && missing == strange);
    free(b.of);
    scps_channel_free(ch);
}

static void invalid_changes_are_refused(void **state)
{
    struct scps_channel *ch = channel("rate=8mbit,delay=5ms,overhead=0", 1);
    struct scps_link_config c = *scps_channel_config(ch);
    uint8_t data[1000] = {0};
    (void)state;

    c.ber = 1.5;
    assert_int_equal(scps_channel_change(ch, 0, &c), SCPS_ERR_INVAL);
    assert_true(scps_channel_config(ch)->ber == 0);
    assert_null(scps_channel_new(&c, 0, NULL));
    c.ber = 0;
    /* The configuration names a table by its length, but has a NULL pointer to it. */
    c.vector_len = 10;
    assert_int_equal(scps_channel_change(ch, 0, &c), SCPS_ERR_INVAL);
    assert_null(scps_channel_new(&c, 0, NULL));
    c.vector_len = 0;
    c.rates.n = c.delays.n = c.outages.n = 1;
    assert_int_equal(scps_channel_change(ch, 0, &c), SCPS_ERR_INVAL);
    c.rates.n = 0;
    assert_null(scps_channel_new(&c, 0, NULL));
    c.delays.n = 0;
    assert_null(scps_channel_new(&c, 0, NULL));
    c.outages.n = 0;
    c.rate_bps = 80000000;
    c.delay = SCPS_MS(1);
    assert_int_equal(offer(ch, 0, data, sizeof data).arrival, 6000);
    /* The packet waits in the queue, so its fate is not known yet. */
    assert_int_equal(offer(ch, 0, data, sizeof data).fate, SCPS_FATE_COUNT);
    assert_int_equal(scps_channel_change(ch, 500, &c), 0);
    offer(ch, 600, data, sizeof data);
    assert_int_equal(scps_channel_queue(ch, 1000, NULL), 1000);
    /* The line is free at 1000 µs, and sends packet 2 at the new rate. */
    assert_int_equal(told.number, 2);
    assert_int_equal(told.left, 1100);
    /* The packet overtakes the one that was sent with the longer delay. */
    assert_int_equal(told.arrival, 2100);
    assert_int_equal(scps_channel_next(ch), 2100);
    assert_string_equal(scps_fate_name(SCPS_FATE_QUEUE), "queue");
    scps_channel_free(ch);
    scps_channel_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrival_is_line_and_delay),
        cmocka_unit_test(verdicts_equal_the_fate_of_each_packet),
        cmocka_unit_test(invalid_changes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
