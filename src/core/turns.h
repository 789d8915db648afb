/* SPDX-License-Identifier: MIT */
/* The queue of connections that are ready to send; notify.c assigns it. */
#ifndef SCPS_CORE_TURNS_H
#define SCPS_CORE_TURNS_H

struct scps_conn;
struct scps_gate;

/* Connections with something to send, on one link or on one route with a rate, in the order in
 * which they are served. */
struct scps_ready_queue {
    struct scps_conn *head, *tail;
    struct scps_gate *gate; /* rate of the route; NULL: none is set */
    const void *link;       /* tells links apart */
};

#endif
