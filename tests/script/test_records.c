/* SPDX-License-Identifier: MIT */
/* Ends of records (option 22; docs/SCPS-TP.md section 3.1). */
#include "script.h"

static struct script *records_of(void **x)
{
    struct script *t = script_of(x);
    t->cfg.records = true;
    return t;
}

#define app_writes_record(t, at, n) script_app_writes(t, at, n, SCPS_EOR, __FILE__, __LINE__)
#define expect_record(t, ...)                                                                      \
    expect_sent(t, .has = SCPS_HAS_RECORD, .flags = SCPS_ACK | SCPS_PSH, __VA_ARGS__)
#define expect_plain(t, ...) expect_sent(t, .hasnt = SCPS_HAS_RECORD, __VA_ARGS__)
#define at_end(t)            expect_that(t, scps_conn_record((t)->c) == SCPS_RECORD_END)
#define inside(t)            expect_that(t, scps_conn_record((t)->c) == 0)

/* Each write is a record: a segment never contains data of two records, and the last segment of a
 * record is sent at once. */
static void each_write_a_record(void **x)
{
    struct script *t = records_of(x);
    script_established(t, MS(100));
    app_writes_record(t, MS(200), 100);
    app_writes_record(t, MS(200), 1);
    app_writes_record(t, MS(200), 300);
    expect_record(t, .at = MS(200), .from = 1, .len = 100);
    expect_record(t, .at = MS(200), .from = 101, .len = 1);
    expect_record(t, .at = MS(200), .from = 102, .len = 300);
    scps_conn_cork(t->c, true);
    /* The record is complete, so SCPS_MORE does not hold it back. */
    app_writes_record(t, MS(210), 10);
    expect_record(t, .at = MS(210), .from = 402, .len = 10);
    scps_conn_cork(t->c, false);
    peer_says(t, MS(300), .ack = 412);
    assert_int_equal(script_info(t).records_out, 4);
    script_free(t);
}

/* If a record has several segments, the last one has the option, even if it was written after the
 * first was sent. */
static void several_segments(void **x)
{
    struct script *t = records_of(x);
    script_established(t, MS(100));
    app_writes_more(t, MS(200), 1500);
    expect_plain(t, .from = 1, .len = 1000);
    app_writes_record(t, MS(210), 1700); /* The record ends at 3201. */
    app_writes(t, MS(210), 300);         /* This belongs to the next record. */
    expect_plain(t, .from = 1001, .len = 1000);
    expect_plain(t, .from = 2001, .len = 1000);
    expect_record(t, .from = 3001, .len = 200);
    expect_plain(t, .at = MS(210), .from = 3201, .len = 300);
    peer_says(t, MS(300), .ack = 3501);
    script_free(t);
}

/* The option reduces the payload of its segment by as many octets as it has. */
static void a_record_of_one_full_segment(void **x)
{
    struct script *t = records_of(x);
    t->cfg.mss = 0;
    t->peer.mss = 1460;
    script_established(t, MS(100));
    uint32_t mss = script_info(t).snd_mss;
    app_writes_record(t, MS(200), mss - 4);
    app_writes_record(t, MS(200), mss - 3);
    app_writes_record(t, MS(200), mss);
    /* expect_sent() also compares the packet's length with the MTU. */
    expect_record(t, .len = (int32_t)mss - 4);
    expect_plain(t, .len = (int32_t)mss - 4);
    expect_record(t, .len = 1);
    expect_plain(t, .len = (int32_t)mss - 4);
    expect_record(t, .at = MS(200), .len = 4);
    peer_says(t, MS(300), .ack = 3 * mss - 6);
    script_free(t);
}

/* A retransmission, after a timeout, a report or a partial acknowledgement, marks the end of the
 * record at the same octet. */
