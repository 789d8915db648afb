/* SPDX-License-Identifier: MIT */
/* cc/search.c against draft-chung-ccwg-search-09: a window of 3.5 initial round trips in ten bins,
 * 15 bins more, a threshold of 0.26; and a path of fixed rate that a doubling window fills. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cc/search.h"

#define RTT  SCPS_MS(100)
#define UNIT UINT64_C(256)

static bool ack(struct scps_search *se, struct scps_cc_view *v, scps_dur rtt)
{
    struct scps_cc_ack a = {.bytes = 1, .rtt = rtt};

    return scps_search_ack(se, v, &a);
}

static void bins(void **state)
{
    struct scps_search se = {0};
    struct scps_cc_view v = {.now = SCPS_SEC(1), .delivered = 10 * UNIT, .inflight = 20 * UNIT};
    (void)state;

    assert_int_equal(SCPS_SEARCH_W, 10);
    assert_int_equal(SCPS_SEARCH_ACKED_BINS, 11);
    assert_int_equal(SCPS_SEARCH_SENT_BINS, 26);
    assert_false(ack(&se, &v, RTT));
    assert_int_equal(se.bin, SCPS_MS(35)); /* A bin is 100 ms x 3.5 / 10 = 35 ms. */
    assert_int_equal(se.bin_end, SCPS_SEC(1) + SCPS_MS(35));
    assert_int_equal(se.acked_by[0], 10);
    assert_int_equal(se.sent_by[0], 30);
    v.now += SCPS_MS(35);
    v.delivered += 5 * UNIT;
    /* The ACK arrives exactly at the end of the bin, which the draft still counts to the bin. */
    assert_false(ack(&se, &v, RTT));
    assert_int_equal(se.index, 0);
    v.now += 1;
    assert_false(ack(&se, &v, RTT));
    assert_int_equal(se.index, 1);
    assert_int_equal(se.acked_by[1], 15);
    assert_int_equal(se.sent_by[1], 35);
    assert_int_equal(se.bin_end, SCPS_SEC(1) + 2 * SCPS_MS(35));
    /* Bins in which no ACK arrived get the values of the bin before them. */
    v.now += 3 * SCPS_MS(35);
    v.delivered += 5 * UNIT;
    assert_false(ack(&se, &v, RTT));
    assert_int_equal(se.index, 4);
    assert_int_equal(se.acked_by[2], 15);
    assert_int_equal(se.acked_by[3], 15);
    assert_int_equal(se.acked_by[4], 20);
}

/* Sends 10000 units in each bin; of the last window only `part` per mille arrive. Returns in which
 * bin SEARCH ended slow start; 0: it did not in `bins_seen` bins. */
static unsigned ended_in(unsigned part, unsigned bins_seen, scps_dur rtt)
{
    struct scps_search se = {0};
    struct scps_cc_view v = {.now = SCPS_SEC(1)};
    uint64_t sent = 0, in_window = 0;

    ack(&se, &v, RTT);
    for (unsigned i = 1; i <= bins_seen; i++) {
        sent += 10000 * UNIT;
        in_window = i > bins_seen - SCPS_SEARCH_W ? in_window + 10 * part * UNIT : 0;
        v.delivered = (bins_seen - SCPS_SEARCH_W) * (uint64_t)10000 * UNIT + in_window;
        if (i <= bins_seen - SCPS_SEARCH_W)
            v.delivered = sent;
        v.inflight = sent - v.delivered;
        v.now = se.bin_end + 1;
        if (ack(&se, &v, rtt))
            return i;
    }
    return 0;
}

/* Returns true if SEARCH ended slow start in the last of these bins, not before. */
static bool told(unsigned part, unsigned bins_seen, scps_dur rtt)
{
    return ended_in(part, bins_seen, rtt) == bins_seen;
}

/* In the last window 0.74 of the bytes arrive that were sent in the window a round trip ago:
 * norm_diff is 0.26. */
static void threshold(void **state)
{
    (void)state;
    assert_true(told(740, 30, RTT));
    assert_false(told(741, 30, RTT));
    assert_false(told(1000, 30, RTT));
}

/* The draft's "not enough data": SEARCH decides nothing until a window and a round trip have
 * passed, or where the RTT has grown beyond the 15 extra bins. 100 ms are two bins of 35 ms and a
 * part. */
static void not_enough_data(void **state)
{
    (void)state;
    assert_false(told(0, 12, RTT));
    assert_true(told(0, 13, RTT));
    assert_true(told(0, 25, 14 * SCPS_MS(35)));
    assert_int_equal(ended_in(0, 40, 15 * SCPS_MS(35)), 0);
}

