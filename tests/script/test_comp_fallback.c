/* SPDX-License-Identifier: MIT */
/* Header compression: when segments have TCP headers instead (docs/SCPS-TP.md section 8.5). */
#include "compress.h"

/* docs/SCPS-TP.md section 8.2: a header may leave out its sequence and acknowledgement numbers.
 * What the receiver fills in is always acceptable, so anybody who knows the addresses could send
 * such a segment. It has an effect only through an acknowledgement number of its own between
 * SND.UNA and SND.NXT (RFC 5961 section 5.2 would accept more). */
static void headers_without_numbers_have_no_effect(void **x)
{
    struct script *t = compressing(x, true);
    uint8_t b[40] = {0xce};
    uint32_t una;

    t->peer.sack = false; /* Without SACK each duplicate ACK counts. */
    t->cfg.init_cwnd_segs = 10;
    script_accepted(t, MS(100));
    app_writes(t, MS(200), 5020);
    expect_sent(t, .from = 1, .len = 1004, .compressed = true);
    una = t->last.seq;
    assert_int_equal(script_forget_sent(t), 4);
    b[1] = 0x60; /* The segment has nothing but a TSval from the future. */
    scps_put32(b + 2, 0x50000000);
    assert_int_equal(compressed(t, MS(210), b, 12, true), 0);
    b[1] = 0x02; /* The segment has nothing but its sequence number. */
    scps_put32(b + 2, t->peer_isn + 1);
    assert_int_equal(compressed(t, MS(210), b, 8, true), 0);
    b[1] = 0x00; /* Three segments without any field do not count as duplicate ACKs. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(compressed(t, MS(220), b, 4, true), 0);
    b[1] = 0x80; /* One segment has only option 23, the other only a SNACK. */
    b[2] = 0x80;
    b[3] = 6;
    memcpy(b + 4, "\x17\x02\x01\x01\x01\x01", 6);
    assert_int_equal(compressed(t, MS(230), b, 12, true), 0);
    memcpy(b + 4, "\x15\x06\x00\x00\x00\x01", 6);
    assert_int_equal(compressed(t, MS(230), b, 12, true), 0);
    /* The acknowledgement numbers are below SND.UNA and above SND.NXT; the window is 0. */
    b[1] = 0x01;
    scps_put16(b + 2, 0);
    scps_put32(b + 4, una - 1);
    assert_int_equal(compressed(t, MS(240), b, 10, true), SCPS_DROP_OLD_DUPLICATE);
    scps_put32(b + 4, una + 5021);
    assert_int_equal(compressed(t, MS(240), b, 10, true), SCPS_DROP_BLIND_ACK);
    expect_quiet(t, SCPS_HOLD_APP);
    struct scps_info i = script_info(t);
    assert_int_equal(i.dupacks_in, 0);
    assert_int_equal(i.snd_wnd, 65535);
    assert_int_equal(i.outstanding, 5020);
    /* A segment of the peer with an acknowledgement number is processed as usual. */
    peer_says(t, MS(300), .len = 100);
    scps_put16(b + 2, 60000);
    scps_put32(b + 4, una + 5020);
    assert_int_equal(compressed(t, MS(310), b, 10, true), 0);
    assert_int_equal(script_info(t).outstanding, 0);
    app_reads(t, MS(320), 100);
    script_run(t, SEC(1));
    script_forget_sent(t);
    script_free(t);
}

/* RFC 9293 section 3.10.7.4, fifth check: the ACK of the SYN-ACK was lost, so the first data
 * segment must have the same fields; otherwise the connection waits a second for the SYN-ACK to be
 * repeated. */
static void the_last_of_the_handshake_is_lost(void **x)
{
    struct script *t = compressing(x, true);

    /* The active end sends data with TCP headers until a segment has arrived. */
    script_established(t, MS(100));
    app_writes(t, MS(110), 1976);
    expect_sent(t, .from = 1, .len = 988, .ack = 1, .has = SCPS_HAS_TS);
    expect_sent(t, .from = 989, .len = 988, .ack = 1, .has = SCPS_HAS_TS);
    peer_says(t, MS(210), .ack = 989);
    app_writes(t, MS(220), 1004);
    expect_sent(t, .from = 1977, .len = 1004, .compressed = true);
    peer_says(t, MS(320), .ack = 2981);
    script_free(t);

    /* The passive end accepts that data, and the connection is established. */
    t = compressing(x, true);
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK);
    peer_says(t, MS(110), .ack = 1, .len = 500, .as_tcp = true);
    t->c = scps_accept(t->l);
    assert_non_null(t->c);
    app_reads(t, MS(110), 500);
    script_run(t, MS(400));
    script_forget_sent(t);
    script_free(t);
}

