/* SPDX-License-Identifier: MIT */
/* Bulk transfers over the presets and over bad links: every byte arrives, in a time between two
 * bounds that are derived; the same seed gives the same packets; and hollow data (counted, not
 * stored) gives the same packets as the zeros that it stands for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simrun.h"

static void conserved(const struct simrun *r)
{
    const struct scps_link_stats *s[] = {&r->there, &r->here};

    for (int i = 0; i < 2; i++) {
        assert_true(s[i]->offered + s[i]->duplicated == s[i]->delivered + s[i]->dropped_queue +
                                                            s[i]->dropped_ber + s[i]->dropped_loss +
                                                            s[i]->in_flight);
        assert_true(s[i]->offered == r->stack[i].packets_out);
        assert_true(s[i]->delivered == r->stack[1 - i].packets_in);
    }
    /* The filters saw each packet where it was sent and where it arrived. */
    assert_true(r->packets ==
                r->there.offered + r->there.delivered + r->here.offered + r->here.delivered);
}

static void run(const struct simrun_config *c, struct simrun *r)
{
    simrun(c, r);
    if (r->err || !r->intact || r->acked < 0)
        fail_msg("%s, seed %llu: %llu of %llu bytes, error %d", c->link,
                 (unsigned long long)c->seed, (unsigned long long)r->received,
                 (unsigned long long)c->size, r->err);
    assert_true(r->delivered >= 0 && r->delivered <= r->acked);
    conserved(r);
}

static void between(const char *what, scps_time got, double low, double high)
{
    if (!((double)got >= low && (double)got <= high))
        fail_msg("%s: %.6f s, not between %.6f and %.6f", what, (double)got * 1e-6, low * 1e-6,
                 high * 1e-6);
}

/* Returns the time of the transfer over the same link without losses, which no run can beat, µs. */
static double lossless(const struct simrun_config *c, const struct simrun *r)
{
    struct simrun clean = *r;

    clean.fwd.ber = clean.fwd.loss = 0;
    return (double)simrun_limit(c, &clean);
}

/* Slow start from ten segments doubles the window each round trip until the line is full: the
 * transfer takes at least the handshake and that many round trips, and at most the time of all
 * bytes on the line more. */
static void slow_start_takes_its_rounds_and_no_more(void **state)
{
    static const char *const links[] = {"geo", "moon", "mars", "nasa500", "nasa250"};
    (void)state;

    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        struct simrun_config c = {.seed = 1};
        struct simrun r;
        c.link = links[i];
        c.size = 200000;
        run(&c, &r);
        uint64_t segments = (c.size + r.sender.snd_mss - 1) / r.sender.snd_mss, sent = 10;
        double rtt = (double)(r.fwd.delay + r.back.delay), rounds = 2;
        for (uint64_t w = 10; sent < segments; w *= 2, rounds++)
            sent += 2 * w;
        between(links[i], r.acked, rounds * rtt,
                rounds * rtt * 1.001 + 1.1 * (simrun_limit(&c, &r) - 2 * rtt) + 2000);
        assert_int_equal(r.sender.resent_segs, 0);
        assert_true(r.there.dropped_queue == 0);
    }
}

/* On short links slow start ends soon, and the queue holds a round trip of data: the goodput is
 * almost the physical limit. */
static void short_lines_are_filled(void **state)
{
    static const char *const links[] = {"lan", "leo", "nasa10"};
    (void)state;

    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        struct simrun_config c = {.seed = 1};
        struct simrun r;
        c.link = links[i];
        c.size = 10000000;
        run(&c, &r);
        double limit = (double)simrun_limit(&c, &r);
        between(links[i], r.acked, limit, 1.25 * limit);
    }
}

/* Pure rate control reaches the physical limit at its rate, less one round trip: the window of a
 * SYN-ACK is not scaled (RFC 7323 section 2.2), so it is at most 65535 bytes until the first
 * acknowledgement. With losses the mean of a few runs is near the limit's mean, and no run beats
 * the one without losses. */
