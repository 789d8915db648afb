/* SPDX-License-Identifier: MIT */
/* Header compression (IP protocol 105) on a connection: docs/SCPS-TP.md sections 1.2, 2.1, 6 and
 * 8. */
#include "script.h"

#include "base/bytes.h"

#include <scps/comp.h>

#define IP4 20
#define IP6 40

static struct script *compressing(void **x, bool ts)
{
    struct script *t = script_of(x);

    t->cfg.compress = true;
    t->cfg.timestamps = t->peer.ts = ts;
    t->peer.caps = SCPS_CAP_COM;
    t->peer.conn_id = 0xce;
    return t;
}

static uint32_t ip_len(const struct script *t)
{
    return t->us.addr.family == 4 ? IP4 : IP6;
}

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
static void a_message_that_answers(void **x)
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

static int compressed(struct script *t, scps_time at, const uint8_t *body, size_t n, bool right)
{
    uint8_t pkt[300];
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = t->us.addr.family,
                         .proto = SCPS_IPPROTO_SCPS_COMP,
                         .ttl = 64};
    size_t h = scps_ip_build(pkt, &ip, n);

    memcpy(pkt + h, body, n);
    /* The test does not know where the header ends, so it changes the last two octets of the packet
     * to make the checksum right. */
    if (right && n >= 2) {
        scps_put16(pkt + h + n - 2, 0);
        scps_put16(pkt + h + n - 2,
                   scps_comp_checksum(&ip.src, &ip.dst, SCPS_IPPROTO_SCPS_COMP, pkt + h, n & ~1u,
                                      pkt + h + (n & ~1u), n & 1));
    }
    return script_input(t, at, pkt, h + n);
}

/* Builds a segment of the peer with octets [from, from + len) of its stream, as an IP packet whose
 * checksum was computed with protocol number proto. */
static size_t peer_segment(const struct script *t, uint8_t proto, uint32_t from, uint32_t len,
                           uint8_t *pkt)
{
    struct scps_comp_tx tx;
    struct scps_seg s = {
        .seq = t->peer_isn + from, .ack = t->last.seq, .wnd = 65535, .flags = SCPS_ACK, .len = len};
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = t->us.addr.family,
                         .proto = SCPS_IPPROTO_SCPS_COMP,
                         .ttl = 64};
    size_t at = ip_len(t), n;

    scps_comp_tx_init(&tx, 0xce, 2, false);
    n = scps_comp_build(pkt + at, &tx, &s, NULL);
    for (uint32_t i = 0; i < len; i++)
        pkt[at + n + i] = (uint8_t)((from + i) * 17 + ((from + i) >> 8) * 3 + 2);
    scps_put16(pkt + at + n - 2,
               scps_comp_checksum(&ip.src, &ip.dst, proto, pkt + at, n, pkt + at + n, len));
    return scps_ip_build(pkt, &ip, n + len) + n + len;
}

/* docs/SCPS-TP.md section 8.3: a one's complement sum detects every error of one bit only if there
 * is one possible number in the pseudo-header. 105 and 106 differ in one bit: if both were accepted
 * for every segment, 1 of 32 such errors would reach the application. */
