/* SPDX-License-Identifier: MIT */
/* The counters of the retransmission timer without a connection (RFC 6298 sections 5.5 and 5.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/rto.h"

/* The counters of timeouts are as wide as the limits of a configuration (16 bits), and stop at
 * their largest value. */
static void counts_beyond_an_octet(void **state)
{
    struct scps_rto r = {.backoff = 0};
    (void)state;

    for (unsigned i = 1; i <= 300; i++) {
        scps_rto_back_off(&r);
        assert_int_equal(r.backoff, i);
    }
    r.backoff = UINT16_MAX;
    scps_rto_back_off(&r);
    assert_int_equal(r.backoff, UINT16_MAX);
    scps_rto_answered(&r);
    assert_int_equal(r.backoff, 0);
}

/* Karn's algorithm: the backed-off timeout is kept until a round trip is measured, not only until
 * an acknowledgement arrives. */
static void kept_until_measured(void **state)
{
    struct scps_rto r = {.backoff = 0};
    (void)state;

    for (unsigned i = 0; i < 40; i++)
        scps_rto_keep(&r);
    /* A shift by more than 30 bits would overflow the type of a timeout. */
    assert_int_equal(r.kept, 30);
    scps_rto_answered(&r);
    assert_int_equal(r.kept, 30);
    scps_rto_measured(&r, 1234);
    assert_int_equal(r.kept, 0);
    assert_int_equal(r.latest, 1234);
    scps_rto_back_off(&r);
    scps_rto_anew(&r, 0);
    assert_int_equal(r.backoff, 0);
    assert_int_equal(r.latest, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_beyond_an_octet),
        cmocka_unit_test(kept_until_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
