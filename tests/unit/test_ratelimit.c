/* SPDX-License-Identifier: MIT */
/* core/ratelimit.c: how many replies a host may send in each second. */
#include "cmocka_all.h"
#include "core/ratelimit.h"

static const uint64_t key[2] = {1, 2}, other[2] = {3, 4};

/* Returns the number of replies that the limit allows at time `now`. */
static unsigned taken(struct scps_ratelimit *r, const uint64_t k[2], scps_time now)
{
    unsigned n = 0;

    while (scps_ratelimit_take(r, k, now))
        n++;
    return n;
}

static void the_first_second_has_the_whole_limit(void **state)
{
    struct scps_ratelimit r;
    (void)state;

    scps_ratelimit_begin(&r, 100, 0, SCPS_SEC(5));
    assert_int_equal(taken(&r, key, SCPS_SEC(5)), 100);
    assert_int_equal(taken(&r, key, SCPS_SEC(6) - 1), 0);
    assert_true(scps_ratelimit_take(&r, key, SCPS_SEC(6)));
}

/* RFC 5961 section 7 recommends a limit. A limit that is the same in each second can be measured by
 * an attacker (CVE-2016-5696). */
static void later_seconds_differ(void **state)
{
    struct scps_ratelimit r, s;
    unsigned same = 0, least = 100, most = 0;
    (void)state;

    scps_ratelimit_begin(&r, 100, 0, 0);
    scps_ratelimit_begin(&s, 100, 0, 0);
    for (int i = 1; i <= 200; i++) {
        unsigned a = taken(&r, key, SCPS_SEC(i)), b = taken(&s, other, SCPS_SEC(i));
        same += a == b; /* Another host has another key, so its limits differ. */
        least = a < least ? a : least;
        most = a > most ? a : most;
    }
    assert_true(same < 20);
    assert_in_range(least, 50, 55);
    assert_in_range(most, 95, 100);
}

/* Two limits of one host, of replies of different kinds, differ, too: an attacker cannot compute
 * the random part of one from that of the other. */
static void salts_differ(void **state)
{
    struct scps_ratelimit r, s;
    unsigned same = 0;
    (void)state;

    scps_ratelimit_begin(&r, 100, 0, 0);
    scps_ratelimit_begin(&s, 100, UINT32_MAX, 0);
    for (int i = 1; i <= 200; i++)
        same += taken(&r, key, SCPS_SEC(i)) == taken(&s, key, SCPS_SEC(i));
    assert_true(same < 20);
}

static void a_limit_of_none(void **state)
{
    struct scps_ratelimit r;
    (void)state;

    scps_ratelimit_begin(&r, 0, 0, 0);
    assert_int_equal(taken(&r, key, 0), 0);
    assert_int_equal(taken(&r, key, SCPS_SEC(1)), 0);
    scps_ratelimit_begin(&r, 1, 0, 0);
    for (int i = 0; i < 100; i++) /* A limit of 1 cannot vary. */
        assert_int_equal(taken(&r, key, SCPS_SEC(i)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_second_has_the_whole_limit),
        cmocka_unit_test(later_seconds_differ),
        cmocka_unit_test(salts_differ),
        cmocka_unit_test(a_limit_of_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
