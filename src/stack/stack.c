/* SPDX-License-Identifier: MIT */
/* The stack of a host: opens and closes it, keeps its time, and returns events. */
#include "stack/stack.h"
#include "stack/connid.h"

#include "base/bytes.h"
#include "base/line.h"
#include "base/prng.h"

/* ---- functions that open and close a stack ---- */

/* Allocates a stack without fixed memory, which takes memory from cfg->alloc as it needs it.
 * Returns NULL on lack of memory. */
static struct scps_stack *alloc_stack(const struct scps_stack_config *cfg)
{
    struct scps_stack *st = cfg->alloc.alloc(cfg->alloc.ctx, sizeof *st);

    if (!st)
        return NULL;
    memset(st, 0, sizeof *st);
    st->size = sizeof *st;
    scps_budget_init(&st->env.budget, &cfg->alloc, cfg->memory_limit);
    return st;
}

/* Allocates a stack with fixed memory, together with all the memory that it will ever use. Sets
 * *need to the number of bytes. Returns NULL on lack of memory. */
static struct scps_stack *take_all(const struct scps_stack_config *cfg, uint64_t *need)
{
    struct scps_reserve plan;
    struct scps_stack *st;

    /* The call cannot fail, because the configuration was checked before. */
    (void)scps_reserve_plan(&plan, cfg, cfg->fixed_memory, cfg->max_conns);
    *need = scps_reserve_bytes(&plan);
    st = cfg->alloc.alloc(cfg->alloc.ctx, (size_t)*need);
    if (!st)
        return NULL;
    memset(st, 0, sizeof *st);
    st->size = (size_t)*need;
    scps_reserve_begin(st, &plan);
    return st;
}

/* Called when c, which a SYN to a listener created, has completed its handshake. */
static void established(struct scps_env *env, struct scps_conn *c)
{
    scps_listener_established(env, c);
    scps_connid_established((struct scps_stack *)env, c);
}

struct scps_stack *scps_stack_new(const struct scps_stack_config *cfg)
{
    return scps_stack_open(cfg, NULL, 0);
}

struct scps_stack *scps_stack_open(const struct scps_stack_config *cfg_in, char *msg, size_t msglen)
{
    struct scps_stack_config cfg;
    struct scps_line why = scps_line_begin(msg, msglen);
    struct scps_stack *st;
    uint64_t need = sizeof *st;

    if (scps_stack_config_take(&cfg, cfg_in, &why))
        return NULL;
    st = cfg.fixed_memory ? take_all(&cfg, &need) : alloc_stack(&cfg);
    if (!st) {
        scps_line_text(&why, "alloc: ");
        scps_line_number(&why, need);
        scps_line_text(&why, " bytes are needed, and it refused them");
        return NULL;
    }
    st->cfg = cfg;
    /* The pointer to the caller's structure is cleared, because that structure need not exist after
     * this call. */
    st->cfg.fixed_memory = NULL;
    st->env.alloc = scps_budget_alloc(&st->env.budget.all);
    st->env.alloc_later = scps_budget_alloc(&st->env.budget.later);
    scps_stack_set_observer(st, &cfg.observer);
    st->env.now = cfg.now;
    scps_env_memory_served(&st->env);
    st->env.key[0] = scps_siphash(cfg.seed, "one", 3);
    st->env.key[1] = scps_siphash(cfg.seed, "two", 3);
    scps_ratelimit_begin(&st->env.challenge_limit, cfg.challenge_acks, 0, cfg.now);
    scps_ratelimit_begin(&st->reset_limit, cfg.resets, 0, cfg.now);
    scps_ratelimit_begin(&st->icmp_limit, cfg.resets, UINT32_MAX, cfg.now);
    st->env.may_establish = scps_listener_has_room;
    st->env.may_repeat = scps_listener_may_repeat;
    st->env.established = established;
    st->env.answered = scps_plain_learn;
    scps_heap_init(&st->env.deadlines, &st->env.alloc, offsetof(struct scps_conn, s.ctx.heap_slot));
    if (st->reserve) {
        st->env.fixed = &st->reserve->fixed;
        /* The call cannot fail, because scps_reserve_plan() has planned memory for this heap. */
        (void)scps_heap_reserve(&st->env.deadlines, cfg.max_conns);
    }
    return st;
}

/* Frees the memory that the stack has for nif, and detaches the network interface from the stack;
 * its owner may close it afterwards. Precondition: no connection, route, address or datagram refers
 * to nif. */
