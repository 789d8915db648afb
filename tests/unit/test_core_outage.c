/* SPDX-License-Identifier: MIT */
/* core/outage.c: when probes are sent during a link outage, and when a connection may end in
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/outage.h"

/* docs/SCPS-TP.md section 3.5: the probes are sent 5, 6, 12, 24, 48, 60, 60 ... s apart, but no
 * further apart than the second argument. */
static void intervals_of_probes(void **state)
{
    static const int want[] = {5, 6, 12, 24, 48, 60, 60};
    struct scps_outage o;

    (void)state;
    scps_outage_init(&o, false, false);
    for (unsigned i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(scps_outage_interval(&o, SCPS_SEC(3600)), SCPS_SEC(want[i]));
        assert_int_equal(scps_outage_interval(&o, SCPS_SEC(7)),
                         SCPS_SEC(want[i] < 7 ? want[i] : 7));
        scps_outage_probed(&o);
    }
    for (int i = 0; i < 1000; i++) /* The count of probes must not wrap to 0. */
        scps_outage_probed(&o);
    assert_int_equal(o.probes, SCPS_OUTAGE_PROBES_MAX);
    assert_int_equal(scps_outage_interval(&o, SCPS_SEC(3600)), SCPS_SEC(60));
}

/* A connection that the application has closed ends after 32 probes of an inferred outage, and does
 * not end in an outage that the link has signalled. */
static void a_closed_connection_sends_32_probes(void **state)
{
    struct scps_outage o;

    (void)state;
    scps_outage_init(&o, false, true);
    for (int i = 0; i < 32; i++) {
        assert_false(scps_outage_may_end(&o));
        scps_outage_probed(&o);
    }
    assert_true(scps_outage_may_end(&o));
    /* The link's signal confirms the inferred outage, so only a signal ends it. */
    scps_outage_reported(&o, false);
    assert_false(scps_outage_may_end(&o));
    assert_false(o.end_known);
    scps_outage_ends(&o);
    assert_true(o.end_known);
    assert_int_equal(o.probes, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_probes),
        cmocka_unit_test(a_closed_connection_sends_32_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
