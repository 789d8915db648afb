/* SPDX-License-Identifier: MIT */
/* When small segments are sent: RFC 9293 section 3.7.4 (Nagle's algorithm in Minshall's form) and
 * section 3.9.1.2 (push), and with the options for no delay, cork and more data. The congestion
 * window at the beginning and after idle time: RFC 6928, RFC 5681 section 4.1. */
#include "script.h"

static void nagle(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 10);
    expect_sent(t, .at = MS(200), .from = 1, .len = 10, .push = true);
    app_writes(t, MS(210), 10);
    app_writes(t, MS(220), 10);
    expect_quiet(t, SCPS_HOLD_NAGLE);
    peer_says(t, MS(300), .ack = 11);
    expect_sent(t, .at = MS(300), .from = 11, .len = 20, .push = true);
    /* With the data that waits this makes a full segment, which is sent at once. */
    app_writes(t, MS(310), 980);
    expect_quiet(t, SCPS_HOLD_NAGLE);
    app_writes(t, MS(320), 20);
    expect_sent(t, .at = MS(320), .from = 31, .len = 1000);
    script_free(t);
}

/* Minshall's form of Nagle's algorithm: the last, short segment of a large write does not wait for
 * full segments to be acknowledged. */
static void end_of_a_bulk(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 2500);
    expect_sent(t, .from = 1, .len = 1000, .no_push = true);
    expect_sent(t, .from = 1001, .len = 1000, .no_push = true);
    expect_sent(t, .at = MS(200), .from = 2001, .len = 500, .push = true);
    peer_says(t, MS(300), .ack = 2001);
    /* MUST-61: "the last buffered segment" has PSH when it is resent, too. */
    expect_sent(t, .at = MS(600), .slack = MS(10), .from = 2001, .len = 500, .push = true);
    script_free(t);
}

static void no_delay(void **x)
{
    struct script *t = script_of(x);
    t->cfg.nodelay = true;
    script_established(t, MS(100));
    for (int i = 0; i < 5; i++) {
        app_writes(t, MS(200 + i), 10);
        expect_sent(t, .at = MS(200 + i), .from = 1 + 10 * i, .len = 10, .push = true);
    }
    script_free(t);
}

static void no_delay_lets_go(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 10);
    expect_sent(t, .from = 1, .len = 10);
    app_writes(t, MS(210), 10);
    expect_quiet(t, SCPS_HOLD_NAGLE);
    scps_conn_nodelay(t->c, true);
    expect_sent(t, .at = MS(210), .from = 11, .len = 10);
    script_free(t);
}

static void more_to_come(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes_more(t, MS(200), 300);
    expect_quiet(t, SCPS_HOLD_CORK);
    app_writes_more(t, MS(210), 900); /* A full segment is never held back. */
    expect_sent(t, .at = MS(210), .from = 1, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CORK);
    app_writes(t, MS(220), 100);
    expect_sent(t, .at = MS(220), .from = 1001, .len = 300, .push = true);
    /* If no more data is written, SCPS_MORE holds data back for 200 ms at most. */
    peer_says(t, MS(300), .ack = 1301);
    app_writes_more(t, MS(400), 50);
    expect_sent(t, .at = MS(600), .from = 1301, .len = 50);
    script_free(t);
}

static void cork(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    scps_conn_cork(t->c, true);
    app_writes(t, MS(200), 300);
    app_writes(t, MS(250), 300);
    expect_quiet(t, SCPS_HOLD_CORK);
    scps_conn_cork(t->c, false);
    expect_sent(t, .at = MS(250), .from = 1, .len = 600);
    script_run(t, MS(500));
    peer_says(t, MS(500), .ack = 601);
    script_free(t);
}

/* RFC 6928: the initial window is ten segments, 14600 octets at most. */
static void initial_window(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 50000);
    for (int i = 0; i < 10; i++)
        expect_sent(t, .at = MS(200), .from = 1 + 1000 * i, .len = 1000);
    expect_quiet(t, SCPS_HOLD_CWND);
    script_free(t);

    t = script_of(x);
    t->cfg.init_cwnd_segs = 3;
    script_flight(t, MS(200), 50000, 3);
    script_free(t);
}