static void one_bit_wrong(void **x)
{
    static const uint8_t protos[] = {105, 6, 106};

    /* The peer's number is configured at this end, too, or this end finds it out. */
    for (unsigned i = 0; i < 6; i++) {
        struct script *t = compressing(x, false);
        uint8_t pkt[1200], proto = protos[i % 3];
        if (i < 3)
            t->cfg.comp_proto = proto;
        script_established(t, MS(100));
        /* The peer's first acknowledgements show its number; two are needed if the difference may
         * be damage. */
        if (i >= 3) {
            size_t n = peer_segment(t, proto, 1, 0, pkt);
            if (proto == 106) { /* 106 differs from the expected number 105 in one bit. */
                assert_int_equal(script_input(t, MS(150), pkt, n), SCPS_DROP_BAD_CHECKSUM);
                assert_int_equal(script_input(t, MS(150), pkt, n), SCPS_DROP_BAD_CHECKSUM);
            }
            assert_int_equal(script_input(t, MS(1150), pkt, n), 0);
        }
        size_t n = peer_segment(t, proto, 1, 1000, pkt);
        for (size_t bit = 8 * ip_len(t); bit < 8 * n; bit++) {
            pkt[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(script_input(t, MS(1200), pkt, n), 0);
            pkt[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        assert_int_equal(scps_conn_readable(t->c), 0);
        /* Some damaged segments looked as if the peer had the other of these two numbers. */
        if (proto != 6)
            assert_int_equal(script_input(t, MS(1300), pkt, n), SCPS_DROP_BAD_CHECKSUM);
        assert_int_equal(script_input(t, MS(4300), pkt, n), 0);
        app_reads(t, MS(4300), 1000);
        script_run(t, SEC(5));
        script_forget_sent(t);
        script_free(t);
    }
}

/* Hands in the packet of n octets with csum_ok set, as a device does that has verified the
 * checksum. */
static int vouched(struct script *t, scps_time at, uint8_t *pkt, size_t n)
{
    script_run(t, at);
    struct scps_pkt in = {.data = pkt, .len = n, .csum_ok = true, .at = scps_stack_now(t->st)};
    return scps_stack_input(t->st, &t->nif, &in);
}

/* docs/SCPS-TP.md section 8.3: the number in the first good segment is the peer's, even if the
 * device has verified the checksum (a virtual link does so for packets that it did not damage). An
 * error of one bit in a later segment is detected, also when a copy of that segment comes later. */
static void one_bit_wrong_after_vouched(void **x)
{
    static const uint8_t protos[] = {105, 6, 106};

    for (unsigned i = 0; i < 3; i++) {
        struct script *t = compressing(x, false);
        uint8_t ack[100], pkt[1200];
        script_established(t, MS(100));
        size_t a = peer_segment(t, protos[i], 1, 0, ack),
               n = peer_segment(t, protos[i], 1, 1000, pkt);
        assert_int_equal(vouched(t, MS(150), ack, a), 0);
        for (unsigned k = 0; k < 3; k++) {
            for (size_t bit = 8 * ip_len(t); bit < 8 * n; bit++) {
                pkt[bit / 8] ^= (uint8_t)(1u << bit % 8);
                assert_int_not_equal(script_input(t, SEC(1 + 2 * k), pkt, n), 0);
                pkt[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            assert_int_equal(vouched(t, SEC(2 + 2 * k), ack, a), 0);
        }
        assert_int_equal(scps_conn_readable(t->c), 0);
        assert_int_equal(vouched(t, SEC(8), pkt, n), 0);
        app_reads(t, SEC(8), 1000);
        script_run(t, SEC(9));
        script_forget_sent(t);
        script_free(t);
    }
}

/* A damaged segment, and a copy of it, may look as if the peer had another number. What is
 * concluded from it holds until the peer's own number comes again; from the second good segment on,
 * only a long run of segments without that number could change it. */
static void the_first_one_wrong(void **x)
{
    struct script *t = compressing(x, false);
    uint8_t ack[100], data[1200], odd[1200];

    script_established(t, MS(100));
    size_t n = peer_segment(t, 106, 1, 0, ack), m = peer_segment(t, 105, 1, 500, data),
           o = peer_segment(t, 106, 1, 500, odd);
    for (int i = 0; i < 5; i++) /* The number is not the expected one; copies follow. */
        assert_int_equal(script_input(t, MS(200 + i), odd, o), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, MS(250), ack, n), 0);
    assert_int_equal(script_input(t, MS(260), ack, n), 0);
    assert_int_equal(script_input(t, MS(300), data, m), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, MS(900), data, m), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, MS(3300), data, m), 0);
    app_reads(t, MS(3300), 500);
    assert_int_equal(script_input(t, MS(3400), ack, n), SCPS_DROP_BAD_CHECKSUM);
    n = peer_segment(t, 105, 501, 0, ack);
    assert_int_equal(script_input(t, MS(3500), ack, n), 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(script_input(t, SEC(5 + 2 * i), odd, o), SCPS_DROP_BAD_CHECKSUM);
        if (i % 15 == 14)
            assert_int_equal(script_input(t, SEC(6 + 2 * i), ack, n), 0);
    }
    script_forget_sent(t);
    script_free(t);
}

/* Both ends use 105. The first segment is damaged so that it looks like one with 106, and a copy of
 * it follows: this end must not conclude that the peer uses 106. */
static void a_copy_confirms_nothing(void **x)
{
    struct script *t = compressing(x, false);
    uint8_t ack[100], data[1200];

    script_established(t, MS(100));
    size_t n = peer_segment(t, 106, 1, 0, ack), m = peer_segment(t, 106, 1, 500, data);
    for (int i = 0; i < 5; i++)
        assert_int_equal(script_input(t, MS(200 + i), ack, n), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, MS(300), data, m), SCPS_DROP_BAD_CHECKSUM);
    n = peer_segment(t, 105, 1, 0, ack);
    assert_int_equal(script_input(t, MS(400), ack, n), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(script_input(t, MS(500 + 3500 * i), data, m), SCPS_DROP_BAD_CHECKSUM);
    m = peer_segment(t, 105, 1, 500, data);
    assert_int_equal(script_input(t, SEC(5), ack, n), 0);
    assert_int_equal(script_input(t, SEC(5), data, m), 0);
    app_reads(t, SEC(5), 500);
    script_run(t, SEC(6));
    script_forget_sent(t);
    script_free(t);
}

/* The peer uses another number than this end expects. A damaged segment of the peer looks like one
 * with the expected number, and must not be accepted for that. */
static void a_damaged_one_looks_right(void **x)
{
    struct script *t = compressing(x, false);
    uint8_t data[1200], odd[1200];

    script_established(t, MS(100));
    size_t n = peer_segment(t, 106, 1, 500, data), o = peer_segment(t, 105, 1, 500, odd);
    /* One segment does not suffice to accept the number. */
    assert_int_equal(script_input(t, MS(200), data, n), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, MS(300), odd, o), SCPS_DROP_BAD_CHECKSUM);
    /* This is a copy of that segment. */
    assert_int_equal(script_input(t, MS(400), odd, o), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, SEC(1), data, n), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, SEC(2), data, n), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, SEC(5), data, n), 0);
    app_reads(t, SEC(5), 500);
    script_run(t, SEC(6));
    script_forget_sent(t);
    script_free(t);
}

