/* SPDX-License-Identifier: MIT */
/* core/config.c: every setting of <scps/settings.def> has the default and the bounds that stand
 * there. */
#include "cm.h"

#include "core/conn.h"

#include "base/field.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at, size;
    int64_t def, least, most;
} rows[] = {
#define SCPS_SETTING(name, field, kind, def, least, most, ...)                                     \
    {#name,                                                                                        \
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

/* What a configuration that has v in row i, and else the defaults, is answered. */
static int with(size_t i, int64_t v)
{
    struct scps_conn_config c = scps_conn_config_default();

    scps_field_put((char *)&c + rows[i].at, rows[i].size, v);
    return scps_config_resolve(&c);
}

/* Protocol numbers of compressed segments have holes between their bounds. */
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
    assert_int_equal(c.syn_retries, 7);
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

/* 0 outside the bounds stands for the default. */
static void zeros(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(bounds),
        cmocka_unit_test(zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
