/* SPDX-License-Identifier: MIT */
/* Fills in the fields that every segment sent has: sequence number, acknowledgement and window. */
#include "core/segment.h"

#include "base/bytes.h"
#include "core/conn.h"
#include "core/seq.h"

void scps_segment_begin(struct scps_conn *c, struct scps_seg *seg, scps_off from)
{
    scps_segs_sent(&c->segs);
    seg->sport = c->lport;
    seg->dport = c->rport;
    seg->seq = scps_seq_wrap(c->s.snd.iss, from);
    seg->ack = 0;
    seg->wnd = 0;
    seg->flags = 0;
    seg->urg = 0;
    seg->has = 0;
    seg->nsack = 0;
    seg->data = NULL;
    seg->len = 0;
    seg->gso = 0;
    seg->tos = c->s.ctx.cfg->tos;
    if (c->s.agreed.opts & SCPS_AGREED_TS) {
        seg->has = SCPS_HAS_TS;
        seg->tsval = scps_ts_value(&c->ts, c->s.ctx.env->now);
        seg->tsecr = c->ts.recent;
    }
}

/* Adds to seg the SACK blocks, the DSACK and the SNACK that are due, as far as they fit. Returns
 * true if another acknowledgement must follow for received ranges or holes that are not reported
 * yet; false also when the limit of consecutive acknowledgements (BURST) is reached. */
static SCPS_NOINLINE bool report(struct scps_conn_ctx *x, const struct scps_receive *rcv,
                                 const struct scps_agreed *a, const struct scps_gate *gate,
                                 struct scps_seg *seg)
{
    const struct scps_report_view v = {x, rcv, a, rcv->rx->fin_at,
                                       scps_gate_budgets(&x->cfg->c, gate)};

    return scps_ackout_more(&rcv->rx->ack, scps_report_fill(&rcv->rx->report, &v, seg));
}

/* Returns true if SACK or SNACK was agreed on and a report is needed: data or a FIN has arrived
 * beyond a hole, or data has arrived twice. */
static inline bool has_report(const struct scps_rx *rx, const struct scps_receive *rcv,
                              const struct scps_agreed *a)
{
    return rx && (rcv->in.ooo->n || rx->report.dsack_to || rx->fin_at) && scps_agreed_reports(a);
}

static SCPS_NOINLINE void fill(struct scps_conn *c, struct scps_seg *seg)
{
    const struct scps_conn_config *cfg = &c->s.ctx.cfg->c;
    scps_off all = scps_receive_next(&c->rcv), next = all;
    bool more, step, syn = seg->flags & SCPS_SYN;

    if (!cfg->stretch_acks && !scps_gate_budgets(cfg, c->s.queue->gate))
        next = scps_ackout_step(&c->ack, cfg, c->rcv.rx, c->rcv.mss, all);
    step = next < all;
    seg->flags |= SCPS_ACK;
    seg->ack = scps_seq_wrap(c->rcv.irs, next);
    /* The window of a SYN is never scaled (RFC 7323 section 2.2). */
    seg->wnd =
        scps_ackout_window(&c->ack, &c->s.ctx, &c->rcv, next, syn ? 0 : c->s.agreed.rcv_wscale);
    if (c->s.todo.bits & SCPS_TODO_ECE) {
        seg->flags |= SCPS_ECE;
        scps_todo_done(&c->s.todo, SCPS_TODO_ECE_DUE);
    }
    if (c->s.tp && seg->len + 8 <= scps_agreed_any_mss(&c->s.agreed) && !syn &&
        scps_corruption_must_send(&c->s.tp->corruption, c->s.ctx.env->now))
        seg->has |= SCPS_HAS_CORRUPTION;
    more = !step && has_report(c->rcv.rx, &c->rcv, &c->s.agreed) &&
           report(&c->s.ctx, &c->rcv, &c->s.agreed, c->s.queue->gate, seg);
    if (!scps_ackout_sent(&c->ack, next, more, step))
        scps_todo_done(&c->s.todo, SCPS_TODO_ACK | SCPS_TODO_ANSWER);
    scps_ackout_reported(&c->ack, c->rcv.rx, &c->rcv, cfg, more);
}

void scps_segment_ack(struct scps_conn *c, struct scps_seg *seg)
{
    if (c->rcv.rx || c->s.tp || c->s.todo.bits & (SCPS_TODO_ACK | SCPS_TODO_ECE) ||
        !scps_ackout_same(&c->ack, &c->rcv, c->s.ctx.cfg->c.rcvbuf, c->s.agreed.rcv_wscale, seg))
        fill(c, seg);
}
