/* SPDX-License-Identifier: MIT */
/* A device with segmentation offload cuts trains of segments itself, and gets several segments in
 * one packet. The scoreboard, the peer and the counters see the same segments as without it. */
#include "script.h"

static struct script *with_trains(void **x)
{
    struct script *t = script_of(x);
    script_start(t);
    t->nif.flags |= SCPS_NETIF_GSO;
    script_established(t, MS(100));
    return t;
}

static void a_window_in_one(void **x)
{
    struct script *t = with_trains(x);
    app_writes(t, SEC(1), 25500);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 10000, .no_push = true);
    expect_quiet(t, SCPS_HOLD_CWND);
    expect_that(t, script_info(t).data_segs_out == 10);
    peer_says(t, SEC(1) + MS(100), .ack = 10001);
    expect_sent(t, .at = SEC(1) + MS(100), .from = 10001, .len = 15500, .push = true);
    expect_that(t, script_info(t).data_segs_out == 26);
    peer_says(t, SEC(1) + MS(200), .ack = 25501);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* One segment of the train is lost, and only that one is resent. */
static void a_hole_in_a_train(void **x)
{
    struct script *t = with_trains(x);
    app_writes(t, SEC(1), 10000);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 10000);
    peer_says(t, SEC(1) + MS(100), .ack = 3001, .sack = {{4001, 10001}});
    expect_sent(t, .at = SEC(1) + MS(100), .from = 3001, .len = 1000);
    expect_that(t, script_info(t).resent_segs == 1);
    peer_says(t, SEC(1) + MS(200), .ack = 10001);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

/* Retransmissions are sent as packets of their own, and new data behind them does not join them. */
static void repair_then_new(void **x)
{
    struct script *t = with_trains(x);
    app_writes(t, SEC(1), 40000);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 10000);
    peer_says(t, SEC(1) + MS(100), .ack = 1, .sack = {{2001, 10001}});
    expect_sent(t, .at = SEC(1) + MS(100), .from = 1, .len = 1000);
    peer_says(t, SEC(1) + MS(200), .ack = 1001, .sack = {{2001, 10001}});
    while (script_sent_count(t)) {
        expect_sent(t, .any_len = true);
        expect_that(t, t->last.len % 1000 == 0);
    }
    expect_that(t, script_info(t).resent_segs >= 2);
    script_free(t);
}

static void a_fin_in_a_train(void **x)
{
    struct script *t = with_trains(x);
    app_writes(t, SEC(1), 2500);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 2500, .push = true);
    peer_says(t, SEC(1) + MS(100), .ack = 2501);
    app_writes_more(t, SEC(2), 3000);
    script_run(t, SEC(2) + MS(1));
    unsigned before = script_forget_sent(t);
    expect_that(t, before >= 1);
    peer_says(t, SEC(2) + MS(100), .ack = 5501);
    app_writes_more(t, SEC(3), 999);
    expect_quiet(t, ANY_HOLD); /* The rest of the data will follow. */
    scps_conn_shutdown(t->c);
    script_run(t, SEC(3) + MS(1));
    expect_sent(t, .from = 5501, .len = 999, .flags = SCPS_ACK | SCPS_FIN, .push = true);
    script_free(t);
}

/* A train never becomes longer than an IP packet can be. */
static void sixty_four_kilobytes(void **x)
{
    struct script *t = script_of(x);
    t->cfg.init_cwnd_segs = 200;
    t->cfg.wscale = true;
    t->peer.wscale = 7;
    script_start(t);
    t->nif.flags |= SCPS_NETIF_GSO;
    script_established(t, MS(100));
    peer_says(t, MS(200), .wnd = 65535); /* The window of a SYN is not scaled. */
    app_writes(t, SEC(1), 150000);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 65000);
    expect_sent(t, .at = SEC(1), .from = 65001, .len = 65000);
    expect_sent(t, .at = SEC(1), .from = 130001, .len = 20000, .push = true);
    script_free(t);
}

/* An acknowledgement that is due is not delayed by a train. */
static void both_directions(void **x)
{
    struct script *t = with_trains(x);
    peer_says(t, SEC(1), .len = 1000);
    app_writes(t, SEC(1), 5000);
    expect_sent(t, .at = SEC(1), .from = 1, .len = 5000, .ack = 1001);
    peer_says(t, SEC(1) + MS(100), .ack = 5001, .seq = 2001, .len = 1000);
    expect_sent(t, .at = SEC(1) + MS(100), .from = 5001, .ack = 1001, .sack = {{2001, 3001}});
    script_free(t);
}

/* A segment that ends a record is not part of a train, because its option belongs to it alone. */
static void records_in_trains(void **x)
{
    struct script *t = script_of(x);
    t->cfg.records = true;
    script_start(t);
    t->nif.flags |= SCPS_NETIF_GSO;
    script_established(t, MS(100));
    script_app_writes(t, MS(200), 4500, SCPS_EOR, __FILE__, __LINE__);
    expect_sent(t, .from = 1, .len = 4000, .hasnt = SCPS_HAS_RECORD);
    expect_sent(t, .from = 4001, .len = 500, .has = SCPS_HAS_RECORD, .flags = SCPS_ACK | SCPS_PSH);
    script_app_writes(t, MS(210), 996, SCPS_EOR, __FILE__, __LINE__);
    script_app_writes(t, MS(210), 2000, 0, __FILE__, __LINE__);
    expect_sent(t, .from = 4501, .len = 996, .has = SCPS_HAS_RECORD, .flags = SCPS_ACK | SCPS_PSH);
    expect_sent(t, .from = 5497, .len = 2000, .hasnt = SCPS_HAS_RECORD);
    peer_says(t, MS(300), .ack = 7497);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(a_window_in_one),      SCRIPT_TEST(a_hole_in_a_train),
        SCRIPT_TEST(repair_then_new),      SCRIPT_TEST(a_fin_in_a_train),
        SCRIPT_TEST(sixty_four_kilobytes), SCRIPT_TEST(both_directions),
        SCRIPT_TEST(records_in_trains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
