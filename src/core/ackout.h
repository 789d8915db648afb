/* SPDX-License-Identifier: MIT */
/* State of the acknowledgements that this end sends: up to which octet they go, which window they
 * have offered to the peer, and when the next one is due. ackout.c has the rules.
 *
 * Invariant: `announced`, the right edge of the window offered to the peer, never decreases (RFC
 * 9293 section 3.8.6). Only ackout.c and this file assign the fields of the structures below.
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
    /* highest right edge of the window (SEG.ACK + SEG.WND) that this end has offered to the peer,
     * offset in the peer's stream */
    scps_off announced;
    struct scps_timer timer; /* timer of a delayed acknowledgement */
    /* low 32 bits of the offset up to which this end has acknowledged the peer's data */
    uint32_t acked_to;
    /* largest window (scaled SEG.WND) that this end has offered to the peer in a segment with ACK,
     * bytes; 0: it has sent none yet */
    uint32_t max_offered;
    /* time, ms, at which an unacceptable segment without data, or any segment by a challenge ACK,
     * was last answered; 0: never */
    uint32_t answered_ms;
    /* number of segments at the beginning of the connection that were acknowledged one by one, up
     * to quick_acks */
    uint16_t quick;
    /* number of acknowledgements to send after the next one: without SACK each segment that came
     * out of order, came twice or filled a hole (octets missing at RCV.NXT) needs an
     * acknowledgement of its own */
    uint8_t extra_acks;
    /* number of full segments in a row, up to ALONE (ackout.c), for each of which the delayed-ACK
     * timer expired */
    uint8_t alone;
};

/* Initialises a. Called when the peer's SYN has arrived: that SYN counts as acknowledged, and a
 * window of `wnd` octets behind it (from offset 1 on) as offered. */
static inline void scps_ackout_begin(struct scps_ackout *a, uint32_t wnd)
{
    a->announced = 1 + (scps_off)wnd;
    a->acked_to = 1;
}
/* Returns true if an unacceptable segment without data may be answered now, or a challenge ACK
 * sent. The limit of two a second prevents two ends that disagree from acknowledging each other for
 * ever (RFC 5961 section 10). */
static SCPS_INLINE_SPEED bool scps_ackout_may_answer(struct scps_ackout *a, scps_time now)
{
    uint32_t ms = (uint32_t)(now / 1000);

    if (a->answered_ms && ms - a->answered_ms < 500)
        return false;
    a->answered_ms = SCPS_MAX(ms, 1);
    return true;
}

/* Called when a full segment has arrived, `gap` µs after the data before it. If the gap is at most
 * `delay`, one delayed acknowledgement can cover two segments, so the acknowledgement of the peer's
 * next full segment is delayed again, also if each one was sent at once because the delayed-ACK
 * timer had expired for ALONE segments in a row. */
static inline void scps_ackout_full(struct scps_ackout *a, scps_dur gap, scps_dur delay)
{
    if (gap <= delay)
        a->alone = 0;
}
/* Called when the application of this end writes: the acknowledgement of the peer's next full
 * segment is delayed again, also if each one was sent at once because the delayed-ACK timer had
 * expired for ALONE segments in a row. The segments with the application's data may carry it. */
static inline void scps_ackout_wrote(struct scps_ackout *a)
{
    a->alone = 0;
}

/* Makes one more acknowledgement due: without SACK each segment that comes out of order, comes
 * twice or fills a hole (octets missing at RCV.NXT) needs an acknowledgement of its own. */
static inline void scps_ackout_one_more(struct scps_ackout *a)
{
    if (a->extra_acks < UINT8_MAX)
        a->extra_acks++;
}

/* Fields for acknowledgements of out-of-order data: data that this end has received although octets
 * before it, from RCV.NXT on, are missing (a hole). They are part of struct scps_rx, which is
 * allocated when it is first needed (rx.h). */
struct scps_ackrx {
    /* number of out-of-order segments that were acknowledged at once since RCV.NXT last advanced */
    uint32_t dups;
    /* bytes of out-of-order data that arrived since the last acknowledgement was sent */
    uint32_t unreported;
    /* number of acknowledgements in a row that had no room for all SACK and SNACK reports */
    uint32_t burst;
    /* Used if the setting stretch_acks is off: one acknowledgement then advances by at most two
     * full segments. Exception: it may advance to this offset, RCV.NXT when an acknowledgement last
     * became due at once, for example since data filled a hole (octets missing at RCV.NXT). */
    scps_off cover_to;
    /* arrival time of the newest data, µs; 0: none since this structure was created */
    scps_time data_at;
    /* Strictly delayed mode (ack_mode SCPS_ACK_DELAYED without holes_at_once: new data is
     * acknowledged only when the delayed-ACK timer expires): `tick` is the time, µs, at which that
     * timer last expired with nothing new to report, while octets were missing at RCV.NXT. The
     * timer is then off until data arrives. Data that arrives before the time `ticks_end`, µs, is
     * acknowledged at the next multiple of ack_delay after `tick`, later data ack_delay after its
     * arrival. ticks_end is set with `tick`, to about 16 times ack_delay after the newest data
     * (DELACK_MAX_IDLE); 0: `tick` has no effect. */
    scps_time tick, ticks_end;
};