static void resending(void **x)
{
    struct script *t = records_of(x);
    script_established(t, MS(100));
    app_writes_record(t, MS(200), 1200);
    app_writes_record(t, MS(200), 400);
    app_writes_record(t, MS(200), 400);
    expect_plain(t, .from = 1, .len = 1000);
    expect_record(t, .from = 1001, .len = 200);
    expect_record(t, .from = 1201, .len = 400);
    expect_record(t, .from = 1601, .len = 400);
    peer_says(t, MS(300), .ack = 1001, .sack = {{1201, 2001}});
    expect_record(t, .at = MS(300), .from = 1001, .len = 200);
    /* The peer acknowledges half of the segment. */
    peer_says(t, MS(400), .ack = 1101, .sack = {{1201, 2001}});
    script_run(t, MS(400) + script_info(t).rto + SEC(1));
    expect_record(t, .from = 1101, .len = 100);
    script_forget_sent(t);
    peer_says(t, script_now(t) + MS(1), .ack = 2001);
    script_free(t);
}

/* When the path MTU falls, segments that were sent are cut; only the part that ends the record has
 * the option. */
static void resegmenting(void **x)
{
    struct script *t = records_of(x);
    t->cfg.mss = 0;
    t->peer.mss = 1460;
    script_established(t, MS(100));
    int32_t over = t->us.addr.family == 6 ? 60 : 40;
    app_writes_record(t, MS(200), 1400);
    /* The record is 2 octets shorter than the new MSS, which leaves no room for the option. */
    app_writes_record(t, MS(200), 1298 - over);
    app_writes_record(t, MS(200), 1400);
    expect_record(t, .from = 1, .len = 1400);
    expect_record(t, .from = 1401, .len = 1298 - over);
    expect_record(t, .from = 2699 - over, .len = 1400);
    if (over == 40)
        peer_icmp(t, MS(250), 3, 4, 1300, 1);
    else
        peer_icmp(t, MS(250), 2, 0, 1300, 1);
    assert_int_equal(script_info(t).snd_mss, 1300 - over);
    /* The segment that was too big is resent at once. */
    expect_plain(t, .at = MS(250), .from = 1, .len = 1300 - over);
    expect_record(t, .at = MS(250), .from = 1301 - over, .len = 100 + over);
    expect_plain(t, .at = MS(250), .from = 2699 - over, .len = 1300 - over);
    expect_record(t, .at = MS(250), .from = 3999 - 2 * over, .len = 100 + over);
    /* The second record's segment was sent in between; it is cut when the timer resends it. */
    peer_says(t, MS(350), .ack = 1401);
    script_run(t, SEC(1));
    expect_plain(t, .from = 1401, .len = 1296 - over);
    expect_record(t, .from = 2697 - over, .len = 2);
    peer_says(t, MS(1100), .ack = 4099 - over);
    script_free(t);
}

/* The peer's window ends inside a record, and probes send one octet: the end of the record stays at
 * its octet. */
static void zero_window(void **x)
{
    struct script *t = records_of(x);
    t->peer_wnd = 1000;
    script_established(t, MS(100));
    app_writes(t, MS(200), 1000);
    app_writes_record(t, MS(200), 1);
    app_writes_record(t, MS(200), 2);
    expect_plain(t, .from = 1, .len = 1000);
    peer_says(t, MS(300), .ack = 1001, .wnd = ZERO);
    scps_time at = MS(300) + script_info(t).rto;
    expect_record(t, .at = at, .from = 1001, .len = 1); /* This octet is a whole record. */
    peer_says(t, at + MS(1), .ack = 1002, .wnd = ZERO);
    script_run(t, at + MS(10));
    script_run(t, at + SEC(2));
    expect_plain(t, .from = 1002, .len = 1); /* This octet is the first of two in its record. */
    script_forget_sent(t);
    at = script_now(t) + MS(1);
    peer_says(t, at, .ack = 1003, .wnd = 1000);
    expect_record(t, .at = at, .from = 1003, .len = 1);
    peer_says(t, at + MS(1), .ack = 1004);
    script_free(t);
}

/* The window is smaller than the record: segments without the option are sent, then the one with
 * it. */
