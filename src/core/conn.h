/* SPDX-License-Identifier: MIT */
/* struct scps_conn as the sum of its parts.
 *
 * A connection has a small part that exists as long as the connection (this struct), and two parts
 * that are allocated when needed: tx while octets are unacknowledged, rx while octets are held
 * beyond a hole. An idle connection has neither.
 *
 * The stack drives a connection by scps_conn_input() for a parsed segment, scps_conn_output() for
 * the next segment to send, and scps_conn_timers() when its next timer expires; the stack has the
 * times of the next timers of all its connections in a heap (env.h). Input never sends: it sets
 * bits that say what is due (todo.h) and wakes the connection; output makes segments from these
 * bits.
 */
#ifndef SCPS_CORE_CONN_H
#define SCPS_CORE_CONN_H

#include "core/bets.h"
#include "core/config.h"
#include "core/control.h"
#include "core/gate.h"
#include "core/input.h"
#include "core/keep.h"
#include "core/life.h"
#include "core/memory.h"
#include "core/negotiate.h"
#include "core/notify.h"
#include "core/rcv.h"
#include "core/resume.h"
#include "core/rtt.h"
#include "core/rx.h"
#include "core/sender.h"
#include "core/small.h"
#include "core/snd.h"
#include "core/todo.h"
#include "core/tp.h"
#include "core/ts.h"
#include "core/tx.h"

struct scps_conn {
    /* The sending half. s.ctx is the context (host, configuration, counters) that the sending and
     * the receiving functions of this connection read. First member, because scps_conn_of()
     * converts its address. */
    struct scps_sender s;
    struct scps_conn_owner owner;
    /* link in the stack's queue of connections with events (env->events), or in the listener's
     * queue of connections to accept */
    struct scps_queue_link link;
    struct scps_conn *hash_next;
    struct scps_addr local, remote;
    uint16_t lport, rport;
    /* state of the connection (RFC 9293 section 3.3.2) */
    uint8_t state; /* enum scps_state */
    int8_t err;
    struct scps_notify notify;
    struct scps_ts ts;
    struct scps_segs segs;
    scps_time opened;
    struct scps_receive rcv;
    struct scps_ackout ack;
    struct scps_keep keep;
    /* timer that ends the connection in TIME-WAIT, and in FIN-WAIT-2 if the application has closed
     * it */
    struct scps_timer end_timer;
    /* timer of an outage of the link: expires when the outage ends, if that time is known, and
     * otherwise when the next probe is due */
    struct scps_timer outage_timer;
    uint64_t cc_state[]; /* state of the congestion controller, scps_cc_state_size() bytes */
};

#define SCPS_OBSERVE_CONN(c, kind, a, b, d, e) SCPS_OBSERVE(&(c)->s.ctx, kind, a, b, d, e)
#define SCPS_OBSERVE_CONN2(c, kind, a, b)      SCPS_OBSERVE2(&(c)->s.ctx, kind, a, b)

/* Returns the connection to which s, its first member, belongs. */
static inline struct scps_conn *scps_conn_of(struct scps_sender *s)
{
    return (struct scps_conn *)s;
}
/* Returns the connection to which link l belongs; NULL if l is NULL. */
static inline struct scps_conn *scps_conn_of_link(struct scps_queue_link *l)
{
    return l ? (struct scps_conn *)((char *)l - offsetof(struct scps_conn, link)) : NULL;
}
/* Returns the state of the congestion controller, for the functions of control.h. */
static inline void *scps_conn_cc(struct scps_conn *c)
{
    return c->cc_state;
}
/* Records that an acknowledgement, with RCV.NXT as it is now, is due at once. */
static inline void scps_conn_ack_now(struct scps_conn *c)
{
    if (c->rcv.rx)
        scps_ackrx_must_cover(&c->rcv.rx->ack, scps_receive_next(&c->rcv));
    scps_todo_add(&c->s.todo, SCPS_TODO_ACK);
    scps_sender_wake(&c->s);
}
/* Returns true if the stack need not call scps_conn_output() for s now, because there is certainly
 * nothing to send. data: true if the segment just built had data; then a connection that waits for
 * its pacer has nothing more. Returns false if there may be something to send. */
static inline bool scps_sender_quiet(const struct scps_sender *s, bool data)
{
    if (s->hold == SCPS_HOLD_NONE ||
        s->todo.bits & (SCPS_TODO_ACK | SCPS_TODO_RST | SCPS_TODO_KEEP | SCPS_TODO_PROBE))
        return false;
    if (s->hold == SCPS_HOLD_PACE)
        return data;
    return s->hold == SCPS_HOLD_APP && (!s->tx || (scps_send_all_sent(&s->snd) && !s->tx->sb.lost));
}

#endif
