/* SPDX-License-Identifier: MIT */
/* Careful resume (RFC 9959): the phases that a connection with a saved path state goes through.
 *
 *   Reconnaissance --> Unvalidated --> Validating --> normal
 *                          \               \           ^
 *                           +---------------+--> Safe Retreat
 *
 * Invariant: the controller runs as without careful resume; its window and rate are replaced after
 * each of its events. A controller with a `resume` hook (it models the path instead of a window)
 * gets the rate and sets both itself. Only resume.c assigns the fields.
 */
#ifndef SCPS_CORE_RESUME_H
#define SCPS_CORE_RESUME_H

#include <scps/path.h>

#include "core/ctx.h"

struct scps_resume {
    /* values of the saved state */
    uint64_t saved_cwnd, saved_rate; /* bytes, bytes/s */
    scps_dur saved_rtt;
    /* the saving connection had left slow start, so saved_cwnd is the path's capacity */
    bool limit_found;
    uint64_t max_jump; /* 0: no limit */
    uint64_t jump;     /* jump_cwnd, set when the Unvalidated Phase begins */
    uint64_t pipe;     /* PipeSize: bytes in flight at the jump, plus bytes acknowledged since */
    uint64_t retreat;  /* the window of the Safe Retreat Phase, and of the slow start after it */
    uint64_t began; /* total bytes delivered on the connection when the Unvalidated Phase began */
    /* total bytes delivered on the connection when the last segment of the Unvalidated Phase has
     * arrived */
    uint64_t last;
    scps_time since; /* time at which the Unvalidated Phase began */
    scps_dur rtt;    /* RTT at that time, µs */
    uint64_t rate;   /* rate of the controller before the jump, bytes/s; 0: it had none */
    /* set of phases that the connection has been in: bit 1 << enum scps_resume_phase */
    uint16_t been;
    uint8_t phase;
    /* the window grows by slow start up to ssthresh after a retreat, also while the jump's losses
     * are repaired */
    bool regrow;
};

/* The controller of a connection and its state. */
struct scps_resume_cc {
    const struct scps_conn_ctx *x;
    void *state;
};

/* Begins the Reconnaissance Phase with a saved path state that was accepted. */
void scps_resume_begin(struct scps_resume *r, const struct scps_conn_ctx *x, uint64_t cwnd,
                       uint64_t rate, scps_dur rtt, bool limit_found, uint64_t max_jump);
/* Called after each call of the controller's ack(). */
void scps_resume_ack(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                     const struct scps_cc_ack *a, struct scps_cc_ctl *ctl);
/* Called before and after the controller's loss(): a reduction starts from PipeSize, not from what
 * was never validated. */
void scps_resume_before_loss(const struct scps_resume *r, const struct scps_conn_ctx *x,
                             const struct scps_cc_loss *l, struct scps_cc_ctl *ctl);
void scps_resume_loss(struct scps_resume *r, struct scps_resume_cc cc, const struct scps_cc_view *v,
                      const struct scps_cc_loss *l, struct scps_cc_ctl *ctl);
/* Called after the controller's change(). */
void scps_resume_change(struct scps_resume *r, struct scps_resume_cc cc,
                        const struct scps_cc_view *v, enum scps_cc_change what,
                        struct scps_cc_ctl *ctl);

#endif
