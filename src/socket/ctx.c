/* SPDX-License-Identifier: MIT */
/* A socket context: what each call does at its beginning and end (lock, time), and the queue of the
 * packets that the stack has sent and the application takes by scps_ctx_take().
 *
 * Time advances only in run_to(), from one deadline of the stack to the next, and everything that
 * is due at a deadline is sent at that time. So each packet in the queue has the time at which its
 * timer expired, however rarely the application calls. While the queue is full
 * (scps_ctx_config.queue_packets packets), further packets stay in the stack, as if the link were
 * busy. If packets wait there, the clock jumps to the end of the period by which the application
 * advances it: timers due in the rest of that period expire only at its end, which is too late.
 * Timers due before the queue was full have expired in time.
 */
#include <string.h>

#include "base/prng.h"
#include "base/sized.h"
#include "socket/sock.h"

/* ---- functions that create and close a socket context: a stack with its sockets ---- */

struct scps_ctx *scps_ctx_new(const struct scps_ctx_config *cfg)
{
    struct scps_ctx_config c;

    scps_ctx_config_sizes(&c);
    if (scps_ctx_config_copy(&c, cfg) || !c.queue_packets || !c.max_sockets ||
        c.max_sockets > INT32_MAX / 2 || c.first_fd < 0 || c.first_fd > INT32_MAX / 2 ||
        !c.max_backlog || (!c.stack && (c.mtu < SCPS_MTU_LEAST || c.mtu > UINT16_MAX)) ||
        !c.stack_config.port_min || c.stack_config.port_min > c.stack_config.port_max ||
        scps_conn_config_check(&c.conn, NULL, 0) ||
        (!c.stack && scps_stack_config_check(&c.stack_config, NULL, 0))) {
        errno = EINVAL;
        return NULL;
    }
    struct scps_alloc a = c.stack_config.alloc.alloc ? c.stack_config.alloc : scps_alloc_default();
    struct scps_ctx *ctx = a.alloc(a.ctx, sizeof *ctx);
    if (!ctx)
        goto nomem;
    memset(ctx, 0, sizeof *ctx);
    ctx->cfg = c;
    /* If the configuration names a congestion controller without parameters, the controller's
     * default parameters are filled in here, because socket options read them. */
    if (c.conn.cc_param_of != c.conn.cc)
        scps_conn_config_set_cc(&ctx->cfg.conn, c.conn.cc, NULL);
    ctx->alloc = a;
    ctx->own = !c.stack;
    ctx->port_key[0] = scps_siphash(c.stack_config.seed, "socket port 1", 13);
    ctx->port_key[1] = scps_siphash(c.stack_config.seed, "socket port 2", 13);
    ctx->st = c.stack;
    if (ctx->own) {
        ctx->now = c.stack_config.now;
        if (c.now)
            ctx->now = ctx->cfg.stack_config.now = c.now(c.user);
        ctx->nif = (struct scps_netif){.name = "ctx", .mtu = c.mtu};
        ctx->st = scps_stack_new(&ctx->cfg.stack_config);
        if (!ctx->st)
            goto nomem;
        if (scps_stack_add_netif(ctx->st, &ctx->nif) < 0) {
            scps_stack_free(ctx->st);
            goto nomem;
        }
    }
    return ctx;
nomem:
    if (ctx)
        a.free(a.ctx, ctx, sizeof *ctx);
    errno = ENOMEM;
    return NULL;
}

void scps_ctx_free(struct scps_ctx *ctx)
{
    if (!ctx)
        return;
    for (uint32_t i = 0; i < ctx->nslot; i++) {
        struct sock *s = ctx->slot[i];
        if (!s)
            continue;
        /* A stack that the context has opened is freed below, and frees its connections and
         * listeners itself. */
        if (ctx->own)
            scps_sock_pcb_forget(&s->pcb);
        scps_sock_disconnect(s);
        scps_sock_destroy(s);
    }
    scps_sock_free(ctx, ctx->slot, ctx->nslot * sizeof *ctx->slot);
    if (ctx->own)
        scps_stack_free(ctx->st);
    scps_sock_free(ctx, ctx->qmeta, ctx->qcap * sizeof *ctx->qmeta);
    scps_sock_free(ctx, ctx->qbuf, (size_t)ctx->qcap * ctx->nif.mtu);
    struct scps_alloc a = ctx->alloc;
    a.free(a.ctx, ctx, sizeof *ctx);
}

