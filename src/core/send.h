/* SPDX-License-Identifier: MIT */
/* The send sequence space of a connection (RFC 9293 section 3.3.1), in offsets of the stream that
 * this end sends: the SYN has offset 0, and the FIN has offset `end`.
 *
 * Invariant: una <= nxt <= end + 1, and nxt > end only when the FIN has been sent. una and nxt
 * never decrease; edge may, when the peer shrinks its window. Only this file assigns the fields.
 */
#ifndef SCPS_CORE_SEND_H
#define SCPS_CORE_SEND_H

#include "base/bytes.h"
#include "base/rangeset.h"

struct scps_send {
    uint32_t iss; /* ISS: sequence number of this end's SYN, the octet with offset 0 */
    /* SND.WL1 and SND.WL2: SEG.SEQ and SEG.ACK of the segment that last updated the window */
    uint32_t wl1, wl2;
    /* MAX.SND.WND (RFC 5961 section 5.2): the largest window that the peer has offered, octets */
    uint32_t max_wnd : 31;
    /* 1: the application has shut down sending, so a FIN follows the last octet */
    uint32_t shut : 1;
    /* SND.UNA: all octets below are acknowledged, or this end has given them up (best effort) */
    scps_off una;
    scps_off nxt; /* SND.NXT: all octets below have been sent */
    /* end of the data that the application has written; the FIN does not count */
    scps_off end;
    scps_off edge; /* SND.UNA + SND.WND: right edge of the peer's window */
};

/* Effect of a segment's window field on the right edge: it is older than the last window update
 * (OLD), it leaves the edge unchanged (SAME), or it moves the edge (MOVED). */
enum scps_window { SCPS_WINDOW_OLD, SCPS_WINDOW_SAME, SCPS_WINDOW_MOVED };

/* Initialises s: nothing is written, and the first octet of data has offset 1. */
static inline void scps_send_init(struct scps_send *s)
{
    s->end = 1;
}
/* Sets ISS, the sequence number of this end's SYN. */
static inline void scps_send_begin(struct scps_send *s, uint32_t iss)
{
    s->iss = iss;
}
/* Records that the peer's SYN, with sequence number seq, offered a window of wnd octets. */
static inline void scps_send_offered(struct scps_send *s, uint32_t seq, uint32_t wnd)
{
    s->wl1 = seq;
    s->max_wnd = wnd & INT32_MAX;
    s->edge = 1 + (scps_off)wnd;
}
/* Called when the acknowledgement of this end's SYN has arrived, in a segment with sequence number
 * seq: sets SND.WL1 so that this segment updates the window even if it is older than the peer's SYN
 * by SND.WL1 and SND.WL2. */
static inline void scps_send_update_next(struct scps_send *s, uint32_t seq)
{
    s->wl1 = seq - 1;
}
/* Called by header prediction for a segment with sequence number seq that acknowledges all data
 * sent and offers the same window: updates SND.WL1 and SND.WL2 as a window update would. */
static inline void scps_send_confirmed(struct scps_send *s, uint32_t seq)
{
    s->wl1 = seq;
    s->wl2 = (uint32_t)s->una;
}
/* Processes a window update: a segment with sequence number seq and acknowledgement ack offers wnd
 * octets (RFC 9293 section 3.10.7.4, fifth check). */
static inline enum scps_window scps_send_window(struct scps_send *s, uint32_t seq, scps_off ack,
                                                uint64_t wnd)
{
    int32_t newer = (int32_t)(seq - s->wl1);

    if (newer < 0 || (newer == 0 && (int32_t)((uint32_t)ack - s->wl2) < 0))
        return SCPS_WINDOW_OLD;
    s->wl1 = seq;
    s->wl2 = (uint32_t)ack;
    if (s->edge == ack + wnd)
        return SCPS_WINDOW_SAME;
    s->edge = ack + wnd;
    if (wnd > s->max_wnd) /* wnd is at most 65535 << 14, so it fits 31 bits. */
        s->max_wnd = wnd & INT32_MAX;
    return SCPS_WINDOW_MOVED;
}
/* Called for an unacceptable segment of the peer that acknowledges everything below `to`. Its
 * window is not used, but the peer has accepted data up to `to`, so the right edge of its window is
 * at least `to`. Precondition: to <= SND.NXT. */
