/* SPDX-License-Identifier: MIT */
/* core/delivery.c: rate samples as draft-cheng-iccrg-delivery-rate-estimation section 3 defines
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/delivery.h"

/* Returns the rate sample of an acknowledgement at `now` that reports `bytes` of segment r as
 * arrived. */
static struct scps_cc_ack sample(struct scps_delivery *d, const struct scps_sent_segment *r,
                                 uint64_t bytes, scps_dur min_rtt, scps_time now)
{
    struct scps_ack_result sum = {.delivered = bytes, .newest = r};
    struct scps_cc_ack a = {.rtt = -1};
    struct scps_scoreboard sb = {0};

    scps_delivery_sample(d, &sb, &sum, min_rtt, now, &a);
    return a;
}

static void sent(struct scps_delivery *d, struct scps_sent_segment *r, uint64_t inflight,
                 scps_time now)
{
    struct scps_scoreboard sb = {.inflight = inflight};

    scps_delivery_sent(d, r, &sb, now);
}

static void one_flight(void **state)
{
    struct scps_delivery d = {0};
    struct scps_sent_segment r = {.len = 1000, .sent = 100};
    struct scps_cc_ack a;
    (void)state;

    sent(&d, &r, 1000, 100);
    assert_int_equal(r.first_sent, 100);
    assert_int_equal(r.delivered_at, 100);
    a = sample(&d, &r, 1000, 500, 1100);
    assert_int_equal(a.rtt, 1000);
    assert_int_equal(a.rate, 1000000); /* 1000 bytes in 1 ms are 1000000 bytes/s. */
    assert_true(a.round_start);
    assert_int_equal(d.rate, a.rate);
    /* The segment is sent after the data that ended the round was delivered. */
    sent(&d, &r, 1000, 1100);
    assert_true(sample(&d, &r, 1000, 500, 2100).round_start);
}

/* Acknowledgements that arrive close together show no higher rate than that of sending. */
static void longer_interval_counts(void **state)
{
    struct scps_delivery d = {0};
    struct scps_sent_segment r[2] = {{.len = 1000, .sent = 0}, {.len = 1000, .sent = 4000}};
    struct scps_cc_ack a;
    (void)state;

    sent(&d, &r[0], 1000, 0);
    sent(&d, &r[1], 2000, 4000);
    assert_int_equal(r[1].first_sent, 0);
    sample(&d, &r[0], 1000, 0, 4500);
    a = sample(&d, &r[1], 1000, 0, 4600);
    assert_int_equal(a.rate, 2000 * UINT64_C(1000000) / 4600);
    /* The segment was sent before the first one was delivered, so it begins no round. */
    assert_false(a.round_start);
}

static void shorter_than_the_path(void **state)
{
    struct scps_delivery d = {0};
    struct scps_sent_segment r = {.len = 1000, .sent = 0};
    struct scps_cc_ack a;
    (void)state;

    sent(&d, &r, 1000, 0);
    a = sample(&d, &r, 1000, 1001, 1000);
    /* A sample over an interval shorter than the minimum round trip is discarded. */
    assert_int_equal(a.rate, 0);
    assert_int_equal(d.rate, 0);
}

static void resent_gives_no_round_trip(void **state)
{
    struct scps_delivery d = {0};
    struct scps_sent_segment r = {.len = 1000, .sent = 0, .resends = 1};
    (void)state;

    sent(&d, &r, 1000, 0);
    assert_int_equal(sample(&d, &r, 1000, 0, 10).rtt, -1);
    assert_int_equal(sample(&d, NULL, 500, 0, 20).rtt, -1);
    assert_int_equal(d.delivered, 1500);
}

static void application_limit(void **state)
{
    struct scps_delivery d = {0};
    struct scps_sent_segment r[2] = {{.len = 1000, .flags = SCPS_SENT_FIN}, {.len = 1000}};
    (void)state;

    scps_delivery_app_limited(&d, 0);
    /* The value 0 would mean that the connection is not limited by the application. */
    assert_int_equal(d.app_limited, 1);
    sent(&d, &r[0], 1000, 0);
    assert_int_equal(r[0].flags, SCPS_SENT_FIN | SCPS_SENT_APP_LIMITED);
    assert_true(sample(&d, &r[0], 1000, 0, 10).app_limited);
    /* The data sent while the application limited the sender has been delivered. */
    sent(&d, &r[1], 1000, 20);
    assert_int_equal(r[1].flags, 0);
    assert_false(sample(&d, &r[1], 1000, 0, 30).app_limited);
}

/* Delivers `bytes` in one round trip that begins at `at` and takes 1 ms. */
static void round_of(struct scps_delivery *d, uint64_t bytes, scps_time at)
{
    struct scps_sent_segment r = {.len = (uint32_t)bytes, .sent = at};

    sent(d, &r, bytes, at);
    sample(d, &r, bytes, 1, at + 1000);
}

/* RFC 9959 section 3.1: the most that was carried in one round trip, of the last eight to sixteen;
 * older ones do not count. */
static void the_most_in_one_round_trip(void **state)
{
    struct scps_delivery d = {0};
    (void)state;

    round_of(&d, 50000, 0);
    assert_int_equal(scps_delivery_most(&d).bytes, 50000);
    for (int i = 1; i < 9; i++)
        round_of(&d, 10000, 2000 * i);
    assert_int_equal(scps_delivery_most(&d).bytes, 50000);
    for (int i = 9; i < 18; i++)
        round_of(&d, 10000, 2000 * i);
    assert_int_equal(scps_delivery_most(&d).bytes, 10000);
}

/* RFC 7661 section 4.2: pipeACK is the largest volume of a round trip within the sampling period,
 * which is three round trips here. It is unknown after a pause of three round trips and a
 * second. */
static void pipe_ack(void **state)
{
    static const uint64_t volume[] = {4000, 1000, 2000, 1500, 1200};
    static const uint64_t most[] = {4000, 4000, 4000, 2000, 2000};
    struct scps_delivery d = {0};
    struct scps_sent_segment r = {.len = 1000};
    scps_time now = 0;
    (void)state;

    assert_int_equal(scps_delivery_pipe(&d, 1000, now), 0);
    for (size_t i = 0; i < 5; i++) {
        r.sent = now;
        sent(&d, &r, 1000, now);
        now += 1000;
        sample(&d, &r, volume[i], 500, now);
        assert_int_equal(scps_delivery_pipe(&d, 1000, now), most[i]);
    }
    assert_int_equal(scps_delivery_pipe(&d, 1000, now + SCPS_SEC(1) + 3000), 2000);
    assert_int_equal(scps_delivery_pipe(&d, 1000, now + SCPS_SEC(1) + 3001), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_flight),
        cmocka_unit_test(longer_interval_counts),
        cmocka_unit_test(shorter_than_the_path),
        cmocka_unit_test(resent_gives_no_round_trip),
        cmocka_unit_test(application_limit),
        cmocka_unit_test(the_most_in_one_round_trip),
        cmocka_unit_test(pipe_ack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
