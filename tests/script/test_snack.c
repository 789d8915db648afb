/* SPDX-License-Identifier: MIT */
/* SNACK on a connection, both ends: CCSDS 714.0-B-2 section 3.3, docs/SCPS-TP.md section 2. */
#include "script.h"

/* Opens a connection with SNACK over a path of 100 ms, then sends ten segments at *at. sack: the
 * peer also uses SACK. */
static struct script *ten_out(void **x, scps_time *at, bool sack, uint8_t caps,
                              void (*tune)(struct script *))
{
    struct script *t = script_of(x);
    t->cfg.snack = t->cfg.snack_long = true;
    t->peer.caps = caps;
    t->peer.sack = sack;
    t->cfg.nodelay = true;
    t->cfg.dupthresh = 100; /* Fast retransmit must not resend before SNACK does. */
    /* The congestion window must not delay retransmissions. */
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    if (tune)
        tune(t);
    script_established(t, MS(100));
    uint32_t mss = script_info(t).snd_mss;
    *at = MS(200);
    for (int k = 0; k < 10; k++, *at += MS(100)) {
        app_writes(t, *at, 1);
        script_forget_sent(t);
        peer_says(t, *at + MS(100), .ack = 2 + k);
    }
    app_writes(t, *at, 10 * mss);
    for (int k = 0; k < 10; k++)
        expect_sent(t, .at = *at, .from = 11 + mss * k, .len = (int32_t)mss);
    return t;
}
/* The first octet of the k-th of these segments, without time stamps. */
#define S(k)  (11 + 1000 * (k))
#define SHORT SCPS_CAP_SNACK1
#define LONG  (SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2)

/* One SNACK suffices: all segments that it names are resent at once, and no others. */
static void short_form(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, false, SHORT, NULL);
    peer_says(t, at + MS(100), .ack = S(0), .snack = {{0, 1}});
    expect_sent(t, .at = at + MS(100), .from = S(0), .len = 1000);
    peer_says(t, at + MS(101), .ack = S(0), .snack = {{2, 3}});
    for (int k = 2; k < 5; k++)
        expect_sent(t, .at = at + MS(101), .from = S(k), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).snacks_in, 2);
    assert_int_equal(script_info(t).recoveries, 1);
    script_free(t);
}

static void by_the_clock(struct script *t)
{
    t->cfg.recovery = SCPS_RECOVERY_RACK;
}

/* With an ACK budget a receiver names its holes in order, and has not yet reported what arrived
 * between two of them. RACK (RFC 8985) does not take such data for lost: it only applies to
 * segments above everything that has arrived, which no SNACK can name. */
static void rack_above_the_highest_arrival_only(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, true, LONG, by_the_clock);
    peer_says(t, at + MS(100), .ack = S(0), .sack = {{S(1), S(2)}}, .snack = {{0, 1}});
    expect_sent(t, .at = at + MS(100), .from = S(0), .len = 1000);
    peer_says(t, at + MS(130), .ack = S(0), .sack = {{S(7), S(8)}}, .snack = {{6, 1}});
    expect_sent(t, .at = at + MS(130), .from = S(6), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    /* The segment that is reported was sent after S(8) and S(9). */
    peer_says(t, at + MS(200), .ack = S(6), .sack = {{S(7), S(8)}});
    for (int k = 8; k < 10; k++)
        expect_sent(t, .at = at + MS(200), .from = S(k), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* docs/SCPS-TP.md section 2.4: a segment is resent once per round trip, however often it is named;
 * after that again, whether it is named or not. */
static void once_a_round_trip(void **x)
{
    for (int named = 0; named < 2; named++) {
        scps_time at;
        struct script *t = ten_out(x, &at, named, SHORT, NULL);
        peer_says(t, at + MS(100), .ack = S(0), .snack = {{0, 1}});
        expect_sent(t, .at = at + MS(100), .from = S(0), .len = 1000);
        for (int k = 1; named && k < 9; k++)
            peer_says(t, at + MS(100) + MS(10) * k, .ack = S(0), .snack = {{0, 1}});
        expect_quiet(t, ANY_HOLD);
        expect_sent(t, .at = at + MS(212), .slack = MS(3), .from = S(0), .len = 1000);
        script_forget_sent(t);
        script_run(t, at + MS(330));
        expect_sent(t, .from = S(0), .len = 1000);
        assert_int_equal(script_info(t).timeouts, 0);
        script_forget_sent(t);
        script_free(t);
    }
}

/* docs/SCPS-TP.md section 2.4: after four retransmissions in a row the embargo (the time before the
 * next one) doubles, but not if losses are attributed to corruption. */
static void congestion(struct script *t)
{
    t->cfg.loss_cause = SCPS_LOSS_CONGESTION;
    t->cfg.rto_min = SEC(2); /* The retransmission timer must not expire first. */
}

static void embargo_grows(void **x)
{
    for (int corrupt = 0; corrupt < 2; corrupt++) {
        scps_time at, last = 0, gap[8];
        struct script *t = ten_out(x, &at, true, SHORT, corrupt ? NULL : congestion);
        peer_says(t, at + MS(100), .ack = S(0), .snack = {{0, 1}});
        for (int k = 0; k < 8; k++) {
            expect_sent(t, .at = script_now(t), .slack = SEC(1), .from = S(0), .len = 1000);
            gap[k] = script_now(t) - last;
            last = script_now(t);
            peer_says(t, last + MS(20), .ack = S(0)); /* The segment has arrived. */
        }
        /* Up to the fifth retransmission the embargo is one round trip. */
        assert_true(gap[4] < MS(120));
        assert_true(corrupt || gap[5] > 2 * gap[4] - MS(10));
        assert_true(corrupt ? gap[7] < MS(120) : gap[7] > 2 * gap[3] - MS(10));
        assert_int_equal(script_info(t).timeouts, 0);
        script_forget_sent(t);
        script_free(t);
    }
}

static void long_embargo(struct script *t)
{
    t->cfg.rto_min = SEC(20); /* The retransmission timer does not expire. */
}

static void rate_alone(struct script *t)
{
    long_embargo(t);
    t->cfg.cc = scps_cc_find("rate");
    t->cfg.rate = t->cfg.burst = 100000000;
}

/* Corruption explains only few losses of one segment in a row: after 64 retransmissions the embargo
 * doubles up to a second also where losses are attributed to corruption (RFC 6298 section 2.4), and
 * also at the end of the data of a sender with pure rate control. */
static void embargo_of_damage_grows_late(void **x)
{
    for (int rate = 0; rate < 2; rate++) {
        scps_time at, last = 0, gap[74];
        struct script *t = ten_out(x, &at, true, SHORT, rate ? rate_alone : long_embargo);
        if (rate) {
            scps_conn_shutdown(t->c);
            expect_sent(t, .at = at, .from = S(10), .flags = SCPS_FIN | SCPS_ACK);
        }
        peer_says(t, at + MS(100), .ack = S(0), .sack = {{S(1), S(10) + rate}}, .snack = {{0, 1}});
        for (int k = 0; k < 74; k++) {
            expect_sent(t, .at = script_now(t), .slack = SEC(3), .from = S(0), .len = 1000);
            gap[k] = script_now(t) - last;
            last = script_now(t);
            peer_says(t, last + MS(20), .ack = S(0));
            if (k >= 64) /* The segment is named again, which now is within the embargo. */
                peer_says(t, last + MS(150), .ack = S(0), .snack = {{0, 1}});
        }
        for (int k = 2; k <= 64; k++)
            assert_in_range(gap[k], MS(100), MS(125));
        assert_in_range(gap[65], 2 * gap[64] - MS(20), 2 * gap[64]);
        assert_in_range(gap[73], MS(980), MS(1020));
        assert_int_equal(script_info(t).timeouts, 0);
        script_forget_sent(t);
        script_free(t);
    }
}

static void a_path_that_drops_one_segment(struct script *t)
{
    rate_alone(t);
    t->cfg.rto_min = SEC(3);
    t->cfg.data_retries = 3;
}

/* RFC 9293 section 3.8.3: R2 measures "the amount of retransmission that has occurred for the same
 * segment". The peer answers twice a second, so the embargo resends the segment at SND.UNA again
 * and again; after 64 times that does not restart the retransmission timer any more, and R2, here
 * 100 s, begins with its first timeout. */
static void one_segment_is_dropped_for_ever(void **x)
{
    scps_time at, until;
    struct script *t = ten_out(x, &at, true, SHORT, a_path_that_drops_one_segment);

    peer_says(t, at + MS(100), .ack = S(0), .sack = {{S(1), S(10)}}, .snack = {{0, 1}});
    until = at + SEC(95);
    while (script_now(t) < until) {
        peer_says(t, script_now(t) + MS(500), .ack = S(0));
        script_forget_sent(t);
    }
    script_forget_events(t);
    assert_true(script_info(t).timeouts > 0);
    for (until = at + SEC(170); script_now(t) < until && !scps_conn_error(t->c);) {
        peer_says(t, script_now(t) + MS(500), .ack = S(0));
        script_forget_sent(t);
    }
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_forget_sent(t);
    script_free(t);
}

/* A SNACK that arrives less than a round trip after a segment was sent cannot be about that
 * segment. */
static void a_snack_before_a_round_trip_has_passed(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, false, SHORT, NULL);
    peer_says(t, at + MS(90), .ack = S(0), .snack = {{0, 1}});
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).resent_segs, 0);
    script_forget_sent(t);
    script_free(t);
}

