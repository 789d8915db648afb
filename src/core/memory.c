/* SPDX-License-Identifier: MIT */
/* Allocates the parts of a connection when they are needed, and all of them at once in a stack with
 * fixed memory (memory.h). */
#include "core/memory.h"

#include "base/bytes.h"
#include "core/config.h"
#include "core/control.h"
#include "core/gate.h"
#include "core/rx.h"
#include "core/tx.h"

/* Least number of record ends (ends of application records) in received data for which a connection
 * has room before it drops data; a stack with fixed memory (all allocated when a connection opens)
 * has a limit of its own. */
#define MIN_ENDS 1024u

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

/* Stack with fixed memory (a connection gets all its memory when it opens, and no more later):
 * allocates the send buffer, the scoreboard and the list of record ends with their largest size.
 * Returns 0 or SCPS_ERR_NOMEM. */
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

void scps_conn_free_tx(struct scps_sender *s)
{
    const struct scps_alloc *a = &s->ctx.env->alloc;

    if (!s->tx)
        return;
    scps_gate_forget(s);
    scps_todo_done(&s->todo, SCPS_TODO_TAIL);
    if (s->tx->sent_at)
        s->ctx.st->last_sent = s->tx->sent_at;
    if (s->tx->heard_at)
        s->ctx.st->last_ack_received = s->tx->heard_at;
    if (s->tx->rto.latest)
        s->ctx.st->last_rtt = s->tx->rto.latest;
    scps_stats_carried(s->ctx.st, scps_delivery_most(&s->tx->delivery));
    scps_sndbuf_fini(&s->tx->buf, a);
    scps_rangeset_fini(&s->tx->ends, a);
    scps_sb_fini(&s->tx->sb, a);
    scps_snackwait_free(&s->tx->snack.waits, a);
    a->free(a->ctx, s->tx, tx_size(s->ctx.cfg));
    s->tx = NULL;
}

void scps_rx_free(struct scps_receive *r, const struct scps_conn_ctx *x)
{
    const struct scps_alloc *a = &x->env->alloc;

    if (r->rx)
        a->free(a->ctx, r->rx, sizeof *r->rx);
    r->rx = NULL;
}

void scps_conn_free_tp(struct scps_sender *s)
{
    const struct scps_alloc *a = &s->ctx.env->alloc;

    if (!s->tp)
        return;
    if (s->tp->marks) {
        scps_marks_fini(s->tp->marks, a);
        a->free(a->ctx, s->tp->marks, sizeof *s->tp->marks);
    }
    scps_rangeset_fini(&s->tp->given_up, a);
    a->free(a->ctx, s->tp, sizeof *s->tp);
}

int scps_conn_need_tx(struct scps_sender *s)
{
    const struct scps_alloc *a = &s->ctx.env->alloc;
    const struct scps_fixed *f = s->ctx.env->fixed;

    if (s->tx)
        return 0;
    s->tx = a->alloc(a->ctx, tx_size(s->ctx.cfg));
    if (!s->tx)
        return SCPS_ERR_NOMEM;
    memset(s->tx, 0, tx_size(s->ctx.cfg));
    stop_tx_timers(s->tx);
    scps_rto_measured(&s->tx->rto, s->snd.una > 1 ? s->rtt.srtt : 0);
    scps_sndbuf_init(&s->tx->buf, s->snd.end, f ? f->slack : s->agreed.pmtu_mss + 64u);
    scps_sb_init(&s->tx->sb);
    if (f && take_fixed_tx(s->tx, &s->ctx.cfg->c, f, a)) {
        scps_conn_free_tx(s);
        return SCPS_ERR_NOMEM;
    }
    scps_delivery_begin(&s->tx->delivery, s->snd.una, s->established);
    if (s->established) { /* The pacer was just created and needs its rate. */
        scps_cc_apply(s);
    }
    return 0;
}

int scps_rx_need(struct scps_receive *r, const struct scps_conn_ctx *x)
{
    const struct scps_alloc *a = &x->env->alloc;

    if (r->rx)
        return 0;
    r->rx = a->alloc(a->ctx, sizeof *r->rx);
    if (!r->rx)
        return SCPS_ERR_NOMEM;
    memset(r->rx, 0, sizeof *r->rx);
    scps_timer_stop(&r->rx->budget.timer);
    return 0;
}

