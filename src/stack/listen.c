/* SPDX-License-Identifier: MIT */
/* Passive opens: how a listener handles a SYN and the acknowledgement that follows; SYN cookies.
 *
 * A SYN creates a connection in SYN-RECEIVED, as long as the listener has fewer than max_half_open,
 * all listeners have fewer than scps_half_open_most(), and the limit of replies to unknown peers
 * permits its SYN-ACK (reply.c). When another SYN arrives, half-open connections older than
 * half_open_lifetime() are dropped, oldest first; that limit is the lower the more half-open
 * connections there are, so that spoofed SYNs, whose SYN-ACKs nobody answers, neither exclude
 * later connections nor cause many SYN-ACKs (RFC 4987 sections 3.3 and 3.4). If a limit is reached
 * nevertheless, a SYN is answered by a SYN cookie, and no state is kept. A cookie is the initial
 * sequence number of this end; its upper 24 bits are a hash, which covers the lower bits 5 to 0,
 * too:
 *
 *     31 ... 8                            7 6              5         4      3      2 1 0
 *     SipHash of the flow, the peer's     time in units    SNACK2  SNACK1  BETS   MSS
 *     sequence number, time, bits 5 to 0  of 64 s
 *
 * If the SYN had timestamps, the low six bits of the TSval in the SYN-ACK carry what else was
 * agreed, and the peer echoes them (RFC 7323 appendix A, RFC 4987 section 3.6):
 *
 *     5    4     3 2 1 0
 *     ECN  SACK  window scale, 15: none
 *
 * Without timestamps these three options are not in force. Compressed headers and binding spaces
 * (data of a vendor in a second TCP option 20) are never in force with a cookie, because they need
 * memory. A peer that echoes other bits than it was sent gains nothing: they give it only features
 * for which its SYN could have asked. A cookie is valid in its unit of time and in the next one.
 *
 * If the SYN or its cookie is late, the peer repeats the SYN, for which a half-open connection may
 * be created. Of the two numbers the peer takes the one that arrives first: when it acknowledges
 * the cookie, the half-open connection is dropped, and the cookie opens the connection.
 */
#include "stack/connid.h"

#include "base/bytes.h"
#include "base/prng.h"

#define UNIT            SCPS_SEC(64)
#define HALF_OPEN_LEAST SCPS_SEC(3)
#define TS_BITS         63u
#define CAPS            (SCPS_CAP_BETS | SCPS_CAP_SNACK1 | SCPS_CAP_SNACK2)
/* The capabilities BETS, SNACK1 and SNACK2 are the bits 0xe0 of the option. This shift to the right
 * moves them to bits 3 to 5 of a cookie. */
#define CAPS_DOWN 2

/* The values of the peer's MSS that the three bits of a cookie can encode, octets; the largest one
 * that does not exceed the MSS option is used. The first value, 48, is the least MSS that this
 * library uses (core/negotiate.c). */
static const uint16_t cookie_mss[8] = {48, 216, 536, 1024, 1200, 1360, 1440, 1460};

/* ---- functions that make and check SYN cookies ---- */

static uint32_t cookie_hash(const struct scps_stack *st, const struct scps_flow *f,
                            uint32_t peer_isn, uint64_t unit, unsigned low)
{
    uint8_t msg[56] = {'c'};

    memcpy(msg + 1, f->local.b, 16);
    memcpy(msg + 17, f->remote.b, 16);
    scps_put16(msg + 33, f->lport);
    scps_put16(msg + 35, f->rport);
    scps_put32(msg + 37, peer_isn);
    scps_put32(msg + 41, (uint32_t)(unit >> 32));
    scps_put32(msg + 45, (uint32_t)unit);
    msg[49] = (uint8_t)low;
    return (uint32_t)scps_siphash(st->env.key, msg, sizeof msg) & 0xffffff;
}