/* Two damaged segments of a peer that uses 106 looked like 105, so 105 is taken for its number. 106
 * is accepted all the same after a long run of segments with it. */
static void a_wrong_number_is_left(void **x)
{
    struct script *t = compressing(x, false);
    uint8_t ack[100], data[1200];
    int refused = 0;

    script_established(t, MS(100));
    size_t n = peer_segment(t, 105, 1, 0, ack), m = peer_segment(t, 106, 1, 500, data);
    assert_int_equal(script_input(t, MS(200), ack, n), 0);
    assert_int_equal(script_input(t, MS(1300), ack, n), 0);
    while (script_input(t, SEC(2 + refused), data, m) == SCPS_DROP_BAD_CHECKSUM)
        refused++;
    assert_int_equal(refused, 15);
    app_reads(t, SEC(17), 500);
    script_run(t, SEC(20));
    script_forget_sent(t);
    script_free(t);
}

/* docs/SCPS-TP.md section 8.3: the standard has the number 105; the reference implementation has 6
 * or 106. All three are accepted; which one is sent can be configured. */
static void checksum_protocols(void **x)
{
    static const uint8_t protos[] = {0, 105, 6, 106};

    for (size_t i = 0; i < sizeof protos; i++) {
        struct script *t = compressing(x, true);
        t->cfg.comp_proto = protos[i];
        t->peer.comp_proto = protos[3 - i];
        script_established(t, MS(100));
        peer_says(t, MS(150), .ack = 1);
        if (i == 0 || i == 3) /* 105 and 106 differ in one bit, so one segment does not suffice. */
            peer_says(t, MS(160), .ack = 1);
        app_writes(t, MS(200), 10);
        expect_sent(t, .from = 1, .len = 10, .compressed = true);
        peer_says(t, MS(300), .ack = 11);
        expect_event(t, SCPS_EV_WRITABLE);
        expect_event(t, SCPS_EV_DRAINED);
        script_free(t);
    }
    struct script *t = compressing(x, true);
    t->cfg.comp_proto = 17;
    script_start(t);
    int err;
    assert_null(scps_connect(t->st, &t->cfg, NULL, &t->them, &err));
    assert_int_equal(err, SCPS_ERR_RANGE);
    script_free(t);
}

/* Packets with unknown ids, too few octets, impossible option lengths, wrong checksums or a foreign
 * address are dropped, each by its name, without further effect. */
