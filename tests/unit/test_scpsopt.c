/* SPDX-License-Identifier: MIT */
/* wire/scpsopt.c: the options of SCPS-TP compared with octets captured from the reference
 * implementation (docs/SCPS-TP.md sections 1.5, 2.2 and 3). */
#include "opts.h"

enum { SYN = SCPS_HAS_CAPS | SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_TS };

static void golden_syns(void **x)
{
    struct scps_seg s = {.has = SYN, .mss = 1432, .wscale = 0, .tsval = 0xe17e4fb1};
    (void)x;
    s.caps = SCPS_CAP_SNACK1;
    opts_expect(&s, "14044000 02040598 01030300 0101080a e17e4fb1 00000000");
    s.caps = SCPS_CAP_BETS | SCPS_CAP_SNACK1;
    s.has = SYN | SCPS_HAS_BETS_OK;
    opts_expect(&s, "1404c000 02040598 01030300 01011002 0101080a e17e4fb1 00000000");
    s.has = SYN;
    s.caps = SCPS_CAP_SNACK1 | SCPS_CAP_COM;
    s.conn_id = 0x7c;
    opts_expect(&s, "1404507c 02040598 01030300 0101080a e17e4fb1 00000000");
    s.conn_id = 0xce;
    s.tsval = 0xe17e5442;
    s.tsecr = 0xe17e4fb1;
    opts_expect(&s, "140450ce 02040598 01030300 0101080a e17e5442 e17e4fb1");
    /* The reference implementation's option -Z: neither time stamps nor SNACK are offered. */
    s.caps = SCPS_CAP_BETS | SCPS_CAP_COM;
    s.conn_id = 0x1a;
    s.has = SCPS_HAS_CAPS | SCPS_HAS_MSS | SCPS_HAS_WSCALE;
    opts_expect(&s, "1404901a 02040598 01030300");
    /* SACK-permitted replaces two NOPs, as in a SYN of plain TCP. */
    s.has = SYN | SCPS_HAS_SACK_OK;
    opts_expect(&s, "1404901a 02040598 01030300 0402080a e17e5442 e17e4fb1");
    s.has = SCPS_HAS_CAPS | SCPS_HAS_MSS | SCPS_HAS_WSCALE | SCPS_HAS_SACK_OK;
    opts_expect(&s, "1404901a 02040598 01030300 01010402");
}

static void captured_syns(void **x)
{
    /* This SYN also offers best effort by BETS-permitted (10 02), the option that is older than
     * SCPS capabilities. */
    struct scps_seg s =
        opts_parse_hex("1404c000 02040598 01030300 01011002 0101080a e17e4fb1 00000000");
    (void)x;
    assert_int_equal(s.has, SYN | SCPS_HAS_BETS_OK);
    /* The option has a wrong length (3 octets), so it is ignored. */
    assert_int_equal(opts_parse_hex("100301 020405b4 01").has, SCPS_HAS_MSS);
    assert_int_equal(s.caps, SCPS_CAP_BETS | SCPS_CAP_SNACK1);
    assert_int_equal(s.conn_id, 0);
    assert_int_equal(s.mss, 1432);
    s = opts_parse_hex("1404507c 02040598 01030300 0101080a e17e4fb1 00000000");
    assert_int_equal(s.caps, SCPS_CAP_SNACK1 | SCPS_CAP_COM);
    assert_int_equal(s.conn_id, 0x7c);
    /* The option may stand anywhere, and its reserved bits are kept. */
    s = opts_parse_hex("02040598 1404ff01");
    assert_int_equal(s.caps, 0xff);
}

static void capabilities_of_odd_lengths(void **x)
{
    (void)x;
    assert_int_equal(opts_parse_hex("1402 020405b4 0101").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("140340 020405b4 01").has, SCPS_HAS_MSS);
    assert_int_equal(opts_parse_hex("1400 4000 020405b4").has, 0);
    assert_int_equal(opts_parse_hex("1401 4000 020405b4").has, 0);
    assert_int_equal(opts_parse_hex("020405b4 14094000").has, SCPS_HAS_MSS);
    /* Of two capability options the first one counts. */
    struct scps_seg s = opts_parse_hex("14044007 1404ff09 020405b4");
    assert_int_equal(s.has, SCPS_HAS_CAPS | SCPS_HAS_MSS);
    assert_int_equal(s.caps, 0x40);
    assert_int_equal(s.conn_id, 7);
}