/* Returns the SCPS capabilities that a configuration offers. */
static uint8_t offers(const struct scps_conn_config *cfg)
{
    return (uint8_t)((cfg->bets ? SCPS_CAP_BETS : 0) | (cfg->snack ? SCPS_CAP_SNACK1 : 0) |
                     (cfg->snack && cfg->snack_long ? SCPS_CAP_SNACK2 : 0) |
                     (cfg->compress ? SCPS_CAP_COM : 0));
}

/* Returns true if syn asked for a feature that this end has, but that the SYN-ACK seg with the
 * cookie does not agree to, because a cookie cannot carry it. */
static bool loses(const struct scps_conn_config *cfg, const struct scps_seg *syn,
                  const struct scps_seg *seg)
{
    uint32_t want = (cfg->wscale ? SCPS_HAS_WSCALE : 0) | (cfg->sack ? SCPS_HAS_SACK_OK : 0);

    return (syn->has & want & ~(uint32_t)seg->has) ||
           (syn->has & SCPS_HAS_CAPS && offers(cfg) & syn->caps & ~seg->caps) ||
           (syn->has & SCPS_HAS_XCAPS && (cfg->binding[0].len || cfg->binding[1].len)) ||
           (cfg->ecn && (syn->flags & (SCPS_ECE | SCPS_CWR)) == (SCPS_ECE | SCPS_CWR) &&
            !(seg->flags & SCPS_ECE));
}

static void send_cookie(struct scps_listener *l, struct scps_nif *nif, const struct scps_flow *f,
                        const struct scps_seg *syn)
{
    struct scps_stack *st = l->st;
    const struct scps_conn_config *cfg = &l->cfg->c;
    uint64_t unit = (uint64_t)(st->env.now / UNIT);
    unsigned peer = syn->has & SCPS_HAS_MSS ? syn->mss
                    : f->local.family == 4  ? 536
                                            : 1220,
             idx = 0, low;
    uint8_t scale = 0;
    struct scps_seg seg = {.flags = SCPS_SYN | SCPS_ACK,
                           .ack = syn->seq + 1,
                           .wnd = (uint16_t)SCPS_MIN(cfg->rcvbuf, 65535),
                           .has = SCPS_HAS_MSS};

    while (idx < 7 && cookie_mss[idx + 1] <= peer)
        idx++;
    while (scale < 14 && (UINT32_C(65535) << scale) < cfg->rcvbuf)
        scale++;
    if (syn->has & SCPS_HAS_CAPS && offers(cfg) & syn->caps & CAPS) {
        seg.has |= SCPS_HAS_CAPS;
        seg.caps = offers(cfg) & syn->caps & CAPS;
    }
    low = (unsigned)seg.caps >> CAPS_DOWN | idx;
    seg.seq = cookie_hash(st, f, syn->seq, unit, low) << 8 | (uint32_t)(unit & 3) << 6 | low;
    seg.mss = scps_stack_mss(st, nif, scps_route_find(st, &f->remote), f->local.family);
    if (cfg->mss)
        seg.mss = SCPS_MIN(seg.mss, cfg->mss);
    if (syn->has & SCPS_HAS_TS && cfg->timestamps) {
        uint32_t bits = 15, clock = (uint32_t)(st->env.now / 1000) + scps_ts_offset(st, f);
        /* The window scale option fits into the SYN-ACK beside the other options only if the MSS is
         * at least 24 octets; negotiate.c has the same limit. */
        if (syn->has & SCPS_HAS_WSCALE && cfg->wscale && seg.mss >= 24) {
            bits = SCPS_MIN(syn->wscale, 14);
            seg.has |= SCPS_HAS_WSCALE;
            seg.wscale = scale;
        }
        if (syn->has & SCPS_HAS_SACK_OK && cfg->sack) {
            bits |= 16;
            seg.has |= SCPS_HAS_SACK_OK;
        }
        if (cfg->ecn && (syn->flags & (SCPS_ECE | SCPS_CWR)) == (SCPS_ECE | SCPS_CWR)) {
            bits |= 32;
            seg.flags |= SCPS_ECE;
        }
        seg.has |= SCPS_HAS_TS;
        seg.tsval = (clock & ~TS_BITS) | bits;
        if ((int32_t)(seg.tsval - clock) > 0)
            seg.tsval -= TS_BITS + 1;
        seg.tsecr = syn->tsval;
    }
    l->cookie_at = SCPS_MAX(st->env.now, 1);
    if (!scps_answer_segment(st, nif, f, &seg))
        return;
    st->count.cookies_out++;
    if (loses(cfg, syn, &seg))
        st->count.cookies_reduced++;
}

