/* SPDX-License-Identifier: MIT */
/* The list of fast paths. A fast path does the same as the general code behind it, in less time.
 *
 * The test house.fast_paths builds the library again with -DSCPS_NO_FAST_PATH=SCPS_FAST_..., which
 * disables one fast path, and requires every packet of the same conversations to be the same. In
 * all other builds SCPS_FAST_PATH() is the constant true.
 *
 * SCPS_FAST_PATH() comes last in the condition of its fast path, so that scps_fast_path_missed
 * counts the packets that would have used it.
 */
#ifndef SCPS_BASE_FASTPATH_H
#define SCPS_BASE_FASTPATH_H

/* Each value names a fast path: a shortcut for the case that its comment describes. */
enum scps_fast_path {
    /* shortcut for input of a TCP segment in an IPv4 header without options (stack/ipin.c) */
    SCPS_FAST_INPUT,
    SCPS_FAST_PREDICTION, /* shortcut for received data in order: header prediction (core/rcv.c) */
    /* shortcut for sending a segment with data when no acknowledgement is due, because RCV.NXT was
     * acknowledged before: SEG.ACK and SEG.WND are filled in; the delayed-ACK timer, the window
     * offered and the reports due stay as they are (core/ackout.c) */
    SCPS_FAST_ACK_SAME,
    /* shortcut for sending an acknowledgement without data whose only report is SACK blocks
     * (core/report.c) */
    SCPS_FAST_ACK_SACK,
    /* shortcut for a received SEG.ACK that passes segments which were sent once: their scoreboard
     * records are removed in one step (core/scoreboard.c) */
    SCPS_FAST_ACK_RUN,
    /* shortcut for a received SACK block of segments which were sent once: their scoreboard records
     * are marked as arrived in one step (core/scoreboard.c) */
    SCPS_FAST_SACK_RUN,
    /* shortcut for a received SACK block that begins in the range reported before and extends it:
     * its first new record is found without a search (core/scoreboard.c) */
    SCPS_FAST_SACK_AGAIN,
    /* shortcut of the simulator: it does not call a stack that has nothing to do (sim/world.c) */
    SCPS_FAST_NO_PUMP,
    /* shortcut of the simulator: packets carry their headers as structures, not as octets
     * (sim/worldlink.c) */
    SCPS_FAST_VALUES
};

#ifdef SCPS_NO_FAST_PATH
/* number of packets that the general code processed because their fast path is disabled; the test
 * program defines this variable */
extern unsigned long scps_fast_path_missed;
#define SCPS_FAST_PATH(path) ((path) != SCPS_NO_FAST_PATH || (scps_fast_path_missed++, 0))
#else
#define SCPS_FAST_PATH(path) 1
#endif

#endif
