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
    scps_off high; /* end offset of the highest hole that was reported at least once */
    scps_off next; /* start offset of the hole to report next when holes are reported again */
    /* lowest offset of the octets in reported holes (below `high`) that have arrived since the last
     * SNACK was sent; 0: none have */
    scps_off filled_from;
    /* offset of octets in a reported hole (below `high`) that have arrived, as the next SNACK must
     * report, since there is no SACK; 0: none */
    scps_off filled;
};

/* The holes in the received data, and the unit and options with which they are reported. */
struct scps_holes {
    const struct scps_rcvbuf *in;
    scps_off fin_at; /* offset of the peer's FIN if it has arrived beyond a hole; 0: it has not */
    const struct scps_agreed *agreed;
    /* size in octets of a unit of the offset and size fields in a SNACK, which both ends compute in
     * the same way */
    uint32_t unit;
};

/* scps_snackrx_restart() lets all holes be reported again; scps_snackrx_reported() records that
 * those below `to` have been reported. */
static inline void scps_snackrx_restart(struct scps_snackrx *s)
{
    s->high = 0;
}
static inline void scps_snackrx_reported(struct scps_snackrx *s, scps_off to)
{
    s->high = to;
}
/* scps_snackrx_filled() records that the octet at `from`, below the holes reported, has arrived;
 * scps_snackrx_filled_reported() that this arrival has been reported. */
static inline void scps_snackrx_filled(struct scps_snackrx *s, scps_off from)
{
    s->filled = from;
    if (!s->filled_from || from < s->filled_from)
        s->filled_from = from;
}
static inline void scps_snackrx_filled_reported(struct scps_snackrx *s)
{
    s->filled = 0;
}
/* Called when an acknowledgement with SACK or SNACK is sent under an ACK budget: no octets in
 * reported holes have arrived since, so filled_from becomes 0. */
static inline void scps_snackrx_sent(struct scps_snackrx *s)
{
    s->filled_from = 0;
}
/* Adds a SNACK for the next hole to an acknowledgement without data. room: octets of TCP options
 * that are free. whole: data that has arrived between two reported holes must be reported, too,
 * even if that takes more acknowledgements. */
void scps_snackrx_report(struct scps_snackrx *s, const struct scps_holes *v,
                         struct scps_conn_ctx *x, struct scps_seg *seg, unsigned room, bool whole);
/* Under an ACK budget: if octets have arrived since the last SNACK below the offset at which
 * reports continue, and a bit vector reaches from the hole below them to the newest data, moves
 * that offset back to the hole. Returns the former offset; 0: it was not moved. */
scps_off scps_snackrx_go_back(struct scps_snackrx *s, const struct scps_holes *v);
/* Returns the octets of option space that an acknowledgement without data has for reports. */
unsigned scps_snackrx_room(const struct scps_agreed *a);
/* Returns true if the run of received data after the next hole to report is longer than a bit
 * vector can express; *run becomes that run. */
bool scps_snackrx_long_run(struct scps_snackrx *s, const struct scps_holes *v,
                           struct scps_range *run);
/* Returns 1 if a hole has not been reported yet, so that another acknowledgement is needed,
 * otherwise 0. */
unsigned scps_snackrx_backlog(const struct scps_snackrx *s, const struct scps_holes *v);
/* Returns true if the next unreported hole lies beyond the largest offset of the option, so that
 * only SACK can report the data there. A hole is unreported if it is above all that SNACK, and SACK
 * up to sacked_to, have reported. */
bool scps_snackrx_out_of_reach(const struct scps_snackrx *s, const struct scps_holes *v,
                               scps_off sacked_to);

#endif
