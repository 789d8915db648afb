/* SPDX-License-Identifier: MIT */
/* A connection's lifetime: its memory, its states, its end, and a change of its configuration. */
#include "core/conn.h"

#include "base/bytes.h"

/* ---- memory ---- */

static size_t conn_size(const struct scps_shared_config *cfg)
{
    return sizeof(struct scps_conn) + (cfg->c.cc->state_size + 7) / 8 * 8;
}

static size_t tx_size(const struct scps_shared_config *cfg)
{
    return sizeof(struct scps_tx) + (cfg->c.cc->state_size + 7) / 8 * 8;
}

static void stop_timers(struct scps_conn *c)
{
    scps_timer_stop(&c->ack_timer);
    scps_timer_stop(&c->keep_timer);
    scps_timer_stop(&c->end_timer);
    scps_timer_stop(&c->outage_timer);
    scps_timer_looked(&c->ctx, SCPS_NEVER);
}

static void stop_tx_timers(struct scps_tx *tx)
{
    scps_rto_stop(tx);
    scps_timer_stop(&tx->pace_timer);
    scps_timer_stop(&tx->look_timer);
    scps_timer_stop(&tx->retry_timer);
    scps_timer_stop(&tx->cork_timer);
    scps_timer_stop(&tx->trim_timer);
}

struct scps_conn *scps_conn_new(struct scps_env *env, struct scps_shared_config *cfg)
{
    const struct scps_alloc *a = &env->alloc_later;
    size_t size = conn_size(cfg);
    struct scps_conn *c = a->alloc(a->ctx, size);

    if (!c)
        return NULL;
    memset(c, 0, size);
    scps_conn_ctx_init(&c->ctx, env, cfg);
    c->state = SCPS_CLOSED;
    c->end = 1;
    stop_timers(c);
    scps_rtt_init(&c->rtt, cfg->c.rto_initial);
    scps_rcvbuf_init(&c->in, 1, cfg->c.hollow);
    if (cfg->c.nodelay)
        c->flags |= SCPS_F_NODELAY;
    return c;
}

static void free_tx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (!c->tx)
        return;
    scps_gate_forget(c);
    if (c->tx->sent_at)
        c->ctx.st->last_sent = c->tx->sent_at;
    if (c->tx->heard_at)
        c->ctx.st->last_ack_received = c->tx->heard_at;
    if (c->tx->rto.latest)
        c->ctx.st->last_rtt = c->tx->rto.latest;
    scps_sndbuf_fini(&c->tx->buf, a);
    scps_rangeset_fini(&c->tx->ends, a);
    scps_sb_fini(&c->tx->sb, a);
    if (c->tx->waits)
        a->free(a->ctx, c->tx->waits, SCPS_SNACK_WAITS * sizeof *c->tx->waits);
    a->free(a->ctx, c->tx, tx_size(c->ctx.cfg));
    c->tx = NULL;
}

static void free_rx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (c->rx)
        a->free(a->ctx, c->rx, sizeof *c->rx);
    c->rx = NULL;
}

static void free_tp(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (!c->tp)
        return;
    if (c->tp->marks) {
        scps_marks_fini(c->tp->marks, a);
        a->free(a->ctx, c->tp->marks, sizeof *c->tp->marks);
    }
    scps_rangeset_fini(&c->tp->given_up, a);
    a->free(a->ctx, c->tp, sizeof *c->tp);
}

void scps_conn_free(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;
    const struct scps_shared_config *cfg = c->ctx.cfg;

    scps_conn_unready(c);
    scps_gate_forget(c);
    scps_heap_remove(&c->ctx.env->deadlines, c);
    free_tx(c);
    free_rx(c);
    free_tp(c);
    scps_rcvbuf_fini(&c->in, a);
    scps_conn_ctx_fini(&c->ctx);
    a->free(a->ctx, c, conn_size(cfg));
    scps_config_unref(a, cfg);
}