/* Rebuilds into *syn the SYN from whose values the cookie was made. Returns false if seg does not
 * acknowledge a valid cookie. */
static bool read_cookie(const struct scps_listener *l, const struct scps_flow *f,
                        const struct scps_seg *seg, struct scps_seg *syn)
{
    const struct scps_stack *st = l->st;
    uint32_t cookie = seg->ack - 1, peer_isn = seg->seq - 1;
    uint64_t unit = (uint64_t)(st->env.now / UNIT);
    unsigned low = cookie & 63;

    if (!l->cookie_at || st->env.now - l->cookie_at > 2 * UNIT)
        return false;
    if ((unit & 3) != (cookie >> 6 & 3))
        unit--;
    if ((unit & 3) != (cookie >> 6 & 3) || cookie_hash(st, f, peer_isn, unit, low) != cookie >> 8)
        return false;
    *syn = (struct scps_seg){.flags = SCPS_SYN,
                             .seq = peer_isn,
                             .wnd = seg->wnd,
                             .has = SCPS_HAS_MSS,
                             .mss = cookie_mss[low & 7],
                             .caps = (uint8_t)(low << CAPS_DOWN) & CAPS};
    if (syn->caps)
        syn->has |= SCPS_HAS_CAPS;
    if (seg->has & SCPS_HAS_TS) {
        syn->has |= SCPS_HAS_TS;
        syn->tsval = seg->tsval;
        if ((seg->tsecr & 15) != 15) {
            syn->has |= SCPS_HAS_WSCALE;
            syn->wscale = seg->tsecr & 15;
        }
        if (seg->tsecr & 16)
            syn->has |= SCPS_HAS_SACK_OK;
        if (seg->tsecr & 32)
            syn->flags |= SCPS_ECE | SCPS_CWR;
    }
    return true;
}

/* Returns true if seg, data or a FIN, may come from a peer whose first segment after a handshake
 * with a cookie was lost. The peer will send that again, so it gets no reset. */
static bool may_follow_cookie(const struct scps_listener *l, const struct scps_seg *seg)
{
    return (seg->len || seg->flags & SCPS_FIN) && l->cookie_at &&
           l->st->env.now - l->cookie_at <= 2 * UNIT;
}

/* ---- functions that process segments to a listener ---- */

SCPS_NOINLINE struct scps_conn *
scps_conn_instead_of(struct scps_stack *st, struct scps_shared_config *cfg,
                     const struct scps_flow *f, struct scps_nif *nif,
                     const struct scps_route_entry *entry, unsigned others, int *err)
{
    struct scps_conn *c, *old;

    for (; !(c = scps_stack_conn(st, cfg, f, nif, entry, err)) && others; others--) {
        if (!(old = scps_half_open_oldest(st)))
            break;
        scps_listener_evict(st, old);
        scps_stack_reap(st);
    }
    return c;
}

/* Creates a connection for a SYN or the acknowledgement of a SYN cookie. others: the number of
 * half-open connections that may be dropped to make room. */
