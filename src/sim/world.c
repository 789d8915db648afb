/* SPDX-License-Identifier: MIT */
/* A world: hosts with stacks of their own, joined by links, in virtual time.
 *
 *  heap: timers of scps_world_at   one entry each       at one microsecond in this order,
 *        link directions           the next arrival     each kind in the order in which it was made
 *        hosts                     the stack's deadline
 *
 * A turn takes the earliest entry and moves the clock there. An arrival hands the packet up (every
 * packet of that direction for this microsecond) and marks the host; a marked host is served once
 * nothing else arrives at this moment, so packets that come together are acknowledged together, as
 * a real driver that reads in batches would. To serve a host is what every driver does: tell the
 * application what happened, pump, until there is no news. One for which there is neither news nor
 * anything due, as after two packets of three, is left alone.
 *
 * The pump asks for a wake-up after every turn, mostly for a retransmission timer that has just
 * moved further away. The heap is told only when the wake-up moves closer: an entry that comes up
 * before its host is due is put where it belongs, and nobody sees the clock move.
 */
#include "base/bytes.h"
#include "base/fastpath.h"
#include "sim/link.h"
#include "sim/vclock.h"
#include "stack/stack.h"

#include <assert.h>
#include <scps/clock.h>
#include <string.h>

enum rank { RANK_TIMER, RANK_LINK, RANK_HOST };
#define RANK(kind, nth) ((uint64_t)(kind) << 60 | (nth))
#define RANK_KIND(r)    ((enum rank)((r) >> 60))

struct timer {
    struct scps_vevent ev; /* first in all three: the heap's entry is the thing itself */
    void (*fn)(void *ctx);
    void *ctx;
    struct timer *next; /* a spare one */
};

struct end {
    struct scps_netif nif; /* first */
    struct scps_link *link;
    struct scps_host *host;
    struct scps_netif *top; /* of the chain the stack knows */
    struct direction *out;
};

struct direction {
    struct scps_vevent ev; /* first */
    scps_time due;         /* as the heap has it */
    struct scps_linkdir dir;
    struct end *to;
};

struct addrs {
    struct addrs *next;
    struct scps_addr addr[2];
    unsigned prefix;
};

struct scps_link {
    struct scps_world *w;
    struct scps_link *next;
    struct end end[2];
    struct direction dir[2]; /* 0: from end 0 to end 1 */
    struct addrs *addrs;     /* oldest first */
};

struct scps_host {
    struct scps_vevent ev; /* first */
    scps_time due;         /* when the stack wants to be pumped */
    scps_time key;         /* as the heap has it: not after due */
    struct scps_world *w;
    struct scps_host *next;
    struct scps_host *next_marked;
    bool marked;
    struct scps_stack *stack;
    struct scps_clock clock;
    void (*on_event)(struct scps_host *h, const struct scps_event *ev, void *ctx);
    void *ctx;
    char name[32];
};

struct scps_world {
    struct scps_alloc alloc;
    scps_time now;
    struct scps_vclock clock;
    struct scps_host *marked, **marked_end;
    bool stop;
    uint64_t ntimers, nlinks, nhosts; /* ever made: ranks and chance streams */
    struct scps_host *hosts;
    struct scps_link *links;
    struct timer *spare;
};

/* ---- the world ---- */

static void *take(struct scps_world *w, size_t size)
{
    void *p = w->alloc.alloc(w->alloc.ctx, size);

    if (p)
        memset(p, 0, size);
    return p;
}

static void give_back(struct scps_world *w, void *p, size_t size)
{
    w->alloc.free(w->alloc.ctx, p, size);
}

struct scps_world *scps_world_new(const struct scps_alloc *alloc)
{
    struct scps_alloc a = alloc && alloc->alloc ? *alloc : scps_alloc_default();
    struct scps_world *w = a.alloc(a.ctx, sizeof *w);

    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    w->alloc = a;
    w->marked_end = &w->marked;
    scps_vclock_init(&w->clock, &w->alloc);
    return w;
}

