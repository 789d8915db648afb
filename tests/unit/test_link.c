/* SPDX-License-Identifier: MIT */
/* One direction of a link: rate, delay and queue are compared exactly with a slow model, random
 * events by chi-squared; bytes, the count of packets and repeatability are checked with everything
 * enabled. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_alloc.h"
#include "linkdir.h"
#include "sim/link.h"

#include <scps/error.h>

static struct scps_link_stats stats(struct scps_linkdir *d, scps_time now)
{
    struct scps_link_stats st;

    scps_linkdir_stats(d, now, &st);
    return st;
}

static void conserved(struct scps_linkdir *d)
{
    uint64_t lost = 0;

    for (int f = 0; f < SCPS_FATE_COUNT; f++)
        lost += scps_link_dropped(&d->st, f);
    assert_true(d->st.offered + d->st.duplicated == d->st.delivered + lost + d->st.in_flight);
}

/* Fills in a packet of n bytes: the first 20 bytes contain its number, and the others are computed
 * from the number. Hollow packets store 40 bytes of headers only. */
static uint8_t room[1 << 17];
static struct scps_pkt packet(uint32_t name, size_t n, bool hollow)
{
    struct scps_pkt p = {.data = room};
    size_t head = hollow ? 40 : n;

    for (size_t i = 0; i < head; i++)
        room[i] = (uint8_t)(name >> (i % 4 * 8) ^ i);
    p.len = n < head ? n : head;
    p.payload_len = n - p.len;
    return p;
}

static uint32_t name_of(const struct scps_pkt *p)
{
    uint32_t name = 0, wrong = 0;

    for (size_t i = 0; i < 4; i++)
        name |= (uint32_t)(uint8_t)(p->data[i] ^ i) << (i * 8);
    for (size_t i = 0; i < p->len; i++)
        wrong |= p->data[i] ^ (uint8_t)(name >> (i % 4 * 8) ^ i);
    assert_int_equal(wrong, 0);
    return name;
}

static void offer(struct scps_linkdir *d, scps_time now, uint32_t name, size_t n)
{
    struct scps_pkt p = packet(name, n, false);

    assert_int_equal(scps_linkdir_offer(d, now, &p), 0);
}

/* Returns the packet that arrives at d->next, without removing it. */
static struct scps_pkt look(struct scps_linkdir *d)
{
    struct scps_pkt p = {.len = 0};

    while (d->next != SCPS_NEVER && !scps_linkdir_peek(d, d->next, &p))
        ;
    assert_true(d->next != SCPS_NEVER && p.at == d->next);
    return p;
}

static uint32_t take(struct scps_linkdir *d, scps_time *at)
{
    struct scps_pkt p = look(d);
    uint32_t name = name_of(&p);

    *at = p.at;
    scps_linkdir_pop(d);
    return name;
}

/* ---- line and queue ---- */

static void fractions_of_a_microsecond_add_up(void **state)
{
    static const uint64_t rates[] = {100000000, 115200, 3000000, 999999937, 7000, 10000000000};
    (void)state;

    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        struct scps_linkdir *d = open_link(
            (struct scps_link_config){.rate_bps = rates[r], .delay = SCPS_MS(250), .overhead = 18});
        for (uint64_t k = 1; k <= 100000; k++) {
            scps_time at;
            offer(d, 0, (uint32_t)k, 1064);
            /* Each frame takes 86.56 µs at 100 Mbit/s: the fractions of a microsecond must add up
             * without an error over all frames. */
            uint64_t end = (uint64_t)k * 1082 * 8000000;
            scps_time want = (scps_time)((end + rates[r] - 1) / rates[r]) + SCPS_MS(250);
            assert_int_equal(take(d, &at), k);
            assert_true(at == want);
        }
        assert_true(stats(d, 0).busy == 0);
        scps_time end = (scps_time)((uint64_t)100000 * 1082 * 8000000 / rates[r]);
        assert_true(stats(d, end + 1).busy == end);
        close_link(d);
    }
}

static void an_idle_line_sends_at_once(void **state)
{
    struct scps_linkdir *d =
        open_link((struct scps_link_config){.rate_bps = 8000000, .delay = 7, .queue_bytes = 1});
    scps_time at;
    (void)state;

    /* A byte takes one microsecond. The packet is larger than the queue, but the line is free, so
     * it need not wait. */
    offer(d, 100, 1, 50);
    assert_int_equal(take(d, &at), 1);
    assert_true(at == 157);
    offer(d, 150, 2, 50); /* The line has become free at this moment. */
    assert_int_equal(take(d, &at), 2);
    assert_true(at == 207);
    /* The line is still busy for a microsecond, and the queue of one byte has no room. */
    offer(d, 199, 3, 50);
    assert_true(stats(d, 199).dropped_queue == 1);
    assert_true(stats(d, 500).busy == 100);
    conserved(d);
    close_link(d);
}

