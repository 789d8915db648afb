/* SPDX-License-Identifier: MIT */
/* Passes the signals about the link (an outage, a changed rate, damaged segments) that a driver
 * gives by scps_stack_signal() to the connections whose paths they concern. */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/sized.h"
#include "core/config.h"

static bool concerns(const struct scps_signal *sig, const struct scps_conn *c)
{
    if (sig->nif &&
        (!sig->nif->stack_priv || !c->s.queue || c->s.queue->link != sig->nif->stack_priv))
        return false;
    return !sig->remote.family || scps_addr_equal(&sig->remote, &c->remote);
}

/* Called for the signal that segments of c's peer arrived damaged: the acknowledgements of c report
 * this to the peer (option 23) until the time `until`, µs; 0: for one round trip. */
static void damaged(struct scps_conn *c, scps_time until)
{
    if (c->s.agreed.opts & SCPS_AGREED_CAPS && c->s.ctx.cfg->c.corruption &&
        c->state != SCPS_CLOSED && !scps_conn_need_tp(&c->s))
        scps_corruption_felt(&c->s.tp->corruption, &c->s.rtt, c->s.ctx.env->now, until);
}

/* Called for the signal that the path of c has changed: sets its rate, bytes/s, and its round trip,
 * µs; 0: unknown. If the route has a rate, the configured rate of the connection stays, because
 * scps_route_path() has changed the rate of the route for this signal. */
static void path_changed(struct scps_conn *c, uint64_t rate, scps_dur rtt)
{
    struct scps_conn_config cfg;

    if (rtt > 0)
        scps_snd_path(&c->s, rtt);
    if (rate && !(c->s.queue && c->s.queue->gate && c->s.queue->gate->rate.rate)) {
        scps_conn_get_config(c, &cfg);
        cfg.rate = rate;
        scps_conn_set_config(c, &cfg);
    }
    scps_cc_change(&c->s, scps_conn_cc(c), SCPS_CC_PATH);
}

void scps_signal_pass(struct scps_stack *st, const struct scps_signal *sig)
{
    if (sig->kind == SCPS_SIGNAL_PATH && sig->rate)
        scps_route_path(st, sig);
    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));) {
        if (!concerns(sig, c))
            continue;
        switch (sig->kind) {
        case SCPS_SIGNAL_LINK_DOWN:
            scps_snd_outage(c, sig->until ? sig->until : SCPS_NEVER, false);
            break;
        case SCPS_SIGNAL_LINK_UP:
            scps_snd_outage_over(c);
            break;
        case SCPS_SIGNAL_CORRUPTION:
            scps_snd_cause(c->s.tx, SCPS_LOSS_CORRUPTION, sig->until ? sig->until : SCPS_NEVER);
            break;
        case SCPS_SIGNAL_CONGESTION:
            scps_snd_cause(c->s.tx, SCPS_LOSS_CONGESTION, sig->until ? sig->until : SCPS_NEVER);
            break;
        case SCPS_SIGNAL_DAMAGED:
            damaged(c, sig->until);
            break;
        case SCPS_SIGNAL_PATH:
            path_changed(c, sig->rate, sig->rtt);
            break;
        }
    }
}

int scps_stack_signal_sized(struct scps_stack *st, scps_time now, const struct scps_signal *sig,
                            size_t size)
{
    struct scps_signal own = {.until = 0};

    if (!scps_sized_take(&own, sizeof own, sig, size, SCPS_SIZED_TO(scps_signal, until)) ||
        (unsigned)own.kind > SCPS_SIGNAL_PATH || (uint64_t)own.rtt > SCPS_TIME_MOST)
        return SCPS_ERR_RANGE;
    scps_stack_clock(st, now);
    scps_signal_pass(st, &own);
    return 0;
}
