/* SPDX-License-Identifier: MIT */
/* core/loss.c without a connection: which segments RFC 6675 IsLost, early retransmit, the age of a
 * segment, and the loss of a retransmission mark as lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/loss.h"
#include <scps/alloc.h>

#define LEN 100u
/* limits of scps_loss_by_order(): segments below x are skipped, and none is too young */
#define BELOW(x) ((struct scps_loss_limits){x, SCPS_NEVER})

struct world {
    struct scps_scoreboard sb;
    struct scps_alloc a;
    struct scps_ack_result sum;
};

/* Sends n segments, the i-th of them at time i (µs). */
static void begin(struct world *w, unsigned n)
{
    *w = (struct world){.a = scps_alloc_default()};
    scps_sb_init(&w->sb);
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(scps_sb_reserve(&w->sb, &w->a), 0);
        scps_sb_sent(&w->sb, (scps_off)LEN * i, LEN, 0, i);
    }
}

static void arrived(struct world *w, unsigned i)
{
    w->sum = (struct scps_ack_result){.oldest_sent = -1};
    scps_sb_arrived(&w->sb, 1000, (scps_off)LEN * i, (scps_off)LEN * (i + 1), 0, &w->sum);
}

static int state_of(const struct world *w, unsigned i)
{
    return scps_sb_at(&w->sb, i)->state;
}

static void lost_after_three_arrivals_above(void **state)
{
    struct world w;
    (void)state;

    begin(&w, 8);
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(state_of(&w, 0), SCPS_SENT_FLIGHT);
        arrived(&w, i);
        scps_loss_by_order(&w.sb, 3, false, BELOW(0), &w.sum);
    }
    assert_int_equal(state_of(&w, 0), SCPS_SENT_LOST);
    assert_int_equal(w.sum.lost, LEN);
    assert_int_equal(state_of(&w, 4), SCPS_SENT_FLIGHT);
    scps_sb_fini(&w.sb, &w.a);
}

/* RFC 5827 section 3.2: two segments are outstanding, and there is no more data to send. */
static void early_retransmit(void **state)
{
    struct world w;
    (void)state;

    begin(&w, 2);
    arrived(&w, 1);
    scps_loss_by_order(&w.sb, 3, false, BELOW(0), &w.sum);
    assert_int_equal(state_of(&w, 0), SCPS_SENT_FLIGHT);
    scps_loss_by_order(&w.sb, 3, true, BELOW(0), &w.sum);
    assert_int_equal(state_of(&w, 0), SCPS_SENT_LOST);
    scps_sb_fini(&w.sb, &w.a);
}

/* At and above the offset `from` the rule applies; below it the receiver reports its holes by
 * SNACK, so nothing is concluded there. */
static void holes_reported_by_snack(void **state)
{
    struct world w;
    (void)state;

    begin(&w, 8);
    for (unsigned i = 2; i <= 6; i++)
        arrived(&w, i);
    scps_loss_by_order(&w.sb, 3, false, BELOW(LEN), &w.sum);
    assert_int_equal(state_of(&w, 0), SCPS_SENT_FLIGHT);
    assert_int_equal(state_of(&w, 1), SCPS_SENT_LOST);
    scps_sb_fini(&w.sb, &w.a);
}

/* The first segment was resent. It counts as lost again when the third segment sent after that has
 * arrived. */
static void lost_again(void **state)
{
    struct world w;
    uint32_t idx;
    (void)state;

    begin(&w, 4);
    for (unsigned i = 1; i <= 3; i++)
        arrived(&w, i);
    scps_loss_by_order(&w.sb, 3, false, BELOW(0), &w.sum);
    assert_true(scps_sb_next_lost(&w.sb, &idx));
    scps_sb_resent(&w.sb, idx, 100);
    for (unsigned i = 4; i < 8; i++) {
        assert_int_equal(scps_sb_reserve(&w.sb, &w.a), 0);
        scps_sb_sent(&w.sb, (scps_off)LEN * i, LEN, 0, 100 + i);
    }
    for (unsigned i = 4; i <= 6; i++) {
        struct scps_resent e;
        scps_loss_of_resent(&w.sb, 3, false, SCPS_NEVER, &w.sum);
        assert_int_equal(state_of(&w, 0), SCPS_SENT_FLIGHT);
        assert_true(scps_sb_resent_front(&w.sb, &e));
        arrived(&w, i);
    }
    scps_loss_of_resent(&w.sb, 3, false, SCPS_NEVER, &w.sum);
    assert_int_equal(state_of(&w, 0), SCPS_SENT_LOST);
    scps_sb_fini(&w.sb, &w.a);
}

