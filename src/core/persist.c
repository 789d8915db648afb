/* SPDX-License-Identifier: MIT */
/* Probes a closed window of the peer: starts and ends the timer of window probes (RFC 9293 section
 * 3.8.6.1; persist.h). */
#include "core/persist.h"

#include "base/bytes.h"
#include "core/snd.h"
#include "core/tx.h"

void scps_persist_arm(struct scps_sender *s)
{
    const scps_dur max = s->ctx.cfg->c.persist_max;
    const scps_dur limit = s->ctx.cfg->c.user_timeout;
    const scps_time now = s->ctx.env->now;
    scps_time when = now + SCPS_MIN(scps_rto_backed_off(s, s->rtt.rto, max), max);

    /* While the peer's window is closed, the persist timer, which sends the window probes, also
     * ends the connection after the user timeout, so it expires no later than that. */
    if (limit && s->established)
        when = SCPS_MIN(when, SCPS_MAX(s->tx->progress_at + limit, now));
    scps_rto_stop_timer(&s->tx->rto);
    scps_persist_at(&s->tx->persist, &s->ctx, when);
}

void scps_persist_begin(struct scps_sender *s)
{
    scps_todo_add(&s->todo, SCPS_TODO_PERSIST);
    scps_heard_since_persist(&s->heard);
    scps_silence_since(&s->tx->silence, s->ctx.env->now);
    /* Nothing is outstanding, so the data begins to wait for the window now, and the user timeout
     * does not count the time before: RFC 9293 section 3.9.1.1 ends the connection "if data is not
     * successfully delivered to the destination within the timeout period". */
    scps_tx_progress(s->tx, s->ctx.env->now);
    scps_persist_arm(s);
}

SCPS_NOINLINE void scps_persist_end(struct scps_sender *s)
{
    /* Also cancels a window probe that is due, but delayed by a rate limit. If window probing were
     * over when that probe is sent, and the peer's window still (or again) closed, it would be an
     * octet beyond the window for which no timer runs: sending a probe starts none. */
    scps_todo_done(&s->todo, SCPS_TODO_PERSIST | SCPS_TODO_PROBE);
    scps_silence_answered(&s->tx->silence);
    scps_rto_stop(s->tx);
}

/* Starts the override timeout of RFC 9293 section 3.8.6.2.1: "The override timeout should be in the
 * range 0.1 - 1.0 seconds. It may be convenient to combine this timer with the timer used to probe
 * zero windows". */
void scps_persist_arm_override(struct scps_sender *s)
{
    scps_dur wait = SCPS_CLAMP(s->rtt.rto, SCPS_MS(100), SCPS_SEC(1));

    scps_timer_by(&s->ctx, &s->tx->persist.timer, s->ctx.env->now + wait);
}