/* A SNACK is cut to what was sent; an invalid one has no effect; overlapping ones resend a segment
 * once. */
static void ranges(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, false, SHORT, NULL);
    at += MS(100);
    peer_says(t, at, .ack = S(0), .snack = {{10, 1}});
    peer_says(t, at, .ack = S(0), .snack = {{65535, 65535}});
    peer_says(t, at, .ack = S(0), .snack = {{0, 0}});
    expect_quiet(t, ANY_HOLD);
    peer_says(t, at + MS(1), .ack = S(0), .snack = {{8, 65535}});
    expect_sent(t, .from = S(8), .len = 1000);
    expect_sent(t, .from = S(9), .len = 1000);
    peer_says(t, at + MS(2), .ack = S(0), .snack = {{1, 3}});
    for (int k = 1; k < 4; k++)
        expect_sent(t, .from = S(k), .len = 1000);
    peer_says(t, at + MS(3), .ack = S(0), .snack = {{2, 4}});
    for (int k = 4; k < 6; k++)
        expect_sent(t, .from = S(k), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    /* A SNACK that arrives late counts from the acknowledgement number in its segment, not from the
     * present SND.UNA. */
    peer_says(t, at + MS(4), .ack = S(4));
    peer_says(t, at + MS(5), .ack = S(0), .snack = {{0, 4}});
    expect_quiet(t, ANY_HOLD);
    peer_says(t, at + MS(6), .ack = S(0), .snack = {{6, 1}});
    expect_sent(t, .at = at + MS(6), .from = S(6), .len = 1000);
    assert_int_equal(script_info(t).resent_segs, 8);
    script_forget_sent(t);
    script_free(t);
}

/* docs/SCPS-TP.md section 2.1: the unit is the MSS less the octets of time stamps, or the whole MSS
 * with snack_raw_unit. */
static void timestamps(struct script *t)
{
    t->cfg.timestamps = t->peer.ts = true;
}
static void raw_unit(struct script *t)
{
    timestamps(t);
    t->cfg.snack_raw_unit = true;
}

static void unit(void **x)
{
    for (int raw = 0; raw < 2; raw++) {
        scps_time at;
        struct script *t = ten_out(x, &at, false, SHORT, raw ? raw_unit : timestamps);
        peer_says(t, at + MS(100), .ack = 11, .snack = {{0, 1}});
        expect_sent(t, .from = 11, .len = 988);
        peer_says(t, at + MS(101), .ack = 11, .snack = {{8, 1}});
        /* The SNACK names octets 8000 to 8999, which begin within the ninth segment, or 7904 to
         * 8891, which are that segment. */
        expect_sent(t, .from = 11 + 988 * (raw ? 9 : 8), .len = 988);
        script_forget_sent(t);
        script_free(t);
    }
}

