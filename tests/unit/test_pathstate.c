/* SPDX-License-Identifier: MIT */
/* A saved path state (RFC 9959): what is written can be read, and each fault of the octets has its
 * verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/pathstate.h"

#define NOW INT64_C(1790000000)

static struct scps_path_values values(void)
{
    return (struct scps_path_values){.saved_at = NOW - 60,
                                     .cwnd = 18750000,
                                     .rate = 31250000,
                                     .rtt = SCPS_MS(600),
                                     .limit_found = true,
                                     .local = {4, {10, 0, 0, 1}},
                                     .remote = {4, {10, 0, 0, 2}}};
}

/* Returns the verdict about `octets` for a connection with the addresses that values() sets. */
static enum scps_path_verdict judged(const void *octets, size_t len, int64_t now,
                                     struct scps_path_values *p)
{
    *p = values();
    p->saved_at = 0;
    p->cwnd = p->rate = 0;
    p->rtt = 0;
    p->limit_found = false;
    return scps_pathstate_read(p, octets, len, now, 3600);
}

static void what_is_written_is_read(void **state)
{
    struct scps_path_values in = values(), out;
    struct scps_path_state s;
    (void)state;

    scps_pathstate_write(&in, &s);
    assert_memory_equal(s.octet, "SCPSPATH\0\1\0\1\0\0\0\4", 16);
    assert_int_equal(judged(s.octet, sizeof s.octet, NOW, &out), SCPS_PATH_TAKEN);
    assert_int_equal(out.saved_at, NOW - 60);
    assert_int_equal(out.cwnd, 18750000);
    assert_int_equal(out.rate, 31250000);
    assert_int_equal(out.rtt, SCPS_MS(600));
    assert_true(out.limit_found);
}

/* CRC-32 of "123456789" is 0xcbf43926. The second value is the checksum of the state above,
 * computed with zlib. */
static void the_checksum_is_crc32(void **state)
{
    struct scps_path_values in = values();
    struct scps_path_state s;
    (void)state;

    scps_pathstate_write(&in, &s);
    assert_memory_equal(s.octet + 84, "\x9d\xa9\xa4\xcb", 4);
}

static void every_flipped_bit_is_found(void **state)
{
    struct scps_path_values in = values(), out;
    struct scps_path_state s;
    (void)state;

    scps_pathstate_write(&in, &s);
    for (size_t i = 0; i < 8 * sizeof s.octet; i++) {
        enum scps_path_verdict v;
        s.octet[i / 8] ^= (uint8_t)(1u << i % 8);
        v = judged(s.octet, sizeof s.octet, NOW, &out);
        assert_int_equal(v, i < 64   ? SCPS_PATH_FOREIGN
                            : i < 80 ? SCPS_PATH_VERSION
                                     : SCPS_PATH_CORRUPT);
        assert_int_equal(out.cwnd, 0); /* Nothing of a refused state is used. */
        s.octet[i / 8] ^= (uint8_t)(1u << i % 8);
    }
}

static void other_sizes_all_ones_and_zeros(void **state)
{
    struct scps_path_values in = values(), out;
    uint8_t longer[SCPS_PATH_STATE_SIZE + 1] = {0};
    struct scps_path_state s;
    (void)state;

    scps_pathstate_write(&in, &s);
    memcpy(longer, s.octet, sizeof s.octet);
    for (size_t len = 0; len < sizeof s.octet; len++)
        assert_int_equal(judged(s.octet, len, NOW, &out), SCPS_PATH_FOREIGN);
    assert_int_equal(judged(longer, sizeof longer, NOW, &out), SCPS_PATH_FOREIGN);
    memset(s.octet, 0xff, sizeof s.octet);
    assert_int_equal(judged(s.octet, sizeof s.octet, NOW, &out), SCPS_PATH_FOREIGN);
    memset(s.octet, 0, sizeof s.octet);
    assert_int_equal(judged(s.octet, sizeof s.octet, NOW, &out), SCPS_PATH_FOREIGN);
}

