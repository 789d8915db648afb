/* SPDX-License-Identifier: MIT */
/* The budget (a limit for acknowledgements without data, for thin return links): when
 * acknowledgements are sent, and what they report. sim/test_thin_return tests whole transfers. */
#include "script.h"

/* Opens a connection that acknowledges every segment, at most ten times a second and two in a
 * row. */
static void ten_a_second_of(struct script *t)
{
    t->cfg.ack_mode = SCPS_ACK_EVERY;
    t->cfg.ack_budget_pps = 10;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .at = MS(200), .ack = 1001);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .at = MS(200), .ack = 2001);
}

static struct script *ten_a_second(void **x)
{
    struct script *t = script_of(x);

    ten_a_second_of(t);
    return t;
}

/* When the budget allows it again, one acknowledgement with the newest numbers takes the place of
 * all that were due. Without new segments none is sent. */
static void packets_a_second(void **x)
{
    struct script *t = ten_a_second(x);

    for (int i = 0; i < 25; i++) {
        peer_says(t, MS(210 + 10 * i), .len = 500);
        if (i == 8)
            expect_sent(t, .at = MS(300), .ack = 2001 + 500 * 9);
        if (i == 18)
            expect_sent(t, .at = MS(400), .ack = 2001 + 500 * 19);
    }
    expect_sent(t, .at = MS(500), .ack = 2001 + 500 * 25);
    assert_int_equal(script_info(t).acks_held, 3);
    script_run(t, SEC(10));
    script_free(t);
}

/* With ack_budget 1000 bytes/s, headers counted, the token bucket holds one acknowledgement and no
 * more: a second one would wait behind the first on the return line, and be out of date when it
 * arrives. */
static void bytes_a_second(void **x)
{
    struct script *t = script_of(x);
    int bare = t->us.addr.family == 6 ? 60 : 40, credit = 52, at = 200;

    t->cfg.ack_mode = SCPS_ACK_EVERY;
    t->cfg.ack_budget = 1000;
    script_established(t, MS(100));
    script_run(t, MS(199));
    for (int i = 1; i < 20; i++) {
        /* With credit for an acknowledgement with time stamps (52 octets), one of any kind may
         * leave. */
        if (credit < 52) {
            at += 52 - credit;
            credit = 52;
        }
        peer_says(t, i == 1 ? MS(200) : script_now(t), .len = 100);
        expect_sent(t, .at = MS(at), .ack = 1 + 100 * i);
        credit -= bare;
    }
    script_free(t);
}

/* The budget also holds back the acknowledgements of a FIN and of duplicates. An acknowledgement
 * carried by data is sent at once and replaces one that was held back. */
static void only_acks_carried_by_data_exceed_the_budget(void **x)
{
    struct script *t = ten_a_second(x);

    peer_says(t, MS(210), .seq = 1, .len = 1000);
    peer_says(t, MS(220), .len = 1000);
    app_writes(t, MS(230), 100);
    expect_sent(t, .at = MS(230), .from = 1, .len = 100, .ack = 3001);
    peer_says(t, MS(240), .ack = 101);
    script_run(t, MS(320));
    peer_says(t, MS(320), .len = 1000);
    expect_sent(t, .at = MS(320), .ack = 4001);
    peer_says(t, MS(330), .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .at = MS(400), .ack = 4002);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4: an unacceptable segment is answered by <SEQ=SND.NXT><ACK=RCV.NXT>. A
 * retransmission that leaves while the budget holds that answer back has the same acknowledgement
 * number, but does not replace it: a peer that has the data drops the retransmission. Otherwise two
 * ends whose acknowledgements were lost would resend for ever. */
static void a_resend_does_not_replace_a_challenge_ack(void **x)
{
    struct script *t = script_of(x);

    t->peer.sack = false;
    ten_a_second_of(t);
    app_writes(t, MS(210), 1000);
    expect_sent(t, .at = MS(210), .from = 1, .len = 1000, .ack = 2001);
    for (int i = 0; i < 2; i++) { /* This uses up the budget. */
        peer_says(t, MS(490), .len = 1000);
        expect_sent(t, .at = MS(490), .from = 1001, .ack = 3001 + 1000 * i);
    }
    peer_says(t, MS(500), .seq = 3001, .len = 1000, .ack = 1);
    expect_sent(t, .at = MS(510), .from = 1, .len = 1000, .ack = 4001);
    expect_sent(t, .at = MS(590), .from = 1001, .ack = 4001);
    peer_says(t, MS(600), .seq = 4001, .ack = 1001);
    assert_int_equal(script_info(t).outstanding, 0);
    script_run(t, SEC(2));
    script_free(t);
}

/* RFC 9293 section 3.10.7.4, eighth step: "send an acknowledgment for the FIN". A retransmission of
 * this end's FIN has the same acknowledgement number, but does not replace that acknowledgement:
 * the peer, which has this FIN, drops the retransmission, and then waits in CLOSING for an
 * acknowledgement that a connection in TIME-WAIT does not repeat by itself. */
static void a_fin_is_acknowledged_by_no_resend(void **x)
{
    struct script *t = ten_a_second(x);

    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .at = MS(200), .from = 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 2001);
    for (int i = 0; i < 2; i++) { /* This uses up the budget. */
        peer_says(t, MS(490), .len = 1000);
        expect_sent(t, .at = MS(490), .from = 2, .ack = 3001 + 1000 * i);
    }
    peer_says(t, MS(495), .flags = SCPS_FIN | SCPS_ACK);
    expect_state(t, SCPS_CLOSING);
    expect_sent(t, .at = MS(500), .from = 1, .flags = SCPS_FIN | SCPS_ACK, .ack = 4002);
    expect_sent(t, .at = MS(590), .from = 2, .ack = 4002);
    peer_says(t, MS(600), .ack = 2);
    expect_state(t, SCPS_TIME_WAIT);
    script_run(t, SEC(2));
    script_free(t);
}

