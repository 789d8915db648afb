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

enum scps_fast_path {
    SCPS_FAST_INPUT, /* stack/ipin.c: input of a TCP segment in an IPv4 header without options */
    SCPS_FAST_PREDICTION, /* core/rcv.c: header prediction for data in order */
    /* core/ackout.c: a segment with the acknowledgement fields of the segment before it */
    SCPS_FAST_ACK_SAME,
    SCPS_FAST_ACK_SACK, /* core/report.c: an acknowledgement that reports nothing but SACK blocks */
    SCPS_FAST_ACK_RUN,  /* core/scoreboard.c: SND.UNA passes segments that were sent once */
    SCPS_FAST_SACK_RUN, /* core/scoreboard.c: SACK reports segments that were sent once */
    SCPS_FAST_SACK_AGAIN, /* core/scoreboard.c: the SACK block of the last report has grown */
    SCPS_FAST_NO_PUMP, /* sim/world.c: the simulator does not call a stack that has nothing to do */
    /* sim/worldlink.c: simulated packets that carry headers as structures, not as octets */
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
