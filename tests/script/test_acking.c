/* SPDX-License-Identifier: MIT */
/* When the receiver acknowledges and what it reports: RFC 1122 section 4.2.3.2, RFC 5681 section
 * 4.2, RFC 9293 section 3.8.6.3, RFC 2018 section 4, RFC 2883 section 4. */
#include "script.h"

/* RFC 5681 section 4.2: the receiver acknowledges at least every second full segment, and within
 * 500 ms (here 200 ms). */
static void every_second_segment(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(210), .len = 1000);
    expect_sent(t, .at = MS(210), .ack = 2001, .no_sack = true);
    peer_says(t, MS(220), .len = 1000);
    expect_sent(t, .at = MS(420), .ack = 3001);
    expect_quiet(t, SCPS_HOLD_APP);
    /* The timer of the delayed ACK starts with the first octet that is not acknowledged, not with
     * the last. */
    peer_says(t, MS(500), .len = 100);
    peer_says(t, MS(650), .len = 100);
    expect_sent(t, .at = MS(700), .ack = 3201);
    script_run(t, SEC(2));
    script_free(t);
}

/* The window may hold just one full segment and a short one, in either order: both are acknowledged
 * at once. */
static void window_of_a_full_and_a_short_segment(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(210), .len = 10);
    expect_sent(t, .at = MS(210), .ack = 1011);
    peer_says(t, MS(220), .len = 10);
    peer_says(t, MS(230), .len = 1000);
    expect_sent(t, .at = MS(230), .ack = 2021);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* Two small segments do not count as one full segment. */
static void small_segments_wait(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001);
    for (int i = 0; i < 10; i++)
        peer_says(t, MS(300 + i), .len = 100);
    expect_sent(t, .at = MS(500), .ack = 3001);
    script_free(t);
}

/* quick_acks: the first segments are acknowledged one by one, the others as ack_mode says; in other
 * modes than SCPS_ACK_OTHER it has no effect. */
static void quick_at_first(void **x)
{
    for (int mode = 0; mode < 2; mode++) {
        struct script *t = script_of(x);
        t->cfg.quick_acks = 4;
        t->cfg.ack_mode = mode ? SCPS_ACK_DELAYED : SCPS_ACK_OTHER;
        script_established(t, MS(100));
        for (int i = 0; i < 4; i++) {
            peer_says(t, MS(200 + i), .len = 100);
            if (!mode)
                expect_sent(t, .at = MS(200 + i), .ack = 101 + 100 * i);
        }
        peer_says(t, MS(210), .len = 100);
        expect_sent(t, .at = mode ? MS(400) : MS(410), .ack = 501);
        script_free(t);
    }
}

static void data_carries_the_acknowledgement(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 500);
    app_writes(t, MS(250), 10);
    expect_sent(t, .at = MS(250), .from = 1, .len = 10, .ack = 501);
    peer_says(t, MS(300), .ack = 11);
    script_run(t, SEC(2)); /* No acknowledgement is due any more. */
    script_free(t);
}

/* The peer sends `n` full segments, segment i of the test at i times 300 ms; all before segment i
 * have ended at octet `end`. The timer of 200 ms expires for each. Returns the octet at which the
 * last of them ends. */
static uint32_t by_the_timer(struct script *t, int i, int n, uint32_t end)
{
    for (int k = i; k < i + n; k++) {
        peer_says(t, MS(300 * k), .len = 1000);
        expect_quiet(t, SCPS_HOLD_APP);
        end += 1000;
        expect_sent(t, .at = MS(300 * k + 200), .ack = end);
    }
    return end;
}

/* As by_the_timer(), but each segment is acknowledged when it arrives. */
static uint32_t at_once(struct script *t, int i, int n, uint32_t end)
{
    for (int k = i; k < i + n; k++) {
        peer_says(t, MS(300 * k), .len = 1000);
        end += 1000;
        expect_sent(t, .at = MS(300 * k), .ack = end);
    }
    return end;
}

/* RFC 9293 section 3.8.6.3: "an ACK should not be excessively delayed". After eight full segments
 * for each of which the timer expired, waiting saves no acknowledgement, so further ones are
 * acknowledged at once. A short segment that follows a full one within the delay changes nothing,
 * and a full one ends this. */