static void without_a_rate_there_is_only_delay(void **state)
{
    struct scps_linkdir *d = open_link((struct scps_link_config){.delay = 1280000});
    scps_time at;
    (void)state;

    for (uint32_t i = 0; i < 1000; i++)
        offer(d, i / 10, i, 1500);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(take(d, &at), i);
        assert_true(at == i / 10 + 1280000);
    }
    assert_true(stats(d, 2000000).max_queue_bytes == 0);
    close_link(d);
}

/* The model of the link: the same line and queue, kept in plain lists. */
struct slow {
    uint64_t rate;
    uint64_t end; /* The time at which the line becomes free, in units of 1/rate µs. */
    struct {
        uint64_t start;
        uint32_t frame;
    } q[20000];
    unsigned first, n;
    uint64_t max;
};

static bool slow_offer(struct slow *s, const struct scps_link_config *c, scps_time now, size_t len,
                       scps_time *at)
{
    uint32_t frame = (uint32_t)len + c->overhead;
    uint64_t t = (uint64_t)now * c->rate_bps, start = s->end > t ? s->end : t;
    uint64_t bytes = 0, packets = 0;

    while (s->first < s->n && s->q[s->first].start <= t)
        s->first++;
    for (unsigned i = s->first; i < s->n; i++) {
        bytes += s->q[i].frame;
        packets++;
    }
    if (start > t) {
        if ((c->queue_bytes && bytes + frame > c->queue_bytes) ||
            (c->queue_packets && packets >= c->queue_packets))
            return false;
        if (bytes + frame > s->max)
            s->max = bytes + frame;
    }
    s->q[s->n].start = start;
    s->q[s->n++].frame = frame;
    s->end = start + (uint64_t)frame * 8000000;
    *at = (scps_time)((s->end + c->rate_bps - 1) / c->rate_bps) + c->delay;
    return true;
}

static void any_traffic_agrees_with_a_slow_model(void **state)
{
    struct scps_prng r;
    struct slow *s = malloc(sizeof *s);
    scps_time *want = malloc(20000 * sizeof *want);
    (void)state;

    scps_prng_seed(&r, 5);
    for (int round = 0; round < 40; round++) {
        struct scps_link_config c = {.rate_bps = 1000 + scps_prng_below(&r, 100000000),
                                     .delay = (scps_dur)scps_prng_below(&r, 1000000),
                                     .overhead = (uint32_t)scps_prng_below(&r, 60)};
        unsigned how = (unsigned)scps_prng_below(&r, 4);
        if (how & 1)
            c.queue_bytes = 1 + scps_prng_below(&r, 50000);
        if (how & 2)
            c.queue_packets = 1 + (uint32_t)scps_prng_below(&r, 50);
        struct scps_linkdir *d = open_link(c);
        unsigned sent = 0, got = 0, dropped = 0;
        scps_time now = 0, at;
        memset(s, 0, sizeof *s);
        for (uint32_t i = 0; i < 3000; i++) {
            size_t len = 20 + scps_prng_below(&r, 1480);
            /* The packets come in bursts, on average as many as the line takes. */
            if (scps_prng_below(&r, 5) == 0)
                now += (scps_time)scps_prng_below(&r, UINT64_C(60800000000) / c.rate_bps + 2);
            while (d->next <= now) {
                take(d, &at);
                assert_true(at == want[got++]);
            }
            offer(d, now, i, len);
            if (slow_offer(s, &c, now, len, &at))
                want[sent++] = at;
            else
                dropped++;
            assert_true(stats(d, now).dropped_queue == dropped);
        }
        while (d->next != SCPS_NEVER) {
            take(d, &at);
            assert_true(at == want[got++]);
        }
        assert_int_equal(got, sent);
        assert_true(stats(d, now).max_queue_bytes == s->max);
        assert_true(how == 0 || dropped > 0 || s->max < 50000);
        conserved(d);
        close_link(d);
    }
    free(want);
    free(s);
}

/* ---- contents of packets ---- */

static void packets_arrive_unchanged(void **state)
{
    struct scps_linkdir *d =
        open_link((struct scps_link_config){.rate_bps = 1000000000, .delay = SCPS_MS(20)});
    struct scps_prng r;
    uint32_t got = 0;
    scps_time now = 0, at;
    (void)state;

    /* The ring of packets grows, wraps at different places and becomes empty. */
    scps_prng_seed(&r, 6);
    for (uint32_t i = 0; i < 50000; i++) {
        size_t n = 20 + scps_prng_below(&r, scps_prng_below(&r, 50) ? 100 : 65000);
        if (scps_prng_below(&r, 5000) == 0)
            now += SCPS_SEC(1);
        now += (scps_time)scps_prng_below(&r, i / 10000 % 2 ? 30 : 300);
        while (d->next <= now) {
            assert_int_equal(take(d, &at), got);
            got++;
        }
        offer(d, now, i, n);
    }
    while (d->next != SCPS_NEVER) {
        assert_int_equal(take(d, &at), got);
        got++;
    }
    assert_int_equal(got, 50000);
    close_link(d);
}

