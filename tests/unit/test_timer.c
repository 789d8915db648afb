/* SPDX-License-Identifier: MIT */
/* core/timer.c: a timer of a connection, and the connection's key in the host's heap of
 * deadlines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/timer.h"

struct host {
    struct scps_env env;
    struct scps_conn_ctx x; /* This stands for a connection, of which it is the first member. */
};

static void begin(struct host *h)
{
    *h = (struct host){0};
    h->env.alloc = scps_alloc_default();
    scps_heap_init(&h->env.deadlines, &h->env.alloc, offsetof(struct scps_conn_ctx, heap_slot));
    assert_int_equal(scps_heap_reserve(&h->env.deadlines, 1), 0);
    h->x = (struct scps_conn_ctx){
        .env = &h->env, .timers_by = SCPS_NEVER, .heap_slot = SCPS_HEAP_NONE};
}

static void end(struct host *h)
{
    scps_heap_fini(&h->env.deadlines);
}

static void key_is_never_too_late(void **state)
{
    struct host h;
    struct scps_timer a = {SCPS_NEVER}, b = {SCPS_NEVER};
    (void)state;

    begin(&h);
    assert_false(scps_timer_runs(&a));
    scps_timer_set(&h.x, &a, 100);
    assert_true(scps_timer_runs(&a));
    assert_int_equal(scps_heap_min(&h.env.deadlines), 100);
    scps_timer_set(&h.x, &b, 200); /* This time is later than that of a, so the key stays. */
    assert_int_equal(scps_heap_min(&h.env.deadlines), 100);
    /* The timer is set to a later time; the key may stay too early. */
    scps_timer_set(&h.x, &a, 300);
    assert_int_equal(scps_heap_min(&h.env.deadlines), 100);
    scps_timer_by(&h.x, &a, 50);
    assert_int_equal(a.at, 50);
    assert_int_equal(scps_heap_min(&h.env.deadlines), 50);
    scps_timer_by(&h.x, &a, 60);
    assert_int_equal(a.at, 50);
    end(&h);
}

/* The pacer's timer is set with each segment, so the earliest time of the other timers is stored
 * apart. */
static void pacer_is_not_in_timers_by(void **state)
{
    struct host h;
    struct scps_timer pace = {SCPS_NEVER}, other = {SCPS_NEVER};
    (void)state;

    begin(&h);
    scps_timer_set_next(&h.x, &pace, 10);
    assert_int_equal(scps_heap_min(&h.env.deadlines), 10);
    assert_int_equal(h.x.timers_by, SCPS_NEVER);
    scps_timer_set(&h.x, &other, 100);
    assert_int_equal(h.x.timers_by, 100);
    assert_int_equal(scps_heap_min(&h.env.deadlines), 10);
    scps_timer_looked(&h.x, SCPS_NEVER);
    scps_timer_set(&h.x, &other, 5);
    assert_int_equal(scps_heap_min(&h.env.deadlines), 5);
    end(&h);
}

static void an_expired_timer_is_taken_once(void **state)
{
    struct scps_timer t = {100};
    (void)state;

    assert_false(scps_timer_take(&t, 99));
    assert_true(scps_timer_take(&t, 100));
    assert_false(scps_timer_take(&t, 100));
    assert_false(scps_timer_runs(&t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_is_never_too_late),
        cmocka_unit_test(pacer_is_not_in_timers_by),
        cmocka_unit_test(an_expired_timer_is_taken_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
