/* SPDX-License-Identifier: MIT */
/* The parameters of the controllers "vegas" and "vegas-corruption", for vegas.c: names for the
 * values of those that are a choice, the index of each parameter, and the lists of all parameters
 * with name, help text, default and bounds, as programs show them. */
#ifndef SCPS_CC_VEGAS_PARAM_H
#define SCPS_CC_VEGAS_PARAM_H

#include <scps/cc.h>

/* Values of the parameters decrease, rtt, corruption and ss, in this order. */
enum { HALF_THE_EXCESS, ONE_SEGMENT };
enum { RTT_MIN, RTT_MEAN };
enum { ALL_CONGESTION, AS_TOLD, ALL_CORRUPTION };
enum { SS_EVERY_RTT, SS_EVERY_OTHER, SS_QUICK, SS_BY_RATE };

/* Index of each parameter of the controller "vegas" in its list of parameters, and in the array of
 * their values. */
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
        {"alpha", "number of queued segments below which the window grows", 3, 0, 65535},          \
        {"beta", "number of queued segments above which the window shrinks; at least alpha",       \
         5, 0, 65535},                                                                             \
        {"gamma", "number of queued segments above which slow start ends", 4, 0, 65535},           \
        {"ss", "slow start: the window doubles every round trip (0) or every other one (1), or "   \
               "grows 32-fold in one (2); 3: 2 if a rate is set, else 0", 3, 0, 3},                \
        {"decrease", "above beta the window shrinks by half of the excess (0) or by one "          \
                     "segment (1)", 0, 0, 1},                                                      \
        {"keep", "part of the window that a loss by congestion leaves, x/1024", 512, 64, 1024},    \
        {"rtt", "RTT of a round: the lowest (0) or the mean (1) of its samples", 0, 0, 1},         \
        {"first", "1: discard the first RTT sample of the connection; 0: use it", 1, 0, 1},        \
        {"rounds", "number of round trips above beta after which the base RTT counts as wrong; "   \
                   "0: never, and no test of the path", 16, 0, 1000},                              \
        {"timeouts", "number of timeouts in a row after which the base RTT is discarded; "         \
                     "0: never", 4, 0, 1000},                                                      \
        {"train", "1: the rate of closely spaced ACKs may end slow start, too; 0: it does not",    \
         1, 0, 1},                                                                                 \
        {"corruption", "cause of losses: 0: always congestion, 1: as the core says, 2: always "    \
                       "corruption", cause, 0, 2},                                                 \
        {"brake", "share of a round trip's data that may be lost before losses taken for "         \
                  "corruption reduce the window, x/1024; 0: no limit", 256, 0, 1024},              \
        {"slow-start", "what may end slow start besides Vegas's own rule: nothing, HyStart++ "     \
                       "(RFC 9406) or SEARCH (draft-chung-ccwg-search)",                           \
         0, 0, 2, "standard hystart search", NULL},                                                \
        {NULL, NULL, 0, 0, 0},                                                                     \
    }
/* clang-format on */

static const struct scps_cc_param params[] = VEGAS_PARAMS(AS_TOLD);
static const struct scps_cc_param params_corruption[] = VEGAS_PARAMS(ALL_CORRUPTION);

#endif
