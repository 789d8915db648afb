/* SPDX-License-Identifier: MIT */
/* The round-trip estimator by itself, against RFC 6298 section 2. */
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

/* RFC 6298 (2.2) and (2.3), with the margin bounded below instead of the sum. */
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
    assert_int_equal(r.rto, SCPS_SEC(3)); /* 4 * rttvar is the margin */
    scps_rtt_limits(&r, SCPS_SEC(5), MAX);
    assert_int_equal(r.rto, SCPS_SEC(6)); /* the least margin */
    scps_rtt_limits(&r, MIN, SCPS_MS(100));
    assert_int_equal(r.rto, SCPS_SEC(2)); /* two round trips, whatever the largest is */
    for (int i = 0; i < 200; i++)
        scps_rtt_sample(&r, i, SCPS_SEC(86400), MIN, MAX, WINDOW);
    assert_int_equal(r.rto, SCPS_SEC(3600)); /* no longer than an hour is believed of a queue */
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
    scps_rtt_limits(&r, SCPS_SEC(9), SCPS_SEC(9)); /* nothing is measured yet */
    assert_int_equal(r.rto, SCPS_SEC(2));
    scps_rtt_sample(&r, 0, 1000, MIN, MAX, WINDOW);
    scps_rtt_initial(&r, SCPS_SEC(9));
    assert_int_equal(r.rto, 1000 + MIN);
}

/* The minimum of this window and of the last one. */
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
    assert_int_equal(r.srtt, 100); /* the floor alone has heard it */
    scps_rtt_floor(&r, WINDOW + 1, 300, WINDOW);
    assert_int_equal(scps_rtt_min(&r), 90);
    scps_rtt_floor(&r, 2 * WINDOW + 2, 300, WINDOW);
    assert_int_equal(scps_rtt_min(&r), 300);
}

static void another_path(void **state)
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

/* RFC 6298's clock granularity: an echo of a time stamp may be a tick too short. It does not set
 * the minimum, and the echo of this same tick is no round trip of 0. */
static void by_a_clock_of_milliseconds(void **state)
{
    struct scps_rtt r;
    (void)state;

    scps_rtt_init(&r, SCPS_SEC(1));
    assert_int_equal(scps_rtt_by_clock(&r, 0, SCPS_MS(1), MIN, MAX), SCPS_MS(1));
    assert_int_equal(r.srtt, SCPS_MS(1));
    assert_int_equal(scps_rtt_min(&r), 0); /* none is known yet */
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
        cmocka_unit_test(timeout_before_a_sample),
        cmocka_unit_test(minimum_ages),
        cmocka_unit_test(another_path),
        cmocka_unit_test(by_a_clock_of_milliseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
