/* SPDX-License-Identifier: MIT */
/* The cause of losses, and the reports of damage to the peer, without a connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/cause.h"
#include "core/corruption.h"

static void holds_until(void **state)
{
    struct scps_env env = {.now = 10};
    struct scps_shared_config cfg = {.c = {.loss_cause = SCPS_LOSS_CONGESTION}};
    struct scps_conn_ctx x = {.env = &env, .cfg = &cfg};
    struct scps_cause cause = {0};
    (void)state;

    assert_int_equal(scps_cause_now(NULL, &x), SCPS_LOSS_CONGESTION);
    assert_int_equal(scps_cause_now(&cause, &x), SCPS_LOSS_CONGESTION);
    scps_cause_set(&cause, SCPS_LOSS_CORRUPTION, 20);
    assert_int_equal(scps_cause_now(&cause, &x), SCPS_LOSS_CORRUPTION);
    env.now = 20;
    assert_int_equal(scps_cause_now(&cause, &x), SCPS_LOSS_CONGESTION);
    cfg.c.loss_cause = SCPS_LOSS_CORRUPTION;
    assert_int_equal(scps_cause_now(&cause, &x), SCPS_LOSS_CORRUPTION);
}

static void three_acknowledgements(void **state)
{
    struct scps_corruption co = {0};
    struct scps_rtt rtt = {.srtt = 100, .rto = 1000};
    (void)state;

    assert_false(scps_corruption_must_send(&co, 0));
    /* For one round trip (100 µs) each acknowledgement reports the damage to the peer. */
    scps_corruption_felt(&co, &rtt, 10, 0);
    for (int i = 0; i < 5; i++)
        assert_true(scps_corruption_must_send(&co, 109));
    assert_false(scps_corruption_must_send(&co, 110));
    /* The time to report damage (`until`, 150 µs) is over at 200 µs: three acknowledgements report
     * it all the same. */
    scps_corruption_felt(&co, &rtt, 200, 150);
    for (int i = 0; i < 3; i++)
        assert_true(scps_corruption_must_send(&co, 300));
    assert_false(scps_corruption_must_send(&co, 300));
}

static void no_round_trip_known(void **state)
{
    struct scps_corruption co = {0};
    struct scps_rtt rtt = {.rto = 1000};
    (void)state;

    scps_corruption_felt(&co, &rtt, 0, 0);
    assert_int_equal(co.until, 1000);
    /* An earlier `until` does not replace a later one. */
    scps_corruption_felt(&co, &rtt, 0, 500);
    assert_int_equal(co.until, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_until),
        cmocka_unit_test(three_acknowledgements),
        cmocka_unit_test(no_round_trip_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
