/* SPDX-License-Identifier: MIT */
/* What the rules that look for losses see of a connection (rack.c, snacktx.c, betsage.c).
 *
 * Such a rule changes its own part and the scoreboard.  What it finds it tells through the sum of
 * an acknowledgement, or returns; ackin.c acts on it.
 */
#ifndef SCPS_CORE_LOOK_H
#define SCPS_CORE_LOOK_H

#include "core/agreed.h"
#include "core/ctx.h"
#include "core/rtt.h"
#include "core/scoreboard.h"
#include "core/send.h"

struct scps_tx;

struct scps_look {
    struct scps_conn_ctx *x;
    struct scps_tx *tx;
    const struct scps_send *snd;
    const struct scps_agreed *agreed;
    const struct scps_rtt *rtt;
    bool established;
    uint64_t cwnd; /* SCPS_CWND_OPEN: only a rate limits the sender */
};

#endif
