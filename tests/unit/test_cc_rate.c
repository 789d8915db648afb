/* SPDX-License-Identifier: MIT */
/* cc/rate.c (pure rate control): nothing but the configured rate changes the rate and the window
 * that it sets. */
#include "cc_table.h"

#include <scps/error.h>

static void no_event_changes_the_rate(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "rate", .conf_rate = 10000000);
    assert_true(t.ctl.cwnd == SCPS_CWND_OPEN);
    assert_int_equal(t.ctl.rate, 10000000);
    static const struct cc_row rows[] = {
        {CC_ACK, .bytes = 1000, .cwnd = SCPS_CWND_OPEN, .rate = 10000000},
        {CC_LOSS, .bytes = 500000, .fresh = true, .cwnd = SCPS_CWND_OPEN, .rate = 10000000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cwnd = SCPS_CWND_OPEN, .rate = 10000000},
        {CC_CHANGE, .what = SCPS_CC_IDLE, .cwnd = SCPS_CWND_OPEN, .rate = 10000000},
        {CC_CHANGE, .what = SCPS_CC_PATH, .cwnd = SCPS_CWND_OPEN, .ssthresh = UINT64_MAX},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

static void a_new_rate_applies_from_the_next_event(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "rate", .conf_rate = 10000000);
    t.v.conf_rate = 2500;
    static const struct cc_row rows[] = {{CC_CHANGE, .what = SCPS_CC_LINK_UP, .rate = 2500}};
    cc_play(&t, rows, CC_ROWS(rows));
}

static void a_rate_is_required(void **state)
{
    (void)state;
    assert_true(scps_cc_find("rate")->needs_rate);
    assert_false(scps_cc_find("vj")->needs_rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_event_changes_the_rate),
        cmocka_unit_test(a_new_rate_applies_from_the_next_event),
        cmocka_unit_test(a_rate_is_required),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
