/* SPDX-License-Identifier: MIT */
/* The parts of a connection that come with use: tx, rx, tp and marks; what all parts take where
 * memory is fixed; and what is done when it is short. */
#include "core/conn.h"
#include "core/fixed.h"

#include "base/bytes.h"

#define MIN_ENDS 1024u /* ends of records that are kept at least, unless memory is fixed */

static size_t tx_size(const struct scps_shared_config *cfg)
{
    return sizeof(struct scps_tx) + (scps_cc_state_size(cfg->c.cc, cfg->c.cc_param) + 7) / 8 * 8;
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

/* With fixed memory: takes the send buffer, the scoreboard and the marks at their largest size. */
static SCPS_NOINLINE int take_fixed_tx(struct scps_tx *tx, const struct scps_conn_config *cfg,
                                       const struct scps_fixed *f, const struct scps_alloc *a)
{
    if (!cfg->hollow && scps_sndbuf_reserve(&tx->buf, a, f->sndring))
        return SCPS_ERR_NOMEM;
    scps_rangeset_init(&tx->ends, f->marks);
    if (f->marks && scps_rangeset_reserve(&tx->ends, a))
        return SCPS_ERR_NOMEM;
    return scps_sb_take(&tx->sb, a, f->sent);
}

void scps_conn_free_tx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (!c->tx)
        return;
    scps_gate_forget(c);
    scps_todo_done(&c->todo, SCPS_TODO_TAIL);
    if (c->tx->sent_at)
        c->ctx.st->last_sent = c->tx->sent_at;
    if (c->tx->heard_at)
        c->ctx.st->last_ack_received = c->tx->heard_at;
    if (c->tx->rto.latest)
        c->ctx.st->last_rtt = c->tx->rto.latest;
    scps_stats_carried(c->ctx.st, scps_delivery_most(&c->tx->delivery));
    scps_sndbuf_fini(&c->tx->buf, a);
    scps_rangeset_fini(&c->tx->ends, a);
    scps_sb_fini(&c->tx->sb, a);
    scps_snacktx_forget(&c->tx->snack, a);
    a->free(a->ctx, c->tx, tx_size(c->ctx.cfg));
    c->tx = NULL;
}

void scps_conn_free_rx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (c->rx)
        a->free(a->ctx, c->rx, sizeof *c->rx);
    c->rx = NULL;
}

void scps_conn_free_tp(struct scps_conn *c)
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

int scps_conn_need_tx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;
    const struct scps_fixed *f = c->ctx.env->fixed;

    if (c->tx)
        return 0;
    c->tx = a->alloc(a->ctx, tx_size(c->ctx.cfg));
    if (!c->tx)
        return SCPS_ERR_NOMEM;
    memset(c->tx, 0, tx_size(c->ctx.cfg));
    stop_tx_timers(c->tx);
    scps_rto_anew(&c->tx->rto, c->snd.una > 1 ? c->rtt.srtt : 0);
    scps_sndbuf_init(&c->tx->buf, c->snd.end, f ? f->slack : c->agreed.pmtu_mss + 64u);
    scps_sb_init(&c->tx->sb);
    if (f && take_fixed_tx(c->tx, &c->ctx.cfg->c, f, a)) {
        scps_conn_free_tx(c);
        return SCPS_ERR_NOMEM;
    }
    scps_delivery_begin(&c->tx->delivery, c->snd.una, c->established);
    if (c->established)
        scps_cc_apply(c); /* the pacer is new */
    return 0;
}

/* The backoff shows that the peer is silent, so it is kept until the peer answers. */
static void trim_tx(struct scps_conn *c)
{
    const struct scps_rto rto = c->tx->rto;

    scps_conn_free_tx(c);
    if (rto.backoff && !scps_conn_need_tx(c))
        scps_rto_go_on(&c->tx->rto, rto.backoff);
}

void scps_conn_trim(struct scps_conn *c)
{
    if (c->ctx.env->fixed)
        return;
    /* How far the peer lags behind what best effort gave up is known there alone. */
    if (c->tx && scps_bets_peer_una(c->tx, c->snd.una) == c->snd.nxt &&
        scps_send_fin_end(&c->snd) <= c->snd.nxt && c->state != SCPS_SYN_SENT &&
        c->state != SCPS_SYN_RECEIVED)
        trim_tx(c);
    scps_rcvbuf_trim(&c->rcv.in, &c->ctx.env->alloc);
    if (!c->rcv.in.ooo->n && !(c->rx && (c->rx->fin_at || c->rx->budget.bytes.at)))
        scps_conn_free_rx(c);
}

int scps_conn_need_rx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (c->rx)
        return 0;
    c->rx = a->alloc(a->ctx, sizeof *c->rx);
    if (!c->rx)
        return SCPS_ERR_NOMEM;
    memset(c->rx, 0, sizeof *c->rx);
    scps_timer_stop(&c->rx->budget.timer);
    return 0;
}

