/* SPDX-License-Identifier: MIT */
/* SNACK at the receiver (CCSDS 714.0-B-2 section 3.3).
 *
 * Invariant: holes that were never reported go first, in ascending order.
 */
#ifndef SCPS_CORE_SNACKRX_H
#define SCPS_CORE_SNACKRX_H

#include <scps/wire.h>

#include "core/agreed.h"
#include "core/ctx.h"
#include "core/rcvbuf.h"

struct scps_snackrx {
    scps_off high; /* end of the holes that were reported once */
    scps_off next; /* start of the next hole when holes are reported again in turn */
    /* lowest offset of the octets that arrived since the last SNACK and lie below `high`; 0: none
     * have */
    scps_off mended_from;
    /* offset below `high` from which on octets have arrived since the holes there were reported; 0:
     * none have */
    scps_off mended;
};

/* The holes in the received data, and the unit and options with which they are reported. */
struct scps_holes {
    const struct scps_rcvbuf *in;
    scps_off fin_at; /* offset of the peer's FIN if it has arrived beyond a hole; 0: it has not */
    const struct scps_agreed *agreed;
    uint32_t unit; /* unit of offsets and lengths in SNACK, octets, which both ends compute alike */
};

/* The first function has all holes reported again; the second records that those below `to` have
 * been reported. */
static inline void scps_snackrx_anew(struct scps_snackrx *s)
{
    s->high = 0;
}
static inline void scps_snackrx_told(struct scps_snackrx *s, scps_off to)
{
    s->high = to;
}
/* The first function records that the octet at from, below what had been reported, has arrived; the
 * second that this has been reported. */
static inline void scps_snackrx_mend(struct scps_snackrx *s, scps_off from)
{
    s->mended = from;
    if (!s->mended_from || from < s->mended_from)
        s->mended_from = from;
}
static inline void scps_snackrx_mend_told(struct scps_snackrx *s)
{
    s->mended = 0;
}
/* Records that a report is sent under an ACK budget. */
static inline void scps_snackrx_leaves(struct scps_snackrx *s)
{
    s->mended_from = 0;
}
/* Adds a SNACK for the next hole to an acknowledgement without data. room: free octets of options;
 * whole: data that has arrived between two reported holes must be reported, too, even if that takes
 * more acknowledgements. */
void scps_snackrx_report(struct scps_snackrx *s, const struct scps_holes *v,
                         struct scps_conn_ctx *x, struct scps_seg *seg, unsigned room, bool whole);
/* Under an ACK budget: lets the next report begin with the hole below the data that arrived last
 * below the cursor, if its bit vector reaches from there to the newest data. Returns the cursor; 0:
 * it does not reach. */
scps_off scps_snackrx_go_back(struct scps_snackrx *s, const struct scps_holes *v);
/* Returns the octets of option space that an acknowledgement without data has for reports. */
unsigned scps_snackrx_room(const struct scps_agreed *a);
/* Returns true if the received run behind the next hole to report exceeds the bit vector; *run gets
 * that run. */
bool scps_snackrx_long_run(struct scps_snackrx *s, const struct scps_holes *v,
                           struct scps_range *run);
/* Returns how many more acknowledgements are needed for all reports that are due; 0: one is
 * enough. */
unsigned scps_snackrx_backlog(const struct scps_snackrx *s, const struct scps_holes *v);
/* Returns true if the next hole that was reported neither by a SNACK nor, below sacked_to, by SACK
 * lies beyond the largest offset of the option: only SACK can report it. */
bool scps_snackrx_out_of_reach(const struct scps_snackrx *s, const struct scps_holes *v,
                               scps_off sacked_to);

#endif
