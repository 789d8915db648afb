/* SPDX-License-Identifier: MIT */
/* Keep-alives: RFC 9293 section 3.8.4, RFC 1122 section 4.2.3.6. */
#include "script.h"

static struct script *kept(void **x)
{
    struct script *t = script_of(x);
    t->cfg.keepalive = true;
    t->cfg.keep_idle = SEC(100);
    t->cfg.keep_interval = SEC(10);
    t->cfg.keep_count = 3;
    script_established(t, MS(100));
    script_forget_events(t);
    return t;
}

static void answered(void **x)
{
    struct script *t = kept(x);
    for (int i = 1; i <= 5; i++) {
        scps_time at = MS(100) + i * SEC(100);
        expect_sent(t, .at = at, .slack = SEC(1), .from = ZERO, .ack = 1);
        peer_says(t, script_now(t) + MS(100), .ack = 1);
    }
    expect_state(t, SCPS_ESTABLISHED);
    script_free(t);
}

static void unanswered(void **x)
{
    struct script *t = kept(x);
    for (int i = 0; i < 3; i++)
        expect_sent(t, .at = MS(100) + SEC(100 + 10 * i), .from = ZERO, .ack = 1);
    expect_sent(t, .at = MS(100) + SEC(130), .from = 1, .flags = SCPS_RST | SCPS_ACK);
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_free(t);
}

/* If the path is longer than keep_interval, or than all probes together, no answer can have
 * arrived: the next probe, or the end, waits for at least a retransmission timeout. */
static void a_long_path(void **x)
{
    struct script *t = script_of(x);
    t->cfg.keepalive = true;
    t->cfg.keep_idle = SEC(100);
    t->cfg.keep_interval = SEC(5);
    t->cfg.keep_count = 2;
    t->cfg.expected_rtt = SEC(20);
    script_established(t, SEC(20));
    script_forget_events(t);
    expect_sent(t, .at = SEC(120), .from = ZERO, .ack = 1);
    peer_says(t, SEC(140), .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    script_run(t, SEC(210));
    assert_int_equal(script_sent_count(t), 0);
    script_run(t, SEC(400));
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_forget_sent(t);
    script_free(t);
}

/* The number of probes is 255, 256 (more than 8 bits hold), or the largest: the connection ends
 * after that many, at the right time. */
static void many_probes(void **x)
{
    static const uint16_t counts[] = {255, 256, 300, UINT16_MAX};

    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct script *t = script_of(x);
        unsigned sent = 0, n = counts[i];
        t->cfg.keepalive = true;
        t->cfg.keep_idle = SEC(100);
        t->cfg.keep_interval = SEC(1);
        t->cfg.keep_count = counts[i];
        script_established(t, MS(100));
        script_forget_events(t);
        for (unsigned at = 100; at + 1 < 100 + n; at = at + 100 < 99 + n ? at + 100 : 99 + n) {
            script_run(t, SEC(at));
            sent += script_forget_sent(t);
        }
        script_run(t, SEC(99 + n));
        expect_state(t, SCPS_ESTABLISHED);
        script_run(t, SEC(101 + n));
        expect_error(t, SCPS_ERR_TIMEDOUT);
        assert_int_equal(sent + script_forget_sent(t), n + 1);
        script_free(t);
    }
}

/* As long as each probe is answered the connection goes on, even if the peer's silence is over just
 * when the next probe would be sent. */
static void answered_as_often_as_asked(void **x)
{
    struct script *t = script_of(x);
    t->cfg.keepalive = true;
    t->cfg.keep_idle = t->cfg.keep_interval = SEC(10);
    t->cfg.keep_count = 2;
    script_established(t, MS(100));
    script_forget_events(t);
    for (int i = 1; i < 10; i++) { /* Each answer takes 100 ms, and the time counts from it. */
        expect_sent(t, .at = MS(10100) * i, .from = ZERO, .ack = 1);
        peer_says(t, MS(10100) * i + MS(100), .ack = 1);
    }
    for (int i = 10; i < 12; i++) /* From here on probes are not answered. */
        expect_sent(t, .at = SEC(1 + 10 * i), .from = ZERO, .ack = 1);
    expect_sent(t, .at = SEC(121), .from = 1, .flags = SCPS_RST | SCPS_ACK);
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_free(t);
}

