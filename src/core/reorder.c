/* SPDX-License-Identifier: MIT */
/* The reordering window: how long the sender waits before it declares a segment lost because later
 * segments have arrived or a SNACK has reported a hole.
 *
 * RFC 8985 section 6.2 step 4 has a reordering window for RACK: it is 0 until reordering has been
 * seen, grows while DSACKs show that retransmissions were needless, and is reset after 16
 * recoveries without a DSACK. Here the window is measured: it is the longest time by which a
 * segment that was declared lost was only late, i.e. by which its first transmission took longer
 * than an RTT to be acknowledged. It is measured when
 *
 *   - a segment that was declared lost arrives before it was resent,
 *   - a segment that was resent once is acknowledged sooner than three quarters of the least round
 *     trip after its retransmission, or with a timestamp older than the retransmission (RFC 3522):
 *     its first transmission has arrived, or
 *   - a DSACK reports a segment that was resent once as a duplicate (RFC 2883). If the DSACK comes
 *     within 1.25 round trips of the retransmission, either transmission may have arrived last, and
 *     the first one counts as late only up to the time of the retransmission; if the DSACK comes
 *     later, the first transmission arrived last, and counts as late up to its arrival.
 *
 * An acknowledgement reports what arrived since the previous acknowledgement, so arrivals count
 * from the time of the previous one: the delay of a peer that acknowledges seldom is not taken for
 * reordering. Segments that a timeout resent are not measured, since all of a flight may be
 * delayed, in order. One late segment is no proof, because an acknowledgement that was lost, or had
 * no room for all SACK blocks, makes a segment look late: the window remains 0 until another one is
 * late before 4 more recoveries (CONFIRM) have ended.
 *
 * Departures from RFC 8985: the window is not counted in quarters of the least round trip, because
 * segments are late by a millisecond on a round trip of seconds, or by several round trips. Its
 * bound is the retransmission timeout, not SRTT: where the window exceeds SRTT, a segment that is
 * late by more would be resent each time, and its DSACK would come when later episodes have reduced
 * the window. With the timeout as bound, the timer decides about what is later than that.
 */
#include "core/reorder.h"

/* time after the first transmission of a segment, in retransmission timeouts, from which on a DSACK
 * for that segment is not expected any more */
#define REMEMBER 8
/* A segment declared lost that arrives late sets the reordering window only if a second one does so
 * before this number of recoveries has ended; otherwise the first one is forgotten. */
#define CONFIRM 4
/* Number of recoveries without a late segment after which the reordering window is 0 again: the
 * initial RACK.reo_wnd_persist of RFC 8985 section 6.2 step 4. */
#define PERSIST 16

/* Measures how late the first transmission of a segment was: how much longer than an RTT it took to
 * arrive. sent: time of the transmission; since: lower bound of the time of its arrival; rtt: RTT
 * of the newest segment that SACK or SNACK had reported, 0: unknown, nothing is measured (all in
 * µs). The lateness is since - sent - rtt; if that is positive, an eighth of it is added, and
 * `extent` or `once` is updated. */
static SCPS_NOINLINE_SIZE void measure(struct scps_reorder *ro, scps_time sent, scps_dur rtt,
                                       scps_time since)
{
    scps_dur late = since - sent - rtt;

    if (!rtt || late <= 0)
        return;
    late += late >> 3; /* late is positive */
    if (!ro->extent && !ro->recent) {
        ro->once = late;
        ro->recent = CONFIRM;
        return;
    }
    ro->extent = SCPS_MAX(SCPS_MAX(ro->extent, ro->once), late);
    ro->once = 0;
    ro->recent = 0;
    ro->persist = PERSIST;
}

void scps_reorder_late(struct scps_reorder *ro, const struct scps_late *late, scps_time since)
{
    if (late->unresent)
        measure(ro, late->sent, ro->rtt, since);
    scps_reorder_arrived(ro, late->from, late->to, since, false);
}

void scps_reorder_arrived(struct scps_reorder *ro, scps_off from, scps_off to, scps_time since,
                          bool twice)
{
    for (unsigned i = 0; i < SCPS_REORDER_COPIES; i++) {
        struct scps_reorder_copy *c = &ro->copies[i];
        if (!c->from || c->from < from || c->from >= to)
            continue;
        /* A DSACK within 1.25 round trips of the retransmission does not show which of the two
         * transmissions arrived last. Then the first one counts as late only up to the time of the
         * retransmission. */
        bool either = twice && since - c->again <= c->rtt + (c->rtt >> 2);
        measure(ro, c->sent, c->rtt, either ? c->again : since);
        c->from = 0;
    }
}

void scps_reorder_resent(struct scps_reorder *ro, const struct scps_sent_segment *r, bool fast,
                         scps_time now, scps_dur rto)
{
    struct scps_reorder_copy *room = NULL;

    for (unsigned i = 0; i < SCPS_REORDER_COPIES; i++) {
        struct scps_reorder_copy *c = &ro->copies[i];
        /* The entry of a segment that is resent again is removed: it would not be known which
         * transmission a DSACK is for. */
        if (c->from == r->from || now - c->sent > REMEMBER * rto)
            c->from = 0;
        if (!c->from)
            room = c;
    }
    if (room && fast && !r->resends)
        *room = (struct scps_reorder_copy){r->from, r->sent, now, ro->rtt};
}

void scps_reorder_recovered(struct scps_reorder *ro)
{
    if (ro->persist && !--ro->persist)
        ro->extent = 0;
    if (ro->recent && !--ro->recent)
        ro->once = 0;
}
