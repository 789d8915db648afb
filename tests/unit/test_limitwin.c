/* SPDX-License-Identifier: MIT */
/* The physical limit under a window: against an independent packet-level model of the same sender,
 * against its exact values, and where it must meet the limit without a window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <scps/sim.h>

/* 1024-byte payload, 40 bytes of headers, 18 of framing that is not at risk */
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
        /* their scatter at three sigma, and one per cent for ours */
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

    /* the published model's cell: 84.4260 Mbit/s */
    got = limit(500, 100000000, 0, 0, 5900000);
    assert_true(got > 84.4259 && got < 84.4261);
    /* a hundred segments a round: nine rounds, then 77 segments, the last of 576 bytes */
    want = 8.0 / (2 * 0.5 + 9 * (0.5 + slot) + 76 * slot + (1000000 - 976 * 1024 + 58) * 8 / 1e8);
    got = limit(500, 1000000, 0, 0, 102400);
    assert_true(got > want * 0.999999 && got < want * 1.000001);
    /* one segment at a time, even when the window has not room for one */
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
    /* just too small: simulated, and near it */
    double held = limit(250, 10000000, 1e-6, 80000000, 9999000);
    assert_true(held > open * 0.99 && held < open * 1.01);
    /* the same each time, and less with less */
    assert_true(limit(250, 10000000, 1e-6, 80000000, 9999000) == held);
    double last = held;
    for (uint64_t w = 4000000; w > 20000; w /= 2) {
        held = limit(250, 10000000, 1e-6, 80000000, w);
        assert_true(held > 0 && held < last);
        last = held;
    }
}

static void the_edges_are_numbers(void **state)
{
    struct scps_link_config free = {0}, dead = {.rate_bps = 1000, .loss = 1},
                            far = {.delay = 500000};
    (void)state;

    assert_true(scps_link_limit_window(&free, &free, 10000, 1024, 40, 0, 5000, 0) == 0);
    assert_true(scps_link_limit_window(&dead, &free, 10000, 1024, 40, 0, 5000, 0) == 0);
    assert_true(scps_link_limit_window(&free, &free, 0, 1024, 40, 0, 5000, 0) == 0);
    /* no rate, but a delay: two segments a round trip, four rounds, and the handshake */
    /* a window whose memory cannot be counted in 64 bits, at 33 octets a segment: none, not the
     * little that wraps */
    struct scps_link_config lossy = {.rate_bps = 1000000, .loss = 0.1};
    uint64_t all = UINT64_MAX / 33 + 1;
    assert_true(scps_link_limit_window(&lossy, &free, 2 * all, 1, 40, 0, all, 0) == 0);
    double got = scps_link_limit_window(&far, &free, 8192, 1024, 40, 0, 2048, 0);
    assert_true(got > 65536 / 2.5 * 0.999999 && got < 65536 / 2.5 * 1.000001);
}

/* One segment a timer, of which each waits for the next multiple of it */
static void waits_for_the_timer(void **state)
{
    struct scps_link_config c = line(100, 0);
    (void)state;

    /* the handshake; the first is told of after 200 ms, and each other 200 ms later: 100 of them on
     * the way */
    double seconds = 0.1 + 0.3 + 9 * 0.2;
    double got = scps_link_limit_window(&c, &c, 10240, 1024, 40, 0, 1024, SCPS_MS(200));
    assert_true(got > 81920 / seconds * 0.999999 && got < 81920 / seconds * 1.000001);
    /* never faster than with answers at once, nor, with a wide window, slower by more than one turn
     * of the timer */
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
        cmocka_unit_test(the_edges_are_numbers),
        cmocka_unit_test(waits_for_the_timer),
    };
    return cmocka_run_group_tests_name("limitwin", tests, NULL, NULL);
}
