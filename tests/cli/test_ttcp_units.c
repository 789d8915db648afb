/* SPDX-License-Identifier: MIT */
/* apps/scps_ttcp/units.c: numbers with units as users write them, and rates as ttcp prints them. */
#include "cmocka_all.h"

#include "scps_ttcp/units.h"

static void size_is(const char *text, uint64_t want)
{
    uint64_t v = 1;

    if (units_size(text, &v) != 0 || v != want)
        fail_msg("%s is %llu, expected %llu", text, (unsigned long long)v,
                 (unsigned long long)want);
}

static void size_is_bad(const char *text)
{
    uint64_t v = 77;

    if (units_size(text, &v) == 0)
        fail_msg("%s is taken for %llu", text, (unsigned long long)v);
    assert_int_equal(v, 77);
}

static void sizes_count_in_1024(void **state)
{
    (void)state;
    size_is("0", 0);
    size_is("5700000", 5700000);
    size_is("24m", 24u << 20);
    size_is("24M", 24u << 20);
    size_is("64k", 65536);
    size_is("1G", 1u << 30);
    size_is("1.5K", 1536);
    size_is("64kib", 65536);
    size_is("1MiB", 1u << 20);
    size_is("64kb", 64000);
    size_is("1.5GB", 1500000000);
    size_is("0.5k", 512);
    size_is(".5k", 512);
    size_is("18446744073709551615", UINT64_MAX);
    size_is("16777215G", (uint64_t)16777215 << 30);
    size_is("2.0", 2);
    size_is_bad("1.5");
    size_is_bad("0.000000001");
    size_is_bad("");
    size_is_bad(".");
    size_is_bad("-1");
    size_is_bad("+1");
    size_is_bad(" 1");
    size_is_bad("1 ");
    size_is_bad("1T");
    size_is_bad("0x10");
    size_is_bad("1.2.3");
    size_is_bad("18446744073709551616");
    size_is_bad("17179869184G");
    size_is_bad("99999999999999999999999999");
}

static void rates_count_in_1000(void **state)
{
    uint64_t v;

    (void)state;
    assert_int_equal(units_rate("80000000", &v), 0);
    assert_int_equal(v, 80000000);
    assert_int_equal(units_rate("80m", &v), 0);
    assert_int_equal(v, 80000000);
    assert_int_equal(units_rate("80M", &v), 0);
    assert_int_equal(v, 80000000);
    assert_int_equal(units_rate("2.4k", &v), 0);
    assert_int_equal(v, 2400);
    assert_int_equal(units_rate("115.2kbit/s", &v), 0);
    assert_int_equal(v, 115200);
    assert_int_equal(units_rate("10Gbit", &v), 0);
    assert_int_equal(v, 10000000000u);
    assert_int_equal(units_rate("1e6", &v), -1);
    assert_int_equal(units_rate("fast", &v), -1);
    assert_int_equal(units_rate("18446744073709551615k", &v), -1);
    assert_int_equal(units_rate("70000g", &v), 0);
    assert_int_equal(units_rate("70001g", &v), -1);
}

static void times_are_seconds_unless_said(void **state)
{
    scps_dur v;

    (void)state;
    assert_int_equal(units_time("2", &v), 0);
    assert_int_equal(v, 2000000);
    assert_int_equal(units_time("0.25", &v), 0);
    assert_int_equal(v, 250000);
    assert_int_equal(units_time("200ms", &v), 0);
    assert_int_equal(v, 200000);
    assert_int_equal(units_time("10us", &v), 0);
    assert_int_equal(v, 10);
    assert_int_equal(units_time("40min", &v), 0);
    assert_int_equal(v, (int64_t)2400 * 1000000);
    assert_int_equal(units_time("3h", &v), 0);
    assert_int_equal(v, (int64_t)10800 * 1000000);
    assert_int_equal(units_time("0.000001", &v), 0);
    assert_int_equal(v, 1);
    assert_int_equal(units_time("0", &v), -1);
    assert_int_equal(units_time("0.0000001", &v), -1);
    assert_int_equal(units_time("-1", &v), -1);
    /* refused: "m" could mean minutes or milliseconds */
    assert_int_equal(units_time("1m", &v), -1);
    assert_int_equal(units_time("9223372036854775807", &v), -1);
}

