/* SPDX-License-Identifier: MIT */
/* One host: its parts put together, time, events, and the turn of the connections. */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/prng.h"

/* ---- lifetime ---- */

/* Known to everybody: simulations are repeatable without a word, real drivers refuse it. */
#define DEFAULT_SEED UINT64_C(0x736370732d747020), UINT64_C(0x746865207365656b)

struct scps_stack_config scps_stack_config_default(void)
{
    return (struct scps_stack_config){
        .seed = {DEFAULT_SEED},
        .max_conns = 65536,
        .max_half_open = 256,
        .syn_cookies = true,
        .memory_limit = UINT64_C(4) << 30,
        .challenge_acks = 100,
        .resets = 1000,
        .answer_rate = 1250000,
        .plain_hosts = 64,
        .plain_memory = SCPS_SEC(600),
        .max_comp_hosts = 256,
        .echo_reply = true,
        .port_min = 49152,
        .port_max = 65535,
    };
}

bool scps_stack_is_predictable(const struct scps_stack *st)
{
    const uint64_t known[2] = {DEFAULT_SEED};

    return st->cfg.seed[0] == known[0] && st->cfg.seed[1] == known[1];
}

struct scps_stack *scps_stack_new(const struct scps_stack_config *cfg_in)
{
    struct scps_stack_config cfg = cfg_in ? *cfg_in : scps_stack_config_default();
    struct scps_stack *st;

    if (!cfg.alloc.alloc || !cfg.alloc.free)
        cfg.alloc = scps_alloc_default();
    if (!cfg.port_min || cfg.port_max < cfg.port_min) {
        cfg.port_min = 49152;
        cfg.port_max = 65535;
    }
    st = cfg.alloc.alloc(cfg.alloc.ctx, sizeof *st);
    if (!st)
        return NULL;
    memset(st, 0, sizeof *st);
    st->cfg = cfg;
    scps_budget_init(&st->env.budget, &cfg.alloc, cfg.memory_limit);
    st->env.alloc = scps_budget_alloc(&st->env.budget.all);
    st->env.alloc_later = scps_budget_alloc(&st->env.budget.later);
    st->env.obs = cfg.observer;
    if (!cfg.observer.note)
        st->env.obs.mask = 0;
    st->env.now = cfg.now;
    st->env.memory_at = SCPS_NEVER;
    st->env.key[0] = scps_siphash(cfg.seed, "one", 3);
    st->env.key[1] = scps_siphash(cfg.seed, "two", 3);
    st->env.challenge_limit = st->env.challenge_left = cfg.challenge_acks;
    st->env.challenge_since = cfg.now;
    st->env.established = scps_listener_established;
    st->env.fell_back = scps_plain_remember;
    scps_answers_begin(st);
    scps_heap_init(&st->env.deadlines, &st->env.alloc, offsetof(struct scps_conn, ctx.heap_slot));
    return st;
}

/* Frees all that nif holds and forgets the netif, which its owner may close afterwards.
 * Precondition: nothing in the stack refers to either of them any more. */
static void let_go(struct scps_stack *st, struct scps_nif *nif)
{
    const struct scps_alloc *a = &st->env.alloc;

    scps_answers_fini(&nif->answers, a);
    if (nif->kept_mem)
        a->free(a->ctx, nif->kept_mem, nif->kept.cap);
    for (struct scps_pipe *p; (p = nif->pipes);) {
        nif->pipes = p->next;
        scps_answers_fini(&p->answers, a);
        a->free(a->ctx, p, sizeof *p);
    }
    if (nif->nif) {
        nif->nif->stack = NULL;
        nif->nif->stack_priv = NULL;
    }
    *nif = (struct scps_nif){.blocked = true};
}

