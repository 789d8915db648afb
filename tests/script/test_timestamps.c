/* SPDX-License-Identifier: MIT */
/* Time stamps (RFC 7323 sections 3 to 5): which one is echoed, RTTs of retransmissions, PAWS. */
#include "script.h"

static struct script *with_ts(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    return t;
}

/* RFC 7323 section 4.3: the echo is the time stamp of the segment at RCV.NXT, so that the RTT of a
 * delayed ACK includes the delay. */
static void what_is_echoed(void **x)
{
    struct script *t = with_ts(x);
    peer_says(t, MS(200), .len = 988, .tsval = 2000001);
    peer_says(t, MS(201), .len = 988, .tsval = 2000002);
    expect_sent(t, .ack = 1977, .has = SCPS_HAS_TS);
    /* The echo is the time stamp of the first of the two segments. */
    assert_int_equal(t->last.tsecr, 2000001);
    peer_says(t, MS(202), .seq = 2965, .len = 988, .tsval = 2000003);
    expect_sent(t, .ack = 1977);
    assert_int_equal(t->last.tsecr, 2000001); /* The echo is not that of data beyond a hole. */
    peer_says(t, MS(203), .seq = 1977, .len = 988, .tsval = 2000004);
    expect_sent(t, .ack = 3953);
    assert_int_equal(t->last.tsecr, 2000004);
    /* A segment with a changed window is not processed by the fast path; its timestamp is not
     * echoed either, because it is beyond a hole. */
    peer_says(t, MS(204), .seq = 4941, .len = 988, .wnd = 60000, .tsval = 2000005);
    expect_sent(t, .ack = 3953);
    assert_int_equal(t->last.tsecr, 2000004);
    script_free(t);
}

/* RFC 7323 section 3.2: when time stamps are agreed every segment has them; this end's clock counts
 * milliseconds. */
static void in_every_segment(void **x)
{
    struct script *t = with_ts(x);
    app_writes(t, MS(200), 2000);
    expect_sent(t, .from = 1, .len = 988, .has = SCPS_HAS_TS);
    uint32_t at = t->last.tsval;
    expect_sent(t, .from = 989, .len = 988, .has = SCPS_HAS_TS);
    expect_sent(t, .from = 1977, .len = 24, .has = SCPS_HAS_TS);
    peer_says(t, MS(300), .ack = 2001, .len = 100);
    expect_sent(t, .at = MS(500), .ack = 101, .has = SCPS_HAS_TS);
    assert_int_equal(t->last.tsval - at, 300);
    script_free(t);
}

/* RFC 7323 section 4: with time stamps the RTT of a retransmission is measured. */
static void a_resent_segment_is_timed(void **x)
{
    struct script *t = with_ts(x);
    app_writes(t, MS(1000), 500);
    expect_sent(t, .at = MS(1000), .from = 1, .len = 500);
    expect_sent(t, .at = MS(1300), .from = 1, .len = 500);
    /* The acknowledgement echoes the second transmission: the RTT is 120 ms. */
    peer_says(t, MS(1420), .ack = 501);
    assert_true(script_info(t).last_rtt == MS(120));
    script_free(t);
}

/* RFC 7323 section 5.3: a segment with an older time stamp than the last one's is acknowledged and
 * dropped. */
