/* SPDX-License-Identifier: MIT */
/* core/send.c: the send sequence space: window updates, the FIN, and what is left to send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/send.h"

/* Writes and sends a thousand octets, of which the first half is acknowledged. */
static struct scps_send half(void)
{
    struct scps_send s = {0};

    scps_send_init(&s);
    scps_send_begin(&s, 77);
    scps_send_offered(&s, 5000, 2000);
    scps_send_left(&s, 1);
    scps_send_wrote(&s, 1000);
    scps_send_left(&s, 1000);
    scps_send_acked(&s, 501);
    return s;
}

/* RFC 9293 section 3.10.7.4: the window is taken if SND.WL1 < SEG.SEQ, or SND.WL1 = SEG.SEQ and
 * SND.WL2 =< SEG.ACK. */
static void an_older_segment_does_not_set_the_window(void **state)
{
    struct scps_send s = half();
    (void)state;

    assert_int_equal(scps_send_window(&s, 5100, 501, 700), SCPS_WINDOW_MOVED);
    assert_int_equal(s.edge, 1201);
    assert_int_equal(scps_send_window(&s, 5099, 601, 900), SCPS_WINDOW_OLD);
    assert_int_equal(scps_send_window(&s, 5100, 500, 900), SCPS_WINDOW_OLD);
    assert_int_equal(s.edge, 1201);
    assert_int_equal(scps_send_window(&s, 5100, 601, 600), SCPS_WINDOW_SAME);
    /* The peer shrinks its window. */
    assert_int_equal(scps_send_window(&s, 5101, 601, 100), SCPS_WINDOW_MOVED);
    assert_int_equal(s.edge, 701);
    assert_int_equal(s.max_wnd, 2000);
}

static void the_fin_follows_the_data(void **state)
{
    struct scps_send s = half();
    (void)state;

    assert_true(scps_send_all_sent(&s));
    scps_send_shut(&s);
    assert_false(scps_send_all_sent(&s));
    assert_int_equal(scps_send_fin_end(&s), 1002);
    scps_send_acked(&s, 1001);
    assert_false(scps_send_fin_sent(&s));
    scps_send_left(&s, 1);
    assert_true(scps_send_all_sent(&s));
    assert_false(scps_send_fin_acked(&s));
    scps_send_acked(&s, 1002);
    assert_true(scps_send_fin_acked(&s));
}

/* RFC 9293 section 3.10.7.4: a segment without data has a sequence number that the peer accepts,
 * also after the peer has shrunk its window. */
static void stands_inside_the_window(void **state)
{
    struct scps_send s = half();
    (void)state;

    assert_int_equal(scps_send_acceptable(&s), 1001);
    scps_send_window(&s, 5100, 501, 200);
    assert_int_equal(scps_send_acceptable(&s), 701);
    scps_send_acked(&s, 901);
    assert_int_equal(scps_send_acceptable(&s), 901);
}

static void counts_what_the_buffer_holds(void **state)
{
    struct scps_send s = {0};
    (void)state;

    scps_send_init(&s);
    assert_int_equal(scps_send_held(&s), 0); /* The SYN occupies no space in the send buffer. */
    scps_send_wrote(&s, 10);
    assert_int_equal(scps_send_held(&s), 10);
    scps_send_resume(&s, 1);
    assert_int_equal(scps_send_held(&s), 10);
    assert_int_equal(s.nxt, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_segment_does_not_set_the_window),
        cmocka_unit_test(the_fin_follows_the_data),
        cmocka_unit_test(stands_inside_the_window),
        cmocka_unit_test(counts_what_the_buffer_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
