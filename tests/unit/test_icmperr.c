/* SPDX-License-Identifier: MIT */
/* Which error an ICMP message causes at a connection (RFC 1122 section 4.2.3.9, RFC 5461 section
 * 2). */
#include "cmocka_all.h"
#include "stack/stack.h"

/* Destination Unreachable with codes 2 (protocol) and 3 (port) are hard errors; code 4 is Packet
 * Too Big, which path MTU discovery answers (RFC 1191). The other codes, Time Exceeded and
 * Parameter Problem are soft errors. */
static void errors(void **state)
{
    static const struct {
        enum scps_icmp_kind kind;
        int err;
    } cases[] = {{SCPS_ICMP_UNREACH_PROTO, SCPS_ERR_REFUSED},
                 {SCPS_ICMP_UNREACH_PORT, SCPS_ERR_REFUSED},
                 {SCPS_ICMP_TOO_BIG, SCPS_ERR_MSGSIZE},
                 {SCPS_ICMP_UNREACH_NET, SCPS_ERR_UNREACH},
                 {SCPS_ICMP_UNREACH_HOST, SCPS_ERR_UNREACH},
                 {SCPS_ICMP_UNREACH_ADMIN, SCPS_ERR_UNREACH},
                 {SCPS_ICMP_TTL, SCPS_ERR_UNREACH},
                 {SCPS_ICMP_PARAM, SCPS_ERR_UNREACH},
                 {SCPS_ICMP_ECHO, 0},
                 {SCPS_ICMP_ECHO_REPLY, 0},
                 {SCPS_ICMP_OTHER, 0}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(scps_icmp_err(cases[i].kind), cases[i].err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
