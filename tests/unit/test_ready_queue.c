/* SPDX-License-Identifier: MIT */
/* The queue of connections that are ready to send: each is in it at most once, in the order in
 * which it was woken, and the first goes behind the others when it was served. */
#include "core/ready_queue.h"

#include "cmocka_all.h"
#include "core/sender.h"

#define N 4

static struct scps_env env;
static struct scps_ready_queue q;
static struct scps_sender s[N];

static int begin(void **state)
{
    (void)state;
    memset(&env, 0, sizeof env);
    memset(&q, 0, sizeof q);
    memset(s, 0, sizeof s);
    for (int i = 0; i < N; i++) {
        s[i].ctx.env = &env;
        scps_sender_serve(&s[i], &q);
    }
    return 0;
}

/* Asserts that the senders in the queue are those of `want`, digits, in this order. */
static void assert_queue(const char *want)
{
    const struct scps_sender *last = NULL;

    for (const struct scps_sender *x = q.head; x; last = x, x = x->ready_next) {
        assert_int_equal(x - s, *want ? *want - '0' : -1);
        assert_true(x->ready);
        want++;
    }
    assert_int_equal(*want, 0);
    assert_ptr_equal(q.tail, last);
}

static void wake(const char *who)
{
    for (; *who; who++)
        scps_sender_wake(&s[*who - '0']);
}

static void in_the_order_of_waking(void **state)
{
    (void)state;
    assert_queue("");
    wake("20103");
    assert_queue("2013");
    scps_ready_queue_next(&q);
    assert_queue("0132");
    scps_sender_dequeue(&s[1]);
    assert_queue("032");
    /* The connection is not in the queue any more, so the call has no effect. */
    scps_sender_dequeue(&s[1]);
    assert_queue("032");
    scps_sender_dequeue(&s[2]);
    assert_queue("03");
    wake("1");
    assert_queue("031");
    scps_sender_dequeue(&s[0]);
    assert_queue("31");
    scps_sender_dequeue(&s[3]);
    scps_sender_dequeue(&s[1]);
    assert_queue("");
    wake("1");
    assert_queue("1");
}

/* Without a queue, as when its link was removed, a connection sends nothing. */
static void without_a_queue(void **state)
{
    (void)state;
    scps_sender_serve(&s[0], NULL);
    wake("01");
    assert_queue("1");
    assert_false(s[0].ready);
}

/* A connection that waits to be freed is in the other queue, and cannot be woken. */
static void waits_to_be_freed(void **state)
{
    (void)state;
    wake("0123");
    scps_sender_put_aside(&s[3]);
    scps_sender_put_aside(&s[1]);
    assert_queue("02");
    wake("13");
    assert_queue("02");
    assert_ptr_equal(env.dead, &s[1]);
    scps_sender_dequeue_free(&s[1]);
    assert_ptr_equal(env.dead, &s[3]);
    scps_sender_dequeue_free(&s[3]);
    assert_null(env.dead);
    assert_queue("02");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(in_the_order_of_waking, begin),
        cmocka_unit_test_setup(without_a_queue, begin),
        cmocka_unit_test_setup(waits_to_be_freed, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