static void payload_apart_and_hollow_payload(void **state)
{
    struct scps_linkdir *d = open_link((struct scps_link_config){.rate_bps = 8000000});
    uint8_t head[40], data[1000];
    struct scps_pkt in = {
        .data = head, .len = sizeof head, .payload = data, .payload_len = sizeof data};
    struct scps_pkt out;
    (void)state;

    memset(head, 0x45, sizeof head);
    memset(data, 0xda, sizeof data);
    assert_int_equal(scps_linkdir_offer(d, 0, &in), 0);
    in.payload = NULL;
    assert_int_equal(scps_linkdir_offer(d, 0, &in), 0);

    out = look(d);
    assert_true(out.at == 1040);
    assert_int_equal(out.len, 1040); /* The header and the payload are delivered in one piece. */
    assert_int_equal(out.payload_len, 0);
    assert_memory_equal(out.data, head, 40);
    assert_memory_equal(out.data + 40, data, 1000);
    scps_linkdir_pop(d);
    out = look(d);
    /* A hollow packet (payload counted, not stored) takes the same time on the line. */
    assert_true(out.at == 2080);
    assert_int_equal(out.len, 40);
    assert_int_equal(out.payload_len, 1000);
    assert_null(out.payload);
    assert_memory_equal(out.data, head, 40);
    scps_linkdir_pop(d);
    assert_true(stats(d, 3000).delivered_bytes == 2080);
    close_link(d);
}

/* ---- random events ---- */

static void bit_errors_lose_by_size(void **state)
{
    static const size_t sizes[] = {40, 100, 300, 552, 1064, 1500, 4000, 9000};
    enum { EACH = 20000 };
    double chi = 0, ber = 2e-5;
    (void)state;

    for (int exempt = 0; exempt <= 18; exempt += 18)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct scps_linkdir *d = open_link((struct scps_link_config){
                .ber = ber, .overhead = 18, .ber_exempt = (uint32_t)exempt, .seed = 40 + i});
            for (uint32_t k = 0; k < EACH; k++) {
                struct scps_pkt p = packet(k, sizes[i], true);
                assert_int_equal(scps_linkdir_offer(d, k, &p), 0);
                while (d->next <= k)
                    scps_linkdir_pop(d);
            }
            double n = (double)sizes[i] + 18 - exempt;
            double p = -expm1(8 * n * log1p(-ber));
            double lost = (double)stats(d, 0).dropped_ber, want = EACH * p;
            chi += (lost - want) * (lost - want) / (want * (1 - p));
            conserved(d);
            close_link(d);
        }
    /* With 16 degrees of freedom 39.3 is exceeded once in a thousand seeds. */
    if (chi > 39.3)
        fail_msg("chi squared %.1f", chi);
}

static void losses_are_independent(void **state)
{
    enum { N = 200000, CELLS = 30 };
    unsigned run[CELLS + 1] = {0}, since = 0, losses = 0;
    struct scps_linkdir *d = open_link((struct scps_link_config){.loss = 0.1, .seed = 9});
    double chi = 0;
    (void)state;

    for (uint32_t k = 0; k < N; k++) {
        uint64_t before = stats(d, 0).dropped_loss;
        offer(d, k, k, 40);
        while (d->next <= k)
            scps_linkdir_pop(d);
        if (stats(d, 0).dropped_loss == before) {
            since++;
        } else {
            run[since < CELLS ? since : CELLS]++;
            losses++;
            since = 0;
        }
    }
    for (int k = 0; k <= CELLS; k++) {
        double want = losses * (k < CELLS ? pow(0.9, k) * 0.1 : pow(0.9, CELLS));
        chi += (run[k] - want) * (run[k] - want) / want;
    }
    if (chi > 59.7) /* With 30 degrees of freedom 59.7 is exceeded once in a thousand seeds. */
        fail_msg("chi squared %.1f", chi);
    double sigma = sqrt(N * 0.1 * 0.9);
    assert_true(fabs(losses - N * 0.1) < 3.5 * sigma);
    close_link(d);
}

static void a_duplicate_follows_directly(void **state)
{
    struct scps_linkdir *d = open_link(
        (struct scps_link_config){.rate_bps = 1000000, .delay = 10, .dup = 0.25, .seed = 3});
    uint32_t copies = 0;
    scps_time at = 0, before;
    (void)state;

    for (uint32_t k = 0; k < 20000; k++) {
        offer(d, k * 1000, k, 100);
        assert_int_equal(take(d, &at), k);
        /* A packet that is duplicated takes no time on the line for its copy. */
        assert_true(at == k * 1000 + 810);
        before = at;
        if (d->next != SCPS_NEVER) {
            copies++;
            assert_int_equal(take(d, &at), k);
            assert_true(at == before);
        }
        assert_true(d->next == SCPS_NEVER);
    }
    assert_true(copies == stats(d, 0).duplicated);
    assert_true(fabs(copies - 5000.0) < 3.5 * sqrt(20000 * 0.25 * 0.75));
    conserved(d);
    close_link(d);
}

