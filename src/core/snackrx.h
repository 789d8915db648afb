/* SPDX-License-Identifier: MIT */
/* SNACK at the receiver (CCSDS 714.0-B-2 section 3.3): reports holes to the peer. A hole is a range
 * of octets that has not arrived here although later octets, or the FIN, have.
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
    /* end offset of the highest hole that was reported; 0: none was, or reports begin again with
     * the lowest hole */
    scps_off high;
    /* Used when SNACKs have reported every hole, and report the holes again in turn, in ascending
     * order: offset above which the next SNACK looks for a hole; if there is none above it, the
     * SNACK reports the lowest hole. */
    scps_off next;
    /* Under an ACK budget (a limit on the rate of acknowledgements without data): lowest offset of
     * the octets that have arrived in reported holes since the last acknowledgement with SACK or
     * SNACK was built; 0: none have */
    scps_off filled_from;
    /* Offset of octets that have arrived in a reported hole, and whose arrival is not reported yet;
     * 0: there are none. Without SACK the bit vector of the next SNACK reports them. With SACK the
     * field is used only under an ACK budget (a limit on the rate of acknowledgements without
     * data), where the next acknowledgement has a SACK block for them (report.c); without a budget
     * the SACK blocks of the ranges that grew last report them. */
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

/* A hole is a range of octets missing at this receiver. scps_snackrx_restart() makes the next
 * SNACKs report holes from the lowest one on again; scps_snackrx_reported() records that SNACKs
 * have reported all holes below offset `to`, so that the next SNACK reports the first hole above
 * it. */
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
/* Called for each acknowledgement with SACK or SNACK that is built under an ACK budget (ack_budget,
 * ack_budget_pps, or the rate of the route limits acknowledgements without data), when it is
 * decided at which hole its SNACK begins. Sets filled_from to 0 (none): octets that have arrived in
 * reported holes before this acknowledgement do not make a later one go back
 * (scps_snackrx_go_back()). */
static inline void scps_snackrx_sent(struct scps_snackrx *s)
{
    s->filled_from = 0;
}
/* Adds a SNACK option to seg, an acknowledgement without data, that reports the next hole. room:
 * free octets of TCP option space. whole: true if every range of arrived data between holes must be
 * reported, even if that takes more acknowledgements; false under an ACK budget. */
void scps_snackrx_report(struct scps_snackrx *s, const struct scps_holes *v,
                         struct scps_conn_ctx *x, struct scps_seg *seg, unsigned room, bool whole);
/* Called under an ACK budget (a limit on the rate of acknowledgements without data) before a SNACK
 * is built. SNACKs report the holes above `high` in ascending order, so they would not report
 * octets that have arrived since in a hole below. If such octets have arrived since the last
 * report, and the bit vector of a SNACK for the hole directly below the lowest of them reaches the
 * newest data, makes the next SNACK report that hole: sets `high` back to the start of the hole,
 * and returns the former value of `high`. Otherwise returns 0. */
scps_off scps_snackrx_go_back(struct scps_snackrx *s, const struct scps_holes *v);
/* Returns how many octets of TCP option space an acknowledgement without data has for SACK and
 * SNACK. */
unsigned scps_snackrx_room(const struct scps_agreed *a);
/* Returns true if the received data directly behind the hole that the next SNACK reports is more
 * than the bit vector of a SNACK can cover (at most 8 units for each octet of the vector). *run:
 * the range of that data; unchanged if no hole is to be reported, or the hole ends at the FIN. */
bool scps_snackrx_long_run(struct scps_snackrx *s, const struct scps_holes *v,
                           struct scps_range *run);
/* Returns 1 if a hole has not been reported yet, so that another acknowledgement is needed,
 * otherwise 0. */
unsigned scps_snackrx_backlog(const struct scps_snackrx *s, const struct scps_holes *v);
/* Returns true if the lowest hole (or rest of a hole) that was not reported yet begins 65535 units
 * or more above RCV.NXT: the 16-bit offset field of a SNACK cannot express that, so only SACK can
 * report the data there. Not reported is what lies above both `high` (SNACK) and sacked_to
 * (SACK). */
bool scps_snackrx_out_of_reach(const struct scps_snackrx *s, const struct scps_holes *v,
                               scps_off sacked_to);

#endif
