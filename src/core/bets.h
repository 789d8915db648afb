/* SPDX-License-Identifier: MIT */
/* Best effort: bets.c, betsage.c. */
#ifndef SCPS_CORE_BETS_H
#define SCPS_CORE_BETS_H

#include "core/scoreboard.h"

struct scps_conn;
struct scps_tx;

void scps_bets_wait(struct scps_conn *c);
/* It has waited long enough. */
void scps_bets_timer(struct scps_conn *c);
/* [from, to) lies below the left edge; there are marks. record: its last octet ends a record. */
void scps_bets_late(struct scps_conn *c, scps_off from, scps_off to, const uint8_t *data,
                    bool record);
/* Something is lost: gives up what was resent too often. */
void scps_bets_send(struct scps_conn *c);
/* What the peer has reported lies at a left edge that its acknowledgement cannot reach yet: true,
 * and *ack is behind it. */
bool scps_bets_pass(struct scps_tx *tx, scps_off una, scps_off *ack);
/* The oldest segment, if it can be given up: it has data, has not arrived, and the peer's window
 * has room behind it; NULL: it cannot. */
const struct scps_sent_segment *scps_bets_oldest(const struct scps_scoreboard *sb, scps_off edge);
/* When the oldest segment has been outstanding too long; SCPS_NEVER: it may be, or cannot be given
 * up. */
scps_time scps_bets_until(const struct scps_conn *c);
/* The same when the timer is set: takes note of what has been sent, which will all be as old
 * then. */
scps_time scps_bets_arm(struct scps_conn *c);
/* However long the peer is silent, there is data that can be given up instead of the connection. */
bool scps_bets_keeps_open(const struct scps_conn *c);

#endif
