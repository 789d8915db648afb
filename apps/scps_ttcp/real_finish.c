/* SPDX-License-Identifier: MIT */
/* Ends a transfer in real time: finds out which flows are done, records their figures, and closes
 * or resets the connections.
 *
 * After the results are recorded a sender stays until the peer has closed, too, and a receiver
 * until its FIN is acknowledged, at most for 2 s or, if that is longer, four RTO. Otherwise a peer
 * might retransmit its FIN to a process that has ended. After a failure it sends a reset.
 */
#include "scps_ttcp/real.h"

bool ttcp_real_over(const struct ttcp_real *x)
{
    for (size_t k = 0; k < x->o->streams; k++)
        if (x->end[k].conn != NULL && !ttcp_end_over(&x->end[k]))
            return false;
    return true;
}

void ttcp_real_interval(struct ttcp_real *x, scps_time now)
{
    if (!x->begun)
        return;
    ttcp_progress_clear(&x->progress);
    ttcp_flows_interval(x->flow, x->n_flows, now - x->t0, !x->o->json);
}

/* Records all figures of a flow when it ends. */
static void finish_flow(struct ttcp_real *x, struct ttcp_flow *f, scps_time now)
{
    if (f->finished)
        return;
    f->finished = true;
    f->r->elapsed = x->begun ? now - x->t0 : 0;
    ttcp_result_device(f->r, x->top);
    if (f->r->has_tx)
        ttcp_result_sender(f->r, &f->sender, x->st, x->t0);
    else
        ttcp_result_receiver(f->r, &f->receiver, x->st, x->t0);
    ttcp_result_judge(f->r, ttcp_flow_sender(f), ttcp_flow_receiver(f));
}

/* Called when the run has ended otherwise than by TTCP_DONE (an error, a signal, --timeout): resets
 * every connection, so that the peers do not wait for the rest. */
static void abort_all(struct ttcp_real *x)
{
    for (size_t k = 0; k < x->o->streams; k++) {
        struct ttcp_end *e = &x->end[k];

        if (e->conn == NULL)
            continue;
        scps_conn_abort(e->conn); /* The loop sends the reset before anything else happens. */
        e->conn = NULL;
    }
    for (size_t k = 0; k < x->n_flows; k++)
        x->flow[k].sender.conn = x->flow[k].receiver.conn = NULL;
}

void ttcp_real_finish(struct ttcp_real *x, enum ttcp_outcome outcome, const char *why)
{
    scps_time now = scps_sysclock_now();

    if (x->finished)
        return;
    x->finished = true;
    if (x->o->interval != 0)
        ttcp_real_interval(x, now);
    for (size_t k = 0; k < x->n_flows; k++)
        finish_flow(x, &x->flow[k], now);
    ttcp_result_gather(x->r);
    if (outcome != TTCP_DONE)
        ttcp_result_fail(x->r, outcome, "%s", why);
    ev_io_stop(scps_loop_ev(x->loop), &x->input);
    ev_timer_stop(scps_loop_ev(x->loop), &x->more);
    if (x->o->udp || ttcp_real_over(x)) {
        scps_loop_stop(x->loop);
        return;
    }
    if (x->r->outcome != TTCP_DONE) {
        abort_all(x);
        scps_loop_kick(x->loop);
        scps_loop_stop(x->loop);
        return;
    }
    ev_timer_set(&x->linger, (double)ttcp_ends_linger(x->end, x->o->streams) / 1e6, 0);
    ev_timer_start(scps_loop_ev(x->loop), &x->linger);
}

void ttcp_real_finish_done(struct ttcp_real *x)
{
    bool all = true;

    for (size_t k = 0; k < x->n_flows; k++) {
        struct ttcp_flow *f = &x->flow[k];

        if (f->r->has_tx ? f->sender.err != 0 : f->receiver.err != 0) {
            ttcp_real_finish(x, TTCP_DONE, NULL);
            return;
        }
        if (!(f->r->has_tx ? f->sender.closed : f->receiver.eof))
            all = false;
        else if (x->n_flows > 1)
            finish_flow(x, f, scps_sysclock_now());
    }
    if (all)
        ttcp_real_finish(x, TTCP_DONE, NULL);
}
