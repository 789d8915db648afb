/* SPDX-License-Identifier: MIT */
/* Allocates the parts of a connection that come with use, rx, tp and marks; plans all parts where
 * memory is fixed. */
#include "core/conn.h"
#include "core/fixed.h"

#include "base/bytes.h"

#define MIN_ENDS 1024u /* ends of records that are kept at least, unless memory is fixed */

int scps_conn_need_rx(struct scps_conn *c)
{
    const struct scps_alloc *a = &c->ctx.env->alloc;

    if (c->rx)
        return 0;
    c->rx = a->alloc(a->ctx, sizeof *c->rx);
    if (!c->rx)
        return SCPS_ERR_NOMEM;
    memset(c->rx, 0, sizeof *c->rx);
    scps_timer_stop(&c->rx->budget_timer);
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
