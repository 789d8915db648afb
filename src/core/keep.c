/* SPDX-License-Identifier: MIT */
/* Keep-alive (RFC 9293 section 3.8.4): probes the peer of an idle connection. */
#include "core/keep.h"

#include "base/bytes.h"

static bool in_force(const struct scps_conn_config *cfg, uint8_t state)
{
    /* In FIN-WAIT-1 the FIN is outstanding, and no probe is sent. The timer runs on for
     * FIN-WAIT-2, which may last for ever. */
    return cfg->keepalive && (state == SCPS_ESTABLISHED || state == SCPS_CLOSE_WAIT ||
                              state == SCPS_FIN_WAIT_1 || state == SCPS_FIN_WAIT_2);
}

/* Called when a keep-alive probe would be due: returns true if the peer counts as gone, so that the
 * connection ends. Without user_timeout (0) it is gone after keep_count unanswered probes in a row.
 * With user_timeout, µs, keep_count has no effect: the peer is gone if at least one probe is
 * unanswered and nothing has come from the peer for user_timeout. probes: number of unanswered
 * probes; since: time, µs, since the first of them was due, keep_idle after the peer was last
 * heard. */
static bool gone(const struct scps_conn_config *cfg, unsigned probes, scps_dur since)
{
    if (cfg->user_timeout)
        return probes && since + cfg->keep_idle >= cfg->user_timeout;
    return probes >= cfg->keep_count;
}

enum scps_keep_verdict scps_keep_expired(struct scps_keep *k, struct scps_sender *s, uint8_t state)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;
    const scps_time now = s->ctx.env->now;
    /* The timer waits for at least a retransmission timeout, so that the answer to the last probe
     * can arrive. */
    scps_dur interval = SCPS_MAX(cfg->keep_interval, s->rtt.rto);
    scps_time due = k->heard_at + cfg->keep_idle;

    if (!in_force(cfg, state))
        return SCPS_KEEP_LATER;
    /* During an outage, snd_outage.c sends and counts probes of its own. */
    if (s->todo.bits & SCPS_TODO_OUTAGE) {
        scps_timer_set(&s->ctx, &k->timer, now + cfg->keep_idle);
        return SCPS_KEEP_LATER;
    }
    if (s->heard.keep) /* The peer has answered the last probe. */
        s->keep_probes = 0;
    if (s->snd.una != s->snd.nxt ||
        /* Outstanding or unsent data, or a FIN, has other timers, so no probe is needed. */
        scps_send_fin_end(&s->snd) > s->snd.nxt) {
        scps_timer_set(&s->ctx, &k->timer, now + cfg->keep_idle);
        return SCPS_KEEP_LATER;
    }
    if (due > now) {
        s->keep_probes = 0;
        scps_timer_set(&s->ctx, &k->timer, due);
        return SCPS_KEEP_LATER;
    }
    if (gone(cfg, s->keep_probes, now - due))
        return SCPS_KEEP_END;
    s->keep_probes++;
    scps_heard_since_keep(&s->heard);
    scps_timer_set(&s->ctx, &k->timer, now + interval);
    return SCPS_KEEP_PROBE;
}
