/* SPDX-License-Identifier: MIT */
/* The congestion controller of a connection: control.c. Its state, scps_cc_state_size() bytes, is
 * the argument `cc`; what it asks for is s->ctl.
 *
 * Invariant: its window is one segment at least, and the pacer's rate follows what it asks for.
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
/* Passes what an acknowledgement reports; may_grow: it is not one of the first duplicates, whose
 * segments are sent within the window of before. */
void scps_cc_ack(struct scps_sender *s, void *cc, const struct scps_cc_ack *a, bool may_grow);
/* Passes that something is lost, or marked. */
void scps_cc_loss(struct scps_sender *s, void *cc, const struct scps_cc_loss *loss);
/* Keeps in s->tx what the controller is now; scps_cc_restore() puts it back if the loss turns out
 * to be spurious, with a window of `least` bytes at least. */
void scps_cc_save(struct scps_sender *s, const void *cc);
void scps_cc_restore(struct scps_sender *s, void *cc, uint64_t least);
/* A configured rate, if not 0, replaces one that the controller has set. */
void scps_cc_follow(struct scps_sender *s, uint64_t rate);
/* Passes a segment with data that is sent to a controller with an on_sent hook. */
void scps_cc_sent(struct scps_sender *s, void *cc, uint32_t bytes, bool resent);
/* Limits and notes the controller's numbers, and sets the pacer from them. */
void scps_cc_apply(struct scps_sender *s);

#endif