int scps_conn_need_tx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (c->tx)
        return 0;
    c->tx = a->alloc(a->ctx, tx_size(c->ctx.cfg));
    if (!c->tx)
        return SCPS_ERR_NOMEM;
    memset(c->tx, 0, tx_size(c->ctx.cfg));
    stop_tx_timers(c->tx);
    scps_rto_anew(&c->tx->rto, c->una > 1 ? c->rtt.srtt : 0);
    scps_sndbuf_init(&c->tx->buf, c->end, c->pmtu_mss + 64u);
    scps_sb_init(&c->tx->sb);
    scps_delivery_begin(&c->tx->delivery, c->una, c->established);
    if (c->established)
        scps_cc_apply(c); /* the pacer is new */
    return 0;
}

/* A backoff, which tells of silence, stays until the peer has been heard. */
static void trim_tx(struct scps_conn *c)
{
    const struct scps_rto rto = c->tx->rto;

    free_tx(c);
    if (rto.backoff && !scps_conn_need_tx(c))
        scps_rto_go_on(&c->tx->rto, rto.backoff);
}

void scps_conn_trim(struct scps_conn *c)
{
    if (c->tx && c->una == c->nxt && scps_snd_fin_end(c) <= c->nxt && c->state != SCPS_SYN_SENT &&
        c->state != SCPS_SYN_RECEIVED)
        trim_tx(c);
    scps_rcvbuf_trim(&c->in, &c->ctx.env->alloc);
    if (!c->in.ooo->n && !(c->rx && (c->rx->fin_at || c->rx->budget.at)))
        free_rx(c);
}

/* ---- states ---- */

void scps_conn_bury(struct scps_conn *c)
{
    if (c->state != SCPS_CLOSED || !(c->flags & SCPS_F_RELEASED) ||
        c->flags & (SCPS_F_RST_NOW | SCPS_F_DEAD))
        return;
    c->flags |= SCPS_F_DEAD;
    scps_conn_unready(c);
    c->ready_next = c->ctx.env->dead;
    c->ctx.env->dead = c;
}

void scps_conn_end_after(struct scps_conn *c, scps_dur wait)
{
    scps_timer_stop(&c->keep_timer);
    scps_timer_set(&c->ctx, &c->end_timer, c->ctx.env->now + wait);
}

void scps_conn_set_state(struct scps_conn *c, enum scps_state s)
{
    if (c->state == s)
        return;
    SCPS_NOTE_IT(c, STATE, c->state, s, 0, 0);
    c->state = (uint8_t)s;
    if (s == SCPS_TIME_WAIT) {
        scps_timer_stop(&c->outage_timer);
        scps_conn_end_after(c, c->ctx.cfg->c.time_wait);
        free_tx(c);
        scps_conn_tell(c, SCPS_EV_CLOSED);
    } else if (s == SCPS_FIN_WAIT_2 && c->flags & SCPS_F_RELEASED) {
        scps_conn_end_after(c, c->ctx.cfg->c.fin_wait2);
    }
}

void scps_conn_finish(struct scps_conn *c, int err)
{
    bool was_time_wait = c->state == SCPS_TIME_WAIT;

    if (c->state == SCPS_CLOSED)
        return;
    scps_conn_set_state(c, SCPS_CLOSED);
    stop_timers(c);
    scps_bets_stop(c);
    scps_heap_remove(&c->ctx.env->deadlines, c);
    free_tx(c);
    free_rx(c);
    if (err)
        c->err = (int8_t)err;
    if (c->pending && !c->established) { /* half-open: nobody but the stack knows it */
        c->flags |= SCPS_F_RELEASED;
    } else if (err) {
        scps_conn_tell(c, SCPS_EV_ERROR);
    } else if (!was_time_wait) {
        scps_conn_tell(c, SCPS_EV_CLOSED);
    }
    scps_conn_bury(c);
}

