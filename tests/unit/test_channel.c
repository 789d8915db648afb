/* SPDX-License-Identifier: MIT */
/* channel.c: what a driver is told about a packet is what then happens, and every packet is accounted for. */
#include "base/prng.h"
#include <scps/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scps_channel *channel(const char *spec, uint64_t seed)
{
    struct scps_link_config f, b;
    struct scps_channel *ch;

    assert_int_equal(scps_link_parse(spec, &f, &b, NULL, 0), 0);
    f.seed = seed;
    ch = scps_channel_new(&f, 0, NULL);
    assert_non_null(ch);
    return ch;
}

static struct scps_verdict offer(struct scps_channel *ch, scps_time now, void *data, size_t len)
{
    struct scps_pkt p = {.data = data, .len = len, .cap = len};
    struct scps_verdict v;

    assert_int_equal(scps_channel_offer(ch, now, &p, &v), 0);
    return v;
}

/* 982 bytes and 18 of framing at 8 Mbit/s: a millisecond on the line each. */
static void arrival_is_line_and_delay(void **state)
{
    struct scps_channel *ch = channel("rate=8mbit,delay=5ms,queue=2p,overhead=18", 1);
    uint8_t data[982] = {7};
    struct scps_verdict v;
    struct scps_pkt p;
    uint32_t n;
    (void)state;

    assert_true(scps_channel_next(ch) == SCPS_NEVER);
    for (int i = 0; i < 3; i++) { /* one on the line, two waiting */
        data[1] = (uint8_t)i;
        v = offer(ch, 100, data, sizeof data);
        assert_int_equal(v.fate, SCPS_FATE_DELIVERED);
        assert_int_equal(v.arrival, 100 + (i + 1) * 1000 + 5000);
    }
    v = offer(ch, 100, data, sizeof data);
    assert_int_equal(v.fate, SCPS_FATE_QUEUE);
    assert_true(v.arrival == SCPS_NEVER);
    assert_int_equal(scps_channel_queue(ch, 100, &n), 2000);
    assert_int_equal(n, 2);
    assert_int_equal(scps_channel_queue(ch, 1099, NULL), 2000);
    assert_int_equal(scps_channel_queue(ch, 1100, &n), 1000);
    assert_int_equal(n, 1);
    assert_int_equal(scps_channel_queue(ch, 5000, &n), 0);
    assert_int_equal(n, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(scps_channel_next(ch), 100 + (i + 1) * 1000 + 5000);
        scps_channel_peek(ch, &p);
        assert_int_equal(p.len, sizeof data);
        assert_int_equal(p.data[0], 7);
        assert_int_equal(p.data[1], i);
        scps_channel_pop(ch);
    }
    assert_true(scps_channel_next(ch) == SCPS_NEVER);
    scps_channel_free(ch);
}

/* Everything at once: the verdicts, counted, are the statistics, and each arrival that was told takes place. */
static void verdicts_are_what_happens(void **state)
{
    enum { N = 20000 };
    struct scps_channel *ch = channel("rate=10mbit,delay=3ms,queue=20p,ber=2e-5,loss=0.02,dup=0.03,"
                                      "reorder=0.05,flip",
                                      42);
    uint64_t fates[SCPS_FATE_COUNT] = {0}, dups = 0, held = 0, out = 0, early = 0, both = 0;
    scps_time *told = calloc(N, sizeof *told), now = 0;
    struct scps_link_stats st;
    struct scps_prng r;
    (void)state;

    assert_non_null(told);
    scps_prng_seed(&r, 7);
    for (uint32_t i = 0; i < N; i++) {
        uint8_t data[1500];
        size_t len = 64 + scps_prng_below(&r, sizeof data - 64);
        struct scps_pkt p;

        now += (scps_time)scps_prng_below(&r, 1300);
        while (scps_channel_next(ch) <= now) {
            uint32_t id[3]; /* by majority: bits may be flipped */
            scps_channel_peek(ch, &p);
            memcpy(id, p.data, sizeof id);
            id[0] = (id[0] & id[1]) | (id[1] & id[2]) | (id[0] & id[2]);
            assert_true(id[0] < i);
            assert_true(p.at <= now);
            if (told[id[0]] / 2 == p.at)
                told[id[0]] |= 1; /* as told */
            else
                early++; /* the copy of one that is held back */
            out++;
            scps_channel_pop(ch);
        }
        memset(data, 0x55, sizeof data);
        for (int k = 0; k < 3; k++)
            memcpy(data + 4 * k, &i, sizeof i);
        struct scps_verdict v = offer(ch, now, data, len);
        fates[v.fate]++;
        dups += v.duplicated;
        held += v.reordered;
        both += v.duplicated && v.reordered;
        told[i] = v.arrival == SCPS_NEVER ? -2 : 2 * v.arrival;
        assert_true((v.arrival == SCPS_NEVER) == (v.fate > SCPS_FATE_FLIPPED));
    }
    scps_channel_stats(ch, now, &st);
    assert_int_equal(st.offered, N);
    assert_int_equal(st.dropped_queue, fates[SCPS_FATE_QUEUE]);
    assert_int_equal(st.dropped_ber, fates[SCPS_FATE_BER]);
    assert_int_equal(st.dropped_loss, fates[SCPS_FATE_LOSS]);
    assert_int_equal(st.flipped, fates[SCPS_FATE_FLIPPED]);
    assert_int_equal(st.duplicated, dups);
    assert_int_equal(st.reordered, held);
    assert_int_equal(st.delivered, out);
    assert_true(early > 0 && early <= both);
    assert_int_equal(st.offered + st.duplicated, st.delivered + st.dropped_queue + st.dropped_ber +
                                                     st.dropped_loss + st.in_flight);
    for (int f = 0; f < SCPS_FATE_COUNT; f++)
        assert_true(fates[f] > 20); /* each has been tried */
    for (uint32_t i = 0; i < N; i++)
        if (told[i] >= 0 && told[i] / 2 <= now)
            assert_int_equal(told[i] % 2, 1); /* it has arrived */
    free(told);
    scps_channel_free(ch);
}

static void change_and_refuse(void **state)
{
    struct scps_channel *ch = channel("rate=8mbit,delay=5ms,overhead=0", 1);
    struct scps_link_config c = *scps_channel_config(ch);
    uint8_t data[1000] = {0};
    (void)state;

    c.ber = 1.5;
    assert_int_equal(scps_channel_change(ch, &c), SCPS_ERR_INVAL);
    assert_true(scps_channel_config(ch)->ber == 0);
    assert_null(scps_channel_new(&c, 0, NULL));
    c.ber = 0;
    c.rate_bps = 80000000;
    c.delay = SCPS_MS(1);
    assert_int_equal(offer(ch, 0, data, sizeof data).arrival, 6000);
    assert_int_equal(scps_channel_change(ch, &c), 0);
    assert_int_equal(offer(ch, 0, data, sizeof data).arrival, 2100); /* it overtakes */
    assert_int_equal(scps_channel_next(ch), 2100);
    assert_string_equal(scps_fate_name(SCPS_FATE_QUEUE), "queue");
    scps_channel_free(ch);
    scps_channel_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrival_is_line_and_delay),
        cmocka_unit_test(verdicts_are_what_happens),
        cmocka_unit_test(change_and_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
