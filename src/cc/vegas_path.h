/* SPDX-License-Identifier: MIT */
/* Finds out whether the base RTT of Vegas is that of an earlier, shorter path.
 *
 * If the path becomes longer, Vegas takes the difference for a queue, and reduces the window to a
 * few segments. There the rule of Vegas is satisfied, and the window would stay so small for ever:
 * diff is less than the window, whatever the RTT. A queue of this connection's own segments at the
 * bottleneck differs in this: while the RTT is more than twice the base RTT, more than half of the
 * window is in the queue, so if the window is halved, the excess of the RTT over the base RTT falls
 * to half, or less. If the excess hardly falls, it is that of the path, or of the queue of others.
 * So the test: after some rounds of so long an RTT the window is halved for two rounds, the second
 * of which shows the excess. If that was the connection's own queue, the window is restored, and
 * the next test comes after twice as many rounds.
 *
 * Only vegas_path.c writes the fields of struct scps_vegas_path. All zero: no test has been made.
 */
#ifndef SCPS_CC_VEGAS_PATH_H
#define SCPS_CC_VEGAS_PATH_H

#include <scps/types.h>

struct scps_vegas_path {
    /* congestion window, octets, from before the test of the path halved it; vegas.c restores it
     * when the test ends */
    uint64_t cwnd;
    scps_dur excess; /* excess of the RTT over the base RTT when the window was halved, µs */
    uint16_t longer; /* number of rounds in a row with an RTT above twice the base RTT */
    /* number of rounds with an RTT above twice the base RTT that must follow each other before the
     * window is halved for the next test of the path, at least 4; 0: 4, since there was no test
     * yet, or the last one found a longer path */
    uint16_t wait;
    /* number of rounds since the window was halved to test the path; 0: no test is being made */
    uint8_t rounds;
};

/* What the caller of scps_vegas_path_round() must do with the congestion window. */
enum scps_vegas_path_says {
    SCPS_VEGAS_PATH_KEEP, /* no test of the path now: the rules of Vegas apply */
    /* a test begins of whether the RTT is long because of this connection's own queue or because of
     * the path: the caller must halve the window */
    SCPS_VEGAS_PATH_HALVE,
    SCPS_VEGAS_PATH_TEST, /* the test of the path goes on: the window stays halved */
    /* the excess of the RTT was a queue of this connection: the caller restores the window */
    SCPS_VEGAS_PATH_OWN,
    /* the path is longer: the caller restores the window and replaces the base RTT */
    SCPS_VEGAS_PATH_LONGER
};

/* Tests whether the path has become longer: if the RTT stays above twice the base RTT, has cwnd
 * halved for two round trips, and then finds by the RTT whether this connection's own queue or the
 * path was the reason. Called at the end of each round trip of congestion avoidance without losses.
 * rtt: lowest RTT of the round trip, µs; base: base RTT, µs; cwnd: congestion window, octets.
 * Returns what the caller must do with cwnd. */
enum scps_vegas_path_says scps_vegas_path_round(struct scps_vegas_path *p, scps_dur rtt,
                                                scps_dur base, uint64_t cwnd);
/* Called after losses, a timeout or a change of the link: ends a test of the path (cwnd halved to
 * see whether the RTT falls) without a result. Does not change cwnd. */
void scps_vegas_path_end_test(struct scps_vegas_path *p);

#endif