/* The long form also shows what has arrived; zeros after the last 1 of the bit vector mean
 * nothing. */
static void long_form(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, false, LONG, NULL);
    peer_says(t, at + MS(100), .ack = S(0), .snack = {{0, 1}}, .snack_vec = {0x58},
              .snack_vec_len = 1);
    expect_sent(t, .at = at + MS(100), .from = S(0), .len = 1000);
    expect_sent(t, .at = at + MS(100), .from = S(1), .len = 1000);
    expect_sent(t, .at = at + MS(100), .from = S(3), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).sacked, 3000);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5681 section 3.2: without SACK a duplicate ACK stands for a segment that has arrived, unless
 * its bit vector names that segment: counted twice, it would let recovery send at twice the window.
 * A duplicate ACK that names nothing new counts until the segment is named. */
static void arrivals_count_once(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, false, LONG, congestion);
    /* The retransmission and the segments that no bit vector names remain. */
    for (int k = 1; k <= 4; k++) {
        uint8_t vec = (uint8_t)(0xff << (8 - k));
        peer_says(t, at + MS(99 + k), .ack = S(0), .snack = {{0, 1}}, .snack_vec = {vec},
                  .snack_vec_len = 1);
        if (k == 1)
            expect_sent(t, .at = at + MS(100), .from = S(0), .len = 1000);
        assert_int_equal(script_info(t).inflight, 1000 * (10 - k));
    }
    peer_says(t, at + MS(104), .ack = S(0));
    peer_says(t, at + MS(105), .ack = S(0));
    assert_int_equal(script_info(t).inflight, 4000);
    peer_says(t, at + MS(106), .ack = S(0), .snack = {{0, 1}}, .snack_vec = {0xfe},
              .snack_vec_len = 1);
    assert_int_equal(script_info(t).inflight, 3000);
    script_free(t);
}

/* A SNACK that was not agreed is ignored; a bit vector that was not agreed is ignored, too. */
static void not_agreed(void **x)
{
    for (int caps = 0; caps < 2; caps++) {
        scps_time at;
        struct script *t = ten_out(x, &at, false, caps ? SHORT : 0, NULL);
        peer_says(t, at + MS(100), .ack = S(0), .snack = {{0, 1}}, .snack_vec = {0x58},
                  .snack_vec_len = 1);
        if (caps)
            expect_sent(t, .at = at + MS(100), .from = S(0), .len = 1000);
        expect_quiet(t, ANY_HOLD);
        assert_int_equal(script_info(t).snacks_in, caps);
        assert_int_equal(script_info(t).sacked, 0);
        assert_int_equal(script_info(t).resent_segs, caps);
        script_forget_sent(t);
        script_free(t);
    }
}

/* SACK and SNACK change the same scoreboard: a segment that has arrived is not resent, whatever
 * names it. */
static void beside_sack(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, true, SHORT, NULL);
    peer_says(t, at + MS(100), .ack = S(0), .snack = {{0, 3}},
              .sack = {{S(1), S(2)}, {S(5), S(6)}});
    expect_sent(t, .from = S(0), .len = 1000);
    expect_sent(t, .from = S(2), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    /* The retransmission is lost: data that was sent after it has arrived. */
    app_writes(t, at + MS(101), 3000);
    script_forget_sent(t);
    peer_says(t, at + MS(201), .ack = S(0), .sack = {{S(1), S(13)}});
    expect_sent(t, .at = at + MS(201), .from = S(0), .len = 1000);
    assert_int_equal(script_info(t).timeouts, 0);
    script_forget_sent(t);
    script_free(t);
}

/* snack_delay: a segment that was only late arrives during the delay; others are resent after it,
 * without a second report. */
static void delay_20(struct script *t)
{
    t->cfg.snack_delay = MS(20);
}

static void delay(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, false, SHORT, delay_20);
    peer_says(t, at + MS(100), .ack = S(0), .snack = {{0, 1}});
    peer_says(t, at + MS(101), .ack = S(0), .snack = {{4, 1}});
    peer_says(t, at + MS(102), .ack = S(0), .snack = {{4, 1}});
    expect_quiet(t, ANY_HOLD);
    peer_says(t, at + MS(110), .ack = S(4), .snack = {{0, 1}});
    expect_sent(t, .at = at + MS(121), .from = S(4), .len = 1000);
    script_run(t, at + MS(200));
    struct scps_info i = script_info(t);
    assert_int_equal(i.resent_segs, 1);
    assert_int_equal(i.recoveries, 1);
    script_forget_sent(t);
    script_free(t);
}

/* Sends ten segments. SNACKs report the first and the third one while they are late by 8 ms. */
static struct script *two_late(void **x, scps_time *at)
{
    struct script *t = ten_out(x, at, true, SHORT, NULL);
    peer_says(t, *at + MS(100), .ack = S(0), .sack = {{S(1), S(2)}}, .snack = {{0, 1}});
    expect_sent(t, .at = *at + MS(100), .from = S(0), .len = 1000);
    peer_says(t, *at + MS(108), .ack = S(0), .sack = {{S(1), S(2)}});
    peer_says(t, *at + MS(109), .ack = S(2));
    script_forget_sent(t);
    peer_says(t, *at + MS(110), .ack = S(2), .sack = {{S(3), S(4)}}, .snack = {{0, 1}});
    expect_sent(t, .at = *at + MS(110), .from = S(2), .len = 1000);
    peer_says(t, *at + MS(118), .ack = S(2), .sack = {{S(3), S(4)}});
    peer_says(t, *at + MS(119), .ack = S(4));
    script_forget_sent(t);
    return t;
}

/* RFC 8985 section 6.2 step 4, applied to SNACK: the first two reports of a hole are taken for a
 * loss at once. Both segments arrive at least 8 ms late, so that later reports wait for 9 ms: the
 * next segment arrives within that time, and the one after it is resent when the time has
 * passed. */