/* RFC 2883 section 4: an acknowledgement reports a duplicate (DSACK), but here only if that leaves
 * room for all holes. */
static void duplicates_are_reported_by_dsack(void **x)
{
    struct script *t = ten_a_second(x);

    peer_says(t, MS(300), .seq = 1, .len = 1000);
    expect_sent(t, .at = MS(300), .ack = 2001, .sack = {{1, 1001}});
    peer_says(t, MS(400), .seq = 3001, .len = 1000);
    expect_sent(t, .at = MS(400), .ack = 2001, .sack = {{3001, 4001}});
    peer_says(t, MS(500), .seq = 1, .len = 1000);
    expect_sent(t, .at = MS(500), .ack = 2001, .sack = {{3001, 4001}});
    script_run(t, MS(700));
    script_free(t);
}

/* With a budget, ranges are reported by SACK in order, each once. Acknowledgements follow until all
 * have been reported. */
static void each_range_is_reported_once(void **x)
{
    struct script *t = ten_a_second(x);

    for (int i = 0; i < 5; i++)
        peer_says(t, MS(210), .seq = 3001 + 2000 * i, .len = 1000);
    expect_sent(t, .at = MS(300), .ack = 2001,
                .sack = {{3001, 4001}, {5001, 6001}, {7001, 8001}, {9001, 10001}});
    /* The segment fills a hole below the ranges reported last: this is reported first, because the
     * sender would otherwise take its retransmission for lost again. */
    peer_says(t, MS(350), .seq = 6001, .len = 1000);
    expect_sent(t, .at = MS(400), .ack = 2001,
                .sack = {{5001, 8001}, {11001, 12001}, {9001, 10001}});
    script_run(t, SEC(1));
    script_free(t);
}

#define R(k) (1 + 1000 * (k))

/* The short form of SNACK names one hole. With a budget the acknowledgements have SACK blocks
 * alone, each range once, as where SNACK was not negotiated. */
static void sack_takes_the_room_of_the_short_form(void **x)
{
    struct script *t = script_of(x);

    t->cfg.snack = true;
    t->peer.caps = SCPS_CAP_SNACK1;
    ten_a_second_of(t);
    for (int k = 3; k <= 11; k += 2)
        peer_says(t, MS(210), .seq = R(k), .len = 1000);
    expect_sent(t, .at = MS(300), .ack = R(2),
                .sack = {{R(3), R(4)}, {R(5), R(6)}, {R(7), R(8)}, {R(9), R(10)}});
    expect_sent(t, .at = MS(400), .ack = R(2),
                .sack = {{R(11), R(12)}, {R(9), R(10)}, {R(7), R(8)}, {R(5), R(6)}});
    assert_int_equal(script_info(t).snacks_out, 0);
    script_run(t, SEC(10));
    script_free(t);
}

/* Without SACK each SNACK names the next hole. When each hole has been named, no report follows. */
static void each_hole_is_named(void **x)
{
    struct script *t = script_of(x);

    t->cfg.snack = true;
    t->cfg.sack = false;
    t->peer.caps = SCPS_CAP_SNACK1;
    ten_a_second_of(t);
    for (int k = 3; k <= 11; k += 2)
        peer_says(t, MS(210), .seq = R(k), .len = 1000);
    for (int k = 0; k < 5; k++)
        expect_sent(t, .at = MS(300 + 100 * k), .ack = R(2), .snack = {{2 * k, 1}});
    script_run(t, SEC(10));
    script_free(t);
}

