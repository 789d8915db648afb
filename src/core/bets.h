/* SPDX-License-Identifier: MIT */
/* Best effort, sender: decides which unacknowledged data is given up, and when (bets.c;
 * docs/SCPS-TP.md section 7).
 *
 * Invariant: `peer_una`, the highest SEG.ACK of the peer, is never above SND.UNA; it is below
 * SND.UNA only while SND.UNA equals `gave_up_to`, to which this end moved SND.UNA when it last gave
 * up data. Only this file and bets.c assign the fields of struct scps_bets.
 */
#ifndef SCPS_CORE_BETS_H
#define SCPS_CORE_BETS_H

#include "core/sender.h"

struct scps_bets {
    /* the offset (octets, counted from this end's SYN) to which this end last moved SND.UNA past
     * data that it gave up; 0: it gave up none */
    scps_off gave_up_to;
    scps_off peer_una; /* highest SEG.ACK of the peer; valid while SND.UNA is gave_up_to */
    /* Later one of two times, µs: when this end last gave up data by best effort, and when the peer
     * last opened a window that this end had probed with data; 0: neither has happened. The
     * lifetime (bets_lifetime) of outstanding data begins at this time or, if that is later, at
     * scps_tx.progress_at (SND.UNA last moved). */
    scps_time gave_up_at;
    /* Start, µs, of the lifetime (bets_lifetime) of the data below life_nxt: the later of
     * gave_up_at and scps_tx.progress_at (SND.UNA last moved), as of the last call of
     * scps_bets_arm(). */
    scps_time life_since;
    /* SND.NXT when life_since was set. The lifetime of outstanding data below life_nxt began at
     * life_since; that of data from life_nxt on, which was sent later, begins when life_since is
     * next set to a later time. */
    scps_off life_nxt;
};

/* Records that the peer has acknowledged the octets below `ack`, an offset below SND.UNA, which
 * this end moved ahead of the peer's acknowledgements when it gave up data. */
static inline void scps_bets_heard(struct scps_bets *b, scps_off ack)
{
    b->peer_una = ack;
}
/* Called when the peer's window opens for the octet at SND.UNA, which only window probes have
 * carried so far. The probes no longer count among the bets_retries resends after which best effort
 * gives the octet up, since the peer had to refuse them; its lifetime (bets_lifetime) begins
 * now. */
void scps_bets_window_opened(struct scps_bets *b, struct scps_sent_segment *probe, scps_time now);
/* Best effort: called when SEG.ACK is below SND.UNA = una; *ack is una. If this end has moved
 * SND.UNA to una past data that it gave up, which the peer still expects, and the scoreboard shows
 * that data from una on has arrived (by SACK or SNACK), moves *ack behind that data and returns
 * true; otherwise returns false. *ack never gets beyond edge, the right edge of the peer's window:
 * a report of data there is false, and the peer would not accept a segment from there. */
bool scps_bets_pass(struct scps_bets *b, const struct scps_scoreboard *sb, scps_off una,
                    scps_off edge, scps_off *ack);
/* Gives up the oldest segment, which begins at SND.UNA = una, and moves SND.UNA behind the data
 * that follows that segment contiguously and has arrived. Returns the new SND.UNA; *end: offset
 * behind the data of the segment that was given up. */
scps_off scps_bets_give_up(struct scps_bets *b, struct scps_scoreboard *sb, scps_off una,
                           scps_time now, scps_off *end);
/* Returns the oldest unacknowledged segment if best effort may give it up: it has data, is not
 * reported as arrived, and ends below edge, the right edge of the peer's window. Otherwise returns
 * NULL. A segment that ends at edge must be resent until it arrives: the peer accepts nothing
 * behind it, so it would never notice that octets are missing. */
const struct scps_sent_segment *scps_bets_oldest(const struct scps_scoreboard *sb, scps_off edge);
/* Returns true if the oldest segment is to be given up now: all data below the offset `old` has
 * been outstanding for longer than bets_lifetime, and the segment begins below it; or the segment
 * is lost and was resent `retries` times already. */
bool scps_bets_is_due(const struct scps_scoreboard *sb, scps_off edge, scps_off old,
                      uint32_t retries);
/* Returns the time, µs, at which the lifetime (bets_lifetime) of the oldest unacknowledged segment,
 * at SND.UNA, ends. SCPS_NEVER: bets_lifetime is 0, best effort is not in force, or
 * scps_bets_oldest() returns NULL, since the segment must not be given up. */
scps_time scps_bets_until(const struct scps_sender *s);
/* Called when the retransmission timer is set: returns the time, µs, at which it must expire at the
 * latest, since the data sent so far reaches its lifetime (bets_lifetime) then; SCPS_NEVER: no
 * limit. */
scps_time scps_bets_arm(struct scps_sender *s);
/* Returns the end of the data whose lifetime (bets_lifetime) is over, as an offset; 0: there is
 * none. */
scps_off scps_bets_old(const struct scps_sender *s);
/* Returns true if the retransmission timer must not end the connection when the peer does not
 * answer, because there is data that can be given up instead. */
bool scps_bets_keeps_open(const struct scps_sender *s);
/* Returns true if an acknowledgement that advances SND.UNA from `una` proves that the segment at
 * `una` has arrived: without best effort each does; with it, if the segment was first sent at
 * `sent`, so recently that the receiver cannot have given it up. */
bool scps_bets_is_arrival(const struct scps_sender *s, scps_off una, scps_time sent);

#endif
