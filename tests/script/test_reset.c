/* SPDX-License-Identifier: MIT */
/* Resets and forged segments on an established connection: RFC 9293 section 3.5.3, RFC 5961
 * sections 3 to 5 and 7. */
#include "script.h"

static void exact_reset(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    script_forget_events(t);
    app_writes(t, MS(100), 10);
    expect_sent(t, .from = 1, .len = 10);
    peer_says(t, MS(150), .len = 20);
    peer_says(t, MS(150), .flags = SCPS_RST);
    expect_event(t, SCPS_EV_READABLE);
    expect_error(t, SCPS_ERR_RESET);
    expect_state(t, SCPS_CLOSED);
    app_reads(t, MS(160), 20); /* Data that came before the reset can be read. */
    assert_int_equal(scps_conn_read(t->c, NULL, 1, 0), SCPS_ERR_RESET);
    assert_int_equal(scps_conn_write(t->c, "x", 1, 0), SCPS_ERR_RESET);
    script_run(t, SEC(100));
    expect_quiet(t, ANY_HOLD);
    script_free(t);
}

/* RFC 9293 section 3.5.3, SHLD-2: "TCP implementations SHOULD allow a received RST segment to
 * include data". The data is not delivered, and whatever the acknowledgement number is, the
 * sequence number alone decides (RFC 5961 section 3.2). */
static void a_reset_with_data(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    script_forget_events(t);
    peer_says(t, MS(150), .seq = 2, .flags = SCPS_RST | SCPS_ACK, .len = 20);
    expect_sent(t, .at = MS(150), .ack = 1);
    peer_says(t, MS(160), .seq = 1, .ack = 90000, .flags = SCPS_RST | SCPS_ACK, .len = 20);
    expect_error(t, SCPS_ERR_RESET);
    expect_state(t, SCPS_CLOSED);
    assert_int_equal(scps_conn_readable(t->c), 0);
    script_free(t);
}

/* RFC 5961 section 3.2: a reset inside the window but not at RCV.NXT is answered with a challenge
 * ACK; one outside is dropped. */
static void inexact_resets(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 2, .flags = SCPS_RST);
    expect_sent(t, .at = MS(200), .from = 1, .ack = 1);
    peer_says(t, SEC(1), .seq = 20000, .flags = SCPS_RST); /* The window is 20000 octets. */
    expect_sent(t, .at = SEC(1), .from = 1, .ack = 1);
    peer_says(t, SEC(2), .seq = 20001, .flags = SCPS_RST);
    peer_says(t, SEC(3), .seq = ZERO, .flags = SCPS_RST);
    peer_says(t, SEC(4), .seq = -1, .flags = SCPS_RST | SCPS_ACK, .ack = 1);
    expect_quiet(t, SCPS_HOLD_APP);
    expect_state(t, SCPS_ESTABLISHED);
    peer_says(t, SEC(5), .flags = SCPS_RST);
    expect_state(t, SCPS_CLOSED);
    script_free(t);
}

/* RFC 5961 section 4.2: a SYN with any sequence number is answered with a challenge ACK. */
static void syns_on_a_connection(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, SEC(1), .seq = 100, .flags = SCPS_SYN);
    expect_sent(t, .at = SEC(1), .from = 1, .ack = 1, .no_sack = true);
    peer_says(t, SEC(2), .seq = ZERO, .flags = SCPS_SYN);
    expect_sent(t, .at = SEC(2), .from = 1, .ack = 1);
    peer_says(t, SEC(3), .seq = 900000, .flags = SCPS_SYN);
    expect_sent(t, .at = SEC(3), .from = 1, .ack = 1);
    expect_state(t, SCPS_ESTABLISHED);
    /* RFC 9293 figure 9: the peer has crashed and answers the challenge ACK by a reset that has
     * exactly RCV.NXT. */
    peer_says(t, SEC(4), .seq = 1, .flags = SCPS_RST);
    expect_state(t, SCPS_CLOSED);
    script_free(t);
}

/* RFC 5961 section 5.2: acknowledgements of data that was never sent, or that are older than the
 * largest window, are not accepted. */