void scps_conn_reset(struct scps_conn *c, int err)
{
    c->flags |= SCPS_F_RST_NOW;
    scps_conn_wake(c);
    scps_conn_finish(c, err);
}

void scps_conn_detach(struct scps_conn *c)
{
    scps_conn_unready(c);
    scps_gate_forget(c);
    c->turns = NULL;
    c->flags &= ~(uint32_t)SCPS_F_RST_NOW;
    scps_conn_bury(c);
}

/* The last thing a released connection had to send has left. */
void scps_conn_sent_last(struct scps_conn *c)
{
    scps_conn_bury(c);
}

void scps_conn_established(struct scps_conn *c)
{
    const struct scps_conn_config *cfg = &c->ctx.cfg->c;

    c->established = c->heard_at = SCPS_MAX(c->ctx.env->now, 1);
    if (c->tx)
        scps_rto_anew(&c->tx->rto, 0);
    c->unheard = c->caps & SCPS_CAP_COM && c->flags & SCPS_F_ACTIVE;
    scps_conn_set_pmtu_mss(c, c->pmtu_mss);
    c->rcv_mss = SCPS_MIN(536, c->adv_mss);
    if (c->flags & SCPS_F_SYN_LOST && !c->rtt.srtt)
        scps_rtt_at_least(&c->rtt, 3 * cfg->rto_initial); /* RFC 6298 section 5.7 */
    if (cfg->expected_rtt) /* a slow line takes longer for full segments than for the SYN */
        scps_rtt_at_least(&c->rtt, cfg->expected_rtt + cfg->rto_min);
    scps_cc_begin(c);
    if (cfg->keepalive)
        scps_timer_set(&c->ctx, &c->keep_timer, c->ctx.env->now + cfg->keep_idle);
    if (c->tx) /* a SYN cookie leaves none: what it may have read gives its memory back by itself */
        scps_timer_by(&c->ctx, &c->tx->trim_timer, c->ctx.env->now + 2 * c->rtt.rto);
    if (c->flags & SCPS_F_SHUT && c->state == SCPS_ESTABLISHED)
        scps_conn_set_state(c, SCPS_FIN_WAIT_1);
    if (c->plain == SCPS_PLAIN_FELL_BACK)
        c->ctx.env->fell_back(c->ctx.env, c);
    if (c->pending) {
        c->ctx.env->established(c->ctx.env, c);
    } else {
        scps_conn_tell(c, SCPS_EV_CONNECTED);
        scps_conn_tell(c, SCPS_EV_WRITABLE);
    }
    scps_conn_wake(c);
}

int scps_conn_open(struct scps_conn *c)
{
    if (scps_conn_need_tx(c) ||
        ((c->ctx.cfg->c.binding[0].len || c->ctx.cfg->c.binding[1].len) && scps_conn_need_tp(c)))
        return SCPS_ERR_NOMEM;
    c->flags |= SCPS_F_ACTIVE;
    c->opened = c->ctx.env->now;
    c->hold = SCPS_HOLD_HANDSHAKE;
    scps_conn_set_state(c, SCPS_SYN_SENT);
    scps_conn_wake(c);
    return 0;
}

static void take_syn(struct scps_conn *c, const struct scps_seg *syn)
{
    c->opened = c->ctx.env->now;
    c->irs = syn->seq;
    c->wl1 = syn->seq;
    scps_negotiate_settle(c, syn);
    scps_ackout_begin(c);
    c->max_wnd = scps_negotiate_first_window(c, syn);
    c->edge = 1 + c->max_wnd;
    c->hold = SCPS_HOLD_HANDSHAKE;
}

int scps_conn_answer(struct scps_conn *c, const struct scps_seg *syn)
{
    if (scps_conn_need_tx(c))
        return SCPS_ERR_NOMEM;
    take_syn(c, syn);
    scps_conn_set_state(c, SCPS_SYN_RECEIVED);
    scps_conn_wake(c);
    return 0;
}

