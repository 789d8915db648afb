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
    unsigned shift = SCPS_MAX(c->backoff, c->tx->rto_shift);

    return shift ? backed_off_by(c, shift, rto, max) : rto;
}

/* A window probe, or the segment that it was, is resent by the timer of window probes; in an outage
 * neither timer runs. */
static SCPS_APART void arm_instead(struct scps_conn *c, scps_time when)
{
    if (!(c->flags & (uint32_t)SCPS_F_OUTAGE))
        scps_timer_set(&c->ctx, &c->tx->persist_timer, when);
}

void scps_snd_arm_rtx_from(struct scps_conn *c, scps_time from)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    struct scps_tx *tx = c->tx;
    scps_time when = from + backed_off(c, c->rtt.rto, cfg->rto_max);

    if (cfg->user_timeout && c->established) {
        scps_time give_up = tx->progress_at + cfg->user_timeout;
        when = SCPS_MIN(when, SCPS_MAX(give_up, c->ctx.env->now));
    }
    if (cfg->bets_lifetime && !(c->flags & (uint32_t)SCPS_F_OUTAGE))
        when = SCPS_MIN(when, SCPS_MAX(scps_bets_arm(c), c->ctx.env->now));
    if (c->flags & (SCPS_F_PERSIST | (uint32_t)SCPS_F_OUTAGE))
        arm_instead(c, when);
    else
        scps_timer_set(&c->ctx, &tx->rto_timer, when);
}

void scps_snd_arm_persist(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;
    scps_dur wait = backed_off(c, c->rtt.rto, cfg->persist_max);

    scps_timer_stop(&c->tx->rto_timer);
    scps_timer_set(&c->ctx, &c->tx->persist_timer,
                   c->ctx.env->now + SCPS_MIN(wait, cfg->persist_max));
}