/* A reordered packet is delayed by the configured time, or by default by the line time of four
 * packets (of 800 µs each). */
static void reordered_packets_are_delayed(void **state)
{
    static const struct {
        scps_dur delay, by;
    } how[] = {{5000, 5000}, {0, 3200}};
    (void)state;

    for (int i = 0; i < 2; i++) {
        struct scps_linkdir *d = open_link((struct scps_link_config){.rate_bps = 1000000,
                                                                     .delay = 100,
                                                                     .reorder = 0.1,
                                                                     .reorder_delay = how[i].delay,
                                                                     .seed = 4});
        scps_time at, last = 0;
        uint32_t late = 0, got = 0, latest = 0;
        bool seen[10000] = {false};
        for (uint32_t k = 0; k < 10000; k++)
            offer(d, 0, k, 100);
        while (d->next != SCPS_NEVER) {
            uint32_t k = take(d, &at);
            scps_time due = (k + 1) * 800 + 100;
            assert_false(seen[k]);
            seen[k] = true;
            got++;
            assert_true(at >= last); /* Packets arrive in the order of their times. */
            last = at;
            if (at != due) {
                assert_true(at == due + how[i].by);
                assert_true(k < latest || k > 9990);
                late++;
            }
            latest = k > latest ? k : latest;
        }
        assert_int_equal(got, 10000);
        assert_true(late == stats(d, 0).reordered);
        assert_true(fabs(late - 1000.0) < 3.5 * 30);
        conserved(d);
        close_link(d);
    }
    /* Short packets that are reordered are delayed by at least a millisecond. */
    struct scps_linkdir *d =
        open_link((struct scps_link_config){.rate_bps = 1000000000, .reorder = 1});
    scps_time at;
    offer(d, 0, 1, 125);
    take(d, &at);
    assert_true(at == 1001);
    close_link(d);
}

/* Returns a digest of the numbers of the packets that are lost of n. */
static uint64_t losses_of(struct scps_link_config c, uint64_t stream)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_linkdir d;
    uint64_t digest = 0, before = 0;

    assert_int_equal(scps_linkdir_init(&d, &c, stream, &a), 0);
    for (uint32_t k = 0; k < 2000; k++) {
        struct scps_pkt p = packet(k, 1000, false);
        scps_linkdir_offer(&d, k, &p);
        struct scps_link_stats s = stats(&d, 0);
        uint64_t damaged = s.dropped_ber + s.flipped;
        digest = digest * 31 + (damaged != before);
        before = damaged;
    }
    scps_linkdir_fini(&d);
    return digest;
}

static void each_random_effect_has_its_own_stream(void **state)
{
    struct scps_link_config c = {.ber = 1e-5, .seed = 77};
    uint64_t plain = losses_of(c, 0);
    (void)state;

    assert_true(losses_of(c, 0) == plain);
    /* The other direction, or another link, has another stream of random numbers. */
    assert_true(losses_of(c, 1) != plain);
    c.seed = 78;
    assert_true(losses_of(c, 0) != plain);
    c.seed = 77;
    c.dup = c.reorder = 0.3;
    assert_true(losses_of(c, 0) == plain);
    c.flip = true; /* With `flip` exactly those packets are damaged that were lost before. */
    assert_true(losses_of(c, 0) == plain);
}

static void flipped_bits_follow_the_bit_error_rate(void **state)
{
    enum { N = 20000, LEN = 1000, CELLS = 40 };
    double ber = 1e-4, chi = 0, bits = 0;
    unsigned cell[CELLS] = {0}, per[8] = {0};
    struct scps_linkdir *d =
        open_link((struct scps_link_config){.ber = ber, .flip = true, .seed = 21});
    static uint8_t zeros[LEN];
    struct scps_pkt in = {.data = zeros, .len = LEN}, out;
    uint64_t damaged = 0;
    (void)state;

    for (int k = 0; k < N; k++) {
        unsigned here = 0;
        assert_int_equal(scps_linkdir_offer(d, k, &in), 0);
        out = look(d); /* A damaged packet is delivered, not lost. */
        for (unsigned i = 0; i < LEN; i++)
            for (unsigned b = 0; b < 8; b++)
                if (out.data[i] >> b & 1) {
                    cell[i / (LEN / CELLS)]++;
                    here++;
                }
        bits += here;
        per[here < 7 ? here : 7]++;
        damaged += here > 0;
        scps_linkdir_pop(d);
    }
    for (unsigned i = 0; i < LEN; i++)
        assert_int_equal(zeros[i], 0); /* The caller's bytes are not changed. */
    assert_true(damaged == stats(d, 0).flipped);
    double want = (double)N * LEN * 8 * ber;
    assert_true(fabs(bits - want) < 3.5 * sqrt(want));
    for (int i = 0; i < CELLS; i++)
        chi += pow(cell[i] - bits / CELLS, 2) / (bits / CELLS);
    if (chi > 72.1) /* With 39 degrees of freedom 72.1 is exceeded once in a thousand seeds. */
        fail_msg("places: chi squared %.1f", chi);
    /* The number of flips in a packet has a Poisson distribution with mean 0.8, up to an error of n
     * ber². */
    chi = 0;
    double p = exp(-0.8), rest = 1;
    for (int i = 0; i < 7; i++, p *= 0.8 / i) {
        chi += pow(per[i] - N * p, 2) / (N * p);
        rest -= p;
    }
    chi += pow(per[7] - N * rest, 2) / (N * rest);
    if (chi > 24.3) /* With 7 degrees of freedom 24.3 is exceeded once in a thousand seeds. */
        fail_msg("number: chi squared %.1f", chi);
    close_link(d);
}

