/* SPDX-License-Identifier: MIT */
/* Careful resume (RFC 9959): the phases that a connection with a saved path state goes through.
 *
 *   Reconnaissance --> Unvalidated --> Validating --> normal
 *                          \               \           ^
 *                           +---------------+--> Safe Retreat
 *
 * Invariant: the controller runs as ever; what is set here is laid over its window and rate, after
 * each of its events.  A controller with a `resume` hook (a model instead of a window) is told the
 * rate and sets both itself.  resume.c alone writes the fields.
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
    uint64_t began;    /* total delivered when the Unvalidated Phase began */
    uint64_t last;     /* total delivered once the last segment of the phase has arrived */
    scps_time since;   /* the Unvalidated Phase */
    scps_dur rtt;      /* then */
    uint64_t rate;     /* rate of the controller before the jump; 0: none */
    uint16_t been;     /* 1 << phase */
    uint8_t phase;
    bool regrow; /* slow start to ssthresh after a retreat, also during the repair of the jump */
};

/* The controller of a connection and its state. */
struct scps_resume_cc {
    const struct scps_conn_ctx *x;
    void *state;
};

/* Begins Reconnaissance with a state that was accepted. */
void scps_resume_begin(struct scps_resume *r, const struct scps_conn_ctx *x, uint64_t cwnd,
                       uint64_t rate, scps_dur rtt, bool limit_found, uint64_t max_jump);
/* After the controller's ack(). */
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
