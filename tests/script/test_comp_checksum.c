/* SPDX-License-Identifier: MIT */
/* Header compression: checksums, and packets that are damaged or of another protocol
 * (docs/SCPS-TP.md section 8.3). */
#include "compress.h"

/* Builds a segment of the peer with octets [from, from + len) of its stream, as an IP packet whose
 * checksum was computed with protocol number proto. */
static size_t segment_with_ack(const struct script *t, uint8_t proto, uint32_t from, uint32_t ack,
                               uint32_t len, uint8_t *pkt)
{
    struct scps_comp_tx tx;
    struct scps_seg s = {
        .seq = t->peer_isn + from, .ack = ack, .wnd = 65535, .flags = SCPS_ACK, .len = len};
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

static size_t peer_segment(const struct script *t, uint8_t proto, uint32_t from, uint32_t len,
                           uint8_t *pkt)
{
    return segment_with_ack(t, proto, from, t->last.seq, len, pkt);
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
static void a_copied_segment_does_not_confirm_106(void **x)
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
static void a_damaged_segment_with_a_valid_checksum(void **x)
{
    struct script *t = compressing(x, false);
    uint8_t data[1200], odd[1200];

    script_established(t, MS(100));
    size_t n = peer_segment(t, 106, 1, 500, data), o = peer_segment(t, 105, 1, 500, odd);
    /* One segment does not suffice to accept the number. */
    assert_int_equal(script_input(t, MS(200), data, n), SCPS_DROP_BAD_CHECKSUM);
    assert_int_equal(script_input(t, MS(300), odd, o), SCPS_DROP_BAD_CHECKSUM);
    /* A copy of the damaged segment arrives. */
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
static void a_wrong_protocol_number_is_replaced(void **x)
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

/* Builds a compressed header without any field, as an IP packet whose checksum was computed with
 * protocol number proto. */
static size_t header_without_numbers(const struct script *t, uint8_t proto, uint8_t *pkt)
{
    size_t at = ip_len(t);
    struct scps_ip ip = {.src = t->them.addr,
                         .dst = t->us.addr,
                         .version = t->us.addr.family,
                         .proto = SCPS_IPPROTO_SCPS_COMP,
                         .ttl = 64};

    memcpy(pkt + at, (const uint8_t[]){0xce, 0, 0, 0}, 4);
    scps_put16(pkt + at + 2,
               scps_comp_checksum(&ip.src, &ip.dst, proto, pkt + at, 4, pkt + at + 4, 0));
    return scps_ip_build(pkt, &ip, 4) + 4;
}

/* A third party that does not see the packets can send segments with the right connection id, but
 * has to guess sequence and acknowledgement numbers. Segments without these numbers, or with others
 * than the peer may send, show nothing of the peer's protocol number: the peer's first data is
 * accepted at once. */
static void forged_segments_show_no_protocol_number(void **x)
{
    static const struct {
        uint32_t from, ack; /* the numbers, relative to those that the peer uses */
    } guesses[] = {{0x40000000, 0},   {0, 1},    {0, 0x40000000}, {0, (uint32_t)-1},
                   {(uint32_t)-1, 0}, {65535, 0}};

    for (size_t how = 0; how <= sizeof guesses / sizeof *guesses; how++) {
        struct script *t = compressing(x, false);
        uint8_t pkt[1200];
        script_established(t, MS(100));
        for (int i = 0; i < 2; i++) {
            uint8_t proto = i ? 106 : 6;
            size_t n = how ? segment_with_ack(t, proto, 1 + guesses[how - 1].from,
                                              t->last.seq + guesses[how - 1].ack, 0, pkt)
                           : header_without_numbers(t, proto, pkt);
            assert_int_equal(script_input(t, MS(150), pkt, n), SCPS_DROP_BAD_CHECKSUM);
        }
        assert_int_equal(script_input(t, MS(200), pkt, peer_segment(t, 105, 1, 1000, pkt)), 0);
        app_reads(t, MS(200), 1000);
        script_run(t, SEC(1));
        script_forget_sent(t);
        script_free(t);
    }
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
static void invalid_packets_are_dropped(void **x)
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
    /* The first octet of flag bits takes every value, and nothing but the checksum follows it. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(forged_segments_show_no_protocol_number),
        SCRIPT_TEST(checksum_protocols),
        SCRIPT_TEST(one_bit_wrong),
        SCRIPT_TEST(one_bit_wrong_after_vouched),
        SCRIPT_TEST(the_first_one_wrong),
        SCRIPT_TEST(a_copied_segment_does_not_confirm_106),
        SCRIPT_TEST(a_wrong_protocol_number_is_replaced),
        SCRIPT_TEST(a_damaged_segment_with_a_valid_checksum),
        SCRIPT_TEST(invalid_packets_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