static void nonsense(void **x)
{
    struct script *t = compressing(x, false);
    uint8_t b[100] = {0xce};
    struct scps_stack_stats st;

    script_established(t, MS(100));
    for (unsigned id = 0; id < 256; id++) {
        uint8_t other[10] = {(uint8_t)id, 0x01};
        if (id != 0xce)
            assert_int_equal(compressed(t, MS(200), other, 10, true),
                             SCPS_DROP_UNKNOWN_CONNECTION_ID);
    }
    /* Every value of the first octet of bits, with nothing behind it. */
    for (unsigned bits = 0; bits < 256; bits++) {
        b[1] = (uint8_t)bits;
        int why = compressed(t, MS(210), b, 4, true);
        assert_true(why == SCPS_DROP_BAD_COMPRESSED || why == 0 || why == SCPS_DROP_NOT_ACCEPTABLE);
        if (!(bits & ~0x04u)) /* The packet has no field, so the last values hold. */
            assert_int_equal(why, 0);
    }
    for (unsigned n = 0; n < 256; n++) { /* Options of every length in a packet of 60 octets. */
        memset(b, 0, sizeof b);
        b[0] = 0xce;
        b[1] = 0x80;
        b[2] = 0x80;
        b[3] = (uint8_t)n;
        int why = compressed(t, MS(220), b, 60, true);
        /* The length is too large, or the packet has data without a sequence number. */
        assert_int_equal(why, SCPS_DROP_BAD_COMPRESSED);
    }
    b[1] = 0x01;
    assert_int_equal(compressed(t, MS(230), b, 10, false), SCPS_DROP_BAD_CHECKSUM);
    for (size_t n = 1; n < 4; n++)
        assert_int_not_equal(compressed(t, MS(240), b, n, true), 0);
    script_run(t, MS(700));
    script_forget_sent(t);
    scps_stack_get_stats(t->st, &st);
    assert_in_range(st.drops[SCPS_DROP_UNKNOWN_CONNECTION_ID], 255, 258);
    assert_true(st.drops[SCPS_DROP_BAD_COMPRESSED] > 256);
    expect_state(t, SCPS_ESTABLISHED);
    peer_says(t, MS(800), .len = 100); /* The connection goes on. */
    app_reads(t, MS(800), 100);
    script_run(t, SEC(2));
    expect_sent(t, .ack = 101, .compressed = true);
    script_free(t);
}

/* Connection ids: none is used twice at a time; each rests for TIME-WAIT after use; a pair of hosts
 * has 255; a connection that gets none is not compressed. */
static void ids(void **x)
{
    struct script *t = compressing(x, false);
    bool seen[256] = {false};
    struct scps_conn *c[260];

    t->cfg.time_wait = SEC(30);
    script_start(t);
    for (unsigned i = 0; i < 256; i++) {
        struct scps_endpoint to = t->them;
        to.port = (uint16_t)(6000 + i);
        c[i] = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
        assert_non_null(c[i]);
        script_run(t, MS(i));
        expect_sent(t, .port = to.port, .flags = SCPS_SYN);
        if (i == 255) {
            assert_false(t->last.has & SCPS_HAS_CAPS);
        } else {
            assert_true(t->last.has & SCPS_HAS_CAPS && t->last.conn_id && !seen[t->last.conn_id]);
            seen[t->last.conn_id] = true;
        }
    }
    for (unsigned i = 0; i < 256; i++)
        scps_conn_abort(c[i]);
    /* The id still rests in the first run, and no longer in the second. */
    for (unsigned k = 0; k < 2; k++) {
        script_run(t, k ? SEC(31) : SEC(20));
        script_forget_sent(t);
        struct scps_endpoint to = t->them;
        to.port = 7000;
        struct scps_conn *again = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
        script_run(t, script_now(t));
        expect_sent(t, .port = 7000, .flags = SCPS_SYN);
        assert_int_equal(!!(t->last.has & SCPS_HAS_CAPS), k);
        scps_conn_abort(again);
    }
    script_free(t);
}

/* SYNs from forged addresses use up neither ids nor places for pairs of hosts: the half-open
 * connections that have waited longest lose theirs to a connection that this end opens at once, and
 * after 3 s to one that a SYN opens. */
