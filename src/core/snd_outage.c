/* SPDX-License-Identifier: MIT */
/* Begins and ends an outage of the link for one connection.
 *
 * An outage begins when the driver signals that the link has failed, perhaps with the time at which
 * it will work again, or when this end infers the failure from outage_after (a setting) timeouts in
 * a row. During an outage (docs/SCPS-TP.md section 3.5) neither new data nor retransmissions are
 * sent; RTT estimate and window do not change. Probes are sent after 5, 6, 12, 24, 48, 60, 60 ...
 * s, or after rto_max where that is shorter; when the end of the outage is known, no probe is sent
 * before it. A probe is an empty segment one octet below the highest SEG.ACK of the peer, which the
 * peer has to answer (in a handshake, the SYN of the end that connects).
 *
 * The outage ends by a signal of the driver, at the end that the driver has named, by any
 * acceptable segment, or by an old duplicate whose acknowledgement is plausible (state.c), because
 * the probe of a peer that also waits is such a duplicate. A segment that was on its way when the
 * link failed must not end the outage, so after a signal only segments that arrive a round trip
 * later count. When the outage is over, data that has been outstanding for a round trip is sent
 * again within the window from before, since either the segments or their acknowledgements were
 * lost. An outage that the driver has signalled ends no connection; an inferred one may end a
 * connection that the application has closed (scps_outage_may_end).
 */
#include "core/ackloss.h"
#include "core/conn.h"
#include "core/keep.h"

#include "base/bytes.h"

/* The interval is no longer than rto_max: an application that sets an upper bound to the
 * retransmission timer (RFC 6298 section 2.5) expects that the end of a silence is detected within
 * that time, and the probe takes the place of the retransmission. It is no shorter than the
 * retransmission timeout, which is above rto_max on a path with a longer round trip. */
scps_dur scps_snd_outage_interval(const struct scps_sender *s)
{
    return scps_outage_interval(&s->outage, SCPS_MAX(s->ctx.cfg->c.rto_max, s->rtt.rto));
}

/* Called when this end infers an outage of the link from timeouts. If the peer's silence alone
 * began the recovery episode (a timeout, or no report of the last segments in time), restores the
 * controller to its state before the episode: the outage caused the silence, which is no sign of
 * congestion. */
static void restore(struct scps_sender *s, void *cc)
{
    if (!scps_recovery_is_of_outage(&s->tx->rec, s->snd.una))
        return;
    scps_recovery_end(&s->tx->rec);
    scps_ackloss_undone(s, cc);
}

/* Called when a signal reports that the link has failed: for a round trip from now on, segments of
 * the peer do not end the outage, because they were on their way before. */
static void ignore_segments_in_flight(struct scps_sender *s)
{
    if (s->rtt.srtt && !scps_conn_need_tp(s))
        s->tp->deaf_until = s->ctx.env->now + s->rtt.srtt;
}

void scps_snd_outage(struct scps_conn *c, scps_time until, bool inferred)
{
    if (c->s.todo.bits & SCPS_TODO_OUTAGE) {
        if (c->s.outage.inferred && !inferred)
            ignore_segments_in_flight(&c->s);
        scps_outage_reported(&c->s.outage, inferred);
        scps_rcv_check_hole(c);
        /* An outage is in progress already. If the driver has signalled again that the link is
         * down, this time with the end of the outage (`until`), the outage timer is set to that
         * end, which may be earlier or later than the end known before. */
        if (until != SCPS_NEVER) {
            scps_outage_ends(&c->s.outage);
            scps_timer_set(&c->s.ctx, &c->outage_timer, until);
        }
        return;
    }
    if (c->state == SCPS_CLOSED || c->state == SCPS_TIME_WAIT)
        return;
    SCPS_OBSERVE_CONN2(c, OUTAGE, 1, inferred);
    if (inferred)
        restore(&c->s, scps_conn_cc(c));
    scps_todo_done(&c->s.todo,
                   SCPS_TODO_PROBE | SCPS_TODO_TAIL | SCPS_TODO_KEEP | SCPS_TODO_PERSIST);
    scps_todo_add(&c->s.todo, SCPS_TODO_OUTAGE);
    if (!inferred)
        ignore_segments_in_flight(&c->s);
    scps_outage_init(&c->s.outage, until != SCPS_NEVER, inferred);
    scps_keep_progress(&c->s);
    if (c->rcv.rx)
        scps_timer_stop(&c->rcv.rx->budget.timer);
    if (c->s.tx) {
        scps_rto_stop(c->s.tx);
        scps_timer_stop(&c->s.tx->pace_timer);
        scps_timer_stop(&c->s.tx->retry_timer);
    }
    scps_rcv_check_hole(c);
    scps_timer_set(&c->s.ctx, &c->outage_timer,
                   until != SCPS_NEVER ? SCPS_MAX(until, c->s.ctx.env->now)
                                       : c->s.ctx.env->now + scps_snd_outage_interval(&c->s));
    /* Queues the connection, so that the stack calls scps_conn_output(), which records the outage
     * (SCPS_HOLD_LINK_DOWN) as the reason why the connection sends nothing. */
    scps_sender_wake(&c->s);
}

