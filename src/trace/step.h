/* SPDX-License-Identifier: MIT */
/* What the steps of segment.c have found about one segment so far. */
#ifndef SCPS_TRACE_STEP_H
#define SCPS_TRACE_STEP_H

#include "trace/segment.h"

struct step {
    struct scps_trace *t;
    const struct packet *k;
    const struct segment *s;
    struct flow *f;
    int dir;
    scps_time now;
    bool odd; /* the segment may have options or flags that a plain segment does not have */
    uint16_t flags;
    bool syn, fin, ack;
    uint32_t len;        /* bytes of payload */
    uint64_t win;        /* window offered, bytes */
    uint64_t first, end; /* range of the payload in sequence space, unwrapped */
    uint64_t top;        /* end of the segment, SYN and FIN counted */
    uint64_t ack64; /* acknowledgement, unwrapped near the other direction's numbers; 0: none */
    /* These fields are results of the steps so far. */
    uint32_t again; /* octets that were sent before */
    bool resent;
    bool probe; /* the segment probes a zero window */
    bool ooo, keepalive, dup_below;
    enum cause cause; /* cause of the retransmission, if it is one */
    scps_dur sample;  /* RTT sample that the segment completes, µs; -1: none */
};

#endif