static void paws(void **x)
{
    struct script *t = with_ts(x);
    peer_says(t, MS(200), .len = 100, .tsval = 3000000);
    peer_says(t, MS(300), .len = 100, .tsval = 2999999);
    expect_sent(t, .at = MS(300), .ack = 101);
    assert_int_equal(script_info(t).paws_drops, 1);
    assert_int_equal(scps_conn_readable(t->c), 100);
    /* An equal time stamp is not older. */
    peer_says(t, MS(400), .seq = 101, .len = 100, .tsval = 3000000);
    assert_int_equal(scps_conn_readable(t->c), 200);
    script_run(t, SEC(1));
    script_forget_sent(t);
    /* A segment with an old time stamp changes neither the window nor SND.UNA. */
    app_writes(t, SEC(2), 100);
    expect_sent(t, .from = 1, .len = 100);
    peer_says(t, MS(2100), .ack = 101, .tsval = 1000);
    assert_int_equal(script_info(t).outstanding, 100);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 7323 section 5.3 R1: PAWS also rejects a segment that only its old time stamp keeps from
 * header prediction: it has the next octets of the peer's stream, an unchanged window and nothing
 * new in SEG.ACK, and nothing is outstanding. With an equal or a newer time stamp the same segment
 * is accepted. Its time stamp becomes the echo, the rejected one does not. */
static void paws_and_header_prediction(void **x)
{
    for (int newer = 0; newer < 2; newer++) {
        struct script *t = with_ts(x);
        peer_says(t, MS(200), .seq = 1, .len = 988, .tsval = 3000000);
        peer_says(t, MS(201), .seq = 989, .len = 988, .tsval = 3000000);
        expect_sent(t, .at = MS(201), .ack = 1977);
        peer_says(t, MS(300), .seq = 1977, .len = 988, .tsval = 2999999);
        expect_sent(t, .at = MS(300), .ack = 1977);
        assert_int_equal(t->last.tsecr, 3000000);
        assert_int_equal(script_info(t).paws_drops, 1);
        assert_int_equal(scps_conn_readable(t->c), 1976);
        peer_says(t, MS(400), .seq = 1977, .len = 988, .tsval = 3000000 + newer);
        expect_sent(t, .at = MS(600), .ack = 2965);
        assert_int_equal(t->last.tsecr, 3000000 + newer);
        assert_int_equal(script_info(t).paws_drops, 1);
        assert_int_equal(scps_conn_readable(t->c), 2964);
        script_free(t);
    }
}

/* RFC 2883 section 4, RFC 7323 section 5.3 R1: the acknowledgement of a segment that PAWS rejects
 * reports its data as a duplicate, if all of it has arrived before, below RCV.NXT or beyond a hole.
 * Data that has not arrived is dropped without a report. */
static void paws_and_duplicates(void **x)
{
    struct script *t = with_ts(x);
    peer_says(t, MS(200), .seq = 1, .len = 988, .tsval = 3000000);
    peer_says(t, MS(201), .seq = 1977, .len = 988, .tsval = 2999990);
    script_forget_sent(t);
    assert_int_equal(script_info(t).paws_drops, 1);
    peer_says(t, MS(202), .seq = 1977, .len = 988, .tsval = 3000002);
    expect_sent(t, .at = MS(202), .ack = 989, .sack = {{1977, 2965}});
    peer_says(t, MS(300), .seq = 1, .len = 988, .tsval = 2999998);
    expect_sent(t, .at = MS(300), .ack = 989, .sack = {{1, 989}, {1977, 2965}});
    peer_says(t, MS(301), .seq = 1977, .len = 988, .tsval = 2999998);
    expect_sent(t, .at = MS(301), .ack = 989, .sack = {{1977, 2965}, {1977, 2965}});
    /* Half of the segment's octets are new. */
    peer_says(t, MS(302), .seq = 1485, .len = 988, .tsval = 2999998);
    expect_sent(t, .at = MS(302), .ack = 989, .sack = {{1977, 2965}});
    /* All octets of the segment are new. */
    peer_says(t, MS(303), .seq = 2965, .len = 988, .tsval = 2999998);
    expect_sent(t, .at = MS(303), .ack = 989, .sack = {{1977, 2965}});
    assert_int_equal(script_info(t).paws_drops, 5);
    assert_int_equal(script_info(t).dsacks_out, 2);
    assert_int_equal(scps_conn_readable(t->c), 988);
    script_free(t);
}

/* RFC 7323 section 5.2: a reset "MUST NOT be subjected to the PAWS check by verifying an acceptable
 * value in SEG.TSval", whether it has no time stamp or an old one. */
static void paws_and_resets(void **x)
{
    for (int old = 0; old < 2; old++) {
        struct script *t = with_ts(x);
        peer_says(t, MS(200), .len = 100, .tsval = 3000000);
        script_forget_sent(t);
        peer_says(t, MS(300), .flags = SCPS_RST, .bare = !old, .tsval = 2999999);
        expect_state(t, SCPS_CLOSED);
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 7323 section 5.5: the clock wraps after 24.8 days, so a stored time stamp of that age does
 * not make PAWS refuse segments. */
static void paws_after_long_silence(void **x)
{
    struct script *t = with_ts(x);
    peer_says(t, MS(200), .len = 100, .tsval = 4000000);
    script_run(t, SEC(1));
    script_forget_sent(t);
    peer_says(t, SEC(25 * 86400), .len = 100, .tsval = 3000000);
    assert_int_equal(scps_conn_readable(t->c), 200);
    expect_sent(t, .at = SEC(25 * 86400) + MS(200), .ack = 201);
    script_free(t);
}

static void paws_wraps(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .tsval = 0xfffffff0);
    expect_sent(t, .ack = 1);
    peer_says(t, MS(200), .len = 100, .tsval = 5); /* This time stamp is 21 later, modulo 2^32. */
    assert_int_equal(scps_conn_readable(t->c), 100);
    peer_says(t, MS(300), .len = 100, .tsval = 0xfffffffe);
    assert_int_equal(scps_conn_readable(t->c), 100);
    script_forget_sent(t);
    script_free(t);
}

/* If time stamps were not agreed on, the option has no effect. */
static void uninvited_timestamps(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 100, .tsval = 3000000, .tsecr = 5);
    peer_says(t, MS(300), .len = 100, .tsval = 2000000, .tsecr = 5);
    assert_int_equal(scps_conn_readable(t->c), 200);
    expect_sent(t, .at = MS(400), .ack = 201, .hasnt = SCPS_HAS_TS);
    script_free(t);
}

/* RFC 7323 section 3.2: a segment without time stamps on a connection that has agreed on them
 * SHOULD be dropped. It is accepted, because some middleboxes remove the option from single
 * segments. It "MUST NOT abort a TCP connection", and the time stamp to echo stays. */
static void a_segment_without_time_stamps(void **x)
{
    struct script *t = with_ts(x);

    peer_says(t, MS(200), .len = 988, .tsval = 2000001);
    peer_says(t, MS(201), .len = 988, .bare = true);
    expect_sent(t, .ack = 1977, .has = SCPS_HAS_TS);
    assert_int_equal(t->last.tsecr, 2000001);
    app_writes(t, MS(300), 100);
    expect_sent(t, .from = 1, .len = 100, .has = SCPS_HAS_TS);
    peer_says(t, MS(400), .ack = 101, .bare = true);
    assert_int_equal(script_info(t).bytes_acked, 100);
    expect_state(t, SCPS_ESTABLISHED);
    script_free(t);
}

/* An old duplicate from the time of the handshake arrives: its echo gives no RTT sample. */
static void an_echo_of_zero(void **x)
{
    struct script *t = with_ts(x);
    app_writes(t, MS(1000), 500);
    expect_sent(t, .at = MS(1000), .from = 1, .len = 500);
    expect_sent(t, .at = MS(1300), .from = 1, .len = 500);
    peer_says(t, MS(1400), .ack = 501, .tsecr = ZERO);
    assert_true(script_info(t).srtt < SEC(1));
    script_free(t);
}

/* RFC 3522 section 3.2 step 3 compares the echoed timestamp. A TSecr of 0 counts as no echo, so it
 * undoes nothing, however far it lies below the timestamps sent. */
static void an_echo_of_nothing_undoes_nothing(void **x)
{
    struct script *t = with_ts(x);
    app_writes(t, MS(1000), 3952);
    for (int i = 0; i < 4; i++)
        expect_sent(t, .from = 1 + i * 988, .len = 988);
    for (int i = 2; i <= 4; i++)
        peer_says(t, MS(1100), .ack = 1, .sack = {{989, i * 988 + 1}});
    expect_sent(t, .from = 1, .len = 988);
    peer_says(t, MS(1200), .ack = 3953, .tsecr = ZERO);
    assert_int_equal(script_info(t).spurious, 0);
    script_free(t);
}

/* A middlebox removes the timestamps of data after the handshake, which the receiver lets pass (RFC
 * 7323 section 3.2: it "MUST NOT abort a TCP connection because any segment lacks an expected
 * TSopt"). TS.Recent then stays that of the handshake. RFC 7323 section 4.3: the echo of an
 * acknowledgement that advances SND.UNA is the TSval of a segment that contained that octet, so one
 * from before its first transmission is none. RFC 3522 section 3.2 step 3 must not compare it. */
static void an_echo_older_than_the_data(void **x)
{
    struct script *t = with_ts(x);
    uint32_t handshake = t->last.tsval;
    app_writes(t, MS(1000), 3952);
    for (int i = 0; i < 4; i++)
        expect_sent(t, .from = 1 + i * 988, .len = 988);
    for (int i = 2; i <= 4; i++)
        peer_says(t, MS(1100), .ack = 1, .sack = {{989, i * 988 + 1}}, .tsecr = handshake);
    expect_sent(t, .from = 1, .len = 988);
    peer_says(t, MS(1200), .ack = 3953, .tsecr = handshake);
    assert_int_equal(script_info(t).spurious, 0);
    script_free(t);
}

/* A middlebox removes the timestamps, and a timeout occurs: the loss is real, so all data that the
 * timeout declares lost is resent at once, and the age of the echo is no round trip (RFC 7323
 * section 4.1), also where the peer is known to report with a DSACK what it had before. */
static void an_old_echo_after_a_timeout(void **x)
{
    struct script *t = with_ts(x);
    uint32_t handshake = t->last.tsval;
    app_writes(t, MS(200), 1);
    expect_sent(t, .from = 1, .len = 1);
    peer_says(t, MS(300), .ack = 2);
    app_writes(t, SEC(20), 9880);
    peer_says(t, SEC(20), .ack = 2, .sack = {{1, 2}});
    for (int i = 0; i < 10; i++)
        expect_sent(t, .from = 2 + i * 988, .len = 988);
    expect_sent(t, .at = SEC(20) + MS(300), .from = 2, .len = 988);
    peer_says(t, SEC(20) + MS(400), .ack = 990, .tsecr = handshake);
    assert_int_equal(script_info(t).spurious, 0);
    assert_true(script_info(t).srtt < SEC(1));
    for (int i = 1; i <= 2; i++)
        expect_sent(t, .at = SEC(20) + MS(400), .from = 2 + i * 988, .len = 988);
    /* a partial acknowledgement, of segments behind the first one resent */
    peer_says(t, SEC(20) + MS(500), .ack = 990 + 2 * 988, .tsecr = handshake);
    assert_true(script_info(t).srtt < SEC(1));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 3522 section 3.2 step 4: the echo of the first transmission shows that the timeout was
 * spurious, also where it left in the same tick of the timestamp clock as another segment. */
static void an_echo_of_the_first_transmission(void **x)
{
    struct script *t = with_ts(x);
    app_writes(t, SEC(20), 9880);
    for (int i = 0; i < 10; i++)
        expect_sent(t, .from = 1 + i * 988, .len = 988);
    uint32_t echo = t->last.tsval;
    expect_sent(t, .at = SEC(20) + MS(300), .from = 1, .len = 988);
    peer_says(t, SEC(20) + MS(400), .ack = 989, .tsecr = echo);
    assert_int_equal(script_info(t).spurious, 1);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 8985 section 6.2 step 2 ignores a retransmission if the echo "indicates the ACK was not
 * acknowledging the last retransmission of the segment". An echo that is older than the first
 * transmission indicates nothing, so the retransmission counts: what was sent a reordering window
 * before it is lost. */
static void an_old_echo_and_rack(void **x)
{
    struct script *t = script_of(x);
    t->cfg.timestamps = t->peer.ts = true;
    t->cfg.recovery = SCPS_RECOVERY_RACK;
    script_established(t, MS(100));
    uint32_t handshake = t->last.tsval;
    app_writes(t, SEC(20), 9880);
    for (int i = 0; i < 10; i++)
        expect_sent(t, .from = 1 + i * 988, .len = 988);
    for (int i = 2; i <= 4; i++)
        peer_says(t, SEC(20) + MS(100), .ack = 1, .sack = {{989, i * 988 + 1}}, .tsecr = handshake);
    expect_sent(t, .at = SEC(20) + MS(100), .from = 1, .len = 988);
    peer_says(t, SEC(20) + MS(200), .ack = 989 + 3 * 988, .tsecr = handshake);
    expect_sent(t, .at = SEC(20) + MS(200), .from = 1 + 4 * 988, .len = 988);
    assert_int_equal(script_info(t).spurious, 0);
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(what_is_echoed),
        SCRIPT_TEST(in_every_segment),
        SCRIPT_TEST(a_resent_segment_is_timed),
        SCRIPT_TEST(an_echo_of_nothing_undoes_nothing),
        SCRIPT_TEST(paws),
        SCRIPT_TEST(paws_and_header_prediction),
        SCRIPT_TEST(paws_and_duplicates),
        SCRIPT_TEST(paws_and_resets),
        SCRIPT_TEST(paws_after_long_silence),
        SCRIPT_TEST(paws_wraps),
        SCRIPT_TEST(uninvited_timestamps),
        SCRIPT_TEST(a_segment_without_time_stamps),
        SCRIPT_TEST(an_echo_of_zero),
        SCRIPT_TEST(an_echo_older_than_the_data),
        SCRIPT_TEST(an_old_echo_after_a_timeout),
        SCRIPT_TEST(an_echo_of_the_first_transmission),
        SCRIPT_TEST(an_old_echo_and_rack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
