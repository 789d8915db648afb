/* SPDX-License-Identifier: MIT */
/* Reactions of recovery and of the congestion controller to an acknowledgement that reports losses
 * (ackloss.c). `cc` is the controller's state. */
#ifndef SCPS_CORE_ACKLOSS_H
#define SCPS_CORE_ACKLOSS_H

#include <scps/wire.h>

#include "core/sender.h"

/* One acknowledgement that arrives while data is outstanding, and what ackin.c has determined about
 * the acknowledgement so far. */
struct scps_ack_input {
    const struct scps_seg *seg;
    int64_t ack_in; /* offset of SEG.ACK, which may be below SND.UNA */
    /* SEG.ACK as an offset, but at least SND.UNA; with best effort it may lie higher: behind
     * arrived data that follows data which this end has given up */
    scps_off ack;
    scps_off before; /* SND.UNA before this acknowledgement */
    /* time at which the acknowledgement before this one arrived; 0: this is the first one */
    scps_time heard;
    struct scps_ack_result sum;
    bool snack; /* true: seg has a SNACK option that was negotiated, and its SEG.ACK is valid */
    /* true: the connection has no SACK, and the SNACK of this acknowledgement reports which octets
     * arrived */
    bool snack_reported;
    /* Best effort: true if SND.UNA moves past data that the peer may have given up instead of
     * received, so that no RTT sample may be taken from it */
    bool jumped;
    bool advanced; /* true: this acknowledgement advances SND.UNA */
    bool repaired; /* true: this acknowledgement ends the recovery episode */
    bool dup;
    /* true: a partial acknowledgement after the first one of the episode: it does not restart the
     * retransmission timer (RFC 6582 section 3.2) */
    bool impatient;
};

/* Processes a DSACK for [from, to). fresh: no earlier acknowledgement had reported these octets as
 * arrived. If the DSACK shows that the recovery episode was spurious, the episode ends at once;
 * scps_ackloss_progress() informs the congestion controller after the other SACK blocks are
 * processed. */
void scps_ackloss_dsack(struct scps_sender *s, scps_off from, scps_off to, bool fresh);
/* Decides whether the recovery episode in progress is over, or was spurious, and informs the
 * controller, also of an episode that a DSACK has ended. Precondition: scps_recovery_concerns_ack()
 * is true. */
void scps_ackloss_progress(struct scps_sender *s, void *cc, struct scps_ack_input *n);
/* Restores the congestion controller's state from before a recovery episode that was spurious, or
 * whose timeouts an outage of the link has caused, and informs the controller. A controller that
 * handles recovery itself (own_recovery) is only informed, and restores its state itself.
 * Precondition: the episode is over. */
void scps_ackloss_undone(struct scps_sender *s, void *cc);
/* Detects lost segments by the rule of this connection: SNACK, RACK, SACK or duplicate
 * acknowledgements. */
void scps_ackloss_find(struct scps_sender *s, void *cc, struct scps_ack_input *n);
/* Called when the timer for loss detection expires on a connection without RACK. On a path that
 * reorders, a segment is lost only when the longest lateness seen there (the reordering window,
 * reorder.h) has passed since later segments arrived: declares such segments lost. Returns true if
 * something has to be sent. */
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