static void spoofed_syns_use_up_no_ids(void **x)
{
    struct script *t = compressing(x, false);
    struct scps_endpoint to = t->them;
    struct scps_conn *c;

    t->stack_cfg.max_half_open = 2000;
    t->stack_cfg.max_comp_hosts = 1;
    script_listen(t);
    for (uint16_t i = 0; i < 257; i++) {
        scps_time at = i < 255 ? MS(i) : i == 255 ? SEC(1) : SEC(5);
        script_run(t, at);
        script_forget_sent(t); /* These are repeated SYN-ACKs. */
        peer_says(t, at, .port = 2000 + i, .seq = 100, .flags = SCPS_SYN);
        expect_sent(t, .port = 2000 + i, .flags = SCPS_SYN | SCPS_ACK);
        /* Only compression is refused. */
        assert_int_equal(!!(t->last.has & SCPS_HAS_CAPS), i != 255);
    }
    for (unsigned i = 0; i < 2; i++) { /* The connection goes to the same peer, then to another. */
        to.port = (uint16_t)(6000 + i);
        t->them.addr.b[to.addr.family == 4 ? 3 : 15] += (uint8_t)i;
        to.addr = t->them.addr;
        c = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
        assert_non_null(c);
        script_run(t, script_now(t));
        expect_sent(t, .port = to.port, .flags = SCPS_SYN);
        assert_true(t->last.has & SCPS_HAS_CAPS && t->last.caps & SCPS_CAP_COM);
        scps_conn_abort(c);
        if (i)
            break;
        /* All connections have ended, and the id of this end's own has rested. */
        script_run(t, SEC(200));
        script_forget_sent(t);
        for (uint16_t k = 0; k < 9; k++) {
            peer_says(t, SEC(200), .port = 3000 + k, .seq = 100, .flags = SCPS_SYN);
            expect_sent(t, .port = 3000 + k, .flags = SCPS_SYN | SCPS_ACK, .has = SCPS_HAS_CAPS);
        }
    }
    script_forget_sent(t);
    script_free(t);
}

/* docs/SCPS-TP.md section 8.4: an attacker off the path who can predict an id saves 254 of 255
 * guesses. Hosts with different secrets use different ids, and one host never the same twice in a
 * row. */
static bool offers_compression(struct script *t, uint8_t host, uint16_t port)
{
    struct scps_endpoint to = t->them;

    t->them.addr.b[to.addr.family == 4 ? 3 : 15] = host;
    to.addr = t->them.addr;
    to.port = port;
    struct scps_conn *c = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
    assert_non_null(c);
    script_run(t, script_now(t));
    expect_sent(t, .port = port, .flags = SCPS_SYN);
    scps_conn_abort(c);
    script_run(t, script_now(t));
    script_forget_sent(t);
    return t->last.has & SCPS_HAS_CAPS;
}

/* With room for two pairs of hosts, a third pair has no compression while ids of the first two rest
 * in TIME-WAIT; then it takes the place of one of them. */
static void pairs_of_hosts_rest(void **x)
{
    struct script *t = compressing(x, false);

    t->cfg.time_wait = SEC(30);
    t->stack_cfg.max_comp_hosts = 2;
    script_start(t);
    assert_true(offers_compression(t, 11, 6000));
    script_run(t, SEC(10));
    assert_true(offers_compression(t, 12, 6001));
    script_run(t, SEC(20));
    assert_false(offers_compression(t, 13, 6002));
    /* The ids of this pair of hosts begin to rest anew. */
    assert_true(offers_compression(t, 12, 6003));
    script_run(t, SEC(31));
    assert_true(offers_compression(t, 13, 6004));
    assert_false(offers_compression(t, 11, 6005));
    script_free(t);
}

static void ids_are_drawn(void **x)
{
    unsigned in_turn = 0, alike = 0;
    uint8_t id[2][20];

    for (unsigned k = 0; k < 2; k++) {
        struct script *t = compressing(x, false);
        t->stack_cfg.seed[0] += k;
        script_start(t);
        for (unsigned i = 0; i < 20; i++) {
            struct scps_endpoint to = t->them;
            to.port = (uint16_t)(6000 + i);
            struct scps_conn *c = scps_connect(t->st, &t->cfg, NULL, &to, NULL);
            script_run(t, MS(i));
            expect_sent(t, .port = to.port, .flags = SCPS_SYN);
            id[k][i] = t->last.conn_id;
            in_turn += i && id[k][i] == id[k][i - 1] + 1;
            alike += k && id[0][i] == id[1][i];
            scps_conn_abort(c);
        }
        script_free(t);
    }
    assert_true(in_turn < 4 && alike < 4);
}

