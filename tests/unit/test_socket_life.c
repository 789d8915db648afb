/* SPDX-License-Identifier: MIT */
/* socket/life.c: the states of a socket from socket() to close(), without a connection. */
#include <errno.h>

#include "cmocka_all.h"
#include "socket/life.h"

#define BOTH (SHUT_RCV | SHUT_SEND)

static void a_fin_shuts_down_receiving(void **state)
{
    struct sock_life l = {0};
    (void)state;

    scps_sock_life_connecting(&l);
    assert_int_equal(l.ss, SS_CONNECTING);
    scps_sock_life_connected(&l);
    assert_int_equal(l.ss, SS_CONNECTED);
    scps_sock_life_fin(&l);
    assert_true(l.fin_received);
    assert_int_equal(l.shut, SHUT_RCV);
    assert_int_equal(l.shut_app, 0); /* The peer has closed this direction, not the application. */
    assert_false(l.ended);
}

static void the_end_shuts_down_both(void **state)
{
    struct sock_life l = {0};
    (void)state;

    scps_sock_life_end(&l, 0);
    assert_true(l.ended);
    assert_int_equal(l.shut, BOTH);
    assert_int_equal(l.err, 0);
    scps_sock_life_end(&l, ECONNRESET);
    assert_int_equal(l.err, ECONNRESET);
    /* The end of a connection without an error keeps an error that is pending. */
    scps_sock_life_end(&l, 0);
    assert_int_equal(l.err, ECONNRESET);
}

static void an_error_is_reported_once(void **state)
{
    struct sock_life l = {0};
    (void)state;

    assert_int_equal(scps_sock_life_take_error(&l), 0);
    scps_sock_life_set_error(&l, ETIMEDOUT);
    assert_int_equal(scps_sock_life_take_error(&l), ETIMEDOUT);
    assert_int_equal(scps_sock_life_take_error(&l), 0);
}

static void a_soft_error_is_reported_once(void **state)
{
    struct sock_life l = {0};
    (void)state;

    assert_false(scps_sock_life_report_icmp(&l, 0));
    assert_true(scps_sock_life_report_icmp(&l, 0x301));
    assert_false(scps_sock_life_report_icmp(&l, 0x301));
    /* This is another ICMP error, so it is reported. */
    assert_true(scps_sock_life_report_icmp(&l, 0x300));
    /* Code 0 means that the connection has made progress; it clears the last error. */
    assert_false(scps_sock_life_report_icmp(&l, 0));
    /* After progress the same ICMP error counts as new. */
    assert_true(scps_sock_life_report_icmp(&l, 0x300));
}

/* RFC 1122 section 4.2.2.13: data that arrives after the application has closed both directions
 * demands a reset. */
static void data_after_both_directions(void **state)
{
    struct sock_life l = {0};
    (void)state;

    scps_sock_life_shutdown(&l, SHUT_RCV);
    scps_sock_life_set_received(&l, 100);
    /* The application can still send, so data does not cause a reset. */
    assert_false(scps_sock_life_refuses_data(&l, 101));
    scps_sock_life_shutdown(&l, SHUT_SEND);
    assert_int_equal(l.shut_app, BOTH);
    assert_int_equal(l.shut, BOTH);
    assert_false(scps_sock_life_refuses_data(&l, 100));
    assert_true(scps_sock_life_refuses_data(&l, 101));
    scps_sock_life_end(&l, 0);
    /* The connection has ended, so there is nothing to reset. */
    assert_false(scps_sock_life_refuses_data(&l, 101));
}

static void a_listener_listens_on(void **state)
{
    struct sock_life l = {0};
    (void)state;

    scps_sock_life_shutdown_listener(&l);
    assert_int_equal(l.shut, SHUT_SEND);
    assert_int_equal(l.shut_app, 0);
    scps_sock_life_listening(&l);
    assert_int_equal(l.shut, 0);
}

static void a_new_connection_resets_the_state(void **state)
{
    struct sock_life l = {0};
    (void)state;

    scps_sock_life_fin(&l);
    scps_sock_life_shutdown(&l, BOTH);
    (void)scps_sock_life_report_icmp(&l, 0x301);
    scps_sock_life_end(&l, ECONNRESET);
    scps_sock_life_disconnecting(&l);
    assert_int_equal(l.ss, SS_DISCONNECTING);
    scps_sock_life_disconnected(&l);
    assert_int_equal(l.ss, SS_UNCONNECTED);
    assert_int_equal(l.shut | l.shut_app, 0);
    assert_false(l.ended || l.fin_received);
    assert_int_equal(l.err, ECONNRESET); /* The next call on the socket reports the error. */
    assert_true(scps_sock_life_report_icmp(&l, 0x301));
    scps_sock_life_connecting(&l);
    assert_int_equal(l.err, 0);
    assert_int_equal(l.icmp, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fin_shuts_down_receiving),
        cmocka_unit_test(the_end_shuts_down_both),
        cmocka_unit_test(an_error_is_reported_once),
        cmocka_unit_test(a_soft_error_is_reported_once),
        cmocka_unit_test(data_after_both_directions),
        cmocka_unit_test(a_listener_listens_on),
        cmocka_unit_test(a_new_connection_resets_the_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
