/* SPDX-License-Identifier: MIT */
/* Segments that the driver hands in together (a batch) are answered by one acknowledgement: RFC
 * 9293 section 3.10.7.4, "if the TCP endpoint is processing a series of queued segments, it MUST
 * process them all before sending any ACK segments". What has to be acknowledged at once is
 * acknowledged at the first output after the batch. With stretch_acks off the segments are
 * acknowledged as if they had come one by one. */
#include "script.h"

/* Hands in n full segments of the peer's stream together. If `end` is true, the last of them ends
 * the batch. */
static void batch(struct script *t, scps_time at, int n, bool end)
{
    for (int i = 0; i < n; i++)
        peer_says(t, at, .len = 1000, .more = !end || i < n - 1);
}

static struct script *open_with(void **x, bool stretch)
{
    struct script *t = script_of(x);

    t->cfg.stretch_acks = stretch;
    script_established(t, MS(100));
    return t;
}

static void answered_once(void **x)
{
    struct script *t = open_with(x, true);
    batch(t, MS(200), 10, true);
    expect_sent(t, .at = MS(200), .ack = 10001, .no_sack = true);
    expect_quiet(t, SCPS_HOLD_APP);
    assert_int_equal(script_info(t).segs_in, 11); /* The count includes the SYN-ACK. */
    /* RFC 5681 section 4.2: of segments that arrive one by one, every second full one is
     * acknowledged. */
    for (int i = 0; i < 4; i++)
        batch(t, MS(210 + i), 1, true);
    expect_sent(t, .at = MS(211), .ack = 12001);
    expect_sent(t, .at = MS(213), .ack = 14001);
    script_free(t);
}

/* A batch of less than two full segments is acknowledged by the timer of the delayed ACK, as the
 * same segments would be without a batch. */
static void a_small_batch_waits_for_the_timer(void **x)
{
    struct script *t = open_with(x, true);
    batch(t, MS(200), 2, true);
    expect_sent(t, .ack = 2001);
    for (int i = 0; i < 5; i++)
        peer_says(t, MS(300), .len = 100, .more = i < 4);
    expect_quiet(t, SCPS_HOLD_APP);
    expect_sent(t, .at = MS(500), .ack = 2501);
    script_free(t);
}

/* RFC 5681 section 4.2: a batch with data beyond a hole, or with data that fills one, is
 * acknowledged at once. */
static void holes(void **x)
{
    for (int stretch = 0; stretch < 2; stretch++) {
        struct script *t = open_with(x, stretch);
        batch(t, MS(200), 1, false);
        peer_says(t, MS(200), .seq = 2001, .len = 1000, .more = true);
        peer_says(t, MS(200), .seq = 3001, .len = 1000);
        expect_sent(t, .at = MS(200), .ack = 1001, .sack = {{2001, 4001}});
        peer_says(t, MS(210), .seq = 1001, .len = 1000, .more = true);
        /* By itself this segment would wait for the timer. */
        peer_says(t, MS(210), .seq = 4001, .len = 100);
        if (!stretch)
            expect_sent(t, .at = MS(210), .ack = 4001, .no_sack = true);
        expect_sent(t, .at = MS(210), .ack = 4101, .no_sack = true);
        expect_quiet(t, SCPS_HOLD_APP);
        script_free(t);
    }
}

/* CCSDS 714.0-B-2 section 3.3: a SNACK without a bit vector names one hole, and each hole is
 * named as soon as it is known. If a batch leaves several holes, as many acknowledgements follow
 * it: after a single one the other holes would wait for segments that the peer has no reason to
 * send. */