int scps_conn_need_tp(struct scps_sender *s)
{
    const struct scps_alloc *a = &s->ctx.env->alloc;

    if (s->tp)
        return 0;
    s->tp = a->alloc(a->ctx, sizeof *s->tp);
    if (!s->tp)
        return SCPS_ERR_NOMEM;
    memset(s->tp, 0, sizeof *s->tp);
    return 0;
}

int scps_conn_need_marks(struct scps_sender *s)
{
    const struct scps_alloc *a = &s->ctx.env->alloc;
    const struct scps_fixed *fixed = s->ctx.env->fixed;
    struct scps_rcv_marks *m;

    if (scps_tp_marks(s->tp))
        return 0;
    /* Best effort: struct scps_rcv_marks, allocated here, contains the timer of this receiver's
     * wait for octets missing at RCV.NXT. The peer's FIN that arrives before such octets starts the
     * wait even if no data has arrived yet. Octets given up are counted in the connection's
     * counters, which may not exist then, so the counters are allocated, too. */
    if (scps_conn_need_tp(s) || scps_conn_ctx_need_stats(&s->ctx))
        return SCPS_ERR_NOMEM;
    m = a->alloc(a->ctx, sizeof *m);
    if (!m)
        return SCPS_ERR_NOMEM;
    /* The list of the ends of application records in received data may take as much memory as the
     * receive buffer, but has room for MIN_ENDS at least. */
    if (!fixed)
        scps_marks_init(m, SCPS_MAX(MIN_ENDS, s->ctx.cfg->c.rcvbuf / sizeof(struct scps_range)));
    else
        scps_marks_init(m, fixed->marks);
    if (fixed && fixed->marks && scps_rangeset_reserve(&m->ends, a)) {
        a->free(a->ctx, m, sizeof *m);
        return SCPS_ERR_NOMEM;
    }
    s->tp->marks = m;
    return 0;
}

bool scps_conn_keep_record(struct scps_sender *s, const struct scps_receive *rcv, scps_off from,
                           scps_off end)
{
    if (scps_conn_need_marks(s)) {
        scps_conn_ctx_drop(&s->ctx, SCPS_DROP_NO_BUFFER, NULL);
        return false;
    }
    return !scps_marks_record(s->tp->marks, &s->ctx, rcv->in.next, from, end);
}

static uint64_t with_controller(size_t size, const struct scps_conn_config *c)
{
    return size + (scps_cc_state_size(c->cc, c->cc_param) + 7) / 8 * 8;
}

/* Returns the size, bytes, of the array of a struct scps_rangeset that stores at most `max` ranges;
 * 0: it stores none. */
static uint64_t ranges(uint32_t max)
{
    return max ? scps_rangeset_places(max) * sizeof(struct scps_range) : 0;
}

void scps_conn_plan(const struct scps_fixed *f, struct scps_slots *s, uint32_t n, size_t size)
{
    const struct scps_conn_config *c = &f->most;
    const uint64_t sizes[] = {
        with_controller(size, c),
        with_controller(sizeof(struct scps_tx), c),
        sizeof(struct scps_rx),
        sizeof(struct scps_conn_scps),
        sizeof(struct scps_conn_stats),
        f->sndring ? (uint64_t)f->sndring + f->slack : 0,
        f->sent * sizeof(struct scps_sent_segment),
        f->sent * sizeof(struct scps_resent),
        f->sent * sizeof(uint32_t),
        f->rcvring,
        scps_rcvbuf_beyond_size(),
        ranges(f->holes),
        c->records || c->bets ? sizeof(struct scps_rcv_marks) : 0,
        ranges(f->marks), /* tx->ends: ends of application records in data not sent yet */
        ranges(f->marks), /* scps_rcv_marks.ends: the same in data not read yet */
        ranges(f->given_up),
        c->snack_delay ? sizeof(struct scps_snackwait_room) : 0,
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        scps_slots_plan(s, sizes[i], n);
}

/* ---- functions for the case that memory is refused ---- */

int scps_conn_starve(struct scps_sender *s)
{
    scps_room_starve(&s->small, true);
    scps_room_want(&s->small, true);
    scps_env_starved(s->ctx.env);
    return SCPS_ERR_NOMEM;
}