int scps_conn_need_tp(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (c->tp)
        return 0;
    c->tp = a->alloc(a->ctx, sizeof *c->tp);
    if (!c->tp)
        return SCPS_ERR_NOMEM;
    memset(c->tp, 0, sizeof *c->tp);
    return 0;
}

int scps_conn_need_marks(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;
    const struct scps_fixed *fixed = c->ctx.env->fixed;
    struct scps_rcv_marks *m;

    if (scps_tp_marks(c->tp))
        return 0;
    /* A FIN alone may be beyond a hole before any data has arrived. */
    if (scps_conn_need_tp(c) || scps_conn_ctx_need_stats(&c->ctx))
        return SCPS_ERR_NOMEM;
    m = a->alloc(a->ctx, sizeof *m);
    if (!m)
        return SCPS_ERR_NOMEM;
    if (!fixed) /* The limit keeps the marks smaller than the octets. */
        scps_marks_init(m, SCPS_MAX(MIN_ENDS, c->ctx.cfg->c.rcvbuf / sizeof(struct scps_range)));
    else
        scps_marks_init(m, fixed->marks);
    if (fixed && fixed->marks && scps_rangeset_reserve(&m->ends, a)) {
        a->free(a->ctx, m, sizeof *m);
        return SCPS_ERR_NOMEM;
    }
    c->tp->marks = m;
    return 0;
}

bool scps_conn_keep_record(struct scps_conn *c, scps_off from, scps_off end)
{
    int err = scps_conn_need_marks(c);

    if (!err)
        err = scps_marks_record(c->tp->marks, &c->ctx, c->rcv.in.next, from, end);
    if (err)
        scps_conn_drop(c, err == SCPS_ERR_LIMIT ? SCPS_DROP_TOO_MANY_RECORDS : SCPS_DROP_NO_BUFFER,
                       NULL);
    return !err;
}

static uint64_t with_controller(size_t size, const struct scps_conn_config *c)
{
    return size + (scps_cc_state_size(c->cc, c->cc_param) + 7) / 8 * 8;
}

static void plan_ranges(struct scps_slots *s, uint32_t max, uint64_t n)
{
    if (max)
        scps_slots_plan(s, scps_rangeset_places(max) * sizeof(struct scps_range), n);
}

void scps_conn_plan(const struct scps_fixed *f, struct scps_slots *s, uint32_t n)
{
    const struct scps_conn_config *c = &f->most;

    scps_slots_plan(s, with_controller(sizeof(struct scps_conn), c), n);
    scps_slots_plan(s, with_controller(sizeof(struct scps_tx), c), n);
    scps_slots_plan(s, sizeof(struct scps_rx), n);
    scps_slots_plan(s, sizeof(struct scps_conn_scps), n);
    scps_slots_plan(s, sizeof(struct scps_conn_stats), n);
    scps_slots_plan(s, f->sndring ? (uint64_t)f->sndring + f->slack : 0, n);
    scps_slots_plan(s, f->sent * sizeof(struct scps_sent_segment), n);
    scps_slots_plan(s, f->sent * sizeof(struct scps_resent), n);
    scps_slots_plan(s, f->sent * sizeof(uint32_t), n);
    scps_slots_plan(s, f->rcvring, n);
    scps_slots_plan(s, scps_rcvbuf_beyond_size(), n);
    plan_ranges(s, f->holes, n);
    if (c->records || c->bets)
        scps_slots_plan(s, sizeof(struct scps_rcv_marks), n);
    /* Ends of records, of those to be sent and of those that have arrived. */
    plan_ranges(s, f->marks, 2 * (uint64_t)n);
    plan_ranges(s, f->given_up, n);
    if (c->snack_delay)
        scps_slots_plan(s, SCPS_SNACK_WAITS * sizeof(struct scps_snack_wait), n);
}

/* ---- memory is short ---- */

int scps_conn_starve(struct scps_conn *c)
{
    scps_room_starve(&c->room, true);
    scps_room_want(&c->room, true);
    scps_env_starved(c->ctx.env);
    return SCPS_ERR_NOMEM;
}

void scps_conn_room(struct scps_conn *c)
{
    scps_room_starve(&c->room, false);
    scps_conn_notify(c, SCPS_EV_WRITABLE);
}

void scps_conn_memory(struct scps_conn *c)
{
    struct scps_env *env = c->ctx.env;
    uint64_t left = scps_budget_left(&env->budget);

    if (!env->fixed && scps_rcvbuf_memory(&c->rcv.in) > left)
        scps_rcvbuf_trim(&c->rcv.in, &env->alloc);
    if (!env->fixed && c->tx && c->tx->buf.cap > left)
        scps_sndbuf_trim(&c->tx->buf, &env->alloc);
    if (!c->room.starved || c->state == SCPS_CLOSED)
        return;
    if (!(c->snd.shut)) {
        scps_conn_room(c);
        return;
    }
    scps_room_starve(&c->room, false);
    if (scps_conn_need_tx(c) || scps_conn_ctx_need_stats(&c->ctx))
        scps_conn_starve(c);
    else
        scps_conn_wake(c);
}