static void each_hole_is_named(void **x)
{
    struct script *t = script_of(x);
    t->cfg.snack = true;
    t->peer.caps = SCPS_CAP_SNACK1;
    script_established(t, MS(100));
    for (int i = 1; i < 9; i += 2)
        peer_says(t, MS(200), .seq = 1 + 1000 * i, .len = 1000, .more = i < 7);
    for (unsigned i = 0; i < 4; i++)
        expect_sent(t, .at = MS(200), .ack = 1, .snack = {{2 * i, 1}});
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* RFC 5681 section 3.2: without SACK the sender counts duplicate ACKs, so each segment of a batch
 * causes one of its own. */
static void duplicates_without_sack(void **x)
{
    for (int stretch = 0; stretch < 2; stretch++) {
        struct script *t = script_of(x);
        t->cfg.stretch_acks = stretch;
        t->peer.sack = false;
        script_established(t, MS(100));
        batch(t, MS(200), 2, false);
        for (int i = 3; i <= 5; i++)
            peer_says(t, MS(200), .seq = 1 + 1000 * i, .len = 1000, .more = i < 5);
        for (int i = 0; i < 4; i++)
            expect_sent(t, .at = MS(200), .ack = 2001, .no_sack = true);
        expect_quiet(t, SCPS_HOLD_APP);
        script_free(t);
    }
}

/* RFC 3168 section 6.1.3: a CE mark on any segment of the batch is echoed, even if a segment with
 * CWR follows it in the batch, until a CWR arrives that was sent after the echo. */
static void a_ce_mark_within_a_batch(void **x)
{
    struct script *t = script_of(x);
    t->cfg.ecn = true;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
    expect_sent(t, .ack = 1);
    script_forget_events(t);
    batch(t, MS(200), 1, false);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_CE, .more = true);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_ECT0, .flags = SCPS_ACK | SCPS_CWR);
    expect_sent(t, .at = MS(200), .ack = 3001, .flags = SCPS_ACK | SCPS_ECE);
    batch(t, MS(300), 2, true);
    expect_sent(t, .ack = 5001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(400), .len = 1000, .flags = SCPS_ACK | SCPS_CWR, .more = true);
    batch(t, MS(400), 1, true);
    expect_sent(t, .ack = 7001, .flags = SCPS_ACK);
    script_free(t);
}

/* quick_acks applies to an odd number of segments, too. */
static void quick(void **x)
{
    struct script *t = script_of(x);
    t->cfg.quick_acks = 4;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 100);
    expect_sent(t, .at = MS(200), .ack = 101);
    for (int i = 0; i < 3; i++)
        peer_says(t, MS(210), .len = 100, .more = i < 2);
    expect_sent(t, .at = MS(210), .ack = 401);
    peer_says(t, MS(220), .len = 100); /* This is the fifth segment. */
    expect_sent(t, .at = MS(420), .ack = 501);
    script_free(t);
}

static void fin(void **x)
{
    for (int stretch = 0; stretch < 2; stretch++) {
        struct script *t = open_with(x, stretch);
        peer_says(t, MS(200), .len = 1000, .more = true);
        peer_says(t, MS(200), .len = 500, .flags = SCPS_ACK | SCPS_FIN);
        expect_sent(t, .at = MS(200), .ack = 1502);
        expect_state(t, SCPS_CLOSE_WAIT);
        script_free(t);
    }
}

/* RFC 9293 section 3.8.6.2.2: a window update is sent when the window can open by more than a
 * segment and half of the buffer. */
static void window_update(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 4000;
    script_established(t, MS(100));
    batch(t, MS(200), 4, true);
    expect_sent(t, .at = MS(200), .ack = 4001, .wnd = ZERO);
    app_reads(t, MS(300), 4000);
    expect_sent(t, .at = MS(300), .ack = 4001, .wnd = 4000);
    script_free(t);
}

