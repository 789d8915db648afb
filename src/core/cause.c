/* SPDX-License-Identifier: MIT */
/* The cause to which a lost segment is put down: congestion, corruption or an outage of the link.
 *
 * It is the configured one, unless a signal, or the peer's corruption-experienced option
 * (corruption.c), named another for a time.
 */
#include "core/conn.h"

enum scps_loss_cause scps_loss_cause_now(const struct scps_conn *c)
{
    return c->tx && c->ctx.env->now < c->tx->cause_until ? c->tx->cause : c->ctx.cfg->c.loss_cause;
}

void scps_outage_cause(struct scps_conn *c, enum scps_loss_cause cause, scps_time until)
{
    if (!c->tx)
        return; /* nothing under way that could be lost */
    c->tx->cause = cause;
    c->tx->cause_until = until;
}
