/* SPDX-License-Identifier: MIT */
/* A chain of netifs: the order in which filters see packets, time and the end, and what is counted
 * where. */
#include <scps/stack.h>
#include <string.h>

#include "cmocka_all.h"
#include "stack/nif.h"

static char trace[64]; /* the netifs that were called, by their names, in order */
static int answer;     /* what the device's send() returns */

static int say(const struct scps_netif *nif, int value)
{
    strcat(trace, nif->name);
    return value;
}
static int dev_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    (void)pkt;
    return say(nif, answer);
}
static int filter_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    say(nif, 0);
    return scps_netif_send(nif->lower, pkt);
}
static int filter_recv(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    say(nif, 0);
    return pkt->len == 13 ? SCPS_DROP_FILTERED : scps_netif_recv(nif, pkt);
}
static void closes(struct scps_netif *nif)
{
    say(nif, 0);
}
static scps_time due(const struct scps_netif *nif)
{
    return nif->name[0] == 'a' ? 300 : 200;
}
static void advance(struct scps_netif *nif, scps_time now)
{
    assert_int_equal(now, 77);
    say(nif, 0);
}

static const struct scps_netif_ops dev_ops = {.send = dev_send, .close = closes};
static const struct scps_netif_ops ops = {
    .send = filter_send, .recv = filter_recv, .close = closes, .deadline = due, .advance = advance};
/* a filter that only watches what is sent */
static const struct scps_netif_ops half = {.send = filter_send, .close = closes};

static struct scps_netif d, a, b, t;

static int begin(void **state)
{
    (void)state;
    trace[0] = 0;
    answer = 0;
    d = (struct scps_netif){.ops = &dev_ops, .name = "d", .mtu = 1400, .flags = SCPS_NETIF_HOLLOW};
    a = (struct scps_netif){.ops = &ops, .name = "a"};
    b = (struct scps_netif){.ops = &half, .name = "b"};
    t = (struct scps_netif){.ops = &ops};
    assert_ptr_equal(scps_netif_push(&d, &a), &a);
    scps_netif_push(&a, &b);
    scps_netif_push(&b, &t);
    return 0;
}

static void filters_take_over(void **state)
{
    (void)state;
    assert_int_equal(t.mtu, 1400);
    assert_int_equal(t.flags, SCPS_NETIF_HOLLOW);
    assert_string_equal(t.name, "b"); /* Filter t had no name, so it has that of the netif below. */
    assert_string_equal(a.name, "a");
    assert_ptr_equal(d.upper, &a);
    assert_ptr_equal(t.lower, &b);
}

static void sending_goes_down(void **state)
{
    struct scps_pkt p = {.len = 40, .payload_len = 60};
    (void)state;

    t.name = "t";
    assert_int_equal(scps_netif_send(&t, &p), 0);
    assert_string_equal(trace, "tbad");
    assert_int_equal(t.tx_packets, 1);
    assert_int_equal(d.tx_bytes, 100);
    answer = SCPS_ERR_AGAIN; /* The packet comes again, so it is no loss. */
    assert_int_equal(scps_netif_send(&t, &p), SCPS_ERR_AGAIN);
    assert_int_equal(t.tx_packets + t.tx_errors, 1);
    answer = SCPS_ERR_NOMEM;
    assert_int_equal(scps_netif_send(&t, &p), SCPS_ERR_NOMEM);
    assert_int_equal(t.tx_errors, 1);
    assert_int_equal(t.tx_packets, 1);
    d.ops = NULL; /* Its driver fetches packets by itself. */
    assert_int_equal(scps_netif_send(&d, &p), SCPS_ERR_AGAIN);
}

/* A filter without recv() is passed over. A filter that drops a packet returns the reason. */
static void receiving_goes_up(void **state)
{
    struct scps_pkt p = {.len = 40};
    (void)state;

    t.name = "t";
    assert_int_equal(scps_netif_recv(&d, &p), SCPS_DROP_NOT_OURS); /* no stack yet */
    assert_string_equal(trace, "at");
    assert_int_equal(d.rx_packets, 1);
    assert_int_equal(b.rx_bytes, 40);
    p.len = 13;
    assert_int_equal(scps_netif_recv(&d, &p), SCPS_DROP_FILTERED);
    assert_string_equal(trace, "ata");
    assert_int_equal(t.rx_packets, 1);
    assert_int_equal(d.rx_packets, 2);
    /* A segment without octets cannot pass filters, nor a netif without a stack. */
    assert_int_equal(scps_netif_recv_segment(&d, NULL, NULL, 40, 0), SCPS_ERR_AGAIN);
    assert_int_equal(scps_netif_recv_segment(&t, NULL, NULL, 40, 0), SCPS_ERR_AGAIN);
    assert_int_equal(d.rx_packets, 2);
}

/* The device comes first in time, so that what it takes again is sent before new packets. */
static void advance_begins_at_the_device(void **state)
{
    (void)state;
    t.name = "t";
    assert_int_equal(scps_netif_deadline(&t), 200);
    assert_int_equal(scps_netif_deadline(&a), 300);
    assert_int_equal(scps_netif_deadline(&d), SCPS_NEVER);
    scps_netif_advance(&t, 77);
    assert_string_equal(trace, "at");
    trace[0] = 0;
    scps_netif_advance(&a, 77); /* the chain below a only */
    assert_string_equal(trace, "a");
}

static void close_begins_at_the_top_of_the_chain(void **state)
{
    (void)state;
    t.name = "t";
    scps_netif_close(&t);
    assert_string_equal(trace, "tbad");
}

/* Whichever netif of a chain reports that it can send again, the packet of the whole chain is sent
 * next. */
static void ready_again(void **state)
{
    struct scps_nif nif;
    (void)state;

    scps_netif_ready(&d); /* The chain is not attached to a stack, so the call has no effect. */
    scps_nif_attach(&nif, NULL, &t, 0);
    nif.kept.blocked = true;
    scps_netif_ready(&d);
    assert_false(nif.kept.blocked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(filters_take_over, begin),
        cmocka_unit_test_setup(sending_goes_down, begin),
        cmocka_unit_test_setup(receiving_goes_up, begin),
        cmocka_unit_test_setup(advance_begins_at_the_device, begin),
        cmocka_unit_test_setup(close_begins_at_the_top_of_the_chain, begin),
        cmocka_unit_test_setup(ready_again, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
