/* SPDX-License-Identifier: MIT */
/* The queues of a listener: which listener a SYN is for, connections in the order in which they
 * were established, and the event that announces them. */
#include "cmocka_all.h"
#include "stack/stack.h"

static struct scps_stack st;
static struct scps_listener l[4];
static struct scps_conn c[3];

static struct scps_addr address(const char *text)
{
    struct scps_addr a;

    assert_int_equal(scps_addr_parse(text, &a), 0);
    return a;
}

static int begin(void **state)
{
    (void)state;
    memset(&st, 0, sizeof st);
    memset(l, 0, sizeof l);
    memset(c, 0, sizeof c);
    for (int i = 0; i < 4; i++) {
        l[i].st = &st;
        l[i].local.port = 80;
        l[i].next = i < 3 ? &l[i + 1] : NULL;
    }
    st.listeners = l;
    for (int i = 0; i < 3; i++)
        c[i].s.ctx.env = &st.env;
    return 0;
}

static const struct scps_listener *found(const char *to, uint16_t port)
{
    struct scps_addr a = address(to);

    return scps_listener_find(&st, &a, port);
}

/* RFC 9293 section 3.9.1.1: an OPEN without a local address listens at any; one with an address is
 * more specific. */
static void the_most_specific(void **state)
{
    (void)state;
    l[1].local.addr = address("0.0.0.0");
    l[2].local.addr = address("10.0.0.1");
    l[3].local.addr = address("fd00::1");
    assert_ptr_equal(found("10.0.0.1", 80), &l[2]);
    assert_ptr_equal(found("10.0.0.2", 80), &l[1]); /* any address of this family */
    assert_ptr_equal(found("fd00::1", 80), &l[3]);
    assert_ptr_equal(found("fd00::2", 80), &l[0]); /* any address of either family */
    assert_null(found("10.0.0.1", 81));
    l[0].local.port = 81;
    assert_null(found("fd00::2", 80));
}

/* Connections are accepted in the order in which they were established, not in that of their
 * SYNs. */
static void in_order(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        scps_listener_join(&l[0], &c[i]);
    assert_int_equal(l[0].half_open, 3);
    assert_int_equal(st.half_open, 3);
    assert_ptr_equal(scps_conn_listener(&c[1]), &l[0]);
    assert_null(scps_accept(&l[0]));
    scps_listener_established(&st.env, &c[2]);
    scps_listener_established(&st.env, &c[0]);
    assert_int_equal(l[0].half_open, 1);
    assert_int_equal(scps_listener_pending(&l[0]), 2);
    assert_ptr_equal(scps_accept(&l[0]), &c[2]);
    assert_ptr_equal(scps_accept(&l[0]), &c[0]);
    assert_null(scps_accept(&l[0]));
    /* The connection was accepted, so it belongs to the application and to no listener. */
    assert_null(scps_conn_listener(&c[2]));
    scps_listener_forget(&c[1]); /* The half-open one ends. */
    assert_int_equal(st.half_open, 0);
    assert_null(l[0].half.first);
    scps_listener_forget(&c[0]); /* nothing to forget */
    assert_int_equal(st.half_open, 0);
}

/* One event of a listener stands for all connections that wait when it is fetched. */
static void events(void **state)
{
    struct scps_event ev;
    (void)state;

    l[1].user = &ev;
    scps_listener_join(&l[1], &c[0]);
    scps_listener_join(&l[1], &c[1]);
    scps_listener_join(&l[0], &c[2]);
    scps_listener_established(&st.env, &c[0]);
    scps_listener_established(&st.env, &c[2]);
    scps_listener_established(&st.env, &c[1]);
    scps_listener_event(&st, &ev);
    assert_int_equal(ev.kind, SCPS_EV_ACCEPT);
    assert_ptr_equal(ev.listener, &l[1]);
    assert_ptr_equal(ev.user, &ev);
    assert_ptr_equal(st.ev_listeners.first, &l[0].ev_link);
    scps_listener_unqueue(&l[0]); /* It is closed. */
    assert_null(st.ev_listeners.first);
    scps_listener_unqueue(&l[1]); /* Its event was fetched. */
    assert_null(st.ev_listeners.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_most_specific, begin),
        cmocka_unit_test_setup(in_order, begin),
        cmocka_unit_test_setup(events, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
