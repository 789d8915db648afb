/* SPDX-License-Identifier: MIT */
/* The owner of a connection, and the events that it has not taken yet (notify.c).
 *
 * Invariant: a connection without an owner has no events, and is not put into the queue of events
 * again. Only this file and notify.c assign the fields.
 */
#ifndef SCPS_CORE_NOTIFY_H
#define SCPS_CORE_NOTIFY_H

#include <scps/conn.h>

#include "base/queue.h"

struct scps_listener;

struct scps_conn_owner {
    union {
        struct scps_listener *listener; /* its listener, while `pending`; otherwise not used */
        void *user; /* the application's value, which is returned with each event */
    };
};

struct scps_notify {
    bool pending : 1;  /* the connection was not accepted yet */
    bool active : 1;   /* active open: this end sent the first SYN */
    bool released : 1; /* the application has closed or aborted it, or never had a handle */
    bool listed : 1;   /* the connection is in the host's queue of events */
    uint16_t events;   /* pending events, 1 << enum scps_event_kind */
};

/* Removes and returns the first pending event (enum scps_event_kind). Precondition: there is
 * one. */
unsigned scps_notify_take(struct scps_notify *n);

/* Records an event. Returns true if the connection has to be put into the host's queue of
 * events. */
static inline bool scps_notify_add(struct scps_notify *n, enum scps_event_kind kind)
{
    if (n->released)
        return false;
    n->events |= (uint16_t)(1u << kind);
    if (n->listed || n->pending)
        return false; /* A connection that was not accepted yet has no owner. */
    n->listed = true;
    return true;
}
/* Records that the connection has left the host's queue of events. */
static inline void scps_notify_unlisted(struct scps_notify *n)
{
    n->listed = false;
}
/* Records that this end opens the connection. */
static inline void scps_notify_opens(struct scps_notify *n)
{
    n->active = true;
}
/* Records that the connection waits at listener l to be accepted. */
static inline void scps_notify_wait(struct scps_notify *n, struct scps_conn_owner *o,
                                    struct scps_listener *l)
{
    n->pending = true;
    o->listener = l;
}
/* Records that the connection does not wait at its listener any more. */
static inline void scps_notify_accept(struct scps_notify *n, struct scps_conn_owner *o)
{
    n->pending = false;
    o->user = NULL;
}
/* Sets the application's value. */
static inline void scps_notify_user(struct scps_conn_owner *o, void *user)
{
    o->user = user;
}
/* Records that the connection has no owner from now on. */
static inline void scps_notify_release(struct scps_notify *n)
{
    n->released = true;
    n->events = 0;
}

#endif