void *scps_ctx_user(const struct scps_ctx *ctx)
{
    return ctx->cfg.user;
}

struct scps_stack *scps_ctx_stack(const struct scps_ctx *ctx)
{
    return ctx->st;
}

/* ---- functions of the queue of packets that the stack has sent ---- */

static bool queue_grow(struct scps_ctx *ctx)
{
    uint32_t cap = ctx->qcap ? ctx->qcap * 2 : 16;
    cap = SCPS_MIN(cap, ctx->cfg.queue_packets);
    size_t mtu = ctx->nif.mtu;
    struct slot_pkt *meta = scps_sock_alloc(ctx, cap * sizeof *meta);
    uint8_t *buf = scps_sock_alloc(ctx, cap * mtu);
    if (!meta || !buf) {
        scps_sock_free(ctx, meta, cap * sizeof *meta);
        scps_sock_free(ctx, buf, cap * mtu);
        return false;
    }
    for (uint32_t i = 0; i < ctx->qlen; i++) {
        uint32_t from = (ctx->qhead + i) % ctx->qcap;
        meta[i] = ctx->qmeta[from];
        memcpy(buf + i * mtu, ctx->qbuf + from * mtu, meta[i].len);
    }
    scps_sock_free(ctx, ctx->qmeta, ctx->qcap * sizeof *meta);
    scps_sock_free(ctx, ctx->qbuf, ctx->qcap * mtu);
    ctx->qmeta = meta;
    ctx->qbuf = buf;
    ctx->qcap = cap;
    ctx->qhead = 0;
    return true;
}

/* Lets the stack build its next packet and appends it to the queue for scps_ctx_take(). Returns
 * false if the stack has none to send, or the queue is full. */
static bool fetch(struct scps_ctx *ctx)
{
    if (ctx->qlen == ctx->qcap && (ctx->qcap == ctx->cfg.queue_packets || !queue_grow(ctx)))
        return false;
    size_t mtu = ctx->nif.mtu;
    uint32_t at = (ctx->qhead + ctx->qlen) % ctx->qcap;
    uint8_t *room = ctx->qbuf + at * mtu;
    /* scps_stack_output() requires SCPS_MAX_HEADERS bytes of room. With a smaller MTU, a place in
     * the queue is too small, and the headers are built here. */
    uint8_t head[SCPS_MAX_HEADERS];
    struct scps_pkt out = {.data = mtu < sizeof head ? head : room,
                           .cap = SCPS_MAX(mtu, sizeof head)};
    if (scps_stack_output(ctx->st, &ctx->nif, ctx->now, &out) != 1)
        return false;
    size_t len = out.len + out.payload_len;
    /* No packet is longer than the MTU, because the netif offers no segmentation offload. */
    if (len > mtu)
        return false;
    if (out.data != room)
        memmove(room, out.data, out.len);
    if (out.payload)
        memcpy(room + out.len, out.payload, out.payload_len);
    else if (out.payload_len)
        memset(room + out.len, 0, out.payload_len);
    ctx->qmeta[at] = (struct slot_pkt){.at = ctx->now, .len = (uint32_t)len};
    ctx->qlen++;
    ctx->nif.tx_packets++;
    ctx->nif.tx_bytes += len;
    return true;
}

static void drain_events(struct scps_ctx *ctx)
{
    struct scps_event ev;
    while (scps_stack_event(ctx->st, &ev) == 1)
        scps_ctx_event(ctx, &ev);
}

/* Does everything that can be done at the present time: passes the stack's events to the sockets,
 * and moves the packets that the stack sends to the context's queue (scps_ctx_take()), until there
 * are neither. If the application has given the context a stack of its own (scps_ctx_config.stack),
 * only calls scps_ctx_config.kick: the driver of that stack, such as an event loop, then does
 * both. */
