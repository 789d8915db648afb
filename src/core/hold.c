/* SPDX-License-Identifier: MIT */
/* Keeps the reason why nothing is sent now (enum scps_hold), and the time that each reason
 * lasted. */
#include "core/conn.h"

void scps_snd_hold(struct scps_conn *c, enum scps_hold why)
{
    if (c->hold == why)
        return;
    scps_stats_hold(c->ctx.st, (enum scps_hold)c->hold, c->ctx.env->now);
    c->hold = (uint8_t)why;
    if (why != SCPS_HOLD_NONE)
        SCPS_OBSERVE_CONN(c, HOLD, why, c->ctl.cwnd, c->tx ? c->tx->sb.inflight : 0,
                          c->tx ? c->tx->pace_timer.at : SCPS_NEVER);
}

void scps_snd_routed(struct scps_conn *c)
{
    if (c->tx && (!scps_send_all_sent(&c->snd) || c->tx->sb.lost))
        scps_snd_hold(c, SCPS_HOLD_ROUTE);
}
