/* SPDX-License-Identifier: MIT */
/* Calls the functions for the timers of a connection that have expired, in a fixed order, and finds
 * the next timer to expire.
 *
 * At most one of the retransmission timer, the timer of window probes and the timer of an outage
 * runs: window probing stops the retransmission timer, an outage stops both, and none of them is
 * started again before the outage is over (rto.c, snd_outage.c).
 */
#include "core/conn.h"

#include "base/bytes.h"

static inline scps_time of_tx(const struct scps_tx *tx, scps_time t)
{
    t = SCPS_MIN(t, tx->rto.timer.at);
    t = SCPS_MIN(t, tx->persist.timer.at);
    t = SCPS_MIN(t, tx->retry_timer.at);
    t = SCPS_MIN(t, tx->cork_timer.at);
    t = SCPS_MIN(t, tx->look_timer.at);
    return SCPS_MIN(t, tx->trim_timer.at);
}

/* Returns the earliest expiry of the timers that run, except the pacer's; SCPS_NEVER: none runs. */
static inline scps_time deadline(const struct scps_conn *c)
{
    scps_time t = SCPS_MIN(c->ack.timer.at, c->keep.timer.at);

    t = SCPS_MIN(t, SCPS_MIN(c->end_timer.at, c->outage_timer.at));
    if (c->s.tx)
        t = of_tx(c->s.tx, t);
    if (c->rcv.rx)
        t = SCPS_MIN(t, c->rcv.rx->budget.timer.at);
    if (scps_tp_marks(c->s.tp))
        t = SCPS_MIN(t, c->s.tp->marks->wait.due);
    return t;
}

/* If timer t has expired, stops it and returns true. Not inlined, because this file checks many
 * timers and few have expired. */
static SCPS_NOINLINE bool expired(struct scps_timer *t, scps_time now)
{
    return scps_timer_take(t, now);
}

/* Calls the functions for the expired timers of the sending state c->s.tx, and for the outage
 * timer. The function of the outage timer, and each one called after it, may end the connection and
 * free c->s.tx, so c->s.tx is checked again before each later timer. */
static SCPS_NOINLINE void serve_tx(struct scps_conn *c)
{
    const scps_time now = c->s.ctx.env->now;
    struct scps_tx *tx = c->s.tx;

    if (expired(&tx->retry_timer, now))
        scps_sender_wake(&c->s);
    if (expired(&tx->cork_timer, now) && c->s.snd.nxt < c->s.snd.end) {
        scps_small_set(&c->s.small, SCPS_SMALL_PUSH, true);
        scps_sender_wake(&c->s);
    }
    if (expired(&tx->look_timer, now) && c->s.snd.una != c->s.snd.nxt)
        scps_ackin_look(&c->s, scps_conn_cc(c), c->outage_timer.at);
    if (expired(&c->outage_timer, now))
        scps_snd_outage_timer(c);
    if (c->s.tx && expired(&tx->persist.timer, now))
        scps_snd_probe_timeout(c);
    if (c->s.tx && expired(&tx->rto.timer, now))
        scps_snd_timeout(c);
    if (c->s.tx && expired(&tx->trim_timer, now) && c->s.snd.una == c->s.snd.nxt)
        scps_conn_trim(c);
}

/* Calls the function for each timer of the connection that has expired. The order of the calls is
 * fixed. */
static SCPS_NOINLINE void serve(struct scps_conn *c)
{
    const scps_time now = c->s.ctx.env->now;

    if (expired(&c->ack.timer, now) &&
        scps_ackout_expired(&c->ack, &c->s.ctx, c->rcv.rx, &c->rcv,
                            scps_gate_budgets(&c->s.ctx.cfg->c, c->s.queue->gate)))
        scps_conn_ack_now(c);
    if (c->rcv.rx && expired(&c->rcv.rx->budget.timer, now))
        scps_sender_wake(&c->s);
    if (c->s.tx)
        serve_tx(c);
    if (expired(&c->outage_timer, now))
        scps_snd_outage_timer(c);
    if (scps_tp_marks(c->s.tp) && c->s.tp->marks->wait.due <= now)
        scps_rcv_hole_timer(c);
    if (expired(&c->keep.timer, now)) {
        enum scps_keep_verdict v = scps_keep_expired(&c->keep, &c->s, c->state);
        if (v == SCPS_KEEP_PROBE) {
            scps_todo_add(&c->s.todo, SCPS_TODO_KEEP);
            scps_sender_wake(&c->s);
        } else if (v == SCPS_KEEP_END) {
            scps_conn_reset(c, SCPS_ERR_TIMEDOUT);
        }
    }
    if (expired(&c->end_timer, now)) {
        /* FIN-WAIT-2 does not end during an outage that a signal has reported, and whose end
         * another signal will report: the peer's FIN cannot arrive in it (docs/SCPS-TP.md section
         * 3.5). At its end scps_snd_outage_over() starts the timer again. */
        if (c->state != SCPS_FIN_WAIT_2 || !(c->s.todo.bits & SCPS_TODO_OUTAGE) ||
            c->s.outage.inferred)
            scps_conn_finish(c, 0);
    }
}

scps_time scps_conn_timers(struct scps_conn *c)
{
    const scps_time now = c->s.ctx.env->now;

    /* The pacer's timer runs for each segment, and its expiry only means that a segment may be
     * sent. */
    if (c->s.tx && scps_timer_take(&c->s.tx->pace_timer, now))
        scps_sender_wake(&c->s);
    /* timers_by is a lower bound of the expiry of all timers except the pacer's, so most calls end
     * here. */
    if (c->s.ctx.timers_by <= now) {
        if (deadline(c) <= now)
            serve(c);
        scps_timer_looked(&c->s.ctx, deadline(c));
    }
    return c->s.tx ? SCPS_MIN(c->s.tx->pace_timer.at, c->s.ctx.timers_by) : c->s.ctx.timers_by;
}
