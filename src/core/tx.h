/* SPDX-License-Identifier: MIT */
/* The sending state of a connection: the parts of the sender and their timers.
 *
 * Invariant: it exists while octets are written and not acknowledged.
 */
#ifndef SCPS_CORE_TX_H
#define SCPS_CORE_TX_H

#include <scps/cc.h>

#include "base/bytes.h"
#include "core/bets.h"
#include "core/cause.h"
#include "core/delivery.h"
#include "core/pacer.h"
#include "core/persist.h"
#include "core/rack.h"
#include "core/record.h"
#include "core/recovery.h"
#include "core/reorder.h"
#include "core/rto.h"
#include "core/sackin.h"
#include "core/sample.h"
#include "core/scoreboard.h"
#include "core/silence.h"
#include "core/snacktx.h"
#include "core/sndbuf.h"
#include "core/tp.h"

struct scps_tx {
    struct scps_sndbuf buf;
    struct scps_rangeset ends; /* octets not sent yet that end an application record */
    struct scps_scoreboard sb;
    struct scps_recovery rec;
    struct scps_rack rack;
    struct scps_reorder reorder;
    struct scps_snacktx snack;
    struct scps_pacer pacer;
    /* true: the pacer's rate follows from the congestion window (so much in each round trip) and
     * counts payload octets only, as the window does; false: it counts whole packets */
    bool paces_window;
    /* Quotient (pacer's rate) / (configured rate), times 2^32, where the pacer's rate follows from
     * the congestion window and is below the configured rate, which counts whole packets. 0: in
     * all other cases. */
    uint32_t pace_share;
    struct scps_delivery delivery;
    /* SND.NXT after the last segment with less than a full payload was sent: as long as SND.UNA is
     * lower, one small segment is outstanding, and Nagle's rule delays the next one */
    scps_off small_end;
    /* The retransmission timer. At most one of three timers runs: this one, the timer of window
     * probes, and the connection's outage_timer. */
    struct scps_rto rto;
    struct scps_persist persist; /* timer of window probes (RFC 9293 section 3.8.6.1) */
    /* series of timeouts or window probes that the peer has not answered */
    struct scps_silence silence;
    /* timer that expires when the connection's own rate permits a segment */
    struct scps_timer pace_timer;
    /* timer that expires when segments in flight must be examined for loss by rack.c or
     * snacktx.c */
    struct scps_timer look_timer;
    /* timer that expires when the connection must try again to send a segment, after memory for its
     * scoreboard record was refused */
    struct scps_timer retry_timer;
    /* timer that expires when a small segment that cork delays has waited long enough */
    struct scps_timer cork_timer;
    /* timer that expires two RTOs after all data was acknowledged or given up, and after the
     * handshake: if nothing is outstanding then, memory that the connection does not use is freed,
     * this send state included (scps_conn_trim()) */
    struct scps_timer trim_timer;
    scps_time sent_at; /* time at which data was last sent, µs; 0: no data was sent */
    /* time at which an acknowledgement last arrived while data was outstanding, µs; 0: none
     * arrived */
    scps_time heard_at;
    /* time at which SND.UNA last moved, or, while nothing was outstanding, data was sent or began
     * to wait for the peer's window, µs */
    scps_time progress_at;
    /* time, µs, at which the last outage of the link during which data was outstanding ended; 0:
     * there was no such outage */
    scps_time outage_over;
    struct scps_bets bets;
    struct scps_sample sample;
    struct scps_sackin sackin;
    struct scps_cause cause;
    /* For scps_conn_reserve(): the application may put octets [reserved, reserved_to) of the stream
     * into the send buffer by scps_conn_commit(), as long as the data in the buffer ends at
     * `reserved`. If both are equal, no octets are reserved. */
    scps_off reserved, reserved_to;
    /* The next four fields are used if the connection's route has a rate limit (gate.c). */
    /* bytes that the connection may still send before it is the turn of the next connection in the
     * route's ready queue */
    int32_t share;
    /* true: the connection is in the queue for the route's minimum rate, which lets each connection
     * in the queue send one segment in turn although its congestion window is full */
    bool floor_queued;
    /* neighbours of the connection in the queue for the minimum rate; valid if floor_queued */
    struct scps_sender *floor_next, *floor_prev;
    /* The controller's output (window, ssthresh, rate) from before a recovery episode, restored if
     * the episode was spurious. */
    struct scps_cc_ctl saved_ctl;
    /* state of the congestion controller's algorithm, saved with saved_ctl */
    uint64_t saved_state[];
};

