/* SPDX-License-Identifier: MIT */
/* Connections with something to send take turns: notify.c assigns the queue. */
#ifndef SCPS_CORE_TURNS_H
#define SCPS_CORE_TURNS_H

struct scps_conn;
struct scps_gate;

/* Connections of one link, or of one route whose rate is set, with something to send, in turn. */
struct scps_ready_queue {
    struct scps_conn *head, *tail;
    struct scps_gate *gate; /* the route's rate; NULL: none is set */
    const void *link;       /* tells links apart */
};

#endif
