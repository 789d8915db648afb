/* SPDX-License-Identifier: MIT */
/* Processes data that arrives: tests whether a segment is acceptable, reassembles, and decides
 * which window to offer.
 *
 * Departure from RFC 9293 section 3.10.7.4: a segment without data is also accepted exactly at the
 * right edge of the window, and one octet beyond a closed window (for which the section asks
 * special allowance).
 *
 * The right edge never moves back (RFC 9293 section 3.8.6). Octets up to the right edge that was
 * announced to the peer are accepted; octets beyond that edge are cut off, even if the receive
 * buffer has room for them. Only with the setting first_window (both ends assume a first window
 * larger than a SYN can announce) are octets accepted as far as the receive buffer has room
 * (limit()).
 */
#include <assert.h>

#include "core/conn.h"

#include "base/bytes.h"
#include "base/fastpath.h"
#include "core/seq.h"

/* Returns the offset up to which octets are accepted: the right edge of the window that was
 * announced. A SYN cannot announce more than 65535 octets (RFC 7323 section 2.2); if the setting
 * first_window says that both ends use a larger first window, the whole receive buffer counts as
 * announced from the start. */
static SCPS_NOINLINE_SIZE scps_off limit(const struct scps_conn_config *cfg,
                                         const struct scps_receive *r, scps_off announced)
{
    return cfg->first_window ? scps_receive_edge(r, cfg->rcvbuf, announced) : announced;
}

bool scps_rcv_acceptable(const struct scps_conn_config *cfg, const struct scps_receive *rcv,
                         const struct scps_ackout *a, const struct scps_seg *seg)
{
    scps_off next = scps_receive_next(rcv), edge;
    int64_t at = scps_seq_ahead(rcv->irs, next, seg->seq), len, window;

    if (at == 0) /* A segment at RCV.NXT is accepted even with a closed window, for its ACK. */
        return true;
    len = (int64_t)seg->len + (seg->flags & SCPS_SYN ? 1 : 0) + (seg->flags & SCPS_FIN ? 1 : 0);
    edge = limit(cfg, rcv, a->announced);
    window = (int64_t)(edge > next ? edge - next : 0);
    /* Without data, a segment at the right edge is accepted unless it is a reset: the peer may have
     * sent the whole window, or a window probe that was refused. Its acknowledgement is valid. */
    if (!len)
        return at >= 0 && (at < window || (at <= SCPS_MAX(window, 1) && !(seg->flags & SCPS_RST)));
    return window && at < window && at + len > 0;
}

/* Octets `twice` have arrived for the second time: reports them to the observer, and to the peer by
 * a DSACK (RFC 2883) if SACK was agreed. Exception for best effort: octets of a hole (missing
 * octets) that this receiver gave up may arrive for the first time now, so no DSACK reports octets
 * below the end of such a hole. The peer would conclude that its loss was spurious, and undo the
 * reduction of its window (RFC 3708). */
static SCPS_NOINLINE void report_twice(struct scps_sender *s, struct scps_receive *rcv,
                                       const struct scps_range *twice)
{
    const struct scps_rcv_marks *m = scps_tp_marks(s->tp);

    SCPS_OBSERVE2(&s->ctx, DUPLICATE, twice->from, twice->to - twice->from);
    if (s->ctx.cfg->c.dsack && s->agreed.opts & SCPS_AGREED_SACK &&
        !(m && twice->from < m->wait.gave_up_to) && !scps_rx_need(rcv, &s->ctx))
        scps_report_duplicate(&rcv->rx->report, twice->from, twice->to);
}

static inline void ack_soon(struct scps_sender *s)
{
    scps_todo_add(&s->todo, SCPS_TODO_ACK);
    scps_sender_wake(s);
}

/* Makes an acknowledgement due at once, for data that filled a hole (octets missing at RCV.NXT),
 * that had arrived before, or that came out of order on a connection without SACK. In strictly
 * delayed mode (ack_mode SCPS_ACK_DELAYED without holes_at_once) it is called for all other
 * out-of-order data, too, and the acknowledgement waits for the delayed-ACK timer. */
