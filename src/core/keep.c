/* SPDX-License-Identifier: MIT */
/* Keep-alive (RFC 9293 section 3.8.4): is the peer of a connection that carries nothing there? */
#include "core/conn.h"

#include "base/bytes.h"

void scps_keep_timer(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    /* No sooner than the answer can be there. */
    scps_dur interval = SCPS_MAX(cfg->keep_interval, c->rtt.rto);
    scps_time heard = c->heard_at, due;

    /* FIN-WAIT-1 has a FIN outstanding; with its acknowledgement comes FIN-WAIT-2, which may last
     * for ever */
    if (!cfg->keepalive || (c->state != SCPS_ESTABLISHED && c->state != SCPS_CLOSE_WAIT &&
                            c->state != SCPS_FIN_WAIT_1 && c->state != SCPS_FIN_WAIT_2))
        return;
    if (c->probes && c->flags & SCPS_F_HEARD) { /* the last probe was answered */
        heard = SCPS_MAX(heard, c->ctx.env->now - interval);
        c->probes = 0;
    }
    due = heard + cfg->keep_idle;
    if (c->una != c->nxt || scps_snd_fin_end(c) > c->nxt ||
        c->flags & (uint32_t)SCPS_F_OUTAGE) { /* data outstanding has timers of its own */
        scps_timer_set(&c->ctx, &c->keep_timer, c->ctx.env->now + cfg->keep_idle);
        return;
    }
    if (due > c->ctx.env->now) {
        c->probes = 0;
        scps_timer_set(&c->ctx, &c->keep_timer, due);
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
    scps_timer_set(&c->ctx, &c->keep_timer, c->ctx.env->now + interval);
}