/* Returns the time, µs, after which a segment must have been sent if it may still be acknowledged:
 * one round trip ago, by SRTT or, if a queue grows, by the latest sample, last_rtt, if that is
 * longer. Segments sent before are declared lost at the end of an outage. */
static scps_time unanswered_since(scps_time now, scps_dur srtt, scps_dur last_rtt)
{
    return now - SCPS_MAX(SCPS_MAX(srtt, last_rtt), 1);
}

void scps_snd_outage_over(struct scps_conn *c)
{
    if (!(c->s.todo.bits & SCPS_TODO_OUTAGE))
        return;
    SCPS_OBSERVE_CONN2(c, OUTAGE, 0, 0);
    scps_todo_done(&c->s.todo, SCPS_TODO_OUTAGE | SCPS_TODO_KEEP);
    if (c->s.tx) {
        scps_silence_answered(&c->s.tx->silence);
        if (scps_rto_outage_over(&c->s.tx->rto, c->s.outage.inferred))
            scps_recovery_link_up(&c->s.tx->rec);
    }
    scps_timer_stop(&c->outage_timer);
    /* After a signal that the link has failed, deaf_until kept segments of the peer that were on
     * their way then from ending the outage. The outage is over, so deaf_until is cleared: the next
     * outage may be inferred from timeouts, and any segment ends such an outage. */
    if (c->s.tp)
        c->s.tp->deaf_until = 0;
    /* The peer's FIN could not arrive during the outage, so FIN-WAIT-2 begins anew. */
    if (c->state == SCPS_FIN_WAIT_2 && c->notify.released)
        scps_conn_end_after(c, c->s.ctx.cfg->c.fin_wait2);
    if (c->s.tx && c->s.snd.una < c->s.snd.nxt) {
        /* A recovery episode, such as one that timeouts in the outage have begun, can no longer be
         * undone as spurious: an echo of an old timestamp (Eifel, RFC 3522) that arrives after the
         * outage shows only that the first transmission of the acknowledged data arrived, not that
         * later data did. */
        scps_recovery_final(&c->s.tx->rec);
        c->s.tx->outage_over = c->s.ctx.env->now;
        scps_sb_lose_since(&c->s.tx->sb,
                           unanswered_since(c->s.ctx.env->now, c->s.rtt.srtt, c->s.tx->rto.latest),
                           NULL);
        scps_tx_progress(c->s.tx, c->s.ctx.env->now);
        scps_snd_arm_rtx(&c->s);
        /* At the end of an outage no acknowledgements arrive that would pace the sender. So the
         * whole window would leave at once and overflow a queue: it is spread over a round trip
         * instead. Without SACK and SNACK partial acknowledgements show the losses one by one, so
         * little is resent at once. */
        if (scps_agreed_reports(&c->s.agreed))
            scps_recovery_spread(&c->s);
    }
    scps_rcv_check_hole(c);
    scps_cc_change(&c->s, scps_conn_cc(c), SCPS_CC_LINK_UP);
    scps_sender_wake(&c->s);
}

void scps_snd_outage_heard(struct scps_conn *c)
{
    if (!c->s.tp || c->s.ctx.env->now >= c->s.tp->deaf_until)
        scps_snd_outage_over(c);
}

void scps_snd_outage_timer(struct scps_conn *c)
{
    if (c->s.outage.end_known) {
        scps_snd_outage_over(c);
        return;
    }
    /* If the application has closed the connection, an inferred outage (concluded from outage_after
     * timeouts in a row, not signalled by the driver) ends the connection as soon as 32 probes have
     * been sent in this outage and the peer has been silent for R2 (RFC 9293 section 3.8.3). */
    if (c->notify.released && c->s.tx && scps_outage_may_end(&c->s.outage) &&
        scps_snd_silent_too_long(&c->s, c->s.ctx.cfg->c.rto_max)) {
        scps_conn_reset(c, scps_silence_err(c->s.soft_err));
        return;
    }
    /* A probe is due, which tests whether the link works again. During the handshake the probe is
     * the SYN of the end that opens the connection, so that SYN is declared lost and resent. The
     * end that has received a SYN sends no probe, because the sender of the SYN may not exist. */
    if (c->notify.active && c->s.snd.nxt && !c->s.snd.una)
        scps_sb_lose(&c->s.tx->sb, c->s.tx->sb.head, NULL);
    scps_todo_add(&c->s.todo, SCPS_TODO_KEEP);
    scps_outage_probed(&c->s.outage);
    scps_timer_set(&c->s.ctx, &c->outage_timer,
                   c->s.ctx.env->now + scps_snd_outage_interval(&c->s));
    scps_sender_wake(&c->s);
}
