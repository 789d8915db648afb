/* SPDX-License-Identifier: MIT */
/* The two queues of a listener: half-open connections, and connections not accepted yet, each in
 * order of arrival. They use the member `link` of a connection, which later is its link in the
 * host's queue of events, because a connection has no events before it is accepted. */
#include "stack/stack.h"

#include "base/bytes.h"

/* memory that a half-open connection needs at most, octets: one with compressed headers */
#define HALF_OPEN_MEMORY 12288u

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

uint32_t scps_half_open_most(const struct scps_stack *st)
{
    uint64_t most = SCPS_MIN(st->cfg.max_conns / 2, st->cfg.memory_limit / 4 / HALF_OPEN_MEMORY);

    return (uint32_t)SCPS_MAX(most, 1);
}

SCPS_NOINLINE bool scps_listener_has_many(const struct scps_listener *l)
{
    const struct scps_stack *st = l->st;

    return l->half_open >= st->cfg.max_half_open / 4 ||
           st->half_open >= SCPS_MAX(scps_half_open_most(st) / 4, 1);
}

SCPS_NOINLINE struct scps_conn *scps_half_open_oldest(const struct scps_stack *st)
{
    struct scps_conn *oldest = NULL;

    for (const struct scps_listener *l = st->listeners; l; l = l->next) {
        struct scps_conn *c = scps_conn_of_link(l->half.first);
        if (c && (!oldest || c->opened < oldest->opened))
            oldest = c;
    }
    return oldest;
}

SCPS_NOINLINE_SIZE void scps_listener_join(struct scps_listener *l, struct scps_conn *c)
{
    scps_notify_wait(&c->notify, &c->owner, l);
    scps_queue_add(&l->half, &c->link);
    l->half_open++;
    l->st->half_open++;
}

static void leave_half_open(struct scps_listener *l, struct scps_conn *c)
{
    scps_queue_remove(&l->half, &c->link);
    l->half_open--;
    l->st->half_open--;
}

bool scps_listener_has_room(const struct scps_conn *c)
{
    const struct scps_listener *l = scps_conn_listener(c);

    return !l || l->pending < l->backlog;
}

/* Returns the netif through which c sends; NULL: c sends nothing any more. */
static struct scps_nif *nif_of(const struct scps_conn *c)
{
    return c->s.queue ? (struct scps_nif *)c->s.queue->link : NULL;
}

bool scps_listener_may_repeat(const struct scps_conn *c)
{
    const struct scps_listener *l = scps_conn_listener(c);
    struct scps_nif *nif = nif_of(c);

    if (!l || !nif ||
        scps_answer_syn_ack(l->st, nif, &c->remote, SCPS_SYN_ACK_TIMEOUT,
                            scps_listener_has_many(l)))
        return true;
    scps_env_drop(&l->st->env, SCPS_DROP_RATE_LIMITED);
    return false;
}

void scps_listener_established(struct scps_env *env, struct scps_conn *c)
{
    struct scps_listener *l = c->owner.listener;
    struct scps_stack *st = (struct scps_stack *)env;
    struct scps_nif *nif = nif_of(c);

    /* The SYN-ACK went to a peer that exists. That of a SYN cookie is not refunded, because its
     * acknowledgement may be sent many times. */
    if (nif && scps_agreed_plain(&c->s.agreed) != SCPS_PLAIN_COOKIE)
        scps_answer_refund(st, nif, &c->remote);
    leave_half_open(l, c);
    scps_queue_add(&l->ready, &c->link);
    l->pending++;
    if (!l->queued)
        scps_queue_add(&st->ev_listeners, &l->ev_link);
    l->queued = true;
}

void scps_listener_event(struct scps_stack *st, struct scps_event *ev)
{
    struct scps_queue_link *first = st->ev_listeners.first;
    struct scps_listener *l =
        (struct scps_listener *)((char *)first - offsetof(struct scps_listener, ev_link));

    scps_listener_unqueue(l);
    *ev = (struct scps_event){.kind = SCPS_EV_ACCEPT, .listener = l, .user = l->user};
}

void scps_listener_unqueue(struct scps_listener *l)
{
    if (!l->queued)
        return;
    scps_queue_remove(&l->st->ev_listeners, &l->ev_link);
    l->queued = false;
}

struct scps_listener *scps_conn_listener(const struct scps_conn *c)
{
    return c->notify.pending ? c->owner.listener : NULL;
}

SCPS_NOINLINE_SIZE void scps_listener_evict(struct scps_stack *st, struct scps_conn *c)
{
    scps_conn_finish(c, 0);
    st->count.half_open_evicted++;
}

void scps_listener_forget(struct scps_conn *c)
{
    struct scps_listener *l = scps_conn_listener(c);

    if (!l)
        return;
    if (!c->s.established)
        leave_half_open(l, c);
    scps_notify_accept(&c->notify, &c->owner);
}

struct scps_conn *scps_accept(struct scps_listener *l)
{
    struct scps_conn *c = scps_conn_of_link(l->ready.first);

    if (!c)
        return NULL;
    scps_queue_remove(&l->ready, &c->link);
    l->pending--;
    scps_notify_accept(&c->notify, &c->owner);
    /* Events that happened before the application accepted the connection are stored in
     * c->notify.events, but the connection is not yet in the stack's queue of connections with
     * events. scps_conn_notify() puts it there, so that all are reported; it needs some event, and
     * SCPS_EV_WRITABLE holds, because the application may write now. */
    if (c->notify.events)
        scps_conn_notify(c, SCPS_EV_WRITABLE);
    return c;
}

unsigned scps_listener_pending(const struct scps_listener *l)
{
    return l->pending;
}
