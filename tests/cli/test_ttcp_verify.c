/* SPDX-License-Identifier: MIT */
/* apps/scps_ttcp/verify.c: received bytes are compared with those sent, in pieces of any size. */
#include "cmocka_all.h"

#include "scps_ttcp/verify.h"

#include <stdlib.h>
#include <string.h>

/* Returns octet i of a stream that has no period, so that a shifted copy differs. */
static uint8_t at(uint64_t i)
{
    return (uint8_t)((i * 2654435761u) >> 24 ^ i);
}

static void fill(uint8_t *p, size_t len, uint64_t pos)
{
    for (size_t i = 0; i < len; i++)
        p[i] = at(pos + i);
}

static void pieces_of_any_size_match(void **state)
{
    struct ttcp_verify v = {0};
    static uint8_t buf[70000];
    uint64_t sent = 0, got = 0;
    uint32_t x = 12345;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        size_t n;

        x = x * 1103515245u + 12345;
        n = (x >> 8) % (i % 10 == 0 ? sizeof(buf) : 2000) + 1;
        if (x & 0x80) {
            fill(buf, n, sent);
            assert_int_equal(ttcp_verify_sent(&v, buf, n), 0);
            sent += n;
        } else {
            if (n > sent - got)
                n = (size_t)(sent - got);
            fill(buf, n, got);
            assert_true(ttcp_verify_got(&v, buf, n));
            got += n;
        }
        assert_int_equal(v.matched, got);
        assert_int_equal(v.len, sent - got);
    }
    assert_true(sent > 1u << 20);
    ttcp_verify_fini(&v);
}

static void one_wrong_byte_is_found_where_it_is(void **state)
{
    struct ttcp_verify v = {0};
    uint8_t buf[1000];

    (void)state;
    for (int i = 0; i < 200; i++) {
        fill(buf, sizeof(buf), (uint64_t)i * 1000);
        assert_int_equal(ttcp_verify_sent(&v, buf, sizeof(buf)), 0);
    }
    for (int i = 0; i < 123; i++) {
        fill(buf, sizeof(buf), (uint64_t)i * 1000);
        assert_true(ttcp_verify_got(&v, buf, sizeof(buf)));
    }
    fill(buf, sizeof(buf), 123000);
    buf[456] ^= 1;
    assert_false(ttcp_verify_got(&v, buf, sizeof(buf)));
    assert_true(v.differs);
    assert_int_equal(v.matched, 123456);
    /* The difference stays reported, whatever is read afterwards. */
    fill(buf, sizeof(buf), 124000);
    assert_false(ttcp_verify_got(&v, buf, sizeof(buf)));
    assert_int_equal(v.matched, 123456);
    ttcp_verify_fini(&v);
}

static void bytes_never_sent_are_found(void **state)
{
    struct ttcp_verify v = {0};

    (void)state;
    assert_false(ttcp_verify_got(&v, "x", 1));
    assert_true(v.differs);
    ttcp_verify_fini(&v);
    assert_int_equal(ttcp_verify_sent(&v, "abc", 3), 0);
    assert_false(ttcp_verify_got(&v, "abcd", 4));
    assert_int_equal(v.matched, 3);
    ttcp_verify_fini(&v);
}

static void a_repeated_block_differs(void **state)
{
    struct ttcp_verify v = {0};
    uint8_t buf[2048];

    (void)state;
    fill(buf, sizeof(buf), 0);
    assert_int_equal(ttcp_verify_sent(&v, buf, sizeof(buf)), 0);
    assert_true(ttcp_verify_got(&v, buf, 1024));
    assert_false(ttcp_verify_got(&v, buf, 1024));
    ttcp_verify_fini(&v);
}

static void holes_are_passed_over(void **state)
{
    struct ttcp_verify v = {0};
    uint8_t buf[3000];

    (void)state;
    fill(buf, sizeof(buf), 0);
    assert_int_equal(ttcp_verify_sent(&v, buf, sizeof(buf)), 0);
    assert_true(ttcp_verify_got(&v, buf, 1000));
    assert_true(ttcp_verify_skip(&v, 500));
    assert_true(ttcp_verify_got(&v, buf + 1500, 1000));
    assert_int_equal(v.matched, 2000);
    assert_int_equal(v.skipped, 500);
    assert_false(ttcp_verify_skip(&v, 501)); /* more bytes than were sent and not read */
    assert_true(v.differs);
    ttcp_verify_fini(&v);
    assert_false(ttcp_verify_skip(&v, 1));
    ttcp_verify_fini(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size_match),
        cmocka_unit_test(one_wrong_byte_is_found_where_it_is),
        cmocka_unit_test(bytes_never_sent_are_found),
        cmocka_unit_test(a_repeated_block_differs),
        cmocka_unit_test(holes_are_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
