/* SPDX-License-Identifier: MIT */
/* stack/nif.c: the order of an interface's shapers, and which connection sent its last packet. */
#include <scps/stack.h>

#include "cmocka_all.h"
#include "stack/nif.h"

/* Asserts that the shapers of n are those of the list `want`, in this order; NULL ends the list. */
static void assert_shapers(const struct scps_nif *n, struct scps_shaper *const *want)
{
    const struct scps_shaper *p = n->shapers;

    for (; *want; want++, p = p->next)
        assert_ptr_equal(p, *want);
    assert_null(p);
}

static void shapers_are_served_in_turn(void **state)
{
    struct scps_netif dev = {.mtu = 1500};
    struct scps_nif n;
    struct scps_shaper a = {.share = 0}, b = a, c = a;
    (void)state;

    scps_nif_attach(&n, NULL, &dev, 0);
    assert_shapers(&n, (struct scps_shaper *const[]){NULL});
    scps_nif_add_shaper(&n, &a);
    assert_ptr_equal(a.ready.gate, &a.gate);
    assert_ptr_equal(a.ready.link, &n);
    scps_nif_add_shaper(&n, &b);
    scps_nif_add_shaper(&n, &c);
    assert_shapers(&n, (struct scps_shaper *const[]){&c, &b, &a, NULL});
    scps_nif_shaper_served(&n, &c);
    assert_shapers(&n, (struct scps_shaper *const[]){&b, &a, &c, NULL});
    scps_nif_shaper_served(&n, &a);
    assert_shapers(&n, (struct scps_shaper *const[]){&b, &c, &a, NULL});
    scps_nif_shaper_served(&n, &a); /* The shaper is the last already, so the order stays. */
    assert_shapers(&n, (struct scps_shaper *const[]){&b, &c, &a, NULL});
    scps_nif_remove_shaper(&n, &c);
    assert_shapers(&n, (struct scps_shaper *const[]){&b, &a, NULL});
    scps_nif_remove_shaper(&n, &b);
    scps_nif_remove_shaper(&n, &a);
    assert_shapers(&n, (struct scps_shaper *const[]){NULL});
}

static void who_else_has_packets(void **state)
{
    struct scps_netif_ops ops = {.send = NULL};
    struct scps_netif dev = {.mtu = 1500, .ops = &ops};
    struct scps_nif n;
    struct scps_shaper a = {.share = 0};
    (void)state;

    scps_nif_attach(&n, NULL, &dev, 0);
    assert_ptr_equal(scps_nif_of(&dev), &n);
    assert_false(scps_nif_busy(&n));
    scps_nif_set_others(&n);
    /* The interface has no shaper, so it reports no packets, and clears the flag. */
    assert_false(scps_nif_busy(&n));
    assert_false(n.others);
    scps_nif_add_shaper(&n, &a);
    assert_true(scps_nif_busy(&n));
    scps_nif_remove_shaper(&n, &a);
    assert_false(scps_nif_busy(&n));
    n.n_answers = 1;
    scps_nif_set_others(&n);
    assert_true(scps_nif_busy(&n));
    dev.ops = NULL; /* Without ops.send the driver fetches the packets itself. */
    assert_false(scps_nif_busy(&n));
    assert_true(scps_nif_others(&n));
    scps_nif_detach(&n);
    assert_null(dev.stack_priv);
    assert_true(n.kept.blocked);
    assert_false(scps_nif_others(&n));
}

static void connection_of_the_last_packet(void **state)
{
    struct scps_conn *c = (struct scps_conn *)(void *)state, *d = (struct scps_conn *)(void *)&c;
    const uint8_t flow[12] = "abcdefghijk", port[12] = "abcdefghijX", host[12] = "Xbcdefghijk";
    struct scps_lastflow l = {NULL, {0}};

    assert_null(scps_lastflow_find(&l, flow));
    scps_lastflow_set(&l, c, flow);
    assert_ptr_equal(scps_lastflow_find(&l, flow), c);
    assert_null(scps_lastflow_find(&l, port));
    assert_null(scps_lastflow_find(&l, host));
    scps_lastflow_forget(&l, d);
    assert_ptr_equal(scps_lastflow_find(&l, flow), c);
    scps_lastflow_forget(&l, c);
    assert_null(scps_lastflow_find(&l, flow));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapers_are_served_in_turn),
        cmocka_unit_test(who_else_has_packets),
        cmocka_unit_test(connection_of_the_last_packet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
