/* SPDX-License-Identifier: MIT */
/* SNACK (CCSDS 714.0-B-2 section 3.3), of both ends: snack.c. */
#ifndef SCPS_CORE_SNACK_H
#define SCPS_CORE_SNACK_H

#include <scps/wire.h>

#include "base/rangeset.h"
#include "core/agreed.h"
#include "core/scoreboard.h"

struct scps_conn;

/* A SNACK that snack_delay puts off: snack.c. */
struct scps_snack_wait {
    scps_off from, to;
    scps_time due; /* 0: free */
};
#define SCPS_SNACK_WAITS 16

/* Adds to a bare acknowledgement the hole whose turn it is; room: octets of options left; whole:
 * what has arrived between two reported holes is to be told, too, even if that takes more
 * acknowledgements. */
void scps_snack_report(struct scps_conn *c, struct scps_seg *seg, unsigned room, bool whole);
/* Under a budget: lets the next report begin with the hole below what has arrived last below all
 * that has been told, if its vector reaches from there to the newest data. Returns up to where all
 * had been told; 0: it does not. */
scps_off scps_snack_go_back(struct scps_conn *c);
/* Octets of options that an acknowledgement without data has for reports. */
unsigned scps_snack_room(const struct scps_agreed *a);
/* What lies behind the hole whose turn it is is longer than a bit vector tells of: *run. */
bool scps_snack_long_run(struct scps_conn *c, struct scps_range *run);
/* More reports than one acknowledgement holds are due: how many more acknowledgements that
 * takes. */
unsigned scps_snack_backlog(const struct scps_conn *c);
/* The next hole that no report has told of yet lies beyond what the option's offset can name: only
 * SACK can tell of it. */
bool scps_snack_out_of_reach(const struct scps_conn *c);
/* Sender: a SNACK with the newest acknowledgement can name no hole that begins here or beyond. */
scps_off scps_snack_reach(const struct scps_conn *c);
/* A report that arrived; ack: where the segment that carries it points. */
void scps_snack_take(struct scps_conn *c, const struct scps_seg *seg, scps_off ack,
                     struct scps_ack_result *sum);
/* An acknowledgement with a report told of what sum says: how long does the peer take to tell? */
void scps_snack_measure(struct scps_conn *c, const struct scps_ack_result *sum);
/* The peer tells of what has arrived a good while later: strictly delayed, or as its budget
 * allows. */
bool scps_snack_reports_late(const struct scps_conn *c);
/* A resent segment that nobody hears of is lost again, and a SNACK put off is due. */
void scps_snack_timer(struct scps_conn *c);

#endif