static void reordering_window(void **x)
{
    scps_time at;
    struct script *t = two_late(x, &at);
    /* Two segments were 8 ms late, so the next hole is repaired after 9 ms. */
    peer_says(t, at + MS(120), .ack = S(4), .sack = {{S(5), S(6)}}, .snack = {{0, 1}});
    peer_says(t, at + MS(125), .ack = S(6));
    script_run(t, at + MS(140));
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 2);
    peer_says(t, at + MS(149), .ack = S(6));
    peer_says(t, at + MS(150), .ack = S(6), .sack = {{S(7), S(8)}}, .snack = {{0, 1}});
    script_run(t, at + MS(158));
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 2);
    script_run(t, at + MS(160));
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 3);
    script_free(t);
}

/* A peer that has acknowledged nothing for longer than the reordering window, and then more than
 * two segments, has waited itself, so its SNACK is not postponed. One that acknowledges two
 * segments after such a time had nothing to acknowledge before (RFC 5681 section 4.2). */
static void reordering_window_of_the_peer(void **x)
{
    scps_time at;
    struct script *t = two_late(x, &at);
    peer_says(t, at + MS(150), .ack = S(4), .sack = {{S(5), S(7)}}, .snack = {{0, 1}});
    script_run(t, at + MS(158));
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 2);
    script_run(t, at + MS(160));
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 3);
    script_free(t);
    t = two_late(x, &at);
    peer_says(t, at + MS(150), .ack = S(4), .sack = {{S(5), S(8)}}, .snack = {{0, 1}});
    script_run(t, at + MS(151));
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 3);
    script_free(t);
}

/* The unit that the SNACK names holds ten small segments. One is missing, and SACK has reported
 * none that was sent after the one behind it, so the later ones are still in flight. */
static void small_segments(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, true, SHORT, NULL);
    at += MS(100);
    peer_says(t, at, .ack = S(10));
    for (int k = 0; k < 8; k++) {
        app_writes(t, at, 100);
        expect_sent(t, .at = at, .from = S(10) + 100 * k, .len = 100);
    }
    at += MS(100);
    peer_says(t, at, .ack = S(10) + 200);
    peer_says(t, at, .ack = S(10) + 200, .sack = {{S(10) + 300, S(10) + 400}}, .snack = {{0, 1}});
    expect_sent(t, .at = at, .from = S(10) + 200, .len = 100);
    peer_says(t, at, .ack = S(10) + 200, .sack = {{S(10) + 300, S(10) + 800}}, .snack = {{0, 1}});
    expect_quiet(t, ANY_HOLD);
    peer_says(t, at + MS(100), .ack = S(10) + 800);
    assert_int_equal(script_info(t).resent_segs, 1);
    script_free(t);
}

/* At the end of the data no SNACK can name the last segments, because nothing comes behind them.
 * The segment with the FIN is resent after its embargo, well before the retransmission timer would
 * expire. */
static void last_is_lost(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, true, SHORT, NULL);
    at += MS(100);
    peer_says(t, at, .ack = S(10));
    app_writes(t, at, 500);
    scps_conn_shutdown(t->c);
    expect_sent(t, .at = at, .from = S(10), .len = 500);
    expect_sent(t, .at = at, .from = S(10) + 500, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = at + MS(110), .slack = MS(8), .from = S(10) + 500,
                .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, at + MS(214), .ack = S(10), .snack = {{0, 1}},
              .sack = {{S(10) + 500, S(10) + 501}});
    expect_sent(t, .at = at + MS(214), .from = S(10), .len = 500);
    assert_int_equal(script_info(t).timeouts, 0);
    script_free(t);
}

static void congestion_after_a_timeout(struct script *t)
{
    t->cfg.loss_cause = SCPS_LOSS_CONGESTION;
    t->cfg.rto_min = SEC(1);
}

/* RFC 6298 (5.5) and (5.6): a segment that a timeout resent waits for the backed-off timer, unless
 * a segment above it has arrived: the peer may delay the acknowledgement of a single segment by its
 * delayed-ACK timer. */
static void after_a_timeout(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, true, SHORT, congestion_after_a_timeout);
    scps_dur rto = script_info(t).rto;
    script_forget_sent(t);
    expect_sent(t, .at = at + rto, .slack = MS(1), .from = S(0), .len = 1000);
    script_run(t, at + rto + MS(900));
    expect_quiet(t, ANY_HOLD);
    peer_says(t, at + rto + MS(900), .ack = S(1));
    expect_sent(t, .at = at + rto + MS(900), .from = S(1), .len = 1000);
    expect_sent(t, .at = at + rto + MS(900), .from = S(2), .len = 1000);
    script_forget_sent(t);
    peer_says(t, at + rto + SEC(1), .ack = S(1), .sack = {{S(2), S(3)}});
    expect_sent(t, .at = at + rto + SEC(1), .from = S(1), .len = 1000);
    script_forget_sent(t);
    script_free(t);
}

/* The rule for the last segments needs a round trip of data: that of the SYN says little on a slow
 * line, where an expected RTT says more. */
static void the_end_on_a_slow_line(void **x)
{
    struct script *t = script_of(x);
    t->cfg.snack = t->cfg.snack_long = true;
    t->peer.caps = LONG;
    t->cfg.expected_rtt = SEC(5);
    script_established(t, MS(100));
    app_writes(t, SEC(1), 1000);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 1000);
    expect_sent(t, .at = SEC(1), .from = 1001, .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, SEC(6), .ack = 1002);
    assert_int_equal(script_info(t).resent_segs, 0);
    expect_state(t, SCPS_FIN_WAIT_2);
    script_free(t);
}

/* A retransmission that was sent after the last segments has arrived, and these are older than a
 * round trip: they are lost, without a report or the timer. */
static void last_ones_are_lost(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, true, SHORT, NULL);
    at += MS(100);
    peer_says(t, at, .ack = S(10));
    app_writes(t, at, 9000);
    scps_conn_shutdown(t->c);
    script_run(t, at + MS(50));
    script_forget_sent(t);
    peer_says(t, at + MS(100), .ack = S(10), .snack = {{0, 1}}, .sack = {{S(11), S(16)}});
    expect_sent(t, .at = at + MS(100), .from = S(10), .len = 1000);
    /* The FIN is lost, too. */
    expect_sent(t, .at = at + MS(110), .slack = MS(8), .from = S(19), .flags = SCPS_FIN | SCPS_ACK);
    peer_says(t, at + MS(200), .ack = S(16));
    for (int k = 16; k < 19; k++)
        expect_sent(t, .at = at + MS(205), .slack = MS(40), .from = S(k), .len = 1000);
    assert_int_equal(script_info(t).timeouts, 0);
    script_forget_sent(t);
    script_free(t);
}

