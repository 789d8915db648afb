/* SPDX-License-Identifier: MIT */
/* cc/vj.c and cc/window.c: RFC 5681, RFC 6582 and RFC 3465 as tables of events. Segments have 1000
 * bytes. */
#include "cc_table.h"

#define KB(n) ((uint64_t)(n)*1000)

static void slow_start_to_avoidance(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj,ssthresh=16000", .init_cwnd = 4000);
    assert_int_equal(t.ctl.cwnd, 4000);
    assert_int_equal(t.ctl.ssthresh, 16000);
    static const struct cc_row rows[] = {
        {CC_ACK, .bytes = 2000, .cwnd = 6000},
        {CC_ACK, .bytes = 2000, .cwnd = 8000},
        {CC_ACK, .bytes = 2000, .times = 3, .cwnd = 14000},
        /* This ACK crosses ssthresh: 2000 bytes reach the threshold, the other 3000 count towards
         * the 16000 that add a segment. */
        {CC_ACK, .bytes = 5000, .cwnd = 16000},
        {CC_ACK, .bytes = 12999, .cwnd = 16000},
        {CC_ACK, .bytes = 1, .cwnd = 17000},
        {CC_ACK, .bytes = 16999, .cwnd = 17000},
        {CC_ACK, .bytes = 1, .cwnd = 18000, .ssthresh = 16000},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

/* A round trip's bytes in 1, 2 or 500 acknowledgements lead to the same window (RFC 3465). */
static void bytes_count_not_acks(void **state)
{
    (void)state;
    uint64_t cwnd[3];
    static const unsigned acks[] = {1, 2, 500};
    for (int i = 0; i < 3; i++) {
        struct cc_table t;
        cc_open(&t, "vj,ssthresh=640000", .init_cwnd = 10000);
        for (int k = 0; k < 6; k++)
            cc_round_trip(&t, acks[i], SCPS_MS(500));
        assert_int_equal(t.ctl.cwnd, 640000); /* Six doublings of ten segments: 10 * 2^6. */
        for (int k = 0; k < 40; k++)
            cc_round_trip(&t, acks[i], SCPS_MS(500));
        cwnd[i] = t.ctl.cwnd;
    }
    assert_int_equal(cwnd[0], 680000);
    /* The window grows during a round trip, so that more ACKs can leave it one segment smaller. */
    assert_in_range(cwnd[1], cwnd[0] - 1000, cwnd[0]);
    assert_in_range(cwnd[2], cwnd[0] - 1000, cwnd[0]);
}

static void rfc3465_limit(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj,abc_limit=2", .init_cwnd = 10000);
    static const struct cc_row rows[] = {
        {CC_ACK, .bytes = 10000, .cwnd = 12000}, /* RFC 3465 section 2.2: L is 2 segments. */
        {CC_ACK, .bytes = 1500, .cwnd = 13500},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cwnd = 1000, .ssthresh = 6750},
        {CC_ACK, .bytes = 5000, .cwnd = 2000}, /* After a timeout L is 1 segment. */
        /* The ACK is still for data sent before the timeout. */
        {CC_ACK, .bytes = 8000, .cwnd = 3000},
        /* This ACK covers the last data sent before the timeout. */
        {CC_ACK, .bytes = 3000, .cwnd = 4000},
        {CC_ACK, .bytes = 3000, .cwnd = 6000}, /* L is 2 segments again. */
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

static void window_halves_once_in_a_recovery(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj", .init_cwnd = 100000);
    static const struct cc_row rows[] = {
        {CC_LOSS, .bytes = 1000, .fresh = true, .cwnd = 50000, .ssthresh = 50000},
        {CC_LOSS, .bytes = 9000, .outstanding = 100000, .cwnd = 50000},
        {CC_ACK, .bytes = 50000, .in_recovery = true, .cwnd = 50000},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED, .cwnd = 50000},
        {CC_ACK, .bytes = 50000, .cwnd = 51000},
        {CC_LOSS, .bytes = 1000, .fresh = true, .cwnd = 25500, .ssthresh = 25500},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

/* RFC 5681 equation 4: FlightSize is halved, not cwnd, if the application kept it small; the result
 * is at least two segments, and no more than cwnd where SACK holds many bytes beyond a hole. */
static void a_loss_halves_flight_size(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj", .init_cwnd = 100000);
    static const struct cc_row rows[] = {
        {CC_LOSS, .outstanding = 30000, .fresh = true, .cwnd = 15000, .ssthresh = 15000},
        {CC_LOSS, .outstanding = 90000, .fresh = true, .cwnd = 7500, .ssthresh = 7500},
        {CC_LOSS, .outstanding = 3000, .fresh = true, .cwnd = 2000, .ssthresh = 2000},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

/* After a lost SYN the window is one segment (RFC 5681 section 3.1), and a loss must not raise it
 * to ssthresh, which is two segments at least. */
static void a_loss_does_not_raise_the_window(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj", .init_cwnd = 1000);
    static const struct cc_row rows[] = {
        {CC_LOSS, .outstanding = 1000, .fresh = true, .cwnd = 1000, .ssthresh = 2000},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

/* RFC 7661 section 4.3: the window is nonvalidated while pipeACK is less than half of it. Section
 * 4.4.1, at a loss: "cwnd = (Max(pipeACK,LossFlightSize))/2"; section 4.4.2, after recovery:
 * "cwnd = (Max(pipeACK,LossFlightSize) - R)/2", where R was retransmitted. */
static void loss_in_the_nonvalidated_phase(void **state)
{
    (void)state;
    struct cc_table t;
    static const struct cc_row rows[] = {
        {CC_LOSS, .outstanding = 8000, .pipe = 40000, .fresh = true, .cwnd = 20000},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED, .pipe = 9000, .resent = 6000, .cwnd = 17000,
         .ssthresh = 17000},
    };
    cc_open(&t, "vj", .init_cwnd = 100000);
    cc_play(&t, rows, CC_ROWS(rows));

    /* Half of the window arrived in a round trip: it is valid, and RFC 5681 equation 4 holds. */
    static const struct cc_row valid[] = {
        {CC_LOSS, .outstanding = 8000, .pipe = 50000, .fresh = true, .cwnd = 4000},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED, .resent = 3000, .cwnd = 4000, .ssthresh = 4000},
    };
    cc_open(&t, "vj", .init_cwnd = 100000);
    cc_play(&t, valid, CC_ROWS(valid));

    /* FlightSize is larger than pipeACK: the window was in use. */
    static const struct cc_row used[] = {
        {CC_LOSS, .outstanding = 90000, .pipe = 40000, .fresh = true, .cwnd = 45000},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED, .resent = 9000, .cwnd = 45000, .ssthresh = 45000},
    };
    cc_open(&t, "vj", .init_cwnd = 100000);
    cc_play(&t, used, CC_ROWS(used));
}

static void timeout(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj", .init_cwnd = 64000);
    static const struct cc_row rows[] = {
        {CC_CHANGE, .what = SCPS_CC_RTO, .cwnd = 1000, .ssthresh = 32000},
        /* The same segment times out again: RFC 5681 section 3.1 keeps ssthresh. */
        {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 64000, .cwnd = 1000, .ssthresh = 32000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 1000, .cwnd = 1000, .ssthresh = 32000},
        /* Slow start counts bytes: an ACK for data that arrived long ago at most doubles the
         * window. */
        {CC_ACK, .bytes = 1000, .cwnd = 2000},
        {CC_ACK, .bytes = 1000, .in_recovery = true, .cwnd = 3000},
        {CC_ACK, .bytes = 20000, .cwnd = 6000},
        /* Another segment of that flight times out: ssthresh does not rise above its present
         * value. */
        {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 80000, .cwnd = 1000, .ssthresh = 32000},
        {CC_ACK, .bytes = 1000, .cwnd = 2000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 40000, .cwnd = 1000, .ssthresh = 20000},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

static void a_timeout_in_recovery_keeps_ssthresh(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj", .init_cwnd = 100000);
    static const struct cc_row rows[] = {
        {CC_LOSS, .fresh = true, .cwnd = 50000, .ssthresh = 50000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .outstanding = 110000, .cwnd = 1000, .ssthresh = 50000},
        /* A loss during the slow start that follows begins a new episode, which halves the present
         * window. */
        {CC_ACK, .bytes = 1000, .cwnd = 2000},
        {CC_ACK, .bytes = 8000, .times = 5, .cwnd = 32000},
        {CC_LOSS, .fresh = true, .outstanding = 50000, .cwnd = 16000, .ssthresh = 16000},
        {CC_ACK, .bytes = 9000, .in_recovery = true, .cwnd = 16000},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

static void avoidance_timeout_halves_the_window(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj,ssthresh=10000", .init_cwnd = 10000);
    for (int i = 0; i < 30; i++)
        cc_round_trip(&t, 10, SCPS_MS(100));
    assert_in_range(t.ctl.cwnd, 38000, 40000);
    uint64_t before = t.ctl.cwnd;
    struct cc_row r = {CC_CHANGE, .what = SCPS_CC_RTO};
    cc_play_row(&t, &r);
    assert_int_equal(t.ctl.ssthresh, before / 2);
}

static void no_growth_on_an_unused_window(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj");
    static const struct cc_row rows[] = {
        {CC_ACK, .bytes = 5000, .app = true, .times = 50, .cwnd = 10000},
        {CC_ACK, .bytes = 5000, .cwnd = 15000},
    };
    cc_play(&t, rows, CC_ROWS(rows));
}

static void causes(void **state)
{
    (void)state;
    struct cc_table t;
    static const struct cc_row heeded[] = {
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 80000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 80000},
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_OUTAGE, .cwnd = 80000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cause = SCPS_LOSS_OUTAGE, .cwnd = 80000},
        {CC_LOSS, .fresh = true, .evidence = SCPS_BY_ECN, .cwnd = 40000},
    };
    cc_open(&t, "vj", .init_cwnd = 80000);
    cc_play(&t, heeded, CC_ROWS(heeded));

    /* A recovery episode in which losses are taken for corruption does not stop growth, and its end
     * does not reduce the window to an old ssthresh. */
    static const struct cc_row spared[] = {
        {CC_LOSS, .fresh = true, .cwnd = 40000, .ssthresh = 40000},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED, .cwnd = 40000},
        {CC_ACK, .bytes = 40000, .cwnd = 41000},
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 41000},
        {CC_ACK, .bytes = 41000, .in_recovery = true, .cwnd = 42000},
        {CC_CHANGE, .what = SCPS_CC_RECOVERED, .cwnd = 42000, .ssthresh = 40000},
    };
    cc_open(&t, "vj", .init_cwnd = 80000);
    cc_play(&t, spared, CC_ROWS(spared));

    static const struct cc_row as_ri[] = {
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 40000},
        {CC_LOSS, .fresh = true, .cause = SCPS_LOSS_OUTAGE, .cwnd = 40000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cause = SCPS_LOSS_CORRUPTION, .cwnd = 1000},
    };
    cc_open(&t, "vj,corruption=0", .init_cwnd = 80000);
    cc_play(&t, as_ri, CC_ROWS(as_ri));
}

static void idle_path_and_outage(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj", .init_cwnd = 10000);
    static const struct cc_row rows[] = {
        {CC_ACK, .bytes = 10000, .times = 9, .cwnd = 100000},
        {CC_CHANGE, .what = SCPS_CC_LINK_UP, .cwnd = 100000},
        {CC_CHANGE, .what = SCPS_CC_SPURIOUS, .cwnd = 100000},
        {CC_LOSS, .fresh = true, .cwnd = 50000, .ssthresh = 50000},
        {CC_ACK, .bytes = 50000, .times = 2, .cwnd = 51000},
        {CC_CHANGE, .what = SCPS_CC_PATH, .cwnd = 10000, .ssthresh = 51000},
        {CC_CHANGE, .what = SCPS_CC_RTO, .cwnd = 1000},
        /* RFC 5681 section 4.1: the restart window is min(IW, cwnd), so idle time never enlarges
         * the window. */
        {CC_CHANGE, .what = SCPS_CC_IDLE, .cwnd = 1000},
        {CC_ACK, .bytes = 20000, .times = 2, .cwnd = 5000},
    };
    cc_play(&t, rows, 7);
    cc_play(&t, rows + 7, 1);

    cc_open(&t, "vj", .init_cwnd = 10000);
    cc_play(&t, rows, 1);
    static const struct cc_row idle[] = {{CC_CHANGE, .what = SCPS_CC_IDLE, .cwnd = 10000}};
    cc_play(&t, idle, 1);

    cc_open(&t, "vj,idle=0", .init_cwnd = 10000);
    cc_play(&t, rows, 1);
    static const struct cc_row kept[] = {{CC_CHANGE, .what = SCPS_CC_IDLE, .cwnd = 100000}};
    cc_play(&t, kept, 1);
}

/* Claim N16: with an initial window of 2, 98 packets leave in round trips of 2+4+8+16+32+36. */
static void rounds_from_a_window_of_two(void **state)
{
    (void)state;
    struct cc_table t;
    cc_open(&t, "vj", .mss = 1024, .init_cwnd = 2048);
    uint64_t left = 100000;
    int rounds = 0;
    while (left) {
        uint64_t sent = t.ctl.cwnd < left ? t.ctl.cwnd : left;
        left -= sent;
        rounds++;
        struct cc_row r = {CC_ACK, .bytes = sent};
        cc_play_row(&t, &r);
    }
    assert_int_equal(rounds, 6);
}

/* With one loss every W bytes the window moves between W/2 and W, and its mean is 3/4 W. */
static void sawtooth(void **state)
{
    (void)state;
    struct cc_table t;
    const uint64_t top = KB(200);
    cc_open(&t, "vj,ssthresh=2000", .init_cwnd = 100000);
    uint64_t sum = 0, rounds = 0, losses = 0;
    while (losses < 20) {
        cc_round_trip(&t, 50, SCPS_MS(100));
        sum += t.ctl.cwnd, rounds++;
        if (t.ctl.cwnd >= top) {
            struct cc_row r = {CC_LOSS, .fresh = true, .bytes = 1000};
            cc_play_row(&t, &r);
            losses++;
        }
    }
    /* Half a window at one segment a round trip is 100 round trips from loss to loss. */
    assert_in_range(rounds / losses, 99, 103);
    assert_in_range(sum / rounds, top * 745 / 1000, top * 755 / 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_start_to_avoidance),
        cmocka_unit_test(bytes_count_not_acks),
        cmocka_unit_test(rfc3465_limit),
        cmocka_unit_test(window_halves_once_in_a_recovery),
        cmocka_unit_test(a_loss_halves_flight_size),
        cmocka_unit_test(a_loss_does_not_raise_the_window),
        cmocka_unit_test(loss_in_the_nonvalidated_phase),
        cmocka_unit_test(timeout),
        cmocka_unit_test(a_timeout_in_recovery_keeps_ssthresh),
        cmocka_unit_test(avoidance_timeout_halves_the_window),
        cmocka_unit_test(no_growth_on_an_unused_window),
        cmocka_unit_test(causes),
        cmocka_unit_test(idle_path_and_outage),
        cmocka_unit_test(rounds_from_a_window_of_two),
        cmocka_unit_test(sawtooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
