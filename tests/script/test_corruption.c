/* SPDX-License-Identifier: MIT */
/* The option "corruption experienced" (option 23): what it is sent for, and what it causes at the
 * sender (docs/SCPS-TP.md sections 3.2 to 3.4). */
#include "script.h"

static struct script *scps(void **x)
{
    struct script *t = script_of(x);

    t->cfg.snack = true;
    t->cfg.ack_mode = SCPS_ACK_EVERY;
    t->peer.caps = SCPS_CAP_SNACK1;
    return t;
}

static void damaged(struct script *t, scps_time at, scps_time until)
{
    scps_time epoch = scps_stack_now(t->st) - script_now(t);
    struct scps_signal sig = {
        .kind = SCPS_SIGNAL_DAMAGED, .remote = t->them.addr, .until = until ? until + epoch : 0};

    script_comment(t, "segments were damaged");
    script_run(t, at);
    scps_stack_signal(t->st, at + epoch, &sig);
}

/* Returns true if the acknowledgement of one more segment carries the corruption option. */
static bool told(struct script *t, scps_time at)
{
    peer_says(t, at, .len = 100);
    expect_sent(t, .at = at);
    app_reads(t, at, 100);
    return t->last.has & SCPS_HAS_CORRUPTION;
}

/* At least three acknowledgements carry the option, and all those of a round trip. */
static void option_on_three_acks_and_for_a_round_trip(void **x)
{
    struct script *t = scps(x);

    script_established(t, MS(100));
    assert_false(told(t, MS(200)));
    damaged(t, MS(300), 0);
    expect_quiet(t, SCPS_HOLD_APP); /* No acknowledgement is sent only for the option. */
    for (int i = 0; i < 6; i++)
        assert_true(told(t, MS(310 + 10 * i)));
    assert_false(told(t, MS(401)));
    damaged(t, MS(500), 0);
    for (int i = 0; i < 3; i++)
        assert_true(told(t, SEC(2) + MS(i)));
    assert_false(told(t, SEC(2) + MS(4)));
    damaged(t, SEC(3), SEC(5));
    for (int i = 0; i < 6; i++) /* more than three, for much longer than a round trip */
        assert_true(told(t, SEC(3) + MS(300 * i)));
    assert_true(told(t, SEC(5) - MS(1)));
    assert_false(told(t, SEC(5)));
    script_free(t);
}

/* The option is sent beside SACK and SNACK, which fill the option area. */
static void beside_reports(void **x)
{
    struct script *t = scps(x);

    t->cfg.timestamps = t->peer.ts = true;
    script_established(t, MS(100));
    damaged(t, MS(200), 0);
    peer_says(t, MS(210), .seq = 1989, .len = 988);
    expect_sent(t, .ack = 1,
                .has = SCPS_HAS_CORRUPTION | SCPS_HAS_SNACK | SCPS_HAS_SACK | SCPS_HAS_TS,
                .snack = {{0, 3}}, .sack = {{1989, 2977}});
    script_free(t);
}

/* The option is not sent to a peer that has shown no capabilities, nor with corruption off. */
static void only_to_peers_with_capabilities(void **x)
{
    for (int k = 0; k < 2; k++) {
        struct script *t = scps(x);
        if (k)
            t->cfg.corruption = false;
        else
            t->peer.caps = 0;
        script_established(t, MS(100));
        damaged(t, MS(200), 0);
        assert_false(told(t, MS(210)));
        script_free(t);
    }
}

/* With checksum_hints a wrong checksum counts as damage, and the next acknowledgement carries the
 * option. */
static void checksum_hints(void **x)
{
    for (int k = 0; k < 2; k++) {
        struct script *t = scps(x);
        t->stack_cfg.checksum_hints = k;
        script_established(t, MS(100));
        assert_false(told(t, MS(200)));
        peer_says(t, MS(300), .seq = 101, .len = 100, .bad_checksum = true);
        expect_quiet(t, SCPS_HOLD_APP);
        peer_says(t, MS(310), .seq = 101, .len = 100); /* The same segment arrives undamaged. */
        expect_sent(t, .ack = 201);
        assert_int_equal(!!(t->last.has & SCPS_HAS_CORRUPTION), k);
        script_free(t);
    }
}

/* The process was stopped until long after the retransmission timer was due. A segment with a wrong
 * checksum arrives before the acknowledgement: timers run after all that waits, so there is no
 * timeout. */
static void a_wrong_checksum_runs_no_timer(void **x)
{
    struct script *t = scps(x);
    struct scps_seg seg = {.flags = SCPS_ACK};
    struct scps_ip ip = {.version = t->us.addr.family, .proto = SCPS_IPPROTO_TCP, .ttl = 64};
    uint8_t p[100];
    size_t hdr, n;

    t->stack_cfg.checksum_hints = true;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1000);
    ip.src = t->them.addr;
    ip.dst = t->us.addr;
    seg.sport = t->them.port;
    seg.dport = t->us.port;
    hdr = ip.version == 4 ? 20 : 40;
    n = scps_tcp_build(p + hdr, &seg);
    scps_ip_build(p, &ip, n);
    assert_int_equal(
        scps_stack_input(
            t->st, &t->nif,
            &(struct scps_pkt){.data = p, .len = hdr + n, .at = scps_stack_now(t->st) + SEC(10)}),
        SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_info(t).timeouts, 0);
    script_run(t, SEC(11));
    script_forget_sent(t);
    assert_in_range(script_info(t).timeouts, 1, 10);
    script_free(t);
}

/* After the option the sender takes losses for corruption during corruption_hold: they do not halve
 * the window, and timeouts do not back off. */
static void the_option_attributes_losses_to_corruption(void **x)
{
    /* In the three runs the peer sends no option, sends it now, or sent it long ago. */
    for (int k = 0; k < 3; k++) {
        struct script *t = scps(x);
        t->cfg.corruption_hold = SEC(10);
        t->cfg.init_cwnd_segs = 8;
        scps_conn_config_set_cc(&t->cfg, scps_cc_find("vegas"), NULL);
        script_established(t, MS(100));
        app_writes(t, MS(200), 1000);
        script_forget_sent(t);
        peer_says(t, MS(300), .ack = 1001, .corruption = k > 0);
        scps_time at = k == 2 ? SEC(20) : MS(400);
        app_writes(t, at, 8000);
        unsigned n = script_forget_sent(t);
        assert_true(n >= 4);
        uint64_t before = script_info(t).cwnd;
        peer_says(t, at + MS(100), .ack = 1001, .snack = {{0, 1}}, .sack = {{2001, 5001}});
        expect_sent(t, .from = 1001, .len = 1000);
        if (k == 1)
            assert_true(script_info(t).cwnd >= before);
        else
            assert_true(script_info(t).cwnd < before);
        script_run(t, at + MS(110));
        script_forget_sent(t);
        script_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(option_on_three_acks_and_for_a_round_trip),
        SCRIPT_TEST(beside_reports),
        SCRIPT_TEST(only_to_peers_with_capabilities),
        SCRIPT_TEST(checksum_hints),
        SCRIPT_TEST(a_wrong_checksum_runs_no_timer),
        SCRIPT_TEST(the_option_attributes_losses_to_corruption),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
