/* SPDX-License-Identifier: MIT */
/* Careful resume (RFC 9959): the phases of a connection that was given a saved path state.
 *
 *   Reconnaissance --> Unvalidated --> Validating --> normal
 *                          \               \           ^
 *                           +---------------+--> Safe Retreat
 *
 * Invariant: the controller runs as without careful resume; this part replaces its window and rate
 * after each of its events. A controller with a `resume` hook, which models the path instead of a
 * window, is given the rate and sets window and rate itself. Only resume.c assigns the fields.
 */
#ifndef SCPS_CORE_RESUME_H
#define SCPS_CORE_RESUME_H

#include <scps/path.h>

#include "core/ctx.h"

struct scps_resume {
    /* values of the saved path state */
    /* saved_cwnd of RFC 9959, bytes, and the rate at which these bytes arrived, bytes/s */
    uint64_t saved_cwnd, saved_rate;
    scps_dur saved_rtt;
    /* true: the connection that saved the state had left slow start, so saved_cwnd is the capacity
     * of the path */
    bool limit_found;
    uint64_t max_jump; /* upper limit of jump_cwnd, the window after the jump, bytes; 0: no limit */
    uint64_t jump;     /* jump_cwnd of RFC 9959, bytes, set when the Unvalidated Phase begins */
    uint64_t pipe;     /* PipeSize: bytes in flight at the jump, plus bytes acknowledged since */
    /* Congestion window in the Safe Retreat Phase and in the slow start after that phase, bytes. It
     * begins as half of PipeSize, at least two segments, when the phase begins; with each later
     * acknowledgement it becomes the present window, which only slow start increases. 0: the window
     * was not lowered after a jump, or the loss that lowered it has proved spurious. */
    uint64_t retreat;
    /* total bytes delivered on the connection when the Unvalidated Phase began or, in the Safe
     * Retreat Phase, when that phase began */
    uint64_t began;
    /* In the Validating Phase: the total of delivered bytes at which all data that was in flight
     * when the Unvalidated Phase ended has arrived. In the Safe Retreat Phase: the total at which
     * all data that was in flight when that phase began has arrived. */
    uint64_t last;
    scps_time since; /* time at which the Unvalidated Phase began, µs */
    scps_dur rtt;    /* least RTT of the connection when the Unvalidated Phase began, µs */
    uint64_t rate;   /* rate that the controller had before the jump, bytes/s; 0: it had none */
    /* set of the phases that the connection has been in: bits 1 << enum scps_resume_phase */
    uint16_t been;
    uint8_t phase;
    /* true: after the Safe Retreat Phase the window grows by slow start up to ssthresh, even while
     * data is resent that was lost when the saved window was tried in the Unvalidated Phase */
    bool regrow;
};

/* The controller of a connection, with its state and the context of the connection. */
struct scps_resume_cc {
    const struct scps_conn_ctx *x;
    void *state;
};

/* Begins the Reconnaissance Phase with the values of a saved path state: cwnd, bytes; rate,
 * bytes/s; rtt, µs. limit_found: the connection that saved the state had left slow start, so cwnd
 * is the capacity of the path. max_jump: upper limit, bytes, of jump_cwnd, the window of the
 * Unvalidated Phase; 0: no limit. */
void scps_resume_begin(struct scps_resume *r, const struct scps_conn_ctx *x, uint64_t cwnd,
                       uint64_t rate, scps_dur rtt, bool limit_found, uint64_t max_jump);
/* Called after each call of the controller's ack(): replaces its window and rate if a phase
 * requires that. */
void scps_resume_ack(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                     const struct scps_cc_ack *a, struct scps_cc_ctl *ctl);
/* Called before each call of the controller's loss(): for a loss by congestion in the Unvalidated
 * or Validating Phase, limits the window to PipeSize (RFC 9959), so that a window-based controller
 * does not reduce a window that was never validated. */
void scps_resume_before_loss(const struct scps_resume *r, const struct scps_conn_ctx *x,
                             const struct scps_cc_loss *l, struct scps_cc_ctl *ctl);
/* Called after each call of the controller's loss(): a loss by congestion ends careful resume in
 * the Reconnaissance Phase, and begins the Safe Retreat Phase in the Unvalidated or Validating
 * Phase (with a controller that models the path, only if its model has seen congestion, too). */
void scps_resume_loss(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                      const struct scps_cc_loss *l, struct scps_cc_ctl *ctl);
/* Called after each call of the congestion controller's change(), which informs it of an event such
 * as a timeout or the end of recovery. */
void scps_resume_change(struct scps_resume *r, struct scps_resume_cc cc,
                        const struct scps_cc_view *v, enum scps_cc_change what,
                        struct scps_cc_ctl *ctl);

#endif
