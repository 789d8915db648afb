/* SPDX-License-Identifier: MIT */
/* RCV.NXT moves without data: over the peer's FIN, or over a hole that best effort gives up. */
#include <assert.h>

#include "core/conn.h"

void scps_rcv_take_fin(struct scps_conn *c)
{
    c->flags |= SCPS_F_FIN_IN;
    scps_ackout_now(c);
    scps_conn_tell(c, SCPS_EV_READABLE);
    scps_conn_tell(c, SCPS_EV_PEER_CLOSED);
    switch (c->state) {
    case SCPS_SYN_RECEIVED:
    case SCPS_ESTABLISHED:
        scps_conn_set_state(c, SCPS_CLOSE_WAIT);
        break;
    case SCPS_FIN_WAIT_1: /* our FIN acknowledged by the same segment: state.c has moved us on */
        scps_conn_set_state(c, SCPS_CLOSING);
        break;
    case SCPS_FIN_WAIT_2:
        scps_conn_set_state(c, SCPS_TIME_WAIT);
        break;
    default:
        break;
    }
    scps_bets_stop(c); /* no hole is left */
}

void scps_rcv_jump(struct scps_conn *c, scps_off to)
{
    assert(to > c->in.next && !(c->flags & SCPS_F_FIN_IN)); /* RCV.NXT never goes back */
    scps_rcvbuf_jump(&c->in, to);
    if (c->rx)
        c->rx->dups = 0;
    scps_ackout_now(c);
    if (c->rx && c->rx->fin_at == c->in.next)
        scps_rcv_take_fin(c);
}
