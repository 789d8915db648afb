/* SPDX-License-Identifier: MIT */
/* The cache of destinations that do not answer the SCPS capabilities option: bounded in number and
 * in time. */
#include "cmocka_all.h"
#include "failing_alloc.h"
#include "stack/stack.h"

static struct poor mem;
static struct scps_stack st;
static struct scps_conn c;
static struct scps_tx tx;
static struct scps_shared_config cfg;

static int begin(void **state)
{
    (void)state;
    mem = (struct poor){.left = UINT32_MAX};
    memset(&st, 0, sizeof st);
    st.env.alloc = (struct scps_alloc){poor_alloc, poor_free, &mem};
    st.cfg.plain_hosts = 3;
    st.cfg.plain_memory = SCPS_SEC(600);
    cfg.c.caps_tries = 3;
    c.s.ctx.cfg = &cfg;
    c.s.tx = &tx;
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

/* Host n answers a SYN of a connection that was opened at time `opened`, after `lost` timeouts;
 * caps: its SYN-ACK has the capabilities. The SYN has them only if `lost` is less than caps_tries
 * and the peer has sent no reset. */
static void answers(unsigned n, unsigned lost, bool caps, scps_time opened)
{
    c.remote = host(n);
    c.opened = opened;
    c.s.agreed.opts = caps ? SCPS_AGREED_CAPS : 0;
    scps_agreed_plainly(&c.s.agreed, caps ? SCPS_PLAIN_NO : SCPS_PLAIN_FELL_BACK);
    scps_silence_go_on(&tx.silence, (uint16_t)lost);
    scps_plain_learn(&st.env, &c);
}

/* The capabilities cause a reset. */
static void remember(unsigned n)
{
    answers(n, 0, false, st.env.now);
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

/* Silence of the link looks the same, so one connection alone shows nothing. */
static void twice_in_a_row(void **state)
{
    (void)state;
    st.env.now = SCPS_SEC(100);
    answers(1, 3, false, SCPS_SEC(93));
    assert_false(known(1));
    /* This connection was opened before the answer to the first one. */
    answers(1, 3, false, SCPS_SEC(99));
    assert_false(known(1));
    st.env.now = SCPS_SEC(150);
    answers(1, 3, false, SCPS_SEC(143));
    assert_true(known(1));
    assert_false(known(2));
    st.env.now += SCPS_SEC(600);
    assert_false(known(1));
    /* After the entry has expired one connection is enough. */
    answers(1, 3, false, st.env.now - SCPS_SEC(7));
    assert_true(known(1));
}

static void an_end_of_the_series(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        st.env.now += SCPS_SEC(50);
        answers(1, 3, false, st.env.now - SCPS_SEC(7));
        assert_false(known(1));
        st.env.now += SCPS_SEC(50);
        if (k == 0) /* The host answers a SYN with capabilities. */
            answers(1, 1, true, st.env.now - SCPS_SEC(1));
        else if (k == 1) /* A SYN without capabilities was lost, too. */
            answers(1, 4, false, st.env.now - SCPS_SEC(15));
        else /* The first time was too long ago. */
            st.env.now += SCPS_SEC(600);
    }
    answers(1, 3, false, st.env.now - SCPS_SEC(7));
    assert_false(known(1));
    /* The host is remembered, and then answers a SYN with capabilities that was sent before. */
    st.env.now += SCPS_SEC(50);
    answers(1, 3, false, st.env.now - SCPS_SEC(7));
    assert_true(known(1));
    answers(1, 4, true, st.env.now - SCPS_SEC(15));
    assert_false(known(1));
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
        CASE(for_some_time),        CASE(for_some_hosts), CASE(twice_in_a_row),
        CASE(an_end_of_the_series), CASE(switched_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