static void numbers_are_whole(void **state)
{
    uint64_t v;

    (void)state;
    assert_int_equal(units_number("5001", 1, 65535, &v), 0);
    assert_int_equal(v, 5001);
    assert_int_equal(units_number("18446744073709551615", 0, UINT64_MAX, &v), 0);
    assert_true(v == UINT64_MAX);
    assert_int_equal(units_number("0", 1, 65535, &v), -1);
    assert_int_equal(units_number("65536", 1, 65535, &v), -1);
    assert_int_equal(units_number("1.0", 1, 65535, &v), -1);
    assert_int_equal(units_number("7k", 1, 65535, &v), -1);
    assert_int_equal(units_number("", 0, 65535, &v), -1);
}

static void bps_is(uint64_t bytes, scps_dur us, uint64_t want)
{
    uint64_t v = units_bps(bytes, us);

    if (v != want)
        fail_msg("%llu bytes in %lld us: %llu, expected %llu", (unsigned long long)bytes,
                 (long long)us, (unsigned long long)v, (unsigned long long)want);
}

static void bits_per_second_never_overflow(void **state)
{
    (void)state;
    bps_is(0, 1000000, 0);
    bps_is(1000, 0, 0);
    bps_is(1000, -5, 0);
    bps_is(125000000, 1000000, 1000000000);
    bps_is(10000000, 3000000, 26666666);
    bps_is(1, 3, 2666666);
    /* the bytes that a line of 10 Gbit/s carries in a Mars year, 5.9e7 s */
    bps_is((uint64_t)59000000 * 1250000000, (scps_dur)59000000 * 1000000, 10000000000u);
    /* the largest number of bytes, in a second and in ten years */
    bps_is(UINT64_MAX, 1000000, UINT64_MAX);
    bps_is((uint64_t)1 << 62, (scps_dur)315360000 * 1000000,
           (((uint64_t)1 << 62) / ((uint64_t)315360000 * 1000000)) * 8 * 1000000);
}

static void rate_prints(const char *want, uint64_t bytes, scps_dur us, char unit)
{
    char buf[48];

    assert_string_equal(units_print_rate(buf, bytes, us, unit), want);
}

static void rates_print_in_ttcps_units(void **state)
{
    (void)state;
    rate_prints("80.00 Mbit/sec", 10000000, 1000000, 'm');
    rate_prints("80000.00 kbit/sec", 10000000, 1000000, 'k');
    rate_prints("0.08 Gbit/sec", 10000000, 1000000, 'g');
    rate_prints("9.54 MB/sec", 10000000, 1000000, 'M');
    rate_prints("9765.63 KB/sec", 10000000, 1000000, 'K');
    rate_prints("0.01 GB/sec", 10000000, 1000000, 'G');
    /* 0.999992 Mbit/s is rounded up to the next digit in front of the point */
    rate_prints("1.00 Mbit/sec", 124999, 1000000, 'm');
    rate_prints("0.00 Mbit/sec", 0, 0, 'm');
    rate_prints("160.00 bit/sec", 20, 1000000, 'a');
    rate_prints("1.60 kbit/sec", 200, 1000000, 'a');
    rate_prints("999.99 kbit/sec", 124999, 1000000, 'a');
    rate_prints("1.00 Mbit/sec", 125000, 1000000, 'a');
    rate_prints("9999.99 Mbit/sec", 1249999000, 1000000, 'a');
    rate_prints("10.00 Gbit/sec", 1250000000, 1000000, 'a');
    rate_prints("20.00 B/sec", 20, 1000000, 'A');
    rate_prints("1.00 KB/sec", 1024, 1000000, 'A');
    rate_prints("1.00 MB/sec", 1u << 20, 1000000, 'A');
    rate_prints("1.00 GB/sec", 1u << 30, 1000000, 'A');
}

static void seconds_print_rounded(void **state)
{
    char buf[32];

    (void)state;
    assert_string_equal(units_print_seconds(buf, 1234567, 6), "1.234567");
    assert_string_equal(units_print_seconds(buf, 1234567, 3), "1.235");
    assert_string_equal(units_print_seconds(buf, 1234567, 0), "1");
    assert_string_equal(units_print_seconds(buf, 1500000, 0), "2");
    assert_string_equal(units_print_seconds(buf, 0, 2), "0.00");
    assert_string_equal(units_print_seconds(buf, 999999, 2), "1.00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_count_in_1024),
        cmocka_unit_test(rates_count_in_1000),
        cmocka_unit_test(times_are_seconds_unless_said),
        cmocka_unit_test(numbers_are_whole),
        cmocka_unit_test(bits_per_second_never_overflow),
        cmocka_unit_test(rates_print_in_ttcps_units),
        cmocka_unit_test(seconds_print_rounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
