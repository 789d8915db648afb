/* SPDX-License-Identifier: MIT */
/* The physical limit of a transfer with a bounded window, compared with an independent packet-level
 * model of the same sender, with its exact values, and with the limit without a window where both
 * must be equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <scps/sim.h>

/* Returns a link of 100 Mbit/s: 1024 bytes of payload, 40 of headers, and 18 of framing that errors
 * do not hit. */
static struct scps_link_config line(int64_t rtt_ms, double ber)
{
    return (struct scps_link_config){.rate_bps = 100000000,
                                     .delay = SCPS_MS(rtt_ms) / 2,
                                     .overhead = 18,
                                     .ber_exempt = 18,
                                     .ber = ber};
}

static double limit(int64_t rtt_ms, uint64_t bytes, double ber, uint64_t rate_bps, uint64_t window)
{
    struct scps_link_config c = line(rtt_ms, ber);
    return scps_link_limit_window(&c, &c, bytes, 1024, 40, rate_bps, window, 0) / 1e6;
}

static void agrees_with_a_packet_level_model(void **state)
{
    static const struct {
        double rate_mbps;
        uint64_t window;
        int rtt_ms;
        uint64_t bytes;
        double ber, mbps, stderr_mbps;
    } cell[] = {
        {100, 5900000, 500, 100000000, 1e-7, 47.8678, 0.2659},
        {100, 5900000, 500, 100000000, 1e-6, 40.6148, 0.2885},
        {80, 2900000, 250, 100000000, 1e-4, 6.9325, 0.0396},
        {100, 12500000, 500, 100000000, 1e-4, 11.9519, 0.0889},
        {80, 6250000, 250, 100000000, 1e-4, 13.2606, 0.1004},
        {46.2, 2900000, 250, 100000000, 1e-8, 42.5397, 0.0168},
        {80, 5900000, 500, 10000000, 1e-7, 28.7916, 0.1729},
        {80, 2900000, 250, 10000000, 1e-8, 47.6187, 0.3576},
        {46.2, 500000, 10, 100000000, 1e-4, 18.6479, 0.0122},
        {80, 2000000, 10, 100000000, 1e-7, 75.5012, 0.0033},
        {100, 125000, 10, 10000000, 1e-4, 11.8965, 0.0306},
        {100, 250000, 10, 1000000, 1e-4, 18.0115, 0.0729},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cell / sizeof cell[0]; i++) {
        double got = limit(cell[i].rtt_ms, cell[i].bytes, cell[i].ber,
                           (uint64_t)(cell[i].rate_mbps * 1e6 + 0.5), cell[i].window);
        /* The tolerance is three standard errors of the model's mean, and 1 % for the limit. */
        double room = 3 * cell[i].stderr_mbps + 0.01 * cell[i].mbps;
        if (!(got > cell[i].mbps - room && got < cell[i].mbps + room))
            fail_msg("%d ms, %llu bytes, BER %g, window %llu: %.4f, the model has %.4f",
                     cell[i].rtt_ms, (unsigned long long)cell[i].bytes, cell[i].ber,
                     (unsigned long long)cell[i].window, got, cell[i].mbps);
    }
}

static void is_exact_without_losses(void **state)
{
    double slot = 1082 * 8 / 1e8, want, got;
    (void)state;

    /* The published result for this window is 84.4260 Mbit/s. */
    got = limit(500, 100000000, 0, 0, 5900000);
    assert_true(got > 84.4259 && got < 84.4261);
    /* The window holds a hundred segments: nine round trips of them, then 77 segments, the last of
     * 576 bytes. */
    want = 8.0 / (2 * 0.5 + 9 * (0.5 + slot) + 76 * slot + (1000000 - 976 * 1024 + 58) * 8 / 1e8);
    got = limit(500, 1000000, 0, 0, 102400);
    assert_true(got > want * 0.999999 && got < want * 1.000001);
    /* One segment is sent in a round trip, even if the window is smaller than a segment. */
    want = 0.08192 / (2 * 0.5 + 9 * (0.5 + slot) + slot);
    got = limit(500, 10240, 0, 0, 1024);
    assert_true(got > want * 0.999999 && got < want * 1.000001);
    assert_true(limit(500, 10240, 0, 0, 10) == got);
}

