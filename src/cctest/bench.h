/* SPDX-License-Identifier: MIT */
/* Declares the checks of the invariants of congestion controllers, and functions that several files
 * of this test kit for controllers use. */
#ifndef SCPS_CCTEST_BENCH_H
#define SCPS_CCTEST_BENCH_H

#include <scps/cctest.h>

#include <stdio.h>

/* Writes a message to the len bytes at msg, as snprintf() does. msg NULL: does nothing. */
void scps_cct_message(char *msg, size_t len, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Writes a window, threshold or rate of struct scps_cc_ctl to buf: "none" for UINT64_MAX, which
 * stands for no window or no threshold. Returns buf, or a static text. */
#define SCPS_CCT_NUMBERLEN 24
const char *scps_cct_number(uint64_t v, char buf[SCPS_CCT_NUMBERLEN]);

/* State of the invariant checks of one connection's congestion controller; scps_cct_rules_watch()
 * makes the checks after every event (acknowledgement, loss, timeout and so on). */
struct scps_cct_rules {
    uint64_t mask; /* the invariants that are checked: SCPS_CCTEST_BIT() of each, ORed */
    /* the first invariant that was violated; SCPS_CCTEST_CHECKS: none */
    enum scps_cctest_check broken;
    char msg[SCPS_CCTEST_MSGLEN];
    /* fields that only scps_cct_rules_watch() uses */
    uint64_t events, peak, episode_cwnd;
    /* number of whole round trips in a row up to now in which cwnd did not limit the sender */
    unsigned idle_rounds;
    bool limited, cut, timed_out;
};
void scps_cct_rules_init(struct scps_cct_rules *r, uint64_t mask);
/* Called after each event e of a controller (the type of scps_cctest.watch). ctx: a struct
 * scps_cct_rules. Checks the invariants in its `mask`, such as that cwnd is at least one segment,
 * and records the first one that is violated in `broken` and `msg`. */
void scps_cct_rules_watch(void *ctx, const struct scps_cctest_event *e);

/* Returns the next random number of the generator splitmix64 with state *state. The sequence is the
 * same on every machine. */
static inline uint64_t scps_cct_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