static void extended_capabilities(void **x)
{
    struct scps_seg s = opts_parse_hex("14044007 14060110aabb 0101 020405b4 1405cccccc 010101");
    (void)x;
    assert_int_equal(s.has, SCPS_HAS_CAPS | SCPS_HAS_XCAPS | SCPS_HAS_MSS);
    assert_int_equal(s.xcaps_len, 4);
    assert_memory_equal(s.xcaps, "\x01\x10\xaa\xbb", 4);

    static const uint8_t value[40] = {0x01, 0x10, 0xaa, 0xbb};
    struct scps_seg b = {
        .has = SYN | SCPS_HAS_XCAPS, .caps = 0x40, .mss = 1432, .xcaps = value, .xcaps_len = 4};
    opts_expect(&b, "14044000 14060110aabb 0101 02040598 01030300 0101080a 00000000 00000000");
    /* This is the longest value beside all the other options: 40 octets in all. */
    b.xcaps_len = 14;
    opts_expect(&b, "14044000 14100110aabb00000000000000000000 02040598 01030300 0101080a 00000000 "
                    "00000000");
    b.xcaps_len = 15; /* With one octet more the whole option is left out. */
    opts_expect(&b, "14044000 02040598 01030300 0101080a 00000000 00000000");
    b.has = SCPS_HAS_CAPS | SCPS_HAS_XCAPS;
    b.xcaps_len = 34;
    assert_int_equal(scps_tcp_hdr_len(&b), 60);
    b.xcaps_len = 2; /* A value of this length would be parsed as the capability option itself. */
    opts_expect(&b, "14044000");
    /* The extended form is never sent without the capability option. */
    b.has = SCPS_HAS_XCAPS | SCPS_HAS_MSS;
    b.xcaps_len = 4;
    opts_expect(&b, "02040598");
    /* A header that is full has no room for the record option. */
    b.has = SYN | SCPS_HAS_XCAPS | SCPS_HAS_RECORD | SCPS_HAS_SNACK | SCPS_HAS_SACK;
    b.nsack = 1;
    b.xcaps_len = 14;
    assert_int_equal(scps_tcp_hdr_len(&b), 60);
}

static void golden_snacks(void **x)
{
    struct scps_seg s = {.has = SCPS_HAS_SNACK, .snack_off = 0, .snack_size = 1};
    (void)x;
    opts_expect(&s, "15060000 00010101");
    s.snack_off = 4;
    opts_expect(&s, "15060004 00010101");
    s.snack_off = 9;
    opts_expect(&s, "15060009 00010101");

    struct scps_seg p = opts_parse_hex("0101080a 00000001 00000002 15060004 00010101");
    assert_int_equal(p.has, SCPS_HAS_SNACK | SCPS_HAS_TS);
    assert_int_equal(p.snack_off, 4);
    assert_int_equal(p.snack_size, 1);
    assert_int_equal(p.snack_vec_len, 0);
    /* An option shorter than its two fields is ignored; a longer one has a bit vector. */
    assert_int_equal(opts_parse_hex("15050004 00 010101").has, 0);
    p = opts_parse_hex("15090004 0001abcdef 010101");
    assert_int_equal(p.has, SCPS_HAS_SNACK);
    assert_int_equal(p.snack_vec_len, 3);
    assert_memory_equal(p.snack_vec, "\xab\xcd\xef", 3);
    opts_expect(&p, "15090004 0001abcd ef010101");
    p = opts_parse_hex("15280004 0001"
                       "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 2021");
    assert_int_equal(p.snack_vec_len, SCPS_SNACK_VEC_MAX);
    assert_int_equal(p.snack_vec[31], 0x1f);
}

/* docs/SCPS-TP.md section 2.5: time stamps, SNACK and two SACK blocks fill the 40 octets
 * exactly. */
static void all_reports_together(void **x)
{
    struct scps_seg s = {.has = SCPS_HAS_TS | SCPS_HAS_SACK | SCPS_HAS_SNACK,
                         .tsval = 1,
                         .tsecr = 2,
                         .nsack = 4,
                         .sack = {{0x10, 0x11}, {0x20, 0x21}, {0x30, 0x31}},
                         .snack_off = 3,
                         .snack_size = 2};
    (void)x;
    opts_expect(&s, "0101080a 00000001 00000002 01010512 00000010 00000011 00000020 00000021 "
                    "15060003 00020101");
    s.has |= SCPS_HAS_RECORD; /* The record option takes the place of one SACK block. */
    opts_expect(&s, "0101080a 00000001 00000002 0101050a 00000010 00000011 15060003 00020101 "
                    "01011602");
    s.snack_vec_len = 32; /* The bit vector is cut to what fits, and no SACK block is sent. */
    opts_expect(&s, "0101080a 00000001 00000002 15180003 00020000 00000000 00000000 00000000 "
                    "00000000 01011602");
}

static void marks(void **x)
{
    struct scps_seg s = {.has = SCPS_HAS_RECORD};
    (void)x;
    opts_expect(&s, "01011602");
    s.has = SCPS_HAS_CORRUPTION;
    opts_expect(&s, "01011702");
    s.has = SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION;
    opts_expect(&s, "16021702");
    s.has |= SCPS_HAS_TS;
    opts_expect(&s, "0101080a 00000000 00000000 16021702");
    assert_int_equal(opts_parse_hex("01011602").has, SCPS_HAS_RECORD);
    assert_int_equal(opts_parse_hex("16021702").has, SCPS_HAS_RECORD | SCPS_HAS_CORRUPTION);
    /* With a body the option has no meaning, because it is defined without one. */
    assert_int_equal(opts_parse_hex("160300 170300 0101").has, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_syns),
        cmocka_unit_test(captured_syns),
        cmocka_unit_test(capabilities_of_odd_lengths),
        cmocka_unit_test(extended_capabilities),
        cmocka_unit_test(golden_snacks),
        cmocka_unit_test(all_reports_together),
        cmocka_unit_test(marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
