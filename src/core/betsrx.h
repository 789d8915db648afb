/* SPDX-License-Identifier: MIT */
/* Best effort, receiver: how long a reader waits for the hole before the octets that have arrived
 * (betsrx.c; docs/SCPS-TP.md section 7).
 *
 * Invariant: due is SCPS_NEVER unless a reader has read all that lies before a hole. Only this file
 * and betsrx.c assign the fields.
 */
#ifndef SCPS_CORE_BETSRX_H
#define SCPS_CORE_BETSRX_H

#include <scps/conn.h>

#include "core/receive.h"

/* The receive timer of the SCPS reference implementation, and the least one here unless the
 * application sets another. */
#define SCPS_BETS_WAIT_MIN SCPS_US(0x100001)

struct scps_betsrx {
    /* time at which the hole at due_for is given up; SCPS_NEVER: no reader waits */
    scps_time due;
    /* RCV.NXT when `due` was set: a repair since then makes `due` invalid */
    scps_off due_for;
    /* known: end of what had arrived when the wait began; old: the same when the last wait ended */
    scps_off known, old;
};

/* Returns the end of the hole for whose repair the reader waits, having read everything before it;
 * 0: it waits for none. */
scps_off scps_betsrx_awaited(const struct scps_receive *rcv);
/* Returns how long a hole is waited for; srtt: the smoothed round trip, 0: unknown. */
scps_dur scps_betsrx_timeout(const struct scps_conn_config *cfg, scps_dur srtt);
/* Called for the hole that ends at `to`, for which the reader waits. Returns true if the hole is
 * given up now, because it has been waited for already; else the wait runs, up to `due` if it
 * begins now. */
bool scps_betsrx_look(struct scps_betsrx *w, const struct scps_receive *rcv, scps_off to,
                      scps_time due);
/* Called when the wait is over; next: RCV.NXT. Returns true if the hole there is given up, false if
 * the wait was for one that has been repaired meanwhile. awaited: a hole is there. */
bool scps_betsrx_expired(struct scps_betsrx *w, scps_off next, bool awaited);
/* Stops the wait for a hole, which is then not given up. */
static inline void scps_betsrx_stop(struct scps_betsrx *w)
{
    w->due = SCPS_NEVER;
}

#endif
