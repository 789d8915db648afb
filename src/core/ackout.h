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
    scps_off announced;      /* right edge of the window offered last */
    struct scps_timer timer; /* timer of a delayed acknowledgement */
    uint32_t acked_to;       /* the low 32 bits of the offset that was acknowledged last */
    uint32_t max_offered;    /* the largest window that was offered */
    /* time of the last answer to an unacceptable segment without data, ms; 0: there was none */
    uint32_t answered_ms;
    uint16_t quick; /* segments acknowledged each by itself, up to quick_acks */
    /* acknowledgements due after the next one: without SACK each duplicate counts */
    uint8_t owed;
};

/* Initialises: a window of `wnd` octets from offset 1 on counts as offered, and the peer's SYN
 * as acknowledged: nothing but that SYN has arrived. */
static inline void scps_ackout_begin(struct scps_ackout *a, uint32_t wnd)
{
    a->announced = 1 + (scps_off)wnd;
    a->acked_to = 1;
}
/* Returns true if an unacceptable segment without data may be answered: at most twice a second, or
 * two ends that disagree would acknowledge each other for ever (RFC 5961 section 10). */
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
/* All data held beyond holes has been discarded, so no report is valid any more. */
void scps_ackout_reneged(struct scps_rx *rx);
/* Returns true if the budget permits an acknowledgement without data now. If not, the connection is
 * woken when it does. */
bool scps_ackout_within_budget(struct scps_conn *c);
/* Charges an acknowledgement without data that was sent. */
void scps_ackout_spend(struct scps_conn *c, const struct scps_seg *seg);
/* Handles the expiry of the delayed-acknowledgement timer. */
void scps_ackout_timer(struct scps_conn *c);
/* Decides when to acknowledge data that came in order; at_once: it filled a hole, or was a
 * duplicate. */
void scps_ackout_data(struct scps_conn *c, bool at_once);
/* Decides when to acknowledge [from, from+len), which came beyond a hole; news: the hole is new, or
 * another became smaller. */
void scps_ackout_beyond(struct scps_conn *c, scps_off from, uint32_t len, bool news);
/* Fills in ack, window and SACK of a segment that is sent now, and records them as sent. */
void scps_ackout_fill(struct scps_conn *c, struct scps_seg *seg);

#endif