/* A connection id of 0 is valid; the capability bit alone says whether compression was offered. */
static void id_zero(void **x)
{
    struct script *t = compressing(x, false);

    t->peer.conn_id = 0;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN, .has = SCPS_HAS_CAPS);
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    expect_sent(t, .from = 1, .ack = 1, .compressed = true);
    peer_says(t, MS(150), .ack = 1);
    app_writes(t, MS(200), 100);
    expect_sent(t, .from = 1, .len = 100, .compressed = true);
    peer_says(t, MS(300), .ack = 101);
    struct scps_info i = script_info(t);
    assert_int_equal(i.caps, SCPS_CAP_COM);
    assert_int_equal(i.comp_in, 2);
    script_free(t);
}

/* A SYN offers a connection id that another connection uses: the new connection is not compressed,
 * and the old one keeps the id. */
static void an_id_twice(void **x)
{
    struct script *t = compressing(x, false);

    script_accepted(t, MS(100));
    struct scps_conn *first = t->c;
    peer_says(t, MS(200), .raw = true, .port = 6001, .flags = SCPS_SYN, .seq = 99);
    expect_sent(t, .port = 6001, .flags = SCPS_SYN | SCPS_ACK, .hasnt = SCPS_HAS_CAPS);
    peer_says(t, MS(300), .len = 1000);
    peer_says(t, MS(300), .len = 1000);
    expect_sent(t, .ack = 2001, .compressed = true);
    assert_int_equal(scps_conn_readable(first), 2000);
    script_forget_sent(t);
    script_run(t, SEC(120));
    script_forget_sent(t);
    script_free(t);
}

/* A sequence number that is left out stands for the highest that the receiver knows, so a
 * keep-alive, one octet below that, always has its own: otherwise it would be acceptable, and the
 * peer need not answer (RFC 9293 section 3.8.4). The same holds for the probe of an outage. */
static void probes_say_where_they_stand(void **x)
{
    static const int gap[] = {5, 6, 12, 24, 48, 60};

    for (int outage = 0; outage < 2; outage++) {
        struct script *t = compressing(x, false);
        scps_time at = MS(100);
        t->cfg.keepalive = !outage;
        t->cfg.keep_idle = t->cfg.keep_interval = SEC(10);
        t->cfg.keep_count = 3;
        if (outage)
            script_established(t, MS(100));
        /* This end has not sent any compressed header yet. */
        else
            script_accepted(t, MS(100));
        script_forget_events(t);
        if (outage) {
            struct scps_signal down = {.kind = SCPS_SIGNAL_LINK_DOWN, .until = SCPS_NEVER};
            scps_stack_signal(t->st, scps_stack_now(t->st), &down);
        }
        for (int i = 0; i < 6; i++) {
            at += SEC(outage ? gap[i] : 10);
            expect_sent(t, .at = at, .from = ZERO, .compressed = true, .wire = ip_len(t) + 14);
            if (!outage)
                peer_says(t, at + MS(100), .ack = 1);
        }
        script_run(t, script_now(t) + SEC(1));
        script_free(t);
    }
}

/* The path MTU falls: ICMP quotes a compressed packet, which is recognised by its id; its data is
 * cut to the new size and sent again. */
