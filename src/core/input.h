/* SPDX-License-Identifier: MIT */
/* A segment that arrives, and the timers: what the stack calls. In state.c, ackin.c, timers.c and
 * keep.c. */
#ifndef SCPS_CORE_INPUT_H
#define SCPS_CORE_INPUT_H

#include <scps/wire.h>

#include "core/env.h"

struct scps_conn;

/* Takes one segment, which scps_rcv_predicted() did not. Returns 0, or the scps_drop (already
 * counted) that says why all of it had no effect. With SCPS_DROP_BAD_ACK, AFTER_CLOSE and,
 * unless a reset of its own is due, NO_CONNECTION the caller answers with a reset made from the
 * segment (RFC 9293 section 3.10.7). */
int scps_conn_input(struct scps_conn *c, const struct scps_seg *seg);
/* May this SYN replace a connection in TIME-WAIT (RFC 1122 section 4.2.2.13, RFC 6191)? */
bool scps_conn_may_reopen(const struct scps_conn *c, const struct scps_seg *seg);
/* Builds the next segment. False: there is none now; c->hold says why. */
bool scps_conn_output(struct scps_conn *c, struct scps_seg *seg);
/* Builds the segment after seg, the one built last, if both can leave as one batch (segmentation
 * offload): new data, adjacent in sequence and in memory, with the same header otherwise. False:
 * there is none. */
bool scps_conn_follow(struct scps_conn *c, const struct scps_seg *seg, struct scps_seg *next);

/* How many answers strangers get in the second that begins now: at most limit, at least half of it,
 * and nobody can tell how many. Were it the same each time, what is left for a stranger would tell
 * what others' packets have used up, and so whether the numbers he guessed for somebody else's
 * connection are right. */
uint32_t scps_env_ration(const struct scps_env *env, uint32_t limit);

/* Serves every timer due by env->now. Returns when the next one is due; SCPS_NEVER: none runs. */
scps_time scps_conn_timers(struct scps_conn *c);
/* The peer has acknowledged something, or an outage takes over: no probe is outstanding. */
void scps_keep_progress(struct scps_conn *c);
/* The keep-alive timer has expired. */
void scps_keep_timer(struct scps_conn *c);

/* The acknowledgement part of an acceptable segment. False: it acknowledges what was never sent. */
bool scps_ackin(struct scps_conn *c, const struct scps_seg *seg);
/* The time has come to look whether something outstanding is lost. */
void scps_ackin_look(struct scps_conn *c);

#endif