static void csum_ok_holds_until_a_packet_is_damaged(void **state)
{
    enum { N = 1000 };
    struct scps_linkdir *d = open_link(
        (struct scps_link_config){.dup = 0.2, .reorder = 0.2, .delay = SCPS_MS(50), .seed = 8});
    unsigned damaged = 0;
    (void)state;

    for (uint32_t k = 0; k < N; k++) {
        struct scps_pkt p = packet(k, 100, false);
        p.csum_ok = k % 2;
        assert_int_equal(scps_linkdir_offer(d, k * 100, &p), 0);
    }
    /* Packets arrive in any order, once or twice. */
    for (; d->next != SCPS_NEVER; scps_linkdir_pop(d)) {
        struct scps_pkt p = look(d);
        assert_int_equal(p.csum_ok, name_of(&p) % 2);
    }
    assert_true(stats(d, 0).delivered > N && stats(d, 0).reordered > 0);
    close_link(d);

    d = open_link((struct scps_link_config){.ber = 1e-3, .flip = true, .seed = 9});
    for (uint32_t k = 0; k < N; k++) {
        struct scps_pkt p = packet(k, 100, false), got;
        p.csum_ok = k % 2;
        assert_int_equal(scps_linkdir_offer(d, k, &p), 0);
        got = look(d);
        bool whole = memcmp(got.data, p.data, p.len) == 0;
        damaged += !whole;
        assert_int_equal(got.csum_ok, p.csum_ok && whole);
        scps_linkdir_pop(d);
    }
    assert_in_range(damaged, N / 3, N - N / 3);
    close_link(d);
}

static void damage_that_cannot_be_delivered_loses_the_packet(void **state)
{
    /* The rows say how many of the 100 bytes of framing, 40 of headers and 960 of hollow payload
     * can be damaged. */
    static const struct {
        uint32_t overhead, exempt;
        bool hollow;
        double deliverable; /* The number of bytes whose damage reaches the receiver. */
        double fatal;       /* The number of bytes whose damage makes the link drop the packet. */
    } how[] = {
        {100, 0, false, 1000, 100}, {100, 100, false, 1000, 0}, {100, 140, false, 960, 0},
        {100, 0, true, 40, 1060},   {0, 40, true, 0, 960},
    };
    enum { N = 20000 };
    double ber = 3e-5;
    (void)state;

    for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
        struct scps_linkdir *d = open_link((struct scps_link_config){.ber = ber,
                                                                     .flip = true,
                                                                     .overhead = how[i].overhead,
                                                                     .ber_exempt = how[i].exempt,
                                                                     .seed = 30});
        static uint8_t zeros[1000];
        struct scps_pkt in = {.data = zeros, .len = how[i].hollow ? 40 : 1000};
        in.payload_len = 1000 - in.len;
        for (int k = 0; k < N; k++) {
            assert_int_equal(scps_linkdir_offer(d, k, &in), 0);
            if (d->next == SCPS_NEVER)
                continue;
            struct scps_pkt out;
            out = look(d);
            for (uint32_t b = 0; b + how[i].overhead < how[i].exempt; b++)
                assert_int_equal(out.data[b], 0); /* The exempt bytes are never damaged. */
            scps_linkdir_pop(d);
        }
        double dead = -expm1(8 * how[i].fatal * log1p(-ber));
        double hurt = (1 - dead) * -expm1(8 * how[i].deliverable * log1p(-ber));
        struct scps_link_stats s = stats(d, 0);
        assert_true(fabs((double)s.dropped_ber - N * dead) <= 3.5 * sqrt(N * dead));
        assert_true(fabs((double)s.flipped - N * hurt) <= 3.5 * sqrt(N * hurt));
        conserved(d);
        close_link(d);
    }
}

/* ---- everything at once ---- */

