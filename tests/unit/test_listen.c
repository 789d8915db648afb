/* SPDX-License-Identifier: MIT */
/* stack/listen.c without packets: which endpoints a listener may have, why others are refused, and
 * what its functions return. */
#include <scps/conn.h>
#include <scps/stack.h>

#include "cmocka_all.h"
#include "failing_alloc.h"

struct bench {
    struct scps_stack *st;
    struct scps_netif nif;
    struct scps_endpoint us;
    struct poor poor;
};

static void begin(struct bench *b)
{
    struct scps_stack_config cfg = scps_stack_config_default();

    *b = (struct bench){.nif = {.name = "test", .mtu = 1500}, .poor = {.left = 1000000}};
    cfg.alloc = (struct scps_alloc){poor_alloc, poor_free, &b->poor};
    b->st = scps_stack_new(&cfg);
    assert_int_equal(scps_addr_parse("10.0.0.1", &b->us.addr), 0);
    b->us.port = 80;
    assert_int_equal(scps_stack_add_netif(b->st, &b->nif), 0);
    assert_int_equal(scps_stack_add_addr(b->st, &b->nif, &b->us.addr, 24), 0);
}

static void end(struct bench *b)
{
    scps_stack_free(b->st);
    assert_int_equal(b->poor.out, 0);
}

static int refusal(struct bench *b, const struct scps_endpoint *at, unsigned backlog)
{
    int err = 0;

    /* The pointer to the reason may be NULL. */
    assert_null(scps_listen(b->st, NULL, at, backlog, NULL));
    assert_null(scps_listen(b->st, NULL, at, backlog, &err));
    return err;
}

static void addresses_of_listeners(void **state)
{
    struct bench b;
    struct scps_endpoint at = {0}, any = {.port = 80};
    int err = 1;
    (void)state;

    begin(&b);
    assert_int_equal(refusal(&b, NULL, 1), SCPS_ERR_INVAL);
    assert_int_equal(refusal(&b, &at, 1), SCPS_ERR_INVAL); /* The endpoint has no port. */
    assert_int_equal(refusal(&b, &b.us, 0), SCPS_ERR_INVAL);
    assert_int_equal(scps_addr_parse("10.0.0.2", &at.addr), 0);
    at.port = 80;
    assert_int_equal(refusal(&b, &at, 1), SCPS_ERR_ADDRNOTAVAIL);
    struct scps_listener *l = scps_listen(b.st, NULL, &b.us, 1, &err);
    assert_non_null(l);
    assert_int_equal(err, 0);
    assert_int_equal(refusal(&b, &b.us, 1), SCPS_ERR_ADDRINUSE);
    /* RFC 9293 MUST-41: a listener on the same port of another address is a separate listener, and
     * so is one on another port. */
    assert_non_null(scps_listen(b.st, NULL, &any, 1, NULL));
    assert_int_equal(refusal(&b, &any, 1), SCPS_ERR_ADDRINUSE);
    b.us.port = 81;
    assert_non_null(scps_listen(b.st, NULL, &b.us, 1, NULL));
    b.us.port = 80;
    scps_listener_close(l);
    assert_non_null(scps_listen(b.st, NULL, &b.us, 1, NULL));
    end(&b);
}

/* RFC 9293 MUST-42: a port can be listened on "while a connection block with the same local port is
 * in SYN-SENT or SYN-RECEIVED state". */
static void a_port_of_a_connection_that_opens(void **state)
{
    struct bench b;
    struct scps_conn_config cfg = scps_conn_config_default();
    struct scps_endpoint peer = {.port = 1234};
    struct scps_conn *c;
    (void)state;

    begin(&b);
    assert_int_equal(scps_addr_parse("10.0.0.2", &peer.addr), 0);
    c = scps_connect(b.st, &cfg, &b.us, &peer, NULL);
    assert_non_null(c);
    assert_int_equal(scps_conn_state(c), SCPS_SYN_SENT);
    assert_non_null(scps_listen(b.st, NULL, &b.us, 1, NULL));
    assert_int_equal(scps_conn_state(c), SCPS_SYN_SENT);
    scps_conn_abort(c);
    end(&b);
}

static void memory_is_short(void **state)
{
    struct bench b;
    (void)state;

    begin(&b);
    for (unsigned n = 0; n < 2; n++) {
        size_t out = b.poor.out;
        b.poor.left = n;
        int err = 0;
        assert_null(scps_listen(b.st, NULL, &b.us, 1, &err));
        assert_int_equal(err, SCPS_ERR_NOMEM);
        assert_int_equal(b.poor.out, out);
    }
    b.poor.left = 2;
    assert_non_null(scps_listen(b.st, NULL, &b.us, 1, NULL));
    end(&b);
}

/* A change of a listener's configuration that is refused leaves the listener as it was. */
static void a_refused_change_changes_nothing(void **state)
{
    struct bench b;
    struct scps_conn_config bad = scps_conn_config_default();
    struct scps_endpoint at;
    int mine;
    (void)state;

    begin(&b);
    struct scps_listener *l = scps_listen(b.st, NULL, &b.us, 3, NULL);
    assert_null(scps_listener_user(l));
    scps_listener_set_user(l, &mine);
    assert_ptr_equal(scps_listener_user(l), &mine);
    scps_listener_local(l, &at);
    assert_true(scps_addr_equal(&at.addr, &b.us.addr));
    assert_int_equal(at.port, 80);
    assert_int_equal(scps_listener_pending(l), 0);
    assert_null(scps_accept(l));
    bad.mss = 1;
    size_t out = b.poor.out;
    assert_int_equal(scps_listener_set(l, &bad, 1), SCPS_ERR_RANGE);
    assert_int_equal(b.poor.out, out);
    bad = scps_conn_config_default();
    assert_int_equal(scps_listener_set(l, &bad, 1), 0);
    assert_int_equal(scps_listener_set(l, NULL, 0), 0);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_listeners),
        cmocka_unit_test(a_port_of_a_connection_that_opens),
        cmocka_unit_test(memory_is_short),
        cmocka_unit_test(a_refused_change_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
