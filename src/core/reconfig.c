/* SPDX-License-Identifier: MIT */
/* Replaces the configuration of an open connection (scps_conn_set_config).
 *
 * A new value has its effect at once also where something waits under the old one: the writer for
 * room, the peer for a window, and timers. A timer that runs expires no later than if it were set
 * now. A longer time does not put it off: when it expires, the functions that it calls compare the
 * time that has passed with the new configuration before they end the connection.
 */
#include "base/bytes.h"
#include "base/line.h"
#include "core/config.h"
#include "core/conn.h"

/* Called before *n replaces the configuration *old of a connection whose handshake has begun.
 * Copies to *n the fields that can no longer change: those that the SYN offers or has negotiated,
 * and those that both ends must interpret alike, such as the unit of SNACK. */
static void keep_agreed(struct scps_conn_config *n, const struct scps_conn_config *old)
{
    scps_conn_config_set_cc(n, old->cc, old->cc_param);
    n->first_window = old->first_window;
    n->hollow = old->hollow;
    n->mss = old->mss;
    n->sack = old->sack;
    n->timestamps = old->timestamps;
    n->wscale = old->wscale;
    n->ecn = old->ecn;
    n->snack = old->snack;
    n->snack_long = old->snack_long;
    n->snack_raw_unit = old->snack_raw_unit;
    n->compress = old->compress;
    n->comp_proto = old->comp_proto;
    n->bets = old->bets;
    n->bets_legacy = old->bets_legacy;
    memcpy(n->binding, old->binding, sizeof n->binding);
}

/* Sets the timers of the sender that run to expire no later than by the new configuration.
 * outage_timer: the connection's. */
static void hasten_sender(struct scps_sender *s, struct scps_timer *outage_timer)
{
    if (s->todo.bits & SCPS_TODO_OUTAGE) {
        if (!s->outage.end_known)
            scps_timer_by(&s->ctx, outage_timer, s->ctx.env->now + scps_snd_outage_interval(s));
    } else if (s->tx) {
        scps_snd_hasten(s);
    }
}

/* Sets the timer of a delayed acknowledgement, if it runs, to expire no later than by the new
 * configuration: at once if each segment is to be acknowledged. */
static void hasten_ack(struct scps_ackout *a, struct scps_conn_ctx *x)
{
    const struct scps_conn_config *cfg = &x->cfg->c;

    if (scps_timer_runs(&a->timer))
        scps_timer_by(x, &a->timer,
                      x->env->now + (cfg->ack_mode == SCPS_ACK_EVERY ? 0 : cfg->ack_delay));
}

int scps_conn_set_config(struct scps_conn *c, const struct scps_conn_config *cfg)
{
    const struct scps_alloc *a = &c->s.ctx.env->alloc;
    struct scps_conn_config n;
    const struct scps_conn_config *old = &c->s.ctx.cfg->c;
    struct scps_shared_config *s;
    struct scps_line no_text = {NULL, 0};
    scps_dur idle = old->keep_idle;
    int err = scps_config_take(&n, cfg, &no_text);

    if (err)
        return err;
    /* The fields that the SYN depends on keep their values, even if the connection has ended since:
     * the congestion controller is one of them, and the memory of the connection has room only for
     * the state of the controller with which it was opened. */
    keep_agreed(&n, old);
    n.rcvbuf = SCPS_MAX(n.rcvbuf, old->rcvbuf);
    if (c->s.agreed.rcv_wscale < 14)
        n.rcvbuf = (uint32_t)SCPS_MIN(
            n.rcvbuf, SCPS_MAX(old->rcvbuf, UINT64_C(65535) << c->s.agreed.rcv_wscale));
    s = scps_config_new(c->s.ctx.env, &n, c->s.queue && c->s.queue->gate, &err);
    if (!s)
        return err;
    scps_config_unref(a, c->s.ctx.cfg);
    scps_conn_ctx_configure(&c->s.ctx, s);
    scps_conn_hold_small(&c->s, SCPS_SMALL_NODELAY, n.nodelay);
    scps_rtt_limits(&c->s.rtt, s->c.rto_min, s->c.rto_max);
    scps_rtt_initial(&c->s.rtt, s->c.rto_initial);
    if (c->s.established && c->state != SCPS_CLOSED) {
        scps_cc_follow(&c->s, s->c.rate);
        if (!s->c.keepalive || scps_timer_runs(&c->end_timer))
            ; /* no keep-alive timer: it is not configured, or end_timer ends the connection */
        else if (!scps_timer_runs(&c->keep.timer))
            scps_timer_set(&c->s.ctx, &c->keep.timer, c->s.ctx.env->now + s->c.keep_idle);
        else if (c->s.keep_probes)
            scps_timer_by(&c->s.ctx, &c->keep.timer,
                          c->s.ctx.env->now + SCPS_MAX(s->c.keep_interval, c->s.rtt.rto));
        else if (s->c.keep_idle != idle)
            /* The timer expires at once, and scps_keep_expired() then computes when the next probe
             * is due. */
            scps_timer_set(&c->s.ctx, &c->keep.timer, c->s.ctx.env->now);
        if (c->s.todo.bits & SCPS_TODO_OUTAGE && c->s.outage.inferred && !s->c.outage_after)
            scps_snd_outage_over(c);
        hasten_ack(&c->ack, &c->s.ctx);
        if (c->state == SCPS_TIME_WAIT && scps_timer_runs(&c->end_timer))
            scps_timer_by(&c->s.ctx, &c->end_timer, c->s.ctx.env->now + s->c.time_wait);
        scps_rcv_read(c); /* A window that the receive buffer has closed may open. */
        scps_rcv_check_hole(c);
    }
    if (c->state != SCPS_CLOSED)
        hasten_sender(&c->s, &c->outage_timer);
    if (c->s.small.wanted && scps_conn_writable(c))
        scps_conn_room(c);
    scps_sender_wake(&c->s);
    return 0;
}