static void path_mtu(void **x)
{
    struct script *t = compressing(x, false);
    uint8_t pkt[120], *m;
    uint32_t ip = ip_len(t), mtu = t->us.addr.family == 4 ? 600 : 1280;
    struct scps_seg s = {.len = 1, .flags = SCPS_ACK, .seq = 0};
    struct scps_comp_tx tx;

    t->cfg.mss = 1400;
    t->peer.mss = 1400;
    script_connect(t, 0);
    expect_sent(t, .flags = SCPS_SYN);
    uint8_t id = t->last.conn_id;
    uint32_t iss = t->last.seq;
    peer_says(t, MS(100), .flags = SCPS_SYN | SCPS_ACK, .ack = 1);
    script_forget_sent(t);
    script_forget_events(t);
    peer_says(t, MS(150), .ack = 1);
    app_writes(t, MS(200), 1412);
    expect_sent(t, .from = 1, .len = 1412, .compressed = true);
    struct scps_ip q = {.src = t->us.addr,
                        .dst = t->them.addr,
                        .version = t->us.addr.family,
                        .proto = SCPS_IPPROTO_SCPS_COMP,
                        .ttl = 60};
    struct scps_ip outer = {.src = t->them.addr,
                            .dst = t->us.addr,
                            .version = q.version,
                            .ttl = 64,
                            .proto = q.version == 6 ? SCPS_IPPROTO_ICMPV6 : SCPS_IPPROTO_ICMP};
    s.seq = iss + 1;
    scps_comp_tx_init(&tx, id, 2, true);
    m = pkt + ip;
    memset(pkt, 0, sizeof pkt);
    m[0] = q.version == 6 ? 2 : 3;
    m[1] = q.version == 6 ? 0 : 4;
    scps_put32(m + 4, mtu);
    size_t len = 8 + scps_ip_build(m + 8, &q, 1420);
    len += scps_comp_build(m + len, &tx, &s, NULL);
    scps_ip_build(pkt, &outer, len);
    uint64_t sum = scps_cksum_add(0, m, len);
    if (q.version == 6)
        sum = scps_cksum_pseudo(sum, &outer.src, &outer.dst, SCPS_IPPROTO_ICMPV6, (uint32_t)len);
    scps_put16(m + 2, scps_cksum_fold(sum));
    assert_int_equal(script_input(t, MS(250), pkt, ip + len), 0);
    uint32_t got = 0;
    while (got < 1412) { /* Each segment fits the new MTU. */
        expect_sent(t, .from = (int64_t)got + 1, .any_len = true, .compressed = true);
        assert_true(t->last.len && ip + 8 + t->last.len <= mtu);
        got += t->last.len;
    }
    peer_says(t, MS(400), .ack = 1413);
    script_free(t);
}

/* docs/SCPS-TP.md section 2.1: the unit of a SNACK is the sender's full segment: MSS + 12 without
 * time stamps, + 4 with them. */
static void snack_unit(void **x)
{
    for (unsigned ts = 0; ts < 2; ts++) {
        struct script *t = compressing(x, ts);
        int unit = ts ? 1004 : 1012;
        t->cfg.snack = true;
        t->peer.caps |= SCPS_CAP_SNACK1;
        script_established(t, MS(100));
        peer_says(t, MS(200), .seq = 1 + 3 * unit, .len = unit);
        expect_sent(t, .ack = 1, .snack = {{0, 3}}, .compressed = true);
        app_writes(t, MS(300), 4 * unit);
        for (int i = 0; i < 4; i++)
            expect_sent(t, .from = 1 + i * unit, .len = unit, .compressed = true);
        peer_says(t, MS(401), .seq = 1, .ack = 1, .snack = {{2, 1}});
        expect_sent(t, .from = 1 + 2 * unit, .len = unit, .compressed = true);
        peer_says(t, MS(500), .seq = 1, .ack = 1 + 4 * unit);
        script_run(t, SEC(2));
        script_forget_sent(t);
        script_free(t);
    }
}

/* docs/SCPS-TP.md section 8.2: a bit says whether a header has time stamps; segments of the
 * reference implementation with records have none. A missing time stamp echoes nothing: an older
 * echo in its place would undo a recovery (RFC 3522 section 3.2) and would be taken for a long
 * round trip. */
static void without_timestamps(void **x)
{
    struct script *t = compressing(x, true);

    t->cfg.init_cwnd_segs = 10;
    script_accepted(t, MS(100)); /* The peer's ACK has time stamps. */
    app_writes(t, SEC(2), 5020);
    for (int i = 0; i < 5; i++)
        expect_sent(t, .from = 1 + i * 1004, .len = 1004, .compressed = true, .has = SCPS_HAS_TS);
    for (int i = 2; i <= 4; i++)
        peer_says(t, SEC(2) + MS(100), .ack = 1, .bare = true, .sack = {{1005, i * 1004 + 1}});
    expect_sent(t, .from = 1, .len = 1004, .compressed = true);
    peer_says(t, SEC(2) + MS(200), .ack = 4017, .bare = true);
    struct scps_info i = script_info(t);
    assert_int_equal(i.spurious, 0);
    assert_in_range(i.last_rtt, MS(99), MS(201));
    assert_true(i.cwnd < 10 * 1004);
    /* RFC 6675 section 4, NextSeg (4): the last segment is resent once. */
    expect_sent(t, .from = 4017, .len = 1004, .compressed = true);
    peer_says(t, SEC(2) + MS(300), .ack = 5021, .bare = true);
    /* Data without time stamps passes PAWS, and the time stamp to echo stays. */
    uint32_t echo = t->last.tsecr;
    peer_says(t, SEC(3), .len = 500, .bare = true);
    peer_says(t, SEC(3), .len = 600, .bare = true);
    expect_sent(t, .ack = 1101, .compressed = true, .has = SCPS_HAS_TS);
    assert_int_equal(t->last.tsecr, echo);
    app_reads(t, SEC(3), 1100);
    script_forget_sent(t);
    script_free(t);
}