void scps_stack_free(struct scps_stack *st)
{
    struct scps_alloc a;

    if (!st)
        return;
    a = st->env.alloc;
    scps_listener_free_all(st);
    scps_dgram_free_all(st);
    scps_stack_reap(st);
    for (struct scps_conn *c; (c = scps_demux_next(st, NULL));)
        scps_stack_discard(st, c);
    scps_config_unref(&a, st->recent);
    for (uint32_t i = 0; i < st->n_nifs; i++) {
        struct scps_nif *nif = st->nifs[i];
        let_go(st, nif);
        a.free(a.ctx, nif, sizeof *nif);
    }
    if (st->nifs)
        a.free(a.ctx, st->nifs, st->n_nifs * sizeof *st->nifs);
    if (st->addrs)
        a.free(a.ctx, st->addrs, st->n_addrs * sizeof *st->addrs);
    if (st->ways)
        a.free(a.ctx, st->ways, st->n_ways * sizeof *st->ways);
    if (st->buckets)
        a.free(a.ctx, st->buckets, ((size_t)st->bucket_mask + 1) * sizeof *st->buckets);
    scps_connid_free_all(st);
    scps_plain_free(st);
    scps_heap_fini(&st->env.deadlines);
    a = st->env.budget.owner;
    a.free(a.ctx, st, sizeof *st);
}

static void attach(struct scps_stack *st, struct scps_nif *nif, struct scps_netif *netif)
{
    *nif = (struct scps_nif){.nif = netif, .turns.link = nif, .since_answer = SCPS_ANSWER_SHARE};
    netif->stack = st;
    netif->stack_priv = nif;
}

int scps_stack_add_netif(struct scps_stack *st, struct scps_netif *netif)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_nif **v, *nif;

    if (!netif || netif->stack || netif->upper || netif->mtu < 68)
        return SCPS_ERR_INVAL;
    for (uint32_t i = 0; i < st->n_nifs; i++)
        if (!st->nifs[i]->nif) { /* the place of one that was removed */
            attach(st, st->nifs[i], netif);
            return 0;
        }
    nif = a->alloc(a->ctx, sizeof *nif);
    v = a->alloc(a->ctx, (st->n_nifs + 1) * sizeof *v);
    if (!nif || !v) {
        if (nif)
            a->free(a->ctx, nif, sizeof *nif);
        if (v)
            a->free(a->ctx, v, (st->n_nifs + 1) * sizeof *v);
        return SCPS_ERR_NOMEM;
    }
    if (st->n_nifs) {
        memcpy(v, st->nifs, st->n_nifs * sizeof *v);
        a->free(a->ctx, st->nifs, st->n_nifs * sizeof *v);
    }
    st->nifs = v;
    st->nifs[st->n_nifs++] = nif;
    attach(st, nif, netif);
    return 0;
}

void scps_stack_remove_netif(struct scps_stack *st, struct scps_netif *netif)
{
    struct scps_nif *nif = scps_nif_of(netif);

    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));) {
        if (!c->turns || c->turns->link != nif)
            continue;
        scps_conn_finish(c, SCPS_ERR_LINKDOWN);
        scps_conn_detach(c);
    }
    scps_dgram_linkdown(st, nif);
    scps_route_drop(st, nif);
    for (uint32_t i = 0; i < st->n_addrs; i++)
        if (st->addrs[i].nif == nif)
            st->addrs[i] = (struct scps_local_addr){0};
    scps_dgram_regroup(st);
    scps_stack_reap(st);
    let_go(st, nif);
}

/* ---- opening ---- */

/* Connections are mostly opened alike: they share what they were opened with. */
static struct scps_shared_config *
share_config(struct scps_stack *st, const struct scps_conn_config *own, bool rated, int *err)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_shared_config *s = scps_config_new(a, own, rated, err);

    if (!s)
        return NULL;
    if (st->recent && !memcmp(&s->c, &st->recent->c, sizeof s->c)) {
        scps_config_unref(a, s);
        s = st->recent;
    } else {
        scps_config_unref(a, st->recent);
        st->recent = s;
    }
    s->refs++;
    return s;
}

/* The way to remote, and both ends of the flow: local as far as it is given, chosen where it is
 * not. 0, or an error. */
