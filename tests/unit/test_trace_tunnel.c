/* SPDX-License-Identifier: MIT */
/* trace/tunnel.c: several IP packets of the UDP tunnel in one captured datagram, because
 * segmentation offload has joined them. */
#include "cmocka_all.h"

#include "base/bytes.h"
#include "trace/flow.h"
#include "trace/parse.h"

static uint8_t frame[9000];
static uint32_t length; /* octets of the outer packet so far */

static void checksum(uint8_t *ip)
{
    scps_put16(ip + 10, 0);
    uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2)
        sum += scps_get16(ip + i);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    scps_put16(ip + 10, (uint16_t)~sum);
}

/* Appends an IPv4 packet of len octets, with protocol `proto`, whose TCP header has the number
 * seq. */
static void ip4(uint32_t len, uint8_t proto, uint32_t seq)
{
    uint8_t *ip = frame + length;
    memset(ip, 0, len);
    ip[0] = 0x45;
    scps_put16(ip + 2, (uint16_t)len);
    ip[8] = 64;
    ip[9] = proto;
    scps_put32(ip + 12, 0x0a000001);
    scps_put32(ip + 16, 0x0a000002);
    checksum(ip);
    if (proto == SCPS_IPPROTO_TCP) {
        scps_put32(ip + 20, 5000u << 16 | 80);
        scps_put32(ip + 24, seq);
        ip[32] = 0x50;
        ip[33] = 0x10;
    }
    length += len;
}

static void ip6(uint32_t len, uint32_t seq)
{
    uint8_t *ip = frame + length;
    memset(ip, 0, len);
    ip[0] = 0x60;
    scps_put16(ip + 4, (uint16_t)(len - 40));
    ip[6] = SCPS_IPPROTO_TCP;
    ip[7] = 64;
    ip[23] = 1;
    ip[39] = 2;
    scps_put32(ip + 40, 5000u << 16 | 80);
    scps_put32(ip + 44, seq);
    ip[52] = 0x50;
    ip[53] = 0x10;
    length += len;
}

static void begin(void)
{
    memset(frame, 0, sizeof frame);
    length = 28;
}

/* Analyses the datagram with the packets appended since begin(). captured: number of octets that
 * the capture has of it; 0: all. Returns what was counted. */
static struct scps_trace_totals analysed(uint32_t captured)
{
    struct scps_trace *t = scps_trace_new(NULL);
    struct scps_trace_totals o;
    frame[0] = 0x45;
    scps_put16(frame + 2, (uint16_t)length);
    frame[8] = 64;
    frame[9] = SCPS_IPPROTO_UDP;
    scps_put32(frame + 12, 0x7f000001);
    scps_put32(frame + 16, 0x7f000001);
    checksum(frame);
    scps_put32(frame + 20, 7001u << 16 | 7002);
    scps_put16(frame + 24, (uint16_t)(length - 20));
    struct scps_trace_pkt p = {.at = 1000000,
                               .data = frame,
                               .caplen = captured ? captured : length,
                               .len = length,
                               .link = 101};
    assert_true(scps_trace_packet(t, &p) >= 0);
    scps_trace_get_totals(t, &o);
    assert_int_equal(o.packets, 1);
    scps_trace_free(t);
    return o;
}

static void expect(struct scps_trace_totals o, unsigned tcp, unsigned unread, unsigned other)
{
    assert_int_equal(o.tcp_packets, tcp);
    assert_int_equal(o.encapsulated, tcp);
    assert_int_equal(o.joined_unread, unread);
    assert_int_equal(o.other_protocol, other);
    assert_int_equal(o.truncated, 0);
    assert_int_equal(o.bad_ip + o.bad_tcp, 0);
}

static void all_are_read(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < 5; i++)
        ip4(i < 4 ? 1472 : 700, SCPS_IPPROTO_TCP, 1432 * i);
    expect(analysed(0), 5, 0, 0);
    begin();
    for (uint32_t i = 0; i < 3; i++)
        ip6(1000, 940 * i);
    expect(analysed(0), 3, 0, 0);
    /* A packet of another protocol among them is counted as such. */
    begin();
    ip4(600, SCPS_IPPROTO_ICMP, 0);
    ip4(600, SCPS_IPPROTO_TCP, 0);
    ip4(600, SCPS_IPPROTO_ICMP, 0);
    ip4(44, SCPS_IPPROTO_TCP, 560);
    expect(analysed(0), 2, 0, 2);
}

static void in_encapsulation_packets(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t len = i < 2 ? 500 : 60;
        frame[length] = 0x3a << 2 | 2; /* length field of two octets */
        frame[length + 1] = 0;
        scps_put16(frame + length + 2, (uint16_t)len);
        frame[length + 4] = 33;
        length += 5;
        ip4(len - 5, SCPS_IPPROTO_TCP, 455 * i);
    }
    expect(analysed(0), 3, 0, 0);
}

/* The snaplen has cut the datagram. */
static void not_captured(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < 5; i++)
        ip4(i < 4 ? 1000 : 300, SCPS_IPPROTO_TCP, 960 * i);
    expect(analysed(128), 1, 4, 0);
    expect(analysed(28 + 2000 + 69), 3, 2, 0);
    expect(analysed(28 + 2000 + 10), 2, 3, 0);
    /* The header of IPv6 has no checksum, so one alone shows no tunnel. */
    begin();
    for (uint32_t i = 0; i < 3; i++)
        ip6(1000, 940 * i);
    expect(analysed(128), 0, 0, 1);
}

/* What follows a packet is none, or has another length. */
static void garbage_is_not_read(void **state)
{
    (void)state;
    begin();
    ip4(500, SCPS_IPPROTO_TCP, 0);
    length += 500;
    expect(analysed(0), 0, 0, 1);
    begin();
    ip4(500, SCPS_IPPROTO_TCP, 0);
    ip4(500, SCPS_IPPROTO_TCP, 460);
    frame[length - 500 + 11] ^= 1; /* a wrong checksum of the IP header */
    expect(analysed(0), 0, 0, 1);
    begin();
    ip4(500, SCPS_IPPROTO_TCP, 0);
    ip4(500, SCPS_IPPROTO_TCP, 460);
    length += 900;
    expect(analysed(0), 2, 2, 0);
    begin();
    ip4(500, SCPS_IPPROTO_TCP, 0);
    ip4(500, SCPS_IPPROTO_TCP, 460);
    ip4(400, SCPS_IPPROTO_TCP, 920); /* A shorter one is the last. */
    ip4(500, SCPS_IPPROTO_TCP, 1280);
    expect(analysed(0), 2, 2, 0);
    begin();
    ip4(500, SCPS_IPPROTO_TCP, 0);
    ip4(600, SCPS_IPPROTO_TCP, 460);
    expect(analysed(0), 0, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_read),
        cmocka_unit_test(in_encapsulation_packets),
        cmocka_unit_test(not_captured),
        cmocka_unit_test(garbage_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
