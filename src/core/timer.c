/* SPDX-License-Identifier: MIT */
/* Named timers, and the earliest of them in the host's heap.
 *
 * The heap's key may be too early, never too late: putting a timer off, which every acknowledgement does to the
 * retransmission timer, touches no heap.  When the key comes up the connection is put back at its true deadline.
 */
#include "core/conn.h"

#include "base/bytes.h"

scps_time scps_conn_deadline(const struct scps_conn *c)
{
    scps_time t = c->timer[0];

    for (int i = 1; i < SCPS_T_COUNT; i++)
        t = SCPS_MIN(t, c->timer[i]);
    if (c->st->marks)
        t = SCPS_MIN(t, c->st->marks->due);
    return t;
}

void scps_timer_due(struct scps_conn *c, scps_time when)
{
    struct scps_heap *h = &c->env->deadlines;

    if (c->heap_slot == SCPS_HEAP_NONE || when < h->v[c->heap_slot].key)
        scps_heap_set(h, when, c); /* room was reserved when c was made */
}

void scps_timer_set(struct scps_conn *c, enum scps_timer t, scps_time when)
{
    c->timer[t] = when;
    scps_timer_due(c, when);
}

static bool take(struct scps_conn *c, enum scps_timer t)
{
    if (c->timer[t] > c->env->now)
        return false;
    c->timer[t] = SCPS_NEVER;
    return true;
}

static void keepalive(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->cfg->c;
    scps_time heard = 0, due;

    /* FIN-WAIT-1 has a FIN outstanding; with its acknowledgement comes FIN-WAIT-2, which may last for ever */
    if (!cfg->keepalive || (c->state != SCPS_ESTABLISHED && c->state != SCPS_CLOSE_WAIT &&
                            c->state != SCPS_FIN_WAIT_1 && c->state != SCPS_FIN_WAIT_2))
        return;
    if (c->st != &c->env->nobody)
        heard = SCPS_MAX(c->st->last_received, c->st->last_ack_received);
    if (c->probes && c->flags & SCPS_F_HEARD) { /* the last probe was answered */
        heard = SCPS_MAX(heard, c->env->now - cfg->keep_interval);
        c->probes = 0;
    }
    due = SCPS_MAX(heard, c->established) + cfg->keep_idle;
    if (c->una != c->nxt || scps_snd_fin_end(c) > c->nxt ||
        c->flags & (uint32_t)SCPS_F_OUTAGE) { /* data outstanding has timers of its own */
        scps_timer_set(c, SCPS_T_LIFE, c->env->now + cfg->keep_idle);
        return;
    }
    if (due > c->env->now) {
        c->probes = 0;
        scps_timer_set(c, SCPS_T_LIFE, due);
        return;
    }
    if (cfg->user_timeout ? c->probes && c->env->now - due + cfg->keep_idle >= cfg->user_timeout
                          : c->probes >= cfg->keep_count) {
        scps_conn_reset(c, SCPS_ERR_TIMEDOUT);
        return;
    }
    c->probes++;
    c->flags = (c->flags | SCPS_F_KEEP_NOW) & ~(uint32_t)SCPS_F_HEARD;
    scps_conn_wake(c);
    scps_timer_set(c, SCPS_T_LIFE, c->env->now + cfg->keep_interval);
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
    if (c->st->marks && c->st->marks->due <= c->env->now)
        scps_bets_timer(c);
    if (take(c, SCPS_T_LIFE))
        life(c);
}
