/* SPDX-License-Identifier: MIT */
/* A new configuration of an open connection (scps_conn_set_config): what waits under the old one
 * waits no longer than under the new one. */
#include "script.h"

/* Runs until `at`, and sets the field of the configuration in force to the value. */
#define app_sets(t, when, field, value)                                                            \
    do {                                                                                           \
        struct scps_conn_config cfg_;                                                              \
        script_run(t, when);                                                                       \
        scps_conn_get_config((t)->c, &cfg_);                                                       \
        cfg_.field = value;                                                                        \
        assert_int_equal(scps_conn_set_config((t)->c, &cfg_), 0);                                  \
    } while (0)

/* A writer that was refused room (SCPS_ERR_AGAIN) is informed when a larger send buffer has room,
 * although the peer's window is closed and nothing is acknowledged. */
static void a_larger_send_buffer(void **x)
{
    struct script *t = script_of(x);
    t->cfg.sndbuf = 2000;
    t->peer_wnd = 1000;
    script_established(t, MS(100));
    script_forget_events(t);
    app_writes(t, MS(200), 2000);
    expect_sent(t, .from = 1, .len = 1000);
    peer_says(t, MS(300), .ack = 1001, .wnd = ZERO);
    script_forget_events(t);
    app_writes(t, MS(300), 1000);
    assert_int_equal(scps_conn_write(t->c, "x", 1, 0), SCPS_ERR_AGAIN);
    app_sets(t, MS(310), sndbuf, 2000);
    expect_no_event(t);
    app_sets(t, MS(320), sndbuf, 2001);
    expect_event(t, SCPS_EV_WRITABLE);
    expect_no_event(t);
    assert_int_equal(scps_conn_writable(t->c), 1);
    script_free(t);
}

/* A window that is closed because the receive buffer is full opens when the buffer becomes larger:
 * the peer need not probe it (RFC 9293 section 3.8.6.2.2). */
static void a_larger_receive_buffer(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 2000;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .at = MS(200), .ack = 2001, .wnd = ZERO);
    app_sets(t, MS(300), rcvbuf, 2000);
    expect_quiet(t, SCPS_HOLD_APP);
    app_sets(t, MS(310), rcvbuf, 5000);
    expect_sent(t, .at = MS(310), .ack = 2001, .wnd = 3000);
    script_forget_events(t);
    script_skip(t, 0);
    app_reads(t, MS(320), 2000);
    script_forget_sent(t);
    script_free(t);
}

/* Returns a connection whose data, sent at 1 s, is not acknowledged: the retransmission timer has
 * expired three times and backed off to 2.4 s, the last time at 3.1 s. */
static struct script *backed_off(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(1000), 10);
    expect_sent(t, .at = MS(1000), .from = 1, .len = 10);
    expect_sent(t, .at = MS(1300), .from = 1, .len = 10);
    expect_sent(t, .at = MS(1900), .from = 1, .len = 10);
    expect_sent(t, .at = MS(3100), .from = 1, .len = 10);
    return t;
}

/* RFC 5482: a user timeout below the time that the data has been outstanding ends the connection
 * now, not at the next expiry of a retransmission timer that has backed off. A longer one does not
 * put the timer off, and the connection goes on. */
static void a_shorter_user_timeout(void **x)
{
    struct script *t = backed_off(x);
    script_forget_events(t);
    app_sets(t, MS(3200), user_timeout, SEC(4));
    app_sets(t, MS(3300), user_timeout, SEC(9));
    expect_sent(t, .at = MS(5000), .from = 1, .len = 10);
    expect_no_event(t);
    app_sets(t, MS(5100), user_timeout, SEC(4));
    script_run(t, MS(5100));
    script_forget_sent(t);
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_free(t);
}

/* A shorter rto_max shortens the wait of a timer that has backed off: the application expects that
 * the end of a silence is detected within that time (RFC 6298 section 2.5). The same value again
 * changes nothing. */
static void a_shorter_rto_max(void **x)
{
    struct script *t = backed_off(x);
    app_sets(t, MS(4000), rto_max, SEC(60));
    expect_sent(t, .at = MS(5500), .from = 1, .len = 10);
    app_sets(t, MS(6000), rto_max, MS(500));
    expect_sent(t, .at = MS(6500), .from = 1, .len = 10);
    peer_says(t, MS(6600), .ack = 11);
    script_forget_events(t);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* The SYN is sent again after the new rto_initial at the latest (RFC 6298 section 2.1). */
static void a_shorter_rto_initial(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rto_initial = SEC(20);
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .from = ZERO);
    app_sets(t, SEC(1), rto_initial, SEC(20));
    app_sets(t, SEC(2), rto_initial, SEC(3));
    expect_sent(t, .at = SEC(5), .flags = SCPS_SYN, .from = ZERO);
    script_forget_events(t);
    script_free(t);
}

/* RFC 9293 section 3.8.6.1: the next probe of a closed window comes after persist_max at the
 * latest. */
