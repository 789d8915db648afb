/* SPDX-License-Identifier: MIT */
/* A sender without a connection, for tests of the parts that take struct scps_sender: a host, a
 * configuration and a sending state whose fields a test sets. */
#ifndef SCPS_TEST_PART_H
#define SCPS_TEST_PART_H

#include <stdlib.h>
#include <string.h>

#include "core/tx.h"

struct part {
    struct scps_env env;
    struct scps_shared_config cfg;
    struct scps_conn_stats st;
    struct scps_sender s;
};

/* Initialises p at time `now`: established, nothing outstanding, an RTO of 1 s, an MSS of 1000
 * octets. Timers are set, but no heap of deadlines exists. */
static inline void part_init(struct part *p, scps_time now)
{
    memset(p, 0, sizeof *p);
    p->env.now = now;
    p->env.alloc = scps_alloc_default();
    p->cfg.c = scps_conn_config_default();
    p->cfg.c.rto_max = p->cfg.c.persist_max = SCPS_SEC(60);
    p->s.ctx = (struct scps_conn_ctx){.env = &p->env, .cfg = &p->cfg, .st = &p->st};
    p->s.tx = calloc(1, sizeof *p->s.tx);
    p->s.established = 1;
    p->s.rtt.rto = SCPS_SEC(1);
    p->s.agreed.mss = 1000;
    p->s.snd.una = p->s.snd.nxt = p->s.snd.end = 1;
    scps_sb_init(&p->s.tx->sb);
    scps_timer_stop(&p->s.tx->rto.timer);
    scps_timer_stop(&p->s.tx->persist.timer);
    scps_timer_stop(&p->s.tx->look_timer);
}

/* Sends a segment of len octets now; flags: SCPS_SENT_*. */
static inline void part_send_flagged(struct part *p, uint32_t len, unsigned flags)
{
    if (scps_sb_reserve(&p->s.tx->sb, &p->env.alloc))
        abort();
    scps_sb_sent(&p->s.tx->sb, p->s.snd.nxt, len, flags, p->env.now);
    scps_send_left(&p->s.snd, len);
}

/* Sends n segments of len octets now. */
static inline void part_send(struct part *p, unsigned n, uint32_t len)
{
    while (n--)
        part_send_flagged(p, len, 0);
}

/* Returns the states of all outstanding segments: F in flight, L lost, A arrived. The text is valid
 * until the next call. */
static inline const char *part_board(const struct part *p)
{
    const struct scps_scoreboard *sb = &p->s.tx->sb;
    static char text[256];
    unsigned n = 0;

    for (uint32_t i = sb->head; i != sb->tail && n < sizeof text - 1; i++)
        text[n++] = "FLA"[scps_sb_at(sb, i)->state];
    text[n] = 0;
    return text;
}

/* Frees the sending state; p->s.tx becomes NULL. */
static inline void part_fini(struct part *p)
{
    scps_sb_fini(&p->s.tx->sb, &p->env.alloc);
    scps_snackwait_free(&p->s.tx->snack.waits, &p->env.alloc);
    free(p->s.tx);
    p->s.tx = NULL;
}

#endif
