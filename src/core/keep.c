/* SPDX-License-Identifier: MIT */
/* Keep-alive (RFC 9293 section 3.8.4): probes the peer of an idle connection. */
#include "core/conn.h"

#include "base/bytes.h"

void scps_keep_progress(struct scps_conn *c)
{
    c->keep_probes = 0;
}

void scps_keep_timer(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    /* A probe does not follow before the answer to the last one can be here. */
    scps_dur interval = SCPS_MAX(cfg->keep_interval, c->rtt.rto);
    scps_time heard = c->heard_at, due;

    /* FIN-WAIT-1 has a FIN outstanding; once that is acknowledged, FIN-WAIT-2 may last for ever */
    if (!cfg->keepalive || (c->state != SCPS_ESTABLISHED && c->state != SCPS_CLOSE_WAIT &&
                            c->state != SCPS_FIN_WAIT_1 && c->state != SCPS_FIN_WAIT_2))
        return;
    if (c->todo.bits & SCPS_TODO_OUTAGE) { /* An outage has probes of its own, and counts them. */
        scps_timer_set(&c->ctx, &c->keep_timer, c->ctx.env->now + cfg->keep_idle);
        return;
    }
    if (c->keep_probes && c->heard.keep) { /* The last probe was answered. */
        heard = SCPS_MAX(heard, c->ctx.env->now - interval);
        c->keep_probes = 0;
    }
    due = heard + cfg->keep_idle;
    if (c->snd.una != c->snd.nxt ||
        scps_send_fin_end(&c->snd) > c->snd.nxt) { /* Outstanding data has timers of its own. */
        scps_timer_set(&c->ctx, &c->keep_timer, c->ctx.env->now + cfg->keep_idle);
        return;
    }
    if (due > c->ctx.env->now) {
        c->keep_probes = 0;
        scps_timer_set(&c->ctx, &c->keep_timer, due);
        return;
    }
    if (cfg->user_timeout
            ? c->keep_probes && c->ctx.env->now - due + cfg->keep_idle >= cfg->user_timeout
            : c->keep_probes >= cfg->keep_count) {
        scps_conn_reset(c, SCPS_ERR_TIMEDOUT);
        return;
    }
    c->keep_probes++;
    scps_todo_add(&c->todo, SCPS_TODO_KEEP);
    scps_heard_since_keep(&c->heard);
    scps_conn_wake(c);
    scps_timer_set(&c->ctx, &c->keep_timer, c->ctx.env->now + interval);
}
