/* SPDX-License-Identifier: MIT */
/* The physical limit of a transfer compared with an independent packet-level model of the same
 * sender (means of 60 to 10 000 runs), with its exact value without losses, and at extreme
 * arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <scps/sim.h>

/* Returns the limit in Mbit/s on 100 Mbit/s: 1024 bytes of payload, 40 of headers, 18 of framing;
 * 1064 bytes can be damaged. */
static double limit(int64_t rtt_ms, uint64_t bytes, double ber, uint64_t rate_bps)
{
    struct scps_link_config c = {.rate_bps = 100000000,
                                 .delay = SCPS_MS(rtt_ms) / 2,
                                 .overhead = 18,
                                 .ber_exempt = 18,
                                 .ber = ber};
    return scps_link_limit(&c, &c, bytes, 1024, 40, rate_bps) / 1e6;
}

static void agrees_with_a_packet_level_model(void **state)
{
    static const struct {
        int rtt_ms;
        uint64_t bytes;
        double ber, mbps;
    } cell[] = {
        {500, 100000000, 1e-8, 83.5903}, {500, 100000000, 1e-6, 78.9651},
        {500, 100000000, 1e-4, 28.9311}, {500, 10000000, 1e-7, 35.7415},
        {500, 10000000, 1e-5, 24.1642},  {500, 1000000, 1e-6, 5.0031},
        {500, 100000, 1e-5, 0.4634},     {250, 100000000, 1e-5, 77.5072},
        {250, 10000000, 1e-6, 49.4066},  {250, 1000000, 1e-4, 2.1604},
        {250, 100000, 1e-7, 1.5316},     {10, 100000000, 1e-8, 94.4079},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cell / sizeof cell[0]; i++) {
        double got = limit(cell[i].rtt_ms, cell[i].bytes, cell[i].ber, 0);
        if (got < cell[i].mbps * 0.99 || got > cell[i].mbps * 1.01)
            fail_msg("%d ms, %llu bytes, BER %g: %.4f, the model has %.4f", cell[i].rtt_ms,
                     (unsigned long long)cell[i].bytes, cell[i].ber, got, cell[i].mbps);
    }
}

static void is_exact_without_losses(void **state)
{
    (void)state;
    /* 97657 segments, the last of 256 bytes, take two round trips and their time on the line. */
    double want = 8e8 / (2 * 0.5 + (1e8 + 97657 * 58.0) * 8 / 1e8) / 1e6;
    double got = limit(500, 100000000, 0, 0);
    assert_true(got > want * 0.999999 && got < want * 1.000001);
    /* The sender has a rate of 80 Mbit/s on the line. */
    want = 8e8 / (2 * 0.5 + (1e8 + 97657 * 58.0) * 8 / 8e7) / 1e6;
    got = limit(500, 100000000, 0, 80000000);
    assert_true(got > want * 0.999999 && got < want * 1.000001);
    /* A sender's rate above the line's has no effect. */
    assert_true(limit(500, 100000000, 0, 0) == limit(500, 100000000, 0, 200000000));
}

static void is_continuous_at_loss_rate_zero(void **state)
{
    (void)state;
    double none = limit(250, 10000000, 0, 0), hardly = limit(250, 10000000, 1e-15, 0);
    assert_true(hardly > none * 0.999 && hardly <= none * 1.0001);
}

/* Returns the seconds of a transfer over 1 Mbit/s, 100 ms each way, with 1000 segments of 1000
 * bytes and 40 of headers: 8.32 s on the line and 8.72 s in all without the change. */
static double seconds_with(const struct scps_link_config *change)
{
    struct scps_link_config fwd = *change, back = {.delay = SCPS_MS(100)};

    fwd.rate_bps = 1000000;
    fwd.delay = SCPS_MS(100);
    return 8e6 / scps_link_limit(&fwd, &back, 1000000, 1000, 40, 0);
}

static void close_to(double got, double want)
{
    if (got < want * 0.99999 || got > want * 1.00001)
        fail_msg("%.6f s instead of %.6f", got, want);
}

