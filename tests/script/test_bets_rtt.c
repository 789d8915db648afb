/* SPDX-License-Identifier: MIT */
/* Best effort (BETS, docs/SCPS-TP.md section 7): which acknowledgements give an RTT sample, or show
 * that a loss was spurious, when the peer may pass a hole (RFC 6298 section 3, RFC 3522, RFC
 * 5682). */
#include "bets.h"

/* The time for which the receiver waited for a hole is not part of a round trip, whatever time
 * stamp its acknowledgement echoes. */
static void a_skipped_hole_is_no_rtt_sample(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 4000);
    script_forget_sent(t);
    int64_t echo = t->last.tsval;
    peer_says(t, MS(300), .ack = 1, .sack = {{1001, 2001}});
    script_forget_sent(t);
    scps_dur srtt = script_info(t).srtt, rto = script_info(t).rto;
    peer_says(t, SEC(30), .ack = 5001 - 1000, .tsecr = echo);
    script_forget_sent(t);
    assert_in_range(script_info(t).srtt, 1, srtt);
    assert_in_range(script_info(t).rto, 1, rto);
    script_free(t);
}

/* Duplicate acknowledgements without SACK blocks, such as those for retransmitted SYN-ACKs, show no
 * hole if both ends offered SACK. RFC 2018 section 4: "If sent at all, SACK options SHOULD be
 * included in all ACKs which do not ACK the highest sequence number in the data receiver's queue."
 * So the acknowledgement after them gives an RTT sample. Without SACK it may have passed a hole. */
static void duplicates_without_sack_show_no_hole(void **x)
{
    for (int sack = 0; sack < 2; sack++) {
        struct script *t = bets_of(x);
        t->peer.sack = sack;
        script_established(t, MS(100));
        assert_int_equal(script_info(t).srtt, MS(100));
        app_writes(t, MS(200), 5000);
        script_forget_sent(t);
        peer_says(t, MS(210), .ack = 1);
        peer_says(t, MS(380), .ack = 5001);
        script_forget_sent(t);
        if (sack)
            assert_in_range(script_info(t).srtt, MS(101), MS(180));
        else
            assert_int_equal(script_info(t).srtt, MS(100));
        script_free(t);
    }
}

/* The path has become longer than all retransmissions together: each segment is given up before its
 * acknowledgement arrives. Several such acknowledgements show how long the round trip is: RFC 6298
 * section 5.7 wants it measured again after a timeout, RFC 8961 section 4 (2) at least once per
 * round trip. */
static void answers_to_what_was_given_up(void **x)
{
    struct script *t = bets_of(x);
    int64_t echo[9];
    t->cfg.timestamps = t->peer.ts = true;
    t->cfg.loss_cause = SCPS_LOSS_CORRUPTION; /* Timeouts do not back off. */
    t->cfg.nodelay = true;
    script_established(t, MS(100)); /* The RTO is 300 ms. */
    for (unsigned i = 0; i < 9; i++) {
        script_run(t, SEC(10 + i));
        script_forget_sent(t);
        app_writes(t, SEC(10 + i), 500);
        expect_sent(t, .at = SEC(10 + i), .from = 1 + 500 * i, .len = 500);
        echo[i] = t->last.tsval;
        if (i >= 5)
            peer_says(t, SEC(10 + i) + MS(100), .ack = 501 + 500 * (i - 5), .tsecr = echo[i - 5]);
    }
    assert_in_range(script_info(t).rto, SEC(5), SEC(12));
    script_run(t, SEC(19)); /* The running timer was started with the old RTO. */
    script_forget_sent(t);
    script_run(t, SEC(23));
    expect_quiet(t, SCPS_HOLD_APP);
    peer_says(t, SEC(23) + MS(100), .ack = 501 + 500 * 8, .tsecr = echo[8]);
    script_run(t, SEC(60));
    script_free(t);
}

/* The path has become shorter, but each segment is given up before its acknowledgement arrives all
 * the same. These acknowledgements show the shorter round trip; otherwise pacing would keep that of
 * the handshake. */
