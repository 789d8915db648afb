/* SPDX-License-Identifier: MIT */
/* The state that the steps of segment.c pass to each other while one segment is analysed. */
#ifndef SCPS_TRACE_STEP_H
#define SCPS_TRACE_STEP_H

#include "trace/segment.h"
#include "trace/why.h"

struct step {
    struct scps_trace *t;
    const struct packet *k;
    const struct segment *s;
    struct flow *f;
    int dir;
    scps_time now;
    /* false: the segment has no flags but ACK and PSH and no options but timestamps, so steps for
     * other flags and options are skipped */
    bool odd;
    uint16_t flags;
    bool syn, fin, ack;
    uint32_t len;        /* bytes of payload */
    uint64_t win;        /* window that the segment announces, bytes */
    uint64_t first, end; /* range of the payload in sequence space, unwrapped */
    /* sequence number behind the segment (SEG.SEQ + SEG.LEN), unwrapped; SYN and FIN count as one
     * octet each */
    uint64_t top;
    /* SEG.ACK, unwrapped to 64 bits like the sequence numbers of the opposite direction; 0: the
     * segment has no ACK flag */
    uint64_t ack64;
    /* results of the analysis of the segment so far */
    uint32_t again; /* number of octets of the segment that were sent before */
    bool resent;
    bool probe; /* true: the segment was sent although the receiver's window is 0: a window probe */
    bool ooo, keepalive, dup_below;
    enum cause cause; /* cause of the retransmission, if the segment is one */
    /* RTT sample of the opposite direction that this segment's SEG.ACK completes, µs; -1: none */
    scps_dur sample;
};

#endif
