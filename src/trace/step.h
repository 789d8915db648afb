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
    bool odd; /* may have options or flags that a plain segment does not have */
    uint16_t flags;
    bool syn, fin, ack;
    uint32_t len;        /* payload */
    uint64_t win;        /* offered */
    uint64_t first, end; /* payload, unwrapped */
    uint64_t top;        /* end of the segment, SYN and FIN counted */
    uint64_t ack64;      /* acknowledgement, unwrapped in the other direction's space; 0: none */
    /* result of the steps so far */
    uint32_t again; /* octets sent before */
    bool resent;
    bool probe; /* probe of a zero window */
    bool ooo, keepalive, dup_below;
    enum cause cause; /* cause of the retransmission */
    scps_dur sample;  /* RTT sample that the segment completes, µs; -1: none */
};

#endif
