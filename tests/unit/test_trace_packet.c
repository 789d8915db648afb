/* SPDX-License-Identifier: MIT */
/* Packets of one connection, passed to the analyser one by one: trace/parse.h and parse.c for TCP
 * options of which the capture has a part, trace/step_sent.h for the round trip of a SYN that was
 * sent again, trace/why.c for causes of retransmissions, trace/flow.c for a SYN that begins another
 * connection. */
#include "cmocka_all.h"

#include "base/bytes.h"
#include "trace/flow.h"
#include "trace/parse.h"

#define MS(ms) (SCPS_SEC(1000) + (scps_dur)((ms)*1000))

/* One packet from end a (10.0.0.1) or b (10.0.0.2). optlen: octets of TCP options, a multiple of 4;
 * cap: captured octets of the packet; 0: all. */
struct pkt {
    bool b2a;
    uint8_t flags;
    uint32_t seq, ack, len;
    const uint8_t *opt;
    uint32_t optlen, cap;
};

static void feed(struct scps_trace *t, scps_time at, struct pkt x)
{
    static uint8_t p[4000];
    const uint32_t total = 40 + x.optlen + x.len;
    memset(p, 0, sizeof p);
    p[0] = 0x45;
    scps_put16(p + 2, (uint16_t)total);
    p[8] = 64;
    p[9] = SCPS_IPPROTO_TCP;
    scps_put32(p + 12, 0x0a000001 + x.b2a);
    scps_put32(p + 16, 0x0a000002 - x.b2a);
    scps_put32(p + 20, x.b2a ? 80u << 16 | 5000 : 5000u << 16 | 80);
    scps_put32(p + 24, x.seq);
    scps_put32(p + 28, x.ack);
    p[32] = (uint8_t)((20 + x.optlen) / 4 << 4);
    p[33] = x.flags;
    scps_put16(p + 34, 60000);
    if (x.optlen)
        memcpy(p + 40, x.opt, x.optlen);
    const struct scps_trace_pkt pkt = {
        .at = at, .data = p, .caplen = x.cap ? x.cap : total, .len = total, .link = 101};
    assert_int_equal(scps_trace_packet(t, &pkt), 0);
}

static struct scps_trace_conn finished(struct scps_trace *t)
{
    struct scps_trace_conn c;
    scps_trace_finish(t);
    assert_int_equal(scps_trace_conns(t), 1);
    assert_int_equal(scps_trace_conn_info(t, 0, &c), 0);
    return c;
}

/* Returns how many packets count as malformed if one has these options, of which the capture has
 * the first cap octets. */
static uint64_t malformed(const uint8_t *opt, uint32_t optlen, uint32_t cap)
{
    struct scps_trace *t = scps_trace_new(NULL);
    struct scps_trace_totals o;
    feed(t, MS(0),
         (struct pkt){.flags = SCPS_ACK, .seq = 1, .opt = opt, .optlen = optlen, .cap = 40 + cap});
    const struct scps_trace_conn c = finished(t);
    scps_trace_get_totals(t, &o);
    assert_int_equal(o.tcp_packets, 1);
    assert_int_equal(o.truncated, cap < optlen);
    scps_trace_free(t);
    return c.a2b.bad_options;
}

static void options_of_which_a_part_was_captured(void **state)
{
    static const uint8_t stamps[12] = {1, 1, 8, 10}, mss[4] = {2, 4, 5, 180},
                         beyond[8] = {1, 1, 8, 10}, none[8] = {1, 1, 8, 1},
                         wrong[12] = {2, 5, 5, 180, 0, 1, 8, 10};
    (void)state;
    for (uint32_t cap = 0; cap <= 12; cap++)
        assert_int_equal(malformed(stamps, 12, cap), 0);
    for (uint32_t cap = 0; cap <= 4; cap++)
        assert_int_equal(malformed(mss, 4, cap), 0);
    /* The header itself has no room for the ten octets, which shows from the length on. */
    for (uint32_t cap = 0; cap <= 8; cap++)
        assert_int_equal(malformed(beyond, 8, cap), cap >= 4);
    /* A length of one octet is too short. */
    for (uint32_t cap = 0; cap <= 8; cap++)
        assert_int_equal(malformed(none, 8, cap), cap >= 4);
    /* An option of a wrong length was captured, and the one behind it was not. */
    for (uint32_t cap = 0; cap <= 12; cap++)
        assert_int_equal(malformed(wrong, 12, cap), cap >= 5);
}

