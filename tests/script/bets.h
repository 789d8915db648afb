/* SPDX-License-Identifier: MIT */
/* A connection with best effort (BETS, docs/SCPS-TP.md section 7), for the tests test_bets*.c. */
#ifndef SCPS_TEST_BETS_H
#define SCPS_TEST_BETS_H

#include "script.h"

#define WAIT MS(500)

static inline struct script *bets_of(void **x)
{
    struct script *t = script_of(x);
    t->cfg.bets = true;
    t->cfg.bets_timeout = WAIT;
    t->cfg.bets_retries = 2;
    t->peer.caps = SCPS_CAP_BETS;
    return t;
}

#define app_writes_record(t, at, n) script_app_writes(t, at, n, SCPS_EOR, __FILE__, __LINE__)

static inline unsigned given_up(struct script *t, struct scps_hole *h)
{
    return (unsigned)scps_conn_given_up(t->c, h, 4);
}

static inline void signal_link(struct script *t, scps_time at, enum scps_signal_kind kind)
{
    struct scps_signal s = {.kind = kind, .until = SCPS_NEVER};
    scps_time epoch = scps_stack_now(t->st) - script_now(t);
    scps_stack_signal(t->st, at + epoch, &s);
}

#endif
