/* SPDX-License-Identifier: MIT */
/* The cache of destinations that do not answer the SCPS capabilities option: bounded in number and
 * in time. */
#include "cmocka_all.h"
#include "failing_alloc.h"
#include "stack/stack.h"

static struct poor mem;
static struct scps_stack st;
static struct scps_conn c;

static int begin(void **state)
{
    (void)state;
    mem = (struct poor){.left = UINT32_MAX};
    memset(&st, 0, sizeof st);
    st.env.alloc = (struct scps_alloc){poor_alloc, poor_free, &mem};
    st.cfg.plain_hosts = 3;
    st.cfg.plain_memory = SCPS_SEC(600);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scps_plain_free(&st);
    assert_null(st.plain);
    return mem.out != 0;
}

static struct scps_addr host(unsigned n)
{
    return (struct scps_addr){.family = 4, .b = {10, 0, 0, (uint8_t)n}};
}

static void remember(unsigned n)
{
    c.remote = host(n);
    scps_plain_remember(&st.env, &c);
}

static bool known(unsigned n)
{
    struct scps_addr a = host(n);

    return scps_plain_known(&st, &a);
}

static void for_some_time(void **state)
{
    (void)state;
    assert_false(known(1));
    remember(1);
    assert_true(known(1));
    assert_false(known(2));
    st.env.now = SCPS_SEC(600) - 1;
    assert_true(known(1));
    st.env.now++;
    assert_false(known(1));
    /* Host 1 has again answered only a SYN without capabilities, so it is stored again. */
    remember(1);
    assert_true(known(1));
}

/* A new entry replaces the one that expires first, and the same host has one entry only. */
static void for_some_hosts(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 3; i++, st.env.now += SCPS_SEC(1))
        remember(i);
    /* Host 1 is stored again with a later time, so the entry of host 2 expires first. */
    remember(1);
    remember(4);
    assert_true(known(1));
    assert_false(known(2));
    assert_true(known(3));
    assert_true(known(4));
}

static void switched_off(void **state)
{
    (void)state;
    st.cfg.plain_memory = 0;
    remember(1);
    assert_false(known(1));
    assert_int_equal(scps_plain_size(&st.cfg), 0);
    st.cfg.plain_memory = SCPS_SEC(1);
    st.cfg.plain_hosts = 0;
    remember(1);
    assert_int_equal(mem.out, 0);
    st.cfg.plain_hosts = 3;
    mem.left = 0; /* Without memory nothing is stored. */
    remember(1);
    assert_false(known(1));
    mem.left = 1;
    remember(1);
    assert_true(known(1));
    assert_int_equal(mem.out, scps_plain_size(&st.cfg));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(for_some_time),
        CASE(for_some_hosts),
        CASE(switched_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
