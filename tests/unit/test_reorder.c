/* SPDX-License-Identifier: MIT */
/* core/reorder.c without a connection: by how much segments that were declared lost were late, and
 * when that measure is discarded. */
#include "core/reorder.h"

#include "cmocka_all.h"

#define RTT SCPS_MS(100)
#define RTO SCPS_SEC(1)

static struct scps_reorder ro;

/* Reports at time `now` the arrival of a segment that was sent an RTT before. */
static int begin(void **state)
{
    const struct scps_sent_segment newest = {.sent = SCPS_SEC(1) - RTT, .xseq = 7};
    const struct scps_ack_result sum = {.newest = &newest};

    (void)state;
    ro = (struct scps_reorder){0};
    scps_reorder_reported(&ro, &sum, 7, SCPS_SEC(1));
    return 0;
}

static struct scps_sent_segment segment(scps_off from, unsigned resends)
{
    return (struct scps_sent_segment){
        .from = from, .len = 100, .sent = SCPS_SEC(1), .resends = (uint8_t)resends};
}

static void resend(scps_off from, unsigned resends, bool fast)
{
    const struct scps_sent_segment r = segment(from, resends);

    scps_reorder_resent(&ro, &r, fast, SCPS_SEC(1) + RTT, RTO);
}

/* RFC 8985 section 6.2 step 4: the window is 0 until reordering has been seen. Only the RTT of a
 * segment that was sent once, after all others that have arrived, is used. */
static void no_window_before_reordering_is_seen(void **state)
{
    const struct scps_sent_segment other = {.sent = 0, .xseq = 6},
                                   again = {.xseq = 8, .resends = 1};
    struct scps_ack_result sum = {.newest = &other};

    (void)state;
    assert_int_equal(scps_reorder_window(&ro, RTO), 0);
    scps_reorder_reported(&ro, &sum, 7, SCPS_SEC(1));
    sum.newest = &again;
    scps_reorder_reported(&ro, &sum, 8, SCPS_SEC(1));
    assert_int_equal(ro.rtt, RTT);
    assert_int_equal(scps_reorder_window(&ro, RTO), 0);
}

/* Reports the arrival of a segment that was declared lost, not resent, and `ms` milliseconds
 * late. */
static void late_by(int ms)
{
    const struct scps_late late = {.sent = SCPS_SEC(1), .unresent = true, .any = true};

    scps_reorder_late(&ro, &late, SCPS_SEC(1) + RTT + SCPS_MS(ms));
}

/* Segments that were declared lost arrive 16 ms later than a round trip after they were sent. The
 * first one alone does not prove reordering. */
static void late_and_not_resent(void **state)
{
    (void)state;
    late_by(0);
    late_by(16);
    assert_int_equal(scps_reorder_window(&ro, RTO), 0);
    late_by(0);
    assert_int_equal(scps_reorder_window(&ro, RTO), 0);
    late_by(8); /* The longest time counts. */
    assert_int_equal(scps_reorder_window(&ro, RTO), SCPS_MS(18));
    late_by(24);
    assert_int_equal(scps_reorder_window(&ro, RTO), SCPS_MS(27));
    late_by(8);
    assert_int_equal(scps_reorder_window(&ro, RTO), SCPS_MS(27));
}

/* An acknowledgement that was lost can make one segment look late. This measure is discarded after
 * four recoveries. */
static void late_once(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        late_by(16);
        for (int i = 0; i < 4; i++)
            scps_reorder_recovered(&ro);
        assert_int_equal(ro.extent, 0);
    }
    late_by(8);
    for (int i = 0; i < 3; i++)
        scps_reorder_recovered(&ro);
    late_by(8);
    assert_int_equal(ro.extent, SCPS_MS(9));
}

/* The retransmission timeout is the bound of the window: what is later is left to the timer. */
static void bound(void **state)
{
    (void)state;
    late_by(8000);
    late_by(8000);
    assert_int_equal(scps_reorder_window(&ro, RTO), RTO);
}

/* Segments that were resent once, in an episode that no timeout began, are measured when an
 * acknowledgement came too soon for the retransmission, once each. */