/* The window a round trip ago ends within a bin: the two bins around its end count in proportion.
 * srtt: the smoothed round trip, µs; 0: there is none. rtt: the sample of each ACK, µs. Returns
 * true if SEARCH ends slow start. */
static bool ended_within_a_bin(scps_dur srtt, scps_dur rtt)
{
    struct scps_search se = {0};
    struct scps_cc_view v = {.now = SCPS_SEC(1), .srtt = srtt};
    bool out = false;

    ack(&se, &v, RTT);
    assert_in_range(se.bin, srtt ? srtt * 35 / 100 : SCPS_MS(35), SCPS_MS(35));
    se.bin_end += SCPS_MS(35) - se.bin;
    se.bin = SCPS_MS(35);
    for (unsigned i = 1; i <= 20; i++) {
        /* The only bytes sent are the 1000 units of bin 8: they belong to the window that ends with
         * bin 18, not to that of bin 17. */
        v.delivered = 0;
        v.inflight = i >= 8 ? 1000 * UNIT : 0;
        v.now = se.bin_end + 1;
        out = ack(&se, &v, rtt);
    }
    assert_int_equal(se.index, 20);
    return out;
}

static void interpolation(void **state)
{
    (void)state;
    assert_true(ended_within_a_bin(0, SCPS_MS(77)));  /* The RTT is 2.2 bins of 35 ms. */
    assert_false(ended_within_a_bin(0, SCPS_MS(42))); /* It is 1.2 bins. */
    /* If there is a smoothed round trip, the sample does not count: with jitter it is too short or
     * too long. */
    assert_true(ended_within_a_bin(SCPS_MS(77), SCPS_MS(42)));
}

/* SEARCH discards its measurements after a pause longer than a window, and when the counters of the
 * sender begin anew. */
static void measurements_discarded_after_a_pause(void **state)
{
    struct scps_search se = {0};
    struct scps_cc_view v = {.now = SCPS_SEC(1)};
    (void)state;

    ack(&se, &v, RTT);
    v.now = se.bin_end + 9 * SCPS_MS(35) + 1;
    ack(&se, &v, RTT);
    assert_int_equal(se.index, 10);
    v.now = se.bin_end + 10 * SCPS_MS(35) + 1;
    ack(&se, &v, SCPS_MS(200));
    assert_int_equal(se.index, 0);
    assert_int_equal(se.bin, SCPS_MS(70));
    v.now = se.bin_end + 1;
    v.inflight = 1000;
    ack(&se, &v, RTT);
    assert_int_equal(se.index, 1);
    /* Fewer bytes are in flight than were sent before, so the sender's counters have begun anew. */
    v.inflight = 500;
    ack(&se, &v, RTT);
    assert_int_equal(se.index, 0);
    memset(&se, 0, sizeof se);
    v.srtt = 0;
    assert_false(ack(&se, &v, -1)); /* No round trip has been measured yet. */
    assert_int_equal(se.bin, 0);
}

/* A window doubles on a path of one segment a millisecond and 100 ms: SEARCH ends slow start while
 * the queue grows, and not before the path is full; also when the RTT varies by a third. */
static void a_doubling_window(void **state)
{
    static uint64_t sent[4000]; /* The number of segments sent until each millisecond, x 1000. */
    (void)state;
    for (int jitter = 0; jitter < 2; jitter++) {
        struct scps_search se = {0};
        struct scps_cc_view v = {.srtt = RTT};
        uint64_t arrived = 0, told_at = 0;
        int left = 0; /* The millisecond in which the segments left that arrive now. */
        for (int ms = 0; ms < 4000 && !told_at; ms++) {
            uint64_t before = arrived;
            sent[ms] = ms ? sent[ms - 1] : 10000;
            if (ms >= 100) {
                uint64_t here = sent[ms - 100];
                arrived = here < arrived + 1000 ? here : arrived + 1000;
            }
            sent[ms] += 2 * (arrived - before);
            while (sent[left] < arrived)
                left++;
            v.now = SCPS_MS(ms);
            v.delivered = arrived;
            v.inflight = sent[ms] - arrived;
            scps_dur rtt = SCPS_MS(ms - left) + (jitter ? ms * 7919 % 33 * SCPS_MS(1) : 0);
            v.srtt += (rtt - v.srtt) / 8;
            if (arrived > before && ack(&se, &v, rtt))
                told_at = v.inflight;
        }
        if (told_at < 110000 || told_at > 800000)
            fail_msg("jitter %d: told at %llu in flight", jitter, (unsigned long long)told_at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins),
        cmocka_unit_test(threshold),
        cmocka_unit_test(not_enough_data),
        cmocka_unit_test(interpolation),
        cmocka_unit_test(measurements_discarded_after_a_pause),
        cmocka_unit_test(a_doubling_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
