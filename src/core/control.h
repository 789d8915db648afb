/* SPDX-License-Identifier: MIT */
/* The congestion controller of a connection (control.c). Its state, scps_cc_state_size() bytes, is
 * the argument `cc`; its output is s->ctl.
 *
 * Invariant: its window is at least one segment, and the pacer's rate follows from its output.
 */
#ifndef SCPS_CORE_CONTROL_H
#define SCPS_CORE_CONTROL_H

#include <scps/cc.h>

#include "core/sender.h"

/* Records whether the window limited sending. */
static inline void scps_cc_limited(struct scps_cc_use *use, bool limited)
{
    use->limited = limited;
}

/* Returns the initial window, bytes; syn_lost: our SYN timed out. */
uint32_t scps_cc_init_cwnd(const struct scps_conn_config *cfg, uint32_t mss, bool syn_lost);
void scps_cc_begin(struct scps_sender *s, void *cc);
void scps_cc_change(struct scps_sender *s, void *cc, enum scps_cc_change what);
/* Informs the controller of an acknowledgement. may_grow: it is not one of the first duplicates,
 * whose segments are sent within the window from before. */
void scps_cc_ack(struct scps_sender *s, void *cc, const struct scps_cc_ack *a, bool may_grow);
/* Informs the controller that something is lost, or marked by ECN. */
void scps_cc_loss(struct scps_sender *s, void *cc, const struct scps_cc_loss *loss);
/* Saves the controller's state in s->tx; scps_cc_restore() restores it if the loss turns out to be
 * spurious, with a window of at least `least` bytes. */
void scps_cc_save(struct scps_sender *s, const void *cc);
void scps_cc_restore(struct scps_sender *s, void *cc, uint64_t least);
/* Replaces the rate that the congestion controller has set by the configured rate `rate`, unless
 * `rate` is 0. */
void scps_cc_follow(struct scps_sender *s, uint64_t rate);
/* Informs a controller with an on_sent hook of a segment with data that is sent. */
void scps_cc_sent(struct scps_sender *s, void *cc, uint32_t bytes, bool resent);
/* Limits the controller's numbers, reports them to the observer, and sets the pacer. */
void scps_cc_apply(struct scps_sender *s);

#endif
