/* SPDX-License-Identifier: MIT */
/* Decides when a connection sends probes during an outage of its link, and when it may end during
 * an outage (outage.h). */
#include "core/outage.h"

#include "base/bytes.h"

#define PROBE_MAX SCPS_SEC(60)
/* If the application has closed the connection, an outage that this end inferred from timeouts (no
 * signal of the driver reported it) may end the connection when this many probes have been sent in
 * the outage, as in the SCPS reference implementation. */
#define ORPHAN_PROBES 32

scps_dur scps_outage_interval(const struct scps_outage *o, scps_dur most)
{
    scps_dur wait = SCPS_SEC(5);

    if (o->probes)
        wait = o->probes > 4 ? PROBE_MAX : SCPS_SEC(6) << (o->probes - 1);
    return SCPS_MIN(wait, most);
}

void scps_outage_probed(struct scps_outage *o)
{
    if (o->probes < SCPS_OUTAGE_PROBES_MAX)
        o->probes++;
}

/* An inferred outage may end a connection that the application has closed, after ORPHAN_PROBES
 * probes. Without this rule nothing would limit how long such an outage lasts: the connection would
 * probe a vanished peer for ever, and peers could make such connections accumulate (RFC 6429
 * section 3 describes the same attack with a closed window). An outage that the driver or the
 * operator reported (SCPS_SIGNAL_LINK_DOWN) ends no connection, because its end will be reported,
 * too. */
bool scps_outage_may_end(const struct scps_outage *o)
{
    return o->inferred && o->probes >= ORPHAN_PROBES;
}
