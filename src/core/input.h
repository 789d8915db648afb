/* SPDX-License-Identifier: MIT */
/* The functions by which the stack drives a connection, and those to which state.c and timers.c
 * pass parts of the work: scps_conn_input and scps_conn_may_reopen are in state.c, scps_conn_output
 * in snd.c, scps_conn_follow in snddata.c, scps_conn_timers in timers.c, and scps_ackin* in
 * ackin.c. */
#ifndef SCPS_CORE_INPUT_H
#define SCPS_CORE_INPUT_H

#include <scps/wire.h>

#include "core/env.h"

struct scps_conn;
struct scps_sender;

/* Processes one segment for which scps_rcv_predicted() returned false. Returns 0, or the drop
 * reason (already counted) if no part of the segment had an effect. For SCPS_DROP_BAD_ACK,
 * AFTER_CLOSE and, unless a reset of its own is due, NO_CONNECTION the caller answers with a reset
 * made from the segment (RFC 9293 section 3.10.7). */
int scps_conn_input(struct scps_conn *c, const struct scps_seg *seg);
/* Makes the SYN-ACK due again. The caller calls it when scps_conn_input() has returned
 * SCPS_DROP_OLD_DUPLICATE for a SYN in SYN-RECEIVED, the repeated SYN of the peer, unless the
 * limits of such answers are reached. */
void scps_conn_repeat_syn_ack(struct scps_conn *c);
/* Returns true if this SYN may replace a connection in TIME-WAIT (RFC 1122 section 4.2.2.13, RFC
 * 6191). */
bool scps_conn_may_reopen(const struct scps_conn *c, const struct scps_seg *seg);
/* Builds the next segment of c in *seg. Returns false if there is nothing to send now; c->s.hold is
 * then the reason. */
bool scps_conn_output(struct scps_conn *c, struct scps_seg *seg);
/* Builds the segment after seg, the one built last, if a device can send both as one train
 * (segmentation offload): new data, adjacent in sequence and in memory, with the same header
 * otherwise. Returns false if the next segment is not like that. */
bool scps_conn_follow(struct scps_conn *c, const struct scps_seg *seg, struct scps_seg *next);

/* Serves every timer due by env->now. Returns when the next one is due, µs; SCPS_NEVER: none
 * runs. */
scps_time scps_conn_timers(struct scps_conn *c);

/* Processes the acknowledgement of an acceptable segment. Returns false if SEG.ACK is above
 * SND.NXT. */
bool scps_ackin(struct scps_conn *c, const struct scps_seg *seg);
/* Called when tx->look_timer has expired: checks whether something outstanding is lost. cc: the
 * congestion controller's state; outage_at: time at which the timer of an outage expires, µs, or
 * SCPS_NEVER. */
void scps_ackin_look(struct scps_sender *s, void *cc, scps_time outage_at);

#endif
