/* SPDX-License-Identifier: MIT */
/* The brake of Vegas: halves the window after many losses that were taken for corruption, and keeps
 * it halved if the losses depend on the window (vegas_brake.h). */
#include "cc/vegas_brake.h"

#include "base/bytes.h"
#include "base/wide.h"

enum {
    /* Least number of segments that must be lost in a round trip, by losses that were taken for
     * corruption, for the brake to halve the window. */
    LEAST_LOST = 16,
    /* Number, from 1, of the round trip after the brake's halving of the window whose losses and
     * delivery rate are compared with those of the round trip before the halving. */
    ROUNDS = 4,
    /* Number of round trips for which the brake (the halving of the window after a round trip with
     * many losses that were taken for corruption) pauses when a halving has shown that the losses
     * do not depend on the window, which is then restored. The number doubles with each such result
     * in a row, up to TRUST_MOST. */
    TRUST = 16,
    TRUST_MOST = 4096,
    /* number of rounds after an outage of the link in which its losses may be detected: in the
     * first one the data from before the outage is acknowledged; without SACK duplicate
     * acknowledgements then show the first loss, a partial acknowledgement the next (RFC 6582), and
     * then all others are known */
    OUTAGE_ROUNDS = 4
};

void scps_vegas_brake_begin(struct scps_vegas_brake *b)
{
    b->lost = 0;
}

void scps_vegas_brake_lost(struct scps_vegas_brake *b, uint64_t bytes)
{
    b->lost += bytes;
}

void scps_vegas_brake_outage(struct scps_vegas_brake *b)
{
    b->trusting = SCPS_MAX(b->trusting, OUTAGE_ROUNDS);
}

enum scps_vegas_brake_says scps_vegas_brake_round(struct scps_vegas_brake *b,
                                                  const struct scps_vegas_round *r)
{
    uint64_t all = b->lost + r->delivered;
    uint16_t share = all ? (uint16_t)scps_muldiv(b->lost, 1024, all) : 0;
    uint64_t took = (uint64_t)SCPS_MAX(r->took, 1);
    uint32_t pace = (uint32_t)SCPS_MIN(scps_muldiv(r->delivered, 1000000 / 64, took), UINT32_MAX);

    if (b->trusting) {
        b->trusting--;
        return SCPS_VEGAS_BRAKE_KEEP;
    }
    if (!b->set) {
        if (b->lost < LEAST_LOST * (uint64_t)r->mss || share < r->limit)
            return SCPS_VEGAS_BRAKE_KEEP;
        b->set = true;
        b->full = r->cwnd;
        b->share = share;
        b->pace = pace;
        b->rounds = 0;
        return SCPS_VEGAS_BRAKE_HALVE;
    }
    if (++b->rounds < ROUNDS)
        return SCPS_VEGAS_BRAKE_KEEP;
    b->set = false;
    if (2 * share < b->share || pace >= b->pace - b->pace / 4) {
        b->trust = 0;
        return SCPS_VEGAS_BRAKE_KEEP;
    }
    b->trust = (uint16_t)SCPS_MIN(2 * SCPS_MAX(b->trust, TRUST / 2), TRUST_MOST);
    b->trusting = b->trust;
    return SCPS_VEGAS_BRAKE_RESTORE;
}
