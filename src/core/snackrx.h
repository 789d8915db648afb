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
    /* Without SACK: offset of octets that have arrived in a reported hole (below `high`), which the
     * next SNACK must report by its bit vector; 0: there are none */
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

/* scps_snackrx_restart() makes the next SNACKs begin with the first hole again;
 * scps_snackrx_reported() records that all holes below `to` have been reported, so that they
 * continue there. */
static inline void scps_snackrx_restart(struct scps_snackrx *s)
{
    s->high = 0;
}
static inline void scps_snackrx_reported(struct scps_snackrx *s, scps_off to)
{
    s->high = to;
}
/* scps_snackrx_filled() is called when octets from `from` on have arrived in a hole that was
 * reported before; scps_snackrx_filled_reported() when a SNACK has reported their arrival. */
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
/* Called under an ACK budget when an acknowledgement with SACK or SNACK is sent: from now on
 * filled_from counts only octets that arrive later. */
static inline void scps_snackrx_sent(struct scps_snackrx *s)
{
    s->filled_from = 0;
}
/* Adds a SNACK for the next hole to an acknowledgement without data. room: free octets of TCP
 * option space. whole: true if every range between holes must be reported, even if that takes more
 * acknowledgements; false under an ACK budget. */
void scps_snackrx_report(struct scps_snackrx *s, const struct scps_holes *v,
                         struct scps_conn_ctx *x, struct scps_seg *seg, unsigned room, bool whole);
/* Under an ACK budget, with bit vectors: called before a report. If octets have arrived in a
 * reported hole since the last report, and a vector that begins at the hole below them reaches the
 * newest data, the next SNACK begins at that hole (`high` is set to it). Returns the former value
 * of `high`; 0: it is unchanged. */
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