static void a_window_that_does_not_hold_changes_nothing(void **state)
{
    struct scps_link_config c = line(250, 1e-6);
    double open = scps_link_limit(&c, &c, 10000000, 1024, 40, 80000000) / 1e6;
    (void)state;

    assert_true(limit(250, 10000000, 1e-6, 80000000, 0) == open);
    assert_true(limit(250, 10000000, 1e-6, 80000000, 10000000) == open);
    /* The window is just too small, so the transfer is simulated; its result is near that without a
     * window. */
    double held = limit(250, 10000000, 1e-6, 80000000, 9999000);
    assert_true(held > open * 0.99 && held < open * 1.01);
    /* A second call returns the same value, and a smaller window a smaller value. */
    assert_true(limit(250, 10000000, 1e-6, 80000000, 9999000) == held);
    double last = held;
    for (uint64_t w = 4000000; w > 20000; w /= 2) {
        held = limit(250, 10000000, 1e-6, 80000000, w);
        assert_true(held > 0 && held < last);
        last = held;
    }
}

static void links_with_limit_zero(void **state)
{
    struct scps_link_config free = {0}, dead = {.rate_bps = 1000, .loss = 1},
                            far = {.delay = 500000};
    (void)state;

    assert_true(scps_link_limit_window(&free, &free, 10000, 1024, 40, 0, 5000, 0) == 0);
    assert_true(scps_link_limit_window(&dead, &free, 10000, 1024, 40, 0, 5000, 0) == 0);
    assert_true(scps_link_limit_window(&free, &free, 0, 1024, 40, 0, 5000, 0) == 0);
    /* The memory for this window (33 octets a segment) cannot be counted in 64 bits: the function
     * must return 0, not compute with the wrapped size. */
    struct scps_link_config lossy = {.rate_bps = 1000000, .loss = 0.1};
    uint64_t all = UINT64_MAX / 33 + 1;
    assert_true(scps_link_limit_window(&lossy, &free, 2 * all, 1, 40, 0, all, 0) == 0);
    /* No rate, but a delay of 0.5 s one way: two segments in a round trip, four round trips, and
     * the handshake. */
    double got = scps_link_limit_window(&far, &free, 8192, 1024, 40, 0, 2048, 0);
    assert_true(got > 65536 / 2.5 * 0.999999 && got < 65536 / 2.5 * 1.000001);
}

/* In a window of one segment each segment is acknowledged at the next expiry of the receiver's
 * timer. */
static void waits_for_the_timer(void **state)
{
    struct scps_link_config c = line(100, 0);
    (void)state;

    /* The handshake takes 0.1 s; the first segment is acknowledged 200 ms after it and each further
     * one 200 ms later, and 0.1 s are spent on the way. */
    double seconds = 0.1 + 0.3 + 9 * 0.2;
    double got = scps_link_limit_window(&c, &c, 10240, 1024, 40, 0, 1024, SCPS_MS(200));
    assert_true(got > 81920 / seconds * 0.999999 && got < 81920 / seconds * 1.000001);
    /* The transfer is never faster than with immediate acknowledgements, and with a large window at
     * most one timer period slower. */
    double wide = 8e7 / scps_link_limit_window(&c, &c, 10000000, 1024, 40, 0, 0, SCPS_MS(200)),
           at_once = 8e7 / scps_link_limit(&c, &c, 10000000, 1024, 40, 0);
    assert_true(wide >= at_once && wide <= at_once + 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_packet_level_model),
        cmocka_unit_test(is_exact_without_losses),
        cmocka_unit_test(a_window_that_does_not_hold_changes_nothing),
        cmocka_unit_test(links_with_limit_zero),
        cmocka_unit_test(waits_for_the_timer),
    };
    return cmocka_run_group_tests_name("limitwin", tests, NULL, NULL);
}