static SCPS_NOINLINE void ack_at_once(struct scps_conn *c)
{
    if (scps_report_strict(&c->s.ctx.cfg->c)) {
        if (scps_ackout_data(&c->ack, &c->s.ctx, c->rcv.rx, &c->rcv))
            ack_soon(&c->s);
        return;
    }
    if (!(c->s.agreed.opts & SCPS_AGREED_SACK) && c->s.todo.bits & SCPS_TODO_ACK &&
        !scps_gate_budgets(&c->s.ctx.cfg->c, c->s.queue->gate))
        scps_ackout_one_more(&c->ack);
    scps_conn_ack_now(c);
}

/* Called when octets came in order: informs the application, and decides whether they are
 * acknowledged now, together with later ones, or when the delayed-ACK timer expires. filled:
 * out-of-order data was stored before, so the octets filled at least a part of the hole (the octets
 * missing at RCV.NXT). */
static inline void came_in_order(struct scps_conn *c, bool filled)
{
    scps_conn_notify(c, SCPS_EV_READABLE);
    if (c->rcv.rx) {
        scps_ackrx_progress(&c->rcv.rx->ack);
        scps_ackrx_data(&c->rcv.rx->ack, c->s.ctx.env->now);
    }
    if (filled) {
        ack_at_once(c);
        scps_rcv_check_hole(c);
    } else if (scps_ackout_data(&c->ack, &c->s.ctx, c->rcv.rx, &c->rcv)) {
        ack_soon(&c->s);
    }
}

/* Called when octets [from, from+len), now a part of range run, came out of order, with octets
 * missing before them: enters them into the next SACK and SNACK, and decides whether the
 * acknowledgement is sent now or later. */
static inline void came_beyond(struct scps_conn *c, scps_off from, uint32_t len,
                               const struct scps_range *run)
{
    scps_off highest = scps_rangeset_at(c->rcv.in.ooo, c->rcv.in.ooo->n - 1)->to;

    c->s.ctx.st->ooo_segs++;
    scps_ackrx_data(&c->rcv.rx->ack, c->s.ctx.env->now);
    scps_ackrx_add_unreported(&c->rcv.rx->ack, len);
    scps_report_arrived(&c->rcv.rx->report, from, len, run);
    if (!(c->s.agreed.opts & SCPS_AGREED_SACK) || scps_report_strict(&c->s.ctx.cfg->c))
        ack_at_once(c);
    else if (scps_ackout_beyond(&c->ack, &c->s.ctx, c->rcv.rx, c->rcv.mss,
                                run->from == from || from + len < highest))
        ack_soon(&c->s);
    scps_rcv_check_hole(c);
}

/* Returns how many octets of [from, to) had arrived before, out of order. *first: the first range
 * of such octets, since a DSACK has room for one range only (RFC 2883 section 4.2). */
static uint64_t overlap(const struct scps_rangeset *ooo, scps_off from, scps_off to,
                        struct scps_range *first)
{
    uint64_t total = 0;

    for (uint32_t i = scps_rangeset_find(ooo, from); i < ooo->n; i++) {
        const struct scps_range *r = scps_rangeset_at(ooo, i);
        struct scps_range part = {SCPS_MAX(r->from, from), SCPS_MIN(r->to, to)};
        if (part.from >= to)
            break;
        if (!total)
            *first = part;
        total += part.to - part.from;
    }
    return total;
}

/* Stores out-of-order data of the peer: the octets of range `at`, which lies above RCV.NXT with
 * octets missing before it. The allocator may not use all of the host's memory limit, so that
 * memory for data in order remains. holes: largest number of out-of-order ranges that may be
 * stored. Returns 1 if some of the octets are new, 0 if all had arrived before, SCPS_ERR_NOMEM, or
 * SCPS_ERR_LIMIT if there would be more ranges than `holes`. With 1 or 0, *run becomes the
 * contiguous stored range that contains the octets. */
