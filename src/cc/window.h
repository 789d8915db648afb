/* SPDX-License-Identifier: MIT */
/* What every window that answers to loss has in common: RFC 5681 by the byte.
 *
 *   cwnd |                  /|      /|      avoidance: a segment for every cwnd bytes acknowledged
 *        |               /   |   /   |
 *   ssthresh - - - - -/- - - |/      |      loss: down to ssthresh, once an episode
 *        |           /               |
 *        |          | slow start: a byte for a byte
 *     IW |_________/                 |___   timeout: one segment, then slow start to ssthresh
 *
 * Always true here: growth counts bytes that newly arrived, never acknowledgements, so one ACK for
 * hundreds of segments (strictly delayed ACKs, a thin return link) grows the window as much as
 * hundreds of ACKs would.  Nothing grows while the window was not what held the sender back.
 *
 * How a controller differs from Reno, in its growth and in what it keeps after a loss, is its own.
 */
#ifndef SCPS_CC_WINDOW_H
#define SCPS_CC_WINDOW_H

#include <scps/cc.h>

struct scps_win {
    uint64_t credit;   /* bytes acknowledged towards the next segment, in the grower's own scale */
    uint64_t repair;   /* after a timeout: bytes of the flight it condemned, still to be heard of */
    bool limited;      /* the window held us back at some time in this round trip */
    bool was_limited;  /* or in the one before */
    bool timed_out;    /* a timeout, and nothing has arrived since */
    bool cut;          /* the present episode has cost the window its part */
    bool spared;       /* the present episode is not the window's fault: growth goes on */
    uint8_t abc_limit; /* RFC 3465's L, segments an ACK; 0: none */
};

/* The window and threshold of a new connection. ssthresh 0: none. */
void scps_win_start(struct scps_win *w, const struct scps_cc_view *v, uint64_t ssthresh,
                    unsigned abc_limit, struct scps_cc_ctl *ctl);

/* Called first on every ACK. Whether the window limits is a question about a whole round trip: with a
 * token bucket below, each ACK of a burst finds the bucket to be the limit, and only its last segments wait
 * for the window. The bytes that may make the window grow: none while an episode lasts
 * (unless it was spared) or the window did not limit us; else those newly arrived, within L where one is set and
 * within what can have been sent since where a timeout came before. */
uint64_t scps_win_credit(struct scps_win *w, const struct scps_cc_view *v,
                         const struct scps_cc_ack *a, const struct scps_cc_ctl *ctl);

/* Below ssthresh: a byte for a byte, up to it. Returns the bytes left over for avoidance. */
uint64_t scps_win_slow_start(uint64_t bytes, struct scps_cc_ctl *ctl);

/* Avoidance: gain/256 segments for every cwnd bytes. gain 256 is Reno's one segment a round trip. */
void scps_win_avoid(struct scps_win *w, const struct scps_cc_view *v, uint64_t bytes, uint64_t gain,
                    struct scps_cc_ctl *ctl);

/* What was in flight when a loss was seen: FlightSize, but not the part of it that selective
 * acknowledgements have already taken out of the window. */
uint64_t scps_win_flight(const struct scps_cc_view *v, const struct scps_cc_ctl *ctl);

/* Loss: window and threshold to keep/1024 of flight, at least two segments. */
void scps_win_cut(struct scps_win *w, const struct scps_cc_view *v, uint64_t flight, unsigned keep,
                  struct scps_cc_ctl *ctl);

/* Loss that is not the window's fault: nothing changes, and growth does not pause for the episode. */
void scps_win_spare(struct scps_win *w);

/* Timeout: one segment; the threshold is cut by keep/1024 the first time a segment times out. */
void scps_win_rto(struct scps_win *w, const struct scps_cc_view *v, unsigned keep,
                  struct scps_cc_ctl *ctl);

/* Idle for more than an RTO: the restart window of RFC 5681 section 4.1. */
void scps_win_idle(struct scps_win *w, const struct scps_cc_view *v, struct scps_cc_ctl *ctl);

/* Another path: no acknowledgement clock there yet. Restart, remembering the old window. */
void scps_win_path(struct scps_win *w, const struct scps_cc_view *v, struct scps_cc_ctl *ctl);

/* The episode is over. */
void scps_win_recovered(struct scps_win *w, struct scps_cc_ctl *ctl);

#endif
