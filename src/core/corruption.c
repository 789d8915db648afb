/* SPDX-License-Identifier: MIT */
/* Corruption experienced (TCP option 23; docs/SCPS-TP.md section 3.2): the receiver informs the
 * sender that segments arrived damaged. For some time the sender then attributes losses to
 * corruption, not to congestion (cause.c).
 *
 * The specification does not say how long either end does so. Here the receiver puts the option
 * into every acknowledgement for one round trip, or until the time that the link's driver gave when
 * it reported the damage, but into at least three acknowledgements, since some may be lost. A
 * sender that receives the option attributes losses to corruption for corruption_hold, or, if that
 * setting is 0, for two retransmission timeouts. The option is not negotiated; it is sent only to a
 * peer whose SYN had the capabilities option.
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

bool scps_corruption_must_send(struct scps_corruption *co, scps_time now)
{
    if (!co->acks && now >= co->until)
        return false;
    if (co->acks)
        co->acks--;
    return true;
}