static const uint8_t *stamped(uint32_t val, uint32_t ecr)
{
    static uint8_t o[12] = {1, 1, 8, 10};
    scps_put32(o + 4, val);
    scps_put32(o + 8, ecr);
    return o;
}

#define A(f, s, n, val, ecr)                                                                       \
    (struct pkt)                                                                                   \
    {                                                                                              \
        .flags = (f), .seq = (s), .ack = 500, .len = (n), .opt = stamped(val, ecr), .optlen = 12   \
    }
#define B(f, s, a, val, ecr)                                                                       \
    (struct pkt)                                                                                   \
    {                                                                                              \
        .b2a = true, .flags = (f), .seq = (s), .ack = (a), .opt = stamped(val, ecr), .optlen = 12  \
    }

/* The first SYN is lost, so that no acknowledgement gives a sample (Karn), but its timestamp does.
 * The first segment of data is lost, too. Without SACK its duplicate acknowledgements do not bring
 * it back, since the sender ignores them; 205 ms of silence later its timer does. */
static void timeout_after_a_syn_sent_again(void **state)
{
    struct scps_trace *t = scps_trace_new(NULL);
    (void)state;
    feed(t, MS(0), A(SCPS_SYN, 100, 0, 1000, 0));
    feed(t, MS(1000), A(SCPS_SYN, 100, 0, 2000, 0));
    feed(t, MS(1001), B(SCPS_SYN | SCPS_ACK, 499, 101, 7000, 2000));
    feed(t, MS(1002), A(SCPS_ACK, 101, 0, 2001, 7000));
    for (uint32_t i = 0; i < 6; i++)
        feed(t, MS(1003), A(SCPS_ACK, 101 + i * 1000, 1000, 2001, 7000));
    for (uint32_t i = 0; i < 5; i++)
        feed(t, MS(1004), B(SCPS_ACK, 500, 101, 7001, 2001));
    feed(t, MS(1209), A(SCPS_ACK, 101, 1000, 2207, 7001));
    feed(t, MS(1210), B(SCPS_ACK, 500, 6101, 7207, 2207));
    const struct scps_trace_conn c = finished(t);
    assert_int_equal(c.a2b.rtt_samples, 0);
    assert_int_equal(c.a2b.tsrtt_samples, 1);
    assert_true(c.a2b.tsrtt_min > 0.9 && c.a2b.tsrtt_max < 1.1);
    assert_int_equal(c.a2b.resent_timeout, 2);
    assert_int_equal(c.a2b.resent_dupack, 0);
    scps_trace_free(t);
}

/* An acknowledgement of end b with one SACK block, [left, right). */
static struct pkt sacking(uint32_t ack, uint32_t left, uint32_t right)
{
    static uint8_t o[12] = {1, 1, 5, 10};
    scps_put32(o + 4, left);
    scps_put32(o + 8, right);
    return (struct pkt){
        .b2a = true, .flags = SCPS_ACK, .seq = 500, .ack = ack, .opt = o, .optlen = 12};
}

/* A packet of six segments, which segmentation offload behind the capture point has cut, is
 * acknowledged in its middle. What is missing of it is sent again one by one, sooner after each
 * other than a round trip. */
