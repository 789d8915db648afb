/* SPDX-License-Identifier: MIT */
/* What acknowledgements report of data that has arrived beyond a hole: SACK, D-SACK and SNACK.
 *
 * Invariant: `recent` lists the ranges beyond holes that grew last, the newest first.
 */
#ifndef SCPS_CORE_REPORT_H
#define SCPS_CORE_REPORT_H

#include <scps/wire.h>

#include "core/receive.h"
#include "core/snackrx.h"

struct scps_report {
    /* Ranges beyond holes that are reported first: those that grew last, newest first. */
    struct scps_range recent[SCPS_SACK_MAX];
    struct scps_snackrx snack;
    /* In strictly delayed mode (F0: the delayed-ACK timer alone causes acknowledgements), and under
     * an ACK budget (a limit on the rate of acknowledgements without data), acknowledgements report
     * the ranges beyond holes in ascending order, a part in each. The SACK blocks and SNACKs of
     * earlier acknowledgements have reported all ranges up to this offset; the next SACK block is
     * that of the first range above it. 0: the next SACK block is that of the lowest range. */
    scps_off sacked_to;
    /* duplicate octets [dsack_from, dsack_to) to be reported once; dsack_to 0: none */
    scps_off dsack_from, dsack_to;
    /* number of acknowledgements with a SNACK that were built under an ACK budget, a limit on the
     * rate of acknowledgements without data */
    uint32_t reports;
    /* Set under an ACK budget (a limit on the rate of this end's acknowledgements without data)
     * when the delayed-ACK timer expires in strictly delayed mode (F0: this timer alone causes
     * acknowledgements). true: when SACK and SNACK have reported all received ranges beyond holes,
     * one more acknowledgement is due, which begins with the lowest range again; `anew` then
     * becomes false. */
    bool anew;
};

/* The received data that an acknowledgement reports, and what limits the report. */
struct scps_report_view {
    struct scps_conn_ctx *x;
    const struct scps_receive *rcv;
    const struct scps_agreed *agreed;
    /* offset of the peer's FIN if the FIN has arrived beyond a hole; 0: it has not */
    scps_off fin_at;
    bool budgeted; /* true: there is an ACK budget, a limit for acknowledgements without data */
};

/* Returns true in strictly delayed mode (F0): the delayed-ACK timer alone causes acknowledgements,
 * of data beyond a hole, too. */
static inline bool scps_report_strict(const struct scps_conn_config *cfg)
{
    return cfg->ack_mode == SCPS_ACK_DELAYED && !cfg->holes_at_once;
}
/* Adds SACK and SNACK options to seg, as far as they fit. Returns true if the rest of the report
 * needs another acknowledgement. */
bool scps_report_fill(struct scps_report *rep, const struct scps_report_view *v,
                      struct scps_seg *seg);
/* Records that octets have just arrived in range `run`, which lies beyond a hole (octets missing
 * from RCV.NXT on), so that the next acknowledgement has its SACK block first (RFC 2018 section
 * 4). */
void scps_report_grew(struct scps_report *rep, const struct scps_range *run);
/* Records that the octets [from, from+len) have just arrived, as a part of range `run` beyond a
 * hole. */
static inline void scps_report_arrived(struct scps_report *rep, scps_off from, uint32_t len,
                                       const struct scps_range *run)
{
    struct scps_range *last = &rep->recent[0];

    if (last->from == run->from && last->to == from && run->to == from + len)
        last->to = run->to;
    else
        scps_report_grew(rep, run);
    if (from < SCPS_MAX(rep->sacked_to, rep->snack.high))
        scps_snackrx_filled(&rep->snack, from);
}
/* Records that the octets [from, to) have arrived twice, so that a DSACK reports them (RFC
 * 2883). */
static inline void scps_report_duplicate(struct scps_report *rep, scps_off from, scps_off to)
{
    rep->dsack_from = from;
    rep->dsack_to = to;
}
/* Makes the SACK blocks and the SNACK of the next acknowledgement begin with the first range, or
 * hole, above RCV.NXT again. */
static inline void scps_report_restart(struct scps_report *rep)
{
    rep->sacked_to = 0;
    scps_snackrx_restart(&rep->snack);
}
/* Called when the delayed-ACK timer expires under an ACK budget in strictly delayed mode. SACK
 * blocks and SNACKs begin again with the lowest range and hole, not at once as after
 * scps_report_restart(), but when each range beyond a hole has been reported once. */
static inline void scps_report_next_pass(struct scps_report *rep)
{
    rep->anew = true;
}
/* Called when this end has discarded all data that it had received beyond holes (for lack of
 * memory, or because the data lies beyond the FIN of the peer). What the SACK blocks and SNACKs of
 * this end have reported is no longer valid, so the reports begin again with the lowest hole. */
void scps_report_reneged(struct scps_report *rep);

#endif