static inline void scps_send_reached(struct scps_send *s, scps_off to)
{
    s->edge = SCPS_MAX(s->edge, to);
}
/* Moves SND.UNA to una, because the data below is acknowledged, or given up (best effort). */
static inline void scps_send_acked(struct scps_send *s, scps_off una)
{
    s->una = una;
}
/* Records that the next `takes` sequence numbers are sent for the first time (SND.NXT advances). */
static inline void scps_send_left(struct scps_send *s, uint32_t takes)
{
    s->nxt += takes;
}
/* scps_send_fin_sent() returns true if the FIN has been sent, scps_send_fin_acked() if it has been
 * acknowledged. */
static inline bool scps_send_fin_sent(const struct scps_send *s)
{
    return s->nxt > s->end;
}
static inline bool scps_send_fin_acked(const struct scps_send *s)
{
    return s->una > s->end;
}
/* Restores the state of a connection made from a SYN cookie, whose peer has acknowledged all below
 * una. */
static inline void scps_send_resume(struct scps_send *s, scps_off una)
{
    s->una = s->nxt = una;
}
/* scps_send_wrote() records that the application has written n octets, scps_send_shut() that it
 * writes nothing more. */
static inline void scps_send_wrote(struct scps_send *s, uint64_t n)
{
    s->end += n;
}
static inline void scps_send_shut(struct scps_send *s)
{
    s->shut = 1;
}
/* Returns the end of the stream, including its FIN if sending has been shut down. */
static SCPS_INLINE_SPEED scps_off scps_send_fin_end(const struct scps_send *s)
{
    return s->end + s->shut;
}
/* Returns true if all data written, and the FIN after a shutdown, has been sent at least once. */
static inline bool scps_send_all_sent(const struct scps_send *s)
{
    return s->nxt >= scps_send_fin_end(s);
}
/* Returns the offset whose sequence number a segment without data gets: SND.NXT, or if the right
 * edge of the peer's window is lower, that edge, but at least SND.UNA. SND.NXT is above the edge
 * after a window probe that was refused, or when the peer has shrunk its window; the peer would
 * ignore a segment there as not acceptable (RFC 9293 section 3.10.7.4). */
static SCPS_INLINE_SPEED scps_off scps_send_acceptable(const struct scps_send *s)
{
    return s->nxt <= s->edge ? s->nxt : SCPS_MAX(s->edge, s->una);
}
/* Returns true if `usable` octets of the peer's window are worth a segment by RFC 9293 section
 * 3.8.6.2.1: rule (1), a full segment (Eff.snd.MSS), or rule (3), half of Max(SND.WND). */
static inline bool scps_send_worth(const struct scps_send *s, uint32_t mss, uint64_t usable)
{
    return usable >= mss || 2 * usable >= s->max_wnd;
}
/* Returns true if nothing is outstanding and the peer's window permits only a part of the waiting
 * data that is too small to be worth a segment. Then the override timer sends it nevertheless (RFC
 * 9293 section 3.8.6.2.1, rule (4)). */
static inline bool scps_send_awaits_override(const struct scps_send *s, uint32_t mss)
{
    return s->una == s->nxt && s->edge > s->nxt && s->edge < s->end &&
           !scps_send_worth(s, mss, s->edge - s->nxt);
}
/* Returns the number of octets in the send buffer: those written and not acknowledged. */
static inline uint64_t scps_send_held(const struct scps_send *s)
{
    return s->end - SCPS_MAX(s->una, 1);
}

#endif