/* A middlebox replaced the options of this end's SYN-ACK by NOPs, so the peer does not know that
 * compression was agreed (docs/SCPS-TP.md section 1.2) and drops packets of protocol 105. This end
 * recognises such a peer by the TCP headers that it sends, whether the segment that completes the
 * handshake has data or not: it then sends every segment with a TCP header (section 8.5), in a size
 * that fits the path. A compressed header from the peer shows that the peer does compress, unless
 * it has neither sequence nor acknowledgement number: then anybody may have sent it. */
static void the_offer_was_removed_by_a_middlebox(void **x)
{
    static const uint8_t bare[4] = {0xce, 0};

    for (uint32_t len = 0; len <= 988; len += 988) {
        struct script *t = compressing(x, true);
        uint32_t ip = ip_len(t);

        script_listen(t);
        peer_says(t, 0, .flags = SCPS_SYN);
        expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS | SCPS_HAS_TS);
        peer_says(t, MS(100), .ack = 1, .len = len, .as_tcp = true);
        t->c = scps_accept(t->l);
        assert_non_null(t->c);
        script_forget_events(t);
        app_writes(t, MS(150), 2000);
        expect_sent(t, .from = 1, .len = 988, .has = SCPS_HAS_TS, .wire = ip + 32 + 988);
        expect_sent(t, .from = 989, .len = 988, .has = SCPS_HAS_TS, .wire = ip + 32 + 988);
        expect_sent(t, .from = 1977, .len = 24, .push = true, .has = SCPS_HAS_TS);
        peer_says(t, MS(250), .ack = 2001, .as_tcp = true);
        peer_says(t, MS(260), .len = 988, .as_tcp = true);
        peer_says(t, MS(260), .len = 988, .as_tcp = true);
        expect_sent(t, .ack = 1977 + len, .has = SCPS_HAS_TS, .wire = ip + 32);
        app_reads(t, MS(260), 1976 + len);
        script_forget_sent(t); /* A window update may follow. */
        assert_int_equal(compressed(t, MS(270), bare, sizeof bare, true), 0);
        app_writes(t, MS(270), 4);
        expect_sent(t, .from = 2001, .len = 4, .push = true, .has = SCPS_HAS_TS);
        peer_says(t, MS(280), .ack = 2005, .as_tcp = true);
        peer_says(t, MS(300), .len = 1004); /* This segment is compressed. */
        app_writes(t, MS(310), 1004);
        expect_sent(t, .from = 2005, .ack = 2981 + len, .compressed = true);
        expect_sent(t, .from = 2005, .len = 1004, .compressed = true, .wire = ip + 16 + 1004);
        peer_says(t, MS(400), .ack = 3009);
        script_free(t);
    }
}

/* A peer that has restarted has no connection ids, and a compressed packet has no ports to which it
 * could reply: after two timeouts the oldest segment is sent with a TCP header, which the peer
 * resets (RFC 9293 section 3.10.7.1). A segment too long for that is sent in two parts. */
static void a_restarted_peer_resets_a_tcp_header(void **x)
{
    for (int ts = 0; ts < 2; ts++) {
        struct script *t = compressing(x, ts);
        uint32_t any =
            /* With a TCP header the MSS is 1000, less the options that the segment may need. */
            ts ? 988 : 996;
        script_accepted(t, MS(100));
        app_writes(t, MS(200), 2000);
        script_forget_sent(t);
        for (unsigned timeouts = 1; timeouts <= 3; timeouts++) {
            scps_time at = script_now(t);
            while (script_info(t).timeouts < timeouts)
                script_run(t, at += MS(10));
            expect_sent(t, .from = 1, .any_len = true, .compressed = timeouts < 2);
            if (timeouts >= 2)
                assert_true(t->last.len && t->last.len <= any && t->last.flags & SCPS_ACK);
            script_forget_sent(t);
        }
        peer_says(t, script_now(t), .seq = 1, .flags = SCPS_RST, .as_tcp = true);
        expect_state(t, SCPS_CLOSED);
        assert_int_equal(scps_conn_error(t->c), SCPS_ERR_RESET);
        script_free(t);
    }
}