static uint64_t digest_of_a_wild_run(uint64_t seed, uint64_t *delivered)
{
    struct scps_link_config c = {.rate_bps = 3000000,
                                 .delay = 40000,
                                 .queue_bytes = 60000,
                                 .overhead = 18,
                                 .ber = 2e-5,
                                 .loss = 0.01,
                                 .dup = 0.02,
                                 .reorder = 0.05,
                                 .flip = true,
                                 .seed = seed};
    struct scps_linkdir *d = open_link(c);
    uint64_t digest = 0;
    struct scps_prng r;
    scps_time now = 0;

    scps_prng_seed(&r, 8); /* The traffic is the same in each run. */
    for (uint32_t i = 0; i < 30000; i++) {
        size_t len = 40 + scps_prng_below(&r, 1460);
        bool hollow = scps_prng_below(&r, 2);
        struct scps_pkt p;
        now += (scps_time)scps_prng_below(&r, 4200);
        while (d->next <= now) {
            p = look(d);
            digest = digest * 1099511628211u + (uint64_t)p.at;
            for (size_t k = 0; k < p.len; k++)
                digest = digest * 1099511628211u + p.data[k];
            scps_linkdir_pop(d);
        }
        p = packet(i, len, hollow);
        assert_int_equal(scps_linkdir_offer(d, now, &p), 0);
        conserved(d);
        /* From here on the delay is shorter and the rate higher; packets already on the way keep
         * their arrival times. */
        if (i == 15000) {
            c.delay = 25000;
            c.rate_bps = 3700000;
            assert_int_equal(scps_linkdir_change(d, now, &c), 0);
        }
    }
    struct scps_link_stats s = stats(d, now);
    assert_true(s.dropped_queue && s.dropped_ber && s.dropped_loss && s.duplicated && s.reordered &&
                s.flipped);
    *delivered = s.delivered;
    close_link(d);
    return digest;
}

static void one_seed_gives_one_history(void **state)
{
    uint64_t n1, n2, n3;
    uint64_t a = digest_of_a_wild_run(1, &n1), b = digest_of_a_wild_run(1, &n2);
    (void)state;

    assert_true(a == b && n1 == n2);
    assert_true(a != digest_of_a_wild_run(2, &n3));
    /* The results are the same on every machine: these numbers were obtained where the test was
     * written. */
    assert_true(n1 == 28556);
    assert_true(a == UINT64_C(11937352209227263329));
}

static void ignore(void *ctx, const struct scps_verdict *v)
{
    uint64_t *n = ctx;

    /* The queue refuses no packet, so the numbers have no gap. */
    assert_int_equal(v->number, ++*n);
}

/* When nobody observes the link, packets take a fast path: the history must be the same, however
 * often the state of the link is read. */
static void observers_and_counters_change_nothing(void **state)
{
    struct scps_link_config c = {
        .rate_bps = 3000000, .delay = 40000, .overhead = 18, .ber = 2e-5, .loss = 0.01, .seed = 5};
    uint64_t digest[3] = {0};
    (void)state;

    for (int how = 0; how < 3; how++) {
        struct scps_linkdir *d = open_link(c);
        struct scps_prng r;
        scps_time now = 0;
        uint64_t told = 0;
        if (how == 1) {
            d->verdict_fn = ignore;
            d->verdict_ctx = &told;
        }
        scps_prng_seed(&r, 9);
        for (uint32_t i = 0; i < 20000 || d->next != SCPS_NEVER; i++) {
            struct scps_pkt p;
            scps_time step = (scps_time)scps_prng_below(&r, 4300);
            if (how == 2)
                stats(d, now + step / 2);
            now += step;
            while (scps_linkdir_peek(d, now, &p)) {
                digest[how] = digest[how] * 1099511628211u + (uint64_t)p.at;
                digest[how] = digest[how] * 1099511628211u + name_of(&p);
                scps_linkdir_pop(d);
            }
            if (i < 20000)
                offer(d, now, i, 40 + scps_prng_below(&r, 1460));
        }
        assert_true(d->st.dropped_ber > 100 && d->st.dropped_loss > 100);
        assert_true(told == (how == 1 ? 20000 : 0));
        conserved(d);
        close_link(d);
    }
    assert_true(digest[0] == digest[1] && digest[0] == digest[2]);
}