static SCPS_NOINLINE struct scps_conn *new_conn(struct scps_listener *l, struct scps_nif *nif,
                                                const struct scps_flow *f, unsigned others)
{
    const struct scps_route_entry *entry = scps_route_find(l->st, &f->remote);
    int err;

    return scps_conn_instead_of(l->st, l->cfg, f, nif, entry, others, &err);
}

/* Returns the age, µs, from which a half-open connection may be dropped when another SYN comes, if
 * n half-open connections exist and at most `most` may: without limit (until the retransmissions
 * of the SYN-ACK end) below a quarter of `most`; 14 s, the time of four SYN-ACKs, from a quarter
 * on; 6 s (three) from a half on; 3 s (two) at `most`. */
static scps_dur half_open_lifetime(uint32_t n, uint32_t most)
{
    return n >= most                    ? HALF_OPEN_LEAST
           : n >= SCPS_MAX(most / 2, 1) ? SCPS_SEC(6)
           : n >= SCPS_MAX(most / 4, 1) ? SCPS_SEC(14)
                                        : SCPS_NEVER;
}

/* Returns the half-open connection that is to be dropped when another SYN comes to l, because it
 * is older than half_open_lifetime(), and than two expected round trips of l; NULL: there is none.
 * It is the oldest one of l or, where it is the half-open connections of all listeners that are
 * many, the oldest of all. */
static struct scps_conn *outlived(const struct scps_listener *l)
{
    const struct scps_stack *st = l->st;
    scps_dur own = half_open_lifetime(l->half_open, st->cfg.max_half_open),
             all = st->n_conns >= st->cfg.max_conns
                       ? HALF_OPEN_LEAST
                       : half_open_lifetime(st->half_open, scps_half_open_most(st));
    struct scps_conn *c = all < own ? scps_half_open_oldest(st) : scps_conn_of_link(l->half.first);

    own = SCPS_MAX(SCPS_MIN(own, all), 2 * l->cfg->c.expected_rtt);
    return c && st->env.now - c->opened >= own ? c : NULL;
}

/* Returns true if no half-open connection of l can be added unless another one is dropped. */
static bool places_taken(const struct scps_listener *l)
{
    const struct scps_stack *st = l->st;

    return l->half_open >= st->cfg.max_half_open || st->n_conns >= st->cfg.max_conns ||
           st->half_open >= scps_half_open_most(st);
}

/* Returns true if a half-open connection may be created for flow f, after older ones were dropped
 * without a message to the peer. Its SYN-ACK is then charged to the token bucket of replies to
 * unknown peers (reply.c). If that bucket does not permit a half-open connection, which may repeat
 * its SYN-ACK, it may still permit a SYN cookie. */
static bool place_for(struct scps_listener *l, struct scps_nif *nif, const struct scps_flow *f)
{
    struct scps_stack *st = l->st;
    struct scps_conn *old = outlived(l);

    if (!old && places_taken(l))
        return false;
    if (!scps_answer_syn_ack(st, nif, &f->remote, SCPS_SYN_ACK_FIRST, scps_listener_has_many(l)))
        return false;
    for (unsigned i = 0; i < 2 && old; i++, old = outlived(l)) {
        scps_listener_evict(st, old);
        scps_stack_reap(st);
    }
    return true;
}