static void a_shorter_persist_max(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 1000;
    script_established(t, MS(100)); /* The RTO is 300 ms. */
    app_writes(t, MS(200), 2000);
    expect_sent(t, .from = 1, .len = 1000);
    peer_says(t, MS(300), .ack = 1001, .wnd = ZERO);
    script_run(t, SEC(30));
    script_forget_sent(t);
    app_sets(t, SEC(30), persist_max, MS(100));
    expect_sent(t, .at = SEC(30) + MS(100), .from = 1001, .len = 1);
    script_forget_events(t);
    peer_says(t, SEC(30) + MS(150), .ack = 1001, .wnd = ZERO);
    script_run(t, SEC(30) + MS(150));
    script_forget_sent(t);
    script_free(t);
}

/* A delayed acknowledgement waits no longer than the new ack_delay, and with SCPS_ACK_EVERY it
 * leaves at once (RFC 9293 section 3.8.6.3). */
static void a_shorter_ack_delay(void **x)
{
    struct script *t = script_of(x);
    t->cfg.ack_delay = SEC(10);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 100);
    app_sets(t, MS(300), ack_delay, SEC(10));
    app_sets(t, MS(400), ack_delay, MS(50));
    expect_sent(t, .at = MS(450), .ack = 101);
    app_sets(t, MS(500), ack_delay, SEC(10));
    peer_says(t, MS(500), .len = 100);
    app_sets(t, MS(600), ack_mode, SCPS_ACK_EVERY);
    expect_sent(t, .at = MS(600), .ack = 201);
    script_forget_events(t);
    app_reads(t, MS(700), 200);
    script_free(t);
}

static void a_shorter_time_wait(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    script_run(t, MS(200));
    expect_sent(t, .flags = SCPS_FIN | SCPS_ACK, .from = 1);
    peer_says(t, MS(300), .ack = 2, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(300), .ack = 2, .from = 2);
    expect_state(t, SCPS_TIME_WAIT);
    app_sets(t, MS(400), time_wait, SEC(5));
    script_run(t, MS(400) + SEC(5) - 1);
    expect_state(t, SCPS_TIME_WAIT);
    script_run(t, MS(400) + SEC(5));
    expect_state(t, SCPS_CLOSED);
    script_forget_events(t);
    script_free(t);
}

/* The peer is silent from 200 ms on; with outage_after 1 an outage is inferred at 1100 ms. */
static struct script *silent(void **x)
{
    struct script *t = script_of(x);
    t->cfg.outage_after = 1;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    script_run(t, MS(1100));
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    return t;
}

/* During an outage the next probe is sent after rto_max at the latest (docs/SCPS-TP.md section
 * 3.5). */
static void a_shorter_rto_max_in_an_outage(void **x)
{
    struct script *t = silent(x);

    app_sets(t, SEC(2), rto_max, SEC(60));
    app_sets(t, SEC(3), rto_max, SEC(1));
    expect_sent(t, .at = SEC(4), .from = ZERO);
    peer_says(t, SEC(4) + MS(100), .ack = 1001);
    script_forget_events(t);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* The time between two keep-alive probes is shortened after the first one. */
static void a_shorter_keep_interval(void **x)
{
    struct script *t = script_of(x);
    t->cfg.keepalive = true;
    t->cfg.keep_idle = SEC(10);
    t->cfg.keep_interval = SEC(3600);
    t->cfg.keep_count = 3;
    script_established(t, MS(100));
    script_forget_events(t);
    expect_sent(t, .at = MS(100) + SEC(10), .from = ZERO);
    app_sets(t, SEC(12), keep_interval, SEC(2));
    expect_sent(t, .at = SEC(14), .from = ZERO);
    expect_sent(t, .at = SEC(16), .from = ZERO);
    script_run(t, SEC(18));
    expect_state(t, SCPS_CLOSED);
    script_forget_sent(t);
    script_forget_events(t);
    script_free(t);
}

/* Without outage_after there is no inferred outage: the data is resent, and data_retries ends the
 * connection. An outage that the link has signalled goes on. */
static void outage_after_is_switched_off(void **x)
{
    struct script *t = silent(x);
    struct scps_signal s = {.kind = SCPS_SIGNAL_LINK_DOWN, .until = SCPS_NEVER};

    app_sets(t, SEC(2), outage_after, 0);
    expect_sent(t, .at = SEC(2), .from = 1, .len = 1000);
    expect_quiet(t, ANY_HOLD);
    scps_stack_signal(t->st, scps_stack_now(t->st), &s);
    app_sets(t, SEC(3), outage_after, 0);
    script_run(t, SEC(4));
    expect_quiet(t, SCPS_HOLD_LINK_DOWN);
    s.kind = SCPS_SIGNAL_LINK_UP;
    scps_stack_signal(t->st, scps_stack_now(t->st), &s);
    expect_sent(t, .at = SEC(4), .from = 1, .len = 1000);
    peer_says(t, SEC(4) + MS(100), .ack = 1001);
    script_forget_events(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(a_larger_send_buffer),
        SCRIPT_TEST(a_larger_receive_buffer),
        SCRIPT_TEST(a_shorter_user_timeout),
        SCRIPT_TEST(a_shorter_rto_max),
        SCRIPT_TEST(a_shorter_rto_initial),
        SCRIPT_TEST(a_shorter_persist_max),
        SCRIPT_TEST(a_shorter_ack_delay),
        SCRIPT_TEST(a_shorter_time_wait),
        SCRIPT_TEST(a_shorter_rto_max_in_an_outage),
        SCRIPT_TEST(a_shorter_keep_interval),
        SCRIPT_TEST(outage_after_is_switched_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
