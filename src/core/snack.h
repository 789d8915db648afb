/* SPDX-License-Identifier: MIT */
/* SNACK (CCSDS 714.0-B-2 section 3.3) at the sender and the receiver: snack.c. */
#ifndef SCPS_CORE_SNACK_H
#define SCPS_CORE_SNACK_H

#include <scps/wire.h>

#include "base/rangeset.h"
#include "core/agreed.h"
#include "core/scoreboard.h"

struct scps_conn;

/* A SNACK that snack_delay postpones: snack.c. */
struct scps_snack_wait {
    scps_off from, to;
    scps_time due; /* 0: free */
};
#define SCPS_SNACK_WAITS 16

/* Adds the next hole to an acknowledgement without data; room: octets of options left; whole:
 * what has arrived between two reported holes must be reported, too, even if that takes more
 * acknowledgements. */
void scps_snack_report(struct scps_conn *c, struct scps_seg *seg, unsigned room, bool whole);
/* Under a budget: lets the next report begin with the hole below the data that arrived last
 * below the cursor, if its vector reaches from there to the newest data. Returns the cursor; 0:
 * it does not reach. */
scps_off scps_snack_go_back(struct scps_conn *c);
/* Returns the octets of options that an acknowledgement without data has for reports. */
unsigned scps_snack_room(const struct scps_agreed *a);
/* Returns true if the received run behind the next hole to report exceeds the bit vector; *run gets
 * that run. */
bool scps_snack_long_run(struct scps_conn *c, struct scps_range *run);
/* Returns how many more acknowledgements are needed for all reports that are due; 0: one holds
 * them. */
unsigned scps_snack_backlog(const struct scps_conn *c);
/* Returns true if the next hole to report lies beyond the reach of the option's offset field: only
 * SACK can report it. */
bool scps_snack_out_of_reach(const struct scps_conn *c);
/* Sender: returns the offset from which on a SNACK with the newest acknowledgement cannot name a
 * hole. */
scps_off scps_snack_reach(const struct scps_conn *c);
/* Processes a SNACK that arrived; ack: the acknowledgement of its segment. */
void scps_snack_take(struct scps_conn *c, const struct scps_seg *seg, scps_off ack,
                     struct scps_ack_result *sum);
/* Measures how long the peer takes to report, from the result of an acknowledgement with a
 * report. */
void scps_snack_measure(struct scps_conn *c, const struct scps_ack_result *sum);
/* Returns true if the peer reports arrivals late: in strictly delayed mode, or as its budget
 * permits. */
bool scps_snack_reports_late(const struct scps_conn *c);
/* Handles the timer: declares unreported retransmissions lost, and applies a postponed SNACK. */
void scps_snack_timer(struct scps_conn *c);

#endif
