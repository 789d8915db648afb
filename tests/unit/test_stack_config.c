/* SPDX-License-Identifier: MIT */
/* stack/config.c: a configuration that is refused is reported by the name of its field, and
 * scps_stack_new() refuses the same ones as scps_stack_config_check(). */
#include "cmocka_all.h"

#include <scps/conn.h>
#include <scps/error.h>
#include <scps/stack.h>

#include <string.h>

/* An allocator that refuses every request and counts them. */
static void *refuse(void *ctx, size_t n)
{
    (void)n;
    ++*(unsigned *)ctx;
    return NULL;
}

static void ignore(void *ctx, void *mem, size_t n)
{
    (void)ctx, (void)mem, (void)n;
}

/* Returns the result of checking c. Opening a stack gives the same message; if the check accepts c,
 * opening fails for lack of memory. */
static int check(const struct scps_stack_config *c, char msg[200])
{
    char small[12] = "unchanged", opened[200] = "unchanged";
    struct scps_stack_config with = *c;
    unsigned asked = 0;
    int err;

    strcpy(msg, "unchanged");
    err = scps_stack_config_check(c, msg, 200);
    assert_int_equal(scps_stack_config_check(c, NULL, 0), err);
    assert_int_equal(scps_stack_config_check(c, small, sizeof small), err);
    assert_true(strlen(small) == sizeof small - 1 || strcmp(small, msg) == 0);
    assert_memory_equal(small, msg, strlen(small));
    assert_true(!err == !*msg);
    if (!c->alloc.alloc && !c->alloc.free)
        with.alloc = (struct scps_alloc){refuse, ignore, &asked};
    assert_null(scps_stack_open(&with, opened, sizeof opened));
    assert_int_equal(asked, !err);
    if (err)
        assert_string_equal(opened, msg);
    else
        assert_memory_equal(opened, "alloc: ", 7);
    return err;
}

#define REFUSED(field, value, words)                                                               \
    do {                                                                                           \
        struct scps_stack_config c = scps_stack_config_default();                                  \
        char msg[200];                                                                             \
        c.field = (value);                                                                         \
        assert_int_equal(check(&c, msg), SCPS_ERR_RANGE);                                          \
        assert_string_equal(msg, words);                                                           \
        assert_int_equal(scps_memory_bound(&c, NULL, 1), 0);                                       \
    } while (0)

#define TAKEN(field, value)                                                                        \
    do {                                                                                           \
        struct scps_stack_config c = scps_stack_config_default();                                  \
        char msg[200];                                                                             \
        c.field = (value);                                                                         \
        assert_int_equal(check(&c, msg), 0);                                                       \
        assert_true(scps_memory_bound(&c, NULL, 1) > 0);                                           \
    } while (0)

static void every_refusal_names_its_field(void **state)
{
    (void)state;
    REFUSED(now, -1, "now: -1: give 0 to 4611686018427387903");
    REFUSED(now, SCPS_NEVER, "now: 9223372036854775807: give 0 to 4611686018427387903");
    REFUSED(answer_rate, (UINT64_C(1) << 43) + 1,
            "answer_rate: 8796093022209: give 0 to 8796093022208");
    REFUSED(answer_rate, UINT64_MAX, "answer_rate: 18446744073709551615: give 0 to 8796093022208");
    REFUSED(plain_hosts, 65537, "plain_hosts: 65537: give 0 to 65536");
    REFUSED(plain_hosts, UINT32_MAX, "plain_hosts: 4294967295: give 0 to 65536");
    REFUSED(plain_memory, -1, "plain_memory: -1: give 0 to 3153600000000000");
    REFUSED(plain_memory, INT64_MAX,
            "plain_memory: 9223372036854775807: give 0 to 3153600000000000");
    REFUSED(port_max, 49151, "port_max: 49151: give 49152 to 65535");
    REFUSED(port_max, 1, "port_max: 1: give 49152 to 65535");
}

/* Values at the bounds are accepted, 0 where the header gives it a meaning, and limits so large
 * that they limit nothing. */
static void edges_and_zeros_are_taken(void **state)
{
    (void)state;
    TAKEN(now, 0);
    TAKEN(now, SCPS_NEVER / 2);
    TAKEN(answer_rate, 0);
    TAKEN(answer_rate, UINT64_C(1) << 43);
    TAKEN(plain_hosts, 0);
    TAKEN(plain_hosts, 65536);
    TAKEN(plain_memory, 0);
    TAKEN(plain_memory, SCPS_SEC(INT64_C(3153600000)));
    TAKEN(port_min, 0);
    TAKEN(port_max, 0);
    TAKEN(port_min, 65535);
    TAKEN(port_max, 49152);
    TAKEN(max_conns, 0);
    TAKEN(max_conns, UINT32_MAX);
    TAKEN(max_half_open, 0);
    TAKEN(max_half_open, UINT32_MAX);
    TAKEN(max_comp_hosts, 0);
    TAKEN(max_comp_hosts, UINT32_MAX);
    TAKEN(challenge_acks, 0);
    TAKEN(challenge_acks, UINT32_MAX);
    TAKEN(resets, 0);
    TAKEN(resets, UINT32_MAX);
    TAKEN(memory_limit, 0);
    TAKEN(memory_limit, 1);
    TAKEN(memory_limit, UINT64_MAX);
}

