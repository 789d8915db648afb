/* SPDX-License-Identifier: MIT */
/* The state of one connection during an outage of its link: whether the end of the outage is known,
 * and when the next probe is due (outage.c).
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
    /* number of consecutive probes in this outage; SCPS_OUTAGE_PROBES_MAX stands for that many or
     * more */
    uint8_t probes : 6;
    /* true: the time at which the outage ends is known. The outage timer then expires at that time,
     * and no probe is sent. */
    uint8_t end_known : 1;
    /* true: this end inferred the outage from timeouts, and no signal of the link has reported
     * it */
    uint8_t inferred : 1;
};

/* Initialises o at the beginning of an outage: no probe has been sent. end_known, inferred:
 * initial values of the fields with these names. */
static inline void scps_outage_init(struct scps_outage *o, bool end_known, bool inferred)
{
    *o = (struct scps_outage){0, end_known, inferred};
}
/* Called when an outage in progress is reported again. inferred true: by further timeouts; false:
 * by a signal, after which another signal will report the end of the outage. */
static inline void scps_outage_reported(struct scps_outage *o, bool inferred)
{
    o->inferred = inferred;
}
/* Called when the driver signals during an outage that the link is down until a certain time:
 * records that the end of the outage is known. The caller sets the outage timer to that time. */
static inline void scps_outage_ends(struct scps_outage *o)
{
    o->end_known = true;
}
/* Returns the interval before the next probe, µs, from the schedule of docs/SCPS-TP.md section 3.5:
 * 5, 6, 12, 24, 48, then 60 s, but no more than `most`, µs. */
scps_dur scps_outage_interval(const struct scps_outage *o, scps_dur most);
/* Counts a probe that was sent during the outage. */
void scps_outage_probed(struct scps_outage *o);
/* Returns true if this end inferred the outage from timeouts, with no signal of the link about it,
 * and has sent at least 32 probes since the outage began (ORPHAN_PROBES). Then the outage may end a
 * connection that the application has closed. */
bool scps_outage_may_end(const struct scps_outage *o);

#endif
