/* SPDX-License-Identifier: MIT */
/* What leaves, and why nothing does: snd.c, snddata.c, sndtimer.c, rto.c, hold.c. */
#ifndef SCPS_CORE_SND_H
#define SCPS_CORE_SND_H

#include <scps/conn.h>
#include <scps/wire.h>

#include "core/rto.h"

struct scps_conn;
struct scps_conn_ctx;
struct scps_todo;
struct scps_tx;

/* What ICMP said of the peer, until it is heard again. */
enum scps_soft { SCPS_SOFT_NONE, SCPS_SOFT_REFUSED, SCPS_SOFT_UNREACH };

/* Nothing leaves now, and this is why; SCPS_HOLD_NONE: a segment leaves. */
void scps_snd_hold(struct scps_conn *c, enum scps_hold why);
/* The rate of its route holds c, if it has anything to send. */
void scps_snd_routed(struct scps_conn *c);
/* The peer's window is shut, or takes silly segments only: probes begin, and end. */
void scps_snd_begin_persist(struct scps_conn *c);
void scps_snd_end_persist(struct scps_tx *tx, struct scps_todo *todo);
/* The next segment with data, or a probe. There is a tx. False: none may leave, and c->hold says
 * why. */
bool scps_snd_data(struct scps_conn *c, struct scps_seg *seg);
/* The states in which data is sent. */
static inline bool scps_snd_may_send(uint8_t state, const struct scps_tx *tx)
{
    switch (state) {
    case SCPS_ESTABLISHED:
    case SCPS_CLOSE_WAIT:
    case SCPS_FIN_WAIT_1:
    case SCPS_CLOSING:
    case SCPS_LAST_ACK:
        return tx != NULL;
    default:
        return false;
    }
}
/* The peer's window has changed while it is probed (SCPS_TODO_PERSIST): that ends, or goes on. */
void scps_snd_window_changed(struct scps_conn *c);
/* Starts the retransmission timer as if the segment left at `from`, which is not before now. */
void scps_snd_arm_rtx_from(struct scps_conn *c, scps_time from);
#define scps_snd_arm_rtx(c) scps_snd_arm_rtx_from(c, (c)->ctx.env->now)
/* The same for the next window probe. */
void scps_snd_arm_persist(struct scps_conn *c);
/* The same for the override of a window that takes silly segments only, unless it is due
 * earlier. */
void scps_rto_arm_override(struct scps_conn_ctx *x, struct scps_tx *tx, scps_dur rto);
/* Has the peer been silent for longer than R2 (RFC 9293 section 3.8.3), with a timer that backs off
 * up to max? There is a tx, and tx->rto.silent_since is valid. And the error that it ends with. */
bool scps_snd_silent_too_long(const struct scps_conn *c, scps_dur max);
int scps_snd_silence_err(uint8_t soft);
/* The retransmission timer has expired; the timer of window probes has. There is a tx. */
void scps_snd_timeout(struct scps_conn *c);
void scps_snd_probe_timeout(struct scps_conn *c);

#endif