static void blind_acknowledgements(void **x)
{
    struct script *t = script_of(x);
    t->peer_wnd = 5000;
    script_established(t, MS(100));
    peer_says(t, MS(200), .ack = 2, .len = 10);
    expect_sent(t, .at = MS(200), .from = 1, .ack = 1);
    for (int i = 0; i < 3; i++) {
        app_writes(t, MS(300 + i), 2000);
        peer_says(t, MS(300 + i), .ack = 2001 + 2000 * i);
    }
    assert_int_equal(script_forget_sent(t), 6);
    peer_says(t, SEC(1), .seq = 1, .ack = 6001 - 5001, .len = 10);
    expect_sent(t, .at = SEC(1), .from = 6001, .ack = 1);
    assert_int_equal(scps_conn_readable(t->c), 0);
    /* The acknowledgement number is only old, so the data is accepted. */
    peer_says(t, MS(1100), .seq = 1, .ack = 6001 - 4999, .len = 10);
    assert_int_equal(scps_conn_readable(t->c), 10);
    expect_sent(t, .at = MS(1300), .ack = 11);
    script_free(t);
}

/* RFC 5961 section 5.2 accepts acknowledgement numbers up to MAX.SND.WND below SND.UNA. At the
 * beginning of a connection this range reaches below the ISS, to octets that were never sent: such
 * numbers are refused. */
static void acknowledgements_below_the_first(void **x)
{
    struct script *t = script_of(x);
    static const int64_t acks[] = {ZERO, -1, -99, 1001 - 65535};
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    script_forget_sent(t);
    peer_says(t, MS(300), .ack = 1001);
    for (unsigned i = 0; i < sizeof acks / sizeof acks[0]; i++) {
        scps_time at = SEC(1 + i);
        peer_says(t, at, .seq = 1, .ack = acks[i], .len = 10, .flags = SCPS_ACK | SCPS_FIN);
        expect_sent(t, .at = at, .from = 1001, .ack = 1);
        assert_int_equal(scps_conn_readable(t->c), 0);
    }
    expect_state(t, SCPS_ESTABLISHED);
    /* The acknowledgement number is that of the SYN, which is old, but valid. */
    peer_says(t, SEC(9), .seq = 1, .ack = 1, .len = 10);
    assert_int_equal(scps_conn_readable(t->c), 10);
    script_forget_sent(t);
    script_free(t);
}

/* RFC 5961 section 10: two ends that disagree must not acknowledge each other without end. At most
 * two challenge ACKs a second are sent, whether the segments have data or not. */
static void blind_acknowledgements_are_throttled(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    for (int i = 0; i < 100; i++)
        peer_says(t, MS(1000) + i * MS(10), .ack = 2);
    assert_int_equal(script_forget_sent(t), 2);
    for (int i = 0; i < 100; i++)
        peer_says(t, MS(3000) + i * MS(10), .seq = 1, .ack = 2, .len = 10);
    assert_int_equal(script_forget_sent(t), 2);
    script_free(t);
}

enum { CONNS = 12 };

/* Opens CONNS connections to a listener, with ports from 1000 on. Fills own[] with their next
 * sequence numbers of this end. */
static void open_many(struct script *t, uint32_t own[CONNS])
{
    t->backlog = CONNS;
    script_listen(t);
    for (uint16_t i = 0; i < CONNS; i++) {
        peer_says(t, MS(1 + i), .port = 1000 + i, .seq = 100, .flags = SCPS_SYN);
        expect_sent(t, .port = 1000 + i, .flags = SCPS_SYN | SCPS_ACK);
        own[i] = t->last.seq + 1;
        peer_says(t, MS(1 + i), .port = 1000 + i, .seq = 101, .ack = own[i], .raw = true);
    }
    script_forget_sent(t);
}

/* RFC 5961 section 7: the number of challenge ACKs of a host in a second is limited. */
static void challenges_are_limited(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    bool seen[6] = {false};
    uint32_t own[CONNS];
    t->stack_cfg.challenge_acks = 5;
    open_many(t, own);
    for (int k = 0; k < 20; k++) { /* The limit differs from second to second, see ratelimit.h. */
        for (uint16_t i = 0; i < CONNS; i++)
            peer_says(t, SEC(1 + 2 * k) + i * 100, .port = 1000 + i, .seq = 102, .flags = SCPS_RST,
                      .raw = true);
        unsigned n = script_forget_sent(t);
        assert_in_range(n, 3, 5);
        seen[n] = true;
    }
    assert_true(seen[3] && seen[4] && seen[5]);
    scps_stack_get_stats(t->st, &s);
    assert_in_range(s.challenge_acks, 60, 100);
    assert_true(s.drops[SCPS_DROP_RATE_LIMITED] >= 20 * (CONNS - 5));
    script_free(t);
}

