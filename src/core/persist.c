/* SPDX-License-Identifier: MIT */
/* Window probing (persist.h). */
#include "core/persist.h"

#include "base/bytes.h"
#include "core/snd.h"
#include "core/tx.h"

void scps_persist_arm(struct scps_sender *s)
{
    const scps_dur max = s->ctx.cfg->c.persist_max;
    scps_dur wait = scps_rto_backed_off(s, s->rtt.rto, max);

    scps_rto_stop_timer(&s->tx->rto);
    scps_persist_at(&s->tx->persist, &s->ctx, s->ctx.env->now + SCPS_MIN(wait, max));
}

void scps_persist_begin(struct scps_sender *s)
{
    scps_todo_add(&s->todo, SCPS_TODO_PERSIST);
    scps_heard_since_persist(&s->heard);
    scps_silence_since(&s->tx->silence, s->ctx.env->now);
    scps_persist_arm(s);
}

SCPS_NOINLINE void scps_persist_end(struct scps_sender *s)
{
    scps_todo_done(&s->todo, SCPS_TODO_PERSIST);
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
