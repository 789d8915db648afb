/* SPDX-License-Identifier: MIT */
/* socket/conf.c: the settings of a socket that are not in scps_conn_config: TCP_QUICKACK and
 * IP_MTU_DISCOVER. */
#include <scps/socket.h>

#include "cmocka_all.h"
#include "socket/conf.h"

static void a_new_socket_follows_the_configuration(void **state)
{
    struct scps_conn_config c = scps_conn_config_default();
    struct sock_conf f;
    (void)state;

    c.ack_mode = SCPS_ACK_EVERY;
    scps_sock_conf_init(&f, &c);
    assert_int_equal(f.ack_mode, SCPS_ACK_EVERY);
    assert_int_equal(f.pmtudisc, SCPS_PMTUDISC_WANT);
    assert_false(f.quickack);
    c.df_off = true;
    scps_sock_conf_init(&f, &c);
    assert_int_equal(f.pmtudisc, SCPS_PMTUDISC_DONT);
}

static void quickack_remembers_the_mode(void **state)
{
    struct scps_conn_config c = scps_conn_config_default();
    struct sock_conf f;
    (void)state;

    scps_sock_conf_init(&f, &c);
    c.ack_mode = SCPS_ACK_EVERY;
    scps_sock_conf_set(&f, &c);
    scps_sock_conf_quickack_set(&f, true);
    assert_int_equal(f.ack_mode, scps_conn_config_default().ack_mode);
    assert_true(f.quickack);
    /* The acknowledgement mode was set by another option after TCP_QUICKACK. */
    scps_sock_conf_ack_mode_set(&f);
    assert_int_equal(f.ack_mode, SCPS_ACK_EVERY);
    assert_false(f.quickack);
}

static void kinds_of_sockets(void **state)
{
    struct scps_conn_config c = scps_conn_config_default();
    struct sock_conf f;
    (void)state;

    scps_sock_conf_init(&f, &c);
    assert_false(f.cfg.records);
    scps_sock_conf_set_seqpacket(&f);
    assert_true(f.cfg.records);
    scps_sock_conf_set_dgram(&f, 12345);
    assert_int_equal(f.cfg.sndbuf, 12345);
    assert_int_equal(f.cfg.rcvbuf, 12345);
    scps_sock_conf_set_buffers(&f, 1, 2);
    assert_int_equal(f.cfg.sndbuf, 1);
    assert_int_equal(f.cfg.rcvbuf, 2);
    scps_sock_conf_pmtudisc_set(&f, SCPS_PMTUDISC_PROBE);
    assert_int_equal(f.pmtudisc, SCPS_PMTUDISC_PROBE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_socket_follows_the_configuration),
        cmocka_unit_test(quickack_remembers_the_mode),
        cmocka_unit_test(kinds_of_sockets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