/* Records the present time as that of the last progress: SND.UNA moves, or, while nothing is
 * outstanding, data is sent or begins to wait for the peer's window. */
static inline void scps_tx_progress(struct scps_tx *tx, scps_time now)
{
    tx->progress_at = now;
}
/* Called when the connection becomes ESTABLISHED: timeouts of the SYN or SYN-ACK no longer count
 * towards R2 (RFC 9293 section 3.8.3) or in the backoff of the retransmission timer, and
 * rto.latest, which only holds RTT samples of data, is set to 0 (none). */
static inline void scps_tx_forget_timeouts(struct scps_tx *tx)
{
    scps_silence_answered(&tx->silence);
    scps_rto_measured(&tx->rto, 0);
}
/* Returns true if the retransmission timer or the timer of window probes runs. */
static SCPS_INLINE_SPEED bool scps_rto_runs(const struct scps_tx *tx)
{
    return scps_timer_runs(&tx->rto.timer) || scps_timer_runs(&tx->persist.timer);
}
/* Stops the retransmission timer and the timer of window probes. */
static inline void scps_rto_stop(struct scps_tx *tx)
{
    scps_rto_stop_timer(&tx->rto);
    scps_persist_stop(&tx->persist);
}
/* Number of retransmissions of one segment up to which the sender takes bit errors or a full queue
 * for their cause. After more of them the peer counts as one that does not acknowledge this
 * segment: resending it no longer restarts the retransmission timer (scps_tx_resend_restarts()). */
#define SCPS_RESENDS_EXPLAINED 64
/* Returns true if resending the segment at SND.UNA may restart the retransmission timer. Returns
 * false if that segment was already resent more than SCPS_RESENDS_EXPLAINED times: then the timer
 * expires, even if the peer still sends segments, and the connection ends when SND.UNA has not
 * moved for R2 (RFC 9293 section 3.8.3) since the first timeout. Precondition: data is
 * outstanding. */
static inline bool scps_tx_resend_restarts(const struct scps_tx *tx)
{
    return scps_sb_at(&tx->sb, tx->sb.head)->resends <= SCPS_RESENDS_EXPLAINED;
}
/* Returns true if PRR (RFC 6937) limits what is sent: in a FAST episode the controller asks for a
 * smaller window than before the episode, and careful resume is not in its Safe Retreat Phase. */
static inline bool scps_recovery_reduces(const struct scps_sender *s)
{
    const struct scps_tx *tx = s->tx;

    return tx->rec.episode == SCPS_EPISODE_FAST && s->ctl.cwnd < tx->saved_ctl.cwnd &&
           !s->ctx.cfg->c.cc->own_recovery &&
           !(s->resumes && s->tp->resume.phase == SCPS_RESUME_RETREAT);
}
/* Sets the loss detection timer to `when`, µs, unless it expires earlier; when 0: does nothing. */
static inline void scps_sender_look_at(struct scps_sender *s, scps_time when)
{
    if (when)
        scps_timer_by(&s->ctx, &s->tx->look_timer, when);
}
/* Returns the highest SEG.ACK of the peer, which is below una where best effort has moved SND.UNA.
 * tx may be NULL. */
static SCPS_INLINE_SPEED scps_off scps_bets_peer_una(const struct scps_tx *tx, scps_off una)
{
    /* Best effort: when this end gives up data, it moves SND.UNA to gave_up_to, beyond the highest
     * SEG.ACK of the peer, which peer_una holds until SND.UNA moves on. If SND.UNA is not
     * gave_up_to, the peer has acknowledged up to SND.UNA. */
    return tx && una == tx->bets.gave_up_to ? tx->bets.peer_una : una;
}

#endif