static inline void scps_ackrx_must_cover(struct scps_ackrx *r, scps_off to)
{
    r->cover_to = to;
}
/* Called when RCV.NXT has advanced: the count `dups`, of out-of-order segments that were
 * acknowledged at once, restarts at 0. */
static inline void scps_ackrx_progress(struct scps_ackrx *r)
{
    r->dups = 0;
}
static inline void scps_ackrx_data(struct scps_ackrx *r, scps_time now)
{
    r->data_at = now;
}
static inline void scps_ackrx_add_unreported(struct scps_ackrx *r, uint32_t bytes)
{
    r->unreported += bytes;
}

/* The acknowledgement budget of this end: two token buckets that limit the acknowledgements without
 * data that it sends, to ack_budget bytes/s and to ack_budget_pps packets/s. */
struct scps_ackbudget {
    struct scps_pacer bytes, packets;
    /* timer that expires when both buckets hold enough for the acknowledgement that is due */
    struct scps_timer timer;
};

/* ---- functions in ackout.c, which decide when to acknowledge ---- */

/* Called when data came in order. Returns true if an acknowledgement is due now; otherwise starts
 * the delayed-acknowledgement timer. */
bool scps_ackout_data(struct scps_ackout *a, struct scps_conn_ctx *x, const struct scps_rx *rx,
                      const struct scps_receive *rcv);
/* Called when this end has received out-of-order data, with octets missing before it (a hole).
 * full: payload of a full segment, bytes; hole_changed: the hole is new, or another hole has become
 * smaller. Returns true if an acknowledgement is due now; otherwise starts the
 * delayed-acknowledgement timer. */
bool scps_ackout_beyond(struct scps_ackout *a, struct scps_conn_ctx *x, struct scps_rx *rx,
                        uint16_t full, bool hole_changed);
/* Called when the delayed-acknowledgement timer has expired. budgeted: a limit of the rate of
 * acknowledgements without data (scps_ackbudget below) is in force. Returns true if an
 * acknowledgement is due now. */
bool scps_ackout_expired(struct scps_ackout *a, struct scps_conn_ctx *x, struct scps_rx *rx,
                         const struct scps_receive *rcv, bool budgeted);
/* Returns the window field (SEG.WND, scaled) for a segment with SEG.ACK `next`, and stores in
 * a->announced the right edge that the field offers. */
uint16_t scps_ackout_window(struct scps_ackout *a, struct scps_conn_ctx *x,
                            const struct scps_receive *rcv, scps_off next, unsigned scale);
/* Fast path for a data segment: if RCV.NXT is acknowledged already, no acknowledgement is due and
 * the window is no larger than the one offered before, fills in SEG.ACK and SEG.WND of seg and
 * returns true. Otherwise returns false and changes nothing. */
bool scps_ackout_same(const struct scps_ackout *a, const struct scps_receive *rcv, uint32_t rcvbuf,
                      unsigned scale, struct scps_seg *seg);
/* Used when stretch_acks is off (when it is on, an acknowledgement covers all data in order):
 * returns SEG.ACK, as an offset, for the next acknowledgement when data has arrived in order up to
 * `to`. It is at most one full segment above the last SEG.ACK with SCPS_ACK_EVERY and for the first
 * quick_acks segments, two with SCPS_ACK_OTHER, but always covers data that filled a hole; with
 * SCPS_ACK_DELAYED it is `to`. full: payload of a full segment, bytes. */
scps_off scps_ackout_step(const struct scps_ackout *a, const struct scps_conn_config *cfg,
                          const struct scps_rx *rx, uint16_t full, scps_off to);
/* Called when an acknowledgement with reports is built. more: it had no room for some SACK or SNACK
 * reports. Returns true if another acknowledgement must follow for the rest; false if nothing is
 * left, or the limit of consecutive ones (BURST) is reached. */
bool scps_ackout_more(struct scps_ackrx *r, bool more);
/* Records that an acknowledgement with SEG.ACK `next`, an offset, was built. more: it had no room
 * for some SACK or SNACK reports; step: it does not cover all data in order, because the setting
 * stretch_acks is off, so that it advances by one or two full segments at most. Returns true if
 * another acknowledgement is due. */
bool scps_ackout_sent(struct scps_ackout *a, scps_off next, bool more, bool step);
/* Records that an acknowledgement was built which reports all out-of-order data by SACK or SNACK,
 * unless `more` says that not all of it fitted. Stops the delayed-ACK timer, except in strictly
 * delayed mode (ack_mode SCPS_ACK_DELAYED without holes_at_once) while octets are missing at
 * RCV.NXT: there only the next expiry of the timer causes the next report. */
void scps_ackout_reported(struct scps_ackout *a, struct scps_rx *rx, const struct scps_receive *rcv,
                          const struct scps_conn_config *cfg, bool more);
/* Returns true if the budget permits an acknowledgement without data now. If not, sets the budget's
 * timer to the time at which it will. */
bool scps_ackbudget_covers(struct scps_ackbudget *b, struct scps_conn_ctx *x);
/* Called when an acknowledgement without data was sent, of `size` octets: subtracts `size` from the
 * token bucket of bytes, and 1 from that of packets. */
void scps_ackbudget_spend(struct scps_ackbudget *b, uint32_t size);

#endif