static void segments_further_apart_than_the_timer(void **x)
{
    struct script *t = script_of(x);
    uint32_t end;

    t->cfg.rcvbuf = 65535;
    script_established(t, MS(100));
    by_the_timer(t, 1, 7, 1);
    /* Two full segments come within the delay, and the count begins anew. */
    peer_says(t, MS(2400), .len = 1000);
    peer_says(t, MS(2599), .len = 1000);
    expect_sent(t, .at = MS(2599), .ack = 9001);
    by_the_timer(t, 10, 5, 9001);
    /* A short segment leaves the count as it is. */
    peer_says(t, MS(4500), .len = 1000);
    peer_says(t, MS(4510), .len = 100);
    expect_sent(t, .at = MS(4510), .ack = 15101);
    end = by_the_timer(t, 16, 3, 15101);
    end = at_once(t, 19, 19, end);
    peer_says(t, MS(11400), .len = 1000);
    expect_sent(t, .at = MS(11400), .ack = end + 1000);
    peer_says(t, MS(11410), .len = 100);
    expect_sent(t, .at = MS(11410), .ack = end + 1100);
    peer_says(t, MS(11700), .len = 1000);
    expect_sent(t, .at = MS(11700), .ack = end + 2100);
    peer_says(t, MS(11900), .len = 1000); /* 200 ms later, when the timer would expire */
    expect_quiet(t, SCPS_HOLD_APP);
    expect_sent(t, .at = MS(12100), .ack = end + 3100);
    script_free(t);
}

/* When the application writes, its data may carry the next acknowledgements, so these wait for the
 * timer again. */
static void a_writer_acknowledges_later_again(void **x)
{
    struct script *t = script_of(x);

    t->cfg.rcvbuf = 65535;
    script_established(t, MS(100));
    by_the_timer(t, 1, 8, 1);
    at_once(t, 9, 2, 8001);
    app_writes(t, MS(3050), 10);
    expect_sent(t, .at = MS(3050), .from = 1, .len = 10, .ack = 10001);
    peer_says(t, MS(3060), .ack = 11);
    by_the_timer(t, 11, 8, 10001);
    at_once(t, 19, 3, 18001);
    script_free(t);
}

static void mode_every(void **x)
{
    struct script *t = script_of(x);
    t->cfg.ack_mode = SCPS_ACK_EVERY;
    script_established(t, MS(100));
    for (int i = 0; i < 3; i++) {
        peer_says(t, MS(200 + i), .len = 10);
        expect_sent(t, .at = MS(200 + i), .ack = 11 + 10 * i);
    }
    script_free(t);
}

static void mode_delayed(void **x)
{
    struct script *t = script_of(x);
    t->cfg.ack_mode = SCPS_ACK_DELAYED;
    t->cfg.ack_delay = MS(50);
    script_established(t, MS(100));
    for (int i = 0; i < 8; i++)
        peer_says(t, MS(200 + i), .len = 1000);
    expect_sent(t, .at = MS(250), .ack = 8001);
    /* With F0 even a hole is reported only when the timer expires. */
    peer_says(t, MS(300), .seq = 9001, .len = 1000);
    peer_says(t, MS(310), .seq = 10001, .len = 1000);
    expect_sent(t, .at = MS(350), .ack = 8001, .sack = {{9001, 11001}});
    /* A segment that fills a hole is acknowledged by the timer, too (docs/SCPS-TP.md section
     * 5.1). */
    peer_says(t, MS(400), .seq = 8001, .len = 1000);
    expect_sent(t, .at = MS(450), .ack = 11001, .no_sack = true);
    script_free(t);
}

/* RFC 2018 section 3: a SACK block is a range of sequence numbers. A FIN has one, so a block that
 * ends with the FIN's covers the last data segment. */
static void fin_beyond_a_hole(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 1001, .len = 1000);
    expect_sent(t, .at = MS(200), .ack = 1, .sack = {{1001, 2001}});
    peer_says(t, MS(201), .flags = SCPS_FIN | SCPS_ACK, .seq = 2001, .len = 640);
    expect_sent(t, .at = MS(201), .ack = 1, .sack = {{1001, 2642}});
    /* The block is the same beside data. */
    app_writes(t, MS(202), 100);
    expect_sent(t, .from = 1, .len = 100, .ack = 1, .sack = {{1001, 2642}});
    peer_says(t, MS(300), .seq = 1, .len = 1000, .ack = 101);
    expect_sent(t, .at = MS(300), .from = 101, .ack = 2642);
    script_free(t);
}

