/* SPDX-License-Identifier: MIT */
/* scps_conn_get_info(): times, windows and counters change exactly when the event that they
 * describe happens. Counters that other tests check are left out. */
#include "script.h"

#include <scps/cc.h>

static void times_and_segments(void **x)
{
    struct script *t = script_of(x);

    script_connect(t, MS(10));
    expect_sent(t, .flags = SCPS_SYN);
    const scps_time zero = scps_stack_now(t->st) - script_now(t);
    struct scps_info i = script_info(t);
    assert_int_equal(i.opened, zero + MS(10));
    assert_int_equal(i.established, 0);
    assert_int_equal(i.first_received, 0);
    assert_int_equal(i.segs_out, 1);
    assert_int_equal(i.segs_in, 0);
    peer_says(t, MS(110), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1);
    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1000);
    i = script_info(t);
    assert_int_equal(i.established, zero + MS(110));
    assert_int_equal(i.first_sent, zero + MS(200));
    assert_int_equal(i.last_sent, zero + MS(200));
    assert_int_equal(i.last_received, 0);
    peer_says(t, MS(300), .ack = 1001);
    peer_says(t, MS(310), .len = 700, .ack = 1001);
    peer_says(t, MS(320), .seq = 701, .len = 100, .ack = 1001);
    expect_sent(t, .at = MS(320), .ack = 801);
    /* A hole lies before this segment. */
    peer_says(t, MS(330), .seq = 901, .len = 100, .ack = 1001);
    expect_sent(t, .at = MS(330), .ack = 801, .sack = {{901, 1001}});
    i = script_info(t);
    assert_int_equal(i.first_received, zero + MS(310));
    assert_int_equal(i.last_received, zero + MS(330));
    assert_int_equal(i.last_ack_received, zero + MS(300));
    assert_int_equal(i.segs_out, 5);
    assert_int_equal(i.segs_in, 5);
    assert_int_equal(i.data_segs_out, 1);
    assert_int_equal(i.data_segs_in, 3);
    assert_int_equal(i.rcv_mss, 700);
    assert_int_equal(i.sacks_out, 1);
    assert_int_equal(i.sacks_in, 0);
    app_writes(t, MS(400), 2000);
    script_forget_sent(t);
    peer_says(t, MS(500), .seq = 1001, .ack = 1001, .sack = {{2001, 3001}});
    assert_int_equal(script_info(t).sacks_in, 1);
    script_forget_sent(t);
    script_free(t);
}

static void windows(void **x)
{
    struct script *t = script_of(x);

    t->cfg.rcvbuf = 2000;
    script_established(t, MS(100));
    struct scps_info i = script_info(t);
    assert_int_equal(i.rcv_wnd, 2000);
    assert_int_equal(i.zero_windows_in, 0);
    assert_int_equal(i.zero_windows_out, 0);
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001, .wnd = ZERO);
    i = script_info(t);
    assert_int_equal(i.rcv_wnd, 0);
    assert_int_equal(i.zero_windows_out, 1);
    peer_says(t, MS(300), .ack = 1, .wnd = ZERO);
    app_writes(t, MS(400), 500);
    i = script_info(t);
    assert_int_equal(i.zero_windows_in, 1);
    assert_int_equal(i.probes_out, 0);
    expect_sent(t, .at = MS(400) + i.rto, .slack = SEC(1), .from = 1, .len = 1);
    assert_int_equal(script_info(t).probes_out, 1);
    peer_says(t, script_now(t) + MS(10), .ack = 2, .wnd = 5000);
    script_forget_sent(t);
    assert_int_equal(script_info(t).snd_wnd, 5000);
    script_free(t);
}

/* RFC 3168 section 6.1: every ECN echo is counted, whether it reduces the window or not. */
static void echoes_of_congestion(void **x)
{
    struct script *t = script_of(x);

    t->cfg.ecn = true;
    script_connect(t, 0);
    script_forget_sent(t);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE, .ack = 1);
    app_writes(t, MS(200), 2000);
    script_forget_sent(t);
    assert_int_equal(script_info(t).ecn_echoes, 0);
    peer_says(t, MS(300), .ack = 1001, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(301), .ack = 2001, .flags = SCPS_ACK | SCPS_ECE);
    assert_int_equal(script_info(t).ecn_echoes, 2);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5961 section 3.2: a reset inside the window, but not at RCV.NXT, is answered with a challenge
 * ACK, which is counted. */
static void challenges(void **x)
{
    struct script *t = script_of(x);

    script_established(t, MS(100));
    assert_int_equal(script_info(t).challenges, 0);
    peer_says(t, MS(200), .seq = 100, .flags = SCPS_RST);
    expect_sent(t, .at = MS(200), .ack = 1);
    assert_int_equal(script_info(t).challenges, 1);
    script_free(t);
}

static void scps_features(void **x)
{
    struct script *t = script_of(x);
    struct scps_hole h;

    t->cfg.snack = t->cfg.bets = t->cfg.compress = true;
    t->cfg.bets_retries = 1;
    t->peer.caps = SCPS_CAP_BETS | SCPS_CAP_SNACK1 | SCPS_CAP_COM;
    t->peer.conn_id = 7;
    script_established(t, MS(100));
    struct scps_info i = script_info(t);
    assert_int_equal(i.caps_offered & t->peer.caps, t->peer.caps);
    assert_int_equal(i.caps_peer, t->peer.caps);
    const uint64_t saved = i.comp_saved_in;
    const uint32_t in = i.comp_in;
    peer_says(t, MS(200), .seq = 1001, .len = 1000);
    script_forget_sent(t);
    i = script_info(t);
    assert_int_equal(i.snacks_out, 1);
    assert_int_equal(i.comp_in, in + 1);
    assert_true(i.comp_saved_in > saved && i.comp_saved_in < saved + 20);
    assert_int_equal(i.cc_phase, SCPS_PHASE_NONE);

    app_writes(t, MS(300), 100);
    assert_int_equal(script_info(t).ranges_given_up, 0);
    script_run(t, SEC(30));
    script_forget_sent(t);
    i = script_info(t);
    assert_int_equal(i.ranges_given_up, 1);
    assert_int_equal(i.bytes_given_up, 100);
    assert_int_equal(scps_conn_given_up(t->c, &h, 1), 1);
    script_forget_events(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(times_and_segments),   SCRIPT_TEST(windows),
        SCRIPT_TEST(echoes_of_congestion), SCRIPT_TEST(challenges),
        SCRIPT_TEST(scps_features),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
