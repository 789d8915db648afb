/* SPDX-License-Identifier: MIT */
/* Corruption experienced (option 23; spec sheet section 3.2): the receiving side tells the sending one that segments were
 * damaged, whose losses then mean corruption for a time (outage.c).
 *
 * The sheet leaves open how long.  Ours: every acknowledgement for a round trip, or until the time the signal names, and
 * three at least, since they may be lost; whoever hears one believes it for two retransmission timeouts
 * (corruption_hold).  The option is not negotiated; it goes only to a peer that has shown capabilities.
 */
#include "core/conn.h"

#include "base/bytes.h"

#define AT_LEAST 3

void scps_corruption_felt(struct scps_conn *c, scps_time until)
{
    if (!(c->flags & SCPS_F_CAPS) || !c->ctx.cfg->c.corruption || c->state == SCPS_CLOSED ||
        scps_conn_need_tp(c))
        return;
    if (!until)
        until = c->ctx.env->now + (c->rtt.srtt ? c->rtt.srtt : c->rtt.rto);
    c->tp->damaged_until = SCPS_MAX(c->tp->damaged_until, until);
    c->tp->damaged_acks = AT_LEAST;
}

bool scps_corruption_tell(struct scps_conn *c)
{
    struct scps_tp *tp = c->tp;

    if (!tp->damaged_acks && c->ctx.env->now >= tp->damaged_until)
        return false;
    if (tp->damaged_acks)
        tp->damaged_acks--;
    return true;
}
