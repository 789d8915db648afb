/* SPDX-License-Identifier: MIT */
/* RACK (RFC 8985) compared with classic recovery for many combinations of reordering, loss and
 * rate, because a badly tuned RACK is worse than none.
 *
 * Bounds for the mean of the seeds: in no combination is RACK slower than classic recovery by more
 * than 6 %, nor does it resend more segments than classic recovery plus 1 % of those sent. Where
 * much is reordered and little lost it is on average no slower and resends no more. It is hardly
 * ahead there, because classic recovery waits the measured reordering window, too
 * (core/reorder.c). The test's label is `matrix`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "simrun.h"

enum { SEEDS = 6 };

struct cell {
    double mbps, resent; /* mbps: the mean goodput, Mbit/s; resent: retransmissions per segment. */
};

static enum scps_recovery_mode mode;

static void tune(struct scps_conn_config *c)
{
    c->recovery = mode;
}

static struct cell measure(enum scps_recovery_mode m, const char *link, uint64_t size)
{
    struct cell cell = {0};
    struct simrun r;

    mode = m;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct simrun_config c = {.link = link,
                                  .seed = seed,
                                  .size = size,
                                  .data = SIMRUN_HOLLOW,
                                  .cc = "vj",
                                  .buffers = 4000000,
                                  .limit = SCPS_SEC(100000),
                                  .tune = tune};
        simrun(&c, &r);
        if (r.err || !r.intact || r.acked < 0)
            fail_msg("%s, seed %u: error %d", link, seed, r.err);
        assert_int_equal(r.sender.recovery, m);
        cell.mbps += (double)size * 8 / (double)r.acked / SEEDS;
        cell.resent += (double)r.sender.resent_segs / (double)r.sender.data_segs_out / SEEDS;
    }
    return cell;
}

static void matrix(void **state)
{
    static const struct {
        const char *path;
        uint64_t size;
    } rate[] = {{"rate=1mbit,rtt=40ms,queue=60p", 1000000},
                {"rate=10mbit,rtt=100ms,queue=200p", 3000000},
                {"rate=100mbit,rtt=10ms,queue=200p", 10000000},
                {"geo", 5000000}};
    static const char *const reorder[] = {"0", "0.002", "0.02", "0.1"};
    static const char *const loss[] = {"0", "0.001", "0.01", "0.05"};
    double gain = 0, more = 0, less = 0;
    (void)state;

    print_message("%-34s %7s %6s %8s %8s %6s %7s %7s\n", "path", "reorder", "loss", "classic",
                  "rack", "ratio", "resent", "resent");
    for (size_t i = 0; i < sizeof rate / sizeof *rate; i++)
        for (size_t j = 0; j < sizeof reorder / sizeof *reorder; j++)
            for (size_t k = 0; k < sizeof loss / sizeof *loss; k++) {
                char link[120];
                snprintf(link, sizeof link, "%s,reorder=%s,loss=%s", rate[i].path, reorder[j],
                         loss[k]);
                struct cell c = measure(SCPS_RECOVERY_CLASSIC, link, rate[i].size);
                struct cell r = measure(SCPS_RECOVERY_RACK, link, rate[i].size);
                double ratio = r.mbps / c.mbps;
                print_message("%-34s %7s %6s %8.3f %8.3f %6.2f %7.4f %7.4f\n", rate[i].path,
                              reorder[j], loss[k], c.mbps, r.mbps, ratio, c.resent, r.resent);
                /* Classic recovery resends more without need, and DSACK reports of that, even after
                 * the episode, restore its window: at 100 Mbit/s this gains 3 %. */
                if (ratio < 0.94 || r.resent > c.resent + 0.01)
                    fail_msg("RACK is worse than classic over %s", link);
                if (i > 0 && j >= 2 && k < 2) {
                    gain += ratio / 12;
                    more += c.resent, less += r.resent;
                }
            }
    print_message("reordered and hardly lossy: %.3f times as fast, %.2f of the resends\n", gain,
                  less / more);
    assert_true(gain > 1);
    assert_true(less < more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
