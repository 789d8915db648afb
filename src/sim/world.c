/* SPDX-License-Identifier: MIT */
/* A world: hosts with stacks of their own, joined by links, in virtual time.
 *
 *   heap: timers of scps_world_at     one entry each      at one microsecond in this order,
 *         link directions             the next arrival    each kind in the order of creation
 *         hosts                       the stack's deadline
 *
 * An iteration takes the earliest entry and advances the clock to its time. The entry of a link
 * direction passes all packets that arrive at this microsecond to the receiving stack, and the host
 * of this stack is served when no further arrival or timer is due at the same microsecond. So
 * packets that arrive together are acknowledged together, as with a real driver that reads in
 * batches. To serve a host means to pass the events of its stack to the application and to call
 * scps_pump(), until there are no more events. A host with no event, no packet to send and no
 * expired deadline is not served.
 *
 * scps_pump() returns the next deadline of the stack, usually that of a retransmission timer that
 * has just been restarted with a later time. The host's heap entry is changed only if the deadline
 * becomes earlier than the entry. An entry whose time comes before the deadline is moved to the
 * deadline, and the clock is not advanced.
 */
#include "sim/world.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fastpath.h"
#include "stack/stack.h"

#include <assert.h>

/* ---- functions that open and free a world: hosts with stacks, and links, in virtual time ---- */

struct scps_world *scps_world_new(const struct scps_alloc *alloc)
{
    struct scps_alloc a = scps_alloc_or_default(alloc);
    struct scps_world *w = a.alloc(a.ctx, sizeof *w);

    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    w->alloc = a;
    w->marked_end = &w->marked;
    scps_vclock_init(&w->clock, &w->alloc);
    return w;
}

void scps_world_free(struct scps_world *w)
{
    struct scps_alloc a;

    if (!w)
        return;
    for (const struct scps_vclock_node *n = w->clock.v; n < w->clock.end; n++)
        if (SCPS_RANK_KIND(n->ev->rank) == SCPS_RANK_TIMER)
            scps_world_give_back(w, n->ev, sizeof(struct scps_world_timer));
    scps_vclock_fini(&w->clock);
    for (struct scps_host *h = w->hosts; h; h = h->next)
        /* The stack is freed first, because the netifs that are attached to it must outlive it. */
        scps_stack_free(h->stack);
    for (struct scps_link *l = w->links, *next; l; l = next) {
        next = l->next;
        scps_world_link_free(l);
    }
    for (struct scps_host *h = w->hosts, *next; h; h = next) {
        next = h->next;
        scps_world_give_back(w, h, sizeof *h);
    }
    for (struct scps_world_timer *t = w->spare, *next; t; t = next) {
        next = t->next;
        scps_world_give_back(w, t, sizeof *t);
    }
    a = w->alloc;
    a.free(a.ctx, w, sizeof *w);
}

scps_time scps_world_now(const struct scps_world *w)
{
    return w->now;
}

void scps_world_stop(struct scps_world *w)
{
    w->stop = true;
}

int scps_world_at(struct scps_world *w, scps_time when, void (*fn)(void *ctx), void *ctx)
{
    struct scps_world_timer *t = w->spare;

    if (t) {
        w->spare = t->next;
    } else {
        t = scps_world_take(w, sizeof *t);
        if (!t)
            return SCPS_ERR_NOMEM;
        /* A heap entry is reserved only for a new timer, because a spare timer keeps the entry that
         * was reserved for it. */
        if (scps_vclock_reserve(&w->clock) != 0) {
            scps_world_give_back(w, t, sizeof *t);
            return SCPS_ERR_NOMEM;
        }
    }
    scps_vevent_init(&t->ev, SCPS_RANK(SCPS_RANK_TIMER, w->ntimers++));
    t->fn = fn;
    t->ctx = ctx;
    scps_vclock_set(&w->clock, &t->ev, SCPS_MAX(when, w->now));
    return 0;
}

/* ---- functions that add, serve and look up the hosts of a world ---- */

static inline void wake_at(struct scps_host *h, scps_time when)
{
    h->due = when;
    if (when < h->key) {
        h->key = when;
        scps_vclock_set(&h->w->clock, &h->ev, when);
    }
}

