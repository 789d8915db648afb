/* SPDX-License-Identifier: MIT */
/* Bits that input, API calls and timers set for output, which checks them before it looks for data
 * to send.
 *
 * Invariant: the bits are changed only by the functions of this file, and these are called only by
 * files that process a segment, an API call or a timer for the connection as a whole (state.c,
 * ackin.c, rcv.c, snd.c and their helpers), not by files that keep one part of its state, such as
 * the scoreboard or the RTT. All bits are in one word, since output tests several of them at once.
 */
#ifndef SCPS_CORE_TODO_H
#define SCPS_CORE_TODO_H

#include <stdint.h>

enum scps_todo_bit {
    SCPS_TODO_ACK = 1u << 0, /* an acknowledgement is due now */
    SCPS_TODO_RST = 1u << 1, /* a reset is due */
    /* a keep-alive probe is due or, in an outage of the link, the probe of the peer (the same
     * segment) that tests at intervals whether the link works again */
    SCPS_TODO_KEEP = 1u << 2,
    SCPS_TODO_PROBE = 1u << 3, /* a window probe or a tail loss probe is due */
    SCPS_TODO_TAIL = 1u << 4,  /* the probe that is due is a tail loss probe (RFC 8985 section 7) */
    SCPS_TODO_ECE = 1u << 5,   /* segments carry ECE until a segment with CWR arrives */
    /* an ECN congestion mark has arrived that no acknowledgement has echoed yet */
    SCPS_TODO_ECE_DUE = 1u << 9,
    SCPS_TODO_CWR = 1u << 6, /* the next segment with new data carries CWR */
    /* Segments with data are not marked as ECN-capable although ECN is agreed on, because a SYN
     * without ECN was sent or has arrived, too (RFC 3168 section 6.1.1). Marks of the peer's
     * segments are still echoed. */
    SCPS_TODO_NOT_ECT = 1u << 11,
    /* The acknowledgement that is due (SCPS_TODO_ACK) answers an unacceptable segment or a FIN. It
     * stays due when a retransmission is sent: a peer that has the data of that retransmission
     * already discards the segment with its acknowledgement number. */
    SCPS_TODO_ANSWER = 1u << 10,
    /* Two states during which no ordinary segment is sent. */
    SCPS_TODO_OUTAGE = 1u << 7, /* the link is in an outage: only the outage's probe is sent */
    SCPS_TODO_PERSIST = 1u << 8 /* the peer's window is closed: only window probes are sent */
};

struct scps_todo {
    uint16_t bits;
};

static inline void scps_todo_add(struct scps_todo *t, unsigned bits)
{
    t->bits |= (uint16_t)bits;
}
static inline void scps_todo_done(struct scps_todo *t, unsigned bits)
{
    t->bits &= (uint16_t)~bits;
}
/* Called when a tail loss probe was sent, or is no longer needed: new data was acknowledged,
 * nothing is outstanding, a loss was detected, or the peer's window is closed. If the probe is due
 * but waits for the rate limit of the route, it is cancelled: when nothing is outstanding,
 * SCPS_TODO_PROBE would be taken for a request of a window probe, and an octet of new data would be
 * sent beyond the peer's window. */
static inline void scps_todo_no_tail_probe(struct scps_todo *t)
{
    if (t->bits & SCPS_TODO_TAIL)
        scps_todo_done(t, SCPS_TODO_PROBE | SCPS_TODO_TAIL);
}
/* Records that a segment with data arrived with an ECN congestion mark (CE). */
static inline void scps_todo_echo(struct scps_todo *t)
{
    scps_todo_add(t, SCPS_TODO_ECE | SCPS_TODO_ECE_DUE);
}
/* Records that a segment with CWR arrived: the peer has reduced its window. A congestion mark that
 * has not been echoed yet stays due, by RFC 3168 section 6.1.3: "if any of the received data
 * packets are CE packets, then the returning ACK has the ECN-Echo flag set". */
static inline void scps_todo_cwr_came(struct scps_todo *t)
{
    if (!(t->bits & SCPS_TODO_ECE_DUE))
        scps_todo_done(t, SCPS_TODO_ECE);
}

#endif