static void answers_of_a_shorter_path(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    t->cfg.bets_lifetime = SEC(1);
    t->cfg.expected_rtt = SEC(20);
    t->cfg.nodelay = true;
    script_established(t, SEC(20));
    for (unsigned i = 0; i < 20; i++) {
        script_run(t, SEC(30 + 3 * i));
        script_forget_sent(t);
        app_writes(t, SEC(30 + 3 * i), 500);
        expect_sent(t, .at = SEC(30 + 3 * i), .from = 1 + 500 * i, .len = 500);
        peer_says(t, SEC(32 + 3 * i), .ack = 501 + 500 * i, .tsecr = t->last.tsval);
    }
    assert_int_equal(script_info(t).bytes_given_up, 20 * 500);
    assert_in_range(script_info(t).srtt, SEC(2), SEC(5));
    script_run(t, SEC(100));
    script_free(t);
}

/* The acknowledgement with which the receiver passes a hole is processed like any other by the
 * sender, with records, too. */
static void the_peer_skips_a_hole(void **x)
{
    struct script *t = bets_of(x);
    t->cfg.records = true;
    script_established(t, MS(100));
    app_writes_record(t, MS(200), 1500);
    app_writes_record(t, MS(200), 500);
    assert_int_equal(script_forget_sent(t), 3);
    peer_says(t, MS(300), .ack = 1, .sack = {{1501, 2001}});
    peer_says(t, MS(310), .ack = 2001);
    script_forget_sent(t);
    expect_quiet(t, SCPS_HOLD_APP);
    assert_int_equal(script_info(t).outstanding, 0);
    assert_int_equal(script_info(t).bytes_given_up, 0);
    peer_says(t, MS(320), .ack = 9000); /* The octets acknowledged here were never sent. */
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_acked, 2000);
    script_free(t);
}

/* Sends ten segments; duplicate ACKs at 300 ms report the first as missing, and it is resent. At
 * time `at` an acknowledgement of the first four arrives that echoes the time stamp of the first
 * transmission. Returns the number of losses that were found to be spurious. */
static uint64_t jumps_at(struct script *t, scps_time at)
{
    uint64_t half, spurious;
    int64_t echo;

    t->cfg.bets_retries = 32;
    echo = script_timed_flight(t, 9880, 10);
    for (int i = 2; i <= 4; i++)
        peer_says(t, MS(300), .ack = 1, .sack = {{989, i * 988 + 1}}, .tsecr = echo);
    expect_sent(t, .at = MS(300), .from = 1, .len = 988);
    half = script_info(t).ssthresh;
    assert_true(half <= 9880 / 2);
    script_run(t, at);
    script_forget_sent(t);
    peer_says(t, at, .ack = 4 * 988 + 1, .tsecr = echo);
    spurious = script_info(t).spurious;
    if (spurious) {
        assert_true(script_info(t).cwnd >= 9880);
    } else {
        assert_true(script_info(t).ssthresh <= half);
        assert_true(script_info(t).cwnd <= half);
    }
    script_forget_sent(t);
    script_free(t);
    return spurious;
}

/* RFC 5681 section 3.2 step 2: "When the third duplicate ACK is received, a TCP MUST set ssthresh
 * to no more than the value given in equation (4)." When the peer passes the hole, it echoes a time
 * stamp from before it (RFC 7323 section 4.3), older than the retransmission, which is still on its
 * way. RFC 3522 section 3.2 would take that for the arrival of the original, which is wrong here.
 * The peer passes the hole when its timer expires, and the timer starts when data behind the hole
 * arrives: not before a round trip and the timer's time after the first transmission. */
static void a_skipped_hole_is_no_eifel_proof(void **x)
{
    struct script *t = bets_of(x);

    assert_int_equal(jumps_at(t, MS(200) + MS(100) + WAIT), 0);
    t = bets_of(x);
    t->cfg.bets_timeout = 0;
    assert_int_equal(jumps_at(t, MS(200) + MS(100) + 0x100001), 0);
    t = bets_of(x);
    t->cfg.bets_timeout = SEC(5); /* The peer may have configured another timeout. */
    assert_int_equal(jumps_at(t, MS(200) + MS(100) + 0x100001), 0);
}

