/* SPDX-License-Identifier: MIT */
/* Header compression (IP protocol 105) on a connection: agreement, sizes and directions
 * (docs/SCPS-TP.md sections 1.2, 8.1, 8.2 and 8.5). */
#include "compress.h"

/* docs/SCPS-TP.md section 8.2 gives the sizes of headers. Without time stamps a full segment has
 * the MSS and 12 octets of data. The SYN has a TCP header, the third packet of the handshake a
 * compressed one. */
static void active(void **x)
{
    struct script *t = compressing(x, false);
    uint32_t ip = ip_len(t);

    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    assert_int_equal(t->last.caps, SCPS_CAP_COM);
    assert_int_not_equal(t->last.conn_id, 0);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .ack = 1, .compressed = true, .wire = ip + 14);
    expect_event(t, SCPS_EV_CONNECTED);
    /* The segment has a TCP header, because it may be the first that the peer receives after the
     * SYN. */
    app_writes(t, MS(150), 1000);
    expect_sent(t, .from = 1, .len = 1000, .push = true, .wire = ip + 20 + 1000);
    peer_says(t, MS(200), .ack = 1001);
    expect_event(t, SCPS_EV_WRITABLE);
    expect_event(t, SCPS_EV_DRAINED);
    app_writes(t, MS(200), 3000);
    expect_sent(t, .from = 1001, .len = 1012, .compressed = true, .wire = ip + 8 + 1012);
    expect_sent(t, .from = 2013, .len = 1012, .compressed = true, .wire = ip + 8 + 1012);
    expect_sent(t, .from = 3025, .len = 976, .push = true, .compressed = true);
    peer_says(t, MS(300), .ack = 4001);
    expect_event(t, SCPS_EV_DRAINED);
    struct scps_info i = script_info(t);
    assert_int_equal(i.caps, SCPS_CAP_COM);
    assert_int_equal(i.comp_peer_id, 0xce);
    assert_int_equal(i.comp_out, 4);
    assert_int_equal(i.comp_in, 2);
    assert_true(i.comp_saved_out >= 6 + 2 * 12 && i.comp_saved_out <= 6 + 3 * 12);
    assert_int_equal(i.snd_mss, 1012);
    script_free(t);
}

/* With time stamps a full segment has the MSS and 4 octets of data; the peer's time stamps are read
 * from its compressed headers. */
static void passive_with_timestamps(void **x)
{
    struct script *t = compressing(x, true);
    uint32_t ip = ip_len(t);

    script_accepted(t, MS(100));
    app_writes(t, MS(200), 2008);
    expect_sent(t, .from = 1, .len = 1004, .has = SCPS_HAS_TS, .compressed = true,
                .wire = ip + 16 + 1004);
    expect_sent(t, .from = 1005, .len = 1004, .has = SCPS_HAS_TS, .compressed = true,
                .wire = ip + 16 + 1004);
    peer_says(t, MS(300), .ack = 2009, .len = 1004);
    peer_says(t, MS(300), .len = 1004);
    app_reads(t, MS(300), 2008);
    expect_sent(t, .ack = 2009, .compressed = true, .has = SCPS_HAS_TS);
    assert_in_range(script_info(t).srtt, MS(99), MS(101));
    script_free(t);
}

/* docs/SCPS-TP.md section 1.2, rule 2: compression is in force only if both ends offered it. */
static void one_side_only(void **x)
{
    struct script *t = compressing(x, false);
    t->peer.caps = SCPS_CAP_SNACK1;
    t->peer.conn_id = 0;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    expect_sent(t, .from = 1, .len = 1000);
    assert_int_equal(script_info(t).comp_id, 0);
    peer_says(t, MS(300), .ack = 1001);
    script_free(t);

    t = script_of(x);
    t->cfg.snack = true;
    t->peer.caps = SCPS_CAP_COM | SCPS_CAP_SNACK1;
    t->peer.conn_id = 7;
    script_listen(t);
    peer_says(t, 0, .flags = SCPS_SYN);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS);
    assert_int_equal(t->last.caps, SCPS_CAP_SNACK1);
    /* docs/SCPS-TP.md section 1.1: the connection id is 0 if COM is not offered. */
    assert_int_equal(t->last.conn_id, 0);
    peer_says(t, MS(100), .ack = 1, .as_tcp = true);
    script_free(t);
}

