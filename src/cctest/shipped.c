/* SPDX-License-Identifier: MIT */
/* The checks from which each built-in controller is exempted by design, with the reason. */
#include "cctest/bench.h"

#include <string.h>

#define X(check) SCPS_CCTEST_BIT(SCPS_CCTEST_##check)

/* checks that a controller does not have to pass if it only sends at a configured rate, without
 * congestion control (docs/SCPS-TP.md section 4.4) */
#define PURE_RATE (X(ANSWER) | X(SSTHRESH) | X(TIMEOUT) | X(FASTER) | X(SLOWER))

/* checks that a controller does not have to pass if it computes its window from a model of the
 * path, as BBR does */
#define MODEL (X(JUMP) | X(APP_LIMITED) | X(EMPTY_ACK) | X(ANSWER) | X(SSTHRESH) | X(EPISODE))

static const struct {
    const char *name, *form;
    uint64_t exempt;
    const char *why;
} shipped[] = {
    {"vj", "reno", 0, NULL},
    {"cubic", "cubic", 0, NULL},
    {"highspeed", "highspeed", 0, NULL},
    {"scalable", "scalable", 0, NULL},
    {"hybla", "hybla", X(JUMP) | X(STRETCH_ACKS),
     "it grows as a path of 25 ms does, so one acknowledgement of a whole window of a long path "
     "counts for many round trips; in slow start, where that would be too many, it at most doubles "
     "the window"},
    {"rate", NULL, PURE_RATE,
     "it sends at the rate that is set, on a path that nobody shares, whatever is lost"},
    {"bbr", NULL, MODEL | X(SLOWER),
     "its window is what its model of the path says, whatever one acknowledgement covers and "
     "whoever is the limit; it has no threshold, and answers only a round trip that loses two per "
     "cent; when the rate falls to a hundredth it sends for minutes as the old rate allowed"},
    {"vegas", NULL, 0, NULL},
    {"vegas-corruption", NULL, X(ANSWER) | X(SSTHRESH) | X(TIMEOUT) | X(EPISODE),
     "losses are corruption by choice of the user, so neither losses nor timeouts are answered"},
};

struct scps_cctest_expect scps_cctest_expect_of(const char *name)
{
    for (size_t i = 0; i < SCPS_CCTEST_ROWS(shipped); i++)
        if (!strcmp(shipped[i].name, name))
            return (struct scps_cctest_expect){
                .exempt = shipped[i].exempt,
                .form = shipped[i].form ? scps_cctest_form_find(shipped[i].form) : NULL,
                .why = shipped[i].why};
    return (struct scps_cctest_expect){0};
}