static void small_window(void **x)
{
    struct script *t = records_of(x);
    t->peer_wnd = 600;
    script_established(t, MS(100));
    app_writes_record(t, MS(200), 800);
    expect_plain(t, .from = 1, .len = 600);
    peer_says(t, MS(300), .ack = 601, .wnd = 600);
    expect_record(t, .at = MS(300), .from = 601, .len = 200);
    peer_says(t, MS(400), .ack = 801);
    script_free(t);
}

/* The segment that ends the record also carries the FIN. */
static void the_last_record_and_the_fin(void **x)
{
    struct script *t = records_of(x);
    script_established(t, MS(100));
    scps_conn_cork(t->c, true);
    script_run(t, MS(200));
    app_writes(t, MS(200), 10);
    app_writes_record(t, MS(210), 10);
    expect_record(t, .at = MS(210), .from = 1, .len = 20);
    assert_int_equal(scps_conn_shutdown(t->c), 0);
    expect_sent(t, .flags = SCPS_FIN | SCPS_ACK, .from = 21, .hasnt = SCPS_HAS_RECORD);
    peer_says(t, MS(300), .ack = 22);
    script_free(t);
}

/* A write that was accepted only in part does not end a record; SCPS_EOR is refused if `records` is
 * off; a write of no octets does not end a record. */
static void writing(void **x)
{
    struct script *t = records_of(x);
    char b[8000] = "";
    t->cfg.hollow = true;
    t->cfg.sndbuf = 5000;
    script_established(t, MS(100));
    assert_int_equal(scps_conn_write(t->c, b, 0, SCPS_EOR), 0);
    assert_int_equal(scps_conn_write(t->c, b, 6000, SCPS_EOR), 5000);
    assert_int_equal(script_info(t).records_out, 0);
    script_comment(t, "app wrote 5000 of 6000");
    struct scps_conn_config cfg = t->cfg;
    cfg.records = false;
    assert_int_equal(scps_conn_set_config(t->c, &cfg), 0);
    assert_int_equal(scps_conn_write(t->c, b, 10, SCPS_EOR), SCPS_ERR_INVAL);
    script_free(t);
}

/* A read stops at the end of a record; a shorter read leaves the rest of the record for the next
 * one. */
static void reading(void **x)
{
    struct script *t = records_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 100, .record = true);
    peer_says(t, MS(200), .len = 50);
    peer_says(t, MS(200), .len = 50, .record = true);
    peer_says(t, MS(200), .len = 1, .record = true);
    peer_says(t, MS(200), .len = 1, .record = true);
    peer_says(t, MS(200), .len = 30);
    script_forget_sent(t);
    size_t len;
    assert_int_equal(scps_conn_readable(t->c), 100);
    assert_non_null(scps_conn_data(t->c, &len));
    assert_int_equal(len, 100);
    uint8_t b[500];
    assert_int_equal(scps_conn_read(t->c, b, sizeof b, SCPS_PEEK), 100);
    inside(t);
    app_reads(t, MS(300), 40);
    inside(t);
    assert_int_equal(scps_conn_readable(t->c), 60);
    assert_int_equal(scps_conn_read(t->c, NULL, 0, 0), 0);
    app_reads(t, MS(300), 60);
    at_end(t);
    app_reads(t, MS(300), 100);
    at_end(t);
    app_reads(t, MS(300), 1);
    at_end(t);
    app_reads(t, MS(300), 1);
    at_end(t);
    app_reads(t, MS(300), 30);
    inside(t);
    assert_int_equal(scps_conn_read(t->c, b, sizeof b, 0), SCPS_ERR_AGAIN);
    assert_int_equal(script_info(t).records_in, 4);
    script_forget_sent(t);
    script_free(t);
}

