/* SPDX-License-Identifier: MIT */
/* How others hear of a connection: the stack that it can send, the application of events, the
 * observer of drops. */
#ifndef SCPS_CORE_NOTIFY_H
#define SCPS_CORE_NOTIFY_H

#include <scps/wire.h>

#include "core/ctx.h"
#include "core/turns.h"

struct scps_conn;

/* In the turns of its link, if not there yet. */
void scps_conn_wake(struct scps_conn *c);
void scps_conn_dequeue(struct scps_conn *c);
/* The one at the head goes to the back of its link's turns, so that all get theirs. */
void scps_ready_queue_next(struct scps_ready_queue *t);
/* c leaves the turns for the queue of those that wait to be freed; the first of these leaves it. */
void scps_conn_put_aside(struct scps_conn *c);
void scps_conn_unbury(struct scps_conn *c);
void scps_conn_notify(struct scps_conn *c, enum scps_event_kind kind);
/* Takes the first event (enum scps_event_kind) of c, which has one; discards all of them. */
unsigned scps_conn_event(struct scps_conn *c);
void scps_conn_no_events(struct scps_conn *c);
/* c, which is listed, leaves the host's event queue. */
void scps_conn_unlist(struct scps_conn *c);
void scps_conn_drop(struct scps_conn *c, enum scps_drop d, const struct scps_seg *seg);
#define SCPS_OBSERVE_CONN(c, kind, a, b, d, e) SCPS_OBSERVE(&(c)->ctx, kind, a, b, d, e)

#endif