static int take_syn(struct scps_listener *l, struct scps_nif *nif, const struct scps_flow *f,
                    const struct scps_seg *seg)
{
    struct scps_stack *st = l->st;
    uint64_t refused = st->env.budget.refused;
    struct scps_conn *c;

    if (l->pending >= l->backlog)
        return scps_stack_drop(st, SCPS_DROP_BACKLOG_FULL);
    if (!place_for(l, nif, f)) {
        if (!st->cfg.syn_cookies)
            return scps_stack_drop(st, SCPS_DROP_SYN_LIMIT);
        send_cookie(l, nif, f, seg);
        return 0;
    }
    c = new_conn(l, nif, f, 0);
    if (!c && st->half_open && st->cfg.syn_cookies) {
        /* No memory: when the peer acknowledges a SYN cookie, its connection gets the memory of a
         * half-open one. */
        scps_answer_refund(st, nif, &f->remote);
        send_cookie(l, nif, f, seg);
        return 0;
    }
    if (!c)
        return scps_stack_drop(st, scps_env_refusal(&st->env, refused));
    /* c becomes one of the half-open connections before the SYN-ACK is made. If making the SYN-ACK
     * fails, scps_stack_discard() frees c and removes it from the half-open connections. */
    scps_listener_join(l, c);
    /* If another connection uses the id that the peer chose, c does without compression. */
    if (seg->has & SCPS_HAS_CAPS && seg->caps & SCPS_CAP_COM && l->cfg->c.compress &&
        scps_connid_give(st, c) && !scps_connid_heard(st, c, seg->conn_id, false))
        scps_connid_release(st, c);
    if (scps_conn_answer(c, seg)) {
        scps_stack_discard(st, c);
        return scps_stack_drop(st, scps_env_refusal(&st->env, refused));
    }
    if (c->s.agreed.caps & SCPS_CAP_COM)
        scps_comp_accepted(st, c, seg);
    scps_segs_came(&c->segs);
    return 0;
}

static int take_ack(struct scps_listener *l, struct scps_nif *nif, const struct scps_flow *f,
                    const struct scps_seg *seg)
{
    struct scps_stack *st = l->st;
    uint64_t refused = st->env.budget.refused;
    struct scps_seg syn;
    struct scps_conn *c;

    if (!read_cookie(l, f, seg, &syn)) {
        if (may_follow_cookie(l, seg))
            return scps_stack_drop(st, SCPS_DROP_BAD_COOKIE);
        scps_answer_reset(st, nif, f, seg);
        return scps_stack_drop(st, l->cookie_at ? SCPS_DROP_BAD_COOKIE : SCPS_DROP_NO_CONNECTION);
    }
    if (l->pending >= l->backlog)
        return scps_stack_drop(st, SCPS_DROP_BACKLOG_FULL);
    c = new_conn(l, nif, f, SCPS_GIVE_WAY);
    if (!c)
        return scps_stack_drop(st, st->n_conns >= st->cfg.max_conns
                                       ? SCPS_DROP_MAX_CONNS
                                       : scps_env_refusal(&st->env, refused));
    scps_send_begin(&c->s.snd, seg->ack - 1);
    /* scps_listener_established(), which is called when c is ESTABLISHED, removes c from the
     * half-open connections, so c must be one of them before. */
    scps_listener_join(l, c);
    if (scps_conn_from_cookie(c, &syn, 1)) {
        scps_stack_discard(st, c);
        return scps_stack_drop(st, scps_env_refusal(&st->env, refused));
    }
    st->count.cookies_ok++;
    return scps_conn_input(c, seg);
}

int scps_listener_other_ack(struct scps_listener *l, struct scps_nif *nif, struct scps_conn *c,
                            const struct scps_seg *seg)
{
    const struct scps_flow f = {c->local, c->remote, c->lport, c->rport};
    struct scps_stack *st = l->st;
    struct scps_seg syn;

    if (read_cookie(l, &f, seg, &syn)) {
        scps_conn_finish(c, 0);
        scps_stack_reap(st);
        return take_ack(l, nif, &f, seg);
    }
    scps_conn_ctx_drop(&c->s.ctx, SCPS_DROP_BAD_ACK, seg);
    if (!may_follow_cookie(l, seg))
        scps_answer_reset(st, nif, &f, seg);
    return SCPS_DROP_BAD_ACK;
}

