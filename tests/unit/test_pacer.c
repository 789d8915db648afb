/* SPDX-License-Identifier: MIT */
/* The token bucket: exact in the long run, whole packets only, a burst of at most its size. */
#include "core/pacer.h"

#include "cmocka_all.h"

static void without_a_rate(void **state)
{
    struct scps_pacer p = {0};
    (void)state;

    scps_pacer_spend(&p, UINT32_MAX);
    assert_int_equal(scps_pacer_when(&p, 77, 1500), 77);
}

/* A third of a byte each microsecond: packets leave at whole microseconds, and none of the
 * fractions is lost. */
static void exact(void **state)
{
    static const scps_time leaves[] = {333334, 666667, 1000000, 1333334, 1666667, 2000000};
    struct scps_pacer p = {0};
    scps_time now = 0;
    (void)state;

    scps_pacer_set(&p, 0, 3, 2);
    scps_pacer_spend(&p, 2); /* The bucket is full at first. */
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        now = scps_pacer_when(&p, now, 1);
        assert_int_equal(now, leaves[i]);
        assert_int_equal(scps_pacer_when(&p, now, 1), now);
        scps_pacer_spend(&p, 1);
    }
}

/* What is saved while nothing is sent is at most the size of the bucket. */
static void burst(void **state)
{
    struct scps_pacer p = {0};
    (void)state;

    scps_pacer_set(&p, 0, 1000, 500);
    assert_true(scps_pacer_covers(&p, 500));
    assert_false(scps_pacer_covers(&p, 501));
    scps_pacer_spend(&p, 500);
    assert_int_equal(scps_pacer_when(&p, 0, 500), SCPS_MS(500));
    scps_pacer_earn(&p, SCPS_MS(200));
    assert_true(scps_pacer_covers(&p, 200));
    assert_false(scps_pacer_covers(&p, 201));
    scps_pacer_earn(&p, SCPS_SEC(100));
    assert_true(scps_pacer_covers(&p, 500));
    assert_false(scps_pacer_covers(&p, 501));
    /* A time that has passed already adds nothing. */
    scps_pacer_spend(&p, 500);
    scps_pacer_earn(&p, SCPS_SEC(99));
    assert_false(scps_pacer_covers(&p, 1));
}

/* A packet larger than the bucket leaves when the bucket is full, and the rate makes up for the
 * rest, unless that is forgiven. */
static void larger_than_the_bucket(void **state)
{
    struct scps_pacer p = {0};
    (void)state;

    scps_pacer_set(&p, 0, 100, 100);
    assert_int_equal(scps_pacer_when(&p, 0, 250), 0);
    scps_pacer_spend(&p, 250);
    assert_int_equal(scps_pacer_when(&p, 0, 100), SCPS_MS(2500));
    assert_int_equal(scps_pacer_when(&p, 0, 250), SCPS_MS(2500));
    scps_pacer_forgive(&p);
    assert_int_equal(scps_pacer_when(&p, 0, 100), SCPS_SEC(1));
}

/* A change of the rate neither fills the bucket nor keeps more than the new size. */
static void changes(void **state)
{
    struct scps_pacer p = {0};
    (void)state;

    scps_pacer_set(&p, 0, 1000, 1000);
    scps_pacer_spend(&p, 1000);
    scps_pacer_set(&p, SCPS_MS(100), 10, 1000); /* 100 bytes were earned at the former rate. */
    assert_true(scps_pacer_covers(&p, 100));
    assert_false(scps_pacer_covers(&p, 101));
    scps_pacer_set(&p, SCPS_MS(100), 10, 40);
    assert_true(scps_pacer_covers(&p, 40));
    assert_false(scps_pacer_covers(&p, 41));
}

/* A packet may overdraw the bucket by a debt, and may be refunded, up to a full bucket. */
static void lends(void **state)
{
    struct scps_pacer p = {0};
    (void)state;

    scps_pacer_set(&p, 0, 100, 100);
    assert_true(scps_pacer_lends(&p, 100, 0));
    assert_true(scps_pacer_lends(&p, 250, 0)); /* A full bucket permits any packet. */
    scps_pacer_spend(&p, 100);
    assert_false(scps_pacer_lends(&p, 1, 0));
    assert_true(scps_pacer_lends(&p, 80, 80));
    assert_false(scps_pacer_lends(&p, 81, 80));
    scps_pacer_spend(&p, 80);
    assert_false(scps_pacer_lends(&p, 80, 80));
    scps_pacer_refund(&p, 80);
    assert_true(scps_pacer_lends(&p, 80, 80));
    scps_pacer_refund(&p, 80);
    scps_pacer_refund(&p, 80);
    assert_true(scps_pacer_covers(&p, 100));
    assert_false(scps_pacer_covers(&p, 101));
}

/* The largest rate over any time overflows nothing. */
static void extremes(void **state)
{
    struct scps_pacer p = {0};
    (void)state;

    scps_pacer_set(&p, 0, SCPS_RATE_MAX, UINT32_MAX);
    scps_pacer_spend(&p, UINT32_MAX);
    assert_int_equal(scps_pacer_when(&p, 0, UINT32_MAX), 489);
    scps_pacer_earn(&p, SCPS_NEVER / 2);
    assert_true(scps_pacer_covers(&p, UINT32_MAX));
    scps_pacer_set(&p, SCPS_NEVER / 2, 1, UINT32_MAX);
    scps_pacer_spend(&p, UINT32_MAX);
    assert_int_equal(scps_pacer_when(&p, SCPS_NEVER / 2, UINT32_MAX) - SCPS_NEVER / 2,
                     SCPS_SEC(UINT32_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_rate), cmocka_unit_test(exact),
        cmocka_unit_test(burst),          cmocka_unit_test(larger_than_the_bucket),
        cmocka_unit_test(changes),        cmocka_unit_test(extremes),
        cmocka_unit_test(lends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
