/* SPDX-License-Identifier: MIT */
/* struct scps_conn as the sum of its parts.
 *
 * A connection has a small part that lives as long as it does (this struct), and two that come and
 * go with use: tx (octets written and not acknowledged) and rx (octets beyond a hole). An idle
 * connection owns neither.
 *
 * The same three verbs as the stack, one level down, in parsed segments: scps_conn_input,
 * scps_conn_output and a deadline in the host's heap. Input never sends: it leaves marks (todo.h)
 * and wakes the connection; output turns marks into segments.
 */
#ifndef SCPS_CORE_CONN_H
#define SCPS_CORE_CONN_H

#include "core/ackout.h"
#include "core/bets.h"
#include "core/config.h"
#include "core/control.h"
#include "core/gate.h"
#include "core/heard.h"
#include "core/input.h"
#include "core/life.h"
#include "core/loss.h"
#include "core/negotiate.h"
#include "core/notify.h"
#include "core/outage.h"
#include "core/rcv.h"
#include "core/resume.h"
#include "core/rtt.h"
#include "core/rx.h"
#include "core/send.h"
#include "core/small.h"
#include "core/snd.h"
#include "core/todo.h"
#include "core/tp.h"
#include "core/ts.h"
#include "core/tx.h"

struct scps_conn {
    struct scps_conn_ctx ctx; /* what parts see of it */
    /* owners and queues */
    struct scps_ready_queue *turns; /* its link's, or its route's */
    struct scps_tx *tx;             /* NULL: nothing written, nothing outstanding */
    struct scps_rx *rx;             /* NULL: nothing beyond a hole */
    struct scps_conn_scps *tp;      /* NULL: as said there */
    union {
        struct scps_listener *listener; /* while pending */
        void *user;
    } owner;
    struct scps_conn *ready_next, *ev_next, *hash_next;
    struct scps_addr local, remote;
    uint16_t lport, rport;
    /* what it is */
    uint8_t state; /* enum scps_state */
    int8_t err;
    uint8_t hold;
    uint8_t phase;         /* enum scps_cc_phase: the last that an observer was told of */
    uint8_t outage_probes; /* in a row; UINT8_MAX: or more */
    struct scps_heard heard;
    struct scps_small small;
    struct scps_room room;
    bool pending : 1;      /* not accepted yet */
    bool dsacks : 1;       /* the peer has reported a duplicate: it can */
    bool resumes : 1;      /* a saved path state was taken: tp->resume */
    bool active : 1;       /* we opened it */
    bool released : 1;     /* the owner has let go */
    bool syn_lost : 1;     /* our SYN timed out: initial window 1, RFC 5681 section 3.1 */
    bool cwnd_limited : 1; /* the congestion window was used since the last acknowledgement */
    bool end_known : 1;    /* in an outage: its timer is its end, no probe */
    uint8_t plain : 2;     /* enum scps_plain */
    uint8_t soft_err : 2;  /* enum scps_soft: what ICMP said, until the peer is heard again */
    bool ready : 1;        /* in its link's turns */
    bool listed : 1;       /* in the host's event queue */
    bool dead : 1;         /* in the queue of those to be freed */
    uint16_t events;       /* 1 << enum scps_event_kind */
    uint16_t icmp;         /* type << 8 | code of the newest ICMP error */
    uint16_t keep_probes;  /* keep-alives in a row, up to keep_count */
    struct scps_todo todo;
    struct scps_agreed agreed;
    struct scps_ts ts;
    uint64_t segs_out, segs_in;
    scps_time opened, established;
    scps_time heard_at; /* data, or news of what was sent, last arrived: keep.c */
    struct scps_send snd;
    struct scps_rtt rtt;
    struct scps_cc_ctl ctl;
    struct scps_receive rcv;
    struct scps_ackout ack;
    struct scps_timer keep_timer;   /* is the peer still there? */
    struct scps_timer end_timer;    /* TIME-WAIT is over, or FIN-WAIT-2 of a released connection */
    struct scps_timer outage_timer; /* the known end of an outage, or the next probe of the link */
    uint64_t cc_state[];            /* scps_cc_state_size() bytes */
};

/* Data, or news of what was sent, has arrived: nobody need ask for the peer for a while. */
static inline void scps_conn_news(struct scps_conn *c)
{
    c->heard_at = c->ctx.env->now;
}

/* An acknowledgement of all that has arrived is due now. */
static inline void scps_conn_ack_now(struct scps_conn *c)
{
    if (c->rx)
        scps_ackrx_tell(&c->rx->ack, scps_receive_next(&c->rcv));
    scps_todo_add(&c->todo, SCPS_TODO_ACK);
    scps_conn_wake(c);
}
/* What a loss found now is put down to. */
static inline enum scps_loss_cause scps_conn_loss_cause(const struct scps_conn *c)
{
    return scps_cause_now(c->tx ? &c->tx->cause : NULL, &c->ctx);
}
/* How much one read may give. */
static inline uint64_t scps_conn_ready(const struct scps_conn *c)
{
    const struct scps_rcv_marks *m = scps_tp_marks(c->tp);

    return m ? scps_marks_ready(m, &c->rcv.in) : scps_rcvbuf_ready(&c->rcv.in);
}
/* What was read, or what arrived, changed: does a hole hold the reader up, and since when? */
static inline void scps_bets_check_hole(struct scps_conn *c)
{
    if (c->agreed.caps & SCPS_CAP_BETS)
        scps_bets_wait(c);
}
/* Surely nothing more to send now: saves asking scps_conn_output. data: a segment with data has
 * just left. False: perhaps. */
static inline bool scps_conn_quiet(const struct scps_conn *c, bool data)
{
    if (c->hold == SCPS_HOLD_NONE ||
        c->todo.bits & (SCPS_TODO_ACK | SCPS_TODO_RST | SCPS_TODO_KEEP | SCPS_TODO_PROBE))
        return false;
    if (c->hold == SCPS_HOLD_PACE)
        return data;
    return c->hold == SCPS_HOLD_APP && (!c->tx || (scps_send_all_sent(&c->snd) && !c->tx->sb.lost));
}
static inline struct scps_listener *scps_conn_listener(const struct scps_conn *c)
{
    return c->pending ? c->owner.listener : NULL;
}

#endif
