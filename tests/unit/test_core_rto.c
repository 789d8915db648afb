/* SPDX-License-Identifier: MIT */
/* The backoff that the retransmission timer keeps until a round trip is measured (RFC 6298 sections
 * 5.5 and 5.7), without a connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/rto.h"

/* Karn's algorithm: the backed-off timeout is kept until a round trip is measured, not only until
 * an acknowledgement arrives. */
static void kept_until_measured(void **state)
{
    struct scps_rto r = {.kept = 0};
    (void)state;

    for (unsigned i = 0; i < 40; i++)
        scps_rto_keep(&r);
    /* A shift by more than 30 bits would overflow the type of a timeout. */
    assert_int_equal(r.kept, 30);
    scps_rto_measured(&r, 1234);
    assert_int_equal(r.kept, 0);
    assert_int_equal(r.latest, 1234);
}

/* RFC 6298 section 5.5: "The host MUST set RTO <- RTO * 2". The end of an outage that a signal
 * reported, and of the first one that was inferred, says that the timeouts had another cause;
 * further inferred ones do not. */
static void outages(void **state)
{
    struct scps_rto r = {.kept = 3, .latest = 77};
    (void)state;

    scps_rto_outage_over(&r, true);
    assert_int_equal(r.kept, 0);
    assert_int_equal(r.latest, 77);
    scps_rto_keep(&r);
    scps_rto_outage_over(&r, true);
    assert_int_equal(r.kept, 1);
    scps_rto_outage_over(&r, false);
    assert_int_equal(r.kept, 0);
    scps_rto_keep(&r);
    scps_rto_outage_over(&r, true); /* The signal has begun a new count. */
    assert_int_equal(r.kept, 0);
    scps_rto_keep(&r);
    scps_rto_measured(&r, 80); /* A measured round trip begins a new count, too. */
    scps_rto_keep(&r);
    scps_rto_outage_over(&r, true);
    assert_int_equal(r.kept, 0);
}

/* The number of timeouts before which data has arrived begins anew with a measured round trip and
 * with the end of an outage, and does not overflow. */
static void answered(void **state)
{
    struct scps_rto r = {.answered = 0};
    (void)state;

    for (unsigned i = 0; i < 100; i++)
        scps_rto_count_answered(&r);
    assert_int_equal(r.answered, 63);
    scps_rto_measured(&r, 1234);
    assert_int_equal(r.answered, 0);
    scps_rto_count_answered(&r);
    scps_rto_outage_over(&r, false);
    assert_int_equal(r.answered, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_until_measured),
        cmocka_unit_test(outages),
        cmocka_unit_test(answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
