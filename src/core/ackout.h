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
#include "core/pacer.h"
#include "core/receive.h"
#include "core/timer.h"

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

/* Without SACK each segment that fills a hole is acknowledged by itself. */
static inline void scps_ackout_one_more(struct scps_ackout *a)
{
    if (a->owed < UINT8_MAX)
        a->owed++;
}

/* What there is besides while something has arrived beyond a hole. */
struct scps_ackrx {
    uint32_t dups;     /* answers at once since the left edge moved */
    uint32_t waiting;  /* bytes beyond a hole that no acknowledgement has reported */
    uint32_t burst;    /* acknowledgements in a row that had more to say */
    scps_off told_to;  /* the next acknowledgement tells at least what came in order below */
    scps_time data_at; /* the newest data arrived; 0: none since rx came */
    /* strictly delayed mode: the last time the timer ran out with nothing new to tell, and until
     * when the next acknowledgement leaves a multiple of ack_delay after that */
    scps_time tick, ticks_end;
};

static inline void scps_ackrx_tell(struct scps_ackrx *r, scps_off to)
{
    r->told_to = to;
}
/* The left edge has moved. */
static inline void scps_ackrx_progress(struct scps_ackrx *r)
{
    r->dups = 0;
}
static inline void scps_ackrx_data(struct scps_ackrx *r, scps_time now)
{
    r->data_at = now;
}
static inline void scps_ackrx_waits(struct scps_ackrx *r, uint32_t bytes)
{
    r->waiting += bytes;
}

/* The credit of bare acknowledgements; packets count 1 in the second. */
struct scps_ackbudget {
    struct scps_pacer bytes, packets;
    struct scps_timer timer; /* both cover a bare acknowledgement that is owed */
};

/* ---- ackout.c ---- */

/* Data came in order. True: an acknowledgement is due now; else the timer runs. */
bool scps_ackout_data(struct scps_ackout *a, struct scps_conn_ctx *x, const struct scps_rx *rx,
                      const struct scps_receive *rcv);
/* The same of data beyond a hole; full: a full segment; news: the hole is new, or another is
 * smaller now. */
bool scps_ackout_beyond(struct scps_ackout *a, struct scps_conn_ctx *x, struct scps_rx *rx,
                        uint16_t full, bool news);
/* The delayed-acknowledgement timer has expired. True: an acknowledgement is due now. thin: there
 * is a budget. */
bool scps_ackout_expired(struct scps_ackout *a, struct scps_conn_ctx *x, struct scps_rx *rx,
                         const struct scps_receive *rcv, bool thin);
/* The window field of a segment that acknowledges what came before next; what it offers counts as
 * offered. */
uint16_t scps_ackout_window(struct scps_ackout *a, struct scps_conn_ctx *x,
                            const struct scps_receive *rcv, scps_off next, unsigned scale);
/* What rides on the data of who only sends: nothing has come since the last one, and the window
 * stands where it stood. False: it is not so, and nothing was done. */
bool scps_ackout_same(const struct scps_ackout *a, const struct scps_receive *rcv, uint32_t rcvbuf,
                      unsigned scale, struct scps_seg *seg);
/* Where acknowledgements may not be stretched: how far the first of the steps goes in which what
 * came in order up to `to` would have been acknowledged. */
scps_off scps_ackout_step(const struct scps_ackout *a, const struct scps_conn_config *cfg,
                          const struct scps_rx *rx, uint16_t full, scps_off to);
/* A report has more to say. False: enough of them have left in a row. */
bool scps_ackout_more(struct scps_ackrx *r, bool more);
/* What came before next is acknowledged; more: a report has more to say; step: data in order has.
 * True: another acknowledgement is due. */
bool scps_ackout_left(struct scps_ackout *a, scps_off next, bool more, bool step);
/* The acknowledgement told of what waits, and the timer stops, unless holes are the timer's to
 * tell. */
void scps_ackout_told(struct scps_ackout *a, struct scps_rx *rx, const struct scps_receive *rcv,
                      const struct scps_conn_config *cfg, bool more);
/* May a bare acknowledgement leave now? If not, the timer says when. */
bool scps_ackbudget_covers(struct scps_ackbudget *b, struct scps_conn_ctx *x);
/* One of so many octets has left. */
void scps_ackbudget_spend(struct scps_ackbudget *b, uint32_t size);

#endif