static void let_go(struct scps_stack *st, struct scps_nif *nif)
{
    const struct scps_alloc *a = &st->env.alloc;

    scps_answers_fini(&nif->answers, nif, a);
    scps_kept_fini(&nif->kept, a);
    st->count.packets_before += nif->usage.packets;
    st->count.bytes_before += nif->usage.bytes;
    for (struct scps_shaper *p; (p = nif->shapers);) {
        scps_nif_remove_shaper(nif, p);
        scps_answers_fini(&p->answers, nif, a);
        a->free(a->ctx, p, sizeof *p);
    }
    scps_nif_detach(nif);
}

/* Removes all connections from the ready queues of nif, before they are ended in another order than
 * that of the queues. To remove one that is not the first takes time in proportion to the length of
 * its queue, and thousands may wait for a device that is full. */
static void empty_ready_queues(struct scps_nif *nif)
{
    while (nif->ready.head)
        scps_sender_dequeue(nif->ready.head);
    for (struct scps_shaper *p = nif->shapers; p; p = p->next)
        while (p->ready.head)
            scps_sender_dequeue(p->ready.head);
}

void scps_stack_free(struct scps_stack *st)
{
    struct scps_alloc a;

    if (!st)
        return;
    a = st->env.alloc;
    for (struct scps_nif *nif = st->nifs; nif; nif = nif->next)
        empty_ready_queues(nif);
    scps_listener_free_all(st);
    scps_dgram_free_all(st);
    scps_stack_reap(st);
    for (struct scps_conn *c = scps_demux_next(st, NULL), *next; c; c = next) {
        next = scps_demux_next(st, c);
        scps_stack_discard(st, c);
    }
    scps_config_unref(&a, st->recent);
    for (struct scps_nif *nif = st->nifs, *next; nif; nif = next) {
        next = nif->next;
        let_go(st, nif);
        a.free(a.ctx, nif, sizeof *nif);
    }
    if (st->addrs)
        a.free(a.ctx, st->addrs, st->n_addrs * sizeof *st->addrs);
    if (st->routes)
        a.free(a.ctx, st->routes, st->n_routes * sizeof *st->routes);
    if (st->buckets)
        a.free(a.ctx, st->buckets, ((size_t)st->bucket_mask + 1) * sizeof *st->buckets);
    scps_connid_free_all(st);
    scps_plain_free(st);
    scps_heap_fini(&st->env.deadlines);
    a = st->cfg.alloc;
    a.free(a.ctx, st, st->size);
}

int scps_stack_add_netif_sized(struct scps_stack *st, struct scps_netif *netif, uint32_t layout)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_nif *nif;
    uint32_t n = 0;

    if (layout != SCPS_NETIF_LAYOUT)
        return SCPS_ERR_RANGE;
    if (!netif || netif->stack || netif->upper || netif->mtu < SCPS_MTU_LEAST)
        return SCPS_ERR_INVAL;
    /* The structure scps_nif of a network interface that was removed is used again, if there is
     * one. */
    for (nif = st->nifs; nif && nif->nif; nif = nif->next)
        n++;
    if (!nif) {
        if (st->reserve && n >= SCPS_FIXED_NETIFS)
            return SCPS_ERR_NOMEM;
        nif = a->alloc(a->ctx, sizeof *nif);
        if (!nif)
            return SCPS_ERR_NOMEM;
        scps_nif_append(&st->nifs, nif);
    }
    scps_nif_attach(nif, st, netif, st->env.now);
    return 0;
}

void scps_stack_remove_netif(struct scps_stack *st, struct scps_netif *netif)
{
    struct scps_nif *nif;

    if (!netif || netif->stack != st)
        return;
    nif = scps_nif_of(netif);
    empty_ready_queues(nif);
    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));) {
        if (!c->s.queue || c->s.queue->link != nif)
            continue;
        scps_conn_finish(c, SCPS_ERR_LINKDOWN);
        scps_conn_detach(c);
    }
    scps_dgram_linkdown(st, nif);
    scps_route_drop(st, nif);
    scps_dgram_regroup(st);
    scps_stack_reap(st);
    let_go(st, nif);
}

/* ---- functions that advance the time of the stack and serve its timers ---- */

scps_time scps_stack_now(const struct scps_stack *st)
{
    return st->env.now;
}

/* Called 100 ms after the allocator or memory_limit has refused memory: lets connections and
 * datagram endpoints whose requests were refused repeat them. */