/* States with a correct checksum whose values are out of range are refused. */
static void ranges(void **state)
{
    static const struct {
        uint64_t cwnd, rate;
        scps_dur rtt;
        int64_t at;
    } bad[] = {{0, 1, 1, 1},          {1, 0, 1, 1},
               {1, 1, 0, 1},          {(UINT64_C(1) << 40) + 1, 1, 1, 1},
               {1, UINT64_MAX, 1, 1}, {1, 1, SCPS_SEC(86400) + 1, 1},
               {1, 1, -1, 1},         {1, 1, 1, -1}};
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct scps_path_values in = values(), out;
        struct scps_path_state s;
        in.cwnd = bad[i].cwnd;
        in.rate = bad[i].rate;
        in.rtt = bad[i].rtt;
        in.saved_at = bad[i].at;
        scps_pathstate_write(&in, &s);
        assert_int_equal(judged(s.octet, sizeof s.octet, NOW, &out), SCPS_PATH_RANGE);
    }
}

/* RFC 9959 section 3.2: another Remote Endpoint, or another interface, is another path. */
static void other_addresses(void **state)
{
    struct scps_path_values in, out;
    struct scps_path_state s;
    (void)state;

    for (int i = 0; i < 3; i++) {
        in = values();
        if (i == 0)
            in.remote.b[3] = 3;
        else if (i == 1)
            in.local.b[3] = 3;
        else
            in.remote.family = in.local.family = 6;
        scps_pathstate_write(&in, &s);
        assert_int_equal(judged(s.octet, sizeof s.octet, NOW, &out), SCPS_PATH_DESTINATION);
    }
}

static void future_and_lifetime(void **state)
{
    struct scps_path_values in = values(), out;
    struct scps_path_state s;
    (void)state;

    scps_pathstate_write(&in, &s);
    assert_int_equal(judged(s.octet, sizeof s.octet, NOW - 61, &out), SCPS_PATH_FUTURE);
    assert_int_equal(judged(s.octet, sizeof s.octet, NOW - 60, &out), SCPS_PATH_TAKEN);
    assert_int_equal(judged(s.octet, sizeof s.octet, NOW - 60 + 3600, &out), SCPS_PATH_TAKEN);
    assert_int_equal(judged(s.octet, sizeof s.octet, NOW - 60 + 3601, &out), SCPS_PATH_EXPIRED);
}

static void verdicts_phases_and_reasons_have_names(void **state)
{
    (void)state;
    for (int v = SCPS_PATH_TAKEN; v <= SCPS_PATH_NO_MEMORY; v++) {
        assert_string_not_equal(scps_path_verdict_name((enum scps_path_verdict)v), "?");
        assert_string_not_equal(scps_path_verdict_words((enum scps_path_verdict)v), "?");
    }
    for (int p = SCPS_RESUME_NORMAL; p <= SCPS_RESUME_REFUSED; p++)
        assert_string_not_equal(scps_resume_phase_name((enum scps_resume_phase)p), "?");
    for (int w = SCPS_RESUME_RESTORED; w <= SCPS_RESUME_RETREATED; w++)
        assert_string_not_equal(scps_resume_why_name((enum scps_resume_why)w), "?");
    assert_string_equal(scps_resume_phase_name(SCPS_RESUME_RETREAT), "safe-retreat");
    assert_string_equal(scps_resume_why_name(SCPS_RESUME_RETREATED), "retreated");
    assert_string_equal(scps_path_verdict_name(SCPS_PATH_NO_MEMORY), "no-memory");
    assert_string_equal(scps_path_verdict_name((enum scps_path_verdict)99), "?");
    assert_string_equal(scps_path_verdict_words((enum scps_path_verdict)99), "?");
    assert_string_equal(scps_resume_phase_name((enum scps_resume_phase)99), "?");
    assert_string_equal(scps_resume_why_name((enum scps_resume_why)99), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_checksum_is_crc32),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(other_sizes_all_ones_and_zeros),
        cmocka_unit_test(ranges),
        cmocka_unit_test(other_addresses),
        cmocka_unit_test(future_and_lifetime),
        cmocka_unit_test(verdicts_phases_and_reasons_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