/* RFC 6928 section 2: min(10 * MSS, max(2 * MSS, 14600)) */
static void initial_window_of_large_segments(void **x)
{
    static const struct {
        uint16_t mss;
        unsigned segments;
    } of[] = {{1460, 10}, {2000, 7}, {7300, 2}, {8900, 2}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct script *t = script_of(x);
        t->mtu = 9000;
        t->cfg.mss = t->peer.mss = of[i].mss;
        script_established(t, MS(100));
        app_writes(t, MS(200), 60000);
        assert_int_equal(script_forget_sent(t), of[i].segments);
        expect_quiet(t, SCPS_HOLD_CWND);
        script_free(t);
    }
}

/* RFC 5681 section 3.1: in slow start the window grows by the octets acknowledged. */
static void slow_start(void **x)
{
    struct script *t = script_of(x);
    t->cfg.init_cwnd_segs = 2;
    script_flight(t, MS(200), 100000, 2);
    peer_says(t, MS(300), .ack = 2001);
    assert_int_equal(script_forget_sent(t), 4);
    peer_says(t, MS(400), .ack = 4001);
    peer_says(t, MS(400), .ack = 6001);
    assert_int_equal(script_forget_sent(t), 8);
    assert_int_equal(script_info(t).cwnd, 8000);
    script_free(t);
}

/* RFC 5681 section 4.1: after a pause longer than the RTO, not after one as long as the RTO, the
 * window is reduced to the initial window. */
static void restart_after_idle(void **x)
{
    struct script *t = script_of(x);
    script_flight(t, MS(200), 40000, 10);
    peer_says(t, MS(300), .ack = 10001);
    assert_int_equal(script_forget_sent(t), 20);
    peer_says(t, MS(400), .ack = 30001);
    assert_int_equal(script_forget_sent(t), 10);
    peer_says(t, MS(500), .ack = 40001);
    assert_true(script_info(t).cwnd >= 30000);
    app_writes(t, MS(600), 30000); /* The pause before this write is shorter than the RTO. */
    assert_int_equal(script_forget_sent(t), 30);
    peer_says(t, MS(700), .ack = 70001);
    scps_time at = MS(600) + script_info(t).rto;
    app_writes(t, at, 30000);
    assert_int_equal(script_forget_sent(t), 30);
    peer_says(t, at + MS(100), .ack = 100001);
    app_writes(t, at + script_info(t).rto + 1, 30000);
    assert_int_equal(script_forget_sent(t), 10);
    script_free(t);
}

/* When the send buffer is full a write accepts nothing; SCPS_EV_WRITABLE reports that there is room
 * again. */
static void a_full_send_buffer(void **x)
{
    struct script *t = script_of(x);
    char buf[5000] = {0};
    t->cfg.sndbuf = 4000;
    /* The data is hollow (counted, not stored), because its contents do not matter. */
    t->cfg.hollow = true;
    script_established(t, MS(100));
    script_forget_events(t);
    app_writes(t, MS(200), 3000);
    expect_sent(t, .from = 1, .len = 1000);
    expect_sent(t, .from = 1001, .len = 1000);
    expect_sent(t, .from = 2001, .len = 1000);
    assert_int_equal(scps_conn_writable(t->c), 1000);
    app_writes(t, MS(210), 1000);
    expect_sent(t, .from = 3001, .len = 1000);
    assert_int_equal(scps_conn_write(t->c, buf, 5000, 0), SCPS_ERR_AGAIN);
    peer_says(t, MS(300), .ack = 2001);
    expect_event(t, SCPS_EV_WRITABLE);
    assert_int_equal(scps_conn_writable(t->c), 2000);
    script_free(t);
}

/* After a write met a full buffer, SCPS_EV_WRITABLE comes when a quarter of the buffer is free, or
 * 64 KiB. */