/* RFC 5681 section 4.2, RFC 2018 section 4: out-of-order data is acknowledged at once, with the
 * newest block first. */
static void out_of_order(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 2001, .len = 1000);
    expect_sent(t, .at = MS(200), .ack = 1, .sack = {{2001, 3001}});
    peer_says(t, MS(201), .seq = 4001, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{4001, 5001}, {2001, 3001}});
    peer_says(t, MS(202), .seq = 6001, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{6001, 7001}, {4001, 5001}, {2001, 3001}});
    peer_says(t, MS(203), .seq = 8001, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{8001, 9001}, {6001, 7001}, {4001, 5001}, {2001, 3001}});
    /* This is the fifth block, so the oldest is no longer reported. */
    peer_says(t, MS(204), .seq = 10001, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{10001, 11001}, {8001, 9001}, {6001, 7001}, {4001, 5001}});
    peer_says(t, MS(205), .seq = 3001, .len = 1000); /* The segment joins two blocks into one. */
    expect_sent(t, .ack = 1, .sack = {{2001, 5001}, {10001, 11001}, {8001, 9001}, {6001, 7001}});
    /* The first hole is filled, first in part and then whole. */
    peer_says(t, MS(206), .seq = 1, .len = 1000);
    expect_sent(t, .at = MS(206), .ack = 1001);
    peer_says(t, MS(207), .seq = 1001, .len = 1000);
    expect_sent(t, .at = MS(207), .ack = 5001,
                .sack = {{10001, 11001}, {8001, 9001}, {6001, 7001}});
    app_reads(t, MS(208), 5000);
    peer_says(t, MS(209), .seq = 5001, .len = 1000);
    peer_says(t, MS(210), .seq = 7001, .len = 1000);
    peer_says(t, MS(211), .seq = 9001, .len = 1000);
    script_forget_sent(t);
    app_reads(t, MS(212), 6000);
    script_run(t, SEC(1));
    script_forget_sent(t);
    assert_int_equal(script_info(t).rcv_holes, 0);
    script_free(t);
}

/* With timestamps the option area has room for three SACK blocks. */
static void sack_beside_timestamps(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    for (int i = 1; i <= 4; i++)
        peer_says(t, MS(200 + i), .seq = 1 + 2000 * i, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{2001, 3001}});
    expect_sent(t, .ack = 1, .sack = {{4001, 5001}, {2001, 3001}});
    expect_sent(t, .ack = 1, .sack = {{6001, 7001}, {4001, 5001}, {2001, 3001}});
    expect_sent(t, .ack = 1, .sack = {{8001, 9001}, {6001, 7001}, {4001, 5001}});
    script_free(t);
}

/* Without SACK each out-of-order segment causes a duplicate ACK of its own, even when they arrive
 * in one batch. */
static void duplicates_without_sack(void **x)
{
    struct script *t = script_of(x);
    t->peer.sack = false;
    script_established(t, MS(100));
    for (int i = 1; i <= 4; i++) {
        peer_says(t, MS(200), .seq = 1 + 1000 * i, .len = 1000);
        expect_sent(t, .at = MS(200), .ack = 1, .no_sack = true);
    }
    peer_says(t, MS(300), .seq = 1, .len = 1000);
    expect_sent(t, .at = MS(300), .ack = 5001);
    script_free(t);
}

/* RFC 2883 sections 4.1.1 and 4.2.1: a duplicate is reported by a DSACK block, which is the first
 * block. */
