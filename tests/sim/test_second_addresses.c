/* SPDX-License-Identifier: MIT */
/* A simulated link with a second pair of addresses: IPv6 beside IPv4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <scps/sim.h>

static void established(struct scps_host *h, const struct scps_event *ev, void *ctx)
{
    (void)h;
    *(int *)ctx += ev->kind == SCPS_EV_CONNECTED || ev->kind == SCPS_EV_ACCEPT;
}

static void ipv6_beside_ipv4(void **state)
{
    struct scps_link_config line;
    struct scps_addr four[2], six[2];
    char why[200];
    (void)state;

    assert_int_equal(scps_link_parse("lan", &line, &line, why, sizeof why), 0);
    scps_addr_parse("10.0.0.1", &four[0]);
    scps_addr_parse("10.0.0.2", &four[1]);
    scps_addr_parse("fd00::1", &six[0]);
    scps_addr_parse("fd00::2", &six[1]);
    for (int second = 0; second < 2; second++) {
        struct scps_world *w = scps_world_new(NULL);
        int done[2] = {0, 0};
        struct scps_host *a = scps_world_host(w, "a", NULL, established, &done[0]);
        struct scps_host *b = scps_world_host(w, "b", NULL, established, &done[1]);
        struct scps_link *l = scps_world_link(w, a, &four[0], b, &four[1], 24, 0, &line, &line);
        struct scps_endpoint any = {.port = 80}, to[2] = {{four[1], 80}, {six[1], 80}};
        assert_non_null(scps_listen(scps_host_stack(b), NULL, &any, 5, NULL));
        if (second)
            assert_int_equal(scps_link_add_addrs(l, &six[0], &six[1], 64), 0);
        assert_int_equal(scps_stack_has_addr(scps_host_stack(a), &six[0]), second);
        assert_int_equal(scps_stack_has_addr(scps_host_stack(b), &six[1]), second);
        for (int i = 0; i < 2; i++) {
            int err = 0;
            struct scps_conn *c = scps_connect(scps_host_stack(a), NULL, NULL, &to[i], &err);
            if (i && !second)
                assert_int_equal(err, SCPS_ERR_UNREACH);
            else
                assert_ptr_equal(scps_conn_stack(c), scps_host_stack(a));
        }
        scps_host_kick(a);
        scps_world_run(w, SCPS_SEC(1));
        /* One event of the listener may announce both connections. */
        assert_int_equal(done[0], second + 1);
        assert_in_range(done[1], 1, second + 1);
        scps_world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ipv6_beside_ipv4)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
