/* SPDX-License-Identifier: MIT */
/* The cause to which a loss is attributed: congestion, corruption or an outage of the link.
 *
 * It is the cause that the application configured, unless a signal from the link, or the peer's
 * corruption-experienced option (corruption.c), has set another one for a limited time.
 */
#include "core/cause.h"

void scps_cause_set(struct scps_cause *cause, enum scps_loss_cause temporary, scps_time until)
{
    *cause = (struct scps_cause){temporary, until};
}

enum scps_loss_cause scps_cause_now(const struct scps_cause *cause, const struct scps_conn_ctx *x)
{
    return cause && x->env->now < cause->until ? cause->temporary : x->cfg->c.loss_cause;
}