int scps_conn_from_cookie(struct scps_conn *c, const struct scps_seg *syn, scps_off una)
{
    take_syn(c, syn);
    c->plain = SCPS_PLAIN_COOKIE; /* some may be kept, some not: negotiate.c */
    c->una = c->nxt = una;
    scps_conn_set_state(c, SCPS_ESTABLISHED);
    scps_conn_established(c);
    return 0;
}

/* ---- memory is short ---- */

int scps_conn_starve(struct scps_conn *c)
{
    c->starved = true;
    c->flags |= SCPS_F_WANT_ROOM;
    scps_env_starved(c->ctx.env);
    return SCPS_ERR_NOMEM;
}

void scps_conn_room(struct scps_conn *c)
{
    c->starved = false;
    scps_conn_tell(c, SCPS_EV_WRITABLE);
}

void scps_conn_memory(struct scps_conn *c)
{
    struct scps_env *env = c->ctx.env;
    uint64_t left = scps_budget_left(&env->budget);

    if (scps_rcvbuf_memory(&c->in) > left)
        scps_rcvbuf_trim(&c->in, &env->alloc);
    if (c->tx && c->tx->buf.cap > left)
        scps_sndbuf_trim(&c->tx->buf, &env->alloc);
    if (!c->starved || c->state == SCPS_CLOSED)
        return;
    if (!(c->flags & SCPS_F_SHUT)) {
        scps_conn_room(c);
        return;
    }
    c->starved = false;
    if (scps_conn_need_tx(c) || scps_conn_ctx_need_stats(&c->ctx))
        scps_conn_starve(c);
    else
        scps_conn_wake(c);
}

void scps_conn_heard(struct scps_conn *c)
{
    if (!c->unheard)
        return;
    c->unheard = false;
    scps_conn_set_pmtu_mss(c, c->pmtu_mss);
}

/* ---- configuration ---- */

int scps_conn_set_config(struct scps_conn *c, const struct scps_conn_config *cfg)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;
    struct scps_conn_config n = *cfg;
    const struct scps_conn_config *old = &c->ctx.cfg->c;
    struct scps_shared_config *s;
    scps_dur idle = old->keep_idle;
    int err;

    if (c->state != SCPS_CLOSED || c->opened) { /* what the handshake settled stays */
        scps_conn_config_set_cc(&n, old->cc, old->cc_param);
        n.hollow = old->hollow;
        n.rcvbuf = SCPS_MAX(n.rcvbuf, old->rcvbuf);
        if (c->rcv_wscale < 14)
            n.rcvbuf = (uint32_t)SCPS_MIN(n.rcvbuf,
                                          SCPS_MAX(old->rcvbuf, UINT64_C(65535) << c->rcv_wscale));
    }
    s = scps_config_new(a, &n, c->turns && c->turns->gate, &err);
    if (!s)
        return err;
    scps_config_unref(a, c->ctx.cfg);
    scps_conn_ctx_configure(&c->ctx, s);
    scps_conn_set_flag(c, SCPS_F_NODELAY, n.nodelay);
    scps_rtt_limits(&c->rtt, s->c.rto_min, s->c.rto_max);
    scps_rtt_initial(&c->rtt, s->c.rto_initial);
    if (c->established && c->state != SCPS_CLOSED) {
        if (s->c.rate && c->ctl.rate)
            c->ctl.rate = s->c.rate;
        scps_cc_apply(c);
        if (!s->c.keepalive || scps_timer_runs(&c->end_timer))
            ; /* nobody asks for the peer */
        else if (!scps_timer_runs(&c->keep_timer))
            scps_timer_set(&c->ctx, &c->keep_timer, c->ctx.env->now + s->c.keep_idle);
        else if (s->c.keep_idle != idle && !c->probes)
            scps_timer_set(&c->ctx, &c->keep_timer, c->ctx.env->now); /* finds out when it is due */
    }
    scps_conn_wake(c);
    return 0;
}
