/* SPDX-License-Identifier: MIT */
/* Tests whether the RTT has become longer because of the path, or because segments of this
 * connection wait in a queue at the bottleneck (vegas_path.h). */
#include "cc/vegas_path.h"

#include "base/bytes.h"

enum {
    /* Number of round trips in a row with an RTT above twice the base RTT before the window is
     * halved for the first time to test whether the path has become longer. It doubles with each
     * test that finds the connection's own queue instead, up to WAIT_MOST. */
    WAIT = 4,
    WAIT_MOST = 4096
};

enum scps_vegas_path_says scps_vegas_path_round(struct scps_vegas_path *p, scps_dur rtt,
                                                scps_dur base, uint64_t cwnd)
{
    scps_dur excess = rtt - base;

    if (p->rounds) {
        /* The first round trip after the halving acknowledges segments that were sent before the
         * window was halved, so only the RTT of the second one counts. */
        if (p->rounds++ < 2)
            return SCPS_VEGAS_PATH_TEST;
        p->rounds = 0;
        p->longer = 0;
        if (excess > p->excess / 4 * 3) {
            p->wait = 0;
            return SCPS_VEGAS_PATH_LONGER;
        }
        p->wait = (uint16_t)SCPS_MIN(2 * SCPS_MAX(p->wait, WAIT), WAIT_MOST);
        return SCPS_VEGAS_PATH_OWN;
    }
    if (excess <= base) {
        p->longer = 0;
        return SCPS_VEGAS_PATH_KEEP;
    }
    if (++p->longer < SCPS_MAX(p->wait, WAIT))
        return SCPS_VEGAS_PATH_KEEP;
    p->rounds = 1;
    p->cwnd = cwnd;
    p->excess = excess;
    return SCPS_VEGAS_PATH_HALVE;
}

void scps_vegas_path_end_test(struct scps_vegas_path *p)
{
    p->rounds = 0;
    p->longer = 0;
}
