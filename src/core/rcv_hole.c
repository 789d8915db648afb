/* SPDX-License-Identifier: MIT */
/* Moves RCV.NXT when no data arrives: over the peer's FIN, or over a hole (octets missing there,
 * while later ones have arrived) that this receiver gives up under best effort. */
#include <assert.h>

#include "base/bytes.h"
#include "core/conn.h"

void scps_rcv_take_fin(struct scps_conn *c)
{
    scps_receive_fin(&c->rcv);
    scps_conn_ack_now(c);
    scps_todo_add(&c->s.todo, SCPS_TODO_ANSWER);
    scps_conn_notify(c, SCPS_EV_READABLE);
    scps_conn_notify(c, SCPS_EV_PEER_CLOSED);
    switch (c->state) {
    case SCPS_SYN_RECEIVED:
    case SCPS_ESTABLISHED:
        scps_conn_set_state(c, SCPS_CLOSE_WAIT);
        break;
    /* This end's FIN is not acknowledged yet: otherwise the state would be FIN-WAIT-2 already. */
    case SCPS_FIN_WAIT_1:
        scps_conn_set_state(c, SCPS_CLOSING);
        break;
    case SCPS_FIN_WAIT_2:
        scps_conn_set_state(c, SCPS_TIME_WAIT);
        break;
    default:
        break;
    }
    /* Octets beyond the FIN, which only a faulty peer sends, are discarded: the application never
     * reads them, and SACK and SNACK must not report to the peer that octets below them are
     * missing. */
    if (c->rcv.in.ooo->n) {
        scps_rcvbuf_drop_beyond(&c->rcv.in);
        if (c->rcv.rx)
            scps_report_reneged(&c->rcv.rx->report);
    }
    /* RCV.NXT has passed the FIN, the end of the peer's stream, so no octets are missing for which
     * a best-effort receiver would wait. */
    scps_marks_stop(scps_tp_marks(c->s.tp));
}

/* Best effort: gives up the hole at RCV.NXT (the octets missing there), which ends at `to`: RCV.NXT
 * moves to the end of the hole. */
static void jump(struct scps_conn *c, scps_off to)
{
    struct scps_rcv_marks *m = scps_tp_marks(c->s.tp);

    assert(to > c->rcv.in.next && c->rcv.in.read == c->rcv.in.next && !c->rcv.fin);
    /* Data or the FIN has arrived beyond the hole, so the state of out-of-order data exists. */
    assert(c->rcv.rx);
    scps_betsrx_gave_up(&m->wait, to);
    scps_marks_lose(m, c->rcv.in.next, to);
    c->s.ctx.st->holes++;
    c->s.ctx.st->bytes_missing += to - c->rcv.in.next;
    SCPS_OBSERVE_CONN(c, GAVE_UP, c->rcv.in.next, to, 1, 0);
    scps_rcvbuf_jump(&c->rcv.in, to);
    scps_ackrx_progress(&c->rcv.rx->ack);
    scps_conn_ack_now(c);
    if (c->rcv.rx->fin_at == c->rcv.in.next)
        scps_rcv_take_fin(c);
    scps_conn_notify(c, SCPS_EV_HOLE);
    scps_conn_notify(c, SCPS_EV_READABLE);
}

/* Returns the round trip, µs, from which the wait for a hole is computed: SRTT. If the SYN or
 * SYN-ACK was sent again, its answer gives no RTT sample (RFC 6298 section 3), and a receiver that
 * sends no data gets none later. Then it is the time from the first of them to the end of the
 * handshake, which is no shorter than a round trip. */
static scps_dur round_trip(const struct scps_sender *s, scps_time opened)
{
    return s->rtt.srtt ? s->rtt.srtt : s->established - opened;
}

/* Returns the end of the hole for which the application waits: the octets missing at RCV.NXT, all
 * data before which has been read. 0: there is no such hole, or no retransmission can come because
 * the connection has ended or during an outage that a link signal has reported to the stack. An
 * outage that this end has only inferred from timeouts does not count: it shows that this end's
 * data is not acknowledged, and the peer's data may still arrive. If both ends waited for the end
 * of such an outage, neither would ever give a hole up. */
static scps_off awaited(const struct scps_receive *rcv, const struct scps_sender *s, uint8_t state)
{
    bool signalled = s->todo.bits & SCPS_TODO_OUTAGE && !s->outage.inferred;

    return signalled || state == SCPS_CLOSED ? 0 : scps_betsrx_awaited(rcv);
}

void scps_rcv_check_hole(struct scps_conn *c)
{
    struct scps_betsrx *w;
    scps_off to;

    if (!(c->s.agreed.caps & SCPS_CAP_BETS))
        return;
    to = awaited(&c->rcv, &c->s, c->state);
    if (!to) {
        scps_marks_stop(scps_tp_marks(c->s.tp));
        return;
    }
    /* Allocates struct scps_rcv_marks, if there is none: it stores the ends of application records
     * and the timer of the wait for the octets missing at RCV.NXT. If there is no memory, the stack
     * calls this function again after SCPS_MEMORY_RETRY: it cannot rely on a further segment, since
     * the peer may give up these octets, too, and send nothing more. */
    if (scps_conn_need_marks(&c->s)) {
        scps_env_starved(c->s.ctx.env);
        return;
    }
    w = &scps_tp_marks(c->s.tp)->wait;
    if (scps_betsrx_look(w, &c->rcv, to,
                         c->s.ctx.env->now +
                             scps_betsrx_timeout(&c->s.ctx.cfg->c, round_trip(&c->s, c->opened))))
        jump(c, to);
    else
        scps_timer_due(&c->s.ctx, w->due);
}

void scps_rcv_hole_timer(struct scps_conn *c)
{
    scps_off to = awaited(&c->rcv, &c->s, c->state);

    if (scps_betsrx_expired(&scps_tp_marks(c->s.tp)->wait, c->rcv.in.next, to))
        jump(c, to);
    else
        scps_rcv_check_hole(c);
}
