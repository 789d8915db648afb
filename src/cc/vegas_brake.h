/* SPDX-License-Identifier: MIT */
/* The brake of Vegas: halves the window for losses that were taken for corruption, if they depend
 * on the window.
 *
 * Losses that the window has been spared are corruption as long as they do not depend on the
 * window. Where a queue is shorter than alpha no delay ever ends the growth, and what the window
 * is too large is lost: a round that loses more than the share `limit` halves it. The rounds
 * after that still tell of the old window; if the fourth loses at least half that share and
 * delivers less a second, the window was not to blame: it comes back, and losses are trusted for
 * a while, twice as long each time. A window many times too large loses nearly as much when it is
 * halved, but what arrives is what the link carries all the same.
 *
 * Only vegas_brake.c writes the fields of struct scps_vegas_brake. A zeroed struct is a brake that
 * is off.
 */
#ifndef SCPS_CC_VEGAS_BRAKE_H
#define SCPS_CC_VEGAS_BRAKE_H

#include <scps/types.h>

struct scps_vegas_brake {
    uint64_t lost;  /* octets lost in this round for which the window was spared */
    uint64_t full;  /* cwnd when the brake was last set */
    uint32_t pace;  /* delivery rate of the round that set the brake, in 64 octets a second */
    uint16_t share; /* share of octets lost in the round that set the brake, x/1024 */
    /* rounds for which losses were last trusted to be corruption; 0: the window mattered */
    uint16_t trust;
    uint16_t trusting; /* rounds still to go in which losses are taken for corruption */
    uint8_t rounds;    /* rounds since the brake was set */
    bool set;
};

/* Figures of the round that ends. */
struct scps_vegas_round {
    uint64_t delivered; /* octets */
    scps_dur took;
    uint64_t cwnd; /* octets */
    uint32_t mss;
    uint16_t limit; /* lost share that sets the brake, x/1024 */
};

enum scps_vegas_brake_says {
    SCPS_VEGAS_BRAKE_KEEP,   /* the window stays */
    SCPS_VEGAS_BRAKE_HALVE,  /* the losses are congestion */
    SCPS_VEGAS_BRAKE_RESTORE /* the window goes back to `full` */
};

/* A round begins. */
void scps_vegas_brake_begin(struct scps_vegas_brake *b);
/* Counts octets lost for which the window was not reduced. */
void scps_vegas_brake_lost(struct scps_vegas_brake *b, uint64_t bytes);
/* Ends a round; returns what the window has to do. */
enum scps_vegas_brake_says scps_vegas_brake_round(struct scps_vegas_brake *b,
                                                  const struct scps_vegas_round *r);

#endif
