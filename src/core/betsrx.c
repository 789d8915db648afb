/* SPDX-License-Identifier: MIT */
/* Best effort, receiver (docs/SCPS-TP.md section 7).
 *
 * When everything in order has been read and something waits beyond a hole, a timer starts. Then
 * the acknowledgement jumps over the hole, at once and in every mode, and reading stops there until
 * the application has taken note (scps_conn_hole): octets behind a hole are never given out as if
 * there were none. Until then late octets still fill it, from either end. Holes that were known
 * when the timer started have waited as long when their turn comes, so they go without waiting
 * again; the reference implementation waits anew for each, which on a bad link with no way back is
 * a second a hole. Only one hole at a time is given up and not told.
 *
 * A FIN ends the stream only when the hole before it has been told. While the link is out no time
 * passes.
 */
#include "core/betsrx.h"

#include "base/bytes.h"
#include "core/rx.h"

/* Returns the end of the hole at RCV.NXT behind which octets or the FIN have arrived; 0: there is
 * no hole. What a faulty peer sends beyond its FIN does not count. */
static scps_off beyond(const struct scps_receive *rcv)
{
    scps_off fin = rcv->rx ? rcv->rx->fin_at : 0, to = fin;

    if (rcv->fin)
        return 0;
    if (rcv->in.ooo->n) {
        to = scps_rangeset_at(rcv->in.ooo, 0)->from;
        to = fin ? SCPS_MIN(fin, to) : to;
    }
    return to > rcv->in.next ? to : 0;
}

/* Returns the end of the highest octets that have arrived beyond a hole, or of the FIN. */
static scps_off highest(const struct scps_receive *rcv)
{
    uint32_t n = rcv->in.ooo->n;
    scps_off to = n ? scps_rangeset_at(rcv->in.ooo, n - 1)->to : 0;

    return rcv->rx ? SCPS_MAX(to, rcv->rx->fin_at) : to;
}

scps_off scps_betsrx_awaited(const struct scps_receive *rcv)
{
    return rcv->in.read == rcv->in.next ? beyond(rcv) : 0;
}

scps_dur scps_betsrx_timeout(const struct scps_conn_config *cfg, scps_dur srtt)
{
    if (cfg->bets_timeout)
        return cfg->bets_timeout;
    return SCPS_MAX(SCPS_BETS_WAIT_MIN, 2 * SCPS_MAX(cfg->expected_rtt, srtt));
}

bool scps_betsrx_look(struct scps_betsrx *w, const struct scps_receive *rcv, scps_off to,
                      scps_time due)
{
    if (to <= w->old)
        return true;
    if (w->due == SCPS_NEVER || w->due_for != rcv->in.next) {
        w->due_for = rcv->in.next;
        w->known = highest(rcv);
        w->due = due;
    }
    return false;
}

bool scps_betsrx_expired(struct scps_betsrx *w, scps_off next, bool awaited)
{
    w->due = SCPS_NEVER;
    if (!awaited || w->due_for != next)
        return false;
    w->old = w->known;
    return true;
}
