/* SPDX-License-Identifier: MIT */
/* What an acknowledgement shows to be lost, and what that means to recovery and to the controller,
 * whose state is the argument `cc`: ackloss.c. */
#ifndef SCPS_CORE_ACKLOSS_H
#define SCPS_CORE_ACKLOSS_H

#include <scps/wire.h>

#include "core/sender.h"

/* One acknowledgement while data is outstanding, and what the steps of learn() in ackin.c find out
 * about it. */
struct scps_ack_input {
    const struct scps_seg *seg;
    int64_t ack_in; /* offset of SEG.ACK */
    /* SEG.ACK as an offset; SND.UNA if it points below; with best effort it may be changed */
    scps_off ack;
    scps_off before; /* SND.UNA before this acknowledgement */
    struct scps_ack_result sum;
    bool snack; /* seg has a SNACK, which was negotiated, and SEG.ACK is not before the SYN */
    bool told;  /* a SNACK in it has reported what arrived, where there is no SACK */
    /* best effort: SND.UNA passes data that is missing at the peer, filled or given up */
    bool jumped;
    bool advanced; /* SND.UNA moves */
    bool repaired; /* the acknowledgement ends the recovery episode */
    bool dup;
    bool impatient; /* a later partial acknowledgement leaves the timer alone (RFC 6582) */
};

/* The receiver has reported [from, to) as a duplicate; fresh: nothing had reported before that it
 * arrived at all. */
void scps_ackloss_dsack(struct scps_sender *s, void *cc, scps_off from, scps_off to, bool fresh);
/* In an episode: decides whether it is over, or was spurious. */
void scps_ackloss_progress(struct scps_sender *s, void *cc, const struct scps_ack_input *n);
/* Finds lost segments by the rule that is in force. */
void scps_ackloss_find(struct scps_sender *s, void *cc, struct scps_ack_input *n);
/* ECN: reacts to an echo once in each window (RFC 3168 section 6.1.2). delivered: bytes whose
 * arrival the acknowledgement reports. */
void scps_ackloss_ecn(struct scps_sender *s, void *cc, uint64_t delivered);
/* Reacts to what a rule has found lost, if anything. */
void scps_ackloss_lost(struct scps_sender *s, void *cc, struct scps_ack_result *sum,
                       enum scps_evidence evidence);

#endif
