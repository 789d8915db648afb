/* SPDX-License-Identifier: MIT */
/* What output looks at before it looks at data: marks that input, calls and timers leave for it.
 *
 * Invariant: only the files that compose the parts add marks and take them away, by the two
 * functions below.  All marks stand in one word, since output tests several of them at once.
 */
#ifndef SCPS_CORE_TODO_H
#define SCPS_CORE_TODO_H

#include <stdint.h>

enum scps_todo_bit {
    SCPS_TODO_ACK = 1u << 0,     /* an acknowledgement is owed now */
    SCPS_TODO_RST = 1u << 1,     /* a reset */
    SCPS_TODO_KEEP = 1u << 2,    /* a keep-alive probe, or the probe of an outage */
    SCPS_TODO_PROBE = 1u << 3,   /* a probe of the window, or of the tail */
    SCPS_TODO_TAIL = 1u << 4,    /* the probe is one of the tail (RFC 8985 section 7) */
    SCPS_TODO_ECE = 1u << 5,     /* an ECN echo is owed until CWR comes */
    SCPS_TODO_ECE_DUE = 1u << 9, /* a mark came that no acknowledgement has echoed */
    SCPS_TODO_CWR = 1u << 6,     /* the next new data carries CWR */
    /* not deeds, but states that forbid others */
    SCPS_TODO_OUTAGE = 1u << 7, /* the link is out: nothing leaves but its probe */
    SCPS_TODO_PERSIST = 1u << 8 /* the peer's window is shut: nothing leaves but probes of it */
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
/* A segment with data came with a congestion mark. */
static inline void scps_todo_echo(struct scps_todo *t)
{
    scps_todo_add(t, SCPS_TODO_ECE | SCPS_TODO_ECE_DUE);
}
/* The peer has reduced its window. RFC 3168 section 6.1.3: "if any of the received data packets are
 * CE packets, then the returning ACK has the ECN-Echo flag set", also if CWR came between the two.
 */
static inline void scps_todo_cwr_came(struct scps_todo *t)
{
    if (!(t->bits & SCPS_TODO_ECE_DUE))
        scps_todo_done(t, SCPS_TODO_ECE);
}

#endif