/* With stretch_acks off, every second segment of a batch is acknowledged. */
static void every_second_segment_without_stretch_acks(void **x)
{
    struct script *t = open_with(x, false);
    batch(t, MS(200), 2, true);
    expect_sent(t, .ack = 2001);
    batch(t, MS(300), 7, true);
    /* The last of these acknowledgements covers the seventh segment, too. */
    for (int i = 2; i <= 8; i += 2)
        expect_sent(t, .at = MS(300), .ack = i == 8 ? 9001 : 2001 + 1000 * i);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* With SCPS_ACK_EVERY and with quick_acks each segment is acknowledged; with SCPS_ACK_DELAYED none
 * before the timer expires. */
static void one_by_one_by_mode(void **x)
{
    static const enum scps_ack_mode mode[] = {SCPS_ACK_EVERY, SCPS_ACK_OTHER, SCPS_ACK_DELAYED};

    for (int m = 0; m < 3; m++) {
        struct script *t = script_of(x);
        t->cfg.stretch_acks = false;
        t->cfg.ack_mode = mode[m];
        t->cfg.quick_acks = mode[m] == SCPS_ACK_OTHER ? 3 : 0;
        script_established(t, MS(100));
        peer_says(t, MS(150), .len = 1000);
        expect_sent(t, .at = MS(mode[m] == SCPS_ACK_DELAYED ? 350 : 150), .ack = 1001);
        batch(t, MS(400), 5, true);
        if (mode[m] == SCPS_ACK_EVERY) {
            for (int i = 2; i <= 6; i++)
                expect_sent(t, .at = MS(400), .ack = 1 + 1000 * i);
        } else if (mode[m] == SCPS_ACK_OTHER) {
            expect_sent(t, .at = MS(400), .ack = 2001);
            expect_sent(t, .at = MS(400), .ack = 3001);
            expect_sent(t, .at = MS(400), .ack = 5001);
            expect_sent(t, .at = MS(400), .ack = 6001);
        } else {
            expect_sent(t, .at = MS(600), .ack = 6001);
        }
        expect_quiet(t, SCPS_HOLD_APP);
        script_free(t);
    }
}

/* With stretch_acks off, only the last acknowledgement of a batch reports data beyond the hole: in
 * an earlier one, data of the batch that arrived in order would look missing. Data that fills a
 * hole is acknowledged once, however much data behind it becomes in order. */
static void steps_and_holes(void **x)
{
    struct script *t = open_with(x, false);
    batch(t, MS(200), 2, true);
    expect_sent(t, .ack = 2001);
    batch(t, MS(300), 5, false);
    for (int i = 8; i < 14; i++)
        peer_says(t, MS(300), .seq = 1 + 1000 * i, .len = 1000, .more = i < 13);
    expect_sent(t, .at = MS(300), .ack = 4001, .no_sack = true);
    expect_sent(t, .at = MS(300), .ack = 6001, .no_sack = true);
    expect_sent(t, .at = MS(300), .ack = 7001, .sack = {{8001, 14001}});
    peer_says(t, MS(400), .seq = 7001, .len = 1000, .more = true);
    for (int i = 14; i < 18; i++)
        peer_says(t, MS(400), .seq = 1 + 1000 * i, .len = 1000, .more = i < 17);
    expect_sent(t, .at = MS(400), .ack = 14001, .no_sack = true);
    expect_sent(t, .at = MS(400), .ack = 16001, .no_sack = true);
    expect_sent(t, .at = MS(400), .ack = 18001, .no_sack = true);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* With stretch_acks off, data that is sent carries the acknowledgements of the batch, and each has
 * the same right edge of the window. */
static void data_carries_the_acks_of_the_batch(void **x)
{
    struct script *t = open_with(x, false);
    batch(t, MS(200), 2, true);
    expect_sent(t, .ack = 2001);
    int32_t edge = 2001 + t->last.wnd;
    app_writes_more(t, MS(210), 500);
    peer_says(t, MS(300), .len = 1000, .more = true);
    batch(t, MS(300), 3, true);
    expect_sent(t, .at = MS(300), .ack = 4001);
    assert_in_range(t->last.wnd, edge - 4001, 65535);
    int32_t second = 4001 + t->last.wnd;
    expect_sent(t, .at = MS(300), .ack = 6001);
    assert_int_equal(6001 + t->last.wnd, second);
    expect_sent(t, .from = 1, .len = 500, .at = MS(410), .ack = 6001);
    peer_says(t, MS(500), .ack = 501);
    script_free(t);
}

/* A limit for acknowledgements (ack_budget) takes precedence over stretch_acks. */
static void a_budget_stretches(void **x)
{
    struct script *t = script_of(x);
    t->cfg.stretch_acks = false;
    t->cfg.ack_budget_pps = 1;
    script_established(t, MS(100));
    batch(t, SEC(2), 8, true);
    expect_sent(t, .at = SEC(2), .ack = 8001);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(answered_once),
        SCRIPT_TEST(a_small_batch_waits_for_the_timer),
        SCRIPT_TEST(holes),
        SCRIPT_TEST(each_hole_is_named),
        SCRIPT_TEST(duplicates_without_sack),
        SCRIPT_TEST(a_ce_mark_within_a_batch),
        SCRIPT_TEST(quick),
        SCRIPT_TEST(fin),
        SCRIPT_TEST(window_update),
        SCRIPT_TEST(every_second_segment_without_stretch_acks),
        SCRIPT_TEST(one_by_one_by_mode),
        SCRIPT_TEST(steps_and_holes),
        SCRIPT_TEST(data_carries_the_acks_of_the_batch),
        SCRIPT_TEST(a_budget_stretches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
