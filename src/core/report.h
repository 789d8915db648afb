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
    /* In strictly delayed mode (F0) and under an ACK budget, SACK blocks report the ranges beyond
     * holes in ascending order: offset up to which they have reported them since the lowest one. */
    scps_off sacked_to;
    /* duplicate octets [dsack_from, dsack_to) to be reported once; dsack_to 0: none */
    scps_off dsack_from, dsack_to;
    /* number of reports (acknowledgements with SACK or SNACK) since the connection began that were
     * sent while an ACK budget limits the acknowledgements without data */
    uint32_t reports;
    /* true: when every range beyond a hole has been reported once, the next acknowledgement reports
     * them again, beginning with the first one */
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
/* Records that range `run` beyond a hole has grown last, so that SACK reports it first (RFC 2018
 * section 4). */
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
/* scps_report_restart() makes the next acknowledgement report from the first range on;
 * scps_report_next_pass() does so only after each range has been reported once. */
static inline void scps_report_restart(struct scps_report *rep)
{
    rep->sacked_to = 0;
    scps_snackrx_restart(&rep->snack);
}
static inline void scps_report_next_pass(struct scps_report *rep)
{
    rep->anew = true;
}
/* Called when all data beyond holes has been discarded, so that no earlier report is valid any
 * more. */
void scps_report_reneged(struct scps_report *rep);

#endif
