/* SPDX-License-Identifier: MIT */
/* An outage of the link: what is known of its end, and when the next probe leaves (outage.c).
 *
 * Invariant: the fields have a meaning only while SCPS_TODO_OUTAGE is set; only this file and
 * outage.c assign them.
 */
#ifndef SCPS_CORE_OUTAGE_H
#define SCPS_CORE_OUTAGE_H

#include <scps/types.h>
#include <stdbool.h>
#include <stdint.h>

#define SCPS_OUTAGE_PROBES_MAX 63u

struct scps_outage {
    uint8_t probes : 6; /* consecutive probes; SCPS_OUTAGE_PROBES_MAX: that many or more */
    /* the end is known: the timer runs to that end, and no probe is sent */
    uint8_t end_known : 1;
    uint8_t inferred : 1; /* timeouts began the outage, and no signal has reported it */
};

/* Begins an outage. */
static inline void scps_outage_init(struct scps_outage *o, bool end_known, bool inferred)
{
    *o = (struct scps_outage){0, end_known, inferred};
}
/* Records a report of the outage that is in progress. A signal confirms one that was inferred
 * before, so its end will be signalled, too. */
static inline void scps_outage_reported(struct scps_outage *o, bool inferred)
{
    o->inferred = inferred;
}
/* Records that the end of the outage, which was not known before, is known now. */
static inline void scps_outage_ends(struct scps_outage *o)
{
    o->end_known = true;
}
/* Returns the interval before the next probe, by the schedule of docs/SCPS-TP.md section 3.5: 5, 6,
 * 12, 24, 48, then 60 s. */
scps_dur scps_outage_interval(const struct scps_outage *o);
/* Counts a probe. */
void scps_outage_probed(struct scps_outage *o);
/* Returns true if a connection whose application has closed may end in this outage. */
bool scps_outage_may_end(const struct scps_outage *o);

#endif