void scps_sock_turn(struct scps_ctx *ctx)
{
    /* This function is running already: it has called the application or the driver, which has
     * called it again. The outer call goes on with what is left. */
    if (ctx->turning)
        return;
    ctx->turning = true;
    if (ctx->own) {
        do {
            drain_events(ctx);
        } while (fetch(ctx));
        drain_events(ctx);
    } else if (ctx->cfg.kick) {
        ctx->cfg.kick(ctx->cfg.user);
    }
    ctx->turning = false;
}

void scps_ctx_event(struct scps_ctx *ctx, const struct scps_event *ev)
{
    uintptr_t id = (uintptr_t)ev->user;
    if (id == 0 || id > ctx->nslot)
        return;
    struct sock *s = ctx->slot[id - 1];
    if (s &&
        ((ev->conn && ev->conn == s->pcb.conn) || (ev->listener && ev->listener == s->pcb.lis)))
        scps_sock_hear(s, ev);
    else if (s && ev->dgram && ev->dgram == s->pcb.dg)
        scps_sock_dgram_hear(s, ev);
}

/* ---- functions that advance the time of a context ---- */

static void run_to(struct scps_ctx *ctx, scps_time when, bool step)
{
    if (!ctx->own || when == SCPS_NEVER)
        return;
    /* The stack's clock stops at SCPS_NEVER / 2, so the loop below must not wait for a later
     * time. */
    when = SCPS_MIN(when, SCPS_NEVER / 2);
    scps_sock_turn(ctx);
    while (ctx->now < when) {
        if (step && (ctx->qlen || scps_waits_any_over(ctx)))
            return;
        scps_time d = scps_stack_deadline(ctx->st);
        if (d <= ctx->now)
            /* The stack has something due at the present time, although scps_sock_turn() has done
             * all that it could. If the queue of packets for the application is full, the stack
             * sends nothing before `when`, the time to which this function advances the clock,
             * because only the application empties the queue (scps_ctx_take()). Otherwise time
             * advances by 1 µs, so that this loop cannot go on for ever at one time, and the stack
             * tries again. */
            d = ctx->qlen == ctx->cfg.queue_packets ? when : ctx->now + 1;
        if (step)
            d = SCPS_MIN(d, scps_waits_deadline(ctx));
        ctx->now = SCPS_CLAMP(d, ctx->now, when);
        scps_stack_advance(ctx->st, ctx->now);
        scps_sock_turn(ctx);
    }
}

/* ---- functions that each socket call runs at its beginning and its end ---- */

void scps_sock_catch_up(struct scps_ctx *ctx)
{
    if (ctx->own && ctx->cfg.now)
        run_to(ctx, ctx->cfg.now(ctx->cfg.user), false);
}

void scps_sock_enter(struct scps_ctx *ctx)
{
    if (ctx->cfg.lock)
        ctx->cfg.lock(ctx->cfg.user);
    scps_sock_catch_up(ctx);
}

int64_t scps_sock_leave_quiet(struct scps_ctx *ctx, int64_t r)
{
    if (ctx->cfg.unlock)
        ctx->cfg.unlock(ctx->cfg.user);
    if (r < 0) {
        errno = (int)-r;
        return -1;
    }
    return r;
}

int64_t scps_sock_leave(struct scps_ctx *ctx, int64_t r)
{
    scps_sock_turn(ctx);
    if (ctx->cfg.wake)
        ctx->cfg.wake(ctx->cfg.user);
    return scps_sock_leave_quiet(ctx, r);
}

void scps_ctx_turn(struct scps_ctx *ctx)
{
    scps_sock_enter(ctx);
    scps_sock_leave(ctx, 0);
}

struct scps_conn *scps_sock_conn(struct scps_ctx *ctx, int fd)
{
    scps_sock_enter(ctx);
    struct sock *s = scps_sock_find(ctx, fd);
    struct scps_conn *c = s ? s->pcb.conn : NULL;
    scps_sock_leave_quiet(ctx, s ? 0 : -EBADF);
    return c;
}

/* ---- functions by which an application sets addresses and routes, moves packets and time ---- */

