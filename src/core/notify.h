/* SPDX-License-Identifier: MIT */
/* Notifies others of a connection: the application of events, the observer of drops. */
#ifndef SCPS_CORE_NOTIFY_H
#define SCPS_CORE_NOTIFY_H

#include <scps/wire.h>

#include "core/ctx.h"
#include "core/turns.h"

struct scps_conn;

void scps_conn_notify(struct scps_conn *c, enum scps_event_kind kind);
/* Takes the first event (enum scps_event_kind) of c, which has one. */
unsigned scps_conn_event(struct scps_conn *c);
/* Discards all events of c. */
void scps_conn_no_events(struct scps_conn *c);
/* Removes c, which has a pending event, from the host's event queue. */
void scps_conn_unlist(struct scps_conn *c);
void scps_conn_ctx_drop(const struct scps_conn_ctx *x, enum scps_drop d,
                        const struct scps_seg *seg);
#define SCPS_OBSERVE_CONN(c, kind, a, b, d, e) SCPS_OBSERVE(&(c)->s.ctx, kind, a, b, d, e)

#endif
