/* SPDX-License-Identifier: MIT */
/* core/config.c: every setting has the default and the bounds of <scps/settings.def>. */
#include "cmocka_all.h"

#include "core/conn.h"

#include "base/field.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *field;
    size_t at, size;
    int64_t def, least, most;
} rows[] = {
#define SCPS_SETTING(name, field, kind, def, least, most, ...)                                     \
    {#name,                                                                                        \
     #field,                                                                                       \
     offsetof(struct scps_conn_config, field),                                                     \
     sizeof(((struct scps_conn_config *)0)->field),                                                \
     def,                                                                                          \
     least,                                                                                        \
     most},
#include <scps/settings.def>
};

#define ROWS (sizeof rows / sizeof *rows)

static int64_t value(const struct scps_conn_config *c, size_t i)
{
    return scps_field_get((const char *)c + rows[i].at, rows[i].size);
}

/* Returns the result of checking a configuration with value v in row i and the defaults
 * otherwise. */
static int with(size_t i, int64_t v)
{
    struct scps_conn_config c = scps_conn_config_default();

    scps_field_put((char *)&c + rows[i].at, rows[i].size, v);
    return scps_config_resolve(&c);
}

/* Returns true for comp_proto (the protocol number of compressed segments), which allows only three
 * of the numbers between its bounds. */
static bool has_holes(size_t i)
{
    return strcmp(rows[i].name, "comp_proto") == 0;
}

static void defaults(void **state)
{
    struct scps_conn_config c = scps_conn_config_default();

    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        if (value(&c, i) != rows[i].def)
            fail_msg("%s is %lld", rows[i].name, (long long)value(&c, i));
    assert_string_equal(c.cc->name, "vj");
    assert_int_equal(scps_config_resolve(&c), 0);
    assert_int_equal(c.keep_count, 9);
    assert_int_equal(c.syn_retries, 8);
}

/* RFC 6298 section 2: the margin of the timeout above SRTT covers the delayed acknowledgement of a
 * peer with the same settings, and the time of the segment on the line. */
static void the_timeout_covers_a_delayed_acknowledgement(void **state)
{
    (void)state;
    for (scps_dur rtt = 0; rtt <= SCPS_SEC(100); rtt = rtt ? 10 * rtt : 10)
        for (scps_dur delay = 0; delay <= SCPS_MS(500); delay += SCPS_MS(25)) {
            struct scps_conn_config c = scps_conn_config_default();
            c.expected_rtt = rtt;
            c.ack_delay = delay;
            assert_int_equal(scps_config_resolve(&c), 0);
            assert_true(c.rto_min >= c.ack_delay + (rtt ? rtt / 4 : SCPS_MS(50)));
            assert_true(rtt || c.rto_min >= SCPS_MS(200));
            assert_true(delay || c.ack_delay == (rtt ? SCPS_MIN(rtt, SCPS_MS(200)) : SCPS_MS(150)));
        }
}

static void bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t room = rows[i].size < 8 ? (UINT64_C(1) << 8 * rows[i].size) - 1 : INT64_MAX;

        if (with(i, rows[i].least) || with(i, rows[i].most))
            fail_msg("%s refuses a bound", rows[i].name);
        if (rows[i].least > 1 && with(i, rows[i].least - 1) != SCPS_ERR_RANGE)
            fail_msg("%s takes less than its least", rows[i].name);
        if ((uint64_t)rows[i].most < room && with(i, rows[i].most + 1) != SCPS_ERR_RANGE)
            fail_msg("%s takes more than its most", rows[i].name);
        if (rows[i].size == 8 && with(i, -1) != SCPS_ERR_RANGE)
            fail_msg("%s takes less than nothing", rows[i].name);
        if (has_holes(i) && with(i, rows[i].least + 1) != SCPS_ERR_RANGE)
            fail_msg("%s takes a number that it does not name", rows[i].name);
    }
}