static void a_rate_controlled_sender_reaches_the_limit(void **state)
{
    static const struct {
        const char *link;
        uint64_t size;
        /* Three standard deviations of the mean of the runs, as a part of the limit. */
        double scatter;
    } cell[] = {{"nasa500,ber-back=0,ber=0", 10000000, 0},
                {"nasa500,ber-back=0,ber=1e-6", 10000000, 0.06},
                {"nasa500,ber-back=0,ber=1e-5", 10000000, 0.09},
                {"nasa250,ber-back=0,ber=1e-6", 10000000, 0.06},
                /* In this row acknowledgements are lost, too. */
                {"nasa250,ber=1e-6", 10000000, 0.06},
                {"nasa10,ber-back=0,ber=1e-6", 1000000, 0.06}};
    (void)state;

    for (size_t i = 0; i < sizeof cell / sizeof cell[0]; i++) {
        struct simrun_config c = {.seed = 1};
        double sum = 0, limit = 0, rtt = 0;
        c.link = cell[i].link;
        c.size = cell[i].size;
        c.data = SIMRUN_HOLLOW;
        c.cc = "rate";
        c.rate = 10000000; /* 10000000 bytes/s are 80 Mbit/s on the line. */
        c.buffers = 24000000;
        c.mtu = 1064;
        for (c.seed = 1; c.seed <= 6; c.seed++) {
            struct simrun r;
            run(&c, &r);
            assert_true((double)r.acked >= lossless(&c, &r));
            sum += (double)r.acked / 6;
            limit = (double)simrun_limit(&c, &r);
            rtt = (double)(r.fwd.delay + r.back.delay);
            assert_true(r.there.dropped_queue == 0);
        }
        between(cell[i].link, (scps_time)sum, limit * (1 - cell[i].scatter),
                (limit + rtt) * 1.03 + limit * cell[i].scatter);
    }
}

/* Van Jacobson's congestion control under random loss: the goodput is between half and twice
 * MSS/RTT * 0.93/sqrt(p). The constant lies between 0.87 and 1.31, depending on how many segments
 * an acknowledgement covers. */
static void random_loss_limits_the_goodput(void **state)
{
    struct simrun_config c = {.seed = 1};
    double p = 0.0085, seconds = 0, goodput;
    uint32_t mss = 0;
    (void)state;

    c.link = "nasa250,loss=0.0085,loss-back=0";
    c.size = 3000000;
    c.data = SIMRUN_HOLLOW;
    c.buffers = 6000000;
    c.mtu = 1064;
    for (c.seed = 1; c.seed <= 4; c.seed++) {
        struct simrun r;
        run(&c, &r);
        seconds += (double)r.acked * 1e-6;
        mss = r.sender.snd_mss;
    }
    goodput = 4.0 * (double)c.size / seconds;
    double model = mss / 0.25 * 0.93 / sqrt(p);
    if (!(goodput > model / 2 && goodput < model * 2))
        fail_msg("%.0f bytes/s, the model has %.0f", goodput, model);
}

static void content_is_intact_on_every_link(void **state)
{
    static const struct simrun_config runs[] = {
        {.link = "geo,loss=0.02"},
        {.link = "geo,dup=0.1"},
        {.link = "geo,reorder=0.05"},
        {.link = "geo,loss=0.02,dup=0.05,reorder=0.05,ber=1e-6", .buffers = 3000000},
        {.link = "moon,loss=0.3,loss-back=0.3", .size = 20000},
        {.link = "geo,queue=5p"},
        {.link = "nasa500,ber=1e-5", .cc = "rate", .rate = 10000000, .buffers = 12000000},
        {.link = "nasa10,ber=1e-5,ber-back=1e-5", .mtu = 1064, .v6 = true},
        {.link = "geo,loss=0.01,reorder=0.01", .v6 = true, .mtu = 1280},
        {.link = "geo,loss=0.01", .mtu = 296}, /* Many small packets. */
        {.link = "lan,loss=0.01", .mtu = 9000},
        {.link =
             /* The return link is too slow for the acknowledgements, so its queue overflows. */
         "rate=2mbit,rate-back=20kbit,rtt=600ms"},
        {.link = "geo,loss=0.01", .ack_every = true},
        {.link = "geo,loss=0.01", .ack_delayed = true, .ack_delay = SCPS_MS(50)},
    };
    (void)state;

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct simrun_config c = runs[i];
            struct simrun r;
            c.seed = seed;
            c.size = c.size ? c.size : 300000;
            c.limit = SCPS_SEC(3600);
            run(&c, &r);
        }
}

