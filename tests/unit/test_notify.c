/* SPDX-License-Identifier: MIT */
/* core/notify.c: the events of a connection, and the queues in which it waits, without a
 * connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/notify.h"

/* Events are returned in the order of enum scps_event_kind, each once. Only the first event puts
 * the connection into the queue. */
static void events(void **state)
{
    struct scps_notify n = {0};

    (void)state;
    assert_true(scps_notify_add(&n, SCPS_EV_WRITABLE));
    assert_false(scps_notify_add(&n, SCPS_EV_READABLE));
    assert_false(scps_notify_add(&n, SCPS_EV_READABLE));
    assert_int_equal(scps_notify_take(&n),
                     SCPS_EV_READABLE < SCPS_EV_WRITABLE ? SCPS_EV_READABLE : SCPS_EV_WRITABLE);
    assert_true(n.events);
    scps_notify_take(&n);
    assert_false(n.events);
    /* The connection is still in the queue, so the function returns false. */
    assert_false(scps_notify_add(&n, SCPS_EV_CLOSED));
    scps_notify_take(&n);
    scps_notify_unlisted(&n);
    assert_true(scps_notify_add(&n, SCPS_EV_CLOSED));
}

/* Events that happen before a connection is accepted are kept; those of a connection without an
 * owner are not. */
static void owners(void **state)
{
    struct scps_conn_owner o = {{0}};
    struct scps_notify n = {0};
    int listener, user;

    (void)state;
    scps_notify_wait(&n, &o, (struct scps_listener *)&listener);
    assert_false(scps_notify_add(&n, SCPS_EV_READABLE));
    assert_ptr_equal(o.listener, &listener);
    scps_notify_accept(&n, &o);
    assert_null(o.user);
    scps_notify_user(&o, &user);
    assert_true(n.events && scps_notify_add(&n, SCPS_EV_WRITABLE));
    scps_notify_release(&n);
    assert_false(n.events);
    scps_notify_unlisted(&n);
    assert_false(scps_notify_add(&n, SCPS_EV_CLOSED));
    assert_false(n.events);
}

static void queue(void **state)
{
    struct scps_queue q = {0};
    struct scps_queue_link l[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        scps_queue_add(&q, &l[i]);
    scps_queue_remove(&q, &l[1]); /* Removes the entry in the middle. */
    assert_ptr_equal(q.first, &l[0]);
    assert_ptr_equal(l[0].next, &l[2]);
    /* The last entry was removed, so the next one is appended behind the first. */
    scps_queue_remove(&q, &l[2]);
    scps_queue_add(&q, &l[1]);
    assert_ptr_equal(l[0].next, &l[1]);
    scps_queue_remove(&q, &l[0]); /* Removes the first entry. */
    assert_ptr_equal(q.first, &l[1]);
    assert_null(l[1].next);
    scps_queue_remove(&q, &l[1]);
    assert_null(q.first);
    assert_null(q.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events),
        cmocka_unit_test(owners),
        cmocka_unit_test(queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
