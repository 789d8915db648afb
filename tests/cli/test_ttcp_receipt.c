/* SPDX-License-Identifier: MIT */
/* apps/scps_ttcp/receipt.c: the receiver's result as a line, and the checksum in it. */
#include "cmocka_all.h"

#include "scps_ttcp/receipt.h"

#include <stdio.h>
#include <string.h>

static const struct ttcp_receipt sample = {.there = true,
                                           .bytes = 16777216,
                                           .missing = 3,
                                           .us = 3120456,
                                           .segments = 11587,
                                           .out_of_order = 12,
                                           .duplicate = 1448,
                                           .sum = UINT64_C(0xf0123456789abcde)};

static bool same(const struct ttcp_receipt *a, const struct ttcp_receipt *b)
{
    return a->there == b->there && a->bytes == b->bytes && a->missing == b->missing &&
           a->us == b->us && a->segments == b->segments && a->out_of_order == b->out_of_order &&
           a->duplicate == b->duplicate && a->sum == b->sum;
}

static void what_is_printed_is_read(void **state)
{
    const struct ttcp_receipt most = {.there = true,
                                      .bytes = UINT64_MAX,
                                      .missing = UINT64_MAX,
                                      .us = INT64_MAX,
                                      .segments = UINT64_MAX,
                                      .out_of_order = UINT64_MAX,
                                      .duplicate = UINT64_MAX,
                                      .sum = UINT64_MAX};
    char line[TTCP_RECEIPT_LINE];
    struct ttcp_receipt got = {0};
    size_t len = ttcp_receipt_print(line, &sample);

    (void)state;
    assert_int_equal(len, strlen(line));
    assert_true(ttcp_receipt_parse(line, &got));
    assert_true(same(&got, &sample));
    assert_in_range(ttcp_receipt_print(line, &most), 1, TTCP_RECEIPT_LINE - 1);
    assert_true(ttcp_receipt_parse(line, &got));
    assert_true(same(&got, &most));
}

/* The parser refuses every part of the line that is cut short, and the line with any octet changed
 * to one that cannot be there. */
static void anything_else_is_refused(void **state)
{
    char line[TTCP_RECEIPT_LINE], bad[TTCP_RECEIPT_LINE];
    struct ttcp_receipt got = sample;
    size_t len = ttcp_receipt_print(line, &sample);

    (void)state;
    for (size_t n = 0; n < len; n++) {
        snprintf(bad, sizeof(bad), "%.*s", (int)n, line);
        assert_false(ttcp_receipt_parse(bad, &got));
        memcpy(bad, line, len + 1);
        bad[n] = '#';
        assert_false(ttcp_receipt_parse(bad, &got));
    }
    assert_false(ttcp_receipt_parse("scps_ttcp-result 1 bytes=18446744073709551616 missing=0 us=1 "
                                    "segments=1 out_of_order=0 duplicate=0 sum=1\n",
                                    &got));
    assert_false(ttcp_receipt_parse("scps_ttcp-result 1 bytes=1 missing=0 us=9223372036854775808 "
                                    "segments=1 out_of_order=0 duplicate=0 sum=1\n",
                                    &got));
    assert_true(same(&got, &sample));
}

static uint64_t sum_in_pieces(const uint8_t *data, size_t len, size_t piece)
{
    struct ttcp_digest d = {{0}, 0, {0}};

    for (size_t at = 0; at < len; at += piece)
        ttcp_digest_add(&d, data + at, len - at < piece ? len - at : piece);
    assert_int_equal(d.bytes, len);
    return ttcp_digest_value(&d);
}

static void the_sum_is_of_the_stream_not_of_its_pieces(void **state)
{
    uint8_t data[301];
    uint64_t whole;

    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 37 + i / 7);
    for (size_t len = 0; len <= sizeof(data); len++) {
        whole = sum_in_pieces(data, len, sizeof(data));
        for (size_t piece = 1; piece < 70; piece++)
            assert_true(sum_in_pieces(data, len, piece) == whole);
    }
}

/* The checksum changes if any bit is flipped, any two neighbouring octets are exchanged, or an
 * octet is added or removed. */
static void the_sum_sees_damage(void **state)
{
    uint8_t data[100] = {0};
    uint64_t whole = sum_in_pieces(data, sizeof(data), 100);

    (void)state;
    for (size_t n = 0; n < 100; n++)
        assert_true(sum_in_pieces(data, n, 100) != whole); /* data that consists of zeros */
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 91 + 7);
    whole = sum_in_pieces(data, sizeof(data), 100);
    for (size_t bit = 0; bit < 8 * sizeof(data); bit++) {
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(sum_in_pieces(data, sizeof(data), 100) != whole);
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t i = 0; i + 1 < sizeof(data); i++) {
        uint8_t keep[100];

        memcpy(keep, data, sizeof(keep));
        keep[i] = data[i + 1];
        keep[i + 1] = data[i];
        assert_true(sum_in_pieces(keep, sizeof(keep), 100) != whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_is_read),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(the_sum_is_of_the_stream_not_of_its_pieces),
        cmocka_unit_test(the_sum_sees_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