/* The peer sends a keep-alive at the same time: it is not acceptable, but shows that the peer is
 * alive. */
static void the_peers_keepalive_counts_as_an_answer(void **x)
{
    struct script *t = kept(x);
    for (int i = 0; i < 6; i++) {
        script_run(t, SEC(101 + 100 * i));
        assert_in_range(script_forget_sent(t), 1, 2);
        peer_says(t, SEC(101 + 100 * i), .seq = ZERO, .ack = 1);
        expect_sent(t, .from = 1, .ack = 1); /* This answers the peer's keep-alive. */
    }
    script_run(t, SEC(100 + 100 * 6));
    expect_state(t, SCPS_ESTABLISHED);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 1122 section 4.2.3.6: a keep-alive is answered, even when so many other unacceptable segments
 * have come that those are no longer answered (RFC 5961 section 10). */
static void keepalives_of_the_peer_are_answered(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    for (int i = 0; i < 5; i++)
        peer_says(t, SEC(1) + i, .seq = 500000, .ack = 1);
    assert_in_range(script_forget_sent(t), 1, 2);
    for (int i = 0; i < 5; i++) {
        peer_says(t, SEC(1) + MS(10 + i), .seq = ZERO, .ack = 1);
        expect_sent(t, .at = SEC(1) + MS(10 + i), .from = 1, .ack = 1);
    }
    script_free(t);
}

/* RFC 5961 section 7: a third party that reads the packets has sent one octet to each end in the
 * name of the other. Then each acknowledgement lies one octet below RCV.NXT, as a keep-alive does,
 * but acknowledges an octet that was never sent. If each were answered, the two ends would
 * acknowledge each other's acknowledgements for ever, as fast as the path permits. */
static void an_acknowledgement_storm(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    for (int i = 0; i < 100; i++)
        peer_says(t, SEC(1) + MS(10 * i), .seq = ZERO, .ack = 2);
    script_run(t, MS(2100));
    assert_in_range(script_forget_sent(t), 1, 4);
    script_free(t);
}

/* RFC 9293 section 3.8.4: keep-alive goes on in FIN-WAIT-2, in which a connection would otherwise
 * wait for ever for a peer that has gone. The timer that was set before expires while the FIN is
 * not yet acknowledged. */
static void after_our_half_close(void **x)
{
    for (int late = 0; late < 2; late++) {
        struct script *t = kept(x);
        scps_time at = late ? SEC(100) : SEC(1), acked = at + MS(200);
        script_run(t, at);
        assert_int_equal(scps_conn_shutdown(t->c), 0);
        expect_sent(t, .at = at, .from = 1, .flags = SCPS_FIN | SCPS_ACK);
        peer_says(t, acked, .ack = 2);
        expect_state(t, SCPS_FIN_WAIT_2);
        script_forget_events(t);
        script_run(t, acked + SEC(100));
        /* The sequence number of the probe is SND.NXT - 1, where SND.NXT counts the FIN. */
        expect_sent(t, .from = 1, .ack = 1);
        peer_says(t, acked + SEC(101), .ack = 2);
        script_run(t, SEC(500));
        expect_error(t, SCPS_ERR_TIMEDOUT); /* From here on the peer is silent. */
        script_forget_sent(t);
        script_free(t);
    }
}

/* RFC 9293 section 3.8.4, MUST-26: a probe is sent only if "no data or acknowledgment packets have
 * been received for the connection within an interval". Data, a window update, a FIN and the peer's
 * own keep-alive restart the timer. */
static void any_segment_restarts_the_timer(void **x)
{
    for (int what = 0; what < 4; what++) {
        struct script *t = kept(x);
        if (what == 0) {
            peer_says(t, SEC(80), .len = 10);
            expect_sent(t, .ack = 11, .at = SEC(80) + MS(200));
        } else if (what == 1) {
            peer_says(t, SEC(80), .ack = 1, .wnd = 30000);
        } else if (what == 2) {
            peer_says(t, SEC(80), .flags = SCPS_FIN | SCPS_ACK);
            expect_sent(t, .ack = 2, .at = SEC(80));
        } else {
            peer_says(t, SEC(80), .seq = ZERO, .ack = 1);
            expect_sent(t, .ack = 1, .at = SEC(80));
        }
        expect_sent(t, .at = SEC(180), .from = ZERO);
        peer_says(t, SEC(181), .ack = 1);
        script_forget_events(t);
        script_free(t);
    }
}

/* Data from the peer answers a probe as an acknowledgement does (RFC 9293 section 3.8.4), also
 * where keep_idle is so short that the next probe is due when the answer to the last one has come.
 * With a keep_count of 1 a single probe without an answer ends the connection. */
static void data_answers_a_probe(void **x)
{
    struct script *t = script_of(x);
    t->cfg.keepalive = true;
    t->cfg.keep_idle = SEC(2);
    t->cfg.keep_interval = SEC(10);
    t->cfg.keep_count = 1;
    script_established(t, MS(100));
    for (int i = 0; i < 5; i++) {
        scps_time at = MS(2100) + SEC(10 * i);
        expect_sent(t, .at = at, .from = ZERO, .ack = 1 + 10 * i);
        peer_says(t, at + SEC(1), .len = 10);
        expect_sent(t, .at = at + SEC(1) + MS(200), .from = 1, .ack = 11 + 10 * i);
    }
    expect_sent(t, .at = MS(52100), .from = ZERO, .ack = 51);
    script_forget_events(t);
    /* The last probe is not answered. */
    expect_sent(t, .at = MS(62100), .from = 1, .flags = SCPS_RST | SCPS_ACK);
    expect_error(t, SCPS_ERR_TIMEDOUT);
    script_free(t);
}

/* While data is outstanding, the retransmission timer runs in place of keep-alive; afterwards
 * keep-alive continues. */
static void not_while_data_is_out(void **x)
{
    struct script *t = kept(x);
    app_writes(t, SEC(90), 10);
    expect_sent(t, .from = 1, .len = 10);
    peer_says(t, MS(90100), .ack = 11);
    script_run(t, SEC(150));
    script_run(t, SEC(250));
    unsigned n = script_sent_count(t);
    assert_in_range(n, 1, 8);
    /* The connection does not end before 100 s of silence (R2). */
    expect_sent(t, .from = 10, .ack = 1);
    assert_true(script_now(t) >= SEC(190));
    script_forget_sent(t);
    script_free(t);
}

/* Keep-alive is off by default: in two weeks no probe is sent. */
static void off_by_default(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    script_run(t, SEC(14 * 86400));
    expect_quiet(t, SCPS_HOLD_APP);
    expect_state(t, SCPS_ESTABLISHED);
    /* Without keep-alive an idle connection has no deadline. */
    assert_true(scps_stack_deadline(t->st) == SCPS_NEVER);
    script_free(t);
}

/* A reset in answer to a probe ends the connection. */
static void the_peer_has_crashed(void **x)
{
    struct script *t = kept(x);
    expect_sent(t, .at = MS(100) + SEC(100), .from = ZERO, .ack = 1);
    peer_says(t, SEC(101), .seq = 1, .flags = SCPS_RST);
    expect_error(t, SCPS_ERR_RESET);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(answered),
        SCRIPT_TEST(unanswered),
        SCRIPT_TEST(answered_as_often_as_asked),
        SCRIPT_TEST(the_peers_keepalive_counts_as_an_answer),
        SCRIPT_TEST(keepalives_of_the_peer_are_answered),
        SCRIPT_TEST(an_acknowledgement_storm),
        SCRIPT_TEST(after_our_half_close),
        SCRIPT_TEST(a_long_path),
        SCRIPT_TEST(many_probes),
        SCRIPT_TEST(any_segment_restarts_the_timer),
        SCRIPT_TEST(data_answers_a_probe),
        SCRIPT_TEST(not_while_data_is_out),
        SCRIPT_TEST(off_by_default),
        SCRIPT_TEST(the_peer_has_crashed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