/* RFC 5961 sections 3 to 5 and 7: one connection gets at most two challenge ACKs in a second,
 * whatever the forged segments are: resets, SYNs, or acknowledgements of data that was never sent.
 * So 300 of them leave the other connections their challenge ACKs, and a host that counts those on
 * a connection of its own does not learn whether it has guessed the window of another one. */
static void one_connection_does_not_use_up_the_challenges(void **x)
{
    struct script *t = script_of(x);
    uint32_t own[CONNS];
    t->stack_cfg.challenge_acks = 20;
    open_many(t, own);
    for (int k = 0; k < 20; k++) {
        scps_time at = SEC(1 + 2 * k);
        for (int i = 0; i < 100; i++, at += 100) {
            peer_says(t, at, .port = 1000, .seq = 102 + i, .flags = SCPS_RST, .raw = true);
            peer_says(t, at, .port = 1000, .seq = 102 + i, .flags = SCPS_SYN, .raw = true);
            peer_says(t, at, .port = 1000, .seq = 102 + i, .ack = own[0] + 9, .len = 1,
                      .raw = true);
        }
        assert_int_equal(script_forget_sent(t), 1);
        for (uint16_t i = 1; i < CONNS - 2; i++)
            peer_says(t, at, .port = 1000 + i, .seq = 102, .flags = SCPS_RST, .raw = true);
        assert_int_equal(script_forget_sent(t), CONNS - 3);
    }
    script_free(t);
}

/* RFC 9293 section 3.10.7.4, first check: a segment outside the window is answered by an ACK, so
 * that both ends agree again. */
static void unacceptable_segments(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    /* The segment lies beyond the right edge of the window. */
    peer_says(t, SEC(1), .seq = 20001, .len = 100);
    expect_sent(t, .at = SEC(1), .from = 1, .ack = 1, .no_sack = true);
    /* One old octet: a keep-alive. It has the number of the SYN, so it is no duplicate as RFC 2883
     * has it. */
    peer_says(t, SEC(2), .seq = ZERO, .len = 1);
    expect_sent(t, .at = SEC(2), .from = 1, .ack = 1, .no_sack = true);
    peer_says(t, SEC(3), .seq = ZERO); /* A keep-alive without data. */
    expect_sent(t, .at = SEC(3), .from = 1, .ack = 1);
    assert_int_equal(scps_conn_readable(t->c), 0);
    /* Two ends that disagree must not acknowledge each other without end. */
    for (int i = 0; i < 100; i++)
        peer_says(t, SEC(4) + MS(i), .seq = 50000);
    assert_in_range(script_forget_sent(t), 1, 2);
    script_free(t);
}

/* RFC 5961 section 7: "an implementation SHOULD include an ACK throttling mechanism". A third party
 * that knows addresses and ports can send data, SYNs and FINs with any numbers. Those that the peer
 * does not use are answered twice a second, whatever they carry, and an old timestamp (PAWS) makes
 * no difference. What the peer itself sends again is acknowledged each time. */