static int choose_flow(struct scps_stack *st, const struct scps_endpoint *local,
                       const struct scps_endpoint *remote, struct scps_flow *f,
                       const struct scps_way **way)
{
    if (!remote || !remote->port || scps_stack_any(&remote->addr) ||
        (remote->addr.family != 4 && remote->addr.family != 6))
        return SCPS_ERR_INVAL;
    f->remote = remote->addr;
    memset(f->remote.b + (f->remote.family == 4 ? 4 : 16), 0, f->remote.family == 4 ? 12 : 0);
    f->rport = remote->port;
    *way = scps_route_find(st, &f->remote);
    if (!*way || scps_stack_multicast(&f->remote)) /* one peer, never a group */
        return SCPS_ERR_UNREACH;
    if (local && !scps_stack_any(&local->addr)) {
        if (local->addr.family != f->remote.family || !scps_stack_has_addr(st, &local->addr))
            return SCPS_ERR_ADDRNOTAVAIL;
        f->local = local->addr;
    } else {
        const struct scps_addr *src =
            scps_route_source(st, scps_nif_of((*way)->route.nif), &f->remote);
        if (!src)
            return SCPS_ERR_ADDRNOTAVAIL;
        f->local = *src;
    }
    if (!local || !local->port)
        return scps_port_choose(st, f) ? SCPS_ERR_ADDRNOTAVAIL : 0;
    f->lport = local->port;
    return scps_demux_taken(st, f) ? SCPS_ERR_ADDRINUSE : 0;
}

struct scps_conn *scps_connect(struct scps_stack *st, const struct scps_conn_config *cfg,
                               const struct scps_endpoint *local,
                               const struct scps_endpoint *remote, int *err)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_flow f = {0};
    const struct scps_way *way;
    struct scps_conn_config own = cfg ? *cfg : scps_conn_config_default();
    struct scps_shared_config *shared;
    struct scps_conn *c;
    int dummy;

    err = err ? err : &dummy;
    scps_stack_reap(st);
    *err = choose_flow(st, local, remote, &f, &way);
    if (*err)
        return NULL;
    const struct scps_route *r = &way->route;
    if (!own.expected_rtt)
        own.expected_rtt = r->expected_rtt;
    if (own.loss_cause == SCPS_LOSS_CONGESTION)
        own.loss_cause = r->loss_cause;
    shared = share_config(st, &own, r->rate != 0, err);
    if (!shared)
        return NULL;
    c = scps_stack_conn(st, shared, &f, scps_nif_of(r->nif), way, err);
    scps_config_unref(a, shared);
    if (!c)
        return NULL;
    if (scps_plain_known(st, &c->remote))
        c->plain = SCPS_PLAIN_REMEMBERED;
    else if (c->ctx.cfg->c.compress)
        scps_connid_give(st, c); /* without one the offer goes out without compression */
    if (scps_conn_open(c)) {
        scps_stack_discard(st, c);
        *err = SCPS_ERR_NOMEM;
        return NULL;
    }
    return c;
}

struct scps_stack *scps_conn_stack(const struct scps_conn *c)
{
    return (struct scps_stack *)c->ctx.env;
}

/* ---- time ---- */

scps_time scps_stack_now(const struct scps_stack *st)
{
    return st->env.now;
}

/* Who was refused for lack of memory may try again. */
static void serve_memory(struct scps_stack *st)
{
    st->env.memory_at = SCPS_NEVER;
    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));)
        scps_conn_memory(c);
    scps_dgram_memory(st);
}

static bool timers_due(const struct scps_stack *st)
{
    return scps_heap_min(&st->env.deadlines) <= st->env.now || st->env.memory_at <= st->env.now;
}

/* Serves what is due. A key may be too early: the connection then only goes back to where it
 * belongs. */
