/* SPDX-License-Identifier: MIT */
/* Best effort, sender: which data is given up, and when (bets.c; docs/SCPS-TP.md section 7).
 *
 * Invariant: peer_una is never ahead of SND.UNA, and lags behind it only while SND.UNA is
 * gave_up_to. Only this file and bets.c assign the fields.
 */
#ifndef SCPS_CORE_BETS_H
#define SCPS_CORE_BETS_H

#include "core/sender.h"

struct scps_bets {
    scps_off gave_up_to; /* SND.UNA that this end moved by itself */
    scps_off peer_una;   /* SND.UNA by the peer's acknowledgements */
    /* time at which this end last moved SND.UNA, or the window opened for what was only probed */
    scps_time gave_up_at;
    /* when SND.UNA last moved, for the lifetime of data sent before life_nxt */
    scps_time life_since;
    scps_off life_nxt;
};

/* Records that the peer's acknowledgement stands at ack, which this end has passed by itself. */
static inline void scps_bets_heard(struct scps_bets *b, scps_off ack)
{
    b->peer_una = ack;
}
/* The peer's window has opened for the octet at SND.UNA, which only window probes have carried:
 * from now on it is sent as often, and has as long, as other data. */
void scps_bets_window_opened(struct scps_bets *b, struct scps_sent_segment *probe, scps_time now);
/* Returns true when the peer has reported data at SND.UNA that its acknowledgement cannot reach
 * yet; *ack is then the offset behind it. Never beyond edge, the peer's window: there the report is
 * false, and from an SND.UNA beyond it no acknowledgement would be acceptable to the peer. */
bool scps_bets_pass(struct scps_bets *b, const struct scps_scoreboard *sb, scps_off una,
                    scps_off edge, scps_off *ack);
/* Gives up the oldest segment, at SND.UNA = una, and what has arrived right behind it. Returns the
 * new SND.UNA; *end: the end of what is given up. */
scps_off scps_bets_give_up(struct scps_bets *b, struct scps_scoreboard *sb, scps_off una,
                           scps_time now, scps_off *end);
/* Returns the oldest segment if it can be given up: it has data, has not arrived, and the peer's
 * window has room behind it; NULL if not. */
const struct scps_sent_segment *scps_bets_oldest(const struct scps_scoreboard *sb, scps_off edge);
/* Returns true if the oldest segment is to be given up: it lies below `old`, all of which has been
 * outstanding for too long, or is to be sent again after `retries` times. */
bool scps_bets_is_due(const struct scps_scoreboard *sb, scps_off edge, scps_off old,
                      uint32_t retries);
/* Returns when the oldest segment has been outstanding for too long; SCPS_NEVER: it has no limit,
 * or cannot be given up. */
scps_time scps_bets_until(const struct scps_sender *s);
/* Returns the same for setting the timer: the time at which all the data sent so far is too old. */
scps_time scps_bets_arm(struct scps_sender *s);
/* Returns the end of the data that has been outstanding for too long; 0: there is none. */
scps_off scps_bets_old(const struct scps_sender *s);
/* Returns true if a silent peer does not end the connection, because there is data that can be
 * given up instead. */
bool scps_bets_keeps_open(const struct scps_sender *s);
/* Returns true if an acknowledgement that moves SND.UNA from `una` comes so soon after the segment
 * there was sent first, at `sent`, that the segment has arrived: the receiver cannot have given it
 * up yet. */
bool scps_bets_is_arrival(const struct scps_sender *s, scps_off una, scps_time sent);

#endif