static int put_beyond(struct scps_env *env, struct scps_rcvbuf *in, struct scps_range at,
                      const uint8_t *data, uint32_t holes, struct scps_range *run)
{
    struct scps_budget_part share = scps_budget_share(&env->budget, scps_rcvbuf_memory(in));
    struct scps_alloc a = scps_budget_alloc(&share);

    return scps_rcvbuf_put(in, &a, at.from, data, (uint32_t)(at.to - at.from), holes, run);
}

/* Called when there is no memory for data in order: discards all out-of-order data (beyond the
 * octets missing at RCV.NXT) to free some (RFC 2018 section 8). Otherwise RCV.NXT could not
 * advance, and the data beyond it would keep its memory for ever. */
static SCPS_NOINLINE void renege(struct scps_rcvbuf *in, struct scps_rx *rx,
                                 const struct scps_alloc *a)
{
    scps_rcvbuf_renege(in, a);
    if (rx)
        scps_report_reneged(&rx->report);
}

/* Stores the octets [from, from+len) in the receive buffer. Returns false if there was no room for
 * them. */
static SCPS_NOINLINE bool store(struct scps_conn *c, scps_off from, const uint8_t *data,
                                uint32_t len)
{
    bool in_order = from == c->rcv.in.next, had_holes = c->rcv.in.ooo->n > 0;
    struct scps_range run, twice = {0, 0};
    uint64_t again = overlap(c->rcv.in.ooo, from, from + len, &twice);
    struct scps_env *env = c->s.ctx.env;
    uint64_t refused = env->budget.refused;
    /* limit of the number of ranges of out-of-order data; in a stack with fixed memory (allocated
     * when the connection opens) the list of ranges has a limit of its own */
    uint32_t holes = scps_receive_max_holes(c->s.ctx.cfg->c.rcvbuf);
    int got = SCPS_ERR_NOMEM;

    if (in_order) {
        got = scps_rcvbuf_put(&c->rcv.in, &env->alloc, from, data, len, holes, &run);
        if (got == SCPS_ERR_NOMEM && had_holes && !env->fixed) {
            scps_conn_ctx_drop(&c->s.ctx, scps_env_refusal(env, refused), NULL);
            renege(&c->rcv.in, c->rcv.rx, &env->alloc);
            got = scps_rcvbuf_put(&c->rcv.in, &env->alloc, from, data, len, holes, &run);
        }
    } else if (!scps_rx_need(&c->rcv, &c->s.ctx))
        got = put_beyond(env, &c->rcv.in, (struct scps_range){from, from + len}, data, holes, &run);
    if (got < 0) {
        scps_conn_ctx_drop(&c->s.ctx,
                           got == SCPS_ERR_LIMIT ? SCPS_DROP_TOO_MANY_HOLES
                                                 : scps_env_refusal(env, refused),
                           NULL);
        return false;
    }
    if (again) {
        /* `twice` are octets of this segment that had arrived before, out of order. If a DSACK that
         * is due ends at `from`, cut() has set it for the octets of the same segment below RCV.NXT,
         * which are duplicates, too. A DSACK reports one range only, so `twice` is then not
         * reported. */
        if (!c->rcv.rx || !in_order || c->rcv.rx->report.dsack_to != from)
            report_twice(&c->s, &c->rcv, &twice);
        c->s.ctx.st->bytes_duplicate += again;
    }
    if (got)
        SCPS_OBSERVE_CONN(c, RECEIVED, from, len, in_order, 0);
    if (in_order) {
        came_in_order(c, had_holes);
    } else if (got) {
        came_beyond(c, from, len, &run);
    } else {
        c->s.ctx.st->ooo_segs++;
        scps_report_grew(&c->rcv.rx->report, &run);
        ack_at_once(c);
        scps_rcv_check_hole(c);
    }
    return true;
}

/* Called for data while a->alone is not 0: the number of full segments in a row for each of which
 * the delayed-ACK timer expired, so that each had an acknowledgement of its own. If seg is a full
 * segment and came within ack_delay after the data before it, which arrived at the time `before`,
 * µs, sets a->alone to 0: delayed acknowledgements then cover two segments again. */