/* An acknowledgement does not fit beside a full segment, so it is sent before it as a packet of its
 * own; beside a small segment it is carried. */
static void both_directions(void **x)
{
    struct script *t = compressing(x, false);
    uint32_t ip = ip_len(t);

    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1012);
    /* The acknowledgement waits for a second segment or for the timer. */
    expect_quiet(t, SCPS_HOLD_APP);
    app_writes(t, MS(210), 100);
    expect_sent(t, .from = 1, .len = 100, .ack = 1013, .compressed = true, .wire = ip + 14 + 100);
    peer_says(t, MS(300), .len = 1012, .ack = 101);
    app_writes(t, MS(310), 3036);
    expect_sent(t, .from = 101, .len = 1012, .ack = 1013, .compressed = true,
                .wire = ip + 8 + 1012);
    peer_says(t, MS(320), .len = 1012); /* The acknowledgement is due now. */
    expect_sent(t, .from = 1113, .len = 1012, .compressed = true);
    expect_sent(t, .from = 2125, .len = 1012, .compressed = true);
    expect_sent(t, .from = 3137, .ack = 3037, .compressed = true);
    app_reads(t, MS(320), 3036);
    peer_says(t, MS(400), .ack = 3137);
    script_free(t);
}

/* RFC 9293 section 3.8.6.3: full segments that answer each other leave no room for the
 * acknowledgement. It is sent before the answer, not by the delayed-ACK timer. */
static void full_segments_leave_no_room_for_the_ack(void **x)
{
    struct script *t = compressing(x, false);

    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 1012);
    expect_quiet(t, SCPS_HOLD_APP);
    app_writes(t, MS(210), 1012);
    expect_sent(t, .at = MS(210), .from = 1, .ack = 1013, .compressed = true);
    expect_sent(t, .at = MS(210), .from = 1, .len = 1012, .compressed = true);
    peer_says(t, MS(300), .ack = 1013);
    script_run(t, SEC(1));
    expect_quiet(t, SCPS_HOLD_APP); /* No acknowledgement is due any more. */
    script_free(t);
}

/* docs/SCPS-TP.md section 8.5: what the compressed header cannot express is sent with a TCP header:
 * a reset, ECE and CWR. A segment with a TCP header is accepted at any time. */
static void as_tcp(void **x)
{
    struct script *t = compressing(x, true);
    uint32_t ip = ip_len(t);

    t->cfg.ecn = true;
    script_listen(t);
    peer_says(t, 0, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(100), .ack = 1, .as_tcp = true);
    t->c = scps_accept(t->l);
    script_forget_events(t);
    peer_says(t, MS(200), .len = 1004, .tos = SCPS_ECN_ECT0);
    peer_says(t, MS(200), .len = 1004, .tos = SCPS_ECN_CE);
    expect_sent(t, .ack = 2009, .flags = SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(210), .len = 600, .flags = SCPS_ACK | SCPS_CWR, .tos = SCPS_ECN_ECT0);
    app_reads(t, MS(220), 2608);
    app_writes(t, MS(250), 2008);
    expect_sent(t, .from = 1, .len = 1004, .compressed = true, .wire = ip + 16 + 1004);
    expect_sent(t, .from = 1005, .len = 1004, .compressed = true);
    peer_says(t, MS(350), .ack = 1005, .flags = SCPS_ACK | SCPS_ECE);
    app_writes(t, MS(360), 3000);
    expect_sent(t, .at = MS(360), .slack = MS(200), .ack = 2609, .any_len = true,
                .flags = SCPS_ACK | SCPS_CWR);
    /* The segment fits the MTU with a TCP header. */
    assert_true(t->last.len + 32 + ip <= 1000 + 40 + (ip - 20));
    script_forget_sent(t);
    scps_conn_abort(t->c);
    t->c = NULL;
    expect_sent(t, .flags = SCPS_RST | SCPS_ACK, .at = MS(360));
    script_free(t);
}