/* docs/SCPS-TP.md section 8.2: a header may leave out its sequence and acknowledgement numbers.
 * What the receiver fills in is always acceptable, so anybody who knows the addresses could send
 * such a segment. It has an effect only through an acknowledgement number of its own between
 * SND.UNA and SND.NXT (RFC 5961 section 5.2 would accept more). */
static void what_proves_nothing(void **x)
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
 * that fits the path. A compressed header from the peer shows that the peer does compress. */
static void the_opener_missed_the_offer(void **x)
{
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
        script_forget_sent(t);              /* A window update may follow. */
        peer_says(t, MS(300), .len = 1004); /* This segment is compressed. */
        app_writes(t, MS(310), 1004);
        expect_sent(t, .from = 2001, .ack = 2981 + len, .compressed = true);
        expect_sent(t, .from = 2001, .len = 1004, .compressed = true, .wire = ip + 16 + 1004);
        peer_says(t, MS(400), .ack = 3005);
        script_free(t);
    }
}

/* A peer that has restarted knows no connection ids, and a compressed packet has no ports to which
 * it could reply: after two timeouts the oldest segment is sent with a TCP header, which the peer
 * resets (RFC 9293 section 3.10.7.1). A segment too long for that is sent in two parts. */
static void a_peer_that_began_anew(void **x)
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
static void a_peer_that_is_back(void **x)
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

/* RFC 5961 section 3.2: a peer that has closed answers a challenge ACK: it "will send back an RST
 * with the sequence number of the next expected" octet. Such a peer no longer knows the
 * connection's id, so the challenge has a TCP header; later segments are compressed again. */
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
        SCRIPT_TEST(active),
        SCRIPT_TEST(passive_with_timestamps),
        SCRIPT_TEST(one_side_only),
        SCRIPT_TEST(both_directions),
        SCRIPT_TEST(a_message_that_answers),
        SCRIPT_TEST(as_tcp),
        SCRIPT_TEST(the_end_of_a_record_as_tcp),
        SCRIPT_TEST(closing),
        SCRIPT_TEST(checksum_protocols),
        SCRIPT_TEST(one_bit_wrong),
        SCRIPT_TEST(one_bit_wrong_after_vouched),
        SCRIPT_TEST(the_first_one_wrong),
        SCRIPT_TEST(a_copy_confirms_nothing),
        SCRIPT_TEST(a_wrong_number_is_left),
        SCRIPT_TEST(a_damaged_one_looks_right),
        SCRIPT_TEST(nonsense),
        SCRIPT_TEST(ids),
        SCRIPT_TEST(spoofed_syns_use_up_no_ids),
        SCRIPT_TEST(pairs_of_hosts_rest),
        SCRIPT_TEST(ids_are_drawn),
        SCRIPT_TEST(id_zero),
        SCRIPT_TEST(an_id_twice),
        SCRIPT_TEST(probes_say_where_they_stand),
        SCRIPT_TEST(path_mtu),
        SCRIPT_TEST(snack_unit),
        SCRIPT_TEST(without_timestamps),
        SCRIPT_TEST(what_proves_nothing),
        SCRIPT_TEST(the_last_of_the_handshake_is_lost),
        SCRIPT_TEST(a_peer_that_began_anew),
        SCRIPT_TEST(a_peer_that_is_back),
        SCRIPT_TEST(the_opener_missed_the_offer),
        SCRIPT_TEST(a_challenge_as_tcp),
        SCRIPT_TEST(best_effort_asks_as_tcp),
        SCRIPT_TEST(probes_as_tcp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
