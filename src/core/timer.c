/* SPDX-License-Identifier: MIT */
/* What a timer that has expired does, and in which order when several have. */
#include "core/conn.h"

#include "base/bytes.h"

static bool take(struct scps_conn *c, enum scps_timer t)
{
    if (c->timer[t] > c->ctx.env->now)
        return false;
    c->timer[t] = SCPS_NEVER;
    return true;
}

static void keepalive(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    scps_time heard = 0, due;

    /* FIN-WAIT-1 has a FIN outstanding; with its acknowledgement comes FIN-WAIT-2, which may last
     * for ever */
    if (!cfg->keepalive || (c->state != SCPS_ESTABLISHED && c->state != SCPS_CLOSE_WAIT &&
                            c->state != SCPS_FIN_WAIT_1 && c->state != SCPS_FIN_WAIT_2))
        return;
    if (c->ctx.st != &c->ctx.env->nobody)
        heard = SCPS_MAX(c->ctx.st->last_received, c->ctx.st->last_ack_received);
    if (c->probes && c->flags & SCPS_F_HEARD) { /* the last probe was answered */
        heard = SCPS_MAX(heard, c->ctx.env->now - cfg->keep_interval);
        c->probes = 0;
    }
    due = SCPS_MAX(heard, c->established) + cfg->keep_idle;
    if (c->una != c->nxt || scps_snd_fin_end(c) > c->nxt ||
        c->flags & (uint32_t)SCPS_F_OUTAGE) { /* data outstanding has timers of its own */
        scps_timer_set(c, SCPS_T_LIFE, c->ctx.env->now + cfg->keep_idle);
        return;
    }
    if (due > c->ctx.env->now) {
        c->probes = 0;
        scps_timer_set(c, SCPS_T_LIFE, due);
        return;
    }
    if (cfg->user_timeout ? c->probes && c->ctx.env->now - due + cfg->keep_idle >= cfg->user_timeout
                          : c->probes >= cfg->keep_count) {
        scps_conn_reset(c, SCPS_ERR_TIMEDOUT);
        return;
    }
    c->probes++;
    c->flags = (c->flags | SCPS_F_KEEP_NOW) & ~(uint32_t)SCPS_F_HEARD;
    scps_conn_wake(c);
    scps_timer_set(c, SCPS_T_LIFE, c->ctx.env->now + cfg->keep_interval);
}

static void life(struct scps_conn *c)
{
    switch (c->state) {
    case SCPS_TIME_WAIT:
        scps_conn_finish(c, 0);
        break;
    case SCPS_FIN_WAIT_2:
        if (c->flags & SCPS_F_RELEASED)
            scps_conn_finish(c, 0);
        else
            keepalive(c);
        break;
    default:
        keepalive(c);
    }
}

static void age(struct scps_conn *c)
{
    if (c->una == c->nxt || !c->tx) {
        scps_conn_trim(c);
        return;
    }
    if (scps_rack_on(c))
        scps_rack_timer(c);
    if (scps_snack_on(c))
        scps_snack_timer(c);
}

void scps_conn_timers(struct scps_conn *c)
{
    if (take(c, SCPS_T_ACK))
        scps_ackout_timer(c);
    if (take(c, SCPS_T_PACE))
        scps_conn_wake(c);
    if (take(c, SCPS_T_CORK) && c->nxt < c->end) {
        c->flags |= SCPS_F_PUSH_ALL;
        scps_conn_wake(c);
    }
    if (take(c, SCPS_T_AGE))
        age(c);
    if (take(c, SCPS_T_RTX))
        scps_snd_timeout(c);
    if (c->ctx.st->marks && c->ctx.st->marks->due <= c->ctx.env->now)
        scps_bets_timer(c);
    if (take(c, SCPS_T_LIFE))
        life(c);
}
