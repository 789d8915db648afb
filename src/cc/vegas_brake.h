/* SPDX-License-Identifier: MIT */
/* The brake of Vegas: halves the window after a round trip with many losses that were taken for
 * corruption, and keeps it halved if these losses depend on the window.
 *
 * Losses taken for corruption do not reduce the window. Vegas lets the window grow until alpha
 * segments (a parameter) wait in the bottleneck's queue. If that queue has room for fewer, the
 * window grows without end, and what exceeds the room is lost. So the brake halves the window after
 * a round trip that loses at least the share `limit` of its octets, and at least 16 segments. The
 * first rounds after that still have losses of the old window. The fourth round is compared with
 * the round before the halving: if the fourth loses at least half as large a share of its octets as
 * that round, at less than three quarters of that round's delivery rate, the window was not the
 * cause of the losses. Then the window is restored, and the brake does nothing for 16 rounds, after
 * the next such result in a row for 32, and so on up to 4096. A window many times too large loses
 * nearly as much when it is halved, but then the delivery rate is still the link's, so the window
 * stays halved. Losses by an outage of the link do not depend on the window either, but without
 * SACK the core cannot tell them from others, so the brake does nothing in the first rounds after
 * an outage.
 *
 * Only vegas_brake.c writes the fields of struct scps_vegas_brake. All zero: the brake has not
 * halved the window of this connection.
 */
#ifndef SCPS_CC_VEGAS_BRAKE_H
#define SCPS_CC_VEGAS_BRAKE_H

#include <scps/types.h>

struct scps_vegas_brake {
    /* octets lost so far in the round trip in progress whose loss was taken for corruption, so that
     * Vegas did not reduce the window for it */
    uint64_t lost;
    /* congestion window before it was last halved because a round trip had lost too much to
     * corruption, octets */
    uint64_t full;
    /* delivery rate of the round trip whose losses by corruption caused the last halving of the
     * window, in units of 64 octets/s */
    uint32_t pace;
    /* share of octets lost in the round trip whose losses by corruption caused the last halving of
     * the window, x/1024 */
    uint16_t share;
    /* Length, in round trips, of the latest pause in which losses by corruption caused no halving
     * of the window, because a halving had shown that they do not depend on the window. 0: the
     * latest halving showed that they do depend on it, or there was none. */
    uint16_t trust;
    /* number of further round trips in which losses by corruption cause no halving of the window,
     * because a halving did not help, or an outage has ended; 0: they may cause a halving */
    uint16_t trusting;
    /* Number of round trips since the brake last halved the window. Used only while `set` is true:
     * when four have passed, `set` becomes false. */
    uint8_t rounds;
    /* true: the window was halved because of losses by corruption, and it is not known yet whether
     * the smaller window loses less */
    bool set;
};

/* Results of the round trip that has ended. */
struct scps_vegas_round {
    uint64_t delivered; /* octets delivered in the round trip */
    scps_dur took;
    uint64_t cwnd; /* congestion window in the round trip, octets */
    uint32_t mss;
    /* smallest share of the round trip's octets whose loss makes the brake halve the window,
     * x/1024 */
    uint16_t limit;
};

/* What the caller of scps_vegas_brake_round() must do with the congestion window. */
enum scps_vegas_brake_says {
    /* the caller must not change the window: the round trip lost little to corruption, or the
     * window is halved already, or the losses are known not to depend on the window */
    SCPS_VEGAS_BRAKE_KEEP,
    /* the round trip lost too much to corruption: the caller must halve the window */
    SCPS_VEGAS_BRAKE_HALVE,
    /* the halved window has lost as much and carried less, so the losses do not depend on the
     * window: the caller must restore the window from before it was halved
     * (scps_vegas_brake.full) */
    SCPS_VEGAS_BRAKE_RESTORE
};

/* Called at the beginning of a round trip: sets the count of octets lost in it to 0. */
void scps_vegas_brake_begin(struct scps_vegas_brake *b);
/* Called for each loss that was taken for corruption: adds its octets to those that this round trip
 * has lost. */
void scps_vegas_brake_lost(struct scps_vegas_brake *b, uint64_t bytes);
/* Called at the end of an outage of the link: in the next four round trips, in which the losses by
 * the outage are detected, losses do not make Vegas halve the window (what its brake does after
 * many losses taken for corruption). */
void scps_vegas_brake_outage(struct scps_vegas_brake *b);
/* Called at the end of round trip r. Returns what the caller must do with the congestion window. */
enum scps_vegas_brake_says scps_vegas_brake_round(struct scps_vegas_brake *b,
                                                  const struct scps_vegas_round *r);

#endif