static void room_worth_writing_to(void **x)
{
    struct script *t = script_of(x);
    t->cfg.sndbuf = 16000;
    t->cfg.init_cwnd_segs = 10;
    script_established(t, MS(100));
    script_forget_events(t);
    app_writes(t, MS(100), 16000);
    assert_int_equal(scps_conn_write(t->c, "", 1, 0), SCPS_ERR_AGAIN);
    assert_int_equal(script_forget_sent(t), 10);
    peer_says(t, MS(200), .ack = 4000);
    expect_no_event(t);
    peer_says(t, MS(200), .ack = 4001);
    expect_event(t, SCPS_EV_WRITABLE);
    script_forget_sent(t);
    script_free(t);

    t = script_of(x);
    t->cfg.sndbuf = 1 << 20;
    t->cfg.init_cwnd_segs = 100;
    t->cfg.wscale = true;
    t->peer.wscale = 4;
    script_established(t, MS(100));
    script_forget_events(t);
    app_writes(t, MS(100), 1 << 20);
    assert_int_equal(scps_conn_write(t->c, "", 1, 0), SCPS_ERR_AGAIN);
    script_forget_sent(t);
    peer_says(t, MS(200), .ack = 65001);
    expect_no_event(t);
    peer_says(t, MS(200), .ack = 66001);
    expect_event(t, SCPS_EV_WRITABLE);
    script_forget_sent(t);
    script_free(t);
}

/* Writes n octets, which the peer acknowledges a round trip later. Returns the congestion window
 * after that. */
static uint64_t round_of(struct script *t, scps_time at, int64_t *sent, int n)
{
    app_writes(t, at, n);
    assert_int_equal(script_forget_sent(t), n / 1000);
    *sent += n;
    peer_says(t, at + MS(100), .ack = 1 + *sent);
    return script_info(t).cwnd;
}

/* RFC 7661 section 4.1: the window does not grow if the application does not use it: more than half
 * of it in slow start, all of it above ssthresh. */
static void an_unused_window_does_not_grow(void **x)
{
    struct script *t = script_of(x);
    int64_t sent = 0;
    script_established(t, MS(100));
    for (int i = 1; i < 6; i++)
        assert_int_equal(round_of(t, MS(200 * i), &sent, 5000), 10000);
    assert_int_equal(round_of(t, SEC(2), &sent, 6000), 16000);
    script_free(t);

    t = script_of(x);
    sent = 0;
    assert_int_equal(scps_conn_config_parse_cc(&t->cfg, "vj,ssthresh=10000", NULL, 0), 0);
    script_established(t, MS(100));
    for (int i = 1; i < 6; i++)
        assert_int_equal(round_of(t, MS(200 * i), &sent, 9000), 10000);
    assert_int_equal(round_of(t, SEC(2), &sent, 10000), 11000);
    script_free(t);
}

/* draft-cheng-iccrg-delivery-rate-estimation section 3.3: an interval shorter than the minimum RTT
 * gives no rate sample. */
static void no_rate_faster_than_the_path(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    app_writes(t, MS(200), 2000);
    assert_int_equal(script_forget_sent(t), 2);
    peer_says(t, MS(300), .ack = 2001);
    assert_int_equal(script_info(t).delivery_rate, 20000);
    app_writes(t, MS(400), 2000);
    assert_int_equal(script_forget_sent(t), 2);
    /* The acknowledgement comes after half a round trip: the peer has guessed its number. */
    peer_says(t, MS(450), .ack = 4001);
    assert_int_equal(script_info(t).delivery_rate, 20000);
    script_free(t);
}

/* The peer's MSS is smaller: this end's segments have at most that size, and its SYN still
 * announces its own MSS. */
static void the_peers_mss(void **x)
{
    struct script *t = script_of(x);
    t->cfg.mss = 0;
    t->peer.mss = 400;
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN);
    assert_int_equal(t->last.mss, t->us.addr.family == 4 ? 1460 : 1440);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .ack = 1);
    app_writes(t, MS(200), 900);
    expect_sent(t, .from = 1, .len = 400);
    expect_sent(t, .from = 401, .len = 400);
    expect_sent(t, .from = 801, .len = 100);
    script_free(t);
}

/* RFC 9293 section 3.7.1, MUST-15: "If an MSS Option is not received at connection setup, TCP
 * implementations MUST assume a default send MSS of 536 (576 - 40) for IPv4 or 1220 (1280 - 60) for
 * IPv6". */
static void no_mss_option(void **x)
{
    struct script *t = script_of(x);
    const int mss = t->us.addr.family == 4 ? 536 : 1220;

    t->cfg.mss = 0;
    t->peer.mss = 0;
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_MSS);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .ack = 1);
    app_writes(t, MS(200), 3000);
    expect_sent(t, .from = 1, .len = mss);
    expect_sent(t, .from = 1 + mss, .len = mss);
    script_forget_sent(t);
    script_free(t);
}