static void link_free(struct scps_link *l)
{
    struct scps_world *w = l->w;

    for (int i = 0; i < 2; i++) {
        if (l->end[i].top)
            scps_netif_close(l->end[i].top);
        scps_linkdir_fini(&l->dir[i].dir);
    }
    for (struct addrs *a = l->addrs, *next; a; a = next) {
        next = a->next;
        give_back(w, a, sizeof *a);
    }
    give_back(w, l, sizeof *l);
}

void scps_world_free(struct scps_world *w)
{
    struct scps_alloc a;

    if (!w)
        return;
    for (uint32_t i = 0; i < w->clock.n; i++)
        if (RANK_KIND(w->clock.v[i].ev->rank) == RANK_TIMER)
            give_back(w, w->clock.v[i].ev, sizeof(struct timer));
    scps_vclock_fini(&w->clock);
    for (struct scps_host *h = w->hosts; h; h = h->next)
        scps_stack_free(h->stack); /* before the netifs they are attached to */
    for (struct scps_link *l = w->links, *next; l; l = next) {
        next = l->next;
        link_free(l);
    }
    for (struct scps_host *h = w->hosts, *next; h; h = next) {
        next = h->next;
        give_back(w, h, sizeof *h);
    }
    for (struct timer *t = w->spare, *next; t; t = next) {
        next = t->next;
        give_back(w, t, sizeof *t);
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
    struct timer *t = w->spare;

    if (t) {
        w->spare = t->next;
    } else {
        t = take(w, sizeof *t);
        if (!t)
            return SCPS_ERR_NOMEM;
        if (scps_vclock_reserve(&w->clock) != 0) { /* its place stays with it when it is spare */
            give_back(w, t, sizeof *t);
            return SCPS_ERR_NOMEM;
        }
    }
    scps_vevent_init(&t->ev, RANK(RANK_TIMER, w->ntimers++));
    t->fn = fn;
    t->ctx = ctx;
    scps_vclock_set(&w->clock, &t->ev, SCPS_MAX(when, w->now));
    return 0;
}

/* ---- hosts ---- */

static scps_time host_now(void *ctx)
{
    return ((struct scps_host *)ctx)->w->now;
}

static void host_wake_at(void *ctx, scps_time when)
{
    struct scps_host *h = ctx;

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
    struct scps_stack_config c = cfg ? *cfg : scps_stack_config_default();
    struct scps_host *h = take(w, sizeof *h), **end;

    if (!h)
        return NULL;
    c.now = w->now;
    h->stack = scps_stack_new(&c);
    if (!h->stack || scps_vclock_reserve(&w->clock) != 0) {
        scps_stack_free(h->stack);
        give_back(w, h, sizeof *h);
        return NULL;
    }
    scps_vevent_init(&h->ev, RANK(RANK_HOST, w->nhosts++));
    h->due = h->key = SCPS_NEVER;
    h->w = w;
    h->clock = (struct scps_clock){host_now, host_wake_at, h};
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

/* Hands the news to the application; was there any? */
static bool tell(struct scps_host *h)
{
    struct scps_event ev;
    bool any = false;

    while (scps_stack_news(h->stack) && scps_stack_event(h->stack, &ev)) {
        any = true;
        if (h->on_event)
            h->on_event(h, &ev, h->ctx);
    }
    return any;
}

static void turn(struct scps_host *h, bool news)
{
    if (news)
        tell(h);
    do
        scps_pump(h->stack, &h->clock);
    while (scps_stack_news(h->stack) && tell(h)); /* a timer that ran may be news too */
}

/* Mostly a packet needs no answer and moves no deadline. */
static inline void serve(struct scps_host *h)
{
    struct scps_stack *st = h->stack;

    scps_stack_clock(st, h->w->now);
    bool news = scps_stack_news(st);
    if (!news && scps_stack_quiet(st, h->w->now) && SCPS_FAST_PATH(SCPS_FAST_NO_PUMP))
        host_wake_at(h, scps_heap_min(&st->env.deadlines));
    else
        turn(h, news);
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

/* ---- links ---- */

/* The direction was touched: it may have been empty before, or something overtakes. */
static inline void look_again(struct direction *d)
{
    if (d->dir.next != d->due) {
        d->due = d->dir.next;
        scps_vclock_set(&d->to->link->w->clock, &d->ev, d->due);
    }
}

static int end_send(struct scps_netif *nif, const struct scps_pkt *pkt)
{
    struct end *e = (struct end *)nif;
    int rc = scps_linkdir_offer(&e->out->dir, e->link->w->now, pkt);

    look_again(e->out);
    return rc;
}

/* An end is part of its link and goes with it. */
static void end_close(struct scps_netif *nif)
{
    (void)nif;
}

static const struct scps_netif_ops end_ops = {"simlink", end_send, NULL, end_close};

static int attach(struct end *e, int which)
{
    int rc = scps_stack_add_netif(e->host->stack, e->top);

    for (struct addrs *a = e->link->addrs; rc == 0 && a; a = a->next)
        rc = scps_stack_add_addr(e->host->stack, e->top, &a->addr[which], a->prefix);
    return rc;
}

static void detach(struct end *e)
{
    if (e->top->stack)
        scps_stack_remove_netif(e->host->stack, e->top);
}

static int remember(struct scps_link *l, const struct scps_addr *a, const struct scps_addr *b,
                    unsigned prefix)
{
    struct addrs *n = take(l->w, sizeof *n), **end;

    if (!n)
        return SCPS_ERR_NOMEM;
    n->addr[0] = *a;
    n->addr[1] = *b;
    n->prefix = prefix;
    for (end = &l->addrs; *end; end = &(*end)->next)
        ;
    *end = n;
    return 0;
}

/* The device of a direction says what its line takes. */
static void say_rate(struct scps_netif *nif, const struct scps_link_config *dir)
{
    nif->rate = dir->rate_bps / 8;
    nif->overhead = scps_link_frame_bytes(dir, 64) - 64;
}

struct scps_link *scps_world_link(struct scps_world *w, struct scps_host *a,
                                  const struct scps_addr *addr_a, struct scps_host *b,
                                  const struct scps_addr *addr_b, unsigned prefix, uint32_t mtu,
                                  const struct scps_link_config *a_to_b,
                                  const struct scps_link_config *b_to_a)
{
    struct scps_link *l = take(w, sizeof *l), **last;
    unsigned reserved = 0;

    if (!l)
        return NULL;
    l->w = w;
    if (scps_linkdir_init(&l->dir[0].dir, a_to_b, w->nlinks * 2, &w->alloc) != 0 ||
        scps_linkdir_init(&l->dir[1].dir, b_to_a, w->nlinks * 2 + 1, &w->alloc) != 0)
        goto fail;
    for (; reserved < 2; reserved++)
        if (scps_vclock_reserve(&w->clock) != 0)
            goto fail;
    if (remember(l, addr_a, addr_b, prefix) != 0)
        goto fail;
    for (unsigned i = 0; i < 2; i++) {
        struct end *e = &l->end[i];
        e->nif.ops = &end_ops;
        e->nif.name = "simlink";
        e->nif.mtu = mtu ? mtu : 1500;
        e->nif.flags = SCPS_NETIF_HOLLOW;
        say_rate(&e->nif, i ? b_to_a : a_to_b);
        e->link = l;
        e->host = i ? b : a;
        e->top = &e->nif;
        e->out = &l->dir[i];
        l->dir[i].to = &l->end[1 - i];
        l->dir[i].due = SCPS_NEVER;
        scps_vevent_init(&l->dir[i].ev, RANK(RANK_LINK, w->nlinks * 2 + i));
    }
    /* From here on a stack may know the netif, which then has to outlive it, whatever becomes of
     * the link. */
    for (last = &w->links; *last; last = &(*last)->next)
        ;
    *last = l;
    w->nlinks++;
    for (int i = 0; i < 2; i++)
        if (attach(&l->end[i], i) != 0) {
            detach(&l->end[0]);
            detach(&l->end[1]);
            return NULL;
        }
    return l;

fail:
    while (reserved-- > 0)
        scps_vclock_release(&w->clock);
    link_free(l);
    return NULL;
}

int scps_link_add_addrs(struct scps_link *l, const struct scps_addr *addr_a,
                        const struct scps_addr *addr_b, unsigned prefix)
{
    int rc = remember(l, addr_a, addr_b, prefix);

    for (int i = 0; rc == 0 && i < 2; i++)
        rc = scps_stack_add_addr(l->end[i].host->stack, l->end[i].top, i ? addr_b : addr_a, prefix);
    return rc;
}

int scps_link_filter(struct scps_link *l, int end, struct scps_netif *filter)
{
    struct end *e = &l->end[end];

    detach(e);
    e->top = scps_netif_push(e->top, filter);
    return attach(e, end);
}

struct scps_netif *scps_link_netif(const struct scps_link *l, int end)
{
    return l->end[end].top;
}

void scps_link_observe(struct scps_link *l, int dir, scps_verdict_fn *fn, void *ctx)
{
    l->dir[dir].dir.tell = fn;
    l->dir[dir].dir.tell_ctx = ctx;
}

void scps_link_get_stats(struct scps_link *l, int dir, struct scps_link_stats *out)
{
    scps_linkdir_stats(&l->dir[dir].dir, l->w->now, out);
    look_again(&l->dir[dir]);
}

int scps_link_change(struct scps_link *l, int dir, const struct scps_link_config *cfg)
{
    struct direction *d = &l->dir[dir];
    int rc = scps_linkdir_change(&d->dir, l->w->now, cfg);

    if (!rc)
        say_rate(&l->end[dir].nif, cfg);
    look_again(d);
    return rc;
}

/* Hands up all that arrives now over d. */
static inline uint64_t arrive(struct scps_world *w, struct direction *d)
{
    struct scps_pkt pkt;
    uint64_t n = 0;

    while (scps_linkdir_peek(&d->dir, w->now, &pkt)) {
        scps_netif_recv(&d->to->nif, &pkt);
        scps_linkdir_pop(&d->dir);
        n++;
    }
    d->due = d->dir.next;
    scps_vclock_set(&w->clock, &d->ev, d->due);
    return n;
}

static void ring(struct scps_world *w, struct timer *t)
{
    scps_vclock_set(&w->clock, &t->ev, SCPS_NEVER);
    t->next = w->spare;
    w->spare = t;
    t->fn(t->ctx); /* who may take this very one for another time */
}

/* ---- the run ---- */

/* Will anything else arrive, or any timer ring, at this moment? */
static inline bool more_now(const struct scps_world *w)
{
    const struct scps_vclock_node *top = scps_vclock_top(&w->clock);

    return top && top->when <= w->now && RANK_KIND(top->ev->rank) != RANK_HOST;
}

/* There is work for h now: at once if it is the only one, in its turn otherwise. */
static inline void serve_soon(struct scps_world *w, struct scps_host *h)
{
    if (w->marked || more_now(w))
        scps_host_kick(h);
    else
        serve(h);
}

uint64_t scps_world_run(struct scps_world *w, scps_time until)
{
    uint64_t served = 0;

    w->stop = false;
    while (!w->stop) {
        const struct scps_vclock_node *top;

        if (w->marked && !more_now(w)) {
            serve(next_marked(w));
            continue;
        }
        top = scps_vclock_top(&w->clock);
        if (!top || top->when > until) {
            if (until != SCPS_NEVER && until > w->now)
                w->now = until;
            break;
        }
        if (RANK_KIND(top->ev->rank) == RANK_HOST) {
            struct scps_host *h = (struct scps_host *)(void *)top->ev;
            if (h->due > top->when) { /* no longer */
                h->key = h->due;
                scps_vclock_set(&w->clock, &h->ev, h->due);
                continue;
            }
            w->now = SCPS_MAX(w->now, top->when);
            served++;
            h->key = SCPS_NEVER; /* the wake-up it asks for moves the entry, wherever to */
            serve(h);
            if (h->key == SCPS_NEVER)
                scps_vclock_set(&w->clock, &h->ev, SCPS_NEVER);
        } else {
            w->now = top->when;
            if (RANK_KIND(top->ev->rank) == RANK_LINK) {
                struct direction *d = (struct direction *)(void *)top->ev;
                uint64_t n = arrive(w, d);
                served += n;
                if (n)
                    serve_soon(w, d->to->host);
            } else {
                served++;
                ring(w, (struct timer *)(void *)top->ev);
            }
        }
    }
    return served;
}
