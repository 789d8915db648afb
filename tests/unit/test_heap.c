/* SPDX-License-Identifier: MIT */
/* base/heap.c compared with a search of the whole array; and what it promises about slots and
 * memory. */
#include "base/heap.h"

#include <scps/error.h>
#include <stdlib.h>

#include "base/prng.h"
#include "cmocka_all.h"

enum { N = 200 };

struct item {
    scps_time key;
    uint32_t slot;
};

static void check(const struct scps_heap *h, const struct item *it)
{
    scps_time least = SCPS_NEVER;
    uint32_t n = 0;
    for (int i = 0; i < N; i++) {
        if (it[i].slot == SCPS_HEAP_NONE)
            continue;
        n++;
        assert_true(it[i].slot < h->n);
        assert_ptr_equal(h->v[it[i].slot].item, &it[i]);
        assert_true(h->v[it[i].slot].key == it[i].key);
        if (it[i].key < least)
            least = it[i].key;
    }
    assert_int_equal(h->n, n);
    assert_true(scps_heap_min(h) == least);
    if (n)
        assert_true(((struct item *)h->v[0].item)->key == least);
}

static void random_operations(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_heap h;
    struct item it[N];
    struct scps_prng r;
    (void)x;

    scps_prng_seed(&r, 7);
    scps_heap_init(&h, &a, offsetof(struct item, slot));
    for (int i = 0; i < N; i++)
        it[i].slot = SCPS_HEAP_NONE;
    for (int turn = 0; turn < 20000; turn++) {
        struct item *p = &it[scps_prng_below(&r, N)];
        if (scps_prng_below(&r, 3)) {
            p->key = (scps_time)scps_prng_below(&r, 1000) - 500;
            assert_int_equal(scps_heap_set(&h, p->key, p), 0);
        } else {
            scps_heap_remove(&h, p);
            assert_int_equal(p->slot, SCPS_HEAP_NONE);
        }
        check(&h, it);
    }
    scps_time last = INT64_MIN;
    while (h.n) {
        struct item *p = h.v[0].item;
        assert_true(p->key >= last);
        last = p->key;
        scps_heap_remove(&h, p);
        check(&h, it);
    }
    scps_heap_remove(&h, &it[0]); /* Removing an entry that is not in the heap has no effect. */
    assert_int_equal(scps_heap_set(&h, 1, &it[0]), 0);
    scps_heap_fini(&h);
    assert_int_equal(it[0].slot, SCPS_HEAP_NONE);
}

static void *scarce_alloc(void *ctx, size_t size)
{
    int *left = ctx;
    return (*left)-- > 0 ? malloc(size) : NULL;
}
static void scarce_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free(p);
}

static void out_of_memory_changes_nothing(void **x)
{
    int left = 1;
    struct scps_alloc a = {scarce_alloc, scarce_free, &left};
    struct scps_heap h;
    struct item it[100];
    uint32_t in = 0;
    (void)x;

    scps_heap_init(&h, &a, offsetof(struct item, slot));
    assert_int_equal(scps_heap_reserve(&h, 20), 0);
    for (int i = 0; i < 100; i++) {
        it[i].slot = SCPS_HEAP_NONE;
        int err = scps_heap_set(&h, 100 - i, &it[i]);
        if (i < 20)
            /* Memory for 20 entries was reserved, so this call cannot fail. */
            assert_int_equal(err, 0);
        if (err) {
            assert_int_equal(err, SCPS_ERR_NOMEM);
            assert_int_equal(it[i].slot, SCPS_HEAP_NONE);
        } else {
            in++;
        }
    }
    assert_int_equal(h.n, in);
    assert_true(in < 100);
    assert_true(scps_heap_min(&h) == 101 - (scps_time)in);
    assert_int_equal(scps_heap_reserve(&h, UINT32_MAX), SCPS_ERR_NOMEM);
    scps_heap_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations),
        cmocka_unit_test(out_of_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