/* The hole between the last data and a FIN is named by SNACK, too, with and without a bit vector.
 * After that no acknowledgement follows. */
static void the_hole_before_a_fin_is_named(void **x)
{
    for (int vector = 0; vector < 2; vector++) {
        struct script *t = script_of(x);

        t->cfg.snack = t->cfg.snack_long = true;
        t->cfg.sack = vector;
        t->peer.caps = SCPS_CAP_SNACK1 | (vector ? SCPS_CAP_SNACK2 : 0);
        ten_a_second_of(t);
        peer_says(t, MS(210), .seq = R(3), .len = 1000);
        peer_says(t, MS(210), .seq = R(5), .flags = SCPS_FIN | SCPS_ACK);
        expect_sent(t, .at = MS(300), .ack = R(2), .snack = {{0, 1}});
        expect_sent(t, .at = MS(400), .ack = R(2), .snack = {{2, 1}});
        script_run(t, SEC(10));
        script_free(t);
    }
}

/* After a retransmission has arrived, the next SNACK with a bit vector begins below it, if the
 * vector reaches from there to the newest data. Otherwise no report would cover it until all holes
 * are reported anew, and the sender would resend it. */
static void a_report_reaches_back_to_a_repair(void **x)
{
    struct script *t = script_of(x);

    t->cfg.snack = t->cfg.snack_long = true;
    t->peer.caps = SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2;
    ten_a_second_of(t);
    for (int k = 3; k <= 7; k += 2)
        peer_says(t, MS(210), .seq = R(k), .len = 1000);
    expect_sent(t, .at = MS(300), .ack = R(2), .snack = {{0, 1}});
    peer_says(t, MS(310), .seq = R(9), .len = 1000);
    /* Only R(8) is new, so the report names that hole. */
    expect_sent(t, .at = MS(400), .ack = R(2), .snack = {{6, 1}});
    peer_says(t, MS(410), .seq = R(6), .len = 1000);
    peer_says(t, MS(410), .seq = R(11), .len = 1000);
    /* The report begins at R(4), below R(5) to R(7), which have arrived. */
    expect_sent(t, .at = MS(500), .ack = R(2), .snack = {{2, 1}});
    script_free(t);
}

/* Four ranges lie beyond holes; each acknowledgement has room for two SACK blocks beside timestamps
 * and option 23. When every range has been reported and nothing arrives any more, no
 * acknowledgement follows: each would be a duplicate, from which the sender concludes that a
 * segment has left the network (RFC 5681 section 3.2). */
static void a_pass_ends(void **x)
{
    struct script *t = script_of(x);
    struct scps_signal s = {.kind = SCPS_SIGNAL_DAMAGED, .remote = t->them.addr};

    t->cfg.snack = t->cfg.timestamps = t->peer.ts = true;
    t->cfg.ack_mode = SCPS_ACK_EVERY;
    t->cfg.ack_budget_pps = 100;
    t->peer.caps = SCPS_CAP_SNACK1;
    script_established(t, MS(100));
    script_run(t, MS(200));
    s.until = scps_stack_now(t->st) + SEC(100);
    scps_stack_signal(t->st, scps_stack_now(t->st), &s);
    for (int i = 0; i < 4; i++)
        peer_says(t, MS(210 + i), .seq = 1 + 988 * (1 + 2 * i), .len = 988);
    script_run(t, SEC(5));
    assert_in_range(script_forget_sent(t), 2, 10);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(packets_a_second),
        SCRIPT_TEST(bytes_a_second),
        SCRIPT_TEST(only_acks_carried_by_data_exceed_the_budget),
        SCRIPT_TEST(a_resend_does_not_replace_a_challenge_ack),
        SCRIPT_TEST(a_fin_is_acknowledged_by_no_resend),
        SCRIPT_TEST(duplicates_are_reported_by_dsack),
        SCRIPT_TEST(each_range_is_reported_once),
        SCRIPT_TEST(sack_takes_the_room_of_the_short_form),
        SCRIPT_TEST(each_hole_is_named),
        SCRIPT_TEST(the_hole_before_a_fin_is_named),
        SCRIPT_TEST(a_report_reaches_back_to_a_repair),
        SCRIPT_TEST(a_pass_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
