/* SPDX-License-Identifier: MIT */
/* Decides when the retransmission timer (RFC 6298) and the timer of window probes expire, and how
 * long a peer may be silent before that ends the connection.
 *
 * After an acknowledgement the backoff is kept until a round trip is measured (RFC 6298 section
 * 5.7).
 */
#include "core/rto.h"

#include "base/bytes.h"
#include "core/bets.h"
#include "core/snd.h"
#include "core/tx.h"

/* consecutive timeouts that may be explained by corruption alone */
#define DAMAGED 8
/* RFC 6298 section 2.4: least timeout */
#define MIN_RTO SCPS_SEC(1)

static SCPS_NOINLINE scps_dur backed_off_by(const struct scps_sender *s, unsigned shift,
                                            scps_dur rto, scps_dur max)
{
    /* A timeout attributed to corruption says nothing about a queue, so the timer does not back off
     * (docs/SCPS-TP.md section 3.4). But corruption does not explain a long silence: after DAMAGED
     * timeouts in a row the timer backs off, up to one second, the least timeout of RFC 6298. The
     * timeout here may be a thousandth of that, while the path has become longer, or the peer
     * acknowledges seldom or is gone. Probes of a closed window always back off, because a closed
     * window is no loss: RFC 9293 section 3.8.6.1 requires the sender to "increase exponentially
     * the interval between successive probes" (SHLD-30). */
    if (s->established && !(s->todo.bits & SCPS_TODO_PERSIST) &&
        scps_cause_now(&s->tx->cause, &s->ctx) == SCPS_LOSS_CORRUPTION) {
        if (!s->tx->rto.after_outage)
            shift = s->tx->rto.backoff;
        shift = shift > DAMAGED ? shift - DAMAGED : 0;
        max = SCPS_MIN(max, MIN_RTO);
    }
    shift = SCPS_MIN(shift, 30u);
    return rto > max >> shift ? SCPS_MAX(rto, max) : rto << shift;
}

static inline scps_dur backed_off(const struct scps_sender *s, scps_dur rto, scps_dur max)
{
    const struct scps_rto *r = &s->tx->rto;

    if (!(r->backoff | r->kept))
        return rto;
    return backed_off_by(s, SCPS_MAX(r->backoff, r->kept), rto, max);
}

/* Sets the timer of window probes to `when` in place of the retransmission timer; in an outage sets
 * neither. */
static SCPS_NOINLINE void arm_instead(struct scps_sender *s, scps_time when)
{
    if (!(s->todo.bits & SCPS_TODO_OUTAGE))
        scps_timer_set(&s->ctx, &s->tx->persist_timer, when);
}

/* Best effort: returns `when`, or the end of the segment's lifetime if that is earlier. */
static SCPS_NOINLINE scps_time within_lifetime(struct scps_sender *s, scps_time when)
{
    return SCPS_MIN(when, SCPS_MAX(scps_bets_arm(s), s->ctx.env->now));
}

void scps_snd_arm_rtx_from(struct scps_sender *s, scps_time from)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;
    struct scps_tx *tx = s->tx;
    scps_time when = from + backed_off(s, s->rtt.rto, cfg->rto_max);

    if (cfg->user_timeout && s->established) {
        scps_time give_up = tx->progress_at + cfg->user_timeout;
        when = SCPS_MIN(when, SCPS_MAX(give_up, s->ctx.env->now));
    }
    if (cfg->bets_lifetime && !(s->todo.bits & SCPS_TODO_OUTAGE))
        when = within_lifetime(s, when);
    if (s->todo.bits & (SCPS_TODO_PERSIST | SCPS_TODO_OUTAGE))
        arm_instead(s, when);
    else
        scps_timer_set(&s->ctx, &tx->rto.timer, when);
}

