/* SPDX-License-Identifier: MIT */
/* base/recring.c compared with a simple queue, at its limit, and without memory. */
#include "base/recring.h"

#include <string.h>

#include "base/prng.h"
#include "cmocka_all.h"
#include "failing_alloc.h"

enum { MOST = 65536, DEEP = 4096 };

static uint8_t octet(uint32_t serial, uint32_t at)
{
    return (uint8_t)(serial * 7 + at * 3);
}

static void as_a_queue(void **x)
{
    struct poor poor = {.left = 1000};
    struct scps_alloc a = {poor_alloc, poor_free, &poor};
    struct scps_recring q = {0};
    struct scps_prng r;
    uint32_t sizes[DEEP], in = 0, out = 0;
    (void)x;
    scps_prng_seed(&r, 7);
    for (int i = 0; i < 200000; i++) {
        /* The test adds more than it removes for 5000 rounds, then removes more than it adds. */
        if (scps_prng_below(&r, 8) < (i / 5000 % 2 ? 3u : 5u)) {
            uint32_t size = (uint32_t)scps_prng_below(&r, i % 50 ? 300 : 5000);
            uint8_t *p = in - out < DEEP ? scps_recring_put(&q, &a, size, MOST) : NULL;
            if (!p)
                continue;
            assert_int_equal((uintptr_t)p % 8, 0);
            for (uint32_t k = 0; k < size; k++)
                p[k] = octet(in, k);
            sizes[in++ % DEEP] = size;
        } else {
            uint32_t size;
            const uint8_t *p = scps_recring_front(&q, &size);
            assert_int_equal(p == NULL, in == out);
            assert_int_equal(scps_recring_empty(&q), in == out);
            if (!p)
                continue;
            assert_int_equal(size, sizes[out % DEEP]);
            for (uint32_t k = 0; k < size; k++)
                assert_int_equal(p[k], octet(out, k));
            scps_recring_pop(&q);
            out++;
        }
        assert_true(q.cap <= MOST);
    }
    assert_true(out > 50000 && q.cap == MOST); /* The ring has been full at times. */
    scps_recring_fini(&q, &a);
    assert_int_equal(poor.out, 0);
}

/* What scps_recring_pop() returns stays in place until the next put; an empty ring begins at its
 * front again. */
static void a_popped_record_stays_valid(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_recring q = {0};
    uint32_t size;
    (void)x;
    assert_null(scps_recring_front(&q, &size));
    scps_recring_pop(&q);
    memcpy(scps_recring_put(&q, &a, 5, MOST), "first", 5);
    const uint8_t *p = scps_recring_front(&q, &size);
    scps_recring_pop(&q);
    assert_int_equal(size, 5);
    assert_memory_equal(p, "first", 5);
    assert_ptr_equal(scps_recring_put(&q, &a, 0, MOST), p);
    assert_non_null(scps_recring_front(&q, &size));
    assert_int_equal(size, 0);
    scps_recring_fini(&q, &a);
}

static void limits(void **x)
{
    struct poor poor = {.left = 1};
    struct scps_alloc a = {poor_alloc, poor_free, &poor};
    struct scps_recring q = {0};
    uint32_t size, n = 0;
    (void)x;
    assert_null(scps_recring_put(&q, &a, MOST, MOST));
    assert_null(scps_recring_put(&q, &a, UINT32_MAX, MOST));
    assert_null(q.mem);
    /* The allocator grants memory for the first ring only. */
    while (scps_recring_put(&q, &a, 100, MOST))
        n++;
    assert_true(n > 0 && n < 30);
    for (; n > 0; n--) {
        assert_non_null(scps_recring_front(&q, &size));
        scps_recring_pop(&q);
    }
    poor.left = 100;
    assert_non_null(scps_recring_put(&q, &a, MOST - SCPS_RECRING_HEAD, MOST));
    assert_null(scps_recring_put(&q, &a, 0, MOST));
    scps_recring_fini(&q, &a);
    assert_int_equal(poor.out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_queue),
        cmocka_unit_test(a_popped_record_stays_valid),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