/* Three duplicate ACKs within the embargo of a retransmission do not resend the segment again, as a
 * SNACK would not. */
static void three(struct script *t)
{
    t->cfg.dupthresh = 3;
    t->cfg.init_cwnd_segs = 40;
}

static void duplicates_in_an_embargo(void **x)
{
    scps_time at;
    struct script *t = ten_out(x, &at, false, SHORT, three);
    peer_says(t, at + MS(100), .ack = S(0), .snack = {{0, 1}});
    expect_sent(t, .at = at + MS(100), .from = S(0), .len = 1000);
    app_writes(t, at + MS(101), 3000);
    script_run(t, at + MS(150));
    assert_int_equal(script_forget_sent(t), 3);
    peer_says(t, at + MS(201), .ack = S(0), .snack = {{10, 1}});
    expect_sent(t, .at = at + MS(201), .from = S(10), .len = 1000);
    peer_says(t, at + MS(202), .ack = S(10)); /* The episode is over. */
    for (int k = 3; k < 8; k++)
        peer_says(t, at + MS(200 + k), .ack = S(10));
    expect_quiet(t, ANY_HOLD);
    assert_int_equal(script_info(t).resent_segs, 2);
    script_free(t);
}

/* A peer that reports first transmissions much later than the path takes, where no queue can be the
 * reason, reports others earlier. The arrival of data that was sent after a retransmission is then
 * no reason to resend it before its embargo, which is longer by three times that delay and an
 * eighth. For a peer that reports at once it is a reason. */
static void only_the_rate(struct script *t)
{
    t->cfg.cc = scps_cc_find("rate");
    t->cfg.rate = t->cfg.burst = 100000000;
    t->cfg.dupthresh = 3;
    t->peer_wnd = 13000; /* The sender always has more to send. */
}

static void arrivals_that_no_snack_reports(void **x)
{
    for (int late = 0; late < 2; late++) {
        scps_time at;
        struct script *t = ten_out(x, &at, true, LONG, only_the_rate);
        at += MS(late ? 140 : 100);
        peer_says(t, at, .ack = S(0), .snack = {{0, 1}}, .sack = {{S(1), S(10)}});
        expect_sent(t, .at = at, .from = S(0), .len = 1000);
        app_writes(t, at + MS(1), 5000);
        for (int k = 10; k < 13; k++)
            expect_sent(t, .at = at + MS(1), .from = S(k), .len = 1000);
        peer_says(t, at + MS(101), .ack = S(0), .sack = {{S(1), S(13)}});
        if (late)
            expect_quiet(t, ANY_HOLD);
        /* 100 ms, three times the 40 ms of delay, and an eighth more. */
        expect_sent(t, .at = at + (late ? MS(220) : MS(101)), .slack = late ? MS(65) : 0,
                    .from = S(0), .len = 1000);
        assert_int_equal(script_info(t).timeouts, 0);
        script_forget_sent(t);
        script_free(t);
    }
}

/* With SACK and the short form, a peer that reports by SACK blocks alone is not expected to send
 * SNACKs: dupthresh segments that have arrived above a hole show that it is lost (RFC 6675). While
 * its acknowledgements have SNACKs, or it has the long form, SNACKs name what is lost. */
static void sack_without_a_snack(void **x)
{
    for (int c = 0; c < 4; c++) {
        bool snack = c & 1, both = c & 2;
        scps_time at;
        struct script *t = ten_out(x, &at, true, both ? LONG : SHORT, only_the_rate);

        at += MS(100);
        if (snack)
            peer_says(t, at, .ack = S(0), .snack = {{0, 1}}, .sack = {{S(1), S(2)}, {S(4), S(9)}});
        else
            peer_says(t, at, .ack = S(0), .sack = {{S(1), S(2)}, {S(4), S(9)}});
        if (snack || !both)
            expect_sent(t, .at = at, .from = S(0), .len = 1000);
        for (int k = 2; k < 4 && !snack && !both; k++)
            expect_sent(t, .at = at, .from = S(k), .len = 1000);
        expect_quiet(t, ANY_HOLD);
        script_free(t);
    }
}

/* The end of the data without SACK, after two segments were resent. A report that names a later
 * hole shows that one of them has arrived: when the peer falls silent, only the other is resent, or
 * both if there was no such report. */
static void passed_over(void **x)
{
    for (int told = 0; told < 2; told++) {
        scps_time at;
        struct script *t = ten_out(x, &at, false, SHORT, NULL);
        scps_conn_shutdown(t->c);
        script_run(t, at + MS(50));
        script_forget_sent(t); /* The FIN is sent. */
        at += MS(101);
        for (int k = 0; k < 7; k += 3) {
            peer_says(t, at + k, .ack = S(0), .snack = {{(uint16_t)k, 1}});
            expect_sent(t, .at = at + k, .from = S(k), .len = 1000);
        }
        /* The sender has to assume that the FIN is lost. */
        expect_sent(t, .at = at + MS(11), .slack = MS(3), .from = S(10),
                    .flags = SCPS_FIN | SCPS_ACK);
        if (told)
            for (int k = 0; k < 7; k += 6) /* The fourth segment is no longer named. */
                peer_says(t, at + MS(100) + k, .ack = S(0), .snack = {{(uint16_t)k, 1}});
        expect_sent(t, .at = at + MS(112), .slack = MS(3), .from = S(0), .len = 1000);
        if (!told)
            expect_sent(t, .at = at + MS(112), .slack = MS(3), .from = S(3), .len = 1000);
        expect_sent(t, .at = at + MS(112), .slack = MS(20), .from = S(6), .len = 1000);
        script_run(t, at + MS(200));
        assert_int_equal(script_info(t).resent_segs, told ? 7 : 8); /* The FIN was resent twice. */
        script_forget_sent(t);
        assert_int_equal(script_info(t).timeouts, 0);
        script_free(t);
    }
}

