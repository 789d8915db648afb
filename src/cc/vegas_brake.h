/* SPDX-License-Identifier: MIT */
/* The brake of Vegas: halves the window for losses that were taken for corruption, if they depend
 * on the window.
 *
 * Losses that did not reduce the window count as corruption as long as they do not depend on the
 * window. If the bottleneck's queue is shorter than alpha, no delay ever ends the growth, and the
 * part of the window that is too large is lost. So the brake halves the window after a round trip
 * that loses a larger share than `limit`. The first rounds after that still have losses of the old
 * window. If the fourth round still loses at least half of that share, and its delivery rate is
 * more than a quarter lower, the window was not the cause: the window is restored, and losses are
 * taken for corruption for some rounds, twice as many each time. A window many times too large
 * loses nearly as much when it is halved, but then the delivery rate is still the link's, so the
 * window stays halved. Losses by an outage of the link do not depend on the window either, but
 * without SACK the core cannot tell them from others, so the first rounds after an outage do not
 * count.
 *
 * Only vegas_brake.c writes the fields of struct scps_vegas_brake. All zero: the brake has not
 * halved the window of this connection.
 */
#ifndef SCPS_CC_VEGAS_BRAKE_H
#define SCPS_CC_VEGAS_BRAKE_H

#include <scps/types.h>

struct scps_vegas_brake {
    uint64_t lost; /* octets lost in this round for which the window was not reduced */
    uint64_t full; /* the congestion window from before the brake last halved it, octets */
    /* delivery rate of the round in which the brake halved the window, in units of 64 octets/s */
    uint32_t pace;
    /* share of octets lost in the round in which the brake halved the window, x/1024 */
    uint16_t share;
    /* number of rounds in which the brake last did nothing, because the losses were found not to
     * depend on the window; 0: at the last comparison the losses depended on the window */
    uint16_t trust;
    uint16_t trusting; /* number of further rounds in which the brake does nothing */
    uint8_t rounds;    /* number of rounds since the brake halved the window */
    bool set;
};

/* Results of the round trip that has ended. */
struct scps_vegas_round {
    uint64_t delivered; /* octets delivered in the round trip */
    scps_dur took;
    uint64_t cwnd; /* congestion window in the round trip, octets */
    uint32_t mss;
    /* the brake halves the window if a larger share of the octets than this is lost, x/1024 */
    uint16_t limit;
};

enum scps_vegas_brake_says {
    SCPS_VEGAS_BRAKE_KEEP,  /* the brake asks for no change of the window */
    SCPS_VEGAS_BRAKE_HALVE, /* too many losses: the caller must halve the window */
    /* the halved window has lost as much and carried less, so the losses do not depend on the
     * window: the caller must restore the window from before it was halved
     * (scps_vegas_brake.full) */
    SCPS_VEGAS_BRAKE_RESTORE
};

/* Begins a round trip: the count of lost octets starts at 0. */
void scps_vegas_brake_begin(struct scps_vegas_brake *b);
/* Counts lost octets for which the window was not reduced. */
void scps_vegas_brake_lost(struct scps_vegas_brake *b, uint64_t bytes);
/* Called at the end of an outage of the link: in the rounds in which the losses by the outage are
 * detected, the brake does not halve the window. */
void scps_vegas_brake_outage(struct scps_vegas_brake *b);
/* Ends a round trip. Returns what the caller must do with the window. */
enum scps_vegas_brake_says scps_vegas_brake_round(struct scps_vegas_brake *b,
                                                  const struct scps_vegas_round *r);

#endif