static SCPS_APART void serve_timers(struct scps_stack *st)
{
    struct scps_heap *h = &st->env.deadlines;

    if (st->env.memory_at <= st->env.now)
        serve_memory(st);
    while (h->min <= st->env.now) {
        struct scps_conn *c = h->v[0].item;
        scps_time due;
        due = scps_conn_timers(c);
        if (c->ctx.heap_slot == SCPS_HEAP_NONE)
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
    if (timers_due(st))
        serve_timers(st);
}

/* When a packet of the routes with a rate may leave next. */
static SCPS_APART scps_time pipes_due(struct scps_pipe *p, scps_time now)
{
    scps_time due = SCPS_NEVER;

    for (; p; p = p->next) {
        scps_time t = SCPS_MIN(scps_gate_floor_due(&p->gate, now), scps_answer_due(p, now));
        if (scps_dgram_first(p))
            t = SCPS_MIN(t, scps_dgram_due(p, now));
        else if (p->turns.head)
            t = SCPS_MIN(t, p->gate.asked == p->turns.head ? p->gate.opens : now);
        due = SCPS_MIN(due, t);
    }
    return due;
}

scps_time scps_stack_deadline(const struct scps_stack *st)
{
    scps_time due = SCPS_MIN(scps_heap_min(&st->env.deadlines), st->env.memory_at);

    for (uint32_t i = 0; i < st->n_nifs; i++) {
        struct scps_nif *nif = st->nifs[i];
        if (nif->blocked || !(nif->turns.head || scps_nif_others(nif)))
            continue;
        if (nif->turns.head || nif->dgrams.head || !scps_recring_empty(&nif->answers.queue))
            return st->env.now;
        if (nif->pipes)
            due = SCPS_MIN(due, pipes_due(nif->pipes, st->env.now));
    }
    return due;
}

/* ---- output ---- */

/* To the back of its link's turns, so that all get theirs. */
static void next_turn(struct scps_turns *t)
{
    struct scps_conn *c = t->head;

    t->head = c->ready_next;
    c->ready_next = NULL;
    t->tail->ready_next = c;
    t->tail = c;
}

/* A device that cuts trains itself gets the segments behind a full one with it, as far as they may
 * leave now. */
static SCPS_APART void couple(struct scps_conn *c, struct scps_seg *seg)
{
    const uint32_t size = seg->len, room = UINT16_MAX - SCPS_MAX_HEADERS;
    struct scps_seg next;

    if (size != c->mss || c->caps & SCPS_CAP_COM)
        return;
    while (seg->len + size <= room && scps_conn_follow(c, seg, &next)) {
        seg->flags |=
            next.flags; /* PSH and FIN belong to the last one, where the device puts them */
        seg->ack = next.ack;
        seg->wnd = next.wnd;
        seg->gso = (uint16_t)size;
        seg->len += next.len;
        if (next.len < size)
            break;
    }
}

/* What goes before all packets: connections that have ended, timers. */
static SCPS_APART void chores(struct scps_stack *st)
{
    if (st->env.dead)
        scps_stack_reap(st);
    if (timers_due(st))
        serve_timers(st);
}

/* Whose turn it is: routes that have a rate go before what has none, which could leave them
 * nothing; among themselves in turn. Of a route with a rate the one at the head, if the credit is
 * there. */
static SCPS_APART struct scps_turns *open_turns(struct scps_stack *st, struct scps_nif *nif)
{
    scps_time now = st->env.now;

    for (struct scps_pipe **at = &nif->pipes, *p; (p = *at); at = &p->next) {
        scps_gate_serve(&p->gate, now);
        if (!p->turns.head || scps_dgram_first(p) || !scps_gate_open(&p->gate, p->turns.head, now))
            continue;
        scps_stack_last(at);
        return &p->turns;
    }
    return &nif->turns;
}

/* c, whose turn it was, sends nothing: because its packet waits for credit, which it does at the
 * head, or on its own account. Returns whose turn it is now. */
static SCPS_APART struct scps_turns *pass(struct scps_stack *st, struct scps_nif *nif,
                                          struct scps_conn *c)
{
    if (c->turns->gate->asked != c) {
        scps_gate_passed(c->turns->gate, c);
        scps_conn_unready(c);
    }
    return open_turns(st, nif);
}

/* The next segment of the connections that may have one, in turn. */
static SCPS_APART int segment(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    struct scps_turns *t = nif->pipes ? open_turns(st, nif) : &nif->turns;
    struct scps_conn *c;
    struct scps_seg seg;

    while ((c = t->head)) {
        bool over = true;
        if (!scps_conn_output(c, &seg)) {
            if (t->gate)
                t = pass(st, nif, c);
            else
                scps_conn_unready(c);
            continue;
        }
        if (nif->nif->flags & SCPS_NETIF_GSO && !t->gate)
            couple(c, &seg);
        scps_ipout(st, c, &seg, nif->nif->flags & SCPS_NETIF_NO_CSUM, out);
        if (t->gate)
            over = scps_gate_left(t->gate, c, st->env.now, (uint32_t)(out->len + out->payload_len));
        if (t->gate && over && nif->n_dgrams)
            scps_dgram_yield(t);
        if (scps_conn_quiet(c, seg.len > 0))
            scps_conn_unready(c);
        else if (over && c != t->tail)
            next_turn(t);
        st->count.packets_out++;
        st->count.bytes_out += out->len + out->payload_len;
        if (seg.flags & SCPS_RST)
            scps_conn_sent_last(c);
        return 1;
    }
    return 0;
}

/* Datagrams wait, too: each kind goes first every other time. */
static SCPS_APART int either(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    nif->after_dgram = !nif->after_dgram;
    if (nif->after_dgram && scps_dgram_output(st, nif, out))
        return 1;
    if ((nif->turns.head || nif->pipes) && segment(st, nif, out))
        return 1;
    return scps_dgram_output(st, nif, out);
}

/* Not only connections, or not only theirs to send. Answers to strangers leave when nobody else has
 * anything, and every SCPS_ANSWER_SHARE-th time else. */
static SCPS_APART int whatever(struct scps_stack *st, struct scps_nif *nif, struct scps_pkt *out)
{
    chores(st);
    if (nif->n_answers && nif->since_answer >= SCPS_ANSWER_SHARE - 1 &&
        scps_answer_output(st, nif, out))
        return 1;
    if (nif->n_dgrams ? either(st, nif, out)
                      : (nif->turns.head || nif->pipes) && segment(st, nif, out)) {
        if (nif->since_answer < SCPS_ANSWER_SHARE)
            nif->since_answer++;
        return 1;
    }
    return nif->n_answers && scps_answer_output(st, nif, out);
}

int scps_stack_output(struct scps_stack *st, struct scps_netif *netif, scps_time now,
                      struct scps_pkt *out)
{
    struct scps_nif *nif = scps_nif_of(netif);

    if (out->cap < SCPS_MAX_HEADERS) /* whatever is due has headers that fit there */
        return SCPS_ERR_ROOM;
    /* asked once more than it gives, by every driver after every packet: no frame for that */
    scps_stack_clock(st, now);
    if (st->env.dead || timers_due(st) || nif->others)
        return whatever(st, nif, out);
    return nif->turns.head ? segment(st, nif, out) : 0;
}

/* ---- events ---- */

int scps_stack_event(struct scps_stack *st, struct scps_event *ev)
{
    struct scps_env *env = &st->env;
    struct scps_conn *c;

    if (st->ev_listeners) {
        scps_listener_event(st, ev);
        return 1;
    }
    if (st->ev_dgrams && scps_dgram_event(st, ev))
        return 1;
    while ((c = env->ev_head)) {
        if (c->events) {
            unsigned kind = 0;
            while (!(c->events >> kind & 1))
                kind++;
            c->events &= (uint16_t)(c->events - 1);
            *ev = (struct scps_event){.kind = (enum scps_event_kind)kind,
                                      .conn = c,
                                      .user = c->owner.user,
                                      .err = kind == SCPS_EV_ERROR ? c->err : 0};
            return 1;
        }
        env->ev_head = c->ev_next;
        if (!env->ev_head)
            env->ev_tail = NULL;
        c->flags &= ~(uint32_t)SCPS_F_EVENTS;
    }
    return 0;
}

void scps_stack_get_stats(const struct scps_stack *st, struct scps_stack_stats *out)
{
    *out = st->count;
    memcpy(out->drops, st->env.drops, sizeof out->drops);
    out->memory = st->env.budget.used;
    out->memory_peak = st->env.budget.peak;
    out->memory_refused = st->env.budget.refused;
    out->challenge_acks = st->env.challenges;
    out->conns = st->n_conns;
    out->half_open = st->half_open;
    out->dgrams = scps_dgram_count(st);
    out->listeners = 0;
    for (const struct scps_listener *l = st->listeners; l; l = l->next)
        out->listeners++;
}