/* A peer that announces an extremely small or large MSS does not cause segments of that size. */
static void absurd_mss(void **x)
{
    struct script *t = script_of(x);
    t->peer.mss = 1;
    script_established(t, MS(100));
    assert_in_range(script_info(t).snd_mss, 8, 100);
    app_writes(t, MS(200), 500);
    assert_true(script_forget_sent(t) <= 10);
    script_free(t);
}

/* Opens a connection on which both ends use ECN (RFC 3168 section 6.1.1). */
static void ecn_established(struct script *t)
{
    t->cfg.ecn = true;
    script_connect(t, MS(0));
    expect_sent(t, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
    expect_sent(t, .ack = 1);
}

/* RFC 3168 section 6.1.2: an ECN echo halves the window, at most once per round trip, and the next
 * new data carries CWR. */
static void ecn_echo(void **x)
{
    struct script *t = script_of(x);
    ecn_established(t);
    app_writes(t, MS(200), 30000);
    assert_int_equal(script_forget_sent(t), 10);
    peer_says(t, MS(300), .ack = 1001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(301), .ack = 2001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(302), .ack = 3001, .flags = SCPS_ACK | SCPS_ECE);
    assert_in_range(script_info(t).cwnd, 4500, 5000); /* Half of the outstanding octets. */
    peer_says(t, MS(303), .ack = 8001, .flags = SCPS_ACK | SCPS_ECE);
    expect_sent(t, .any_len = true, .flags = SCPS_ACK | SCPS_CWR);
    script_forget_sent(t);
    /* RFC 3168 section 6.1.2: "TCP should not react to congestion indications more than once
     * every window of data", so CWR is not sent again either. */
    peer_says(t, MS(304), .ack = 9001, .flags = SCPS_ACK | SCPS_ECE);
    expect_sent(t, .any_len = true, .flags = SCPS_ACK);
    script_forget_sent(t);
    assert_in_range(script_info(t).cwnd, 4500, 6000);
    /* Only the segments beyond 10001 were sent after the window was reduced, the first of them with
     * CWR, so this echo was sent before the peer had CWR. */
    peer_says(t, MS(305), .ack = 10001, .flags = SCPS_ACK | SCPS_ECE);
    script_forget_sent(t);
    assert_int_equal(script_info(t).cwnd, 4500);
    peer_says(t, MS(404), .ack = 11001, .flags = SCPS_ACK | SCPS_ECE);
    assert_int_equal(script_info(t).cwnd, 2000);
    peer_says(t, MS(405), .ack = 13001);
    expect_sent(t, .any_len = true, .flags = SCPS_ACK | SCPS_CWR);
    script_forget_sent(t);
    assert_int_equal(script_info(t).resent_segs, 0);
    script_free(t);
}

/* RFC 3168 section 6.1.3: a CE mark is echoed in every acknowledgement until CWR arrives. */
static void ecn_mark(void **x)
{
    struct script *t = script_of(x);
    ecn_established(t);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_CE);
    peer_says(t, MS(200), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 2001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(201), .len = 1000, .tos = SCPS_ECN_ECT0);
    peer_says(t, MS(201), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 4001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(202), .len = 1000, .tos = SCPS_ECN_ECT0, .flags = SCPS_ACK | SCPS_CWR);
    peer_says(t, MS(202), .len = 1000, .tos = SCPS_ECN_ECT0);
    expect_sent(t, .ack = 6001, .flags = SCPS_ACK);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(nagle),
        SCRIPT_TEST(end_of_a_bulk),
        SCRIPT_TEST(no_delay),
        SCRIPT_TEST(no_delay_lets_go),
        SCRIPT_TEST(more_to_come),
        SCRIPT_TEST(cork),
        SCRIPT_TEST(initial_window),
        SCRIPT_TEST(initial_window_of_large_segments),
        SCRIPT_TEST(slow_start),
        SCRIPT_TEST(restart_after_idle),
        SCRIPT_TEST(a_full_send_buffer),
        SCRIPT_TEST(room_worth_writing_to),
        SCRIPT_TEST(an_unused_window_does_not_grow),
        SCRIPT_TEST(no_rate_faster_than_the_path),
        SCRIPT_TEST(the_peers_mss),
        SCRIPT_TEST(no_mss_option),
        SCRIPT_TEST(absurd_mss),
        SCRIPT_TEST(ecn_echo),
        SCRIPT_TEST(ecn_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
