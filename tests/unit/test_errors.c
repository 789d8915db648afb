/* SPDX-License-Identifier: MIT */
/* errors.c on a link: bursts of errors have the right lengths and shares of time, error vectors are
 * applied bit for bit, and outages begin and end exactly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "linkdir.h"
#include "sim/link.h"

/* Offers a packet of n bytes at time t (µs) to a line that is free, and removes what has arrived.
 * Returns true if the packet was lost. */
static bool lost_at(struct scps_linkdir *d, scps_time t, size_t n)
{
    static uint8_t data[2000];
    struct scps_pkt p = {.data = data, .len = n};
    uint64_t before = d->st.dropped_burst + d->st.dropped_outage;

    assert_int_equal(scps_linkdir_offer(d, t, &p), 0);
    assert_int_equal(d->wait_n, 0);
    while (scps_linkdir_peek(d, t, &p))
        scps_linkdir_pop(d);
    return d->st.dropped_burst + d->st.dropped_outage != before;
}

static void chi(const char *what, double value, double limit)
{
    if (value > limit)
        fail_msg("%s: chi squared %.1f above %.1f", what, value, limit);
}

/* Compares the lengths of runs with the geometric distribution by chi-squared; turn is the
 * probability of leaving the state after each packet. */
static void geometric(const char *what, const unsigned *run, int cells, unsigned n, double turn)
{
    double x = 0;

    for (int k = 1; k <= cells; k++) {
        double want = n * (k < cells ? pow(1 - turn, k - 1) * turn : pow(1 - turn, cells - 1));
        x += (run[k] - want) * (run[k] - want) / want;
    }
    /* The bound is exceeded about once in a thousand seeds. */
    chi(what, x, cells + 3.1 * sqrt(2.0 * cells) + 6);
}

static void bursts_by_packet(void **state)
{
    enum { N = 400000, GOOD = 60, BAD = 12 };
    struct scps_burst b = {.to_bad = 0.03, .to_good = 0.25, .ber = 0.5};
    struct scps_linkdir *d = open_link((struct scps_link_config){.burst = b, .seed = 11});
    unsigned run[2][GOOD + 1] = {{0}}, n[2] = {0}, since = 0, bad = 0;
    bool was = false;
    (void)state;

    for (int k = 0; k < N; k++) {
        /* The bad state flips half of the 800 bits, so no packet survives it. */
        bool is = lost_at(d, k, 100);
        bad += is;
        if (k > 0 && is != was) {
            unsigned most = was ? BAD : GOOD;
            run[was][since < most ? since : most]++;
            n[was]++;
            since = 0;
        }
        since++;
        was = is;
    }
    geometric("good runs", run[0], GOOD, n[0], b.to_bad);
    geometric("bad runs", run[1], BAD, n[1], b.to_good);
    double share = b.to_bad / (b.to_bad + b.to_good);
    /* The variance of the mean of a two-state chain is p q / n * (2 / (a + b) - 1). */
    double sigma = sqrt(N * share * (1 - share) * (2 / (b.to_bad + b.to_good) - 1));
    assert_true(fabs(bad - N * share) < 3.5 * sigma);
    close_link(d);
}

/* A packet that takes no time is offered every microsecond, so the test sees every change of
 * state. */
static void durations_of_states_are_exponential(void **state)
{
    enum { N = 4000000, CELLS = 20 };
    struct scps_burst b = {.good = 400, .bad = 100, .ber = 0.5};
    struct scps_linkdir *d = open_link((struct scps_link_config){.burst = b, .seed = 12});
    unsigned cell[2][CELLS] = {{0}}, n[2] = {0};
    double sum[2] = {0};
    scps_time since = 0;
    bool was = false;
    (void)state;

    for (scps_time t = 0; t < N; t++) {
        bool is = lost_at(d, t, 100);
        if (t > 0 && is != was) {
            double mean = was ? 100 : 400, len = (double)(t - since);
            int k = (int)(len / mean * 5); /* The lengths are counted in fifths of the mean. */
            cell[was][k < CELLS ? k : CELLS - 1]++;
            sum[was] += len;
            n[was]++;
            since = t;
        }
        was = is;
    }
    for (int s = 0; s < 2; s++) {
        double mean = s ? 100 : 400, x = 0, q = 1 - 1 / mean;
        assert_true(fabs(sum[s] / n[s] - mean) < 3.5 * mean / sqrt(n[s]));
        /* The lengths have the geometric distribution from 1: P(len >= m) = q^(m-1). */
        for (int k = 0; k < CELLS; k++) {
            double lo = fmax(1, ceil(k * mean / 5)), hi = ceil((k + 1) * mean / 5);
            double want = n[s] * (pow(q, lo - 1) - (k < CELLS - 1 ? pow(q, hi - 1) : 0));
            x += (cell[s][k] - want) * (cell[s][k] - want) / want;
        }
        /* With 19 degrees of freedom 43.8 is exceeded once in a thousand seeds. */
        chi(s ? "bad stays" : "good stays", x, 43.8);
    }
    close_link(d);
}