/* RFC 3522 section 3.2 step 5: an acknowledgement that comes sooner than the peer's timer could
 * expire shows that the original was only late, so the window is restored. */
static void a_late_original_is_eifel_proof(void **x)
{
    struct script *t = bets_of(x);

    assert_int_equal(jumps_at(t, MS(320)), 1);
    t = bets_of(x);
    assert_int_equal(jumps_at(t, MS(200) + MS(100) + WAIT - 1), 1);
    t = bets_of(x);
    t->cfg.bets_timeout = 0;
    assert_int_equal(jumps_at(t, MS(200) + MS(100) + 0x100001 - 1), 1);
}

/* This end gives up [1, 989), sends [1977, 2965) twice, and then the peer acknowledges all of it
 * with a TSecr that is the TSval of the given-up data, or (same_tick) the TSval that [1977, 2965)
 * had first. Returns the number of episodes that proved spurious. */
static uint64_t jump_over_given_up(struct script *t, bool same_tick)
{
    t->cfg.bets_timeout = 0;
    t->cfg.bets_retries = 1;
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 2 * 988);
    expect_sent(t, .from = 1, .len = 988);
    expect_sent(t, .from = 989, .len = 988);
    int64_t echo = t->last.tsval;
    peer_says(t, MS(300), .ack = 1, .sack = {{989, 1977}}, .tsecr = echo);
    script_run(t, SEC(3));
    script_forget_sent(t);
    assert_int_equal(script_info(t).bytes_given_up, 988);
    assert_int_equal(script_info(t).outstanding, 0);
    app_writes(t, SEC(3), 988);
    expect_sent(t, .at = SEC(3), .from = 1977, .len = 988);
    if (same_tick)
        echo = t->last.tsval;
    expect_sent(t, .at = SEC(3) + MS(600), .from = 1977, .len = 988);
    peer_says(t, SEC(3) + MS(700), .ack = 2965, .tsecr = echo);
    uint64_t spurious = script_info(t).spurious;
    script_forget_sent(t);
    script_free(t);
    return spurious;
}

/* RFC 3522 section 3.2 would restore the window when the peer echoes a time stamp from before the
 * retransmission. That proves nothing while the peer may still wait for data that this end has
 * given up: when the peer passes that hole, it echoes what it had stored before (RFC 7323 section
 * 4.3), whichever copy of the next segment has arrived. The stored TSval may be older than the
 * first copy, or from the same tick of the clock of time stamps. */
static void a_skipped_hole_of_given_up_data(void **x)
{
    assert_int_equal(jump_over_given_up(bets_of(x), false), 0);
    assert_int_equal(jump_over_given_up(bets_of(x), true), 0);
}

/* RFC 5682 section 2.1 step 3b would also take an acknowledgement of segments that were not resent
 * for their arrival. */
static void a_skipped_hole_is_no_frto_proof(void **x)
{
    struct script *t = bets_of(x);
    t->peer.sack = false;
    script_flight(t, MS(200), 20000, 10);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1000);
    uint64_t half = script_info(t).ssthresh;
    peer_says(t, MS(600), .ack = 1001);
    script_forget_sent(t);
    peer_says(t, MS(610), .ack = 9001);
    assert_int_equal(script_info(t).spurious, 0);
    assert_int_equal(script_info(t).ssthresh, half);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(a_skipped_hole_is_no_rtt_sample),
        SCRIPT_TEST(duplicates_without_sack_show_no_hole),
        SCRIPT_TEST(answers_to_what_was_given_up),
        SCRIPT_TEST(answers_of_a_shorter_path),
        SCRIPT_TEST(the_peer_skips_a_hole),
        SCRIPT_TEST(a_skipped_hole_is_no_eifel_proof),
        SCRIPT_TEST(a_late_original_is_eifel_proof),
        SCRIPT_TEST(a_skipped_hole_of_given_up_data),
        SCRIPT_TEST(a_skipped_hole_is_no_frto_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