/* ---- the receiver ---- */

static struct script *receiving(void **x, enum scps_ack_mode mode, bool long_one)
{
    struct script *t = script_of(x);
    t->cfg.snack = true;
    t->cfg.snack_long = long_one;
    t->cfg.sack = false;
    t->cfg.ack_mode = mode;
    t->peer.sack = false;
    t->peer.caps = LONG;
    script_established(t, MS(100));
    return t;
}
#define R(k) (1 + 1000 * (k))

/* Each new hole is named once, the lowest first, then all of them in turn; a hole that is filled is
 * no longer named. */
static void order_of_reports(void **x)
{
    for (int every = 0; every < 2; every++) {
        struct script *t = receiving(x, every ? SCPS_ACK_EVERY : SCPS_ACK_OTHER, false);
        peer_says(t, MS(200), .seq = R(1), .len = 1000);
        expect_sent(t, .at = MS(200), .ack = R(0), .snack = {{0, 1}});
        peer_says(t, MS(201), .seq = R(4), .len = 1000);
        expect_sent(t, .at = MS(201), .ack = R(0), .snack = {{2, 2}});
        /* There is no new hole, so the report has the reported hole whose turn is next. */
        peer_says(t, MS(202), .seq = R(5), .len = 1000);
        expect_sent(t, .at = MS(202), .ack = R(0), .snack = {{0, 1}});
        peer_says(t, MS(203), .seq = R(7), .len = 1000);
        expect_sent(t, .at = MS(203), .ack = R(0), .snack = {{6, 1}});
        peer_says(t, MS(204), .seq = R(8), .len = 1000);
        expect_sent(t, .at = MS(204), .ack = R(0), .snack = {{2, 2}});
        peer_says(t, MS(205), .seq = R(0), .len = 1000);
        expect_sent(t, .at = MS(205), .ack = R(2), .snack = {{4, 1}});
        peer_says(t, MS(206), .seq = R(2), .len = 2000);
        expect_sent(t, .at = MS(206), .ack = R(6), .snack = {{0, 1}});
        peer_says(t, MS(207), .seq = R(6), .len = 1000);
        expect_sent(t, .at = MS(207), .ack = R(9), .no_snack = true);
        app_reads(t, MS(208), 9000);
        script_forget_sent(t);
        script_free(t);
    }
}

/* Mode F0: nothing is sent before the timer expires; then every hole is named, in as many
 * acknowledgements as that takes. */
