/* SPDX-License-Identifier: MIT */
/* What an acknowledgement shows to be lost, and the reaction of recovery and of the controller,
 * whose state is the argument `cc` (ackloss.c). */
#ifndef SCPS_CORE_ACKLOSS_H
#define SCPS_CORE_ACKLOSS_H

#include <scps/wire.h>

#include "core/sender.h"

/* One acknowledgement while data is outstanding, and the results of the steps of learn() in
 * ackin.c. */
struct scps_ack_input {
    const struct scps_seg *seg;
    int64_t ack_in; /* offset of SEG.ACK */
    /* SEG.ACK as an offset; SND.UNA if SEG.ACK is below; best effort may change it */
    scps_off ack;
    scps_off before; /* SND.UNA before this acknowledgement */
    struct scps_ack_result sum;
    bool snack; /* seg has a SNACK, which was negotiated, and SEG.ACK is at or above the SYN */
    /* the acknowledgement's SNACK has reported which octets arrived, on a connection without
     * SACK */
    bool told;
    /* best effort: SND.UNA moves past data that was missing at the peer, which the peer has
     * received or given up now */
    bool jumped;
    bool advanced; /* SND.UNA advances */
    bool repaired; /* the acknowledgement ends the recovery episode */
    bool dup;
    /* a partial acknowledgement other than the first, which does not restart the timer (RFC
     * 6582) */
    bool impatient;
};

/* Handles a DSACK for [from, to). fresh: nothing had reported its arrival before. */
void scps_ackloss_dsack(struct scps_sender *s, void *cc, scps_off from, scps_off to, bool fresh);
/* Decides whether the present episode is over, or was spurious. */
void scps_ackloss_progress(struct scps_sender *s, void *cc, const struct scps_ack_input *n);
/* Detects lost segments by the rule that is in force. */
void scps_ackloss_find(struct scps_sender *s, void *cc, struct scps_ack_input *n);
/* Reacts to an ECN echo once in each window (RFC 3168 section 6.1.2). delivered: bytes whose
 * arrival the acknowledgement reports. */
void scps_ackloss_ecn(struct scps_sender *s, void *cc, uint64_t delivered);
/* Reacts to losses that a rule has detected, if there are any. */
void scps_ackloss_lost(struct scps_sender *s, void *cc, struct scps_ack_result *sum,
                       enum scps_evidence evidence);

#endif
