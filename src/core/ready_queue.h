/* SPDX-License-Identifier: MIT */
/* The queue of connections that are ready to send (ready_queue.c). */
#ifndef SCPS_CORE_READY_QUEUE_H
#define SCPS_CORE_READY_QUEUE_H

struct scps_gate;
struct scps_sender;

/* Connections with something to send, in the order in which the stack asks them for segments (round
 * robin). There is one queue for each network interface (link), and one for each route with a
 * rate. */
struct scps_ready_queue {
    struct scps_sender *head, *tail;
    /* token bucket of the route's rate; NULL: the queue is that of an interface, without a rate */
    struct scps_gate *gate;
    const void *link; /* identifies the network interface of the queue; it is not dereferenced */
};

/* Sets the queue that s joins when it has something to send: that of its network interface or of
 * its route. t NULL: s sends nothing any more. Precondition: s is in no queue. */
void scps_sender_serve(struct scps_sender *s, struct scps_ready_queue *t);
/* Called when s may have something to send: appends s to its ready queue (scps_sender.queue),
 * unless s is in that queue already. */
void scps_sender_wake(struct scps_sender *s);
void scps_sender_dequeue(struct scps_sender *s);
/* Called when the first connection of the queue has sent its share: moves it to the end of the
 * queue, so that the connections send in turn. */
void scps_ready_queue_next(struct scps_ready_queue *t);
/* Moves s from its ready queue to the queue of connections whose memory the stack frees. */
void scps_sender_put_aside(struct scps_sender *s);
/* Removes s, the first connection of the queue of connections to be freed, from that queue. */
void scps_sender_dequeue_free(struct scps_sender *s);

#endif
