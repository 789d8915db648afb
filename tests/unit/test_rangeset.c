/* SPDX-License-Identifier: MIT */
/* base/rangeset.c compared with a bitmap, and the limits of a set. */
#include "base/rangeset.h"

#include <scps/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "cmocka_all.h"

enum { SPACE = 400 };

static void check(const struct scps_rangeset *s, const bool *bit, scps_off base)
{
    uint32_t n = 0;
    uint64_t total = 0;
    for (scps_off i = 0; i < SPACE; i++) {
        total += bit[i];
        if (!bit[i] || (i && bit[i - 1]))
            continue;
        scps_off to = i;
        while (to < SPACE && bit[to])
            to++;
        assert_true(n < s->n);
        assert_int_equal(scps_rangeset_at(s, n)->from, base + i);
        assert_int_equal(scps_rangeset_at(s, n)->to, base + to);
        n++;
    }
    assert_int_equal(s->n, n);
    assert_int_equal(scps_rangeset_total(s), total);
    for (scps_off off = base; off < base + SPACE; off++) {
        uint32_t i = 0;
        while (i < s->n && scps_rangeset_at(s, i)->to <= off)
            i++;
        assert_int_equal(scps_rangeset_find(s, off), i);
    }
}

static void against_a_bitmap(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_prng r;
    (void)x;

    for (uint64_t seed = 0; seed < 8; seed++) {
        /* The offsets lie at the top of the 64-bit space, or at its bottom, where from - 1 would
         * wrap. */
        scps_off base = seed % 2 ? UINT64_MAX - SPACE : 0;
        struct scps_rangeset s;
        bool bit[SPACE] = {false};
        scps_prng_seed(&r, seed);
        scps_rangeset_init(&s, 1000);
        for (int turn = 0; turn < 500; turn++) {
            scps_off from = scps_prng_below(&r, SPACE);
            scps_off to = from + scps_prng_below(&r, seed < 4 ? 4 : 60);
            if (to > SPACE)
                to = SPACE;
            if (scps_prng_below(&r, 40) == 0) {
                scps_rangeset_trim(&s, base + from);
                memset(bit, 0, from);
            } else {
                bool fresh = false;
                for (scps_off i = from; i < to; i++) {
                    fresh |= !bit[i];
                    bit[i] = true;
                }
                struct scps_range m = {1, 0};
                assert_int_equal(scps_rangeset_add(&s, &a, base + from, base + to, &m), fresh);
                if (from < to) {
                    assert_true(m.from <= base + from && m.to >= base + to);
                    uint32_t at = scps_rangeset_find(&s, base + from);
                    assert_memory_equal(scps_rangeset_at(&s, at), &m, sizeof m);
                }
            }
            check(&s, bit, base);
        }
        scps_rangeset_fini(&s, &a);
        assert_null(s.v);
    }
}

/* As in a receive queue, ranges are added at the end and removed at the front: the array must not
 * grow with the distance. */
static void a_long_walk_stays_small(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_rangeset s;
    (void)x;
    scps_rangeset_init(&s, 64);
    for (scps_off i = 0; i < 100000; i++) {
        assert_int_equal(scps_rangeset_add(&s, &a, 10 * i, 10 * i + 5, NULL), 1);
        if (i >= 20)
            scps_rangeset_trim(&s, 10 * (i - 20) + 7);
        assert_true(s.n <= 21);
    }
    assert_true(s.cap <= 128);
    scps_rangeset_fini(&s, &a);
}

/* Where a range joins two others, the ranges on the side that has fewer of them are moved: the
 * holes of a stream are filled from the lowest one up, and if the lowest one is filled last, as
 * many ranges as there are holes lie above each that is joined. */
