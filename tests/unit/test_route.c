/* SPDX-License-Identifier: MIT */
/* Which route, source address and kind of address: RFC 1122 section 3.3.1 and 3.2.1.3, without a
 * host. */
#include <stdio.h>

#include "cmocka_all.h"
#include "stack/stack.h"

static struct scps_netif dev[2];
static struct scps_nif nif[2] = {{.nif = &dev[0]}, {.nif = &dev[1]}};

static struct scps_addr address(const char *text)
{
    struct scps_addr a;

    assert_int_equal(scps_addr_parse(text, &a), 0);
    return a;
}

static struct scps_route_entry route(const char *dst, unsigned prefix)
{
    return (struct scps_route_entry){
        .route = {.dst = address(dst), .prefix = prefix, .nif = &dev[0]}};
}

/* RFC 1812 section 5.2.4.3: the longest prefix wins; of two equal ones that which was added
 * last. */
static void the_longest_prefix(void **state)
{
    struct scps_route_entry r[] = {route("10.1.2.0", 24), route("10.1.2.3", 32),
                                   route("10.0.0.0", 8),  route("10.1.2.0", 24),
                                   route("0.0.0.0", 0),   route("fd00::", 64)};
    struct scps_stack st = {.routes = r, .n_routes = 6};
    static const struct {
        const char *to;
        int want; /* -1: none */
    } cases[] = {{"10.1.2.3", 1}, {"10.1.2.4", 3}, {"10.1.3.4", 2},
                 {"11.0.0.1", 4}, {"fd00::1", 5},  {"fd01::1", -1}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scps_addr to = address(cases[i].to);
        const struct scps_route_entry *found = scps_route_find(&st, &to);
        assert_int_equal(found ? found - r : -1, cases[i].want);
    }
    assert_false(scps_route_rated(&st));
    r[5].route.rate = 1;
    assert_true(scps_route_rated(&st));
    st.n_routes = 0;
    struct scps_addr any = address("10.1.2.3");
    assert_null(scps_route_find(&st, &any));
}

/* A route with a rate has a queue of its own, unless its device is not the one that is used. */
static void queues(void **state)
{
    struct scps_shaper shaper = {.share = 0};
    struct scps_route_entry r = route("10.0.0.0", 8);
    (void)state;

    assert_ptr_equal(scps_route_ready_queue(NULL, &nif[0]), &nif[0].ready);
    assert_ptr_equal(scps_route_ready_queue(&r, &nif[0]), &nif[0].ready);
    r.shaper = &shaper;
    assert_ptr_equal(scps_route_ready_queue(&r, &nif[0]), &shaper.ready);
    assert_ptr_equal(scps_route_ready_queue(&r, &nif[1]), &nif[1].ready);
}

/* RFC 1122 section 3.3.4.3: the source is an address of the link; one in the destination's network,
 * if there is such an address. */
static void source(void **state)
{
    struct scps_local_addr a[] = {{address("10.0.0.1"), 24, &nif[0]},
                                  {address("10.0.9.1"), 24, &nif[0]},
                                  {address("192.168.0.1"), 16, &nif[1]},
                                  {address("fd00::1"), 64, &nif[0]}};
    struct scps_stack st = {.addrs = a, .n_addrs = 4};
    static const struct {
        int nif;
        const char *to;
        int want;
    } cases[] = {{0, "10.0.0.7", 0}, {0, "10.0.9.7", 1},    {0, "8.8.8.8", 0}, {0, "fd01::9", 3},
                 {1, "10.0.0.7", 2}, {1, "192.168.3.3", 2}, {1, "fd00::9", -1}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scps_addr to = address(cases[i].to);
        const struct scps_addr *s = scps_route_source(&st, &nif[cases[i].nif], &to);
        if (cases[i].want < 0)
            assert_null(s);
        else
            assert_ptr_equal(s, &a[cases[i].want].addr);
    }
    assert_true(scps_stack_has_addr(&st, &a[2].addr));
    struct scps_addr other = address("10.0.0.2");
    assert_false(scps_stack_has_addr(&st, &other));
}

/* RFC 1122 section 3.2.1.3: {0, Host-number} and {-1, -1} are no hosts; nor are class D and E (RFC
 * 1112), the unspecified address of IPv6 and its multicast (RFC 4291 sections 2.5.2 and 2.7). */
static void hosts(void **state)
{
    static const struct {
        const char *text;
        bool host;
    } cases[] = {{"10.0.0.1", true},   {"223.255.255.254", true},
                 {"0.0.0.0", false},   {"0.1.2.3", false},
                 {"224.0.0.1", false}, {"239.1.1.1", false},
                 {"240.0.0.1", false}, {"255.255.255.255", false},
                 {"::1", true},        {"fd00::1", true},
                 {"::", false},        {"ff02::1", false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scps_addr a = address(cases[i].text);
        assert_int_equal(scps_route_unicast(&a), cases[i].host);
    }
}

/* RFC 1122 section 3.2.1.3 (d): {Network-number, Subnet-number, -1}; RFC 3021: links with prefixes
 * of 31 bits have no such address. */
static void directed_broadcast(void **state)
{
    struct scps_local_addr a[] = {{address("10.0.0.1"), 24, &nif[0]},
                                  {address("10.1.0.1"), 30, &nif[0]},
                                  {address("10.2.0.1"), 31, &nif[0]},
                                  {address("10.3.0.1"), 32, &nif[0]},
                                  {address("fd00::1"), 64, &nif[0]}};
    struct scps_stack st = {.addrs = a, .n_addrs = 5};
    static const struct {
        const char *text;
        bool broadcast;
    } cases[] = {{"10.0.0.255", true},  {"10.0.0.254", false},
                 {"10.0.1.255", false}, {"10.1.0.3", true},
                 {"10.1.0.2", false},   {"10.2.0.1", false},
                 {"10.3.0.1", false},   {"fd00::ffff:ffff:ffff:ffff", false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scps_addr x = address(cases[i].text);
        assert_int_equal(scps_route_broadcast(&st, &x), cases[i].broadcast);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_prefix),
        cmocka_unit_test(queues),
        cmocka_unit_test(source),
        cmocka_unit_test(hosts),
        cmocka_unit_test(directed_broadcast),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
