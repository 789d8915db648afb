/* SPDX-License-Identifier: MIT */
/* The sending half of a connection: all state that decides what is sent, and when.
 *
 * Functions for loss detection, recovery, the congestion controller and the timers of sending take
 * this structure. It does not include the TCP state, the receiving half, the addresses and the
 * events.
 *
 * Invariant: each member belongs to the part that defines its type, and only that part's file
 * assigns its fields; conn.c and memory.c allocate and free what the pointers point to.
 */
#ifndef SCPS_CORE_SENDER_H
#define SCPS_CORE_SENDER_H

#include <scps/cc.h>

#include "core/agreed.h"
#include "core/ctx.h"
#include "core/heard.h"
#include "core/outage.h"
#include "core/ready_queue.h"
#include "core/rtt.h"
#include "core/scoreboard.h"
#include "core/send.h"
#include "core/small.h"
#include "core/todo.h"

struct scps_conn_scps;
struct scps_tx;

/* What a connection stores about its congestion controller besides the window and rate that the
 * controller has set (control.c). */
struct scps_cc_use {
    uint8_t phase : 7; /* the enum scps_cc_phase that was last reported to the observer */
    /* 1: the congestion window limited sending at some time since the last acknowledgement */
    uint8_t limited : 1;
};

/* The last ICMP error about the peer (a soft error), valid until SND.UNA advances. If the peer
 * answers nothing until the connection times out, it becomes the reason that the application
 * gets. */
enum scps_soft { SCPS_SOFT_NONE, SCPS_SOFT_REFUSED, SCPS_SOFT_UNREACH };

struct scps_sender {
    struct scps_conn_ctx ctx;
    struct scps_tx *tx;        /* sending state; NULL: nothing is written and nothing outstanding */
    struct scps_conn_scps *tp; /* state of SCPS-TP features; NULL: no feature in force needs any */
    /* queue in which the connection waits until it may send: that of its network interface, or of
     * its route if that has a rate */
    struct scps_ready_queue *queue;
    /* next connection in that queue, or in the queue of connections to be freed */
    struct scps_sender *ready_next;
    struct scps_agreed agreed;
    struct scps_todo todo;
    uint8_t hold; /* the reason why nothing is sent now, an enum scps_hold */
    struct scps_cc_use use;
    struct scps_small small;
    bool dsacks : 1; /* 1: the peer has sent a DSACK, so it reports duplicates (RFC 2883) */
    /* 1: a saved path state was accepted (tp->resume), so careful resume is in progress or has
     * ended */
    bool resumes : 1;
    /* 1: a SYN of this end timed out, and no timestamp shows that the timeout was spurious, so the
     * initial window is one segment (RFC 5681 section 3.1) */
    bool syn_lost : 1;
    /* enum scps_soft: the last ICMP error, cleared when SND.UNA advances */
    uint8_t soft_err : 2;
    bool ready : 1; /* 1: the connection is in the ready queue `queue` */
    bool ipv6 : 1;  /* 1: packets of the connection have IPv6 headers; 0: IPv4 headers */
    bool dead : 1;  /* 1: the connection is in the queue of connections to be freed */
    struct scps_heard heard;
    struct scps_outage outage;
    uint16_t keep_probes; /* consecutive keep-alive probes without an answer, up to keep_count */
    uint16_t icmp; /* type << 8 | code of the newest ICMP error about the connection; 0: none */
    /* time at which the connection became ESTABLISHED, µs; 0: it has not yet */
    scps_time established;
    struct scps_send snd;
    struct scps_rtt rtt;
    struct scps_cc_ctl ctl; /* window and rate that the congestion controller has set */
};

/* Records that a SYN of this end was lost, or (lost false) that timestamps have shown its timeout
 * to be spurious. */
static inline void scps_sender_syn_lost(struct scps_sender *s, bool lost)
{
    s->syn_lost = lost;
}
/* Sets the IP version of the connection; ipv6 false: IPv4. */
static inline void scps_sender_ip(struct scps_sender *s, bool ipv6)
{
    s->ipv6 = ipv6;
}
static inline void scps_sender_soft_err(struct scps_sender *s, enum scps_soft soft)
{
    s->soft_err = soft & 3;
}

#endif