static void serve_memory(struct scps_stack *st)
{
    scps_env_memory_served(&st->env);
    scps_dgram_trim(st);
    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));) {
        scps_conn_memory(c);
        scps_rcv_check_hole(c);
    }
    scps_dgram_memory(st);
}

/* Processes the timers that are due. The heap orders connections by the time of their next timer. A
 * timer that was stopped or moved to a later time does not change the heap at once, so the time in
 * the heap may be too early; then no timer is due, and only the time in the heap is corrected. */
SCPS_NOINLINE void scps_stack_serve_timers(struct scps_stack *st)
{
    struct scps_heap *h = &st->env.deadlines;

    if (st->env.memory_at <= st->env.now)
        serve_memory(st);
    while (h->min <= st->env.now) {
        struct scps_conn *c = h->v[0].item;
        scps_time due;
        due = scps_conn_timers(c);
        if (c->s.ctx.heap_slot == SCPS_HEAP_NONE)
            continue;
        if (due == SCPS_NEVER)
            scps_heap_remove(h, c);
        else
            scps_heap_set(h, due, c);
    }
}

void scps_stack_advance(struct scps_stack *st, scps_time now)
{
    if (st->env.dead)
        scps_stack_reap(st);
    scps_stack_clock(st, now);
    if (scps_stack_timers_due(st))
        scps_stack_serve_timers(st);
}

/* Returns the earliest time, µs, at which one of the shapers (rate limiters of routes) in the list
 * that begins with p lets a packet be sent. */
static SCPS_NOINLINE scps_time shapers_due(struct scps_shaper *p, scps_time now)
{
    scps_time due = SCPS_NEVER;

    for (; p; p = p->next) {
        scps_time t = SCPS_MIN(scps_gate_floor_due(&p->gate, now), scps_answer_due(p, now));
        if (scps_dgram_first(p))
            t = SCPS_MIN(t, scps_dgram_due(p, now));
        else if (p->ready.head)
            t = SCPS_MIN(t, p->gate.asked == p->ready.head ? p->gate.opens : now);
        due = SCPS_MIN(due, t);
    }
    return due;
}

scps_time scps_stack_deadline(const struct scps_stack *st)
{
    scps_time due = SCPS_MIN(scps_heap_min(&st->env.deadlines), st->env.memory_at);

    for (struct scps_nif *nif = st->nifs; nif; nif = nif->next) {
        if (nif->kept.blocked || !(nif->ready.head || scps_nif_others(nif)))
            continue;
        if (nif->ready.head || nif->dgrams.first || !scps_recring_empty(&nif->answers.queue))
            return st->env.now;
        if (nif->shapers)
            due = SCPS_MIN(due, shapers_due(nif->shapers, st->env.now));
    }
    return due;
}

/* ---- functions that pass events to the application ---- */

int scps_stack_event(struct scps_stack *st, struct scps_event *ev)
{
    struct scps_env *env = &st->env;
    struct scps_conn *c;

    if (st->ev_listeners.first) {
        scps_listener_event(st, ev);
        return 1;
    }
    if (st->ev_dgrams.first && scps_dgram_event(st, ev))
        return 1;
    while ((c = scps_conn_of_link(env->events.first))) {
        if (c->notify.events) {
            unsigned kind = scps_notify_take(&c->notify);
            *ev = (struct scps_event){.kind = (enum scps_event_kind)kind,
                                      .conn = c,
                                      .user = c->owner.user,
                                      .err = kind == SCPS_EV_ERROR ? c->err : 0};
            return 1;
        }
        scps_queue_remove(&env->events, &c->link);
        scps_notify_unlisted(&c->notify);
    }
    return 0;
}

/* ---- functions that return information about the stack ---- */

struct scps_conn *scps_stack_next_conn(const struct scps_stack *st, const struct scps_conn *prev)
{
    struct scps_conn *c = scps_demux_next(st, prev);

    /* A connection that has ended and whose handle the application has closed is skipped, because
     * it will be freed. */
    while (c && c->s.dead)
        c = scps_demux_next(st, c);
    return c;
}

void scps_stack_set_observer(struct scps_stack *st, const struct scps_observer *obs)
{
    st->env.obs = obs && obs->note ? *obs : (struct scps_observer){0};
}

struct scps_observer scps_stack_observer(const struct scps_stack *st)
{
    return st->env.obs;
}