/* A frame that takes time is damaged according to the share of its bits that the line sends in the
 * bad state. */
static void long_frames_span_several_states(void **state)
{
    struct scps_burst b = {.good = 9000, .bad = 1000, .ber = 2e-4};
    struct scps_link_config c = {.rate_bps = 1000000, .burst = b, .seed = 13};
    enum { N = 40000, LEN = 1000 };
    struct scps_linkdir *d = open_link(c);
    double lost = 0;
    (void)state;

    for (int k = 0; k < N; k++)
        /* The frames follow each other without a pause. */
        lost += lost_at(d, (scps_time)k * 8000, LEN);
    /* A frame survives with probability E[exp(-a T)], T the time in the bad state during 8 ms; it
     * is computed by exponentiating the chain's generator in small steps. */
    double h = 1, g = b.good, w = b.bad, a = -log1p(-b.ber);
    double good = g / (g + w), bad = w / (g + w);
    for (int i = 0; i < 8000; i++) {
        double ng = good * (1 - h / g) + bad * h / w, nb = good * h / g + bad * (1 - h / w);
        good = ng;
        bad = nb * exp(-a * h);
    }
    double p = 1 - good - bad;
    /* Successive frames are not independent, so the bound is twice the binomial's deviation. */
    if (fabs(lost - N * p) > 2 * 3.5 * sqrt(N * p * (1 - p)))
        fail_msg("%.0f lost of %d, %.0f expected", lost, N, N * p);
    close_link(d);
}

static void burst_geo_parameters(void **state)
{
    struct scps_link_config f, r;
    uint64_t bad = 0, n = 0;
    (void)state;

    assert_int_equal(scps_link_parse("burst-geo", &f, &r, NULL, 0), 0);
    f.seed = 14;
    struct scps_linkdir *d = open_link(f);
    for (scps_time t = 0; t < SCPS_SEC(3000); t += SCPS_MS(1), n++)
        bad += lost_at(d, t, 100);
    /* The share is a little above 0.0235, because a frame of 79 µs overlaps two states. */
    double share = (double)bad / (double)n;
    assert_true(share > 0.0235 && share < 0.0290);
    close_link(d);
}

/* As NASA's test with error vector 001 does it: the bits of the frames are XORed with a vector that
 * repeats. */
static void a_vector_is_applied_bit_for_bit(void **state)
{
    /* The vector has about a megabit; its length is no multiple of a frame's. */
    enum { VECTOR = 131071, HEAD = 18 };
    static uint8_t vector[VECTOR], data[1500], sent[1500];
    struct scps_link_config c = {
        .overhead = HEAD, .flip = true, .vector = vector, .vector_len = VECTOR};
    struct scps_prng r;
    uint64_t at = 0, unreadable = 0, damaged = 0;
    (void)state;

    scps_prng_seed(&r, 15);
    for (int i = 0; i < 60; i++)
        vector[scps_prng_below(&r, VECTOR)] = (uint8_t)(1 + scps_prng_below(&r, 255));
    for (int exempt = 0; exempt <= HEAD; exempt += HEAD) {
        c.ber_exempt = (uint32_t)exempt;
        struct scps_linkdir *d = open_link(c);
        at = unreadable = damaged = 0;
        for (int k = 0; k < 5000; k++) {
            size_t n = 40 + scps_prng_below(&r, sizeof data - 40);
            bool head = false, hit = false;
            for (size_t i = 0; i < n; i++)
                sent[i] = data[i] = (uint8_t)scps_prng_next(&r);
            for (size_t i = (size_t)exempt; i < n + HEAD; i++, at++) {
                uint8_t x = vector[at % VECTOR];
                head = head || (x && i < HEAD);
                hit = hit || x;
                if (i >= HEAD)
                    data[i - HEAD] ^= x;
            }
            struct scps_pkt p = {.data = sent, .len = n};
            assert_int_equal(scps_linkdir_offer(d, k, &p), 0);
            bool came = scps_linkdir_peek(d, k, &p);
            assert_int_equal(came, !head);
            if (came) {
                assert_int_equal(p.len, n);
                assert_memory_equal(p.data, data, n);
                scps_linkdir_pop(d);
            }
            unreadable += head;
            damaged += hit && !head;
        }
        assert_true(d->st.dropped_vector == unreadable && d->st.flipped == damaged);
        assert_true(damaged > 500 && (exempt || unreadable > 5));
        close_link(d);
    }
    /* Without `flip` the link loses exactly the frames that were damaged before. */
    c.flip = false;
    struct scps_linkdir *d = open_link(c);
    for (int k = 0; k < 400; k++) {
        struct scps_pkt p = {.data = sent, .len = 1000};
        bool hit = false;
        for (size_t i = 0; i < 1000; i++)
            hit = hit || vector[((size_t)k * 1000 + i) % VECTOR];
        assert_int_equal(scps_linkdir_offer(d, k, &p), 0);
        bool came = scps_linkdir_peek(d, k, &p);
        assert_int_equal(came, !hit);
        if (came)
            scps_linkdir_pop(d);
    }
    close_link(d);
}

