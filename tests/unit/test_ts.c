/* SPDX-License-Identifier: MIT */
/* core/ts.c: PAWS (RFC 7323 section 5), which time stamp is echoed, and the age of an echo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/ts.h"

#define DAY (INT64_C(86400) * 1000000)

static void paws(void **state)
{
    struct scps_ts t = {0};
    struct scps_seg seg = {.tsval = 999};
    (void)state;

    scps_ts_take(&t, 1000, 50);
    assert_true(scps_ts_rejects(&t, &seg, 60));
    seg.flags = SCPS_RST; /* RFC 7323 section 5.2: a reset is not subjected to PAWS */
    assert_false(scps_ts_rejects(&t, &seg, 60));
    seg.flags = SCPS_ACK;
    seg.tsval = 1000;
    assert_false(scps_ts_rejects(&t, &seg, 60));
    /* The time stamp is half of the 32-bit space ahead, still newer after a wrap. */
    seg.tsval = 1000u + INT32_MAX;
    assert_false(scps_ts_rejects(&t, &seg, 60));
    seg.tsval++;
    assert_true(scps_ts_rejects(&t, &seg, 60));
}

static void outdated_after_24_days(void **state)
{
    struct scps_ts t = {0};
    struct scps_seg seg = {.tsval = 999};
    (void)state;

    scps_ts_take(&t, 1000, 0);
    assert_true(scps_ts_rejects(&t, &seg, 23 * DAY));
    assert_false(scps_ts_rejects(&t, &seg, 25 * DAY));
}

static void age_of_an_echo(void **state)
{
    struct scps_ts t = {0};
    uint32_t left;
    (void)state;

    scps_ts_begin(&t, UINT32_MAX - 1); /* The clock wraps to 0 meanwhile. */
    left = scps_ts_value(&t, SCPS_MS(1));
    assert_int_equal(scps_ts_age(&t, left, SCPS_MS(6)), SCPS_MS(5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paws),
        cmocka_unit_test(outdated_after_24_days),
        cmocka_unit_test(age_of_an_echo),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