static void an_outage_takes_its_time(void **state)
{
    static const struct scps_span once[] = {{SCPS_SEC(2), SCPS_SEC(5)}},
                                  at_first[] = {{0, SCPS_SEC(3)}},
                                  contact[] = {{SCPS_SEC(10), SCPS_SEC(12)}},
                                  ever[] = {{0, SCPS_SEC(4000000)}};
    (void)state;

    close_to(seconds_with(&(struct scps_link_config){0}), 8.72);
    close_to(seconds_with(&(struct scps_link_config){.outages = {.v = once, .n = 1}}), 11.72);
    /* The SYN cannot leave before the outage ends. */
    close_to(seconds_with(&(struct scps_link_config){.outages = {.v = at_first, .n = 1}}), 11.72);
    /* The first second of every two is an outage: the SYN leaves at 1 s, the line works for 0.8 s
     * of the second in which the answer arrives, then for 1 s of every two. The 8.32 s of work end
     * at 17.52 s, and the acknowledgement arrives 0.2 s later. */
    static const struct scps_span half[] = {{0, SCPS_SEC(1)}};
    close_to(seconds_with(
                 &(struct scps_link_config){.outages = {.v = half, .n = 1, .period = SCPS_SEC(2)}}),
             17.72);
    /* The link works for two seconds in every twenty: the SYN leaves at 10 s; the line then works
     * 1.8 s, then 2 s in each contact, and the last 0.52 s from 90 s on. */
    close_to(seconds_with(&(struct scps_link_config){
                 .outages = {.v = contact, .n = 1, .period = SCPS_SEC(20), .inverse = true}}),
             90.72);
    /* The link's contacts end before the transfer can end, so there is no limit (0). */
    struct scps_link_config never = {.rate_bps = 1000000,
                                     .delay = SCPS_MS(100),
                                     .outages = {.v = contact, .n = 1, .inverse = true}};
    assert_true(scps_link_limit(&never, &never, 1000000, 1000, 40, 0) == 0);
    close_to(seconds_with(&(struct scps_link_config){.outages = {.v = ever, .n = 1}}), 4000008.72);
}

static void rates_change_as_the_table_says(void **state)
{
    /* 1 Mbit/s until 4.2 s, then a quarter of it: 4 s of work are done, and the other 4.32 s take
     * 17.28 s. */
    static const struct scps_step slower[] = {{0, 1000000}, {4200000, 250000}};
    (void)state;

    close_to(seconds_with(&(struct scps_link_config){.rates = {.v = slower, .n = 2}}),
             0.2 + 4 + 17.28 + 0.2);
}

static void an_outage_costs_as_much_with_errors(void **state)
{
    static const struct scps_span once[] = {{SCPS_SEC(2), SCPS_SEC(5)}};
    double without = seconds_with(&(struct scps_link_config){.loss = 0.01}),
           with = seconds_with(
               &(struct scps_link_config){.loss = 0.01, .outages = {.v = once, .n = 1}});
    (void)state;

    assert_true(with > without + 2.99 && with < without + 3.01);
}

static void links_with_limit_zero(void **state)
{
    struct scps_link_config free = {0}, dead = {.rate_bps = 1000, .loss = 1};
    (void)state;
    /* A link without rate and delay has no limit (0). */
    assert_true(scps_link_limit(&free, &free, 1000, 1024, 40, 0) == 0);
    /* A link that loses everything has the limit 0. */
    assert_true(scps_link_limit(&dead, &free, 1000, 1024, 40, 0) == 0);
    assert_true(limit(500, 0, 0, 0) == 0);
    assert_true(limit(500, 1, 1e-5, 0) > 0);
    /* The link has losses, but no delay. */
    assert_true(limit(0, 100000, 1e-5, 0) > 80 && limit(0, 100000, 1e-5, 0) < 95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_packet_level_model),
        cmocka_unit_test(is_exact_without_losses),
        cmocka_unit_test(is_continuous_at_loss_rate_zero),
        cmocka_unit_test(an_outage_takes_its_time),
        cmocka_unit_test(rates_change_as_the_table_says),
        cmocka_unit_test(an_outage_costs_as_much_with_errors),
        cmocka_unit_test(links_with_limit_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