static void a_change_applies_to_waiting_packets_only(void **state)
{
    struct scps_link_config c = {.rate_bps = 8000000, .delay = 10000};
    struct scps_linkdir *d = open_link(c);
    scps_time at;
    (void)state;

    offer(d, 0, 1, 100); /* Packet 1 has left the line at 100 µs and propagates. */
    offer(d, 0, 2, 100); /* This packet is on the line at 150 µs. */
    offer(d, 0, 3, 100);
    offer(d, 0, 4, 100);
    c.delay = 1000;
    c.rate_bps = 4000000;
    assert_int_equal(scps_linkdir_change(d, 150, &c), 0);
    /* Packet 3 overtakes the others: it arrives at 200 + 200 + 1000 µs. */
    assert_int_equal(take(d, &at), 3);
    assert_true(at == 1400);
    assert_int_equal(take(d, &at), 4);
    assert_true(at == 1600);
    assert_int_equal(take(d, &at), 1);
    assert_true(at == 10100);
    /* With this delay two packets arrive at the same moment: the one that was sent first is
     * delivered first. */
    c.delay = 9800;
    c.rate_bps = 8000000;
    assert_int_equal(scps_linkdir_change(d, 10100, &c), 0);
    assert_true(take(d, &at) == 2 && at == 10200);
    assert_true(d->next == SCPS_NEVER);
    offer(d, 20000, 5, 100);
    c.delay = 9700;
    assert_int_equal(scps_linkdir_change(d, 20100, &c), 0);
    offer(d, 20100, 6, 100); /* Both packets arrive at 29900 µs. */
    assert_true(take(d, &at) == 5 && at == 29900);
    assert_true(take(d, &at) == 6 && at == 29900);
    conserved(d);
    close_link(d);
}

static void *no_memory(void *ctx, size_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}

/* A line of 8 Mbit/s that stops at 1000 µs and starts again at 100 s, with 1000 bytes on it and
 * three packets of 100 bytes in its queue. The 1000 bytes have 500 µs left. */
static const struct scps_step stop_rows[] = {{0, 8000000}, {1000, 0}, {100000000, 8000000}};
static struct scps_linkdir *open_stopped(struct scps_link_config *c)
{
    c->rates = (struct scps_steps){.v = stop_rows, .n = 3};
    c->delay = 10;
    struct scps_linkdir *d = open_link(*c);

    offer(d, 500, 1, 1000);
    for (uint32_t i = 2; i <= 4; i++)
        offer(d, 600, i, 100);
    return d;
}

static void a_stopped_line_can_be_started(void **state)
{
    static const struct scps_step other[] = {{0, 0}, {5000, 4000000}};
    const struct scps_step steps[2] = {stop_rows[0], stop_rows[2]};
    const struct scps_link_config how[] = {
        {.rate_bps = 4000000},              /* a constant rate */
        {.rate_bps = 4000000, .jitter = 1}, /* which keeps the order */
        {.rates = {.v = other, .n = 2}},    /* another table */
        {.rates = {.v = steps, .n = 2}},    /* without the stop */
        {.rate_bps = 0},                    /* no time on the line */
        {.rate_bps = 4000000, .codel_target = 5000, .codel_interval = 100000},
    };
    const scps_time first[] = {4200, 4200, 6200, 3600, 3000, 4200};
    const scps_time each[] = {200, 200, 200, 100, 0, 200};
    (void)state;

    for (size_t i = 0; i < sizeof how / sizeof how[0]; i++)
        for (unsigned twice = 0; twice < 2; twice++) {
            struct scps_link_config c = {.dup = twice}, to = how[i];
            struct scps_linkdir *d = open_stopped(&c);
            scps_time at;

            assert_true(stats(d, 3000).busy == 2500);
            to.delay = 10;
            assert_int_equal(scps_linkdir_change(d, 3000, &to), 0);
            for (uint32_t k = 0; k < 3; k++) {
                assert_int_equal(take(d, &at), 2 + k);
                scps_time due = first[i] + k * each[i] + 10;
                assert_true(at >= due && at <= due + to.jitter);
            }
            /* The line was busy for 2.5 ms, then for the rest and three packets. */
            assert_true(stats(d, 20000).busy == 2500 + first[i] + 2 * each[i] - 3000);
            offer(d, 20000, 5, 100);
            assert_int_equal(take(d, &at), 5);
            for (unsigned k = 0; k <= twice; k++)
                assert_true(take(d, &at) == 1 && at == 100000510);
            assert_true(d->next == SCPS_NEVER && stats(d, at).in_flight == 0);
            conserved(d);
            close_link(d);
        }
}

static void a_change_of_other_settings_leaves_a_line_stopped(void **state)
{
    static const struct scps_step longer[] = {{0, 8000000}, {1000, 0}, {200000000, 8000000}};
    (void)state;

    for (int new_table = 0; new_table < 2; new_table++) {
        struct scps_link_config c = {0};
        struct scps_linkdir *d = open_stopped(&c);
        scps_time at, behind = new_table ? 200000100 : 100000600;

        c.overhead = 0;
        c.queue_packets = 50;
        if (new_table)
            c.rates.v = longer;
        for (scps_time now = 700; now < 50000; now += 700)
            assert_int_equal(scps_linkdir_change(d, now, &c), 0);
        assert_true(take(d, &at) == 1 && at == 100000510);
        assert_true(take(d, &at) == 2 && at >= 100000610);
        assert_true(new_table || at == behind + 10);
        assert_int_equal(take(d, &at), 3);
        assert_int_equal(take(d, &at), 4);
        conserved(d);
        close_link(d);
    }
}