struct scps_host *
scps_world_host(struct scps_world *w, const char *name, const struct scps_stack_config *cfg,
                void (*on_event)(struct scps_host *h, const struct scps_event *ev, void *ctx),
                void *ctx)
{
    struct scps_stack_config c = scps_stack_config_default();
    struct scps_host *h = scps_world_take(w, sizeof *h), **end;

    if (!h)
        return NULL;
    if (cfg) /* scps_stack_new() refuses a wrong size. */
        memcpy(&c, cfg, SCPS_MIN(cfg->size, sizeof c));
    if (cfg)
        c.size = cfg->size;
    c.now = w->now;
    h->stack = scps_stack_new(&c);
    if (!h->stack || scps_vclock_reserve(&w->clock) != 0) {
        scps_stack_free(h->stack);
        scps_world_give_back(w, h, sizeof *h);
        return NULL;
    }
    scps_vevent_init(&h->ev, SCPS_RANK(SCPS_RANK_HOST, w->nhosts++));
    h->due = h->key = SCPS_NEVER;
    h->w = w;
    h->on_event = on_event;
    h->ctx = ctx;
    for (size_t i = 0; name && name[i] && i + 1 < sizeof h->name; i++)
        h->name[i] = name[i];
    for (end = &w->hosts; *end; end = &(*end)->next)
        ;
    *end = h;
    return h;
}

struct scps_stack *scps_host_stack(const struct scps_host *h)
{
    return h->stack;
}

const char *scps_host_name(const struct scps_host *h)
{
    return h->name;
}

struct scps_world *scps_host_world(const struct scps_host *h)
{
    return h->w;
}

void scps_host_kick(struct scps_host *h)
{
    struct scps_world *w = h->w;

    if (h->marked)
        return;
    h->marked = true;
    h->next_marked = NULL;
    *w->marked_end = h;
    w->marked_end = &h->next_marked;
}

/* Passes the events that the stack of host h has queued to the application's function on_event.
 * Returns true if there were any. */
static bool pass_events(struct scps_host *h)
{
    struct scps_event ev;
    bool any = false;

    while (scps_stack_has_event(h->stack) && scps_stack_event(h->stack, &ev)) {
        any = true;
        if (h->on_event)
            h->on_event(h, &ev, h->ctx);
    }
    return any;
}

/* Serves a host: passes its events to the application and calls scps_pump(), until the host has no
 * event left. */
static SCPS_NOINLINE void pump_host(struct scps_host *h)
{
    struct scps_stack *st = h->stack;

    if (scps_stack_has_event(st)) {
        scps_stack_clock(st, h->w->now);
        pass_events(h);
    }
    do {
        h->pumped = true;
        wake_at(h, scps_pump_at(st, h->w->now));
        h->pumped = false;
    } while (scps_stack_has_event(st) &&
             /* Timers that expired in scps_pump_at() may have queued events for the application,
              * too. */
             pass_events(h));
}

/* Called after host h has received packets: serves the host. In the usual case, when the stack has
 * no event, nothing to send and no expired deadline, only the host's wake-up is updated. */
static inline void serve(struct scps_host *h)
{
    struct scps_stack *st = h->stack;

    scps_stack_clock(st, h->w->now);
    if (!scps_stack_has_event(st) && scps_stack_quiet(st, h->w->now) &&
        SCPS_FAST_PATH(SCPS_FAST_NO_PUMP))
        wake_at(h, scps_heap_min(&st->env.deadlines));
    else
        pump_host(h);
}

static struct scps_host *next_marked(struct scps_world *w)
{
    struct scps_host *h = w->marked;

    w->marked = h->next_marked;
    if (!w->marked)
        w->marked_end = &w->marked;
    h->marked = false;
    return h;
}

/* Slow path of arrive(), used if the headers of the packet that arrives next in direction d are not
 * stored as a struct scps_values, the packet arrives out of order, or the receiving stack does not
 * take headers in that form. Passes the packet, with its headers as octets, to the network
 * interface of the receiving end. */
