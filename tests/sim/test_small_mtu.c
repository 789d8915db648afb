/* SPDX-License-Identifier: MIT */
/* Transfers over links with every MTU from the smallest that a stack accepts to 200: no packet is
 * longer than the MTU, whatever options it has, and all octets arrive. RFC 9293 section 3.7.1: "if
 * there are any IP or TCP Options to be sent in a packet, then the sender must decrease the size of
 * the TCP data accordingly" (RFC 6691 section 2). SYNs, and acknowledgements of lost and reordered
 * data, have the most options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <scps/stack.h>

#include "simrun.h"

static void without_sack(struct scps_conn_config *c)
{
    c->sack = false;
}

static void with_ecn_and_bindings(struct scps_conn_config *c)
{
    c->ecn = true;
    c->binding[0] = (struct scps_binding){.id = 1, .len = 3};
    c->binding[1] = (struct scps_binding){.id = 2, .len = 3};
}

static void one_mtu(uint32_t mtu, bool v6)
{
    const struct simrun_config sets[] = {
        {.size = 6000},
        {.size = 6000, .no_timestamps = true},
        {.size = 6000, .tune = without_sack},
        {.size = 6000, .snack = true},
        {.size = 6000, .snack = true, .no_timestamps = true, .tune = without_sack},
        {.size = 6000, .snack = true, .tune = with_ecn_and_bindings},
        {.size = 6000, .compress = true},
        {.size = 6000, .compress = true, .no_timestamps = true},
        {.size = 6000, .compress = true, .snack = true, .bets = true, .record = 100},
        {.size = 6000, .bets = true, .record = 30},
        {.size = 6000, .snack = true, .record = 30, .ack_delayed = true},
        {.size = 6000, .snack = true, .ack_budget = 2000},
    };

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct simrun_config c = sets[i];
        struct simrun r;

        c.link = "rate=1m,delay=20ms,loss=0.05,reorder=0.05,queue=100000";
        c.seed = 1 + mtu;
        c.mtu = mtu;
        c.v6 = v6;
        simrun(&c, &r);
        if (r.err || !r.intact)
            fail_msg("MTU %u, IPv%d, options %zu: %llu octets arrived, error %d", mtu, v6 ? 6 : 4,
                     i, (unsigned long long)r.received, r.err);
        if (r.largest > mtu)
            fail_msg("MTU %u, IPv%d, options %zu: a packet of %u octets", mtu, v6 ? 6 : 4, i,
                     r.largest);
    }
}

static void no_packet_exceeds_the_mtu(void **state)
{
    (void)state;
    for (uint32_t mtu = SCPS_MTU_LEAST; mtu <= 200; mtu++)
        one_mtu(mtu, false);
}

static void no_packet_exceeds_the_mtu_with_ipv6(void **state)
{
    (void)state;
    for (uint32_t mtu = SCPS_MTU_LEAST6; mtu <= 200; mtu++)
        one_mtu(mtu, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_packet_exceeds_the_mtu),
        cmocka_unit_test(no_packet_exceeds_the_mtu_with_ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
