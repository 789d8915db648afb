/* SPDX-License-Identifier: MIT */
/* Test bench for one congestion controller: calls the functions of the controller as the TCP sender
 * does. A test makes these calls one by one, or gives a table of events. */
#include "cctest/bench.h"

#include "base/bytes.h"
#include "base/wide.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void scps_cct_message(char *msg, size_t len, const char *fmt, ...)
{
    va_list ap;

    if (!msg || !len)
        return;
    va_start(ap, fmt);
    vsnprintf(msg, len, fmt, ap);
    va_end(ap);
}

const char *scps_cct_number(uint64_t v, char buf[SCPS_CCT_NUMBERLEN])
{
    if (v == UINT64_MAX)
        return "none";
    snprintf(buf, SCPS_CCT_NUMBERLEN, "%" PRIu64, v);
    return buf;
}

/* Called after each call of the controller: passes its outputs (window, threshold, rate) to
 * t->watch, if that is not NULL; then raises cwnd to one segment if it is smaller, as the TCP
 * sender does. */
static void finish(struct scps_cctest *t, struct scps_cctest_event *e)
{
    e->after = t->ctl;
    if (t->watch)
        t->watch(t->ctx, e);
    if (t->ctl.cwnd != SCPS_CWND_OPEN)
        t->ctl.cwnd = SCPS_MAX(t->ctl.cwnd, t->view.mss);
}

void scps_cctest_start(struct scps_cctest *t, const struct scps_cc_ops *ops, const int64_t *param,
                       const struct scps_cc_view *view)
{
    struct scps_cctest_event e = {.kind = SCPS_CCTEST_START};
    struct scps_cc_view *v = &t->view;

    *t = (struct scps_cctest){.ops = ops, .view = *view, .watch = t->watch, .ctx = t->ctx};
    if (param)
        memcpy(t->param, param, sizeof t->param);
    else
        scps_cc_param_defaults(ops, t->param);
    v->mss = v->mss ? v->mss : 1000;
    v->init_cwnd = v->init_cwnd ? v->init_cwnd : 10 * v->mss;
    v->srtt = v->srtt ? v->srtt : SCPS_MS(100);
    v->min_rtt = v->min_rtt ? v->min_rtt : v->srtt;
    v->max_cwnd = v->max_cwnd ? v->max_cwnd : UINT64_C(1) << 30;
    v->now = v->now ? v->now : SCPS_SEC(1);
    v->cwnd_limited = true;
    t->ctl = (struct scps_cc_ctl){.cwnd = v->init_cwnd, .ssthresh = UINT64_MAX};
    e.view = *v;
    e.before = t->ctl;
    ops->start(t->state.bytes, t->param, v, &t->ctl);
    finish(t, &e);
}

static void begin_episode(struct scps_cctest *t)
{
    if (!t->in_episode) {
        t->saved_ctl = t->ctl;
        /* The state before the reduction is saved, so that it can be restored if the loss proves
         * spurious (SCPS_CC_SPURIOUS). A controller with own_recovery set undoes its reductions
         * itself, so its saved state is not used. */
        t->saved = t->state;
    }
    t->in_episode = t->undoable = true;
}

void scps_cctest_ack(struct scps_cctest *t, const struct scps_cc_ack *a)
{
    struct scps_cctest_event e = {
        .kind = SCPS_CCTEST_ACK, .view = t->view, .ack = *a, .before = t->ctl};

    t->ops->ack(t->state.bytes, &t->view, a, &t->ctl);
    finish(t, &e);
}

void scps_cctest_loss(struct scps_cctest *t, const struct scps_cc_loss *l)
{
    struct scps_cctest_event e = {
        .kind = SCPS_CCTEST_LOSS, .view = t->view, .loss = *l, .before = t->ctl};

    if (l->new_episode) {
        t->in_episode = false;
        begin_episode(t);
    }
    t->ops->loss(t->state.bytes, &t->view, l, &t->ctl);
    finish(t, &e);
}

void scps_cctest_change(struct scps_cctest *t, enum scps_cc_change what)
{
    struct scps_cctest_event e = {.kind = SCPS_CCTEST_CHANGE, .view = t->view, .change = what};

    if (what == SCPS_CC_RTO)
        begin_episode(t);
    /* The controller's state is restored even if the loss recovery has ended: the DSACKs which show
     * that the retransmissions of that recovery were spurious may arrive later (RFC 3708 section
     * 2). */
    if (what == SCPS_CC_SPURIOUS && t->undoable && !t->ops->own_recovery) {
        uint64_t cwnd = t->ctl.cwnd;
        t->state = t->saved;
        t->ctl = t->saved_ctl;
        t->ctl.cwnd = SCPS_MAX(t->ctl.cwnd, cwnd);
    }
    if (what == SCPS_CC_SPURIOUS)
        t->undoable = false;
    if (what == SCPS_CC_SPURIOUS || what == SCPS_CC_RECOVERED)
        t->in_episode = false;
    e.before = t->ctl;
    if (t->ops->change)
        t->ops->change(t->state.bytes, &t->view, what, &t->ctl);
    finish(t, &e);
}

