/* SPDX-License-Identifier: MIT */
/* core/rtt.c, the round-trip estimator, compared with RFC 6298 section 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/rtt.h"

#define MIN    SCPS_MS(10)
#define MAX    SCPS_SEC(60)
#define WINDOW SCPS_SEC(10)

/* RFC 6298 (2.2) and (2.3); not the sum, but the margin above SRTT has a lower bound. */
static void samples(void **state)
{
    struct scps_rtt r;
    (void)state;

    scps_rtt_init(&r, SCPS_SEC(1));
    assert_int_equal(r.rto, SCPS_SEC(1));
    scps_rtt_sample(&r, 0, 800, MIN, MAX, WINDOW);
    assert_int_equal(r.srtt, 800);
    assert_int_equal(r.rttvar, 400);
    assert_int_equal(r.rto, 800 + MIN);
    scps_rtt_sample(&r, 1, 1600, MIN, MAX, WINDOW);
    assert_int_equal(r.rttvar, 400 + (800 - 400) / 4);
    assert_int_equal(r.srtt, 800 + 800 / 8);
}

static void least_and_largest_timeout(void **state)
{
    struct scps_rtt r;
    (void)state;

    scps_rtt_init(&r, SCPS_SEC(1));
    scps_rtt_sample(&r, 0, SCPS_SEC(1), MIN, MAX, WINDOW);
    assert_int_equal(r.rto, SCPS_SEC(3)); /* The margin is 4 * RTTVAR. */
    scps_rtt_limits(&r, SCPS_SEC(5), MAX);
    assert_int_equal(r.rto, SCPS_SEC(6)); /* The margin is the least one, 5 s. */
    scps_rtt_limits(&r, MIN, SCPS_MS(100));
    /* The RTO is never less than two round trips, even if the largest RTO is. */
    assert_int_equal(r.rto, SCPS_SEC(2));
    for (int i = 0; i < 200; i++)
        scps_rtt_sample(&r, i, SCPS_SEC(86400), MIN, MAX, WINDOW);
    assert_int_equal(r.rto, SCPS_SEC(3600)); /* An RTO of two round trips is at most an hour. */
}

/* After packets were held during an outage, SRTT shows the outage, and the newest sample the path:
 * the window is spread over a time that follows the newest sample. */
static void spread_over_the_newest_sample(void **state)
{
    struct scps_rtt r;
    (void)state;

    scps_rtt_init(&r, SCPS_SEC(1));
    scps_rtt_sample(&r, 0, SCPS_MS(300), MIN, MAX, WINDOW);
    assert_int_equal(scps_rtt_to_spread(&r, 0), SCPS_MS(300)); /* no sample from data yet */
    assert_int_equal(scps_rtt_to_spread(&r, SCPS_MS(150)), SCPS_MS(300));
    assert_int_equal(scps_rtt_to_spread(&r, SCPS_SEC(5)), SCPS_MS(300));
    scps_rtt_sample(&r, 1, SCPS_SEC(800), MIN, MAX, WINDOW);
    assert_int_equal(scps_rtt_to_spread(&r, SCPS_MS(280)), SCPS_MS(560));
}

static void timeout_before_a_sample(void **state)
{
    struct scps_rtt r;
    (void)state;

    scps_rtt_init(&r, SCPS_SEC(1));
    scps_rtt_at_least(&r, SCPS_SEC(3));
    assert_int_equal(r.rto, SCPS_SEC(3));
    scps_rtt_at_least(&r, SCPS_SEC(2));
    assert_int_equal(r.rto, SCPS_SEC(3));
    scps_rtt_initial(&r, SCPS_SEC(2));
    assert_int_equal(r.rto, SCPS_SEC(2));
    /* No round trip has been measured, so the limits have no effect. */
    scps_rtt_limits(&r, SCPS_SEC(9), SCPS_SEC(9));
    assert_int_equal(r.rto, SCPS_SEC(2));
    scps_rtt_sample(&r, 0, 1000, MIN, MAX, WINDOW);
    scps_rtt_initial(&r, SCPS_SEC(9));
    assert_int_equal(r.rto, 1000 + MIN);
}

/* The minimum RTT is that of this window of time and the one before. */
static void minimum_ages(void **state)
{
    struct scps_rtt r;
    (void)state;

    scps_rtt_init(&r, SCPS_SEC(1));
    assert_int_equal(scps_rtt_min(&r), 0);
    scps_rtt_sample(&r, 0, 100, MIN, MAX, WINDOW);
    scps_rtt_floor(&r, 1, 90, WINDOW);
    scps_rtt_floor(&r, 2, 200, WINDOW);
    assert_int_equal(scps_rtt_min(&r), 90);
    assert_int_equal(r.srtt, 100); /* scps_rtt_floor() changes the minimum, not SRTT. */
    scps_rtt_floor(&r, WINDOW + 1, 300, WINDOW);
    assert_int_equal(scps_rtt_min(&r), 90);
    scps_rtt_floor(&r, 2 * WINDOW + 2, 300, WINDOW);
    assert_int_equal(scps_rtt_min(&r), 300);
}

static void a_path_change_replaces_the_samples(void **state)
{
    struct scps_rtt r;
    (void)state;

    scps_rtt_init(&r, SCPS_SEC(1));
    scps_rtt_sample(&r, 0, 100, MIN, MAX, WINDOW);
    scps_rtt_path(&r, SCPS_SEC(2), MIN, MAX);
    assert_int_equal(scps_rtt_min(&r), 0);
    assert_int_equal(r.srtt, SCPS_SEC(2));
    assert_int_equal(r.rttvar, SCPS_SEC(1));
    assert_int_equal(r.rto, SCPS_SEC(6));
}

/* RFC 6298 section 2 (clock granularity G): the RTT from a time stamp may be one tick too short, so
 * it does not set the minimum; an echo within the same tick is not an RTT of 0. */
static void by_a_clock_of_milliseconds(void **state)
{
    struct scps_rtt r;
    (void)state;

    scps_rtt_init(&r, SCPS_SEC(1));
    assert_int_equal(scps_rtt_by_clock(&r, 0, SCPS_MS(1), MIN, MAX), SCPS_MS(1));
    assert_int_equal(r.srtt, SCPS_MS(1));
    assert_int_equal(scps_rtt_min(&r), 0); /* No minimum is known yet. */
    scps_rtt_init(&r, SCPS_SEC(1));
    scps_rtt_sample(&r, 0, 202, MIN, MAX, WINDOW);
    assert_int_equal(scps_rtt_by_clock(&r, 0, SCPS_MS(1), MIN, MAX), 202);
    assert_int_equal(r.srtt, 202);
    assert_int_equal(scps_rtt_min(&r), 202);
    scps_rtt_init(&r, SCPS_SEC(1));
    scps_rtt_sample(&r, 0, 3900, MIN, MAX, WINDOW);
    assert_int_equal(scps_rtt_by_clock(&r, 3000, SCPS_MS(1), MIN, MAX), 3000);
    assert_int_equal(r.srtt, 3900 - 900 / 8);
    assert_int_equal(scps_rtt_min(&r), 3900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(least_and_largest_timeout),
        cmocka_unit_test(spread_over_the_newest_sample),
        cmocka_unit_test(timeout_before_a_sample),
        cmocka_unit_test(minimum_ages),
        cmocka_unit_test(a_path_change_replaces_the_samples),
        cmocka_unit_test(by_a_clock_of_milliseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
