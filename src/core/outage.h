/* SPDX-License-Identifier: MIT */
/* Outages, and the cause to which a loss is attributed (outage.c). */
#ifndef SCPS_CORE_OUTAGE_H
#define SCPS_CORE_OUTAGE_H

#include <scps/conn.h>

struct scps_conn;

/* Attributes losses until `until` to cause. Has no effect when nothing is in flight that could be
 * lost. */
void scps_outage_cause(struct scps_sender *s, enum scps_loss_cause cause, scps_time until);
/* Handles damaged segments of the peer: they are reported to it until `until`; 0: for one round
 * trip. */
void scps_outage_damage(struct scps_conn *c, scps_time until);
/* Begins an outage. until: its end, µs, SCPS_NEVER if unknown. inferred: concluded from timeouts,
 * not signalled. */
void scps_outage_begin(struct scps_conn *c, scps_time until, bool inferred);
void scps_outage_end(struct scps_conn *c);
/* Called when a valid segment arrives during an outage: decides whether that ends it. */
void scps_outage_heard(struct scps_conn *c);
/* Handles the expiry of the outage's timer: its known end has come, or a probe is due. */
void scps_outage_timer(struct scps_conn *c);
/* Sets rate (bytes/s) and rtt of a path that has changed; 0: unknown. */
void scps_outage_path(struct scps_conn *c, uint64_t rate, scps_dur rtt);

#endif
