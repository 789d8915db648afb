/* SPDX-License-Identifier: MIT */
/* The cause to which a loss is attributed.
 *
 * Invariant: before the time `until` the cause is `temporary`; after it, the configured one.
 */
#ifndef SCPS_CORE_CAUSE_H
#define SCPS_CORE_CAUSE_H

#include "core/ctx.h"

struct scps_cause {
    enum scps_loss_cause temporary;
    scps_time until; /* time, µs, at which `temporary` ceases to apply */
};

void scps_cause_set(struct scps_cause *cause, enum scps_loss_cause temporary, scps_time until);
/* Returns the cause to which this end attributes a loss now: `temporary`, which a signal of the
 * driver or the peer's corruption-experienced option has set, until the time `until`; afterwards
 * the configured one (loss_cause). cause NULL: also the configured one. */
enum scps_loss_cause scps_cause_now(const struct scps_cause *cause, const struct scps_conn_ctx *x);

#endif