/* A needless retransmission doubles the age at which the next one counts as lost again: once for
 * each round of retransmissions, at most up to the RTO; a later episode begins with half of it. */
static void needless_resends_wait(void **state)
{
    struct world w;
    struct scps_ack_result sum = {.oldest_sent = -1}, none = sum;
    (void)state;

    begin(&w, 4);
    for (uint32_t i = 0; i < 3; i++)
        scps_sb_lose(&w.sb, i, &sum);
    for (uint32_t i = 0; i < 3; i++)
        scps_sb_resent(&w.sb, i, 100);
    assert_int_equal(scps_sb_resend_wait(&w.sb, 50, 1000), 0);
    /* The segment arrives a quarter of a round trip after it was resent, so the original arrived:
     * the retransmission was needless. */
    scps_sb_arrived(&w.sb, 112, 0, LEN, 50, &sum);
    assert_int_equal(scps_sb_resend_wait(&w.sb, 50, 1000), 0);
    scps_sb_arrived(&w.sb, 111, LEN, 2 * LEN, 50, &sum);
    assert_int_equal(scps_sb_resend_wait(&w.sb, 50, 1000), 100);
    /* This segment was resent together with the one before, so it does not double the wait
     * again. */
    scps_sb_arrived(&w.sb, 111, 2 * LEN, 3 * LEN, 50, &sum);
    assert_int_equal(scps_sb_resend_wait(&w.sb, 50, 1000), 100);
    scps_sb_lose(&w.sb, 3, &sum);
    scps_sb_resent(&w.sb, 3, 200);
    scps_sb_arrived(&w.sb, 201, 3 * LEN, 4 * LEN, 50, &sum);
    assert_int_equal(scps_sb_resend_wait(&w.sb, 50, 1000), 200);
    assert_int_equal(scps_sb_resend_wait(&w.sb, 50, 120), 120);
    scps_sb_new_episode(&w.sb);
    assert_int_equal(scps_sb_resend_wait(&w.sb, 50, 1000), 100);

    /* The fifth segment is resent at 300 µs, and four more segments are sent behind it. */
    for (unsigned i = 4; i < 9; i++) {
        assert_int_equal(scps_sb_reserve(&w.sb, &w.a), 0);
        scps_sb_sent(&w.sb, (scps_off)LEN * i, LEN, 0, 250);
        if (i > 4)
            continue;
        scps_sb_lose(&w.sb, 4, &sum);
        scps_sb_resent(&w.sb, 4, 300);
    }
    for (unsigned i = 5; i < 9; i++)
        scps_sb_arrived(&w.sb, 399, (scps_off)LEN * i, (scps_off)LEN * (i + 1), 50, &none);
    /* At 399 µs the retransmission is too young to count as lost. */
    scps_loss_of_resent(&w.sb, 3, false, 299, &none);
    assert_int_equal(state_of(&w, 4), SCPS_SENT_FLIGHT);
    scps_loss_of_resent(&w.sb, 3, false, 300, &none);
    assert_int_equal(state_of(&w, 4), SCPS_SENT_LOST);
    scps_sb_fini(&w.sb, &w.a);
}

/* RFC 8985 section 6.2: a segment that was resent can be reported because an earlier transmission
 * has arrived. The least round trip is 50 us, but a queue has made it longer, so the caller gives
 * 100 us (resent_age). Reports of segments 1 to 4 that come 99 us after their retransmission are
 * for the first transmissions, whose reports were lost, and prove nothing about segment 0, which
 * was resent before them. After 100 us they do. */