static void duplicates_are_named(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001);
    peer_says(t, MS(300), .seq = 1, .len = 1000); /* The duplicate lies below RCV.NXT. */
    expect_sent(t, .at = MS(300), .ack = 2001, .sack = {{1, 1001}});
    peer_says(t, MS(310), .seq = 4001, .len = 1000);
    expect_sent(t, .ack = 2001, .sack = {{4001, 5001}}); /* Each duplicate is reported once. */
    peer_says(t, MS(320), .seq = 4001, .len = 1000); /* The duplicate lies within a SACK block. */
    expect_sent(t, .at = MS(320), .ack = 2001, .sack = {{4001, 5001}, {4001, 5001}});
    peer_says(t, MS(330), .seq = 1501, .len = 1000); /* Half of the segment is new. */
    expect_sent(t, .at = MS(330), .ack = 2501, .sack = {{1501, 2001}, {4001, 5001}});
    assert_int_equal(script_info(t).dsacks_out, 3);
    assert_int_equal(script_info(t).bytes_duplicate, 2500);
    script_free(t);
}

/* RFC 2883 section 4.2: if only a part of a segment is new, the DSACK block names its first octets
 * that had arrived before, wherever they lie. */
static void partial_duplicates_are_named(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    for (int i = 0; i < 3; i++)
        peer_says(t, MS(200), .seq = 2001 + 2000 * i, .len = 1000);
    script_forget_sent(t);
    /* The first octets of the segment had arrived before. */
    peer_says(t, MS(210), .seq = 4501, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{4501, 5001}, {4001, 5501}, {6001, 7001}, {2001, 3001}});
    /* The last octets of the segment had arrived before. */
    peer_says(t, MS(220), .seq = 5601, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{6001, 6601}, {5601, 7001}, {4001, 5501}, {2001, 3001}});
    /* Two parts of the segment had arrived before; the first is reported. */
    peer_says(t, MS(230), .seq = 5001, .len = 1000);
    expect_sent(t, .ack = 1, .sack = {{5001, 5501}, {4001, 7001}, {2001, 3001}});
    /* The segment is in order and reaches into data that waits beyond the hole. */
    peer_says(t, MS(240), .seq = 1, .len = 2500);
    expect_sent(t, .ack = 3001, .sack = {{2001, 2501}, {4001, 7001}});
    /* Both ends of the segment had arrived before: the part below RCV.NXT is reported. */
    peer_says(t, MS(250), .seq = 2501, .len = 2000);
    expect_sent(t, .ack = 7001, .sack = {{2501, 3001}});
    assert_int_equal(script_info(t).bytes_duplicate, 500 + 600 + 500 + 400 + 500 + 500 + 500);
    script_free(t);
}

static void duplicates_without_dsack(void **x)
{
    struct script *t = script_of(x);
    t->cfg.dsack = false;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001);
    peer_says(t, MS(300), .seq = 1, .len = 1000);
    expect_sent(t, .at = MS(300), .ack = 2001, .no_sack = true);
    script_free(t);
}

/* Segments that overlap in any way yield the same stream. */
static void overlapping_segments(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 3001, .len = 1000);
    peer_says(t, MS(201), .seq = 2501, .len = 700);
    peer_says(t, MS(202), .seq = 3501, .len = 1500);
    peer_says(t, MS(203), .seq = 5501, .len = 100);
    peer_says(t, MS(204), .seq = 2801, .len = 2900); /* The segment covers all of them. */
    peer_says(t, MS(205), .seq = 1, .len = 2600);
    script_forget_sent(t);
    assert_int_equal(scps_conn_readable(t->c), 5700);
    app_reads(t, MS(300), 5700);
    script_run(t, SEC(1));
    script_forget_sent(t);
    script_free(t);
}

/* Of segments beyond one hole the first is acknowledged at once, then every second. */
static void a_train_beyond_a_hole(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 60000;
    script_established(t, MS(100));
    for (int i = 1; i <= 40; i++)
        peer_says(t, MS(200) + i * 100, .seq = 1 + 1000 * i, .len = 1000);
    unsigned n = script_sent_count(t);
    assert_in_range(n, 22, 30);
    for (unsigned i = 0; i < n; i++) {
        expect_sent(t, .ack = 1);
        assert_int_equal(t->last.nsack, 1);
        /* RFC 5681 section 3.2: the sender needs three duplicate ACKs for fast retransmit. */
        if (i < 3)
            assert_int_equal(t->last.sack[0].right - t->last.sack[0].left, 1000 * (i + 1));
    }
    script_run(t, SEC(1));
    while (script_sent_count(t)) /* The last segment is acknowledged, too. */
        expect_sent(t, .ack = 1);
    assert_int_equal(t->last.sack[0].right - t->last.sack[0].left, 40000);
    peer_says(t, SEC(2), .seq = 1, .len = 1000);
    expect_sent(t, .at = SEC(2), .ack = 41001, .no_sack = true);
    script_free(t);
}

