/* SPDX-License-Identifier: MIT */
/* The application as owner of a connection, and the events that it has not fetched yet (notify.c).
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
        /* listener from which the application can accept the connection; valid until it is
         * accepted, which is while scps_notify.pending is true */
        struct scps_listener *listener;
        /* the value that the application attached to the connection; each event returns it */
        void *user;
    };
};

struct scps_notify {
    /* true: the connection waits at its listener, and the application has not accepted it yet */
    bool pending : 1;
    bool active : 1; /* active open: this end sent the first SYN */
    /* true: the application has closed or aborted the connection, or never had a handle for it */
    bool released : 1;
    /* true: the connection is in the stack's queue of connections with events (env->events) */
    bool listed : 1;
    uint16_t events; /* set of the pending events: bit 1 << enum scps_event_kind for each */
};

/* Removes and returns the first pending event (enum scps_event_kind). Precondition: there is
 * one. */
unsigned scps_notify_take(struct scps_notify *n);

/* Records an event for the application. Returns true if the caller has to add the connection to the
 * stack's queue of connections with events (env->events); false if the connection is there already,
 * waits at its listener to be accepted, or was released by the application, in which case the event
 * is discarded. */
static inline bool scps_notify_add(struct scps_notify *n, enum scps_event_kind kind)
{
    if (n->released)
        return false;
    n->events |= (uint16_t)(1u << kind);
    if (n->listed || n->pending)
        /* While the connection waits at its listener, it is not in the queue of events: its
         * events stay pending until the application accepts it. */
        return false;
    n->listed = true;
    return true;
}
/* Records that the connection has left the stack's queue of connections with events. */
static inline void scps_notify_unlisted(struct scps_notify *n)
{
    n->listed = false;
}
/* Records that this end sent the first SYN (active open). */
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
/* Records that the application has accepted the connection from its listener. The pointer that its
 * events return is NULL until the application sets one (scps_notify_user). */
static inline void scps_notify_accept(struct scps_notify *n, struct scps_conn_owner *o)
{
    n->pending = false;
    o->user = NULL;
}
/* Attaches a value to the connection, which each of its events returns to the application; NULL:
 * none. */
static inline void scps_notify_user(struct scps_conn_owner *o, void *user)
{
    o->user = user;
}
/* Records that the application has given up its handle: pending events are discarded, and no later
 * ones are recorded. */
static inline void scps_notify_release(struct scps_notify *n)
{
    n->released = true;
    n->events = 0;
}
/* Records that the application, which owns the connection, has closed it. */
static inline void scps_notify_closed(struct scps_notify *n, struct scps_conn_owner *o)
{
    scps_notify_release(n);
    scps_notify_user(o, NULL);
}

#endif