/* The frame keeps its place in the ring, because there is no memory for a copy. */
static void a_stopped_line_starts_without_memory(void **state)
{
    struct scps_link_config c = {0}, to = {.rate_bps = 4000000, .delay = 10};
    struct scps_linkdir *d = open_stopped(&c);
    struct scps_alloc usual = d->alloc;
    scps_time at;
    (void)state;

    d->alloc.alloc = no_memory;
    assert_int_equal(scps_linkdir_change(d, 3000, &to), 0);
    d->alloc = usual;
    while (d->next != SCPS_NEVER)
        (void)take(d, &at);
    assert_true(stats(d, at).in_flight == 0);
    conserved(d);
    close_link(d);
}

static void invalid_configurations_are_refused(void **state)
{
    static const struct scps_link_config bad[] = {
        {.ber = -1e-9},
        {.ber = 1},
        {.ber = NAN},
        {.loss = 1.01},
        {.loss = -0.1},
        {.loss = NAN},
        {.dup = 2},
        {.reorder = NAN},
        {.delay = -1},
        {.reorder_delay = -1},
        {.delay = SCPS_NEVER},
        {.overhead = 70000},
        {.rate_bps = UINT64_MAX},
    };
    struct scps_linkdir *d = open_link((struct scps_link_config){.rate_bps = 8000000}), e;
    struct scps_alloc a = scps_alloc_default();
    scps_time at;
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(scps_linkdir_init(&e, &bad[i], 0, &a), SCPS_ERR_INVAL);
        assert_int_equal(scps_linkdir_change(d, 0, &bad[i]), SCPS_ERR_INVAL);
    }
    offer(d, 0, 1, 100);
    take(d, &at);
    assert_true(at == 100); /* The configuration is unchanged, so the packet arrives at 100 µs. */
    close_link(d);
}

static void without_memory_packets_are_refused_or_counted(void **state)
{
    (void)state;

    for (unsigned allowed = 0; allowed < 12; allowed++) {
        struct poor poor = {.left = allowed};
        struct scps_alloc a = {poor_alloc, poor_free, &poor};
        struct scps_link_config c = {.rate_bps = 1000000,
                                     .delay = 1000000,
                                     .reorder = 0.1,
                                     .dup = 0.1,
                                     .ber = 1e-4,
                                     .flip = true};
        struct scps_linkdir d;
        unsigned refused = 0;
        assert_int_equal(scps_linkdir_init(&d, &c, 0, &a), 0);
        for (uint32_t i = 0; i < 1000; i++) {
            struct scps_pkt p = packet(i, 500, false);
            int rc = scps_linkdir_offer(&d, 0, &p);
            assert_true(rc == 0 || rc == SCPS_ERR_NOMEM);
            refused += rc != 0;
        }
        conserved(&d);
        while (d.next != SCPS_NEVER) {
            struct scps_pkt p;
            if (scps_linkdir_peek(&d, d.next, &p))
                scps_linkdir_pop(&d);
        }
        conserved(&d);
        assert_true(stats(&d, 0).in_flight == 0);
        assert_true(d.st.dropped_loss > 0 && d.st.dropped_loss >= refused);
        scps_linkdir_fini(&d);
        /* Every block was freed with the size with which it was allocated. */
        assert_int_equal(poor.out, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_of_a_microsecond_add_up),
        cmocka_unit_test(an_idle_line_sends_at_once),
        cmocka_unit_test(without_a_rate_there_is_only_delay),
        cmocka_unit_test(any_traffic_agrees_with_a_slow_model),
        cmocka_unit_test(packets_arrive_unchanged),
        cmocka_unit_test(payload_apart_and_hollow_payload),
        cmocka_unit_test(bit_errors_lose_by_size),
        cmocka_unit_test(losses_are_independent),
        cmocka_unit_test(a_duplicate_follows_directly),
        cmocka_unit_test(reordered_packets_are_delayed),
        cmocka_unit_test(each_random_effect_has_its_own_stream),
        cmocka_unit_test(flipped_bits_follow_the_bit_error_rate),
        cmocka_unit_test(csum_ok_holds_until_a_packet_is_damaged),
        cmocka_unit_test(damage_that_cannot_be_delivered_loses_the_packet),
        cmocka_unit_test(one_seed_gives_one_history),
        cmocka_unit_test(observers_and_counters_change_nothing),
        cmocka_unit_test(a_change_applies_to_waiting_packets_only),
        cmocka_unit_test(a_stopped_line_can_be_started),
        cmocka_unit_test(a_change_of_other_settings_leaves_a_line_stopped),
        cmocka_unit_test(a_stopped_line_starts_without_memory),
        cmocka_unit_test(invalid_configurations_are_refused),
        cmocka_unit_test(without_memory_packets_are_refused_or_counted),
    };
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
