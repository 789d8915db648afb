/* SPDX-License-Identifier: MIT */
/* An outage of the link: when its probes leave, and when a connection may end in it: outage.h. */
#include "core/outage.h"

#define PROBE_MAX SCPS_SEC(60)
/* An inferred outage may end a connection whose application has closed, but not before this many
 * probes have left: those of the SCPS reference implementation. */
#define ORPHAN_PROBES 32

scps_dur scps_outage_interval(const struct scps_outage *o)
{
    if (!o->probes)
        return SCPS_SEC(5);
    return o->probes > 4 ? PROBE_MAX : SCPS_SEC(6) << (o->probes - 1);
}

void scps_outage_probed(struct scps_outage *o)
{
    if (o->probes < SCPS_OUTAGE_PROBES_MAX)
        o->probes++;
}

/* Nothing else limits how long it may last: the connection would probe a peer that has gone for
 * ever, and peers could pile such connections up (RFC 6429 section 3 has the same of a closed
 * window). An outage that a signal began, a signal ends. */
bool scps_outage_may_end(const struct scps_outage *o)
{
    return o->inferred && o->probes >= ORPHAN_PROBES;
}