/* Reads that ask for more than a record. */
static void long_reads(void **x)
{
    struct script *t = records_of(x);
    uint8_t b[500];
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 100, .record = true);
    peer_says(t, MS(200), .len = 60, .record = true);
    script_forget_sent(t);
    assert_int_equal(scps_conn_read(t->c, b, sizeof b, 0), 100);
    at_end(t);
    assert_int_equal(scps_conn_read(t->c, b, sizeof b, 0), 60);
    at_end(t);
    script_free(t);
}

/* Ends of records arrive out of order, twice, or with data that had arrived before. */
static void out_of_order(void **x)
{
    struct script *t = records_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .seq = 201, .len = 100, .record = true);
    peer_says(t, MS(200), .seq = 301, .len = 100);
    peer_says(t, MS(200), .seq = 201, .len = 100, .record = true);
    peer_says(t, MS(200), .seq = 101, .len = 100, .record = true);
    peer_says(t, MS(200), .seq = 1, .len = 100);
    /* The segment has no new data, so it is ignored. */
    peer_says(t, MS(200), .seq = 1, .len = 100, .record = true);
    script_forget_sent(t);
    app_reads(t, MS(300), 200);
    at_end(t);
    app_reads(t, MS(300), 100);
    at_end(t);
    app_reads(t, MS(300), 100);
    inside(t);
    assert_int_equal(script_info(t).records_in, 2);
    script_free(t);
}

/* A segment that extends beyond the receive window is cut, and the end of a record at its end is
 * dropped. */
static void cut_off(void **x)
{
    struct script *t = records_of(x);
    t->cfg.rcvbuf = 1500;
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 2000, .record = true);
    script_forget_sent(t);
    app_reads(t, MS(300), 1500);
    inside(t);
    script_forget_sent(t);
    peer_says(t, MS(400), .seq = 1501, .len = 500, .record = true);
    app_reads(t, MS(500), 500);
    at_end(t);
    script_forget_sent(t);
    script_free(t);
}

/* An application that has not asked for records reads a plain stream; on a SYN and without data the
 * option has no meaning. */
static void a_stream_without_records(void **x)
{
    struct script *t = script_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 100, .record = true);
    peer_says(t, MS(200), .len = 100, .record = true);
    script_forget_sent(t);
    app_reads(t, MS(300), 200);
    inside(t);
    assert_int_equal(script_info(t).records_in, 0);
    script_free(t);
}

static void without_data(void **x)
{
    struct script *t = records_of(x);
    script_listen(t);
    peer_says(t, MS(0), .flags = SCPS_SYN, .record = true);
    expect_sent(t, .flags = SCPS_SYN | SCPS_ACK, .ack = 1, .hasnt = SCPS_HAS_RECORD);
    peer_says(t, MS(100), .ack = 1, .record = true);
    expect_event(t, SCPS_EV_ACCEPT);
    t->c = scps_accept(t->l);
    peer_says(t, MS(200), .ack = 1, .record = true);
    peer_says(t, MS(200), .len = 10);
    script_forget_sent(t);
    app_reads(t, MS(300), 10);
    inside(t);
    peer_says(t, MS(400), .flags = SCPS_FIN | SCPS_ACK, .record = true);
    app_reads(t, MS(500), 0);
    assert_int_equal(script_info(t).records_in, 0);
    script_forget_sent(t);
    script_free(t);
}

/* After the end of the connection the received data can be read, with the ends of records. */
static void after_the_end(void **x)
{
    struct script *t = records_of(x);
    script_established(t, MS(100));
    peer_says(t, MS(200), .len = 100, .record = true);
    peer_says(t, MS(200), .len = 100, .record = true);
    peer_says(t, MS(200), .flags = SCPS_RST);
    script_forget_sent(t);
    app_reads(t, SEC(300), 100);
    at_end(t);
    app_reads(t, SEC(300), 100);
    at_end(t);
    script_free(t);
}

/* A peer marks every octet as the end of a record, in any order: adjacent ends are stored as one
 * range. The number of ranges is limited; data with an end beyond the limit is dropped, so that the
 * peer sends it again. */
