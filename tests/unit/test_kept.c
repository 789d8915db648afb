/* SPDX-License-Identifier: MIT */
/* stack/kept.c: a packet that a device has refused is kept until the device is ready, and no
 * longer. */
#include <string.h>

#include "cmocka_all.h"
#include "failing_alloc.h"
#include "stack/kept.h"

static void a_copy_is_kept(void **state)
{
    const struct scps_alloc a = scps_alloc_default();
    uint8_t head[4] = "head", payload[8] = "payload", *mem;
    struct scps_pkt p = {.data = head, .len = 4, .cap = 4, .payload = payload, .payload_len = 8};
    struct scps_kept k = {false};
    (void)state;

    p.gso = 7;
    scps_kept_put(&k, &a, 20, &p);
    assert_true(k.blocked && k.pending);
    /* The device lent these octets for one call only, so the copy must not change with them. */
    memset(head, 0, sizeof head);
    memset(payload, 0, sizeof payload);
    assert_memory_equal(k.pkt.data, "head", 4);
    assert_memory_equal(k.pkt.payload, "payload", 8);
    assert_int_equal(k.pkt.len, 4);
    assert_int_equal(k.pkt.payload_len, 8);
    assert_int_equal(k.pkt.cap, 20);
    assert_int_equal(k.pkt.gso, 7);

    scps_kept_ready(&k);
    assert_false(k.blocked);
    scps_kept_refused(&k);
    assert_true(k.blocked && k.pending);
    scps_kept_ready(&k);
    scps_kept_sent(&k);
    assert_false(k.blocked || k.pending);

    mem = k.mem; /* The memory of the last packet is used again. */
    p.payload = NULL;
    p.payload_len = 9; /* A hollow payload (counted, not stored) needs no copy. */
    scps_kept_put(&k, &a, 20, &p);
    assert_ptr_equal(k.mem, mem);
    assert_null(k.pkt.payload);
    assert_int_equal(k.pkt.payload_len, 9);
    scps_kept_fini(&k, &a);
    assert_null(k.mem);
    assert_false(k.pending);
}

static void a_larger_packet_gets_larger_memory(void **state)
{
    const struct scps_alloc a = scps_alloc_default();
    uint8_t bytes[40] = {[39] = 1};
    struct scps_pkt p = {.data = bytes, .len = 10};
    struct scps_kept k = {false};
    (void)state;

    scps_kept_put(&k, &a, 10, &p);
    scps_kept_sent(&k);
    p.len = 40;
    scps_kept_put(&k, &a, 40, &p);
    assert_true(k.pending);
    assert_memory_equal(k.pkt.data, bytes, 40);
    scps_kept_fini(&k, &a);
}

static void without_memory_the_packet_is_lost(void **state)
{
    struct poor f = {.left = 0};
    const struct scps_alloc a = {poor_alloc, poor_free, &f};
    uint8_t bytes[40] = {0};
    struct scps_pkt p = {.data = bytes, .len = 40};
    struct scps_kept k = {false};
    (void)state;

    scps_kept_put(&k, &a, 40, &p);
    /* The stack waits for the device although the packet was lost for lack of memory. */
    assert_true(k.blocked);
    assert_false(k.pending);
    f.left = 1;
    scps_kept_put(&k, &a, 39, &p); /* A stack with fixed memory may have no room for the packet. */
    assert_false(k.pending);
    scps_kept_put(&k, &a, 40, &p);
    assert_true(k.pending);
    scps_kept_fini(&k, &a);
    assert_int_equal(f.out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_kept),
        cmocka_unit_test(a_larger_packet_gets_larger_memory),
        cmocka_unit_test(without_memory_the_packet_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