void scps_cctest_sent(struct scps_cctest *t, const struct scps_cc_sent *p)
{
    struct scps_cctest_event e = {
        .kind = SCPS_CCTEST_SENT, .view = t->view, .sent = *p, .before = t->ctl};

    if (!t->ops->on_sent)
        return;
    t->ops->on_sent(t->state.bytes, &t->view, p, &t->ctl);
    finish(t, &e);
}

/* ---- functions that play event tables: call a controller for each row, and compare its outputs
 * ---- with those expected in the row ---- */

/* If the row of the event table from which acknowledgement a comes gives a rate (a->rate, bytes/s)
 * and a round trip (a->rtt), adds a delivery-rate sample (interval of one round trip) to a. */
static void sample_of_row(const struct scps_cc_view *v, struct scps_cc_ack *a)
{
    if (!a->rate || a->rtt <= 0)
        return;
    a->interval = a->rtt;
    a->sample_bytes = scps_muldiv(a->rate, (uint64_t)a->rtt, 1000000);
    a->prior_delivered = v->delivered - SCPS_MIN(v->delivered, a->sample_bytes);
    a->tx_in_flight = v->outstanding;
}

static void play_row(struct scps_cctest *t, const struct scps_cctest_row *r)
{
    struct scps_cc_view *v = &t->view;

    v->now += r->after;
    v->outstanding = r->outstanding ? r->outstanding : t->ctl.cwnd;
    v->inflight = v->outstanding;
    v->cwnd_limited = !r->app_limited;
    v->app_limited = r->app_limited;
    v->cause = r->cause;
    if (r->rtt > 0) {
        v->srtt = r->rtt;
        v->min_rtt = SCPS_MIN(v->min_rtt, r->rtt);
    }
    if (r->kind == SCPS_CCTEST_ACK) {
        struct scps_cc_ack a = {.bytes = r->bytes,
                                .rtt = r->rtt ? r->rtt : v->srtt,
                                .rtt_old = r->rtt_old,
                                .rate = r->rate,
                                .app_limited = r->app_limited,
                                .round_start = r->round,
                                .in_recovery = r->in_recovery};
        v->inflight -= SCPS_MIN(v->inflight, r->bytes);
        v->delivered += r->bytes;
        sample_of_row(v, &a);
        scps_cctest_ack(t, &a);
    } else if (r->kind == SCPS_CCTEST_LOSS) {
        struct scps_cc_loss l = {.bytes = r->bytes,
                                 .cause = r->cause,
                                 .evidence = r->evidence ? r->evidence : SCPS_BY_SACK,
                                 .new_episode = r->fresh,
                                 .ranges = 1,
                                 .tx_in_flight = v->outstanding,
                                 .lost_since = r->bytes};
        v->lost += r->bytes;
        scps_cctest_loss(t, &l);
    } else if (r->kind == SCPS_CCTEST_CHANGE) {
        scps_cctest_change(t, r->what);
    }
}

bool scps_cctest_play(struct scps_cctest *t, const struct scps_cctest_row *rows, size_t n,
                      char *msg, size_t msglen)
{
    for (size_t i = 0; i < n; i++) {
        const struct scps_cctest_row *r = &rows[i];

        for (unsigned k = 0; k < (r->times ? r->times : 1); k++)
            play_row(t, r);
        if ((r->want_cwnd && r->want_cwnd != t->ctl.cwnd) ||
            (r->want_ssthresh && r->want_ssthresh != t->ctl.ssthresh) ||
            (r->want_rate && r->want_rate != t->ctl.rate)) {
            char is[3][SCPS_CCT_NUMBERLEN], want[3][SCPS_CCT_NUMBERLEN];
            scps_cct_message(
                msg, msglen,
                "row %zu: cwnd %s ssthresh %s rate %s, wanted %s %s %s (0: not looked "
                "at)",
                i, scps_cct_number(t->ctl.cwnd, is[0]), scps_cct_number(t->ctl.ssthresh, is[1]),
                scps_cct_number(t->ctl.rate, is[2]), scps_cct_number(r->want_cwnd, want[0]),
                scps_cct_number(r->want_ssthresh, want[1]), scps_cct_number(r->want_rate, want[2]));
            return false;
        }
    }
    return true;
}
