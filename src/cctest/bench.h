/* SPDX-License-Identifier: MIT */
/* Invariants of controllers, and what the files of the kit share. */
#ifndef SCPS_CCTEST_BENCH_H
#define SCPS_CCTEST_BENCH_H

#include <scps/cctest.h>

#include <stdio.h>

/* Printf into a buffer that may be absent. */
void scps_cct_say(char *msg, size_t len, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Checks the invariants at every event of one connection; a watcher for struct scps_cctest. */
struct scps_cct_rules {
    uint64_t mask;                 /* set of SCPS_CCTEST_BITs that are checked */
    enum scps_cctest_check broken; /* the first; SCPS_CCTEST_CHECKS: none */
    char msg[SCPS_CCTEST_MSGLEN];
    /* private */
    uint64_t events, peak, episode_cwnd;
    unsigned idle_rounds; /* whole round trips in which the window did not limit sending */
    bool limited, cut, timed_out;
};
void scps_cct_rules_init(struct scps_cct_rules *r, uint64_t mask);
/* ctx is the struct scps_cct_rules. */
void scps_cct_rules_watch(void *ctx, const struct scps_cctest_event *e);

/* Returns the next splitmix64 number of state *r, the same on every machine. */
static inline uint64_t scps_cct_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
