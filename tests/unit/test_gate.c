/* SPDX-License-Identifier: MIT */
/* The gate (token bucket) of a route with a rate: connections share the rate by bytes, and the
 * minimum rate serves one connection at a time. */
#include <stdlib.h>

#include "cmocka_all.h"

#include "core/gate.h"
#include "core/tx.h"

#define NOW SCPS_SEC(1)

/* Opens a connection that has nothing to send, so that it never waits for its own token bucket. */
static struct scps_sender *sit(void)
{
    struct scps_sender *c = calloc(1, sizeof *c);

    c->tx = calloc(1, sizeof *c->tx);
    scps_send_init(&c->snd);
    scps_send_wrote(&c->snd, 999);
    scps_send_left(&c->snd, 1000);
    return c;
}

static void rise(struct scps_sender *c)
{
    free(c->tx);
    free(c);
}

static void set(struct scps_gate *g, uint64_t rate, uint64_t floor)
{
    memset(g, 0, sizeof *g);
    scps_gate_set(g, NOW, &(struct scps_route){.rate = rate, .min_rate = floor, .burst = 5000},
                  1000);
}

/* Returns the bytes that connection c sends in n turns, in packets of len bytes. */
static uint32_t turns(struct scps_gate *g, struct scps_sender *c, int n, uint32_t len)
{
    uint32_t bytes = 0;

    while (n > 0) {
        bytes += len;
        if (scps_gate_left(g, c, NOW, len))
            n--;
    }
    return bytes;
}

/* In 100 turns each connection has sent as many bytes as 100 packets of the largest size have,
 * whatever the size of its packets, and at most one packet more. */
static void turns_share_bytes_equally(void **x)
{
    static const uint32_t len[] = {40, 300, 700, 999, 1000};
    struct scps_gate g;

    (void)x;
    set(&g, 1000000, 0);
    for (size_t i = 0; i < sizeof len / sizeof *len; i++) {
        struct scps_sender *c = sit();
        uint32_t bytes = turns(&g, c, 101, len[i]);
        assert_in_range(bytes, 100 * 1000, 100 * 1000 + len[i]);
        rise(c);
    }
}

/* The next connection in the queue waits until this one has sent the segment that it was
 * allowed. */
static void the_minimum_rate_serves_one_at_a_time(void **x)
{
    struct scps_ready_queue ready = {0};
    struct scps_gate g;
    struct scps_sender *a = sit(), *b = sit();

    (void)x;
    set(&g, 0, 1000);
    ready.gate = &g;
    a->queue = b->queue = &ready;
    assert_false(scps_gate_permits(&g, a));
    assert_false(scps_gate_permits(&g, b));
    assert_int_equal(scps_gate_floor_due(&g, NOW), NOW);
    scps_gate_serve(&g, NOW);
    assert_true(scps_gate_permits(&g, a));
    assert_int_equal(scps_gate_floor_due(&g, NOW), SCPS_NEVER);
    scps_gate_serve(&g, NOW);
    assert_true(scps_gate_permits(&g, a));
    assert_false(scps_gate_permits(&g, b));
    scps_gate_passed(&g, a);
    scps_gate_serve(&g, NOW);
    assert_true(scps_gate_permits(&g, b));
    assert_ptr_equal(ready.head, a);
    rise(a);
    rise(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_share_bytes_equally),
        cmocka_unit_test(the_minimum_rate_serves_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