static void outages_lose_packets_on_the_line(void **state)
{
    static const struct scps_span out[] = {{1000, 2000}, {5000, 5001}};
    struct scps_link_config c = {.rate_bps = 8000000,
                                 .outages = {.v = out, .n = 2, .period = 10000}};
    struct scps_linkdir *d = open_link(c);
    (void)state;

    /* A packet of 100 bytes takes 100 µs. */
    for (scps_time base = 0; base < 50000; base += 10000) {
        assert_false(lost_at(d, base + 900, 100));
        assert_true(lost_at(d, base + 1000, 100));
        assert_true(lost_at(d, base + 1900, 100));
        assert_false(lost_at(d, base + 2000, 100));
        /* The last microsecond of the packet falls into the outage. */
        assert_true(lost_at(d, base + 4901, 100));
        assert_false(lost_at(d, base + 5001, 100));
    }
    assert_int_equal(d->st.dropped_outage, 15);
    close_link(d);
    /* With `inverse` the spans are those in which the link works (contacts). */
    c.outages.inverse = true;
    d = open_link(c);
    assert_true(lost_at(d, 950, 100)); /* The packet begins before the contact. */
    assert_false(lost_at(d, 1100, 900));
    assert_true(lost_at(d, 2000, 100));
    assert_true(lost_at(d, 4990, 11)); /* The packet ends after the contact. */
    assert_false(lost_at(d, 5001 + 10000 - 1, 1));
    close_link(d);
}

static void hold_delays_packets_until_the_outage_ends(void **state)
{
    static const struct scps_span out[] = {{1000, 2000}};
    struct scps_link_config c = {
        .rate_bps = 8000000, .delay = 7, .hold = true, .outages = {.v = out, .n = 1}};
    struct scps_linkdir *d = open_link(c);
    uint8_t data[100] = {0};
    struct scps_pkt p;
    (void)state;

    for (int i = 0; i < 3; i++) {
        p = (struct scps_pkt){.data = data, .len = sizeof data};
        assert_int_equal(scps_linkdir_offer(d, 850 + i, &p), 0);
    }
    /* The first packet takes 850 to 950 µs and arrives; the second takes 950 to 1050 µs and is cut
     * by the outage; the third waits until 2000 µs. */
    assert_true(scps_linkdir_peek(d, 957, &p) && p.at == 957);
    scps_linkdir_pop(d);
    scps_linkdir_advance(d, 1500);
    assert_int_equal(d->st.dropped_outage, 1);
    assert_int_equal(d->wait_n, 1);
    assert_false(scps_linkdir_peek(d, 2106, &p));
    assert_true(scps_linkdir_peek(d, 2107, &p) && p.at == 2107);
    scps_linkdir_pop(d);
    assert_true(d->next == SCPS_NEVER && d->st.in_flight == 0);
    close_link(d);

    /* A change of the configuration begins an outage now, and another change ends it. */
    c.outages.n = 0;
    c.outages.inverse = true;
    d = open_link(c);
    p = (struct scps_pkt){.data = data, .len = sizeof data};
    assert_int_equal(scps_linkdir_offer(d, 10, &p), 0);
    assert_true(d->next == SCPS_NEVER && d->wait_n == 1);
    c.outages.inverse = false;
    assert_int_equal(scps_linkdir_change(d, 500, &c), 0);
    assert_true(d->next == 607);
    assert_true(scps_linkdir_peek(d, 607, &p) && p.at == 607);
    close_link(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_by_packet),
        cmocka_unit_test(durations_of_states_are_exponential),
        cmocka_unit_test(long_frames_span_several_states),
        cmocka_unit_test(burst_geo_parameters),
        cmocka_unit_test(a_vector_is_applied_bit_for_bit),
        cmocka_unit_test(outages_lose_packets_on_the_line),
        cmocka_unit_test(hold_delays_packets_until_the_outage_ends),
    };
    return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