static void strictly_delayed(void **x)
{
    struct script *t = receiving(x, SCPS_ACK_DELAYED, false);
    peer_says(t, MS(200), .seq = R(1), .len = 1000);
    for (int k = 3; k < 9; k += 2)
        peer_says(t, MS(200 + k), .seq = R(k), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    scps_time due = MS(200) + MS(200);
    for (int k = 0; k < 8; k += 2)
        expect_sent(t, .at = due, .ack = R(0), .snack = {{(uint16_t)k, 1}});
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* Mode F0: a FIN is acknowledged at once and does not delay the reports of the timer. The timer
 * runs as long as there are holes, so a segment that fills one does not wait for a whole delay. */
static void the_timer_goes_on(void **x)
{
    struct script *t = receiving(x, SCPS_ACK_DELAYED, false);
    peer_says(t, MS(200), .seq = R(1), .len = 1000);
    peer_says(t, MS(210), .seq = R(3), .len = 1000);
    peer_says(t, MS(300), .seq = R(5), .len = 1000, .flags = SCPS_ACK | SCPS_FIN);
    expect_sent(t, .at = MS(300), .ack = R(0), .snack = {{0, 1}});
    for (int k = 2; k < 6; k += 2)
        expect_sent(t, .at = MS(300), .ack = R(0), .snack = {{(uint16_t)k, 1}});
    for (int k = 0; k < 6; k += 2)
        expect_sent(t, .at = MS(400), .ack = R(0), .snack = {{(uint16_t)k, 1}});
    peer_says(t, MS(700), .seq = R(2), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    for (int k = 0; k < 6; k += 4)
        expect_sent(t, .at = MS(800), .ack = R(0), .snack = {{(uint16_t)k, 1}});
    /* No more segments arrive, so nothing is reported and the timer stops. */
    script_run(t, SEC(20));
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* holes_at_once: data in order still waits for the timer; data beyond a hole, or data that fills
 * one, is reported at once. */
static void holes_are_reported_at_once(void **x)
{
    struct script *t = script_of(x);
    t->cfg.snack = t->cfg.sack = t->cfg.holes_at_once = true;
    t->cfg.ack_mode = SCPS_ACK_DELAYED;
    t->peer.caps = LONG;
    t->peer.sack = true;
    script_established(t, MS(100));
    for (int k = 0; k < 4; k++)
        peer_says(t, MS(200 + k), .seq = R(k), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    peer_says(t, MS(210), .seq = R(5), .len = 1000);
    expect_sent(t, .at = MS(210), .ack = R(4), .snack = {{0, 1}}, .sack = {{R(5), R(6)}});
    peer_says(t, MS(220), .seq = R(7), .len = 1000);
    expect_sent(t, .at = MS(220), .ack = R(4), .snack = {{2, 1}},
                .sack = {{R(7), R(8)}, {R(5), R(6)}});
    peer_says(t, MS(230), .seq = R(4), .len = 1000);
    expect_sent(t, .at = MS(230), .ack = R(6), .snack = {{0, 1}}, .sack = {{R(7), R(8)}});
    peer_says(t, MS(240), .seq = R(6), .len = 1000);
    expect_sent(t, .at = MS(240), .ack = R(8), .no_snack = true);
    peer_says(t, MS(250), .seq = R(8), .len = 1000);
    expect_quiet(t, ANY_HOLD);
    expect_sent(t, .at = MS(450), .ack = R(9));
    app_reads(t, MS(460), 9000);
    script_forget_sent(t);
    script_free(t);
}

/* A FIN alone beyond a hole causes the report of the hole. */
static void before_a_fin(void **x)
{
    for (int sack = 0; sack < 2; sack++) {
        struct script *t = script_of(x);
        t->cfg.snack = true;
        t->cfg.sack = t->peer.sack = sack;
        t->peer.caps = LONG;
        script_established(t, MS(100));
        peer_says(t, MS(200), .seq = R(0), .len = 1000);
        expect_quiet(t, ANY_HOLD);
        peer_says(t, MS(210), .seq = R(3), .flags = SCPS_ACK | SCPS_FIN);
        expect_sent(t, .at = MS(210), .ack = R(1), .snack = {{0, 2}}, .no_sack = true);
        peer_says(t, MS(220), .seq = R(2), .len = 1000);
        expect_sent(t, .at = MS(220), .ack = R(1), .snack = {{0, 1}});
        peer_says(t, MS(230), .seq = R(1), .len = 1000);
        expect_sent(t, .at = MS(230), .ack = R(3) + 1, .no_snack = true, .no_sack = true);
        app_reads(t, MS(240), 3000);
        script_forget_sent(t);
        script_free(t);
    }
}

/* The long form reports everything behind the first hole at once; the next report begins behind
 * what it has reported. */
static void long_reports(void **x)
{
    struct script *t = receiving(x, SCPS_ACK_DELAYED, true);
    for (int k = 1; k < 12; k += 2)
        peer_says(t, MS(200 + k), .seq = R(k), .len = 1000);
    expect_sent(t, .at = MS(401), .ack = R(0), .snack = {{0, 1}});
    assert_int_equal(t->last.snack_vec_len, 2); /* The bit vector is 10101010 101..... */
    assert_int_equal(t->last.snack_vec[0], 0xaa);
    assert_int_equal(t->last.snack_vec[1], 0xa0);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* Without SACK the arrival of a retransmission is reported by a bit vector that begins with the
 * hole below it, if that hole is below the one whose turn is next. */
static void retransmissions_are_reported_by_a_bit_vector(void **x)
{
    struct script *t = receiving(x, SCPS_ACK_OTHER, true);
    for (int k = 1; k < 12; k += 2)
        peer_says(t, MS(200 + k), .seq = R(k), .len = 1000);
    script_forget_sent(t);
    /* All holes have been reported; the next report begins at the end. */
    peer_says(t, MS(300), .seq = R(12), .len = 1000);
    expect_sent(t, .at = MS(300), .ack = R(0), .snack = {{0, 1}});
    peer_says(t, MS(301), .seq = R(4), .len = 1000);
    expect_sent(t, .at = MS(301), .ack = R(0), .snack = {{2, 1}});
    /* The vector begins with the fourth hole: 1110 1010 1. */
    assert_int_equal(t->last.snack_vec[0], 0xea);
    script_free(t);
}

/* The holes need more blocks than a vector has. Data behind a hole that is longer than a vector is
 * reported by one SACK block; where a vector ends among holes, the next report begins with the last
 * of them, so that nothing is left out. */
#define Q(k) (1 + 200 * (k))

static void every_hole_is_reported(void **x)
{
    struct script *t = script_of(x);
    t->cfg.snack = t->cfg.snack_long = t->cfg.sack = true;
    t->cfg.rcvbuf = 65535;
    t->cfg.ack_mode = SCPS_ACK_DELAYED;
    t->peer.caps = LONG;
    t->peer.sack = true;
    t->peer.mss = 200;
    script_established(t, MS(100));
    for (int k = 1; k < 320; k++) /* Segments 0, 290 and 300 are missing. */
        if (k != 290 && k != 300)
            peer_says(t, MS(200) + k, .seq = Q(k), .len = 200);
    expect_sent(t, .at = MS(400) + 1, .ack = Q(0), .snack = {{0, 1}}, .sack = {{Q(1), Q(290)}});
    assert_int_equal(t->last.snack_vec_len, 0);
    expect_sent(t, .at = MS(400) + 1, .ack = Q(0), .snack = {{290, 1}});
    /* The vector covers segments 291 to 319, of which one is missing. */
    assert_int_equal(t->last.snack_vec_len, 4);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* docs/SCPS-TP.md section 2.1: the offset of a SNACK is a number of blocks with 16 bits, at most
 * 65535. A hole beyond that is not named, and not counted as reported: it is named when RCV.NXT has
 * come closer. Until then the first hole is named again, and SACK reports the data further on. */
#define B(k) (1 + 100 * (k))

static struct script *wide_open(void **x, uint8_t caps, bool sack, bool strictly)
{
    struct script *t = script_of(x);
    t->cfg.snack = t->cfg.snack_long = true;
    t->cfg.sack = t->peer.sack = sack;
    t->cfg.rcvbuf = 8 << 20;
    t->cfg.wscale = true;
    if (strictly)
        t->cfg.ack_mode = SCPS_ACK_DELAYED;
    t->peer.wscale = 7;
    t->peer.caps = caps;
    t->peer.mss = 100;
    script_established(t, MS(100));
    return t;
}

static void beyond_the_offset(void **x)
{
    for (int sack = 0; sack < 2; sack++) {
        struct script *t = wide_open(x, LONG, sack, false);
        peer_says(t, MS(200), .seq = B(65535), .len = 100);
        expect_sent(t, .ack = B(0), .snack = {{0, 65535}});
        assert_int_equal(t->last.snack_vec_len, 0);
        peer_says(t, MS(201), .seq = B(65537), .len = 100);
        expect_sent(t, .ack = B(0), .snack = {{0, 65535}});
        assert_int_equal(t->last.snack_vec_len, 0);
        assert_int_equal(t->last.nsack, sack ? 2 : 0);
        /* The hole has offset 65535, which may also mean more. */
        peer_says(t, MS(202), .seq = B(0), .len = 100);
        expect_sent(t, .ack = B(1), .snack = {{0, 65534}});
        peer_says(t, MS(203), .seq = B(1), .len = 100);
        expect_sent(t, .ack = B(2), .snack = {{65534, 1}});
        script_free(t);
    }
}

/* A hole is longer than the size field can say: the rest of it is named as soon as the offset can
 * express it. */
static void longer_than_the_size(void **x)
{
    struct script *t = wide_open(x, LONG, true, false);
    peer_says(t, MS(200), .seq = B(70000), .len = 100);
    expect_sent(t, .ack = B(0), .snack = {{0, 65535}});
    assert_int_equal(t->last.snack_vec_len, 0); /* A bit vector would begin at an unknown place. */
    peer_says(t, MS(201), .seq = B(0), .len = 300);
    expect_sent(t, .ack = B(3), .snack = {{65532, 4465}});
    script_free(t);
    /* Strictly delayed: SACK reports the data above the hole, which no SNACK can report. */
    t = wide_open(x, LONG, true, true);
    peer_says(t, MS(200), .seq = B(70000), .len = 100);
    expect_sent(t, .at = MS(400), .ack = B(0), .snack = {{0, 65535}}, .no_sack = true);
    expect_sent(t, .at = MS(400), .ack = B(0), .sack = {{B(70000), B(70001)}}, .no_snack = true);
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* With an ACK budget SACK continues where the offset of SNACK ends; the newest ranges follow (RFC
 * 2018 section 4). */
static void sack_goes_on(void **x)
{
    struct script *t = wide_open(x, LONG, true, true);
    peer_says(t, MS(200), .seq = B(1), .len = 100);
    peer_says(t, MS(201), .seq = B(65000), .len = 100);
    peer_says(t, MS(202), .seq = B(65537), .len = 100);
    peer_says(t, MS(203), .seq = B(66000), .len = 100);
    expect_sent(t, .at = MS(400), .ack = B(0), .snack = {{0, 1}}, .no_sack = true);
    expect_sent(t, .at = MS(400), .ack = B(0), .snack = {{2, 64998}}, .no_sack = true);
    expect_sent(t, .at = MS(400), .ack = B(0), .snack = {{65001, 536}}, .no_sack = true);
    expect_sent(
        t, .at = MS(400), .ack = B(0), .no_snack = true,
        .sack = {{B(66000), B(66001)}, {B(65537), B(65538)}, {B(65000), B(65001)}, {B(1), B(2)}});
    script_forget_sent(t);
    script_free(t);
}

/* A report of the peer is false, for example because the peer uses another unit of SNACK: the
 * segment at SND.UNA has not arrived, but only the FIN counts as missing. The FIN is resent again
 * and again, and the peer answers each time. The retransmission timer of 300 ms has to expire all
 * the same: then RFC 2018 section 8 resends everything that was reported. */
static void a_false_report(void **x)
{
    scps_time at, until;
    struct script *t = ten_out(x, &at, true, LONG, NULL);

    scps_conn_shutdown(t->c);
    for (until = at + SEC(1), at += MS(100); at < until && !script_info(t).bytes_resent;
         at += MS(50)) {
        script_forget_sent(t);
        peer_says(t, at, .ack = S(0), .sack = {{S(0), S(10)}});
        script_run(t, at + MS(40));
    }
    assert_in_range(script_info(t).bytes_resent, 1000, 10000);
    assert_int_equal(script_info(t).timeouts, 1);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 6298 section 3: the SYN was sent twice, so no RTT has been measured and the initial timeout
 * stands for it (section 2.1). A hole that is named again before that time may say nothing about
 * the retransmission. */
static void no_round_trip_yet(void **x)
{
    struct script *t = script_of(x);

    t->cfg.snack = true;
    t->cfg.sack = t->peer.sack = t->cfg.timestamps = t->peer.ts = false;
    t->peer.caps = SHORT;
    t->cfg.dupthresh = 100;
    t->cfg.init_cwnd_segs = 10;
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION;
    script_connect(t, 0);
    script_run(t, SEC(1));
    script_forget_sent(t);
    peer_says(t, MS(1100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    script_forget_sent(t);
    assert_int_equal(script_info(t).srtt, 0);
    app_writes(t, MS(1200), 3000);
    for (int k = 0; k < 3; k++)
        expect_sent(t, .at = MS(1200), .from = 1 + 1000 * k, .len = 1000);
    peer_says(t, MS(1300), .ack = 1, .snack = {{0, 1}});
    expect_sent(t, .at = MS(1300), .from = 1, .len = 1000);
    for (int k = 0; k < 10; k++)
        peer_says(t, MS(1310 + 10 * k), .ack = 1, .snack = {{0, 1}});
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(short_form),
        SCRIPT_TEST(rack_above_the_highest_arrival_only),
        SCRIPT_TEST(once_a_round_trip),
        SCRIPT_TEST(embargo_grows),
        SCRIPT_TEST(embargo_of_damage_grows_late),
        SCRIPT_TEST(one_segment_is_dropped_for_ever),
        SCRIPT_TEST(a_snack_before_a_round_trip_has_passed),
        SCRIPT_TEST(ranges),
        SCRIPT_TEST(unit),
        SCRIPT_TEST(long_form),
        SCRIPT_TEST(arrivals_count_once),
        SCRIPT_TEST(not_agreed),
        SCRIPT_TEST(beside_sack),
        SCRIPT_TEST(delay),
        SCRIPT_TEST(reordering_window),
        SCRIPT_TEST(reordering_window_of_the_peer),
        SCRIPT_TEST(small_segments),
        SCRIPT_TEST(last_is_lost),
        SCRIPT_TEST(after_a_timeout),
        SCRIPT_TEST(the_end_on_a_slow_line),
        SCRIPT_TEST(last_ones_are_lost),
        SCRIPT_TEST(duplicates_in_an_embargo),
        SCRIPT_TEST(arrivals_that_no_snack_reports),
        SCRIPT_TEST(sack_without_a_snack),
        SCRIPT_TEST(passed_over),
        SCRIPT_TEST(order_of_reports),
        SCRIPT_TEST(strictly_delayed),
        SCRIPT_TEST(the_timer_goes_on),
        SCRIPT_TEST(holes_are_reported_at_once),
        SCRIPT_TEST(before_a_fin),
        SCRIPT_TEST(long_reports),
        SCRIPT_TEST(retransmissions_are_reported_by_a_bit_vector),
        SCRIPT_TEST(every_hole_is_reported),
        SCRIPT_TEST(beyond_the_offset),
        SCRIPT_TEST(longer_than_the_size),
        SCRIPT_TEST(sack_goes_on),
        SCRIPT_TEST(a_false_report),
        SCRIPT_TEST(no_round_trip_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
