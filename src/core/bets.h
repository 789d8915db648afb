/* SPDX-License-Identifier: MIT */
/* Best effort (BETS): bets.c, and betsage.c for the sender's limits. */
#ifndef SCPS_CORE_BETS_H
#define SCPS_CORE_BETS_H

#include "core/sender.h"

struct scps_conn;
struct scps_tx;

/* The receive timer of the SCPS reference implementation, µs, which is the least one here unless
 * the application sets another. */
#define SCPS_BETS_WAIT_MIN SCPS_US(0x100001)

void scps_bets_wait(struct scps_conn *c);
/* Gives up the hole for which the timer was set; called when the timer expires. */
void scps_bets_timer(struct scps_conn *c);
/* Stores data that arrives late for the hole that was given up last: [from, to) is below RCV.NXT.
 * Precondition: the connection has its struct of marks. record: its last octet ends a record. */
void scps_bets_late(struct scps_conn *c, scps_off from, scps_off to, const uint8_t *data,
                    bool record);
/* Sender: gives up lost segments that were resent too often. */
void scps_bets_send(struct scps_conn *c);
/* Called when the peer's window has opened for the octet at SND.UNA, which only window probes have
 * carried: its number of transmissions and its lifetime count from now on. */
void scps_bets_window_opened(struct scps_tx *tx, struct scps_sent_segment *probe, scps_time now);
/* Called for an acknowledgement of SND.UNA, to which this end has moved SND.UNA past data that it
 * gave up. If the scoreboard says that the data from there on has arrived, moves *ack behind that
 * data and returns true; otherwise returns false. *ack never gets beyond edge, the peer's window:
 * a report of data there is false, and a segment from there would not be acceptable to the peer. */
bool scps_bets_pass(struct scps_tx *tx, scps_off una, scps_off edge, scps_off *ack);
/* Returns the oldest segment if it can be given up: it has data, has not arrived, and the peer's
 * window has room behind it; NULL if not. */
const struct scps_sent_segment *scps_bets_oldest(const struct scps_scoreboard *sb, scps_off edge);
/* Returns the time at which the oldest segment has been outstanding for too long, µs; SCPS_NEVER:
 * it has no limit, or cannot be given up. */
scps_time scps_bets_until(struct scps_sender *s);
/* Returns a time for setting the timer: when all the data sent so far is too old, µs. */
scps_time scps_bets_arm(struct scps_sender *s);
/* Returns true if silence of the peer does not end the connection, because there is data that can
 * be given up instead. */
bool scps_bets_keeps_open(struct scps_sender *s);
/* Returns true if an acknowledgement that advances SND.UNA from `una` comes so soon after the
 * segment there was first sent, at `sent`, that the segment has arrived: the receiver cannot have
 * given it up yet. */
bool scps_bets_is_arrival(struct scps_sender *s, scps_off una, scps_time sent);

#endif