static void every_octet_ends_a_record(void **x)
{
    struct script *t = records_of(x);
    struct scps_stack_stats s;
    script_established(t, MS(100));
    for (int i = 0; i < 1000; i++)
        peer_says(t, MS(200), .len = 1, .record = true);
    script_forget_sent(t);
    for (int i = 0; i < 1000; i++) {
        app_reads(t, MS(300), 1);
        at_end(t);
    }
    /* Every second octet arrives: a buffer of 20000 octets has room for 1250 ranges. */
    for (int i = 0; i < 3000; i++)
        peer_says(t, MS(400), .len = 2, .record = true);
    script_forget_sent(t);
    scps_stack_get_stats(t->st, &s);
    assert_int_equal(s.drops[SCPS_DROP_TOO_MANY_RECORDS], 3000 - 1250);
    assert_int_equal(scps_conn_readable(t->c), 2);
    for (int i = 0; i < 1250; i++) {
        app_reads(t, MS(500), 2);
        at_end(t);
    }
    script_forget_sent(t);
    peer_says(t, MS(600), .seq = 1001 + 2500, .len = 2, .record = true);
    app_reads(t, MS(700), 2);
    at_end(t);
    script_forget_sent(t);
    script_free(t);
}

/* However many ends of records lie beyond a hole, the data that fills the hole is accepted;
 * otherwise nothing could ever be read. */
static void marks_beyond_a_hole(void **x)
{
    struct script *t = records_of(x);
    struct scps_stack_stats s;
    script_established(t, MS(100));
    for (int i = 0; i < 1500; i++)
        peer_says(t, MS(200), .seq = 401 + 2 * i, .len = 2, .record = true);
    scps_stack_get_stats(t->st, &s);
    assert_in_range(s.drops[SCPS_DROP_TOO_MANY_RECORDS], 500, 600);
    for (int i = 0; i < 200; i++)
        peer_says(t, MS(300), .seq = 1 + 2 * i, .len = 2, .record = true);
    script_forget_sent(t);
    for (int i = 0; i < 1100; i++) {
        app_reads(t, MS(400), 2);
        at_end(t);
    }
    script_forget_sent(t);
    script_free(t);
}

/* In a segment with the record option SACK has four octets less. */
static void beside_sack(void **x)
{
    struct script *t = records_of(x);
    t->cfg.mss = 0;
    t->peer.mss = 1460;
    script_established(t, MS(100));
    int32_t mss = (int32_t)script_info(t).snd_mss;
    peer_says(t, MS(200), .seq = 101, .len = 100);
    script_forget_sent(t);
    /* 14 octets are free: not enough for 4 octets of the record option and 12 of SACK. */
    app_writes_record(t, MS(200), mss - 14);
    expect_record(t, .len = mss - 14, .no_sack = true);
    app_writes_record(t, MS(200), mss - 16);
    script_forget_sent(t);
    peer_says(t, MS(210), .seq = 301, .len = 100);
    script_forget_sent(t);
    app_writes_record(t, MS(210), mss - 16);
    expect_record(t, .len = mss - 16, .sack = {{301, 401}});
    script_forget_sent(t);
    script_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(each_write_a_record),
        SCRIPT_TEST(several_segments),
        SCRIPT_TEST(a_record_of_one_full_segment),
        SCRIPT_TEST(resending),
        SCRIPT_TEST(resegmenting),
        SCRIPT_TEST(zero_window),
        SCRIPT_TEST(small_window),
        SCRIPT_TEST(the_last_record_and_the_fin),
        SCRIPT_TEST(writing),
        SCRIPT_TEST(reading),
        SCRIPT_TEST(long_reads),
        SCRIPT_TEST(out_of_order),
        SCRIPT_TEST(cut_off),
        SCRIPT_TEST(a_stream_without_records),
        SCRIPT_TEST(without_data),
        SCRIPT_TEST(after_the_end),
        SCRIPT_TEST(every_octet_ends_a_record),
        SCRIPT_TEST(marks_beyond_a_hole),
        SCRIPT_TEST(beside_sack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
