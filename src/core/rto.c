/* SPDX-License-Identifier: MIT */
/* When the retransmission timer (RFC 6298) and the timer of window probes expire.
 *
 * The backoff is kept after an acknowledgement until a round trip is measured (RFC 6298
 * section 5.7).
 */
#include "core/conn.h"

#include "base/bytes.h"

static SCPS_APART scps_dur backed_off_by(const struct scps_conn *c, unsigned shift, scps_dur rto,
                                         scps_dur max)
{
    shift = SCPS_MIN(shift, 30u);
    /* a timeout taken for corruption says nothing of a queue: no backoff (docs/SCPS-TP.md section
     * 3.4) */
    if (c->established && scps_conn_loss_cause(c) == SCPS_LOSS_CORRUPTION)
        shift = 0;
    return rto > max >> shift ? SCPS_MAX(rto, max) : rto << shift;
}

static inline scps_dur backed_off(const struct scps_conn *c, scps_dur rto, scps_dur max)
{
    unsigned kept = c->tx ? c->tx->rto_shift : 0, shift = SCPS_MAX(c->backoff, kept);

    return shift ? backed_off_by(c, shift, rto, max) : rto;
}

void scps_snd_arm_rtx_from(struct scps_conn *c, scps_time from)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    scps_dur wait = backed_off(c, c->rtt.rto, cfg->rto_max);
    scps_time when = from + wait;

    if (c->flags & (uint32_t)SCPS_F_OUTAGE)
        return; /* the timer is the outage's */
    if (cfg->user_timeout && c->tx && c->established) {
        scps_time give_up = c->tx->progress_at + cfg->user_timeout;
        when = SCPS_MIN(when, SCPS_MAX(give_up, c->ctx.env->now));
    }
    if (cfg->bets_lifetime && c->tx)
        when = SCPS_MIN(when, SCPS_MAX(scps_bets_arm(c), c->ctx.env->now));
    scps_timer_set(c, SCPS_T_RTX, when);
}

void scps_snd_arm_persist(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;

    scps_dur wait = backed_off(c, c->rtt.rto, cfg->persist_max);

    scps_timer_set(c, SCPS_T_RTX, c->ctx.env->now + SCPS_MIN(wait, cfg->persist_max));
}
