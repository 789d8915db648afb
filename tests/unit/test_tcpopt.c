/* SPDX-License-Identifier: MIT */
/* wire/tcpopt.c: the standard TCP options in Linux's order, and invalid options of every length at
 * every place. */
#include "base/bytes.h"
#include "base/prng.h"
#include "opts.h"

/* The options of a SYN as Linux sends them (in packetdrill's notation beside the octets). */
static void syn_order(void **x)
{
    struct scps_seg s = {.mss = 1460, .wscale = 7, .tsval = 0x11223344, .tsecr = 0x55667788};
    (void)x;
    s.has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_TS | SCPS_HAS_WSCALE;
    opts_expect(&s, "020405b4 0402080a 11223344 55667788 01030307"); /* mss,sackOK,TS,nop,wscale */
    s.has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_WSCALE;
    opts_expect(&s, "020405b4 01010402 01030307"); /* mss,nop,nop,sackOK,nop,wscale */
    s.has = SCPS_HAS_MSS | SCPS_HAS_TS | SCPS_HAS_WSCALE;
    opts_expect(&s, "020405b4 0101080a 11223344 55667788 01030307"); /* mss,nop,nop,TS,nop,wscale */
    s.has = SCPS_HAS_MSS | SCPS_HAS_WSCALE;
    opts_expect(&s, "020405b4 01030307");
    s.has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_TS;
    opts_expect(&s, "020405b4 0402080a 11223344 55667788");
    s.has = SCPS_HAS_MSS | SCPS_HAS_SACK_OK;
    opts_expect(&s, "020405b4 01010402");
    s.has = SCPS_HAS_MSS;
    opts_expect(&s, "020405b4");
    s.has = 0;
    opts_expect(&s, "");
}

static void data_order(void **x)
{
    struct scps_seg s = {.tsval = 1,
                         .tsecr = 2,
                         .nsack = 4,
                         .sack = {{0x10, 0x11}, {0x20, 0x21}, {0x30, 0x31}, {0x40, 0x41}}};
    (void)x;
    s.has = SCPS_HAS_TS;
    opts_expect(&s, "0101080a 00000001 00000002");
    s.has = SCPS_HAS_SACK; /* Without time stamps four SACK blocks fit. */
    opts_expect(&s, "01010522 00000010 00000011 00000020 00000021 00000030 00000031 00000040 "
                    "00000041");
    s.has = SCPS_HAS_TS | SCPS_HAS_SACK; /* With time stamps three fit; the last one is left out. */
    opts_expect(&s, "0101080a 00000001 00000002 0101051a 00000010 00000011 00000020 00000021 "
                    "00000030 00000031");
    s.nsack = 1;
    opts_expect(&s, "0101080a 00000001 00000002 0101050a 00000010 00000011");
    s.nsack = 0;
    opts_expect(&s, "0101080a 00000001 00000002");
    s.has = SCPS_HAS_SACK;
    opts_expect(&s, "");
    s.nsack = 200; /* No more blocks are written than the structure has. */
    assert_int_equal(scps_tcp_hdr_len(&s), 56);
}

static void values(void **x)
{
    struct scps_seg s = opts_parse_hex("020405b4 0402080a 11223344 55667788 01030307");
    (void)x;
    assert_int_equal(s.has, SCPS_HAS_MSS | SCPS_HAS_SACK_OK | SCPS_HAS_TS | SCPS_HAS_WSCALE);
    assert_int_equal(s.mss, 1460);
    assert_int_equal(s.wscale, 7);
    assert_int_equal(s.tsval, 0x11223344);
    assert_int_equal(s.tsecr, 0x55667788);
    assert_int_equal(s.nsack, 0);
    s = opts_parse_hex("01010522 00000010 00000011 00000020 00000021 00000030 00000031 fffffff0 "
                       "00000041");
    assert_int_equal(s.has, SCPS_HAS_SACK);
    assert_int_equal(s.nsack, 4);
    assert_int_equal(s.sack[0].left, 0x10);
    assert_int_equal(s.sack[2].right, 0x31);
    assert_int_equal(s.sack[3].left, 0xfffffff0);
    /* The parser returns a shift above 14; the caller limits it. */
    s = opts_parse_hex("0303ff 01");
    assert_int_equal(s.wscale, 255);
}

/* RFC 9293 section 3.1: unknown options are skipped by their length; an impossible length ends
 * parsing. */
