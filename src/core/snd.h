/* SPDX-License-Identifier: MIT */
/* Functions that decide what is sent, and why nothing is: snd.c, rto.c, hold.c. */
#ifndef SCPS_CORE_SND_H
#define SCPS_CORE_SND_H

#include <scps/conn.h>

#include "core/rto.h"

struct scps_conn;
struct scps_conn_ctx;
struct scps_tx;

/* The last ICMP error about the peer, until it is heard again. */
enum scps_soft { SCPS_SOFT_NONE, SCPS_SOFT_REFUSED, SCPS_SOFT_UNREACH };

/* Sets the reason why nothing is sent now; SCPS_HOLD_NONE: a segment is sent. */
void scps_snd_hold(struct scps_conn *c, enum scps_hold why);
/* Records that the rate of its route holds c, if it has anything to send. */
void scps_snd_routed(struct scps_conn *c);
/* The peer's window has changed while it is probed (SCPS_TODO_PERSIST): ends or continues
 * probing. */
void scps_snd_window_changed(struct scps_conn *c);
/* Starts the retransmission timer as if the segment were sent at `from`, which is not before
 * now. */
void scps_snd_arm_rtx_from(struct scps_conn *c, scps_time from);
#define scps_snd_arm_rtx(c) scps_snd_arm_rtx_from(c, (c)->ctx.env->now)
/* Starts the timer of window probes likewise. */
void scps_snd_arm_persist(struct scps_conn *c);
/* Starts the override timer for a window that permits only silly segments, unless it is due
 * earlier. */
void scps_rto_arm_override(struct scps_conn_ctx *x, struct scps_tx *tx, scps_dur rto);
/* The first returns true if the peer has been silent for longer than R2 (RFC 9293 section
 * 3.8.3), with a timer that backs off up to max; precondition: there is a tx, and
 * tx->rto.silent_since is valid. The second returns the error that then ends the connection. */
bool scps_snd_silent_too_long(const struct scps_conn *c, scps_dur max);
int scps_snd_silence_err(uint8_t soft);
/* Handle the expiry of the retransmission timer, and of the timer of window probes. Precondition:
 * there is a tx. */
void scps_snd_timeout(struct scps_conn *c);
void scps_snd_probe_timeout(struct scps_conn *c);

#endif
