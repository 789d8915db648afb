/* SPDX-License-Identifier: MIT */
/* wire/print.c: the line of text about one packet. */
#include <scps/wire.h>
#include <string.h>

#include "base/bytes.h"
#include "base/prng.h"
#include "cmocka_all.h"
#include "hex.h"

static uint8_t pkt[2000];

/* Builds a packet with the headers of s and len octets of payload. Returns its length. */
static size_t packet(uint8_t version, const struct scps_seg *s, size_t len)
{
    struct scps_ip ip = {.version = version, .proto = SCPS_IPPROTO_TCP, .ttl = 64, .tos = s->tos};
    assert_int_equal(scps_addr_parse(version == 4 ? "10.0.0.1" : "2001:db8::1", &ip.src), 0);
    assert_int_equal(scps_addr_parse(version == 4 ? "10.0.0.2" : "2001:db8::2", &ip.dst), 0);
    size_t hdr = scps_tcp_hdr_len(s), n = scps_ip_build(pkt, &ip, hdr + len);
    return n + scps_tcp_build(pkt + n, s) + len;
}

static void expect(size_t len, const char *want)
{
    char line[512];
    assert_ptr_equal(scps_print_packet(pkt, len, line, sizeof line), line);
    assert_string_equal(line, want);
}

static void segments(void **x)
{
    struct scps_seg s = {.sport = 5001,
                         .dport = 5002,
                         .seq = 4294967290u,
                         .wnd = 32767,
                         .flags = SCPS_SYN,
                         .has = SCPS_HAS_CAPS | SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_TS,
                         .caps = SCPS_CAP_SNACK1 | SCPS_CAP_COM | 1,
                         .conn_id = 124,
                         .mss = 1432,
                         .tsval = 7};
    (void)x;
    expect(
        packet(4, &s, 0),
        "10.0.0.1.5001 > 10.0.0.2.5002: Flags [S], seq 4294967290, win 32767, options [caps snack1 "
        "com reserved 1 id 124,mss 1432,nop,wscale 0,nop,nop,TS val 7 ecr 0], length 0");
    s.flags = SCPS_ACK | SCPS_PSH | SCPS_ECE;
    s.has = SCPS_HAS_SACK | SCPS_HAS_SNACK | SCPS_HAS_RECORD;
    s.ack = 9;
    s.nsack = 2;
    s.sack[0] = (struct scps_sack){1, 2};
    s.sack[1] = (struct scps_sack){5, 4294967295u};
    s.snack_off = 3;
    s.snack_size = 1;
    s.tos = SCPS_ECN_CE;
    size_t len = packet(6, &s, 10);
    const char *want =
        "2001:db8::1.5001 > 2001:db8::2.5002: Flags [PE.], seq 4294967290:4, ack 9, "
        "win 32767, options [nop,nop,sack 2 {1:2}{5:4294967295},snack 3+1,nop,nop,nop,"
        "nop,record], length 10, CE";
    expect(len, want);
    expect(len - 10, want); /* The line is printed from the headers alone. */
    s.has = SCPS_HAS_SNACK | SCPS_HAS_CORRUPTION;
    s.snack_vec_len = 2;
    s.snack_vec[0] = 0xa5;
    s.snack_vec[1] = 0x0f;
    s.flags = SCPS_URG;
    s.urg = 77;
    s.tos = SCPS_ECN_ECT0;
    expect(packet(4, &s, 0),
           "10.0.0.1.5001 > 10.0.0.2.5002: Flags [U], seq 4294967290, win 32767, urg 77, options "
           "[snack 3+1 vec 0xa50f,nop,nop,corruption], length 0, ECT");
}

static void others(void **x)
{
    struct scps_seg s = {.sport = 1, .dport = 2};
    (void)x;
    size_t n = packet(4, &s, 0);
    hex("14060110aabb fe04ffff 01 0500 000000", pkt + 40, 16);
    pkt[32] = 0x90;
    scps_put16(pkt + 2, 56);
    scps_put16(pkt + 10, 0);
    scps_put16(pkt + 10, scps_cksum_fold(scps_cksum_add(0, pkt, 20)));
    expect(56, "10.0.0.1.1 > 10.0.0.2.2: Flags [-], seq 0, win 0, options [xcaps 0x0110aabb,"
               "unknown-254 0xffff,nop,bad opt], length 0");
    n = packet(4, &s, 0);
    expect(19, "[truncated] length 19");
    pkt[10] ^= 1;
    expect(n, "[bad_ip_checksum] length 40");
    struct scps_ip ip = {.version = 4, .proto = 105, .more_frags = true, .frag_off = 1480, .id = 7};
    ip.src = ip.dst = (struct scps_addr){4, {127, 0, 0, 1}};
    scps_ip_build(pkt, &ip, 100);
    expect(120, "127.0.0.1 > 127.0.0.1: fragment of protocol 105, id 7, offset 1480+, length 100");
    ip.more_frags = false;
    ip.frag_off = 0;
    scps_ip_build(pkt, &ip, 100);
    expect(120, "127.0.0.1 > 127.0.0.1: protocol 105, length 100");
    ip.proto = SCPS_IPPROTO_UDP;
    scps_ip_build(pkt, &ip, 12);
    hex("00350036000c0000", pkt + 20, 8);
    expect(32, "127.0.0.1.53 > 127.0.0.1.54: UDP, length 4");
    ip.proto = SCPS_IPPROTO_ICMP;
    scps_ip_build(pkt, &ip, 8);
    hex("0800f7ff00000000", pkt + 20, 8);
    expect(28, "127.0.0.1 > 127.0.0.1: ICMP echo request");
}

static void flags(void **x)
{
    char b[10];
    (void)x;
    assert_string_equal(scps_print_flags(SCPS_SYN | SCPS_ACK, b), "S.");
    assert_string_equal(scps_print_flags(SCPS_FIN | SCPS_PSH | SCPS_ACK, b), "FP.");
    assert_string_equal(scps_print_flags(0xff, b), "FSRPUEW.");
    assert_string_equal(scps_print_flags(SCPS_ACK, b), ".");
    assert_string_equal(scps_print_flags(0, b), "-");
}

/* For any octets and any size of the text buffer, the text ends within the buffer. */
static void bounded(void **x)
{
    struct scps_prng r;
    (void)x;
    scps_prng_seed(&r, 6);
    for (int i = 0; i < 50000; i++) {
        struct scps_seg s = {.has = 0};
        size_t n = packet(i % 2 ? 4 : 6, &s, 0), cap = scps_prng_below(&r, 300);
        char line[302];
        for (uint64_t k = scps_prng_below(&r, 30); k; k--)
            pkt[scps_prng_below(&r, 100)] = (uint8_t)scps_prng_next(&r);
        for (size_t k = n; k < 100; k++)
            pkt[k] = (uint8_t)scps_prng_next(&r);
        memset(line, 'x', sizeof line);
        scps_print_packet(pkt, scps_prng_below(&r, 101), line, cap);
        assert_int_equal(line[cap], 'x');
        if (cap)
            assert_non_null(memchr(line, 0, cap));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments),
        cmocka_unit_test(others),
        cmocka_unit_test(flags),
        cmocka_unit_test(bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
