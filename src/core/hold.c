/* SPDX-License-Identifier: MIT */
/* Records the reason why a connection sends nothing now (enum scps_hold), and for how long each
 * reason has applied. */
#include "core/snd.h"
#include "core/tx.h"

void scps_snd_hold(struct scps_sender *s, enum scps_hold why)
{
    if (s->hold == why)
        return;
    scps_stats_hold(s->ctx.st, (enum scps_hold)s->hold, s->ctx.env->now);
    s->hold = (uint8_t)why;
    if (why != SCPS_HOLD_NONE)
        SCPS_OBSERVE(&s->ctx, HOLD, why, s->ctl.cwnd, s->tx ? s->tx->sb.inflight : 0,
                     s->tx ? s->tx->pace_timer.at : SCPS_NEVER);
}

void scps_snd_cause(struct scps_tx *tx, enum scps_loss_cause cause, scps_time until)
{
    if (tx)
        scps_cause_set(&tx->cause, cause, until);
}

void scps_snd_routed(struct scps_sender *s)
{
    if (s->tx && (!scps_send_all_sent(&s->snd) || s->tx->sb.lost))
        scps_snd_hold(s, SCPS_HOLD_ROUTE);
}
