/* SPDX-License-Identifier: MIT */
/* The rate at which connections and datagrams use a netif: periods of at least one second, the
 * highest recent one, and what framing adds. */
#include "stack/usage.h"

#include "cmocka_all.h"

static void send(struct scps_usage *u, unsigned packets, size_t len)
{
    while (packets--)
        scps_usage_sent(u, len);
}

static void periods(void **state)
{
    const scps_time up = SCPS_SEC(100000); /* The host has run for long when the netif comes. */
    struct scps_usage u;
    (void)state;

    scps_usage_begin(&u, up);
    send(&u, 10, 1000);
    assert_int_equal(scps_usage_rate(&u, up + SCPS_SEC(1) - 1, 0), 0);
    assert_int_equal(scps_usage_rate(&u, up + SCPS_SEC(2), 0), 5000);
    assert_int_equal(u.bytes, 10000);
    assert_int_equal(u.packets, 10);
    /* The next period begins where the last one ended. */
    send(&u, 30, 1000);
    assert_int_equal(scps_usage_rate(&u, up + SCPS_SEC(3) - 1, 0), 5000);
    assert_int_equal(scps_usage_rate(&u, up + SCPS_SEC(3), 0), 30000);
}

static void framing(void **state)
{
    struct scps_usage u;
    (void)state;

    scps_usage_begin(&u, 0);
    send(&u, 10, 1000);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(1), 50), 10500);
    /* A device may change its framing: that concerns the packets since then. */
    send(&u, 10, 1000);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(2), 500), 15000);
}

static void forgets(void **state)
{
    struct scps_usage u;
    (void)state;

    scps_usage_begin(&u, 0);
    send(&u, 64, 1000);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(1), 0), 64000);
    /* A second without a packet takes one part in 64. */
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(2), 0), 63000);
    send(&u, 10, 1000);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(3), 0), 63000 - 984);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(66), 0), 62016 - 62016 * 63 / 64);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(130), 0), 0);
    /* Long silence does not go below nothing. */
    send(&u, 10, 1000);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(131), 0), 10000);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(1000), 0), 0);
}

/* SYN-ACKs of half-open connections count neither as traffic nor as a reason not to be silent. */
static void left_out(void **state)
{
    struct scps_usage u;
    (void)state;

    scps_usage_begin(&u, 0);
    send(&u, 10, 1000);
    for (int i = 0; i < 5; i++) {
        send(&u, 1, 60);
        scps_usage_leave_out(&u, 60);
    }
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(1), 0), 10000);
    assert_int_equal(u.packets, 15);
    send(&u, 1, 60);
    scps_usage_leave_out(&u, 60);
    assert_int_equal(scps_usage_rate(&u, SCPS_SEC(64), 50), 10000 - 10000 * 63 / 64);
    assert_false(scps_usage_silent(&u));
    scps_usage_rate(&u, SCPS_SEC(65), 0);
    assert_true(scps_usage_silent(&u));
    send(&u, 1, 40);
    scps_usage_rate(&u, SCPS_SEC(66), 0);
    assert_false(scps_usage_silent(&u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periods),
        cmocka_unit_test(framing),
        cmocka_unit_test(forgets),
        cmocka_unit_test(left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
