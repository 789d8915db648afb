/* SPDX-License-Identifier: MIT */
/* The congestion controller of a connection (control.c). In all functions below `cc` is the state
 * of the controller, scps_cc_state_size() bytes; the window, ssthresh and rate that it sets are in
 * s->ctl.
 *
 * Invariant: the controller's window is at least one segment, and the pacer's rate follows from the
 * window and the rate of the controller.
 */
#ifndef SCPS_CORE_CONTROL_H
#define SCPS_CORE_CONTROL_H

#include <scps/cc.h>

#include "core/sender.h"

/* Records whether the congestion window has kept the sender from sending more since the last
 * acknowledgement: set to true when it does, and to false when the controller has processed an
 * acknowledgement. */
static inline void scps_cc_limited(struct scps_cc_use *use, bool limited)
{
    use->limited = limited;
}

/* Returns the bytes that a segment with `len` octets of data takes of a rate in which whole packets
 * count: data, TCP and IP headers, and the configured rate_overhead for the layers below IP. */
static SCPS_ALWAYS_INLINE uint32_t scps_cc_packet(const struct scps_sender *s, uint32_t len)
{
    return scps_agreed_packet(&s->agreed, s->ipv6, len) + s->ctx.cfg->c.rate_overhead;
}

/* Returns the initial window, bytes. syn_lost: a SYN of this end timed out. */
uint32_t scps_cc_init_cwnd(const struct scps_conn_config *cfg, uint32_t mss, bool syn_lost);
void scps_cc_begin(struct scps_sender *s, void *cc);
void scps_cc_change(struct scps_sender *s, void *cc, enum scps_cc_change what);
/* Informs the controller of an acknowledgement. may_grow false: afterwards the window is at most
 * what it was before, because the acknowledgement is a duplicate that has begun no recovery
 * (limited transmit, RFC 3042) or has an ECN echo (RFC 3168 section 6.1.2). */
void scps_cc_ack(struct scps_sender *s, void *cc, const struct scps_cc_ack *a, bool may_grow);
/* Informs the controller of a loss, or of an ECN mark. */
void scps_cc_loss(struct scps_sender *s, void *cc, const struct scps_cc_loss *loss);
/* Saves the controller's state and window in s->tx. Called when a recovery episode begins: if the
 * episode proves spurious, scps_cc_restore() restores them. */
void scps_cc_save(struct scps_sender *s, const void *cc);
void scps_cc_restore(struct scps_sender *s, void *cc, uint64_t least);
/* Called when the configuration of s has changed: if the controller has set a rate (s->ctl.rate is
 * not 0), the configured rate `rate`, bytes/s, replaces it; with rate 0 the controller's rate
 * stays. Then sets the pacer. */
void scps_cc_follow(struct scps_sender *s, uint64_t rate);
/* Called when a segment with data is sent, if the congestion controller has an on_sent hook: calls
 * that hook. */
void scps_cc_sent(struct scps_sender *s, void *cc, uint32_t bytes, bool resent);
/* Called when the controller or the configuration may have changed the window or rate in s->ctl:
 * raises a window below one segment to one segment, and a rate other than 0 to about one segment in
 * 64 s (raise_rate()), and sets the pacer. Reports both to the observer, the application's function
 * for traces. */
void scps_cc_apply(struct scps_sender *s);

#endif
