/* SPDX-License-Identifier: MIT */
/* core/snackwait.c: postponed holes become due in the order in which they were reported, and a
 * report within one of them is recognised, as by a search through all of them. */
#include "core/snackwait.h"

#include "base/bytes.h"
#include "base/prng.h"
#include "cmocka_all.h"

static struct scps_snackwait w;
static struct scps_alloc alloc;

static int begin(void **state)
{
    (void)state;
    alloc = scps_alloc_default();
    w = (struct scps_snackwait){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    scps_snackwait_free(&w, &alloc);
    assert_null(w.room);
    assert_int_equal(scps_snackwait_due(&w), 0);
    assert_false(scps_snackwait_covers(&w, 1, 2));
    return 0;
}

static void add(scps_off from, scps_off to, scps_time due, scps_time want)
{
    assert_true(scps_snackwait_reserve(&w, &alloc));
    assert_false(scps_snackwait_covers(&w, from, to));
    assert_int_equal(scps_snackwait_add(&w, from, to, due), want);
    assert_true(scps_snackwait_covers(&w, from, to));
}

static void take(scps_off from, scps_off to, scps_time due)
{
    struct scps_snackwait_hole h;

    assert_int_equal(scps_snackwait_due(&w), due);
    h = scps_snackwait_take(&w);
    assert_int_equal(h.from, from);
    assert_int_equal(h.to, to);
    assert_int_equal(h.due, due);
}

/* A hole that contains earlier ones is postponed, too; the earlier ones become due first. */
static void holes_within_a_later_hole(void **state)
{
    (void)state;
    add(30, 40, 5, 5);
    add(10, 20, 6, 6);
    add(50, 60, 7, 7);
    assert_false(scps_snackwait_covers(&w, 15, 35));
    add(10, 40, 8, 8);
    assert_true(scps_snackwait_covers(&w, 15, 35));
    assert_false(scps_snackwait_covers(&w, 15, 41));
    assert_false(scps_snackwait_covers(&w, 9, 20));
    take(30, 40, 5);
    take(10, 20, 6);
    assert_true(scps_snackwait_covers(&w, 30, 40));
    take(50, 60, 7);
    assert_false(scps_snackwait_covers(&w, 50, 60));
    take(10, 40, 8);
    assert_false(scps_snackwait_covers(&w, 30, 40));
}

/* No hole is processed before one that was reported earlier, although its delay is shorter. */
static void in_the_order_of_reports(void **state)
{
    (void)state;
    add(10, 20, 100, 100);
    add(30, 40, 90, 100);
    add(50, 60, 101, 101);
    take(10, 20, 100);
    take(30, 40, 100);
    take(50, 60, 101);
}

/* There is room for SCPS_SNACKWAIT_MAX holes. */
static void limit_of_postponed_holes(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (scps_off i = 0; i < SCPS_SNACKWAIT_MAX; i++)
            add(1000 - 3 * i, 1002 - 3 * i, (scps_time)i + 1, (scps_time)i + 1);
        assert_false(scps_snackwait_reserve(&w, &alloc));
        for (scps_off i = 0; i < SCPS_SNACKWAIT_MAX; i++) {
            assert_true(scps_snackwait_covers(&w, 1000 - 3 * i, 1001 - 3 * i));
            assert_false(scps_snackwait_covers(&w, 1000 - 3 * i, 1003 - 3 * i));
        }
        for (scps_off i = 0; i < SCPS_SNACKWAIT_MAX - round; i++)
            take(1000 - 3 * i, 1002 - 3 * i, (scps_time)i + 1);
        while (w.n)
            scps_snackwait_take(&w);
    }
}

static bool covered(const struct scps_snackwait_hole *v, unsigned n, scps_off from, scps_off to)
{
    for (unsigned i = 0; i < n; i++)
        if (v[i].from <= from && to <= v[i].to)
            return true;
    return false;
}

/* Holes at random, beside a list that is searched from end to end. */
static void compared_with_a_list(void **state)
{
    struct scps_snackwait_hole v[SCPS_SNACKWAIT_MAX];
    struct scps_prng r;
    unsigned n = 0, most = 0;
    (void)state;

    scps_prng_seed(&r, 9);
    for (scps_time now = 1; now < 40000; now++) {
        scps_off from = scps_prng_next(&r) % 4000, to = from + 1 + scps_prng_next(&r) % 9;
        bool was = covered(v, n, from, to);
        assert_int_equal(scps_snackwait_covers(&w, from, to), was);
        if (!was && n < SCPS_SNACKWAIT_MAX && now % 4096 < 2048) {
            add(from, to, now, now);
            v[n++] = (struct scps_snackwait_hole){from, to, now};
        } else if (n) {
            take(v[0].from, v[0].to, v[0].due);
            memmove(v, v + 1, --n * sizeof *v);
        }
        most = SCPS_MAX(most, n);
    }
    assert_int_equal(most, SCPS_SNACKWAIT_MAX);
}

/* Without memory nothing is postponed, and it is requested again the next time. */
static void *refuse(void *ctx, size_t size)
{
    (void)ctx, (void)size;
    return NULL;
}

static void no_memory(void **state)
{
    struct scps_alloc none = alloc;
    (void)state;

    none.alloc = refuse;
    assert_false(scps_snackwait_reserve(&w, &none));
    assert_false(scps_snackwait_covers(&w, 1, 2));
    add(1, 2, 3, 3);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(holes_within_a_later_hole),
        CASE(in_the_order_of_reports),
        CASE(limit_of_postponed_holes),
        CASE(compared_with_a_list),
        CASE(no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