static SCPS_NOINLINE_SIZE SCPS_NOINLINE void
measure_gap(struct scps_ackout *a, const struct scps_conn_ctx *x, const struct scps_receive *rcv,
            const struct scps_seg *seg, scps_time before)
{
    uint32_t size = seg->gso ? seg->gso : seg->len;

    if (size >= rcv->mss)
        scps_ackout_full(a, x->env->now - before, x->cfg->c.ack_delay);
}

static void count(struct scps_conn_ctx *x, struct scps_keep *k, struct scps_receive *rcv,
                  const struct scps_seg *seg)
{
    uint32_t size = seg->gso ? seg->gso : seg->len;

    scps_stats_received(x->st, x->env->now);
    scps_keep_heard(k, x->env->now);
    scps_receive_segment(rcv, size);
}

/* The part of a segment that is stored, and the end of the peer's stream. */
struct piece {
    int64_t from, to;
    const uint8_t *data;
    scps_off fin_at; /* offset of the FIN; 0: the FIN has not arrived */
    bool fin;        /* this segment carries the peer's FIN */
};

/* Best effort: called for data below RCV.NXT. If the data belongs to the hole (missing octets) that
 * this receiver gave up and has not reported to the application yet, stores the data there. Returns
 * true if the application can read more because of that. */
static bool fill_given_up(const struct scps_sender *s, struct scps_rcvbuf *in,
                          const struct scps_seg *seg, const struct piece *p)
{
    const struct scps_late_data l = {(scps_off)p->from, (scps_off)p->to, p->data,
                                     seg->has & SCPS_HAS_RECORD && s->ctx.cfg->c.records};
    struct scps_rcv_marks *m = scps_tp_marks(s->tp);

    return m && p->from > 0 && scps_marks_late(m, &s->ctx, in, l);
}

/* Cuts off the octets of a segment that lie below RCV.NXT, beyond the right edge of the window, or
 * beyond the peer's FIN: this end has them already, or does not accept them. */
static SCPS_NOINLINE void cut(struct scps_conn *c, const struct scps_seg *seg, int64_t next,
                              int64_t edge, struct piece *p)
{
    /* A FIN below data that has arrived is ignored, because it comes from a faulty peer or an old
     * connection: after it no more data would be accepted. */
    if (p->fin && p->to >= next && (!p->fin_at || p->fin_at == (scps_off)p->to))
        p->fin_at = (scps_off)p->to;
    else
        p->fin = false;
    if (p->from < next) {
        int64_t gone = SCPS_MIN(next, p->to) - p->from;
        const struct scps_range twice = {(scps_off)SCPS_MAX(p->from, 1),
                                         (scps_off)(p->from + gone)};
        if (fill_given_up(&c->s, &c->rcv.in, seg, p))
            scps_conn_notify(c, SCPS_EV_READABLE);
        /* The condition is false if all octets cut off lie below offset 1, the first octet of data:
         * the peer's SYN has offset 0, so no data below offset 1 can have arrived before, and the
         * octets are no duplicates. */
        if (p->from + gone > 1) {
            c->s.ctx.st->bytes_duplicate += twice.to - twice.from;
            report_twice(&c->s, &c->rcv, &twice);
        }
        p->from += gone;
        p->data = p->data ? p->data + gone : NULL;
        scps_conn_ack_now(c);
    }
    if (p->to > edge) {
        /* A FIN beyond the window is ignored. A FIN exactly at the right edge is accepted. */
        p->fin_at = p->fin ? 0 : p->fin_at;
        p->to = edge;
        scps_conn_ctx_drop(&c->s.ctx, SCPS_DROP_NOT_ACCEPTABLE, seg);
        scps_conn_ack_now(c);
    }
    /* Octets beyond the FIN, which come from a faulty peer, are cut off. */
    if (p->fin_at && p->to > (int64_t)p->fin_at) {
        p->to = (int64_t)p->fin_at;
        scps_conn_ctx_drop(&c->s.ctx, SCPS_DROP_NOT_ACCEPTABLE, seg);
    }
}

