/* SPDX-License-Identifier: MIT */
/* Finds out whether the base RTT of Vegas is that of an earlier, shorter path.
 *
 * If the path becomes longer, Vegas takes the difference for a queue, and reduces the window to a
 * few segments. There the rule of Vegas is satisfied, and the window would stay so small for ever:
 * diff is less than the window, whatever the RTT. An own queue differs in this: while the RTT is
 * more than twice the base RTT, more than half of the window is in the queue, so if the window is
 * halved, the excess of the RTT over the base RTT falls to half, or less. If the excess hardly
 * falls, it is that of the path, or of the queue of others. So after some rounds of so long an RTT
 * the window is halved for two rounds, the second of which shows the excess. If that was an own
 * queue, the window is restored, and the next test comes after twice as many rounds.
 *
 * Only vegas_path.c writes the fields of struct scps_vegas_path. All zero: no test has been made.
 */
#ifndef SCPS_CC_VEGAS_PATH_H
#define SCPS_CC_VEGAS_PATH_H

#include <scps/types.h>

struct scps_vegas_path {
    uint64_t cwnd;   /* congestion window from before it was halved, octets */
    scps_dur excess; /* excess of the RTT over the base RTT when the window was halved, µs */
    uint16_t longer; /* number of rounds in a row with an RTT above twice the base RTT */
    /* number of such rounds that must pass before the next test; 0: there was no test, or the last
     * one found a longer path: the next one comes after 4 */
    uint16_t wait;
    uint8_t rounds; /* number of rounds since the window was halved; 0: no test is being made */
};

enum scps_vegas_path_says {
    SCPS_VEGAS_PATH_KEEP,  /* no test is made: the rules of Vegas apply */
    SCPS_VEGAS_PATH_HALVE, /* the window must be halved */
    SCPS_VEGAS_PATH_TEST,  /* a test is being made: the window must stay halved */
    SCPS_VEGAS_PATH_OWN,   /* the queue was this connection's: the window must be restored */
    SCPS_VEGAS_PATH_LONGER /* the path is longer: the window must be restored, base replaced */
};

/* Ends a round trip of congestion avoidance without losses. rtt: lowest RTT of the round, µs; base:
 * base RTT, µs; cwnd: congestion window, octets. Returns what the caller must do. */
enum scps_vegas_path_says scps_vegas_path_round(struct scps_vegas_path *p, scps_dur rtt,
                                                scps_dur base, uint64_t cwnd);
/* Ends a test that is being made, because losses or a change of the link have disturbed it. */
void scps_vegas_path_end_test(struct scps_vegas_path *p);

#endif
