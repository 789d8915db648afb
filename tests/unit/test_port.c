/* SPDX-License-Identifier: MIT */
/* Initial sequence numbers: RFC 9293 section 3.4.1 (MUST-8, MUST-9) and RFC 6528 section 3, ISN = M
 * + F(localip, localport, remoteip, remoteport, secretkey), M a clock that ticks every 4 µs. */
#include "cmocka_all.h"

#include "stack/stack.h"

static const struct scps_flow flow = {{4, {10, 0, 0, 1}}, {4, {10, 0, 0, 2}}, 50000, 80};

static struct scps_stack *host(uint64_t seed)
{
    struct scps_stack_config cfg = scps_stack_config_default();

    cfg.seed[1] ^= seed;
    return scps_stack_new(&cfg);
}

static void the_clock_ticks_every_4_us(void **state)
{
    struct scps_stack *st = host(0);
    uint32_t isn = scps_isn(st, &flow);
    (void)state;

    st->env.now += 3;
    assert_int_equal(scps_isn(st, &flow) - isn, 0);
    st->env.now += 1;
    assert_int_equal(scps_isn(st, &flow) - isn, 1);
    st->env.now += SCPS_SEC(1);
    assert_int_equal(scps_isn(st, &flow) - isn, 250001);
    st->env.now += SCPS_SEC(4 * 4295); /* The clock of 32 bits wraps after 4.77 hours. */
    assert_int_equal(scps_isn(st, &flow) - isn,
                     (uint32_t)(UINT64_C(250001) + UINT64_C(250000) * 4 * 4295));
    scps_stack_free(st);
}

/* RFC 6528 section 3: an attacker cannot compute the ISN of one connection from that of another.
 * A change of any of the five inputs moves it further than the clock moves between two
 * connections. */
static void it_depends_on_the_whole_tuple_and_the_secret(void **state)
{
    struct scps_stack *st = host(0), *other = host(1);
    uint32_t isn[6];
    (void)state;

    for (int i = 0; i < 6; i++) {
        struct scps_flow f = flow;
        f.local.b[3] += i == 1;
        f.remote.b[3] += i == 2;
        f.lport += i == 3;
        f.rport += i == 4;
        isn[i] = scps_isn(i == 5 ? other : st, &f);
        for (int k = 0; k < i; k++) {
            int32_t apart = (int32_t)(isn[i] - isn[k]);
            assert_true(apart > 1000000 || apart < -1000000);
        }
    }
    scps_stack_free(st);
    scps_stack_free(other);
}

/* RFC 6056 section 3.2: a local port is chosen that is not in use, by a listener either. */
static void a_port_on_which_somebody_listens(void **state)
{
    struct scps_stack_config cfg = scps_stack_config_default();
    struct scps_netif nif = {.name = "test", .mtu = 1500};
    struct scps_endpoint at = {flow.local, 0};
    struct scps_listener *l[2];
    struct scps_stack *st;
    (void)state;

    cfg.port_min = 40000;
    cfg.port_max = 40002;
    st = scps_stack_new(&cfg);
    assert_int_equal(scps_stack_add_netif(st, &nif), 0);
    assert_int_equal(scps_stack_add_addr(st, &nif, &at.addr, 24), 0);
    for (int i = 0; i < 2; i++) {
        at.port = (uint16_t)(40000 + 2 * i);
        l[i] = scps_listen(st, NULL, &at, 1, NULL);
        assert_non_null(l[i]);
    }
    for (int i = 0; i < 5; i++)
        assert_int_equal(scps_port_choose(st, &flow), 40001);
    scps_listener_close(l[0]);
    scps_listener_close(l[1]);
    scps_stack_free(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_ticks_every_4_us),
        cmocka_unit_test(it_depends_on_the_whole_tuple_and_the_secret),
        cmocka_unit_test(a_port_on_which_somebody_listens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
