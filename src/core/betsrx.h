/* SPDX-License-Identifier: MIT */
/* Best effort, receiver: decides how long the application, which has read all data in order, waits
 * for the octets of the hole at RCV.NXT before the hole is given up (betsrx.c; docs/SCPS-TP.md
 * section 7).
 *
 * Invariant: `due` is SCPS_NEVER unless everything before a hole has been read. Only this file and
 * betsrx.c assign the fields.
 */
#ifndef SCPS_CORE_BETSRX_H
#define SCPS_CORE_BETSRX_H

#include <scps/conn.h>

#include "core/receive.h"

/* Least time, µs, that a best-effort receiver waits for the octets missing at RCV.NXT before it
 * gives them up; the setting bets_timeout replaces it. 1.05 s is the receive timer of the SCPS
 * reference implementation. */
#define SCPS_BETS_WAIT_MIN SCPS_US(0x100001)

struct scps_betsrx {
    /* time, µs, at which the hole at due_for (the octets missing there) is given up; SCPS_NEVER: no
     * reader waits for a hole */
    scps_time due;
    /* RCV.NXT when `due` was set; if RCV.NXT has moved since, the hole was filled and `due` is
     * invalid */
    scps_off due_for;
    /* Ends of the data that had arrived, as offsets: `known`, when the present wait for a hole
     * began; `old`, when the last wait began that ended with a hole given up. Holes below `old`
     * have waited long enough and are given up at once. */
    scps_off known, old;
    /* end of the last hole that this receiver gave up, offset: octets below it may be missing; 0:
     * none was given up */
    scps_off gave_up_to;
};

/* Returns the end of the hole for which the reader waits: the octets missing at RCV.NXT, up to
 * which the application has read all data; 0: the reader waits for no hole. */
scps_off scps_betsrx_awaited(const struct scps_receive *rcv);
/* Returns how long the receiver waits for the octets of a hole before it gives them up, µs: the
 * setting bets_timeout, or if that is 0 twice the round trip, but at least SCPS_BETS_WAIT_MIN.
 * rtt: the round trip, µs. */
scps_dur scps_betsrx_timeout(const struct scps_conn_config *cfg, scps_dur rtt);
/* Called for the hole at RCV.NXT that ends at `to`, for which the reader waits. Returns true if the
 * hole is given up now, because it existed during an earlier wait that has ended. Otherwise returns
 * false, and begins a wait that ends at time `due`, µs, unless one for this hole is in progress. */
bool scps_betsrx_look(struct scps_betsrx *w, const struct scps_receive *rcv, scps_off to,
                      scps_time due);
/* Called when the timer of the wait has expired. next: RCV.NXT; awaited: true if octets are missing
 * there and the application has read all data before them. Returns true if these octets (the hole)
 * are given up now: awaited is true, and the timer was set for this hole. Otherwise returns false,
 * and the wait has ended with nothing given up. */
bool scps_betsrx_expired(struct scps_betsrx *w, scps_off next, bool awaited);
/* Stops the timer by which this receiver would give up the octets missing at RCV.NXT (a hole): they
 * are not given up. */
static inline void scps_betsrx_stop(struct scps_betsrx *w)
{
    w->due = SCPS_NEVER;
}
/* Called when this receiver gives up the octets missing at RCV.NXT, a hole that ends at `to`, so
 * that the application can read on behind it: ends the wait for them. */
static inline void scps_betsrx_gave_up(struct scps_betsrx *w, scps_off to)
{
    w->due = SCPS_NEVER;
    w->gave_up_to = to;
}

#endif
