/* SPDX-License-Identifier: MIT */
/* The test of a controller with libscps_cctest, without a test framework: an event table, and every
 * check of that library. docs/howto/controllers.md explains it. Here it tests "vj"; put the address
 * of your own struct scps_cc_ops in its place. */
#include <scps/cctest.h>
#include <stdio.h>

static const struct scps_cctest_row table[] = {
    {SCPS_CCTEST_ACK, .bytes = 10000, .want_cwnd = 20000}, /* slow start: a byte for a byte */
    {SCPS_CCTEST_LOSS, .bytes = 1000, .fresh = true, .want_cwnd = 10000, .want_ssthresh = 10000},
    {SCPS_CCTEST_LOSS, .bytes = 5000, .want_cwnd = 10000}, /* the same episode */
    {SCPS_CCTEST_CHANGE, .what = SCPS_CC_RECOVERED, .want_cwnd = 10000},
    {SCPS_CCTEST_ACK, .bytes = 10000, .want_cwnd = 11000}, /* avoidance: a segment a round trip */
    {SCPS_CCTEST_CHANGE, .what = SCPS_CC_RTO, .want_cwnd = 1000},
};

int main(void)
{
    const struct scps_cc_ops *mine = scps_cc_find("vj");
    struct scps_cctest_expect expect = {.form = scps_cctest_form_find("reno")};
    static struct scps_cctest_verdict verdict[SCPS_CCTEST_CHECKS];
    struct scps_cctest bench = {.watch = NULL};
    char msg[SCPS_CCTEST_MSGLEN];
    size_t failed;

    scps_cctest_start(&bench, mine, NULL, &(struct scps_cc_view){.mss = 1000});
    if (!scps_cctest_play(&bench, table, SCPS_CCTEST_ROWS(table), msg, sizeof msg)) {
        printf("table, %s\n", msg);
        return 1;
    }
    failed = scps_cctest_judge(mine, NULL, &expect, 0, verdict);
    for (size_t i = 0; failed && i < SCPS_CCTEST_CHECKS; i++)
        if (verdict[i].run && !verdict[i].ok && !verdict[i].exempt)
            printf("%s: %s\n", scps_cctest_check_name(verdict[i].check), verdict[i].msg);
    return failed != 0;
}