/* Processes the peer's FIN if all data before it has arrived; otherwise stores its offset.
 * known: the offset that was stored before, 0: none. */
static SCPS_NOINLINE void look_for_fin(struct scps_conn *c, const struct piece *p, scps_off known)
{
    if (p->fin_at && c->rcv.in.next == p->fin_at) {
        scps_rcv_take_fin(c);
        return;
    }
    /* If there is no memory to store the offset of the FIN, the peer has to send the FIN again. */
    if (p->fin_at != known && !scps_rx_need(&c->rcv, &c->s.ctx))
        c->rcv.rx->fin_at = p->fin_at;
    if (p->fin)
        scps_conn_ack_now(c);
    scps_rcv_check_hole(c);
}

void scps_rcv_rejected(struct scps_sender *s, struct scps_receive *rcv, const struct scps_seg *seg)
{
    int64_t next = (int64_t)scps_receive_next(rcv);
    int64_t from = scps_seq_unwrap(rcv->irs, (scps_off)next, seg->seq), to = from + seg->len;
    struct scps_range twice = {(scps_off)from, (scps_off)to};

    if (!seg->len || seg->flags & SCPS_SYN || from < 1 || rcv->fin)
        return;
    if (to > next && overlap(rcv->in.ooo, twice.from, twice.to, &twice) < seg->len)
        return;
    s->ctx.st->bytes_duplicate += seg->len;
    report_twice(s, rcv, &twice);
}

void scps_rcv_data(struct scps_conn *c, const struct scps_seg *seg)
{
    int64_t next = (int64_t)scps_receive_next(&c->rcv),
            edge = (int64_t)limit(&c->s.ctx.cfg->c, &c->rcv, c->ack.announced);
    int64_t from =
        scps_seq_unwrap(c->rcv.irs, (scps_off)next, seg->seq) + (seg->flags & SCPS_SYN ? 1 : 0);
    struct piece p = {from, from + seg->len, seg->data, c->rcv.rx ? c->rcv.rx->fin_at : 0,
                      seg->flags & SCPS_FIN};
    scps_off known = p.fin_at;
    /* plain: the common case of a segment at or above RCV.NXT that fits the window, without FIN
     * and record */
    bool plain =
        from >= next && !p.fin && !p.fin_at && p.to <= edge && !(seg->has & SCPS_HAS_RECORD);

    if (!seg->len && !p.fin)
        return;
    if (c->rcv.fin) { /* The FIN has arrived in order, so no data can be new. */
        if (fill_given_up(&c->s, &c->rcv.in, seg, &p))
            scps_conn_notify(c, SCPS_EV_READABLE);
        if (p.to > next)
            scps_conn_ctx_drop(&c->s.ctx, SCPS_DROP_NOT_ACCEPTABLE, seg);
        scps_conn_ack_now(c);
        return;
    }
    if (seg->len) {
        if (c->ack.alone)
            measure_gap(&c->ack, &c->s.ctx, &c->rcv, seg, c->keep.heard_at);
        count(&c->s.ctx, &c->keep, &c->rcv, seg);
    }
    if (c->rcv.rx)
        scps_ackrx_data(&c->rcv.rx->ack, c->s.ctx.env->now);
    if (!plain) {
        cut(c, seg, next, edge, &p);
        /* The end of the record is stored only if the last octet of the segment was not cut off,
         * because that octet ends the record. */
        if (seg->has & SCPS_HAS_RECORD && c->s.ctx.cfg->c.records && p.from < p.to &&
            p.to == from + seg->len &&
            !scps_conn_keep_record(&c->s, &c->rcv, (scps_off)p.from, (scps_off)p.to)) {
            /* The segment is dropped, because there is no room to store the end of its record. The
             * acknowledgement makes the peer send it again. */
            scps_conn_ack_now(c);
            return;
        }
    }
    if (p.to > p.from && !store(c, (scps_off)p.from, p.data, (uint32_t)(p.to - p.from)))
        scps_conn_ack_now(c);
    if (!plain)
        look_for_fin(c, &p, known);
}

