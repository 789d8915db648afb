/* SPDX-License-Identifier: MIT */
/* Decides when the retransmission timer (RFC 6298) expires.
 *
 * After an acknowledgement the backoff is kept until a round trip is measured (RFC 6298, first note
 * at the end of section 5).
 */
#include "core/rto.h"

#include "base/bytes.h"
#include "core/bets.h"
#include "core/snd.h"
#include "core/tx.h"

/* While losses are attributed to corruption of bits, not to congestion, this many timeouts do not
 * back the retransmission timer off; each further one doubles it. Counted are the timeouts since
 * the peer last answered, or those since the last RTT sample, whichever are more
 * (backed_off_by). */
#define DAMAGED 8
/* least retransmission timeout (RFC 6298 section 2.4) */
#define MIN_RTO SCPS_SEC(1)

static SCPS_NOINLINE scps_dur backed_off_by(const struct scps_sender *s, unsigned shift,
                                            scps_dur rto, scps_dur max)
{
    /* Backoff after timeouts that are attributed to corruption, once the connection is established.
     * shift: number of timeouts since the peer last answered, or since the last RTT sample,
     * whichever is more.
     * - Up to DAMAGED of them: none, because corruption is no sign of a queue (docs/SCPS-TP.md
     *   section 3.4).
     * - More: each further one doubles the timer, up to one second, the least RTO of RFC 6298.
     *   Corruption explains neither a long silence nor many timeouts with no RTT sample between
     *   them: the RTO here may be a thousandth of a second, while the path has become longer, or
     *   the peer acknowledges seldom or is gone.
     * - More than DAMAGED of them were each followed by an acknowledgement that suggests an RTO
     *   shorter than the round trip (scps_sample_answered()), but no RTT sample came. The timer
     *   backs off beyond one second, up to `max` (RFC 6298 section 5.5), since even one second may
     *   be too short for an acknowledgement to arrive before its flight is resent. If the
     *   acknowledgements come a round trip after the retransmissions, the timer is long enough and
     *   the flights were lost, so that a longer timer would only delay the next retransmission.
     * Window probes always back off, because a closed window is no loss: RFC 9293 section 3.8.6.1
     * requires the sender to "increase exponentially the interval between successive probes"
     * (SHLD-30). */
    if (s->established && !(s->todo.bits & SCPS_TODO_PERSIST) &&
        scps_cause_now(&s->tx->cause, &s->ctx) == SCPS_LOSS_CORRUPTION) {
        shift = shift > DAMAGED ? shift - DAMAGED : 0;
        if (s->tx->rto.answered <= DAMAGED)
            max = SCPS_MIN(max, MIN_RTO);
    }
    shift = SCPS_MIN(shift, 30u);
    return rto > max >> shift ? SCPS_MAX(rto, max) : rto << shift;
}

static inline scps_dur backed_off(const struct scps_sender *s, scps_dur rto, scps_dur max)
{
    const unsigned unanswered = s->tx->silence.unanswered, kept = s->tx->rto.kept;

    return unanswered | kept ? backed_off_by(s, SCPS_MAX(unanswered, kept), rto, max) : rto;
}

scps_dur scps_rto_backed_off(const struct scps_sender *s, scps_dur rto, scps_dur max)
{
    return backed_off(s, rto, max);
}

/* Sets the timer of window probes to `when`, µs, in place of the retransmission timer; during an
 * outage sets neither timer. */
static SCPS_NOINLINE void arm_instead(struct scps_sender *s, scps_time when)
{
    if (!(s->todo.bits & SCPS_TODO_OUTAGE))
        scps_persist_at(&s->tx->persist, &s->ctx, when);
}

/* Best effort: returns `when`, µs, or the end of the lifetime of the oldest segment if that is
 * earlier. */
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

bool scps_snd_silent_too_long(const struct scps_sender *s, scps_dur max)
{
    return s->ctx.env->now - s->tx->silence.since >=
           scps_silence_limit(&s->ctx.cfg->c, s->established != 0, s->rtt.rto, max);
}