static void a_report_before_the_age_of_a_resend(void **state)
{
    for (unsigned late = 0; late < 2; late++) {
        struct world w;
        (void)state;

        begin(&w, 5);
        for (unsigned i = 0; i < 5; i++) {
            scps_sb_lose(&w.sb, i, &w.sum);
            scps_sb_resent(&w.sb, i, 200);
        }
        scps_sb_set_resent_age(&w.sb, 100);
        for (unsigned i = 1; i < 5; i++)
            scps_sb_arrived(&w.sb, 299 + late, (scps_off)LEN * i, (scps_off)LEN * (i + 1), 50,
                            &w.sum);
        scps_loss_of_resent(&w.sb, 3, false, SCPS_NEVER, &w.sum);
        assert_int_equal(state_of(&w, 0), late ? SCPS_SENT_LOST : SCPS_SENT_FLIGHT);
        scps_sb_fini(&w.sb, &w.a);
    }
}

/* RFC 6675 section 4, NextSeg (3) and (4), with nothing more to send: of six segments the first
 * is lost and resent; the fifth and the sixth are lost, too. Each is found lost when
 * retransmissions have arrived that were sent after it. A segment below `from`, or one sent after
 * `then`, is not. */
static void lost_after_later_retransmissions_arrive(void **state)
{
    for (unsigned resends = 1; resends <= 2; resends++) {
        struct world w;
        (void)state;

        begin(&w, 6);
        for (unsigned i = resends; i <= 3; i++)
            arrived(&w, i);
        for (unsigned i = 0; i < resends; i++) {
            scps_sb_lose(&w.sb, i, &w.sum);
            scps_sb_resent(&w.sb, i, 100);
        }
        while (w.sb.frontier != 4)
            scps_sb_pass(&w.sb);
        for (unsigned i = 0; i < resends; i++) {
            scps_loss_of_overtaken(&w.sb, 3, 0, SCPS_NEVER, &w.sum);
            assert_int_equal(state_of(&w, 4), SCPS_SENT_FLIGHT);
            scps_sb_arrived(&w.sb, 1000, (scps_off)LEN * i, (scps_off)LEN * (i + 1), 50, &w.sum);
        }
        scps_loss_of_overtaken(&w.sb, 3, 5 * LEN, SCPS_NEVER, &w.sum);
        scps_loss_of_overtaken(&w.sb, 3, 0, 3, &w.sum);
        assert_int_equal(state_of(&w, 4), SCPS_SENT_FLIGHT);
        scps_loss_of_overtaken(&w.sb, 3, 0, 4, &w.sum);
        assert_int_equal(state_of(&w, 4), SCPS_SENT_LOST);
        assert_int_equal(state_of(&w, 5), SCPS_SENT_FLIGHT);
        scps_loss_of_overtaken(&w.sb, 3, 0, SCPS_NEVER, &w.sum);
        assert_int_equal(state_of(&w, 5), SCPS_SENT_LOST);
        scps_sb_fini(&w.sb, &w.a);
    }
}

static void by_age(void **state)
{
    struct scps_rtt rtt = {0};
    struct world w;
    (void)state;

    begin(&w, 1);
    /* No round trip has been measured, so no segment is lost by age. */
    scps_loss_by_age(&w.sb, &rtt, SCPS_SEC(9), &w.sum);
    rtt = (struct scps_rtt){.srtt = 500, .rttvar = 1000};
    scps_loss_by_age(&w.sb, &rtt, 4500, &w.sum);
    assert_int_equal(state_of(&w, 0), SCPS_SENT_FLIGHT);
    scps_loss_by_age(&w.sb, &rtt, 4501, &w.sum);
    assert_int_equal(state_of(&w, 0), SCPS_SENT_LOST);
    scps_sb_fini(&w.sb, &w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_after_three_arrivals_above),
        cmocka_unit_test(early_retransmit),
        cmocka_unit_test(holes_reported_by_snack),
        cmocka_unit_test(lost_again),
        cmocka_unit_test(needless_resends_wait),
        cmocka_unit_test(a_report_before_the_age_of_a_resend),
        cmocka_unit_test(lost_after_later_retransmissions_arrive),
        cmocka_unit_test(by_age),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