void scps_snd_path(struct scps_sender *s, scps_dur rtt)
{
    if (!s->rtt.srtt)
        return;
    scps_rtt_path(&s->rtt, rtt, s->ctx.cfg->c.rto_min, s->ctx.cfg->c.rto_max);
    if (s->tx && s->snd.una < s->snd.nxt &&
        !(s->todo.bits & (SCPS_TODO_OUTAGE | SCPS_TODO_PERSIST)))
        scps_snd_arm_rtx(s);
}

void scps_snd_arm_persist(struct scps_sender *s)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;
    scps_dur wait = backed_off(s, s->rtt.rto, cfg->persist_max);

    scps_timer_stop(&s->tx->rto.timer);
    scps_timer_set(&s->ctx, &s->tx->persist_timer,
                   s->ctx.env->now + SCPS_MIN(wait, cfg->persist_max));
}

/* Starts the override timer with the time of an RTO within 0.1 to 1 s. RFC 9293 section 3.8.6.2.1:
 * "The override timeout should be in the range 0.1 - 1.0 seconds. It may be convenient to combine
 * this timer with the timer used to probe zero windows". */
void scps_rto_arm_override(struct scps_conn_ctx *x, struct scps_tx *tx, scps_dur rto)
{
    scps_dur wait = SCPS_CLAMP(rto, SCPS_MS(100), SCPS_SEC(1));

    scps_timer_by(x, &tx->persist_timer, x->env->now + wait);
}

/* ---- R2 ---- */

#define R2_DATA    SCPS_SEC(100)
#define SYN_RTO    SCPS_SEC(1) /* RFC 6298 section 2.1: least first timeout of a SYN in R2 */
#define SYN_RTO_TO SCPS_SEC(60)

/* Returns the time, µs, of `retries` timeouts that begin with `rto` and double up to `max`, plus
 * the following one, which ends the connection. The limit is a time and not a count, because
 * timeouts that are attributed to corruption do not back off, and fifteen of them may be over in
 * seconds. */
static scps_dur backoff_total(scps_dur rto, scps_dur max, unsigned retries)
{
    scps_dur total = 0, wait = SCPS_MAX(rto, 1);

    max = SCPS_MAX(max, wait);
    for (; retries && wait < max; retries--) {
        total += wait;
        wait = wait > max / 2 ? max : 2 * wait;
    }
    return wait > (SCPS_NEVER - total) / (retries + 1) ? SCPS_NEVER : total + (retries + 1) * wait;
}

/* Returns R2 of RFC 9293 section 3.8.3 as a time, µs: how long the peer may be silent. For data it
 * is at least 100 s (SHLD-11). For a SYN the first timeout counts as a second and the limit of the
 * backoff as a minute at least, so with syn_retries 7 it is at least three minutes (MUST-23),
 * however short the round trip is expected to be. A SYN-ACK has the same limit: the peer repeats
 * its SYN as long, and must not complete a handshake that has ended here. */
static SCPS_NOINLINE scps_dur retry_limit(const struct scps_sender *s, scps_dur max)
{
    const struct scps_conn_config *cfg = &s->ctx.cfg->c;

    if (!s->established)
        return backoff_total(SCPS_MAX(s->rtt.rto, SYN_RTO), SCPS_MAX(max, SYN_RTO_TO),
                             cfg->syn_retries);
    return SCPS_MAX(R2_DATA, backoff_total(s->rtt.rto, max, cfg->data_retries));
}

bool scps_snd_silent_too_long(const struct scps_sender *s, scps_dur max)
{
    return s->ctx.env->now - s->tx->rto.silent_since >= retry_limit(s, max);
}

int scps_snd_silence_err(uint8_t soft)
{
    static const int err[] = {[SCPS_SOFT_NONE] = SCPS_ERR_TIMEDOUT,
                              [SCPS_SOFT_REFUSED] = SCPS_ERR_REFUSED,
                              [SCPS_SOFT_UNREACH] = SCPS_ERR_UNREACH};

    return err[soft];
}