static void a_merge_moves_the_fewer(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_rangeset s;
    struct scps_range m;
    bool bit[SPACE] = {false};
    (void)x;
    scps_rangeset_init(&s, 100);
    for (scps_off i = 0; i < 20; i++) {
        assert_int_equal(scps_rangeset_add(&s, &a, 3 * i, 3 * i + 2, NULL), 1);
        bit[3 * i] = bit[3 * i + 1] = true;
    }
    const struct scps_range *last = scps_rangeset_at(&s, 19);
    for (scps_off i = 1; i < 6; i++) {
        assert_int_equal(scps_rangeset_add(&s, &a, 3 * i + 2, 3 * i + 3, &m), 1);
        bit[3 * i + 2] = true;
        assert_int_equal(m.from, 3);
        check(&s, bit, 0);
        assert_ptr_equal(scps_rangeset_at(&s, s.n - 1), last);
    }
    /* Three ranges of the upper half are joined to one, so the four above it are moved. */
    assert_int_equal(scps_rangeset_add(&s, &a, 3 * 13, 3 * 16, &m), 1);
    memset(bit + 3 * 13, true, 9);
    check(&s, bit, 0);
    assert_ptr_equal(scps_rangeset_at(&s, s.n - 1), last - 3);
    scps_rangeset_fini(&s, &a);
}

/* When n ranges are added in descending order, each is moved at most 2 log2(n) times on average: a
 * window of segments that arrive in the reverse order does not cost n moves for each segment. */
static void descending_order(void **x)
{
    enum { N = 4096 };
    struct scps_alloc a = scps_alloc_default();
    struct scps_rangeset s;
    uint64_t moved = 0;
    (void)x;
    scps_rangeset_init(&s, N);
    for (scps_off i = N; i-- > 0;) {
        const struct scps_range *last = s.n ? scps_rangeset_at(&s, s.n - 1) : NULL;
        uint32_t before = s.n;
        assert_int_equal(scps_rangeset_add(&s, &a, 2 * i, 2 * i + 1, NULL), 1);
        if (last && scps_rangeset_at(&s, before) != last)
            moved += before;
    }
    assert_true(moved <= 2 * 12 * N);
    assert_int_equal(s.n, N);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(scps_rangeset_at(&s, i)->from, 2 * (scps_off)i);
    assert_true(s.cap <= 2 * N);
    scps_rangeset_fini(&s, &a);
}

static void limits(void **x)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_rangeset s;
    (void)x;
    scps_rangeset_init(&s, 3);
    assert_int_equal(scps_rangeset_add(&s, &a, 10, 20, NULL), 1);
    assert_int_equal(scps_rangeset_add(&s, &a, 30, 40, NULL), 1);
    assert_int_equal(scps_rangeset_add(&s, &a, 50, 60, NULL), 1);
    assert_int_equal(scps_rangeset_add(&s, &a, 70, 80, NULL), SCPS_ERR_LIMIT);
    assert_int_equal(scps_rangeset_add(&s, &a, 22, 28, NULL), SCPS_ERR_LIMIT);
    assert_int_equal(s.n, 3);
    assert_int_equal(scps_rangeset_total(&s), 30);
    /* A full set still accepts a range that joins two others. */
    assert_int_equal(scps_rangeset_add(&s, &a, 20, 30, NULL), 1);
    assert_int_equal(s.n, 2);
    assert_int_equal(scps_rangeset_add(&s, &a, 12, 38, NULL), 0);
    assert_int_equal(scps_rangeset_add(&s, &a, 5, 5, NULL), 0);
    assert_int_equal(scps_rangeset_add(&s, &a, 0, UINT64_MAX, NULL), 1);
    assert_int_equal(s.n, 1);
    scps_rangeset_fini(&s, &a);
}

static void *no_alloc(void *ctx, size_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}

static void without_memory(void **x)
{
    struct scps_alloc a = scps_alloc_default(), none = {no_alloc, a.free, NULL};
    struct scps_rangeset s;
    (void)x;
    scps_rangeset_init(&s, 100);
    assert_int_equal(scps_rangeset_add(&s, &none, 1, 2, NULL), SCPS_ERR_NOMEM);
    for (scps_off i = 0; i < 8; i++)
        assert_int_equal(scps_rangeset_add(&s, &a, 10 * i, 10 * i + 1, NULL), 1);
    assert_int_equal(scps_rangeset_add(&s, &none, 200, 201, NULL), SCPS_ERR_NOMEM);
    assert_int_equal(scps_rangeset_add(&s, &none, 5, 6, NULL), SCPS_ERR_NOMEM);
    assert_int_equal(s.n, 8);
    assert_int_equal(scps_rangeset_total(&s), 8);
    scps_rangeset_fini(&s, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_a_bitmap),
        cmocka_unit_test(a_long_walk_stays_small),
        cmocka_unit_test(a_merge_moves_the_fewer),
        cmocka_unit_test(descending_order),
        cmocka_unit_test(limits),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
