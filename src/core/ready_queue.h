/* SPDX-License-Identifier: MIT */
/* The queue of connections that are ready to send (ready_queue.c). */
#ifndef SCPS_CORE_READY_QUEUE_H
#define SCPS_CORE_READY_QUEUE_H

struct scps_gate;
struct scps_sender;

/* Connections with something to send, in the order in which they are served. There is one queue for
 * each network interface (link), and one for each route with a rate. */
struct scps_ready_queue {
    struct scps_sender *head, *tail;
    /* token bucket of the route's rate; NULL: the queue is that of an interface, without a rate */
    struct scps_gate *gate;
    const void *link; /* identifies the network interface of the queue; it is not dereferenced */
};

/* Sets the queue in which s is served; NULL: s sends nothing any more. Precondition: s is in no
 * queue. */
void scps_sender_serve(struct scps_sender *s, struct scps_ready_queue *t);
/* Appends s to the ready queue in which it is served, unless s is in that queue already. */
void scps_sender_wake(struct scps_sender *s);
void scps_sender_dequeue(struct scps_sender *s);
/* Moves the first connection of the queue to the end, so that all connections are served in
 * turn. */
void scps_ready_queue_next(struct scps_ready_queue *t);
/* Moves s from its ready queue to the queue of connections whose memory the stack frees. */
void scps_sender_put_aside(struct scps_sender *s);
/* Removes s, the first connection of the queue of connections to be freed, from that queue. */
void scps_sender_dequeue_free(struct scps_sender *s);

#endif
