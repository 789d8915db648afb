/* SPDX-License-Identifier: MIT */
/* Passes the signals of scps_stack_signal() to the connections that they concern. */
#include "stack/stack.h"

#include "base/bytes.h"
#include "base/sized.h"

static bool concerns(const struct scps_signal *sig, const struct scps_conn *c)
{
    if (sig->nif &&
        (!sig->nif->stack_priv || !c->s.turns || c->s.turns->link != sig->nif->stack_priv))
        return false;
    return !sig->remote.family || scps_addr_equal(&sig->remote, &c->remote);
}

void scps_signal_pass(struct scps_stack *st, scps_time now, const struct scps_signal *sig)
{
    scps_stack_advance(st, now);
    if (sig->kind == SCPS_SIGNAL_PATH && sig->rate)
        scps_route_path(st, sig);
    for (struct scps_conn *c = NULL; (c = scps_demux_next(st, c));) {
        if (!concerns(sig, c))
            continue;
        switch (sig->kind) {
        case SCPS_SIGNAL_LINK_DOWN:
            scps_outage_begin(c, sig->until ? sig->until : SCPS_NEVER, false);
            break;
        case SCPS_SIGNAL_LINK_UP:
            scps_outage_end(c);
            break;
        case SCPS_SIGNAL_CORRUPTION:
            scps_outage_cause(&c->s, SCPS_LOSS_CORRUPTION, sig->until ? sig->until : SCPS_NEVER);
            break;
        case SCPS_SIGNAL_CONGESTION:
            scps_outage_cause(&c->s, SCPS_LOSS_CONGESTION, sig->until ? sig->until : SCPS_NEVER);
            break;
        case SCPS_SIGNAL_DAMAGED:
            scps_outage_damage(c, sig->until);
            break;
        case SCPS_SIGNAL_PATH:
            scps_outage_path(c, sig->rate, sig->rtt);
            break;
        }
    }
}

int scps_stack_signal_sized(struct scps_stack *st, scps_time now, const struct scps_signal *sig,
                            size_t size)
{
    struct scps_signal own = {.until = 0};

    if (!scps_sized_take(&own, sizeof own, sig, size, SCPS_SIZED_TO(scps_signal, until)) ||
        (unsigned)own.kind > SCPS_SIGNAL_PATH)
        return SCPS_ERR_RANGE;
    scps_signal_pass(st, now, &own);
    return 0;
}
