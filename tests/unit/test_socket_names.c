/* SPDX-License-Identifier: MIT */
/* socket/names.c: the local and remote address of a socket, and which of them a disconnect
 * keeps. */
#include "cmocka_all.h"
#include "socket/names.h"

static const struct scps_addr any = {.family = 4};
static const struct scps_endpoint here = {.addr = {.family = 4, .b = {10, 0, 0, 1}}, .port = 1000};
static const struct scps_endpoint there = {.addr = {.family = 4, .b = {10, 0, 0, 2}}, .port = 80};

static void assert_named(const struct scps_endpoint *e, const struct scps_addr *addr, unsigned port)
{
    assert_int_equal(e->addr.family, addr->family);
    assert_memory_equal(e->addr.b, addr->b, sizeof addr->b);
    assert_int_equal(e->port, port);
}

static void what_was_chosen_is_freed(void **state)
{
    struct sock_names n;
    (void)state;

    scps_sock_names_init(&n, &any);
    scps_sock_names_connect(&n, &here, &there);
    assert_true(n.bound);
    assert_named(&n.local, &here.addr, 1000);
    assert_named(&n.remote, &there.addr, 80);
    scps_sock_names_end(&n);
    assert_false(n.bound);
    assert_named(&n.local, &here.addr, 1000); /* getsockname() still returns the old address. */
    scps_sock_names_disconnect(&n, &any);
    assert_false(n.bound);
    assert_named(&n.local, &any, 0);
    assert_int_equal(n.remote.addr.family, 0);
}

static void what_bind_gave_stays(void **state)
{
    struct sock_names n;
    (void)state;

    scps_sock_names_init(&n, &any);
    scps_sock_names_take_port(&n, &here);
    scps_sock_names_set_given(&n, true, true);
    scps_sock_names_connect(&n, &here, &there);
    scps_sock_names_end(&n);
    scps_sock_names_disconnect(&n, &any);
    assert_true(n.bound);
    assert_named(&n.local, &here.addr, 1000);
}

static void a_given_port_outlives_a_chosen_address(void **state)
{
    struct sock_names n;
    (void)state;

    scps_sock_names_init(&n, &any);
    scps_sock_names_take_port(&n, &(struct scps_endpoint){.addr = any, .port = 1000});
    scps_sock_names_set_given(&n, false, true);
    scps_sock_names_connect(&n, &here, &there);
    scps_sock_names_end(&n);
    scps_sock_names_disconnect(&n, &any);
    assert_true(n.bound);
    assert_named(&n.local, &any, 1000);
}

static void a_given_address_outlives_a_chosen_port(void **state)
{
    struct sock_names n;
    (void)state;

    scps_sock_names_init(&n, &any);
    /* The address is set without a port (IP_BIND_ADDRESS_NO_PORT). */
    scps_sock_names_set_addr(&n, &here.addr);
    scps_sock_names_set_given(&n, true, false);
    assert_false(n.bound);
    scps_sock_names_connect(&n, &here, &there);
    scps_sock_names_end(&n);
    scps_sock_names_disconnect(&n, &any);
    assert_false(n.bound);
    assert_named(&n.local, &here.addr, 0);
}

/* Disconnecting a socket that was never connected frees nothing. */
static void a_chosen_port_is_kept_until_the_end(void **state)
{
    struct sock_names n;
    (void)state;

    scps_sock_names_init(&n, &any);
    scps_sock_names_take_port(&n, &here);
    scps_sock_names_set_given(&n, true, false); /* bind() with port 0 was called. */
    scps_sock_names_disconnect(&n, &any);
    assert_true(n.bound);
    assert_named(&n.local, &here.addr, 1000);
}

static void a_port_of_a_failed_call_is_freed(void **state)
{
    const struct scps_addr any6 = {.family = 6};
    struct sock_names n;
    (void)state;

    scps_sock_names_init(&n, &any);
    scps_sock_names_take_port(&n, &here);
    scps_sock_names_free_port(&n);
    assert_false(n.bound);
    assert_named(&n.local, &here.addr, 0);
    scps_sock_names_set_any(&n, &any6);
    assert_named(&n.local, &any6, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_chosen_is_freed),
        cmocka_unit_test(what_bind_gave_stays),
        cmocka_unit_test(a_given_port_outlives_a_chosen_address),
        cmocka_unit_test(a_given_address_outlives_a_chosen_port),
        cmocka_unit_test(a_chosen_port_is_kept_until_the_end),
        cmocka_unit_test(a_port_of_a_failed_call_is_freed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