static void unknown_options_and_impossible_lengths(void **x)
{
    (void)x;
    assert_int_equal(opts_parse_hex("fe04aaaa 020405b4").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("fe02 01 020405b4").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("fe00aaaa 020405b4").has, 0);
    assert_int_equal(opts_parse_hex("fe01aaaa 020405b4").has, 0);
    assert_int_equal(opts_parse_hex("fe010101 020405b4").has, 0);
    assert_int_equal(opts_parse_hex("020405b4 fe00").has, SCPS_HAS_MSS);
    /* The option reaches beyond the end. */
    assert_int_equal(opts_parse_hex("020405b4 fe05aabb").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("00000000 020405b4").has, 0); /* Kind 0 ends the list. */
    assert_int_equal(opts_parse_hex("01010102").has, 0); /* The kind has no room for its length. */
    /* An option with a known kind and a wrong length is skipped. */
    assert_int_equal(opts_parse_hex("0203aa 0402 010101").has, SCPS_HAS_SACK_OK);
    assert_int_equal(opts_parse_hex("020505b4aa 0402 01").has, SCPS_HAS_SACK_OK);
    assert_int_equal(opts_parse_hex("0403aa 020405b4 01").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("0302 020405b4 0101").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("03040707 020405b4").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("0809aaaaaaaaaaaaaa 020405b4 010101").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("0502 020405b4 0101").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("0509aaaaaaaaaaaaaa 020405b4 010101").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("050baaaaaaaaaaaaaaaaaa 020405b4 01").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("1003aa 020405b4 01").has, SCPS_HAS_MSS);
    /* Of two MSS options the later one counts. */
    assert_int_equal(opts_parse_hex("020405b4 02040100").mss, 256);
}

/* Every kind and every length at every place: nothing is read beyond the options, and options
 * before the invalid one are understood. */
static void invalid_options_at_every_place(void **x)
{
    (void)x;
    for (unsigned at = 0; at < 40; at++)
        for (unsigned kind = 0; kind < 256; kind++)
            for (unsigned len = 0; len <= 42; len++) {
                uint8_t o[40];
                memset(o, 1, sizeof o);
                bool mss = at >= 4;
                if (mss)
                    memcpy(o, "\x02\x04\x02\x18", 4);
                o[at] = (uint8_t)kind;
                if (at + 1 < 40)
                    o[at + 1] = (uint8_t)len;
                struct scps_seg s = opts_parse(o, 40);
                if (mss && kind != SCPS_OPT_MSS)
                    assert_true((s.has & SCPS_HAS_MSS) && s.mss == 536);
                assert_true(s.nsack <= SCPS_SACK_MAX);
                assert_true(s.snack_vec_len <= SCPS_SNACK_VEC_MAX);
                if (s.has & SCPS_HAS_XCAPS)
                    assert_true(s.xcaps_len <= 38);
                else if (kind == SCPS_OPT_CAPS && len > 4 && at + len <= 40)
                    fail_msg("an extended capability of length %u at %u was lost", len, at);
            }
}

static void random_options(void **x)
{
    struct scps_prng r;
    (void)x;
    scps_prng_seed(&r, 5);
    for (int i = 0; i < 200000; i++) {
        static const uint8_t kinds[] = {0, 1, 2, 3, 4, 5, 8, 20, 21, 22, 23, 10, 14, 16, 254};
        uint8_t o[40], p[60];
        size_t n = scps_prng_below(&r, 41), k = 0;
        while (k < n) {
            o[k++] = kinds[1 + scps_prng_below(&r, sizeof kinds - 1)];
            if (k < n && o[k - 1] != 1)
                o[k++] = (uint8_t)scps_prng_below(&r, 14);
            for (uint64_t body = scps_prng_below(&r, 10); body && k < n; body--)
                o[k++] = (uint8_t)scps_prng_next(&r);
        }
        struct scps_seg s = opts_parse(o, n), t;
        /* The options that were understood can be built and parsed again with the same result. */
        size_t len = scps_tcp_build(p, &s);
        assert_int_equal(len, scps_tcp_hdr_len(&s));
        assert_true(len >= 20 && len <= 60 && len % 4 == 0);
        assert_int_equal(scps_tcp_parse(p, len, len, &t), 0);
        uint16_t must =
            SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK | SCPS_HAS_TS | SCPS_HAS_CAPS;
        assert_int_equal(t.has & must, s.has & must);
        assert_int_equal(t.has & ~s.has, 0);
        if (s.has & SCPS_HAS_MSS)
            assert_int_equal(t.mss, s.mss);
        if (s.has & SCPS_HAS_WSCALE)
            assert_int_equal(t.wscale, s.wscale);
        if (s.has & SCPS_HAS_TS)
            assert_true(t.tsval == s.tsval && t.tsecr == s.tsecr);
        if (s.has & SCPS_HAS_CAPS)
            assert_true(t.caps == s.caps && t.conn_id == s.conn_id);
        if (t.has & SCPS_HAS_SACK) {
            assert_true(t.nsack > 0 && t.nsack <= s.nsack);
            assert_memory_equal(t.sack, s.sack, t.nsack * sizeof t.sack[0]);
        }
        if (t.has & SCPS_HAS_SNACK) {
            assert_true(t.snack_off == s.snack_off && t.snack_size == s.snack_size);
            assert_true(t.snack_vec_len <= s.snack_vec_len);
            assert_memory_equal(t.snack_vec, s.snack_vec, t.snack_vec_len);
        }
        if (t.has & SCPS_HAS_XCAPS) {
            assert_int_equal(t.xcaps_len, s.xcaps_len);
            assert_memory_equal(t.xcaps, s.xcaps, s.xcaps_len);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syn_order),
        cmocka_unit_test(data_order),
        cmocka_unit_test(values),
        cmocka_unit_test(unknown_options_and_impossible_lengths),
        cmocka_unit_test(invalid_options_at_every_place),
        cmocka_unit_test(random_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
