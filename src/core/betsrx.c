/* SPDX-License-Identifier: MIT */
/* Best effort, receiver (docs/SCPS-TP.md section 7): octets that arrive are delivered complete, in
 * order and at their position; a hole (octets missing at RCV.NXT, while later ones have arrived) is
 * given up after a time and reported to the application.
 *
 * When the application has read all data in order and data has arrived beyond a hole, a timer
 * starts. When it expires, RCV.NXT moves past the hole, the acknowledgement of that is sent at once
 * in every mode, and reading stops at the hole until the application has called scps_conn_hole():
 * octets behind a hole are never returned as if there were none. Until that call, octets of the
 * hole that arrive late still shorten it, at its beginning or its end. Other holes that existed
 * when the timer started have waited as long when reading reaches them, so they are given up
 * without a further wait. The reference implementation waits again for each one, which on a bad
 * link without a return path takes a second for each hole. At most one hole at a time is given up
 * and not yet reported to the application.
 *
 * A FIN ends the stream only when the hole before it has been reported. The timer does not run
 * during an outage that a link signal has announced, and begins anew after it. It does run during
 * an outage that this end has only inferred: that shows that this end's data is not acknowledged,
 * not that the peer's data cannot arrive.
 */
#include "core/betsrx.h"

#include "base/bytes.h"
#include "core/rx.h"

/* Returns the end of the hole at RCV.NXT, the octets missing there, if octets or the FIN have
 * arrived behind them; 0: there is no hole. Octets that a faulty peer sends beyond its FIN are
 * ignored. */
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

/* Returns the offset after the highest octet that has arrived out of order (with octets before it
 * missing), or the offset of the peer's FIN if that is higher. Precondition: such an octet or the
 * FIN has arrived, so rcv->rx is not NULL. */
static scps_off highest(const struct scps_receive *rcv)
{
    uint32_t n = rcv->in.ooo->n;
    scps_off to = n ? scps_rangeset_at(rcv->in.ooo, n - 1)->to : 0;

    return SCPS_MAX(to, rcv->rx->fin_at);
}

scps_off scps_betsrx_awaited(const struct scps_receive *rcv)
{
    return rcv->in.read == rcv->in.next ? beyond(rcv) : 0;
}

scps_dur scps_betsrx_timeout(const struct scps_conn_config *cfg, scps_dur rtt)
{
    if (cfg->bets_timeout)
        return cfg->bets_timeout;
    return SCPS_MAX(SCPS_BETS_WAIT_MIN, 2 * SCPS_MAX(cfg->expected_rtt, rtt));
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