static void parts_of_a_packet_sent_again(void **state)
{
    struct scps_trace *t = scps_trace_new(NULL);
    (void)state;
    feed(t, MS(0), A(SCPS_SYN, 100, 0, 1, 0));
    feed(t, MS(20), B(SCPS_SYN | SCPS_ACK, 499, 101, 1, 1));
    feed(t, MS(21), A(SCPS_ACK, 101, 0, 2, 1));
    feed(t, MS(22), A(SCPS_ACK, 101, 1800, 3, 1));
    feed(t, MS(23), A(SCPS_ACK, 1901, 1800, 4, 1));
    feed(t, MS(43), B(SCPS_ACK, 500, 701, 5, 3)); /* 600 of the first 1800 octets */
    for (uint32_t i = 0; i < 4; i++) {
        feed(t, MS(44 + 2 * i), sacking(701, 1901, 2201 + i * 300));
        feed(t, MS(45 + 2 * i), A(SCPS_ACK, 701 + i * 300, 300, 25 + i, 5));
    }
    const struct scps_trace_conn c = finished(t);
    assert_int_equal(c.a2b.rexmt_data_pkts, 4);
    assert_int_equal(c.a2b.resent_sack, 4);
    scps_trace_free(t);
}

/* The timer expires for the first of three segments, of which the second is reported by SACK. After
 * both have been acknowledged the third, the highest, is sent again, after 1.5 round trips: that is
 * the rest of the recovery and no tail loss probe (RFC 8985 section 7.2). */
static void no_tail_probe_in_recovery(void **state)
{
    struct scps_trace *t = scps_trace_new(NULL);
    (void)state;
    feed(t, MS(0), A(SCPS_SYN, 100, 0, 1, 0));
    feed(t, MS(1), B(SCPS_SYN | SCPS_ACK, 499, 101, 1, 1));
    feed(t, MS(2), A(SCPS_ACK, 101, 0, 2, 1));
    for (uint32_t i = 0; i < 3; i++)
        feed(t, MS(3), A(SCPS_ACK, 101 + i * 1000, 1000, 3, 1));
    feed(t, MS(4), sacking(101, 1101, 2101));
    feed(t, MS(304), A(SCPS_ACK, 101, 1000, 304, 4));
    feed(t, MS(305), B(SCPS_ACK, 500, 2101, 305, 304));
    feed(t, MS(308), A(SCPS_ACK, 2101, 1000, 308, 305));
    const struct scps_trace_conn c = finished(t);
    assert_int_equal(c.a2b.rexmt_data_pkts, 2);
    assert_int_equal(c.a2b.resent_timeout, 2);
    assert_int_equal(c.a2b.resent_tail_probe, 0);
    scps_trace_free(t);
}

/* A capture of the accepting end's packets alone. The client has closed the first connection by a
 * reset, or not at all as far as that shows, and connects again from the same port, within the old
 * window. SYN-ACKs with other cookies for the same SYN (RFC 4987 section 3.6) are of one
 * connection. */
static void one_direction_of_two_connections(void **state)
{
    (void)state;
    for (int fin = 0; fin < 2; fin++)
        for (int cookie = 0; cookie < 2; cookie++) {
            struct scps_trace *t = scps_trace_new(NULL);
            feed(t, MS(0), B(SCPS_SYN | SCPS_ACK, 499, 101, 1, 1));
            feed(t, MS(1), B(SCPS_ACK, 500, 2101, 2, 2));
            if (fin)
                feed(t, MS(2), B(SCPS_ACK | SCPS_FIN, 500, 2101, 3, 3));
            feed(t, MS(20), B(SCPS_SYN | SCPS_ACK, 3000, cookie ? 101 : 5001, 4, 4));
            feed(t, MS(21), B(SCPS_ACK, 3001, 6001, 5, 5));
            scps_trace_finish(t);
            assert_int_equal(scps_trace_conns(t), cookie ? 1 : 2);
            scps_trace_free(t);
        }
    struct scps_trace *t = scps_trace_new(NULL);
    feed(t, MS(0), B(SCPS_SYN | SCPS_ACK, 499, 101, 1, 1));
    feed(t, MS(1), B(SCPS_SYN | SCPS_ACK, 600, 201, 2, 2));
    scps_trace_finish(t);
    /* There was nothing but SYNs. */
    assert_int_equal(scps_trace_conns(t), 1);
    scps_trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_which_a_part_was_captured),
        cmocka_unit_test(timeout_after_a_syn_sent_again),
        cmocka_unit_test(parts_of_a_packet_sent_again),
        cmocka_unit_test(no_tail_probe_in_recovery),
        cmocka_unit_test(one_direction_of_two_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