static void late_and_resent(void **state)
{
    (void)state;
    late_by(1);
    resend(101, 0, true);
    resend(201, 1, true);  /* It was resent before. */
    resend(301, 0, false); /* A timeout caused this retransmission. */
    scps_reorder_arrived(&ro, 201, 401, SCPS_SEC(2), false);
    scps_reorder_arrived(&ro, 1, 101, SCPS_SEC(2), false);
    assert_int_equal(ro.extent, 0);
    scps_reorder_arrived(&ro, 101, 201, SCPS_SEC(1) + RTT + SCPS_MS(8), false);
    assert_int_equal(ro.extent, SCPS_MS(9));
    scps_reorder_arrived(&ro, 101, 201, SCPS_SEC(2), false);
    assert_int_equal(ro.extent, SCPS_MS(9));
}

/* A DSACK that comes a round trip after the retransmission may be for the retransmission: then the
 * first transmission arrived no sooner than it was resent. A DSACK that comes later is for the
 * first transmission. */
static void reported_twice(void **state)
{
    (void)state;
    late_by(1);
    scps_reorder_resent(&ro,
                        &(struct scps_sent_segment){.from = 101, .len = 100, .sent = SCPS_SEC(1)},
                        true, SCPS_SEC(1) + RTT + SCPS_MS(8), RTO);
    scps_reorder_arrived(&ro, 101, 201, SCPS_SEC(1) + 2 * RTT + SCPS_MS(33), true);
    assert_int_equal(ro.extent, SCPS_MS(9));
    resend(201, 0, true);
    scps_reorder_arrived(&ro, 201, 301, SCPS_SEC(1) + RTT + SCPS_MS(128), true);
    assert_int_equal(ro.extent, SCPS_MS(144));
}

/* After a second retransmission nothing is measured, and neither after eight timeouts. Of more
 * segments than there is room for, the first ones are measured. */
static void not_measured(void **state)
{
    struct scps_sent_segment r = segment(901, 0);

    (void)state;
    late_by(1); /* A second late segment would be measured. */
    resend(101, 0, true);
    resend(101, 1, true);
    scps_reorder_arrived(&ro, 101, 201, SCPS_SEC(2), false);
    assert_int_equal(ro.extent, 0);
    for (unsigned i = 0; i <= SCPS_REORDER_COPIES; i++)
        resend(1001 + 100 * i, 0, true);
    scps_reorder_arrived(&ro, 1001 + 100 * SCPS_REORDER_COPIES, 9000, SCPS_SEC(2), false);
    assert_int_equal(ro.extent, 0);
    scps_reorder_resent(&ro, &r, false, SCPS_SEC(1) + 8 * RTO + 1, RTO);
    scps_reorder_arrived(&ro, 1001, 9000, SCPS_SEC(9), false);
    assert_int_equal(ro.extent, 0);
}

/* The round trip of the newest segment that was sent once, or SRTT if a late report has made the
 * former longer. */
static void current_round_trip(void **state)
{
    (void)state;
    ro.rtt = 0;
    assert_int_equal(scps_reorder_current_rtt(&ro, RTT), 0);
    ro.rtt = SCPS_MS(30);
    assert_int_equal(scps_reorder_current_rtt(&ro, SCPS_MS(40)), SCPS_MS(30));
    ro.rtt = SCPS_SEC(30);
    assert_int_equal(scps_reorder_current_rtt(&ro, SCPS_MS(40)), SCPS_MS(40));
}

/* RFC 8985 section 6.2 step 4: the window is reset after 16 recoveries in which nothing was
 * late. */
static void window_reset_after_16_recoveries(void **state)
{
    (void)state;
    late_by(8);
    for (int k = 0; k < 2; k++) {
        late_by(8);
        for (int i = 0; i < 15; i++)
            scps_reorder_recovered(&ro);
        assert_int_equal(ro.extent, SCPS_MS(9));
    }
    scps_reorder_recovered(&ro);
    assert_int_equal(ro.extent, 0);
    scps_reorder_recovered(&ro);
    assert_int_equal(ro.extent, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_window_before_reordering_is_seen, begin),
        cmocka_unit_test_setup(late_and_not_resent, begin),
        cmocka_unit_test_setup(late_once, begin),
        cmocka_unit_test_setup(bound, begin),
        cmocka_unit_test_setup(late_and_resent, begin),
        cmocka_unit_test_setup(reported_twice, begin),
        cmocka_unit_test_setup(not_measured, begin),
        cmocka_unit_test_setup(current_round_trip, begin),
        cmocka_unit_test_setup(window_reset_after_16_recoveries, begin),
    };

    return cmocka_run_group_tests_name("reorder", tests, NULL, NULL);
}