static void an_allocator_is_whole(void **state)
{
    struct scps_stack_config c = scps_stack_config_default();
    char msg[200];

    (void)state;
    c.alloc.alloc = scps_alloc_default().alloc;
    assert_int_equal(check(&c, msg), SCPS_ERR_INVAL);
    assert_string_equal(msg, "alloc: give both functions, or none");
    c.alloc = (struct scps_alloc){.free = scps_alloc_default().free};
    assert_int_equal(check(&c, msg), SCPS_ERR_INVAL);
    assert_string_equal(msg, "alloc: give both functions, or none");
}

/* A port range is used as it is given: 0 stands for the default of its own field. */
static void ephemeral_ports(void **state)
{
    const struct scps_endpoint remote = {.addr = {4, {10, 0, 0, 2}}, .port = 7};
    const struct scps_addr local = {4, {10, 0, 0, 1}};
    const uint16_t range[][4] = {/* First and last port: as given, then as used. */
                                 {0, 0, 49152, 65535},
                                 {65535, 0, 65535, 65535},
                                 {0, 49152, 49152, 49152},
                                 {1, 2, 1, 2},
                                 {700, 700, 700, 700}};

    (void)state;
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        struct scps_stack_config c = scps_stack_config_default();
        struct scps_netif nif = {.name = "none", .mtu = 1500};
        struct scps_stack *st;

        c.port_min = range[i][0];
        c.port_max = range[i][1];
        st = scps_stack_new(&c);
        assert_non_null(st);
        assert_int_equal(scps_stack_add_netif(st, &nif), 0);
        assert_int_equal(scps_stack_add_addr(st, &nif, &local, 24), 0);
        for (int32_t n = range[i][3] - range[i][2]; n >= 0 && n < 2; n--) {
            struct scps_conn *conn = scps_connect(st, NULL, NULL, &remote, NULL);
            struct scps_endpoint us = {0};

            assert_non_null(conn);
            scps_conn_local(conn, &us);
            assert_in_range(us.port, range[i][2], range[i][3]);
        }
        if (range[i][3] - range[i][2] < 2)
            /* All ports of the range are in use. */
            assert_null(scps_connect(st, NULL, NULL, &remote, NULL));
        scps_stack_free(st);
    }
}

static void fixed_memory(void **state)
{
    struct scps_conn_config conn = scps_conn_config_default();
    struct scps_stack_config c = scps_stack_config_default();
    uint64_t need = scps_memory_bound(NULL, &conn, 3);
    char msg[200];

    (void)state;
    c.fixed_memory = &conn;
    c.max_conns = 3;
    assert_int_equal(check(&c, msg), 0);
    c.max_conns = 0;
    assert_int_equal(check(&c, msg), SCPS_ERR_RANGE);
    assert_string_equal(msg, "max_conns: 0: give 1 to 4294967295");
    c.max_conns = 3;
    c.memory_limit = need;
    assert_int_equal(check(&c, msg), 0);
    c.memory_limit = need - 1;
    assert_int_equal(check(&c, msg), SCPS_ERR_RANGE);
    assert_memory_equal(msg, "fixed_memory: ", 14);
    assert_non_null(strstr(msg, " bytes are needed, and memory_limit allows "));
    c.memory_limit = 0;
    conn.sndbuf = 12;
    assert_int_equal(check(&c, msg), SCPS_ERR_RANGE);
    assert_string_equal(msg, "fixed_memory: sndbuf: 12: give 256 to 1073741824");
    conn.sndbuf = 65536;
    conn.cc = NULL;
    assert_int_equal(check(&c, msg), SCPS_ERR_INVAL);
    assert_memory_equal(msg, "fixed_memory: cc: ", 18);
}

static void the_defaults_are_taken(void **state)
{
    char msg[20] = "unchanged";

    (void)state;
    assert_int_equal(scps_stack_config_check(NULL, msg, sizeof msg), 0);
    assert_string_equal(msg, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal_names_its_field),
        cmocka_unit_test(edges_and_zeros_are_taken),
        cmocka_unit_test(an_allocator_is_whole),
        cmocka_unit_test(ephemeral_ports),
        cmocka_unit_test(fixed_memory),
        cmocka_unit_test(the_defaults_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
