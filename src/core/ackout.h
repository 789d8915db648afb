/* SPDX-License-Identifier: MIT */
/* What has been acknowledged and offered to the peer, and when the next acknowledgement is due; the
 * rules are in ackout.c.
 *
 * Invariant: announced never goes back.  Only ackout.c and this file assign the fields.
 */
#ifndef SCPS_CORE_ACKOUT_H
#define SCPS_CORE_ACKOUT_H

#include <scps/wire.h>

#include "base/bytes.h"
#include "core/timer.h"

struct scps_conn;
struct scps_rx;

struct scps_ackout {
    scps_off announced;      /* the right edge that was offered last */
    struct scps_timer timer; /* a delayed acknowledgement is due */
    uint32_t acked_to;       /* the low 32 bits of the offset that was acknowledged last */
    uint32_t max_offered;    /* the largest window that was offered */
    uint32_t answered_ms;    /* last answer to a wrong segment without data; 0: there was none */
    uint16_t quick;          /* segments acknowledged one by one, up to quick_acks */
    uint8_t owed;            /* acknowledgements behind the next: without SACK each counts */
};

/* A window of `wnd` octets from offset 1 on counts as offered, and the peer's SYN as acknowledged:
 * nothing but that SYN has arrived. */
static inline void scps_ackout_begin(struct scps_ackout *a, uint32_t wnd)
{
    a->announced = 1 + (scps_off)wnd;
    a->acked_to = 1;
}
/* May a segment that is wrong and has no data be answered? At most twice a second, or two ends that
 * disagree acknowledge each other for ever (RFC 5961 section 10). */
static inline bool scps_ackout_may_answer(struct scps_ackout *a, scps_time now)
{
    uint32_t ms = (uint32_t)(now / 1000);

    if (a->answered_ms && ms - a->answered_ms < 500)
        return false;
    a->answered_ms = SCPS_MAX(ms, 1);
    return true;
}

/* ---- ackout.c ---- */

void scps_ackout_now(struct scps_conn *c);
/* All that was held beyond a hole has been discarded: no report stands any more. */
void scps_ackout_reneged(struct scps_rx *rx);
/* May a bare acknowledgement leave now, by the budget? If not, the connection is woken when it
 * may. */
bool scps_ackout_within_budget(struct scps_conn *c);
/* One has left. */
void scps_ackout_spend(struct scps_conn *c, const struct scps_seg *seg);
/* The delayed-acknowledgement timer has expired. */
void scps_ackout_timer(struct scps_conn *c);
/* Data came in order; at_once: it filled a hole, or was here already. */
void scps_ackout_data(struct scps_conn *c, bool at_once);
/* [from, from+len) came beyond a hole; news: the hole is new, or another is smaller now. */
void scps_ackout_beyond(struct scps_conn *c, scps_off from, uint32_t len, bool news);
/* Fills in ack, window, SACK of a segment that leaves now, and takes it as sent. */
void scps_ackout_fill(struct scps_conn *c, struct scps_seg *seg);

#endif