/* RFC 5681 section 4.2: a segment that fills a hole in whole or in part is acknowledged at once,
 * also if it is not the first hole: the sender of such a retransmission can thus see that it has
 * arrived. */
static void repairs_beyond_a_hole(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 60000;
    script_established(t, MS(100));
    for (int i = 1; i <= 40; i++)
        if (i != 20 && i != 21 && i != 30)
            peer_says(t, MS(200) + i * 100, .seq = 1 + 1000 * i, .len = 1000);
    script_run(t, MS(500));
    script_forget_sent(t);
    static const int repaired[] = {20, 30, 21};
    static const int joined[] = {20000, 19000, 40000};
    for (int i = 0; i < 3; i++) {
        peer_says(t, MS(600 + i), .seq = 1 + 1000 * repaired[i], .len = 1000);
        expect_sent(t, .at = MS(600 + i), .ack = 1);
        assert_int_equal(t->last.sack[0].right - t->last.sack[0].left, joined[i]);
    }
    script_free(t);
}

/* With fifty holes in a round trip the SACK blocks stay right, although the application does not
 * read. */
static void fifty_holes(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 200000;
    t->cfg.wscale = true;
    t->peer.wscale = 0;
    script_established(t, MS(100));
    for (int i = 1; i <= 49; i++)
        peer_says(t, MS(200 + i), .seq = 1 + 2000 * i, .len = 1000);
    assert_int_equal(script_forget_sent(t), 49);
    assert_int_equal(script_info(t).rcv_holes, 49);
    for (int i = 48; i >= 0; i--)
        peer_says(t, MS(300 + 48 - i), .seq = 1001 + 2000 * i, .len = 1000);
    peer_says(t, MS(400), .seq = 1, .len = 1000);
    assert_int_equal(scps_conn_readable(t->c), 99000);
    script_forget_sent(t);
    app_reads(t, MS(500), 99000);
    script_run(t, SEC(1));
    script_forget_sent(t);
    script_free(t);
}

/* Strictly delayed (F0): while no segment arrives, a hole does not keep the timer running. What
 * arrives then is reported at the time at which the timer would have expired. */
static void the_timer_of_a_hole_rests(void **x)
{
    struct script *t = script_of(x);
    t->cfg.ack_mode = SCPS_ACK_DELAYED;
    t->cfg.ack_delay = MS(10);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 101, .len = 100);
    expect_sent(t, .at = MS(210), .ack = 1, .sack = {{101, 201}});
    script_run(t, MS(221));
    expect_that(t, scps_stack_deadline(t->st) - scps_stack_now(t->st) > MS(100));
    peer_says(t, MS(253), .seq = 201, .len = 100);
    expect_sent(t, .at = MS(260), .ack = 1, .sack = {{101, 301}});
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(every_second_segment),
        SCRIPT_TEST(window_of_a_full_and_a_short_segment),
        SCRIPT_TEST(small_segments_wait),
        SCRIPT_TEST(quick_at_first),
        SCRIPT_TEST(data_carries_the_acknowledgement),
        SCRIPT_TEST(segments_further_apart_than_the_timer),
        SCRIPT_TEST(a_writer_acknowledges_later_again),
        SCRIPT_TEST(mode_every),
        SCRIPT_TEST(mode_delayed),
        SCRIPT_TEST(fin_beyond_a_hole),
        SCRIPT_TEST(out_of_order),
        SCRIPT_TEST(sack_beside_timestamps),
        SCRIPT_TEST(duplicates_without_sack),
        SCRIPT_TEST(duplicates_are_named),
        SCRIPT_TEST(partial_duplicates_are_named),
        SCRIPT_TEST(duplicates_without_dsack),
        SCRIPT_TEST(overlapping_segments),
        SCRIPT_TEST(a_train_beyond_a_hole),
        SCRIPT_TEST(repairs_beyond_a_hole),
        SCRIPT_TEST(fifty_holes),
        SCRIPT_TEST(the_timer_of_a_hole_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
