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

/* Processes one segment that header prediction (scps_rcv_predicted()) has not handled. Returns 0,
 * or the reason (enum scps_drop, counted already) if no part of the segment had an effect. The
 * caller answers with a reset made from the segment (RFC 9293 section 3.10.7) if the reason is
 * SCPS_DROP_BAD_ACK or SCPS_DROP_AFTER_CLOSE, or if it is SCPS_DROP_NO_CONNECTION and the
 * connection itself has no reset to send. */
int scps_conn_input(struct scps_conn *c, const struct scps_seg *seg);
/* Makes the SYN-ACK due again. Called when the peer has repeated its SYN in SYN-RECEIVED
 * (scps_conn_input() returned SCPS_DROP_OLD_DUPLICATE), unless the caller's limit of answers to
 * repeated SYNs is reached. */
void scps_conn_repeat_syn_ack(struct scps_conn *c);
/* Returns true if this SYN may replace a connection in TIME-WAIT (RFC 1122 section 4.2.2.13, RFC
 * 6191). */
bool scps_conn_may_reopen(const struct scps_conn *c, const struct scps_seg *seg);
/* Builds the next segment of c in *seg. Returns false if there is nothing to send now; c->s.hold is
 * then the reason. */
bool scps_conn_output(struct scps_conn *c, struct scps_seg *seg);
/* Builds in *next the segment after seg, the one built last, if a device can send both as one train
 * (segmentation offload): new data that follows seg in sequence and in memory, with the same header
 * except for the sequence number. Returns false if there is no such segment. */
bool scps_conn_follow(struct scps_conn *c, const struct scps_seg *seg, struct scps_seg *next);

/* Serves every timer due by env->now. Returns when the next one is due, µs; SCPS_NEVER: none
 * runs. */
scps_time scps_conn_timers(struct scps_conn *c);

/* Processes the acknowledgement of an acceptable segment. Returns false if SEG.ACK is above
 * SND.NXT. */
bool scps_ackin(struct scps_conn *c, const struct scps_seg *seg);
/* Called when the loss detection timer (tx->look_timer) has expired: declares lost what is lost by
 * now, or requests a tail loss probe. cc: state of the congestion controller; outage_at: next
 * expiry, µs, of the timer that probes during an outage, SCPS_NEVER: no outage. */
void scps_ackin_look(struct scps_sender *s, void *cc, scps_time outage_at);

#endif
