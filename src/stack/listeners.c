/* SPDX-License-Identifier: MIT */
/* The queues of a listener: half-open connections, and connections not accepted yet.
 *
 * Each kind is a queue by ev_next, the oldest first: a connection has no events of its own
 * before it is accepted. */
#include "stack/stack.h"

struct scps_listener *scps_listener_find(const struct scps_stack *st, const struct scps_addr *local,
                                         uint16_t port)
{
    struct scps_listener *any = NULL;

    for (struct scps_listener *l = st->listeners; l; l = l->next) {
        if (l->local.port != port)
            continue;
        if (!l->local.addr.family) {
            any = any ? any : l;
        } else if (l->local.addr.family == local->family) {
            if (scps_addr_equal(&l->local.addr, local))
                return l;
            if (scps_stack_any(&l->local.addr))
                any = l;
        }
    }
    return any;
}

void scps_listener_join(struct scps_listener *l, struct scps_conn *c)
{
    c->owner.listener = l;
    c->pending = true;
    c->ev_next = NULL;
    if (l->half_last)
        l->half_last->ev_next = c;
    else
        l->half_first = c;
    l->half_last = c;
    l->half_open++;
    l->st->half_open++;
}

static void leave_half_open(struct scps_listener *l, struct scps_conn *c)
{
    struct scps_conn **at = &l->half_first, *before = NULL;

    for (; *at != c; at = &(*at)->ev_next)
        before = *at;
    *at = c->ev_next;
    if (l->half_last == c)
        l->half_last = before;
    c->ev_next = NULL;
    l->half_open--;
    l->st->half_open--;
}

void scps_listener_established(struct scps_env *env, struct scps_conn *c)
{
    struct scps_listener *l = c->owner.listener;
    struct scps_stack *st = (struct scps_stack *)env;

    leave_half_open(l, c);
    if (l->last)
        l->last->ev_next = c;
    else
        l->first = c;
    l->last = c;
    l->pending++;
    if (!l->queued) {
        struct scps_listener **at = &st->ev_listeners;
        while (*at)
            at = &(*at)->ev_next;
        l->ev_next = NULL;
        l->queued = true;
        *at = l;
    }
}

void scps_listener_event(struct scps_stack *st, struct scps_event *ev)
{
    struct scps_listener *l = st->ev_listeners;

    st->ev_listeners = l->ev_next;
    l->queued = false;
    *ev = (struct scps_event){.kind = SCPS_EV_ACCEPT, .listener = l, .user = l->user};
}

void scps_listener_unqueue(struct scps_listener *l)
{
    struct scps_listener **at = &l->st->ev_listeners;

    if (!l->queued)
        return;
    while (*at != l)
        at = &(*at)->ev_next;
    *at = l->ev_next;
}

void scps_listener_forget(struct scps_conn *c)
{
    struct scps_listener *l = scps_conn_listener(c);

    if (!l)
        return;
    if (!c->s.established)
        leave_half_open(l, c);
    c->pending = false;
    c->owner.user = NULL;
}

struct scps_conn *scps_accept(struct scps_listener *l)
{
    struct scps_conn *c = l->first;

    if (!c)
        return NULL;
    l->first = c->ev_next;
    if (!l->first)
        l->last = NULL;
    l->pending--;
    c->ev_next = NULL;
    c->pending = false;
    c->owner.user = NULL;
    if (c->events) /* Report what happened before the connection had an owner. */
        scps_conn_notify(c, SCPS_EV_WRITABLE);
    return c;
}

unsigned scps_listener_pending(const struct scps_listener *l)
{
    return l->pending;
}