/* The link was the cause: the peer receives everything in the end, and headers are compressed
 * again. */
static void compression_resumes_after_an_outage(void **x)
{
    struct script *t = compressing(x, false);

    script_accepted(t, MS(100));
    app_writes(t, MS(200), 1012);
    expect_sent(t, .from = 1, .len = 1012, .compressed = true);
    expect_sent(t, .at = MS(500), .from = 1, .len = 1012, .compressed = true);
    expect_sent(t, .at = MS(1100), .from = 1, .len = 996);
    expect_sent(t, .at = MS(1100), .from = 997, .len = 16, .compressed = true, .push = true);
    peer_says(t, MS(1300), .ack = 1013);
    app_writes(t, MS(1400), 1012);
    expect_sent(t, .from = 1013, .len = 1012, .compressed = true);
    peer_says(t, MS(1500), .ack = 2025);
    script_free(t);
}

/* RFC 5961 section 3.2: a peer that has closed answers a challenge ACK: it "will send a second RST
 * back", whose sequence number is the acknowledgement number of the challenge. Such a peer has no
 * connection with this id any more, so the challenge has a TCP header; later segments are
 * compressed again. */
static void a_challenge_as_tcp(void **x)
{
    struct script *t = compressing(x, false);

    script_accepted(t, MS(100));
    peer_says(t, MS(200), .seq = 11, .flags = SCPS_RST, .as_tcp = true);
    expect_state(t, SCPS_ESTABLISHED);
    expect_sent(t, .at = MS(200), .from = 1, .ack = 1, .compressed = false);
    peer_says(t, MS(300), .seq = 1, .len = 1000);
    peer_says(t, MS(300), .seq = 1001, .len = 1000);
    expect_sent(t, .at = MS(300), .from = 1, .ack = 2001, .compressed = true);
    peer_says(t, MS(400), .seq = 2001, .flags = SCPS_RST, .as_tcp = true);
    expect_state(t, SCPS_CLOSED);
    script_free(t);
}

/* Best effort gives the oldest segment up before it would be sent with a TCP header; a segment
 * without data is sent with one instead. */
static void best_effort_asks_as_tcp(void **x)
{
    struct script *t = compressing(x, false);

    t->cfg.bets = true;
    t->cfg.bets_retries = 1;
    t->peer.caps |= SCPS_CAP_BETS;
    script_accepted(t, MS(100));
    app_writes(t, MS(200), 20000);
    while (script_info(t).timeouts < 3) {
        script_forget_sent(t);
        script_run(t, script_now(t) + MS(1));
    }
    assert_true(script_info(t).bytes_given_up > 0);
    expect_sent(t, .from = ZERO, .any_len = true, .ack = 1, .compressed = false);
    assert_int_equal(t->last.len, 0);
    script_forget_sent(t);
    peer_says(t, script_now(t), .seq = 1, .flags = SCPS_RST, .as_tcp = true);
    expect_state(t, SCPS_CLOSED);
    script_free(t);
}

/* If the window stays closed and the peer is silent, window probes and keep-alives are sent with
 * TCP headers, too, also if nothing has arrived since the peer's SYN. */
static void probes_as_tcp(void **x)
{
    for (int unheard = 0; unheard < 2; unheard++) {
        struct script *t = compressing(x, false);
        t->cfg.keepalive = true;
        t->cfg.keep_idle = SEC(100);
        t->cfg.keep_interval = SEC(10);
        t->cfg.keep_count = 5;
        if (unheard)
            script_established(t, MS(100));
        else
            script_accepted(t, MS(100));
        script_forget_events(t);
        for (int i = 0; i < 4; i++)
            expect_sent(t, .at = MS(100) + SEC(100 + 10 * i), .from = ZERO, .ack = 1,
                        .compressed = i < 1);
        peer_says(t, SEC(131), .seq = 1, .flags = SCPS_RST, .as_tcp = true);
        expect_state(t, SCPS_CLOSED);
        script_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(headers_without_numbers_have_no_effect),
        SCRIPT_TEST(the_last_of_the_handshake_is_lost),
        SCRIPT_TEST(a_restarted_peer_resets_a_tcp_header),
        SCRIPT_TEST(compression_resumes_after_an_outage),
        SCRIPT_TEST(the_offer_was_removed_by_a_middlebox),
        SCRIPT_TEST(a_challenge_as_tcp),
        SCRIPT_TEST(best_effort_asks_as_tcp),
        SCRIPT_TEST(probes_as_tcp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