static void challenge_acks_are_limited(void **x)
{
    static const struct {
        uint16_t flags;
        int len;
    } kind[] = {{SCPS_ACK, 1},
                {SCPS_SYN, 0},
                {SCPS_SYN | SCPS_ACK, 0},
                {SCPS_FIN | SCPS_ACK, 0},
                {SCPS_FIN | SCPS_ACK, 1}};
    struct scps_stack_stats s;

    for (unsigned k = 0; k < 2 * (sizeof kind / sizeof *kind); k++) {
        struct script *t = script_of(x);
        t->cfg.timestamps = t->peer.ts = true;
        script_established(t, MS(100));
        peer_says(t, MS(200), .len = 900);
        expect_sent(t, .at = MS(400), .ack = 901);
        for (int i = 0; i < 100;
             i++) /* numbers far below and far beyond, a plausible one of SEG.ACK */
            peer_says(t, SEC(1) + MS(i), .seq = (i & 1 ? -1 : 1) * (100000 + 1000 * i), .ack = 1,
                      .flags = kind[k / 2].flags, .len = kind[k / 2].len, .tsval = k & 1 ? 1 : 0);
        assert_in_range(script_forget_sent(t), 1, 2);
        for (int i = 0; i < 100; i++) /* a number that the peer uses, none of SEG.ACK */
            peer_says(t, SEC(2) + MS(i), .seq = 101, .ack = 100000 + 1000 * i,
                      .flags = kind[k / 2].flags, .len = kind[k / 2].len, .tsval = k & 1 ? 1 : 0);
        assert_in_range(script_forget_sent(t), 1, 2);
        scps_stack_get_stats(t->st, &s);
        assert_int_equal(s.drops[SCPS_DROP_RATE_LIMITED], 198);
        expect_state(t, SCPS_ESTABLISHED);
        for (int i = 0; i < 10; i++) {
            peer_says(t, SEC(3) + MS(i), .seq = 101, .len = 100, .ack = 1);
            expect_sent(t, .at = SEC(3) + MS(i), .from = 1, .ack = 901);
        }
        script_free(t);
    }
}

/* RFC 9293 section 3.8.6: a reset is accepted even if the receive window is closed. */
static void reset_into_a_closed_window(void **x)
{
    struct script *t = script_of(x);
    t->cfg.rcvbuf = 2000;
    script_established(t, MS(100));
    script_forget_events(t);
    peer_says(t, MS(200), .len = 1000);
    peer_says(t, MS(200), .len = 1000);
    expect_sent(t, .ack = 2001, .wnd = ZERO);
    peer_says(t, MS(300), .seq = 2001, .flags = SCPS_RST);
    expect_state(t, SCPS_CLOSED);
    assert_int_equal(scps_conn_error(t->c), SCPS_ERR_RESET);
    script_free(t);
}

static void without_ack(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, SEC(1), .len = 10, .flags = NO_FLAG);
    peer_says(t, SEC(1), .seq = 1, .len = 10, .flags = SCPS_FIN);
    assert_int_equal(scps_conn_readable(t->c), 0);
    expect_state(t, SCPS_ESTABLISHED);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

static void damaged_segments(void **x)
{
    struct script *t = script_of(x);
    struct scps_stack_stats s;
    script_established(t, MS(100));
    peer_says(t, SEC(1), .len = 10, .bad_checksum = true);
    peer_says(t, SEC(1), .seq = 1, .flags = SCPS_RST, .bad_checksum = true);
    expect_state(t, SCPS_ESTABLISHED);
    expect_quiet(t, SCPS_HOLD_APP);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_BAD_CHECKSUM], 2);
    script_free(t);
}

/* RFC 6093, RFC 9293 section 3.8.5: the urgent pointer is accepted, and urgent data is read like
 * other data. */
static void urgent_pointer(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, SEC(1), .len = 100, .urg = 50, .flags = SCPS_ACK | SCPS_PSH);
    app_reads(t, SEC(1), 100);
    expect_sent(t, .at = MS(1200), .ack = 101);
    peer_says(t, SEC(2), .len = 100, .urg = 65535);
    app_reads(t, SEC(2), 100);
    expect_sent(t, .at = MS(2200), .ack = 201);
    peer_says(t, SEC(3), .urg = 1);
    expect_quiet(t, SCPS_HOLD_APP);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(exact_reset),
        SCRIPT_TEST(a_reset_with_data),
        SCRIPT_TEST(inexact_resets),
        SCRIPT_TEST(syns_on_a_connection),
        SCRIPT_TEST(blind_acknowledgements),
        SCRIPT_TEST(acknowledgements_below_the_first),
        SCRIPT_TEST(blind_acknowledgements_are_throttled),
        SCRIPT_TEST(challenges_are_limited),
        SCRIPT_TEST(one_connection_does_not_use_up_the_challenges),
        SCRIPT_TEST(unacceptable_segments),
        SCRIPT_TEST(challenge_acks_are_limited),
        SCRIPT_TEST(reset_into_a_closed_window),
        SCRIPT_TEST(without_ack),
        SCRIPT_TEST(damaged_segments),
        SCRIPT_TEST(urgent_pointer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
