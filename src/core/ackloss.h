/* SPDX-License-Identifier: MIT */
/* Reactions of recovery and of the congestion controller to an acknowledgement that reports losses
 * (ackloss.c). `cc` is the controller's state. */
#ifndef SCPS_CORE_ACKLOSS_H
#define SCPS_CORE_ACKLOSS_H

#include <scps/wire.h>

#include "core/sender.h"

/* One acknowledgement that arrives while data is outstanding: the segment, and what ackin.c has
 * found out about it so far. Valid during one call of scps_ackin(). */
struct scps_ack_input {
    const struct scps_seg *seg;
    /* SEG.ACK as an offset (0: this end's SYN). It may be below SND.UNA; it is negative if SEG.ACK
     * is below the sequence number of this end's SYN */
    int64_t ack_in;
    /* SEG.ACK as an offset, but at least SND.UNA. Larger than SEG.ACK also when, with best effort,
     * the octets from SEG.ACK on were given up by this end and octets behind them have arrived:
     * then it is the end of those arrived octets. */
    scps_off ack;
    scps_off before; /* SND.UNA before this acknowledgement */
    /* time at which the acknowledgement before this one arrived; 0: this is the first one */
    scps_time heard;
    struct scps_ack_result sum;
    /* true: seg has a SNACK option, both SYNs offered SNACK, and SEG.ACK is not below the sequence
     * number of this end's SYN (ack_in is not negative) */
    bool snack;
    /* true: the connection has no SACK, and the SNACK of this acknowledgement reports which octets
     * arrived */
    bool snack_reported;
    /* Best effort: true if SND.UNA moves past data that the peer may have given up instead of
     * received; then no RTT sample is taken from this acknowledgement */
    bool jumped;
    bool advanced; /* true: this acknowledgement advances SND.UNA */
    /* true: this acknowledgement has ended the recovery episode: SEG.ACK covers all data up to the
     * episode's recovery point (SND.NXT when it began, RFC 6675 RecoveryPoint), or the
     * acknowledgement shows, not by a DSACK, that the episode was spurious */
    bool repaired;
    bool dup;
    /* true: neither SACK nor SNACK was agreed, and this is a partial acknowledgement after the
     * first one of the recovery episode: it does not restart the retransmission timer (RFC 6582
     * section 4, Impatient variant) */
    bool impatient;
};

/* Processes a DSACK for [from, to). fresh: no earlier acknowledgement had reported these octets as
 * arrived. If the DSACK shows that the recovery episode was spurious, the episode ends at once;
 * scps_ackloss_progress() informs the congestion controller after the other SACK blocks are
 * processed. */
void scps_ackloss_dsack(struct scps_sender *s, scps_off from, scps_off to, bool fresh);
/* Called after the SACK blocks are processed. Ends the recovery episode if this acknowledgement
 * covers all of it, or shows that it was spurious, and informs the congestion controller; also
 * informs it of an episode that scps_ackloss_dsack() has ended. Precondition:
 * scps_recovery_concerns_ack() is true. */
void scps_ackloss_progress(struct scps_sender *s, void *cc, struct scps_ack_input *n);
/* Restores the congestion controller's state from before a recovery episode that was spurious, or
 * whose timeouts an outage of the link has caused, and informs the controller. A controller that
 * handles recovery itself (own_recovery) is only informed, and restores its state itself.
 * Precondition: the episode is over. */
void scps_ackloss_undone(struct scps_sender *s, void *cc);
/* Detects lost segments by the first rule that applies to this connection: RACK, SACK (RFC 6675),
 * duplicate acknowledgements; in addition by the peer's SNACKs, if it sends them. */
void scps_ackloss_find(struct scps_sender *s, void *cc, struct scps_ack_input *n);
/* Called when the loss detection timer expires on a connection without RACK. On a path that
 * reorders, a segment is declared lost only when it was sent longer ago than the RTT plus the
 * reordering window (the longest lateness seen on this path, reorder.h). Declares lost the segments
 * that have become old enough. Returns true if there is something to send. */
bool scps_ackloss_look(struct scps_sender *s, void *cc);
/* Reacts to an ECN echo once in each window (RFC 3168 section 6.1.2). delivered: bytes whose
 * arrival the acknowledgement reports. */
void scps_ackloss_ecn(struct scps_sender *s, void *cc, uint64_t delivered);
/* If sum->lost, the bytes found lost, is not 0: reports the loss to the observer, begins a recovery
 * episode if none is in progress, and informs the congestion controller. evidence: the rule that
 * has detected the loss. */
void scps_ackloss_lost(struct scps_sender *s, void *cc, struct scps_ack_result *sum,
                       enum scps_evidence evidence);

#endif
