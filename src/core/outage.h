/* SPDX-License-Identifier: MIT */
/* Outages, and what a loss is put down to: outage.c. */
#ifndef SCPS_CORE_OUTAGE_H
#define SCPS_CORE_OUTAGE_H

#include <scps/conn.h>

struct scps_conn;

/* It is put down to cause until then: of no use where nothing is under way that could be lost. */
void scps_outage_cause(struct scps_conn *c, enum scps_loss_cause cause, scps_time until);
/* Segments of the peer's were damaged, of which it is to be told until then; 0: for a round
 * trip. */
void scps_outage_damage(struct scps_conn *c, scps_time until);
/* until: when it ends, SCPS_NEVER if that is not known. inferred: from timeouts, nobody said so. */
void scps_outage_begin(struct scps_conn *c, scps_time until, bool inferred);
void scps_outage_end(struct scps_conn *c);
/* In an outage something valid arrived: does it end that? */
void scps_outage_heard(struct scps_conn *c);
/* The timer of the outage has expired: its known end has come, or a probe is due. */
void scps_outage_timer(struct scps_conn *c);
/* rate bytes/s and rtt of the path from now on; 0: not known. */
void scps_outage_path(struct scps_conn *c, uint64_t rate, scps_dur rtt);

#endif
