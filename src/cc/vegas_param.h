/* SPDX-License-Identifier: MIT */
/* The parameters of Vegas: names for their values, their order, and the tables that users see. */
#ifndef SCPS_CC_VEGAS_PARAM_H
#define SCPS_CC_VEGAS_PARAM_H

#include <scps/cc.h>

/* Values of the parameters decrease, rtt, corruption and ss, in this order. */
enum { HALF_THE_EXCESS, ONE_SEGMENT };
enum { RTT_MIN, RTT_MEAN };
enum { ALL_CONGESTION, AS_TOLD, ALL_CORRUPTION };
enum { SS_EVERY_RTT, SS_EVERY_OTHER, SS_QUICK, SS_BY_RATE };

/* Index of each parameter in the tables. */
enum {
    P_ALPHA,
    P_BETA,
    P_GAMMA,
    P_SS,
    P_DECREASE,
    P_KEEP,
    P_RTT,
    P_FIRST,
    P_ROUNDS,
    P_TIMEOUTS,
    P_TRAIN,
    P_CORRUPTION,
    P_BRAKE,
    P_SLOW_START
};

/* clang-format off */
#define VEGAS_PARAMS(cause)                                                                        \
    {                                                                                              \
        {"alpha", "segments queued below which the window grows", 3, 0, 65535},                    \
        {"beta", "segments queued above which it shrinks; at least alpha", 5, 0, 65535},           \
        {"gamma", "segments queued above which slow start ends", 4, 0, 65535},                     \
        {"ss", "slow start: x2 every round trip (0), every other one (1), x32 (2), x32 if a rate " \
               "is set, else x2 (3)", 3, 0, 3},                                                    \
        {"decrease", "above beta: half the excess less (0) or one segment (1)", 0, 0, 1},          \
        {"keep", "of the window at a loss by congestion, x/1024", 512, 64, 1024},                  \
        {"rtt", "of a round's RTTs the lowest (0) or the mean (1)", 0, 0, 1},                      \
        {"first", "discard the first RTT of the connection (1) or not (0)", 1, 0, 1},              \
        {"rounds", "round trips above beta until base is taken for wrong; 0: never",               \
         16, 0, 1000},                                                                             \
        {"timeouts", "in a row, until base is forgotten; 0: never", 4, 0, 1000},                   \
        {"train", "end slow start on the rate of a train of ACKs, too (1), or not (0)", 1, 0, 1},  \
        {"corruption", "losses are 0 all congestion, 1 as the core says, 2 all corruption",        \
         cause, 0, 2},                                                                             \
        {"brake", "lost share of a round trip from which it is congestion all the same, x/1024; " \
                  "0: never", 256, 0, 1024},                                                       \
        {"slow-start", "what may end slow start besides Vegas's own: nothing, HyStart++ "          \
                       "(RFC 9406) or SEARCH", 0, 0, 2, "standard hystart search", NULL},          \
        {NULL, NULL, 0, 0, 0},                                                                     \
    }
/* clang-format on */

static const struct scps_cc_param params[] = VEGAS_PARAMS(AS_TOLD);
static const struct scps_cc_param params_corruption[] = VEGAS_PARAMS(ALL_CORRUPTION);

#endif