/* Damaged packets arrive and are dropped for their checksum. With these seeds no two flips cancel
 * each other. */
static void flipped_bits_are_caught(void **state)
{
    (void)state;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct simrun_config c = {.seed = 1};
        struct simrun flip, drop;
        uint64_t thrown = 0;
        c.link = "nasa250,ber=2e-6,ber-back=2e-6,flip";
        c.size = 3000000;
        c.cc = "rate";
        c.rate = 10000000;
        c.buffers = 12000000;
        c.mtu = 1064;
        c.seed = seed;
        run(&c, &flip);
        for (int k = 0; k < 2; k++)
            for (int d = SCPS_DROP_TRUNCATED; d <= SCPS_DROP_BAD_CHECKSUM; d++)
                thrown += flip.stack[k].drops[d];
        assert_true(flip.there.flipped > 20);
        assert_true(thrown == flip.there.flipped + flip.here.flipped);
        /* The presets nasa* exempt the framing bytes from bit errors. */
        assert_true(flip.there.dropped_ber == 0);

        /* If the link drops damaged packets at once, the transfer has the same packets. */
        c.link = "nasa250,ber=2e-6,ber-back=2e-6";
        run(&c, &drop);
        assert_true(drop.there.dropped_ber == flip.there.flipped);
        assert_true(drop.acked == flip.acked && drop.delivered == flip.delivered);
    }
}

static void same(const struct simrun *a, const struct simrun *b)
{
    assert_true(a->digest == b->digest);
    assert_true(a->packets == b->packets);
    assert_true(a->acked == b->acked && a->delivered == b->delivered);
    assert_memory_equal(&a->there, &b->there, sizeof a->there);
    assert_memory_equal(&a->here, &b->here, sizeof a->here);
    assert_memory_equal(&a->stack, &b->stack, sizeof a->stack);
    assert_true(a->sender.resent_segs == b->sender.resent_segs);
    assert_true(a->receiver.ooo_segs == b->receiver.ooo_segs);
}

static const struct simrun_config bad_links[] = {
    {.link = "nasa500,ber=1e-6", .cc = "rate", .rate = 10000000, .buffers = 24000000, .mtu = 1064},
    {.link = "nasa250,ber=1e-5", .cc = "rate", .rate = 10000000, .buffers = 6000000, .mtu = 1064},
    {.link = "geo,loss=0.02,dup=0.02,reorder=0.02", .buffers = 2000000},
    {.link = "leo,queue=20p,loss=0.001,loss-back=0.01"},
    {.link = "nasa10,ber=1e-5,reorder=0.01", .v6 = true},
};

static void one_seed_gives_one_history(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof bad_links / sizeof bad_links[0]; i++) {
        struct simrun_config c = bad_links[i];
        struct simrun a, b;
        c.size = 2000000;
        c.seed = 7;
        run(&c, &a);
        run(&c, &b);
        same(&a, &b);
        c.seed = 8;
        run(&c, &b);
        assert_true(a.digest != b.digest);
    }
}

static void hollow_payload_gives_the_same_packets(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof bad_links / sizeof bad_links[0]; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct simrun_config c = bad_links[i];
            struct simrun zeros, hollow;
            c.size = 2000000;
            c.seed = seed;
            c.data = SIMRUN_ZEROS;
            run(&c, &zeros);
            c.data = SIMRUN_HOLLOW;
            run(&c, &hollow);
            for (int k = 0; k < 2; k++) { /* The transfer needs less memory with hollow data. */
                zeros.stack[k].memory = hollow.stack[k].memory;
                zeros.stack[k].memory_peak = hollow.stack[k].memory_peak;
            }
            same(&zeros, &hollow);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_start_takes_its_rounds_and_no_more),
        cmocka_unit_test(short_lines_are_filled),
        cmocka_unit_test(a_rate_controlled_sender_reaches_the_limit),
        cmocka_unit_test(random_loss_limits_the_goodput),
        cmocka_unit_test(content_is_intact_on_every_link),
        cmocka_unit_test(flipped_bits_are_caught),
        cmocka_unit_test(one_seed_gives_one_history),
        cmocka_unit_test(hollow_payload_gives_the_same_packets),
    };
    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
