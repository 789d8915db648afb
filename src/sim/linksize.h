/* SPDX-License-Identifier: MIT */
/* Cache of the values that depend only on the size of a frame: its time on the line, and the
 * probability that none of its bits is damaged. Most frames of a transfer have one of two sizes.
 */
#ifndef SCPS_SIM_LINKSIZE_H
#define SCPS_SIM_LINKSIZE_H

#include "base/bytes.h"
#include "sim/link.h"
#include "sim/linkstate.h"

/* Fills in *s, an entry of the cache of frame sizes: for frames of `frame` bytes, the time on the
 * line and the probability that no bit is damaged. */
static SCPS_SELDOM void scps_linksize_learn(struct scps_linkdir *d, struct scps_link_size *s,
                                            uint32_t frame)
{
    uint32_t risk = frame > d->cfg.ber_exempt ? frame - d->cfg.ber_exempt : 0;

    s->frame = frame;
    s->bits = risk * 8;
    s->survive = scps_ber_survive(&d->err.ber, s->bits);
    s->us = 0;
    s->frac = 0;
    if (d->cfg.rate_bps) {
        s->us = (scps_time)(frame * SCPS_LINK_BITS_US / d->cfg.rate_bps);
        s->frac = frame * SCPS_LINK_BITS_US % d->cfg.rate_bps;
    }
}

/* Returns the cache entry (time on the line, probability of no damage) for frames of `frame` bytes,
 * and fills it in if it held another size. The entry is valid until the next call. */
static inline const struct scps_link_size *scps_linksize_of(struct scps_linkdir *d, uint32_t frame)
{
    struct scps_link_size *s = &d->size[frame >> 2 & (SCPS_LINK_SIZES - 1)];

    if (s->frame != frame)
        scps_linksize_learn(d, s, frame);
    return s;
}

#endif