int scps_ctx_add_addr(struct scps_ctx *ctx, const struct scps_addr *addr, unsigned prefix)
{
    scps_sock_enter(ctx);
    int r = -EINVAL;
    if (ctx->own && addr && (addr->family == 4 || addr->family == 6)) {
        struct scps_route dflt = {.dst = {.family = addr->family}, .nif = &ctx->nif};
        int e = scps_stack_add_addr(ctx->st, &ctx->nif, addr, prefix);
        if (e == 0)
            e = scps_stack_add_route(ctx->st, &dflt);
        r = e < 0 ? -scps_sock_errno(e) : 0;
    }
    return (int)scps_sock_leave(ctx, r);
}

int scps_ctx_add_route_sized(struct scps_ctx *ctx, const struct scps_route *r, size_t size)
{
    scps_sock_enter(ctx);
    int e = SCPS_ERR_INVAL;
    struct scps_route mine = {.prefix = 0};
    if (r && scps_sized_take(&mine, sizeof mine, r, size, SCPS_SIZED_TO(scps_route, mtu)) &&
        (mine.nif || ctx->own)) {
        if (!mine.nif)
            mine.nif = &ctx->nif;
        e = scps_stack_add_route(ctx->st, &mine);
    }
    return (int)scps_sock_leave(ctx, e < 0 ? -scps_sock_errno(e) : 0);
}

int scps_ctx_inject(struct scps_ctx *ctx, const void *packet, size_t len, scps_time at)
{
    scps_sock_enter(ctx);
    int r = SCPS_DROP_FILTERED;
    if (ctx->own) {
        run_to(ctx, at, false);
        struct scps_pkt in = {.data = (uint8_t *)packet, .len = len, .at = SCPS_MIN(at, ctx->now)};
        ctx->nif.rx_packets++;
        ctx->nif.rx_bytes += len;
        r = scps_stack_input(ctx->st, &ctx->nif, &in);
    }
    return (int)scps_sock_leave(ctx, r);
}

int64_t scps_ctx_take(struct scps_ctx *ctx, void *buf, size_t cap, scps_time *sent_at)
{
    scps_sock_enter(ctx);
    if (!ctx->qlen)
        return scps_sock_leave_quiet(ctx, 0);
    struct slot_pkt m = ctx->qmeta[ctx->qhead];
    if (m.len > cap)
        return scps_sock_leave_quiet(ctx, -EMSGSIZE);
    memcpy(buf, ctx->qbuf + (size_t)ctx->qhead * ctx->nif.mtu, m.len);
    if (sent_at)
        *sent_at = m.at;
    bool full = ctx->qlen == ctx->cfg.queue_packets;
    ctx->qhead = (ctx->qhead + 1) % ctx->qcap;
    ctx->qlen--;
    /* If the queue was full, the stack may have packets that did not fit; scps_sock_leave() fetches
     * them now. */
    if (full)
        return scps_sock_leave(ctx, m.len);
    return scps_sock_leave_quiet(ctx, m.len);
}

size_t scps_ctx_queued(struct scps_ctx *ctx)
{
    scps_sock_enter(ctx);
    return (size_t)scps_sock_leave_quiet(ctx, ctx->qlen);
}

void scps_ctx_advance(struct scps_ctx *ctx, scps_time when)
{
    scps_sock_enter(ctx);
    run_to(ctx, when, false);
    scps_sock_leave(ctx, 0);
}

scps_time scps_ctx_step(struct scps_ctx *ctx, scps_time when)
{
    scps_sock_enter(ctx);
    run_to(ctx, when, true);
    scps_sock_turn(ctx);
    return scps_sock_leave(ctx, scps_sock_now(ctx));
}

scps_time scps_ctx_next_deadline(struct scps_ctx *ctx)
{
    scps_sock_enter(ctx);
    scps_time d = SCPS_MIN(scps_stack_deadline(ctx->st), scps_waits_deadline(ctx));
    return scps_sock_leave_quiet(ctx, SCPS_MAX(d, 0));
}

scps_time scps_ctx_now(struct scps_ctx *ctx)
{
    scps_sock_enter(ctx);
    return scps_sock_leave_quiet(ctx, scps_sock_now(ctx));
}