/* A segment with a TCP header that ends a record has room for four octets less: beside ECE it is
 * sent without the acknowledgement, and with CWR it is sent as two segments. */
static void the_end_of_a_record_as_tcp(void **x)
{
    struct script *t = compressing(x, true);

    t->cfg.ecn = true;
    t->cfg.records = true;
    script_listen(t);
    peer_says(t, 0, .flags = SCPS_SYN | SCPS_ECE | SCPS_CWR);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK | SCPS_ECE);
    peer_says(t, MS(100), .ack = 1, .as_tcp = true);
    t->c = scps_accept(t->l);
    script_forget_events(t);
    peer_says(t, MS(200), .len = 1004, .tos = SCPS_ECN_ECT0);
    peer_says(t, MS(200), .len = 1004, .tos = SCPS_ECN_CE);
    expect_sent(t, .ack = 2009, .flags = SCPS_ACK | SCPS_ECE);
    script_app_writes(t, MS(250), 988, SCPS_EOR, __FILE__, __LINE__);
    expect_sent(t, .from = 1, .len = 988, .compressed = true, .has = SCPS_HAS_TS | SCPS_HAS_RECORD);
    peer_says(t, MS(350), .ack = 989, .flags = SCPS_ACK | SCPS_ECE);
    script_app_writes(t, MS(360), 988, SCPS_EOR, __FILE__, __LINE__);
    expect_sent(t, .at = MS(360), .from = 989, .len = 984, .ack = 2009,
                .flags = SCPS_ACK | SCPS_ECE | SCPS_CWR);
    expect_sent(t, .at = MS(360), .from = 1973, .len = 4, .ack = 2009,
                .flags = SCPS_ACK | SCPS_PSH | SCPS_ECE, .has = SCPS_HAS_TS | SCPS_HAS_RECORD);
    script_free(t);
}

/* A FIN is sent alone, or with data that leaves room for it; the peer's FIN is accepted, too. */
static void closing(void **x)
{
    struct script *t = compressing(x, false);
    uint32_t ip = ip_len(t);

    script_established(t, MS(100));
    peer_says(t, MS(150), .ack = 1);
    app_writes(t, MS(200), 1012);
    expect_sent(t, .from = 1, .len = 1012, .compressed = true, .wire = ip + 8 + 1012);
    scps_conn_shutdown(t->c);
    /* docs/SCPS-TP.md section 8.6: a packet with a FIN has 16 octets. */
    expect_sent(t, .from = 1013, .flags = SCPS_FIN | SCPS_ACK, .compressed = true, .wire = ip + 16);
    peer_says(t, MS(300), .ack = 1014, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .from = 1014, .ack = 2, .compressed = true);
    expect_state(t, SCPS_TIME_WAIT);
    /* The acknowledgement of the peer's FIN was lost. */
    peer_says(t, MS(400), .seq = 1, .ack = 1014, .flags = SCPS_FIN | SCPS_ACK);
    expect_sent(t, .from = 1014, .ack = 2, .compressed = true);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(active),
        SCRIPT_TEST(passive_with_timestamps),
        SCRIPT_TEST(one_side_only),
        SCRIPT_TEST(both_directions),
        SCRIPT_TEST(full_segments_leave_no_room_for_the_ack),
        SCRIPT_TEST(as_tcp),
        SCRIPT_TEST(the_end_of_a_record_as_tcp),
        SCRIPT_TEST(closing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
