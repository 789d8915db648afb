/* SPDX-License-Identifier: MIT */
/* Best effort, receiver: decides how long the application, which has read everything in order,
 * waits for the hole before the octets that have arrived (betsrx.c; docs/SCPS-TP.md section 7).
 *
 * Invariant: `due` is SCPS_NEVER unless everything before a hole has been read. Only this file and
 * betsrx.c assign the fields.
 */
#ifndef SCPS_CORE_BETSRX_H
#define SCPS_CORE_BETSRX_H

#include <scps/conn.h>

#include "core/receive.h"

/* The receive timer of the SCPS reference implementation, µs, which is the least one here unless
 * the application sets another. */
#define SCPS_BETS_WAIT_MIN SCPS_US(0x100001)

struct scps_betsrx {
    /* time at which the hole at due_for is given up; SCPS_NEVER: no reader waits */
    scps_time due;
    /* RCV.NXT when `due` was set: a repair since then makes `due` invalid */
    scps_off due_for;
    /* known: end of the data that had arrived when the present wait began; old: the same of the
     * wait before */
    scps_off known, old;
};

/* Returns the end of the hole for which the reader waits, having read everything before it; 0:
 * there is none. */
scps_off scps_betsrx_awaited(const struct scps_receive *rcv);
/* Returns how long the receiver waits for the octets of a hole before it gives them up, µs; srtt:
 * the smoothed round trip, µs, 0: unknown. */
scps_dur scps_betsrx_timeout(const struct scps_conn_config *cfg, scps_dur srtt);
/* Called for the hole at RCV.NXT that ends at `to`, for which the reader waits. Returns true if the
 * hole is to be given up now, because it was known during an earlier wait that has ended. Otherwise
 * returns false, and if no wait for this hole has begun, begins one that ends at time `due`, µs. */
bool scps_betsrx_look(struct scps_betsrx *w, const struct scps_receive *rcv, scps_off to,
                      scps_time due);
/* Called when the timer of the wait has expired; next: RCV.NXT; awaited: the reader waits for a
 * hole there. Returns true if that hole is to be given up; false if the timer was set for a hole
 * that has been filled meanwhile. */
bool scps_betsrx_expired(struct scps_betsrx *w, scps_off next, bool awaited);
/* Stops the wait for a hole, which is then not given up. */
static inline void scps_betsrx_stop(struct scps_betsrx *w)
{
    w->due = SCPS_NEVER;
}

#endif