static SCPS_NOINLINE void arrive_octets(struct scps_world_direction *d)
{
    struct scps_pkt pkt;

    scps_linkdir_packet(&d->dir, &pkt);
    if (pkt.cap == SCPS_PKT_VALUES)
        scps_linkdir_to_octets(&d->dir, &pkt);
    scps_netif_recv(&d->to->nif, &pkt);
}

/* Passes all packets that arrive at w->now in direction d to the receiving stack. Returns their
 * number. */
static SCPS_ALWAYS_INLINE uint64_t arrive(struct scps_world *w, struct scps_world_direction *d)
{
    uint64_t n = 0;

    while (scps_linkdir_arrived(&d->dir, w->now)) {
        const struct scps_link_record *r = scps_linkdir_values(&d->dir);
        if (!r || !scps_values_recv(&d->to->nif, (const struct scps_values *)(const void *)(r + 1),
                                    r->len + r->hollow, r->hollow, r->at))
            arrive_octets(d);
        scps_linkdir_pop(&d->dir);
        n++;
    }
    d->due = d->dir.next;
    scps_vclock_set(&w->clock, &d->ev, d->due);
    return n;
}

static void ring(struct scps_world *w, struct scps_world_timer *t)
{
    scps_vclock_set(&w->clock, &t->ev, SCPS_NEVER);
    t->next = w->spare;
    w->spare = t;
    /* The timer is already in the list of spare timers, so if fn calls scps_world_at(), that can
     * use the same timer again. */
    t->fn(t->ctx);
}

/* ---- functions that run the simulation ---- */

/* Returns true if another event is due at the present time: an arrival on a link, or the expiry of
 * a timer. */
static inline bool more_now(const struct scps_world *w)
{
    const struct scps_vclock_node *top = scps_vclock_top(&w->clock);

    return top->when <= w->now && SCPS_RANK_KIND(top->ev->rank) != SCPS_RANK_HOST;
}

/* Serves host h, which has received packets, at once if no other arrival or timer is due at the
 * present time, and no other host is marked. Otherwise marks h, so that scps_world_run() serves it
 * when they are done. */
static inline void serve_soon(struct scps_world *w, struct scps_host *h)
{
    if (w->marked || more_now(w))
        scps_host_kick(h);
    else
        serve(h);
}

uint64_t scps_world_run(struct scps_world *w, scps_time until)
{
    /* Events after this time, µs, are not processed; there need not be an event at this time. */
    const scps_time last = SCPS_MIN(until, SCPS_NEVER - 1);
    uint64_t served = 0;

    w->stop = false;
    while (!w->stop) {
        const struct scps_vclock_node *top;

        if (w->marked && !more_now(w)) {
            serve(next_marked(w));
            continue;
        }
        top = scps_vclock_top(&w->clock);
        if (top->when > last) {
            if (until != SCPS_NEVER && until > w->now)
                w->now = until;
            break;
        }
        if (SCPS_RANK_KIND(top->ev->rank) == SCPS_RANK_HOST) {
            struct scps_host *h = (struct scps_host *)(void *)top->ev;
            /* The host's deadline is later than its entry in the heap, because a timer was
             * restarted. So the entry is moved to the deadline, and the clock is not advanced. */
            if (h->due > top->when) {
                h->key = h->due;
                scps_vclock_set(&w->clock, &h->ev, h->due);
                continue;
            }
            w->now = SCPS_MAX(w->now, top->when);
            served++;
            /* h->key becomes SCPS_NEVER, so that wake_at(), which only moves an entry to an earlier
             * time than its key, sets the entry to whatever deadline the stack has next. */
            h->key = SCPS_NEVER;
            pump_host(h);
            if (h->key == SCPS_NEVER)
                scps_vclock_set(&w->clock, &h->ev, SCPS_NEVER);
        } else {
            w->now = top->when;
            if (SCPS_RANK_KIND(top->ev->rank) == SCPS_RANK_LINK) {
                struct scps_world_direction *d = (struct scps_world_direction *)(void *)top->ev;
                uint64_t n = arrive(w, d);
                served += n;
                if (n)
                    serve_soon(w, d->to->host);
            } else {
                served++;
                ring(w, (struct scps_world_timer *)(void *)top->ev);
            }
        }
    }
    return served;
}
