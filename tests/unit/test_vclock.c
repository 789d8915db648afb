/* SPDX-License-Identifier: MIT */
/* sim/vclock.c: the heap of events compared with a sorted list, and the order of events of the same
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/prng.h"
#include "sim/vclock.h"

#include <scps/error.h>

static void equal_times_go_by_rank(void **state)
{
    enum { N = 50 };
    struct scps_alloc a = scps_alloc_default();
    struct scps_vclock c;
    struct scps_vevent e[N];
    struct scps_prng r;
    (void)state;

    scps_prng_seed(&r, 11);
    for (int round = 0; round < 100; round++) {
        scps_vclock_init(&c, &a);
        for (unsigned i = 0; i < N; i++) {
            scps_vevent_init(&e[i], i);
            assert_int_equal(scps_vclock_reserve(&c), 0);
        }
        /* Events are added and removed at random; in the end all have the time 5. */
        for (int k = 0; k < 300; k++)
            scps_vclock_set(&c, &e[scps_prng_below(&r, N)],
                            scps_prng_below(&r, 4) ? (scps_time)scps_prng_below(&r, 10)
                                                   : SCPS_NEVER);
        for (unsigned i = 0; i < N; i++)
            scps_vclock_set(&c, &e[(i * 7) % N], 5);
        for (unsigned i = 0; i < N; i++) {
            const struct scps_vclock_node *top = scps_vclock_top(&c);
            assert_true(top->when == 5);
            assert_ptr_equal(top->ev, &e[i]);
            scps_vclock_set(&c, top->ev, SCPS_NEVER);
        }
        assert_int_equal(scps_vclock_top(&c)->when, SCPS_NEVER);
        scps_vclock_fini(&c);
    }
}

static void the_top_is_the_least_after_any_change(void **state)
{
    enum { N = 37 };
    struct scps_alloc a = scps_alloc_default();
    struct scps_vclock c;
    struct scps_vevent e[N];
    scps_time when[N];
    struct scps_prng r;
    (void)state;

    scps_prng_seed(&r, 12);
    scps_vclock_init(&c, &a);
    for (unsigned i = 0; i < N; i++) {
        scps_vevent_init(&e[i], N - i);
        when[i] = SCPS_NEVER;
        assert_int_equal(scps_vclock_reserve(&c), 0);
    }
    for (int k = 0; k < 50000; k++) {
        unsigned i = (unsigned)scps_prng_below(&r, N), least = N;
        when[i] = scps_prng_below(&r, 3) ? (scps_time)scps_prng_below(&r, 60) : SCPS_NEVER;
        scps_vclock_set(&c, &e[i], when[i]);
        for (i = 0; i < N; i++)
            if (when[i] != SCPS_NEVER && (least == N || when[i] < when[least] ||
                                          (when[i] == when[least] && e[i].rank < e[least].rank)))
                least = i;
        const struct scps_vclock_node *top = scps_vclock_top(&c);
        if (least == N) {
            assert_int_equal(scps_vclock_top(&c)->when, SCPS_NEVER);
        } else {
            assert_ptr_equal(top->ev, &e[least]);
            assert_true(top->when == when[least]);
        }
    }
    scps_vclock_fini(&c);
}

/* The memory of the heap grows three times while events are in it. Afterwards each of them can
 * still be set to another time. */
static void events_stay_when_the_heap_grows(void **state)
{
    enum { N = 100 };
    struct scps_alloc a = scps_alloc_default();
    struct scps_vclock c;
    struct scps_vevent e[N];
    (void)state;

    scps_vclock_init(&c, &a);
    for (unsigned i = 0; i < N; i++) {
        scps_vevent_init(&e[i], i);
        assert_int_equal(scps_vclock_reserve(&c), 0);
        scps_vclock_set(&c, &e[i], 1000 - (scps_time)i);
    }
    for (unsigned i = 0; i < N; i++)
        scps_vclock_set(&c, &e[i], (scps_time)(i * 37 % N));
    for (unsigned at = 0; at < N; at++) {
        const struct scps_vclock_node *top = scps_vclock_top(&c);
        assert_true(top->when == (scps_time)at);
        assert_true((top->ev - e) * 37 % N == at);
        scps_vclock_set(&c, &e[top->ev - e], SCPS_NEVER);
    }
    assert_int_equal(scps_vclock_top(&c)->when, SCPS_NEVER);
    scps_vclock_fini(&c);
}

static void *no_memory(void *ctx, size_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}

static void reserve_fails_without_memory(void **state)
{
    struct scps_alloc a = scps_alloc_default();
    struct scps_vclock c;
    (void)state;

    a.alloc = no_memory;
    scps_vclock_init(&c, &a);
    assert_int_equal(scps_vclock_top(&c)->when, SCPS_NEVER);
    assert_int_equal(scps_vclock_reserve(&c), SCPS_ERR_NOMEM);
    assert_int_equal(scps_vclock_top(&c)->when, SCPS_NEVER);
    scps_vclock_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_times_go_by_rank),
        cmocka_unit_test(the_top_is_the_least_after_any_change),
        cmocka_unit_test(events_stay_when_the_heap_grows),
        cmocka_unit_test(reserve_fails_without_memory),
    };
    return cmocka_run_group_tests_name("vclock", tests, NULL, NULL);
}
