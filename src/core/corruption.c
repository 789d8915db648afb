/* SPDX-License-Identifier: MIT */
/* Corruption experienced (option 23; spec sheet section 3.2): the receiving side tells the sending
 * one that segments were damaged, whose losses then mean corruption for a time (outage.c).
 *
 * The sheet leaves open how long.  Ours: every acknowledgement for a round trip, or until the time
 * the signal names, and three at least, since they may be lost; whoever hears one believes it for
 * two retransmission timeouts (corruption_hold).  The option is not negotiated; it goes only to a
 * peer that has shown capabilities.
 */
#include "core/corruption.h"

#include "base/bytes.h"

#define AT_LEAST 3

void scps_corruption_felt(struct scps_corruption *co, const struct scps_rtt *rtt, scps_time now,
                          scps_time until)
{
    if (!until)
        until = now + (rtt->srtt ? rtt->srtt : rtt->rto);
    co->until = SCPS_MAX(co->until, until);
    co->acks = AT_LEAST;
}

bool scps_corruption_tell(struct scps_corruption *co, scps_time now)
{
    if (!co->acks && now >= co->until)
        return false;
    if (co->acks)
        co->acks--;
    return true;
}