/* The value 0 stands for the default where 0 lies outside the bounds. */
static void zero_stands_for_the_default(void **state)
{
    struct scps_conn_config c = {.cc = scps_cc_find("vj")};

    (void)state;
    assert_int_equal(scps_config_resolve(&c), 0);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].least > 0)
            assert_true(value(&c, i) == rows[i].def);
    assert_int_equal(c.ttl, 64);
    assert_int_equal(c.sndbuf, 1 << 20);
    assert_int_equal(c.keep_idle, SCPS_SEC(7200));
    assert_int_equal(c.mss, 0);
    assert_false(c.sack);
}

/* Zero and extreme values of every field are accepted, or refused with the name of the field and
 * its bounds. */
static void every_refusal_names_its_field(void **state)
{
    const int64_t absurd[] = {INT64_MIN, INT64_MIN + 1, INT32_MIN, -1, 0, 1, INT32_MAX, INT64_MAX};
    unsigned refused = 0;
    (void)state;

    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < 12; j++) {
            struct scps_conn_config c = scps_conn_config_default();
            int64_t v = j < 8    ? absurd[j]
                        : j < 10 ? rows[i].least - 1 + (int64_t)(j - 8)
                                 : rows[i].most + (int64_t)(j - 10);
            char msg[200] = "as it was", want[200];
            int err;
            if (j == 11 && rows[i].most == INT64_MAX)
                continue;
            scps_field_put((char *)&c + rows[i].at, rows[i].size, v);
            v = scps_field_get((const char *)&c + rows[i].at, rows[i].size);
            err = scps_conn_config_check(&c, msg, sizeof msg);
            assert_int_equal(err, scps_conn_config_check(&c, NULL, 0));
            assert_int_equal(err, with(i, v));
            if (!err) {
                assert_string_equal(msg, "");
                continue;
            }
            refused++;
            assert_int_equal(err, SCPS_ERR_RANGE);
            /* The setting is a time, which is signed. */
            if (rows[i].most == SCPS_SEC(INT64_C(3153600000)))
                snprintf(want, sizeof want, "%s: %lld: give ", rows[i].field, (long long)v);
            else
                snprintf(want, sizeof want, "%s: %llu: give ", rows[i].field,
                         (unsigned long long)v);
            if (strncmp(msg, want, strlen(want)) != 0)
                fail_msg("%s: %lld: the message is \"%s\"", rows[i].name, (long long)v, msg);
        }
    assert_true(refused > ROWS); /* Most fields refuse more than one of the values. */
}

static void refusals_name_controller_and_bindings(void **state)
{
    struct scps_conn_config c = scps_conn_config_default();
    char msg[200], few[8];
    (void)state;

    c.cc = NULL;
    assert_int_equal(scps_conn_config_check(&c, msg, sizeof msg), SCPS_ERR_INVAL);
    assert_memory_equal(msg, "cc: no controller", 17);
    c = scps_conn_config_default();
    c.cc_param[0] = INT64_MAX;
    assert_int_equal(scps_conn_config_check(&c, msg, sizeof msg), SCPS_ERR_RANGE);
    assert_memory_equal(msg, "cc_param: ", 10);
    assert_non_null(strstr(msg, c.cc->params[0].name));
    c = scps_conn_config_default();
    c.binding[0].len = SCPS_BINDING_MAX + 1;
    assert_int_equal(scps_conn_config_check(&c, msg, sizeof msg), SCPS_ERR_RANGE);
    assert_memory_equal(msg, "binding: len: ", 14);
    c = scps_conn_config_default();
    c.sndbuf = 12;
    assert_int_equal(scps_conn_config_check(&c, msg, sizeof msg), SCPS_ERR_RANGE);
    assert_string_equal(msg, "sndbuf: 12: give 256 to 1073741824");
    assert_int_equal(scps_conn_config_check(&c, few, sizeof few), SCPS_ERR_RANGE);
    assert_string_equal(few, "sndbuf:"); /* A message that does not fit is cut and ends with a 0. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_timeout_covers_a_delayed_acknowledgement),
        cmocka_unit_test(defaults),
        cmocka_unit_test(bounds),
        cmocka_unit_test(zero_stands_for_the_default),
        cmocka_unit_test(every_refusal_names_its_field),
        cmocka_unit_test(refusals_name_controller_and_bindings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