/* Header prediction (Jacobson): processes a segment with new data within the window, on a
 * connection with nothing outstanding, whose acknowledgement and window have not changed. All
 * checks of state.c would let such a segment pass. Returns false, with nothing changed, for any
 * other segment. */
bool scps_rcv_predicted(struct scps_conn *c, const struct scps_seg *seg)
{
    scps_off next = c->rcv.in.next, from = next + (seg->seq - scps_seq_wrap(c->rcv.irs, next));
    bool ts = c->s.agreed.opts & SCPS_AGREED_TS;

    if (!seg->len || c->state != SCPS_ESTABLISHED || c->s.todo.bits & SCPS_TODO_OUTAGE ||
        c->s.agreed.opts & SCPS_AGREED_ECN || (seg->flags & ~SCPS_PSH) != SCPS_ACK ||
        seg->has != (ts ? SCPS_HAS_TS : 0) ||
        from + seg->len > limit(&c->s.ctx.cfg->c, &c->rcv, c->ack.announced) ||
        seg->ack != scps_seq_wrap(c->s.snd.iss, c->s.snd.una) || c->s.snd.una != c->s.snd.nxt ||
        c->s.snd.edge != c->s.snd.una + ((uint64_t)seg->wnd << c->s.agreed.snd_wscale) ||
        (int32_t)(seg->seq - c->s.snd.wl1) < 0 || (ts && scps_ts_is_older(&c->ts, seg->tsval)) ||
        (c->rcv.rx && c->rcv.rx->fin_at) || !scps_conn_ctx_counts(&c->s.ctx) ||
        !SCPS_FAST_PATH(SCPS_FAST_PREDICTION))
        return false;
    /* The state is ESTABLISHED, so no FIN has arrived and the application has not closed. */
    assert(!c->rcv.fin && !c->notify.released);
    scps_segs_came(&c->segs);
    scps_heard_now(&c->s.heard);
    scps_send_confirmed(&c->s.snd, seg->seq);
    /* The timestamp is stored in TS.Recent if the segment begins at or below the last acknowledged
     * octet (RFC 7323 section 4.3). */
    if (ts && (int32_t)((uint32_t)from - c->ack.acked_to) <= 0)
        scps_ts_take(&c->ts, seg->tsval, c->s.ctx.env->now);
    if (c->ack.alone)
        measure_gap(&c->ack, &c->s.ctx, &c->rcv, seg, c->keep.heard_at);
    count(&c->s.ctx, &c->keep, &c->rcv, seg);
    if (!scps_rcvbuf_append(&c->rcv.in, from, seg->data, seg->len)) {
        if (!store(c, from, seg->data, seg->len))
            scps_conn_ack_now(c);
        return true;
    }
    SCPS_OBSERVE_CONN(c, RECEIVED, from, seg->len, from == next, 0);
    if (from == next)
        came_in_order(c, false);
    else
        came_beyond(c, from, seg->len, scps_rangeset_at(c->rcv.in.ooo, c->rcv.in.ooo->n - 1));
    return true;
}

void scps_rcv_read(struct scps_conn *c)
{
    scps_off next = scps_receive_next(&c->rcv), edge;
    uint64_t left, open;

    if (c->state != SCPS_ESTABLISHED && c->state != SCPS_FIN_WAIT_1 && c->state != SCPS_FIN_WAIT_2)
        return;
    left = c->ack.announced > next ? c->ack.announced - next : 0;
    if (2 * left > SCPS_MIN(c->s.ctx.cfg->c.rcvbuf, c->ack.max_offered))
        /* More than half of the window is left, so the next acknowledgement can announce the freed
         * room. */
        return;
    edge = scps_receive_edge(&c->rcv, c->s.ctx.cfg->c.rcvbuf, c->ack.announced);
    open = edge - next;
    if (open >= 2 * left && open - left >= SCPS_MIN(c->rcv.mss, c->s.ctx.cfg->c.rcvbuf / 2)) {
        scps_conn_ack_now(c);
        scps_sender_wake(&c->s);
    }
}
