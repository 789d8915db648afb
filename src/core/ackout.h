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

/* Without SACK each segment that fills a hole is acknowledged by itself. */
static inline void scps_ackout_one_more(struct scps_ackout *a)
{
    if (a->owed < UINT8_MAX)
        a->owed++;
}

/* What there is besides while something has arrived beyond a hole. */
struct scps_ackrx {
    uint32_t dups;    /* immediate acknowledgements since RCV.NXT moved */
    uint32_t waiting; /* bytes beyond a hole that no acknowledgement has reported yet */
    uint32_t burst;   /* consecutive acknowledgements that could not report everything */
    /* the next acknowledgement covers at least the data in order below this offset */
    scps_off told_to;
    scps_time data_at; /* time of the newest data; 0: none since rx was made */
    /* Strictly delayed mode: the last time the timer expired with nothing new to report, and until
     * when the next acknowledgement is sent at a multiple of ack_delay after that */
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

/* The credit of bare acknowledgements, in bytes and in packets, each of which counts 1. */
struct scps_ackbudget {
    struct scps_pacer bytes, packets;
    struct scps_timer timer; /* expires when both buckets cover the acknowledgement that is owed */
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
/* Fast path: nothing was received since the last acknowledgement, so a data segment repeats its ack
 * and window. Returns false, with nothing done, if that is not the case. */
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
