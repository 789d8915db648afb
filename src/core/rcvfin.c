/* SPDX-License-Identifier: MIT */
/* Moves RCV.NXT without data: over the peer's FIN, or over a hole that best effort gives up. */
#include <assert.h>

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
    /* The same segment acknowledges our FIN, so state.c has left FIN-WAIT-1 already. */
    case SCPS_FIN_WAIT_1:
        scps_conn_set_state(c, SCPS_CLOSING);
        break;
    case SCPS_FIN_WAIT_2:
        scps_conn_set_state(c, SCPS_TIME_WAIT);
        break;
    default:
        break;
    }
    scps_marks_stop(scps_tp_marks(c->s.tp)); /* no hole is left */
}

void scps_rcv_jump(struct scps_conn *c, scps_off to)
{
    assert(to > c->rcv.in.next && !(c->rcv.fin)); /* RCV.NXT never goes back */
    scps_rcvbuf_jump(&c->rcv.in, to);
    if (c->rcv.rx)
        scps_ackrx_progress(&c->rcv.rx->ack);
    scps_conn_ack_now(c);
    if (c->rcv.rx && c->rcv.rx->fin_at == c->rcv.in.next)
        scps_rcv_take_fin(c);
}