int scps_listener_input(struct scps_listener *l, struct scps_nif *nif, const struct scps_flow *f,
                        const struct scps_seg *seg)
{
    if (seg->flags & SCPS_RST)
        return scps_stack_drop(l->st, SCPS_DROP_NO_CONNECTION);
    if (seg->flags & SCPS_ACK) {
        if (seg->flags & SCPS_SYN) {
            scps_answer_reset(l->st, nif, f, seg);
            return scps_stack_drop(l->st, SCPS_DROP_NO_CONNECTION);
        }
        return take_ack(l, nif, f, seg);
    }
    if (!(seg->flags & SCPS_SYN) || seg->flags & SCPS_FIN)
        return scps_stack_drop(l->st, SCPS_DROP_BAD_FLAGS);
    return take_syn(l, nif, f, seg);
}

void scps_listener_set_user(struct scps_listener *l, void *user)
{
    l->user = user;
}

void *scps_listener_user(const struct scps_listener *l)
{
    return l->user;
}

void scps_listener_local(const struct scps_listener *l, struct scps_endpoint *out)
{
    *out = l->local;
}

/* ---- functions that open and close listeners ---- */

struct scps_listener *scps_listen(struct scps_stack *st, const struct scps_conn_config *cfg,
                                  const struct scps_endpoint *local, unsigned backlog, int *err)
{
    const struct scps_alloc *a = &st->env.alloc;
    struct scps_listener *l;
    uint32_t n = 0;
    int dummy;

    err = err ? err : &dummy;
    *err = SCPS_ERR_INVAL;
    if (!local || !local->port || !backlog)
        return NULL;
    *err = SCPS_ERR_ADDRNOTAVAIL;
    if (local->addr.family && !scps_stack_any(&local->addr) &&
        !scps_stack_has_addr(st, &local->addr))
        return NULL;
    *err = SCPS_ERR_ADDRINUSE;
    for (l = st->listeners; l; l = l->next, n++)
        if (l->local.port == local->port && scps_addr_equal(&l->local.addr, &local->addr))
            return NULL;
    *err = SCPS_ERR_NOMEM;
    if (st->reserve && n >= SCPS_FIXED_LISTENERS)
        return NULL;
    l = a->alloc(a->ctx, sizeof *l);
    if (!l)
        return NULL;
    *l = (struct scps_listener){.st = st, .local = *local, .backlog = backlog};
    l->cfg = scps_config_new(&st->env, cfg, scps_route_rated(st), err);
    if (!l->cfg) {
        a->free(a->ctx, l, sizeof *l);
        return NULL;
    }
    l->next = st->listeners;
    st->listeners = l;
    *err = 0;
    return l;
}

int scps_listener_set(struct scps_listener *l, const struct scps_conn_config *cfg, unsigned backlog)
{
    const struct scps_alloc *a = &l->st->env.alloc;
    struct scps_shared_config *s;
    int err;

    if (cfg) {
        s = scps_config_new(&l->st->env, cfg, scps_route_rated(l->st), &err);
        if (!s)
            return err;
        scps_config_unref(a, l->cfg);
        l->cfg = s;
    }
    if (backlog)
        l->backlog = backlog;
    return 0;
}

static void unlink_listener(struct scps_listener *l)
{
    struct scps_listener **at;

    for (at = &l->st->listeners; *at != l;)
        at = &(*at)->next;
    *at = l->next;
    scps_listener_unqueue(l);
}

void scps_listener_close(struct scps_listener *l)
{
    struct scps_stack *st = l->st;
    struct scps_conn *c;

    while ((c = scps_accept(l)))
        scps_conn_abort(c);
    for (c = NULL; (c = scps_demux_next(st, c));) {
        if (scps_conn_listener(c) != l)
            continue;
        scps_listener_forget(c);
        scps_conn_abort(c);
    }
    unlink_listener(l);
    scps_config_unref(&st->env.alloc, l->cfg);
    st->env.alloc.free(st->env.alloc.ctx, l, sizeof *l);
}

void scps_listener_free_all(struct scps_stack *st)
{
    while (st->listeners)
        scps_listener_close(st->listeners);
}
